//! Runs of polyview and its peers, each a process of its own.

use std::error::Error;
use std::path::Path;
use std::process::Command;

use serde_json::Value;

use super::setting::{Setting, checked};

/// What was measured in one run; `NaN` where it could not be.
#[derive(Clone, Debug)]
pub struct Run {
    /// Milliseconds of processor time a sweep, at the full number of factors.
    pub ms: f64,
    /// Median wall milliseconds of a sweep.
    pub wall_ms: f64,
    /// Peak memory in megabytes.
    pub peak: f64,
    /// Memory when the data were read and nothing done, in megabytes.
    pub read: f64,
    /// Processor seconds, start included.
    pub seconds: f64,
    /// Sweeps.
    pub sweeps: u64,
    /// Why it stopped.
    pub stop: String,
    /// The bound at the end.
    pub bound: f64,
    /// Share of hidden values explained, a view.
    pub held: Vec<f64>,
    /// Error of hidden values, a view: log loss, deviance or 1 − R².
    pub errors: Vec<f64>,
}

fn number(v: &Value, key: &str) -> f64 {
    v[key].as_f64().unwrap_or(f64::NAN)
}

impl Run {
    fn of(v: &Value, ms: f64, wall_ms: f64, seconds: f64) -> Self {
        let views = v["views"].as_array().map_or(&[][..], Vec::as_slice);
        let error = |view: &Value| {
            let of = |key: &str| view[key].as_f64();
            of("logloss_held")
                .or_else(|| of("deviance_held"))
                .or_else(|| Some(1.0 - of("r2_held")?))
                .unwrap_or(f64::NAN)
        };
        Self {
            ms,
            wall_ms,
            peak: number(v, "peak_rss_mb"),
            read: number(v, "rss_data_mb"),
            seconds,
            sweeps: v["n_iter"].as_u64().unwrap_or(0),
            stop: v["stop"].as_str().unwrap_or("").to_owned(),
            bound: number(v, "bound_last"),
            held: views.iter().map(|w| number(w, "r2_held")).collect(),
            errors: views.iter().map(error).collect(),
        }
    }

    /// From a line of `run_peer.py`.
    pub fn of_peer(v: &Value) -> Self {
        let seconds = number(v, "cpu_s") + v["setup_s"].as_f64().unwrap_or(0.0);
        Self::of(
            v,
            1e3 * number(v, "iter_cpu_mean"),
            1e3 * number(v, "iter_wall_median"),
            seconds,
        )
    }

    /// From a line of the command `case`.
    pub fn of_case(v: &Value) -> Self {
        Self::of(
            v,
            1e3 * number(v, "iter_cpu_at_full_k"),
            1e3 * number(v, "iter_wall_median"),
            number(v, "cpu_s"),
        )
    }

    /// Mean share of hidden values explained.
    pub fn mean_held(&self) -> f64 {
        self.held.iter().sum::<f64>() / self.held.len() as f64
    }

    /// Whether every view's error is at most that one.
    pub fn at_most(&self, errors: &[f64]) -> bool {
        self.errors.iter().zip(errors).all(|(a, b)| a <= b)
    }
}

/// One run of polyview: the command `case` on a case's folder with these arguments.
///
/// # Errors
/// Where the process fails or prints something else.
pub fn ours(
    setting: &Setting,
    case: &Path,
    missing: bool,
    sweeps: usize,
    args: &[&str],
) -> Result<Run, Box<dyn Error>> {
    let mut command = Command::new(&setting.program);
    command
        .arg("case")
        .arg(case)
        .args(["--missing", if missing { "20" } else { "0" }])
        .args(["--max-sweeps", &sweeps.to_string()])
        .args(args);
    let run = checked(&mut command, "polyview")?;
    let text = String::from_utf8(run.stdout)?;
    Ok(Run::of_case(&serde_json::from_str(text.trim())?))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn lines_of_both_programs_are_read_alike() {
        let line = json!({
            "cpu_s": 2.0, "setup_s": 0.5, "n_iter": 7, "stop": "converged", "iter_cpu_mean": 0.001,
            "iter_cpu_at_full_k": null, "iter_wall_median": 0.003, "peak_rss_mb": 9.0,
            "views": [{"r2_held": 0.25}, {"logloss_held": 0.5}, {"deviance_held": 1.5}],
        });
        let (peer, ours) = (Run::of_peer(&line), Run::of_case(&line));
        assert_eq!((peer.ms, peer.wall_ms, peer.seconds), (1.0, 3.0, 2.5));
        assert!(ours.ms.is_nan() && ours.read.is_nan());
        assert_eq!((ours.seconds, ours.sweeps, ours.peak), (2.0, 7, 9.0));
        assert_eq!(ours.errors, [0.75, 0.5, 1.5]);
        assert!(ours.at_most(&[0.8, 0.5, 1.5]) && !ours.at_most(&[0.8, 0.4, 1.5]));
    }

    #[test]
    fn held_out_shares_are_averaged() {
        let run = Run::of_case(&json!({"views": [{"r2_held": 0.5}, {"r2_held": 0.7}]}));
        assert!((run.mean_held() - 0.6).abs() < 1e-12);
        assert!(Run::of_case(&json!({})).mean_held().is_nan());
    }
}

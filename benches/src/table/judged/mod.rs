//! Labels and classes of test halves and folds: the default of the command beside plain predictors, fitted once, with nothing tuned
//! here on what is judged. (Folds of cll and nutrimouse had a part in the choice of that default, decision 0084.)

mod sets;
mod ways;

use std::error::Error;

use polyview::metrics;
use polyview_linalg::Mat;

pub use self::sets::spectral_and_contextual;
use self::sets::{Judged, judged};
use self::ways::{Said, WAYS, Way, said};
use super::data::Half;
use super::options::Options;
use super::score::Score;
use crate::sheet::{NOTHING, Printed};

/// How far the area may be below that of the best linear predictor.
const AREA: f64 = 0.01;

/// What a way came to on one set.
struct Found {
    /// Mean over folds, weighted by prevalence.
    area: f64,
    /// Log loss of each test sample, mean over its labels.
    losses: Vec<f64>,
    /// Brier score.
    brier: f64,
    /// Share of samples whose class is wrong; `NaN` of labels.
    error: f64,
    /// Factors kept, mean over folds.
    factors: f64,
}

impl Found {
    fn log_loss(&self) -> f64 {
        self.losses.iter().sum::<f64>() / self.losses.len() as f64
    }
    /// Mean of what this loses more than another on the same samples, and its standard error over them.
    fn beyond(&self, other: &Self) -> (f64, f64) {
        let more: Vec<f64> = (self.losses.iter().zip(&other.losses))
            .map(|(a, b)| a - b)
            .collect();
        let n = more.len() as f64;
        let mean = more.iter().sum::<f64>() / n;
        let squares: f64 = more.iter().map(|m| (m - mean).powi(2)).sum();
        (mean, (squares / (n - 1.0) / n).sqrt())
    }
}

/// Tables of the sets of labels.
///
/// # Errors
/// What a set, a fit or Python refuses.
pub fn labels(o: &Options, out: &mut Printed) -> Result<(), Box<dyn Error>> {
    table(o, out, &sets::LABELS)
}

/// Tables of the sets of classes.
///
/// # Errors
/// As [`labels`].
pub fn classes(o: &Options, out: &mut Printed) -> Result<(), Box<dyn Error>> {
    table(o, out, &sets::CLASSES)
}

/// The table of all ways, and one of what it says of the default.
fn table(o: &Options, out: &mut Printed, names: &[&str]) -> Result<(), Box<dyn Error>> {
    let wanted = |name: &str| o.sets.is_empty() || o.sets.iter().any(|s| s == name);
    if let Some(other) = o.sets.iter().find(|s| !names.contains(&s.as_str())) {
        return Err(format!(
            "no set '{other}' in this table; there are {}",
            names.join(", ")
        )
        .into());
    }
    out.head(
        "",
        &[
            "set",
            "way",
            "AUC",
            "log loss",
            "more than the default's",
            "Brier",
            "error, %",
            "factors",
            "seconds",
        ],
    )?;
    let mut verdicts = Vec::new();
    for name in names.iter().filter(|n| wanted(n)) {
        let set = judged(&o.data, name, o.seed)?;
        verdicts.extend(of_set(o, out, &set)?);
    }
    if verdicts.is_empty() {
        return Ok(());
    }
    out.head(
        "The default less the better of the two regressions",
        &["set", "log loss", "as good", "AUC", "at most .01 below"],
    )?;
    for row in verdicts {
        out.row(row)?;
    }
    Ok(())
}

/// The rows of one set, and what they say of the default.
fn of_set(
    o: &Options,
    out: &mut Printed,
    set: &Judged,
) -> Result<Option<Vec<String>>, Box<dyn Error>> {
    let mut all: Vec<(Way, Found)> = Vec::new();
    for way in WAYS {
        let ours = matches!(way, Way::Default | Way::Polished);
        let wanted = o.wants(way.name(), ours) && (way != Way::Forest || o.python.is_some());
        if !wanted {
            continue;
        }
        let clock = std::time::Instant::now();
        let found = found(way, set, o)?;
        let seconds = clock.elapsed().as_secs_f64();
        let default = all.first().filter(|(w, _)| *w == Way::Default);
        let more = default.map_or(NOTHING.to_owned(), |(_, d)| {
            let (mean, error) = found.beyond(d);
            format!("{mean:+.4} ± {error:.4}")
        });
        let title = if all.is_empty() {
            format!("{} ({})", set.name, set.parted)
        } else {
            String::new()
        };
        out.row(vec![
            title,
            way.name().to_owned(),
            cell(found.area, 3),
            cell(found.log_loss(), 4),
            more,
            cell(found.brier, 4),
            cell(100.0 * found.error, 1),
            cell(found.factors, 1),
            cell(seconds, 1),
        ])?;
        all.push((way, found));
    }
    Ok(verdict(set.name, &all))
}

fn cell(x: f64, digits: usize) -> String {
    if x.is_nan() {
        NOTHING.to_owned()
    } else {
        format!("{x:.digits$}")
    }
}

fn found(way: Way, set: &Judged, o: &Options) -> Result<Found, Box<dyn Error>> {
    let n = set.pairs.len() as f64;
    let mut all = Found {
        area: 0.0,
        losses: Vec::new(),
        brier: 0.0,
        error: 0.0,
        factors: 0.0,
    };
    for (train, test) in &set.pairs {
        let Said {
            probability,
            factors,
        } = said(way, set, (train, test), o)?;
        let score = Score::of(test, &probability, true)?;
        all.area += score.auc / n;
        all.brier += score.brier / n;
        all.error += (1.0 - score.accuracy) / n;
        all.factors += factors / n;
        all.losses.extend(losses(test, &probability)?);
    }
    Ok(all)
}

/// Minus the log probability of what is true of each sample: of its class, or the mean over its labels.
fn losses(test: &Half, p: &Mat<f64>) -> Result<Vec<f64>, Box<dyn Error>> {
    let nothing = || "a sample without truth".into();
    if test.is_classes() {
        let classes = test.classes();
        return (0..test.len())
            .map(|n| {
                let row = p.subrows(n, 1);
                let loss = metrics::class_log_loss(&classes[n..=n], row)?;
                loss.mean.ok_or_else(nothing)
            })
            .collect();
    }
    let labels = test.indicators();
    (0..test.len())
        .map(|n| {
            let of = |m: &Mat<f64>| -> Vec<f64> { (0..m.ncols()).map(|d| m[(n, d)]).collect() };
            let truth: Vec<bool> = of(&labels).iter().map(|l| *l == 1.0).collect();
            let loss = metrics::log_loss(&truth, &of(p))?;
            loss.mean.ok_or_else(nothing)
        })
        .collect()
}

/// How the default stands beside the better of the linear ways, by log loss and by area; nothing where one of them was not run.
fn verdict(name: &str, all: &[(Way, Found)]) -> Option<Vec<String>> {
    let default = &all.iter().find(|(w, _)| *w == Way::Default)?.1;
    let linear = || all.iter().filter(|(w, _)| w.is_linear()).map(|(_, f)| f);
    let by_loss = linear().min_by(|a, b| a.log_loss().total_cmp(&b.log_loss()))?;
    let by_area = linear().max_by(|a, b| a.area.total_cmp(&b.area))?;
    let (more, error) = default.beyond(by_loss);
    let area = default.area - by_area.area;
    let word = |good: bool| if good { "yes" } else { "**no**" }.to_owned();
    Some(vec![
        name.to_owned(),
        format!("{more:+.4} ± {error:.4}"),
        word(more <= 0.0),
        format!("{area:+.3}"),
        word(area >= -AREA - 1e-12),
    ])
}

#[cfg(test)]
mod tests {
    use super::*;
    use polyview_core::Table;

    fn of(area: f64, losses: &[f64]) -> Found {
        Found {
            area,
            losses: losses.to_vec(),
            brier: 0.0,
            error: f64::NAN,
            factors: f64::NAN,
        }
    }

    #[test]
    fn differences_are_taken_sample_by_sample() {
        let (mean, error) = of(0.9, &[1.0, 2.0, 3.0]).beyond(&of(0.9, &[0.5, 1.5, 2.5]));
        assert!((mean - 0.5).abs() < 1e-12 && error.abs() < 1e-12);
        let (mean, error) = of(0.9, &[1.0, 3.0]).beyond(&of(0.9, &[0.0, 0.0]));
        assert!((mean - 2.0).abs() < 1e-12 && (error - 1.0).abs() < 1e-12);
    }

    #[test]
    fn the_default_is_held_against_the_better_of_the_linear_ways() {
        let all = [
            (Way::Default, of(0.90, &[0.5, 0.5])),
            (Way::Forest, of(0.99, &[0.1, 0.1])),
            (Way::Regression, of(0.92, &[0.6, 0.6])),
            (Way::TwoSteps, of(0.89, &[0.4, 0.4])),
        ];
        let row = verdict("x", &all).unwrap();
        let no = "**no**";
        assert_eq!(row, ["x", "+0.1000 ± 0.0000", no, "-0.020", no]);
        let better = [
            (Way::Default, of(0.91, &[0.4, 0.4])),
            (Way::Regression, of(0.92, &[0.6, 0.6])),
        ];
        let row = verdict("x", &better).unwrap();
        assert_eq!(row, ["x", "-0.2000 ± 0.0000", "yes", "-0.010", "yes"]);
        assert!(verdict("x", &all[..2]).is_none());
        assert!(verdict("x", &all[1..]).is_none());
    }

    #[test]
    fn losses_of_samples_have_the_mean_that_the_score_says() {
        let table = |levels: &[&str], values: Mat<f64>| Table {
            name: "labels".into(),
            samples: (0..values.nrows()).map(|n| n.to_string()).collect(),
            features: (0..values.ncols()).map(|d| d.to_string()).collect(),
            levels: levels.iter().map(|&l| l.to_owned()).collect(),
            values,
        };
        let half = |target| Half {
            inputs: Vec::new(),
            target,
        };
        let p = Mat::from_fn(3, 2, |n, d| [[0.2, 0.8], [0.6, 0.4], [0.3, 0.7]][n][d]);
        let labels = half(table(
            &[],
            Mat::from_fn(3, 2, |n, d| f64::from(u8::from(n == d))),
        ));
        let classes = half(table(
            &["a", "b"],
            Mat::from_fn(3, 1, |n, _| f64::from(u8::from(n > 1))),
        ));
        for half in [labels, classes] {
            let each = losses(&half, &p).unwrap();
            let mean = each.iter().sum::<f64>() / 3.0;
            let score = Score::of(&half, &p, true).unwrap();
            assert!((mean - score.log_loss).abs() < 1e-12);
        }
    }
}

//! Scores of predictions, and the lines they are printed in.

use std::error::Error;

use polyview::metrics;
use polyview_linalg::Mat;

use super::data::Half;
use crate::sheet::{NOTHING, Printed};

/// How good one prediction is. `NaN` where a score does not apply.
#[derive(Clone, Copy)]
pub struct Score {
    /// Area under the curve, weighted by prevalence (spec/sshiba 6.1).
    pub auc: f64,
    /// Nats a label, or a sample where there are classes.
    pub log_loss: f64,
    /// Brier score, a label or a sample.
    pub brier: f64,
    /// Share of samples whose most probable class is right.
    pub accuracy: f64,
    /// Factors kept.
    pub factors: f64,
    /// Sweeps.
    pub sweeps: f64,
    /// Wall seconds of fit and prediction.
    pub seconds: f64,
}

impl Score {
    const NONE: Self = Self {
        auc: f64::NAN,
        log_loss: f64::NAN,
        brier: f64::NAN,
        accuracy: f64::NAN,
        factors: f64::NAN,
        sweeps: f64::NAN,
        seconds: f64::NAN,
    };

    /// Of predicted scores, samples × labels or classes, which are
    /// `probabilities` or not.
    ///
    /// # Errors
    /// When truth and predictions do not belong together.
    pub fn of(
        truth: &Half,
        predicted: &Mat<f64>,
        probabilities: bool,
    ) -> Result<Self, Box<dyn Error>> {
        let labels = truth.indicators();
        let areas = metrics::auc_by_label(labels.as_ref(), predicted.as_ref())?;
        let mut s = Self {
            auc: areas.weighted_average().over_defined.unwrap_or(f64::NAN),
            ..Self::NONE
        };
        if truth.is_classes() {
            let classes = truth.classes();
            let right = (0..truth.len()).filter(|&n| {
                let best = (1..predicted.ncols()).fold(0, |b, c| {
                    if predicted[(n, c)] > predicted[(n, b)] {
                        c
                    } else {
                        b
                    }
                });
                classes[n] == Some(best)
            });
            s.accuracy = right.count() as f64 / truth.len() as f64;
            if probabilities {
                let loss = metrics::class_log_loss(&classes, predicted.as_ref())?;
                s.log_loss = loss.mean.unwrap_or(f64::NAN);
                let brier = metrics::class_brier(&classes, predicted.as_ref())?;
                s.brier = brier.unwrap_or(f64::NAN);
            }
        } else if probabilities {
            let (mut loss, mut brier) = (0.0, 0.0);
            for d in 0..labels.ncols() {
                let t: Vec<bool> = labels.col_as_slice(d).iter().map(|&l| l == 1.0).collect();
                let p = predicted.col_as_slice(d);
                loss += metrics::log_loss(&t, p)?.mean.unwrap_or(f64::NAN);
                brier += metrics::brier(&t, p)?.unwrap_or(f64::NAN);
            }
            s.log_loss = loss / labels.ncols() as f64;
            s.brier = brier / labels.ncols() as f64;
        }
        Ok(s)
    }

    fn values(&self) -> [f64; 7] {
        [
            self.auc,
            self.log_loss,
            self.brier,
            self.accuracy,
            self.factors,
            self.sweeps,
            self.seconds,
        ]
    }
}

/// The head of a table.
///
/// # Errors
/// When the output is closed.
pub fn head(out: &mut Printed, title: &str) -> std::io::Result<()> {
    out.head(
        title,
        &[
            "way", "paper", "AUC", "± sd", "log loss", "Brier", "accuracy", "K", "sweeps",
            "seconds",
        ],
    )
}

/// One line: what was run, the paper's area where it has one, means over the
/// repeats and the standard deviation of the area.
///
/// # Errors
/// When the output is closed.
pub fn line(
    out: &mut Printed,
    what: &str,
    paper: Option<f64>,
    scores: &[Score],
) -> std::io::Result<()> {
    let n = scores.len() as f64;
    let mut mean = [0.0; 7];
    for s in scores {
        for (m, v) in mean.iter_mut().zip(s.values()) {
            *m += v / n;
        }
    }
    let squares: f64 = scores.iter().map(|s| (s.auc - mean[0]).powi(2)).sum();
    let sd = if scores.len() > 1 {
        (squares / (n - 1.0)).sqrt()
    } else {
        f64::NAN
    };
    let cell = |x: f64, digits: usize| {
        if x.is_finite() {
            format!("{x:.digits$}")
        } else {
            NOTHING.to_owned()
        }
    };
    let [auc, loss, brier, accuracy, factors, sweeps, seconds] = mean;
    out.row(vec![
        what.to_owned(),
        cell(paper.unwrap_or(f64::NAN), 2),
        cell(auc, 3),
        cell(sd, 3),
        cell(loss, 3),
        cell(brier, 3),
        cell(accuracy, 3),
        cell(factors, 1),
        cell(sweeps, 0),
        cell(seconds, 2),
    ])
}

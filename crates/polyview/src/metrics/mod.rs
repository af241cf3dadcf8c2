//! How good predictions are: scores of predicted labels, classes, real values
//! and intervals against the truth. They know nothing of fits.
//!
//! What cannot be computed is `None` and is listed; no average passes over it
//! in silence.
//!
//! ```
//! use polyview::metrics::auc;
//!
//! # fn main() -> Result<(), polyview::metrics::MetricError> {
//! let truth = [true, false, true, false];
//! assert_eq!(auc(&truth, &[0.9, 0.2, 0.4, 0.4])?, Some(0.875)); // one tie
//! assert_eq!(auc(&[true, true], &[0.9, 0.2])?, None); // nothing to compare with
//! # Ok(())
//! # }
//! ```
//!
//! | prediction | scores |
//! |---|---|
//! | a number for each label | [`auc`], [`auc_by_label`], [`auc_by_class`] |
//! | a probability | [`log_loss`], [`brier`], [`calibration`] |
//! | a probability for each class | [`class_log_loss`], [`class_brier`] |
//! | a class | [`Confusion`] |
//! | a probability of a 1, all scores | [`LabelScore`] |
//! | a real value, an interval | [`real`], [`real_by_column`], [`intervals`], [`intervals_by_column`] |
//! | a probability for each ordered level | [`levels`], [`median_level`] |
//! | a time to an event, the probability that it comes later | [`concordance`], [`integrated_brier`] |
//! | an expected count | [`poisson_deviance`], [`counts`], [`counts_by_column`], [`count_table`] |
//! | a probability of a success, of counts out of trials | [`binomial_table`] |
//! | mean and standard deviation of a count | [`count_log_density`], [`CountLaw`] |

mod area;
mod binomial;
mod confusion;
mod counts;
mod labels;
mod levels;
mod probability;
mod real;
mod survival;

pub use area::{AucTable, LabelAuc, auc, auc_by_class, auc_by_label};
pub use binomial::binomial_table;
pub use confusion::Confusion;
pub use counts::{
    CountScore, CountTable, count_log_density, count_table, counts, counts_by_column,
    poisson_deviance,
};
pub(crate) use counts::{binomial_unit, gamma_unit, negative_binomial_unit, poisson_unit};
pub use labels::LabelScore;
pub(crate) use levels::quantile_level;
pub use levels::{LevelScore, levels, median_level};
pub use polyview_likelihoods::CountLaw;
pub use probability::{
    CalibrationBin, LogLoss, brier, calibration, class_brier, class_log_loss, log_loss,
};
pub(crate) use real::explained;
pub use real::{
    IntervalScore, IntervalTable, RealScore, RealTable, intervals, intervals_by_column, real,
    real_by_column,
};

pub use survival::{EventTime, concordance, event_times, integrated_brier};

use thiserror::Error;

/// Why a score was refused.
#[derive(Clone, Debug, PartialEq, Error)]
#[non_exhaustive]
pub enum MetricError {
    /// Truth and prediction differ in length.
    #[error("{found} {what} for {expected} true values")]
    LengthMismatch {
        /// What there are too few or too many of.
        what: &'static str,
        /// Number of true values.
        expected: usize,
        /// Number found.
        found: usize,
    },
    /// A predicted number that cannot be one.
    #[error("the {what} at row {}, column {} is {value}", row + 1, column + 1)]
    BadValue {
        /// What it should be.
        what: &'static str,
        /// Row from 0.
        row: usize,
        /// Column from 0.
        column: usize,
        /// The value.
        value: f64,
    },
    /// A class code beyond the classes.
    #[error("the class {class} at row {} is out of range for {classes} classes", row + 1)]
    UnknownClass {
        /// Row from 0.
        row: usize,
        /// The code.
        class: usize,
        /// Number of classes.
        classes: usize,
    },
    /// A calibration curve without bins.
    #[error("a calibration curve needs at least one bin")]
    NoBins,
}

/// An average over labels, classes or columns, some of which may have no
/// score.
#[derive(Clone, Debug, PartialEq)]
pub struct Average {
    /// The average over those that have a score; `None` when none has (or all
    /// weights are zero).
    pub over_defined: Option<f64>,
    /// Those that have none, in order.
    pub undefined: Vec<usize>,
}

impl Average {
    /// The average where every member has a score, else `None`.
    pub fn value(&self) -> Option<f64> {
        self.over_defined.filter(|_| self.undefined.is_empty())
    }
    /// The weighted average of these scores.
    pub fn of(scores: impl IntoIterator<Item = (Option<f64>, f64)>) -> Self {
        let (mut sum, mut weights, mut undefined) = (0.0, 0.0, Vec::new());
        for (i, (score, weight)) in scores.into_iter().enumerate() {
            match score {
                Some(s) => {
                    sum += weight * s;
                    weights += weight;
                }
                None => undefined.push(i),
            }
        }
        Self {
            over_defined: (weights > 0.0).then(|| sum / weights),
            undefined,
        }
    }
}

/// Errors unless there are `expected` of `what`.
fn same_length(what: &'static str, expected: usize, found: usize) -> Result<(), MetricError> {
    if expected == found {
        Ok(())
    } else {
        Err(MetricError::LengthMismatch {
            what,
            expected,
            found,
        })
    }
}

/// Errors unless `value` lies between the ends.
fn within(
    what: &'static str,
    value: f64,
    (low, high): (f64, f64),
    row: usize,
    column: usize,
) -> Result<f64, MetricError> {
    if value >= low && value <= high {
        Ok(value)
    } else {
        Err(MetricError::BadValue {
            what,
            row,
            column,
            value,
        })
    }
}

/// Errors unless `value` is finite.
fn finite(what: &'static str, value: f64, row: usize, column: usize) -> Result<f64, MetricError> {
    within(what, value, (f64::MIN, f64::MAX), row, column)
}

/// Errors when a true class is beyond the classes.
fn known(class: usize, classes: usize, row: usize) -> Result<usize, MetricError> {
    if class < classes {
        Ok(class)
    } else {
        Err(MetricError::UnknownClass {
            row,
            class,
            classes,
        })
    }
}

#[cfg(test)]
mod tests;

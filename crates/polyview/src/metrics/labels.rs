//! Scores of the probabilities of zeros and ones, all at once.

use super::{Confusion, LogLoss, MetricError, brier, log_loss};

/// How good the probabilities of a label are.
#[derive(Clone, Debug, PartialEq)]
pub struct LabelScore {
    /// Number of true values.
    pub values: usize,
    /// Number of ones among them.
    pub ones: usize,
    /// Log loss, nats.
    pub log_loss: LogLoss,
    /// Brier score; `None` without values.
    pub brier: Option<f64>,
    /// True values against predictions, cut at one half.
    pub confusion: Confusion,
}

impl LabelScore {
    /// Scores the probabilities of a 1.
    ///
    /// # Errors
    /// [`MetricError::LengthMismatch`]; [`MetricError::BadValue`] for what is no
    /// probability.
    pub fn new(truth: &[bool], probability: &[f64]) -> Result<Self, MetricError> {
        let classes: Vec<Option<usize>> = truth.iter().map(|t| Some(usize::from(*t))).collect();
        let said: Vec<usize> = probability.iter().map(|p| usize::from(*p > 0.5)).collect();
        Ok(Self {
            values: truth.len(),
            ones: truth.iter().filter(|t| **t).count(),
            log_loss: log_loss(truth, probability)?,
            brier: brier(truth, probability)?,
            confusion: Confusion::new(&classes, &said, 2)?,
        })
    }
    /// Mean recall of ones and zeros; `None` where one of them does not occur.
    pub fn balanced_accuracy(&self) -> Option<f64> {
        self.confusion.balanced_accuracy().value()
    }
}

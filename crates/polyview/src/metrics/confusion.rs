//! Counts of predicted against true classes.

use super::{Average, MetricError, known, same_length};

/// Confusion matrix: how many samples of each true class were put into each
/// class.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Confusion {
    /// Row = true class, column = predicted class.
    pub counts: Vec<Vec<usize>>,
    /// Samples without a true class, which are in no cell.
    pub left_out: usize,
}

impl Confusion {
    /// Counts the samples.
    ///
    /// # Errors
    /// [`MetricError::LengthMismatch`], [`MetricError::UnknownClass`].
    pub fn new(
        truth: &[Option<usize>],
        predicted: &[usize],
        classes: usize,
    ) -> Result<Self, MetricError> {
        same_length("predicted classes", truth.len(), predicted.len())?;
        let mut counts = vec![vec![0; classes]; classes];
        let mut left_out = 0;
        for (n, (t, &p)) in truth.iter().zip(predicted).enumerate() {
            known(p, classes, n)?;
            match *t {
                Some(t) => counts[known(t, classes, n)?][p] += 1,
                None => left_out += 1,
            }
        }
        Ok(Self { counts, left_out })
    }
    /// Share of the samples of each true class that were put into it; `None`
    /// for a class without samples.
    pub fn recalls(&self) -> Vec<Option<f64>> {
        self.counts
            .iter()
            .enumerate()
            .map(|(c, row)| {
                let all: usize = row.iter().sum();
                (all > 0).then(|| row[c] as f64 / all as f64)
            })
            .collect()
    }
    /// Balanced accuracy: the mean recall over classes.
    pub fn balanced_accuracy(&self) -> Average {
        Average::of(self.recalls().into_iter().map(|r| (r, 1.0)))
    }
    /// Share of samples put into their class; `None` without samples.
    pub fn accuracy(&self) -> Option<f64> {
        let all: usize = self.counts.iter().flatten().sum();
        let right: usize = (0..self.counts.len()).map(|c| self.counts[c][c]).sum();
        (all > 0).then(|| right as f64 / all as f64)
    }
}

//! How well kernel ridge regression predicts samples that it has not seen: one number for widths and for weights of
//! features.

use super::{Comparison, FOLDS_OF_WIDTHS, about_centre, left_of};
use crate::error::KernelError;
use crate::kernel::Kernel;
use crate::ridge::{Decomposed, PENALTIES};

/// What is predicted of samples that were held out in turn.
pub(super) struct HeldOut {
    /// The share of their variance that is predicted.
    pub(super) share: f64,
    /// That of each column.
    pub(super) by_column: Vec<f64>,
    /// The squared error of each sample, over all columns.
    errors: Vec<f64>,
    /// What they are by the means of the others.
    plain: Vec<f64>,
    /// The sum of these.
    whole: f64,
}

/// The standard error, over samples, of the sum of what one error is less than another.
fn error_of(pairs: impl Iterator<Item = (f64, f64)>) -> f64 {
    let gains: Vec<f64> = pairs.map(|(a, b)| b - a).collect();
    let n = gains.len() as f64;
    let mean = gains.iter().sum::<f64>() / n;
    let squares: f64 = gains.iter().map(|d| (d - mean).powi(2)).sum();
    (squares * n / (n - 1.0)).sqrt()
}

impl HeldOut {
    /// The standard error, over samples, of what this one predicts more or less than another one of the same samples.
    pub(super) fn error_against(&self, other: &Self) -> f64 {
        let pairs = self.errors.iter().zip(&other.errors);
        error_of(pairs.map(|(a, b)| (*a, *b))) / self.whole
    }
    /// The standard error of the share.
    pub(super) fn error_of_share(&self) -> f64 {
        let pairs = self.errors.iter().zip(&self.plain);
        error_of(pairs.map(|(a, b)| (*a, *b))) / self.whole
    }
}

impl Comparison {
    /// Each fifth of the samples is predicted by the others, with features of the weights that `weights` finds for
    /// these, and with the penalty that is best for each column.
    ///
    /// # Errors
    /// [`KernelError::OutOfRange`], [`KernelError::Overflow`].
    pub(super) fn held_out(
        &self,
        kernel: Kernel,
        weights: impl Fn(&[usize]) -> Result<Vec<f64>, KernelError>,
    ) -> Result<HeldOut, KernelError> {
        kernel.check()?;
        let (rows, columns) = self.targets.shape();
        let mut sums = vec![[0.0; PENALTIES.len()]; columns];
        let mut errors = vec![vec![vec![0.0; rows]; PENALTIES.len()]; columns];
        let mut plain = vec![0.0; rows];
        let mut of_column = vec![0.0f64; columns];
        for fold in 0..FOLDS_OF_WIDTHS {
            let [seen, new] = self.parts(fold, FOLDS_OF_WIDTHS);
            let points = self.points(&weights(&seen)?)?;
            let (own, across) = about_centre(kernel, &points, &seen, &new)?;
            let own = Decomposed::of(&own)?;
            let means = self.means(&seen);
            let (y, truth) = (self.centred(&seen, &means), self.centred(&new, &means));
            for t in 0..columns {
                let along = own.along(y.col_as_slice(t));
                let truth = truth.col_as_slice(t);
                for (p, penalty) in PENALTIES.iter().enumerate() {
                    let alpha = own.solved(&along, penalty * own.unit);
                    let left = left_of(&across, &alpha, truth);
                    sums[t][p] += left.iter().map(|x| x * x).sum::<f64>();
                    for (x, &n) in left.iter().zip(&new) {
                        errors[t][p][n] = x * x;
                    }
                }
                for (x, &n) in truth.iter().zip(&new) {
                    plain[n] += x * x;
                    of_column[t] += x * x;
                }
            }
        }
        let whole = plain.iter().sum::<f64>().max(f64::MIN_POSITIVE);
        let (mut all, mut by_sample) = (0.0, vec![0.0; rows]);
        let mut by_column = Vec::new();
        for ((sums, errors), whole) in sums.iter().zip(&errors).zip(of_column) {
            let best = (1..PENALTIES.len()).fold(0, |a, b| if sums[b] < sums[a] { b } else { a });
            all += sums[best];
            by_column.push(1.0 - sums[best] / whole.max(f64::MIN_POSITIVE));
            for (sum, x) in by_sample.iter_mut().zip(&errors[best]) {
                *sum += x;
            }
        }
        Ok(HeldOut {
            share: 1.0 - all / whole,
            by_column,
            errors: by_sample,
            plain,
            whole,
        })
    }
}

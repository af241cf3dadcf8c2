//! Similarities about a centre of the feature space.

use polyview_linalg::Mat;

use crate::error::KernelError;

/// The mean of the reference points in feature space, by its similarities (spec/thesis 7.1,
/// centring): those of samples to references about it are
/// $k(x, \tilde x_r) - \frac1R\sum_s k(x, \tilde x_s) - \frac1R\sum_s k(\tilde x_s, \tilde x_r) +
/// \frac1{R^2}\sum_{st} k(\tilde x_s, \tilde x_t)$.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Centre {
    /// Mean similarity of each reference to all of them.
    pub(crate) references: Vec<f64>,
    /// Mean of these.
    pub(crate) all: f64,
}

impl Centre {
    /// Of the similarities of references among themselves.
    pub(crate) fn of(references: &Mat<f64>) -> Result<Self, KernelError> {
        let count = references.nrows() as f64;
        let mean = |r: usize| references.col_as_slice(r).iter().sum::<f64>() / count;
        let means: Vec<f64> = (0..references.ncols()).map(mean).collect();
        let all = means.iter().sum::<f64>() / count;
        if !all.is_finite() {
            return Err(KernelError::Overflow);
        }
        Ok(Self {
            references: means,
            all,
        })
    }
    /// Moves similarities of samples to references, samples × references.
    pub(crate) fn apply(&self, similarities: &mut Mat<f64>) {
        let (rows, columns) = similarities.shape();
        let mut own = vec![0.0; rows];
        for r in 0..columns {
            for (sum, x) in own.iter_mut().zip(similarities.col_as_slice(r)) {
                *sum += x;
            }
        }
        for r in 0..columns {
            let shift = self.all - self.references[r];
            for (x, sum) in similarities.col_as_slice_mut(r).iter_mut().zip(&own) {
                *x += shift - sum / columns as f64;
            }
        }
    }
}

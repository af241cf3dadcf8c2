//! Latent scores in place of data (spec/sshiba 2.2): $x$ becomes
//! $\langle x\rangle$ everywhere, and $\langle x\rangle^2 + \mathrm{Var}\\,x$ in
//! the noise precision (E1).

use polyview_core::{Stamp, Values};
use polyview_linalg::{Mat, MatRef};

use super::Gaussian;

impl Gaussian {
    /// What $\sum\langle x^2\rangle$ of a column has beyond
    /// $\sum\langle x\rangle^2$ (M6): variances of missing cells and of scores.
    pub(super) fn hidden_variance(&self, column: usize) -> f64 {
        self.imputed_variance(column) + self.score_variance.get(column).map_or(0.0, |v| *v)
    }
    /// Write access to the means of the scores, samples × features; whoever
    /// writes calls [`Gaussian::scores_changed`] afterwards. Missing cells stay
    /// zero.
    pub(crate) fn scores_mut(&mut self) -> &mut Mat<f64> {
        self.values.cells_mut(&self.mask)
    }
    /// The means of the scores, samples × features.
    pub(crate) fn scores(&self) -> MatRef<'_, f64> {
        match &self.values {
            Values::Dense(x) => x.as_ref(),
            // scores are never sparse
            Values::Sparse(_) => MatRef::from_column_major_slice(&[], 0, 0),
        }
    }
    /// Takes note of other scores with these sums of variances, one a feature
    /// (zero for draws).
    pub(crate) fn scores_changed(&mut self, variance: Vec<f64>) {
        self.score_variance = variance;
        self.sum_columns(0..self.values.ncols());
        self.data_stamp = Stamp::fresh();
    }
    /// Sums of the variances of the scores, one a feature; empty for data.
    pub(crate) fn score_variance(&self) -> &[f64] {
        &self.score_variance
    }
    /// Noise precision of a column: $\langle\tau\rangle$.
    pub(crate) fn precision_of(&self, column: usize) -> f64 {
        self.tau(column)
    }
}

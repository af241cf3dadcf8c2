//! Missing cells as mean-field factors: `[I]`, spec/sshiba U10, E9, E10.

use polyview_core::{Mask, NumericError, Predictor, Stamp, State, StateReader, Values};
use polyview_linalg::Mat;

use super::{Gaussian, MissingData};

/// The factors of the missing cells: their means stand in the data matrix,
/// their variances are one a feature.
#[derive(Clone, Debug, Default)]
pub(super) struct Imputed {
    /// Number of missing cells of each feature; empty where none is imputed.
    counts: Vec<f64>,
    /// Variance of each missing cell of a feature, squared working units.
    variance: Vec<f64>,
    /// Whether the cells hold draws.
    drawn: bool,
}

impl Imputed {
    pub(super) fn start(term: &Gaussian) -> Self {
        if term.missing == MissingData::Marginal || matches!(term.mask, Mask::Complete) {
            return Self::default();
        }
        let rows = term.values.nrows();
        let columns = term.values.ncols();
        Self {
            counts: (0..columns)
                .map(|d| (rows - term.mask.count_feature(d, rows)) as f64)
                .collect(),
            variance: (0..columns).map(|d| 1.0 / term.tau(d)).collect(),
            drawn: false,
        }
    }
    pub(super) fn save(&self, prefix: &str, values: &Values, mask: &Mask, state: &mut State) {
        if self.counts.is_empty() {
            return;
        }
        let mut cells = Vec::new();
        for d in 0..values.ncols() {
            for n in 0..values.nrows() {
                if !mask.is_observed(n, d) {
                    cells.push(values.get(n, d));
                }
            }
        }
        state.local(|state| {
            state.put_vec(&format!("{prefix}/imputed/cells"), &cells);
            state.put_vec(&format!("{prefix}/imputed/variance"), &self.variance);
            let drawn = [f64::from(u8::from(self.drawn))];
            state.put_vec(&format!("{prefix}/imputed/drawn"), &drawn);
        });
    }
    pub(super) fn load(
        &mut self,
        prefix: &str,
        values: &mut Mat<f64>,
        mask: &Mask,
        state: &StateReader<'_>,
    ) -> Result<(), NumericError> {
        if self.counts.is_empty() {
            return Ok(());
        }
        let missing = self.counts.iter().sum::<f64>() as usize;
        let cells = state.vec_of(&format!("{prefix}/imputed/cells"), missing)?;
        self.variance = state.vec_of(&format!("{prefix}/imputed/variance"), self.counts.len())?;
        self.drawn = state.scalar(&format!("{prefix}/imputed/drawn"))? != 0.0;
        let mut cells = cells.into_iter();
        for d in 0..values.ncols() {
            for n in 0..values.nrows() {
                if !mask.is_observed(n, d)
                    && let Some(x) = cells.next()
                {
                    values[(n, d)] = x;
                }
            }
        }
        Ok(())
    }
}

impl Gaussian {
    /// Variances of the missing cells of a column, summed: what
    /// $\langle x^2\rangle$ has beyond $\langle x\rangle^2$ (M6).
    pub(super) fn imputed_variance(&self, column: usize) -> f64 {
        match self.imputed.counts.get(column) {
            Some(n) => n * self.imputed.variance[column],
            None => 0.0,
        }
    }
    /// Entropy of the missing cells (L8); for draws it is no part of the
    /// density.
    pub(super) fn imputed_entropy(&self) -> f64 {
        if self.imputed.drawn {
            return 0.0;
        }
        let l2p = (2.0 * std::f64::consts::PI).ln();
        self.imputed
            .counts
            .iter()
            .zip(&self.imputed.variance)
            .filter(|(n, _)| **n > 0.0)
            .map(|(n, v)| 0.5 * n * (1.0 + l2p + v.ln()))
            .sum()
    }
    /// U10: $q(\tilde x\_{nd}) = N(\bar y\_{nd}, 1/\langle\tau\rangle)$.
    pub(super) fn impute_means(&mut self, p: &Predictor<'_>) {
        if self.imputed.counts.is_empty() {
            return;
        }
        self.imputed.drawn = false;
        self.fill_missing(|_, _| 0.0, p);
        for d in 0..self.values.ncols() {
            self.imputed.variance[d] = 1.0 / self.tau(d);
        }
    }
    /// Puts $\bar y$ + `noise(sample, column)` into the missing cells.
    pub(super) fn fill_missing(
        &mut self,
        mut noise: impl FnMut(usize, usize) -> f64,
        p: &Predictor<'_>,
    ) {
        let values = self.values.cells_mut(&self.mask);
        for d in 0..values.ncols() {
            if self.imputed.counts[d] > 0.0 {
                for n in 0..values.nrows() {
                    if !self.mask.is_observed(n, d) {
                        values[(n, d)] = p.mean_cell(n, d) + noise(n, d);
                    }
                }
            }
        }
        self.sum_columns(0..self.values.ncols());
        self.data_stamp = Stamp::fresh();
    }
    /// Marks the missing cells as draws.
    pub(super) fn mark_drawn(&mut self) {
        self.imputed.drawn = true;
        self.imputed.variance.fill(0.0);
    }
    /// Whether missing cells are latent variables.
    pub(super) fn imputes(&self) -> bool {
        !self.imputed.counts.is_empty()
    }
}

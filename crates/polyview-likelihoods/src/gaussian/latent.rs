//! A Gaussian layer over latent scores of unit precision: what a likelihood
//! with scores of its own composes with (spec/sshiba 1.5).

use polyview_core::{DataError, Gammas, Predictor, Stamp, View};
use polyview_linalg::Mat;

use super::{Gaussian, GaussianOptions, NoiseBy};

impl Gaussian {
    /// The layer $x\_n \sim N(z\_n W^\top + b, I)$ over the scores `values`,
    /// samples × columns; rows of `NaN` are left out. Its noise is known.
    pub(crate) fn latent(name: &str, values: Mat<f64>) -> Result<Self, DataError> {
        let columns = (0..values.ncols()).map(|d| d.to_string()).collect();
        let view = View::from_values(name, columns, values)?;
        let options = GaussianOptions {
            noise: NoiseBy::View,
            ..GaussianOptions::default()
        };
        let mut term = Self::new(view, options);
        let mut noise: Gammas = term.noise().clone();
        noise.set_value(0, 1.0);
        term.set_noise(noise);
        Ok(term)
    }
    /// Changes scores. Rows that are left out must stay zero;
    /// [`Gaussian::scores_written`] comes after the last change.
    pub(crate) fn write_scores(&mut self, write: impl FnOnce(&mut Mat<f64>)) {
        write(self.values.cells_mut(&self.mask));
        self.data_stamp = Stamp::fresh();
    }
    /// Brings the sums up to date with the scores.
    pub(crate) fn scores_written(&mut self) {
        self.sum_columns(0..self.values.ncols());
        self.data_stamp = Stamp::fresh();
    }
    /// $\sum\_{nd}\langle (x\_{nd} - \eta\_{nd})^2\rangle$ at the score means,
    /// their own variance not included.
    pub(crate) fn energy(&mut self, p: &Predictor<'_>) -> f64 {
        self.dense_energy(p)
    }
}

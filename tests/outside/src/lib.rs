//! Student's t noise for polyview: numbers with a few that are far off.
//!
//! $x \sim N(\eta, 1/(\lambda u))$ with $u \sim \mathrm{Ga}(\nu/2, \nu/2)$, and one precision
//! $\lambda$ for each feature under the model's gamma prior. With $u$ summed out,
//! $$\ln p = \ln\Gamma(\tfrac{\nu+1}2) - \ln\Gamma(\tfrac\nu2) + \tfrac12\ln\tfrac\lambda{\pi\nu}
//! - \tfrac{\nu+1}2\ln\Bigl(1 + \frac{\lambda r}\nu\Bigr), \qquad r = (x - \eta)^2,$$
//! is convex in $r$, so that its tangent at any $r_0$ is a bound, and quadratic in $\eta$: a
//! site of the precision $\omega = (\nu + 1)\lambda / (\nu + \lambda r_0)$. The best $r_0$ is
//! $\langle(x - \eta)^2\rangle$.
//!
//! [`HeavyTails`] is the same noise by its density alone, [`Laplace`] a prior of weights, and
//! [`MarkedFeatures`] a composer: a model that no specification says.

mod composer;
mod density;
mod laplace;
mod species;

pub use composer::{Marked, MarkedFeatures};
pub use density::{HeavyTails, HeavyTailsSpecies};
pub use laplace::{Laplace, LaplaceSpecies};
pub use species::StudentTSpecies;

use polyview_core::{Domain, GammaPrior};
use polyview_likelihoods::{
    Cell, CellAugmentation, CellLikelihood, ColumnCells, ColumnParameters, LearnedParameters, Site,
};
use polyview_random::{ChaCha8Rng, gamma, standard_normal};
use polyview_special::ln_gamma;

/// Real numbers with Student's t noise. The local number of a cell is the squared residual
/// $r_0$ of its bound, in squared working units; drawn it is the precision $\lambda u$.
#[derive(Clone, Debug)]
pub struct StudentT {
    /// Degrees of freedom ν, above 2.
    nu: f64,
    /// Prior of the precisions.
    prior: GammaPrior,
    /// Precisions λ, one for each feature.
    precision: Vec<f64>,
}

impl StudentT {
    /// Noise of ν degrees of freedom, whose precisions have this prior.
    pub fn new(nu: f64, prior: GammaPrior) -> Self {
        Self {
            nu,
            prior,
            precision: Vec::new(),
        }
    }
    /// Before the first data the prior's mean.
    fn precision_of(&self, column: usize) -> f64 {
        let mean = self.prior.shape / self.prior.rate;
        self.precision.get(column).copied().unwrap_or(mean)
    }
    /// A cell of the precision ω is one of $N(\eta, 1/\omega)$.
    fn normal(cell: Cell, omega: f64) -> Site {
        Site {
            precision: omega,
            linear: omega * cell.value,
        }
    }
    /// $\langle\lambda u\rangle$ at a squared residual.
    fn weight(&self, column: usize, square: f64) -> f64 {
        let lambda = self.precision_of(column);
        (self.nu + 1.0) * lambda / (self.nu + lambda * square)
    }
    /// The log density at a squared residual.
    fn ln_density(&self, column: usize, square: f64) -> f64 {
        let (nu, lambda) = (self.nu, self.precision_of(column));
        let scale = 0.5 * (lambda / (std::f64::consts::PI * nu)).ln();
        let constant = ln_gamma(0.5 * (nu + 1.0)) - ln_gamma(0.5 * nu) + scale;
        constant - 0.5 * (nu + 1.0) * (lambda * square / nu).ln_1p()
    }
    /// Shape and rate of a precision given weights `u` of its cells.
    fn given(&self, cells: ColumnCells<'_>, mut u: impl FnMut(f64) -> f64) -> (f64, f64) {
        let (mut shape, mut rate) = (self.prior.shape, self.prior.rate);
        for ((cell, mean), square) in cells.cells.iter().zip(cells.mean).zip(cells.square) {
            let square = (cell.value * (cell.value - 2.0 * mean) + square).max(0.0);
            shape += 0.5;
            rate += 0.5 * u(square) * square;
        }
        (shape, rate)
    }
}

impl CellLikelihood for StudentT {
    fn needs(&self) -> &'static str {
        "numbers"
    }
    fn admits(&self, cell: Cell) -> bool {
        cell.value.is_finite()
    }
    fn start(&self, _cell: Cell) -> f64 {
        1.0
    }
    fn optimise(&self, cell: Cell, mean: f64, square: f64) -> f64 {
        (cell.value * (cell.value - 2.0 * mean) + square).max(0.0)
    }
    fn site(&self, cell: Cell, square: f64) -> Site {
        Self::normal(cell, self.weight(cell.column, square))
    }
    fn offset(&self, cell: Cell, square: f64) -> f64 {
        let omega = self.weight(cell.column, square);
        self.ln_density(cell.column, square) + 0.5 * omega * (square - cell.value * cell.value)
    }
    fn domain(&self) -> Domain {
        Domain::Reals
    }
    fn link_variance(&self, column: usize, _level: f64) -> f64 {
        self.nu / ((self.nu - 2.0) * self.precision_of(column))
    }
    fn draw_datum(&self, cell: Cell, eta: f64, rng: &mut ChaCha8Rng) -> f64 {
        let u = gamma(rng, 0.5 * self.nu, 0.5 * self.nu).unwrap_or(f64::NAN);
        eta + standard_normal(rng) / (self.precision_of(cell.column) * u).sqrt()
    }
    fn predict(&self, column: usize, mean: f64, variance: f64) -> (f64, f64) {
        (mean, variance + self.link_variance(column, mean))
    }
    fn parameters(&self) -> Option<&dyn ColumnParameters> {
        Some(self)
    }
    fn parameters_mut(&mut self) -> Option<&mut dyn ColumnParameters> {
        Some(self)
    }
    fn augmentation(&self) -> Option<&dyn CellAugmentation> {
        Some(self)
    }
}

impl CellAugmentation for StudentT {
    fn draw_local(&self, cell: Cell, eta: f64, rng: &mut ChaCha8Rng) -> f64 {
        let lambda = self.precision_of(cell.column);
        let rate = 0.5 * (self.nu + lambda * (cell.value - eta).powi(2));
        gamma(rng, 0.5 * (self.nu + 1.0), rate).map_or(f64::NAN, |u| lambda * u)
    }
    fn site(&self, cell: Cell, omega: f64) -> Site {
        Self::normal(cell, omega)
    }
    fn log_density(&self, cell: Cell, eta: f64) -> f64 {
        self.ln_density(cell.column, (cell.value - eta).powi(2))
    }
}

impl ColumnParameters for StudentT {
    fn values(&self) -> &[f64] {
        &self.precision
    }
    fn set(&mut self, values: Vec<f64>) {
        self.precision = values;
    }
    fn start(&self, data: &[Cell]) -> f64 {
        let (n, sum) = (data.len() as f64, data.iter().map(|c| c.value).sum::<f64>());
        let spread: f64 = data.iter().map(|c| (c.value - sum / n).powi(2)).sum();
        (self.prior.shape + 0.5 * n) / (self.prior.rate + 0.5 * spread)
    }
    fn name(&self) -> &'static str {
        "precision"
    }
    fn learned(&self) -> Option<&dyn LearnedParameters> {
        Some(self)
    }
}

impl LearnedParameters for StudentT {
    /// One step of expectation and maximisation, in $\ln\lambda$.
    fn update(&self, column: usize, cells: ColumnCells<'_>) -> f64 {
        let lambda = self.precision_of(column);
        let (shape, rate) = self.given(cells, |r| self.weight(column, r) / lambda);
        shape / rate
    }
    /// Weights of the cells are drawn, then the precision given them.
    fn draw(&self, column: usize, cells: ColumnCells<'_>, rng: &mut ChaCha8Rng) -> f64 {
        let lambda = self.precision_of(column);
        let (shape, rate) = self.given(cells, |square| {
            let rate = 0.5 * (self.nu + lambda * square);
            gamma(rng, 0.5 * (self.nu + 1.0), rate).unwrap_or(f64::NAN)
        });
        gamma(rng, shape, rate).unwrap_or(f64::NAN)
    }
    fn draw_prior(&self, rng: &mut ChaCha8Rng) -> f64 {
        gamma(rng, self.prior.shape, self.prior.rate).unwrap_or(f64::NAN)
    }
    /// Density of $\ln\lambda$.
    fn log_prior(&self, value: f64) -> f64 {
        let GammaPrior { shape, rate } = self.prior;
        shape * (rate * value).ln() - ln_gamma(shape) - rate * value
    }
}

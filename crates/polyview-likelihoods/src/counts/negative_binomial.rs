//! Counts that vary more than Poisson counts do.

use polyview_core::{Counting, DataError, Domain, GammaPrior, Law, View, ViewTerm};
use polyview_linalg::{Mat, MatRef};
use polyview_random::{ChaCha8Rng, PolyaGamma, gamma, poisson};
use polyview_special::{digamma, jaakkola_lambda, ln_gamma, softplus};

use super::scale::{Scale, moments};
use super::{NEEDS, is_count, ln_factorial};
use crate::bernoulli::Bernoulli;
use crate::cells::{
    Cell, CellAugmentation, CellLikelihood, ColumnCells, ColumnParameters, LearnedParameters, Site,
    jaakkola_slack,
};
use crate::laws::{MixedCounts, predicted};
use crate::scalar::ScalarParameter;
use crate::{Expected, ParameterUncertainty};

/// Counts with mean $e^\eta$ and variance $e^\eta + e^{2\eta}/r$, one size r a
/// feature.
///
/// The log-odds of the negative binomial are $\psi = \eta - \ln r$, and
/// $\ln p(y\mid\eta) = \ln\frac{\Gamma(y+r)}{\Gamma(r)\\,y!} + \tfrac{y-r}2\psi -
/// (y+r)\ln(2\cosh\tfrac\psi2)$. Variational Bayes bounds the last term as for
/// labels (spec/mofa A.2): local number ξ, $\omega = 2(y+r)\lambda(\xi)$,
/// $h = \tfrac{y-r}2 + \omega\ln r$. The Gibbs sampler is exact by
/// $\omega\sim\mathrm{PG}(y+r, \psi)$ (A.6b).
///
/// The size has a gamma prior. Variational Bayes takes its most probable value on the
/// log scale, by steps that never lower the bound at its best local numbers; the sampler
/// draws it by slices with the augmentation summed out. As the mean is $e^\eta$
/// whatever r is, sizes and intercepts do not get into each other's way.
#[derive(Clone, Debug, PartialEq)]
pub struct NegativeBinomial {
    /// Prior of the sizes.
    pub prior: GammaPrior,
    /// How sure predictions take the predictor to be.
    pub prediction: ParameterUncertainty,
    /// Size of every feature, where it is known.
    known: Option<f64>,
    /// Sizes.
    size: Vec<f64>,
}

impl Default for NegativeBinomial {
    fn default() -> Self {
        Self::new(GammaPrior::new(1.0, 0.01))
    }
}

/// Sizes are kept in this range: beyond it the distribution is that of its
/// limits to rounding.
const RANGE: (f64, f64) = (1e-6, 1e8);

impl NegativeBinomial {
    /// Counts with that prior of the sizes.
    pub fn new(prior: GammaPrior) -> Self {
        Self {
            prior,
            prediction: ParameterUncertainty::Posterior,
            known: None,
            size: Vec::new(),
        }
    }
    /// The same with predictions that take the predictor to be as sure as
    /// `prediction` says.
    pub fn with_prediction(mut self, prediction: ParameterUncertainty) -> Self {
        self.prediction = prediction;
        self
    }
    /// The same with a known size of every feature, a positive number: nothing is learnt.
    pub fn with_size(mut self, size: f64) -> Self {
        self.known = Some(size.clamp(RANGE.0, RANGE.1));
        self
    }
    /// The same with these sizes, one for each feature.
    pub(crate) fn with_sizes(&self, sizes: Vec<f64>) -> Self {
        Self {
            size: sizes,
            ..self.clone()
        }
    }
    /// The size as a parameter of columns: kept at the known one, where it is known.
    pub(crate) fn size_parameter(&self) -> ScalarParameter {
        ScalarParameter {
            name: "size",
            prior: self.prior,
            range: self.known.map_or(RANGE, |known| (known, known)),
        }
    }
    /// Sizes, one for each feature; empty before the first data.
    pub fn sizes(&self) -> &[f64] {
        &self.size
    }
    fn size_of(&self, column: usize) -> f64 {
        self.size.get(column).copied().unwrap_or(1.0)
    }
    /// What is common to all sizes.
    pub(super) fn scale(&self) -> Scale {
        Scale {
            prior: self.prior,
            range: RANGE,
        }
    }
    fn site(&self, cell: Cell, precision: f64) -> Site {
        let r = self.size_of(cell.column);
        Site {
            precision,
            linear: 0.5 * (cell.value - r) + precision * r.ln(),
        }
    }
    /// The bound of a column at its best local numbers, without what depends on
    /// the counts alone, and its derivative in ln r.
    pub(super) fn profile(cells: ColumnCells<'_>, r: f64) -> (f64, f64) {
        let ln_r = r.ln();
        let (ln_gamma_r, digamma_r) = (ln_gamma(r), digamma(r));
        let (mut value, mut slope) = (0.0, 0.0);
        // counts repeat: their gamma functions are kept
        let mut last = (f64::NAN, 0.0, 0.0);
        for ((cell, &mean), &square) in cells.cells.iter().zip(cells.mean).zip(cells.square) {
            let y = cell.value;
            if y != last.0 {
                last = if y == 0.0 {
                    (0.0, 0.0, 0.0)
                } else {
                    (y, ln_gamma(y + r) - ln_gamma_r, digamma(y + r) - digamma_r)
                };
            }
            let psi = mean - ln_r;
            let xi = (square - 2.0 * ln_r * mean + ln_r * ln_r).max(0.0).sqrt();
            // ln(2 cosh(ξ/2))
            let cosh = softplus(-xi) + 0.5 * xi;
            value += last.1 + 0.5 * (y - r) * psi - (y + r) * cosh;
            slope += r * (last.2 - 0.5 * psi - cosh) - 0.5 * (y - r)
                + 2.0 * (y + r) * jaakkola_lambda(xi) * psi;
        }
        (value, slope)
    }
    /// $\ln p(y\mid\eta)$ of a column as a function of r.
    fn log_conditional(cells: ColumnCells<'_>, r: f64) -> f64 {
        let (ln_r, ln_gamma_r) = (r.ln(), ln_gamma(r));
        let mut last = (f64::NAN, 0.0);
        let mut value = 0.0;
        for (cell, &eta) in cells.cells.iter().zip(cells.mean) {
            let y = cell.value;
            if y != last.0 {
                last = (
                    y,
                    if y == 0.0 {
                        0.0
                    } else {
                        ln_gamma(y + r) - ln_gamma_r
                    },
                );
            }
            value += last.1 - y * ln_r - (y + r) * softplus(eta - ln_r);
        }
        value
    }
}

impl CellLikelihood for NegativeBinomial {
    fn needs(&self) -> &'static str {
        NEEDS
    }
    fn admits(&self, cell: Cell) -> bool {
        is_count(cell.value)
    }
    fn start(&self, _cell: Cell) -> f64 {
        1.0
    }
    /// $\xi^2 = \langle\psi^2\rangle$.
    fn optimise(&self, cell: Cell, mean: f64, square: f64) -> f64 {
        let ln_r = self.size_of(cell.column).ln();
        (square - 2.0 * ln_r * mean + ln_r * ln_r).max(0.0).sqrt()
    }
    fn site(&self, cell: Cell, xi: f64) -> Site {
        let trials = cell.value + self.size_of(cell.column);
        self.site(cell, 2.0 * trials * jaakkola_lambda(xi))
    }
    fn offset(&self, cell: Cell, xi: f64) -> f64 {
        let (y, r) = (cell.value, self.size_of(cell.column));
        let (ln_r, lambda) = (r.ln(), jaakkola_lambda(xi));
        let choose = ln_gamma(y + r) - ln_gamma(r);
        let cosh = softplus(-xi) + 0.5 * xi;
        choose - 0.5 * (y - r) * ln_r - (y + r) * (cosh + lambda * (ln_r * ln_r - xi * xi))
    }
    fn slack(&self, cell: Cell, xi: f64, mean: f64) -> f64 {
        let r = self.size_of(cell.column);
        let psi = mean - r.ln();
        (cell.value + r) * jaakkola_slack(xi) * psi * psi
    }
    /// $-\ln y!$.
    fn datum_offset(&self, cell: Cell) -> f64 {
        -ln_factorial(cell.value)
    }
    /// The log of the mean, half a count added to the sum so that it is finite.
    fn start_intercept(&self, cells: &[Cell]) -> f64 {
        let sum: f64 = cells.iter().map(|c| c.value).sum();
        ((sum + 0.5) / cells.len().max(1) as f64).ln()
    }
    fn intercept_precision(&self) -> f64 {
        Bernoulli::INTERCEPT_PRECISION
    }
    fn domain(&self) -> Domain {
        Domain::COUNTS
    }
    /// $1/e^\eta + 1/r$: that of a count over its squared mean.
    fn link_variance(&self, column: usize, level: f64) -> f64 {
        (-level).exp() + self.size_of(column).recip()
    }
    /// A Poisson count whose mean is a gamma draw.
    fn draw_datum(&self, cell: Cell, eta: f64, rng: &mut ChaCha8Rng) -> f64 {
        let r = self.size_of(cell.column);
        let mean = gamma(rng, r, r).map_or(f64::NAN, |g| g * eta.exp());
        poisson(rng, mean).unwrap_or(f64::NAN)
    }
    /// Mean and variance of the count with η normal.
    fn predict(&self, column: usize, mean: f64, variance: f64) -> (f64, f64) {
        let r = self.size_of(column);
        let variance = self.prediction.of_predictor(variance);
        let first = (mean + 0.5 * variance).exp();
        let spread = first * first * ((1.0 + 1.0 / r) * variance.exp() - 1.0);
        (first, first + spread)
    }
    /// Mixed over the predictor's law (spec/sites 4).
    fn law(
        &self,
        first: usize,
        mean: Mat<f64>,
        variance: Mat<f64>,
        _exposure: Option<MatRef<'_, f64>>,
    ) -> Box<dyn Law> {
        let of = |d: usize| Counting::Size(self.size_of(first + d));
        let counting = (0..mean.ncols()).map(of).collect();
        let variance = predicted(self.prediction, variance, |_| 0.0);
        Box::new(MixedCounts::new(counting, (mean, variance)))
    }
    fn size(&self, column: usize) -> Option<f64> {
        self.size.get(column).copied()
    }
    fn parameters(&self) -> Option<&dyn ColumnParameters> {
        Some(self)
    }
    fn parameters_mut(&mut self) -> Option<&mut dyn ColumnParameters> {
        Some(self)
    }
    fn widened(
        &self,
        view: &View,
        spread: Mat<f64>,
    ) -> Option<Result<Box<dyn ViewTerm>, DataError>> {
        Some(Expected::behind(
            view,
            self.clone(),
            crate::cells::ColumnParameters::values(self).to_vec(),
            spread,
        ))
    }
    fn augmentation(&self) -> Option<&dyn CellAugmentation> {
        Some(self)
    }
}

impl CellAugmentation for NegativeBinomial {
    fn draw_local(&self, cell: Cell, eta: f64, rng: &mut ChaCha8Rng) -> f64 {
        let r = self.size_of(cell.column);
        PolyaGamma::new(cell.value + r, eta - r.ln()).map_or(f64::NAN, |pg| pg.sample(rng))
    }
    fn site(&self, cell: Cell, omega: f64) -> Site {
        self.site(cell, omega)
    }
    fn log_density(&self, cell: Cell, eta: f64) -> f64 {
        let (y, r) = (cell.value, self.size_of(cell.column));
        let psi = eta - r.ln();
        ln_gamma(y + r) - ln_gamma(r) - ln_factorial(y) + y * psi - (y + r) * softplus(psi)
    }
}

impl ColumnParameters for NegativeBinomial {
    fn values(&self) -> &[f64] {
        &self.size
    }
    fn set(&mut self, values: Vec<f64>) {
        self.size = values;
    }
    /// By moments: $r = m^2/(s^2 - m)$, within 0.1 and 100.
    fn start(&self, data: &[Cell]) -> f64 {
        if let Some(known) = self.known {
            return known;
        }
        let (mean, spread) = moments(data);
        if spread > mean {
            (mean * mean / (spread - mean)).clamp(0.1, 100.0)
        } else {
            100.0
        }
    }
    fn name(&self) -> &'static str {
        "size"
    }
    fn learned(&self) -> Option<&dyn LearnedParameters> {
        self.known.is_none().then_some(self)
    }
}

impl LearnedParameters for NegativeBinomial {
    /// A step along the slope in ln r, halved until the profile does not fall.
    fn update(&self, column: usize, cells: ColumnCells<'_>) -> f64 {
        let profile = |r: f64| Self::profile(cells, r);
        self.scale().ascend(self.size[column], profile)
    }
    /// Slice sampling on ln r.
    fn draw(&self, column: usize, cells: ColumnCells<'_>, rng: &mut ChaCha8Rng) -> f64 {
        let log_density = |r: f64| Self::log_conditional(cells, r);
        self.scale().slice(self.size[column], log_density, rng)
    }
    fn draw_prior(&self, rng: &mut ChaCha8Rng) -> f64 {
        self.scale().draw_prior(rng)
    }
    /// Density of ln r.
    fn log_prior(&self, r: f64) -> f64 {
        self.scale().log_prior(r)
    }
}

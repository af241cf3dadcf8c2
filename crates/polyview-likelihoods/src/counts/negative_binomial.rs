//! Counts that vary more than Poisson counts do.

use polyview_core::{GammaPrior, PredictedKind};
use polyview_random::{ChaCha8Rng, PolyaGamma, gamma, poisson};
use polyview_special::{digamma, jaakkola_lambda, ln_gamma, softplus};

use super::scale::{ascend, slice};
use super::{is_count, ln_factorial, remark};
use crate::ParameterUncertainty;
use crate::bernoulli::Bernoulli;
use crate::cells::{
    Cell, CellAugmentation, CellLikelihood, ColumnCells, ColumnParameters, LearnedParameters, Site,
};

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
            size: Vec::new(),
        }
    }
    /// The same with predictions that take the predictor to be as sure as
    /// `prediction` says.
    pub fn with_prediction(mut self, prediction: ParameterUncertainty) -> Self {
        self.prediction = prediction;
        self
    }
    /// Sizes, one a feature; empty before the first data.
    pub fn sizes(&self) -> &[f64] {
        &self.size
    }
    fn size_of(&self, cell: Cell) -> f64 {
        self.size.get(cell.column).copied().unwrap_or(1.0)
    }
    fn site(&self, cell: Cell, precision: f64) -> Site {
        let r = self.size_of(cell);
        Site {
            precision,
            linear: 0.5 * (cell.value - r) + precision * r.ln(),
        }
    }
    /// Log prior density of ln r, without its constant.
    fn log_scale_prior(&self, r: f64) -> f64 {
        self.prior.shape * r.ln() - self.prior.rate * r
    }
    /// The bound of a column at its best local numbers, with the prior of
    /// ln r, and its derivative in ln r.
    fn profile(&self, cells: ColumnCells<'_>, r: f64) -> (f64, f64) {
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
        (
            value + self.log_scale_prior(r),
            slope + self.prior.shape - self.prior.rate * r,
        )
    }
    /// $\ln p(y\mid\eta)$ of a column as a function of r, and the prior of
    /// ln r.
    fn log_conditional(&self, cells: ColumnCells<'_>, r: f64) -> f64 {
        let (ln_r, ln_gamma_r) = (r.ln(), ln_gamma(r));
        let mut last = (f64::NAN, 0.0);
        let mut value = self.log_scale_prior(r);
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
        "counts: whole numbers from 0 to 1e9"
    }
    fn admits(&self, cell: Cell) -> bool {
        is_count(cell.value)
    }
    fn start(&self, _cell: Cell) -> f64 {
        1.0
    }
    /// $\xi^2 = \langle\psi^2\rangle$.
    fn optimise(&self, cell: Cell, mean: f64, square: f64) -> f64 {
        let ln_r = self.size_of(cell).ln();
        (square - 2.0 * ln_r * mean + ln_r * ln_r).max(0.0).sqrt()
    }
    fn site(&self, cell: Cell, xi: f64) -> Site {
        let trials = cell.value + self.size_of(cell);
        self.site(cell, 2.0 * trials * jaakkola_lambda(xi))
    }
    fn offset(&self, cell: Cell, xi: f64) -> f64 {
        let (y, r) = (cell.value, self.size_of(cell));
        let (ln_r, lambda) = (r.ln(), jaakkola_lambda(xi));
        let choose = ln_gamma(y + r) - ln_gamma(r) - ln_factorial(y);
        let cosh = softplus(-xi) + 0.5 * xi;
        choose - 0.5 * (y - r) * ln_r - (y + r) * (cosh + lambda * (ln_r * ln_r - xi * xi))
    }
    /// The log of the mean, half a count added to the sum so that it is finite.
    fn start_intercept(&self, cells: &[Cell]) -> f64 {
        let sum: f64 = cells.iter().map(|c| c.value).sum();
        ((sum + 0.5) / cells.len().max(1) as f64).ln()
    }
    fn remark(&self, cells: &[Cell]) -> Option<&'static str> {
        remark(cells)
    }
    /// Mean and variance of the count with η normal.
    fn intercept_precision(&self) -> f64 {
        Bernoulli::INTERCEPT_PRECISION
    }
    fn predicted_kind(&self) -> PredictedKind {
        PredictedKind::Count
    }
    /// $1/e^\eta + 1/r$: that of a count over its squared mean.
    fn link_variance(&self, column: usize, level: f64) -> f64 {
        (-level).exp() + self.size.get(column).map_or(1.0, |r| r.recip())
    }
    /// A Poisson count whose mean is a gamma draw.
    fn draw_datum(&self, cell: Cell, eta: f64, rng: &mut ChaCha8Rng) -> f64 {
        let r = self.size_of(cell);
        let mean = gamma(rng, r, r).map_or(f64::NAN, |g| g * eta.exp());
        poisson(rng, mean).unwrap_or(f64::NAN)
    }
    fn predict(&self, column: usize, mean: f64, variance: f64) -> (f64, f64) {
        let r = self.size.get(column).copied().unwrap_or(1.0);
        let variance = match self.prediction {
            ParameterUncertainty::Posterior => variance,
            ParameterUncertainty::PlugIn => 0.0,
        };
        let first = (mean + 0.5 * variance).exp();
        let spread = first * first * ((1.0 + 1.0 / r) * variance.exp() - 1.0);
        (first, first + spread)
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
    fn augmentation(&self) -> Option<&dyn CellAugmentation> {
        Some(self)
    }
}

impl CellAugmentation for NegativeBinomial {
    fn draw_local(&self, cell: Cell, eta: f64, rng: &mut ChaCha8Rng) -> f64 {
        let r = self.size_of(cell);
        PolyaGamma::new(cell.value + r, eta - r.ln()).map_or(f64::NAN, |pg| pg.sample(rng))
    }
    fn site(&self, cell: Cell, omega: f64) -> Site {
        self.site(cell, omega)
    }
    fn log_density(&self, cell: Cell, eta: f64) -> f64 {
        let (y, r) = (cell.value, self.size_of(cell));
        let psi = eta - r.ln();
        ln_gamma(y + r) - ln_gamma(r) - ln_gamma(y + 1.0) + y * psi - (y + r) * softplus(psi)
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
        let n = data.len().max(1) as f64;
        let mean = data.iter().map(|c| c.value).sum::<f64>() / n;
        let spread = data.iter().map(|c| (c.value - mean).powi(2)).sum::<f64>() / n;
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
        Some(self)
    }
}

impl LearnedParameters for NegativeBinomial {
    /// A step along the slope in ln r, halved until the profile does not fall.
    fn update(&self, column: usize, cells: ColumnCells<'_>) -> f64 {
        ascend(self.size[column], RANGE, |r| self.profile(cells, r))
    }
    /// Slice sampling on ln r.
    fn draw(&self, column: usize, cells: ColumnCells<'_>, rng: &mut ChaCha8Rng) -> f64 {
        let log_density = |r: f64| self.log_conditional(cells, r);
        slice(self.size[column], RANGE, log_density, rng)
    }
    fn draw_prior(&self, rng: &mut ChaCha8Rng) -> f64 {
        gamma(rng, self.prior.shape, self.prior.rate)
            .map_or(f64::NAN, |r| r.clamp(RANGE.0, RANGE.1))
    }
    /// Density of ln r.
    fn log_prior(&self, r: f64) -> f64 {
        let GammaPrior { shape, rate } = self.prior;
        shape * rate.ln() - ln_gamma(shape) + self.log_scale_prior(r)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn column(n: usize) -> (Vec<Cell>, Vec<f64>, Vec<f64>) {
        let cell = |i: usize| Cell {
            column: 0,
            value: ((i * 7) % 11 * (i % 3)) as f64,
            trials: 1.0,
        };
        let mean: Vec<f64> = (0..n).map(|i| 0.3 * (i % 5) as f64 - 0.4).collect();
        let square = mean.iter().map(|m| m * m + 0.2).collect();
        ((0..n).map(cell).collect(), mean, square)
    }

    #[test]
    fn the_slope_of_the_profile_is_its_difference() {
        let (cells, mean, square) = column(40);
        let cells = ColumnCells {
            cells: &cells,
            mean: &mean,
            square: &square,
        };
        let nb = NegativeBinomial::default();
        for r in [1e-2, 0.4, 3.0, 80.0] {
            let h = 1e-5_f64;
            let difference = (nb.profile(cells, r * h.exp()).0
                - nb.profile(cells, r * (-h).exp()).0)
                / (2.0 * h);
            let slope = nb.profile(cells, r).1;
            assert!(
                (difference - slope).abs() < 1e-6 * (1.0 + slope.abs()),
                "{r}"
            );
        }
    }

    #[test]
    fn the_bound_is_below_and_touches() {
        let mut nb = NegativeBinomial::default();
        for r in [0.2, 5.0, 300.0] {
            nb.set(vec![r]);
            for value in [0.0, 1.0, 7.0, 500.0] {
                let cell = Cell {
                    column: 0,
                    value,
                    trials: 1.0,
                };
                for i in -20..20 {
                    let centre = f64::from(i) * 0.4;
                    let xi = nb.optimise(cell, centre, centre * centre);
                    let site = CellLikelihood::site(&nb, cell, xi);
                    let at = |eta: f64| {
                        site.linear * eta - 0.5 * site.precision * eta * eta + nb.offset(cell, xi)
                    };
                    let exact = |eta: f64| nb.log_density(cell, eta);
                    let close = 1e-9 * (1.0 + exact(centre).abs() + (value + r) * centre.abs());
                    assert!(
                        (at(centre) - exact(centre)).abs() < close,
                        "{r} {value} {centre}"
                    );
                    for step in [-5.0, -0.5, 0.5, 5.0] {
                        assert!(at(centre + step) <= exact(centre + step) + close);
                    }
                }
            }
        }
    }

    #[test]
    fn steps_rise_to_where_the_slope_is_zero() {
        let (cells, mean, square) = column(60);
        let cells = ColumnCells {
            cells: &cells,
            mean: &mean,
            square: &square,
        };
        for start in [1e-3, 1.0, 1e4] {
            let mut nb = NegativeBinomial::default();
            nb.set(vec![start]);
            let mut value = nb.profile(cells, start).0;
            for _ in 0..60 {
                nb.set(vec![nb.update(0, cells)]);
                let next = nb.profile(cells, nb.sizes()[0]).0;
                assert!(next >= value);
                value = next;
            }
            assert!(nb.profile(cells, nb.sizes()[0]).1.abs() < 1e-6, "{start}");
        }
    }
}

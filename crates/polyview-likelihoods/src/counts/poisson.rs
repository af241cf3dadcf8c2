//! Counts with a softplus rate.

// inlined into the function that selects the instruction set
#![allow(clippy::inline_always)]

use polyview_core::Domain;
use polyview_linalg::simd::{Kernel, decay, dispatch, ln, ln_1p};
use polyview_random::{ChaCha8Rng, poisson};
use polyview_special::{sigmoid, softplus};
use serde::{Deserialize, Serialize};

use super::{NEEDS, is_count, ln_factorial, normal_moments};
use crate::ParameterUncertainty;
use crate::bernoulli::Bernoulli;
use crate::cells::{
    Cell, CellLikelihood, ColumnData, ColumnParameters, ColumnSites, LocalMoments, Site, tiles,
};

/// Largest curvature of $-y\ln\varrho(\eta)$ for one count (spec/mofa B.2,
/// rounded up there).
const COUNT_CURVATURE: f64 = 0.17;

/// Over which counts the curvature of the bound is taken.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Curvature {
    /// Each cell's own count: the tighter bound.
    #[default]
    Cell,
    /// The largest count of the feature, as MOFA has it.
    Feature,
}

/// Counts $y \sim \mathrm{Pois}(\varrho(\eta))$, $\varrho(\eta) = \ln(1 + e^\eta)$,
/// by the quadratic bound of Seeger and Bouchard (spec/mofa B.2).
///
/// With $f = \varrho - y\ln\varrho$, whose second derivative is nowhere above
/// $\kappa = \tfrac14 + 0.17\\,y$, the local number is $\zeta = \langle\eta\rangle$,
/// $\omega = \kappa$, $h = \kappa\zeta - f\'(\zeta)$. The curvature of a count grows
/// with it and the bound gets loose: factors may be lost where counts are above 4
/// or so on average. There [`NegativeBinomial`](super::NegativeBinomial) is the better
/// choice. There is no Gibbs sampler for this rate.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Poisson {
    /// What the curvature is taken over.
    pub curvature: Curvature,
    /// How sure predictions take the predictor to be.
    pub prediction: ParameterUncertainty,
    /// Largest count of each feature.
    largest: Vec<f64>,
}

impl Poisson {
    /// Poisson counts with that choice of curvature.
    pub fn new(curvature: Curvature) -> Self {
        Self {
            curvature,
            ..Self::default()
        }
    }
    /// The same with predictions that take the predictor to be as sure as
    /// `prediction` says.
    pub fn with_prediction(mut self, prediction: ParameterUncertainty) -> Self {
        self.prediction = prediction;
        self
    }
    /// The least count of a feature that $\kappa$ is made for: a new sample may
    /// have a larger one than the training data.
    fn least(&self, column: usize) -> f64 {
        match self.curvature {
            Curvature::Cell => 0.0,
            Curvature::Feature => self.largest.get(column).copied().unwrap_or(0.0),
        }
    }
    /// $\kappa$ of a cell.
    fn kappa(&self, cell: Cell) -> f64 {
        0.25 + COUNT_CURVATURE * cell.value.max(self.least(cell.column))
    }
}

/// $f(\zeta) = \varrho - y\ln\varrho$ and its derivative
/// $\sigma(\zeta)(1 - y/\varrho)$, from one exponential.
fn loss(count: f64, zeta: f64) -> (f64, f64) {
    let small = (-zeta.abs()).exp();
    let rate = zeta.max(0.0) + small.ln_1p();
    let sigmoid = if zeta < 0.0 { small } else { 1.0 } / (1.0 + small);
    // σ/ϱ tends to 1 where both vanish
    let ratio = if zeta < -30.0 { 1.0 } else { sigmoid / rate };
    let value = if count == 0.0 {
        rate
    } else {
        rate - count * if zeta < -30.0 { zeta } else { rate.ln() }
    };
    (value, sigmoid - count * ratio)
}

/// ω, h and c of counts given ζ, without $\ln y!$.
struct Sites<'a> {
    counts: &'a [f64],
    local: &'a [f64],
    least: f64,
    out: ColumnSites<'a>,
}

impl Kernel for Sites<'_> {
    #[inline(always)]
    fn run<const FUSED: bool>(self) {
        for (counts, local, out) in tiles(self.counts, self.local, self.out) {
            let ColumnSites {
                precision,
                linear,
                offset,
            } = out;
            sites::<FUSED>(counts, local, self.least, precision, linear, offset);
        }
    }
}

/// A function of its own, so that the compiler knows the slices to be apart.
/// Each exponential or logarithm is a long chain of arithmetic: a loop for each
/// kind keeps several cells under way, one loop for all of them does not.
#[inline(always)]
fn sites<const FUSED: bool>(
    counts: &[f64],
    local: &[f64],
    least: f64,
    precision: &mut [f64],
    linear: &mut [f64],
    offset: &mut [f64],
) {
    for (t, zeta) in precision.iter_mut().zip(local) {
        *t = decay::<FUSED>(zeta.abs()).value;
    }
    for ((rate, zeta), &t) in linear.iter_mut().zip(local).zip(&*precision) {
        *rate = zeta.max(0.0) + ln_1p::<FUSED>(t);
    }
    for (ln_rate, &rate) in offset.iter_mut().zip(&*linear) {
        *ln_rate = ln::<FUSED>(rate);
    }
    let out = precision.iter_mut().zip(linear).zip(offset);
    for ((&count, &zeta), ((omega, h), c)) in counts.iter().zip(local).zip(out) {
        let (t, rate, ln_rate) = (*omega, *h, *c);
        let part = if zeta < 0.0 { t } else { 1.0 };
        // where the rate vanishes: its logarithm is ζ, and σ/ϱ tends to 1
        let vanishes = zeta < -30.0;
        let (slope, limit) = (part * (rate - count) / ((1.0 + t) * rate), t - count);
        let slope = if vanishes { limit } else { slope };
        let ln_rate = if vanishes { zeta } else { ln_rate };
        let largest = if count > least { count } else { least };
        let kappa = 0.25 + COUNT_CURVATURE * largest;
        *omega = kappa;
        *h = kappa * zeta - slope;
        *c = slope * zeta - 0.5 * kappa * zeta * zeta - (rate - count * ln_rate);
    }
}

impl CellLikelihood for Poisson {
    fn needs(&self) -> &'static str {
        NEEDS
    }
    fn admits(&self, cell: Cell) -> bool {
        is_count(cell.value)
    }
    fn start(&self, _cell: Cell) -> f64 {
        0.0
    }
    fn optimise(&self, _cell: Cell, mean: f64, _square: f64) -> f64 {
        mean
    }
    fn optimise_from(&self) -> LocalMoments {
        LocalMoments::Mean
    }
    fn optimise_column(&self, _data: ColumnData<'_>, mean: &[f64], _: &[f64], out: &mut [f64]) {
        out.copy_from_slice(mean);
    }
    fn site(&self, cell: Cell, zeta: f64) -> Site {
        self.evaluate(cell, zeta).0
    }
    /// $-f(\zeta) + f\'(\zeta)\zeta - \tfrac\kappa2\zeta^2$.
    fn offset(&self, cell: Cell, zeta: f64) -> f64 {
        self.evaluate(cell, zeta).1
    }
    fn evaluate(&self, cell: Cell, zeta: f64) -> (Site, f64) {
        let (kappa, (value, slope)) = (self.kappa(cell), loss(cell.value, zeta));
        let site = Site {
            precision: kappa,
            linear: kappa * zeta - slope,
        };
        let quadratic = slope * zeta - 0.5 * kappa * zeta * zeta;
        (site, quadratic - value)
    }
    fn evaluate_column(&self, data: ColumnData<'_>, local: &[f64], out: ColumnSites<'_>) {
        dispatch(Sites {
            counts: data.values,
            local,
            least: self.least(data.column),
            out,
        });
    }
    /// $\kappa - f''(\zeta)$, with
    /// $f'' = \sigma(1-\sigma)(1 - y/\varrho) + y\sigma^2/\varrho^2$.
    fn slack(&self, cell: Cell, zeta: f64, _mean: f64) -> f64 {
        let kappa = self.kappa(cell);
        if zeta < -30.0 {
            return kappa;
        }
        let (rate, sigma) = (softplus(zeta), sigmoid(zeta));
        let ratio = sigma / rate;
        let curvature = sigmoid(-zeta) * (sigma - cell.value * ratio) + cell.value * ratio * ratio;
        (kappa - curvature).clamp(0.0, kappa)
    }
    /// $-\ln y!$.
    fn datum_offset(&self, cell: Cell) -> f64 {
        -ln_factorial(cell.value)
    }
    /// $\varrho^{-1}$ of the mean, half a count added to the sum so that it is
    /// finite.
    fn start_intercept(&self, cells: &[Cell]) -> f64 {
        let sum: f64 = cells.iter().map(|c| c.value).sum();
        let rate = (sum + 0.5) / cells.len().max(1) as f64;
        rate + (-(-rate).exp()).ln_1p()
    }
    fn intercept_precision(&self) -> f64 {
        Bernoulli::INTERCEPT_PRECISION
    }
    fn domain(&self) -> Domain {
        Domain::COUNTS
    }
    /// That of a count around its rate, as the predictor sees it:
    /// $\varrho/\varrho\'^2$.
    fn link_variance(&self, _column: usize, level: f64) -> f64 {
        softplus(level) / sigmoid(level).powi(2)
    }
    fn draw_datum(&self, _cell: Cell, eta: f64, rng: &mut ChaCha8Rng) -> f64 {
        poisson(rng, softplus(eta)).unwrap_or(f64::NAN)
    }
    /// Mean and variance of the count: of the rate, the mean once more.
    fn predict(&self, _column: usize, mean: f64, variance: f64) -> (f64, f64) {
        let variance = self.prediction.of_predictor(variance);
        let (rate, spread) = normal_moments(mean, variance, softplus);
        (rate, rate + spread)
    }
    fn parameters(&self) -> Option<&dyn ColumnParameters> {
        Some(self)
    }
    fn parameters_mut(&mut self) -> Option<&mut dyn ColumnParameters> {
        Some(self)
    }
}

/// The largest count of each feature: data, but part of the bound.
impl ColumnParameters for Poisson {
    fn values(&self) -> &[f64] {
        &self.largest
    }
    fn set(&mut self, values: Vec<f64>) {
        self.largest = values;
    }
    fn start(&self, data: &[Cell]) -> f64 {
        data.iter().fold(0.0, |m, c| m.max(c.value))
    }
    fn name(&self) -> &'static str {
        "largest-count"
    }
}

#[cfg(test)]
mod tests {
    use polyview_special::ln_gamma;

    use super::*;

    /// $\ln\varrho(\eta)$, also where $\varrho$ underflows.
    fn ln_rate(eta: f64) -> f64 {
        if eta < -30.0 { eta } else { softplus(eta).ln() }
    }

    #[test]
    fn the_bound_is_below_and_touches() {
        let likelihood = Poisson::default();
        for count in [0.0, 1.0, 3.0, 40.0] {
            let cell = Cell {
                column: 0,
                value: count,
                trials: 1.0,
                end: f64::NAN,
            };
            for i in -160..160 {
                let zeta = f64::from(i) * 0.25;
                let site = likelihood.site(cell, zeta);
                let at = |eta: f64| {
                    site.linear * eta - 0.5 * site.precision * eta * eta
                        + likelihood.offset(cell, zeta)
                        + likelihood.datum_offset(cell)
                };
                let exact = |eta: f64| {
                    let y = if count == 0.0 {
                        0.0
                    } else {
                        count * ln_rate(eta)
                    };
                    y - softplus(eta) - ln_gamma(count + 1.0)
                };
                let close = 1e-9 * (1.0 + exact(zeta).abs() + zeta * zeta * site.precision);
                assert!((at(zeta) - exact(zeta)).abs() < close, "{count} {zeta}");
                for step in [-9.0, -2.0, -0.3, 0.3, 2.0, 9.0] {
                    let eta = zeta + step;
                    assert!(at(eta) <= exact(eta) + close, "{count} {zeta} {eta}");
                }
            }
        }
    }
}

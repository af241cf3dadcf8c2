//! Counts whose log rates have normal noise.

mod columns;
mod expectation;
mod rates;

use polyview_core::{AS_IT_IS, Counting, Domain, GammaPrior, Law};
use polyview_linalg::{Mat, MatRef};
use polyview_random::{ChaCha8Rng, poisson, standard_normal};

use super::scale::{Rise, Scale, moments};
use super::{NEEDS, is_count, ln_factorial};
use rates::{Rate, draw_log_rate, ln_mass};

use crate::ParameterUncertainty;
use crate::bernoulli::Bernoulli;
use crate::cells::{
    Cell, CellAugmentation, CellLikelihood, ColumnCells, ColumnData, ColumnParameters, ColumnSites,
    LearnedParameters, LocalMoments, Site,
};
use crate::laws::{MixedCounts, levelled, predicted};

/// Noise precisions are kept in this range: at its upper end counts are Poisson
/// to three digits.
const RANGE: (f64, f64) = (1e-2, 1e4);

/// Counts of a log rate with normal noise, $y\sim\mathrm{Poisson}(e^x)$,
/// $x\sim N(\eta, 1/\tau)$, one precision τ a feature, per squared natural
/// logarithm of the rate (Aitchison and Ho 1989, "The multivariate Poisson-log
/// normal distribution").
///
/// Variational Bayes gives each cell a $q(x) = N(m, v)$ (Chiquet, Mariadassou and
/// Robin 2018, "Variational inference for probabilistic Poisson PCA"):
///
/// $$\ln p(y\mid\eta)\ge ym - e^{m+v/2} - \ln y! -
/// \tfrac\tau2\left((m-\eta)^2 + v\right) + \tfrac12\ln\tau v + \tfrac12,$$
///
/// a quadratic in η with $\omega = \tau$ and $h = \tau m$: its curvature is that of the
/// noise however large the count, where Polya-Gamma sites of a negative binomial
/// ([`NegativeBinomial`](super::NegativeBinomial)) become so steep with the count
/// that sweeps hardly move. The local number is $t = m + v/2$, the logarithm of
/// the expected rate; $v = 1/(e^t + \tau)$ is best whatever η is, and t the root of
/// one increasing function. The Gibbs sampler draws x exactly, by rejection from
/// three tangents of its log-concave density.
///
/// That law of x knows nothing of how unsure η is: a small count, which says next to nothing of its log rate, holds η as
/// tightly as a large one, and factors of small counts go. As a [`ScalarLikelihood`](crate::ScalarLikelihood) log rates follow
/// their predictors instead (docs/decisions/0114-log-rates-follow-predictors.md).
///
/// The precision has a gamma prior. Variational Bayes takes its most probable
/// value on the log scale, by steps that never lower the bound at its best local
/// numbers; the sampler draws it by slices with x summed out.
#[derive(Clone, Debug, PartialEq)]
pub struct PoissonLogNormal {
    /// Prior of the precisions; its rate is in squared natural logarithms.
    pub prior: GammaPrior,
    /// How sure predictions take the predictor to be.
    pub prediction: ParameterUncertainty,
    /// Noise precisions.
    precision: Vec<f64>,
    /// Factors of expected counts and their relative variances, one a feature; empty where none was brought to a level.
    levels: Vec<(f64, f64)>,
}

impl Default for PoissonLogNormal {
    fn default() -> Self {
        Self::new(GammaPrior::new(1.0, 0.01))
    }
}

impl PoissonLogNormal {
    /// Counts with that prior of the noise precisions.
    pub fn new(prior: GammaPrior) -> Self {
        Self {
            prior,
            prediction: ParameterUncertainty::Posterior,
            precision: Vec::new(),
            levels: Vec::new(),
        }
    }
    /// The same with predictions that take the predictor to be as sure as
    /// `prediction` says.
    pub fn with_prediction(mut self, prediction: ParameterUncertainty) -> Self {
        self.prediction = prediction;
        self
    }
    /// Noise precisions τ of the log rates, per squared natural logarithm, one a
    /// feature, between 0.01 and 10 000; empty before the first data.
    pub fn precisions(&self) -> &[f64] {
        &self.precision
    }
    fn precision_of(&self, column: usize) -> f64 {
        self.precision.get(column).copied().unwrap_or(1.0)
    }
    fn level_of(&self, column: usize) -> (f64, f64) {
        self.levels.get(column).copied().unwrap_or(AS_IT_IS)
    }
    /// What is common to all noise precisions.
    pub(super) fn scale(&self) -> Scale {
        Scale {
            prior: self.prior,
            range: RANGE,
        }
    }
    /// The bound of a column at its best local numbers, without what depends on
    /// the counts alone, and its derivatives in ln τ: one of many for the same counts. `last` has the
    /// local numbers of the precision before, if there was one.
    pub(super) fn profile(
        cells: ColumnCells<'_>,
        y: &[f64],
        last: &mut Option<Vec<f64>>,
        tau: f64,
    ) -> Rise {
        let local = if let Some(local) = last {
            columns::better(y, (cells.mean, &[]), tau, local);
            local
        } else {
            let local = last.insert(vec![0.0; y.len()]);
            columns::best(y, cells.mean, tau, local);
            local
        };
        let q = columns::rates(y, local, tau);
        let (mut value, mut slope, mut curvature) = (0.0, 0.0, 0.0);
        for (i, (&mean, &square)) in cells.mean.iter().zip(cells.square).enumerate() {
            let (m, v) = (q.mean[i], q.variance[i]);
            value += q.offset[i] + tau * (m * mean - 0.5 * square);
            // by the envelope theorem
            let far = m * m - 2.0 * m * mean + square + v;
            slope += 0.5 - 0.5 * tau * far;
            // with how t, m and v follow ln τ
            let rate = (v.recip() - tau).max(0.0);
            let of_square = 0.5 * v * v;
            let moves =
                -(tau * (m - mean) + of_square * tau * tau) / (rate + tau + tau * of_square * rate);
            let narrows = -2.0 * of_square * (rate * moves + tau);
            let shifts = moves - 0.5 * narrows;
            curvature -= 0.5 * tau * (far + 2.0 * (m - mean) * shifts + narrows);
        }
        Rise {
            value,
            slope,
            curvature: Some(curvature),
        }
    }
    /// $\ln p(y\mid\eta)$ of a column as a function of τ.
    fn log_conditional(cells: ColumnCells<'_>, tau: f64) -> f64 {
        let cells = cells.cells.iter().zip(cells.mean);
        cells.map(|(c, &eta)| ln_mass(c.value, eta, tau)).sum()
    }
}

impl CellLikelihood for PoissonLogNormal {
    fn needs(&self) -> &'static str {
        NEEDS
    }
    fn admits(&self, cell: Cell) -> bool {
        is_count(cell.value)
    }
    fn start(&self, cell: Cell) -> f64 {
        (cell.value + 0.5).ln()
    }
    /// The predictor's variance lowers the bound by as much whatever q is.
    fn optimise(&self, cell: Cell, mean: f64, _square: f64) -> f64 {
        let mut out = [0.0];
        columns::best(
            &[cell.value],
            &[mean],
            self.precision_of(cell.column),
            &mut out,
        );
        out[0]
    }
    fn optimise_column(
        &self,
        data: ColumnData<'_>,
        mean: &[f64],
        _square: &[f64],
        out: &mut [f64],
    ) {
        columns::best(data.values, mean, self.precision_of(data.column), out);
    }
    fn optimise_from(&self) -> LocalMoments {
        LocalMoments::Mean
    }
    fn site(&self, cell: Cell, local: f64) -> Site {
        self.evaluate(cell, local).0
    }
    fn offset(&self, cell: Cell, local: f64) -> f64 {
        self.evaluate(cell, local).1
    }
    fn evaluate(&self, cell: Cell, local: f64) -> (Site, f64) {
        let tau = self.precision_of(cell.column);
        let q = Rate::new(local, tau);
        let site = Site {
            precision: tau,
            linear: tau * q.mean,
        };
        (site, q.offset(cell.value, tau))
    }
    fn evaluate_column(&self, data: ColumnData<'_>, local: &[f64], out: ColumnSites<'_>) {
        let tau = self.precision_of(data.column);
        let q = columns::rates(data.values, local, tau);
        out.precision.fill(tau);
        for (h, m) in out.linear.iter_mut().zip(&q.mean) {
            *h = tau * m;
        }
        out.offset.copy_from_slice(&q.offset);
    }
    /// $\tau\,\partial m/\partial\eta$, as t follows η.
    fn slack(&self, cell: Cell, local: f64, _mean: f64) -> f64 {
        let tau = self.precision_of(cell.column);
        Rate::new(local, tau).slack(tau)
    }
    /// $-\ln y!$.
    fn datum_offset(&self, cell: Cell) -> f64 {
        -ln_factorial(cell.value)
    }
    /// The mean logarithm, half a count added so that it is finite.
    fn start_intercept(&self, cells: &[Cell]) -> f64 {
        let sum: f64 = cells.iter().map(|c| (c.value + 0.5).ln()).sum();
        sum / cells.len().max(1) as f64
    }
    fn intercept_precision(&self) -> f64 {
        Bernoulli::INTERCEPT_PRECISION
    }
    fn domain(&self) -> Domain {
        Domain::COUNTS
    }
    /// That of the noise, and of a Poisson count over its squared mean.
    fn link_variance(&self, column: usize, level: f64) -> f64 {
        let noise = self.precision_of(column).recip();
        noise + (-level - 0.5 * noise).exp()
    }
    fn draw_datum(&self, cell: Cell, eta: f64, rng: &mut ChaCha8Rng) -> f64 {
        let sd = self.precision_of(cell.column).sqrt().recip();
        let x: f64 = eta + sd * standard_normal(rng);
        poisson(rng, x.exp()).unwrap_or(f64::NAN)
    }
    /// Mean and variance of the count with its log rate normal.
    fn predict(&self, column: usize, mean: f64, variance: f64) -> (f64, f64) {
        let variance = self.precision_of(column).recip() + self.prediction.of_predictor(variance);
        levelled(self.level_of(column), (mean, variance), 0.0)
    }
    /// Mixed over the predictor's law (spec/sites 4).
    fn law(
        &self,
        first: usize,
        mean: Mat<f64>,
        variance: Mat<f64>,
        _exposure: Option<MatRef<'_, f64>>,
    ) -> Box<dyn Law> {
        let noise = |d: usize| self.precision_of(first + d).recip();
        let variance = predicted(self.prediction, variance, noise);
        let counting = vec![Counting::Poisson; mean.ncols()];
        let levels = (first..first + mean.ncols())
            .map(|d| self.level_of(d))
            .collect();
        Box::new(MixedCounts::new(counting, (mean, variance)).with_levels(levels))
    }
    fn take_levels(&mut self, levels: &[(f64, f64)]) -> bool {
        self.levels = levels.to_vec();
        true
    }
    fn levels(&self) -> &[(f64, f64)] {
        &self.levels
    }
    /// That of the negative binomial with the same variance,
    /// $1/(e^{1/\tau} - 1)$.
    fn size(&self, column: usize) -> Option<f64> {
        let tau = self.precision.get(column)?;
        Some(tau.recip().exp_m1().recip())
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

impl CellAugmentation for PoissonLogNormal {
    fn draw_local(&self, cell: Cell, eta: f64, rng: &mut ChaCha8Rng) -> f64 {
        draw_log_rate(cell.value, eta, self.precision_of(cell.column), rng)
    }
    fn site(&self, cell: Cell, log_rate: f64) -> Site {
        let tau = self.precision_of(cell.column);
        Site {
            precision: tau,
            linear: tau * log_rate,
        }
    }
    fn log_density(&self, cell: Cell, eta: f64) -> f64 {
        let tau = self.precision_of(cell.column);
        ln_mass(cell.value, eta, tau) - ln_factorial(cell.value)
    }
}

impl ColumnParameters for PoissonLogNormal {
    fn values(&self) -> &[f64] {
        &self.precision
    }
    fn set(&mut self, values: Vec<f64>) {
        self.precision = values;
    }
    /// By moments, half of the variance above that of a Poisson count left to
    /// the factors; within 0.1 and 100.
    fn start(&self, data: &[Cell]) -> f64 {
        let (mean, spread) = moments(data);
        let noise = 0.5 * ((spread - mean) / (mean * mean)).ln_1p();
        // neither without counts nor with little spread
        if noise > 0.01 {
            noise.recip().max(0.1)
        } else {
            100.0
        }
    }
    fn name(&self) -> &'static str {
        "precision"
    }
    fn learned(&self) -> Option<&dyn LearnedParameters> {
        Some(self)
    }
}

impl LearnedParameters for PoissonLogNormal {
    /// A step along the slope in ln τ, halved until the profile does not fall.
    fn update(&self, column: usize, cells: ColumnCells<'_>) -> f64 {
        let y: Vec<f64> = cells.cells.iter().map(|c| c.value).collect();
        let mut last = None;
        let profile = |tau: f64| Self::profile(cells, &y, &mut last, tau);
        self.scale().ascend(self.precision[column], profile)
    }
    /// Slice sampling on ln τ.
    fn draw(&self, column: usize, cells: ColumnCells<'_>, rng: &mut ChaCha8Rng) -> f64 {
        let log_density = |tau: f64| Self::log_conditional(cells, tau);
        self.scale().slice(self.precision[column], log_density, rng)
    }
    fn draw_prior(&self, rng: &mut ChaCha8Rng) -> f64 {
        self.scale().draw_prior(rng)
    }
    /// Density of ln τ.
    fn log_prior(&self, tau: f64) -> f64 {
        self.scale().log_prior(tau)
    }
}

#[cfg(test)]
mod tests;

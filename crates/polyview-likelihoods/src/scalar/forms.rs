//! Polyview's own likelihoods by expectation sites, in place of the bounds of their papers.

// inlined into the function that selects the instruction set
#![allow(clippy::inline_always)]

use polyview_core::{DataError, Domain, Law, TermContext, View, ViewTerm, Way};
use polyview_linalg::simd::{Kernel, dispatch};
use polyview_linalg::{Mat, MatRef};
use polyview_random::ChaCha8Rng;
use polyview_special::{Expectation, Real, ln_gamma};
use serde::{Deserialize, Serialize};

use super::gammas::{Gammas, Slopes};
use super::{
    Expectations, Expected, Rise, ScalarLikelihood, ScalarParameter, Scratch, logistic, widened,
};
use crate::cells::{Cell, CellLikelihood, ColumnData, cell_term};
use crate::{Bernoulli, Binomial, NegativeBinomial, Probit};

/// From $B = \mathrm E\ln(1 + e^\eta)$, with its derivatives, $F = x m - nB + c$ of each cell, given
/// x, n and c of it.
#[inline]
fn of_logistic(
    out: &mut Expectations<'_>,
    (mean, shift): (&[f64], f64),
    cell: impl Fn(usize) -> (f64, f64, f64),
) {
    dispatch(OfLogistic {
        out: out.part(0..mean.len()),
        mean,
        shift,
        cell,
    });
}

struct OfLogistic<'a, C> {
    out: Expectations<'a>,
    mean: &'a [f64],
    shift: f64,
    cell: C,
}

impl<C: Fn(usize) -> (f64, f64, f64)> Kernel for OfLogistic<'_, C> {
    #[inline(always)]
    fn run<const FUSED: bool>(self) {
        let Expectations {
            value,
            slope,
            curvature,
        } = self.out;
        let numbers = value.iter_mut().zip(slope).zip(curvature);
        for (i, (((value, slope), curvature), m)) in numbers.zip(self.mean).enumerate() {
            let (x, n, constant) = (self.cell)(i);
            *value = x * (m - self.shift) - n * *value + constant;
            *slope = x - n * *slope;
            *curvature *= -n;
        }
    }
}

/// What variational Bayes has in place of a log density that is no quadratic.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Form {
    /// The expectation wherever the engine takes tangents, the bound elsewhere.
    #[default]
    Auto,
    /// The bound of the paper: the same curvature for all cells whose predictors are as large.
    Bound,
    /// The expectation of the log density itself (spec/sites 1).
    Expectation,
}

/// Options of a likelihood that may choose its form and nothing else.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct OfForm {
    /// The form.
    pub(crate) form: Form,
}

/// The option as species describe it.
pub(crate) const FORM: (&str, &str) = (
    "form",
    "what variational Bayes takes for the log density: expectation (its own expectation, closer), \
     bound (that of the paper, faster), or auto (expectation, but for the engine stochastic and for \
     mixtures)",
);

/// Expectations of a likelihood of a normal variable of unit variance, over predictors with a
/// further variance `spread` each: those at the predictor, and at all that it is compared with,
/// over $\sqrt{1 + \kappa}$. `of` has the expectation of a cell, given this scale, and mean and
/// variance of the predictor in it.
pub(crate) fn widened_normal(
    (mean, variance): (&[f64], &[f64]),
    spread: &[f64],
    out: &mut [Expectation],
    of: impl Fn(usize, f64, f64, f64) -> Expectation,
) {
    for (n, out) in out.iter_mut().enumerate() {
        let scale = (1.0 + spread[n]).sqrt().recip();
        let e = of(n, scale, scale * mean[n], scale * scale * variance[n]);
        *out = Expectation {
            value: e.value,
            slope: scale * e.slope,
            curvature: scale * scale * e.curvature,
        };
    }
}

impl Form {
    /// Why a form cannot go a way, in words that follow "it".
    pub(crate) fn refuses(self, way: Way) -> Option<String> {
        if self != Self::Expectation {
            return None;
        }
        match way {
            Way::Gibbs => Some("is sampled exactly whatever its form: leave form out".to_owned()),
            Way::Stochastic => {
                Some("takes form=bound there: expectation sites are of all samples".to_owned())
            }
            Way::Components => {
                Some("takes form=bound there: components share its bound".to_owned())
            }
            _ => None,
        }
    }
    /// The data term of a likelihood that has both forms.
    pub(crate) fn term<L: CellLikelihood + ScalarLikelihood>(
        self,
        view: View,
        likelihood: L,
        cx: &TermContext,
    ) -> Result<Box<dyn ViewTerm>, DataError> {
        match self {
            Self::Auto if cx.tangents => Ok(Box::new(Expected::new(view, likelihood)?)),
            Self::Expectation => Ok(Box::new(Expected::new(view, likelihood)?)),
            Self::Auto | Self::Bound => cell_term(view, likelihood, cx),
        }
    }
}

impl ScalarLikelihood for Bernoulli {
    fn needs(&self) -> &'static str {
        CellLikelihood::needs(self)
    }
    fn admits(&self, cell: Cell) -> bool {
        CellLikelihood::admits(self, cell)
    }
    fn domain(&self) -> Domain {
        Domain::Binary
    }
    fn ln_density<R: Real>(&self, cell: Cell, eta: R, _parameter: R) -> R {
        eta * cell.value - eta.softplus()
    }
    fn expectations(
        &self,
        data: ColumnData<'_>,
        _parameter: f64,
        (mean, variance): (&[f64], &[f64]),
        mut out: Expectations<'_>,
    ) {
        logistic::softplus(mean, variance, 0.0, |_| 1.0, &mut out);
        let x = &data.values[..mean.len()];
        of_logistic(&mut out, (mean, 0.0), |i| (x[i], 1.0, 0.0));
    }
    fn widened_expectations(
        &self,
        data: ColumnData<'_>,
        _parameter: f64,
        (mean, variance): (&[f64], &[f64]),
        spread: &[f64],
        out: &mut [Expectation],
    ) {
        for (n, out) in out.iter_mut().enumerate() {
            let sign = if data.values[n] > 0.5 { 1.0 } else { -1.0 };
            *out = widened::outer(mean[n], variance[n], |eta| {
                let (value, slope) = widened::ln_logistic(sign * eta, spread[n]);
                (value, sign * slope)
            });
        }
    }
    fn start_intercept(&self, cells: &[Cell], _parameter: f64) -> f64 {
        CellLikelihood::start_intercept(self, cells)
    }
    fn intercept_precision(&self) -> f64 {
        Self::INTERCEPT_PRECISION
    }
    fn remark(&self, cells: &[Cell]) -> Option<&'static str> {
        CellLikelihood::remark(self, cells)
    }
    fn link_variance(&self, column: usize, level: f64, _parameter: f64) -> f64 {
        CellLikelihood::link_variance(self, column, level)
    }
    fn draw_datum(&self, cell: Cell, eta: f64, _parameter: f64, rng: &mut ChaCha8Rng) -> f64 {
        CellLikelihood::draw_datum(self, cell, eta, rng)
    }
    fn law(
        &self,
        first: usize,
        _parameters: Vec<f64>,
        (mean, variance): (Mat<f64>, Mat<f64>),
        exposure: Option<MatRef<'_, f64>>,
    ) -> Box<dyn Law> {
        CellLikelihood::law(self, first, mean, variance, exposure)
    }
}

impl ScalarLikelihood for Probit {
    fn needs(&self) -> &'static str {
        CellLikelihood::needs(self)
    }
    fn domain(&self) -> Domain {
        Domain::Binary
    }
    fn ln_density<R: Real>(&self, cell: Cell, eta: R, _parameter: R) -> R {
        let signed = if cell.value > 0.5 { eta } else { -eta };
        signed.ln_normal_cdf()
    }
    /// $\mathrm E\,\Phi(\xi) = \Phi(\eta/\sqrt{1 + \kappa})$.
    fn widened_expectations(
        &self,
        data: ColumnData<'_>,
        parameter: f64,
        (mean, variance): (&[f64], &[f64]),
        spread: &[f64],
        out: &mut [Expectation],
    ) {
        widened_normal((mean, variance), spread, out, |n, _, m, v| {
            self.expectation(data.cell(n), parameter, m, v)
        });
    }
    fn start_intercept(&self, cells: &[Cell], _parameter: f64) -> f64 {
        CellLikelihood::start_intercept(self, cells)
    }
    fn intercept_precision(&self) -> f64 {
        CellLikelihood::intercept_precision(self)
    }
    fn remark(&self, cells: &[Cell]) -> Option<&'static str> {
        CellLikelihood::remark(self, cells)
    }
    fn link_variance(&self, column: usize, level: f64, _parameter: f64) -> f64 {
        CellLikelihood::link_variance(self, column, level)
    }
    fn draw_datum(&self, cell: Cell, eta: f64, _parameter: f64, rng: &mut ChaCha8Rng) -> f64 {
        CellLikelihood::draw_datum(self, cell, eta, rng)
    }
    fn law(
        &self,
        first: usize,
        _parameters: Vec<f64>,
        (mean, variance): (Mat<f64>, Mat<f64>),
        exposure: Option<MatRef<'_, f64>>,
    ) -> Box<dyn Law> {
        CellLikelihood::law(self, first, mean, variance, exposure)
    }
}

impl ScalarLikelihood for Binomial {
    fn needs(&self) -> &'static str {
        CellLikelihood::needs(self)
    }
    fn admits(&self, cell: Cell) -> bool {
        CellLikelihood::admits(self, cell)
    }
    fn domain(&self) -> Domain {
        Domain::SUCCESSES
    }
    fn ln_density<R: Real>(&self, cell: Cell, eta: R, _parameter: R) -> R {
        let (x, n) = (cell.value, cell.trials);
        let choose = ln_gamma(n + 1.0) - ln_gamma(x + 1.0) - ln_gamma(n - x + 1.0);
        eta * x - eta.softplus() * n + choose
    }
    fn expectations(
        &self,
        data: ColumnData<'_>,
        _parameter: f64,
        (mean, variance): (&[f64], &[f64]),
        mut out: Expectations<'_>,
    ) {
        logistic::softplus(mean, variance, 0.0, |i| data.cell(i).trials, &mut out);
        of_logistic(&mut out, (mean, 0.0), |i| {
            let Cell {
                value: x,
                trials: n,
                ..
            } = data.cell(i);
            let choose = ln_gamma(n + 1.0) - ln_gamma(x + 1.0) - ln_gamma(n - x + 1.0);
            (x, n, choose)
        });
    }
    fn start_intercept(&self, cells: &[Cell], _parameter: f64) -> f64 {
        CellLikelihood::start_intercept(self, cells)
    }
    fn intercept_precision(&self) -> f64 {
        CellLikelihood::intercept_precision(self)
    }
    fn link_variance(&self, column: usize, level: f64, _parameter: f64) -> f64 {
        CellLikelihood::link_variance(self, column, level)
    }
    fn draw_datum(&self, cell: Cell, eta: f64, _parameter: f64, rng: &mut ChaCha8Rng) -> f64 {
        CellLikelihood::draw_datum(self, cell, eta, rng)
    }
    fn law(
        &self,
        first: usize,
        _parameters: Vec<f64>,
        (mean, variance): (Mat<f64>, Mat<f64>),
        exposure: Option<MatRef<'_, f64>>,
    ) -> Box<dyn Law> {
        CellLikelihood::law(self, first, mean, variance, exposure)
    }
}

impl ScalarLikelihood for NegativeBinomial {
    fn needs(&self) -> &'static str {
        CellLikelihood::needs(self)
    }
    fn admits(&self, cell: Cell) -> bool {
        CellLikelihood::admits(self, cell)
    }
    fn domain(&self) -> Domain {
        Domain::COUNTS
    }
    fn ln_density<R: Real>(&self, cell: Cell, eta: R, size: R) -> R {
        let y = cell.value;
        let psi = eta - size.ln();
        let choose = (size + y).ln_gamma() - size.ln_gamma() - ln_gamma(y + 1.0);
        psi * y - psi.softplus() * (size + y) + choose
    }
    fn expectations(
        &self,
        data: ColumnData<'_>,
        size: f64,
        (mean, variance): (&[f64], &[f64]),
        mut out: Expectations<'_>,
    ) {
        let ln_size = size.ln();
        let y = &data.values[..mean.len()];
        logistic::softplus(mean, variance, ln_size, |n| y[n] + size, &mut out);
        let gammas = Gammas::new(size);
        of_logistic(&mut out, (mean, ln_size), |n| {
            (y[n], y[n] + size, gammas.ways(y[n]))
        });
    }
    fn profile(&self, cells: &[Cell], size: f64, (mean, variance): (&[f64], &[f64])) -> Rise {
        let ln_size = size.ln();
        let mut made = Scratch::new(cells.len());
        let mut e = made.all();
        let weight = |n: usize| cells[n].value + size;
        logistic::softplus(mean, variance, ln_size, weight, &mut e);
        let (gammas, slopes) = (Gammas::new(size), Slopes::new(size));
        let (mut value, mut slope, mut curvature) = (0.0, 0.0, 0.0);
        for (i, (cell, m)) in cells.iter().zip(mean).enumerate() {
            let y = cell.value;
            let (first, second) = slopes.of(y);
            // B, and what it loses and its slope gains where r grows
            let (b, falls, bends) = (e.value[i], e.slope[i], e.curvature[i]);
            value += y * (m - ln_size) - (y + size) * b + gammas.ways(y);
            slope += size * (first - b) - y + (y + size) * falls;
            curvature += size * (first - b + size * second + 2.0 * falls) + (y + size) * bends;
        }
        Rise {
            value,
            slope,
            curvature: Some(curvature),
        }
    }
    fn parameter(&self) -> Option<ScalarParameter> {
        Some(self.size_parameter())
    }
    fn start_parameter(&self, cells: &[Cell]) -> f64 {
        crate::cells::ColumnParameters::start(self, cells)
    }
    fn start_intercept(&self, cells: &[Cell], _parameter: f64) -> f64 {
        CellLikelihood::start_intercept(self, cells)
    }
    fn intercept_precision(&self) -> f64 {
        CellLikelihood::intercept_precision(self)
    }
    fn remark(&self, cells: &[Cell]) -> Option<&'static str> {
        CellLikelihood::remark(self, cells)
    }
    fn size(&self, parameter: f64) -> Option<f64> {
        Some(parameter)
    }
    fn link_variance(&self, _column: usize, level: f64, size: f64) -> f64 {
        (-level).exp() + size.recip()
    }
    fn draw_datum(&self, cell: Cell, eta: f64, size: f64, rng: &mut ChaCha8Rng) -> f64 {
        let of_column = Cell { column: 0, ..cell };
        CellLikelihood::draw_datum(&self.with_sizes(vec![size]), of_column, eta, rng)
    }
    fn law(
        &self,
        _first: usize,
        sizes: Vec<f64>,
        (mean, variance): (Mat<f64>, Mat<f64>),
        exposure: Option<MatRef<'_, f64>>,
    ) -> Box<dyn Law> {
        CellLikelihood::law(&self.with_sizes(sizes), 0, mean, variance, exposure)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A column at once is its cells one by one, by nodes and by their densities, as far as the
    /// kernel promises; and slopes in a parameter are those of differences.
    fn check<L: ScalarLikelihood>(likelihood: &L, parameter: f64, data: &[f64], gap: f64) {
        let values: Vec<f64> = (0..90).map(|n| data[n % data.len()]).collect();
        let trials = vec![20.0; 90];
        let column = ColumnData {
            column: 0,
            values: &values,
            trials: Some(&trials),
            ends: None,
        };
        let mean: Vec<f64> = (0..90).map(|n| 0.2 * f64::from(n) - 9.0).collect();
        let variance: Vec<f64> = (0..90).map(|n| 0.02 * f64::from(n % 70)).collect();
        let mut made = Scratch::new(90);
        likelihood.expectations(column, parameter, (&mean, &variance), made.all());
        for n in 0..90 {
            let found = made.all().get(n);
            let e = likelihood.expectation(column.cell(n), parameter, mean[n], variance[n]);
            // what is looked up is less exact the more often it is differentiated
            for (a, b, gap) in [
                (found.value, e.value, gap),
                (found.slope, e.slope, gap),
                (found.curvature, e.curvature, gap.max(1e-6)),
            ] {
                assert!((a - b).abs() < gap * (1.0 + b.abs()), "{n}: {a} {b}");
            }
        }
        if likelihood.parameter().is_none() {
            return;
        }
        let cells: Vec<Cell> = (0..90).map(|n| column.cell(n)).collect();
        let at = |x: f64| likelihood.profile(&cells, x, (&mean, &variance));
        let h: f64 = 1e-5;
        let (up, down) = (at(parameter * h.exp()), at(parameter * (-h).exp()));
        let here = at(parameter);
        let slope = (up.value - down.value) / (2.0 * h);
        assert!((here.slope - slope).abs() < 1e-5 * (1.0 + slope.abs()));
        if let Some(curvature) = here.curvature {
            let exact = (up.slope - down.slope) / (2.0 * h);
            assert!((curvature - exact).abs() < 1e-5 * (1.0 + exact.abs()));
        }
        let by_cells: f64 = made.values().iter().sum();
        assert!((here.value - by_cells).abs() < 1e-9 * by_cells.abs());
    }

    #[test]
    fn a_column_is_its_cells() {
        // 1e-8 for each time that a log density has the logistic function's integral
        check(&Bernoulli::default(), 1.0, &[0.0, 1.0], 2e-8);
        check(&Probit::default(), 1.0, &[0.0, 1.0], 1e-9);
        check(&Binomial::default(), 1.0, &[0.0, 7.0, 20.0], 2e-7);
        check(&NegativeBinomial::default(), 0.6, &[0.0, 3.0, 250.0], 1e-7);
        check(&NegativeBinomial::default(), 30.0, &[0.0, 3.0, 250.0], 3e-7);
    }
}

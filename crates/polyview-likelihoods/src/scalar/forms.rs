//! Polyview's own likelihoods by expectation sites, in place of the bounds of their papers.

use polyview_core::{DataError, Domain, Law, TermContext, View, ViewTerm, Way};
use polyview_linalg::{Mat, MatRef};
use polyview_random::ChaCha8Rng;
use polyview_special::{Real, ln_gamma};
use serde::{Deserialize, Serialize};

use super::{Expected, ScalarLikelihood, ScalarParameter};
use crate::cells::{Cell, CellLikelihood, cell_term};
use crate::{Bernoulli, Binomial, NegativeBinomial, Probit};

/// What variational Bayes has in place of a log density that is no quadratic.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Form {
    /// The bound of the paper: the same curvature for all cells whose predictors are as large.
    #[default]
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
    "what variational Bayes takes for the log density: bound (that of the paper, fast) or \
     expectation (its own expectation, dozens of times slower, closer)",
);

impl Form {
    /// Why a form cannot go a way, in words that follow "it".
    pub(crate) fn refuses(self, way: Way) -> Option<String> {
        if self == Self::Bound {
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
            Self::Bound => cell_term(view, likelihood, cx),
            Self::Expectation => Ok(Box::new(Expected::new(view, likelihood)?)),
        }
    }
}

impl ScalarLikelihood for Bernoulli {
    fn needs(&self) -> &'static str {
        CellLikelihood::needs(self)
    }
    fn domain(&self) -> Domain {
        Domain::Binary
    }
    fn ln_density<R: Real>(&self, cell: Cell, eta: R, _parameter: R) -> R {
        eta * cell.value - eta.softplus()
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
    fn domain(&self) -> Domain {
        Domain::SUCCESSES
    }
    fn ln_density<R: Real>(&self, cell: Cell, eta: R, _parameter: R) -> R {
        let (x, n) = (cell.value, cell.trials);
        let choose = ln_gamma(n + 1.0) - ln_gamma(x + 1.0) - ln_gamma(n - x + 1.0);
        eta * x - eta.softplus() * n + choose
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
    fn domain(&self) -> Domain {
        Domain::COUNTS
    }
    fn ln_density<R: Real>(&self, cell: Cell, eta: R, size: R) -> R {
        let y = cell.value;
        let psi = eta - size.ln();
        let choose = (size + y).ln_gamma() - size.ln_gamma() - ln_gamma(y + 1.0);
        psi * y - psi.softplus() * (size + y) + choose
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

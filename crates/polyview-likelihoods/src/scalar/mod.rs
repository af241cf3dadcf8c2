//! Likelihoods that are known by their log density alone (spec/sites 1).
//!
//! A [`ScalarLikelihood`] says $\ln p(x\mid\eta)$, and [`Expected`] is the data term of a view
//! of it: variational Bayes by expectation sites, Gibbs sampling by proposals from the
//! conditional under sites, predictive laws by quadrature.
//!
//! $$ F(m, v) = \mathrm E\_{N(\eta; m, v)}\ln p(x\mid\eta),\qquad g = \partial\_mF,\qquad
//! H = -2\partial\_vF $$
//!
//! with the mean $m$ and the variance $v$ of the cell's predictor; the cell's site has the
//! precision $H$ and the linear part $g + Hm$. Sites are tangents, made anew for the weights,
//! the intercepts and the factors of each sweep, and rows whose bound falls go back
//! ([`polyview_core::Tangents`]).
//!
//! | file | about |
//! |---|---|
//! | `term` | the data term: [`Expected`] |
//! | `sites` | sites of a block of cells, and their sums |
//! | `equations` | what they say of rows |
//! | `parameters` | parameters of columns: steps and draws |
//! | `law` | predictive laws: [`MixedLaw`] |
//! | `widened` | densities of data whose predictors are uncertain |
//! | `logistic` | expectations of the logistic family, in vector instructions |
//! | `sheet` | expectations over mean and variance, looked up |
//! | `columns` | where expectations of many cells go |
//! | `gammas` | gamma functions of counts of one size |
//! | `forms` | polyview's own likelihoods in this form |
//! | `datum` | moments, distribution and draws of a datum from its density alone |

mod columns;
mod datum;
mod equations;
mod forms;
mod gammas;
mod law;
mod logistic;
mod parameters;
mod sheet;
mod sites;
mod term;
mod widened;

use std::fmt;

use polyview_core::{Domain, GammaPrior, Law};
use polyview_linalg::{Mat, MatRef};
use polyview_random::ChaCha8Rng;
use polyview_special::{Dual, Expectation, Real};

use crate::cells::{Cell, ColumnData, ViewParameters};

pub use crate::counts::Rise;
pub use columns::Expectations;
pub(crate) use columns::Scratch;
pub(crate) use forms::{FORM, Form, OfForm, widened_normal};
pub(crate) use gammas::ln_gamma_of_large;
pub use law::MixedLaw;
pub(crate) use sheet::{Cast, Sheet};
pub use term::Expected;

/// A parameter that each column of a likelihood has, such as a scale or a size: positive, with
/// a gamma prior, learnt with the rest of the model.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ScalarParameter {
    /// What it is called, in ledger and file.
    pub name: &'static str,
    /// Its prior.
    pub prior: GammaPrior,
    /// It is kept between these.
    pub range: (f64, f64),
}

/// A likelihood of single cells that is known by its log density. One method is enough; the
/// others may be said where a closed form is known, which is faster.
///
/// ```
/// use polyview_core::Domain;
/// use polyview_likelihoods::{Cell, ScalarLikelihood};
/// use polyview_special::Real;
///
/// /// Labels by the logistic function.
/// #[derive(Clone, Debug)]
/// struct Logistic;
///
/// impl ScalarLikelihood for Logistic {
///     fn needs(&self) -> &'static str {
///         "0 or 1"
///     }
///     fn domain(&self) -> Domain {
///         Domain::Binary
///     }
///     fn ln_density<R: Real>(&self, cell: Cell, eta: R, _parameter: R) -> R {
///         eta * cell.value - eta.softplus()
///     }
/// }
/// let cell = Cell { column: 0, value: 1.0, trials: 1.0, end: f64::NAN };
/// let e = Logistic.expectation(cell, 1.0, 0.3, 0.5);
/// assert!((e.value + 0.6123429445343).abs() < 1e-10);
/// ```
pub trait ScalarLikelihood: Clone + fmt::Debug + Send + Sync + 'static {
    /// What its data are, for errors ("0 or 1").
    fn needs(&self) -> &'static str;
    /// What its data are.
    fn domain(&self) -> Domain;
    /// $\ln p(x\mid\eta)$ of a cell, nats, with all constants. `parameter` is that of the
    /// column, 1 where there is none ([`ScalarLikelihood::parameter`]).
    fn ln_density<R: Real>(&self, cell: Cell, eta: R, parameter: R) -> R;
    /// Whether it knows that datum. Unless said otherwise by the domain: any finite number, any
    /// above 0, whole numbers from 0 on (up to the trials), 0 and 1.
    fn admits(&self, cell: Cell) -> bool {
        datum::admits(self.domain(), cell)
    }
    /// How fast the log density changes with the predictor: π over the distance of its nearest
    /// singularity from the real axis (spec/sites 1.4). 1 for logistic functions and counts;
    /// the inverse scale of noise for real data. A finite number above 0 for every parameter in its range.
    fn sharpness(&self, parameter: f64) -> f64 {
        let _ = parameter;
        1.0
    }
    /// The parameter that each column has.
    fn parameter(&self) -> Option<ScalarParameter> {
        None
    }
    /// The parameter at which data lie normally about their predictors with this variance, per squared working unit, where
    /// it is noise of numbers.
    fn of_noise(&self, variance: f64) -> Option<f64> {
        let _ = variance;
        None
    }
    /// Where the parameter of a column starts, given its observed cells: unless said
    /// otherwise at the mean of its prior.
    fn start_parameter(&self, cells: &[Cell]) -> f64 {
        let _ = cells;
        self.parameter()
            .map_or(1.0, |p| p.prior.shape / p.prior.rate)
    }
    /// Parameters of the view that are no matter of one number for each column, where it has
    /// any: `ln_density` reads them in itself.
    fn view_parameters(&self) -> Option<&dyn ViewParameters> {
        None
    }
    /// Write access to them.
    fn view_parameters_mut(&mut self) -> Option<&mut dyn ViewParameters> {
        None
    }
    /// The intercept to start from, given the observed cells of a column: unless said
    /// otherwise where a few steps of Newton's lead, starting at 0.
    fn start_intercept(&self, cells: &[Cell], parameter: f64) -> f64 {
        datum::best_predictor(self, cells, parameter)
    }
    /// The predictor that a datum alone would have, where steps from elsewhere would be far too long or far too short, as those of
    /// a rate that is the exponential of its predictor are: the first step of weights starts there. In units of the predictor (of rates their logarithm); none for most likelihoods (decision 0103).
    fn start_predictor(&self, cell: Cell) -> Option<f64> {
        let _ = cell;
        None
    }
    /// $F(m, v)$ with its derivatives (spec/sites 1.3).
    fn expectation(&self, cell: Cell, parameter: f64, mean: f64, variance: f64) -> Expectation {
        let theta = Real::constant(parameter);
        Expectation::of(mean, variance, self.sharpness(parameter), |eta| {
            self.ln_density(cell, eta, theta)
        })
    }
    /// [`ScalarLikelihood::expectation`] for a whole column at once. Cells that are missing
    /// have the datum 0; what is written for them does not count.
    fn expectations(
        &self,
        data: ColumnData<'_>,
        parameter: f64,
        (mean, variance): (&[f64], &[f64]),
        mut out: Expectations<'_>,
    ) {
        for n in 0..out.len() {
            out.put(
                n,
                self.expectation(data.cell(n), parameter, mean[n], variance[n]),
            );
        }
    }
    /// As [`ScalarLikelihood::expectations`], of $M = \ln\mathrm E\_{N(\xi; \eta, \kappa)}p(x\mid\xi)$ in
    /// place of the log density: `spread` has κ ≥ 0 of each cell, a variance of the predictor
    /// beside that which is asked for (spec/sites 5).
    fn widened_expectations(
        &self,
        data: ColumnData<'_>,
        parameter: f64,
        (mean, variance): (&[f64], &[f64]),
        spread: &[f64],
        out: &mut [Expectation],
    ) {
        for (n, out) in out.iter_mut().enumerate() {
            let at = (mean[n], variance[n]);
            *out = widened::expectation(self, data.cell(n), parameter, at, spread[n]);
        }
    }
    /// $\sum F$ of some cells of a column and its derivatives in the logarithm of the parameter
    /// (spec/sites 1.8).
    fn profile(&self, cells: &[Cell], parameter: f64, (mean, variance): (&[f64], &[f64])) -> Rise {
        let sharpness = self.sharpness(parameter);
        let (mut value, mut slope) = (0.0, 0.0);
        for (i, cell) in cells.iter().enumerate() {
            let (m, v) = (mean[i], variance[i]);
            value += self.expectation(*cell, parameter, m, v).value;
            slope += parameter
                * Expectation::mean_of(m, v, sharpness, |eta| {
                    let at = (Dual::constant(eta), Dual::variable(parameter));
                    self.ln_density(*cell, at.0, at.1).slope
                });
        }
        (value, slope).into()
    }
    /// Mean and variance of a datum in place of that of `cell`, given its predictor; not
    /// finite where it has none.
    fn moments(&self, cell: Cell, eta: f64, parameter: f64) -> (f64, f64) {
        datum::moments(self, cell, eta, parameter)
    }
    /// The probability of a datum that is not larger than that of `cell`, given its predictor.
    fn cdf(&self, cell: Cell, eta: f64, parameter: f64) -> f64 {
        datum::cdf(self, cell, eta, parameter)
    }
    /// As [`ScalarLikelihood::moments`] where the predictor is normal with this mean and variance, if
    /// that is a closed form.
    fn mixed_moments(
        &self,
        cell: Cell,
        parameter: f64,
        predictor: (f64, f64),
    ) -> Option<(f64, f64)> {
        let _ = (cell, parameter, predictor);
        None
    }
    /// Whether moments and distribution function are closed forms. Laws of real or positive data whose
    /// likelihood has none are tabulated, cell by cell.
    fn has_closed_forms(&self) -> bool {
        false
    }
    /// Draws a datum in place of that of `cell`, given its predictor.
    fn draw_datum(&self, cell: Cell, eta: f64, parameter: f64, rng: &mut ChaCha8Rng) -> f64 {
        datum::draw(self, cell, eta, parameter, rng)
    }
    /// As [`CellLikelihood::draw_cell`](crate::CellLikelihood::draw_cell).
    fn draw_cell(&self, cell: Cell, eta: f64, parameter: f64, rng: &mut ChaCha8Rng) -> (f64, f64) {
        (self.draw_datum(cell, eta, parameter, rng), f64::NAN)
    }
    /// Variance that noise and link add to the predictor of a column, in its squared units,
    /// where the predictor is `level`: unless said otherwise what a datum says of it, the
    /// inverse of the Fisher information.
    fn link_variance(&self, column: usize, level: f64, parameter: f64) -> f64 {
        datum::inverse_information(self, column, level, parameter)
    }
    /// Prior precision of the intercepts, as a multiple of the model's.
    fn intercept_precision(&self) -> f64 {
        if self.domain().is_real() { 1.0 } else { 0.01 }
    }
    /// As [`CellLikelihood::columns_are_alike`](crate::CellLikelihood::columns_are_alike).
    fn columns_are_alike(&self) -> bool {
        !self.domain().is_real()
    }
    /// Size r of counts whose variance at a mean μ is $\mu + \mu^2/r$, where they have one.
    fn size(&self, parameter: f64) -> Option<f64> {
        let _ = parameter;
        None
    }
    /// Shape a of numbers whose variance at a mean μ is $\mu^2/a$, where they have one.
    fn shape(&self, parameter: f64) -> Option<f64> {
        let _ = parameter;
        None
    }
    /// Predictive laws of a block of cells whose predictors have these means and variances,
    /// samples × columns, the first column being `first`; `parameters` are those of the
    /// columns, `exposure` as [`Block`](polyview_core::Block) has it.
    fn law(
        &self,
        first: usize,
        parameters: Vec<f64>,
        (mean, variance): (Mat<f64>, Mat<f64>),
        exposure: Option<MatRef<'_, f64>>,
    ) -> Box<dyn Law> {
        Box::new(MixedLaw {
            likelihood: self.clone(),
            parameters,
            first,
            mean,
            variance,
            trials: exposure.map(|t| t.to_owned()),
        })
    }
    /// As [`ViewTerm::take_levels`](polyview_core::ViewTerm::take_levels): whether it has taken them.
    fn take_levels(&mut self, levels: &[(f64, f64)]) -> bool {
        let _ = levels;
        false
    }
    /// The levels that it has taken, one for each column; empty where it has none.
    fn levels(&self) -> &[(f64, f64)] {
        &[]
    }
    /// What is remarkable about a column with these observed cells, in words for the journal.
    fn remark(&self, cells: &[Cell]) -> Option<&'static str> {
        let _ = cells;
        None
    }
}

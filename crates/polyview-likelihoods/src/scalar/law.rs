//! Predictive laws: the likelihood mixed over the predictor's normal law (spec/sites 4).

use polyview_core::{Ask, Law, quantile_by_search};
use polyview_linalg::Mat;
use polyview_special::Expectation;

use super::ScalarLikelihood;
use super::datum::Table;
use super::widened::{Grid, peak};
use crate::cells::Cell;
use crate::laws::each;

/// The predictive laws of a block of cells: moments, distribution functions and densities are
/// those of the likelihood under $\eta\sim N(m, v)$, by quadrature.
#[derive(Clone, Debug)]
pub struct MixedLaw<L> {
    pub(super) likelihood: L,
    /// Parameter of each column.
    pub(super) parameters: Vec<f64>,
    /// The first column.
    pub(super) first: usize,
    pub(super) mean: Mat<f64>,
    pub(super) variance: Mat<f64>,
    /// Numbers of trials, where they are known.
    pub(super) trials: Option<Mat<f64>>,
}

impl<L: ScalarLikelihood> MixedLaw<L> {
    /// The laws of data without trials; `parameters` are those of the columns, of which the first
    /// is `first`.
    pub(crate) fn new(
        likelihood: L,
        first: usize,
        parameters: Vec<f64>,
        (mean, variance): (Mat<f64>, Mat<f64>),
    ) -> Self {
        Self {
            likelihood,
            parameters,
            first,
            mean,
            variance,
            trials: None,
        }
    }
    fn cell(&self, sample: usize, column: usize, value: f64) -> Cell {
        Cell {
            column: self.first + column,
            value,
            trials: self.trials.as_ref().map_or(1.0, |t| t[(sample, column)]),
            end: f64::NAN,
        }
    }
    /// Whether laws are made tables of: where the data are numbers of any size and nothing is known
    /// in closed form.
    fn is_tabulated(&self) -> bool {
        self.likelihood.domain().is_continuous() && !self.likelihood.has_closed_forms()
    }
    /// The law of a cell as a table.
    fn table(&self, sample: usize, column: usize) -> Table {
        let cell = self.cell(sample, column, 0.0);
        let predictor = (self.mean[(sample, column)], self.variance[(sample, column)]);
        Table::mixed(&self.likelihood, cell, self.parameters[column], predictor)
    }
    fn moments(&self, sample: usize, column: usize) -> (f64, f64) {
        if self.is_tabulated() {
            return self.table(sample, column).moments();
        }
        let theta = self.parameters[column];
        let (m, v) = (self.mean[(sample, column)], self.variance[(sample, column)]);
        let cell = self.cell(sample, column, 0.0);
        if let Some(known) = self.likelihood.mixed_moments(cell, theta, (m, v)) {
            return known;
        }
        let sharpness = self.likelihood.sharpness(theta);
        let mean = Expectation::mean_of(m, v, sharpness, |eta| {
            self.likelihood.moments(cell, eta, theta).0
        });
        let spread = Expectation::mean_of(m, v, sharpness, |eta| {
            self.likelihood.moments(cell, eta, theta).1
        });
        let squares = Expectation::mean_of(m, v, sharpness, |eta| {
            (self.likelihood.moments(cell, eta, theta).0 - mean).powi(2)
        });
        (mean, squares + spread)
    }
    /// How fast the distribution function at a datum changes with the predictor: with the
    /// width that the datum gives it.
    fn cdf_sharpness(&self, cell: Cell, theta: f64, m: f64, v: f64) -> f64 {
        let (_, curvature) = peak(&self.likelihood, cell, theta, (m, v));
        (2.0 * curvature.max(0.0).sqrt()).max(self.likelihood.sharpness(theta))
    }
    fn cdf(&self, sample: usize, column: usize, x: f64) -> f64 {
        if self.is_tabulated() {
            return self.table(sample, column).cdf(x);
        }
        let theta = self.parameters[column];
        let (m, v) = (self.mean[(sample, column)], self.variance[(sample, column)]);
        let cell = self.cell(sample, column, x);
        let domain = self.likelihood.domain();
        if (domain.is_count() && x < 0.0) || (domain.is_positive() && x <= 0.0) {
            return 0.0;
        }
        let sharpness = if self.likelihood.admits(cell) {
            self.cdf_sharpness(cell, theta, m, v)
        } else {
            self.likelihood.sharpness(theta)
        };
        Expectation::mean_of(m, v, sharpness, |eta| self.likelihood.cdf(cell, eta, theta))
    }
    /// $\ln\int p(x\mid\eta)N(\eta; m, v)\,d\eta$ by equal steps about the peak (spec/sites
    /// 4.3).
    fn ln_density(&self, sample: usize, column: usize, x: f64) -> f64 {
        let theta = self.parameters[column];
        let (m, v) = (self.mean[(sample, column)], self.variance[(sample, column)]);
        let cell = self.cell(sample, column, x);
        if !self.likelihood.admits(cell) {
            return if x.is_nan() {
                f64::NAN
            } else {
                f64::NEG_INFINITY
            };
        }
        if v < 1e-12 {
            return self.likelihood.ln_density(cell, m, theta);
        }
        Grid::new(&self.likelihood, cell, theta, (m, v), 0.0)
            .mixed(m)
            .0
    }
}

impl<L: ScalarLikelihood> Law for MixedLaw<L> {
    fn shape(&self) -> (usize, usize) {
        self.mean.shape()
    }
    fn fill(&self, ask: Ask, column: usize, x: &[f64], out: &mut [f64]) {
        for (n, o) in out.iter_mut().enumerate() {
            *o = match ask {
                Ask::Mean => self.moments(n, column).0,
                Ask::Variance => self.moments(n, column).1,
                Ask::Cdf | Ask::LnDensity if x[n].is_nan() => f64::NAN,
                Ask::Cdf => self.cdf(n, column, x[n]),
                Ask::LnDensity => self.ln_density(n, column, x[n]),
                Ask::Level(_) => f64::NAN,
            };
        }
    }
    fn moments(&self, column: usize, mean: &mut [f64], deviation: &mut [f64]) {
        for (n, (m, s)) in mean.iter_mut().zip(deviation).enumerate() {
            let (a, b) = self.moments(n, column);
            (*m, *s) = (a, b.sqrt());
        }
    }
    fn is_whole(&self) -> bool {
        self.likelihood.domain().is_whole()
    }
    fn quantile(&self, column: usize, p: &[f64], out: &mut [f64]) {
        if self.is_tabulated() {
            each(p, out, |n, p| self.table(n, column).quantile(p));
        } else {
            quantile_by_search(self, column, p, out);
        }
    }
}

//! Ordered levels.

use polyview_core::{DataError, Domain, GammaPrior, Law, View, ViewTerm};
use polyview_linalg::{Mat, MatRef};
use polyview_random::{ChaCha8Rng, uniform_open01};
use polyview_special::{Expectation, Real, ln_interval_probability, normal_cdf};

use super::cuts::{CutPoints, CutPointsBy, quantiles};
use super::ends::Ends;
use super::law::Levels;
use crate::bernoulli::Bernoulli;
use crate::cells::{Cell, CellAugmentation, CellLikelihood, ColumnData, Site, ViewParameters};
use crate::scalar::widened_normal;
use crate::{Expectations, Expected, ParameterUncertainty, ScalarLikelihood};

/// Levels 1 to L in an order, any number of features of them: which of them is seen is said by
/// where $\eta + \epsilon$, $\epsilon\sim N(0, 1)$, lies among [`CutPoints`] (spec/sites 2). Two
/// levels are [`Probit`](crate::Probit).
///
/// By its bound the local number of a cell is $\zeta = \langle\eta\rangle$, and $\omega = 1$,
/// $h = \zeta + M\_1(\zeta)$: the mean of the noisy predictor between the ends of the cell. The
/// Gibbs sampler draws it, and is exact; gaps between cut points are drawn with it summed out.
///
/// ```
/// use polyview_core::{View, ViewTerm};
/// use polyview_likelihoods::{Cells, Ordinal};
/// use polyview_linalg::Mat;
///
/// # fn main() -> Result<(), polyview_core::DataError> {
/// let answers = Mat::from_fn(6, 1, |n, _| (n % 3 + 1) as f64);
/// let view = View::from_values("answers", vec!["q1".into()], answers)?;
/// let term = Cells::new(view, Ordinal::new(3))?;
/// let points = term.likelihood().cut_points().of(0);
/// assert!(points[0] < points[1] && (points[0] + points[1]).abs() < 1e-15);
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug)]
pub struct Ordinal {
    cuts: CutPoints,
    /// How probabilities are predicted.
    pub prediction: ParameterUncertainty,
}

/// What data of it are.
pub(super) const NEEDS: &str = "whole numbers from 1 on, one for each level";

impl Ordinal {
    /// Prior of the gaps between cut points, in units of the noise: of the mean 1.
    pub const PRIOR: GammaPrior = GammaPrior {
        shape: 2.0,
        rate: 2.0,
    };
    /// So many levels, two at least, with cut points that all features share.
    pub fn new(levels: usize) -> Self {
        Self::with_cut_points(CutPoints::new(levels, CutPointsBy::View, Self::PRIOR))
    }
    /// Levels between these cut points.
    pub fn with_cut_points(cuts: CutPoints) -> Self {
        Self {
            cuts,
            prediction: ParameterUncertainty::default(),
        }
    }
    /// The cut points.
    pub fn cut_points(&self) -> &CutPoints {
        &self.cuts
    }
    fn ends(&self, cell: Cell) -> Ends {
        self.cuts.ends(cell.column, cell.value)
    }
}

impl CellLikelihood for Ordinal {
    fn needs(&self) -> &'static str {
        NEEDS
    }
    fn admits(&self, cell: Cell) -> bool {
        let levels = match self.cuts.levels() {
            0 => f64::INFINITY,
            levels => levels as f64,
        };
        cell.value.fract() == 0.0
            && cell.value >= 1.0
            && cell.value <= levels
            && cell.value.is_finite()
    }
    fn start(&self, _cell: Cell) -> f64 {
        0.0
    }
    fn optimise(&self, _cell: Cell, mean: f64, _square: f64) -> f64 {
        mean
    }
    fn site(&self, cell: Cell, zeta: f64) -> Site {
        self.evaluate(cell, zeta).0
    }
    fn offset(&self, cell: Cell, zeta: f64) -> f64 {
        self.evaluate(cell, zeta).1
    }
    /// $h = \zeta + M_1$, $\omega = 1$, $c = \ln p - h\zeta + \tfrac12\zeta^2$.
    fn evaluate(&self, cell: Cell, zeta: f64) -> (Site, f64) {
        let part = self.ends(cell).at(zeta);
        let site = Site {
            precision: 1.0,
            linear: zeta + part.mean,
        };
        (site, part.ln_mass + zeta * (0.5 * zeta - site.linear))
    }
    /// Where the normal quantiles of the levels' shares lie from the cut points, on average,
    /// half a datum added to each level.
    fn start_intercept(&self, cells: &[Cell]) -> f64 {
        let Some(column) = cells.first().map(|c| c.column) else {
            return 0.0;
        };
        let points = self.cuts.of(column);
        let shares = quantiles(cells, self.cuts.levels());
        let off: f64 = points.iter().zip(&shares).map(|(p, q)| p - q).sum();
        off / points.len().max(1) as f64
    }
    fn remark(&self, cells: &[Cell]) -> Option<&'static str> {
        let first = cells.first()?.value;
        let same = cells.iter().all(|c| c.value == first);
        same.then_some("has one and the same level everywhere: it says little")
    }
    fn intercept_precision(&self) -> f64 {
        Bernoulli::INTERCEPT_PRECISION
    }
    fn domain(&self) -> Domain {
        Domain::LEVELS
    }
    fn link_variance(&self, _column: usize, _level: f64) -> f64 {
        1.0
    }
    fn draw_datum(&self, cell: Cell, eta: f64, rng: &mut ChaCha8Rng) -> f64 {
        let u = uniform_open01(rng);
        let points = self.cuts.of(cell.column);
        let below = points.iter().filter(|p| normal_cdf(**p - eta) < u);
        1.0 + below.count() as f64
    }
    fn predict(&self, column: usize, mean: f64, variance: f64) -> (f64, f64) {
        let law = self.law_of(column, Mat::full(1, 1, mean), &Mat::full(1, 1, variance));
        law.moments_of(0, 0)
    }
    fn law(
        &self,
        first: usize,
        mean: Mat<f64>,
        variance: Mat<f64>,
        _exposure: Option<MatRef<'_, f64>>,
    ) -> Box<dyn Law> {
        Box::new(self.law_of(first, mean, &variance))
    }
    fn view_parameters(&self) -> Option<&dyn ViewParameters> {
        Some(&self.cuts)
    }
    fn view_parameters_mut(&mut self) -> Option<&mut dyn ViewParameters> {
        Some(&mut self.cuts)
    }
    fn widened(
        &self,
        view: &View,
        spread: Mat<f64>,
    ) -> Option<Result<Box<dyn ViewTerm>, DataError>> {
        Some(Expected::behind(view, self.clone(), Vec::new(), spread))
    }
    fn augmentation(&self) -> Option<&dyn CellAugmentation> {
        Some(self)
    }
}

impl Ordinal {
    fn law_of(&self, first: usize, mean: Mat<f64>, variance: &Mat<f64>) -> Levels {
        let points = (0..mean.ncols()).map(|j| self.cuts.of(first + j).to_vec());
        Levels::new(points.collect(), mean, variance, self.prediction)
    }
}

/// The local number is the noisy predictor.
impl CellAugmentation for Ordinal {
    fn draw_local(&self, cell: Cell, eta: f64, rng: &mut ChaCha8Rng) -> f64 {
        self.ends(cell).draw(eta, rng)
    }
    fn site(&self, _cell: Cell, score: f64) -> Site {
        Site {
            precision: 1.0,
            linear: score,
        }
    }
    fn log_density(&self, cell: Cell, eta: f64) -> f64 {
        let Ends { lower, upper } = self.ends(cell);
        ln_interval_probability(lower - eta, upper - eta)
    }
}

impl ScalarLikelihood for Ordinal {
    fn needs(&self) -> &'static str {
        NEEDS
    }
    fn admits(&self, cell: Cell) -> bool {
        CellLikelihood::admits(self, cell)
    }
    fn domain(&self) -> Domain {
        Domain::LEVELS
    }
    fn ln_density<R: Real>(&self, cell: Cell, eta: R, _parameter: R) -> R {
        let Ends { lower, upper } = self.ends(cell);
        eta.ln_normal_between(lower, upper)
    }
    /// By the tables of shared cut points.
    fn expectation(&self, cell: Cell, _parameter: f64, mean: f64, variance: f64) -> Expectation {
        let Some(tables) = self.cuts.tables() else {
            let Ends { lower, upper } = self.ends(cell);
            return Expectation::of(mean, variance, 1.0, |eta| {
                eta.ln_normal_between(lower, upper)
            });
        };
        tables.of(cell.value).expectation(mean, variance)
    }
    /// Those of shared cut points are looked up.
    fn expectations(
        &self,
        data: ColumnData<'_>,
        parameter: f64,
        (mean, variance): (&[f64], &[f64]),
        mut out: Expectations<'_>,
    ) {
        if let Some(tables) = self.cuts.tables() {
            tables.expectations(data.values, (mean, variance), &mut out);
            return;
        }
        for n in 0..out.len() {
            let e = self.expectation(data.cell(n), parameter, mean[n], variance[n]);
            out.put(n, e);
        }
    }
    /// $\mathrm E\,p$ is that of the predictor over $\sqrt{1 + \kappa}$, and of ends over it.
    fn widened_expectations(
        &self,
        data: ColumnData<'_>,
        _parameter: f64,
        (mean, variance): (&[f64], &[f64]),
        spread: &[f64],
        out: &mut [Expectation],
    ) {
        widened_normal((mean, variance), spread, out, |n, scale, m, v| {
            let Ends { lower, upper } = self.ends(data.cell(n));
            Expectation::of(m, v, 1.0, |eta| {
                eta.ln_normal_between(scale * lower, scale * upper)
            })
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
    fn view_parameters(&self) -> Option<&dyn ViewParameters> {
        Some(&self.cuts)
    }
    fn view_parameters_mut(&mut self) -> Option<&mut dyn ViewParameters> {
        Some(&mut self.cuts)
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Probit;

    fn cell(value: f64) -> Cell {
        Cell {
            column: 0,
            value,
            trials: 1.0,
            end: f64::NAN,
        }
    }

    #[test]
    fn two_levels_are_a_probit() {
        let (two, probit) = (Ordinal::new(2), Probit::default());
        for value in [0.0, 1.0] {
            for i in -40..=40 {
                let zeta = 0.25 * f64::from(i);
                let (own, theirs) = (cell(value + 1.0), cell(value));
                let (a, b) = (two.evaluate(own, zeta), probit.evaluate(theirs, zeta));
                let close = |x: f64, y: f64| (x - y).abs() < 1e-12 * (1.0 + y.abs());
                assert!(
                    close(a.0.linear, b.0.linear) && close(a.1, b.1),
                    "{zeta}: {a:?} {b:?}"
                );
                let (p, _) = probit.predict(0, zeta, 0.7);
                let (mean, variance) = two.predict(0, zeta, 0.7);
                assert!(close(mean, 1.0 + p) && close(variance, p * (1.0 - p)));
            }
        }
        let cells: Vec<Cell> = [1.0, 2.0, 2.0, 2.0].map(cell).into();
        let ones: Vec<Cell> = [0.0, 1.0, 1.0, 1.0].map(cell).into();
        let (a, b) = (
            CellLikelihood::start_intercept(&two, &cells),
            CellLikelihood::start_intercept(&probit, &ones),
        );
        assert!((a - b).abs() < 1e-14);
    }

    #[test]
    fn the_bound_of_a_cell_is_exact_but_for_the_variance() {
        let five = Ordinal::new(5);
        for value in [1.0, 2.0, 4.0, 5.0] {
            let cell = cell(value);
            for i in -30..=30 {
                let (mean, variance) = (f64::from(i) * 0.5, 0.7);
                let bound_at = |zeta: f64| {
                    let (site, constant) = five.evaluate(cell, zeta);
                    site.linear * mean - 0.5 * site.precision * (mean * mean + variance) + constant
                };
                let exact = five.log_density(cell, mean) - 0.5 * variance;
                let room = 1e-11 * (1.0 + mean * mean);
                assert!((bound_at(mean) - exact).abs() < room);
                for other in [mean - 1.0, mean - 0.01, mean + 0.01, mean + 1.0] {
                    assert!(bound_at(other) <= exact + room);
                }
            }
        }
    }
}

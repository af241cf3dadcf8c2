//! What a likelihood of single cells has to say.

// inlined into the function that selects the instruction set
#![allow(clippy::inline_always)]

use std::fmt;
use std::ops::Range;

use polyview_core::{DataError, Domain, Law, Objective, View, ViewTerm};
use polyview_linalg::{Mat, MatRef};
use polyview_random::ChaCha8Rng;

use super::shared::predict_cells;
use super::view_parameters::ViewParameters;
use crate::laws::Matched;

/// A quadratic in the predictor in natural form, $h\eta - \omega\eta^2/2$.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Site {
    /// $\omega \ge 0$, per squared unit of the predictor.
    pub precision: f64,
    /// $h$, per unit of the predictor.
    pub linear: f64,
}

/// One observed cell.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Cell {
    /// Its feature.
    pub column: usize,
    /// Its datum.
    pub value: f64,
    /// Number of trials that a count of successes is out of; 1 where the view
    /// has none.
    pub trials: f64,
    /// Its other end, where two ends are all that is known of the datum; `NaN` where the value
    /// is exact ([`View::ends`]).
    pub end: f64,
}

/// The data of one feature, observed or not.
#[derive(Clone, Copy, Debug)]
pub struct ColumnData<'a> {
    /// The feature.
    pub column: usize,
    /// Its data, one a sample; 0 where missing.
    pub values: &'a [f64],
    /// Numbers of trials, where the view has them.
    pub trials: Option<&'a [f64]>,
    /// Other ends of the cells, where the view has them.
    pub ends: Option<&'a [f64]>,
}

impl ColumnData<'_> {
    /// One cell.
    #[inline]
    pub fn cell(&self, sample: usize) -> Cell {
        Cell {
            column: self.column,
            value: self.values[sample],
            trials: self.trials.map_or(1.0, |t| t[sample]),
            end: self.ends.map_or(f64::NAN, |e| e[sample]),
        }
    }
    /// The data of some samples.
    pub(crate) fn part(&self, samples: Range<usize>) -> Self {
        Self {
            column: self.column,
            values: &self.values[samples.clone()],
            trials: self.trials.map(|t| &t[samples.clone()]),
            ends: self.ends.map(|e| &e[samples]),
        }
    }
}

/// Where the sites of one feature go, one a sample.
#[derive(Debug)]
pub struct ColumnSites<'a> {
    /// ω.
    pub precision: &'a mut [f64],
    /// h.
    pub linear: &'a mut [f64],
    /// c, without [`CellLikelihood::datum_offset`].
    pub offset: &'a mut [f64],
}

/// Cells of a tile: what is made of them in one loop is still in the first-level
/// cache for the next.
const TILE: usize = 128;

/// A column tile by tile: data, local numbers and sites.
#[inline(always)]
pub(crate) fn tiles<'a>(
    data: &'a [f64],
    local: &'a [f64],
    out: ColumnSites<'a>,
) -> impl Iterator<Item = (&'a [f64], &'a [f64], ColumnSites<'a>)> {
    let ColumnSites {
        precision,
        linear,
        offset,
    } = out;
    let out = precision
        .chunks_mut(TILE)
        .zip(linear.chunks_mut(TILE))
        .zip(offset.chunks_mut(TILE));
    let cells = data.chunks(TILE).zip(local.chunks(TILE));
    cells
        .zip(out)
        .map(|((data, local), ((precision, linear), offset))| {
            let out = ColumnSites {
                precision,
                linear,
                offset,
            };
            (data, local, out)
        })
}

/// The observed cells of one feature with the moments of their predictors.
#[derive(Clone, Copy, Debug)]
pub struct ColumnCells<'a> {
    /// The cells.
    pub cells: &'a [Cell],
    /// $\langle\eta\rangle$, one a cell.
    pub mean: &'a [f64],
    /// $\langle\eta^2\rangle$, one a cell; $\langle\eta\rangle^2$ where the
    /// predictor is known.
    pub square: &'a [f64],
}

/// Moments of its predictor that a cell's best local number is made from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LocalMoments {
    /// $\langle\eta\rangle$ alone.
    Mean,
    /// $\langle\eta^2\rangle$ alone.
    Square,
    /// Both of them.
    Both,
}

/// Parameters of a likelihood, one a feature, such as the dispersion of
/// counts.
pub trait ColumnParameters: Send + Sync {
    /// Their values, one a feature; empty before the first data.
    fn values(&self) -> &[f64];
    /// Replaces them.
    fn set(&mut self, values: Vec<f64>);
    /// Where to start, given the observed data of a feature.
    fn start(&self, data: &[Cell]) -> f64;
    /// What they are called, in ledger and file.
    fn name(&self) -> &'static str;
    /// The value at which data lie normally about their predictors with this variance, per squared working unit, where the
    /// parameters are noise of numbers.
    fn of_noise(&self, variance: f64) -> Option<f64> {
        let _ = variance;
        None
    }
    /// How they move after the start, where they do.
    fn learned(&self) -> Option<&dyn LearnedParameters> {
        None
    }
}

/// Parameters that are fitted with the rest of the model.
pub trait LearnedParameters: Send + Sync {
    /// A value at which the bound, at its best local numbers, and the prior
    /// together are not lower than at the current one.
    fn update(&self, column: usize, cells: ColumnCells<'_>) -> f64;
    /// A draw given predictors, local numbers summed out.
    fn draw(&self, column: usize, cells: ColumnCells<'_>, rng: &mut ChaCha8Rng) -> f64;
    /// A draw from the prior.
    fn draw_prior(&self, rng: &mut ChaCha8Rng) -> f64;
    /// Log of the prior density of a value.
    fn log_prior(&self, value: f64) -> f64;
}

/// A likelihood of single cells: how datum and local number make a site.
///
/// Features may have parameters of their own ([`ColumnParameters`]).
pub trait CellLikelihood: Clone + fmt::Debug + Send + Sync + 'static {
    /// What its data are, for errors ("0 or 1").
    fn needs(&self) -> &'static str;
    /// Whether it knows that datum.
    fn admits(&self, cell: Cell) -> bool;
    /// What kind of objective its sites have.
    fn objective(&self) -> Objective {
        Objective::Bound
    }
    /// The local number to start from.
    fn start(&self, cell: Cell) -> f64;
    /// The local number that raises the bound most, given
    /// $\langle\eta\rangle$ and $\langle\eta^2\rangle$.
    fn optimise(&self, cell: Cell, mean: f64, square: f64) -> f64;
    /// What [`CellLikelihood::optimise`] looks at. The other moment is not made
    /// where it is not wanted, and a zero stands for it.
    fn optimise_from(&self) -> LocalMoments {
        LocalMoments::Both
    }
    /// [`CellLikelihood::optimise`] for a whole column at once. Cells that are
    /// missing have the datum 0; what is written for them does not count.
    fn optimise_column(&self, data: ColumnData<'_>, mean: &[f64], square: &[f64], out: &mut [f64]) {
        for (n, out) in out.iter_mut().enumerate() {
            *out = self.optimise(data.cell(n), mean[n], square[n].max(0.0));
        }
    }
    /// h and ω.
    fn site(&self, cell: Cell, local: f64) -> Site;
    /// The constant c, so that $h\eta - \omega\eta^2/2 + c$ bounds the log
    /// likelihood, without [`CellLikelihood::datum_offset`].
    fn offset(&self, cell: Cell, local: f64) -> f64;
    /// [`CellLikelihood::site`] and [`CellLikelihood::offset`] at once, where
    /// that is cheaper than one after the other.
    fn evaluate(&self, cell: Cell, local: f64) -> (Site, f64) {
        (self.site(cell, local), self.offset(cell, local))
    }
    /// By how much the site's precision exceeds the curvature of the bound in
    /// $\langle\eta\rangle$ once the local number follows it, per squared unit of the
    /// predictor, from 0 to the precision; `mean` is $\langle\eta\rangle$, and `local`
    /// the best number there. 0 where nothing is known of it.
    fn slack(&self, cell: Cell, local: f64, mean: f64) -> f64 {
        let _ = (cell, local, mean);
        0.0
    }
    /// The part of the constant that depends on the datum alone: it is summed
    /// once, not in every sweep.
    fn datum_offset(&self, cell: Cell) -> f64 {
        let _ = cell;
        0.0
    }
    /// [`CellLikelihood::evaluate`] for a whole column at once. Cells that are
    /// missing have the datum 0; what is written for them does not count.
    fn evaluate_column(&self, data: ColumnData<'_>, local: &[f64], out: ColumnSites<'_>) {
        for (n, &local) in local.iter().enumerate() {
            let (site, offset) = self.evaluate(data.cell(n), local);
            out.precision[n] = site.precision;
            out.linear[n] = site.linear;
            out.offset[n] = offset;
        }
    }
    /// The intercept to start from, given the observed cells of a feature.
    fn start_intercept(&self, cells: &[Cell]) -> f64 {
        let _ = cells;
        0.0
    }
    /// Prior precision of the intercepts, as a multiple of the model's.
    fn intercept_precision(&self) -> f64 {
        1.0
    }
    /// Whether columns tell level and spread of each other's intercepts
    /// ([`Intercepts::alike`](polyview_core::Intercepts::alike)): unless said otherwise those of
    /// labels and counts do.
    fn columns_are_alike(&self) -> bool {
        !self.domain().is_real()
    }
    /// What is remarkable about a feature with these observed cells, in words
    /// for the journal.
    fn remark(&self, cells: &[Cell]) -> Option<&'static str> {
        let _ = cells;
        None
    }
    /// What its data are.
    fn domain(&self) -> Domain;
    /// Variance that the link adds to the predictor of a column, in its squared
    /// units, where the predictor is `level`.
    fn link_variance(&self, column: usize, level: f64) -> f64;
    /// Size r of the counts of a column, where their variance at a mean μ is
    /// $\mu + \mu^2/r$; `None` for every other likelihood.
    fn size(&self, column: usize) -> Option<f64> {
        let _ = column;
        None
    }
    /// Draws a datum in place of that of `cell`, given the predictor.
    fn draw_datum(&self, cell: Cell, eta: f64, rng: &mut ChaCha8Rng) -> f64;
    /// As [`CellLikelihood::draw_datum`], with what would be known of the datum where `cell` stands:
    /// its value, and its other end where it has one ([`Cell::end`]).
    fn draw_cell(&self, cell: Cell, eta: f64, rng: &mut ChaCha8Rng) -> (f64, f64) {
        (self.draw_datum(cell, eta, rng), f64::NAN)
    }
    /// Predictive mean and variance of a datum whose predictor has this mean
    /// and variance.
    fn predict(&self, column: usize, mean: f64, variance: f64) -> (f64, f64);
    /// Predictive laws of a block of cells whose predictors have these means and variances,
    /// samples × columns, the first column being `first`; `exposure` as
    /// [`Block`](polyview_core::Block) has it. They have the moments that
    /// [`CellLikelihood::predict`] says and are of the family of the data
    /// ([`CellLaw`](crate::CellLaw)), unless a likelihood knows better.
    fn law(
        &self,
        first: usize,
        mean: Mat<f64>,
        variance: Mat<f64>,
        exposure: Option<MatRef<'_, f64>>,
    ) -> Box<dyn Law> {
        let _ = exposure;
        let (mean, variance) = predict_cells(mean, variance, |j, mean, variance| {
            self.predict(first + j, mean, variance)
        });
        Box::new(Matched::new(self.domain(), mean, variance))
    }
    /// As [`ViewTerm::take_levels`](polyview_core::ViewTerm::take_levels).
    fn take_levels(&mut self, levels: &[(f64, f64)]) -> bool {
        let _ = levels;
        false
    }
    /// What it took, one for each column; none where it took none.
    fn levels(&self) -> &[(f64, f64)] {
        &[]
    }
    /// Its parameters, where it has any.
    fn parameters(&self) -> Option<&dyn ColumnParameters> {
        None
    }
    /// Write access to its parameters.
    fn parameters_mut(&mut self) -> Option<&mut dyn ColumnParameters> {
        None
    }
    /// Parameters of the view that are no matter of one number for each feature, where it has
    /// any.
    fn view_parameters(&self) -> Option<&dyn ViewParameters> {
        None
    }
    /// Write access to them.
    fn view_parameters_mut(&mut self) -> Option<&mut dyn ViewParameters> {
        None
    }
    /// The term of data whose predictors are uncertain by `spread`, where there is one
    /// ([`ViewTerm::widened`]).
    fn widened(
        &self,
        view: &View,
        spread: Mat<f64>,
    ) -> Option<Result<Box<dyn ViewTerm>, DataError>> {
        let _ = (view, spread);
        None
    }
    /// The exact augmentation for Gibbs, where there is one.
    fn augmentation(&self) -> Option<&dyn CellAugmentation> {
        None
    }
}

/// A scale mixture that makes a cell's likelihood exactly Gaussian in the
/// predictor, given a drawn local number.
pub trait CellAugmentation: Send + Sync {
    /// Draws the local number given datum and predictor; NaN where the
    /// predictor is not finite.
    fn draw_local(&self, cell: Cell, eta: f64, rng: &mut ChaCha8Rng) -> f64;
    /// h and ω given a drawn local number.
    fn site(&self, cell: Cell, local: f64) -> Site;
    /// $\log p(x\mid\eta)$ with the local number summed out.
    fn log_density(&self, cell: Cell, eta: f64) -> f64;
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Bernoulli, Binomial, NegativeBinomial, Poisson, PoissonLogNormal};

    /// Local numbers of every size; data that go round.
    fn check<L: CellLikelihood>(likelihood: &L, data: &[f64], signed: bool) {
        let local: Vec<f64> = (0..900)
            .map(|i| {
                let size = 10f64.powf(f64::from(i % 300) / 60.0 - 2.5);
                if signed && i % 2 == 1 { -size } else { size }
            })
            .collect();
        let values: Vec<f64> = (0..local.len()).map(|n| data[n % data.len()]).collect();
        let trials = vec![20.0; local.len()];
        let data = ColumnData {
            column: 0,
            values: &values,
            trials: Some(&trials),
            ends: None,
        };
        let [mut precision, mut linear, mut offset] = [(); 3].map(|()| vec![f64::NAN; local.len()]);
        let out = ColumnSites {
            precision: &mut precision,
            linear: &mut linear,
            offset: &mut offset,
        };
        likelihood.evaluate_column(data, &local, out);
        for (n, &x) in local.iter().enumerate() {
            let (site, c) = likelihood.evaluate(data.cell(n), x);
            for (found, expected) in [
                (precision[n], site.precision),
                (linear[n], site.linear),
                (offset[n], c),
            ] {
                // large terms go against each other where ω ξ² is large
                let size = expected.abs().max(site.precision * x * x).max(1.0);
                assert!(
                    (found - expected).abs() < 1e-14 * size,
                    "{x}: {found} {expected}"
                );
            }
        }
    }

    #[test]
    fn a_column_is_its_cells() {
        check(&Bernoulli::default(), &[0.0, 1.0], false);
        check(&Poisson::default(), &[0.0, 1.0, 7.0, 400.0, 1e6], true);
        check(&NegativeBinomial::default(), &[0.0, 3.0, 50.0], false);
        check(&PoissonLogNormal::default(), &[0.0, 3.0, 50.0], true);
        check(&Binomial::default(), &[0.0, 3.0, 20.0], false);
    }

    /// What a likelihood says it does not look at may be anything, and a column
    /// is its cells.
    fn check_best<L: CellLikelihood>(likelihood: &L) {
        let mean: Vec<f64> = (0..70).map(|i| f64::from(i) * 0.1 - 3.0).collect();
        let square: Vec<f64> = mean.iter().map(|m| m * m + 0.3).collect();
        let (values, unwanted) = (vec![1.0; mean.len()], vec![0.0; mean.len()]);
        let data = ColumnData {
            column: 0,
            values: &values,
            trials: None,
            ends: None,
        };
        let (m, s) = match likelihood.optimise_from() {
            LocalMoments::Mean => (&mean, &unwanted),
            LocalMoments::Square => (&unwanted, &square),
            LocalMoments::Both => (&mean, &square),
        };
        let mut best = vec![f64::NAN; mean.len()];
        likelihood.optimise_column(data, m, s, &mut best);
        for n in 0..mean.len() {
            let expected = likelihood.optimise(data.cell(n), mean[n], square[n]);
            assert!((best[n] - expected).abs() < 1e-15, "{n}");
        }
    }

    #[test]
    fn the_best_local_numbers_of_a_column_are_those_of_its_cells() {
        check_best(&Bernoulli::default());
        check_best(&Poisson::default());
        check_best(&NegativeBinomial::default());
        check_best(&PoissonLogNormal::default());
        check_best(&Binomial::default());
    }
}

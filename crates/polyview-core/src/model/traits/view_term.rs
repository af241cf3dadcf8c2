//! Data terms.

use std::ops::Range;

use polyview_linalg::Mat;
use polyview_random::StreamKey;

use super::{
    Augmented, ByComponent, ByGroup, Conditioned, Context, CoupledRows, Domain, Equations,
    Identified, Intercepts, Link, Noise, Objective, Rounds, Sizes, Tangents, ViewShape,
};
use crate::dataset::{Mask, View};
use crate::error::{DataError, NumericError};
use crate::law::{Block, Law};
use crate::ledger::Terms;
use crate::model::bias::Bias;
use crate::model::groups::RowGroups;
use crate::model::predictor::Predictor;
use crate::model::state::Stateful;

/// What [`ViewTerm::take_levels`] is told of a column whose expected counts stay as they are: a factor of 1, and a variance that
/// nothing has. Model files hold finite numbers alone.
pub const AS_IT_IS: (f64, f64) = (1.0, -1.0);

/// The data term of one view. Object safe: one call a step, all loops inside.
///
/// A term hands out **normal equations** ([`ViewTerm::equations`]); every engine
/// works with these alone. What only some terms can do stands in traits of their own, and
/// the `as_` methods say who can ([`Capabilities`](super::Capabilities) lists them).
///
/// The one law of a term: central differences of [`ViewTerm::bound`] in the
/// mean of a row equal `rhs − P·mean`, and in a diagonal entry of its
/// covariance `−P_ii / 2`, with P and rhs from its equations.
pub trait ViewTerm: Stateful + Send + Sync {
    /// Extents.
    fn shape(&self) -> ViewShape;
    /// What kind of objective the term has.
    fn objective(&self) -> Objective {
        Objective::Bound
    }
    /// Groups of samples whose data precisions differ, so that samples of one
    /// pattern have one precision only within a group.
    fn groups(&self) -> Option<&RowGroups> {
        None
    }
    /// Which cells were observed, where missing ones are left out; `None`
    /// where every sample has every column (complete or imputed data).
    fn mask(&self) -> Option<&Mask> {
        None
    }
    /// Whether each sample has a data precision of its own, so that nothing is
    /// to be factored for all of them.
    fn by_cells(&self) -> bool {
        matches!(self.mask(), Some(Mask::Cells { .. }))
    }
    /// What the data of a predictor column say of it.
    fn identified(&self, column: usize) -> Identified {
        let _ = column;
        Identified::Whole
    }
    /// What it says of intercepts, where they mean anything
    /// ([`ViewTerm::identified`]).
    fn intercepts(&self) -> Intercepts {
        Intercepts::default()
    }
    /// What noise and link add to the linear predictor of a column in one group of
    /// samples; `None` = the mean of the groups by their samples. Without groups the same
    /// for all. For counts it depends on the `level` of the predictor.
    fn link(&self, group: Option<usize>, column: usize, level: f64) -> Link;
    /// What its data are.
    fn domain(&self) -> Domain;
    /// Brings local variables (latent scores, imputed cells) and parameters of columns
    /// up to date.
    ///
    /// # Errors
    /// [`NumericError`] on numbers that are not finite.
    fn refresh(&mut self, p: &Predictor<'_>, cx: &mut Context<'_>) -> Result<(), NumericError>;
    /// What it hands out to weights, intercepts and factors: itself, or the layer
    /// that it adds latent scores or shares to.
    fn equations(&mut self) -> &mut dyn Equations;
    /// Contributions to the bound at the **current** local variables,
    /// constants included. With factors and weights known exactly and local
    /// variables drawn it is the log density.
    fn bound(&mut self, p: &Predictor<'_>) -> Terms;
    /// Predictive laws of a block of cells of the **data**, in working units: noise and the
    /// uncertainty of weights, intercepts and factors included. Of a term with columns by
    /// component ([`ViewShape::components`]) the mixture over the components. What it
    /// needs of the predictor it takes at once; a block of few columns is as cheap as its
    /// cells.
    fn law(&self, p: &Predictor<'_>, block: &Block<'_>) -> Box<dyn Law + '_>;
    /// Whether the law of a cell depends on other data of its sample even where the factors are
    /// known: the view has latent rows of its own. Where data of the view are at hand, its cells
    /// are then predicted by the term that is bound to these ([`ViewTerm::rebind`]).
    fn laws_need_data(&self) -> bool {
        false
    }
    /// Scores of a block of labels: the mean of their linear predictor.
    fn score(&self, p: &Predictor<'_>, samples: Range<usize>, columns: Range<usize>) -> Mat<f64> {
        p.mean(samples, columns)
    }
    /// Draws new data, in working units or codes: samples of `p` × observed
    /// columns. Factors, weights and intercepts of `p` are known; parameters of
    /// the term come from their posterior by `parameters`, data by `data`.
    fn simulate(&self, p: &Predictor<'_>, parameters: StreamKey, data: StreamKey) -> Mat<f64>;
    /// A term with the same parameters for other data: new samples of the
    /// same features in working units. Classes are matched by name; where an
    /// unseen class is to count as missing, [`View::relevel`] comes first.
    ///
    /// # Errors
    /// [`DataError`] when the columns do not fit or a class is unknown.
    fn rebind(&self, view: &View) -> Result<Box<dyn ViewTerm>, DataError>;
    /// A term with the same parameters for the data `view`, given the means of factors that
    /// are uncertain: what their covariances at `at` leave open of the predictors, at the
    /// weights there ([`Predictor::spread`]), is part of the law of the data,
    /// $\ln\mathrm E\_{N(\xi; \eta, \kappa)}p(x\mid\xi)$ (spec/sites 5). What it saves is what
    /// this term loads. `None` where there is no such form.
    ///
    /// # Errors
    /// Inside: [`DataError`] as of [`ViewTerm::rebind`].
    fn widened(
        &self,
        view: &View,
        at: &Predictor<'_>,
    ) -> Option<Result<Box<dyn ViewTerm>, DataError>> {
        let _ = (view, at);
        None
    }

    /// The exact augmentation for Gibbs, where there is one.
    fn as_augmented(&mut self) -> Option<&mut dyn Augmented> {
        None
    }
    /// Its noise, where it has precisions to learn.
    fn as_noise(&self) -> Option<&dyn Noise> {
        None
    }
    /// Write access to its noise.
    fn as_noise_mut(&mut self) -> Option<&mut dyn Noise> {
        None
    }
    /// Takes these variances, per squared working unit, for those of the normal noise about the predictors of
    /// its columns, where it has such noise for each column and learns it by itself ([`Self::as_noise`] has none); whether
    /// it has.
    fn take_noise(&mut self, variances: &[f64]) -> bool {
        let _ = variances;
        false
    }
    /// Takes these cut points between ordered levels, of each column in order and in units of the noise, for its own, where it has some to learn;
    /// whether it has.
    fn take_cut_points(&mut self, points: &[Vec<f64>]) -> bool {
        let _ = points;
        false
    }
    /// Brings expected counts to a level, where a likelihood's moments hang on the far end of its noise and say more than was
    /// counted (docs/decisions/0110-levels-of-counts.md). `levels` has a pair for each column: the factor by which its expected counts are multiplied, and
    /// the variance of its counts, less that of Poisson counts, over the square of the mean; [`AS_IT_IS`] leaves a column as it is.
    /// Quantiles and densities stay. Whether the term has taken them, which it then keeps with its parameters.
    fn take_levels(&mut self, levels: &[(f64, f64)]) -> bool {
        let _ = levels;
        false
    }
    /// Its local variables, where they depend on the factors.
    fn as_rounds(&mut self) -> Option<&mut dyn Rounds> {
        None
    }
    /// How it couples samples, where it does.
    fn as_coupled(&mut self) -> Option<&mut dyn CoupledRows> {
        None
    }
    /// How far its equations are from what they are tangents of, where they are.
    fn as_tangents(&mut self) -> Option<&mut dyn Tangents> {
        None
    }
    /// Who takes the posterior of the training samples, where predictions need it.
    fn as_conditioned(&mut self) -> Option<&mut dyn Conditioned> {
        None
    }
    /// Its columns by component, where it has them.
    fn as_by_component(&mut self) -> Option<&mut dyn ByComponent> {
        None
    }
    /// Its parameters by group of samples, where it has them.
    fn as_by_group(&mut self) -> Option<&mut dyn ByGroup> {
        None
    }
    /// The cut points between the ordered levels of a column, where it has such levels, in order and in the unit
    /// of its predictors; of a group that has its own. `None` without a group where groups have their own.
    fn cut_points(&self, group: Option<usize>, column: usize) -> Option<Vec<f64>> {
        let _ = (group, column);
        None
    }
    /// The shape of the law of a column whose variance is a share of its squared mean, $\mu^2/a$, where it has one; of a
    /// group that has its own. `None` without a group where groups have their own.
    fn law_shape(&self, group: Option<usize>, column: usize) -> Option<f64> {
        let _ = (group, column);
        None
    }
    /// The sizes of its columns, where they have any.
    fn as_sizes(&self) -> Option<&dyn Sizes> {
        None
    }
}

impl dyn ViewTerm + '_ {
    /// [`ViewTerm::link`] at the intercept that `bias` has for that group and column.
    ///
    /// # Panics
    /// If the intercepts have no such group or column.
    pub fn link_at(&self, bias: &Bias, group: usize, column: usize) -> Link {
        let level = bias.mean()[bias.place(group, column)];
        self.link(Some(group), column, level)
    }
    /// The mean of the variance of `link_at` over the samples of the groups that
    /// intercepts or data term look at, in squared units of the predictor; without samples
    /// each group counts the same.
    ///
    /// # Panics
    /// If the intercepts have no such column.
    pub fn mean_link_variance(&self, bias: &Bias, column: usize) -> f64 {
        let Some(groups) = bias.groups().or_else(|| self.groups()) else {
            return self.link_at(bias, 0, column).variance;
        };
        (groups.shares().into_iter().enumerate())
            .map(|(g, share)| share * self.link_at(bias, g, column).variance)
            .sum()
    }
    /// Whether intercepts mean anything: not where only differences of predictors
    /// between samples count.
    pub fn has_intercepts(&self) -> bool {
        let columns = self.shape().predictor_columns;
        let own = |d| {
            !matches!(
                self.identified(d),
                Identified::BetweenSamples | Identified::Nothing
            )
        };
        columns == 0 || (0..columns).any(own)
    }
}

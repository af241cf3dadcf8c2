//! Data terms.

use std::ops::Range;
use std::sync::Arc;

use polyview_linalg::{Mat, PackedRows};
use polyview_random::StreamKey;

use super::{
    Augmented, Context, Coupling, Equations, NoiseScope, Objective, PredictedBlock, PredictedKind,
    ViewShape,
};
use crate::dataset::{Mask, View};
use crate::error::{DataError, NumericError};
use crate::ledger::Terms;
use crate::model::bias::Bias;
use crate::model::gammas::Gammas;
use crate::model::groups::RowGroups;
use crate::model::order::OrderStatistics;
use crate::model::predictor::Predictor;
use crate::model::state::Stateful;

/// The data term of one view. Object safe: one call a step, all loops inside.
///
/// A term hands out **normal equations** ([`ViewTerm::equations`]); every engine
/// works with these alone.
///
/// The one law of a term: central differences of [`ViewTerm::bound`] in the
/// mean of a row equal `rhs − P·mean`, and in a diagonal entry of its
/// covariance `−P_ii / 2`, with P and rhs from its equations.
pub trait ViewTerm: Stateful + Send + Sync {
    /// Extents.
    fn shape(&self) -> ViewShape;
    /// Whether samples are coupled.
    fn coupling(&self) -> Coupling {
        Coupling::Independent
    }
    /// What kind of objective the term has.
    fn objective(&self) -> Objective {
        Objective::Bound
    }
    /// Groups of samples whose data precisions differ, so that samples of one
    /// pattern have one precision only within a group.
    fn groups(&self) -> Option<&RowGroups> {
        None
    }
    /// Says which groups the samples belong to that a term without data of its
    /// own is to predict; a term without groups does not care.
    fn place(&mut self, groups: &RowGroups) {
        let _ = groups;
    }
    /// What a noise precision is shared by.
    fn noise_scope(&self) -> NoiseScope {
        NoiseScope::None
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
    /// Whether the term has local variables that depend on the factors, so
    /// that factors of given samples take several rounds (spec/sshiba 4.1).
    fn has_locals(&self) -> bool {
        false
    }
    /// Whether rounds of local variables and factors may go to points
    /// extrapolated from the last few when samples are projected; not where
    /// several fixed points lie near one another.
    fn extrapolates(&self) -> bool {
        true
    }
    /// Whether intercepts mean anything: not where only differences of
    /// predictors between samples count.
    fn has_intercepts(&self) -> bool {
        true
    }
    /// Intercepts to start from, one a predictor column; `None` = zero.
    fn start_intercepts(&self) -> Option<Vec<f64>> {
        None
    }
    /// Intercepts of each group to start from, group after group; `None` where
    /// there are no groups, or zero.
    fn start_intercepts_by_group(&self) -> Option<Vec<f64>> {
        None
    }
    /// Prior precision of the intercepts, as a multiple of the model's
    /// ([`Bias`](crate::Bias)): 1 where a predictor has working units, less
    /// where its natural unit makes that prior too narrow.
    fn intercept_precision(&self) -> f64 {
        1.0
    }
    /// What predicted columns are.
    fn predicted_kind(&self) -> PredictedKind {
        PredictedKind::Real
    }
    /// Expected variance that noise and link add to the linear predictor of a
    /// column times its [`ViewTerm::link_scale`], in squared units of that:
    /// $\mathrm{E}[1/\tau]$ for real numbers,
    /// $\pi^2/3$ for the logistic function, 1 for the probit; for counts it
    /// depends on the `level` of the predictor. Shares of variance are shares of
    /// predictor and this.
    fn link_variance(&self, column: usize, level: f64) -> f64;
    /// What the linear predictor of a column is multiplied by before its variance
    /// is added to that of other columns: 1 where predictors of a view have one
    /// unit. Those of ranks have a unit of their own each, and are brought to
    /// normal scores; 0 where the data do not vary at all, so that the column counts
    /// for nothing.
    fn link_scale(&self, column: usize) -> f64 {
        let _ = column;
        1.0
    }
    /// Predictor columns that the data say nothing of and never will, ascending: priors
    /// with a cost by weight leave them out.
    fn idle_columns(&self) -> Vec<usize> {
        Vec::new()
    }
    /// [`ViewTerm::link_variance`] for the samples of one group; without groups
    /// the same for all.
    fn link_variance_in(&self, group: usize, column: usize, level: f64) -> f64 {
        let _ = group;
        self.link_variance(column, level)
    }
    /// Size of the negative binomial counts of a column in one group of samples
    /// (any number where there are no groups); `None` for every other
    /// likelihood.
    fn size_in(&self, group: usize, column: usize) -> Option<f64> {
        let _ = (group, column);
        None
    }
    /// Its learnt noise precisions: one a column or one in all, by
    /// [`ViewTerm::noise_scope`].
    fn noise(&self) -> Option<&Gammas> {
        None
    }
    /// [`ViewTerm::noise`] of one group of samples; without groups the same for all.
    fn noise_in(&self, group: usize) -> Option<&Gammas> {
        let _ = group;
        self.noise()
    }
    /// Takes over noise precisions, as many as it has.
    fn share_noise(&mut self, noise: &Gammas) {
        let _ = noise;
    }
    /// Half the number of observed cells and half the expected sum of squared
    /// residuals for each noise precision of these columns (spec/sshiba U6).
    ///
    /// # Errors
    /// [`NumericError`] on numbers that are not finite.
    fn noise_sums(
        &mut self,
        columns: Range<usize>,
        p: &Predictor<'_>,
    ) -> Result<Vec<(f64, f64)>, NumericError> {
        let _ = (columns, p);
        Ok(Vec::new())
    }
    /// Number of components of the factors' prior for which the term has a set
    /// of predictor columns each (local experts); `None` where one set serves
    /// all samples.
    fn components(&self) -> Option<usize> {
        None
    }
    /// Number of columns that it predicts: those of the data where there is a set
    /// of predictor columns for each component, else one a predictor column.
    fn predicted_columns(&self) -> usize {
        let shape = self.shape();
        match self.components() {
            Some(_) => shape.observed_columns,
            None => shape.predictor_columns,
        }
    }
    /// Adds to `evidence`, samples × components, the expected log likelihood
    /// of each sample's data under the predictor columns of each component
    /// (spec/maxmargin-rank 5.5), local variables brought to their optimum
    /// first. A term without columns by component says the same of all and
    /// adds nothing.
    ///
    /// # Errors
    /// [`NumericError`] on numbers that are not finite.
    fn component_evidence(
        &mut self,
        p: &Predictor<'_>,
        evidence: &mut Mat<f64>,
    ) -> Result<(), NumericError> {
        let _ = (p, evidence);
        Ok(())
    }
    /// Takes over the probabilities that samples belong to components, samples
    /// × components: data count for a component's columns with that weight. A
    /// term without data of its own is told those of the samples that it is to
    /// predict.
    fn take_shares(&mut self, shares: &Arc<Mat<f64>>) {
        let _ = shares;
    }
    /// Brings the local variables up to date (latent scores, imputed cells).
    ///
    /// # Errors
    /// [`NumericError`] on numbers that are not finite.
    fn refresh(&mut self, p: &Predictor<'_>, cx: &mut Context<'_>) -> Result<(), NumericError>;
    /// Brings the local variables alone up to date, parameters of the term held: a
    /// round of a projection (spec/sshiba P2), in which new samples say nothing
    /// about the model.
    ///
    /// # Errors
    /// [`NumericError`] on numbers that are not finite.
    fn refresh_locals(
        &mut self,
        p: &Predictor<'_>,
        cx: &mut Context<'_>,
    ) -> Result<(), NumericError> {
        self.refresh(p, cx)
    }
    /// Tells the term, between the rounds of a projection, which samples' factors
    /// have come to rest (`settled`, one a sample): their local variables may
    /// stay as they are.
    fn rest(&mut self, settled: &[bool]) {
        let _ = settled;
    }
    /// Adds by how much the precision that [`Equations::factor_equations`] wrote
    /// exceeds the curvature of the bound in a sample's factors once local
    /// variables follow these, or less than that:
    /// $P - (-\partial^2\mathcal L/\partial z\_n\partial z\_n^\top)$, in nats per
    /// squared unit of the factors, positive semidefinite. `slack` has one row a
    /// sample of `p`, a packed lower triangle of K × K; the factors of `p` are those
    /// that the local variables were brought up to date with. Rounds of a projection
    /// are Newton steps with it (ARCHITECTURE, projections). Nothing unless a term
    /// says more.
    fn slack(&self, p: &Predictor<'_>, slack: &mut PackedRows) {
        let _ = (p, slack);
    }
    /// What it hands out to weights, intercepts and factors: itself, or the layer
    /// that it adds latent scores or shares to.
    fn equations(&mut self) -> &mut dyn Equations;
    /// Updates the noise precision of some columns ([`NoiseScope::Column`]) or
    /// of the view ([`NoiseScope::View`], all columns at once).
    ///
    /// # Errors
    /// [`NumericError`] on numbers that are not finite.
    fn update_noise(
        &mut self,
        columns: Range<usize>,
        p: &Predictor<'_>,
    ) -> Result<(), NumericError> {
        let _ = (columns, p);
        Ok(())
    }
    /// Adds to the right-hand side of one sample what the **present** factors of
    /// other samples say about it ([`Coupling::Rows`]). It comes after
    /// [`Equations::factor_equations`] of the sample's block, and right before
    /// the sample is updated; the precision does not depend on the order.
    ///
    /// # Errors
    /// [`NumericError`] on numbers that are not finite.
    fn couple(
        &mut self,
        sample: usize,
        p: &Predictor<'_>,
        rhs: &mut [f64],
    ) -> Result<(), NumericError> {
        let _ = (sample, p, rhs);
        Ok(())
    }
    /// Tells a term that couples samples that the factors of this one have just
    /// been updated.
    fn settle(&mut self, sample: usize, p: &Predictor<'_>) {
        let _ = (sample, p);
    }
    /// Hands the posterior of the training samples to a term whose predictions
    /// for others need it; the others do not care.
    fn anchor(&mut self, training: &Predictor<'_>) {
        let _ = training;
    }
    /// Contributions to the bound at the **current** local variables,
    /// constants included. With factors and weights known exactly and local
    /// variables drawn it is the log density.
    fn bound(&mut self, p: &Predictor<'_>) -> Terms;
    /// Predictive mean and variance of a block of predictor columns, in working
    /// units (class probabilities for a categorical view); of a term with
    /// columns by component ([`ViewTerm::components`]) a block of its observed
    /// columns, the mixture over the components.
    fn predict(
        &self,
        p: &Predictor<'_>,
        samples: Range<usize>,
        columns: Range<usize>,
    ) -> PredictedBlock;
    /// Scores of a block of labels: the mean of their linear predictor.
    fn score(&self, p: &Predictor<'_>, samples: Range<usize>, columns: Range<usize>) -> Mat<f64> {
        p.mean(samples, columns)
    }
    /// Moments of the normal scores of a block of columns where predictions are
    /// [`PredictedKind::Ranked`], whose quantiles
    /// [`ViewTerm::order_statistics`] turn into those of the data.
    fn predicted_scores(
        &self,
        p: &Predictor<'_>,
        samples: Range<usize>,
        columns: Range<usize>,
    ) -> Option<PredictedBlock> {
        let _ = (p, samples, columns);
        None
    }
    /// What normal scores of a column mean in data units, where predictions
    /// are [`PredictedKind::Ranked`].
    fn order_statistics(&self, column: usize) -> Option<OrderStatistics> {
        let _ = column;
        None
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
    /// The exact augmentation for Gibbs, where there is one.
    fn augmented(&mut self) -> Option<&mut dyn Augmented> {
        None
    }
}

impl dyn ViewTerm + '_ {
    /// [`ViewTerm::link_variance_in`] at the intercept that `bias` has for that
    /// group and column, in squared units of the predictor.
    ///
    /// # Panics
    /// If the intercepts have no such group or column.
    pub fn link_variance_at(&self, bias: &Bias, group: usize, column: usize) -> f64 {
        let level = bias.mean()[bias.place(group, column)];
        self.link_variance_in(group, column, level)
    }
    /// The mean of `link_variance_at` over the samples of the groups that intercepts
    /// or data term look at, in squared units of the predictor; without samples
    /// each group counts the same.
    ///
    /// # Panics
    /// If the intercepts have no such column.
    pub fn mean_link_variance(&self, bias: &Bias, column: usize) -> f64 {
        let Some(groups) = bias.groups().or_else(|| self.groups()) else {
            return self.link_variance_at(bias, 0, column);
        };
        (groups.shares().into_iter().enumerate())
            .map(|(g, share)| share * self.link_variance_at(bias, g, column))
            .sum()
    }
}

//! The traits of a model's parts: data terms, row blocks, priors of scales.

use std::ops::Range;
use std::sync::Arc;

use polyview_linalg::{Mat, MatMut, MatRef, PackedRows};
use polyview_random::StreamKey;
use serde::{Deserialize, Serialize};

use super::equations::NormalEquations;
use super::gammas::Gammas;
use super::groups::{PrecisionView, RowGroups};
use super::moments::RowMoments;
use super::order::OrderStatistics;
use super::predictor::Predictor;
use super::state::{State, Stateful};
use crate::dataset::{Mask, View};
use crate::error::{DataError, NumericError};
use crate::journal::Journal;
use crate::ledger::Terms;

/// What a step may use besides the model: random streams and the journal.
#[derive(Debug)]
pub struct Context<'a> {
    /// Key of the current (chain, sweep); a step adds its own block number.
    pub key: StreamKey,
    /// Sweep number, from 1; 0 before the first.
    pub sweep: usize,
    /// Where to note what happened.
    pub journal: &'a mut Journal,
}

/// Extents of a data term.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ViewShape {
    /// Rows of the data.
    pub samples: usize,
    /// Columns of the data.
    pub observed_columns: usize,
    /// Columns of the linear predictor: those of the data, or C for the one
    /// column of codes of a categorical view with C classes; T times as many
    /// where each of T components of the factors' prior has its own.
    pub predictor_columns: usize,
}

/// Whether a term's equations for one sample depend on other samples.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Coupling {
    /// Each sample stands alone given the weights.
    Independent,
    /// Samples are coupled (pairwise rank terms): they are updated one after
    /// the other, each given the present factors of the others
    /// ([`ViewTerm::couple`]).
    Rows,
}

/// What a term contributes to the objective.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Objective {
    /// A lower bound on a log likelihood: every update raises it.
    Bound,
    /// A bound on a pseudo-likelihood: every update raises it.
    PseudoLikelihood,
    /// No guarantee; the monotonicity check is off.
    NoGuarantee,
}

/// What one noise precision is shared by.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NoiseScope {
    /// The term has no noise precision to learn.
    None,
    /// One for each predictor column: columns can be updated on their own.
    Column,
    /// One for the whole view.
    View,
}

/// What the predicted columns of a term are.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum PredictedKind {
    /// Real numbers on the scale of the linear predictor, one a feature.
    #[default]
    Real,
    /// The probability of a 1, one a feature.
    Probability,
    /// The probability of each class, one a class: they sum to one.
    Classes,
    /// The expected count, one a feature.
    Count,
    /// Real numbers in the units of the data, found by where the linear
    /// predictor, on a scale of its own, stands among the training values.
    Ranked,
}

impl PredictedKind {
    /// Whether the columns are probabilities: these say how uncertain a label
    /// is, so that they have no intervals.
    pub fn is_label(self) -> bool {
        matches!(self, Self::Probability | Self::Classes)
    }
    /// Whether the columns are on the scale of the linear predictor, in units
    /// that a scaling may have changed.
    pub fn is_real(self) -> bool {
        self == Self::Real
    }
}

/// Predicted data of a block: samples × **predictor** columns.
///
/// For a categorical view the columns are its classes: the mean holds their
/// probabilities p, which sum to one over all columns of a sample, and the
/// variance p(1 − p).
#[derive(Clone, Debug)]
pub struct PredictedBlock {
    /// Predictive means, in working units, or class probabilities.
    pub mean: Mat<f64>,
    /// Predictive variances, observation noise and parameter uncertainty
    /// included, in squared working units.
    pub variance: Mat<f64>,
}

/// The data term of one view. Object safe: one call a step, all loops inside.
///
/// A term hands out **normal equations**, to the weights by blocks of
/// predictor columns and to the factors by samples; every engine works with
/// these alone. It may cache sums between calls, guarded by the stamps of the
/// blocks they were made from.
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
    /// ([`Bias`](super::Bias)): 1 where a predictor has working units, less
    /// where its natural unit makes that prior too narrow.
    fn intercept_precision(&self) -> f64 {
        1.0
    }
    /// What predicted columns are.
    fn predicted_kind(&self) -> PredictedKind {
        PredictedKind::Real
    }
    /// Expected variance that noise and link add to the linear predictor of a
    /// column, in its squared units: $\mathrm{E}[1/\tau]$ for real numbers,
    /// $\pi^2/3$ for the logistic function, 1 for the probit; for counts it
    /// depends on the `level` of the predictor. Shares of variance are shares of
    /// predictor and this.
    fn link_variance(&self, column: usize, level: f64) -> f64;
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
    /// Whether the term lets rotations of factors and weights pass unchanged
    /// (true unless it keeps local variables tied to single columns).
    fn rotates(&self) -> bool {
        true
    }
    /// Brings the local variables up to date (latent scores, imputed cells).
    ///
    /// # Errors
    /// [`NumericError`] on numbers that are not finite.
    fn refresh(&mut self, p: &Predictor<'_>, cx: &mut Context<'_>) -> Result<(), NumericError>;
    /// Tells the term, between the rounds of a projection, which samples' factors
    /// have come to rest: their local variables may stay as they are.
    fn rest(&mut self, settled: &[bool]) {
        let _ = settled;
    }
    /// Adds, sample by sample, by how much the precision that
    /// [`ViewTerm::factor_equations`] wrote exceeds the curvature of the bound
    /// once local variables follow the factors, or less than that: rounds of a
    /// projection are Newton steps with it. Nothing unless a term says more.
    fn slack(&self, p: &Predictor<'_>, slack: &mut PackedRows) {
        let _ = (p, slack);
    }
    /// Writes the part of the weights' precision that is common to all rows
    /// (`gram`, `scale`), before the blocks are asked for one by one. Unless a
    /// term says more, rows have own precisions where samples have.
    ///
    /// # Errors
    /// [`NumericError`] on numbers that are not finite.
    fn weight_gram(
        &mut self,
        p: &Predictor<'_>,
        eq: &mut NormalEquations,
    ) -> Result<(), NumericError> {
        let _ = p;
        eq.own |= self.by_cells();
        Ok(())
    }
    /// Adds right-hand sides and own precisions of the rows `eq.rows()`.
    ///
    /// # Errors
    /// [`NumericError`] on numbers that are not finite.
    fn weight_equations(
        &mut self,
        p: &Predictor<'_>,
        eq: &mut NormalEquations,
    ) -> Result<(), NumericError>;
    /// Data precision and right-hand side of the intercepts of some columns,
    /// group after group where groups have their own
    /// ([`Bias::by_group`](super::Bias::by_group)); returns the precision of
    /// implicit columns. Zero for a term that has no intercepts.
    fn bias_equations(
        &mut self,
        columns: Range<usize>,
        p: &Predictor<'_>,
        precision: &mut [f64],
        rhs: &mut [f64],
    ) -> f64 {
        let _ = (columns, p);
        precision.fill(0.0);
        rhs.fill(0.0);
        0.0
    }
    /// Tells the term that weights, intercepts (and noise, where it is by
    /// column) of these columns are final in this pass, while their data are
    /// still in cache.
    fn absorb(&mut self, columns: Range<usize>, p: &Predictor<'_>) {
        let _ = (columns, p);
    }
    /// Tells the term that a pass over all columns is over.
    fn seal(&mut self, p: &Predictor<'_>) {
        let _ = p;
    }
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
    /// Adds the part of the samples' precision that all of them, or all of one
    /// pattern, have in common (`gram`, `patterns`), before the blocks are
    /// asked for one by one. `view` is the term's place in `eq.patterns`.
    ///
    /// # Errors
    /// [`NumericError`] on numbers that are not finite.
    fn factor_gram(
        &mut self,
        view: usize,
        p: &Predictor<'_>,
        eq: &mut NormalEquations,
    ) -> Result<(), NumericError> {
        let _ = (view, p, eq);
        Ok(())
    }
    /// Adds own precisions and right-hand sides of the samples `eq.rows()`.
    ///
    /// # Errors
    /// [`NumericError`] on numbers that are not finite.
    fn factor_equations(
        &mut self,
        p: &Predictor<'_>,
        eq: &mut NormalEquations,
    ) -> Result<(), NumericError>;
    /// Adds to the right-hand side of one sample what the **present** factors of
    /// other samples say about it ([`Coupling::Rows`]). It comes after
    /// [`ViewTerm::factor_equations`] of the sample's block, and right before
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
    /// Tells the term that the factors of these samples are final in this
    /// pass, while what it made for their equations is still at hand.
    fn absorb_samples(&mut self, samples: Range<usize>, p: &Predictor<'_>) {
        let _ = (samples, p);
    }
    /// Tells the term that a pass over all samples is over.
    fn seal_samples(&mut self, p: &Predictor<'_>) {
        let _ = p;
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

/// Draws of a term's local variables and noise given everything else.
pub trait Augmented {
    /// Draws local variables (latent scores, Polya-Gamma weights, missing
    /// cells).
    ///
    /// # Errors
    /// [`NumericError`] on numbers that are not finite.
    fn draw_locals(&mut self, p: &Predictor<'_>, cx: &mut Context<'_>) -> Result<(), NumericError>;
    /// Draws noise precisions of some columns; nothing where there are none.
    ///
    /// # Errors
    /// [`NumericError`] on numbers that are not finite.
    fn draw_noise(
        &mut self,
        columns: Range<usize>,
        p: &Predictor<'_>,
        cx: &mut Context<'_>,
    ) -> Result<(), NumericError> {
        let _ = (columns, p, cx);
        Ok(())
    }
    /// Adds to `evidence`, samples × components, the log likelihood of each
    /// sample's data under each component's predictor columns, local variables
    /// summed out (spec/maxmargin-rank 4.5).
    ///
    /// # Errors
    /// [`NumericError`] on numbers that are not finite.
    fn component_likelihood(
        &mut self,
        p: &Predictor<'_>,
        evidence: &mut Mat<f64>,
    ) -> Result<(), NumericError> {
        let _ = (p, evidence);
        Ok(())
    }
    /// Draws noise precisions from their prior (Geweke tests, simulation).
    fn draw_noise_prior(&mut self, key: StreamKey) {
        let _ = key;
    }
    /// Draws **data** given everything else, in place of the observed cells
    /// (Geweke tests, posterior predictive checks).
    fn draw_data(&mut self, p: &Predictor<'_>, key: StreamKey);
}

/// Gaussian scale mixtures on the entries of a block of rows: automatic
/// relevance determination, double ARD, three-parameter beta, fixed.
pub trait ScalePrior: Stateful + Send + Sync {
    /// Expected precisions.
    fn precision(&self) -> PrecisionView<'_>;
    /// Updates the scales from the rows' second moments.
    fn update(&mut self, rows: &RowMoments);
    /// Draws the scales given the rows.
    fn draw(&mut self, rows: &RowMoments, key: StreamKey);
    /// Draws the scales from their prior.
    fn draw_prior(&mut self, key: StreamKey);
    /// $\langle\ln p(\text{rows}\mid\text{scales})\rangle$ without
    /// $-\tfrac12\ln 2\pi$ an entry.
    fn expected_log_density(&self, rows: &RowMoments) -> f64;
    /// Contribution of the scales themselves: −KL, or log prior density.
    fn bound(&self) -> f64;
    /// The prior's part of the rotation objective; `None` where a rotation
    /// would leave the family.
    fn rotation_term(&self, rows: &RowMoments, side: RotationSide)
    -> Option<Box<dyn RotationTerm>>;
    /// Keeps the columns `keep`, in that order.
    fn select(&mut self, keep: &[usize]);
}

/// Posterior family of one block of rows: owns how equations become moments.
pub trait RowBlock: Stateful + Send + Sync {
    /// Current moments.
    fn moments(&self) -> &RowMoments;
    /// Replaces the moments, for starts.
    fn set_moments(&mut self, moments: RowMoments);
    /// Factors what the rows share, before they are updated range by range.
    ///
    /// # Errors
    /// [`NumericError`] when a precision is not positive definite.
    fn prepare(&mut self, eq: &NormalEquations, cx: &mut Context<'_>) -> Result<(), NumericError>;
    /// Updates the rows `eq.rows()` by variational Bayes. May take the
    /// buffers of `eq`.
    ///
    /// # Errors
    /// [`NumericError`] when a precision is not positive definite.
    fn update(
        &mut self,
        eq: &mut NormalEquations,
        cx: &mut Context<'_>,
    ) -> Result<(), NumericError>;
    /// Draws the rows `eq.rows()` from their conditional.
    ///
    /// # Errors
    /// [`NumericError`] when a precision is not positive definite.
    fn draw(&mut self, eq: &mut NormalEquations, cx: &mut Context<'_>) -> Result<(), NumericError>;
    /// Draws all rows and their scales from the prior.
    fn draw_prior(&mut self, key: StreamKey);
    /// Updates the scales of the prior.
    fn update_scales(&mut self);
    /// Draws the scales of the prior.
    fn draw_scales(&mut self, cx: &mut Context<'_>);
    /// Probabilities that the rows belong to the components of a mixture prior,
    /// rows × components; `None` for every other prior.
    fn shares(&self) -> Option<&Arc<Mat<f64>>> {
        None
    }
    /// Updates [`RowBlock::shares`] by variational Bayes, given what the data
    /// terms say of each row under each component, rows × components.
    ///
    /// # Errors
    /// [`NumericError`] on numbers that are not finite.
    fn assign(
        &mut self,
        evidence: MatRef<'_, f64>,
        cx: &mut Context<'_>,
    ) -> Result<(), NumericError> {
        let _ = (evidence, cx);
        Ok(())
    }
    /// Draws the component of each row: [`RowBlock::shares`] become zeros and
    /// ones.
    ///
    /// # Errors
    /// [`NumericError`] on numbers that are not finite.
    fn draw_assignment(
        &mut self,
        evidence: MatRef<'_, f64>,
        cx: &mut Context<'_>,
    ) -> Result<(), NumericError> {
        let _ = (evidence, cx);
        Ok(())
    }
    /// Contributions to the bound (or log density, for draws): `rows` and
    /// `scales`.
    fn bound(&self) -> Terms;
    /// The block's part of the rotation objective.
    fn rotation_term(&self, side: RotationSide) -> Option<Box<dyn RotationTerm>>;
    /// Multiplies the rows by `a` from the right.
    fn transform(&mut self, a: MatRef<'_, f64>, log_abs_det: f64);
    /// Keeps the columns `keep`, in that order, times their signs.
    ///
    /// # Errors
    /// [`NumericError`] when a covariance is not positive definite.
    fn select(&mut self, keep: &[usize], signs: &[f64]) -> Result<(), NumericError>;
    /// The expected prior precisions, for reports.
    fn precision(&self) -> PrecisionView<'_>;
    /// As [`Stateful::save`], at the end of the block's life: what is large
    /// may move.
    fn give_up(self: Box<Self>, prefix: &str, state: &mut State) {
        self.save(prefix, state);
    }
}

/// On which side of $z Q^{-1} Q w^\top$ a block stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RotationSide {
    /// Factors: $Z \to Z Q^{-1}$.
    Factors,
    /// Weights: $W \to W Q^\top$ (rows).
    Weights,
}

/// One part of the bound as a function of the rotation $Z \to Z Q^{-1}$, $W
/// \to Q W$ (spec/mlfs 4.7). All matrices are K × K.
pub trait RotationTerm {
    /// Returns the part's value at `q` (up to a constant) and **adds** its
    /// gradient with respect to `q` to `gradient`.
    ///
    /// `q_inverse` and `log_abs_det` belong to `q`, whose determinant is
    /// positive.
    fn evaluate(
        &self,
        q: MatRef<'_, f64>,
        q_inverse: MatRef<'_, f64>,
        log_abs_det: f64,
        gradient: MatMut<'_, f64>,
    ) -> f64;
    /// **Adds** the part's curvature under $Q \to (I + E) Q$: the second-order
    /// part of its value is taken to be $-\tfrac12\sum\_{rs}(\mathtt{own}\_{rs}
    /// E\_{rs}^2 + \mathtt{exchange}\_{rs} E\_{rs}E\_{sr})$, with `own`
    /// non-negative off its diagonal and `exchange` symmetric.
    ///
    /// It only shapes the search: an approximation is as good as its steps
    /// are, and the default, which reports nothing, is legal but some ten times
    /// slower.
    fn curvature(
        &self,
        q: MatRef<'_, f64>,
        q_inverse: MatRef<'_, f64>,
        own: MatMut<'_, f64>,
        exchange: MatMut<'_, f64>,
    ) {
        let _ = (q, q_inverse, own, exchange);
    }
}

/// Number of columns that are read together: about eight megabytes of a view
/// with `rows` samples, a multiple of 64 (fixed, so that results do not depend
/// on the number of threads).
pub fn column_block(rows: usize) -> usize {
    ((1 << 20) / rows.max(1)).clamp(64, 4096) / 64 * 64
}

/// As [`column_block`], where every column has a precision of its own: these
/// are large beside the data of few samples.
pub fn own_column_block(rows: usize) -> usize {
    column_block(rows).min(SAMPLE_BLOCK)
}

/// Number of samples whose own precisions are made and solved together (fixed,
/// so that results do not depend on the number of threads).
pub const SAMPLE_BLOCK: usize = 512;

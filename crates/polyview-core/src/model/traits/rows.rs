//! Blocks of rows and priors of their scales.

use std::borrow::Cow;
use std::ops::Range;
use std::sync::Arc;

use polyview_linalg::{Mat, MatRef};
use polyview_random::StreamKey;

use super::{Context, RotationSide, RotationTerm};
use crate::error::NumericError;
use crate::ledger::Terms;
use crate::model::equations::{NormalEquations, Rule};
use crate::model::groups::{PrecisionView, RowGroups};
use crate::model::moments::{KeptRows, RowMoments};
use crate::model::state::{State, Stateful};

/// What a block of rows is told of the rows that it is to hold.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct RowContext<'a> {
    /// Groups of the rows: one where nobody looks at groups.
    pub groups: &'a RowGroups,
    /// Columns that are known of the rows, rows × columns, where the block has such
    /// ([`RowBlock::known`]).
    pub known: Option<MatRef<'a, f64>>,
}

impl<'a> RowContext<'a> {
    /// Rows of these groups.
    pub fn new(groups: &'a RowGroups) -> Self {
        Self {
            groups,
            known: None,
        }
    }
    /// The same rows, of which these columns are known, rows × columns.
    #[must_use]
    pub fn with_known(self, known: Option<MatRef<'a, f64>>) -> Self {
        Self { known, ..self }
    }
}

/// Components of a mixture prior of rows, at their expectations.
#[derive(Clone, Debug)]
pub struct MixtureComponents {
    /// Means, components × K.
    pub means: Mat<f64>,
    /// Precisions, per squared unit of an entry, one a component.
    pub precisions: Vec<f64>,
    /// Weights of the components for a new row: they add up to 1.
    pub weights: Vec<f64>,
    /// Concentration of the Dirichlet process.
    pub concentration: f64,
}

/// Gaussian scale mixtures on the entries of a block of rows: automatic
/// relevance determination, double ARD, three-parameter beta, fixed.
pub trait ScalePrior: Stateful + Send + Sync + 'static {
    /// Expected precisions.
    fn precision(&self) -> PrecisionView<'_>;
    /// Updates the scales from the rows' second moments.
    fn update(&mut self, rows: &RowMoments);
    /// Updates the scales after the rows were turned as [`ScalePrior::rotation_term`] found best, so that the bound gains at least
    /// what that said: scales of columns are of the columns before, and what is updated by them first may lose it.
    fn update_turned(&mut self, rows: &RowMoments) {
        self.update(rows);
    }
    /// Draws the scales given the rows. Of the key the chunk alone is free
    /// ([`StreamKey::chunk`]): its other parts tell sweeps, chains, steps and views apart, and a
    /// prior that set the block would draw the same numbers in every view, and those of other steps.
    fn draw(&mut self, rows: &RowMoments, key: StreamKey);
    /// Draws the scales from their prior, with streams as in [`ScalePrior::draw`].
    fn draw_prior(&mut self, key: StreamKey);
    /// $\langle\ln p(\text{rows}\mid\text{scales})\rangle$ without
    /// $-\tfrac12\ln 2\pi$ an entry.
    fn expected_log_density(&self, rows: &RowMoments) -> f64;
    /// Contribution of the scales themselves: −KL, or log prior density.
    fn bound(&self) -> f64;
    /// What one more column would add to the bound if no data spoke of its entries:
    /// at most 0, and 0 where scales are known. `rows` are those of the block.
    ///
    /// $q$ of entries and scales is factorised, so that it cannot be their prior, and the
    /// vaguer a scale, the more that costs: about $\ln a\_0$ for a Gamma variable of the
    /// shape $a\_0$ (spec/sites 6), whatever the data say. Models of different
    /// numbers of factors are compared with this taken into account.
    fn idle_column(&self, rows: &RowMoments) -> f64 {
        let _ = rows;
        0.0
    }
    /// The same scales for other rows; `None` where they are those of these rows, or
    /// `cx` has other groups.
    fn for_rows(&self, cx: &RowContext<'_>) -> Option<Self>
    where
        Self: Sized,
    {
        let _ = cx;
        None
    }
    /// What [`RowBlock::learns`] says.
    fn learns(&self) -> bool {
        true
    }
    /// What [`RowBlock::scales_at`] says.
    fn free(&self) -> Vec<f64> {
        Vec::new()
    }
    /// Moves the scales to where numbers as of [`ScalePrior::free`] say.
    fn set_free(&mut self, values: &[f64]) {
        let _ = values;
    }
    /// What [`RowBlock::turns`] says.
    fn turns(&self) -> bool {
        false
    }
    /// What [`RowBlock::follows`] says.
    fn follows(&self) -> bool {
        false
    }
    /// What [`RowBlock::follow`] does.
    fn follow(&mut self, sizes: &[f64]) -> f64 {
        let _ = sizes;
        0.0
    }
    /// What [`RowBlock::relevance`] says.
    fn relevance(&self) -> Option<&[f64]> {
        None
    }
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
    /// The rows as data terms see them: [`RowBlock::moments`], and behind these the columns
    /// that stand beside them (covariates and offsets beside factors, their coefficients
    /// beside weights; spec/sites 9). Normal equations speak of all of these columns.
    fn seen(&self) -> &RowMoments {
        self.moments()
    }
    /// What is known of the rows beside their moments, rows × columns: the last columns of
    /// [`RowBlock::seen`]. `None` where nothing is.
    fn known(&self) -> Option<MatRef<'_, f64>> {
        None
    }
    /// As [`RowBlock::seen`], of other moments of the same rows.
    fn seen_as<'a>(&self, moments: &'a RowMoments) -> Cow<'a, RowMoments> {
        match self.known() {
            None => Cow::Borrowed(moments),
            Some(known) => Cow::Owned(moments.beside_known(known)),
        }
    }
    /// How the means of factors follow what is known of their rows, covariates × K: the first
    /// columns of [`RowBlock::seen`] are the moments with these slopes times the first columns of
    /// [`RowBlock::known`] added to the means. `None` where they do not.
    fn slopes(&self) -> Option<MatRef<'_, f64>> {
        None
    }
    /// Coefficients of covariates beside the rows, rows × covariates; `None` where there are
    /// none.
    fn coefficients(&self) -> Option<&RowMoments> {
        None
    }
    /// Replaces the moments, for starts.
    fn set_moments(&mut self, moments: RowMoments);
    /// Replaces the moments and nothing else: points at which a projection wants
    /// the next round. The rows and their number stay what they were.
    fn move_to(&mut self, moments: RowMoments) {
        self.set_moments(moments);
    }
    /// Adds to the means, rows × K, and changes nothing else.
    fn shift(&mut self, by: MatRef<'_, f64>) {
        let moments = self.moments().shifted(by);
        self.move_to(moments);
    }
    /// Factors what the rows share, before they are updated range by range.
    ///
    /// # Errors
    /// [`NumericError`] when a precision is not positive definite.
    fn prepare(&mut self, eq: &NormalEquations, cx: &mut Context<'_>) -> Result<(), NumericError>;
    /// Where the scales of the prior are that are learnt, as numbers that may have any value
    /// (logarithms of rates, log odds), in an order that does not change while the columns
    /// stay. None where they are known, or a block knows no such numbers of them.
    fn scales_at(&self) -> Vec<f64> {
        Vec::new()
    }
    /// Puts the block where the next update is to begin: means `by` further, rows × K, and
    /// scales where numbers as of [`RowBlock::scales_at`] say. What an update makes anew stays
    /// as it is until then. Means that follow from other numbers of a block stay too.
    fn push(&mut self, by: Option<MatRef<'_, f64>>, scales: &[f64]) {
        if let Some(by) = by {
            self.shift(by);
        }
        self.set_scales(scales);
    }
    /// Puts the scales of the prior where numbers as of [`RowBlock::scales_at`] say, and changes
    /// nothing else.
    fn set_scales(&mut self, scales: &[f64]) {
        let _ = scales;
    }
    /// Updates the rows `eq.rows()` by variational Bayes, as far as `rule` says. May take
    /// the buffers of `eq`.
    ///
    /// # Errors
    /// [`NumericError`] when a precision is not positive definite.
    fn update(
        &mut self,
        eq: &mut NormalEquations,
        rule: Rule,
        cx: &mut Context<'_>,
    ) -> Result<(), NumericError>;
    /// Draws the rows `eq.rows()` from their conditional.
    ///
    /// # Errors
    /// [`NumericError`] when a precision is not positive definite.
    fn draw(&mut self, eq: &mut NormalEquations, cx: &mut Context<'_>) -> Result<(), NumericError>;
    /// Whether a draw of rows is one from their conditional, whatever they were before: not
    /// where entries are drawn one after the other.
    fn draws_at_once(&self) -> bool {
        true
    }
    /// Keeps some rows aside, with all that [`RowBlock::retreat`] needs.
    ///
    /// # Panics
    /// If there are no such rows.
    fn keep(&self, rows: Range<usize>) -> KeptRows {
        self.moments().keep(rows)
    }
    /// Puts a row that was kept `share` of the way from what it was then to what it is now:
    /// a share of 0 is what was kept ([`RowMoments::retreat`]).
    ///
    /// # Errors
    /// As [`RowMoments::retreat`].
    fn retreat(&mut self, kept: &KeptRows, row: usize, share: f64) -> Result<(), NumericError>;
    /// What each of some rows adds to [`RowBlock::bound`] at the present scales, up to a
    /// constant of the row: its expected log prior density and, unless it is known exactly,
    /// its entropy, in nats. Unless a block says more, its prior is normal with mean zero and
    /// [`RowBlock::prior_variance`].
    fn row_bounds(&self, rows: Range<usize>) -> Vec<f64> {
        let moments = self.moments();
        let prior = |row: usize, k: usize| {
            let square = moments.mean()[(row, k)].powi(2) + moments.variance(row, k);
            -0.5 * square / self.prior_variance(row, k)
        };
        rows.clone()
            .zip(moments.row_log_dets(rows))
            .map(|(r, log_det)| (0..moments.k()).map(|k| prior(r, k)).sum::<f64>() + 0.5 * log_det)
            .collect()
    }
    /// Draws all rows and their scales from the prior.
    fn draw_prior(&mut self, key: StreamKey);
    /// Draws all rows from the prior, given the expectations of its scales; with a mixture
    /// prior the components that rows belong to ([`RowBlock::shares`]) come with them.
    fn draw_rows(&mut self, key: StreamKey);
    /// A block of other rows under the same prior: new samples under the factors of a fit.
    /// Scales are those of this block, rows start at `start`. Their posterior is as
    /// exact as equations that do not change allow in one update, whatever this block's is.
    ///
    /// # Errors
    /// [`NumericError::Mismatch`] where the prior has scales for each row, as weights
    /// may, or the groups are not those of this block.
    fn for_rows(
        &self,
        cx: &RowContext<'_>,
        start: RowMoments,
    ) -> Result<Box<dyn RowBlock>, NumericError>;
    /// As [`RowBlock::for_rows`], under the Gaussian prior of the same variances: `None`
    /// where the prior is Gaussian, or rows need no better start than the mean of the prior.
    /// Entries that are found one by one, each from a start at zero, take what belongs to others.
    ///
    /// # Errors
    /// As [`RowBlock::for_rows`].
    fn gaussian_for_rows(
        &self,
        cx: &RowContext<'_>,
        start: RowMoments,
    ) -> Result<Option<Box<dyn RowBlock>>, NumericError> {
        let _ = (cx, start);
        Ok(None)
    }
    /// Prior variance of an entry, given the expectations of the scales.
    fn prior_variance(&self, row: usize, k: usize) -> f64;
    /// Whether the prior has scales that are learnt.
    fn learns(&self) -> bool {
        true
    }
    /// Whether rows have one optimum, given their equations and the scales of the prior:
    /// then it does not matter where updates start.
    fn has_one_optimum(&self) -> bool {
        false
    }
    /// Whether the prior does not notice an orthogonal map of the rows ($R \to QR$ with
    /// $Q^\top Q = I$): it is Gaussian, centred, and the same for all rows. Then complete data may be
    /// compressed along these rows.
    fn turns(&self) -> bool {
        false
    }
    /// Whether the prior measures the weights of a view by how large the factors are in
    /// other views ([`RowBlock::follow`]).
    fn follows(&self) -> bool {
        false
    }
    /// Takes over how large each factor is in the views that do not follow: its share of what
    /// all factors explain of their variance; together the sizes are 1. They are
    /// known numbers of the prior from then on, and the bound is that of another model.
    /// Returns the largest change of the logarithm of one of them, 0 where the prior does not
    /// ask for them.
    fn follow(&mut self, sizes: &[f64]) -> f64 {
        let _ = sizes;
        0.0
    }
    /// Updates the scales of the prior by variational Bayes, right after the rows.
    ///
    /// # Errors
    /// [`NumericError`] on numbers that are not finite.
    fn learn(&mut self, cx: &mut Context<'_>) -> Result<(), NumericError>;
    /// Likewise, right after the rows were turned as [`RowBlock::rotation_term`] found best
    /// ([`ScalePrior::update_turned`]).
    ///
    /// # Errors
    /// As [`RowBlock::learn`].
    fn learn_turned(&mut self, cx: &mut Context<'_>) -> Result<(), NumericError> {
        self.learn(cx)
    }
    /// Draws the scales of the prior.
    fn draw_scales(&mut self, cx: &mut Context<'_>);
    /// Probabilities that the rows belong to the components of a mixture prior,
    /// rows × components; `None` for every other prior.
    fn shares(&self) -> Option<&Arc<Mat<f64>>> {
        None
    }
    /// Sets [`RowBlock::shares`], rows × components, which [`RowBlock::assign`] leaves as they
    /// are from then on. Nothing happens under any other prior.
    fn hold_shares(&mut self, shares: Mat<f64>) {
        let _ = shares;
    }
    /// Components of a mixture prior; `None` for every other prior.
    fn mixture(&self) -> Option<MixtureComponents> {
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
    /// What one more column would add to the bound if no data spoke of its entries
    /// ([`ScalePrior::idle_column`]).
    fn idle_column(&self) -> f64 {
        0.0
    }
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
    /// Expected prior precisions of whole rows, which all entries of a row share, one a
    /// row: the smaller, the more relevant the row (spec/sshiba G8). `None` where the
    /// prior has none.
    fn relevance(&self) -> Option<&[f64]> {
        None
    }
    /// Posterior probabilities that entries are not zero, rows × K; 0 or 1 for draws.
    /// `None` where all entries are taken not to be.
    fn inclusion(&self) -> Option<MatRef<'_, f64>> {
        None
    }
    /// As [`Stateful::save`], at the end of the block's life: what is large
    /// may move.
    fn give_up(self: Box<Self>, prefix: &str, state: &mut State) {
        self.save(prefix, state);
    }
}

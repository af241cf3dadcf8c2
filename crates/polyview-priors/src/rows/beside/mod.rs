//! Rows with covariates, offsets or their coefficients beside them (spec/sites 9).

mod along;
mod state;

use std::borrow::Cow;
use std::ops::Range;
use std::sync::Arc;

use polyview_core::{
    Context, GammaPrior, KeptRows, MixtureComponents, NormalEquations, NumericError, Of,
    PrecisionView, RotationSide, RotationTerm, RowBlock, RowContext, RowMoments, Rule, State,
    Terms,
};
use polyview_linalg::{LinalgError, Mat, MatRef};
use polyview_random::StreamKey;

use self::along::Along;
use super::FullRows;
use crate::ridge::Ridge;
use crate::rotation::{ColumnPenalty, ColumnRotation, RotationSum};

/// A block of rows with further columns beside its own: coefficients that are learnt, and
/// columns that are known (spec/sites 9).
///
/// The linear predictor $ZW^\top + CB^\top + os^\top$ of a view with covariates C and an
/// offset o is a product of factors $(z\_n, c\_n, o\_n)$ and weights $(w\_d, b\_d, s\_d)$.
/// Beside factors all further columns are known. Beside weights $b\_d \sim N(0, \beta^{-1}I)$
/// with one $\beta \sim \mathrm{Ga}$ a view are learnt, and the factors $s\_d$ of
/// offsets are known. Data terms see all columns ([`RowBlock::seen`]) and know of nothing
/// else. What is done to factors (rotations, removal, order, starts) is done to the block's own
/// columns ([`RowBlock::moments`]), whose prior is whatever it was.
///
/// Variational Bayes has $q(w\_d)\,q(b\_d)$, each set to its optimum given the other. Draws are
/// of both at once where those of the weights are: of $w\_d$ with $b\_d$ integrated out, then of $b\_d$.
///
/// ```
/// use polyview_core::{RowBlock, RowMoments};
/// use polyview_linalg::Mat;
/// use polyview_priors::{Fixed, FullRows, RowsBeside};
///
/// let start = RowMoments::isotropic(Mat::zeros(10, 2), 1.0, 0);
/// let factors = Box::new(FullRows::new("factors", Fixed::standard_normal(2), start));
/// let age = Mat::from_fn(10, 1, |n, _| n as f64 / 10.0 - 0.45);
/// let factors = RowsBeside::known(factors, age);
/// assert_eq!((factors.moments().k(), factors.seen().k()), (2, 3));
/// ```
pub struct RowsBeside {
    inner: Box<dyn RowBlock>,
    coefficients: Option<FullRows<Ridge>>,
    /// How factors follow the first of the columns that are known.
    along: Option<Along>,
    known: RowMoments,
    /// Coefficients and known columns.
    rest: RowMoments,
    seen: RowMoments,
}

/// The stream of random numbers of the coefficients beside rows with this one.
fn beside(key: StreamKey) -> StreamKey {
    key.block(key.block | (1 << 30))
}

impl RowsBeside {
    /// Rows with columns that are known: rows × columns.
    ///
    /// # Panics
    /// If the numbers of rows differ, or some of the rows are implicit.
    pub fn known(inner: Box<dyn RowBlock>, known: Mat<f64>) -> Self {
        Self::new(inner, None, known)
    }
    /// Rows of factors with columns that are known, rows × columns, the first of which are so many
    /// covariates that the means of factors may follow: $z\_n = A^\top c\_n + r\_n$. The
    /// block's own moments are those of r, which is what is left to factors; data terms see z.
    ///
    /// Slopes $a\_{qk} \sim N(0, 1)$ are set to their optimum with the scales, or drawn.
    /// Where the prior of the rows is no normal one about zero (mixtures, spike and slab) they
    /// stay 0.
    ///
    /// # Panics
    /// As [`RowsBeside::known`], or if there are fewer columns than covariates.
    pub fn about(inner: Box<dyn RowBlock>, known: Mat<f64>, covariates: usize) -> Self {
        assert!(covariates <= known.ncols());
        let normal = inner.shares().is_none() && inner.inclusion().is_none();
        let k = inner.moments().k();
        let mut out = Self::new(inner, None, known);
        out.along = (normal && covariates > 0).then(|| Along::new(covariates, k));
        out
    }
    /// Rows of weights with the coefficients of so many covariates under a ridge of this
    /// hyper-prior, started at zero, and columns that are known: rows × columns. `name` is
    /// theirs, for messages.
    ///
    /// # Panics
    /// As [`RowsBeside::known`].
    pub fn with_coefficients(
        inner: Box<dyn RowBlock>,
        (name, covariates, prior): (impl Into<String>, usize, GammaPrior),
        known: Mat<f64>,
    ) -> Self {
        let rows = inner.moments().explicit_rows();
        let coefficients = (covariates > 0).then(|| {
            let start = RowMoments::isotropic(Mat::zeros(rows, covariates), 1e-2, 0);
            FullRows::new(name, Ridge::new(prior, covariates), start)
        });
        Self::new(inner, coefficients, known)
    }
    fn new(
        inner: Box<dyn RowBlock>,
        coefficients: Option<FullRows<Ridge>>,
        known: Mat<f64>,
    ) -> Self {
        let nothing = RowMoments::point(Mat::zeros(0, 0));
        let mut out = Self {
            inner,
            coefficients,
            along: None,
            known: RowMoments::point(known),
            rest: nothing.clone(),
            seen: nothing,
        };
        out.look();
        out
    }
    /// Brings what is seen up to date, whatever has changed.
    fn look(&mut self) {
        self.rest = match &self.coefficients {
            Some(coefficients) => coefficients.moments().beside(&self.known),
            None => self.known.clone(),
        };
        self.seen = match self.means(0..self.known.explicit_rows()) {
            Some(means) => self
                .inner
                .moments()
                .shifted(means.as_ref())
                .beside(&self.rest),
            None => self.inner.moments().beside(&self.rest),
        };
    }
    /// What the covariates say of the means of some rows, rows × K.
    fn means(&self, rows: Range<usize>) -> Option<Mat<f64>> {
        let known = self.known.mean().subrows(rows.start, rows.len());
        Some(self.along.as_ref()?.means(known))
    }
    /// Equations of the block's own columns given the others.
    fn own_equations(&self, eq: &NormalEquations) -> NormalEquations {
        let (own, _) = self.parts();
        let given = eq.given(own, self.seen.mean());
        match self.means(eq.rows()) {
            Some(means) => given.about(means.as_ref()),
            None => given,
        }
    }
    fn learn_coefficients(&mut self, cx: &mut Context<'_>) -> Result<(), NumericError> {
        match &mut self.coefficients {
            Some(coefficients) => coefficients.learn(cx),
            None => Ok(()),
        }
    }
    /// Slopes at their optimum, or drawn; what is seen of the rows stays.
    fn follow_covariates(&mut self, draws: bool, cx: &mut Context<'_>) -> Result<(), NumericError> {
        let Some(along) = &mut self.along else {
            return Ok(());
        };
        let inner = &self.inner;
        let rows = (inner.moments(), self.known.mean());
        let change = along.learn(rows, |n, j| inner.prior_variance(n, j), draws, cx)?;
        self.inner.shift(change.as_ref());
        self.look();
        Ok(())
    }
    /// As [`RowsBeside::look`] where only these rows have changed.
    fn look_at(&mut self, rows: Range<usize>) {
        if let Some(coefficients) = &self.coefficients {
            self.rest
                .update_beside(rows.clone(), coefficients.moments(), &self.known);
        }
        self.seen
            .update_beside(rows.clone(), self.inner.moments(), &self.rest);
        if let Some(means) = self.means(rows.clone()) {
            let (mean, _, _) = self.seen.parts_mut();
            for j in 0..means.ncols() {
                for (i, r) in rows.clone().enumerate() {
                    mean[(r, j)] = self.inner.moments().mean()[(r, j)] + means[(i, j)];
                }
            }
        }
    }
    /// The block's own columns, and those of the coefficients, of what is seen.
    fn parts(&self) -> (Range<usize>, Range<usize>) {
        let k = self.inner.moments().k();
        let more = self.coefficients.as_ref().map_or(0, |c| c.moments().k());
        (0..k, k..k + more)
    }
    fn mismatch(what: &'static str) -> NumericError {
        NumericError::Mismatch {
            block: "covariates".to_owned(),
            what,
        }
    }
    /// A block of other rows, with what is known of them beside it.
    fn around(
        &self,
        inner: Box<dyn RowBlock>,
        cx: &RowContext<'_>,
    ) -> Result<Box<dyn RowBlock>, NumericError> {
        let rows = inner.moments().explicit_rows();
        let fits =
            |known: &MatRef<'_, f64>| (known.nrows(), known.ncols()) == (rows, self.known.k());
        match cx.known.filter(fits) {
            Some(known) if self.coefficients.is_none() => {
                let mut out = Self::known(inner, known.to_owned());
                out.along.clone_from(&self.along);
                out.look();
                Ok(Box::new(out))
            }
            _ => Err(Self::mismatch(
                "covariates and offsets of other rows are not given, or not as many",
            )),
        }
    }
}

fn singular(source: LinalgError) -> NumericError {
    NumericError::Linalg {
        block: "covariates".to_owned(),
        source,
    }
}

impl RowBlock for RowsBeside {
    fn moments(&self) -> &RowMoments {
        self.inner.moments()
    }
    fn seen(&self) -> &RowMoments {
        &self.seen
    }
    fn known(&self) -> Option<MatRef<'_, f64>> {
        Some(self.known.mean())
    }
    fn seen_as<'a>(&self, moments: &'a RowMoments) -> Cow<'a, RowMoments> {
        Cow::Owned(match self.means(0..self.known.explicit_rows()) {
            Some(means) => moments.shifted(means.as_ref()).beside(&self.rest),
            None => moments.beside(&self.rest),
        })
    }
    fn slopes(&self) -> Option<MatRef<'_, f64>> {
        self.along.as_ref().map(Along::slopes)
    }
    fn coefficients(&self) -> Option<&RowMoments> {
        self.coefficients.as_ref().map(RowBlock::moments)
    }
    fn set_moments(&mut self, moments: RowMoments) {
        self.inner.set_moments(moments);
        self.look();
    }
    fn move_to(&mut self, moments: RowMoments) {
        self.inner.move_to(moments);
        self.look();
    }
    fn prepare(&mut self, eq: &NormalEquations, cx: &mut Context<'_>) -> Result<(), NumericError> {
        // the rows are about to change
        self.seen.forget_moment_table();
        let (_, more) = self.parts();
        self.inner.prepare(&self.own_equations(eq), cx)?;
        match &mut self.coefficients {
            Some(coefficients) => coefficients.prepare(&eq.given(more, self.seen.mean()), cx),
            None => Ok(()),
        }
    }
    fn update(
        &mut self,
        eq: &mut NormalEquations,
        rule: Rule,
        cx: &mut Context<'_>,
    ) -> Result<(), NumericError> {
        let (_, more) = self.parts();
        let mut of_rows = self.own_equations(eq);
        self.inner.update(&mut of_rows, rule, cx)?;
        self.look_at(eq.rows());
        if let Some(coefficients) = &mut self.coefficients {
            let mut of_these = eq.given(more, self.seen.mean());
            coefficients.update(&mut of_these, rule, cx)?;
            self.look_at(eq.rows());
        }
        Ok(())
    }
    fn draw(&mut self, eq: &mut NormalEquations, cx: &mut Context<'_>) -> Result<(), NumericError> {
        let (own, more) = self.parts();
        let Some(coefficients) = &mut self.coefficients else {
            let mut of_rows = self.own_equations(eq);
            self.inner.draw(&mut of_rows, cx)?;
            self.look_at(eq.rows());
            return Ok(());
        };
        let mut of_rows = if self.inner.draws_at_once() {
            let precision = vec![coefficients.prior().precisions()[0]; more.len()];
            let of_both = eq.given(own.start..more.end, self.seen.mean());
            let of_rows = of_both.marginal(own.len(), &precision).map_err(singular)?;
            self.inner.prepare(&of_rows, cx)?;
            of_rows
        } else {
            eq.given(own, self.seen.mean())
        };
        self.inner.draw(&mut of_rows, cx)?;
        self.look_at(eq.rows());
        let Some(coefficients) = &mut self.coefficients else {
            return Ok(());
        };
        let mut of_these = eq.given(more, self.seen.mean());
        let key = cx.key;
        cx.key = beside(key);
        let drawn = coefficients.draw(&mut of_these, cx);
        cx.key = key;
        drawn?;
        self.look_at(eq.rows());
        Ok(())
    }
    fn draws_at_once(&self) -> bool {
        self.inner.draws_at_once()
    }
    fn keep(&self, rows: Range<usize>) -> KeptRows {
        let mut kept = self.inner.keep(rows.clone());
        kept.beside = (self.coefficients.as_ref()).map(|c| Box::new(c.keep(rows)));
        kept
    }
    fn retreat(&mut self, kept: &KeptRows, row: usize, share: f64) -> Result<(), NumericError> {
        self.inner.retreat(kept, row, share)?;
        if let Some(coefficients) = &mut self.coefficients {
            let zero = || KeptRows::zero(row..row + 1, coefficients.moments().k());
            let nothing = kept.beside.is_none().then(zero);
            let kept = nothing.as_ref().or(kept.beside.as_deref());
            if let Some(kept) = kept {
                coefficients.retreat(kept, row, share)?;
            }
        }
        self.look_at(row..row + 1);
        Ok(())
    }
    fn row_bounds(&self, rows: Range<usize>) -> Vec<f64> {
        let mut out = self.inner.row_bounds(rows.clone());
        if let Some(coefficients) = &self.coefficients {
            for (x, more) in out.iter_mut().zip(coefficients.row_bounds(rows)) {
                *x += more;
            }
        }
        out
    }
    fn draw_prior(&mut self, key: StreamKey) {
        self.inner.draw_prior(key);
        if let Some(along) = &mut self.along {
            along.draw_prior(beside(key));
        }
        if let Some(coefficients) = &mut self.coefficients {
            // scales and rows are blocks 0 and 1 of the key
            coefficients.draw_prior(key.chain(key.chain | (1 << 30)));
        }
        self.look();
    }
    fn draw_rows(&mut self, key: StreamKey) {
        self.inner.draw_rows(key);
        if let Some(coefficients) = &mut self.coefficients {
            coefficients.draw_rows(beside(key));
        }
        self.look();
    }
    fn for_rows(
        &self,
        cx: &RowContext<'_>,
        start: RowMoments,
    ) -> Result<Box<dyn RowBlock>, NumericError> {
        self.around(self.inner.for_rows(cx, start)?, cx)
    }
    fn gaussian_for_rows(
        &self,
        cx: &RowContext<'_>,
        start: RowMoments,
    ) -> Result<Option<Box<dyn RowBlock>>, NumericError> {
        let inner = self.inner.gaussian_for_rows(cx, start)?;
        inner.map(|inner| self.around(inner, cx)).transpose()
    }
    fn prior_variance(&self, row: usize, k: usize) -> f64 {
        self.inner.prior_variance(row, k)
    }
    fn learns(&self) -> bool {
        self.coefficients.is_some() || self.along.is_some() || self.inner.learns()
    }
    fn scales_at(&self) -> Vec<f64> {
        self.inner.scales_at()
    }
    fn set_scales(&mut self, scales: &[f64]) {
        self.inner.set_scales(scales);
    }
    fn push(&mut self, by: Option<MatRef<'_, f64>>, scales: &[f64]) {
        let moved = by.is_some();
        self.inner.push(by, scales);
        if moved {
            self.look();
        }
    }
    fn follows(&self) -> bool {
        self.inner.follows()
    }
    fn follow(&mut self, sizes: &[f64]) -> f64 {
        self.inner.follow(sizes)
    }
    fn has_one_optimum(&self) -> bool {
        self.coefficients.is_none() && self.inner.has_one_optimum()
    }
    fn learn(&mut self, cx: &mut Context<'_>) -> Result<(), NumericError> {
        self.follow_covariates(false, cx)?;
        self.inner.learn(cx)?;
        self.learn_coefficients(cx)
    }
    fn learn_turned(&mut self, cx: &mut Context<'_>) -> Result<(), NumericError> {
        self.follow_covariates(false, cx)?;
        self.inner.learn_turned(cx)?;
        self.learn_coefficients(cx)
    }
    fn draw_scales(&mut self, cx: &mut Context<'_>) {
        self.inner.draw_scales(cx);
        let key = cx.key;
        cx.key = beside(key);
        // fails on numbers alone that are not finite, which the objective shows
        let _ = self.follow_covariates(true, cx);
        cx.key = key;
        if let Some(coefficients) = &mut self.coefficients {
            let key = cx.key;
            cx.key = beside(key);
            coefficients.draw_scales(cx);
            cx.key = key;
        }
    }
    fn shares(&self) -> Option<&Arc<Mat<f64>>> {
        self.inner.shares()
    }
    fn hold_shares(&mut self, shares: Mat<f64>) {
        self.inner.hold_shares(shares);
        self.look();
    }
    fn mixture(&self) -> Option<MixtureComponents> {
        self.inner.mixture()
    }
    fn assign(
        &mut self,
        evidence: MatRef<'_, f64>,
        cx: &mut Context<'_>,
    ) -> Result<(), NumericError> {
        self.inner.assign(evidence, cx)
    }
    fn draw_assignment(
        &mut self,
        evidence: MatRef<'_, f64>,
        cx: &mut Context<'_>,
    ) -> Result<(), NumericError> {
        self.inner.draw_assignment(evidence, cx)
    }
    fn bound(&self) -> Terms {
        let mut out = self.inner.bound();
        if let Some(along) = &self.along {
            out = out.with("slopes", Of::Parameters, along.bound());
        }
        if let Some(coefficients) = &self.coefficients {
            for term in coefficients.bound().0 {
                let name = match term.name {
                    "rows" => "coefficients",
                    _ => "coefficient-scales",
                };
                out = out.with(name, Of::Parameters, term.value);
            }
        }
        out
    }
    fn idle_column(&self) -> f64 {
        self.inner.idle_column()
    }
    fn rotation_term(&self, side: RotationSide) -> Option<Box<dyn RotationTerm>> {
        let own = self.inner.rotation_term(side)?;
        let Some(along) = &self.along else {
            return Some(own);
        };
        let ones = ColumnPenalty::Fixed(vec![1.0; self.inner.moments().k()]);
        let slopes = ColumnRotation::new(0, &along.second_moment(), side, ones);
        Some(Box::new(RotationSum(vec![own, Box::new(slopes)])))
    }
    fn transform(&mut self, a: MatRef<'_, f64>, log_abs_det: f64) {
        self.inner.transform(a, log_abs_det);
        if let Some(along) = &mut self.along {
            along.transform(a);
        }
        self.look();
    }
    fn select(&mut self, keep: &[usize], signs: &[f64]) -> Result<(), NumericError> {
        self.inner.select(keep, signs)?;
        if let Some(along) = &mut self.along {
            along.select(keep, signs);
        }
        self.look();
        Ok(())
    }
    fn precision(&self) -> PrecisionView<'_> {
        self.inner.precision()
    }
    fn relevance(&self) -> Option<&[f64]> {
        self.inner.relevance()
    }
    fn inclusion(&self) -> Option<MatRef<'_, f64>> {
        self.inner.inclusion()
    }
    fn give_up(self: Box<Self>, prefix: &str, state: &mut State) {
        self.save_rest(prefix, state);
        self.inner.give_up(prefix, state);
    }
}

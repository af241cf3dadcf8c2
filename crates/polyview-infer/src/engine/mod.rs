//! Engines: how one step is carried out, by expectations or by draws.

mod extrapolate;
mod gibbs;
mod project;
mod sweep;
mod tangents;
mod vb;
mod views;

use std::ops::Range;

use polyview_core::{Bias, Context, NormalEquations, NumericError, Predictor, RowBlock, ViewTerm};
use polyview_linalg::{Mat, MatRef};

pub use gibbs::Gibbs;
pub use project::{Projected, ProjectionRounds, project_factors};
pub use sweep::{assign, run_steps, step_groups, update_factors};
pub use tangents::{Around, AroundBias};
pub use vb::Vb;

/// What an engine does with the equations of one block. Everything else (order,
/// blocks, caches) is common.
pub trait Engine: Sync {
    /// Rows of weights or factors; `around` says more of them where some of their equations
    /// are tangents.
    ///
    /// # Errors
    /// [`NumericError`] when a precision is not positive definite.
    fn rows(
        &self,
        block: &mut dyn RowBlock,
        eq: &mut NormalEquations,
        around: Option<&mut dyn Around>,
        cx: &mut Context<'_>,
    ) -> Result<(), NumericError>;
    /// Intercepts of some columns from their precisions and right-hand sides; `around` as
    /// with [`Engine::rows`].
    fn bias(
        &self,
        bias: &mut Bias,
        columns: Range<usize>,
        equations: (&mut [f64], &mut [f64]),
        around: Option<&mut AroundBias<'_>>,
        cx: &mut Context<'_>,
    );
    /// Level and spread of a view's intercepts, where they are learnt.
    fn bias_prior(&self, bias: &mut Bias, cx: &mut Context<'_>);
    /// Noise precisions of some columns.
    ///
    /// # Errors
    /// [`NumericError`] on numbers that are not finite, or where the term has
    /// no draws.
    fn noise(
        &self,
        term: &mut dyn ViewTerm,
        columns: Range<usize>,
        p: &Predictor<'_>,
        cx: &mut Context<'_>,
    ) -> Result<(), NumericError>;
    /// Local variables of a view.
    ///
    /// # Errors
    /// [`NumericError`] on numbers that are not finite, or where the term has
    /// no draws.
    fn locals(
        &self,
        term: &mut dyn ViewTerm,
        p: &Predictor<'_>,
        cx: &mut Context<'_>,
    ) -> Result<(), NumericError>;
    /// What a term says of each sample under each component of the factors'
    /// prior, added to `evidence` (samples × components).
    ///
    /// # Errors
    /// [`NumericError`] on numbers that are not finite, or where the term has
    /// no draws.
    fn evidence(
        &self,
        term: &mut dyn ViewTerm,
        p: &Predictor<'_>,
        evidence: &mut Mat<f64>,
    ) -> Result<(), NumericError>;
    /// Components that the rows belong to.
    ///
    /// # Errors
    /// [`NumericError`] on numbers that are not finite.
    fn assign(
        &self,
        block: &mut dyn RowBlock,
        evidence: MatRef<'_, f64>,
        cx: &mut Context<'_>,
    ) -> Result<(), NumericError>;
    /// Local variables of a term whose samples have just changed component.
    ///
    /// # Errors
    /// As [`Engine::locals`].
    fn reassigned(
        &self,
        term: &mut dyn ViewTerm,
        p: &Predictor<'_>,
        cx: &mut Context<'_>,
    ) -> Result<(), NumericError>;
    /// Scales of a block's prior.
    ///
    /// # Errors
    /// As [`Engine::rows`].
    fn scales(&self, block: &mut dyn RowBlock, cx: &mut Context<'_>) -> Result<(), NumericError>;
}

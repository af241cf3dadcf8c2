//! What data terms say of rows.

use std::ops::Range;

use crate::error::NumericError;
use crate::model::equations::NormalEquations;
use crate::model::predictor::Predictor;

/// The normal equations of a data term: to the weights by blocks of predictor
/// columns, to the factors by samples. Object safe: one call a block, all loops
/// inside.
///
/// Sums may be cached between calls, guarded by the stamps of the blocks they
/// were made from. A term with latent scores hands out those of the layer
/// beneath ([`ViewTerm::equations`](super::ViewTerm::equations)).
pub trait Equations: Send + Sync {
    /// Writes the part of the weights' precision that is common to all rows
    /// (`gram`, `scale`), before the blocks are asked for one by one. Unless a
    /// term says more, each row has a precision of its own.
    ///
    /// # Errors
    /// [`NumericError`] on numbers that are not finite.
    fn weight_gram(
        &mut self,
        p: &Predictor<'_>,
        eq: &mut NormalEquations,
    ) -> Result<(), NumericError> {
        let _ = p;
        eq.own = true;
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
    /// ([`Bias::by_group`](crate::Bias::by_group)); returns the precision of
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
    /// Makes what [`Equations::factor_equations`] of these samples adds up, where
    /// that takes long: the views do it side by side, then they add one after
    /// the other.
    fn prepare_samples(&mut self, samples: Range<usize>, p: &Predictor<'_>) {
        let _ = (samples, p);
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
    /// Tells the term that the factors of these samples are final in this
    /// pass, while what it made for their equations is still at hand.
    fn absorb_samples(&mut self, samples: Range<usize>, p: &Predictor<'_>) {
        let _ = (samples, p);
    }
    /// Tells the term that a pass over all samples is over.
    fn seal_samples(&mut self, p: &Predictor<'_>) {
        let _ = p;
    }
}

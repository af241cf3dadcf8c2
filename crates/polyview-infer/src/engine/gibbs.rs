//! Gibbs sampling: each block is drawn from its conditional.

use std::ops::Range;

use polyview_core::{Bias, Context, NormalEquations, NumericError, Predictor, RowBlock, ViewTerm};
use polyview_linalg::{Mat, MatRef};

use super::Engine;
use super::tangents::{self, Around, AroundBias};

/// Gibbs sampling on the same equations: with draws (rows of zero covariance)
/// in place of expectations they are the full conditionals.
#[derive(Clone, Copy, Debug, Default)]
pub struct Gibbs;

fn undrawable() -> NumericError {
    NumericError::NoDraws
}

impl Engine for Gibbs {
    fn rows(
        &self,
        block: &mut dyn RowBlock,
        eq: &mut NormalEquations,
        around: Option<&mut dyn Around>,
        cx: &mut Context<'_>,
    ) -> Result<(), NumericError> {
        match around {
            Some(around) => tangents::draw(block, eq, around, cx),
            None => block.draw(eq, cx),
        }
    }
    fn bias(
        &self,
        bias: &mut Bias,
        columns: Range<usize>,
        (precision, rhs): (&mut [f64], &mut [f64]),
        around: Option<&mut AroundBias<'_>>,
        cx: &mut Context<'_>,
    ) {
        match around {
            Some(around) => tangents::draw_bias(bias, (precision, rhs), around, cx),
            None => bias.draw(columns, precision, rhs, cx.key),
        }
    }
    fn bias_prior(&self, bias: &mut Bias, cx: &mut Context<'_>) {
        bias.draw_prior_parameters(cx.key);
    }
    fn noise(
        &self,
        term: &mut dyn ViewTerm,
        columns: Range<usize>,
        p: &Predictor<'_>,
        cx: &mut Context<'_>,
    ) -> Result<(), NumericError> {
        term.as_augmented()
            .ok_or_else(undrawable)?
            .draw_noise(columns, p, cx)
    }
    fn locals(
        &self,
        term: &mut dyn ViewTerm,
        p: &Predictor<'_>,
        cx: &mut Context<'_>,
    ) -> Result<(), NumericError> {
        term.as_augmented()
            .ok_or_else(undrawable)?
            .draw_locals(p, cx)
    }
    fn evidence(
        &self,
        term: &mut dyn ViewTerm,
        p: &Predictor<'_>,
        evidence: &mut Mat<f64>,
    ) -> Result<(), NumericError> {
        if term.as_by_component().is_none() {
            return Ok(());
        }
        term.as_augmented()
            .ok_or_else(undrawable)?
            .component_likelihood(p, evidence)
    }
    fn assign(
        &self,
        block: &mut dyn RowBlock,
        evidence: MatRef<'_, f64>,
        cx: &mut Context<'_>,
    ) -> Result<(), NumericError> {
        block.draw_assignment(evidence, cx)
    }
    fn reassigned(
        &self,
        term: &mut dyn ViewTerm,
        p: &Predictor<'_>,
        cx: &mut Context<'_>,
    ) -> Result<(), NumericError> {
        // they were summed out, so they are drawn anew under the new component
        self.locals(term, p, cx)
    }
    fn scales(&self, block: &mut dyn RowBlock, cx: &mut Context<'_>) -> Result<(), NumericError> {
        block.draw_scales(cx);
        Ok(())
    }
}

//! Variational Bayes: coordinate ascent by expectations.

use std::ops::Range;

use polyview_core::{
    Bias, Context, NormalEquations, NumericError, Predictor, RowBlock, Rule, ViewTerm,
};
use polyview_linalg::{Mat, MatRef};

use super::Engine;
use super::tangents::{self, Around, AroundBias};

/// Mean-field variational Bayes: each block is set to its optimum given the
/// moments of the others, so the bound never falls.
#[derive(Clone, Copy, Debug, Default)]
pub struct Vb {
    /// How far updates of rows go.
    pub rule: Rule,
}

impl Engine for Vb {
    fn rows(
        &self,
        block: &mut dyn RowBlock,
        eq: &mut NormalEquations,
        around: Option<&mut dyn Around>,
        cx: &mut Context<'_>,
    ) -> Result<(), NumericError> {
        match around {
            Some(around) => tangents::ascend(block, eq, self.rule, around, cx),
            None => block.update(eq, self.rule, cx),
        }
    }
    fn bias(
        &self,
        bias: &mut Bias,
        columns: Range<usize>,
        (precision, rhs): (&mut [f64], &mut [f64]),
        around: Option<&mut AroundBias<'_>>,
        _cx: &mut Context<'_>,
    ) {
        match around {
            Some(around) => tangents::ascend_bias(bias, (precision, rhs), around),
            None => bias.update(columns, precision, rhs),
        }
    }
    fn bias_prior(&self, bias: &mut Bias, _cx: &mut Context<'_>) {
        bias.update_prior();
    }
    fn noise(
        &self,
        term: &mut dyn ViewTerm,
        columns: Range<usize>,
        p: &Predictor<'_>,
        _cx: &mut Context<'_>,
    ) -> Result<(), NumericError> {
        match term.as_noise_mut() {
            Some(noise) => noise.update(columns, p),
            None => Ok(()),
        }
    }
    fn locals(
        &self,
        term: &mut dyn ViewTerm,
        p: &Predictor<'_>,
        cx: &mut Context<'_>,
    ) -> Result<(), NumericError> {
        term.refresh(p, cx)
    }
    fn evidence(
        &self,
        term: &mut dyn ViewTerm,
        p: &Predictor<'_>,
        evidence: &mut Mat<f64>,
    ) -> Result<(), NumericError> {
        match term.as_by_component() {
            Some(components) => components.evidence(p, evidence),
            None => Ok(()),
        }
    }
    fn assign(
        &self,
        block: &mut dyn RowBlock,
        evidence: MatRef<'_, f64>,
        cx: &mut Context<'_>,
    ) -> Result<(), NumericError> {
        block.assign(evidence, cx)
    }
    fn reassigned(
        &self,
        _term: &mut dyn ViewTerm,
        _p: &Predictor<'_>,
        _cx: &mut Context<'_>,
    ) -> Result<(), NumericError> {
        // the optimum of each component's numbers does not depend on shares
        Ok(())
    }
    fn scales(&self, block: &mut dyn RowBlock, cx: &mut Context<'_>) -> Result<(), NumericError> {
        block.learn(cx)
    }
}

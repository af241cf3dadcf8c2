//! Variational Bayes: coordinate ascent by expectations.

use std::ops::Range;

use polyview_core::{
    Bias, Context, NormalEquations, NumericError, Predictor, RowBlock, Rule, ViewTerm,
};
use polyview_linalg::{Mat, MatRef};

use super::Engine;

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
        cx: &mut Context<'_>,
    ) -> Result<(), NumericError> {
        block.update(eq, self.rule, cx)
    }
    fn bias(
        &self,
        bias: &mut Bias,
        columns: Range<usize>,
        precision: &[f64],
        rhs: &[f64],
        _cx: &mut Context<'_>,
    ) {
        bias.update(columns, precision, rhs);
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

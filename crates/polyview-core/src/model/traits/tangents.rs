//! Data terms whose equations are tangents of what they stand for.

use std::ops::Range;

use crate::model::predictor::Predictor;

/// Which rows are looked at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Side {
    /// Weights: rows are predictor columns.
    Weights,
    /// Intercepts of predictor columns, group after group where groups have their own.
    Intercepts,
    /// Factors: rows are samples.
    Factors,
}

/// A term whose equations say of the objective what its tangent at the present moments says,
/// and not that it is at least so large: expectation sites (spec/sites 1).
///
/// An engine asks for the objective itself before and after it changes rows: those whose
/// objective fell are put back part of the way
/// ([`RowBlock::retreat`](super::RowBlock::retreat)), and draws are accepted or not. Engines
/// add up the equations of such terms last.
pub trait Tangents {
    /// Adds for each row of `rows` the term's part of the objective that depends on it,
    /// $\sum F(m, v)$ over its observed cells, in nats, at the moments of `p`. `out` has one
    /// number for each row; of intercepts, for each column of `rows`, group after group. Minus
    /// infinity, or no number, where a step went further than numbers reach.
    fn values(&mut self, side: Side, rows: Range<usize>, p: &Predictor<'_>, out: &mut [f64]);
    /// Whether what the weights or the intercept of a column mean for the objective depends on
    /// those of other columns: the columns then come one after the other, and
    /// [`Tangents::values`] of a column is all that changes with it.
    fn couples_columns(&self) -> bool {
        false
    }
    /// Whether cells may curve upwards, so that precisions of rows need not be positive: a
    /// log density that is not concave. Asked for (`true`), the term hands out equations of
    /// positive precision, which lead uphill in the means alone, until it is asked again.
    fn be_positive(&mut self, positive: bool) {
        let _ = positive;
    }
    /// Keeps tangents for a whole sweep (`true`): those at the moments at which the weights of a block of columns are moved also serve
    /// their intercepts and the factors, as equations that hold as they are. Nothing is evaluated in between, and steps are
    /// not guarded; who asks looks at the objective when all is done. Ends with `false`. A term that cannot do that stays as
    /// it is ([`Tangents::is_held`]; docs/decisions/0109-tangents-are-kept.md).
    fn hold(&mut self, held: bool) {
        let _ = held;
    }
    /// Whether tangents are kept for a whole sweep.
    fn is_held(&self) -> bool {
        false
    }
    /// Whether a datum alone says where its predictor is, and the first step of weights starts there
    /// (docs/decisions/0103-the-first-steps.md).
    fn starts_at_data(&mut self) -> bool {
        false
    }
}

//! Rows whose equations are tangents: steps that may not lower the objective, and draws by
//! slices (spec/sites 1.6, 8).

mod ascent;
mod draws;
mod mode;
mod slices;

use std::ops::Range;

use polyview_core::{
    Bias, NormalEquations, NumericError, Predictor, RowBlock, RowMoments, Side, Tangents, ViewTerm,
};
use polyview_linalg::packed_dot;

use crate::model::ViewPart;

pub(super) use ascent::{ascend, ascend_bias};
pub(super) use draws::{draw, draw_bias};

/// What the terms around rows say of them, where the equations of some are tangents
/// ([`polyview_core::Tangents`]).
pub trait Around {
    /// The part of the objective that the tangents stand for, by row, in nats, at the present
    /// moments of the block.
    fn values(&mut self, block: &dyn RowBlock, rows: Range<usize>) -> Vec<f64>;
    /// Equations of the other terms alone, which hold as they are; `None` where there are
    /// none.
    fn exact(&self) -> Option<&NormalEquations>;
    /// The equations of all terms at the present moments of the block, in place of those that
    /// are there.
    ///
    /// # Errors
    /// [`NumericError`] from the terms.
    fn equations(
        &mut self,
        block: &dyn RowBlock,
        eq: &mut NormalEquations,
    ) -> Result<(), NumericError>;
    /// Equations of positive precision ([`polyview_core::Tangents::be_positive`]).
    fn be_positive(&mut self, positive: bool);
}

/// The term around rows of its weights.
pub(super) struct AroundWeights<'a> {
    pub(super) term: &'a mut dyn ViewTerm,
    pub(super) factors: &'a RowMoments,
    pub(super) bias: &'a Bias,
}

impl Around for AroundWeights<'_> {
    fn values(&mut self, block: &dyn RowBlock, rows: Range<usize>) -> Vec<f64> {
        let p = Predictor {
            factors: self.factors,
            weights: block.seen(),
            bias: self.bias,
        };
        let mut out = vec![0.0; rows.len()];
        if let Some(tangents) = self.term.as_tangents() {
            tangents.values(Side::Weights, rows, &p, &mut out);
        }
        out
    }
    fn exact(&self) -> Option<&NormalEquations> {
        None
    }
    fn equations(
        &mut self,
        block: &dyn RowBlock,
        eq: &mut NormalEquations,
    ) -> Result<(), NumericError> {
        let p = Predictor {
            factors: self.factors,
            weights: block.seen(),
            bias: self.bias,
        };
        eq.set_rows(eq.rows());
        self.term.equations().weight_equations(&p, eq)
    }
    fn be_positive(&mut self, positive: bool) {
        if let Some(tangents) = self.term.as_tangents() {
            tangents.be_positive(positive);
        }
    }
}

/// The tangents of a term, unless it keeps them: its equations then hold as they are.
pub(super) fn guarded(term: &mut dyn ViewTerm) -> Option<&mut dyn Tangents> {
    let own = term.as_tangents().is_some_and(|t| !t.is_held());
    if own { term.as_tangents() } else { None }
}

/// The views around samples, and what those say of them whose equations hold as they are.
pub(super) struct AroundFactors<'a> {
    pub(super) views: &'a mut [ViewPart],
    pub(super) exact: &'a NormalEquations,
}

/// Adds what the terms with tangents say of samples.
///
/// # Errors
/// [`NumericError`] from the terms.
pub(super) fn add_tangents(
    views: &mut [ViewPart],
    factors: &RowMoments,
    eq: &mut NormalEquations,
) -> Result<(), NumericError> {
    for view in views {
        let (term, p) = view.with(factors);
        if guarded(term).is_some() {
            term.equations().factor_equations(&p, eq)?;
        }
    }
    Ok(())
}

impl Around for AroundFactors<'_> {
    fn values(&mut self, block: &dyn RowBlock, rows: Range<usize>) -> Vec<f64> {
        let mut out = vec![0.0; rows.len()];
        for view in self.views.iter_mut() {
            let (term, p) = view.with(block.seen());
            if let Some(tangents) = guarded(term) {
                tangents.values(Side::Factors, rows.clone(), &p, &mut out);
            }
        }
        out
    }
    fn exact(&self) -> Option<&NormalEquations> {
        Some(self.exact)
    }
    fn equations(
        &mut self,
        block: &dyn RowBlock,
        eq: &mut NormalEquations,
    ) -> Result<(), NumericError> {
        eq.clone_from(self.exact);
        add_tangents(self.views, block.seen(), eq)
    }
    fn be_positive(&mut self, positive: bool) {
        for view in self.views.iter_mut() {
            if let Some(tangents) = guarded(view.term.as_mut()) {
                tangents.be_positive(positive);
            }
        }
    }
}

/// What the bound of rows is made of, in nats, each up to a constant of the row.
struct Parts {
    /// What the tangents stand for.
    values: Vec<f64>,
    /// What the other terms say.
    exact: Vec<f64>,
    /// Prior and entropy; left out where rows were known exactly.
    own: Vec<f64>,
}

impl Parts {
    fn of(block: &dyn RowBlock, rows: Range<usize>, around: &mut dyn Around, known: bool) -> Self {
        Self {
            values: around.values(block, rows.clone()),
            exact: match around.exact() {
                Some(eq) => quadratic(block.seen(), eq),
                None => vec![0.0; rows.len()],
            },
            own: if known {
                vec![0.0; rows.len()]
            } else {
                block.row_bounds(rows)
            },
        }
    }
    /// What the bound of each row is.
    fn sums(&self) -> Vec<f64> {
        let parts = self.values.iter().zip(&self.exact).zip(&self.own);
        parts.map(|((a, b), c)| a + b + c).collect()
    }
    /// Whether a row's bound is lower than before, beyond rounding, or is no number.
    fn fell(&self, before: &Self, row: usize) -> bool {
        let parts = |p: &Self| [p.values[row], p.exact[row], p.own[row]];
        let sum = |p: &Self| parts(p).iter().sum::<f64>();
        let size: f64 = parts(before).iter().map(|x| x.abs()).sum();
        if !before.values[row].is_finite() {
            // there is nothing to lose
            return !self.values[row].is_finite();
        }
        let change = sum(self) - sum(before);
        change.is_nan() || change < -1e-9 * (1.0 + size)
    }
}

/// $h^\top\langle r\rangle - \tfrac12\mathrm{tr}\,P\langle rr^\top\rangle$ of each row of the
/// equations.
fn quadratic(moments: &RowMoments, eq: &NormalEquations) -> Vec<f64> {
    let k = eq.k();
    (eq.rows().enumerate())
        .map(|(i, r)| {
            let mut second = moments.row_cov(r);
            let mean: Vec<f64> = (0..k).map(|j| moments.mean()[(r, j)]).collect();
            second.add_outer(1.0, &mean);
            let linear: f64 = mean
                .iter()
                .enumerate()
                .map(|(j, m)| m * eq.rhs[(i, j)])
                .sum();
            let p = eq.row_precision(r);
            linear - 0.5 * packed_dot(p.as_slice(), second.as_slice(), k)
        })
        .collect()
}

/// The term around intercepts.
pub struct AroundBias<'a> {
    pub(super) term: &'a mut dyn ViewTerm,
    pub(super) factors: &'a RowMoments,
    pub(super) weights: &'a RowMoments,
    pub(super) columns: Range<usize>,
}

impl AroundBias<'_> {
    fn values(&mut self, bias: &Bias) -> Vec<f64> {
        let columns = self.columns.clone();
        let mut out = vec![0.0; columns.len() * bias.per_column()];
        let p = Predictor {
            factors: self.factors,
            weights: self.weights,
            bias,
        };
        if let Some(tangents) = self.term.as_tangents() {
            tangents.values(Side::Intercepts, columns, &p, &mut out);
        }
        out
    }
    fn equations(&mut self, bias: &Bias, precision: &mut [f64], rhs: &mut [f64]) {
        let p = Predictor {
            factors: self.factors,
            weights: self.weights,
            bias,
        };
        let columns = self.columns.clone();
        self.term
            .equations()
            .bias_equations(columns, &p, precision, rhs);
    }
}

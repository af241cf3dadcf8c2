//! Rows whose equations are tangents: steps that may not lower the objective, and draws that
//! are accepted or not (spec/sites 1.6, 8).

use std::ops::Range;

use polyview_core::{
    Bias, Context, KeptRows, NormalEquations, NumericError, Predictor, RowBlock, RowMoments, Rule,
    Side, ViewTerm,
};
use polyview_linalg::{MatRef, packed_dot};
use polyview_random::{StreamKey, uniform_open01};

use crate::model::ViewPart;

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
        if term.as_tangents().is_some() {
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
            if let Some(tangents) = term.as_tangents() {
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
            if let Some(tangents) = view.term.as_tangents() {
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

/// Halvings after which a row stays where it was.
const HALVINGS: usize = 12;

/// Updates rows and puts those whose bound fell back half of the way, and again, until none
/// has: the direction leads uphill, so that this ends (spec/sites 1.6).
///
/// # Errors
/// [`NumericError`] from the parts.
pub(super) fn ascend(
    block: &mut dyn RowBlock,
    eq: &mut NormalEquations,
    rule: Rule,
    around: &mut dyn Around,
    cx: &mut Context<'_>,
) -> Result<(), NumericError> {
    let (rows, kept) = (eq.rows(), block.keep(eq.rows()));
    let before = Parts::of(block, rows.clone(), around, kept.is_known());
    if let Err(e) = block.update(eq, rule, cx) {
        if !matches!(e, NumericError::Linalg { .. }) {
            return Err(e);
        }
        // a log density that is not concave: uphill in the means alone
        put_back(block, &kept)?;
        equations_of_positive_precision(block, eq, around)?;
        block.update(eq, rule, cx)?;
    }
    for halving in 1..=HALVINGS {
        let after = Parts::of(block, rows.clone(), around, kept.is_known());
        // one that was known has no covariance to go back to
        let stay = halving == HALVINGS && !kept.is_known();
        let mut any = false;
        for (i, row) in rows.clone().enumerate() {
            if after.fell(&before, i) {
                any = true;
                block.retreat(&kept, row, if stay { 0.0 } else { 0.5 })?;
            }
        }
        if !any {
            return Ok(());
        }
    }
    // what the terms hold is of the moments that there are
    around.values(block, rows);
    Ok(())
}

fn equations_of_positive_precision(
    block: &dyn RowBlock,
    eq: &mut NormalEquations,
    around: &mut dyn Around,
) -> Result<(), NumericError> {
    around.be_positive(true);
    let done = around.equations(block, eq);
    around.be_positive(false);
    done
}

fn put_back(block: &mut dyn RowBlock, kept: &KeptRows) -> Result<(), NumericError> {
    for row in kept.rows() {
        block.retreat(kept, row, 0.0)?;
    }
    Ok(())
}

/// Fewest and most steps from zero to the top that draws are proposed around. One step lower a
/// proposal may be many of its own standard deviations off, where a datum says much, and then
/// nothing is ever accepted.
const CLIMB: (usize, usize) = (4, 60);

/// Movement of a step, in standard deviations of the proposal, below which the top is reached.
const AT_THE_TOP: f64 = 0.03;

/// Furthest that any of these rows moved from these means, in its standard deviations.
fn moved(before: MatRef<'_, f64>, after: &RowMoments, rows: Range<usize>) -> f64 {
    let mut most = 0.0_f64;
    for (i, r) in rows.enumerate() {
        for j in 0..after.k() {
            let step = after.mean()[(r, j)] - before[(i, j)];
            if step != 0.0 {
                most = most.max(step.abs() / after.variance(r, j).sqrt());
            }
        }
    }
    most
}

/// Brings rows uphill from where they are. Neither where that ends nor after how many steps depends on
/// what rows were before they were put where it begins.
///
/// # Errors
/// [`NumericError`] from the parts.
fn climb(
    block: &mut dyn RowBlock,
    eq: &mut NormalEquations,
    around: &mut dyn Around,
    cx: &mut Context<'_>,
) -> Result<(), NumericError> {
    for step in 1..=CLIMB.1 {
        around.equations(block, eq)?;
        let rows = eq.rows();
        let before = block.moments().mean().subrows(rows.start, rows.len());
        let before = before.to_owned();
        ascend(block, eq, Rule::Optimum, around, cx)?;
        if step >= CLIMB.0 && moved(before.as_ref(), block.moments(), rows) < AT_THE_TOP {
            break;
        }
    }
    Ok(())
}

/// Draws rows given everything else, where some of what is said of them are tangents: from
/// the conditional under tangents at a point that does not depend on what the rows were, and
/// with the probability that makes the draw exact (spec/sites 8, independence proposals);
/// else they stay. Rows that are no draw yet, as a chain's first are, have no place where they could: where
/// data say much, what a chain begins with is so far off that nothing would ever be accepted.
///
/// # Errors
/// [`NumericError`] from the parts, or where the rows are not drawn at once.
pub(super) fn draw(
    block: &mut dyn RowBlock,
    eq: &mut NormalEquations,
    around: &mut dyn Around,
    cx: &mut Context<'_>,
) -> Result<(), NumericError> {
    if !block.draws_at_once() {
        return Err(NumericError::Mismatch {
            block: "weights or factors".to_owned(),
            what: "entries that are drawn one by one cannot be drawn around tangents: sample with \
                   Gaussian weights (`ard`), or use variational Bayes",
        });
    }
    let (rows, k) = (eq.rows(), eq.k());
    let now = block.keep(rows.clone());
    let no_draw_yet = !now.is_known();
    put_back(block, &KeptRows::zero(rows.clone(), k))?;
    climb(block, eq, around, cx)?;
    around.equations(block, eq)?;
    let mut said = eq.clone();
    if let Err(e) = block.draw(eq, cx) {
        if !matches!(e, NumericError::Linalg { .. }) {
            return Err(e);
        }
        equations_of_positive_precision(block, eq, around)?;
        said.clone_from(eq);
        block.draw(eq, cx)?;
    }
    let mut excess = |block: &dyn RowBlock| -> Vec<f64> {
        let values = around.values(block, rows.clone());
        let said = quadratic(block.seen(), &said);
        let exact = around.exact().map(|eq| quadratic(block.seen(), eq));
        (values.iter().zip(said).enumerate())
            .map(|(i, (f, q))| f - q + exact.as_ref().map_or(0.0, |e| e[i]))
            .collect()
    };
    let drawn = block.keep(rows.clone());
    let there = excess(block);
    put_back(block, &now)?;
    let here = excess(block);
    for (i, row) in rows.clone().enumerate() {
        let u = uniform_open01(&mut chance(cx.key, row).rng());
        // what is no number is not accepted
        let first = no_draw_yet && there[i].is_finite();
        if first || u.ln() < there[i] - here[i] {
            block.retreat(&drawn, row, 0.0)?;
        }
    }
    // what the terms hold is of the rows that there are
    around.values(block, rows);
    Ok(())
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

/// As [`ascend`], for intercepts.
pub(super) fn ascend_bias(
    bias: &mut Bias,
    (precision, rhs): (&[f64], &[f64]),
    around: &mut AroundBias<'_>,
) {
    let columns = around.columns.clone();
    let prior = bias.prior_precision().unwrap_or(0.0);
    let levels = bias.prior_means(columns.clone());
    // intercepts that were known, as at the start, have no entropy
    let known = bias.of_columns(columns.clone()).iter().all(|b| b.1 == 0.0);
    let parts = |bias: &Bias, values: Vec<f64>| {
        let own = |((m, v), level): ((f64, f64), &f64)| {
            if known {
                0.0
            } else {
                0.5 * v.ln() - 0.5 * prior * ((m - level).powi(2) + v)
            }
        };
        Parts {
            exact: vec![0.0; values.len()],
            values,
            own: (bias.of_columns(columns.clone()).into_iter().zip(&levels))
                .map(own)
                .collect(),
        }
    };
    let kept = bias.of_columns(columns.clone());
    let before = parts(bias, around.values(bias));
    // cells that curve upwards: the step is that of the prior's precision
    let positive: Vec<f64> = precision.iter().map(|p| p.max(0.0)).collect();
    let lifted: Vec<f64> = (rhs.iter().zip(precision).zip(&positive).zip(&kept))
        .map(|(((r, p), q), b)| r + (q - p) * b.0)
        .collect();
    bias.update(columns.clone(), &positive, &lifted);
    for halving in 1..=HALVINGS {
        let after = parts(bias, around.values(bias));
        let mut moments = bias.of_columns(columns.clone());
        let mut any = false;
        for (i, b) in moments.iter_mut().enumerate() {
            if !after.fell(&before, i) {
                continue;
            }
            any = true;
            let old = kept[i];
            *b = if known {
                (0.5 * (old.0 + b.0), b.1)
            } else if halving == HALVINGS {
                old
            } else {
                let (pa, pb) = (0.5 / old.1, 0.5 / b.1);
                let v = 1.0 / (pa + pb);
                (v * (pa * old.0 + pb * b.0), v)
            };
        }
        if !any {
            break;
        }
        bias.put_columns(columns.clone(), &moments);
    }
}

/// As [`draw`], for intercepts.
pub(super) fn draw_bias(
    bias: &mut Bias,
    (precision, rhs): (&mut [f64], &mut [f64]),
    around: &mut AroundBias<'_>,
    cx: &mut Context<'_>,
) {
    let columns = around.columns.clone();
    let now = bias.of_columns(columns.clone());
    bias.put_columns(columns.clone(), &vec![(0.0, 0.0); now.len()]);
    for step in 1..=CLIMB.1 {
        around.equations(bias, precision, rhs);
        let before = bias.of_columns(columns.clone());
        ascend_bias(bias, (precision, rhs), around);
        let after = bias.of_columns(columns.clone());
        let moved = before.iter().zip(&after);
        let moved = moved.map(|(a, b)| (b.0 - a.0).abs() / b.1.sqrt());
        if step >= CLIMB.0 && moved.fold(0.0, f64::max) < AT_THE_TOP {
            break;
        }
    }
    around.equations(bias, precision, rhs);
    for p in precision.iter_mut() {
        *p = p.max(0.0);
    }
    let mut excess = |bias: &Bias| -> Vec<f64> {
        let said = |(i, (b, v)): (usize, (f64, f64))| b * rhs[i] - 0.5 * precision[i] * (b * b + v);
        let said = bias
            .of_columns(columns.clone())
            .into_iter()
            .enumerate()
            .map(said);
        let values = around.values(bias).into_iter();
        values.zip(said).map(|(f, q)| f - q).collect()
    };
    bias.draw(columns.clone(), precision, rhs, cx.key);
    let mut drawn = bias.of_columns(columns.clone());
    let there = excess(bias);
    bias.put_columns(columns.clone(), &now);
    let here = excess(bias);
    for (i, old) in now.iter().enumerate() {
        let u = uniform_open01(&mut chance(cx.key, columns.start * bias.per_column() + i).rng());
        // what is no number is not accepted; what has a variance is no draw yet
        let first = old.1 > 0.0 && there[i].is_finite();
        if first || u.ln() < there[i] - here[i] {
            continue;
        }
        drawn[i] = *old;
    }
    bias.put_columns(columns, &drawn);
}

/// Stream of the decision about a row: the upper half of the chunks, the lower belongs to the
/// draws.
fn chance(key: StreamKey, row: usize) -> StreamKey {
    key.chunk((1 << 31) | row as u32)
}

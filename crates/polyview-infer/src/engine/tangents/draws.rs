//! Draws around tangents: proposals from the top of what is said of rows, which are accepted or
//! not (spec/sites 8).

use std::ops::Range;

use polyview_core::{
    Bias, Context, KeptRows, NormalEquations, NumericError, RowBlock, RowMoments, Rule,
};
use polyview_linalg::MatRef;
use polyview_random::{StreamKey, uniform_open01};

use super::ascent::{ascend, ascend_bias, equations_of_positive_precision, put_back};
use super::{Around, AroundBias, Parts, quadratic};

/// Most steps from zero to the mode of a row.
const TO_THE_MODE: usize = 100;

/// Most steps from the mode to the top of the bound, which draws are proposed around.
const TO_THE_TOP: usize = 60;

/// Movement of a step, in standard deviations of the proposal, below which the top is reached.
const AT_THE_TOP: f64 = 0.03;

/// Shares of a step that lowers the density that are tried in its place, one after the other;
/// after the last the row stays. Where a rate is flat, a step may be ten million times too long.
const SHARES: usize = 24;

/// How much of the present step the next trial takes: halves first, then tenths.
fn share(trial: usize) -> f64 {
    match trial {
        0..4 => 0.5,
        SHARES.. => 0.0,
        _ => 0.1,
    }
}

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

/// An update from equations at the present moments, at which precisions may not be positive.
///
/// # Errors
/// [`NumericError`] from the parts.
fn update(
    block: &mut dyn RowBlock,
    eq: &mut NormalEquations,
    around: &mut dyn Around,
    cx: &mut Context<'_>,
) -> Result<(), NumericError> {
    around.equations(block, eq)?;
    let kept = block.keep(eq.rows());
    match block.update(eq, Rule::Optimum, cx) {
        Err(NumericError::Linalg { .. }) => {
            // a log density that is not concave: uphill in the means alone
            put_back(block, &kept)?;
            equations_of_positive_precision(block, eq, around)?;
            block.update(eq, Rule::Optimum, cx)
        }
        done => done,
    }
}

/// Means of rows as they are, the rows themselves known.
fn known(block: &mut dyn RowBlock, rows: Range<usize>) -> Result<KeptRows, NumericError> {
    let kept = block.keep(rows).as_known();
    put_back(block, &kept)?;
    Ok(kept)
}

/// Brings rows that are known from where they are to the mode of their density, by steps of
/// Newton's method that may not lower it. A covariance would be no help on the way: it is that
/// of a place where a rate may be flat, and its half adds to the logarithm of that rate.
///
/// # Errors
/// [`NumericError`] from the parts.
fn to_the_mode(
    block: &mut dyn RowBlock,
    eq: &mut NormalEquations,
    around: &mut dyn Around,
    cx: &mut Context<'_>,
) -> Result<(), NumericError> {
    let rows = eq.rows();
    let mut before = Parts::of(block, rows.clone(), around, false);
    for _ in 0..TO_THE_MODE {
        let kept = block.keep(rows.clone()).as_known();
        let means = block.moments().mean().subrows(rows.start, rows.len());
        let means = means.to_owned();
        update(block, eq, around, cx)?;
        let far = moved(means.as_ref(), block.moments(), rows.clone());
        known(block, rows.clone())?;
        for trial in 0..=SHARES {
            let after = Parts::of(block, rows.clone(), around, false);
            let fell: Vec<bool> = (0..rows.len()).map(|i| after.fell(&before, i)).collect();
            if trial == SHARES || !fell.contains(&true) {
                before = after;
                break;
            }
            for (row, _) in rows.clone().zip(fell).filter(|(_, fell)| *fell) {
                block.retreat(&kept, row, share(trial + 1))?;
            }
        }
        if far < AT_THE_TOP {
            break;
        }
    }
    Ok(())
}

/// Brings rows from zero to the top of their bound. Neither where that is nor after how many steps
/// depends on what rows were before.
///
/// # Errors
/// [`NumericError`] from the parts.
fn climb(
    block: &mut dyn RowBlock,
    eq: &mut NormalEquations,
    around: &mut dyn Around,
    cx: &mut Context<'_>,
) -> Result<(), NumericError> {
    let rows = eq.rows();
    put_back(block, &KeptRows::zero(rows.clone(), eq.k()))?;
    to_the_mode(block, eq, around, cx)?;
    update(block, eq, around, cx)?;
    for _ in 0..TO_THE_TOP {
        around.equations(block, eq)?;
        let before = block.moments().mean().subrows(rows.start, rows.len());
        let before = before.to_owned();
        ascend(block, eq, Rule::Optimum, around, cx)?;
        if moved(before.as_ref(), block.moments(), rows.clone()) < AT_THE_TOP {
            break;
        }
    }
    Ok(())
}

/// Draws rows given everything else, where some of what is said of them are tangents: from
/// the conditional under tangents at a point that does not depend on what the rows were, and
/// with the probability that makes the draw exact (spec/sites 8, independence proposals);
/// else they stay. Rows that are no draw yet, as a chain's first are, have no place where they could:
/// where data say much, what a chain begins with is so far off that nothing would ever be accepted.
/// They stay at the top of what is said of them.
///
/// # Errors
/// [`NumericError`] from the parts, or where the rows are not drawn at once.
pub(in super::super) fn draw(
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
    let rows = eq.rows();
    let now = block.keep(rows.clone());
    // a draw is one of all rows: those behind are none yet
    let behind = block.keep(rows.end..block.moments().explicit_rows());
    climb(block, eq, around, cx)?;
    let now = if now.is_known() {
        now
    } else {
        block.keep(rows.clone()).as_known()
    };
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
        if u.ln() < there[i] - here[i] {
            block.retreat(&drawn, row, 0.0)?;
        }
    }
    if !behind.is_known() {
        put_back(block, &behind)?;
    }
    // what the terms hold is of the rows that there are
    around.values(block, rows);
    Ok(())
}

/// As [`to_the_mode`], for intercepts.
fn bias_to_the_mode(
    bias: &mut Bias,
    (precision, rhs): (&mut [f64], &mut [f64]),
    around: &mut AroundBias<'_>,
) {
    let columns = around.columns.clone();
    let prior = bias.prior_precision().unwrap_or(0.0);
    let levels = bias.prior_means(columns.clone());
    let parts = |bias: &Bias, around: &mut AroundBias<'_>| {
        let values = around.values(bias);
        let own = |((m, _), level): ((f64, f64), &f64)| -0.5 * prior * (m - level).powi(2);
        Parts {
            exact: vec![0.0; values.len()],
            values,
            own: (bias.of_columns(columns.clone()).into_iter().zip(&levels))
                .map(own)
                .collect(),
        }
    };
    let mut before = parts(bias, around);
    for _ in 0..TO_THE_MODE {
        let kept = bias.of_columns(columns.clone());
        around.equations(bias, precision, rhs);
        step(bias, (precision, rhs), around);
        let mut now = bias.of_columns(columns.clone());
        let far = furthest(&kept, &now);
        now.iter_mut().for_each(|b| b.1 = 0.0);
        bias.put_columns(columns.clone(), &now);
        for trial in 0..=SHARES {
            let after = parts(bias, around);
            let fell: Vec<bool> = (0..now.len()).map(|i| after.fell(&before, i)).collect();
            if trial == SHARES || !fell.contains(&true) {
                before = after;
                break;
            }
            for (i, _) in fell.into_iter().enumerate().filter(|(_, fell)| *fell) {
                now[i].0 = kept[i].0 + share(trial + 1) * (now[i].0 - kept[i].0);
            }
            bias.put_columns(columns.clone(), &now);
        }
        if far < AT_THE_TOP {
            break;
        }
    }
}

/// Moments of intercepts from their equations; of cells that curve upwards the step is that of the
/// prior's precision.
fn step(bias: &mut Bias, (precision, rhs): (&[f64], &[f64]), around: &AroundBias<'_>) {
    let columns = around.columns.clone();
    let now = bias.of_columns(columns.clone());
    let positive: Vec<f64> = precision.iter().map(|p| p.max(0.0)).collect();
    let lifted: Vec<f64> = (rhs.iter().zip(precision).zip(&positive).zip(&now))
        .map(|(((r, p), q), b)| r + (q - p) * b.0)
        .collect();
    bias.update(columns, &positive, &lifted);
}

/// Furthest that an intercept moved, in its standard deviations.
fn furthest(before: &[(f64, f64)], after: &[(f64, f64)]) -> f64 {
    let moved = before.iter().zip(after);
    let moved = moved.map(|(a, b)| (b.0 - a.0).abs() / b.1.sqrt());
    moved.fold(0.0, f64::max)
}

/// As [`draw`], for intercepts.
pub(in super::super) fn draw_bias(
    bias: &mut Bias,
    (precision, rhs): (&mut [f64], &mut [f64]),
    around: &mut AroundBias<'_>,
    cx: &mut Context<'_>,
) {
    let columns = around.columns.clone();
    let mut now = bias.of_columns(columns.clone());
    bias.put_columns(columns.clone(), &vec![(0.0, 0.0); now.len()]);
    bias_to_the_mode(bias, (precision, rhs), around);
    around.equations(bias, precision, rhs);
    step(bias, (precision, rhs), around);
    for _ in 0..TO_THE_TOP {
        around.equations(bias, precision, rhs);
        let before = bias.of_columns(columns.clone());
        ascend_bias(bias, (precision, rhs), around);
        if furthest(&before, &bias.of_columns(columns.clone())) < AT_THE_TOP {
            break;
        }
    }
    // what has a variance is no draw yet
    for (b, top) in now.iter_mut().zip(bias.of_columns(columns.clone())) {
        if b.1 > 0.0 {
            *b = (top.0, 0.0);
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
        // what is no number is not accepted
        if u.ln() < there[i] - here[i] {
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

//! The mode of rows whose equations are tangents, which draws are made around (spec/sites 8).

use std::ops::Range;

use polyview_core::{
    Bias, Context, KeptRows, NormalEquations, NumericError, RowBlock, RowMoments, Rule,
};
use polyview_linalg::MatRef;

use super::ascent::{equations_of_positive_precision, put_back, step};
use super::{Around, AroundBias, Parts};

/// Most steps from zero to the mode.
const STEPS: usize = 100;

/// Movement of a step, in standard deviations, below which the mode is reached.
const AT_THE_MODE: f64 = 0.03;

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

/// Puts rows at the mode of their density, known to be there, and returns them: from zero by steps
/// of Newton's method that may not lower it. Neither where that is nor after how many steps depends on
/// what the rows were. A covariance would be no help on the way: it is that of a place where a rate
/// may be flat, and its half adds to the logarithm of that rate.
///
/// # Errors
/// [`NumericError`] from the parts.
pub(super) fn to_the_mode(
    block: &mut dyn RowBlock,
    eq: &mut NormalEquations,
    around: &mut dyn Around,
    cx: &mut Context<'_>,
) -> Result<KeptRows, NumericError> {
    let rows = eq.rows();
    put_back(block, &KeptRows::zero(rows.clone(), eq.k()))?;
    // what terms know of samples until equations are asked for is of where these were
    around.equations(block, eq)?;
    let mut before = Parts::of(block, rows.clone(), around, false);
    for _ in 0..STEPS {
        let kept = block.keep(rows.clone()).as_known();
        let means = block.moments().mean().subrows(rows.start, rows.len());
        let means = means.to_owned();
        update(block, eq, around, cx)?;
        let far = moved(means.as_ref(), block.moments(), rows.clone());
        let known = block.keep(rows.clone()).as_known();
        put_back(block, &known)?;
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
        if far < AT_THE_MODE {
            break;
        }
    }
    Ok(block.keep(rows).as_known())
}

/// As [`to_the_mode`], for intercepts: their modes.
pub(super) fn bias_to_the_mode(
    bias: &mut Bias,
    (precision, rhs): (&mut [f64], &mut [f64]),
    around: &mut AroundBias<'_>,
) -> Vec<f64> {
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
    let count = bias.of_columns(columns.clone()).len();
    bias.put_columns(columns.clone(), &vec![(0.0, 0.0); count]);
    let mut before = parts(bias, around);
    for _ in 0..STEPS {
        let kept = bias.of_columns(columns.clone());
        around.equations(bias, precision, rhs);
        step(bias, (precision, rhs), around);
        let mut now = bias.of_columns(columns.clone());
        let far = furthest(&kept, &now);
        for b in &mut now {
            b.1 = 0.0;
        }
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
        if far < AT_THE_MODE {
            break;
        }
    }
    bias.of_columns(columns).iter().map(|b| b.0).collect()
}

/// Furthest that an intercept moved, in its standard deviations.
fn furthest(before: &[(f64, f64)], after: &[(f64, f64)]) -> f64 {
    let moved = before.iter().zip(after);
    let moved = moved.map(|(a, b)| (b.0 - a.0).abs() / b.1.sqrt());
    moved.fold(0.0, f64::max)
}

//! Steps that may not lower the objective (spec/sites 1.6).

use polyview_core::{Bias, Context, KeptRows, NormalEquations, NumericError, RowBlock, Rule};

use super::{Around, AroundBias, Parts};

/// Halvings after which a row stays where it was.
const HALVINGS: usize = 12;

/// Updates rows and puts those whose bound fell back half of the way, and again, until none
/// has: the direction leads uphill, so that this ends (spec/sites 1.6).
///
/// # Errors
/// [`NumericError`] from the parts.
pub(in super::super) fn ascend(
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

pub(super) fn equations_of_positive_precision(
    block: &dyn RowBlock,
    eq: &mut NormalEquations,
    around: &mut dyn Around,
) -> Result<(), NumericError> {
    around.be_positive(true);
    let done = around.equations(block, eq);
    around.be_positive(false);
    done
}

pub(super) fn put_back(block: &mut dyn RowBlock, kept: &KeptRows) -> Result<(), NumericError> {
    for row in kept.rows() {
        block.retreat(kept, row, 0.0)?;
    }
    Ok(())
}

/// As [`ascend`], for intercepts.
pub(in super::super) fn ascend_bias(
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
    step(bias, (precision, rhs), around);
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

/// Moments of intercepts from their equations; of cells that curve upwards the step is that of the
/// prior's precision.
pub(super) fn step(bias: &mut Bias, (precision, rhs): (&[f64], &[f64]), around: &AroundBias<'_>) {
    let columns = around.columns.clone();
    let now = bias.of_columns(columns.clone());
    let positive: Vec<f64> = precision.iter().map(|p| p.max(0.0)).collect();
    let lifted: Vec<f64> = (rhs.iter().zip(precision).zip(&positive).zip(&now))
        .map(|(((r, p), q), b)| r + (q - p) * b.0)
        .collect();
    bias.update(columns, &positive, &lifted);
}

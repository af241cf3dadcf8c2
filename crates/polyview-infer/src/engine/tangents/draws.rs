//! Draws around tangents: elliptical slices about the mode of what is said of rows (spec/sites 8).

use polyview_core::{Bias, Context, KeptRows, NormalEquations, NumericError, RowBlock};
use polyview_random::{ChaCha8Rng, StreamKey};

use super::ascent::{equations_of_positive_precision, put_back};
use super::mode::{bias_to_the_mode, to_the_mode};
use super::slices::{Exponents, angles, width};
use super::{Around, AroundBias, Parts, quadratic};

/// Draws from the conditional of rows under equations, of which they may take the buffers.
///
/// # Errors
/// [`NumericError`] from the parts.
fn drawn(
    block: &mut dyn RowBlock,
    said: &NormalEquations,
    cx: &mut Context<'_>,
) -> Result<KeptRows, NumericError> {
    block.draw(&mut said.clone(), cx)?;
    Ok(block.keep(said.rows()))
}

/// Moves rows given everything else, where some of what is said of them are tangents, so that their
/// conditional stays what it is (spec/sites 8, elliptical slices). The reference is normal about the mode,
/// with the covariance of the tangents there, widened ([`width`]): it does not depend on what the rows were.
/// Rows that are no draw yet, as a chain's first are, begin at the mode: where data say much, what a chain
/// begins with is so far off that a slice would take thousands of sweeps.
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
    let mode = to_the_mode(block, eq, around, cx)?;
    let now = if now.is_known() { now } else { mode.clone() };
    around.equations(block, eq)?;
    // the difference of two draws has twice their covariance
    let first = match drawn(block, eq, cx) {
        Err(NumericError::Linalg { .. }) => {
            put_back(block, &mode)?;
            equations_of_positive_precision(block, eq, around)?;
            drawn(block, eq, cx)?
        }
        first => first?,
    };
    let key = cx.key;
    cx.key = another(key);
    let second = drawn(block, eq, cx);
    cx.key = key;
    let second = second?;

    let width = width(block.moments().k());
    let size = (0.5 * width).sqrt();
    // along (w − c) and along e, for each row
    let place = |along: &[(f64, f64)]| -> KeptRows {
        let back: Vec<f64> = along.iter().map(|a| a.0).collect();
        let up: Vec<f64> = along.iter().map(|a| size * a.1).collect();
        let down: Vec<f64> = up.iter().map(|x| -x).collect();
        mode.moved(&[(&now, &back), (&first, &up), (&second, &down)])
    };
    let mut exponent = |along: (f64, f64)| -> Result<Vec<f64>, NumericError> {
        let mut at = |along: (f64, f64)| -> Result<Vec<f64>, NumericError> {
            put_back(block, &place(&vec![along; rows.len()]))?;
            let own = block.row_bounds(rows.clone());
            let said = quadratic(block.seen(), eq);
            Ok(own.iter().zip(said).map(|(a, b)| a + b).collect())
        };
        let (up, down, middle) = (at(along)?, at((-along.0, -along.1))?, at((0.0, 0.0))?);
        let of = |i: usize| 0.5 * (up[i] + down[i]) - middle[i];
        Ok((0..rows.len()).map(of).collect())
    };
    let (here, there, both) = (
        exponent((1.0, 0.0))?,
        exponent((0.0, 1.0))?,
        exponent((1.0, 1.0))?,
    );
    let exponents: Vec<Exponents> = (0..rows.len())
        .map(|i| Exponents {
            here: here[i],
            there: there[i],
            both: both[i],
        })
        .collect();
    let on_ellipse = |angles: &[f64]| {
        let along: Vec<(f64, f64)> = angles.iter().map(|a| (a.cos(), a.sin())).collect();
        place(&along)
    };
    let rngs = rows.clone().map(|row| chance(key, row)).collect();
    let angles = angles(rngs, &exponents, width, |angles| {
        put_back(block, &on_ellipse(angles))?;
        Ok(Parts::of(block, rows.clone(), around, false).sums())
    })?;
    put_back(block, &on_ellipse(&angles))?;
    if !behind.is_known() {
        put_back(block, &behind)?;
    }
    // what the terms hold is of the rows that there are
    around.values(block, rows);
    Ok(())
}

/// As [`draw`], for intercepts.
pub(in super::super) fn draw_bias(
    bias: &mut Bias,
    (precision, rhs): (&mut [f64], &mut [f64]),
    around: &mut AroundBias<'_>,
    cx: &mut Context<'_>,
) {
    let columns = around.columns.clone();
    let Some(prior) = bias.prior_precision() else {
        return;
    };
    let levels = bias.prior_means(columns.clone());
    let now = bias.of_columns(columns.clone());
    let mode = bias_to_the_mode(bias, (precision, rhs), around);
    around.equations(bias, precision, rhs);
    for p in precision.iter_mut() {
        *p = p.max(0.0);
    }
    bias.draw(columns.clone(), precision, rhs, cx.key);
    let drawn = bias.of_columns(columns.clone());
    let width = width(1);
    // one that has a variance is no draw yet, or, of those just drawn, no datum's
    let here: Vec<f64> = (now.iter().zip(&mode))
        .map(|(b, mode)| if b.1 > 0.0 { 0.0 } else { b.0 - mode })
        .collect();
    let there: Vec<f64> = (drawn.iter().zip(&levels).enumerate())
        .map(|(i, (b, level))| {
            let mean = (rhs[i] + prior * level) / (prior + precision[i]);
            width.sqrt() * (b.0 - mean)
        })
        .collect();
    let exponents: Vec<Exponents> = (0..now.len())
        .map(|i| {
            let of = |step: f64| -0.5 * (prior + precision[i]) * step * step;
            Exponents {
                here: of(here[i]),
                there: of(there[i]),
                both: of(here[i] + there[i]),
            }
        })
        .collect();
    let on_ellipse = |angles: &[f64]| -> Vec<(f64, f64)> {
        let place = |(i, a): (usize, &f64)| match drawn[i] {
            idle if idle.1 > 0.0 => idle,
            _ => (mode[i] + here[i] * a.cos() + there[i] * a.sin(), 0.0),
        };
        angles.iter().enumerate().map(place).collect()
    };
    let each = columns.start * bias.per_column();
    let rngs = (0..now.len()).map(|i| chance(cx.key, each + i)).collect();
    let density = |angles: &[f64]| {
        let places = on_ellipse(angles);
        bias.put_columns(columns.clone(), &places);
        let values = around.values(bias).into_iter().zip(&places).zip(&levels);
        let density = values.map(|((f, b), level)| f - 0.5 * prior * (b.0 - level).powi(2));
        Ok::<_, std::convert::Infallible>(density.collect())
    };
    let Ok(angles) = angles(rngs, &exponents, width, density);
    let places = on_ellipse(&angles);
    bias.put_columns(columns, &places);
}

/// Stream of the slice of a row: the upper half of the chunks, the lower belongs to the draws.
fn chance(key: StreamKey, row: usize) -> ChaCha8Rng {
    key.chunk((1 << 31) | row as u32).rng()
}

/// Stream of the other of two draws.
fn another(key: StreamKey) -> StreamKey {
    key.chain(key.chain | (1 << 29))
}

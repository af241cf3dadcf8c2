//! What one component of a fit says of the quantities that are compared.

use polyview_core::{Bias, Identified, Predictor, RowCov, RowMoments};
use polyview_linalg::{Mat, PackedRows};

use super::Places;
use crate::fit::{Component, ComponentView};

/// Mean and variance of the predictor at each cell, column after column, as far as
/// the data see it.
pub(super) fn predictors(component: &Component, places: &Places) -> Vec<(f64, f64)> {
    let part = &component.views[places.view];
    let shape = part.term.shape();
    let columns = shape.predicted_columns();
    let centred;
    let seen = component.seen(component.factors());
    let factors: &RowMoments = if part.term.has_intercepts() {
        &seen
    } else {
        // only differences between samples count
        centred = about_the_mean(&seen);
        &centred
    };
    let classes;
    let (weights, bias) = if part.term.identified(0) == Identified::BetweenColumns {
        // and a shift of all classes is none
        classes = about_the_mean_class(part);
        (&classes.0, &classes.1)
    } else {
        (part.seen(), &part.bias)
    };
    let p = Predictor {
        factors,
        weights,
        bias,
    };
    let known = matches!((factors.cov(), weights.cov()), (RowCov::Zero, RowCov::Zero))
        && bias.variance().iter().all(|v| *v == 0.0);
    let cell = |n: usize, d: usize| {
        let variance = if known {
            0.0
        } else {
            p.variance(n..n + 1, d..d + 1)[(0, 0)]
        };
        (p.mean_cell(n, d), variance)
    };
    let shares = component.factors.shares();
    let shares = shares.filter(|_| shape.components.is_some());
    let mut out = Vec::with_capacity(places.columns.len() * places.samples.len());
    for &d in &places.columns {
        for &n in &places.samples {
            let Some(shares) = shares else {
                out.push(cell(n, d));
                continue;
            };
            let (mut mean, mut square) = (0.0, 0.0);
            for t in (0..shares.ncols()).filter(|&t| shares[(n, t)] > 0.0) {
                let (m, v) = cell(n, t * columns + d);
                mean += shares[(n, t)] * m;
                square += shares[(n, t)] * (v + m * m);
            }
            out.push((mean, (square - mean * mean).max(0.0)));
        }
    }
    out
}

/// Rows about their mean, their covariances as they are.
fn about_the_mean(rows: &RowMoments) -> RowMoments {
    let mut out = rows.clone();
    let (mean, _, _) = out.parts_mut();
    let count = mean.nrows().max(1) as f64;
    for k in 0..mean.ncols() {
        let column = mean.col_as_slice_mut(k);
        let centre = column.iter().sum::<f64>() / count;
        for x in column {
            *x -= centre;
        }
    }
    out
}

/// Weights and intercepts of classes about their means over the classes: the rows
/// are independent, $\mathrm{Cov}(w\_c - \bar w) = (1 - 2/C) S\_c + C^{-2}\sum
/// S\_j$.
fn about_the_mean_class(part: &ComponentView) -> (RowMoments, Bias) {
    let of_part = part.seen();
    let (classes, k) = (of_part.explicit_rows(), of_part.k());
    let count = classes.max(1) as f64;
    let centred = about_the_mean(of_part);
    let weights = if matches!(of_part.cov(), RowCov::Zero) {
        centred
    } else {
        let all = of_part.cov_sum(None);
        let mut cov = PackedRows::zeros(classes, k);
        for c in 0..classes {
            let mut own = of_part.row_cov(c);
            own.scale(1.0 - 2.0 / count);
            own.add_scaled(1.0 / (count * count), &all);
            cov.row_mut(c).copy_from_slice(own.as_slice());
        }
        let mean: Mat<f64> = centred.mean().to_owned();
        RowMoments::new(mean, RowCov::PerRow(cov), 0.0, 0)
    };
    let mut bias = part.bias.clone();
    let (mut mean, mut variance) = (bias.mean().to_vec(), bias.variance().to_vec());
    // those of each group of samples in turn
    for (m, v) in mean
        .chunks_mut(classes.max(1))
        .zip(variance.chunks_mut(classes.max(1)))
    {
        let centre = m.iter().sum::<f64>() / count;
        let all = v.iter().sum::<f64>() / (count * count);
        for (m, v) in m.iter_mut().zip(v) {
            *m -= centre;
            *v = *v * (1.0 - 2.0 / count) + all;
        }
    }
    bias.set(mean, variance);
    (weights, bias)
}

/// Mean and variance of $|w\_d|^2$, a row of independent normal or known entries:
/// $|m|^2 + \mathrm{tr}\\,S$ and $2\\,\mathrm{tr}\\,S^2 + 4m^\top Sm$.
pub(super) fn squared_length(weights: &RowMoments, row: usize) -> (f64, f64) {
    let mean: Vec<f64> = (0..weights.k()).map(|k| weights.mean()[(row, k)]).collect();
    let own: f64 = mean.iter().map(|x| x * x).sum();
    if matches!(weights.cov(), RowCov::Zero) {
        return (own, 0.0);
    }
    let cov = weights.row_cov(row);
    (
        own + cov.trace(),
        2.0 * cov.dot(&cov) + 4.0 * cov.quad(&mean),
    )
}

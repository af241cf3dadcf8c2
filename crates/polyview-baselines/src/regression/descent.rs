//! Log losses, brought down along a path of penalties.

use polyview_linalg::{Mat, MatRef, cross};

use super::{Kind, place, rows, scores, splits};
use crate::minimise::minimise_along;

/// Penalties in a row that are worse than the best before the rest is given up. As long as the strongest is the best none is: what hangs
/// on directions in which features vary little is found by weak penalties alone, and those before fit chance along the others.
const PATIENCE: usize = 4;

/// Penalty of the intercepts of labels and classes: a little, which keeps a label finite that every sample has.
pub(super) const INTERCEPT: f64 = 1e-3;

/// Slopes that are zero, in units in which the curvature is one, by the root of the number of samples: the loss of a sample is then above
/// its least by half the square of it for each coefficient.
pub(super) const TOLERANCE: f64 = 1e-7;

/// One label, or all classes, with the penalty of least log loss, and what is said of each sample by the fit
/// without its fold; each answer starts the next weaker one.
pub(super) fn smooth(
    kind: Kind,
    x: MatRef<'_, f64>,
    y: MatRef<'_, f64>,
    path: &[f64],
    fold: &[usize],
) -> (Mat<f64>, f64, Mat<f64>) {
    let zeros = || Mat::zeros(1 + x.ncols(), y.ncols());
    let splits = splits(fold);
    let halves: Vec<[Mat<f64>; 4]> = splits
        .iter()
        .map(|(inside, outside)| {
            [
                rows(x, outside),
                rows(y, outside),
                rows(x, inside),
                rows(y, inside),
            ]
        })
        .collect();
    let mut starts: Vec<Mat<f64>> = halves.iter().map(|_| zeros()).collect();
    let (best, held) = least_loss(
        path,
        (x.nrows(), y.ncols()),
        splits.len(),
        |penalty, said| {
            let mut sum = 0.0;
            let of_folds = halves.iter().zip(&splits).zip(&mut starts);
            for (([seen, known, new, truth], (inside, _)), start) in of_folds {
                *start = fitted(kind, seen.as_ref(), known.as_ref(), penalty, start);
                let score = scores(new.as_ref(), start);
                for d in 0..y.ncols() {
                    place(&score, d, inside, (said, d));
                }
                sum += (0..score.nrows())
                    .map(|n| loss(kind, truth.as_ref(), &score, n))
                    .sum::<f64>();
            }
            sum
        },
    );
    let mut beta = zeros();
    for penalty in &path[..=best] {
        beta = fitted(kind, x, y, *penalty, &beta);
    }
    (beta, path[best], held)
}

/// The place in a path of the penalty of least loss on folds, and what is said under it of the samples (samples × targets) by the
/// fits without their folds: `loss` says the one and fills in the other. The first penalty where there are no folds.
pub(super) fn least_loss(
    path: &[f64],
    (samples, targets): (usize, usize),
    folds: usize,
    mut loss: impl FnMut(f64, &mut Mat<f64>) -> f64,
) -> (usize, Mat<f64>) {
    let unsaid = || Mat::full(samples, targets, f64::NAN);
    let (mut best, mut held) = ((0, f64::INFINITY), unsaid());
    if folds == 0 {
        return (0, held);
    }
    let mut worse = 0;
    for (place, penalty) in path.iter().enumerate() {
        let mut said = unsaid();
        let sum = loss(*penalty, &mut said);
        if sum < best.1 {
            (best, held, worse) = ((place, sum), said, 0);
        } else if best.0 > 0 {
            worse += 1;
        }
        if worse == PATIENCE {
            break;
        }
    }
    (best.0, held)
}

/// Minus the log likelihood of a sample.
pub(super) fn loss(kind: Kind, y: MatRef<'_, f64>, score: &Mat<f64>, n: usize) -> f64 {
    if kind == Kind::Multinomial {
        let of_truth: f64 = (0..y.ncols()).map(|c| y[(n, c)] * score[(n, c)]).sum();
        return ln_sum_exp(score, n) - of_truth;
    }
    softplus(score[(n, 0)]) - y[(n, 0)] * score[(n, 0)]
}

/// The coefficients of one penalty.
fn fitted(
    kind: Kind,
    x: MatRef<'_, f64>,
    y: MatRef<'_, f64>,
    penalty: f64,
    start: &Mat<f64>,
) -> Mat<f64> {
    let (n, p, c) = (x.nrows(), x.ncols(), y.ncols());
    let weight = |i: usize| if i == 0 { INTERCEPT } else { penalty };
    let unpacked = |b: &[f64]| Mat::from_fn(1 + p, c, |i, d| b[d * (1 + p) + i]);
    let function = |b: &[f64]| {
        let score = scores(x, &unpacked(b));
        let mut value: f64 = (0..n).map(|n| loss(kind, y, &score, n)).sum();
        let mut residual = score;
        for n in 0..n {
            if kind == Kind::Multinomial {
                let ln_sum = ln_sum_exp(&residual, n);
                for d in 0..c {
                    residual[(n, d)] = (residual[(n, d)] - ln_sum).exp() - y[(n, d)];
                }
            } else {
                residual[(n, 0)] = logistic_of(residual[(n, 0)]) - y[(n, 0)];
            }
        }
        let of_features = cross(x, residual.as_ref());
        let mut slope = vec![0.0; b.len()];
        for d in 0..c {
            for i in 0..=p {
                let at = d * (1 + p) + i;
                let data = if i == 0 {
                    residual.col_as_slice(d).iter().sum()
                } else {
                    of_features[(i - 1, d)]
                };
                slope[at] = data + weight(i) * b[at];
                value += 0.5 * weight(i) * b[at] * b[at];
            }
        }
        (value, slope)
    };
    let bend = bends(kind, x, start);
    let curvature: Vec<f64> = (0..c)
        .flat_map(|d| (0..=p).map(move |i| (i, d)))
        .map(|(i, d)| bend[(i, d)] + weight(i))
        .collect();
    let start: Vec<f64> = (0..c)
        .flat_map(|d| start.col_as_slice(d).to_vec())
        .collect();
    let tolerance = TOLERANCE * (n as f64).sqrt();
    unpacked(&minimise_along(start, &curvature, tolerance, function))
}

/// Second derivatives of the log loss along each coefficient, intercepts first, about these ones: sums of the squares of a feature, each with
/// the mean variance of what is predicted.
fn bends(kind: Kind, x: MatRef<'_, f64>, at: &Mat<f64>) -> Mat<f64> {
    let score = scores(x, at);
    let n = x.nrows() as f64;
    let variance = |d: usize| {
        let of = |n: usize| {
            let p = if kind == Kind::Multinomial {
                (score[(n, d)] - ln_sum_exp(&score, n)).exp()
            } else {
                logistic_of(score[(n, d)])
            };
            p * (1.0 - p)
        };
        (0..x.nrows()).map(of).sum::<f64>() / n
    };
    let variances: Vec<f64> = (0..at.ncols()).map(variance).collect();
    let squares = squares_of_columns(x);
    Mat::from_fn(at.nrows(), at.ncols(), |i, d| {
        variances[d] * if i == 0 { n } else { squares[i - 1] }
    })
}

/// Sums of the squares of each feature.
pub(super) fn squares_of_columns(x: MatRef<'_, f64>) -> Vec<f64> {
    let of = |i: usize| (0..x.nrows()).map(|n| x[(n, i)] * x[(n, i)]).sum();
    (0..x.ncols()).map(of).collect()
}

pub(super) fn logistic_of(s: f64) -> f64 {
    1.0 / (1.0 + (-s).exp())
}

/// $\ln(1 + e^s)$ without overflow.
pub(super) fn softplus(s: f64) -> f64 {
    s.max(0.0) + (-s.abs()).exp().ln_1p()
}

/// $\ln\sum\_c e^{s\_{nc}}$ without overflow.
pub(super) fn ln_sum_exp(score: &Mat<f64>, n: usize) -> f64 {
    let row = || (0..score.ncols()).map(|c| score[(n, c)]);
    let most = row().fold(f64::NEG_INFINITY, f64::max);
    most + row().map(|s| (s - most).exp()).sum::<f64>().ln()
}

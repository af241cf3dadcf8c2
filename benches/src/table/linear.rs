//! What to beat: ridge and logistic regression, on the inputs or on components
//! of them, each penalty chosen by cross-validation on the training samples
//! (spec/sshiba 6.3).

use std::error::Error;

use polyview_core::Table;
use polyview_linalg::{LinalgError, Mat, MatRef, column_sums, gram, solve_spd, times_small};
use polyview_mva::{Metric, MvaError, opls, pca};

use super::folds::{parts, stratified};

/// Which of the two.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Linear {
    /// Least squares with a penalty; scores, no probabilities.
    Ridge,
    /// Logistic regression with a penalty.
    Logistic,
}

/// What a linear model sees of the inputs.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Inputs {
    /// All of them.
    All,
    /// The principal components that hold 95 % of the variance.
    Principal,
    /// The canonical components of inputs and labels.
    Canonical,
}

const VARIANCE: f64 = 0.95;
const PENALTIES: [f64; 8] = [0.1, 1.0, 10.0, 30.0, 100.0, 300.0, 1000.0, 10_000.0];
const FOLDS: usize = 5;

/// Inputs side by side, standardised by the training samples; missing cells
/// take the training mean. Returns training and test inputs, each with a
/// column of ones in front.
pub fn design(train: &[&Table], test: &[&Table]) -> (Mat<f64>, Mat<f64>) {
    let (mut a, mut b) = (Vec::new(), Vec::new());
    for (t, s) in train.iter().zip(test) {
        for d in 0..t.values.ncols() {
            let x = t.values.col_as_slice(d);
            let seen: Vec<f64> = x.iter().copied().filter(|v| !v.is_nan()).collect();
            let n = seen.len().max(1) as f64;
            let mean = seen.iter().sum::<f64>() / n;
            let sd = (seen.iter().map(|v| (v - mean).powi(2)).sum::<f64>() / n).sqrt();
            let sd = if sd > 0.0 { sd } else { 1.0 };
            let work = |v: &f64| if v.is_nan() { 0.0 } else { (v - mean) / sd };
            a.push(x.iter().map(work).collect::<Vec<f64>>());
            b.push(s.values.col_as_slice(d).iter().map(work).collect());
        }
    }
    let side_by_side = |columns: Vec<Vec<f64>>, rows: usize| {
        Mat::from_fn(rows, columns.len() + 1, |n, d| {
            if d == 0 { 1.0 } else { columns[d - 1][n] }
        })
    };
    let rows = |t: &[&Table]| t.first().map_or(0, |t| t.values.nrows());
    (side_by_side(a, rows(train)), side_by_side(b, rows(test)))
}

/// Training and test inputs of [`design`] as a linear model is to see them,
/// again with a column of ones in front.
///
/// # Errors
/// When a decomposition fails.
pub fn reduced(
    inputs: Inputs,
    x: Mat<f64>,
    y: MatRef<'_, f64>,
    new: Mat<f64>,
) -> Result<(Mat<f64>, Mat<f64>), MvaError> {
    let features = |m: &Mat<f64>| m.subcols(1, m.ncols() - 1).to_owned();
    let (a, b) = (features(&x), features(&new));
    let (projection, components) = match inputs {
        Inputs::All => return Ok((x, new)),
        Inputs::Principal => {
            let all = pca(a.as_ref(), a.ncols())?;
            let mut sum = 0.0;
            let few = all.shares.iter().take_while(|s| {
                let before = sum;
                sum += **s;
                before < VARIANCE
            });
            let few = few.count();
            (all.projection, few)
        }
        Inputs::Canonical => {
            let fit = opls(a.as_ref(), y, y.ncols(), Metric::Correlation, 0.0)?;
            (fit.projection, fit.eigenvalues.len())
        }
    };
    let with_ones = |scores: Mat<f64>| {
        Mat::from_fn(scores.nrows(), components + 1, |n, k| {
            if k == 0 { 1.0 } else { scores[(n, k - 1)] }
        })
    };
    Ok((
        with_ones(projection.project(a.as_ref())?),
        with_ones(projection.project(b.as_ref())?),
    ))
}

/// Labels by canonical correlation alone: the least-squares approximation of
/// the indicators by the canonical components.
///
/// # Errors
/// When a decomposition fails.
pub fn canonical(
    x: MatRef<'_, f64>,
    y: MatRef<'_, f64>,
    new: MatRef<'_, f64>,
) -> Result<Mat<f64>, MvaError> {
    let (n, c) = (y.nrows(), y.ncols());
    let mean: Vec<f64> = column_sums(y).iter().map(|s| s / n as f64).collect();
    let centred = Mat::from_fn(n, c, |i, j| y[(i, j)] - mean[j]);
    let features = |m: MatRef<'_, f64>| m.subcols(1, m.ncols() - 1).to_owned();
    let fit = opls(
        features(x).as_ref(),
        centred.as_ref(),
        c,
        Metric::Correlation,
        0.0,
    )?;
    let scores = fit.projection.project(features(new).as_ref())?;
    let part = times_small(scores.as_ref(), fit.targets.transpose());
    Ok(Mat::from_fn(part.nrows(), c, |i, j| mean[j] + part[(i, j)]))
}

/// Fits every column of `y` to `x` and scores the rows of `new`; per label the
/// penalty of the least cross-validated loss.
///
/// # Errors
/// When an equation cannot be solved.
pub fn fit_and_score(
    kind: Linear,
    x: MatRef<'_, f64>,
    y: MatRef<'_, f64>,
    new: MatRef<'_, f64>,
) -> Result<Mat<f64>, Box<dyn Error>> {
    let fold = stratified(y, FOLDS.min(x.nrows()), 1);
    let mut losses = Mat::<f64>::zeros(PENALTIES.len(), y.ncols());
    for f in 0..FOLDS.min(x.nrows()) {
        let (inside, outside) = parts(&fold, f);
        let (xs, ys) = (rows(x, &outside), rows(y, &outside));
        let (xt, yt) = (rows(x, &inside), rows(y, &inside));
        let path = coefficients(kind, xs.as_ref(), ys.as_ref())?;
        for (p, beta) in path.iter().enumerate() {
            let score = times_small(xt.as_ref(), beta.as_ref());
            for d in 0..y.ncols() {
                for n in 0..inside.len() {
                    losses[(p, d)] += loss(kind, yt[(n, d)], score[(n, d)]);
                }
            }
        }
    }
    let path = coefficients(kind, x, y)?;
    let mut chosen = Mat::zeros(x.ncols(), y.ncols());
    for d in 0..y.ncols() {
        let best = (0..PENALTIES.len()).fold(0, |best, p| {
            if losses[(p, d)] < losses[(best, d)] {
                p
            } else {
                best
            }
        });
        chosen
            .col_as_slice_mut(d)
            .copy_from_slice(path[best].col_as_slice(d));
    }
    let mut score = times_small(new, chosen.as_ref());
    if kind == Linear::Logistic {
        for d in 0..score.ncols() {
            for s in score.col_as_slice_mut(d) {
                *s = logistic(*s);
            }
        }
    }
    Ok(score)
}

fn logistic(s: f64) -> f64 {
    1.0 / (1.0 + (-s).exp())
}

/// $\ln(1 + e^s)$ without overflow.
fn softplus(s: f64) -> f64 {
    s.max(0.0) + (-s.abs()).exp().ln_1p()
}

fn loss(kind: Linear, y: f64, score: f64) -> f64 {
    match kind {
        Linear::Ridge => (y - score).powi(2),
        Linear::Logistic => softplus(score) - y * score,
    }
}

fn rows(x: MatRef<'_, f64>, keep: &[usize]) -> Mat<f64> {
    Mat::from_fn(keep.len(), x.ncols(), |n, d| x[(keep[n], d)])
}

/// Coefficients for every penalty, in the order of [`PENALTIES`].
fn coefficients(
    kind: Linear,
    x: MatRef<'_, f64>,
    y: MatRef<'_, f64>,
) -> Result<Vec<Mat<f64>>, LinalgError> {
    match kind {
        Linear::Ridge => {
            let product = gram(x).to_mat();
            let rhs = times_small(x.transpose(), y);
            PENALTIES
                .iter()
                .map(|p| solve_spd(penalised(product.clone(), *p).as_ref(), rhs.as_ref()))
                .collect()
        }
        Linear::Logistic => {
            let mut out = vec![Mat::zeros(x.ncols(), y.ncols()); PENALTIES.len()];
            for d in 0..y.ncols() {
                let labels: Vec<f64> = (0..y.nrows()).map(|n| y[(n, d)]).collect();
                let mut beta = Mat::zeros(x.ncols(), 1);
                // strongest penalty first: each answer starts the next
                for p in (0..PENALTIES.len()).rev() {
                    beta = newton(x, &labels, PENALTIES[p], beta)?;
                    out[p]
                        .col_as_slice_mut(d)
                        .copy_from_slice(beta.col_as_slice(0));
                }
            }
            Ok(out)
        }
    }
}

/// Adds the penalty to all but the intercept; a little to that too, which
/// keeps a label that every sample has finite.
fn penalised(mut a: Mat<f64>, penalty: f64) -> Mat<f64> {
    a[(0, 0)] += 1e-3;
    for i in 1..a.nrows() {
        a[(i, i)] += penalty;
    }
    a
}

/// Minimises $\sum\_n \ln(1 + e^{s\_n}) - y\_n s\_n + \tfrac12 \lambda
/// \lVert\beta\rVert^2$ by Newton steps, halved until they descend.
fn newton(
    x: MatRef<'_, f64>,
    y: &[f64],
    penalty: f64,
    start: Mat<f64>,
) -> Result<Mat<f64>, LinalgError> {
    let weight = |i: usize| if i == 0 { 1e-3 } else { penalty };
    let value = |beta: &Mat<f64>| {
        let s = times_small(x, beta.as_ref());
        let data: f64 = (0..y.len())
            .map(|n| loss(Linear::Logistic, y[n], s[(n, 0)]))
            .sum();
        let size: f64 = (0..x.ncols())
            .map(|i| weight(i) * beta[(i, 0)].powi(2))
            .sum();
        data + 0.5 * size
    };
    let mut beta = start;
    let mut now = value(&beta);
    for _ in 0..50 {
        let s = times_small(x, beta.as_ref());
        let p: Vec<f64> = (0..y.len()).map(|n| logistic(s[(n, 0)])).collect();
        let scaled = Mat::from_fn(x.nrows(), x.ncols(), |n, i| {
            x[(n, i)] * (p[n] * (1.0 - p[n])).sqrt()
        });
        let hessian = penalised(gram(scaled.as_ref()).to_mat(), penalty);
        let residual = Mat::from_fn(x.nrows(), x.ncols(), |n, i| (y[n] - p[n]) * x[(n, i)]);
        let gradient = column_sums(residual.as_ref());
        let rhs = Mat::from_fn(x.ncols(), 1, |i, _| gradient[i] - weight(i) * beta[(i, 0)]);
        let step = solve_spd(hessian.as_ref(), rhs.as_ref())?;
        let decrement: f64 = (0..x.ncols()).map(|i| step[(i, 0)] * rhs[(i, 0)]).sum();
        let mut length = 1.0;
        loop {
            let next = Mat::from_fn(x.ncols(), 1, |i, _| beta[(i, 0)] + length * step[(i, 0)]);
            let then = value(&next);
            if then <= now || length < 1e-6 {
                (beta, now) = (next, then);
                break;
            }
            length *= 0.5;
        }
        if decrement < 1e-8 {
            break;
        }
    }
    Ok(beta)
}

#[cfg(test)]
mod tests {
    use polyview_random::{StreamKey, standard_normal, uniform_open01};

    use super::*;

    fn simulated(n: usize) -> (Mat<f64>, Vec<f64>) {
        let mut rng = StreamKey::new(3).rng();
        let x = Mat::from_fn(n, 4, |_, d| {
            if d == 0 {
                1.0
            } else {
                standard_normal(&mut rng)
            }
        });
        let y = (0..n)
            .map(|n| {
                let s = 0.5 + 2.0 * x[(n, 1)] - x[(n, 2)];
                f64::from(u8::from(uniform_open01(&mut rng) < logistic(s)))
            })
            .collect();
        (x, y)
    }

    #[test]
    fn the_gradient_vanishes_at_the_answer() {
        let (x, y) = simulated(300);
        let beta = newton(x.as_ref(), &y, 10.0, Mat::zeros(4, 1)).unwrap();
        let s = times_small(x.as_ref(), beta.as_ref());
        for i in 0..4 {
            let data: f64 = (0..300)
                .map(|n| (y[n] - logistic(s[(n, 0)])) * x[(n, i)])
                .sum();
            let penalty = if i == 0 { 1e-3 } else { 10.0 };
            assert!((data - penalty * beta[(i, 0)]).abs() < 1e-3, "{i}");
        }
    }

    #[test]
    fn both_find_the_signal_and_ridge_is_the_mean_under_a_huge_penalty() {
        let (x, y) = simulated(400);
        let y = Mat::from_fn(400, 1, |n, _| y[n]);
        let truth: Vec<bool> = (0..400).map(|n| y[(n, 0)] == 1.0).collect();
        for kind in [Linear::Ridge, Linear::Logistic] {
            let s = fit_and_score(kind, x.as_ref(), y.as_ref(), x.as_ref()).unwrap();
            let auc = polyview::metrics::auc(&truth, s.col_as_slice(0))
                .unwrap()
                .unwrap();
            assert!(auc > 0.85, "{auc}");
        }
        let path = coefficients(Linear::Ridge, x.as_ref(), y.as_ref()).unwrap();
        let last = &path[PENALTIES.len() - 1];
        let mean = (0..400).map(|n| y[(n, 0)]).sum::<f64>() / 400.0;
        assert!((last[(0, 0)] - mean).abs() < 0.01 && last[(1, 0)].abs() < 0.02);
    }

    #[test]
    fn components_of_all_the_variance_lose_nothing_and_cca_finds_the_label() {
        let (x, y) = simulated(400);
        let y = Mat::from_fn(400, 1, |n, _| y[n]);
        let (a, b) = reduced(Inputs::Canonical, x.clone(), y.as_ref(), x.clone()).unwrap();
        assert_eq!((a.ncols(), a.clone()), (2, b));
        let (a, _) = reduced(Inputs::Principal, x.clone(), y.as_ref(), x.clone()).unwrap();
        assert_eq!(a.ncols(), x.ncols());
        let truth: Vec<bool> = (0..400).map(|n| y[(n, 0)] == 1.0).collect();
        let s = canonical(x.as_ref(), y.as_ref(), x.as_ref()).unwrap();
        let auc = polyview::metrics::auc(&truth, s.col_as_slice(0)).unwrap();
        assert!(auc.unwrap() > 0.85);
    }

    #[test]
    fn missing_cells_take_the_training_mean() {
        let t = Table {
            name: "x".into(),
            samples: vec!["a".into(), "b".into(), "c".into()],
            features: vec!["f".into()],
            values: Mat::from_fn(3, 1, |n, _| [1.0, f64::NAN, 3.0][n]),
            levels: Vec::new(),
        };
        let (a, _) = design(&[&t], &[&t]);
        assert_eq!([a[(0, 1)], a[(1, 1)], a[(2, 1)]], [-1.0, 0.0, 1.0]);
    }
}

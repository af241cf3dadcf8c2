//! Factor data seen through monotone distortions (spec/maxmargin-rank V6).

use polyview_core::View;
use polyview_infer::{Start, start_factors};
use polyview_likelihoods::normal_scores;
use polyview_linalg::{FilledBlock, FilledColumns, Mat, SymPacked, gram, solve_spd};
use polyview_random::{StreamKey, standard_normal, uniform_open01};

use crate::{column_squares, normal};

/// Three factors, half of the loadings zero, noise .3; feature `d` of sample
/// `n` is `bend(d, y)` of what these give. Returns the true factors as well.
pub fn bent(
    samples: usize,
    features: usize,
    seed: u64,
    bend: impl Fn(usize, f64) -> f64,
) -> (View, Mat<f64>) {
    let mut rng = StreamKey::new(seed).rng();
    let z = normal(samples, 3, &mut rng);
    let w = Mat::from_fn(features, 3, |_, _| {
        let w = standard_normal(&mut rng);
        if uniform_open01(&mut rng) < 0.5 {
            w
        } else {
            0.0
        }
    });
    let x = Mat::from_fn(samples, features, |n, d| {
        let eta: f64 = (0..3).map(|k| z[(n, k)] * w[(d, k)]).sum();
        bend(d, eta + 0.3 * standard_normal(&mut rng))
    });
    let names = (0..features).map(|d| format!("f{d}")).collect();
    (View::from_values("ranks", names, x).expect("finite"), z)
}

/// [`bent`] by four strictly monotone functions in turn.
pub fn distorted(samples: usize, features: usize, seed: u64) -> (View, Mat<f64>) {
    bent(samples, features, seed, |d, y| match d % 4 {
        0 => y.exp(),
        1 => y.powi(3),
        2 => (3.0 * y).tanh(),
        _ => y,
    })
}

/// Factors of the truncated SVD of the normal scores.
pub fn start(view: &View, k: usize) -> Mat<f64> {
    let mut scores = normal_scores(view);
    for d in 0..scores.ncols() {
        for x in scores.col_as_slice_mut(d) {
            *x = if x.is_nan() { 0.0 } else { *x };
        }
    }
    let (zeros, ones) = (vec![0.0; view.n_features()], vec![1.0; view.n_features()]);
    let block = FilledBlock {
        values: polyview_linalg::BlockValues::Dense(scores.as_ref()),
        mask: None,
        transposed: None,
        mean: &zeros,
        scale: &ones,
    };
    let data = FilledColumns::new(&[block]).expect("finite data");
    let squares = column_squares(scores.as_ref());
    start_factors(
        Start::Varimax,
        (&data, &squares),
        None,
        k,
        StreamKey::new(1),
        0,
    )
    .expect("a start")
}

/// Share of the variance of each true factor that a regression on the fitted
/// ones explains.
pub fn explained(truth: &Mat<f64>, fitted: &Mat<f64>) -> Vec<f64> {
    let n = truth.nrows();
    let with_one = Mat::from_fn(n, fitted.ncols() + 1, |r, j| {
        if j < fitted.ncols() {
            fitted[(r, j)]
        } else {
            1.0
        }
    });
    let mut g: SymPacked = gram(with_one.as_ref());
    g.add_diag(&vec![1e-9; with_one.ncols()]);
    let rhs = with_one.transpose() * truth;
    let b = solve_spd(g.to_mat().as_ref(), rhs.as_ref()).expect("definite");
    let predicted = &with_one * b;
    (0..truth.ncols())
        .map(|j| {
            let mean = (0..n).map(|r| truth[(r, j)]).sum::<f64>() / n as f64;
            let all: f64 = (0..n).map(|r| (truth[(r, j)] - mean).powi(2)).sum();
            let left: f64 = (0..n)
                .map(|r| (truth[(r, j)] - predicted[(r, j)]).powi(2))
                .sum();
            1.0 - left / all
        })
        .collect()
}

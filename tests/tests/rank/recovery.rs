//! V6: true factors behind monotone distortions.

use polyview_core::{Journal, View};
use polyview_infer::{Start, VbOptions, VbRun, start_factors};
use polyview_likelihoods::{Margin, PairPolicy, RankOptions, normal_scores};
use polyview_linalg::{FilledBlock, Mat, SymPacked, gram, solve_spd};
use polyview_random::{StreamKey, standard_normal, uniform_open01};
use polyview_tests::{assemble, normal};

use crate::common::part;

/// Three factors, half of the loadings zero, noise .3, each feature distorted.
pub fn distorted(samples: usize, features: usize, seed: u64) -> (View, Mat<f64>) {
    let mut rng = StreamKey::new(seed).rng();
    let z = normal(samples, 3, &mut rng);
    let x = Mat::from_fn(features, 3, |_, _| {
        let w = standard_normal(&mut rng);
        if uniform_open01(&mut rng) < 0.5 {
            w
        } else {
            0.0
        }
    });
    let x = Mat::from_fn(samples, features, |n, d| {
        let eta: f64 = (0..3).map(|k| z[(n, k)] * x[(d, k)]).sum();
        let y = eta + 0.3 * standard_normal(&mut rng);
        match d % 4 {
            0 => y.exp(),
            1 => y.powi(3),
            2 => (3.0 * y).tanh(),
            _ => y,
        }
    });
    let names = (0..features).map(|d| format!("f{d}")).collect();
    (View::from_values("ranks", names, x).expect("finite"), z)
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
    start_factors(Start::Varimax, &[block], k, StreamKey::new(1), 0).expect("a start")
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

fn fitted(features: usize, ranks: RankOptions, sweeps: usize) -> (Vec<f64>, Journal) {
    let (view, truth) = distorted(150, features, 1);
    let model = assemble(vec![part(&view, ranks, 5)], start(&view, 5));
    let options = VbOptions {
        max_sweeps: sweeps,
        ..VbOptions::default()
    };
    let mut run = VbRun::new(model, options, StreamKey::new(2), Journal::default());
    while run.sweep().expect("a sweep").outcome.is_none() {}
    let z = run.model().factors.moments().mean().to_owned();
    (explained(&truth, &z), run.record().journal.clone())
}

#[test]
fn random_pairs_recover_distorted_factors() {
    for (partners, least) in [(2, 0.93), (3, 0.94), (5, 0.95)] {
        let ranks = RankOptions {
            partners,
            ..RankOptions::default()
        };
        let (found, journal) = fitted(60, ranks, 60);
        assert!(found.iter().all(|r| *r > least), "{partners}: {found:?}");
        assert!(
            !journal
                .entries
                .iter()
                .any(|e| e.event.to_string().contains("collapse"))
        );
    }
}

#[test]
fn a_weak_margin_collapses_and_says_so() {
    let ranks = RankOptions {
        pairs: PairPolicy::Adjacent,
        margin: Margin::Fixed(0.01),
        ..RankOptions::default()
    };
    let (found, journal) = fitted(60, ranks, 120);
    let warned = journal
        .entries
        .iter()
        .any(|e| e.event.to_string().contains("collapse"));
    assert!(warned, "{found:?}");
}

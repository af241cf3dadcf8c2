//! Whole fits: recovery, rare positives, variational Bayes against Gibbs.

use polyview_core::{Bias, Block, RowMoments};
use polyview_infer::{GibbsChain, Model, Start, start_factors};
use polyview_likelihoods::Bernoulli;
use polyview_linalg::{FilledBlock, FilledColumns, Mat};
use polyview_random::StreamKey;
use polyview_special::sigmoid;
use polyview_tests::{Holes, normal};

use super::{Kind, Simulated, finish, marginal, model, part, predictor, run, simulate, term};

/// Probability that a positive has the larger score.
fn auc(scored: &[(f64, f64)]) -> f64 {
    let mut sorted = scored.to_vec();
    sorted.sort_by(|a, b| a.0.total_cmp(&b.0));
    let (mut ranks, mut ones) = (0.0, 0.0);
    for (i, (_, label)) in sorted.iter().enumerate() {
        if *label == 1.0 {
            ranks += (i + 1) as f64;
            ones += 1.0;
        }
    }
    let zeros = sorted.len() as f64 - ones;
    (ranks - 0.5 * ones * (ones + 1.0)) / (ones * zeros)
}

fn log_loss(scored: &[(f64, f64)]) -> f64 {
    let sum: f64 = scored
        .iter()
        .map(|(p, x)| -(x * p.ln() + (1.0 - x) * (1.0 - p).ln()))
        .sum();
    sum / scored.len() as f64
}

fn probabilities(m: &Model, view: usize) -> Mat<f64> {
    let shape = m.views[view].term.shape();
    let p = predictor(m, view);
    let block = Block::new(0..shape.samples, 0..shape.observed_columns);
    m.views[view].term.law(&p, &block).means()
}

/// Starting factors from the labels, missing ones at their column's mean: a
/// mean-field fit with latent scores stays near a random start.
fn start(s: &Simulated, k: usize) -> Mat<f64> {
    let (n, d) = (s.view.n_samples(), s.view.n_features());
    let mut fill = vec![0.0; d];
    for (j, f) in fill.iter_mut().enumerate() {
        let seen: Vec<f64> = (0..n).filter_map(|i| s.view.value(i, j)).collect();
        *f = seen.iter().sum::<f64>() / seen.len() as f64;
    }
    let values = Mat::from_fn(n, d, |i, j| s.view.value(i, j).unwrap_or(fill[j]) - fill[j]);
    let (zeros, ones) = (vec![0.0; d], vec![1.0; d]);
    let block = FilledBlock {
        transposed: None,
        values: values.as_ref().into(),
        mask: None,
        mean: &zeros,
        scale: &ones,
    };
    let data = FilledColumns::new(&[block]).expect("finite");
    let squares = polyview_tests::column_squares(values.as_ref());
    start_factors(
        Start::Varimax,
        (&data, &squares),
        None,
        k,
        StreamKey::new(1),
        0,
    )
    .expect("finite")
}

/// Predictions and truth of the hidden cells.
fn hidden(s: &Simulated, found: &Mat<f64>) -> (Vec<(f64, f64)>, Vec<(f64, f64)>) {
    let (mut fit, mut truth) = (Vec::new(), Vec::new());
    for d in 0..found.ncols() {
        for n in 0..found.nrows() {
            if !s.view.is_observed(n, d) {
                let x = s.complete[(n, d)];
                fit.push((found[(n, d)], x));
                truth.push((sigmoid(s.eta[(n, d)]), x));
            }
        }
    }
    (fit, truth)
}

#[test]
fn hidden_labels_are_predicted_almost_as_well_as_by_the_truth() {
    let z = normal(500, 2, &mut StreamKey::new(2).rng());
    for kind in [Kind::Direct, marginal()] {
        let s = simulate(kind, "v", &z, 60, (-0.5, 1.5), Holes::Cells(0.1), 3);
        let parts = vec![part(term(kind, s.view.clone()), "v", 3, Some(0.01))];
        let mut r = run(model(parts, start(&s, 3)), 300, true);
        finish(&mut r);
        let (fit, truth) = hidden(&s, &probabilities(r.model(), 0));
        let (a, b) = (auc(&fit), auc(&truth));
        let (l, t) = (log_loss(&fit), log_loss(&truth));
        assert!(a > b - 0.03, "AUC {a} of {b}");
        assert!(l < t + 0.04, "log loss {l} of {t}");
    }
}

#[test]
fn one_positive_in_a_hundred() {
    let z = normal(800, 1, &mut StreamKey::new(2).rng());
    for kind in [Kind::Direct, marginal()] {
        let s = simulate(kind, "v", &z, 150, (-5.8, 1.5), Holes::None, 3);
        let share = |m: &Mat<f64>, d: usize| {
            (0..m.nrows()).map(|n| m[(n, d)]).sum::<f64>() / m.nrows() as f64
        };
        let all = (0..150).map(|d| share(&s.complete, d)).sum::<f64>() / 150.0;
        assert!(all > 0.005 && all < 0.015, "{all}");
        let precision = Bernoulli::INTERCEPT_PRECISION;
        let parts = vec![part(term(kind, s.view.clone()), "v", 1, Some(precision))];
        let mut r = run(model(parts, start(&s, 1)), 200, true);
        finish(&mut r);
        let found = probabilities(r.model(), 0);
        for d in 0..150 {
            let (a, b) = (share(&found, d), share(&s.complete, d));
            assert!((a - b).abs() < 0.25 * b + 0.002, "{kind:?} {d}: {a} {b}");
        }
        let mut pairs = Vec::new();
        for d in 0..150 {
            for n in 0..800 {
                pairs.push((sigmoid(s.eta[(n, d)]), found[(n, d)]));
            }
        }
        let loss = |p: f64, q: f64| -(q * p.ln() + (1.0 - q) * (1.0 - p).ln());
        let excess: f64 = pairs.iter().map(|(q, p)| loss(*p, *q) - loss(*q, *q)).sum();
        let rate = |i: usize| (800.0 * share(&s.complete, i / 800) + 0.5) / 801.0;
        let constant: f64 = pairs
            .iter()
            .enumerate()
            .map(|(i, (q, _))| loss(rate(i), *q) - loss(*q, *q))
            .sum();
        // with latent scores the mean-field fit finds no factor here, and must
        // not be worse than the rates alone
        let share = if kind == Kind::Direct { 0.5 } else { 1.02 };
        assert!(excess < share * constant, "{kind:?}: {excess} {constant}");
    }
}

#[test]
fn a_wide_prior_leaves_a_rare_intercept_alone() {
    let values = Mat::from_fn(100, 1, |n, _| f64::from(u8::from(n == 7)));
    let view = polyview_core::View::from_values("v", vec!["f".into()], values).expect("finite");
    let of = |precision: f64| {
        let mut m = part(term(Kind::Direct, view.clone()), "v", 1, Some(precision));
        m.weights.set_moments(RowMoments::point(Mat::zeros(1, 1)));
        let z = RowMoments::point(Mat::zeros(100, 1));
        let mut b: Bias = m.bias;
        for _ in 0..3000 {
            let p = polyview_core::Predictor {
                factors: &z,
                weights: m.weights.moments(),
                bias: &b,
            };
            super::with_context(1, 2, |cx| m.term.refresh(&p, cx)).expect("finite");
            let (mut precision, mut rhs) = ([0.0], [0.0]);
            m.term
                .equations()
                .bias_equations(0..1, &p, &mut precision, &mut rhs);
            b.update(0..1, &precision, &rhs);
        }
        b.mean()[0]
    };
    let odds = (1.0f64 / 99.0).ln();
    let (wide, unit) = (of(Bernoulli::INTERCEPT_PRECISION), of(1.0));
    assert!((wide - odds).abs() < 0.15, "{wide} instead of {odds}");
    assert!(unit > odds + 1.0, "{unit}");
}

#[test]
fn variational_bayes_agrees_with_gibbs() {
    let z = normal(200, 1, &mut StreamKey::new(2).rng());
    for kind in [Kind::Direct, marginal()] {
        let s = simulate(kind, "v", &z, 50, (0.3, 1.5), Holes::Cells(0.1), 3);
        let build = || {
            let parts = vec![part(term(kind, s.view.clone()), "v", 1, Some(0.1))];
            model(parts, z.clone())
        };
        let mut r = run(build(), 300, false);
        finish(&mut r);
        let vb = probabilities(r.model(), 0);
        let mut chain = GibbsChain::new(build(), StreamKey::new(9));
        let (burn, keep) = (200, 800);
        let mut mean: Mat<f64> = Mat::zeros(200, 50);
        for i in 0..burn + keep {
            chain.advance().expect("a sweep");
            if i >= burn {
                mean += probabilities(chain.model(), 0);
            }
        }
        let (mut sum, mut worst): (f64, f64) = (0.0, 0.0);
        for d in 0..50 {
            for n in 0..200 {
                let gap = (vb[(n, d)] - mean[(n, d)] / f64::from(keep)).abs();
                sum += gap * gap;
                worst = worst.max(gap);
            }
        }
        let rms = (sum / 10_000.0).sqrt();
        assert!(rms < 0.03 && worst < 0.12, "{rms} {worst}");
    }
}

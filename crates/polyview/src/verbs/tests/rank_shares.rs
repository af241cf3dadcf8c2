//! Shares of variance of rank views are those of normal scores.

use polyview_core::{Dataset, Table};
use polyview_linalg::Mat;
use polyview_random::{StreamKey, standard_normal};

use crate::spec::{EngineKind, GibbsOptions};
use crate::{Fit, ModelSpec, models};

const N: usize = 80;
const CLEAN: usize = 20;

/// Features of two factors with a tenth of noise; then pure noise, some that do not
/// vary, some seen once and some never.
fn data(noise: usize, constant: usize, once: usize, never: usize) -> Dataset {
    let mut rng = StreamKey::new(11).rng();
    let z = Mat::from_fn(N, 2, |_, _| standard_normal(&mut rng));
    let w = Mat::from_fn(CLEAN, 2, |_, _| standard_normal(&mut rng));
    let mut noises = StreamKey::new(12).rng();
    let signal = z * w.transpose();
    let columns = CLEAN + noise + constant + once + never;
    let mut values = Mat::full(N, columns, f64::NAN);
    for d in 0..columns {
        let size = (w.subrows(d.min(CLEAN - 1), 1).squared_norm_l2() / 10.0).sqrt();
        for n in 0..N {
            let e = standard_normal(&mut noises);
            let after = d.saturating_sub(CLEAN);
            values[(n, d)] = if d < CLEAN {
                // a strictly rising map changes nothing
                (signal[(n, d)] + size * e).exp()
            } else if after < noise {
                e
            } else if after < noise + constant {
                4.0
            } else if after < noise + constant + once && n == 3 {
                1.5
            } else {
                f64::NAN
            };
        }
    }
    let table = Table {
        name: "x".into(),
        samples: (0..N).map(|n| format!("s{n}")).collect(),
        features: (0..columns).map(|d| format!("f{d}")).collect(),
        levels: Vec::new(),
        values,
    };
    Dataset::builder().view(table).build().unwrap()
}

fn spec(likelihood: &'static str) -> ModelSpec {
    let mut spec = models::rank(3);
    spec.defaults.likelihood = likelihood.into();
    spec
}

/// Share that `explain` and the model itself say of the view.
fn shares(fit: &Fit) -> (f64, f64) {
    let activity = fit.active(0.01).unwrap();
    let of_model: f64 = (0..fit.k()).map(|k| activity.share[(0, k)]).sum();
    (fit.explain().unwrap().total[0], of_model)
}

#[test]
fn a_feature_that_says_nothing_hides_no_other() {
    for likelihood in ["rank", "ordinary-rank"] {
        let of = |data: Dataset| shares(&crate::fit(data, spec(likelihood)).unwrap());
        let clean = of(data(0, 0, 0, 0));
        for x in [clean.0, clean.1] {
            assert!((0.8..0.97).contains(&x), "{likelihood:?}: {x}");
        }
        // those that do not vary do not count
        for (constant, once, never) in [(1, 0, 0), (0, 1, 0), (2, 1, 1)] {
            let with = of(data(0, constant, once, never));
            for (x, y) in [(with.0, clean.0), (with.1, clean.1)] {
                assert!((x - y).abs() < 0.02, "{likelihood:?}: {x} {y}");
            }
        }
        // noise counts like any other feature: a third of them
        let noisy = of(data(CLEAN / 2, 0, 0, 0));
        for (x, y) in [(noisy.0, clean.0), (noisy.1, clean.1)] {
            let expected = y / 1.5;
            assert!(
                (expected - 0.03..expected + 0.1).contains(&x),
                "{likelihood:?}: {x} {expected}"
            );
        }
    }
}

#[test]
fn factors_of_a_rank_view_are_not_dropped_for_its_units() {
    let mut spec = spec("rank");
    spec.factors = 5;
    spec.vb.prune.least_explained = 0.02;
    let fit = crate::fit(data(0, 1, 0, 0), spec.clone()).unwrap();
    assert_eq!(fit.k(), 2, "two true factors, five asked for");
    spec.vb.prune.least_explained = 0.95;
    let fit = crate::fit(data(0, 0, 0, 0), spec).unwrap();
    assert_eq!(fit.k(), 1, "none explains so much, and one is left");
}

#[test]
fn draws_explain_what_their_mean_predictor_does() {
    let vb = crate::fit(data(0, 1, 0, 0), spec("rank")).unwrap();
    let mut sampled = spec("rank");
    sampled.engine = EngineKind::Gibbs;
    sampled.gibbs = GibbsOptions {
        chains: 1,
        warm_up: 100,
        sweeps: 200,
        thin: 10,
        ..GibbsOptions::default()
    };
    let sampled = crate::fit(data(0, 1, 0, 0), sampled).unwrap();
    let [a, b] = [&vb, &sampled].map(|fit| fit.explain().unwrap());
    assert!(
        (a.total[0] - b.total[0]).abs() < 0.06,
        "{} {}",
        a.total[0],
        b.total[0]
    );
    // of the same samples given again, too
    let again = sampled.explain_on(&data(0, 1, 0, 0)).unwrap();
    assert!(
        (again.total[0] - b.total[0]).abs() < 0.15,
        "{} {}",
        again.total[0],
        b.total[0]
    );
    let sum: f64 = (0..sampled.k()).map(|k| b.unique[(0, k)]).sum();
    assert!((sum + b.shared[0] - b.total[0]).abs() < 1e-9);
}

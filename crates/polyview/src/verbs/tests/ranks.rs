//! Rank views through every verb.

use polyview_core::{Dataset, PredictedKind, Table};
use polyview_likelihoods::{Margin, PairPolicy, RankOptions, RankUpdates};
use polyview_linalg::Mat;
use polyview_random::{ChaCha8Rng, StreamKey, standard_normal};

use crate::{
    EngineKind, ErrorKind, Fit, Likelihood, ModelSpec, ProjectOptions, ViewChoices, hold_out,
    models,
};

const N: usize = 90;

fn table(name: &str, from: usize, values: Mat<f64>) -> Table {
    Table {
        name: name.into(),
        samples: (0..values.nrows())
            .map(|n| format!("s{}", from + n))
            .collect(),
        features: (0..values.ncols()).map(|d| format!("{name}{d}")).collect(),
        levels: Vec::new(),
        values,
    }
}

/// A real view and a distorted one with the same two factors; the first
/// samples, or the rest.
fn simulated(bend: impl Fn(f64) -> f64, samples: std::ops::Range<usize>) -> Dataset {
    let mut rng = StreamKey::new(5).rng();
    let normal = |rows, columns, rng: &mut ChaCha8Rng| {
        Mat::from_fn(rows, columns, |_, _| standard_normal(rng))
    };
    let all = N + 40;
    let (z, w, v) = (
        normal(all, 2, &mut rng),
        normal(25, 2, &mut rng),
        normal(8, 2, &mut rng),
    );
    let mut noisy = |m: Mat<f64>| {
        Mat::from_fn(all, m.ncols(), |n, d| {
            m[(n, d)] + 0.3 * standard_normal(&mut rng)
        })
    };
    let (ranks, real) = (noisy(&z * w.transpose()), noisy(&z * v.transpose()));
    let part = |m: &Mat<f64>, f: &dyn Fn(f64) -> f64| {
        Mat::from_fn(
            samples.len(),
            m.ncols(),
            |n, d| f(m[(samples.start + n, d)]),
        )
    };
    Dataset::builder()
        .view(table("real", samples.start, part(&real, &|x| x)))
        .view(table("skew", samples.start, part(&ranks, &bend)))
        .build()
        .unwrap()
}

fn spec(likelihood: Likelihood) -> ModelSpec {
    let mut spec = models::bibfa(3).with_likelihood("skew", likelihood);
    spec.vb.max_sweeps = 60;
    (spec.gibbs.chains, spec.gibbs.warm_up) = (2, 60);
    (spec.gibbs.sweeps, spec.gibbs.thin) = (60, 5);
    spec
}

fn spearman(a: &[f64], b: &[f64]) -> f64 {
    let rank = |v: &[f64]| {
        let mut order: Vec<usize> = (0..v.len()).collect();
        order.sort_by(|&i, &j| v[i].total_cmp(&v[j]));
        let mut out = vec![0.0; v.len()];
        for (r, i) in order.into_iter().enumerate() {
            out[i] = r as f64;
        }
        out
    };
    let (a, b) = (rank(a), rank(b));
    let n = a.len() as f64;
    let d: f64 = a.iter().zip(&b).map(|(x, y)| (x - y).powi(2)).sum();
    1.0 - 6.0 * d / (n * (n * n - 1.0))
}

/// Mean rank correlation of predicted and true columns.
fn agreement(truth: &Dataset, predicted: &Mat<f64>) -> f64 {
    let x = truth.view("skew").unwrap().values();
    let of = |d: usize| {
        let a: Vec<f64> = x.col(d).iter().copied().collect();
        let b: Vec<f64> = predicted.col(d).iter().copied().collect();
        spearman(&a, &b)
    };
    (0..x.ncols()).map(of).sum::<f64>() / x.ncols() as f64
}

fn check(fit: &Fit, new: &Dataset) {
    let predicted = fit.predict(new, "skew").unwrap();
    assert_eq!(predicted.kind, PredictedKind::Ranked);
    assert!(agreement(new, &predicted.mean) > 0.75);
    // nothing outside of what was trained on
    let mut inside = 0;
    let old = fit.data().unwrap()[1].values();
    for d in 0..old.ncols() {
        let top = old.col(d).iter().copied().fold(f64::MIN, f64::max);
        assert!(predicted.mean.col(d).iter().all(|x| *x <= top && *x >= 0.0));
        let (low, high) = predicted.interval(0.9).unwrap();
        assert!((0..40).all(|n| low[(n, d)] <= high[(n, d)]));
        assert!((0..40).all(|n| low[(n, d)] >= 0.0 && high[(n, d)] <= top));
        let x = new.view("skew").unwrap().values();
        let hit = |n: &usize| low[(*n, d)] <= x[(*n, d)] && x[(*n, d)] <= high[(*n, d)];
        inside += (0..40).filter(hit).count();
    }
    let coverage = inside as f64 / 1000.0;
    assert!((0.8..0.98).contains(&coverage), "{coverage}");
    let explained = fit.explain().unwrap();
    assert!(explained.total[1] > 0.6 && explained.total[1] < 1.0);
    assert!(explained.deviance[1].is_nan());
    let imputed = fit.impute("skew", 0.9).unwrap();
    assert_eq!(imputed.values.nrows(), N);
    assert!(fit.simulate(7, 3).is_ok());
}

#[test]
fn every_verb_knows_ranks() {
    let (old, new) = (simulated(f64::exp, 0..N), simulated(f64::exp, N..N + 40));
    for (likelihood, engine) in [
        (Likelihood::Rank, EngineKind::Vb),
        (Likelihood::OrdinaryRank, EngineKind::Vb),
        (Likelihood::Rank, EngineKind::Gibbs),
        (Likelihood::OrdinaryRank, EngineKind::Gibbs),
    ] {
        let spec = ModelSpec {
            engine,
            ..spec(likelihood)
        };
        let fit = crate::fit(old.clone(), spec).unwrap();
        check(&fit, &new);
        // a model file keeps what new samples are compared with
        let again = Fit::from_bytes(&fit.to_bytes().unwrap()).unwrap();
        let project = |f: &Fit| f.project(&new, &ProjectOptions::default()).unwrap().mean;
        assert!(project(&fit) == project(&again), "{likelihood} {engine:?}");
        // training samples land where they are
        let z = fit.project(&old, &ProjectOptions::default()).unwrap().mean;
        let own = fit.factors().unwrap().mean;
        for k in 0..2 {
            let (a, b): (Vec<f64>, Vec<f64>) = (0..N).map(|n| (z[(n, k)], own[(n, k)])).unzip();
            assert!(spearman(&a, &b) > 0.95, "{likelihood} {engine:?} {k}");
        }
    }
}

#[test]
fn monotone_transforms_change_no_bit_of_the_posterior() {
    for likelihood in [Likelihood::Rank, Likelihood::OrdinaryRank] {
        let factors = |bend: fn(f64) -> f64| {
            let fit = crate::fit(simulated(bend, 0..N), spec(likelihood)).unwrap();
            fit.factors().unwrap().mean
        };
        assert!(factors(f64::exp) == factors(|x| x.powi(3) + 1e3));
    }
}

/// Held-out cells are predicted better than by their features' means.
#[test]
fn held_out_values_are_predicted() {
    let data = simulated(f64::tanh, 0..N);
    let split = hold_out(&data, 0.15, 3).unwrap();
    let fit = crate::fit(split.data, spec(Likelihood::Rank)).unwrap();
    let scores = fit.held_out_score(&data).unwrap();
    let score = scores.iter().find(|s| s.view == "skew").unwrap();
    assert!(score.r2 > 0.6, "{}", score.r2);
    assert!(score.log_density.is_nan());
    assert!((0.8..=1.0).contains(&score.coverage), "{}", score.coverage);
}

#[test]
fn choices_of_ranks_are_checked_written_out_and_used() {
    let data = simulated(f64::exp, 0..N);
    let with = |ranks: RankOptions| {
        let choices = ViewChoices {
            likelihood: Likelihood::Rank,
            ranks: Some(ranks),
            ..ViewChoices::default()
        };
        let mut spec = models::bibfa(3).with_view("skew", choices);
        spec.vb.max_sweeps = 5;
        spec
    };
    let plain = RankOptions::default();
    for bad in [
        RankOptions {
            margin: Margin::Fixed(-0.1),
            ..plain
        },
        RankOptions {
            partners: 0,
            ..plain
        },
        RankOptions {
            weight: f64::NAN,
            ..plain
        },
    ] {
        let error = crate::fit(data.clone(), with(bad)).unwrap_err();
        assert!(matches!(error.kind(), ErrorKind::Option { .. }), "{error}");
    }
    let fit = crate::fit(data.clone(), spec(Likelihood::Rank)).unwrap();
    assert_eq!(fit.views()[1].choices.ranks, Some(plain));
    assert_eq!(fit.views()[0].choices.ranks, None);
    let text = serde_json::to_string(fit.spec()).unwrap();
    assert_eq!(
        &serde_json::from_str::<ModelSpec>(&text).unwrap(),
        fit.spec()
    );
    let mut bounds = Vec::new();
    for ranks in [
        plain,
        RankOptions {
            updates: RankUpdates::Frozen,
            pairs: PairPolicy::Extreme,
            ..plain
        },
        RankOptions {
            margin: Margin::PerCell(3.0),
            pairs: PairPolicy::All,
            ..plain
        },
    ] {
        let fit = crate::fit(data.clone(), with(ranks)).unwrap();
        bounds.push(fit.record().bound.unwrap());
        assert!(fit.predict(&data, "skew").is_ok());
    }
    assert!(bounds[0] != bounds[1] && bounds[1] != bounds[2]);
    // intercepts mean nothing to ranks
    let ledger = &fit.record().ledgers[0];
    let named = format!("{ledger:?}");
    assert!(named.contains("bias/real") && !named.contains("bias/skew"));
}

//! Rank views through every verb.

use polyview_core::{Dataset, Domain, Options, Table};
use polyview_likelihoods::{Margin, PairPolicy, RankOptions, RankUpdates};
use polyview_linalg::Mat;
use polyview_random::{ChaCha8Rng, StreamKey, standard_normal};

use crate::{
    CheckOptions, ChooseKOptions, EngineKind, ErrorKind, Fit, ModelSpec, ProjectOptions,
    ViewChoices, choose_k, hold_out, models,
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

fn spec(likelihood: &'static str) -> ModelSpec {
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
    assert_eq!(predicted.kind, Domain::Order);
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
    // replicates keep as much of the order of the data as of one another
    let options = CheckOptions {
        replicates: 20,
        ..CheckOptions::default()
    };
    let checks = fit.predictive_checks(&options).unwrap();
    let order = &checks[1].statistics[0];
    assert_eq!(
        (order.name.as_str(), order.p.len()),
        ("order agreement", 25)
    );
    let expected = order.mean_replicated.iter().sum::<f64>() / 20.0;
    assert!((0.65..0.99).contains(&expected), "{expected}");
    assert!(
        (order.mean_observed - expected).abs() < 0.05,
        "{} {expected}",
        order.mean_observed
    );
    // identified quantities by kind
    let kinds = fit.record().convergence();
    assert_eq!(kinds.is_empty(), !fit.is_sampled());
    if fit.is_sampled() {
        let of = |kind: &str| kinds.iter().find(|c| c.kind == kind).unwrap();
        assert_eq!(of("predictor/skew").quantities, 16);
        assert_eq!(of("predictor/real").quantities, 16);
        assert!(of("predictor/skew").worst.starts_with("predictor/skew (s"));
        assert_eq!(of("length of the weights/skew").quantities, 1);
        assert_eq!(of("noise precision/real").quantities, 1);
    }
}

#[test]
fn every_verb_knows_ranks() {
    let (old, new) = (simulated(f64::exp, 0..N), simulated(f64::exp, N..N + 40));
    for (likelihood, engine) in [
        ("rank", EngineKind::Vb),
        ("ordinary-rank", EngineKind::Vb),
        ("rank", EngineKind::Gibbs),
        ("ordinary-rank", EngineKind::Gibbs),
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
    for likelihood in ["rank", "ordinary-rank"] {
        let factors = |bend: fn(f64) -> f64| {
            let fit = crate::fit(simulated(bend, 0..N), spec(likelihood)).unwrap();
            fit.factors().unwrap().mean
        };
        assert!(factors(f64::exp) == factors(|x| x.powi(3) + 1e3));
    }
}

/// Ranks have no density: other views decide, and where there is none the R².
#[test]
fn the_number_of_factors_is_chosen_with_ranks() {
    let options = ChooseKOptions {
        candidates: vec![1, 2, 3],
        repeats: 2,
        restarts: 1,
        ..ChooseKOptions::default()
    };
    let both = simulated(f64::exp, 0..N);
    let skew = both.view("skew").unwrap().to_values_with_nan();
    let ranks = Dataset::builder()
        .view(table("skew", 0, skew))
        .build()
        .unwrap();
    for (data, dense) in [(both, true), (ranks, false)] {
        let found = choose_k(data, &spec("rank"), &options, &mut |_| {}).unwrap();
        assert_eq!(found.recommended, 2, "{found:?}");
        assert!(
            found
                .rows
                .iter()
                .all(|r| r.log_density.is_finite() == dense)
        );
        assert!(!found.reason.contains("NaN"), "{}", found.reason);
    }
}

/// Held-out cells are predicted better than by their features' means.
#[test]
fn held_out_values_are_predicted() {
    let data = simulated(f64::tanh, 0..N);
    let split = hold_out(&data, 0.15, 3).unwrap();
    let fit = crate::fit(split.data, spec("rank")).unwrap();
    let scores = fit.held_out_score(&data).unwrap();
    let score = scores.iter().find(|s| s.view == "skew").unwrap();
    assert!(score.r2 > 0.6, "{}", score.r2);
    assert!(score.log_density.is_nan());
    assert!(
        (0.88..=0.99).contains(&score.coverage),
        "{}",
        score.coverage
    );
    // the ends are training values, as those of imputations are
    let filled = fit.impute("skew", score.level).unwrap();
    let training = fit.data().unwrap()[1].clone();
    let of_feature = |d: usize| (0..N).filter_map(move |n| Some((n, d)).filter(|_| d < 25));
    for (i, &d) in score.pairs.feature.iter().enumerate() {
        let is = |x: f64| of_feature(d).any(|(n, d)| training.value(n, d) == Some(x));
        assert!(is(score.pairs.lower[i]) && is(score.pairs.upper[i]));
        let hit = of_feature(d).any(|(n, d)| {
            filled.was_missing.get(n, d)
                && filled.lower[(n, d)] == score.pairs.lower[i]
                && filled.upper[(n, d)] == score.pairs.upper[i]
        });
        assert!(hit, "{i}");
    }
}

/// What new samples are compared with is kept once, not once a draw.
#[test]
fn training_values_are_stored_once() {
    let spec = ModelSpec {
        engine: EngineKind::Gibbs,
        ..spec("rank")
    };
    let (old, new) = (simulated(f64::exp, 0..N), simulated(f64::exp, N..N + 40));
    let fit = crate::fit(old, spec).unwrap();
    let grids = |fit: &Fit| -> Vec<usize> {
        let of = |s: &polyview_core::State| {
            s.arrays()
                .keys()
                .filter(|n| n.contains("/anchors/"))
                .count()
        };
        fit.components.iter().map(of).collect()
    };
    let found = grids(&fit);
    assert!(found.len() > 1 && found[0] == 5, "{found:?}");
    assert!(found[1..].iter().all(|c| *c == 0), "{found:?}");
    // a file of before, with the grid in every draw
    let mut older = fit.clone();
    let first: Vec<_> = fit.components[0]
        .arrays()
        .iter()
        .filter(|(n, _)| n.contains("/anchors/"))
        .map(|(n, a)| (n.clone(), a.clone()))
        .collect();
    for state in &mut older.components[1..] {
        for (name, array) in &first {
            state.put(name, array.clone());
        }
    }
    let (bytes, longer) = (fit.to_bytes().unwrap(), older.to_bytes().unwrap());
    assert!(bytes.len() + 1000 < longer.len());
    let project = |f: &Fit| f.project(&new, &ProjectOptions::default()).unwrap().mean;
    for bytes in [bytes, longer] {
        let again = Fit::from_bytes(&bytes).unwrap();
        assert_eq!(grids(&again), found);
        assert!(project(&again) == project(&fit));
    }
}

fn one_view(values: Mat<f64>) -> Dataset {
    Dataset::builder()
        .view(table("skew", 0, values))
        .build()
        .unwrap()
}

/// Constant features, nothing but ties, values beyond those of the training
/// samples, features that the model does not know.
#[test]
fn odd_values_are_told_or_taken() {
    // some constant features: said, and predicted as they are
    let plain = simulated(f64::exp, 0..N);
    let x = plain.view("skew").unwrap().values().to_owned();
    let some = Mat::from_fn(N, 25, |n, d| if d < 3 { 4.0 } else { x[(n, d)] });
    let fit = crate::fit(one_view(some), spec("rank")).unwrap();
    let said: Vec<String> = fit
        .record()
        .journal
        .entries
        .iter()
        .map(ToString::to_string)
        .collect();
    assert!(
        said.iter()
            .any(|e| e.contains("3 of 25 feature(s) have no two different values")),
        "{said:?}"
    );
    let fitted = fit.fitted("skew").unwrap();
    assert!((0..N).all(|n| fitted.mean[(n, 1)] == 4.0));
    // the weights of what is not compared are those of the prior
    let weights = fit.weights("skew").unwrap().mean;
    assert!((0..fit.k()).all(|k| weights[(1, k)] == 0.0));
    assert!((0..fit.k()).any(|k| weights[(10, k)].abs() > 1e-3));
    // a new sample above, one below, one of unknown features and few known ones
    let wide = Mat::from_fn(2, 26, |n, d| {
        let sign = if n == 0 { 1e9 } else { -1e9 };
        if d == 25 { f64::NAN } else { sign }
    });
    let mut outside = table("skew", 500, wide);
    outside.features[25] = "never seen".into();
    let outside = Dataset::builder().view(outside).build().unwrap();
    let z = fit.project(&outside, &ProjectOptions::default()).unwrap();
    assert!(
        z.notes
            .iter()
            .any(|n| n.contains("1 ") && n.contains("never seen")),
        "{:?}",
        z.notes
    );
    let far = |n: usize| (0..fit.k()).map(|k| z.mean[(n, k)].powi(2)).sum::<f64>();
    assert!(far(0).is_finite() && far(0) > 0.0 && far(0) < 100.0);
    let unknown = Table {
        features: vec!["who".into(), "knows".into()],
        ..table("skew", 500, Mat::zeros(2, 2))
    };
    let unknown = Dataset::builder().view(unknown).build().unwrap();
    let error = fit
        .project(&unknown, &ProjectOptions::default())
        .unwrap_err();
    assert!(
        matches!(error.kind(), ErrorKind::NoKnownFeature { .. }),
        "{error}"
    );
    // nothing but ties: a fit without factors to speak of, and no panic
    for engine in [EngineKind::Vb, EngineKind::Gibbs] {
        let spec = ModelSpec {
            engine,
            ..spec("rank")
        };
        let ties = one_view(Mat::full(20, 4, 7.0));
        match crate::fit(ties, spec) {
            Ok(fit) => {
                let fitted = fit.fitted("skew").unwrap();
                assert!((0..20).all(|n| fitted.mean[(n, 2)] == 7.0));
            }
            Err(e) => panic!("{e}"),
        }
    }
}

/// One class of labels alone; more components than samples.
#[test]
fn labels_of_one_class_and_too_many_components() {
    let data = simulated(f64::exp, 0..30);
    let ones = table("y", 0, Mat::full(30, 1, 1.0));
    let mut builder = Dataset::builder().view(ones);
    for v in data.views() {
        let mut t = table(v.name(), 0, v.to_values_with_nan());
        t.features = v.features().to_vec();
        builder = builder.view(t);
    }
    let data = builder.build().unwrap();
    for likelihood in ["svm", "probit"] {
        let spec = spec("rank").with_likelihood("y", likelihood);
        let fit = crate::fit(data.clone(), spec).unwrap();
        let p = fit.predict(&data, "y").unwrap();
        assert!((0..30).all(|n| p.mean[(n, 0)] > 0.7), "{likelihood}");
    }
    let mut spec = models::rank(2).with_likelihood("y", "svm");
    spec.factor_prior = "mixture".into();
    spec.mixture.components = 31;
    let error = crate::fit(data, spec).unwrap_err();
    assert!(
        matches!(error.kind(), ErrorKind::TooManyComponents { .. }),
        "{error}"
    );
}

#[test]
fn choices_of_ranks_are_checked_written_out_and_used() {
    let data = simulated(f64::exp, 0..N);
    let with = |ranks: RankOptions| {
        let choices = ViewChoices {
            likelihood: "rank".into(),
            ranks: Options::of(&ranks).unwrap(),
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
        assert!(
            matches!(error.kind(), ErrorKind::SpeciesOption { .. }),
            "{error}"
        );
    }
    let fit = crate::fit(data.clone(), spec("rank")).unwrap();
    let written = |at: usize| fit.views()[at].choices.likelihood.options().clone();
    assert_eq!(written(1).read::<RankOptions>().unwrap(), plain);
    assert!(written(0).is_empty());
    let text = serde_json::to_string(&fit.spec()).unwrap();
    assert_eq!(
        Some(&serde_json::from_str::<ModelSpec>(&text).unwrap()),
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

/// Predictors of training samples have seen the data; hidden ones they have not,
/// the less the more factors there are to see with.
#[test]
fn intervals_of_hidden_values_hold_them() {
    let mut rng = StreamKey::new(2).rng();
    let mut normal = |r, c| Mat::from_fn(r, c, |_, _| standard_normal(&mut rng));
    let (z, w) = (normal(250, 4), normal(60, 4));
    let x = &z * w.transpose() + 1.5 * normal(250, 60);
    let part = |at, columns| x.subcols(at, columns).map(|x| f64::exp(0.2 * x));
    let data = Dataset::builder()
        .view(table("a", 0, part(0, 35)))
        .view(table("b", 0, part(35, 25)))
        .build()
        .unwrap();
    let split = hold_out(&data, 0.2, 3).unwrap();
    for k in [4, 9] {
        let mut spec = models::bibfa(k).with_likelihood("a", "rank");
        spec = spec.with_likelihood("b", "rank");
        spec.vb.max_sweeps = 60;
        let fit = crate::fit(split.data.clone(), spec).unwrap();
        for s in fit.held_out_score(&data).unwrap() {
            let (view, found) = (&s.view, s.coverage);
            assert!((0.925..0.975).contains(&found), "{k} {view}: {found}");
        }
    }
}

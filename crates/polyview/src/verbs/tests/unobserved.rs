//! Features without any observation: nothing is said of them.

use polyview_core::{Dataset, Table};
use polyview_linalg::Mat;

use super::gap;
use crate::{CheckOptions, EngineKind, Fit, ModelSpec, PredictOptions, ProjectOptions, models};

const N: usize = 12;
const LIKELIHOODS: [&str; 8] = [
    "gaussian",
    "negative-binomial",
    "poisson-log-normal",
    "poisson",
    "binomial",
    "bernoulli",
    "rank",
    "ordinary-rank",
];

fn table(name: &str, features: &[&str], value: impl FnMut(usize, usize) -> f64) -> Table {
    Table {
        name: name.into(),
        samples: (0..N).map(|n| format!("s{n}")).collect(),
        features: features.iter().map(|f| (*f).to_owned()).collect(),
        values: Mat::from_fn(N, features.len(), value),
        levels: Vec::new(),
    }
}

/// The values of the cells of `y`; whole numbers that every likelihood takes.
fn is_label(likelihood: &str) -> bool {
    let known: crate::Likelihood = likelihood.into();
    known.is_label()
}

fn value(likelihood: &'static str, n: usize, d: usize) -> f64 {
    let x = ((d + 1) * n + 2 * d) % 7;
    f64::from(u8::from(x > 3)) * if is_label(likelihood) { 1.0 } else { x as f64 }
}

/// A real view, and one whose feature `c` is empty but in the samples where
/// `seen`; the first sample lacks `a`.
fn data(likelihood: &'static str, seen: impl Fn(usize) -> bool) -> Dataset {
    let y = |n: usize, d: usize| match (n, d) {
        (0, 0) => f64::NAN,
        (n, 2) if !seen(n) => f64::NAN,
        _ => value(likelihood, n, d),
    };
    let real = |n: usize, d: usize| ((n * (d + 2)) % 5) as f64 + 0.1 * n as f64;
    let features = ["a", "b", "c", "d"];
    let mut builder = Dataset::builder()
        .view(table("real", &["p", "q", "r"], real))
        .view(table("y", &features, y));
    if likelihood == "binomial" {
        builder = builder.trials(table("y", &features, |_, _| 9.0));
    }
    builder.build().unwrap()
}

fn spec(likelihood: &'static str) -> ModelSpec {
    let mut spec = models::mofa(1).with_likelihood("y", likelihood);
    spec.vb.max_sweeps = 20;
    spec
}

fn fitted(likelihood: &'static str) -> Fit {
    crate::fit(data(likelihood, |_| false), spec(likelihood)).unwrap()
}

/// Whether only the third column is empty, all of it.
fn third_is_empty(what: &str, m: &Mat<f64>) {
    for d in 0..m.ncols() {
        for x in m.col_as_slice(d) {
            assert_eq!(x.is_nan(), d == 2, "{what}, column {d}: {x}");
        }
    }
}

fn says(notes: &[String], words: &[&str]) {
    let found = notes.iter().any(|n| words.iter().all(|w| n.contains(w)));
    assert!(found, "{words:?} in {notes:?}");
}

const NOTE: [&str; 3] = ["1 feature(s)", "first 'c'", "nothing is predicted"];

#[test]
fn nothing_is_predicted_of_them() {
    for likelihood in LIKELIHOODS {
        let fit = fitted(likelihood);
        let name = likelihood.to_string();
        assert_eq!(fit.view("y").unwrap().1.unobserved, [2]);
        let journal = fit.record().journal.entries.iter();
        says(&journal.map(ToString::to_string).collect::<Vec<_>>(), &NOTE);
        let real = super::rebuilt(&data(likelihood, |_| false), &["real"], |v| {
            super::table(&data(likelihood, |_| false), v)
        });
        let options = PredictOptions::default();
        let predicted = fit.predict_with(&real, "y", &options).unwrap();
        for p in [fit.fitted("y").unwrap(), predicted] {
            says(&p.notes, &NOTE);
            third_is_empty(&name, &p.mean);
            third_is_empty(&name, &p.sd);
            if let Some(score) = &p.score {
                third_is_empty(&name, score);
            }
            if let Some(ranks) = &p.ranks {
                third_is_empty(&name, &ranks.mean);
            }
            if !p.kind.is_label() {
                let (lower, upper) = p.interval(0.9).unwrap();
                third_is_empty(&name, &lower);
                third_is_empty(&name, &upper);
            }
        }
        let filled = fit.impute("y", 0.9).unwrap();
        says(&filled.notes, &NOTE);
        third_is_empty(&name, &filled.values);
        third_is_empty(&name, &filled.sd);
        if !is_label(likelihood) {
            third_is_empty(&name, &filled.lower);
            third_is_empty(&name, &filled.upper);
        }
        // what is given is kept
        let given = data(likelihood, |n| n == 4);
        let filled = fit.impute_data(&given, "y", 0.9).unwrap();
        assert_eq!(filled.values[(4, 2)], value(likelihood, 4, 2));
        assert!(filled.values[(5, 2)].is_nan());
        let e = fit.explain().unwrap();
        assert!(e.total[1].is_finite(), "{name}: {e:?}");
        let new = fit.simulate(5, 1).unwrap();
        let new = new.view("y").unwrap();
        for n in 0..5 {
            assert!(new.value(n, 2).is_none() && new.value(n, 1).is_some());
        }
        let checks = CheckOptions {
            replicates: 3,
            ..CheckOptions::default()
        };
        for s in &fit.predictive_checks(&checks).unwrap()[1].statistics {
            assert!(!s.columns.contains(&"c".to_owned()), "{name}: {s:?}");
        }
    }
}

#[test]
fn they_are_not_scored() {
    for likelihood in LIKELIHOODS {
        let fit = fitted(likelihood);
        let scores = fit.held_out_score(&data(likelihood, |_| true)).unwrap();
        let [y] = &scores[..] else {
            panic!("{scores:?}")
        };
        // the first sample lacks `a` here and there
        assert_eq!(y.cells, 0);
        for x in [y.r2, y.rmse, y.log_density, y.deviance, y.accuracy] {
            assert!(x.is_nan(), "{likelihood}: {y:?}");
        }
        says(&y.notes, &["12 held-out cell(s)", NOTE[0], NOTE[1]]);
        let one = table("y", &["a", "b", "c", "d"], |n, d| value(likelihood, n, d));
        let mut truth = Dataset::builder().view(one.clone());
        if likelihood == "binomial" {
            truth = truth.trials(table("y", &["a", "b", "c", "d"], |_, _| 9.0));
        }
        let scores = fit.held_out_score(&truth.build().unwrap()).unwrap();
        assert_eq!(scores[0].cells, 1);
        assert!(scores[0].rmse.is_finite(), "{likelihood}: {scores:?}");
    }
}

#[test]
fn new_values_of_them_are_ignored() {
    for likelihood in LIKELIHOODS {
        let fit = fitted(likelihood);
        let options = ProjectOptions::default();
        let with = fit.project(&data(likelihood, |_| true), &options).unwrap();
        let without = fit.project(&data(likelihood, |_| false), &options).unwrap();
        assert!(gap(&with.mean, &without.mean) < 1e-12, "{likelihood}");
        says(&with.notes, &["1 feature(s) are unknown", "first 'c'"]);
        assert!(without.notes.iter().all(|n| !n.contains("'c'")));
    }
}

#[test]
fn a_feature_of_one_group_is_known() {
    for likelihood in ["gaussian", "negative-binomial"] {
        let groups = (0..N).map(|n| (format!("s{n}"), format!("g{}", n % 2)));
        let seen = data(likelihood, |n| n % 2 == 0);
        let grouped = Dataset::builder()
            .view(super::table(&seen, &seen.views()[0]))
            .view(super::table(&seen, &seen.views()[1]))
            .groups(groups.collect());
        let mut spec = spec(likelihood);
        // a group without intercepts of its own has those of the others
        spec.groups.intercepts = likelihood == "gaussian";
        let fit = crate::fit(grouped.build().unwrap(), spec).unwrap();
        assert!(fit.views()[1].unobserved.is_empty());
        let filled = fit.impute("y", 0.9).unwrap();
        for n in 0..N {
            let (low, high) = (filled.lower[(n, 2)], filled.upper[(n, 2)]);
            assert!(
                filled.values[(n, 2)].abs() < 50.0 && low <= high,
                "{likelihood}"
            );
        }
    }
}

#[test]
fn the_file_knows_them_with_data_and_without() {
    let mut fit = fitted("negative-binomial");
    fit.forget_data();
    let again = Fit::from_bytes(&fit.to_bytes().unwrap()).unwrap();
    assert_eq!(again.view("y").unwrap().1.unobserved, [2]);
    third_is_empty("read", &again.fitted("y").unwrap().mean);
    let mut draws = spec("negative-binomial");
    draws.engine = EngineKind::Gibbs;
    (draws.gibbs.warm_up, draws.gibbs.sweeps, draws.gibbs.thin) = (5, 10, 5);
    let fit = crate::fit(data("negative-binomial", |_| false), draws).unwrap();
    third_is_empty("draws", &fit.impute("y", 0.9).unwrap().values);
}

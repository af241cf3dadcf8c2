//! Replicated data against the data.

use polyview_core::{Dataset, Domain, Table};
use polyview_linalg::Mat;
use polyview_random::{StreamKey, standard_normal, uniform_open01};

use super::labels::{mixed, spec};
use super::{cells, gibbs, simulated, vb};
use crate::{
    CheckOptions, CheckedStatistic, EngineKind, ErrorKind, Fit, Intercepts, ModelSpec,
    PredictiveCheck, models,
};

fn of<'a>(checks: &'a [PredictiveCheck], view: &str, name: &str) -> &'a CheckedStatistic {
    let check = checks.iter().find(|c| c.view == view).unwrap();
    check.statistics.iter().find(|s| s.name == name).unwrap()
}

fn checks(fit: &Fit) -> Vec<PredictiveCheck> {
    fit.predictive_checks(&CheckOptions::default()).unwrap()
}

fn sampled(mut spec: ModelSpec) -> ModelSpec {
    spec.engine = EngineKind::Gibbs;
    (spec.gibbs.chains, spec.gibbs.warm_up) = (2, 60);
    (spec.gibbs.sweeps, spec.gibbs.thin) = (100, 5);
    spec
}

/// One view of these values.
fn one(values: Mat<f64>) -> Dataset {
    let table = Table {
        name: "x".into(),
        samples: (0..values.nrows()).map(|n| format!("s{n}")).collect(),
        features: (0..values.ncols()).map(|d| format!("f{d}")).collect(),
        levels: Vec::new(),
        values,
    };
    Dataset::builder().view(table).build().unwrap()
}

#[test]
fn data_of_the_model_pass() {
    let data = simulated(120, 3, cells(0.1));
    for fit in [vb(data.clone(), 2), gibbs(data.clone(), 2)] {
        for check in checks(&fit) {
            assert_eq!(check.kind, Domain::Reals);
            assert_eq!((check.samples, check.replicates), (120, 100));
            assert_eq!(check.statistics.len(), 3);
            for s in &check.statistics {
                assert!((0.02..0.98).contains(&s.mean_p), "{}: {}", s.name, s.mean_p);
                assert_eq!(s.columns.len(), s.p.len());
                assert_eq!(s.mean_replicated.len(), 100);
                let (low, high) = (&s.lower, &s.upper);
                assert!(low.iter().zip(high).all(|(l, h)| l < h));
            }
            // the standard deviation of a feature is learnt
            let sd = &check.statistics[0];
            let inside = (0..sd.p.len())
                .filter(|&d| sd.lower[d] <= sd.observed[d] && sd.observed[d] <= sd.upper[d]);
            assert!(inside.count() + 1 >= sd.p.len());
        }
        assert_eq!(checks(&fit), checks(&fit));
    }
}

/// Skewed numbers with normal noise, and counts that vary more than Poisson counts.
#[test]
fn what_the_model_does_not_make_is_seen() {
    let mut rng = StreamKey::new(4).rng();
    let z = Mat::from_fn(150, 1, |_, _| standard_normal(&mut rng));
    let skewed = Mat::from_fn(150, 6, |n, d| {
        (0.5 * z[(n, 0)] * (d as f64 - 2.5) + standard_normal(&mut rng)).exp()
    });
    let fit = crate::fit(one(skewed), models::bibfa(2)).unwrap();
    let all = checks(&fit);
    assert!(of(&all, "x", "skewness").mean_p < 0.02);
    assert!(of(&all, "x", "largest distance").mean_p < 0.02);
    assert!((0.02..0.98).contains(&of(&all, "x", "standard deviation").mean_p));
    // geometric counts: variance m + m^2
    let mut rng = StreamKey::new(5).rng();
    let counts = Mat::from_fn(150, 6, |_, _| {
        (uniform_open01(&mut rng).ln() / 0.8_f64.ln()).floor()
    });
    for (likelihood, fine) in [("poisson", false), ("negative-binomial", true)] {
        let spec = models::bibfa(1).with_likelihood("x", likelihood);
        let fit = crate::fit(one(counts.clone()), spec).unwrap();
        let all = checks(&fit);
        let s = of(&all, "x", "variance over mean");
        assert_eq!(s.mean_p > 0.05, fine, "{likelihood}: {}", s.mean_p);
        assert!(s.mean_observed > 3.0);
        let zeros = of(&all, "x", "share of zeros");
        assert_eq!((0.02..0.98).contains(&zeros.mean_p), fine);
    }
}

#[test]
fn labels_and_classes_are_replicated() {
    let data = mixed(150, 3);
    let probit = spec().with_likelihood("class", "categorical-probit");
    for spec in [spec(), sampled(spec()), probit] {
        let probit = spec.view("class").likelihood == "categorical-probit";
        let fit = crate::fit(data.clone(), spec).unwrap();
        let all = checks(&fit);
        let ones = of(&all, "labels", "share of ones");
        assert_eq!(ones.columns, fit.views()[1].features);
        let share = |d: usize| {
            data.view("labels")
                .unwrap()
                .values()
                .col(d)
                .iter()
                .sum::<f64>()
        };
        for d in 0..4 {
            assert!((ones.observed[d] - share(d) / 150.0).abs() < 1e-12);
        }
        let apart = of(&all, "labels", "separation");
        assert!(apart.mean_observed > 0.2);
        let classes = of(&all, "class", "share of the class");
        assert_eq!(classes.columns, ["low", "middle", "high"]);
        assert!((classes.observed.iter().sum::<f64>() - 1.0).abs() < 1e-12);
        let own = of(&all, "class", "probability of the own class");
        assert_eq!(own.columns, ["class0"]);
        assert!(own.mean_observed > 0.4);
        for s in [ones, apart, classes, own] {
            let p = s.mean_p;
            // scores of the probit are too small in variational Bayes
            // (spec/sshiba 1.5): the data are further apart than replicates
            if s.name == own.name && probit {
                assert!(p < 0.2, "{p}");
            } else {
                assert!((0.01..0.99).contains(&p), "{}: {p}", s.name);
            }
        }
    }
}

/// Shares of classes have the same mean whatever the model makes; that of the most frequent class has not.
#[test]
fn shares_of_classes_can_fail() {
    let class = |n: usize| {
        if n.is_multiple_of(10) {
            (n / 10 % 2 + 1) as f64
        } else {
            0.0
        }
    };
    let classes = Table {
        levels: ["common", "rare", "other"].map(str::to_owned).to_vec(),
        features: vec!["class".into()],
        ..super::counts::table("class", Mat::from_fn(120, 1, |n, _| class(n)))
    };
    let data = || {
        let real = simulated(120, 3, cells(0.0)).views()[0].to_values_with_nan();
        let builder = Dataset::builder().view(super::counts::table("x", real));
        builder.view(classes.clone()).build().unwrap()
    };
    for (intercepts, fine) in [(Intercepts::Learned, true), (Intercepts::None, false)] {
        let mut spec = models::bibfa(2).with_likelihood("class", "categorical");
        spec.intercepts = intercepts;
        let fit = crate::fit(data(), spec).unwrap();
        let all = checks(&fit);
        let s = of(&all, "class", "share of the class");
        assert!((s.mean_observed - 0.9).abs() < 1e-12 && s.p.len() == 3);
        assert_eq!(s.instead_of_mean.as_deref(), Some("common"));
        assert_eq!((0.02..0.98).contains(&s.mean_p), fine, "{}", s.mean_p);
    }
}

#[test]
fn what_cannot_be_checked_is_said() {
    let fit = vb(simulated(30, 3, cells(0.0)), 2);
    for bad in [
        CheckOptions {
            replicates: 0,
            ..CheckOptions::default()
        },
        CheckOptions {
            samples: 0,
            ..CheckOptions::default()
        },
    ] {
        let error = fit.predictive_checks(&bad).unwrap_err();
        assert!(matches!(error.kind(), ErrorKind::Option { .. }));
    }
    let few = CheckOptions {
        replicates: 7,
        samples: 10,
        seed: 2,
    };
    let found = fit.predictive_checks(&few).unwrap();
    assert_eq!(
        (
            found[0].samples,
            found[0].statistics[0].mean_replicated.len()
        ),
        (10, 7)
    );
    let mut without = fit;
    without.forget_data();
    let error = without.predictive_checks(&few).unwrap_err();
    assert!(matches!(error.kind(), ErrorKind::NoData));
}

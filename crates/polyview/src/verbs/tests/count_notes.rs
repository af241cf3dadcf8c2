//! What a fit says of counts before it begins.

use polyview_core::Dataset;
use polyview_linalg::Mat;
use polyview_random::{StreamKey, gamma, poisson, standard_normal};

use super::alone::large_counts;
use super::counts::table;
use crate::{
    CrossValidateModel, CrossValidateOptions, EngineKind, Fit, Likelihood, ModelSpec,
    cross_validate, models,
};

#[test]
fn large_counts_are_noted() {
    let mut values = Mat::from_fn(20, 3, |n, d| (n * (d + 1)) as f64);
    let fits = |values: &Mat<f64>| {
        let data = Dataset::builder()
            .view(table("y", values.clone()))
            .build()
            .unwrap();
        let mut spec = models::mofa(1).with_likelihood("y", "negative-binomial");
        spec.vb.max_sweeps = 3;
        crate::fit(data, spec)
    };
    values[(4, 1)] = 1e6;
    let quiet = fits(&values).unwrap();
    values[(4, 1)] = 2e6;
    let loud = fits(&values).unwrap();
    let said = |f: &Fit| {
        let mut all = f.record().journal.entries.iter();
        all.any(|e| e.to_string().contains("(sample 's4', feature 'y1')"))
    };
    assert!(!said(&quiet) && said(&loud));
    values[(4, 1)] = 2e9;
    assert!(fits(&values).is_err());
}

#[test]
fn poisson_counts_of_too_large_a_mean_are_warned_of() {
    // whole numbers about `mean`, an eighth of the cells missing
    let data = |mean: usize| {
        let count = |n: usize, d: usize| (mean + (n + 5 * d) % 3 - 1) as f64;
        let hole = |n: usize, d: usize| (n + d).is_multiple_of(8);
        let cell = |n, d| if hole(n, d) { f64::NAN } else { count(n, d) };
        let real = table("real", Mat::from_fn(24, 3, |n, d| 50.0 + (n * d) as f64));
        let counts = table("y", Mat::from_fn(24, 8, cell));
        Dataset::builder().view(real).view(counts).build().unwrap()
    };
    let spec = |likelihood: &str| {
        let likelihood: Likelihood = likelihood.parse().unwrap();
        let mut spec = models::mofa(1).with_likelihood("y", likelihood);
        spec.vb.max_sweeps = 2;
        spec
    };
    let warnings = |mean, likelihood| -> Vec<String> {
        let fit = crate::fit(data(mean), spec(likelihood)).unwrap();
        let all = fit.record().journal.warnings();
        all.filter(|w| w.starts_with("data/")).collect()
    };
    let found = warnings(5, "poisson{rate=softplus}");
    assert_eq!(found.len(), 1, "{found:?}");
    let words = ["data/y: the counts are 5.0 on average", "negative-binomial"];
    assert!(words.iter().all(|w| found[0].contains(w)), "{found:?}");
    assert!(warnings(3, "poisson{rate=softplus}").is_empty());
    assert!(warnings(30, "poisson").is_empty());
    assert!(warnings(30, "negative-binomial").is_empty());
    // before the first sweep, and of data that are read in blocks
    let data = data(5);
    let softplus: Likelihood = "poisson{rate=softplus}".parse().unwrap();
    let mut stochastic = models::bibfa(1).with_likelihood("y", softplus);
    stochastic.engine = EngineKind::Stochastic;
    let source = Box::new(data.views().to_vec());
    let fitting = crate::Fitting::from_blocks(source, data.samples().to_vec(), stochastic);
    let again: Vec<String> = fitting.unwrap().journal().warnings().collect();
    assert_eq!(again, found);
}

/// Negative binomial counts whose bound is too steep, and only these.
#[test]
fn negative_binomial_counts_that_are_too_large_are_warned_of() {
    let warnings = |mean: f64, size: f64, likelihood: &str| -> Vec<String> {
        let (data, _) = large_counts(mean, size, 1);
        let likelihood: Likelihood = likelihood.parse().unwrap();
        let mut spec = models::mofa(2).with_likelihood("y", likelihood);
        spec.vb.max_sweeps = 2;
        let fit = crate::fit(data, spec).unwrap();
        let all = fit.record().journal.warnings();
        all.filter(|w| w.starts_with("data/y: ")).collect()
    };
    let nb = "negative-binomial{form=bound}";
    for (mean, size) in [(30.0, 1.0), (300.0, 5.0), (2000.0, 30.0), (20_000.0, 5.0)] {
        let found = warnings(mean, size, nb);
        assert_eq!(found.len(), 1, "{mean} {size}: {found:?}");
        let words = ["times as steep", "poisson-log-normal"];
        assert!(words.iter().all(|w| found[0].contains(w)), "{found:?}");
    }
    for (mean, size) in [(0.3, 5.0), (3.0, 1.0), (3.0, 30.0), (30.0, 5.0)] {
        assert!(warnings(mean, size, nb).is_empty(), "{mean} {size}");
    }
    assert!(warnings(2000.0, 5.0, "poisson-log-normal").is_empty());
    assert!(warnings(2000.0, 5.0, "negative-binomial").is_empty());
}

/// Counts of eight features and six numbers that share two factors; the rates of the counts have a law of that `shape` about
/// them, or none.
fn rates(shape: Option<f64>) -> Dataset {
    let mut rng = StreamKey::new(5).rng();
    let mut normal = |rows, columns| Mat::from_fn(rows, columns, |_, _| standard_normal(&mut rng));
    let (z, w, v, noise) = (normal(90, 2), normal(8, 2), normal(6, 2), normal(90, 6));
    let (eta, real) = (&z * w.transpose(), &z * v.transpose() + noise);
    let counts = Mat::from_fn(90, 8, |n, d| {
        let more = shape.map_or(1.0, |a| gamma(&mut rng, a, a).unwrap());
        poisson(&mut rng, (0.5 * eta[(n, d)] + 2.5).exp() * more).unwrap()
    });
    let tables = Dataset::builder().view(table("real", real));
    tables.view(table("y", counts)).build().unwrap()
}

/// Factors that are as many as the features take in what these vary by themselves.
#[test]
fn overdispersion_that_factors_take_in_is_warned_of() {
    let mut spec = models::mofa(10).with_likelihood("y", "poisson");
    spec.vb.max_sweeps = 60;
    let warnings = |shape: Option<f64>, factors: usize| -> Vec<String> {
        let mut spec = spec.clone();
        spec.factors = factors;
        let fit = crate::fit(rates(shape), spec).unwrap();
        let all = fit.record().journal.warnings();
        all.filter(|w| w.starts_with("likelihood/y: ")).collect()
    };
    let found = warnings(Some(1.0), 10);
    assert_eq!(found.len(), 1, "{found:?}");
    let words = [
        "can be told from what each feature",
        "of no other view",
        "(pln)",
    ];
    assert!(words.iter().all(|w| found[0].contains(w)), "{found:?}");
    let found = warnings(Some(1.0), 2);
    assert!(
        found.len() == 1 && found[0].contains("of these means"),
        "{found:?}"
    );
    assert!(warnings(None, 10).is_empty());
}

/// Residuals are smaller by what factors have taken of each cell: by themselves they vary no more than those of Poisson counts. Of as many
/// factors as features nothing is left of them, and what the counts vary without these says it.
#[test]
fn overdispersion_is_seen_behind_the_factors_that_took_it_in() {
    let warnings = |(samples, features): (usize, usize), shape: Option<f64>, level: f64| {
        let mut rng = StreamKey::new(8).rng();
        let mut normal =
            |rows, columns| Mat::from_fn(rows, columns, |_, _| standard_normal(&mut rng));
        let (z, w) = (normal(samples, 3), normal(features, 3));
        let eta = &z * w.transpose();
        let counts = Mat::from_fn(samples, features, |n, d| {
            let more = shape.map_or(1.0, |a| gamma(&mut rng, a, a).unwrap());
            poisson(&mut rng, (0.4 * eta[(n, d)] + level).exp() * more).unwrap()
        });
        let data = Dataset::builder().view(table("y", counts)).build();
        let mut spec = models::sshiba(features.min(30)).with_likelihood("y", "poisson");
        spec.vb.max_sweeps = 100;
        let fit = crate::fit(data.unwrap(), spec).unwrap();
        let all = fit.record().journal.warnings();
        all.filter(|w| w.starts_with("likelihood/y: "))
            .collect::<Vec<String>>()
    };
    let found = warnings((150, 40), Some(2.0), 1.0);
    assert!(
        found.len() == 1 && found[0].contains("of these means"),
        "{found:?}"
    );
    let found = warnings((100, 10), Some(3.0), 6.0);
    let words = ["can be told from what each feature", "of no other view"];
    assert!(
        found.len() == 1 && words.iter().all(|w| found[0].contains(w)),
        "{found:?}"
    );
    for shape in [(150, 40), (30, 10), (100, 10)] {
        for level in [-1.5, 1.0, 3.0] {
            let found = warnings(shape, None, level);
            assert!(found.is_empty(), "{shape:?} {level}: {found:?}");
        }
    }
}

/// As many factors as features, of which some have less than a hundredth of the squares of all weights.
#[test]
fn small_factors_take_in_what_features_vary_as_well() {
    let mut rng = StreamKey::new(3).rng();
    let mut normal = |rows, columns| Mat::from_fn(rows, columns, |_, _| standard_normal(&mut rng));
    let (z, w) = (normal(150, 2), normal(30, 2));
    let eta = &z * w.transpose();
    let counts = Mat::from_fn(150, 30, |n, d| {
        let more = gamma(&mut rng, 5.0, 5.0).unwrap();
        poisson(&mut rng, (1.5 * eta[(n, d)] + 4.0).min(12.0).exp() * more).unwrap()
    });
    let data = Dataset::builder().view(table("y", counts)).build();
    let mut spec = models::mofa(30).with_likelihood("y", "poisson");
    spec.vb.max_sweeps = 200;
    let fit = crate::fit(data.unwrap(), spec).unwrap();
    let mut all = fit.record().journal.warnings();
    let said = all.any(|w| w.contains("more than can be told from what each feature"));
    assert!(fit.k() > 25 && said, "{}", fit.k());
}

/// Where some features alone vary more than Poisson counts do, factors of single ones take it in.
#[test]
fn features_that_vary_by_themselves_are_counted_and_named() {
    let warnings = |spec: ModelSpec, varying: usize| {
        let mut rng = StreamKey::new(8).rng();
        let mut normal =
            |rows, columns| Mat::from_fn(rows, columns, |_, _| standard_normal(&mut rng));
        let (z, w) = (normal(200, 3), normal(40, 3));
        let eta = &z * w.transpose();
        let counts = Mat::from_fn(200, 40, |n, d| {
            let more = if d < varying {
                gamma(&mut rng, 1.0, 1.0).unwrap()
            } else {
                1.0
            };
            poisson(&mut rng, (0.5 * eta[(n, d)] + 3.0).exp() * more).unwrap()
        });
        let data = Dataset::builder().view(table("y", counts)).build();
        let mut spec = spec.with_likelihood("y", "poisson");
        spec.vb.max_sweeps = 150;
        let fit = crate::fit(data.unwrap(), spec).unwrap();
        let all = fit.record().journal.warnings();
        all.filter(|w| w.starts_with("likelihood/y: "))
            .collect::<Vec<String>>()
    };
    for (varying, said) in [
        (1, "1 of 40 features varies by itself"),
        (10, "10 of 40 features vary by themselves"),
    ] {
        let found = warnings(models::mofa(30), varying);
        assert!(
            found.len() == 1 && found[0].contains(said) && found[0].contains("'y0'"),
            "{found:?}"
        );
    }
    for spec in [models::mofa(30), models::sshiba(30)] {
        let found = warnings(spec, 0);
        assert!(found.is_empty(), "{found:?}");
    }
}

/// What fits say of a likelihood is said of them in folds, and scores say it too.
#[test]
fn overdispersion_is_said_by_cross_validation() {
    let options = CrossValidateOptions {
        targets: vec!["y".to_owned()],
        folds: 2,
        two_steps: false,
        ..CrossValidateOptions::default()
    };
    let warnings = |shape: Option<f64>| -> Vec<String> {
        let mut spec = models::mofa(2).with_likelihood("y", "poisson");
        spec.vb.max_sweeps = 40;
        let model = CrossValidateModel::new("mofa", spec);
        let found = cross_validate(&rates(shape), &[model], &options, &|_| {});
        let all = found.unwrap().warnings.into_iter();
        all.filter(|w| w.contains("(pln)")).collect()
    };
    let found = warnings(Some(0.7));
    assert_eq!(found.len(), 2, "{found:?}");
    assert!(
        found[0].starts_with("likelihood/y: the counts vary"),
        "{found:?}"
    );
    assert!(
        found[1].starts_with("'y': the laws of mofa are too narrow"),
        "{found:?}"
    );
    assert_eq!(warnings(None), [""; 0]);
}

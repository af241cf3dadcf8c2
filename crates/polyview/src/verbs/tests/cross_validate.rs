use polyview_core::{Dataset, Metadata, MetadataValues, Table};
use polyview_datasets::Missing;
use polyview_linalg::{Mat, Threads};
use polyview_random::{StreamKey, standard_normal, uniform_open01};

use super::{cells, simulated, table};
use crate::CrossValidateScore::{Coverage, DevianceExplained, LogDensity};
use crate::{
    CrossValidate, CrossValidateModel, CrossValidateOptions, CrossValidateScore, ErrorKind,
    ModelSpec, cross_validate, hold_out, models,
};

pub(super) fn options(targets: &[&str], folds: usize) -> CrossValidateOptions {
    CrossValidateOptions {
        targets: targets.iter().map(|t| (*t).to_owned()).collect(),
        folds,
        ..CrossValidateOptions::default()
    }
}

pub(super) fn bibfa() -> Vec<CrossValidateModel> {
    vec![CrossValidateModel::new("bibfa", models::bibfa(3))]
}

fn sshiba() -> Vec<CrossValidateModel> {
    sshiba_of(with_labels(models::sshiba(3)))
}

pub(super) fn sshiba_of(spec: ModelSpec) -> Vec<CrossValidateModel> {
    vec![CrossValidateModel::new("sshiba", spec)]
}

fn with_labels(spec: ModelSpec) -> ModelSpec {
    spec.with_likelihood("labels", "bernoulli")
        .with_likelihood("class", "categorical")
}

pub(super) fn validated(
    data: &Dataset,
    models: &[CrossValidateModel],
    options: &CrossValidateOptions,
) -> CrossValidate {
    cross_validate(data, models, options, &|_| {}).unwrap()
}

/// The values of one score, by repeat and fold.
pub(super) fn values(found: &CrossValidate, method: &str, score: CrossValidateScore) -> Vec<f64> {
    (found.rows.iter())
        .filter(|r| r.method == method && r.score == score)
        .map(|r| r.value)
        .collect()
}

/// Labels and classes that follow the first view of simulated data, holes in it.
pub(super) fn labelled(samples: usize) -> Dataset {
    let data = simulated(samples, 4, cells(0.1));
    let mut rng = StreamKey::new(9).rng();
    let view = &data.views()[0];
    let x = Mat::from_fn(samples, 3, |n, d| view.value(n, d).unwrap_or(0.0));
    let of = |name: &str, values: Mat<f64>, levels: &[&str]| Table {
        name: name.to_owned(),
        samples: data.samples().to_vec(),
        features: (0..values.ncols()).map(|d| format!("{name}{d}")).collect(),
        values,
        levels: levels.iter().map(|l| (*l).to_owned()).collect(),
    };
    let labels = Mat::from_fn(samples, 3, |n, d| {
        let noise = standard_normal(&mut rng);
        f64::from(u8::from(
            x[(n, d)] - x[(n, 0)].min(1.0) + noise > 1.5 * d as f64 - 1.0,
        ))
    });
    let centre = |d: usize| x.col_as_slice(d).iter().sum::<f64>() / samples as f64;
    let classes = Mat::from_fn(samples, 1, |n, _| {
        let mut above =
            |d: usize, least: f64| x[(n, d)] - centre(d) + 0.3 * standard_normal(&mut rng) > least;
        if above(1, 0.5) {
            2.0
        } else {
            f64::from(u8::from(above(2, 0.0)))
        }
    });
    let metadata = Metadata {
        name: "patient".to_owned(),
        values: MetadataValues::Numbers((0..samples).map(|n| (n * n % 17) as f64).collect()),
    };
    Dataset::builder()
        .view(table(&data, view))
        .view(table(&data, &data.views()[1]))
        .view(of("labels", labels, &[]))
        .view(of("class", classes, &["p", "q", "r"]))
        .metadata(data.samples().to_vec(), metadata)
        .build()
        .unwrap()
}

#[test]
fn results_do_not_depend_on_the_number_of_threads() {
    let data = labelled(50);
    let with_targets = CrossValidateOptions {
        repeats: 2,
        ..options(&["labels", "class"], 3)
    };
    for options in [with_targets, options(&[], 2)] {
        let of = |threads: usize| {
            let pool = Threads::new(threads).unwrap();
            let found = pool.install(|| validated(&data, &sshiba(), &options));
            serde_json::to_string(&found).unwrap()
        };
        assert_eq!(of(1), of(4));
    }
}

/// Where there is one way to part the samples, repeats tell nothing new.
#[test]
fn repeats_that_part_nothing_anew_are_left_out() {
    let data = labelled(12);
    let of = |repeats: usize| {
        let options = CrossValidateOptions {
            repeats,
            two_steps: false,
            baselines: false,
            ..options(&["labels"], 12)
        };
        let quick = ModelSpec {
            vb: crate::VbOptions {
                max_sweeps: 2,
                ..crate::VbOptions::default()
            },
            ..with_labels(models::sshiba(1))
        };
        validated(&data, &[CrossValidateModel::new("m", quick)], &options)
    };
    let (once, thrice) = (of(1), of(3));
    assert_eq!((once.folds.len(), thrice.folds.len()), (1, 1));
    assert_eq!(once.summary, thrice.summary);
    let said = |found: &crate::CrossValidate| {
        let told =
            |w: &&String| w.contains("2 of 3 repeats part the samples as an earlier one does");
        found.warnings.iter().filter(told).count()
    };
    assert_eq!((said(&once), said(&thrice)), (0, 1));
}

#[test]
fn folds_keep_shares_and_groups() {
    let data = labelled(120);
    let of = |keep_together: Option<&str>, stratify: Option<&str>| {
        let options = CrossValidateOptions {
            repeats: 2,
            two_steps: false,
            keep_together: keep_together.map(str::to_owned),
            stratify: stratify.map(str::to_owned),
            ..options(&["labels"], 4)
        };
        // what is parted does not depend on the model
        let quick = ModelSpec {
            vb: crate::VbOptions {
                max_sweeps: 2,
                ..crate::VbOptions::default()
            },
            ..with_labels(models::sshiba(1))
        };
        validated(&data, &[CrossValidateModel::new("m", quick)], &options).folds
    };
    let count = |folds: &[usize], f: usize, has: &dyn Fn(usize) -> bool| {
        (0..120).filter(|&n| folds[n] == f && has(n)).count() as f64
    };
    let class = data.view("class").unwrap();
    for (stratify, view) in [(None, data.view("labels").unwrap()), (Some("class"), class)] {
        let all = of(None, stratify);
        assert_ne!(all[0], all[1]);
        for (folds, d) in all.iter().flat_map(|f| (0..3).map(move |d| (f, d))) {
            let has = |n: usize| match stratify {
                None => view.value(n, d) == Some(1.0),
                Some(_) => view.value(n, 0) == Some(d as f64),
            };
            let members = (0..120).filter(|&n| has(n)).count() as f64;
            for f in 1..=4 {
                let here = count(folds, f, &has);
                assert!(
                    (here - members / 4.0).abs() < 2.0,
                    "{stratify:?} {d}: {here} of {members}"
                );
            }
        }
    }
    for folds in of(Some("patient"), None) {
        for n in 0..120 {
            for m in (0..n).filter(|m| m * m % 17 == n * n % 17) {
                assert_eq!(folds[n], folds[m]);
            }
        }
        assert!((1..=4).all(|f| count(&folds, f, &|_| true) > 15.0));
    }
}

#[test]
fn classes_have_error_and_log_loss() {
    let data = labelled(80)
        .with_views(&["view1", "view2", "class"])
        .unwrap();
    let spec = models::sshiba(3).with_likelihood("class", "categorical");
    let found = validated(&data, &sshiba_of(spec), &options(&["class"], 4));
    let methods: Vec<&str> = (found.summary.iter())
        .filter(|s| s.score == CrossValidateScore::Error)
        .map(|s| s.method.as_str())
        .collect();
    let all = [
        "sshiba",
        "sshiba, two steps",
        "mean",
        "multinomial regression",
    ];
    assert_eq!(methods, all);
    // shares of the classes, half a sample of each added
    let classes = data.view("class").unwrap().classes();
    for f in 1..=4 {
        let of = |inside: bool| -> Vec<usize> {
            let samples = (0..80).filter(|&n| (found.folds[0][n] == f) == inside);
            samples.filter_map(|n| classes[n]).collect()
        };
        let (test, training) = (of(true), of(false));
        let share = |c: usize| {
            let members = training.iter().filter(|k| **k == c).count() as f64;
            (members + 0.5) / (training.len() as f64 + 1.5)
        };
        let loss: f64 = test.iter().map(|c| -share(*c).ln()).sum::<f64>() / test.len() as f64;
        let own = values(&found, "mean", CrossValidateScore::LogLoss)[f - 1];
        assert!((own - loss).abs() < 1e-12, "{own} {loss}");
        let most = (0..3)
            .max_by(|a, b| share(*a).total_cmp(&share(*b)))
            .unwrap();
        let wrong = test.iter().filter(|c| **c != most).count() as f64 / test.len() as f64;
        assert_eq!(
            values(&found, "mean", CrossValidateScore::Error)[f - 1],
            wrong
        );
    }
    let error = |method: &str| {
        let own = (found.summary.iter())
            .find(|s| s.method == method && s.score == CrossValidateScore::Error);
        own.unwrap().mean
    };
    for method in ["sshiba", "sshiba, two steps", "multinomial regression"] {
        assert!(
            error(method) < 0.8 * error("mean"),
            "{method}: {}",
            error(method)
        );
    }
}

#[test]
fn counts_have_deviances_and_densities() {
    let data = simulated(60, 3, Missing::default());
    let mut rng = StreamKey::new(2).rng();
    let view = &data.views()[1];
    let counts = Table {
        name: "counts".to_owned(),
        values: Mat::from_fn(60, view.n_features(), |n, d| {
            let rate = (1.0 + 0.6 * (view.value(n, d).unwrap() - 2.0).clamp(-3.0, 3.0)).exp();
            (rate * (0.6 + 0.8 * uniform_open01(&mut rng))).round()
        }),
        ..table(&data, view)
    };
    let data = Dataset::builder()
        .view(table(&data, &data.views()[0]))
        .view(counts)
        .build()
        .unwrap();
    let spec = models::mofa(3).with_likelihood("counts", "poisson-log-normal");
    let found = validated(
        &data,
        &[CrossValidateModel::new("mofa", spec)],
        &options(&["counts"], 3),
    );
    let mean = |method: &str, score: CrossValidateScore| {
        let own = found
            .summary
            .iter()
            .find(|s| s.method == method && s.score == score);
        own.map_or(f64::NAN, |s| s.mean)
    };
    assert!(mean("mean", DevianceExplained).abs() < 1e-12);
    for method in ["mofa", "mofa, two steps", "ridge regression"] {
        assert!(
            mean(method, DevianceExplained) > 0.2,
            "{method}: {found:#?}"
        );
    }
    assert!(mean("mofa", LogDensity) > mean("mean", LogDensity));
    assert!((0.75..=1.0).contains(&mean("mofa", Coverage)));
    assert!(mean("ridge regression", LogDensity).is_nan());
}

#[test]
fn hidden_cells_are_those_of_hold_out() {
    let data = simulated(80, 6, cells(0.05));
    let found = validated(&data, &bibfa(), &options(&[], 2));
    assert!(found.folds.is_empty());
    for fold in 0..2 {
        let hidden = hold_out(&data, 0.1, 1 + fold as u64).unwrap();
        let fit = crate::fit(hidden.data, models::bibfa(3)).unwrap();
        for score in fit.held_out_score(&data).unwrap() {
            let of = |method: &str, score_of: CrossValidateScore| {
                (found.rows.iter())
                    .find(|r| {
                        (r.fold, r.target.as_str(), r.method.as_str(), r.score)
                            == (fold + 1, score.view.as_str(), method, score_of)
                    })
                    .map(|r| (r.value, r.cells))
                    .unwrap()
            };
            let (r2, cells) = of("bibfa", CrossValidateScore::R2);
            assert_eq!((r2, cells), (score.r2, score.cells));
            assert_eq!(
                of("bibfa", CrossValidateScore::LogDensity).0,
                score.log_density
            );
            let (mean, of_mean) = of("mean", CrossValidateScore::R2);
            assert!(mean.abs() < 1e-12 && of_mean == cells);
            let (svd, of_svd) = of("softly thresholded SVD", CrossValidateScore::R2);
            assert!(svd > 0.3 && svd < 1.0 && of_svd == cells, "{svd}");
            assert!(score.log_density > of("mean", CrossValidateScore::LogDensity).0);
        }
    }
    // labels, classes and counts go through both
    let mixed = labelled(60);
    let found = validated(&mixed, &sshiba(), &options(&[], 2));
    for target in ["view1", "view2", "labels", "class"] {
        let of = |method: &str| {
            let own = found
                .rows
                .iter()
                .filter(|r| r.target == target && r.method == method);
            own.map(|r| r.value).filter(|v| v.is_finite()).count()
        };
        for method in ["sshiba", "mean", "softly thresholded SVD"] {
            assert!(of(method) > 0, "{target} {method}");
        }
    }
}

#[test]
fn several_models_share_folds() {
    let data = simulated(40, 5, Missing::default());
    let target = data.views()[0].name();
    let models = [2, 3].map(|k| CrossValidateModel::new(format!("k{k}"), models::bibfa(k)));
    let both = validated(&data, &models, &options(&[target], 3));
    let one = validated(&data, &models[1..], &options(&[target], 3));
    assert_eq!(both.folds, one.folds);
    assert_eq!(
        values(&both, "k3", CrossValidateScore::R2),
        values(&one, "k3", CrossValidateScore::R2)
    );
    let of = |found: &CrossValidate| {
        let own = found.summary.iter().find(|s| s.method == "k3").unwrap();
        (own.difference, own.mean)
    };
    assert_eq!(of(&one).0, 0.0);
    assert!(of(&both).0 != 0.0);
}

#[test]
fn what_cannot_be_is_refused_with_its_name() {
    let data = labelled(30);
    let refused = |data: &Dataset, options: &CrossValidateOptions| {
        cross_validate(data, &sshiba(), options, &|_| {}).unwrap_err()
    };
    let kind = |options: &CrossValidateOptions| refused(&data, options).kind().clone();
    assert!(matches!(
        kind(&options(&["labels"], 1)),
        ErrorKind::Option {
            option: "folds",
            ..
        }
    ));
    assert!(matches!(
        kind(&options(&["labels"], 31)),
        ErrorKind::TooManyFolds { of: 30, .. }
    ));
    assert!(matches!(
        kind(&options(&["none"], 3)),
        ErrorKind::UnknownView { .. }
    ));
    let all = options(&["view1", "view2", "labels", "class"], 3);
    assert!(matches!(kind(&all), ErrorKind::Incompatible { .. }));
    let with = |change: &dyn Fn(&mut CrossValidateOptions)| {
        let mut options = options(&["labels"], 3);
        change(&mut options);
        kind(&options)
    };
    let none = with(&|o| o.repeats = 0);
    assert!(matches!(
        none,
        ErrorKind::Option {
            option: "repeats",
            ..
        }
    ));
    let none = with(&|o| o.stratify = Some("view1".to_owned()));
    assert!(matches!(none, ErrorKind::Incompatible { .. }));
    let none = with(&|o| o.keep_together = Some("age".to_owned()));
    assert!(
        matches!(none, ErrorKind::UnknownMetadata { .. }),
        "{none:?}"
    );
    let many = with(&|o| {
        o.keep_together = Some("patient".to_owned());
        o.folds = 12;
    });
    assert!(
        matches!(many, ErrorKind::TooManyFolds { what: "groups", .. }),
        "{many:?}"
    );
    let hidden = with(&|o| {
        o.targets.clear();
        o.stratify = Some("labels".to_owned());
    });
    assert!(matches!(hidden, ErrorKind::Incompatible { .. }));
    let [mean, limits] = ["mean", "regression on limits"]
        .map(|name| [CrossValidateModel::new(name, models::bibfa(2))]);
    let (one, two) = (options(&["labels"], 3), options(&["labels", "labels"], 3));
    for (models, options, said) in [
        (&mean[..], &one, "'mean', a baseline"),
        (&limits[..], &one, "'regression on limits', a baseline"),
        (&sshiba()[..], &two, "'labels' twice"),
    ] {
        let error = cross_validate(&data, models, options, &|_| {}).unwrap_err();
        assert!(error.to_string().contains(said), "{error}");
    }
    let twice = [sshiba(), sshiba()].concat();
    let twice = cross_validate(&data, &twice, &options(&["labels"], 3), &|_| {}).unwrap_err();
    assert!(matches!(
        twice.kind(),
        ErrorKind::Option {
            option: "models",
            ..
        }
    ));
    let ones = data.view("labels").unwrap().clone();
    let ones = ones.with_values(Mat::full(30, 3, 1.0)).unwrap();
    let ones = data.with_view(ones).unwrap();
    let one_class = refused(&ones, &options(&["labels"], 3));
    assert!(
        matches!(one_class.kind(), ErrorKind::OneClass { .. }),
        "{one_class}"
    );
    // sample 4 has labels alone
    let mut lonely = data.clone();
    for name in ["view1", "view2", "class"] {
        let view = lonely.view(name).unwrap().hiding(|n, _| n == 4);
        lonely = lonely.with_view(view).unwrap();
    }
    let lonely = refused(&lonely, &options(&["labels"], 3));
    let sample = data.samples()[4].clone();
    let only = ErrorKind::OnlyTargets {
        sample,
        count: 1,
        samples: 30,
    };
    assert_eq!(*lonely.kind(), only);
}

/// A view that one sample alone has: the fold that it is in has nothing to learn it from.
#[test]
fn an_error_names_its_fold() {
    let data = simulated(30, 4, Missing::default());
    let views = [0, 1].map(|v| data.views()[v].name().to_owned());
    let alone = data.views()[0].hiding(|n, _| n != 7);
    let data = data.with_view(alone).unwrap();
    let error = cross_validate(&data, &bibfa(), &options(&[&views[0]], 3), &|_| {}).unwrap_err();
    let ErrorKind::Fold {
        repeat: 1,
        fold,
        method,
        source,
    } = error.kind()
    else {
        panic!("{error}");
    };
    assert!((1..=3).contains(fold) && method == "bibfa");
    assert!(matches!(source.kind(), ErrorKind::Data(_)), "{source}");
    let start = format!("fold {fold} of repeat 1, bibfa: view '{}'", views[0]);
    assert!(error.to_string().starts_with(&start), "{error}");
}

/// Exponential numbers have the density of their own law by the row `mean`, -1 nat on average; normal laws of logarithms have -1.09.
#[test]
fn numbers_above_0_are_held_against_a_gamma_law() {
    let mut rng = StreamKey::new(5).rng();
    let values = Mat::from_fn(300, 8, |_, _| -uniform_open01(&mut rng).ln());
    let data = Dataset::builder()
        .view(super::counts::table("y", values))
        .build()
        .unwrap();
    let spec = models::mofa(1).with_likelihood("y", "gamma");
    let options = CrossValidateOptions {
        share: 0.3,
        ..options(&[], 4)
    };
    let models = [CrossValidateModel::new("mofa", spec)];
    let found = cross_validate(&data, &models, &options, &|_| {}).unwrap();
    let own = values_of_mean(&found);
    assert!((own + 1.0).abs() < 0.04, "{own}");
}

fn values_of_mean(found: &CrossValidate) -> f64 {
    let all = values(found, "mean", LogDensity);
    all.iter().sum::<f64>() / all.len() as f64
}

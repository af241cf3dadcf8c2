//! Mixture priors of the factors and local classifiers.

use polyview_core::{Dataset, DatasetBuilder, Table};
use polyview_linalg::Mat;
use polyview_random::{StreamKey, standard_normal};

use crate::metrics;
use crate::spec::{EngineKind, GibbsOptions, ModelSpec, Posterior};
use crate::verbs::tests::{rebuilt, rows, table};
use crate::{ErrorKind, Fit, GroupChoices, ProjectOptions, models};

/// Four clusters at the corners of a square, seen through ten noisy features.
/// The label is 1 on one diagonal and 0 on the other.
fn corners(samples: usize, seed: u64) -> Dataset {
    let mut rng = StreamKey::new(seed).rng();
    let mut weights = StreamKey::new(9).rng();
    let z = Mat::from_fn(samples, 2, |n, k| {
        let side = if (n >> k).is_multiple_of(2) {
            1.5
        } else {
            -1.5
        };
        side + 0.4 * standard_normal(&mut rng)
    });
    let w = Mat::from_fn(10, 2, |_, _| standard_normal(&mut weights));
    let noise = Mat::from_fn(samples, 10, |_, _| 0.5 * standard_normal(&mut rng));
    let ids: Vec<String> = (0..samples).map(|n| format!("s{seed}-{n}")).collect();
    let one = |name: &str, features: Vec<String>, values| Table {
        name: name.to_owned(),
        samples: ids.clone(),
        features,
        values,
        levels: Vec::new(),
    };
    let label = Mat::from_fn(samples, 1, |n, _| {
        f64::from(u8::from(z[(n, 0)] * z[(n, 1)] > 0.0))
    });
    let names = (0..10).map(|d| format!("f{d}")).collect();
    Dataset::builder()
        .view(one("x", names, &z * w.transpose() + noise))
        .view(one("y", vec!["same".to_owned()], label))
        .build()
        .unwrap()
}

fn linear() -> ModelSpec {
    models::sshiba(2).with_likelihood("y", "bernoulli")
}

fn local() -> ModelSpec {
    linear().with_mixture(4).with_local("y")
}

/// Share of the new samples whose more probable label is not theirs.
fn error(fit: &Fit, new: &Dataset) -> f64 {
    let without = rebuilt(new, &["x"], |v| table(new, v));
    let p = fit.predict(&without, "y").unwrap();
    let truth = new.view("y").unwrap();
    let wrong = (0..new.n_samples())
        .filter(|&n| (p.mean[(n, 0)] > 0.5) != (truth.value(n, 0) == Some(1.0)))
        .count();
    wrong as f64 / new.n_samples() as f64
}

#[test]
fn local_classifiers_learn_what_a_linear_one_cannot() {
    let (data, new) = (corners(200, 1), corners(200, 2));
    let fit = crate::fit(data.clone(), local()).unwrap();
    assert!(error(&fit, &new) < 0.03, "{}", error(&fit, &new));
    let one = crate::fit(data.clone(), linear()).unwrap();
    assert!(error(&one, &new) > 0.3);
    let found = fit.clusters().unwrap();
    for (size, weight) in found.sizes.iter().zip(&found.weights) {
        assert!((size - 50.0).abs() < 3.0 && (weight - 0.25).abs() < 0.03);
    }
    let labels = found.labels();
    assert!((0..200).all(|n| labels[n] == labels[n % 4]));
    assert_eq!(found.means.nrows(), 4);
    assert!(found.precisions.iter().all(|p| *p > 2.0));
    assert!(found.concentration > 0.0);
    let e = one.clusters().unwrap_err();
    assert_eq!(*e.kind(), ErrorKind::NoClusters);
    // what else knows the columns of a view
    assert_eq!(
        fit.weight_rows("y").unwrap(),
        ["same (1)", "same (2)", "same (3)", "same (4)"]
    );
    assert_eq!(fit.weights("y").unwrap().mean.nrows(), 4);
    let explained = fit.explain().unwrap();
    assert!(explained.deviance[1] > 0.8, "{}", explained.deviance[1]);
    assert!(explained.total[1].is_finite());
    let again = fit.explain_on(&new).unwrap();
    assert!(again.deviance[1] > 0.7, "{}", again.deviance[1]);
    assert!(fit.active(0.02).is_ok());
    assert!(fit.group_activity().unwrap().prior_variance.is_some());
    let turned = fit.varimax().unwrap();
    assert!((error(&turned, &new) - error(&fit, &new)).abs() < 0.02);
}

#[test]
fn training_samples_are_where_the_fit_has_them() {
    let data = corners(80, 3);
    let mut spec = local();
    spec.vb.tolerance = 1e-12;
    spec.vb.movement = 1e-6;
    spec.vb.max_sweeps = 5000;
    let fit = crate::fit(data.clone(), spec).unwrap();
    let p = fit.project(&data, &ProjectOptions::default()).unwrap();
    let own = fit.factors().unwrap();
    let gap = super::gap(&p.mean, &own.mean);
    assert!(gap < 1e-2, "{gap}");
    let fitted = fit.fitted("y").unwrap();
    let view = data.view("y").unwrap();
    let truth: Vec<bool> = (0..80).map(|n| view.value(n, 0) == Some(1.0)).collect();
    let auc = metrics::auc(&truth, fitted.mean.col_as_slice(0)).unwrap();
    assert!(auc.unwrap() > 0.99);
}

#[test]
fn saved_models_and_checkpoints_are_the_same() {
    let data = corners(60, 4);
    let fit = crate::fit(data.clone(), local()).unwrap();
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("m.pv");
    fit.save(&path, crate::Overwrite::Refuse).unwrap();
    let read = Fit::load(&path).unwrap();
    let new = corners(20, 5);
    let only = rebuilt(&new, &["x"], |v| table(&new, v));
    let (a, b) = (
        fit.predict(&only, "y").unwrap(),
        read.predict(&only, "y").unwrap(),
    );
    assert_eq!(a.mean, b.mean);
    assert_eq!(
        fit.clusters().unwrap().shares,
        read.clusters().unwrap().shares
    );
}

#[test]
fn samplers_have_clusters_too_and_data_can_be_simulated() {
    let data = corners(80, 6);
    let mut spec = local();
    spec.engine = EngineKind::Gibbs;
    spec.gibbs = GibbsOptions {
        chains: 2,
        warm_up: 150,
        sweeps: 100,
        thin: 5,
        ..GibbsOptions::default()
    };
    let fit = crate::fit(data, spec).unwrap();
    let new = corners(100, 7);
    assert!(error(&fit, &new) < 0.06, "{}", error(&fit, &new));
    let found = fit.clusters().unwrap();
    let total: f64 = found.sizes.iter().sum();
    assert!((total - 80.0).abs() < 1e-9);
    let drawn = fit.simulate(50, 3).unwrap();
    assert_eq!(drawn.view("y").unwrap().n_features(), 1);
    let part = rows(&drawn, &[0, 1, 2]);
    assert_eq!(fit.predict(&part, "y").unwrap().mean.shape(), (3, 1));
}

#[test]
fn choices_that_do_not_go_together_are_refused() {
    let data = corners(12, 8);
    let refused = |spec: ModelSpec| crate::fit(data.clone(), spec).unwrap_err();
    let e = refused(linear().with_mixture(13));
    assert!(matches!(
        e.kind(),
        ErrorKind::TooManyComponents {
            components: 13,
            samples: 12
        }
    ));
    assert!(e.to_string().contains("at most 12"), "{e}");
    assert!(matches!(
        refused(linear().with_mixture(0)).kind(),
        ErrorKind::Option { .. }
    ));
    let mut without = local();
    without.factor_prior = "standard-normal".into();
    let mut gaussian = local();
    gaussian = gaussian.with_local("x");
    let mut factorised = local();
    factorised.posterior = Posterior::Factorised;
    let mut latent = local();
    latent = latent.with_likelihood("y", "bernoulli-latent");
    for spec in [without, gaussian, factorised, latent] {
        let e = refused(spec);
        assert!(matches!(e.kind(), ErrorKind::Incompatible { .. }), "{e}");
    }
    let mut improper = local();
    improper.mixture.precision.rate = 0.0;
    assert!(matches!(refused(improper).kind(), ErrorKind::Option { .. }));
    // few samples are no reason to fail
    let one = crate::fit(data.clone(), linear().with_mixture(1)).unwrap();
    assert_eq!(one.clusters().unwrap().sizes, [12.0]);
}

/// What groups would have of their own is in the way of classifiers by cluster where there are
/// groups, and nowhere else: models whose groups would have their own noise fit them.
#[test]
fn groups_are_in_the_way_where_there_are_some() {
    let data = corners(40, 8);
    let mut spec = local();
    spec.groups = GroupChoices {
        noise: true,
        ..GroupChoices::default()
    };
    let samples = data.samples().to_vec();
    let grouped = |of: fn(usize) -> &'static str| {
        let names = samples.iter().enumerate();
        let groups = names.map(|(n, s)| (s.clone(), of(n).to_owned())).collect();
        let views = data.views().iter().map(|v| table(&data, v));
        let builder = views.fold(Dataset::builder(), DatasetBuilder::view);
        builder.groups(groups).build().unwrap()
    };
    let several = grouped(|n| if n % 2 == 0 { "a" } else { "b" });
    let e = crate::fit(several, spec.clone()).unwrap_err();
    assert!(matches!(e.kind(), ErrorKind::Incompatible { .. }), "{e}");
    for data in [grouped(|_| "a"), data.clone()] {
        let fit = crate::fit(data, spec.clone()).unwrap();
        let read = Fit::from_bytes(&fit.to_bytes().unwrap()).unwrap();
        assert_eq!(read.clusters().unwrap().sizes.len(), 4);
    }
}

/// Three clusters, of which a label that is given at random tells two apart from the third.
fn three(samples: usize, seed: u64) -> Dataset {
    let mut rng = StreamKey::new(seed).rng();
    let mut weights = StreamKey::new(11).rng();
    let w = Mat::from_fn(2, 12, |_, _| standard_normal(&mut weights));
    let centres = [[4.0, 0.0], [-3.0, 3.0], [-3.0, -3.0]];
    let z = Mat::from_fn(samples, 2, |n, k| {
        centres[n % 3][k] + standard_normal(&mut rng)
    });
    let x = &z * &w + Mat::from_fn(samples, 12, |_, _| standard_normal(&mut rng));
    let label = Mat::from_fn(samples, 1, |n, _| {
        f64::from(u8::from(
            standard_normal(&mut rng) < [1.6, -1.6, 1.3][n % 3],
        ))
    });
    let one = |name: &str, values: Mat<f64>| Table {
        name: name.to_owned(),
        samples: (0..samples).map(|n| format!("s{seed}-{n}")).collect(),
        features: (0..values.ncols()).map(|d| format!("{name}{d}")).collect(),
        values,
        levels: Vec::new(),
    };
    let builder = Dataset::builder().view(one("x", x));
    builder.view(one("y", label)).build().unwrap()
}

/// Labels alone leave two clusters open. A sample whose factors and cluster followed one another
/// would be sure of one of them, and the prediction worse than none.
#[test]
fn little_is_known_of_a_sample_and_all_clusters_that_may_be_its_own_count() {
    let (data, new) = (three(150, 1), three(90, 2));
    let spec = linear().with_mixture(3);
    let fit = crate::fit(data.clone(), spec).unwrap();
    let labels = rebuilt(&new, &["y"], |v| table(&new, v));
    let p = fit.predict(&labels, "x").unwrap();
    let (truth, known) = (new.view("x").unwrap(), data.view("x").unwrap());
    let (mut own, mut null) = (0.0, 0.0);
    for d in 0..12 {
        let level = known.values().col(d).iter().sum::<f64>() / 150.0;
        for n in 0..90 {
            let x = truth.values()[(n, d)];
            own += (x - p.mean[(n, d)]).powi(2);
            null += (x - level).powi(2);
        }
    }
    assert!(own < 0.97 * null, "R2 {}", 1.0 - own / null);
    // a batch does not change a sample's answer
    let all = fit.project(&labels, &ProjectOptions::default()).unwrap();
    let alone = rows(&labels, &[7]);
    let alone = fit.project(&alone, &ProjectOptions::default()).unwrap();
    for j in 0..all.mean.ncols() {
        assert!((all.mean[(7, j)] - alone.mean[(0, j)]).abs() < 1e-9);
    }
}

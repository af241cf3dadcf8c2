//! Many samples of few features (docs/decisions/0107-noise-of-many-samples.md, 0108-dense-weights-first.md).

use polyview_core::{Dataset, Event, Table};
use polyview_infer::Outcome;
use polyview_linalg::Mat;
use polyview_random::{StreamKey, standard_normal};

use crate::{EngineKind, Fit, Fitting, ModelSpec, models};

/// Two views of five features each, of two factors, with noise of its own in each feature.
fn data(samples: usize, seed: u64) -> Dataset {
    let mut rng = StreamKey::new(seed).rng();
    let mut normal = |rows, columns| Mat::from_fn(rows, columns, |_, _| standard_normal(&mut rng));
    let (z, w) = (normal(samples, 2), normal(2, 10));
    let (x, noise) = (&z * &w, normal(samples, 10));
    let table = |name: &str, first: usize| Table {
        name: name.to_owned(),
        samples: (0..samples).map(|n| format!("s{n}")).collect(),
        features: (0..5).map(|d| format!("{name}{d}")).collect(),
        values: Mat::from_fn(samples, 5, |n, d| {
            let d = first + d;
            x[(n, d)] + (0.6 + 0.1 * d as f64) * noise[(n, d)]
        }),
        levels: Vec::new(),
    };
    let builder = Dataset::builder().view(table("a", 0));
    builder.view(table("b", 5)).build().unwrap()
}

fn fit(spec: ModelSpec) -> Fit {
    crate::fit(data(20_000, 3), spec).unwrap()
}

/// Each factor that is offered beyond those of the data could take the noise of a feature to
/// itself, and the likelihood would be the same.
#[test]
fn noise_of_single_features_is_no_factor() {
    for spec in [models::bibfa(10), models::mofa(10)] {
        let fit = fit(spec);
        assert_eq!(fit.k(), 2, "{}", fit.spec().unwrap().model);
        assert_eq!(fit.record().outcome, Outcome::Converged);
    }
}

/// Batches start where dense weights of some samples lead, at hand or on disk.
#[test]
fn noise_of_single_features_is_no_factor_by_batches() {
    let (data, mut spec) = (data(20_000, 3), models::mofa(10));
    spec.engine = EngineKind::Stochastic;
    let fit = crate::fit(data.clone(), spec.clone()).unwrap();
    assert_eq!(fit.k(), 2);
    assert_eq!(fit.record().outcome, Outcome::Converged);
    let journal = &fit.record().journal.entries;
    let note = journal.iter().find(|e| e.block == "start").unwrap();
    let Event::Note { note } = &note.event else {
        panic!("{note:?}");
    };
    assert!(
        note.ends_with("of dense ones, which keep 2 of 10 factors"),
        "{note}"
    );
    // stopped while dense weights are on their way there is a fit all the same
    let samples = data.samples().to_vec();
    let source = Box::new(data.views().to_vec());
    let mut fitting = Fitting::from_blocks(source, samples, spec).unwrap();
    assert!(fitting.step().unwrap().before_start);
    let fit = fitting.finish().unwrap();
    assert!(fit.k() >= 2 && fit.record().bound.is_some());
}

/// Three sparse factors of forty features whose noise is not alike: sparse weights alone take a feature that says
/// much for a fourth, after three times the sweeps.
#[test]
fn dense_weights_find_how_many_factors_there_are() {
    const N: usize = 1000;
    let mut rng = StreamKey::new(2).rng();
    let z = Mat::from_fn(N, 3, |_, _| standard_normal(&mut rng));
    let w = Mat::from_fn(3, 40, |_, _| {
        let (a, b) = (standard_normal(&mut rng), standard_normal(&mut rng));
        if b > -0.5 { 0.0 } else { a }
    });
    let x = &z * &w;
    let sd = |d: usize| 0.2 * 25_f64.powf(d as f64 / 40.0);
    let x = Mat::from_fn(N, 40, |n, d| {
        let (e, _) = (standard_normal(&mut rng), standard_normal(&mut rng));
        x[(n, d)] + sd(d) * e
    });
    let table = |name: &str, first: usize| Table {
        name: name.to_owned(),
        samples: (0..N).map(|n| format!("s{n}")).collect(),
        features: (0..20).map(|d| format!("{name}{d}")).collect(),
        values: Mat::from_fn(N, 20, |n, d| x[(n, first + d)]),
        levels: Vec::new(),
    };
    let builder = Dataset::builder().view(table("a", 0));
    let data = builder.view(table("b", 20)).build().unwrap();
    let mut spec = models::mofa(40);
    spec.restarts = 3;
    let ran = |mut fitting: Fitting| {
        while !fitting.step().unwrap().done {}
        fitting.finish().unwrap()
    };
    let fit = ran(Fitting::new(data.clone(), spec.clone()).unwrap());
    assert_eq!(fit.k(), 3);
    assert_eq!(fit.record().outcome, Outcome::Converged);
    assert!(fit.record().sweeps < 600, "{}", fit.record().sweeps);
    // later restarts start where dense weights led as well, and end near the first
    let bounds = &fit.record().restart_bounds;
    assert_eq!(bounds.len(), 3);
    for bound in bounds {
        assert!((bound - bounds[0]).abs() < 30.0, "{bounds:?}");
    }
    // and go on from a checkpoint as if nothing had been
    let mut first = Fitting::new(data.clone(), spec.clone()).unwrap();
    while first.step().unwrap().restart < 2 {}
    let mut second = Fitting::new(data, spec).unwrap();
    second.resume(&first.checkpoint().unwrap()).unwrap();
    let again = ran(second);
    assert_eq!(&again.record().restart_bounds, bounds);
}

/// While dense weights come first the bound is theirs: the one that the latest step told.
#[test]
fn the_bound_is_that_of_the_weights_that_are_swept() {
    let normal = |rows: usize, columns: usize, stream: u64| {
        let mut rng = StreamKey::new(stream).rng();
        Mat::from_fn(rows, columns, |_, _| standard_normal(&mut rng))
    };
    let values = normal(200, 2, 1) * normal(2, 10, 2) + normal(200, 10, 3);
    let table = Table {
        name: "a".into(),
        samples: (0..200).map(|n| n.to_string()).collect(),
        features: (0..10).map(|d| d.to_string()).collect(),
        levels: Vec::new(),
        values,
    };
    let data = Dataset::builder().view(table).build().unwrap();
    let mut fitting = Fitting::new(data, models::mofa(4)).unwrap();
    let progress = fitting.step().unwrap();
    assert!(progress.before_start);
    let bound = fitting.bound().unwrap();
    assert!(
        (bound / progress.objective - 1.0).abs() < 1e-9,
        "{bound} {}",
        progress.objective
    );
}

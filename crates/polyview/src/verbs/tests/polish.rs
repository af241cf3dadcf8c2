//! Chains that start at the optimum of variational Bayes.

use polyview_core::{Dataset, Event, Table};
use polyview_linalg::Mat;
use polyview_random::{StreamKey, standard_normal, uniform_open01};

use super::{cells, noise_by_view, rebuilt, simulated, table};
use crate::spec::{ChainStart, EngineKind, ModelSpec};
use crate::{ErrorKind, Fit, Fitting, models};

/// Numbers, labels, classes and counts of two factors.
fn mixed(samples: usize) -> Dataset {
    let mut rng = StreamKey::new(5).rng();
    let z: Vec<[f64; 2]> = (0..samples)
        .map(|_| [(); 2].map(|()| standard_normal(&mut rng)))
        .collect();
    let mut table = |name: &str, features: usize, draw: &dyn Fn(f64, f64, f64) -> f64| Table {
        name: name.into(),
        samples: (0..samples).map(|n| format!("s{n}")).collect(),
        features: (0..features).map(|d| format!("{name}{d}")).collect(),
        values: Mat::from_fn(samples, features, |n, d| {
            let eta = z[n][0] * (1.0 + 0.2 * d as f64) - z[n][1] * (d % 3) as f64;
            draw(eta, standard_normal(&mut rng), uniform_open01(&mut rng))
        }),
        levels: Vec::new(),
    };
    let numbers = table("numbers", 8, &|eta, noise, _| eta + noise);
    let labels = table("labels", 3, &|eta, _, u| {
        f64::from(u8::from(u < polyview_special::sigmoid(eta)))
    });
    let counts = table("counts", 4, &|eta, _, u| {
        (20.0 * u * (0.5 * eta).exp()).floor()
    });
    let mut classes = table("classes", 1, &|eta, noise, _| {
        f64::from(u8::from(eta + 0.3 * noise > 0.5) + u8::from(eta + 0.3 * noise > -0.5))
    });
    classes.levels = ["a", "b", "c"].map(str::to_owned).into();
    let builder = Dataset::builder().view(numbers).view(labels);
    builder.view(counts).view(classes).build().unwrap()
}

fn spec() -> ModelSpec {
    models::sshiba(4)
        .with_likelihood("labels", "bernoulli")
        .with_likelihood("counts", "negative-binomial")
        .with_likelihood("classes", "categorical")
}

/// Every likelihood goes from its own form by variational Bayes to that of draws.
#[test]
fn the_chain_starts_where_the_optimum_is() {
    let data = mixed(60);
    let optimum = crate::fit(data.clone(), spec()).unwrap();
    let mut fitting = Fitting::new(data, spec().polished(60)).unwrap();
    while fitting.chains().is_empty() {
        assert!(!fitting.step().unwrap().done);
    }
    // before its first sweep: rows are those of the optimum, up to order and signs
    let chain = fitting.chains()[0].model();
    let size = |m: polyview_linalg::MatRef<'_, f64>| m.norm_l2();
    assert_eq!(chain.k(), optimum.k());
    let of_optimum = optimum.factors().unwrap().mean;
    let here = chain.factors.moments().mean();
    assert!((size(here) - of_optimum.norm_l2()).abs() < 1e-9 * size(here));
    for (at, view) in chain.views.iter().enumerate() {
        let there = optimum.weights(&optimum.views()[at].name).unwrap().mean;
        let here = view.weights.moments().mean();
        assert!((size(here) - there.norm_l2()).abs() < 1e-9 * (1.0 + size(here)));
    }
    // what data terms have of their own is drawn already: noise of a precision about 1
    let noise = chain.views[0].term.as_noise().unwrap();
    let precisions = noise.precisions().unwrap();
    assert!(precisions.is_draw());
    while !fitting.step().unwrap().done {}
    let fit = fitting.finish().unwrap();
    let record = fit.record();
    let (found, own) = (record.optimum.as_ref().unwrap(), optimum.record());
    assert_eq!(found.bound, own.bound.unwrap());
    assert_eq!((found.sweeps, found.outcome), (own.sweeps, own.outcome));
    assert_eq!(record.bound, None);
    assert_eq!(
        (record.sweeps, fit.n_components(), fit.k()),
        (80, 60, optimum.k())
    );
    assert!(fit.is_sampled() && record.ledgers.len() == 1);
    let told = |e: &Event| e.to_string().contains("optimum of variational Bayes");
    assert!(record.journal.entries.iter().any(|e| told(&e.event)));
    assert!(
        fit.polished()
            .unwrap()
            .contains("60 of them are the posterior")
    );
    assert_eq!(optimum.polished(), None);
}

/// Predictions, files and all else are those of draws.
#[test]
fn draws_predict() {
    let data = mixed(80);
    let fit = crate::fit(data.clone(), spec().polished(40)).unwrap();
    let read = Fit::from_bytes(&fit.to_bytes().unwrap()).unwrap();
    assert_eq!(read.record(), fit.record());
    assert_eq!(read.run_options().gibbs.start, ChainStart::Optimum);
    // large counts are slow to project with the sites of draws
    let seen = rebuilt(&data, &["numbers", "labels"], |v| table(&data, v));
    for name in ["labels", "counts", "classes", "numbers"] {
        let [a, b] = [&fit, &read].map(|f| f.predict(&seen, name).unwrap());
        assert_eq!(a.mean, b.mean, "{name}");
    }
    assert!(fit.explain().unwrap().total[0] > 0.3);
}

/// A chain from the optimum is about where chains from anywhere end.
#[test]
fn the_posterior_is_that_of_gibbs_sampling() {
    let data = simulated(80, 3, cells(0.1));
    let mut gibbs = noise_by_view(3);
    gibbs.engine = EngineKind::Gibbs;
    (gibbs.gibbs.warm_up, gibbs.gibbs.sweeps) = (300, 600);
    let long = crate::fit(data.clone(), gibbs).unwrap();
    let short = crate::fit(data, noise_by_view(3).polished(300)).unwrap();
    for view in ["view1", "view2"] {
        let [a, b] = [&long, &short].map(|f| f.fitted(view).unwrap());
        let gap = (&a.mean - &b.mean).norm_l2() / a.mean.norm_l2();
        assert!(gap < 0.08, "{view}: {gap}");
    }
}

/// What ends before a draw is kept, and what variational Bayes cannot fit, is said.
#[test]
fn what_cannot_be_polished() {
    let data = simulated(30, 3, cells(0.0));
    let fitting = Fitting::new(data.clone(), noise_by_view(2).polished(30)).unwrap();
    let e = fitting.finish().unwrap_err();
    assert!(
        matches!(
            e.kind(),
            ErrorKind::Option {
                option: "sweeps",
                ..
            }
        ),
        "{e}"
    );
    let e = crate::fit(data, noise_by_view(2).polished(0)).unwrap_err();
    assert!(
        matches!(
            e.kind(),
            ErrorKind::Option {
                option: "sweeps",
                ..
            }
        ),
        "{e}"
    );
}

/// What a chain could not draw is refused before variational Bayes begins.
#[test]
fn chains_refuse_before_anything_is_fitted() {
    let data = mixed(30);
    let sparse = || {
        models::mofa(2)
            .with_likelihood("labels", "bernoulli")
            .with_likelihood("counts", "negative-binomial")
            .with_likelihood("classes", "categorical")
    };
    let e = Fitting::new(data.clone(), sparse().polished(30)).err();
    let e = e.expect("classes are drawn around tangents").to_string();
    assert!(e.contains("view 'classes': likelihood categorical"), "{e}");
    assert!(e.contains("leave --polish out"), "{e}");
    let mut chain = sparse();
    chain.engine = EngineKind::Gibbs;
    assert!(Fitting::new(data.clone(), chain).is_err());
    let mut dense = sparse().polished(30);
    for view in &mut dense.views {
        view.choices.selection = "ard".into();
    }
    dense.defaults.selection = "ard".into();
    assert!(Fitting::new(data, dense).is_ok());
}

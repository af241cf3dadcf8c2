//! Views settled on factors that did not see them.

use polyview_core::{Journal, Options, RowMoments, Table};
use polyview_infer::Audit;
use polyview_likelihoods::{Margin, RankOptions};
use polyview_linalg::{Mat, solve_spd};

use super::super::latent;
use super::super::settle::start;
use super::discriminative::{TRAIN, data, some, tables};
use crate::models::{self, Table1};
use crate::{EngineKind, ErrorKind, Fit, ModelSpec, ProjectOptions, Projection, WeightUncertainty};

/// What is projected of the training samples without the view `y`.
fn projected(fit: &Fit, x: &Table) -> Projection {
    let new = data([some(x, 0..TRAIN)]);
    fit.project(&new, &ProjectOptions::default()).unwrap()
}

/// Mean hinge loss of the training labels, given what prediction meets.
fn loss(fit: &Fit, x: &Table, y: &Table) -> f64 {
    let p = fit.predict(&data([some(x, 0..TRAIN)]), "y").unwrap();
    let score = p.score.unwrap();
    let of = |n: usize| (1.0 - (2.0 * y.values[(n, 0)] - 1.0) * score[(n, 0)]).max(0.0);
    (0..TRAIN).map(of).sum::<f64>() / TRAIN as f64
}

fn train(x: &Table, y: &Table, spec: ModelSpec) -> Fit {
    crate::fit(data([some(x, 0..TRAIN), some(y, 0..TRAIN)]), spec).unwrap()
}

/// The two-step estimate by hand: variational regression of the target on the means of the
/// projected factors, one precision for its weights, one noise precision.
#[test]
fn settled_weights_are_those_of_a_second_step() {
    let (x, _) = tables(false);
    let logs = Table {
        values: Mat::from_fn(x.values.nrows(), 6, |n, d| x.values[(n, d)].ln()),
        features: x.features[..6].to_vec(),
        ..x.clone()
    };
    let t = Table {
        name: "y".into(),
        features: vec!["y".into()],
        values: Mat::from_fn(x.values.nrows(), 1, |n, _| x.values[(n, 9)].ln()),
        ..x.clone()
    };
    let mut spec = models::bibfa(2);
    spec.vb.tolerance = 1e-13;
    spec.vb.movement = 1e-9;
    spec.vb.max_sweeps = 20_000;
    let mut fit = train(&logs, &t, spec);
    let (before, factors) = (fit.weights("y").unwrap(), fit.factors().unwrap());
    let others = fit.weights("x").unwrap();
    let z = projected(&fit, &logs);
    fit.settle(&["y"]).unwrap();
    let after = fit.weights("y").unwrap();

    let (k, y) = (fit.k(), fit.data().unwrap()[1].values().to_owned());
    let second =
        |i: usize, j: usize| -> f64 { (0..TRAIN).map(|n| z.mean[(n, i)] * z.mean[(n, j)]).sum() };
    let n = TRAIN as f64;
    let (mut w, mut cov) = (vec![0.0; k], Mat::<f64>::identity(k, k));
    let (mut alpha, mut tau, mut b) = (1.0, 1.0, 0.0);
    for _ in 0..20_000 {
        let p = Mat::from_fn(k, k, |i, j| {
            tau * second(i, j) + if i == j { alpha } else { 0.0 }
        });
        let h = Mat::from_fn(k, 1, |i, _| {
            (0..TRAIN)
                .map(|r| tau * z.mean[(r, i)] * (y[(r, 0)] - b))
                .sum::<f64>()
        });
        let m = solve_spd(p.as_ref(), h.as_ref()).unwrap();
        w = (0..k).map(|i| m[(i, 0)]).collect();
        cov = solve_spd(p.as_ref(), Mat::<f64>::identity(k, k).as_ref()).unwrap();
        let b_var = 1.0 / (n * tau + 1.0);
        let eta = |r: usize| (0..k).map(|i| z.mean[(r, i)] * w[i]).sum::<f64>();
        b = b_var * tau * (0..TRAIN).map(|r| y[(r, 0)] - eta(r)).sum::<f64>();
        let mut square = 0.0;
        for r in 0..TRAIN {
            let e = y[(r, 0)] - b;
            square += e * e - 2.0 * e * eta(r) + b_var;
        }
        for i in 0..k {
            for j in 0..k {
                square += second(i, j) * (w[i] * w[j] + cov[(i, j)]);
            }
        }
        tau = (1e-6 + 0.5 * n) / (1e-6 + 0.5 * square);
        let squares: f64 = (0..k).map(|i| w[i] * w[i] + cov[(i, i)]).sum();
        alpha = (1.0 + 0.5 * k as f64) / (1.0 + 0.5 * squares);
    }
    for i in 0..k {
        assert!(
            (after.mean[(0, i)] - w[i]).abs() < 1e-5,
            "{i}: {} {}",
            after.mean[(0, i)],
            w[i]
        );
        assert!((after.sd[(0, i)] - cov[(i, i)].sqrt()).abs() < 1e-5);
    }
    // what factors leave of the target is not noise
    let spread = |n: usize| z.covariance_of(n).quad(&w);
    let spread: f64 = (0..TRAIN).map(spread).sum::<f64>() / n;
    let component = fit.component(0).unwrap();
    let noise = component.views[1].term.as_noise().unwrap();
    let found = 1.0 / noise.precisions().unwrap().mean()[0];
    assert!(spread > 1e-4, "{spread}");
    assert!(
        (found - (1.0 / tau - spread)).abs() < 1e-5,
        "{found} {tau} {spread}"
    );
    assert!((0..k).any(|i| (before.mean[(0, i)] - w[i]).abs() > 1e-3));
    // and nothing else has changed
    assert_eq!(factors.mean, fit.factors().unwrap().mean);
    assert_eq!(others.mean, fit.weights("x").unwrap().mean);
    assert_eq!(z.mean, projected(&fit, &logs).mean);
}

/// With ranks that say as much as they can: what is projected is nearly certain, so that the
/// loss at its mean is what settling brings down.
fn certain(mut spec: ModelSpec) -> ModelSpec {
    let ranks = RankOptions {
        margin: Margin::Fixed(1.0),
        ..RankOptions::default()
    };
    spec.defaults.ranks = Options::of(&ranks).unwrap();
    spec
}

#[test]
fn labels_fit_better_what_a_prediction_meets() {
    let (x, y) = tables(false);
    for (label, local) in [
        ("svm", false),
        ("svm", true),
        ("probit", false),
        ("bernoulli", false),
        ("bernoulli-latent", false),
    ] {
        let model = if local {
            Table1::RankMixtureSvm
        } else {
            Table1::RankLinearSvm
        };
        let mut spec = certain(model.spec(3, &["y"]).with_likelihood("y", label));
        spec = spec.with_settled("y", false);
        spec.mixture.components = 2;
        spec.vb.max_sweeps = 60;
        spec.vb.audit = Audit::Blocks;
        let mut fit = train(&x, &y, spec);
        let before = fit.predict(&data([some(&x, 0..TRAIN)]), "y").unwrap();
        let joint = loss(&fit, &x, &y);
        let out = fit.settle(&["y"]).unwrap();
        assert!(out.sweeps > 0);
        let settled = loss(&fit, &x, &y);
        let after = fit.predict(&data([some(&x, 0..TRAIN)]), "y").unwrap();
        assert_ne!(before.mean, after.mean, "{label}");
        // what is optimal includes the prior: the loss itself need not fall
        assert!(
            settled < joint + 0.02,
            "{label} {local}: {joint} to {settled}"
        );
    }
}

/// The projection of the training samples starts where the fit ended, which is
/// near, and comes to the same factors as from nothing; not so under a prior with
/// several optima, where it would stay at that of the labels.
#[test]
fn settling_starts_where_the_fit_ended() {
    let (x, y) = tables(false);
    for (model, warm) in [
        (Table1::RankLinearSvm, true),
        (Table1::RankMixtureSvm, false),
    ] {
        let mut spec = certain(model.spec(3, &["y"]).with_settled("y", false));
        spec.mixture.components = 2;
        spec.vb.max_sweeps = 60;
        let mut fit = train(&x, &y, spec);
        let component = fit.component(0).unwrap();
        let others = [Some(fit.data().unwrap()[0].clone()), None];
        let rounds = |start: RowMoments| {
            let weights = latent::usual(WeightUncertainty::Variational);
            let journal = &mut Journal::default();
            let from = (&fit.samples[..], start);
            let found = latent::block(&fit, &component, &others, from, weights, journal);
            let (block, rounds) = found.unwrap();
            (block.moments().mean().to_owned(), rounds)
        };
        let own = start(&component, TRAIN);
        let (from_own, few) = rounds(own.clone());
        let (from_nothing, many) = rounds(latent::start(&component, TRAIN));
        if warm {
            assert_eq!(own.mean(), component.factors().mean());
            assert!(few < many, "{few} {many}");
            let gap = &from_own - &from_nothing;
            assert!(gap.norm_max() < 1e-4, "{}", gap.norm_max());
        } else {
            assert_eq!((own.mean().norm_max(), few), (0.0, many));
        }
        assert_eq!(fit.settle(&["y"]).unwrap().rounds, few);
    }
}

/// A second time finds weights, intercepts, scales and noise where they belong.
#[test]
fn what_is_settled_stays() {
    let (x, y) = tables(false);
    let mut spec = Table1::RankLinearSvm.spec(3, &["y"]);
    spec = spec.with_settled("y", false);
    spec.vb.max_sweeps = 60;
    let mut fit = train(&x, &y, spec);
    let first = fit.settle(&["y"]).unwrap();
    let once = fit.weights("y").unwrap();
    let second = fit.settle(&["y"]).unwrap();
    let twice = fit.weights("y").unwrap();
    assert_eq!(first.rounds, second.rounds);
    assert!(4 * second.sweeps < first.sweeps, "{first:?} {second:?}");
    let gap = &once.mean - &twice.mean;
    assert!(
        gap.norm_max() < 1e-3 * once.mean.norm_max(),
        "{}",
        gap.norm_max()
    );
}

#[test]
fn classes_are_settled_too() {
    let (x, _) = tables(false);
    let class = Table {
        name: "y".into(),
        features: vec!["y".into()],
        levels: ["low", "middle", "high"].map(str::to_owned).to_vec(),
        values: Mat::from_fn(x.values.nrows(), 1, |n, _| {
            let level = x.values[(n, 0)].ln();
            f64::from(u8::from(level > -0.5)) + f64::from(u8::from(level > 0.5))
        }),
        ..x.clone()
    };
    let mut spec = models::rank(3).with_likelihood("y", "categorical");
    spec.vb.max_sweeps = 40;
    spec.vb.audit = Audit::Blocks;
    let right = |fit: &Fit| {
        let p = fit
            .predict(&data([some(&x, TRAIN..x.samples.len())]), "y")
            .unwrap();
        let classes = p.classes();
        let hit = |n: &usize| classes[*n] as f64 == class.values[(TRAIN + n, 0)];
        (0..classes.len()).filter(hit).count()
    };
    let joint = right(&train(&x, &class, spec.clone().with_settled("y", false)));
    let settled = right(&train(&x, &class, spec));
    assert!(settled + 3 >= joint && settled > 24, "{joint} {settled}");
}

/// The choice of the preset, the choice of a view, and the verb are one thing;
/// the model file keeps it.
#[test]
fn the_choice_is_the_verb() {
    let (x, y) = tables(false);
    let mut spec = Table1::RankLinearSvm.spec(3, &["y"]);
    spec.vb.max_sweeps = 30;
    let chosen = train(&x, &y, spec.clone());
    assert_eq!(chosen.views()[1].choices.settle, Some(true));
    assert_eq!(chosen.views()[0].choices.settle, None);
    let entries = &chosen.record().journal.entries;
    assert!(
        entries
            .iter()
            .any(|e| e.event.to_string().contains("settled on factors"))
    );
    let mut plain = train(&x, &y, spec.clone().with_settled("y", false));
    let joint = plain.weights("y").unwrap().mean;
    assert_ne!(joint, chosen.weights("y").unwrap().mean);
    plain.settle(&["y"]).unwrap();
    assert_eq!(
        plain.weights("y").unwrap().mean,
        chosen.weights("y").unwrap().mean
    );
    assert_eq!(plain.spec(), chosen.spec());
    assert_eq!(plain.record().bound, chosen.record().bound);

    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("m.pv");
    chosen.save(&path, crate::Overwrite::Refuse).unwrap();
    let again = Fit::load(&path).unwrap();
    assert_eq!(again.views()[1].choices.settle, Some(true));
    let new = data([some(&x, TRAIN..x.samples.len())]);
    let (a, b) = (
        chosen.predict(&new, "y").unwrap(),
        again.predict(&new, "y").unwrap(),
    );
    assert_eq!(a.mean, b.mean);
    // labels of any other preset are left alone
    assert_eq!(
        models::sshiba(3)
            .with_likelihood("y", "svm")
            .view("y")
            .settle,
        None
    );
}

#[test]
fn what_cannot_be_settled_is_refused() {
    let (x, y) = tables(false);
    let mut spec = Table1::RankLinearSvm.spec(3, &["y"]);
    spec.vb.max_sweeps = 5;
    let mut fit = train(&x, &y, spec.clone());
    let kind = |e: crate::Error| e.kind().clone();
    assert!(matches!(
        kind(fit.settle(&["z"]).unwrap_err()),
        ErrorKind::UnknownView { .. }
    ));
    for targets in [&["x"][..], &["y", "x"]] {
        let error = kind(fit.settle(targets).unwrap_err());
        assert!(matches!(error, ErrorKind::Incompatible { ref view, .. } if view == "x"));
    }
    fit.forget_data();
    assert_eq!(kind(fit.settle(&["y"]).unwrap_err()), ErrorKind::NoData);
    let mut real = models::bibfa(2);
    real.vb.max_sweeps = 3;
    let mut fit = train(&x, &y, real.clone());
    let error = kind(fit.settle(&["x", "y"]).unwrap_err());
    assert!(
        matches!(error, ErrorKind::Incompatible { .. }),
        "no view is left"
    );
    // Gibbs draws, by the verb and by the choice
    real.engine = EngineKind::Gibbs;
    (
        real.gibbs.chains,
        real.gibbs.warm_up,
        real.gibbs.sweeps,
        real.gibbs.thin,
    ) = (1, 2, 4, 2);
    let mut fit = train(&x, &y, real.clone());
    let error = kind(fit.settle(&["y"]).unwrap_err());
    assert!(matches!(error, ErrorKind::NotWithEngine { .. }));
    // for all views at once, which only the data name
    let mut all = real.clone();
    all.defaults.settle = Some(true);
    let both = data([some(&x, 0..TRAIN), some(&y, 0..TRAIN)]);
    let error = crate::validate(&all, &both).unwrap_err();
    assert!(matches!(kind(error), ErrorKind::Incompatible { .. }));
    let error = real.with_settled("y", true).validate().unwrap_err();
    assert!(matches!(kind(error), ErrorKind::Incompatible { .. }));
    // the preset alone does not ask it of an engine that cannot
    spec.engine = EngineKind::Gibbs;
    assert!(spec.validate().is_ok() && spec.view("y").settle.is_none());
}

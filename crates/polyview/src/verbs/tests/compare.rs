//! Two fits of the same data.

use polyview_core::{Domain, GammaPrior};
use polyview_linalg::Mat;

use super::labels::{mixed, spec};
use super::{cells, gap, gibbs, noise_by_view, rows, simulated, vb};
use crate::{EngineKind, ErrorKind, Fit, ModelSpec};

fn sampled(mut spec: ModelSpec) -> ModelSpec {
    spec.engine = EngineKind::Gibbs;
    (spec.gibbs.chains, spec.gibbs.warm_up) = (2, 150);
    (spec.gibbs.sweeps, spec.gibbs.thin) = (400, 4);
    spec
}

#[test]
fn a_fit_agrees_with_itself() {
    let fit = crate::fit(mixed(80, 1), spec()).unwrap();
    let found = fit.compare(&fit).unwrap();
    assert_eq!(
        (found.samples, found.views.len(), found.notes.len()),
        (80, 3, 0)
    );
    for v in &found.views {
        assert!((v.correlation - 1.0).abs() < 1e-12);
        for s in [v.predictor_spread, v.weight_spread] {
            assert!(s.quantities > 0);
            assert!((s.lower - 1.0).abs() < 1e-12 && (s.upper - 1.0).abs() < 1e-12);
        }
    }
    assert_eq!(found.views[2].kind, Domain::CLASSES);
}

/// The moments of predictors are those of the fit, less the noise.
#[test]
fn moments_are_those_of_the_predictions() {
    let data = simulated(40, 2, cells(0.1));
    for fit in [vb(data.clone(), 2), gibbs(data, 2)] {
        let found = fit.compare(&fit).unwrap();
        let fitted = fit.fitted("view1").unwrap();
        let v = &found.views[0];
        let info = &fit.views()[0];
        let (n, d) = (40, info.features.len());
        assert_eq!(v.predictor.mean.len(), n * d);
        let mean = Mat::from_fn(n, d, |i, j| {
            info.scaling.backward(j, v.predictor.mean[j * n + i])
        });
        assert!(gap(&mean, &fitted.mean) < 1e-9);
        for j in 0..d {
            let more: Vec<f64> = (0..n)
                .map(|i| {
                    let sd = fitted.sd[(i, j)] / info.scaling.scale[j];
                    sd.powi(2) - v.predictor.sd[j * n + i].powi(2)
                })
                .collect();
            // the same for all samples of a feature
            assert!(more.iter().all(|m| *m > 0.0 && (m - more[0]).abs() < 1e-9));
        }
    }
}

/// The same predictions; what variational Bayes takes for independent makes it
/// surer than the sampler.
#[test]
fn engines_predict_the_same_and_differ_in_spread() {
    let data = mixed(100, 2);
    let spec = || ModelSpec {
        noise_prior: Some(GammaPrior::new(1e-6, 1e-6)),
        ..spec()
    };
    let vb = crate::fit(data.clone(), spec()).unwrap();
    let mut quick = sampled(spec());
    quick.noise_prior = None;
    (quick.gibbs.warm_up, quick.gibbs.sweeps, quick.gibbs.thin) = (1, 2, 1);
    let told = vb
        .compare(&crate::fit(data.clone(), quick).unwrap())
        .unwrap();
    assert!(
        told.notes.iter().any(|n| n.contains("noise-prior")),
        "{:?}",
        told.notes
    );
    let gibbs = crate::fit(data, sampled(spec())).unwrap();
    let found = vb.compare(&gibbs).unwrap();
    // only the engine differs
    assert!(found.notes.is_empty(), "{:?}", found.notes);
    for v in &found.views {
        assert!(v.correlation > 0.95, "{}: {}", v.view, v.correlation);
        let s = v.predictor_spread;
        assert!(s.lower < s.median && s.median < s.upper);
        // much too sure of the scores of classes, which broad priors leave open above, and a little of the rest
        let range = match v.kind {
            Domain::CLASSES => 0.02..0.6,
            _ => 0.6..1.1,
        };
        assert!(range.contains(&s.median), "{}: {s:?}", v.view);
    }
    let back = gibbs.compare(&vb).unwrap();
    for (a, b) in found.views.iter().zip(&back.views) {
        assert!((a.correlation - b.correlation).abs() < 1e-9);
        let product = a.predictor_spread.median * b.predictor_spread.median;
        assert!((product - 1.0).abs() < 0.01, "{product}");
    }
}

/// Samples, features and units are matched by name.
#[test]
fn what_one_fit_lacks_is_left_out() {
    let data = simulated(40, 2, cells(0.0));
    let order: Vec<usize> = (5..35).rev().collect();
    let part = vb(rows(&data, &order), 2);
    let whole = vb(data.clone(), 2);
    let found = whole.compare(&part).unwrap();
    assert_eq!(found.samples, 30);
    assert!(found.notes.iter().any(|n| n.contains("30 samples")));
    assert!(found.views.iter().all(|v| v.correlation > 0.9));
    // about one another in the units of the first
    let v = &found.views[0].predictor;
    let worst = v.mean.iter().zip(&v.other_mean).map(|(a, b)| (a - b).abs());
    assert!(worst.fold(0.0, f64::max) < 0.6);
    let renamed = |fit: &Fit| {
        let mut out = fit.clone();
        for s in &mut out.samples {
            s.insert(0, 'x');
        }
        out
    };
    let error = whole.compare(&renamed(&part)).unwrap_err();
    assert!(matches!(
        error.kind(),
        ErrorKind::NothingInCommon { what: "sample" }
    ));
}

/// Whether settling was left out or never spoken of makes no difference.
#[test]
fn settled_weights_are_told_from_those_that_are_not() {
    let data = simulated(40, 2, cells(0.0));
    let fit = |settle: Option<bool>| {
        let spec = noise_by_view(2);
        let spec = match settle {
            Some(settle) => spec.with_settled("view2", settle),
            None => spec,
        };
        crate::fit(data.clone(), spec).unwrap()
    };
    let (settled, not, unsaid) = (fit(Some(true)), fit(Some(false)), fit(None));
    let notes = |a: &Fit, b: &Fit| a.compare(b).unwrap().notes;
    assert_eq!(notes(&not, &unsaid), Vec::<String>::new());
    assert_eq!(notes(&unsaid, &not), Vec::<String>::new());
    for other in [&not, &unsaid] {
        let said = [notes(&settled, other), notes(other, &settled)];
        let ends = ["in the first of the fits", "in the second of the fits"];
        for (said, end) in said.iter().zip(ends) {
            assert!(said.len() == 1 && said[0].contains(end), "{said:?}");
            assert!(said[0].starts_with("view2: "), "{said:?}");
        }
    }
}

#[test]
fn fits_of_other_data_are_told() {
    let first = simulated(30, 1, cells(0.0));
    let (a, b) = (vb(first.clone(), 2), vb(simulated(30, 2, cells(0.0)), 2));
    let other = |a: &Fit, b: &Fit| {
        let notes = a.compare(b).unwrap().notes;
        notes
            .iter()
            .filter(|n| n.contains("other data of it"))
            .count()
    };
    assert_eq!(other(&a, &b), 2);
    // the same data, other choices
    let mut unscaled = noise_by_view(2);
    unscaled.defaults.scaling = polyview_core::FeatureScaling::None;
    let c = crate::fit(first, unscaled).unwrap();
    assert_eq!(other(&a, &c), 0);
    // without data, by their means
    let without = |fit: &Fit| {
        let mut fit = fit.clone();
        fit.forget_data();
        fit
    };
    assert_eq!(other(&without(&a), &b), 2);
    assert_eq!(other(&without(&a), &without(&c)), 0);
}

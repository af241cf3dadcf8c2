//! Horseshoe weights and classifiers, through every verb.

use polyview_core::Dataset;

use super::labels::{mixed, spec, without};
use super::{gap, simulated};
use crate::spec::{EngineKind, GibbsOptions, ModelSpec, ShrinkageShapes};
use crate::{Fit, models};

fn horseshoe(likelihood: &'static str, engine: EngineKind) -> ModelSpec {
    let mut spec = ModelSpec {
        engine,
        gibbs: GibbsOptions {
            chains: 2,
            warm_up: 60,
            sweeps: 100,
            thin: 10,
            ..GibbsOptions::default()
        },
        ..spec().with_likelihood("labels", likelihood)
    };
    spec.defaults.selection = "horseshoe".into();
    for v in &mut spec.views {
        v.choices.selection = "horseshoe".into();
    }
    spec
}

fn auc(fit: &Fit, data: &Dataset) -> f64 {
    let p = fit.predict(&without(data, &["real"]), "labels").unwrap();
    let truth = data.view("labels").unwrap();
    let mut sum = 0.0;
    for d in 0..4 {
        let cells = 0..data.n_samples();
        let labels: Vec<bool> = cells
            .clone()
            .map(|n| truth.value(n, d) == Some(1.0))
            .collect();
        let scores: Vec<f64> = cells.map(|n| p.mean[(n, d)]).collect();
        assert!(scores.iter().all(|p| (0.0..=1.0).contains(p)));
        sum += crate::metrics::auc(&labels, &scores).unwrap().unwrap() / 4.0;
    }
    sum
}

#[test]
fn classifiers_predict_labels_in_both_engines() {
    let (data, new) = (mixed(200, 1), mixed(150, 2));
    let logistic = auc(&crate::fit(data.clone(), spec()).unwrap(), &new);
    for likelihood in ["svm", "probit"] {
        for engine in [EngineKind::Vb, EngineKind::Gibbs] {
            let fit = crate::fit(data.clone(), horseshoe(likelihood, engine)).unwrap();
            let found = auc(&fit, &new);
            assert!(
                found > logistic - 0.03,
                "{likelihood} {engine:?}: {found} {logistic}"
            );
            // the file holds all of it
            let again = Fit::from_bytes(&fit.to_bytes().unwrap()).unwrap();
            let input = without(&new, &["real"]);
            let (a, b) = (
                fit.predict(&input, "labels").unwrap(),
                again.predict(&input, "labels").unwrap(),
            );
            assert!(gap(&a.mean, &b.mean) == 0.0);
            for view in ["real", "labels", "class"] {
                let counts = fit.effective_features(view).unwrap();
                let all = fit.view(view).unwrap().1.columns().len() as f64;
                assert_eq!(counts.len(), fit.k());
                assert!(counts.iter().all(|c| (1.0 - 1e-9..=all + 1e-9).contains(c)));
            }
        }
    }
}

/// The scale of a factor, or of a label: what shares one.
#[test]
fn factors_have_scales_in_views_of_numbers_and_labels_their_own() {
    let fit = crate::fit(mixed(120, 1), horseshoe("svm", EngineKind::Vb)).unwrap();
    let state = fit.components[0].reader();
    let scales = |view: &str, n: usize| {
        state
            .vec_of(&format!("views/{view}/weights/prior/phi/rate"), n)
            .is_ok()
    };
    assert!(scales("real", fit.k()) && scales("labels", 4) && scales("class", 3));
}

#[test]
fn shapes_and_what_cannot_be_turned_are_refused() {
    let mut spec = models::bibfa(2);
    spec.defaults.selection = "horseshoe".into();
    let data = simulated(40, 1, polyview_datasets::Missing::default());
    let fit = crate::fit(data.clone(), spec.clone()).unwrap();
    assert!(fit.varimax().unwrap_err().to_string().contains("horseshoe"));
    for (r, s) in [
        (0.0, 0.5),
        (0.5, -1.0),
        (f64::NAN, 0.5),
        (0.5, f64::INFINITY),
    ] {
        let spec = ModelSpec {
            shrinkage_prior: ShrinkageShapes { r, s },
            ..spec.clone()
        };
        let error = crate::fit(data.clone(), spec).unwrap_err().to_string();
        assert!(error.contains("shrinkage-prior"), "{error}");
    }
    // other shapes make another fit
    spec.shrinkage_prior = ShrinkageShapes { r: 1.5, s: 0.8 };
    let other = crate::fit(data, spec).unwrap();
    let gap = other.record().bound.unwrap_or(0.0) - fit.record().bound.unwrap_or(0.0);
    assert!(gap != 0.0);
}

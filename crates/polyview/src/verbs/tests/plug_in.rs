//! Predictions with known parameters (spec/sshiba P1, P3, P5, P7).

use polyview_core::Dataset;
use polyview_likelihoods::ParameterUncertainty;
use polyview_linalg::Mat;
use polyview_special::{normal_cdf, normal_pdf, sigmoid};

use super::labels::{mixed, spec, without};
use super::{cells, gap, rebuilt, simulated, table, vb};
use crate::{Fit, PredictOptions, ProjectOptions, WeightUncertainty};

const PLUG_IN: PredictOptions = PredictOptions {
    parameters: ParameterUncertainty::PlugIn,
    unknown_classes: polyview_core::UnknownClass::Error,
};

/// Means of the linear predictor of a view by factors of weights at their means.
fn predictor(fit: &Fit, view: &str, z: &Mat<f64>) -> Mat<f64> {
    let (at, _) = fit.view(view).unwrap();
    let part = &fit.component(0).unwrap().views[at];
    let (w, b) = (part.weights.mean(), part.bias.mean());
    Mat::from_fn(z.nrows(), w.nrows(), |n, d| {
        b[d] + (0..z.ncols()).map(|k| z[(n, k)] * w[(d, k)]).sum::<f64>()
    })
}

fn projected(fit: &Fit, data: &Dataset) -> crate::Projection {
    let options = ProjectOptions {
        weights: WeightUncertainty::PlugIn,
        ..ProjectOptions::default()
    };
    fit.project(data, &options).unwrap()
}

#[test]
fn real_values_are_p1_and_p3() {
    let (data, new) = (simulated(25, 1, cells(0.1)), simulated(6, 2, cells(0.2)));
    let input = rebuilt(&new, &["view1"], |v| table(&new, v));
    let fit = vb(data, 2);
    let p = fit.predict_with(&input, "view2", &PLUG_IN).unwrap();
    let z = projected(&fit, &input);
    let eta = predictor(&fit, "view2", &z.mean);
    let part = &fit.component(0).unwrap().views[1];
    let state = fit.components[0].reader();
    let tau = state.vec("views/view2/term/noise/mean").unwrap()[0];
    let scaling = &fit.views()[1].scaling;
    for n in 0..6 {
        let s = z.covariance_of(n);
        for d in 0..5 {
            let w: Vec<f64> = (0..fit.k()).map(|k| part.weights.mean()[(d, k)]).collect();
            let sd = (1.0 / tau + s.quad(&w)).sqrt() * scaling.scale[d];
            assert!((p.sd[(n, d)] / sd - 1.0).abs() < 1e-12);
            let mean = scaling.backward(d, eta[(n, d)]);
            assert!((p.mean[(n, d)] - mean).abs() < 1e-12 * sd);
        }
    }
    let default = fit.predict(&input, "view2").unwrap();
    assert!((0..5).all(|d| p.sd[(0, d)] < 0.99 * default.sd[(0, d)]));
}

/// Known weights leave the factors of new samples more room (P1 against P2); with the same
/// factors, what is known makes no prediction less certain.
#[test]
fn known_weights_widen_factors_and_nothing_else() {
    let (data, new) = (simulated(25, 1, cells(0.1)), simulated(6, 2, cells(0.2)));
    let input = rebuilt(&new, &["view1"], |v| table(&new, v));
    let fit = vb(data, 2);
    let known = projected(&fit, &input);
    let uncertain = fit.project(&input, &ProjectOptions::default()).unwrap();
    for n in 0..6 {
        for k in 0..fit.k() {
            assert!(known.sd[(n, k)] >= uncertain.sd[(n, k)]);
        }
    }
    assert!(known.sd[(0, 0)] > uncertain.sd[(0, 0)]);
    for view in ["view1", "view2"] {
        let same = |parameters| fit.fitted_with(view, parameters).unwrap().sd;
        let (plug_in, posterior) = (
            same(ParameterUncertainty::PlugIn),
            same(ParameterUncertainty::Posterior),
        );
        for d in 0..plug_in.ncols() {
            for n in 0..plug_in.nrows() {
                assert!(plug_in[(n, d)] <= posterior[(n, d)]);
            }
        }
    }
}

#[test]
fn probabilities_of_labels_are_p5() {
    let (train, new) = (mixed(40, 1), mixed(12, 2));
    let input = without(&new, &["real"]);
    for likelihood in ["bernoulli", "bernoulli-latent"] {
        let spec = spec().with_likelihood("labels", likelihood);
        let fit = crate::fit(train.clone(), spec).unwrap();
        let p = fit.predict_with(&input, "labels", &PLUG_IN).unwrap();
        let eta = predictor(&fit, "labels", &projected(&fit, &input).mean);
        let exact = Mat::from_fn(12, 4, |n, d| sigmoid(eta[(n, d)]));
        assert!(gap(&p.mean, &exact) < 1e-12);
        // what is uncertain is less extreme
        let default = fit.predict(&input, "labels").unwrap();
        let extreme = |m: &Mat<f64>| (0..12).map(|n| (m[(n, 0)] - 0.5).abs()).sum::<f64>();
        assert!(extreme(&default.mean) < 0.98 * extreme(&p.mean));
        // holes of the training data, by the factors of the fit
        let filled = fit
            .impute_with("labels", 0.9, ParameterUncertainty::PlugIn)
            .unwrap();
        assert!(
            (0..40).all(|n| filled.sd[(n, 0)] == 0.0),
            "nothing is missing"
        );
        let fitted = fit
            .fitted_with("labels", ParameterUncertainty::PlugIn)
            .unwrap();
        let z = fit.component(0).unwrap().factors().mean().to_owned();
        let eta = predictor(&fit, "labels", &z);
        let exact = Mat::from_fn(40, 4, |n, d| sigmoid(eta[(n, d)]));
        assert!(gap(&fitted.mean, &exact) < 1e-12);
    }
}

#[test]
fn probabilities_of_classes_are_p7() {
    let (train, new) = (mixed(40, 3), mixed(12, 4));
    let input = without(&new, &["real"]);
    let probit = spec().with_likelihood("class", "categorical-probit");
    let fit = crate::fit(train, probit).unwrap();
    let p = fit.predict_with(&input, "class", &PLUG_IN).unwrap();
    let y = predictor(&fit, "class", &projected(&fit, &input).mean);
    // E over u ~ N(0, 1) by equal steps
    let exact = Mat::from_fn(12, 3, |n, i| {
        let step = 0.01;
        (-900..=900)
            .map(|g| f64::from(g) * step)
            .map(|u| {
                let others = (0..3).filter(|&j| j != i);
                let below = others.map(|j| normal_cdf(u + y[(n, i)] - y[(n, j)]));
                step * normal_pdf(u) * below.product::<f64>()
            })
            .sum()
    });
    assert!(gap(&p.mean, &exact) < 1e-8, "{}", gap(&p.mean, &exact));
    let default = fit.predict(&input, "class").unwrap();
    assert!(gap(&p.mean, &default.mean) > 1e-2);
    // data with holes of their own go the same way
    let filled = fit
        .impute_data_with(&input, "class", 0.9, &PLUG_IN)
        .unwrap();
    assert!(gap(&filled.values, &exact) < 1e-8);
}

#[test]
fn known_parameters_have_the_softmax_of_their_predictors() {
    let (train, new) = (mixed(40, 3), mixed(12, 4));
    let input = without(&new, &["real"]);
    let fit = crate::fit(train, spec()).unwrap();
    let p = fit.predict_with(&input, "class", &PLUG_IN).unwrap();
    let y = predictor(&fit, "class", &projected(&fit, &input).mean);
    let exact = Mat::from_fn(12, 3, |n, i| {
        let sum: f64 = (0..3).map(|j| (y[(n, j)] - y[(n, i)]).exp()).sum();
        sum.recip()
    });
    assert!(gap(&p.mean, &exact) < 1e-8, "{}", gap(&p.mean, &exact));
    let default = fit.predict(&input, "class").unwrap();
    assert!(gap(&p.mean, &default.mean) > 1e-3);
}

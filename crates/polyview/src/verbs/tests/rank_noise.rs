//! Pairs of samples are no independent observations: rank views follow no more noise than
//! Gaussian ones do.

use polyview_core::{Dataset, FeatureScaling, Table};
use polyview_linalg::Mat;
use polyview_random::{StreamKey, standard_normal, uniform_open01};

use crate::{Fit, ModelSpec, models};

const SAMPLES: usize = 300;
const FEATURES: usize = 60;

/// Three factors of this size beside noise of 1, all cells and the same with holes.
fn data(signal: f64) -> (Mat<f64>, Dataset) {
    let mut rng = StreamKey::new(8).rng();
    let mut normal = |r, c| Mat::from_fn(r, c, |_, _| standard_normal(&mut rng));
    let (z, w) = (normal(SAMPLES, 3), normal(FEATURES, 3));
    let whole = signal * (&z * w.transpose()) + normal(SAMPLES, FEATURES);
    let seen = Mat::from_fn(SAMPLES, FEATURES, |n, d| {
        if uniform_open01(&mut rng) < 0.1 {
            f64::NAN
        } else {
            whole[(n, d)]
        }
    });
    let table = Table {
        name: "x".into(),
        samples: (0..SAMPLES).map(|n| format!("s{n}")).collect(),
        features: (0..FEATURES).map(|d| format!("f{d}")).collect(),
        levels: Vec::new(),
        values: seen,
    };
    (whole, Dataset::builder().view(table).build().unwrap())
}

/// $R^2$ of the hidden cells.
fn hidden(fit: &Fit, whole: &Mat<f64>, data: &Dataset) -> f64 {
    let predicted = fit.fitted("x").unwrap().mean;
    let (mut left, mut total) = (0.0, 0.0);
    for n in 0..SAMPLES {
        for d in 0..FEATURES {
            if data.view("x").unwrap().value(n, d).is_none() {
                left += (whole[(n, d)] - predicted[(n, d)]).powi(2);
                total += whole[(n, d)].powi(2);
            }
        }
    }
    1.0 - left / total
}

fn gaussian(factors: usize) -> ModelSpec {
    let mut spec = models::rank(factors);
    spec.defaults.likelihood = "gaussian".into();
    spec.defaults.scaling = FeatureScaling::NormalScores;
    spec
}

#[test]
fn noise_has_few_factors_and_explains_little() {
    let (whole, seen) = data(0.0);
    let fit = crate::fit(seen.clone(), models::rank(10)).unwrap();
    assert!(fit.k() <= 5, "{}", fit.k());
    let explained = fit.explain().unwrap().total[0];
    assert!(explained < 0.15, "{explained}");
    let score = hidden(&fit, &whole, &seen);
    assert!(score > -0.15, "{score}");
}

#[test]
fn hidden_cells_are_predicted_as_well_as_by_normal_scores() {
    let (whole, seen) = data(0.5);
    let ranks = crate::fit(seen.clone(), models::rank(10)).unwrap();
    assert!((3..=4).contains(&ranks.k()), "{}", ranks.k());
    let scores = crate::fit(seen.clone(), gaussian(10)).unwrap();
    let (a, b) = (
        hidden(&ranks, &whole, &seen),
        hidden(&scores, &whole, &seen),
    );
    assert!(a > b - 0.02, "{a} {b}");
}

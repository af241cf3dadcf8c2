//! Features that a factor could explain exactly (spec/sites 10).

use polyview_core::{Dataset, FeatureScaling, GammaPrior, Table};
use polyview_linalg::Mat;
use polyview_random::{StreamKey, standard_normal};

use crate::spec::{EngineKind, ModelSpec};
use crate::{Fitting, models};

const SAMPLES: usize = 30;
const FEATURES: usize = 8;
const SEEDS: u64 = 6;

/// Features of two factors, and the share of each one's variance that its noise has among these
/// samples. `noise` is its variance over that of the signal.
fn data(seed: u64, noise: f64) -> (Dataset, Vec<f64>) {
    let mut rng = StreamKey::new(seed).rng();
    let mut normal = |n: usize, d: usize| Mat::from_fn(n, d, |_, _| standard_normal(&mut rng));
    let (z, w, e) = (
        normal(SAMPLES, 2),
        normal(FEATURES, 2),
        normal(SAMPLES, FEATURES),
    );
    let size: Vec<f64> = (0..FEATURES)
        .map(|d| (noise * (w[(d, 0)].powi(2) + w[(d, 1)].powi(2))).sqrt())
        .collect();
    let x = Mat::from_fn(SAMPLES, FEATURES, |n, d| {
        z[(n, 0)] * w[(d, 0)] + z[(n, 1)] * w[(d, 1)] + size[d] * e[(n, d)]
    });
    let variance = |m: &Mat<f64>, d: usize| {
        let mean = m.col(d).iter().sum::<f64>() / SAMPLES as f64;
        m.col(d).iter().map(|x| (x - mean).powi(2)).sum::<f64>() / SAMPLES as f64
    };
    let shares = (0..FEATURES).map(|d| size[d].powi(2) * variance(&e, d) / variance(&x, d));
    let shares = shares.collect();
    let table = Table {
        name: "x".into(),
        samples: (0..SAMPLES).map(|n| format!("s{n}")).collect(),
        features: (0..FEATURES).map(|d| format!("f{d}")).collect(),
        values: x,
        levels: Vec::new(),
    };
    (Dataset::builder().view(table).build().unwrap(), shares)
}

fn spec(prior: Option<GammaPrior>) -> ModelSpec {
    let mut spec = models::bibfa(3);
    spec.engine = EngineKind::Gibbs;
    spec.gibbs.chains = 1;
    (spec.gibbs.warm_up, spec.gibbs.sweeps, spec.gibbs.thin) = (300, 1000, 1000);
    spec.noise_prior = prior;
    spec
}

/// Over draws: the largest share, among the features, of draws whose noise is below a hundredth of
/// the variance; and the mean absolute error of the logarithm of the median noise.
fn found(spec: &ModelSpec, seed: u64, noise: f64) -> (f64, f64) {
    let (data, truth) = data(seed, noise);
    let mut fitting = Fitting::new(data, spec.clone()).unwrap();
    let mut draws: Vec<Vec<f64>> = vec![Vec::new(); FEATURES];
    loop {
        let progress = fitting.step().unwrap();
        if progress.sweep > spec.gibbs.warm_up {
            let term = &fitting.chains()[0].model().views[0].term;
            let precisions = term
                .as_noise()
                .unwrap()
                .precisions()
                .unwrap()
                .mean()
                .to_vec();
            for (all, tau) in draws.iter_mut().zip(precisions) {
                all.push(tau);
            }
        }
        if progress.done {
            break;
        }
    }
    let mut error = 0.0;
    let mut worst: f64 = 0.0;
    for (all, share) in draws.iter_mut().zip(truth) {
        all.sort_by(f64::total_cmp);
        let exact = all.iter().filter(|t| **t > 100.0).count();
        worst = worst.max(exact as f64 / all.len() as f64);
        error += (all[all.len() / 2].ln() + share.ln()).abs() / FEATURES as f64;
    }
    (worst, error)
}

fn mean_over_seeds(spec: &ModelSpec, noise: f64) -> (f64, f64) {
    let all: Vec<(f64, f64)> = (1..=SEEDS).map(|seed| found(spec, seed, noise)).collect();
    let mean = |of: fn(&(f64, f64)) -> f64| all.iter().map(of).sum::<f64>() / SEEDS as f64;
    (mean(|a| a.0), mean(|a| a.1))
}

/// A vague prior has features explained exactly, the default none, and its noise is nearer the
/// truth.
#[test]
fn no_feature_is_explained_exactly() {
    let vague = mean_over_seeds(&spec(Some(GammaPrior::new(1e-6, 1e-6))), 0.5);
    let own = mean_over_seeds(&spec(None), 0.5);
    assert!(vague.0 > 0.2, "{vague:?}");
    assert!(own.0 < 1e-3, "{own:?}");
    assert!(own.1 < 0.45 && own.1 < vague.1 - 0.1, "{own:?} {vague:?}");
}

/// Variational Bayes needs no such prior: no feature is explained exactly, and its noise is as near
/// the truth.
#[test]
fn optima_have_no_tail() {
    let (mut worst, mut error): (f64, f64) = (0.0, 0.0);
    for seed in 1..=SEEDS {
        let (data, truth) = data(seed, 0.5);
        let fit = crate::fit(data, models::bibfa(3)).unwrap();
        let term = &fit.component(0).unwrap().views[0].term;
        let precisions = term
            .as_noise()
            .unwrap()
            .precisions()
            .unwrap()
            .mean()
            .to_vec();
        for (tau, share) in precisions.into_iter().zip(truth) {
            worst = worst.max(tau);
            error += (tau.ln() + share.ln()).abs() / (SEEDS as f64 * FEATURES as f64);
        }
    }
    assert!(worst < 100.0 && error < 0.45, "{worst} {error}");
}

/// Where noise has a hundredth of the variance the prior holds it up, by its limit of 0.4 / N of
/// the variance, and a smaller rate mends it.
#[test]
fn clean_data_take_a_smaller_rate() {
    let own = mean_over_seeds(&spec(None), 0.01);
    let mended = mean_over_seeds(&spec(Some(GammaPrior::new(2.0, 0.01))), 0.01);
    // ln(1 + 0.4 / 30 / 0.01) = .85
    assert!(own.1 > 0.5 && own.1 < 1.2, "{own:?}");
    assert!(mended.1 < own.1 - 0.2, "{mended:?}");
}

/// The unit of the prior is the smallest variance of a feature; noise by view and variational Bayes
/// keep the vague one, and whatever was chosen stays.
#[test]
fn the_prior_of_a_view() {
    let (data, _) = data(1, 0.5);
    let view = data.view("x").unwrap().clone();
    let near = |a: f64, b: f64| (a - b).abs() < 1e-9 * b;
    let of = |spec: &ModelSpec| super::prior(spec, None, &view);
    let least = {
        let scaled = crate::fit::cells(&view, 0);
        let sd = |d| crate::fit::Moments::of(&crate::fit::cells(&view, d)).sd;
        assert_eq!(scaled.len(), SAMPLES);
        (0..FEATURES)
            .map(|d| sd(d).powi(2))
            .fold(f64::INFINITY, f64::min)
    };
    let mut own = spec(None);
    own.defaults.scaling = FeatureScaling::None;
    assert_eq!(of(&own).shape, 2.0);
    assert!(near(of(&own).rate, 0.2 * least));
    let empty = view.subset("x", &[]);
    assert_eq!(super::prior(&own, None, &empty), super::VAGUE);
    own.engine = EngineKind::Vb;
    assert_eq!(of(&own), super::VAGUE);
    own.engine = EngineKind::Gibbs;
    own.defaults.noise = polyview_core::NoiseBy::View;
    assert_eq!(of(&own), super::VAGUE);
    let chosen = GammaPrior::new(3.0, 0.5);
    assert_eq!(of(&spec(Some(chosen))), chosen);
}

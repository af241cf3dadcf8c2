//! Counts whose logarithms factors move: a few large ones are most of their variance.

use polyview_core::Dataset;
use polyview_linalg::Mat;
use polyview_random::{StreamKey, poisson, standard_normal, uniform_open01};

use super::counts::table;
use crate::{EngineKind, Fit, ModelSpec, Start, models};

const N: usize = 60;
const D: usize = 8;

/// Poisson counts of two factors, with levels between `low` and `high`.
fn data(seed: u64, (low, high): (f64, f64)) -> Dataset {
    let mut rng = StreamKey::new(seed).rng();
    let z = Mat::from_fn(N, 2, |_, _| standard_normal(&mut rng));
    let w = Mat::from_fn(D, 2, |_, _| 0.7 * standard_normal(&mut rng));
    let level: Vec<f64> = (0..D)
        .map(|_| low + (high - low) * uniform_open01(&mut rng))
        .collect();
    let eta = &z * w.transpose();
    let y = Mat::from_fn(N, D, |n, d| {
        poisson(&mut rng, (eta[(n, d)] + level[d]).exp()).unwrap()
    });
    Dataset::builder().view(table("y", y)).build().unwrap()
}

fn spec(engine: EngineKind) -> ModelSpec {
    let mut spec = models::sshiba(2).with_likelihood("y", "poisson");
    spec.engine = engine;
    (spec.gibbs.warm_up, spec.gibbs.sweeps) = (200, 200);
    spec
}

fn deviance(fit: &Fit) -> f64 {
    fit.explain().unwrap().deviance[0]
}

/// A draw that is proposed off the top of what is said of it is never accepted where counts
/// are large, and a chain that never moves looks as if it were at rest.
#[test]
fn draws_of_large_counts_are_those_of_the_posterior() {
    for seed in 1..=3 {
        let data = data(seed, (1.0, 5.0));
        let [vb, gibbs] = [EngineKind::Vb, EngineKind::Gibbs]
            .map(|engine| deviance(&crate::fit(data.clone(), spec(engine)).unwrap()));
        assert!(vb > 0.85, "{seed}: {vb}");
        assert!((vb - gibbs).abs() < 0.02, "{seed}: {vb} {gibbs}");
    }
}

/// Of counts two thirds of which are zero a log rate with noise of its own says next to nothing of its predictor: factors are found all
/// the same, as by the sampler (docs/decisions/0114-log-rates-follow-predictors.md).
#[test]
fn log_normal_counts_that_are_mostly_zero_have_factors() {
    let (samples, features) = (150, 30);
    let mut rng = StreamKey::new(4).rng();
    let z = Mat::from_fn(samples, 2, |_, _| standard_normal(&mut rng));
    let w = Mat::from_fn(features, 2, |_, _| 0.8 * standard_normal(&mut rng));
    let eta = &z * w.transpose();
    let y = Mat::from_fn(samples, features, |n, d| {
        poisson(&mut rng, (eta[(n, d)] - 1.2).exp()).unwrap()
    });
    let data = Dataset::builder().view(table("y", y)).build().unwrap();
    let spec = models::mofa(5).with_likelihood("y", "poisson-log-normal");
    let fit = crate::fit(data.clone(), spec.clone()).unwrap();
    assert_eq!(fit.k(), 2);
    let mut drawn = models::sshiba(2).with_likelihood("y", "poisson-log-normal");
    drawn.engine = EngineKind::Gibbs;
    (drawn.gibbs.warm_up, drawn.gibbs.sweeps) = (200, 200);
    let [vb, gibbs] = [
        deviance(&fit),
        deviance(&crate::fit(data.clone(), drawn).unwrap()),
    ];
    assert!(vb > 0.2 && (vb - gibbs).abs() < 0.08, "{vb} {gibbs}");
    // the bound of log rates that do not follow loses one
    let mut bound = spec;
    let form = "poisson-log-normal{form=bound}".parse::<crate::Likelihood>();
    bound = bound.with_likelihood("y", form.unwrap());
    let lost = deviance(&crate::fit(data, bound).unwrap());
    assert!(lost < 0.7 * vb, "{lost} {vb}");
}

/// Counts of means of 3 to 700 beside numbers, whose factors start where the largest counts are: the rows of the counts
/// climb from places where their rates are flat.
#[test]
fn large_counts_beside_numbers_are_sampled() {
    for (seed, level) in [(1, 5.0), (2, 5.0), (1, 1.0), (1, -0.4)] {
        let mut rng = StreamKey::new(seed).block(1).rng();
        let z = Mat::from_fn(N, 3, |_, _| standard_normal(&mut rng));
        let w = Mat::from_fn(2 * D, 3, |_, _| standard_normal(&mut rng));
        let eta = &z * w.transpose();
        let y = Mat::from_fn(N, D, |n, d| {
            poisson(&mut rng, (eta[(n, d)] + level).exp()).unwrap()
        });
        let x = Mat::from_fn(N, D, |n, d| eta[(n, D + d)] + standard_normal(&mut rng));
        let data = Dataset::builder()
            .view(table("y", y))
            .view(table("x", x))
            .build()
            .unwrap();
        let of = |engine| {
            let mut spec = models::sshiba(3)
                .with_likelihood("y", "poisson")
                .with_likelihood("x", "gaussian");
            spec.engine = engine;
            (spec.gibbs.chains, spec.gibbs.warm_up, spec.gibbs.sweeps) = (1, 60, 60);
            deviance(&crate::fit(data.clone(), spec).unwrap())
        };
        let [vb, gibbs] = [EngineKind::Vb, EngineKind::Gibbs].map(of);
        assert!((vb - gibbs).abs() < 0.01, "{seed} {level}: {vb} {gibbs}");
    }
}

/// Directions of the counts themselves are those of their largest; factors that start there
/// are lost.
#[test]
fn factors_of_counts_start_where_their_logarithms_vary() {
    let mut short = Vec::new();
    for seed in 1..=4 {
        for levels in [(0.0, 1.0), (1.0, 2.0), (2.0, 3.0), (1.0, 5.0)] {
            let data = data(seed, levels);
            let fit = crate::fit(data.clone(), spec(EngineKind::Vb)).unwrap();
            let mut random = spec(EngineKind::Vb);
            (random.start, random.restarts) = (Start::Random, 5);
            let best = crate::fit(data, random).unwrap();
            let bounds = [&fit, &best].map(|f| f.record().bound.unwrap());
            // one that does not pay may stay
            let lost = fit.k() < best.k() && bounds[0] < bounds[1] - 5.0;
            if lost || bounds[0] < bounds[1] - 10.0 {
                short.push((seed, levels, bounds, fit.k(), best.k()));
            }
        }
    }
    assert!(short.is_empty(), "{short:?}");
}

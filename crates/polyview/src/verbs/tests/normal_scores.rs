//! Gaussian views in normal scores.

use polyview_core::{Dataset, FeatureScaling, Table};
use polyview_datasets::{Noise, SimulationOptions, simulate_factor_data};
use polyview_random::{StreamKey, standard_normal, uniform_open01};

use super::{gap, rebuilt, rows, table};
use crate::{ErrorKind, Fit, ModelSpec, ProjectOptions, hold_out, models};

/// Three factors in two views, features bent by odd powers: heavy tails.
fn bent(samples: usize, seed: u64) -> Dataset {
    let options = SimulationOptions {
        noise: Noise::Share(0.3),
        ..SimulationOptions::new(samples, &[15, 10], 3, seed)
    };
    let plain = simulate_factor_data(&options).unwrap().dataset;
    rebuilt(&plain, &["view1", "view2"], |v| {
        let mut t = table(&plain, v);
        for d in 0..t.values.ncols() {
            let sd = t.values.col(d).norm_l2() / (samples as f64).sqrt();
            for n in 0..samples {
                let x = t.values[(n, d)] / sd;
                t.values[(n, d)] = 100.0 + x.powi(5);
            }
        }
        t
    })
}

fn spec(scaling: FeatureScaling, factors: usize) -> ModelSpec {
    let mut spec = models::bibfa(factors);
    spec.defaults.scaling = scaling;
    spec
}

fn scored(factors: usize) -> ModelSpec {
    spec(FeatureScaling::NormalScores, factors)
}

#[test]
fn training_rows_are_projected_where_they_were_fitted_and_files_keep_the_map() {
    let data = bent(80, 1);
    let hidden = hold_out(&data, 0.1, 2).unwrap().data;
    let fit = crate::fit(hidden.clone(), scored(3)).unwrap();
    let again = Fit::from_bytes(&fit.to_bytes().unwrap()).unwrap();
    assert_eq!(again.views(), fit.views());
    assert_eq!(again.to_bytes().unwrap(), fit.to_bytes().unwrap());
    let some = rows(&hidden, &[3, 40, 7]);
    let options = ProjectOptions::default();
    let project = |fit: &Fit| fit.project(&some, &options).unwrap();
    let (a, b) = (project(&fit), project(&again));
    assert!(gap(&a.mean, &b.mean) == 0.0);
    let own = fit.factors().unwrap().mean;
    for (i, n) in [3, 40, 7].into_iter().enumerate() {
        for k in 0..fit.k() {
            let off = (a.mean[(i, k)] - own[(n, k)]).abs();
            assert!(off < 0.02, "{n} {k}: {off}");
        }
    }
    // working values of the training cells are scores, and lead back
    let (view, info) = (&fit.data().unwrap()[0], &fit.views()[0]);
    for n in 0..80 {
        for d in 0..15 {
            if let Some(z) = view.value(n, d) {
                let x = data.views()[0].value(n, d).unwrap();
                assert!(z.abs() < 2.6);
                assert_eq!(info.scaling.backward(d, z).to_bits(), x.to_bits());
                assert_eq!(info.scaling.forward(d, x).to_bits(), z.to_bits());
            }
        }
    }
    let filled = fit.impute("view1", 0.9).unwrap();
    for d in 0..15 {
        let known = (0..80).filter_map(|n| fit.observed("view1", n, d).unwrap());
        let (low, high) = known.fold((f64::MAX, f64::MIN), |(l, h), x| (l.min(x), h.max(x)));
        for n in 0..80 {
            let [x, l, h] = [&filled.values, &filled.lower, &filled.upper].map(|m| m[(n, d)]);
            assert!(low <= l && l <= x && x <= h && h <= high);
        }
    }
    // explained in units of normal scores: most of the signal
    let e = fit.explain().unwrap();
    assert!(e.total.iter().all(|t| *t > 0.5), "{:?}", e.total);
}

#[test]
fn heavy_tails_are_predicted_better_than_raw_and_their_intervals_hold() {
    let (mut coverage, mut better, mut views) = (0.0, 0, 0.0);
    for seed in 1..=4 {
        let data = bent(120, seed);
        let hidden = hold_out(&data, 0.15, seed).unwrap().data;
        let score = |scaling| {
            let fit = crate::fit(hidden.clone(), spec(scaling, 3)).unwrap();
            fit.held_out_score(&data).unwrap()
        };
        let (raw, bent) = (
            score(FeatureScaling::Feature),
            score(FeatureScaling::NormalScores),
        );
        for (raw, bent) in raw.iter().zip(&bent) {
            assert!(bent.log_density > raw.log_density + 0.5);
            assert!(bent.log_density.is_finite() && bent.r2.is_finite());
            assert!(bent.width < raw.width);
            better += usize::from(bent.r2 > raw.r2);
            coverage += bent.coverage;
            views += 1.0;
        }
    }
    let coverage = coverage / views;
    assert!((0.91..0.98).contains(&coverage), "{coverage}");
    assert!(better >= 6, "{better} of 8");
}

#[test]
fn what_lies_beyond_the_training_values_counts_as_the_last_of_them() {
    let data = bent(60, 5);
    let fit = crate::fit(data.clone(), scored(3)).unwrap();
    let one = rows(&data, &[0]);
    let off = |x: f64| {
        let changed = rebuilt(&one, &["view1", "view2"], |v| {
            let mut t = table(&one, v);
            if v.name() == "view1" {
                t.values[(0, 0)] = x;
            }
            t
        });
        fit.project(&changed, &ProjectOptions::default())
            .unwrap()
            .mean
    };
    assert!(gap(&off(1e6), &off(1e60)) == 0.0);
    assert!(gap(&off(-1e6), &off(1e6)) > 0.0);
}

#[test]
fn groups_may_have_levels_and_noise_of_their_own() {
    let data = bent(60, 6);
    let mut builder = Dataset::builder();
    for v in data.views() {
        builder = builder.view(table(&data, v));
    }
    let groups = data.samples().iter().enumerate();
    let groups = groups.map(|(n, s)| (s.clone(), format!("g{}", n % 2)));
    let grouped = builder.groups(groups.collect()).build().unwrap();
    let mut spec = scored(3);
    (spec.groups.noise, spec.groups.intercepts) = (true, true);
    let fit = crate::fit(grouped, spec).unwrap();
    let again = Fit::from_bytes(&fit.to_bytes().unwrap()).unwrap();
    assert_eq!(again.views(), fit.views());
    assert!(fit.explain().unwrap().total.iter().all(|t| *t > 0.5));
    let simulated = fit.simulate(20, 1).unwrap();
    let known: Vec<f64> = (0..60)
        .filter_map(|n| data.views()[0].value(n, 0))
        .collect();
    let most = known.iter().copied().fold(f64::MIN, f64::max);
    assert!((0..20).all(|n| simulated.views()[0].value(n, 0).unwrap() <= most));
}

#[test]
fn normal_scores_are_refused_where_they_cannot_be() {
    let mut rng = StreamKey::new(3).rng();
    let counts = Table {
        name: "counts".into(),
        samples: (0..30).map(|n| format!("s{n}")).collect(),
        features: (0..4).map(|d| format!("f{d}")).collect(),
        levels: Vec::new(),
        values: polyview_linalg::Mat::from_fn(30, 4, |_, _| {
            (8.0 * uniform_open01(&mut rng) + standard_normal(&mut rng).abs()).round()
        }),
    };
    let data = Dataset::builder().view(counts).build().unwrap();
    let own = |likelihood| {
        let mut choices = models::mofa(2).view("counts");
        (choices.likelihood, choices.scaling) = (likelihood, FeatureScaling::NormalScores);
        models::mofa(2).with_view("counts", choices)
    };
    for likelihood in ["negative-binomial", "rank"] {
        let e = crate::fit(data.clone(), own(likelihood.into())).unwrap_err();
        let text = e.to_string();
        assert!(matches!(e.kind(), ErrorKind::Incompatible { .. }), "{text}");
        assert!(
            text.contains("normal-scores") && text.contains("leave the scaling out"),
            "{text}"
        );
    }
    assert!(crate::fit(data.clone(), own("gaussian".into())).is_ok());
    // as a default for every view it is for those of numbers
    let mut spec = models::mofa(2).with_likelihood("counts", "poisson-log-normal");
    spec.defaults.scaling = FeatureScaling::NormalScores;
    assert!(crate::fit(data, spec).is_ok());
}

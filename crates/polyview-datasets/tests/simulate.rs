//! Simulated data have the moments, patterns and gaps that were asked for.
#![allow(clippy::unwrap_used)]

use approx::assert_relative_eq;
use polyview_core::GammaPrior;
use polyview_datasets::{
    Activity, BibfaOptions, Latent, Missing, Noise, Simulated, SimulationError, SimulationOptions,
    simulate_bibfa, simulate_factor_data,
};
use polyview_linalg::Mat;
use proptest::prelude::*;

fn variance(x: impl Iterator<Item = f64> + Clone) -> f64 {
    let n = x.clone().count() as f64;
    let mean = x.clone().sum::<f64>() / n;
    x.map(|x| (x - mean).powi(2)).sum::<f64>() / n
}

fn cells(m: &Mat<f64>) -> impl Iterator<Item = f64> + Clone + '_ {
    (0..m.ncols()).flat_map(|d| m.col_as_slice(d).iter().copied())
}

/// What is left of a view after signal and intercepts are taken away.
fn residual(truth: &Simulated, m: usize) -> Mat<f64> {
    let (z, w) = (&truth.factors, &truth.weights[m]);
    Mat::from_fn(z.nrows(), w.nrows(), |n, d| {
        let signal: f64 = (0..z.ncols()).map(|k| z[(n, k)] * w[(d, k)]).sum();
        truth.complete[m][(n, d)] - signal - truth.intercepts[m][d]
    })
}

#[test]
fn moments_are_those_of_the_model() {
    let truth = simulate_factor_data(&SimulationOptions {
        noise: Noise::Share(0.2),
        intercept_sd: 3.0,
        ..SimulationOptions::new(800, &[150, 60], 4, 3)
    })
    .unwrap();
    assert_relative_eq!(variance(cells(&truth.factors)), 1.0, max_relative = 0.1);
    assert_relative_eq!(
        variance(truth.intercepts[0].iter().copied()),
        9.0,
        max_relative = 0.4
    );
    for m in 0..2 {
        assert_relative_eq!(variance(cells(&truth.weights[m])), 1.0, max_relative = 0.2);
        let noise = variance(cells(&residual(&truth, m)));
        assert_relative_eq!(noise * truth.noise_precision[m], 1.0, max_relative = 0.03);
        let features = truth.complete[m].ncols();
        let total: f64 = (0..features)
            .map(|d| variance(truth.complete[m].col_as_slice(d).iter().copied()))
            .sum();
        assert_relative_eq!(noise * features as f64 / total, 0.2, max_relative = 0.1);
    }
}

#[test]
fn the_same_seed_gives_the_same_bits_and_another_does_not() {
    let options = SimulationOptions {
        activity: Activity::Random(0.5),
        density: 0.3,
        missing: Missing {
            rows: 0.2,
            block: 0.1,
            cells: 0.1,
        },
        ..SimulationOptions::new(30, &[8, 5, 3], 3, 11)
    };
    let (a, b) = (
        simulate_factor_data(&options).unwrap(),
        simulate_factor_data(&options).unwrap(),
    );
    assert_eq!(a.dataset, b.dataset);
    assert_eq!(a.weights, b.weights);
    let c = simulate_factor_data(&SimulationOptions {
        seed: 12,
        ..options
    })
    .unwrap();
    assert_ne!(a.factors, c.factors);
}

#[test]
fn another_view_or_a_gap_leaves_the_rest_as_it_was() {
    let base = SimulationOptions::new(25, &[6, 4], 3, 5);
    let two = simulate_factor_data(&base).unwrap();
    let three = simulate_factor_data(&SimulationOptions {
        features: vec![6, 4, 9],
        missing: Missing {
            cells: 0.3,
            ..Missing::default()
        },
        ..base.clone()
    })
    .unwrap();
    assert_eq!(three.complete[..2], two.complete[..]);
    let fewer = Activity::Given(vec![vec![true, false, true]; 2]);
    let fewer = simulate_factor_data(&SimulationOptions {
        activity: fewer,
        ..base
    })
    .unwrap();
    assert_eq!(
        fewer.weights[1].col_as_slice(2),
        two.weights[1].col_as_slice(2)
    );
    assert!(fewer.weights[1].col_as_slice(1).iter().all(|&w| w == 0.0));
}

#[test]
fn weights_are_as_dense_as_asked_for() {
    let options = SimulationOptions {
        density: 0.25,
        ..SimulationOptions::new(5, &[2000], 4, 1)
    };
    let truth = simulate_factor_data(&options).unwrap();
    let share = cells(&truth.weights[0]).filter(|&w| w != 0.0).count() as f64 / 8000.0;
    assert!((share - 0.25).abs() < 0.02, "{share}");
}

#[test]
fn random_activity_leaves_no_factor_and_no_view_empty() {
    for seed in 0..40 {
        let truth = simulate_factor_data(&SimulationOptions {
            activity: Activity::Random(0.1),
            ..SimulationOptions::new(4, &[3, 3, 3], 5, seed)
        })
        .unwrap();
        assert!(truth.activity.iter().all(|view| view.iter().any(|&a| a)));
        assert!((0..5).all(|k| truth.activity.iter().any(|view| view[k])));
        for (view, w) in truth.activity.iter().zip(&truth.weights) {
            for k in 0..5 {
                assert_eq!(view[k], w.col_as_slice(k).iter().any(|&x| x != 0.0));
            }
        }
    }
}

#[test]
fn a_view_without_factors_is_noise_of_variance_one() {
    let truth = simulate_factor_data(&SimulationOptions {
        activity: Activity::Given(vec![vec![true], vec![false]]),
        ..SimulationOptions::new(400, &[10, 40], 1, 9)
    })
    .unwrap();
    assert_eq!(truth.noise_precision[1], 1.0);
    assert_relative_eq!(
        variance(cells(&truth.complete[1])),
        1.0,
        max_relative = 0.05
    );
}

#[test]
fn gaps_are_as_large_as_asked_for() {
    let with = |missing| {
        let options = SimulationOptions {
            missing,
            ..SimulationOptions::new(200, &[30, 20], 2, 4)
        };
        simulate_factor_data(&options).unwrap()
    };
    let rows = with(Missing {
        rows: 0.25,
        ..Missing::default()
    });
    for view in rows.dataset.views() {
        let hidden = (0..200).filter(|&n| view.mask().count_sample(n, view.n_features()) == 0);
        assert_eq!(hidden.count(), 50);
        assert_eq!(view.n_observed(), 150 * view.n_features());
    }
    let block = with(Missing {
        block: 0.25,
        ..Missing::default()
    });
    for view in block.dataset.views() {
        assert_eq!(view.n_observed(), 200 * view.n_features() * 3 / 4);
        let hidden: Vec<usize> = (0..200)
            .filter(|&n| (0..view.n_features()).any(|d| !view.is_observed(n, d)))
            .collect();
        assert_eq!(
            (hidden.len(), hidden[99] - hidden[0]),
            (100, 99),
            "neighbouring samples"
        );
    }
    let single = with(Missing {
        cells: 0.3,
        ..Missing::default()
    });
    for (view, complete) in single.dataset.views().iter().zip(&single.complete) {
        let share = view.n_observed() as f64 / (200 * view.n_features()) as f64;
        assert!((share - 0.7).abs() < 0.03, "{share}");
        for n in 0..200 {
            for d in 0..view.n_features() {
                assert!(view.value(n, d).is_none_or(|x| x == complete[(n, d)]));
            }
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(60))]

    #[test]
    fn no_sample_and_no_feature_is_ever_lost(
        samples in 1..12_usize, features in prop::collection::vec(1..6_usize, 2..4), seed: u64,
        rows in 0.0..0.999, block in 0.0..0.999, cells in 0.0..0.999,
    ) {
        let missing = Missing { rows, block, cells };
        let options = SimulationOptions { missing, ..SimulationOptions::new(samples, &features, 2, seed) };
        // the builder refuses samples and views without observed cells
        let truth = simulate_factor_data(&options).unwrap();
        for view in truth.dataset.views() {
            for d in 0..view.n_features() {
                prop_assert!(view.mask().count_feature(d, samples) > 0);
            }
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(60))]

    #[test]
    fn rows_are_hidden_whole(
        samples in 1..6_usize, features in prop::collection::vec(1..4_usize, 2..5), seed: u64,
        rows in 0.3..0.999,
    ) {
        let missing = Missing { rows, ..Missing::default() };
        let options = SimulationOptions { missing, ..SimulationOptions::new(samples, &features, 2, seed) };
        let truth = simulate_factor_data(&options).unwrap();
        for view in truth.dataset.views() {
            for n in 0..samples {
                let count = view.mask().count_sample(n, view.n_features());
                prop_assert!(count == 0 || count == view.n_features());
            }
        }
    }
}

#[test]
fn bibfa_draws_have_their_priors_moments() {
    let truth = simulate_bibfa(&BibfaOptions {
        alpha_prior: GammaPrior::new(3.0, 6.0),
        tau_prior: GammaPrior::new(50.0, 10.0),
        ..BibfaOptions::new(200, &[150; 40], 10, 8)
    })
    .unwrap();
    let alpha: Vec<f64> = truth.alpha.iter().flatten().copied().collect();
    assert_relative_eq!(alpha.iter().sum::<f64>() / 400.0, 0.5, max_relative = 0.1);
    assert_relative_eq!(
        variance(alpha.iter().copied()),
        3.0 / 36.0,
        max_relative = 0.3
    );
    let tau = &truth.data.noise_precision;
    assert_relative_eq!(tau.iter().sum::<f64>() / 40.0, 5.0, max_relative = 0.1);
    let b = truth.data.intercepts.iter().flatten().copied();
    assert_relative_eq!(variance(b), 1.0, max_relative = 0.05);
    // weights times the root of their precision are standard normal
    let scaled: Vec<f64> = (0..40)
        .flat_map(|m| (0..10).map(move |k| (m, k)))
        .flat_map(|(m, k)| {
            let sd = truth.alpha[m][k].sqrt();
            truth.data.weights[m]
                .col_as_slice(k)
                .iter()
                .map(move |w| w * sd)
        })
        .collect();
    assert_relative_eq!(variance(scaled.iter().copied()), 1.0, max_relative = 0.02);
    for m in 0..40 {
        let noise = variance(cells(&residual(&truth.data, m)));
        assert_relative_eq!(noise * tau[m], 1.0, max_relative = 0.05);
    }
}

#[test]
fn given_values_are_used_as_they_are() {
    let z = Mat::from_fn(6, 2, |n, k| (n + 10 * k) as f64);
    let w = vec![Mat::from_fn(3, 2, |d, k| (d as f64) - (k as f64))];
    let options = BibfaOptions {
        z: Latent::Given(z.clone()),
        weights: Latent::Given(w.clone()),
        intercepts: Latent::Given(vec![vec![1.0, 2.0, 3.0]]),
        tau: Latent::Given(vec![1e30]),
        alpha: Latent::Given(vec![vec![1.0, f64::INFINITY]]),
        ..BibfaOptions::new(6, &[3], 2, 0)
    };
    let truth = simulate_bibfa(&options).unwrap();
    assert_eq!((&truth.data.factors, &truth.data.weights), (&z, &w));
    assert_eq!(truth.data.activity, [[true, false]]);
    for n in 0..6 {
        for d in 0..3 {
            let exact = z[(n, 0)] * w[0][(d, 0)] + z[(n, 1)] * w[0][(d, 1)] + (d + 1) as f64;
            assert_relative_eq!(truth.data.complete[0][(n, d)], exact, epsilon = 1e-12);
        }
    }
    // an infinite precision makes weights of exactly zero
    let truth = simulate_bibfa(&BibfaOptions {
        weights: Latent::Prior,
        ..options
    })
    .unwrap();
    assert!(
        truth.data.weights[0]
            .col_as_slice(1)
            .iter()
            .all(|&w| w == 0.0)
    );
}

#[test]
fn impossible_requests_are_refused() {
    let base = SimulationOptions::new(5, &[2, 3], 2, 0);
    let refuse = |options: SimulationOptions| simulate_factor_data(&options).unwrap_err();
    let empty = |e| matches!(e, SimulationError::Empty { .. });
    assert!(empty(refuse(SimulationOptions {
        samples: 0,
        ..base.clone()
    })));
    assert!(empty(refuse(SimulationOptions {
        features: vec![],
        ..base.clone()
    })));
    assert!(empty(refuse(SimulationOptions {
        features: vec![2, 0],
        ..base.clone()
    })));
    assert!(empty(refuse(SimulationOptions {
        factors: 0,
        ..base.clone()
    })));
    let range = |e| matches!(e, SimulationError::OutOfRange { .. });
    for bad in [0.0, -1.0, 1.5, f64::NAN] {
        assert!(range(refuse(SimulationOptions {
            density: bad,
            ..base.clone()
        })));
        assert!(range(refuse(SimulationOptions {
            noise: Noise::Share(bad),
            ..base.clone()
        })));
        let activity = Activity::Random(bad);
        assert!(range(refuse(SimulationOptions {
            activity,
            ..base.clone()
        })));
    }
    for bad in [-0.1, 1.0, f64::NAN] {
        for missing in [
            Missing {
                rows: bad,
                ..Missing::default()
            },
            Missing {
                block: bad,
                ..Missing::default()
            },
            Missing {
                cells: bad,
                ..Missing::default()
            },
        ] {
            assert!(range(refuse(SimulationOptions {
                missing,
                ..base.clone()
            })));
        }
    }
    for bad in [-1.0, f64::INFINITY, f64::NAN] {
        assert!(range(refuse(SimulationOptions {
            intercept_sd: bad,
            ..base.clone()
        })));
        let noise = Noise::Precision(vec![1.0, bad]);
        assert!(range(refuse(SimulationOptions {
            noise,
            ..base.clone()
        })));
    }
    let shape = |e| matches!(e, SimulationError::Shape { .. });
    let noise = Noise::Precision(vec![1.0]);
    assert!(shape(refuse(SimulationOptions {
        noise,
        ..base.clone()
    })));
    for given in [vec![vec![true; 2]], vec![vec![true; 2], vec![true; 3]]] {
        let activity = Activity::Given(given);
        assert!(shape(refuse(SimulationOptions {
            activity,
            ..base.clone()
        })));
    }
    let missing = Missing {
        rows: 0.5,
        ..Missing::default()
    };
    let one = SimulationOptions {
        features: vec![3],
        missing,
        ..base
    };
    assert_eq!(refuse(one), SimulationError::RowsOfOneView);

    let base = BibfaOptions::new(5, &[2, 3], 2, 0);
    let refuse = |options: BibfaOptions| simulate_bibfa(&options).unwrap_err();
    let z = Latent::Given(Mat::zeros(4, 2));
    assert!(shape(refuse(BibfaOptions { z, ..base.clone() })));
    let weights = Latent::Given(vec![Mat::zeros(2, 2), Mat::zeros(2, 2)]);
    assert!(shape(refuse(BibfaOptions {
        weights,
        ..base.clone()
    })));
    let intercepts = Latent::Given(vec![vec![0.0; 2]]);
    assert!(shape(refuse(BibfaOptions {
        intercepts,
        ..base.clone()
    })));
    assert!(range(refuse(BibfaOptions {
        tau: Latent::Given(vec![1.0, 0.0]),
        ..base.clone()
    })));
    let alpha = Latent::Given(vec![vec![1.0, -1.0]; 2]);
    assert!(range(refuse(BibfaOptions {
        alpha,
        ..base.clone()
    })));
    let improper = refuse(BibfaOptions {
        tau_prior: GammaPrior::new(0.0, 1.0),
        ..base.clone()
    });
    assert!(matches!(improper, SimulationError::Random(_)));
    let z = Latent::Given(Mat::from_fn(5, 2, |_, _| f64::MAX));
    assert!(matches!(
        refuse(BibfaOptions { z, ..base }),
        SimulationError::Overflow { .. }
    ));
}

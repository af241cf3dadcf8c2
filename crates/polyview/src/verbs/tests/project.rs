use polyview_core::{DataError, Dataset, RowCov, Table, View};
use polyview_datasets::{Missing, Noise, SimulationOptions, simulate_factor_data};
use polyview_infer::Audit;
use polyview_linalg::{Mat, SpdFactor, SymPacked};
use polyview_random::{StreamKey, standard_normal};

use super::{cells, gap, gibbs, rebuilt, rows, simulated, table, vb};
use crate::spec::{ModelSpec, Path};
use crate::{ErrorKind, Fit, ProjectOptions, WeightUncertainty, models};

fn assert_posterior(fit: &Fit, data: &polyview_core::Dataset) {
    let p = fit.project(data, &ProjectOptions::default()).unwrap();
    let c = fit.component(0).unwrap();
    assert_eq!(p.samples, fit.samples());
    assert!(p.notes.is_empty(), "{:?}", p.notes);
    assert!(gap(&p.mean, &c.factors().mean().to_owned()) < 1e-9);
    for n in 0..p.samples.len() {
        let (a, b) = (p.covariance_of(n), c.factors().row_cov(n));
        for (x, y) in a.as_slice().iter().zip(b.as_slice()) {
            assert!((x - y).abs() < 1e-9);
        }
        for k in 0..fit.k() {
            assert!((p.sd[(n, k)] - a.get(k, k).sqrt()).abs() < 1e-15);
        }
    }
}

#[test]
fn a_training_sample_projects_to_its_posterior() {
    for path in [Path::Streaming, Path::CompressSamples] {
        let data = simulated(40, 1, Missing::default());
        let spec = ModelSpec {
            path,
            ..models::bibfa(3)
        };
        assert_posterior(&crate::fit(data.clone(), spec).unwrap(), &data);
    }
    let data = simulated(40, 2, cells(0.2));
    assert_posterior(&vb(data.clone(), 3), &data);
    let whole = Missing {
        rows: 0.3,
        ..Missing::default()
    };
    let data = simulated(40, 3, whole);
    let fit = vb(data.clone(), 3);
    let p = fit.project(&data, &ProjectOptions::default()).unwrap();
    assert!(matches!(p.covariance, RowCov::Patterns { .. }));
    assert_posterior(&fit, &data);
}

/// More samples than are solved together, and more features than are read
/// together: every block goes to its own place, and no block lowers the bound.
#[test]
fn blocks_of_samples_and_features_keep_their_places() {
    for (samples, features) in [(1100, [9, 5]), (17_000, [70, 3])] {
        let options = SimulationOptions {
            missing: cells(0.2),
            noise: Noise::Share(0.3),
            ..SimulationOptions::new(samples, &features, 2, 7)
        };
        let data = simulate_factor_data(&options).unwrap().dataset;
        let mut spec = models::bibfa(2);
        spec.vb.audit = Audit::Blocks;
        spec.vb.max_sweeps = 3;
        assert_posterior(&crate::fit(data.clone(), spec).unwrap(), &data);
    }
}

/// P1, P2 and U1m by dense algebra, for one row of one component.
fn by_hand(
    fit: &Fit,
    component: usize,
    data: &polyview_core::Dataset,
    row: usize,
    weights: WeightUncertainty,
) -> (Vec<f64>, SymPacked) {
    let c = fit.component(component).unwrap();
    let k = fit.k();
    let mut precision = SymPacked::identity(k);
    let mut rhs = vec![0.0; k];
    for (part, info) in c.views.iter().zip(fit.views()) {
        let Some(view) = data.view(&info.name) else {
            continue;
        };
        let state = &fit.components[component];
        let noise = &state.arrays()[&format!("views/{}/term/noise/mean", info.name)].values;
        for (d, name) in info.features.iter().enumerate() {
            let Some(at) = view.features().iter().position(|f| f == name) else {
                continue;
            };
            let Some(x) = view.value(row, at) else {
                continue;
            };
            let tau = noise[d.min(noise.len() - 1)];
            let x = info.scaling.forward(d, x) - part.bias.mean()[d];
            let w: Vec<f64> = (0..k).map(|j| part.weights.mean()[(d, j)]).collect();
            precision.add_outer(tau, &w);
            if weights == WeightUncertainty::Variational {
                precision.add_scaled(tau, &part.weights.row_cov(d));
            }
            for j in 0..k {
                rhs[j] += tau * x * w[j];
            }
        }
    }
    let cov = SpdFactor::factor(&precision).unwrap().0.inverse();
    (cov.times_vec(&rhs), cov)
}

#[test]
fn projections_are_the_formulas() {
    let data = simulated(30, 4, cells(0.15));
    let by_feature = crate::fit(data.clone(), models::bibfa(3)).unwrap();
    for fit in [vb(data, 3), by_feature] {
        let new = simulated(6, 5, cells(0.3));
        for weights in [WeightUncertainty::Variational, WeightUncertainty::PlugIn] {
            let options = ProjectOptions {
                weights,
                ..ProjectOptions::default()
            };
            let p = fit.project(&new, &options).unwrap();
            for n in 0..6 {
                let (mean, cov) = by_hand(&fit, 0, &new, n, weights);
                for j in 0..fit.k() {
                    assert!((p.mean[(n, j)] - mean[j]).abs() < 1e-9);
                    assert!((p.sd[(n, j)] - cov.get(j, j).sqrt()).abs() < 1e-9);
                }
            }
        }
    }
}

#[test]
fn gibbs_draws_are_mixed() {
    let fit = gibbs(simulated(25, 6, cells(0.1)), 2);
    let new = simulated(4, 7, cells(0.2));
    let p = fit.project(&new, &ProjectOptions::default()).unwrap();
    let draws = fit.n_components() as f64;
    assert!(draws > 30.0);
    for n in 0..4 {
        let (mut mean, mut second) = (vec![0.0; 2], SymPacked::zeros(2));
        for i in 0..fit.n_components() {
            let (m, s) = by_hand(&fit, i, &new, n, WeightUncertainty::Variational);
            mean[0] += m[0] / draws;
            mean[1] += m[1] / draws;
            second.add_scaled(1.0 / draws, &s);
            second.add_outer(1.0 / draws, &m);
        }
        second.add_outer(-1.0, &mean);
        let found = p.covariance_of(n);
        for a in 0..2 {
            assert!((p.mean[(n, a)] - mean[a]).abs() < 1e-9);
            assert!((p.sd[(n, a)] - second.get(a, a).sqrt()).abs() < 1e-9);
            for b in 0..=a {
                assert!((found.get(a, b) - second.get(a, b)).abs() < 1e-9);
            }
        }
    }
}

#[test]
fn names_decide_not_places() {
    let data = simulated(30, 8, Missing::default());
    let fit = vb(data.clone(), 2);
    let new = simulated(5, 9, cells(0.2));
    let options = ProjectOptions::default();
    // view1 without its third feature, in reverse order, with a stranger; view2 absent
    let changed = rebuilt(&new, &["view1"], |v| {
        let all = v.to_values_with_nan();
        let keep = [6, 5, 4, 3, 1, 0];
        let mut features: Vec<String> = keep.iter().map(|&d| v.features()[d].clone()).collect();
        features.push("stranger".to_owned());
        Table {
            name: v.name().to_owned(),
            samples: new.samples().to_vec(),
            features,
            values: Mat::from_fn(5, 7, |n, j| keep.get(j).map_or(1e6, |&d| all[(n, d)])),
            levels: Vec::new(),
        }
    });
    let holed = rebuilt(&new, &["view1"], |v| table(&new, &v.hiding(|_, d| d == 2)));
    let (a, b) = (
        fit.project(&changed, &options).unwrap(),
        fit.project(&holed, &options).unwrap(),
    );
    assert_eq!(a.samples, new.samples());
    assert!(gap(&a.mean, &b.mean) < 1e-12 && gap(&a.sd, &b.sd) < 1e-12);
    assert_eq!(a.notes.len(), 2, "{:?}", a.notes);
    assert!(a.notes[0].contains("1 of the model's 7 features") && a.notes[0].contains("v1f3"));
    assert!(a.notes[1].contains("stranger"), "{:?}", a.notes);
    // one sample alone, and samples in another order
    let back = fit.project(&rows(&holed, &[4, 2]), &options).unwrap();
    let one = fit.project(&rows(&holed, &[2]), &options).unwrap();
    assert_eq!(back.samples, ["s5", "s3"]);
    for k in 0..fit.k() {
        assert!((back.mean[(0, k)] - b.mean[(4, k)]).abs() < 1e-12);
        assert!((back.mean[(1, k)] - b.mean[(2, k)]).abs() < 1e-12);
        assert!((one.mean[(0, k)] - b.mean[(2, k)]).abs() < 1e-12);
        assert!((one.sd[(0, k)] - b.sd[(2, k)]).abs() < 1e-12);
    }
}

#[test]
fn strangers_are_refused() {
    let data = simulated(20, 10, Missing::default());
    let fit = vb(data.clone(), 2);
    let renamed = |name: &str, feature: &str| {
        rebuilt(&data, &["view1"], |v| Table {
            name: name.to_owned(),
            features: v
                .features()
                .iter()
                .map(|f| format!("{feature}{f}"))
                .collect(),
            ..table(&data, v)
        })
    };
    let options = ProjectOptions::default();
    let e = fit.project(&renamed("proteins", ""), &options).unwrap_err();
    assert!(matches!(e.kind(), ErrorKind::UnknownView { view, known }
        if view == "proteins" && known.len() == 2));
    let e = fit.project(&renamed("view1", "x"), &options).unwrap_err();
    assert!(
        matches!(e.kind(), ErrorKind::NoKnownFeature { view, found, .. }
        if view == "view1" && found == "xv1f1")
    );
}

#[test]
fn a_sample_without_a_known_value_gets_the_prior() {
    let data = simulated(20, 11, Missing::default());
    let fit = vb(data.clone(), 2);
    // s1 has only a feature that the model does not know
    let new = rebuilt(&rows(&data, &[0, 1]), &["view1"], |v| {
        let all = v.to_values_with_nan();
        let mut features = v.features().to_vec();
        features.push("stranger".to_owned());
        Table {
            name: "view1".to_owned(),
            samples: vec!["s1".into(), "s2".into()],
            features,
            values: Mat::from_fn(2, 8, |n, d| match (n, d) {
                (_, 7) => 3.0,
                (0, _) => f64::NAN,
                _ => all[(n, d)],
            }),
            levels: Vec::new(),
        }
    });
    let p = fit.project(&new, &ProjectOptions::default()).unwrap();
    assert!(p.notes.iter().any(|n| n.contains("average of the model")));
    for k in 0..fit.k() {
        assert_eq!((p.mean[(0, k)], p.sd[(0, k)]), (0.0, 1.0));
        assert!(p.sd[(1, k)] < 1.0);
    }
}

#[test]
fn values_that_overflow_are_refused() {
    let data = simulated(20, 12, Missing::default());
    let tiny = rebuilt(&data, &["view1", "view2"], |v| {
        let mut t = table(&data, v);
        for d in 0..t.values.ncols() {
            for x in t.values.col_as_slice_mut(d) {
                *x *= 1e-9;
            }
        }
        t
    });
    let fit = vb(tiny, 2);
    let mut t = table(&data, data.view("view1").unwrap());
    t.values[(0, 0)] = 1e305;
    let huge = View::from_values("view1", t.features.clone(), t.values.clone());
    let huge = data.with_view(huge.unwrap()).unwrap();
    let e = Dataset::builder().view(t).new_samples().build();
    assert!(matches!(e, Err(DataError::TooLarge { .. })), "{e:?}");
    let e = fit.project(&huge, &ProjectOptions::default()).unwrap_err();
    assert_eq!(e.view(), Some("view1"));
    assert!(matches!(e.kind(), ErrorKind::Numeric(_)));
}

/// Factors with heavy tails, and a part that all have in common: sparse factors that were
/// found one after the other would take what belongs to others.
#[test]
fn sparse_factors_of_training_samples_are_those_of_the_fit() {
    const N: usize = 150;
    for (features, factors, noise, seed) in [(10, 5, 0.3, 3), (18, 7, 0.1, 2)] {
        let mut rng = StreamKey::new(seed).rng();
        let mut normal = |r, c| Mat::from_fn(r, c, |_, _| standard_normal(&mut rng));
        let (z, w) = (normal(N, factors), normal(features, factors));
        let (e, common) = (normal(N, features), normal(N, 1));
        let heavy = Mat::from_fn(N, factors, |n, k| (z[(n, k)] + common[(n, 0)]).powi(5));
        let table = Table {
            name: "x".into(),
            samples: (0..N).map(|n| format!("s{n}")).collect(),
            features: (0..features).map(|d| format!("f{d}")).collect(),
            levels: Vec::new(),
            values: &heavy * w.transpose() + noise * e,
        };
        let data = Dataset::builder().view(table).build().unwrap();
        let spec = ModelSpec {
            factor_prior: "spike-and-slab".into(),
            ..models::bibfa(10)
        };
        let fit = crate::fit(data.clone(), spec).unwrap();
        let p = fit.project(&data, &ProjectOptions::default()).unwrap();
        let own = fit.component(0).unwrap().factors().mean().to_owned();
        let (mut left, mut total) = (0.0, 0.0);
        for k in 0..fit.k() {
            for n in 0..N {
                left += (p.mean[(n, k)] - own[(n, k)]).powi(2);
                total += own[(n, k)].powi(2);
            }
        }
        assert!(left < 0.005 * total, "{left} of {total}");
    }
}

/// Weights of nearly as many factors as features are much alike: entry by entry, factors would
/// be all too sure, and so would what is predicted from them.
#[test]
fn predictions_from_sparse_factors_are_no_surer_than_they_may_be() {
    const N: usize = 120;
    let (mut inside, mut all) = (0.0, 0.0);
    for seed in 1..4 {
        let mut rng = StreamKey::new(seed).rng();
        let mut normal = |r, c| Mat::from_fn(r, c, |_, _| standard_normal(&mut rng));
        let (z, w) = (normal(2 * N, 8), normal(14, 8));
        let values = &z * w.transpose() + 0.4 * normal(2 * N, 14);
        let part = |name: &str, from: usize, columns: std::ops::Range<usize>| Table {
            name: name.into(),
            samples: (from..from + N).map(|n| format!("s{n}")).collect(),
            features: columns.clone().map(|d| format!("f{d}")).collect(),
            levels: Vec::new(),
            values: Mat::from_fn(N, columns.len(), |n, d| {
                values[(from + n, columns.start + d)]
            }),
        };
        let both = Dataset::builder().view(part("x", 0, 0..9));
        let data = both.view(part("y", 0, 9..14)).build().unwrap();
        let spec = ModelSpec {
            factor_prior: "spike-and-slab".into(),
            ..models::bibfa(10)
        };
        let fit = crate::fit(data, spec).unwrap();
        let new = Dataset::builder().view(part("x", N, 0..9)).build().unwrap();
        let predicted = fit.predict(&new, "y").unwrap();
        let (lower, upper) = predicted.interval(0.9).unwrap();
        for n in 0..N {
            for d in 0..5 {
                let truth = values[(N + n, 9 + d)];
                inside += f64::from(lower[(n, d)] <= truth && truth <= upper[(n, d)]);
                all += 1.0;
            }
        }
    }
    let share = inside / all;
    assert!((0.83..0.95).contains(&share), "{share}");
}

/// Steps around classes are put back now and then, and what is extrapolated from such steps once led
/// nowhere.
#[test]
fn factors_of_classes_beside_other_labels_come_to_rest() {
    const N: usize = 80;
    for seed in 1..5 {
        let mut rng = StreamKey::new(seed).rng();
        let mut normal = |r, c| Mat::from_fn(r, c, |_, _| standard_normal(&mut rng));
        let (z, w) = (normal(N, 3), normal(15, 3));
        let (of_classes, of_labels) = (2.0 * normal(3, 3), 2.0 * normal(3, 3));
        let (scores, signs) = (&z * of_classes.transpose(), &z * of_labels.transpose());
        let table = |name: &str, values: Mat<f64>, levels: usize| Table {
            name: name.into(),
            samples: (0..N).map(|n| format!("s{n}")).collect(),
            features: (0..values.ncols()).map(|d| format!("{name}{d}")).collect(),
            levels: (0..levels).map(|c| format!("c{c}")).collect(),
            values,
        };
        let class = |n: usize| {
            let best = (0..3).max_by(|a, b| scores[(n, *a)].total_cmp(&scores[(n, *b)]));
            best.unwrap_or(0) as f64
        };
        let e = normal(N, 15);
        let numbers = table("x", &z * w.transpose() + e, 0);
        let classes = table("k", Mat::from_fn(N, 1, |n, _| class(n)), 3);
        let signs = Mat::from_fn(N, 3, |n, d| f64::from(u8::from(signs[(n, d)] > 0.3)));
        let labels = table("l", signs, 0);
        let build = |tables: Vec<Table>| {
            let mut builder = Dataset::builder();
            for table in tables {
                builder = builder.view(table);
            }
            builder.build().unwrap()
        };
        let data = build(vec![numbers, classes.clone(), labels.clone()]);
        let spec = models::sshiba(3)
            .with_likelihood("k", "categorical")
            .with_likelihood("l", "bernoulli");
        let fit = crate::fit(data, spec).unwrap();
        let seen = build(vec![classes, labels]);
        let found = fit.project(&seen, &ProjectOptions::default());
        assert!(found.is_ok(), "seed {seed}: {}", found.unwrap_err());
    }
}

use polyview_datasets::Missing;
use polyview_linalg::{Mat, SpdFactor};
use polyview_random::{StreamKey, ln_gamma_draw, standard_normal};

use super::{cells, gap, gibbs, rebuilt, rows, simulated, table, vb};
use crate::{ErrorKind, Fit, ProjectOptions};
use polyview_core::{Dataset, State, StateArray, Table};

/// spec/sshiba P4, M5: moments of drawn weights, intercepts, noise and
/// factors.
#[test]
fn predictive_variance_is_that_of_draws() {
    // few samples, so that every source of uncertainty matters
    let data = simulated(12, 1, cells(0.1));
    let fit = vb(data, 2);
    let new = simulated(2, 2, Missing::default());
    let p = fit.predict(&new, "view2").unwrap();
    let z = fit
        .project(
            &rebuilt(&new, &["view1"], |v| table(&new, v)),
            &ProjectOptions::default(),
        )
        .unwrap();
    let c = fit.component(0).unwrap();
    let (view, k) = (&c.views[1], fit.k());
    let noise = |part: &str| {
        fit.components[0].arrays()[&format!("views/view2/term/noise/{part}")].values[0]
    };
    let (shape, rate) = (noise("shape"), noise("rate"));
    let mut rng = StreamKey::new(3).rng();
    let draw = |mean: &dyn Fn(usize) -> f64, lower: &Mat<f64>, rng: &mut _| -> Vec<f64> {
        let e: Vec<f64> = (0..k).map(|_| standard_normal(rng)).collect();
        (0..k)
            .map(|i| mean(i) + (0..=i).map(|j| lower[(i, j)] * e[j]).sum::<f64>())
            .collect()
    };
    let draws = 40_000;
    for n in 0..2 {
        let lower_z = SpdFactor::factor(&z.covariance_of(n)).unwrap().0.lower();
        for d in [0, 3] {
            let lower_w = SpdFactor::factor(&view.weights.row_cov(d))
                .unwrap()
                .0
                .lower();
            let (mut sum, mut squares) = (0.0, 0.0);
            for _ in 0..draws {
                let zs = draw(&|j| z.mean[(n, j)], &lower_z, &mut rng);
                let ws = draw(&|j| view.weights.mean()[(d, j)], &lower_w, &mut rng);
                let b = view.bias.mean()[d]
                    + view.bias.variance()[d].sqrt() * standard_normal(&mut rng);
                let tau = ln_gamma_draw(&mut rng, shape, rate).unwrap().exp();
                let x = zs.iter().zip(&ws).map(|(a, b)| a * b).sum::<f64>()
                    + b
                    + standard_normal(&mut rng) / tau.sqrt();
                sum += x;
                squares += x * x;
            }
            let mean = sum / f64::from(draws);
            let sd = (squares / f64::from(draws) - mean * mean).sqrt();
            let scaling = &fit.views()[1].scaling;
            let working_sd = p.sd[(n, d)] / scaling.scale[d];
            assert!(
                (scaling.backward(d, mean) - p.mean[(n, d)]).abs() < 5.0 * p.sd[(n, d)] / 200.0
            );
            assert!((sd / working_sd - 1.0).abs() < 0.03, "{sd} {working_sd}");
            // the formula of the papers, noise and factors only, is off by more than that
            let w: Vec<f64> = (0..k).map(|j| view.weights.mean()[(d, j)]).collect();
            let plug_in = (rate / shape + z.covariance_of(n).quad(&w)).sqrt();
            assert!(plug_in / working_sd < 0.97);
        }
    }
}

#[test]
fn gibbs_predictions_are_mixtures() {
    let fit = gibbs(simulated(20, 4, cells(0.1)), 2);
    let new = simulated(3, 5, Missing::default());
    let p = fit.predict(&new, "view1").unwrap();
    // each draw as a fit of its own
    let singles: Vec<_> = (0..fit.n_components())
        .map(|i| {
            let mut one = fit.clone();
            one.components = vec![fit.components[i].clone()];
            one.predict(&new, "view1").unwrap()
        })
        .collect();
    let count = singles.len() as f64;
    for n in 0..3 {
        for d in 0..7 {
            let mean = singles.iter().map(|s| s.mean[(n, d)]).sum::<f64>() / count;
            let within = singles.iter().map(|s| s.sd[(n, d)].powi(2)).sum::<f64>() / count;
            let between = singles
                .iter()
                .map(|s| (s.mean[(n, d)] - mean).powi(2))
                .sum::<f64>()
                / count;
            assert!(between > 0.0);
            assert!((p.mean[(n, d)] - mean).abs() < 1e-10);
            assert!((p.sd[(n, d)] - (within + between).sqrt()).abs() < 1e-10);
        }
    }
    let fitted = fit.fitted("view1").unwrap();
    assert_eq!((fitted.mean.nrows(), fitted.mean.ncols()), (20, 7));
}

#[test]
fn intervals_cover_new_samples() {
    let data = simulated(260, 6, Missing::default());
    let train: Vec<usize> = (0..60).collect();
    let test: Vec<usize> = (60..260).collect();
    let truth = rows(&data, &test);
    for fit in [vb(rows(&data, &train), 2), gibbs(rows(&data, &train), 2)] {
        let p = fit.predict(&truth, "view2").unwrap();
        for level in [0.5, 0.95] {
            let (lower, upper) = p.interval(level).unwrap();
            let x = truth.view("view2").unwrap().values();
            let mut inside = 0;
            for n in 0..200 {
                for d in 0..5 {
                    inside += usize::from((lower[(n, d)]..=upper[(n, d)]).contains(&x[(n, d)]));
                }
            }
            let coverage = inside as f64 / 1000.0;
            assert!((coverage - level).abs() < 0.05, "{coverage} of {level}");
        }
    }
    let p = vb(rows(&data, &train), 2).predict(&truth, "view2").unwrap();
    for level in [0.0, 1.0, -1.0, f64::NAN] {
        let e = p.interval(level).unwrap_err();
        assert!(matches!(
            e.kind(),
            ErrorKind::Option {
                option: "level",
                ..
            }
        ));
    }
}

#[test]
fn the_target_is_left_out() {
    let data = simulated(30, 7, cells(0.1));
    let fit = vb(data.clone(), 2);
    let with = fit.predict(&data, "view2").unwrap();
    let only = rebuilt(&data, &["view1"], |v| table(&data, v));
    let without = fit.predict(&only, "view2").unwrap();
    assert!(gap(&with.mean, &without.mean) == 0.0 && gap(&with.sd, &without.sd) == 0.0);
    assert!(with.notes[0].contains("not used"));
    assert!(without.notes.len() == 1 && without.notes[0].contains("--settle view2=mixture"));
    assert_eq!(with.features, fit.views()[1].features);
    let e = fit.predict(&only, "view1").unwrap_err();
    assert!(matches!(e.kind(), ErrorKind::Incompatible { view, .. } if view == "view1"));
    let e = fit.predict(&only, "view3").unwrap_err();
    assert!(matches!(e.kind(), ErrorKind::UnknownView { .. }));
}

/// Every feature in other units, offsets included.
fn in_units(data: &Dataset, scale: f64) -> Dataset {
    rebuilt(data, &["view1", "view2"], |v| Table {
        values: {
            let mut m = v.to_values_with_nan();
            for d in 0..m.ncols() {
                for x in m.col_as_slice_mut(d) {
                    *x *= scale;
                }
            }
            m
        },
        ..table(data, v)
    })
}

#[test]
fn units_do_not_matter() {
    let data = simulated(30, 8, cells(0.1));
    let new = simulated(4, 9, cells(0.1));
    let p = vb(data.clone(), 2).predict(&new, "view2").unwrap();
    for scale in [1e9, 1e-9] {
        let fit = vb(in_units(&data, scale), 2);
        let q = fit.predict(&in_units(&new, scale), "view2").unwrap();
        for n in 0..4 {
            for d in 0..5 {
                assert!((q.mean[(n, d)] / scale - p.mean[(n, d)]).abs() < 1e-6 * p.sd[(n, d)]);
                assert!((q.sd[(n, d)] / scale / p.sd[(n, d)] - 1.0).abs() < 1e-6);
            }
        }
    }
}

/// A state with one more column in every block of rows: factors as given,
/// weights near zero.
fn with_empty_factor(fit: &Fit) -> Fit {
    let k = fit.k();
    let mut out = fit.clone();
    let mut state = State::new();
    for (name, array) in fit.components[0].arrays() {
        let mut a: StateArray = array.clone();
        let weights = name.contains("/weights");
        if name.ends_with("/mean") && a.shape.len() == 2 {
            let tiny = |i: usize| if weights { 1e-9 } else { 0.1 * (i % 7) as f64 };
            a.values.extend((0..a.shape[0]).map(tiny));
            a.shape[1] += 1;
        } else if name.ends_with("/cov_shared") {
            a.values.extend(vec![0.0; k]);
            a.values.push(if weights { 1e-18 } else { 1.0 });
            a.shape[0] += k + 1;
        } else if name.contains("/prior/") && !name.ends_with("/alpha/prior") && a.values.len() == k
        {
            a.values.push(1.0);
            a.shape[0] += 1;
        }
        state.put(name, a);
    }
    out.components = vec![state];
    out
}

/// spec/sshiba 9.6.10.
#[test]
fn an_empty_factor_changes_no_prediction() {
    let data = simulated(30, 10, Missing::default());
    let fit = vb(data, 2);
    let more = with_empty_factor(&fit);
    assert_eq!(more.k(), fit.k() + 1);
    let new = simulated(4, 11, cells(0.2));
    let (a, b) = (
        fit.predict(&new, "view1").unwrap(),
        more.predict(&new, "view1").unwrap(),
    );
    assert!(gap(&a.mean, &b.mean) < 1e-6 && gap(&a.sd, &b.sd) < 1e-6);
    let (a, b) = (fit.fitted("view2").unwrap(), more.fitted("view2").unwrap());
    assert!(gap(&a.mean, &b.mean) < 1e-6 && gap(&a.sd, &b.sd) < 1e-6);
}

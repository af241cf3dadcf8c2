//! Simulation, activity, varimax.

use polyview_core::{Dataset, DatasetBuilder, Event, State};
use polyview_datasets::{Activity, Missing, Noise, SimulationOptions, simulate_factor_data};
use polyview_linalg::Mat;
use polyview_random::{StreamKey, standard_normal};

use super::counts::table;
use super::{cells, gap, gibbs, noise_by_view, simulated, vb};
use crate::{ActivityBasis, ErrorKind, FactorKind, Fit, ProjectOptions};

/// Mean of a feature, variances and covariance of the first two, working
/// units, with parameters drawn from the posterior and factors from the prior.
fn implied(fit: &Fit) -> ([f64; 2], [f64; 2], f64) {
    let count = fit.n_components() as f64;
    let (mut mean, mut square, mut product) = ([0.0; 2], [0.0; 2], 0.0);
    for i in 0..fit.n_components() {
        let c = fit.component(i).unwrap();
        let (w, b) = (&c.views[0].weights, &c.views[0].bias);
        let noise = &fit.components[i].arrays();
        let of = |part: &str| noise[&format!("views/view1/term/noise/{part}")].values[0];
        let noise = if fit.is_sampled() {
            1.0 / of("mean")
        } else {
            of("rate") / (of("shape") - 1.0)
        };
        let dot = |d: usize, e: usize| -> f64 {
            (0..fit.k())
                .map(|k| w.mean()[(d, k)] * w.mean()[(e, k)])
                .sum()
        };
        for d in 0..2 {
            mean[d] += b.mean()[d] / count;
            let signal = dot(d, d) + w.row_cov(d).trace();
            square[d] += (signal + noise + b.variance()[d] + b.mean()[d].powi(2)) / count;
        }
        product += (dot(0, 1) + b.mean()[0] * b.mean()[1]) / count;
    }
    let variance = [square[0] - mean[0] * mean[0], square[1] - mean[1] * mean[1]];
    (mean, variance, product - mean[0] * mean[1])
}

/// The same fit with other variances of weights and intercepts.
fn inflated(fit: &Fit, weights: f64, intercepts: f64) -> Fit {
    let mut out = fit.clone();
    let mut state = State::new();
    for (name, array) in fit.components[0].arrays() {
        let factor = if name.ends_with("/weights/cov_shared") {
            weights
        } else if name.ends_with("/bias/variance") {
            intercepts
        } else {
            1.0
        };
        let mut array = array.clone();
        for x in &mut array.values {
            *x *= factor;
        }
        state.put(name, array);
    }
    out.components = vec![state];
    out
}

#[test]
fn simulated_data_have_the_moments_of_the_posterior() {
    let data = simulated(15, 1, Missing::default());
    let fit = vb(data.clone(), 2);
    let fits = [
        gibbs(data, 2),
        inflated(&fit, 40.0, 1.0),
        inflated(&fit, 1.0, 80.0),
        fit,
    ];
    for fit in &fits {
        let (sets, n) = (600, 25);
        let total = f64::from(sets) * n as f64;
        let scaling = &fit.views()[0].scaling;
        let (mut mean, mut square, mut product) = ([0.0; 2], [0.0; 2], 0.0);
        for seed in 0..sets {
            let s = fit.simulate(n, seed as u64).unwrap();
            let x = s.views()[0].values();
            for r in 0..n {
                let x = [scaling.forward(0, x[(r, 0)]), scaling.forward(1, x[(r, 1)])];
                for d in 0..2 {
                    mean[d] += x[d] / total;
                    square[d] += x[d] * x[d] / total;
                }
                product += x[0] * x[1] / total;
            }
        }
        let (m, v, c) = implied(fit);
        for d in 0..2 {
            assert!(
                (mean[d] - m[d]).abs() < 0.1 * v[d].sqrt(),
                "{} {}",
                mean[d],
                m[d]
            );
            let found = square[d] - mean[d] * mean[d];
            assert!((found / v[d] - 1.0).abs() < 0.1, "{found} {}", v[d]);
        }
        let found = product - mean[0] * mean[1];
        assert!(
            (found - c).abs() < 0.1 * (v[0] * v[1]).sqrt(),
            "{found} {c}"
        );
    }
    // the inflated variances are no detail
    let of = |i: usize| implied(&fits[i]).1[0];
    assert!(
        of(1) > 1.5 * of(3) && of(2) > 1.5 * of(3),
        "{} {} {}",
        of(1),
        of(2),
        of(3)
    );
}

#[test]
fn a_seed_fixes_a_simulation() {
    let fit = vb(simulated(20, 2, cells(0.1)), 2);
    let a = fit.simulate(5, 1).unwrap();
    assert_eq!(a, fit.simulate(5, 1).unwrap());
    assert_ne!(a, fit.simulate(5, 2).unwrap());
    assert_eq!(a.samples(), ["sim1", "sim2", "sim3", "sim4", "sim5"]);
    for (v, info) in a.views().iter().zip(fit.views()) {
        assert_eq!(
            (v.features(), v.n_observed()),
            (info.features.as_slice(), 5 * v.n_features())
        );
    }
    let e = fit.simulate(0, 1).unwrap_err();
    assert!(matches!(
        e.kind(),
        ErrorKind::Option {
            option: "samples",
            ..
        }
    ));
}

#[test]
fn shared_and_private_factors_are_told_apart() {
    let data = simulate_factor_data(&SimulationOptions {
        activity: Activity::Given(vec![vec![true, true, false], vec![true, false, true]]),
        noise: Noise::Share(0.2),
        ..SimulationOptions::new(150, &[20, 20], 3, 5)
    })
    .unwrap()
    .dataset;
    for fit in [vb(data.clone(), 3), gibbs(data.clone(), 3)] {
        let a = fit.active(0.03).unwrap();
        let mut kinds = a.kinds();
        kinds.sort_by_key(|k| format!("{k:?}"));
        assert_eq!(
            kinds,
            [
                FactorKind::Common,
                FactorKind::Private(0),
                FactorKind::Private(1)
            ],
            "{:?}",
            a.share
        );
        let common = (0..3).find(|&k| a.kind(k) == FactorKind::Common).unwrap();
        assert_eq!(a.acting_in(&[0, 1]), [common]);
        assert_eq!(a.acting_in(&[0]).len(), 2);
        let explained = fit.explain().unwrap();
        // the very numbers of the table of variance explained
        assert_eq!(a.basis, ActivityBasis::Data);
        assert!(gap(&a.share, &explained.marginal) == 0.0);
        assert!(gap(&a.lost, &explained.unique) == 0.0);
        for m in 0..2 {
            let sum: f64 = (0..3).map(|k| a.share[(m, k)]).sum();
            assert!(
                (sum - explained.total[m]).abs() < 0.1,
                "{sum} {:?}",
                explained.total
            );
        }
        let c = fit.factor_correlations().unwrap();
        for i in 0..3 {
            assert_eq!(c[(i, i)], 1.0);
            for j in 0..3 {
                assert!(c[(i, j)] == c[(j, i)] && (i == j || c[(i, j)].abs() < 0.35));
            }
        }
    }
    let mut fit = vb(data, 3);
    // without data the model's own expectation, which is close
    let own = fit.active(0.03).unwrap();
    let kept = fit.data.take();
    let expected = fit.active(0.03).unwrap();
    assert_eq!(expected.basis, ActivityBasis::Model);
    assert_eq!(expected.kinds(), own.kinds());
    assert!(gap(&expected.share, &own.share) < 0.06);
    assert!(gap(&expected.lost, &own.lost) < 0.06);
    fit.data = kept;
    let none = fit.active(2.0).unwrap();
    assert_eq!(none.kinds(), vec![FactorKind::Inactive; 3]);
    for t in [-1.0, f64::NAN] {
        assert!(matches!(
            fit.active(t).unwrap_err().kind(),
            ErrorKind::Option {
                option: "threshold",
                ..
            }
        ));
    }
}

/// Two factors that go together in the samples of a view of their difference: with
/// either of them alone it is predicted far worse than by its mean, without either not at all.
#[test]
fn factors_that_count_only_together_act() {
    let (n, known) = (240, 120);
    let mut rng = StreamKey::new(8).rng();
    let mut normal = |scale: f64| scale * standard_normal(&mut rng);
    let z: Vec<[f64; 2]> = (0..n)
        .map(|i| {
            let (common, own) = (normal(1.0), normal(0.28));
            // in the samples without b they part, so that they are uncorrelated in all
            let sign = if i < known { 1.0 } else { -1.0 };
            [common + own, sign * (common - own)]
        })
        .collect();
    let a = Mat::from_fn(n, 24, |i, d| z[i][d % 2] + normal(0.1));
    let b = Mat::from_fn(known, 4, |i, _| z[i][0] - z[i][1] + normal(0.1));
    let tables = [table("a", a), table("b", b)];
    let data = tables
        .into_iter()
        .fold(Dataset::builder(), DatasetBuilder::view);
    let fit = crate::fit(data.build().unwrap(), crate::models::mofa(2)).unwrap();
    let e = fit.explain().unwrap();
    for k in 0..2 {
        assert!(e.marginal[(1, k)] < -0.5, "{:?}", e.marginal);
        assert!(e.unique[(1, k)] > 0.5, "{:?}", e.unique);
    }
    let common = [FactorKind::Common, FactorKind::Common];
    assert_eq!(fit.active(0.01).unwrap().kinds(), common);
}

#[test]
fn varimax_turns_and_changes_no_prediction() {
    let data = simulated(30, 6, cells(0.15));
    let new = simulated(4, 7, cells(0.1));
    for fit in [vb(data.clone(), 3), gibbs(data.clone(), 2)] {
        // a rotation away from where the fit stands, so that there is something to turn
        let mut away = fit.clone();
        for state in &mut away.components {
            let mut model = fit.load_model(state, fit.k()).unwrap();
            let (s, c) = 0.6_f64.sin_cos();
            let q = Mat::from_fn(fit.k(), fit.k(), |i, j| match (i, j) {
                (0, 0) | (1, 1) => c,
                (0, 1) => s,
                (1, 0) => -s,
                _ => f64::from(u8::from(i == j)),
            });
            model.factors.transform(q.as_ref(), 0.0);
            for v in &mut model.views {
                v.weights.transform(q.as_ref(), 0.0);
            }
            let mut next = State::new();
            polyview_core::Stateful::save(&model, "", &mut next);
            *state = next;
        }
        let turned = away.varimax().unwrap();
        for name in ["view1", "view2"] {
            let (a, b) = (fit.fitted(name).unwrap(), turned.fitted(name).unwrap());
            assert!(gap(&a.mean, &b.mean) < 1e-10 && gap(&a.sd, &b.sd) < 1e-10);
            let (a, b) = (
                fit.predict(&new, name).unwrap(),
                turned.predict(&new, name).unwrap(),
            );
            assert!(gap(&a.mean, &b.mean) < 1e-10 && gap(&a.sd, &b.sd) < 1e-10);
        }
        let (a, b) = (fit.explain().unwrap(), turned.explain().unwrap());
        assert!((a.total[0] - b.total[0]).abs() < 1e-10);
        // wherever it is turned from, varimax comes back to the same factors
        let straight = fit.varimax().unwrap();
        let options = ProjectOptions::default();
        let (a, b) = (
            straight.project(&new, &options).unwrap(),
            turned.project(&new, &options).unwrap(),
        );
        assert!(gap(&a.mean, &b.mean) < 1e-5, "{}", gap(&a.mean, &b.mean));
        let last = turned.record().journal.entries.last().unwrap();
        assert!(matches!(&last.event, Event::Note { note } if note.contains("varimax")));
        assert_eq!(turned.record().bound, fit.record().bound);
        // signed by the largest weight, ordered by explained variance
        let w = turned.stacked_weights().unwrap();
        for k in 0..turned.k() {
            let peak = w
                .col_as_slice(k)
                .iter()
                .fold(0.0_f64, |p, x| if x.abs() > p.abs() { *x } else { p });
            assert!(peak > 0.0);
        }
    }
}

#[test]
fn the_shape_of_an_image_is_checked_and_kept() {
    let data = simulated(20, 3, cells(0.0));
    let with = |shape: [usize; 2]| {
        let mut spec = noise_by_view(2);
        spec.vb.max_sweeps = 20;
        let choices = crate::ViewChoices {
            shape: Some(shape),
            selection: "relevance".into(),
            ..spec.view("view1")
        };
        crate::fit(data.clone(), spec.with_view("view1", choices))
    };
    for shape in [[2, 3], [0, 7], [usize::MAX, usize::MAX]] {
        let e = with(shape).unwrap_err();
        assert!(
            matches!(e.kind(), ErrorKind::Shape { view, features: 7, .. } if view == "view1"),
            "{e}"
        );
        assert!(e.advice().is_some());
    }
    let fit = with([7, 1]).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("m.pv");
    fit.save(&path, crate::Overwrite::Refuse).unwrap();
    let read = Fit::load(&path).unwrap();
    assert_eq!(read.views()[0].choices.shape, Some([7, 1]));
    assert_eq!(read.views()[1].choices.shape, None);
    // some of the pixels are no image
    let selections = [("view1", crate::Selection::Top(3))];
    let small = fit.refit(&data, &selections).unwrap();
    assert_eq!(small.views()[0].choices.shape, None);
}

//! What settling computes, by hand.

use polyview_core::Table;
use polyview_linalg::{Mat, solve_spd};

use super::{projected, train};
use crate::models;
use crate::verbs::tests::discriminative::{TRAIN, tables};

/// The two-step estimate by hand: variational regression of the target on the means of the
/// projected factors, one precision for its weights, by what each factor explains of the other
/// view, and one noise precision.
#[test]
fn settled_weights_are_those_of_a_second_step() {
    let (x, _) = tables(false);
    let logs = Table {
        values: Mat::from_fn(x.values.nrows(), 6, |n, d| x.values[(n, d)].ln()),
        features: x.features[..6].to_vec(),
        ..x.clone()
    };
    let t = Table {
        name: "y".into(),
        features: vec!["y".into()],
        values: Mat::from_fn(x.values.nrows(), 1, |n, _| x.values[(n, 9)].ln()),
        ..x.clone()
    };
    let mut spec = models::bibfa(2);
    spec.vb.tolerance = 1e-13;
    spec.vb.movement = 1e-9;
    spec.vb.max_sweeps = 20_000;
    let mut fit = train(&logs, &t, spec);
    let (before, factors) = (fit.weights("y").unwrap(), fit.factors().unwrap());
    let others = fit.weights("x").unwrap();
    let z = projected(&fit, &logs);
    fit.settle(&["y"]).unwrap();
    let after = fit.settled_view("y").unwrap().unwrap();

    let component = fit.component(0).unwrap();
    let mut reach = [0.0; 2];
    for d in 0..6 {
        let square = |k: usize| others.mean[(d, k)].powi(2);
        let whole = square(0) + square(1) + component.views[0].link_variance(d);
        (0..2).for_each(|k| reach[k] += square(k) / whole);
    }
    let relative = reach.map(|r| 0.5 * (reach[0] + reach[1]) / r);
    assert!((relative[0] - relative[1]).abs() > 0.1, "{relative:?}");
    let (k, y) = (fit.k(), fit.data().unwrap()[1].values().to_owned());
    let second =
        |i: usize, j: usize| -> f64 { (0..TRAIN).map(|n| z.mean[(n, i)] * z.mean[(n, j)]).sum() };
    let n = TRAIN as f64;
    let (mut w, mut cov) = (vec![0.0; k], Mat::<f64>::identity(k, k));
    let (mut alpha, mut tau, mut b) = (1.0, 1.0, 0.0);
    for _ in 0..20_000 {
        let p = Mat::from_fn(k, k, |i, j| {
            tau * second(i, j) + if i == j { alpha * relative[i] } else { 0.0 }
        });
        let h = Mat::from_fn(k, 1, |i, _| {
            (0..TRAIN)
                .map(|r| tau * z.mean[(r, i)] * (y[(r, 0)] - b))
                .sum::<f64>()
        });
        let m = solve_spd(p.as_ref(), h.as_ref()).unwrap();
        w = (0..k).map(|i| m[(i, 0)]).collect();
        cov = solve_spd(p.as_ref(), Mat::<f64>::identity(k, k).as_ref()).unwrap();
        let b_var = 1.0 / (n * tau + 1.0);
        let eta = |r: usize| (0..k).map(|i| z.mean[(r, i)] * w[i]).sum::<f64>();
        b = b_var * tau * (0..TRAIN).map(|r| y[(r, 0)] - eta(r)).sum::<f64>();
        let mut square = 0.0;
        for r in 0..TRAIN {
            let e = y[(r, 0)] - b;
            square += e * e - 2.0 * e * eta(r) + b_var;
        }
        for i in 0..k {
            for j in 0..k {
                square += second(i, j) * (w[i] * w[j] + cov[(i, j)]);
            }
        }
        tau = (1e-6 + 0.5 * n) / (1e-6 + 0.5 * square);
        let squares = (0..k).map(|i| relative[i] * (w[i] * w[i] + cov[(i, i)]));
        let squares: f64 = squares.sum();
        alpha = (1.0 + 0.5 * k as f64) / (1.0 + 0.5 * squares);
    }
    for i in 0..k {
        assert!(
            (after.weights.mean()[(0, i)] - w[i]).abs() < 1e-5,
            "{i}: {} {}",
            after.weights.mean()[(0, i)],
            w[i]
        );
        let sd = after.weights.variance(0, i).sqrt();
        assert!((sd - cov[(i, i)].sqrt()).abs() < 1e-5);
    }
    // what factors leave of the target is not noise, nor what they leave of uncertain weights
    let spread = |n: usize| {
        let own = z.covariance_of(n);
        let of = |i: usize, j: usize| own.get(i, j) * cov[(i, j)];
        own.quad(&w)
            + (0..k)
                .flat_map(|i| (0..k).map(move |j| (i, j)))
                .map(|(i, j)| of(i, j))
                .sum::<f64>()
    };
    let spread: f64 = (0..TRAIN).map(spread).sum::<f64>() / n;
    let noise = after.term.as_noise().unwrap();
    let found = 1.0 / noise.precisions().unwrap().mean()[0];
    assert!(spread > 1e-4, "{spread}");
    assert!(
        (found - (1.0 / tau - spread)).abs() < 1e-5,
        "{found} {tau} {spread}"
    );
    assert!((0..k).any(|i| (before.mean[(0, i)] - w[i]).abs() > 1e-3));
    // and nothing else has changed
    assert_eq!(before.mean, fit.weights("y").unwrap().mean);
    assert_eq!(factors.mean, fit.factors().unwrap().mean);
    assert_eq!(others.mean, fit.weights("x").unwrap().mean);
    assert_eq!(z.mean, projected(&fit, &logs).mean);
}

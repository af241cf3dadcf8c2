//! Eight samples at once against each alone.

use polyview_linalg::simd::dispatch;

use super::super::tilted::{Covariance, Tilted, root};
use super::*;

fn at(i: usize) -> f64 {
    ((i * 7919 + 13) % 101) as f64 / 50.0 - 1.0
}

/// A covariance of factors, packed: of rank one and a diagonal that differs from sample to sample.
fn covariance(sample: usize, k: usize) -> Vec<f64> {
    let mut out = Vec::new();
    for i in 0..k {
        for j in 0..=i {
            let own = if i == j {
                0.1 + 0.2 * (sample % 5) as f64
            } else {
                0.0
            };
            out.push(at(sample + i) * at(sample + j) + own);
        }
    }
    out
}

/// Means and variances of the predictors of a sample: all but two are common ones, of those one is far off and one has no
/// number.
fn predictors(sample: usize, weights: &[f64], classes: usize, s: &[f64]) -> (Vec<f64>, Vec<f64>) {
    let k = weights.len() / classes;
    let far = if sample == 3 { 300.0 } else { 2.0 };
    let mut mean: Vec<f64> = (0..classes).map(|c| far * at(3 * c + sample)).collect();
    if sample == 5 {
        mean[0] = f64::NAN;
    }
    let variance = (0..classes).map(|c| {
        let w = &weights[c * k..][..k];
        let entry = |i: usize, j: usize| s[packed_index(i.max(j), i.min(j))];
        let all = (0..k).flat_map(|i| (0..k).map(move |j| (i, j)));
        all.map(|(i, j)| w[i] * entry(i, j) * w[j]).sum::<f64>() + 0.05 * c as f64
    });
    (mean, variance.collect())
}

/// Fewer factors than classes, as many and more, and factors that are known.
#[test]
fn eight_samples_have_the_optima_of_each() {
    for (classes, k, known) in [
        (7, 2, false),
        (4, 4, false),
        (3, 6, false),
        (2, 1, false),
        (5, 3, true),
    ] {
        let weights: Vec<f64> = (0..classes * k).map(|i| 1.5 * at(i)).collect();
        let mut batch = Batch::new(&weights, classes, known);
        let mut expected = Vec::new();
        for l in 0..LANES {
            let mut s = covariance(l, k);
            let (mean, variance) = predictors(l, &weights, classes, &s);
            for c in 0..classes {
                batch.mean[c].0[l] = mean[c];
                batch.variance[c].0[l] = variance[c];
            }
            if !known {
                for (to, x) in batch.factors.iter_mut().zip(&s) {
                    to.0[l] = *x;
                }
            }
            root(&mut s, k);
            let v = Covariance::of(&weights, (!known).then_some(&s[..]), &variance);
            let mut one = Tilted::new(classes);
            let bound = one.minimum(&mean, &v);
            expected.push((bound, one.a));
        }
        dispatch(Minimum(&mut batch));
        for (l, (bound, a)) in expected.iter().enumerate() {
            let found = batch.bound.0[l];
            if l == 5 {
                assert!(found.is_nan() && bound.is_nan(), "{found} {bound}");
                continue;
            }
            let near = |a: f64, b: f64| (a - b).abs() < 1e-12 * (1.0 + b.abs());
            assert!(near(found, *bound), "{classes} {k} {l}: {found} {bound}");
            for (c, a) in a.iter().enumerate() {
                assert!(near(batch.a[c].0[l], *a), "{classes} {k} {l} {c}");
            }
        }
    }
}

/// What else is in a batch changes no bit.
#[test]
fn samples_of_a_batch_do_not_touch() {
    let (classes, k) = (4, 3);
    let weights: Vec<f64> = (0..classes * k).map(|i| 2.0 * at(i)).collect();
    let of = |samples: [usize; LANES]| {
        let mut batch = Batch::new(&weights, classes, false);
        for (l, n) in samples.into_iter().enumerate() {
            let s = covariance(n, k);
            let (mean, variance) = predictors(n, &weights, classes, &s);
            for c in 0..classes {
                batch.mean[c].0[l] = mean[c];
                batch.variance[c].0[l] = variance[c];
            }
            for (to, x) in batch.factors.iter_mut().zip(&s) {
                to.0[l] = *x;
            }
        }
        dispatch(Minimum(&mut batch));
        batch
    };
    let mixed = of([0, 1, 2, 3, 4, 5, 6, 7]);
    for n in [0, 2, 3, 7] {
        let alone = of([n; LANES]);
        assert_eq!(mixed.bound.0[n].to_bits(), alone.bound.0[0].to_bits());
        for c in 0..classes {
            assert_eq!(mixed.a[c].0[n].to_bits(), alone.a[c].0[5].to_bits());
        }
    }
}

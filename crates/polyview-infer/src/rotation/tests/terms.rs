//! Gradients and curvature of the terms.

use super::species::{ArdRotation, NormalFactorsRotation, RidgeRotation};
use super::{Terms, close, evaluate, moment, near_identity, problem};
use crate::rotation::test_noise::Noise;
use polyview_linalg::{Mat, inverse};

#[test]
fn gradients_agree_with_finite_differences() {
    for k in [1, 2, 3, 7, 12] {
        let mut noise = Noise::new(k as u64);
        let mut terms = problem(&mut noise, k, 3, 0.3);
        terms.push(Box::new(RidgeRotation {
            precision: 0.7,
            rows: 4.0,
            second_moment: moment(&mut noise, k, k, 0.5),
        }));
        let q = near_identity(&mut noise, k, 0.3);
        for (index, term) in terms.into_iter().enumerate() {
            let term: Terms = vec![term];
            let (_, gradient) = evaluate(&term, &q);
            let scale = gradient.norm_max();
            for s in 0..k {
                for r in 0..k {
                    // fourth-order central difference
                    let at = |h: f64| {
                        let mut q = q.clone();
                        q[(r, s)] += h;
                        evaluate(&term, &q).0
                    };
                    let h = 1e-3;
                    let numeric =
                        (8.0 * (at(h) - at(-h)) - (at(2.0 * h) - at(-2.0 * h))) / (12.0 * h);
                    assert!(
                        close(numeric, gradient[(r, s)], 1e-7, scale),
                        "term {index}, k {k}, ({r}, {s}): {numeric} {}",
                        gradient[(r, s)]
                    );
                }
            }
        }
    }
}

/// With diagonal moments the reported curvature is the Hessian's, entry by entry.
#[test]
fn curvature_of_diagonal_moments_is_exact() {
    let k = 4;
    let diagonal = |noise: &mut Noise| {
        let d: Vec<f64> = (0..k).map(|_| noise.normal().exp()).collect();
        Mat::from_fn(k, k, |r, s| if r == s { d[r] } else { 0.0 })
    };
    let mut noise = Noise::new(3);
    let terms: Terms = vec![
        Box::new(NormalFactorsRotation {
            samples: 6.0,
            second_moment: diagonal(&mut noise),
        }),
        Box::new(ArdRotation {
            shape: 0.3,
            rate: 0.2,
            rows: 5.0,
            second_moment: diagonal(&mut noise),
        }),
        Box::new(RidgeRotation {
            precision: 1.7,
            rows: 3.0,
            second_moment: diagonal(&mut noise),
        }),
    ];
    let q = Mat::from_fn(k, k, |r, s| if r == s { 0.6 + 0.3 * r as f64 } else { 0.0 });
    let q_inverse = inverse(q.as_ref()).unwrap();
    for (index, term) in terms.into_iter().enumerate() {
        let (mut own, mut exchange) = (Mat::zeros(k, k), Mat::zeros(k, k));
        term.curvature(
            q.as_ref(),
            q_inverse.as_ref(),
            own.as_mut(),
            exchange.as_mut(),
        );
        let term: Terms = vec![term];
        let h = 1e-3;
        let at = |entries: &[(usize, usize, f64)]| {
            let mut mixing = Mat::<f64>::identity(k, k);
            for &(r, s, x) in entries {
                mixing[(r, s)] += x;
            }
            evaluate(&term, &(mixing * &q)).0
        };
        for s in 0..k {
            for r in 0..k {
                let plain = (at(&[(r, s, h)]) + at(&[(r, s, -h)]) - 2.0 * at(&[])) / (h * h);
                let expected = -own[(r, s)] - if r == s { exchange[(r, r)] } else { 0.0 };
                assert!(
                    close(plain, expected, 1e-4, 1.0),
                    "term {index} ({r}, {s}): {plain} {expected}"
                );
                if r != s {
                    let mixed = at(&[(r, s, h), (s, r, h)])
                        - at(&[(r, s, h), (s, r, -h)])
                        - at(&[(r, s, -h), (s, r, h)])
                        + at(&[(r, s, -h), (s, r, -h)]);
                    let mixed = mixed / (4.0 * h * h);
                    assert!(
                        close(mixed, -exchange[(r, s)], 1e-4, 1.0),
                        "term {index} ({r}, {s}): {mixed} {}",
                        exchange[(r, s)]
                    );
                }
            }
        }
    }
}

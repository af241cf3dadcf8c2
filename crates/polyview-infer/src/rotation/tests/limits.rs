//! Degenerate problems, misleading terms, bad input.

use super::species::{ArdRotation, NormalFactorsRotation, RidgeRotation};
use super::{Terms, close, evaluate, is_inverse, moment, problem, strict};
use crate::rotation::test_noise::Noise;
use crate::rotation::*;
use polyview_linalg::{Mat, MatMut, MatRef};

#[test]
fn pruned_and_singular_moments_stay_finite() {
    for k in [1, 2, 3, 8, 20] {
        for case in 0..8 {
            let mut noise = Noise::new(500 + 10 * k as u64 + case);
            let mut factors = moment(&mut noise, k, k + 4, 1.0);
            let mut weights = moment(&mut noise, k, k + 4, 1e-3);
            let tiny = [1e-300, 1e-12, 0.0, 1e-6][case as usize % 4];
            if case % 2 == 0 {
                // the last factor is gone from the weights
                for r in 0..k {
                    weights[(r, k - 1)] = 0.0;
                    weights[(k - 1, r)] = 0.0;
                }
                weights[(k - 1, k - 1)] = tiny;
            } else {
                weights = moment(&mut noise, k, 1, tiny);
            }
            if case >= 4 {
                factors = moment(&mut noise, k, 1, tiny);
            }
            let scale = [1.0, 1e8, 1e-8][case as usize % 3];
            weights *= polyview_linalg::faer::Scale(scale);
            let terms: Terms = vec![
                Box::new(NormalFactorsRotation {
                    samples: 30.0,
                    second_moment: factors,
                }),
                Box::new(ArdRotation {
                    shape: 1e-14,
                    rate: 1e-14,
                    rows: [5.0, 300.0][case as usize % 2],
                    second_moment: weights,
                }),
            ];
            let found = maximise(&terms, k, &RotationOptions::default()).unwrap();
            assert!(found.gain >= 0.0 && found.gain.is_finite());
            assert!(found.q.norm_max().is_finite() && found.q_inverse.norm_max().is_finite());
            assert!(is_inverse(&found, 1e-6), "k {k} case {case}: {found:?}");
            let (best, _) = evaluate(&terms, &found.q);
            let (start, _) = evaluate(&terms, &Mat::identity(k, k));
            assert!(
                close(found.gain, best - start, 1e-5, 1e-3),
                "k {k} case {case} {} {}",
                found.gain,
                best - start
            );
        }
    }
}

/// A bound without a maximum: it rises for ever as the factor grows.
#[test]
fn an_unbounded_bound_stops_at_the_condition_limit() {
    let zero = Mat::<f64>::zeros(2, 2);
    let terms: Terms = vec![
        Box::new(NormalFactorsRotation {
            samples: 5.0,
            second_moment: Mat::identity(2, 2),
        }),
        Box::new(ArdRotation {
            shape: 1.0,
            rate: 1.0,
            rows: 50.0,
            second_moment: Mat::from_fn(2, 2, |r, s| if r + s == 0 { 1.0 } else { 0.0 }),
        }),
        Box::new(RidgeRotation {
            precision: 1.0,
            rows: 1.0,
            second_moment: zero,
        }),
    ];
    let found = maximise(&terms, 2, &strict()).unwrap();
    assert_eq!(found.outcome, RotationOutcome::IllConditioned);
    assert!(found.gain > 100.0 && found.gain.is_finite());
    assert!(is_inverse(&found, 1e-6));
}

/// A term whose gradient points downhill: the search cannot rise and must say so.
struct Misleading(f64);

impl RotationTerm for Misleading {
    fn evaluate(
        &self,
        q: MatRef<'_, f64>,
        _q_inverse: MatRef<'_, f64>,
        _log_abs_det: f64,
        mut gradient: MatMut<'_, f64>,
    ) -> f64 {
        gradient[(0, 0)] += self.0;
        -(q[(0, 0)] - 1.0).abs()
    }
}

#[test]
fn no_gain_gives_the_identity() {
    for slope in [1.0, -1.0] {
        let terms: Terms = vec![Box::new(Misleading(slope))];
        let found = maximise(&terms, 2, &RotationOptions::default()).unwrap();
        assert_eq!(found.outcome, RotationOutcome::NoProgress);
        assert!(found.is_identity() && found.gain == 0.0 && found.log_abs_det == 0.0);
        assert_eq!(found.q, Mat::<f64>::identity(2, 2));
        assert_eq!(found.q_inverse, Mat::<f64>::identity(2, 2));
    }
    // already at the maximum
    let terms = problem(&mut Noise::new(5), 4, 3, 2.0);
    let first = maximise(&terms, 4, &strict()).unwrap();
    let q = &first.q;
    let again: Terms = vec![Box::new(Shifted {
        terms,
        q: q.clone(),
        q_inverse: first.q_inverse.clone(),
    })];
    let second = maximise(&again, 4, &RotationOptions::default()).unwrap();
    assert!(second.is_identity(), "{}", second.gain);
    assert_eq!(
        (second.iterations, second.outcome),
        (0, RotationOutcome::Converged)
    );
}

/// A term that thinks better of it when asked twice about the same point.
struct Fickle {
    last: std::cell::RefCell<Mat<f64>>,
}

impl RotationTerm for Fickle {
    fn evaluate(
        &self,
        q: MatRef<'_, f64>,
        _q_inverse: MatRef<'_, f64>,
        _log_abs_det: f64,
        mut gradient: MatMut<'_, f64>,
    ) -> f64 {
        let again = *self.last.borrow() == q;
        *self.last.borrow_mut() = q.to_owned();
        gradient[(0, 0)] -= 2.0 * (q[(0, 0)] - 1.5);
        if again {
            -1e6
        } else {
            -(q[(0, 0)] - 1.5).powi(2)
        }
    }
}

#[test]
fn the_last_look_decides() {
    let terms: Terms = vec![Box::new(Fickle {
        last: std::cell::RefCell::new(Mat::zeros(2, 2)),
    })];
    let found = maximise(&terms, 2, &strict()).unwrap();
    assert!(found.iterations > 0);
    assert!(found.is_identity() && found.q == Mat::<f64>::identity(2, 2));
    assert_eq!(found.log_abs_det, 0.0);
}

/// The same problem seen from another start.
struct Shifted {
    terms: Terms,
    q: Mat<f64>,
    q_inverse: Mat<f64>,
}

impl RotationTerm for Shifted {
    fn evaluate(
        &self,
        q: MatRef<'_, f64>,
        q_inverse: MatRef<'_, f64>,
        log_abs_det: f64,
        mut gradient: MatMut<'_, f64>,
    ) -> f64 {
        let at = q * &self.q;
        let at_inverse = &self.q_inverse * q_inverse;
        let mut inner = Mat::zeros(q.nrows(), q.nrows());
        let value = self
            .terms
            .iter()
            .map(|t| {
                t.evaluate(
                    at.as_ref(),
                    at_inverse.as_ref(),
                    log_abs_det,
                    inner.as_mut(),
                )
            })
            .sum();
        gradient += inner * self.q.transpose();
        value
    }
}

#[test]
fn bad_input_is_refused_and_empty_input_is_not() {
    let poor = |value: f64| -> Terms {
        let mut terms = problem(&mut Noise::new(1), 2, 1, 1.0);
        terms.push(Box::new(RidgeRotation {
            precision: value,
            rows: 1.0,
            second_moment: Mat::identity(2, 2),
        }));
        terms
    };
    for value in [f64::NAN, f64::INFINITY] {
        assert_eq!(
            maximise(&poor(value), 2, &RotationOptions::default()),
            Err(RotationError::NotFinite { term: 2 })
        );
    }
    for tolerance in [-1.0, f64::NAN] {
        let options = RotationOptions {
            tolerance,
            ..RotationOptions::default()
        };
        assert!(matches!(
            maximise(&poor(1.0), 2, &options),
            Err(RotationError::Tolerance { .. })
        ));
    }
    assert!(
        maximise(&[], 3, &RotationOptions::default())
            .unwrap()
            .is_identity()
    );
    let none = maximise(&Terms::new(), 0, &RotationOptions::default()).unwrap();
    assert_eq!(none.q.shape(), (0, 0));
    let still = RotationOptions {
        max_iterations: 0,
        ..RotationOptions::default()
    };
    let found = maximise(&poor(1.0), 2, &still).unwrap();
    assert_eq!(
        (found.is_identity(), found.outcome),
        (true, RotationOutcome::IterationLimit)
    );
}

use super::*;
use crate::rotation::test_noise::Noise;
use fixture::Model;
use polyview_linalg::{Mat, MatMut, MatRef, inverse, log_abs_det};
use proptest::prelude::*;
use species::{ArdRotation, NormalFactorsRotation};

#[path = "tests/fixture.rs"]
mod fixture;
#[path = "tests/limits.rs"]
mod limits;
#[path = "tests/species.rs"]
mod species;
#[path = "tests/terms.rs"]
mod terms;

type Terms = Vec<Box<dyn RotationTerm>>;

/// A symmetric matrix $AA' + \epsilon I$ of the given size: rank `rank` at least.
fn moment(noise: &mut Noise, k: usize, rank: usize, ridge: f64) -> Mat<f64> {
    let a = noise.matrix(k, rank);
    let mut out = &a * a.transpose();
    for r in 0..k {
        out[(r, r)] += ridge;
    }
    out
}

/// Factors over `views` views, where every factor has its own profile of strengths: log-normal with standard deviation `spread`.
fn problem(noise: &mut Noise, k: usize, views: usize, spread: f64) -> Terms {
    let samples = 50.0 + 10.0 * k as f64;
    let mut terms: Terms = vec![Box::new(NormalFactorsRotation {
        samples,
        second_moment: moment(noise, k, 2 * k + 3, 1.0),
    })];
    for _ in 0..views {
        let mut second_moment = moment(noise, k, k + 2, 0.1);
        let strength: Vec<f64> = (0..k).map(|_| (spread * noise.normal()).exp()).collect();
        for s in 0..k {
            for r in 0..k {
                second_moment[(r, s)] *= strength[r] * strength[s];
            }
        }
        terms.push(Box::new(ArdRotation {
            shape: 1e-3,
            rate: 1e-3,
            rows: 20.0 + (40.0 * noise.uniform()).round(),
            second_moment,
        }));
    }
    terms
}

/// Value and gradient at `q`, by means that the search does not use.
fn evaluate(terms: &Terms, q: &Mat<f64>) -> (f64, Mat<f64>) {
    let q_inverse = inverse(q.as_ref()).unwrap();
    let log_det = log_abs_det(q.as_ref()).unwrap();
    let mut gradient = Mat::zeros(q.nrows(), q.nrows());
    let value = terms
        .iter()
        .map(|term| term.evaluate(q.as_ref(), q_inverse.as_ref(), log_det, gradient.as_mut()))
        .sum();
    (value, gradient)
}

fn near_identity(noise: &mut Noise, k: usize, spread: f64) -> Mat<f64> {
    Mat::from_fn(k, k, |r, s| {
        spread * noise.normal() / (k as f64).sqrt() + if r == s { 1.0 } else { 0.0 }
    })
}

fn close(found: f64, expected: f64, relative: f64, scale: f64) -> bool {
    (found - expected).abs() <= relative * (expected.abs() + scale)
}

fn is_inverse(found: &Rotation, tolerance: f64) -> bool {
    let k = found.q.nrows();
    let product = &found.q * &found.q_inverse;
    (0..k).all(|s| {
        (0..k).all(|r| (product[(r, s)] - if r == s { 1.0 } else { 0.0 }).abs() <= tolerance)
    })
}

fn strict() -> RotationOptions {
    RotationOptions {
        max_iterations: 2000,
        tolerance: 1e-12,
        memory: 10,
    }
}

#[test]
fn every_size_reaches_a_stationary_maximum() {
    for k in 1..=30 {
        let mut noise = Noise::new(100 + k as u64);
        let terms = problem(&mut noise, k, 3, 2.0);
        let found = maximise(&terms, k, &strict()).unwrap();
        assert_eq!(found.outcome, RotationOutcome::Converged, "k {k}");
        assert!(is_inverse(&found, 1e-10), "k {k}");
        // the gain is that of a direct evaluation
        let (best, gradient) = evaluate(&terms, &found.q);
        let (start, _) = evaluate(&terms, &Mat::identity(k, k));
        assert!(
            close(found.gain, best - start, 1e-10, 1e-3 * start.abs().sqrt()),
            "k {k}: {} {}",
            found.gain,
            best - start
        );
        assert!(found.gain > 0.0 && found.log_abs_det.is_finite());
        let log_det = log_abs_det(found.q.as_ref()).unwrap();
        assert!((found.log_abs_det - log_det).abs() < 1e-10);
        // stationary, against the gradient at the start
        let relative = &gradient * found.q.transpose();
        let (_, first) = evaluate(&terms, &Mat::identity(k, k));
        assert!(
            relative.norm_max() < 1e-4 * first.norm_max().max(1.0),
            "k {k}: {} {}",
            relative.norm_max(),
            first.norm_max()
        );
        // and a maximum: every small mixing loses
        for _ in 0..5 {
            let moved = near_identity(&mut noise, k, 0.02) * &found.q;
            assert!(evaluate(&terms, &moved).0 < best, "k {k}");
        }
    }
}

#[test]
fn one_factor_agrees_with_bisection() {
    for (samples, factor, rows, weight) in [
        (100.0, 900.0, 20.0, 4.0),
        (10.0, 1e-4, 500.0, 7.0),
        (1e6, 1e6, 3.0, 1e-8),
        (40.0, 40.0, 40.0, 1e12),
    ] {
        let (shape, rate) = (1e-3, 1e-2);
        let terms: Terms = vec![
            Box::new(NormalFactorsRotation {
                samples,
                second_moment: Mat::from_fn(1, 1, |_, _| factor),
            }),
            Box::new(ArdRotation {
                shape,
                rate,
                rows,
                second_moment: Mat::from_fn(1, 1, |_, _| weight),
            }),
        ];
        // slope in log q
        let slope = |q: f64| {
            rows - samples + factor / (q * q)
                - (shape + 0.5 * rows) * weight * q * q / (rate + 0.5 * weight * q * q)
        };
        let (mut low, mut high) = (1e-12_f64, 1e12_f64);
        for _ in 0..300 {
            let middle = (low * high).sqrt();
            if slope(middle) > 0.0 {
                low = middle;
            } else {
                high = middle;
            }
        }
        let found = maximise(&terms, 1, &strict()).unwrap();
        assert!(
            (found.q[(0, 0)] / low - 1.0).abs() < 1e-6,
            "{} {low} {:?}",
            found.q[(0, 0)],
            found.outcome
        );
    }
}

/// Mixing the factors beforehand changes neither the maximum nor its value.
#[test]
fn a_mixed_start_reaches_the_same_maximum() {
    let k = 6;
    let mut noise = Noise::new(8);
    let strengths = |noise: &mut Noise| {
        let d: Vec<f64> = (0..k).map(|_| (2.0 * noise.normal()).exp()).collect();
        Mat::from_fn(k, k, |r, s| if r == s { d[r] } else { 0.0 })
    };
    let (factors, weights): (Mat<f64>, Vec<Mat<f64>>) = (
        Mat::from_fn(k, k, |r, s| if r == s { 80.0 } else { 0.0 }),
        (0..4).map(|_| strengths(&mut noise)).collect(),
    );
    let build = |mixing: &Mat<f64>| -> Terms {
        let inverse = inverse(mixing.as_ref()).unwrap();
        let mut terms: Terms = vec![Box::new(NormalFactorsRotation {
            samples: 80.0,
            second_moment: inverse.transpose() * &factors * &inverse,
        })];
        for w in &weights {
            terms.push(Box::new(ArdRotation {
                shape: 1e-3,
                rate: 1e-3,
                rows: 30.0,
                second_moment: mixing * w * mixing.transpose(),
            }));
        }
        terms
    };
    let plain = build(&Mat::identity(k, k));
    let best = maximise(&plain, k, &strict()).unwrap();
    for seed in 0..5 {
        let mut noise = Noise::new(20 + seed);
        let mut mixing = near_identity(&mut noise, k, 0.8);
        if evaluate_sign(&mixing) < 0.0 {
            for s in 0..k {
                mixing[(0, s)] = -mixing[(0, s)];
            }
        }
        let found = maximise(&build(&mixing), k, &strict()).unwrap();
        let (unmixed, _) = evaluate(&plain, &(&found.q * &mixing));
        let (expected, _) = evaluate(&plain, &best.q);
        assert!(
            (unmixed - expected).abs() < 1e-7,
            "seed {seed}: {unmixed} {expected}"
        );
    }
}

fn evaluate_sign(q: &Mat<f64>) -> f64 {
    q.determinant()
}

#[test]
fn predicted_gain_is_the_gain_of_the_bound() {
    let mut model = Model::new(60, &[12, 9, 15], 5, 7);
    let mut previous = f64::NEG_INFINITY;
    for sweep in 0..6 {
        model.sweep();
        let before = model.bound();
        assert!(
            before >= previous - 1e-9 * before.abs(),
            "sweep {sweep}: {previous} {before}"
        );
        let found = maximise(&model.terms(), model.k(), &RotationOptions::default()).unwrap();
        assert_eq!(found.outcome, RotationOutcome::Converged);
        model.rotate(&found);
        previous = model.bound();
        assert!(
            (previous - before - found.gain).abs() < 1e-8 * before.abs().max(1.0),
            "sweep {sweep}: {} {}",
            previous - before,
            found.gain
        );
        if sweep == 0 {
            assert!(found.gain > 10.0, "{}", found.gain);
        }
    }
}

#[test]
fn rotating_reaches_a_higher_bound_in_fewer_sweeps() {
    let run = |rotate: bool| {
        let mut model = Model::new(80, &[15, 20, 10], 6, 8);
        for _ in 0..40 {
            model.sweep();
            if rotate {
                let found =
                    maximise(&model.terms(), model.k(), &RotationOptions::default()).unwrap();
                model.rotate(&found);
            }
        }
        model.bound()
    };
    let (with, without) = (run(true), run(false));
    assert!(with > without + 5.0, "{with} {without}");
}

/// Hides the curvature of a term.
struct Opaque(Box<dyn RotationTerm>);

impl RotationTerm for Opaque {
    fn evaluate(
        &self,
        q: MatRef<'_, f64>,
        q_inverse: MatRef<'_, f64>,
        log_abs_det: f64,
        gradient: MatMut<'_, f64>,
    ) -> f64 {
        self.0.evaluate(q, q_inverse, log_abs_det, gradient)
    }
}

#[test]
fn curvature_changes_the_cost_but_not_the_result() {
    for k in [1, 2, 5, 9] {
        let terms = problem(&mut Noise::new(40 + k as u64), k, 2, 2.0);
        let known = maximise(&terms, k, &strict()).unwrap();
        let terms: Terms = terms
            .into_iter()
            .map(|term| Box::new(Opaque(term)) as Box<dyn RotationTerm>)
            .collect();
        let hidden = maximise(&terms, k, &strict()).unwrap();
        assert!(
            close(hidden.gain, known.gain, 1e-6, 1.0),
            "k {k}: {} {}",
            hidden.gain,
            known.gain
        );
        // no memory at all is slow, but climbs
        let options = RotationOptions {
            memory: 0,
            max_iterations: 30,
            ..strict()
        };
        assert!(maximise(&terms, k, &options).unwrap().gain > 0.0);
    }
}

#[test]
fn the_units_of_the_factors_do_not_matter() {
    let k = 5;
    let units = [1e2_f64, 1.0, 1e-2, 20.0, 1e-1];
    let mut noise = Noise::new(77);
    let (v, w) = (moment(&mut noise, k, 9, 1.0), moment(&mut noise, k, 4, 0.1));
    let build = |scale: &dyn Fn(usize) -> f64| -> Terms {
        vec![
            Box::new(NormalFactorsRotation {
                samples: 70.0,
                second_moment: Mat::from_fn(k, k, |r, s| v[(r, s)] / (scale(r) * scale(s))),
            }),
            Box::new(ArdRotation {
                shape: 1e-3,
                rate: 1e-9,
                rows: 25.0,
                second_moment: Mat::from_fn(k, k, |r, s| w[(r, s)] * scale(r) * scale(s)),
            }),
        ]
    };
    let plain = build(&|_| 1.0);
    let first = maximise(&plain, k, &strict()).unwrap();
    let best = evaluate(&plain, &first.q).0;
    for power in [0.5, 1.0, 1.5] {
        let unit = |r: usize| units[r].powf(power);
        let found = maximise(&build(&unit), k, &strict()).unwrap();
        let back = Mat::from_fn(k, k, |r, s| found.q[(r, s)] * unit(s));
        let value = evaluate(&plain, &back).0;
        assert!(
            close(value, best, 1e-9, 1.0),
            "{power}: {value} {best} {:?}",
            found.outcome
        );
        assert!(found.evaluations <= first.evaluations + 5, "{power}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(40))]

    /// The gain is never negative, always what a direct evaluation says, and the determinant stays positive.
    #[test]
    fn gains_are_real(k in 1_usize..7, views in 1_usize..4, seed in 0_u64..10_000, steps in 1_usize..60) {
        let terms = problem(&mut Noise::new(seed), k, views, 2.0);
        let options = RotationOptions { max_iterations: steps, ..RotationOptions::default() };
        let found = maximise(&terms, k, &options).unwrap();
        let (best, _) = evaluate(&terms, &found.q);
        let (start, _) = evaluate(&terms, &Mat::identity(k, k));
        prop_assert!(found.gain >= 0.0);
        prop_assert!(close(found.gain, best - start, 1e-9, 1e-2), "{} {}", found.gain, best - start);
        prop_assert!(found.q.determinant() > 0.0);
        prop_assert!(is_inverse(&found, 1e-9));
    }
}

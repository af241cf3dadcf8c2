use polyview_linalg::solve_spd;
use polyview_random::{StreamKey, standard_normal, uniform_open01};

use super::descent::{INTERCEPT, least_loss};
use super::*;
use crate::stratified;

/// Features, labels that follow two of them, numbers that do.
fn simulated(n: usize, p: usize) -> (Mat<f64>, Mat<f64>, Mat<f64>) {
    let mut rng = StreamKey::new(3).rng();
    let x = Mat::from_fn(n, p, |_, _| standard_normal(&mut rng));
    let s: Vec<f64> = (0..n).map(|n| 0.5 + 2.0 * x[(n, 0)] - x[(n, 1)]).collect();
    let labels = Mat::from_fn(n, 1, |n, _| {
        f64::from(u8::from(uniform_open01(&mut rng) < logistic_of(s[n])))
    });
    let numbers = Mat::from_fn(n, 1, |n, _| 1000.0 + s[n] + 4.0 * standard_normal(&mut rng));
    (x, labels, numbers)
}

fn with(penalty: f64, n: usize) -> Tuning {
    Tuning {
        penalties: vec![penalty],
        fold: vec![0; n],
    }
}

/// Newton's method, dense and plain.
fn newton(x: &Mat<f64>, y: &Mat<f64>, penalty: f64) -> Vec<f64> {
    let (n, p) = (x.nrows(), x.ncols() + 1);
    let cell = |n: usize, i: usize| if i == 0 { 1.0 } else { x[(n, i - 1)] };
    let weight = |i: usize| if i == 0 { INTERCEPT } else { penalty };
    let mut beta = Mat::<f64>::zeros(p, 1);
    for _ in 0..100 {
        let mut hessian = Mat::from_fn(p, p, |i, j| if i == j { weight(i) } else { 0.0 });
        let mut slope = Mat::from_fn(p, 1, |i, _| -weight(i) * beta[(i, 0)]);
        for n in 0..n {
            let s: f64 = (0..p).map(|i| cell(n, i) * beta[(i, 0)]).sum();
            let q = logistic_of(s);
            for i in 0..p {
                slope[(i, 0)] += (y[(n, 0)] - q) * cell(n, i);
                for j in 0..p {
                    hessian[(i, j)] += q * (1.0 - q) * cell(n, i) * cell(n, j);
                }
            }
        }
        beta += solve_spd(hessian.as_ref(), slope.as_ref()).unwrap();
    }
    beta.col_as_slice(0).to_vec()
}

#[test]
fn logistic_regression_is_that_of_newtons_method() {
    let (x, y, _) = simulated(300, 4);
    for penalty in [0.1, 10.0, 1000.0] {
        let fit = logistic(x.as_ref(), y.as_ref(), &with(penalty, 300)).unwrap();
        for (i, b) in newton(&x, &y, penalty).iter().enumerate() {
            let own = fit.coefficients()[(i, 0)];
            assert!((own - b).abs() < 1e-4, "{penalty} {i}: {own} {b}");
        }
    }
    // more features than samples
    let (x, y, _) = simulated(30, 50);
    let fit = logistic(x.as_ref(), y.as_ref(), &with(1.0, 30)).unwrap();
    for (i, b) in newton(&x, &y, 1.0).iter().enumerate() {
        let own = fit.coefficients()[(i, 0)];
        assert!((own - b).abs() < 1e-4, "{i}: {own} {b}");
    }
}

#[test]
fn ridge_regression_solves_the_normal_equations() {
    for (n, p) in [(200, 4), (20, 35)] {
        let (x, _, y) = simulated(n, p);
        let fit = ridge(x.as_ref(), y.as_ref(), &with(3.0, n)).unwrap();
        let predicted = fit.predict(x.as_ref()).unwrap();
        let residual: Vec<f64> = (0..n).map(|n| y[(n, 0)] - predicted[(n, 0)]).collect();
        // the intercept has no penalty
        assert!(residual.iter().sum::<f64>().abs() < 1e-7);
        for i in 0..p {
            let data: f64 = (0..n).map(|n| residual[n] * x[(n, i)]).sum();
            assert!(
                (data - 3.0 * fit.coefficients()[(1 + i, 0)]).abs() < 1e-7,
                "{i}"
            );
        }
    }
}

#[test]
fn two_classes_are_a_label_of_half_the_penalty() {
    let (x, y, _) = simulated(250, 4);
    let classes: Vec<Option<usize>> = (0..250).map(|n| Some(y[(n, 0)] as usize)).collect();
    let both = multinomial(x.as_ref(), &classes, 2, &with(20.0, 250)).unwrap();
    let one = logistic(x.as_ref(), y.as_ref(), &with(10.0, 250)).unwrap();
    let (both, one) = (
        both.predict(x.as_ref()).unwrap(),
        one.predict(x.as_ref()).unwrap(),
    );
    for n in 0..250 {
        assert!((both[(n, 1)] - one[(n, 0)]).abs() < 1e-4);
        assert!((both[(n, 0)] + both[(n, 1)] - 1.0).abs() < 1e-12);
    }
}

#[test]
fn the_penalty_is_that_of_the_least_loss_of_the_folds() {
    // few samples, many features that say nothing: strong penalties win, but not the strongest
    let (x, labels, numbers) = simulated(60, 25);
    let fold = stratified(labels.as_ref(), 5, 1).unwrap();
    let tuning = Tuning::new(fold.clone());
    let loss_of = |kind: Kind, penalty: f64| -> f64 {
        let y = if kind == Kind::Ridge {
            &numbers
        } else {
            &labels
        };
        let mut sum = 0.0;
        for f in 0..5 {
            let (inside, outside) = parts(&fold, f);
            let (xs, ys) = (rows(x.as_ref(), &outside), rows(y.as_ref(), &outside));
            let one = with(penalty, outside.len());
            let fit = by_target(kind, xs.as_ref(), ys.as_ref(), &one).unwrap().0;
            let p = fit.predict(rows(x.as_ref(), &inside).as_ref()).unwrap();
            for (i, &n) in inside.iter().enumerate() {
                sum += match kind {
                    Kind::Ridge => (y[(n, 0)] - p[(i, 0)]).powi(2),
                    _ if y[(n, 0)] == 1.0 => -p[(i, 0)].ln(),
                    _ => -(1.0 - p[(i, 0)]).ln(),
                };
            }
        }
        sum
    };
    for kind in [Kind::Ridge, Kind::Logistic] {
        let y = if kind == Kind::Ridge {
            &numbers
        } else {
            &labels
        };
        let fit = by_target(kind, x.as_ref(), y.as_ref(), &tuning).unwrap().0;
        let best = tuning.penalties.iter().copied();
        let best = best.min_by(|a, b| loss_of(kind, *a).total_cmp(&loss_of(kind, *b)));
        assert_eq!(fit.penalties(), [best.unwrap()], "{kind:?}");
        let alone = with(best.unwrap(), 60);
        let alone = by_target(kind, x.as_ref(), y.as_ref(), &alone).unwrap().0;
        for i in 0..=25 {
            let gap = fit.coefficients()[(i, 0)] - alone.coefficients()[(i, 0)];
            assert!(gap.abs() < 1e-3, "{kind:?} {i}: {gap}");
        }
        assert!((1.0..1000.0).contains(&best.unwrap()), "{best:?}");
    }
}

#[test]
fn missing_targets_are_left_out_one_by_one() {
    let (x, labels, numbers) = simulated(90, 3);
    let hole = |n: usize| n % 4 == 1;
    let keep: Vec<usize> = (0..90).filter(|&n| !hole(n)).collect();
    let few = rows(x.as_ref(), &keep);
    let fold: Vec<usize> = (0..90).map(|n| n % 5).collect();
    let tuning = Tuning::new(fold.clone());
    let short = Tuning::new(keep.iter().map(|&n| fold[n]).collect());
    // three targets: with holes, complete, nothing known
    let target = |y: &Mat<f64>| {
        Mat::from_fn(90, 3, |n, d| {
            if d == 2 || (d == 0 && hole(n)) {
                f64::NAN
            } else {
                y[(n, 0)]
            }
        })
    };
    for (kind, y) in [(Kind::Ridge, &numbers), (Kind::Logistic, &labels)] {
        let fit = by_target(kind, x.as_ref(), target(y).as_ref(), &tuning)
            .unwrap()
            .0;
        let alone = rows(y.as_ref(), &keep);
        let alone = by_target(kind, few.as_ref(), alone.as_ref(), &short)
            .unwrap()
            .0;
        assert_eq!(fit.coefficients().col(0), alone.coefficients().col(0));
        let whole = by_target(kind, x.as_ref(), y.as_ref(), &tuning).unwrap().0;
        assert_eq!(fit.coefficients().col(1), whole.coefficients().col(0));
        assert_ne!(fit.coefficients().col(1), fit.coefficients().col(0));
        assert!(fit.predict(x.as_ref()).unwrap()[(0, 2)].is_nan() && fit.penalties()[2].is_nan());
    }
    let classes: Vec<Option<usize>> = (0..90).map(|n| (!hole(n)).then_some(n % 3)).collect();
    let fit = multinomial(x.as_ref(), &classes, 3, &tuning).unwrap();
    let known: Vec<Option<usize>> = keep.iter().map(|&n| classes[n]).collect();
    assert_eq!(fit, multinomial(few.as_ref(), &known, 3, &short).unwrap());
}

#[test]
fn a_class_that_nobody_has_and_a_label_that_all_have_are_finite() {
    let (x, ..) = simulated(40, 3);
    let fold: Vec<usize> = (0..40).map(|n| n % 4).collect();
    let classes: Vec<Option<usize>> = (0..40).map(|n| Some(n % 2)).collect();
    let p = multinomial(x.as_ref(), &classes, 3, &Tuning::new(fold.clone())).unwrap();
    let p = p.predict(x.as_ref()).unwrap();
    assert!((0..40).all(|n| p[(n, 2)] > 0.0 && p[(n, 2)] < 0.1));
    let ones = Mat::full(40, 1, 1.0);
    let fit = logistic(x.as_ref(), ones.as_ref(), &Tuning::new(fold.clone())).unwrap();
    let p = fit.predict(x.as_ref()).unwrap();
    assert!((0..40).all(|n| p[(n, 0)] > 0.9 && p[(n, 0)] < 1.0));
    // no features at all: the mean
    let y = Mat::from_fn(40, 1, |n, _| n as f64);
    let none = Mat::zeros(40, 0);
    let fit = ridge(none.as_ref(), y.as_ref(), &Tuning::new(fold)).unwrap();
    assert!((fit.predict(none.as_ref()).unwrap()[(3, 0)] - 19.5).abs() < 1e-12);
}

#[test]
fn what_cannot_be_is_named() {
    let (x, labels, numbers) = simulated(10, 2);
    let tuning = with(1.0, 10);
    let bad = logistic(x.as_ref(), numbers.as_ref(), &tuning);
    assert!(matches!(
        bad,
        Err(BaselineError::NotALabel {
            row: 0,
            column: 0,
            ..
        })
    ));
    let bad = ridge(x.as_ref(), numbers.as_ref(), &with(1.0, 9));
    assert!(matches!(bad, Err(BaselineError::Shape { .. })));
    let bad = ridge(x.as_ref(), numbers.as_ref(), &with(0.0, 10));
    assert_eq!(bad, Err(BaselineError::Penalties));
    let bad = multinomial(x.as_ref(), &[Some(5); 10], 3, &tuning);
    assert!(matches!(
        bad,
        Err(BaselineError::UnknownClass {
            row: 0,
            class: 5,
            classes: 3
        })
    ));
    let bad = multinomial(x.as_ref(), &[None; 10], 3, &tuning);
    assert!(matches!(bad, Err(BaselineError::NothingObserved { .. })));
    let fit = logistic(x.as_ref(), labels.as_ref(), &tuning).unwrap();
    assert!(fit.predict(Mat::zeros(2, 3).as_ref()).is_err());
    let hole = Mat::full(10, 2, f64::NAN);
    let bad = ridge(hole.as_ref(), numbers.as_ref(), &tuning);
    assert!(matches!(bad, Err(BaselineError::NotFinite { .. })));
}

/// What hangs on directions in which features vary little is found by weak penalties alone: strong ones fit chance, and are
/// worse than none of the features, all in a row.
#[test]
fn weak_penalties_are_tried_where_strong_ones_are_worse_than_nothing() {
    let path = [1e4, 1e3, 300.0, 100.0, 30.0, 10.0, 1.0, 0.1];
    let along = |losses: [f64; 8]| {
        let mut tried = 0;
        let (best, _) = least_loss(&path, (1, 1), 3, |_, _| {
            tried += 1;
            losses[tried - 1]
        });
        (best, tried)
    };
    assert_eq!(along([1.0, 1.1, 1.2, 1.3, 1.4, 1.2, 0.5, 0.6]), (6, 8));
    // past the best of those that gain something the rest is given up
    assert_eq!(along([1.0, 0.8, 0.9, 1.1, 1.2, 1.3, 0.1, 0.1]), (1, 6));
    assert_eq!(along([1.0, 1.1, 1.2, 1.3, 1.4, 1.5, 1.6, 1.7]), (0, 8));
}

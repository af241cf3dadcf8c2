//! Few features, and what is kept up on the way.

use polyview_random::{StreamKey, standard_normal, uniform_open01};

use super::super::descent::softplus;
use super::*;
use crate::ridge;

const N: usize = 120;
const P: usize = 200;

/// Features, and a predictor of the first three of them.
fn simulated(n: usize, seed: u64) -> (Mat<f64>, Vec<f64>) {
    let mut rng = StreamKey::new(seed).rng();
    let x = Mat::from_fn(n, P, |_, _| standard_normal(&mut rng));
    let s = (0..n).map(|n| 2.0 * x[(n, 0)] - 1.5 * x[(n, 1)] + x[(n, 2)]);
    let s = s.collect();
    (x, s)
}

fn folds(n: usize) -> Tuning {
    Tuning::new((0..n).map(|n| n % 5).collect())
}

/// At its end no coefficient has a slope that its penalty does not hold: those that are not zero have that of the penalty, the others less.
fn is_at_its_end(kind: Kind, x: &Mat<f64>, y: &Mat<f64>, beta: &Mat<f64>, penalty: f64) {
    let mut own = Descent::new(kind, x.clone(), y.clone());
    own.beta = beta.clone();
    own.score = super::super::scores(x.as_ref(), beta);
    own.sum_up();
    let most = penalty * own.samples();
    for d in 0..y.ncols() {
        let slopes = own.slopes(d);
        for j in 0..x.ncols() {
            let (slope, b) = (dot(x.col_as_slice(j), &slopes), beta[(1 + j, d)]);
            let off = if b == 0.0 {
                (slope.abs() - most).max(0.0)
            } else {
                (slope - b.signum() * most).abs()
            };
            assert!(off < 0.01 * most, "{kind:?} {j}: {b} {slope} {most}");
        }
    }
}

/// Of classes of two samples each, which coefficients tell apart as well as they may, the sums that are kept up are those of the
/// predictors, of samples whose class is all but certain too.
#[test]
fn sums_over_classes_are_kept_up() {
    let mut rng = StreamKey::new(4).rng();
    let centres = Mat::from_fn(20, 8, |_, _| 2.0 * standard_normal(&mut rng));
    let x = Mat::from_fn(40, 8, |n, d| {
        centres[(n / 2, d)] + 0.5 * standard_normal(&mut rng)
    });
    let y = Mat::from_fn(40, 20, |n, c| f64::from(u8::from(n / 2 == c)));
    let mut own = Descent::new(Kind::Multinomial, x, y);
    let strongest = own.strongest();
    for weaker in 0..12 {
        let penalty = strongest * 0.3f64.powi(weaker);
        own.to(penalty);
        for n in 0..40 {
            let off = own.whole[n] - ln_sum_exp(&own.score, n);
            assert!(off.abs() < 1e-11, "{weaker} {n}: {off}");
        }
        let all = (0..40).map(|n| loss(own.kind, own.y.as_ref(), &own.score, n));
        let penalties: f64 = (0..20)
            .map(|d| {
                let (first, others) = own.beta.col_as_slice(d).split_at(1);
                let size: f64 = others.iter().map(|b| b.abs()).sum();
                0.5 * INTERCEPT * first[0] * first[0] + 40.0 * penalty * size
            })
            .sum();
        let whole = all.sum::<f64>() + penalties;
        assert!((own.value(penalty) - whole).abs() < 1e-9 * whole);
    }
    let sure = (0..40).filter(|&n| own.expected(n, n / 2) > 0.9).count();
    assert!(sure > 10, "{sure}");
}

#[test]
fn few_features_are_found_and_predict_better_than_all() {
    let (x, s) = simulated(N + 500, 1);
    let mut rng = StreamKey::new(9).rng();
    let y = Mat::from_fn(N + 500, 1, |n, _| 5.0 + s[n] + standard_normal(&mut rng));
    let part =
        |m: &Mat<f64>, rows: std::ops::Range<usize>| m.subrows(rows.start, rows.len()).to_owned();
    let (seen, known) = (part(&x, 0..N), part(&y, 0..N));
    let (new, truth) = (part(&x, N..N + 500), part(&y, N..N + 500));
    let (own, held) = lasso_held_out(seen.as_ref(), known.as_ref(), &folds(N)).unwrap();
    let plain = ridge(seen.as_ref(), known.as_ref(), &folds(N)).unwrap();
    let error = |fit: &Regression| {
        let p = fit.predict(new.as_ref()).unwrap();
        (0..500)
            .map(|n| (p[(n, 0)] - truth[(n, 0)]).powi(2))
            .sum::<f64>()
            / 500.0
    };
    let (few, all) = (error(&own), error(&plain));
    assert!(few < 1.6 && all > 4.0, "{few} {all}");
    let beta = own.coefficients();
    for (d, b) in [(1, 2.0), (2, -1.5), (3, 1.0)] {
        assert!((beta[(d, 0)] - b).abs() < 0.4, "{d}: {}", beta[(d, 0)]);
    }
    let zero = (1..=P).filter(|d| beta[(*d, 0)] == 0.0).count();
    assert!(zero > P / 2, "{zero}");
    let left: f64 = (0..N).map(|n| (held[(n, 0)] - known[(n, 0)]).powi(2)).sum();
    assert!(left / (N as f64) < 2.5, "{left}");
    is_at_its_end(
        Kind::Ridge,
        &seen,
        &known,
        &own.coefficients,
        own.penalties[0],
    );
}

#[test]
fn labels_and_classes_go_by_few_features_too() {
    let (x, s) = simulated(N, 2);
    let mut rng = StreamKey::new(5).rng();
    let mut y = Mat::from_fn(N, 1, |n, _| {
        f64::from(u8::from(uniform_open01(&mut rng) < logistic_of(2.0 * s[n])))
    });
    let (own, held) = sparse_logistic_held_out(x.as_ref(), y.as_ref(), &folds(N)).unwrap();
    is_at_its_end(Kind::Logistic, &x, &y, &own.coefficients, own.penalties[0]);
    let loss = |score: &dyn Fn(usize) -> f64| -> f64 {
        let of = |n: usize| softplus(score(n)) - y[(n, 0)] * score(n);
        (0..N).map(of).sum::<f64>() / N as f64
    };
    let (_, plain) = crate::logistic_held_out(x.as_ref(), y.as_ref(), &folds(N)).unwrap();
    let (few, all) = (loss(&|n| held[(n, 0)]), loss(&|n| plain[(n, 0)]));
    assert!(few < all - 0.1, "{few} {all}");
    // two classes have the predictors of a label, by halves
    let classes: Vec<Option<usize>> = (0..N).map(|n| Some(y[(n, 0)] as usize)).collect();
    let (two, _) = sparse_multinomial_held_out(x.as_ref(), &classes, 2, &folds(N)).unwrap();
    let both = Mat::from_fn(N, 2, |n, c| f64::from(u8::from(classes[n] == Some(c))));
    is_at_its_end(
        Kind::Multinomial,
        &x,
        &both,
        &two.coefficients,
        two.penalties[0],
    );
    let (p, q) = (
        own.predict(x.as_ref()).unwrap(),
        two.predict(x.as_ref()).unwrap(),
    );
    let apart = (0..N)
        .map(|n| (p[(n, 0)] - q[(n, 1)]).abs())
        .fold(0.0, f64::max);
    assert!(apart < 0.25, "{apart}");
    // a label that is missing does not count, and one that all have is finite
    y[(0, 0)] = f64::NAN;
    let (_, held) = sparse_logistic_held_out(x.as_ref(), y.as_ref(), &folds(N)).unwrap();
    assert!(held[(0, 0)].is_nan() && held[(1, 0)].is_finite());
    let ones = Mat::full(N, 1, 1.0);
    let (own, _) = sparse_logistic_held_out(x.as_ref(), ones.as_ref(), &folds(N)).unwrap();
    assert!(own.predict(x.as_ref()).unwrap()[(0, 0)] > 0.9);
    assert!(own.coefficients()[(0, 0)].is_finite());
    let nothing = Mat::full(N, 1, f64::NAN);
    let (own, _) = lasso_held_out(x.as_ref(), nothing.as_ref(), &folds(N)).unwrap();
    assert!(own.coefficients()[(0, 0)].is_nan());
    // separated by one feature
    let apart = Mat::from_fn(N, 1, |n, _| f64::from(u8::from(x[(n, 0)] > 0.0)));
    let (own, held) = sparse_logistic_held_out(x.as_ref(), apart.as_ref(), &folds(N)).unwrap();
    let right = (0..N).filter(|n| (held[(*n, 0)] > 0.0) == (apart[(*n, 0)] > 0.0));
    assert!(right.count() > N * 9 / 10);
    assert!(
        own.coefficients
            .col_as_slice(0)
            .iter()
            .all(|b| b.is_finite())
    );
}

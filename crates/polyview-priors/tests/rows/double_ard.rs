//! Double ARD: the law of the prior, its updates, its rotation, and the rows
//! under it.

use crate::common::LearnAlone as _;
use polyview_core::{
    Context, GammaPrior, Gammas, Journal, NormalEquations, RotationSide, RowBlock, RowCov,
    RowMoments, Rule, ScalePrior, State, Stateful,
};
use polyview_linalg::{Mat, PackedRows, SymPacked, inverse, log_abs_det, packed_index};
use polyview_priors::{Ard, DoubleArd, FullRows};
use polyview_random::StreamKey;

const ROWS: usize = 9;
const K: usize = 4;

fn wave(i: usize, j: usize) -> f64 {
    ((i * 7 + j * 13 + 3 * i * j) % 11) as f64 / 4.0 - 1.2
}

/// Rows with a covariance each.
fn rows() -> RowMoments {
    let mut cov = PackedRows::zeros(ROWS, K);
    let mut logs = 0.0;
    for r in 0..ROWS {
        let root = Mat::from_fn(K, K, |i, j| {
            0.3 * wave(r + i, j) + f64::from(u8::from(i == j))
        });
        let s = SymPacked::from_mat((&root * root.transpose()).as_ref());
        cov.row_mut(r).copy_from_slice(s.as_slice());
        logs += log_abs_det(s.to_mat().as_ref()).unwrap();
    }
    let mean = Mat::from_fn(ROWS, K, wave);
    RowMoments::new(mean, RowCov::PerRow(cov), logs, 0)
}

fn prior() -> DoubleArd {
    let mut out = DoubleArd::new(
        GammaPrior::new(1.3, 0.8),
        GammaPrior::new(2.0, 1.1),
        ROWS,
        K,
    );
    for d in 0..ROWS {
        out.rows_mut().set(d, 1.5 + d as f64, 2.0);
    }
    for k in 0..K {
        out.columns_mut().set(k, 2.0, 0.5 + k as f64);
    }
    out
}

/// What of the bound depends on the scales.
fn bound(p: &DoubleArd, rows: &RowMoments) -> f64 {
    p.expected_log_density(rows) + p.bound()
}

fn close(found: f64, expected: f64, tolerance: f64) {
    assert!(
        (found - expected).abs() < tolerance * (1.0 + expected.abs()),
        "{found} instead of {expected}"
    );
}

#[test]
fn the_density_has_the_precision_that_the_rows_are_given() {
    let (p, h) = (prior(), 1e-4);
    for d in 0..ROWS {
        for k in 0..K {
            let moved = |mean: f64, variance: f64| {
                let mut m = rows();
                let (means, cov, _) = m.parts_mut();
                means[(d, k)] += mean;
                if let RowCov::PerRow(c) = cov {
                    c.row_mut(d)[packed_index(k, k)] += variance;
                }
                p.expected_log_density(&m)
            };
            let precision = p.row_precisions()[d] * p.column_precisions()[k];
            let slope = (moved(h, 0.0) - moved(-h, 0.0)) / (2.0 * h);
            close(slope, -precision * rows().mean()[(d, k)], 1e-7);
            let slope = (moved(0.0, h) - moved(0.0, -h)) / (2.0 * h);
            close(slope, -0.5 * precision, 1e-7);
        }
    }
}

/// Largest slope of the bound in shape and rate of each variable, and the
/// smallest curvature, which must be negative.
fn slopes(p: &DoubleArd, m: &RowMoments, of: fn(&mut DoubleArd) -> &mut Gammas) -> f64 {
    let mut p = p.clone();
    let mut worst: f64 = 0.0;
    for i in 0..of(&mut p).len() {
        let (a, b) = (of(&mut p).shape()[i], of(&mut p).rate()[i]);
        for (da, db) in [(1e-4, 0.0), (0.0, 1e-4 * b)] {
            let mut at = |s: f64| {
                of(&mut p).set(i, a + s * da, b + s * db);
                let value = bound(&p, m);
                of(&mut p).set(i, a, b);
                value
            };
            let (up, middle, down) = (at(1.0), at(0.0), at(-1.0));
            assert!(up + down < 2.0 * middle, "no maximum");
            worst = worst.max((up - down).abs() / 2e-4);
        }
    }
    worst
}

#[test]
fn each_update_is_the_maximum_of_its_block() {
    let (before, m) = (prior(), rows());
    let mut after = before.clone();
    after.update(&m);
    // the rows' precisions were set for the old ones of the columns
    let mut between = before.clone();
    *between.rows_mut() = after.rows().clone();
    assert!(bound(&between, &m) > bound(&before, &m));
    assert!(bound(&after, &m) > bound(&between, &m));
    assert!(slopes(&between, &m, DoubleArd::rows_mut) < 1e-6);
    assert!(slopes(&after, &m, DoubleArd::columns_mut) < 1e-6);
    // the test sees what is no maximum
    assert!(slopes(&before, &m, DoubleArd::rows_mut) > 1e-2);
    // spec/sshiba U5, U4: shapes
    assert!(
        after
            .rows()
            .shape()
            .iter()
            .all(|a| *a == 2.0 + 0.5 * K as f64)
    );
    assert!(
        after
            .columns()
            .shape()
            .iter()
            .all(|a| *a == 1.3 + 0.5 * ROWS as f64)
    );
}

#[test]
fn rotations_gain_what_the_term_says() {
    let m = rows();
    let mut p = prior();
    p.update(&m);
    let term = p.rotation_term(&m, RotationSide::Weights).unwrap();
    let value = |q: &Mat<f64>| {
        let mut g = Mat::zeros(K, K);
        let inv = inverse(q.as_ref()).unwrap();
        let log = log_abs_det(q.as_ref()).unwrap();
        (term.evaluate(q.as_ref(), inv.as_ref(), log, g.as_mut()), g)
    };
    // the bound itself: rotated rows, columns' precisions at their new optimum
    let actual = |q: &Mat<f64>| {
        let mut turned = m.clone();
        turned.transform(
            q.transpose().to_owned().as_ref(),
            log_abs_det(q.as_ref()).unwrap(),
        );
        let mut next = p.clone();
        next.update(&turned);
        *next.rows_mut() = p.rows().clone();
        let half = 0.5 * ROWS as f64;
        for (k, e) in turned
            .column_squares(Some(p.row_precisions()))
            .into_iter()
            .enumerate()
        {
            next.columns_mut().set(k, 1.3 + half, 0.8 + 0.5 * e);
        }
        bound(&next, &turned) + 0.5 * turned.log_det()
    };
    let identity = Mat::from_fn(K, K, |i, j| f64::from(u8::from(i == j)));
    let q = Mat::from_fn(K, K, |i, j| identity[(i, j)] + 0.2 * wave(i + 2, j));
    close(
        value(&q).0 - value(&identity).0,
        actual(&q) - actual(&identity),
        1e-10,
    );
    let (h, gradient) = (1e-5, value(&q).1);
    for i in 0..K {
        for j in 0..K {
            let moved = |by: f64| {
                let mut r = q.clone();
                r[(i, j)] += by;
                actual(&r)
            };
            close((moved(h) - moved(-h)) / (2.0 * h), gradient[(i, j)], 1e-6);
        }
    }
}

#[test]
fn the_curvature_is_exact_where_columns_do_not_mix() {
    // no means and diagonal covariances: the weighted second moment is diagonal
    let variances = Mat::from_fn(ROWS, K, |r, k| 0.3 + ((r * 3 + k * 5) % 7) as f64);
    let m = RowMoments::new(Mat::zeros(ROWS, K), RowCov::Diagonal(variances), 0.0, 0);
    let mut p = prior();
    p.update(&m);
    let term = p.rotation_term(&m, RotationSide::Weights).unwrap();
    let identity: Mat<f64> = Mat::from_fn(K, K, |i, j| f64::from(u8::from(i == j)));
    let (mut own, mut exchange) = (Mat::zeros(K, K), Mat::zeros(K, K));
    let (a, b) = (own.as_mut(), exchange.as_mut());
    term.curvature(identity.as_ref(), identity.as_ref(), a, b);
    let value = |entries: &[(usize, usize)], h: f64| {
        let mut q = identity.clone();
        for &(i, j) in entries {
            q[(i, j)] += h;
        }
        let mut g = Mat::zeros(K, K);
        let inv = inverse(q.as_ref()).unwrap();
        let log = log_abs_det(q.as_ref()).unwrap();
        term.evaluate(q.as_ref(), inv.as_ref(), log, g.as_mut())
    };
    let h = 1e-3;
    let second =
        |e: &[(usize, usize)]| (value(e, h) - 2.0 * value(e, 0.0) + value(e, -h)) / (h * h);
    for r in 0..K {
        for s in 0..K {
            if r == s {
                close(second(&[(r, r)]), -(own[(r, r)] + exchange[(r, r)]), 1e-4);
            } else {
                close(second(&[(r, s)]), -own[(r, s)], 1e-4);
                let both = own[(r, s)] + own[(s, r)] + 2.0 * exchange[(r, s)];
                close(second(&[(r, s), (s, r)]), -both, 1e-4);
            }
        }
    }
}

fn context(journal: &mut Journal) -> Context<'_> {
    Context {
        key: StreamKey::new(3),
        sweep: 1,
        journal,
    }
}

/// Equations of `ROWS` rows, in the ranges given.
fn solve<P: ScalePrior>(block: &mut FullRows<P>, scale: Option<Vec<f64>>, ranges: &[usize]) {
    let mut journal = Journal::default();
    let mut eq = equations(scale);
    block.prepare(&eq, &mut context(&mut journal)).unwrap();
    for pair in ranges.windows(2) {
        eq.set_rows(pair[0]..pair[1]);
        for i in 0..pair[1] - pair[0] {
            for j in 0..K {
                eq.rhs[(i, j)] = 10.0 * wave(pair[0] + i, j + 1);
            }
        }
        block
            .update(&mut eq, Rule::Optimum, &mut context(&mut journal))
            .unwrap();
    }
    assert!(journal.entries.is_empty());
}

fn equations(scale: Option<Vec<f64>>) -> NormalEquations {
    let mut eq = NormalEquations::new(K, 0..0);
    let z = Mat::from_fn(12, K, |i, j| wave(i + 1, j));
    eq.gram = polyview_linalg::gram(z.as_ref());
    eq.scale = scale;
    eq
}

fn block(p: DoubleArd) -> FullRows<DoubleArd> {
    FullRows::new("w", p, RowMoments::isotropic(Mat::zeros(ROWS, K), 1.0, 0))
}

#[test]
fn one_eigendecomposition_gives_the_dense_inverses() {
    // precisions that span ten orders, and noise by feature
    let mut p = prior();
    for d in 0..ROWS {
        p.rows_mut().set(d, 1.0, 10_f64.powi(d as i32 - 5));
    }
    let noise: Vec<f64> = (0..ROWS).map(|d| 0.5 + d as f64).collect();
    for scale in [None, Some(noise)] {
        for ranges in [vec![0, ROWS], vec![0, 4, 7, ROWS]] {
            let mut b = block(p.clone());
            solve(&mut b, scale.clone(), &ranges);
            assert!(matches!(b.moments().cov(), RowCov::Basis { .. }));
            let eq = equations(scale.clone());
            let mut logs = 0.0;
            for d in 0..ROWS {
                let t = scale.as_ref().map_or(1.0, |s| s[d]);
                let dense = Mat::from_fn(K, K, |i, j| {
                    let own = p.row_precisions()[d] * p.column_precisions()[i];
                    t * eq.gram.get(i, j) + if i == j { own } else { 0.0 }
                });
                let expected = inverse(dense.as_ref()).unwrap();
                let found = b.moments().row_cov(d);
                let size = (0..K).map(|i| expected[(i, i)]).fold(0.0, f64::max);
                for i in 0..K {
                    for j in 0..K {
                        let gap = (found.get(i, j) - expected[(i, j)]).abs();
                        assert!(gap < 1e-12 * size, "{d} {i} {j}: {gap:e}");
                    }
                    let mean: f64 = (0..K)
                        .map(|j| 10.0 * wave(d, j + 1) * expected[(j, i)])
                        .sum();
                    close(b.moments().mean()[(d, i)], mean, 1e-11);
                }
                logs -= log_abs_det(dense.as_ref()).unwrap();
            }
            close(b.moments().log_det(), logs, 1e-12);
        }
    }
}

#[test]
fn rows_of_precision_one_are_those_of_plain_ard() {
    let mut p = prior();
    let mut plain = Ard::new(GammaPrior::new(1.3, 0.8), K);
    for d in 0..ROWS {
        p.rows_mut().set_value(d, 1.0);
    }
    for k in 0..K {
        plain.gammas_mut().set(k, 2.0, 0.5 + k as f64);
    }
    let mut a = FullRows::new(
        "w",
        plain,
        RowMoments::isotropic(Mat::zeros(ROWS, K), 1.0, 0),
    );
    let mut b = block(p);
    solve(&mut a, None, &[0, ROWS]);
    solve(&mut b, None, &[0, ROWS]);
    for d in 0..ROWS {
        for k in 0..K {
            close(
                b.moments().mean()[(d, k)],
                a.moments().mean()[(d, k)],
                1e-12,
            );
            close(
                b.moments().variance(d, k),
                a.moments().variance(d, k),
                1e-12,
            );
        }
    }
    close(b.bound().0[0].value, a.bound().0[0].value, 1e-12);
    let term = |b: &dyn RowBlock| {
        let q = Mat::from_fn(K, K, |i, j| f64::from(u8::from(i == j)) + 0.1 * wave(i, j));
        let (inv, log) = (
            inverse(q.as_ref()).unwrap(),
            log_abs_det(q.as_ref()).unwrap(),
        );
        let mut g = Mat::zeros(K, K);
        let term = b.rotation_term(RotationSide::Weights).unwrap();
        term.evaluate(q.as_ref(), inv.as_ref(), log, g.as_mut())
    };
    close(term(&b), term(&a), 1e-12);
}

#[test]
fn dropped_factors_change_the_shapes_and_keep_the_means() {
    let mut b = block(prior());
    solve(&mut b, None, &[0, ROWS]);
    b.learn_alone();
    let means = b.prior().row_precisions().to_vec();
    let columns = b.prior().column_precisions().to_vec();
    b.select(&[2, 0], &[1.0, -1.0]).unwrap();
    for (d, mean) in means.iter().enumerate() {
        close(b.prior().rows().shape()[d], 2.0 + 1.0, 1e-15);
        close(b.prior().row_precisions()[d], *mean, 1e-14);
    }
    assert_eq!(b.prior().column_precisions(), [columns[2], columns[0]]);
    // another order changes nothing
    let before = b.prior().rows().clone();
    b.select(&[1, 0], &[1.0, 1.0]).unwrap();
    assert_eq!(*b.prior().rows(), before);
    // and the block goes on
    assert!(b.bound().0.iter().all(|t| t.value.is_finite()));
    b.learn_alone();
    close(b.prior().rows().shape()[0], 3.0, 1e-15);
}

#[test]
fn states_come_back_and_others_are_refused() {
    let mut b = block(prior());
    solve(&mut b, None, &[0, ROWS]);
    b.learn_alone();
    let mut state = State::new();
    b.save("w", &mut state);
    let mut again = block(DoubleArd::new(
        GammaPrior::new(1.0, 1.0),
        GammaPrior::new(1.0, 1.0),
        ROWS,
        K,
    ));
    again.load("w", &state.reader()).unwrap();
    assert_eq!(again.prior(), b.prior());
    let mut wrong = State::new();
    for (name, array) in state.arrays() {
        wrong.put(name, array.clone());
    }
    for part in ["shape", "rate", "mean", "mean_ln"] {
        wrong.put_vec(&format!("w/prior/gamma/{part}"), &[1.0; ROWS + 1]);
    }
    assert!(again.load("w", &wrong.reader()).is_err());
}

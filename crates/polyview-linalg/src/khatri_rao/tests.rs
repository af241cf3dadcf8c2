use super::*;
use crate::test_support::{noise, spd_rows, with_threads};
use faer::Mat;

/// Second moments by their definition.
fn slow_moments(mean: &Mat<f64>, cov: RowCov<'_>) -> PackedRows {
    let (n, k) = mean.shape();
    let mut out = PackedRows::zeros(n, k);
    for r in 0..n {
        let row = SymPacked::from_lower(k, |i, j| {
            let s = match cov {
                RowCov::Zero => 0.0,
                RowCov::Shared(s) => s.get(i, j),
                RowCov::PerRow(s) => s.row(r)[packed_index(i, j)],
                RowCov::Diagonal(v) => {
                    if i == j {
                        v[(r, i)]
                    } else {
                        0.0
                    }
                }
            };
            mean[(r, i)] * mean[(r, j)] + s
        });
        out.row_mut(r).copy_from_slice(row.as_slice());
    }
    out
}

fn slow_gram(omega: &Mat<f64>, kr: &PackedRows) -> PackedRows {
    let mut out = PackedRows::zeros(omega.ncols(), kr.k());
    for d in 0..omega.ncols() {
        for n in 0..omega.nrows() {
            for (x, t) in out.row_mut(d).iter_mut().zip(kr.row(n)) {
                *x += omega[(n, d)] * t;
            }
        }
    }
    out
}

fn close(a: &PackedRows, b: &PackedRows, tolerance: f64) {
    assert_eq!((a.rows(), a.k()), (b.rows(), b.k()));
    for (x, y) in a.as_slice().iter().zip(b.as_slice()) {
        assert!((x - y).abs() <= tolerance, "{x} and {y}");
    }
}

/// Every kind of covariance for rows of one shape.
fn each_cov(n: usize, k: usize, check: impl Fn(RowCov<'_>)) {
    let per_row = spd_rows(n, k, 5);
    let shared = spd_rows(1, k, 6).sym(0);
    let mut variances = noise(n, k, 7);
    variances
        .col_iter_mut()
        .for_each(|c| c.iter_mut().for_each(|x| *x = x.abs()));
    check(RowCov::Zero);
    check(RowCov::Shared(&shared));
    check(RowCov::PerRow(&per_row));
    check(RowCov::Diagonal(variances.as_ref()));
}

#[test]
fn moments_and_grams_equal_plain_loops() {
    for (n, d, k) in [
        (0, 2, 2),
        (1, 1, 1),
        (9, 4, 3),
        (513, 257, 2),
        (1100, 3, 5),
        (6, 0, 2),
    ] {
        let mean = noise(n, k, 1);
        let omega = noise(n, d, 2);
        let tolerance = 1e-14 * (1 + n) as f64;
        each_cov(n, k, |cov| {
            let expected = slow_moments(&mean, cov);
            let kr = khatri_rao(mean.as_ref(), cov);
            close(&kr, &expected, 1e-14 * 100.0);
            let expected = slow_gram(&omega, &expected);
            close(
                &weighted_gram(omega.as_ref(), &kr),
                &expected,
                tolerance * 10.0,
            );
            let direct = weighted_gram_moments(omega.as_ref(), mean.as_ref(), cov);
            close(&direct, &expected, tolerance * 10.0);

            // adding twice doubles
            let mut twice = direct.clone();
            weighted_gram_into(&mut twice, omega.as_ref(), &kr, Accum::Add);
            weighted_gram_moments_into(&mut twice, omega.as_ref(), mean.as_ref(), cov, Accum::Add);
            for (x, y) in twice.as_slice().iter().zip(direct.as_slice()) {
                assert!((x - 3.0 * y).abs() <= tolerance * 30.0);
            }
        });
    }
}

#[test]
fn a_unit_weight_picks_one_row() {
    let mean = noise(5, 3, 1);
    let omega = Mat::from_fn(5, 1, |n, _| f64::from(u8::from(n == 2)));
    let gram = weighted_gram_moments(omega.as_ref(), mean.as_ref(), RowCov::Zero);
    let x: Vec<f64> = mean.row(2).iter().copied().collect();
    let mut expected = SymPacked::zeros(3);
    expected.add_outer(1.0, &x);
    assert_eq!(gram.sym(0), expected);
}

#[test]
fn order_zero_is_legal() {
    let mean = Mat::<f64>::zeros(4, 0);
    let omega = noise(4, 2, 1);
    assert_eq!(khatri_rao(mean.as_ref(), RowCov::Zero).rows(), 4);
    let gram = weighted_gram_moments(omega.as_ref(), mean.as_ref(), RowCov::Zero);
    assert_eq!((gram.rows(), gram.k()), (2, 0));
}

#[test]
fn threads_leave_every_bit_alone() {
    let mean = noise(1300, 4, 1);
    let omega = noise(1300, 600, 2);
    let cov = spd_rows(1300, 4, 3);
    let results = with_threads(&|| {
        let kr = khatri_rao(mean.as_ref(), RowCov::PerRow(&cov));
        let sum = kr.sum();
        let gram = weighted_gram(omega.as_ref(), &kr);
        let direct = weighted_gram_moments(omega.as_ref(), mean.as_ref(), RowCov::PerRow(&cov));
        (kr, sum, gram, direct)
    });
    assert!(results.iter().all(|r| *r == results[0]));
}

/// A column of weights has the same Gram alone.
#[test]
fn neighbours_leave_every_bit_alone() {
    for (n, k) in [(1, 1), (7, 1), (7, 4), (150, 3), (700, 2), (1500, 10)] {
        let omega = noise(n, 257, 2);
        let kr = khatri_rao(noise(n, k, 1).as_ref(), RowCov::Zero);
        let all = weighted_gram(omega.as_ref(), &kr);
        for some in [0..1, 256..257, 4..6, 10..30] {
            let own = weighted_gram(omega.as_ref().subcols(some.start, some.len()), &kr);
            for (i, d) in some.clone().enumerate() {
                assert_eq!(own.row(i), all.row(d), "{n} {k} {some:?}");
            }
        }
    }
}

use super::lanes::{Batch, LANES, Work};
use super::*;
use crate::simd::{dispatch, portable};
use crate::test_support::{noise, spd_rows, with_threads};
use faer::Mat;

const ORDERS: [usize; 12] = [1, 2, 3, 4, 5, 8, 10, 17, 20, 33, 64, 101];
const ROWS: [usize; 7] = [0, 1, 7, 8, 9, 65, 130];

/// Largest |entry| of `a b - identity`.
fn inverse_gap(a: &SymPacked, b: &SymPacked) -> f64 {
    let product = a.to_mat() * b.to_mat();
    let mut gap = 0.0_f64;
    for i in 0..a.k() {
        for j in 0..a.k() {
            gap = gap.max((product[(i, j)] - f64::from(u8::from(i == j))).abs());
        }
    }
    gap
}

#[test]
fn means_covariances_and_determinants_meet_their_definitions() {
    for k in ORDERS {
        for rows in ROWS {
            if k > 40 && rows > 10 {
                continue;
            }
            let given = spd_rows(rows, k, 3);
            let rhs = noise(rows, k, 5);
            let (mut cov, mut mean) = (given.clone(), rhs.clone());
            let mut log_det = vec![f64::NAN; rows];
            let report = solve_rows(&mut cov, mean.as_mut(), &mut log_det).unwrap();
            assert_eq!(report, SpdReport::default());
            for r in 0..rows {
                let a = given.sym(r);
                let scale = 1e-13 * k as f64;
                assert!(
                    inverse_gap(&a, &cov.sym(r)) < scale,
                    "K={k} rows={rows} r={r}"
                );
                let x: Vec<f64> = mean.row(r).iter().copied().collect();
                for (j, back) in a.times_vec(&x).into_iter().enumerate() {
                    assert!((back - rhs[(r, j)]).abs() < scale * 10.0);
                }
                let expected = crate::log_abs_det(a.to_mat().as_ref()).unwrap();
                assert!((log_det[r] - expected).abs() < 1e-12 * (1.0 + expected.abs()));
            }
        }
    }
}

#[test]
fn factors_reproduce_the_matrix_and_give_the_same_means() {
    for k in ORDERS {
        let rows = 9;
        let given = spd_rows(rows, k, 11);
        let rhs = noise(rows, k, 6);
        let (mut factor, mut mean) = (given.clone(), rhs.clone());
        let mut log_det = vec![0.0; rows];
        factor_rows(&mut factor, mean.as_mut(), &mut log_det).unwrap();
        let (mut cov, mut mean2, mut log_det2) = (given.clone(), rhs.clone(), vec![0.0; rows]);
        solve_rows(&mut cov, mean2.as_mut(), &mut log_det2).unwrap();
        assert_eq!(mean, mean2);
        assert_eq!(log_det, log_det2);
        for r in 0..rows {
            let lower = Mat::from_fn(k, k, |i, j| {
                if j <= i {
                    factor.row(r)[packed_index(i, j)]
                } else {
                    0.0
                }
            });
            let product = &lower * lower.transpose();
            for i in 0..k {
                for j in 0..=i {
                    let entry = given.sym(r).get(i, j);
                    assert!(
                        (product[(i, j)] - entry).abs() < 1e-13 * k as f64 * given.sym(r).get(i, i)
                    );
                }
            }
        }
    }
}

#[test]
fn the_order_of_a_large_system_is_no_obstacle() {
    let k = 200;
    let given = spd_rows(3, k, 1);
    let (mut cov, mut mean, mut log_det) = (given.clone(), noise(3, k, 2), vec![0.0; 3]);
    solve_rows(&mut cov, mean.as_mut(), &mut log_det).unwrap();
    for r in 0..3 {
        assert!(inverse_gap(&given.sym(r), &cov.sym(r)) < 1e-11);
    }
}

#[test]
fn draws_have_the_covariance_of_the_factor() {
    // noise = columns of the identity: the draws are the columns of L^-T, and L^-T L^-1 is the covariance
    for k in [1, 2, 5, 20] {
        let given = spd_rows(1, k, 4).sym(0);
        let mut factor = PackedRows::repeat(k, &given);
        let mut mean = Mat::zeros(k, k);
        factor_rows(&mut factor, mean.as_mut(), &mut vec![0.0; k]).unwrap();
        draw_rows(&factor, mean.as_mut(), Mat::identity(k, k).as_ref()).unwrap();
        let cov = SymPacked::from_mat((mean.transpose() * &mean).as_ref());
        assert!(inverse_gap(&given, &cov) < 1e-12);
        let single = SpdFactor::factor(&given).unwrap().0;
        let other = single.draw(Mat::identity(k, k).as_ref());
        for i in 0..k {
            for j in 0..k {
                assert!((other[(i, j)] - mean[(i, j)]).abs() < 1e-12);
            }
        }
    }
}

#[test]
fn a_draw_is_added_to_the_mean() {
    let factor = PackedRows::repeat(1, &SymPacked::from_packed(1, vec![2.0]).unwrap());
    let mut mean = Mat::from_fn(1, 1, |_, _| 10.0);
    draw_rows(
        &factor,
        mean.as_mut(),
        Mat::from_fn(1, 1, |_, _| 3.0).as_ref(),
    )
    .unwrap();
    assert_eq!(mean[(0, 0)], 11.5);
}

#[test]
fn neighbours_and_threads_leave_every_bit_alone() {
    for k in [3, 20, 70] {
        let rows = 131;
        let given = spd_rows(rows, k, 8);
        let rhs = noise(rows, k, 9);
        let eps = noise(rows, k, 10);
        let run = || {
            let (mut cov, mut mean, mut log_det) = (given.clone(), rhs.clone(), vec![0.0; rows]);
            solve_rows(&mut cov, mean.as_mut(), &mut log_det).unwrap();
            let (mut factor, mut drawn) = (given.clone(), rhs.clone());
            factor_rows(&mut factor, drawn.as_mut(), &mut vec![0.0; rows]).unwrap();
            draw_rows(&factor, drawn.as_mut(), eps.as_ref()).unwrap();
            (cov, mean, log_det, factor, drawn)
        };
        let results = with_threads(&run);
        assert!(results.iter().all(|r| *r == results[0]));
        // one row alone
        let alone = 77;
        let mut cov = PackedRows::repeat(1, &given.sym(alone));
        let mut mean = Mat::from_fn(1, k, |_, j| rhs[(alone, j)]);
        let mut log_det = [0.0];
        solve_rows(&mut cov, mean.as_mut(), &mut log_det).unwrap();
        assert_eq!(cov.row(0), results[0].0.row(alone));
        assert_eq!(log_det[0], results[0].2[alone]);
    }
}

#[test]
fn portable_and_wide_versions_agree() {
    for k in [1, 2, 7, 20] {
        let given = spd_rows(LANES, k, 21);
        let run = |wide: bool| {
            let mut batch = Batch::new(k, Keep::Covariance);
            batch.load(given.as_slice());
            for (j, lane) in batch.vector.iter_mut().enumerate() {
                *lane = Lane([j as f64; LANES]);
            }
            let work = Work {
                batch: &mut batch,
                keep: Keep::Covariance,
            };
            if wide {
                dispatch(work);
            } else {
                portable(work);
            }
            let mut out = PackedRows::zeros(LANES, k);
            batch.store(out.as_mut_slice());
            (out, batch.log_det)
        };
        let ((a, x), (b, y)) = (run(true), run(false));
        for (a, b) in a.as_slice().iter().zip(b.as_slice()) {
            assert!((a - b).abs() < 1e-13 * (1.0 + b.abs()));
        }
        for (x, y) in x.0.iter().zip(&y.0) {
            assert!((x - y).abs() < 1e-12);
        }
    }
}

#[test]
fn determinants_survive_huge_and_tiny_pivots() {
    let k = 600;
    let pivots: Vec<f64> = (0..k)
        .map(|j| if j < 300 { 1e300 } else { 1e-290 })
        .collect();
    let mut matrix = SymPacked::zeros(k);
    matrix.add_diag(&pivots);
    let mut precision = PackedRows::repeat(1, &matrix);
    let mut log_det = [0.0];
    solve_rows(&mut precision, Mat::zeros(1, k).as_mut(), &mut log_det).unwrap();
    let expected = 3000.0 * std::f64::consts::LN_10;
    assert!((log_det[0] - expected).abs() < 1e-9);
    assert!((precision.sym(0).get(599, 599) - 1e290).abs() < 1e276);
}

#[test]
fn a_singular_row_is_jittered_and_reported_and_the_rest_untouched() {
    for keep in [Keep::Covariance, Keep::Factor] {
        let (rows, k, bad) = (20, 4, 13);
        let mut given = spd_rows(rows, k, 2);
        let mut singular = SymPacked::zeros(k);
        singular.add_outer(2.0, &[1.0, 2.0, -1.0, 0.5]);
        given.row_mut(bad).copy_from_slice(singular.as_slice());
        let rhs = noise(rows, k, 3);
        let run = |given: &PackedRows| {
            let (mut out, mut mean, mut log_det) = (given.clone(), rhs.clone(), vec![0.0; rows]);
            let report = process(&mut out, mean.as_mut(), &mut log_det, keep).unwrap();
            (out, mean, log_det, report)
        };
        let (out, mean, log_det, report) = run(&given);
        let scale = singular.trace() / k as f64;
        let &[(row, pivot, amount)] = &report.jittered[..] else {
            panic!("one row is singular");
        };
        assert_eq!((row, pivot), (bad, 1));
        assert!((amount / scale - 1e-12).abs() < 1e-24);
        // the outputs belong to the jittered matrix
        let mut fixed = singular.clone();
        fixed.add_diag(&[amount; 4]);
        let (factor, none) = SpdFactor::factor(&fixed).unwrap();
        assert!(none.is_none());
        assert!((log_det[bad] - factor.log_det()).abs() < 1e-6);
        assert!(mean.row(bad).iter().all(|x| x.is_finite()));
        // and the others do not see it
        let mut clean = given.clone();
        clean
            .row_mut(bad)
            .copy_from_slice(SymPacked::identity(k).as_slice());
        let (out2, mean2, log_det2, report2) = run(&clean);
        assert!(report2.jittered.is_empty());
        for r in (0..rows).filter(|&r| r != bad) {
            assert_eq!(out.row(r), out2.row(r));
            assert_eq!(log_det[r], log_det2[r]);
            assert!(mean.row(r).iter().eq(mean2.row(r).iter()));
        }
    }
}

#[test]
fn indefinite_rows_are_errors_that_name_the_first() {
    let (rows, k) = (40, 3);
    let mut given = spd_rows(rows, k, 2);
    for bad in [31, 17] {
        given.row_mut(bad)[packed_index(2, 2)] = -5.0;
    }
    let mut mean = noise(rows, k, 3);
    let error = solve_rows(&mut given, mean.as_mut(), &mut vec![0.0; rows]).unwrap_err();
    assert_eq!(
        error,
        LinalgError::NotPositiveDefinite { row: 17, pivot: 2 }
    );

    let negative = SymPacked::from_packed(1, vec![-1.0]).unwrap();
    let error = SpdFactor::factor(&negative).unwrap_err();
    assert_eq!(error, LinalgError::NotPositiveDefinite { row: 0, pivot: 0 });
    let zero = SpdFactor::factor(&SymPacked::zeros(3)).unwrap_err();
    assert_eq!(zero, LinalgError::NotPositiveDefinite { row: 0, pivot: 0 });
}

#[test]
fn values_that_are_not_finite_are_errors() {
    for bad in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
        for at in 0..6 {
            let mut given = spd_rows(9, 3, 2);
            given.row_mut(4)[at] = bad;
            let error = solve_rows(&mut given, noise(9, 3, 3).as_mut(), &mut [0.0; 9]);
            assert!(
                matches!(error, Err(LinalgError::NotFinite { .. })),
                "{bad} at {at}"
            );
        }
        let mut rhs = noise(9, 3, 3);
        rhs[(8, 2)] = bad;
        let error = solve_rows(&mut spd_rows(9, 3, 2), rhs.as_mut(), &mut [0.0; 9]);
        assert!(matches!(error, Err(LinalgError::NotFinite { .. })));
    }
}

#[test]
fn shapes_that_disagree_are_errors() {
    let mut precision = spd_rows(4, 3, 1);
    let shape = |result: Result<SpdReport, LinalgError>| {
        assert!(matches!(result, Err(LinalgError::ShapeMismatch { .. })));
    };
    shape(solve_rows(
        &mut precision,
        Mat::zeros(5, 3).as_mut(),
        &mut [0.0; 4],
    ));
    shape(solve_rows(
        &mut precision,
        Mat::zeros(4, 2).as_mut(),
        &mut [0.0; 4],
    ));
    shape(solve_rows(
        &mut precision,
        Mat::zeros(4, 3).as_mut(),
        &mut [0.0; 3],
    ));
    let error = draw_rows(
        &precision,
        Mat::zeros(4, 3).as_mut(),
        Mat::zeros(4, 2).as_ref(),
    );
    assert!(matches!(error, Err(LinalgError::ShapeMismatch { .. })));
}

#[test]
fn order_zero_is_legal() {
    let mut log_det = [1.0; 3];
    let mut precision = PackedRows::zeros(3, 0);
    solve_rows(&mut precision, Mat::zeros(3, 0).as_mut(), &mut log_det).unwrap();
    assert_eq!(log_det, [0.0; 3]);
    let (factor, jitter) = SpdFactor::factor(&SymPacked::zeros(0)).unwrap();
    assert!(jitter.is_none() && factor.log_det() == 0.0 && factor.inverse().k() == 0);
    draw_rows(
        &precision,
        Mat::zeros(3, 0).as_mut(),
        Mat::zeros(3, 0).as_ref(),
    )
    .unwrap();
}

#[test]
fn one_factor_serves_many_right_hand_sides() {
    for k in [1, 6, 20] {
        let given = spd_rows(1, k, 4).sym(0);
        let (factor, jitter) = SpdFactor::factor(&given).unwrap();
        assert!(jitter.is_none());
        let rhs = noise(5, k, 1);
        let solved = factor.solve_mat_right(rhs.as_ref());
        let back = &solved * given.to_mat();
        for i in 0..5 {
            for j in 0..k {
                assert!((back[(i, j)] - rhs[(i, j)]).abs() < 1e-12);
            }
        }
        assert!(inverse_gap(&given, &factor.inverse()) < 1e-12);
        let lower = factor.lower();
        let product = SymPacked::from_mat((&lower * lower.transpose()).as_ref());
        for (a, b) in product.as_slice().iter().zip(given.as_slice()) {
            assert!((a - b).abs() < 1e-12);
        }
        let expected = crate::log_abs_det(given.to_mat().as_ref()).unwrap();
        assert!((factor.log_det() - expected).abs() < 1e-12);
    }
}

#[test]
fn log_determinants_of_many_are_those_of_each() {
    for k in ORDERS {
        let mut given = spd_rows(17, k, 3);
        // one that no jitter helps
        given.row_mut(9)[0] = -1.0;
        let found = log_dets(&given);
        for r in 0..17 {
            let expected = match SpdFactor::factor(&given.sym(r)) {
                Ok((factor, _)) => factor.log_det(),
                Err(_) => f64::NEG_INFINITY,
            };
            assert!(
                found[r] == expected
                    || (found[r] - expected).abs() < 1e-12 * (1.0 + expected.abs()),
                "K={k} r={r}: {} {expected}",
                found[r]
            );
        }
        assert_eq!(found[9], f64::NEG_INFINITY);
    }
}

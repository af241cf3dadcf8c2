use super::*;
use crate::test_support::{noise, spd_rows};

fn gap(a: &Mat<f64>, b: &Mat<f64>) -> f64 {
    assert_eq!(a.shape(), b.shape());
    let mut out = 0.0_f64;
    for j in 0..a.ncols() {
        for i in 0..a.nrows() {
            out = out.max((a[(i, j)] - b[(i, j)]).abs());
        }
    }
    out
}

fn orthonormal(q: &Mat<f64>) -> bool {
    gap(&(q.transpose() * q), &Mat::identity(q.ncols(), q.ncols())) < 1e-13 * (1 + q.nrows()) as f64
}

fn scaled(matrix: &Mat<f64>, values: &[f64]) -> Mat<f64> {
    Mat::from_fn(matrix.nrows(), matrix.ncols(), |i, j| {
        matrix[(i, j)] * values[j]
    })
}

const SHAPES: [(usize, usize); 8] = [
    (0, 0),
    (0, 3),
    (3, 0),
    (1, 1),
    (5, 5),
    (40, 7),
    (7, 40),
    (65, 64),
];

#[test]
fn eigenvectors_diagonalise() {
    for n in [0, 1, 2, 7, 40] {
        let half = noise(n, n, 2);
        let a = &half + half.transpose();
        let (values, vectors) = sym_eigen(a.as_ref()).unwrap();
        assert!(values.is_sorted() && values.len() == n);
        assert!(orthonormal(&vectors));
        assert!(gap(&(&a * &vectors), &scaled(&vectors, &values)) < 1e-12);
        // the upper triangle is not read
        let mut lower = a.clone();
        for j in 1..n {
            lower.col_as_slice_mut(j)[..j].fill(123.0);
        }
        assert_eq!(sym_eigen(lower.as_ref()).unwrap().0, values);
    }
}

#[test]
fn singular_triplets_reproduce_the_matrix() {
    for (m, n) in SHAPES {
        let a = noise(m, n, 4);
        let ThinSvd {
            u,
            singular_values,
            v,
        } = thin_svd(a.as_ref()).unwrap();
        assert!(singular_values.is_sorted_by(|a, b| a >= b));
        assert!(orthonormal(&u) && orthonormal(&v));
        assert!(gap(&(scaled(&u, &singular_values) * v.transpose()), &a) < 1e-12);
    }
}

#[test]
fn thin_qr_reproduces_the_matrix() {
    for (m, n) in SHAPES {
        let a = noise(m, n, 5);
        let (q, r) = thin_qr(a.as_ref()).unwrap();
        assert!(orthonormal(&q));
        assert!(gap(&(&q * &r), &a) < 1e-12);
        for j in 0..n {
            for i in j + 1..r.nrows() {
                assert_eq!(r[(i, j)], 0.0);
            }
        }
    }
    // orthonormal even where the columns are dependent
    let twice = Mat::from_fn(9, 4, |i, j| (i + j / 2) as f64);
    assert!(orthonormal(&thin_qr(twice.as_ref()).unwrap().0));
}

#[test]
fn inverses_and_determinants() {
    for n in [0, 1, 2, 9, 40] {
        let a = noise(n, n, 6) + Mat::<f64>::identity(n, n);
        let inverted = inverse(a.as_ref()).unwrap();
        assert!(gap(&(&a * &inverted), &Mat::identity(n, n)) < 1e-10);
        let both = log_abs_det(a.as_ref()).unwrap() + log_abs_det(inverted.as_ref()).unwrap();
        assert!(both.abs() < 1e-10);
    }
    let a = Mat::from_fn(2, 2, |i, j| [[1.0, 2.0], [3.0, 4.0]][i][j]);
    assert!((log_abs_det(a.as_ref()).unwrap() - 2.0_f64.ln()).abs() < 1e-15);
}

#[test]
fn singular_matrices_have_no_inverse() {
    let a = Mat::from_fn(3, 3, |_, j| if j == 1 { 0.0 } else { 1.0 + j as f64 });
    assert!(matches!(
        inverse(a.as_ref()),
        Err(LinalgError::Singular { .. })
    ));
    assert_eq!(log_abs_det(a.as_ref()).unwrap(), f64::NEG_INFINITY);
    let zero = Mat::<f64>::zeros(1, 1);
    assert_eq!(log_abs_det(zero.as_ref()).unwrap(), f64::NEG_INFINITY);
    let error = inverse(zero.as_ref()).unwrap_err();
    assert_eq!(error, LinalgError::Singular { pivot: 0 });
}

#[test]
fn entries_that_overflow_are_errors() {
    let b = Mat::from_fn(2, 2, |i, j| [[1.0, 1e308], [-1.0, 1e308]][i][j]);
    let error = log_abs_det(b.as_ref()).unwrap_err();
    assert!(matches!(error, LinalgError::NotFinite { .. }));
}

#[test]
fn positive_definite_systems_are_solved_and_others_refused() {
    for n in [1, 5, 33] {
        let a = spd_rows(1, n, 1).sym(0).to_mat();
        let rhs = noise(n, 3, 2);
        let x = solve_spd(a.as_ref(), rhs.as_ref()).unwrap();
        assert!(gap(&(&a * &x), &rhs) < 1e-11);
    }
    let mut a = Mat::<f64>::identity(3, 3);
    a[(1, 1)] = -1.0;
    let error = solve_spd(a.as_ref(), noise(3, 1, 1).as_ref()).unwrap_err();
    assert_eq!(error, LinalgError::NotPositiveDefinite { row: 0, pivot: 1 });
}

#[test]
fn values_that_are_not_finite_and_shapes_that_disagree_are_errors() {
    for bad in [f64::NAN, f64::INFINITY] {
        let mut a = Mat::<f64>::identity(4, 4);
        a[(2, 1)] = bad;
        let a = a.as_ref();
        let rhs = noise(4, 1, 1);
        let not_finite = |error: LinalgError| {
            assert!(matches!(error, LinalgError::NotFinite { .. }), "{error}");
        };
        not_finite(sym_eigen(a).unwrap_err());
        not_finite(thin_svd(a).unwrap_err());
        not_finite(thin_qr(a).unwrap_err());
        not_finite(inverse(a).unwrap_err());
        not_finite(log_abs_det(a).unwrap_err());
        not_finite(solve_spd(a, rhs.as_ref()).unwrap_err());
        let ok = Mat::<f64>::identity(4, 4);
        not_finite(solve_spd(ok.as_ref(), a).unwrap_err());
    }
    let a = noise(3, 4, 1);
    let shape = |error: LinalgError| {
        assert!(
            matches!(error, LinalgError::ShapeMismatch { .. }),
            "{error}"
        );
    };
    shape(sym_eigen(a.as_ref()).unwrap_err());
    shape(inverse(a.as_ref()).unwrap_err());
    shape(log_abs_det(a.as_ref()).unwrap_err());
    shape(solve_spd(a.as_ref(), a.as_ref()).unwrap_err());
    let square = Mat::<f64>::identity(4, 4);
    shape(solve_spd(square.as_ref(), a.as_ref()).unwrap_err());
}

/// Numbers whose squares leave the range of numbers are decomposed as others are.
#[test]
fn eigenvalues_of_tiny_and_huge_matrices() {
    let base = |i: usize, j: usize| 1.0 / (1 + i + j) as f64;
    let (plain, _) = sym_eigen(Mat::from_fn(5, 5, base).as_ref()).expect("it converges");
    for power in [-1060, -1020, -700, -500, 500, 900] {
        let half = 2f64.powi(power / 2);
        let matrix = Mat::from_fn(5, 5, |i, j| base(i, j) * half * half);
        let (values, vectors) = sym_eigen(matrix.as_ref()).expect("it converges");
        let top = values[4] / half / half;
        assert!(
            (top / plain[4] - 1.0).abs() < 1e-3,
            "{power}: {top} {}",
            plain[4]
        );
        if power > -1000 {
            for (a, b) in values.iter().zip(&plain) {
                assert!((a / half / half - b).abs() < 1e-13, "{power}");
            }
        }
        for j in 0..5 {
            let square: f64 = vectors.col(j).iter().map(|x| x * x).sum();
            assert!((square - 1.0).abs() < 1e-12, "{power}");
        }
    }
}

/// Similarities of few directions, on which shifted QR has stalled: products give the same decomposition.
#[test]
fn singular_values_by_products_are_those_of_the_matrix() {
    for (m, n) in [(30, 12), (12, 30), (40, 40)] {
        // three directions, and nothing in the others
        let part = |i: usize, k: usize| ((i * (2 * k + 3)) as f64 * 0.7 + k as f64).sin();
        let a = Mat::from_fn(m, n, |i, j| {
            (0..3).map(|k| part(i, k) * part(j + 5, k)).sum::<f64>()
        });
        let usual = thin_svd(a.as_ref()).unwrap();
        let own = svd_of_products(a.as_ref()).unwrap();
        let most = usual.singular_values[0];
        for (x, y) in usual.singular_values.iter().zip(&own.singular_values) {
            assert!((x - y).abs() < 1e-7 * most, "{x} {y}");
        }
        let size = own.singular_values.len();
        let again = Mat::from_fn(m, n, |i, j| {
            let of = |k: usize| own.u[(i, k)] * own.singular_values[k] * own.v[(j, k)];
            (0..size).map(of).sum::<f64>()
        });
        for i in 0..m {
            for j in 0..n {
                assert!((again[(i, j)] - a[(i, j)]).abs() < 1e-7 * most);
            }
        }
        for k in 0..size {
            for l in 0..=k {
                let of = |w: &Mat<f64>| w.col(k).transpose() * w.col(l);
                let want = f64::from(u8::from(k == l));
                assert!((of(&own.u) - want).abs() < 1e-9 && (of(&own.v) - want).abs() < 1e-9);
            }
        }
    }
}

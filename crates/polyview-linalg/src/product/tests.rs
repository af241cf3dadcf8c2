use super::*;
use crate::test_support::{noise, with_threads};

/// Every entry of a product by a plain loop.
fn slow(a: MatRef<'_, f64>, b: MatRef<'_, f64>) -> Mat<f64> {
    Mat::from_fn(a.nrows(), b.ncols(), |i, j| {
        (0..a.ncols()).map(|t| a[(i, t)] * b[(t, j)]).sum()
    })
}

fn close(a: &Mat<f64>, b: &Mat<f64>, tolerance: f64) {
    assert_eq!(a.shape(), b.shape());
    for j in 0..a.ncols() {
        for i in 0..a.nrows() {
            let gap = (a[(i, j)] - b[(i, j)]).abs();
            assert!(gap <= tolerance, "{gap:e} at ({i}, {j})");
        }
    }
}

/// Shapes (N, D, K), among them every path: many columns, tall and narrow, wide and flat, nothing at all.
const SHAPES: [(usize, usize, usize); 10] = [
    (0, 5, 2),
    (5, 0, 2),
    (4, 3, 0),
    (1, 1, 1),
    (7, 9, 3),
    (257, 255, 5),
    (300, 1100, 4),
    (9001, 3, 2),
    (3, 9001, 2),
    (1030, 20, 7),
];

#[test]
fn products_equal_plain_loops() {
    for (n, d, k) in SHAPES {
        let (x, z, w) = (noise(n, d, 1), noise(n, k, 2), noise(d, k, 3));
        let tolerance = 1e-15 * (10 + n + d) as f64;
        let expected = slow(z.transpose(), x.as_ref());
        close(&cross(z.as_ref(), x.as_ref()), &expected, tolerance);
        let mut added = noise(k, d, 4);
        let sum = &added + &expected;
        cross_into(added.as_mut(), z.as_ref(), x.as_ref(), Accum::Add);
        close(&added, &sum, tolerance);

        let expected = slow(x.as_ref(), w.as_ref());
        let mut replaced = noise(n, k, 5);
        let sum = &replaced + &expected;
        let mut added = replaced.clone();
        times(x.as_ref(), w.as_ref(), replaced.as_mut(), Accum::Replace);
        close(&replaced, &expected, tolerance);
        times(x.as_ref(), w.as_ref(), added.as_mut(), Accum::Add);
        close(&added, &sum, tolerance);
        close(&times_small(x.as_ref(), w.as_ref()), &expected, tolerance);

        let expected = slow(z.transpose(), z.as_ref());
        // sums of squares grow with the length of the plain loop, and its error with them
        close(&gram(z.as_ref()).to_mat(), &expected, 10.0 * tolerance);
    }
}

#[test]
fn sums_equal_plain_loops() {
    for (n, d, _) in SHAPES {
        let (a, b) = (noise(n, d, 6), noise(n, d, 7));
        let tolerance = 1e-15 * (10 + n + d) as f64;
        let (sums, squares) = (column_sums(a.as_ref()), column_square_sums(a.as_ref()));
        let mut trace = 0.0;
        for j in 0..d {
            let (mut sum, mut square) = (0.0, 0.0);
            for i in 0..n {
                sum += a[(i, j)];
                square += a[(i, j)].powi(2);
                trace += a[(i, j)] * b[(i, j)];
            }
            assert!((sums[j] - sum).abs() <= tolerance);
            assert!((squares[j] - square).abs() <= tolerance);
        }
        assert!((frobenius_dot(a.as_ref(), b.as_ref()) - trace).abs() <= tolerance * 10.0);
        assert_eq!((sums.len(), squares.len()), (d, d));
    }
}

#[test]
fn views_with_any_strides_are_accepted() {
    let x = noise(41, 33, 1);
    let z = noise(33, 4, 2);
    let expected = slow(z.transpose(), x.transpose());
    close(&cross(z.as_ref(), x.transpose()), &expected, 1e-13);
    let sums = column_sums(x.transpose());
    for (j, sum) in sums.iter().enumerate() {
        let expected: f64 = (0..33).map(|i| x[(j, i)]).sum();
        assert!((sum - expected).abs() < 1e-13);
    }
    let squares = column_square_sums(x.as_ref().reverse_rows());
    for (a, b) in squares.iter().zip(column_square_sums(x.as_ref())) {
        assert!((a - b).abs() < 1e-13);
    }
}

#[test]
fn threads_leave_every_bit_alone() {
    for (n, d, k) in [(1500, 700, 6), (20_000, 9, 3), (9, 20_000, 3)] {
        let (x, z, w) = (noise(n, d, 1), noise(n, k, 2), noise(d, k, 3));
        let results = with_threads(&|| {
            (
                cross(z.as_ref(), x.as_ref()),
                times_small(x.as_ref(), w.as_ref()),
                gram(z.as_ref()),
                frobenius_dot(x.as_ref(), x.as_ref()),
                column_sums(x.as_ref()),
            )
        });
        assert!(results.iter().all(|r| *r == results[0]));
    }
}

#[test]
#[should_panic(expected = "rows of the two factors")]
fn a_shape_that_disagrees_is_named() {
    cross(noise(3, 2, 1).as_ref(), noise(4, 2, 1).as_ref());
}

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

/// What a row of $XW$, or a column of $Z'X$, is does not depend on how many others there are: samples are predicted alike
/// alone and in company.
#[test]
fn neighbours_leave_every_bit_alone() {
    for inner in [1, 2, 3, 7, 30, 150, 513, 700, 1500] {
        for k in [2, 5, 14, 76] {
            let (x, w) = (noise(300, inner, 1), noise(inner, k, 2));
            let start = noise(300, k, 3);
            let of_rows = |rows: Range<usize>| {
                let mut out = rows_of(start.as_ref(), &rows).to_owned();
                times(
                    rows_of(x.as_ref(), &rows),
                    w.as_ref(),
                    out.as_mut(),
                    Accum::Add,
                );
                let own = rows_of(x.as_ref(), &rows).to_owned();
                let close = Mat::from_fn(inner, rows.len(), |d, n| own[(n, d)]);
                let plain = times_small(own.as_ref(), w.as_ref());
                let turned = times_small(close.transpose(), w.as_ref());
                let slice: Vec<f64> = (0..inner * rows.len())
                    .map(|at| own[(at % rows.len(), at / rows.len())])
                    .collect();
                let packed = MatRef::from_column_major_slice(&slice, rows.len(), inner);
                let packed = times_small(packed, w.as_ref());
                assert!(packed == plain && turned == plain, "{inner} {k} {rows:?}");
                [out, plain]
            };
            // the columns of a table that lies row by row, as samples do
            let of_columns = |rows: Range<usize>| {
                let columns = rows_of(x.as_ref(), &rows).transpose();
                let mut out = rows_of(start.as_ref(), &rows).transpose().to_owned();
                cross_into(out.as_mut(), w.as_ref(), columns, Accum::Add);
                let plain = cross(w.as_ref(), columns);
                [out, plain].map(|m| m.transpose().to_owned())
            };
            let across = |rows: Range<usize>| {
                let columns = rows_of(x.as_ref(), &rows).transpose();
                let plain = cross(columns, w.as_ref());
                let owned = cross(columns.to_owned().as_ref(), w.as_ref());
                [plain, owned]
            };
            let all = [of_rows(0..300), of_columns(0..300), across(0..300)];
            for some in [0..1, 5..6, 299..300, 3..5, 7..10, 20..29, 100..120, 30..287] {
                let own = [
                    of_rows(some.clone()),
                    of_columns(some.clone()),
                    across(some.clone()),
                ];
                for (way, (own, all)) in own.iter().zip(&all).enumerate() {
                    for (own, all) in own.iter().zip(all) {
                        let all = rows_of(all.as_ref(), &some);
                        assert!(
                            own.as_ref() == all,
                            "way {way}, inner {inner}, k {k}, {some:?}"
                        );
                    }
                }
            }
        }
    }
}

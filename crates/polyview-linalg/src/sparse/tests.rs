use faer::Mat;

use super::*;
use crate::Threads;

fn number(i: usize) -> f64 {
    ((i * 7919 + 13) % 101) as f64 / 50.0 - 1.0
}

/// About a fifth of the entries, in no order.
fn triplets(rows: usize, columns: usize) -> Vec<(u32, u32, f64)> {
    let mut out = Vec::new();
    for i in 0..rows * columns {
        let at = (i * 5 + 3) % (rows * columns);
        if (at * 31 + 7).is_multiple_of(5) {
            out.push((
                (at % rows) as u32,
                (at / rows) as u32,
                1.0 + number(at).abs(),
            ));
        }
    }
    out
}

fn dense(rows: usize, columns: usize, entries: &[(u32, u32, f64)]) -> Mat<f64> {
    let mut out = Mat::zeros(rows, columns);
    for &(r, c, x) in entries {
        out[(r as usize, c as usize)] += x;
    }
    out
}

#[test]
fn all_ways_to_build_agree() {
    // 11 x 7: no common factor with the steps above, so no place comes twice
    let entries = triplets(11, 7);
    let x = dense(11, 7, &entries);
    let sparse = SparseColumns::from_triplets(11, 7, &entries, Repeats::Refuse).expect("sparse");
    assert_eq!(sparse.count(), entries.len());
    assert_eq!(sparse.dense_columns(0..7), x);
    assert_eq!(
        SparseColumns::from_dense(x.as_ref()).expect("finite"),
        sparse
    );
    let rows = sparse.transposed();
    assert_eq!(rows.dense_columns(0..11), x.transpose().to_owned());
    assert_eq!(rows.transposed(), sparse);
    let (starts, indices, values) = (rows.starts(), rows.indices(), rows.values());
    let again = SparseColumns::from_csr(11, 7, starts, indices, values);
    assert_eq!(again.as_ref(), Ok(&sparse));
    let again = SparseColumns::from_csc(
        11,
        7,
        sparse.starts().to_vec(),
        sparse.indices().to_vec(),
        sparse.values().to_vec(),
    );
    assert_eq!(again.as_ref(), Ok(&sparse));
    let keep = [Some(3), None, Some(3), Some(0), Some(10)];
    let some = sparse.select_rows(&keep);
    for d in 0..7 {
        for (i, &r) in keep.iter().enumerate() {
            assert_eq!(some.get(i, d), r.map_or(0.0, |r: u32| x[(r as usize, d)]));
        }
    }
    let some = sparse.select_columns([Some(6), None, Some(0)]);
    for n in 0..11 {
        assert_eq!((some.get(n, 0), some.get(n, 1)), (x[(n, 6)], 0.0));
        assert_eq!(some.get(n, 2), x[(n, 0)]);
    }
}

#[test]
fn zeros_go_and_repeats_add_up_where_they_may() {
    let entries = [
        (0, 0, 1.0),
        (1, 0, 0.0),
        (0, 0, 2.0),
        (2, 1, 4.0),
        (2, 1, -4.0),
    ];
    let sum = SparseColumns::from_triplets(3, 2, &entries, Repeats::Add).expect("they add up");
    assert_eq!(
        (sum.count(), sum.get(0, 0), sum.column(1).0.len()),
        (1, 3.0, 0)
    );
    let refused = SparseColumns::from_triplets(3, 2, &entries, Repeats::Refuse);
    assert_eq!(refused, Err(SparseError::Repeated { row: 0, column: 0 }));
    let zero = SparseColumns::from_csc(2, 1, vec![0, 2], vec![0, 1], vec![0.0, 1.0]);
    assert_eq!(zero.expect("a zero is no harm").indices(), [1]);
}

#[test]
fn what_does_not_fit_is_named() {
    let csr = |starts: &[usize], indices: &[u32], values: &[f64]| {
        SparseColumns::from_csr(2, 3, starts, indices, values).expect_err("bad parts")
    };
    assert_eq!(
        csr(&[0, 1, 2], &[0, 1], &[1.0]),
        SparseError::Lengths {
            indices: 2,
            values: 1
        }
    );
    assert_eq!(
        csr(&[0, 2], &[0, 1], &[1.0; 2]),
        SparseError::Pointers { line: 2 }
    );
    assert_eq!(
        csr(&[1, 1, 2], &[0, 1], &[1.0; 2]),
        SparseError::Pointers { line: 0 }
    );
    assert_eq!(
        csr(&[0, 2, 1], &[0, 1], &[1.0; 2]),
        SparseError::Pointers { line: 1 }
    );
    assert_eq!(
        csr(&[0, 1, 1], &[0, 1], &[1.0; 2]),
        SparseError::Pointers { line: 2 }
    );
    assert_eq!(
        csr(&[0, 0, 2], &[1, 0], &[1.0; 2]),
        SparseError::Unsorted { line: 1, entry: 1 }
    );
    assert_eq!(
        csr(&[0, 0, 2], &[1, 1], &[1.0; 2]),
        SparseError::Repeated { row: 1, column: 1 }
    );
    assert_eq!(
        csr(&[0, 0, 1], &[3], &[1.0]),
        SparseError::OutOfRange {
            row: 1,
            column: 3,
            rows: 2,
            columns: 3
        }
    );
    for x in [f64::NAN, f64::INFINITY] {
        assert_eq!(
            csr(&[0, 0, 1], &[2], &[x]),
            SparseError::NotFinite { row: 1, column: 2 }
        );
        let csc = SparseColumns::from_csc(2, 1, vec![0, 1], vec![1], vec![x]);
        assert_eq!(csc, Err(SparseError::NotFinite { row: 1, column: 0 }));
    }
    let csc = SparseColumns::from_csc(2, 1, vec![0, 1], vec![2], vec![1.0]);
    assert!(matches!(csc, Err(SparseError::OutOfRange { row: 2, .. })));
    let wide = SparseColumns::from_triplets(1, usize::MAX, &[], Repeats::Refuse);
    assert!(matches!(wide, Err(SparseError::TooLarge { .. })));
    let twice = [(0, 0, f64::MAX), (0, 0, f64::MAX)];
    let sum = SparseColumns::from_triplets(1, 1, &twice, Repeats::Add);
    assert_eq!(sum, Err(SparseError::NotFinite { row: 0, column: 0 }));
}

#[test]
fn products_are_those_of_the_dense_matrix_whatever_the_threads() {
    let (n, d, k) = (57, 83, 4);
    let entries = triplets(n, d);
    let sparse = SparseColumns::from_triplets(n, d, &entries, Repeats::Refuse).expect("sparse");
    let x = dense(n, d, &entries);
    let z = Mat::from_fn(n, k, |i, j| number(i * 5 + j));
    let w = Mat::from_fn(d, k, |i, j| number(i * 3 + j + 40));
    let made = |threads: usize| {
        Threads::new(threads).expect("threads").install(|| {
            let zx = sparse_cross(z.as_ref(), &sparse, 0..d);
            let mut xw = Mat::zeros(n, k);
            for columns in [0..20, 20..61, 61..83] {
                let part = w.as_ref().subrows(columns.start, columns.len());
                sparse_times_into(&sparse, columns, part, xw.as_mut());
            }
            (zx, xw)
        })
    };
    let (zx, xw) = made(1);
    assert_eq!(made(3), (zx.clone(), xw.clone()));
    let gap = (zx.as_ref() - z.transpose() * &x).norm_max();
    assert!(gap < 1e-13, "{gap:e}");
    let gap = (xw.as_ref() - &x * &w).norm_max();
    assert!(gap < 1e-13, "{gap:e}");
    // any strides
    let turned = z.transpose().to_owned();
    assert_eq!(sparse_cross(turned.transpose(), &sparse, 0..d), zx);
    let mut rows = Mat::zeros(k, n);
    sparse_times_into(&sparse, 0..d, w.as_ref(), rows.as_mut().transpose_mut());
    assert_eq!(rows.transpose().to_owned(), xw);
}

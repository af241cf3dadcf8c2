//! Products with sparse matrices: $Z'X$ and $XW$ in time proportional to the entries.

use std::ops::Range;

use faer::prelude::ReborrowMut;
use faer::{Mat, MatMut, MatRef};
use rayon::prelude::*;

use super::SparseColumns;
use crate::columns::as_slice;

/// Columns of the sparse matrix in one task.
const COLUMN_BLOCK: usize = 16;

/// $Z'X$ for some columns of a sparse matrix: `z` is $N \times K$, the result $K \times$ columns.
///
/// Each entry of the result is a sum over the column's entries in the order of their rows.
///
/// # Panics
/// If rows disagree or the columns are out of range.
pub fn sparse_cross(z: MatRef<'_, f64>, x: &SparseColumns, columns: Range<usize>) -> Mat<f64> {
    assert_eq!(z.nrows(), x.nrows(), "rows of a sparse product");
    assert!(columns.end <= x.ncols(), "columns of a sparse product");
    let mut out = Mat::zeros(z.ncols(), columns.len());
    if z.ncols() == 0 || columns.is_empty() {
        return out;
    }
    out.as_mut()
        .par_col_chunks_mut(COLUMN_BLOCK)
        .enumerate()
        .for_each(|(b, mut out)| {
            for j in 0..out.ncols() {
                let (rows, values) = x.column(columns.start + b * COLUMN_BLOCK + j);
                for k in 0..z.ncols() {
                    out[(k, j)] = dot(z, k, rows, values);
                }
            }
        });
    out
}

fn dot(z: MatRef<'_, f64>, k: usize, rows: &[u32], values: &[f64]) -> f64 {
    let entries = rows.iter().zip(values);
    match as_slice(z.col(k)) {
        Some(z) => entries.map(|(&n, x)| z[n as usize] * x).sum(),
        None => entries.map(|(&n, x)| z[(n as usize, k)] * x).sum(),
    }
}

/// Adds $XW$ to `out` ($N \times K$) for some columns of a sparse matrix; `w` has one row for each of them.
///
/// Each entry of `out` gathers its terms in the order of the columns, so that blocks of columns may come one after the
/// other.
///
/// # Panics
/// If the shapes disagree or the columns are out of range.
pub fn sparse_times_into(
    x: &SparseColumns,
    columns: Range<usize>,
    w: MatRef<'_, f64>,
    out: MatMut<'_, f64>,
) {
    assert!(columns.end <= x.ncols(), "columns of a sparse product");
    assert_eq!(columns.len(), w.nrows(), "inner length of a sparse product");
    assert_eq!(out.nrows(), x.nrows(), "rows of a sparse product");
    assert_eq!(out.ncols(), w.ncols(), "columns of a sparse result");
    if out.nrows() == 0 || out.ncols() == 0 {
        return;
    }
    out.par_col_chunks_mut(1)
        .enumerate()
        .for_each(|(k, mut out)| {
            let mut strided = out.rb_mut().col_mut(0);
            for (i, d) in columns.clone().enumerate() {
                let (rows, values) = x.column(d);
                let weight = w[(i, k)];
                let entries = rows.iter().zip(values);
                match strided.rb_mut().try_as_col_major_mut() {
                    Some(out) => {
                        let out = out.as_slice_mut();
                        entries.for_each(|(&n, x)| out[n as usize] += weight * x);
                    }
                    None => entries.for_each(|(&n, x)| strided[n as usize] += weight * x),
                }
            }
        });
}

//! Products of tall matrices, block-parallel over their output.
//!
//! Data and scores are column-major with samples in rows: `x` is $N \times D$, `z` is $N \times K$. The layouts are the
//! ones that run fastest: $Z'X$ gives a K-major $K \times D$ result and splits the columns of $X$; $XW$ gives an
//! $N \times K$ result and splits the rows of $X$. Each block is one sequential matrix product, so the bits do not depend
//! on the number of threads.

use crate::blocks;
use crate::packed::{SymPacked, dot};
use faer::linalg::matmul::matmul;
use faer::{Accum, Mat, MatMut, MatRef, Par};
use rayon::prelude::*;

/// Columns of $X$ in one block of $Z'X$.
const COLUMN_BLOCK: usize = 128;
/// Rows of $X$ in one block of $XW$.
const ROW_BLOCK: usize = 512;
/// Rows added in one partial sum.
const SUM_BLOCK: usize = 1024;

/// $Z'X$, $K \times D$, of `z` $N \times K$ and `x` $N \times D$.
///
/// # Panics
/// If the numbers of rows differ.
pub fn cross(z: MatRef<'_, f64>, x: MatRef<'_, f64>) -> Mat<f64> {
    let mut out = Mat::zeros(z.ncols(), x.ncols());
    cross_into(out.as_mut(), z, x, Accum::Replace);
    out
}

/// `out = Z'X` or `out += Z'X`; `out` is $K \times D$.
///
/// # Panics
/// If the shapes disagree.
pub fn cross_into(out: MatMut<'_, f64>, z: MatRef<'_, f64>, x: MatRef<'_, f64>, accum: Accum) {
    assert_eq!(z.nrows(), x.nrows(), "rows of the two factors of Z'X");
    assert_eq!(out.nrows(), z.ncols(), "rows of Z'X");
    assert_eq!(out.ncols(), x.ncols(), "columns of Z'X");
    out.par_col_chunks_mut(COLUMN_BLOCK)
        .zip(x.par_col_chunks(COLUMN_BLOCK))
        .for_each(|(out, x)| matmul(out, accum, z.transpose(), x, 1.0, Par::Seq));
}

/// `out = XW` or `out += XW` of `x` $N \times D$ and `w` $D \times K$; `out` is $N \times K$.
///
/// # Panics
/// If the shapes disagree.
pub fn times(x: MatRef<'_, f64>, w: MatRef<'_, f64>, out: MatMut<'_, f64>, accum: Accum) {
    assert_eq!(x.ncols(), w.nrows(), "inner dimension of XW");
    assert_eq!(out.nrows(), x.nrows(), "rows of XW");
    assert_eq!(out.ncols(), w.ncols(), "columns of XW");
    out.par_row_chunks_mut(ROW_BLOCK)
        .zip(x.par_row_chunks(ROW_BLOCK))
        .for_each(|(out, x)| matmul(out, accum, x, w, 1.0, Par::Seq));
}

/// $AB$ of `a` $R \times K$ and a small `b` $K \times L$, as a new $R \times L$ matrix.
///
/// # Panics
/// If the inner dimensions differ.
pub fn times_small(a: MatRef<'_, f64>, b: MatRef<'_, f64>) -> Mat<f64> {
    let mut out = Mat::zeros(a.nrows(), b.ncols());
    times(a, b, out.as_mut(), Accum::Replace);
    out
}

/// $Z'Z$, row blocks added in order.
pub fn gram(z: MatRef<'_, f64>) -> SymPacked {
    let k = z.ncols();
    let total = blocks::ordered_sum(
        z.nrows(),
        blocks::size(z.nrows(), SUM_BLOCK),
        Mat::<f64>::zeros(k, k),
        |range, part| {
            let rows = z.subrows(range.start, range.len());
            matmul(
                part.as_mut(),
                Accum::Add,
                rows.transpose(),
                rows,
                1.0,
                Par::Seq,
            );
        },
        |total, part| *total += part,
    );
    SymPacked::from_mat(total.as_ref())
}

/// $\sum_k a_{rk} b_{rk}$ for every row $r$ of two matrices of one shape.
///
/// # Panics
/// If the shapes differ.
pub fn row_dots(a: MatRef<'_, f64>, b: MatRef<'_, f64>) -> Vec<f64> {
    assert_eq!(a.shape(), b.shape(), "shapes of row_dots");
    let mut out = vec![0.0; a.nrows()];
    for j in 0..a.ncols() {
        for ((total, x), y) in out.iter_mut().zip(a.col(j).iter()).zip(b.col(j).iter()) {
            *total += x * y;
        }
    }
    out
}

/// $\mathrm{tr}(A'B)$ of two matrices of one shape, in fixed blocks added in order.
///
/// # Panics
/// If the shapes differ.
pub fn frobenius_dot(a: MatRef<'_, f64>, b: MatRef<'_, f64>) -> f64 {
    assert_eq!(a.shape(), b.shape(), "shapes of frobenius_dot");
    column_map(a.ncols(), |j| column_dot(a, b, j)).iter().sum()
}

/// Sum of every column.
pub fn column_sums(x: MatRef<'_, f64>) -> Vec<f64> {
    column_map(x.ncols(), |j| match x.col(j).try_as_col_major() {
        Some(column) => sum(column.as_slice()),
        None => x.col(j).iter().sum(),
    })
}

/// Sum of squares of every column.
pub fn column_square_sums(x: MatRef<'_, f64>) -> Vec<f64> {
    column_map(x.ncols(), |j| column_dot(x, x, j))
}

fn column_map(columns: usize, f: impl Fn(usize) -> f64 + Sync + Send) -> Vec<f64> {
    (0..columns)
        .into_par_iter()
        .with_min_len(16)
        .map(f)
        .collect()
}

fn column_dot(a: MatRef<'_, f64>, b: MatRef<'_, f64>, j: usize) -> f64 {
    let (a, b) = (a.col(j), b.col(j));
    match (a.try_as_col_major(), b.try_as_col_major()) {
        (Some(a), Some(b)) => dot(a.as_slice(), b.as_slice()),
        _ => a.iter().zip(b.iter()).map(|(x, y)| x * y).sum(),
    }
}

fn sum(x: &[f64]) -> f64 {
    let (lanes, rest) = x.as_chunks::<8>();
    let mut sums = [0.0; 8];
    for x in lanes {
        for lane in 0..8 {
            sums[lane] += x[lane];
        }
    }
    sums.iter().sum::<f64>() + rest.iter().sum::<f64>()
}

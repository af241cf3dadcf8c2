//! Products of tall matrices, block-parallel over their output.
//!
//! Data and scores are column-major with samples in rows: `x` is $N \times D$, `z` is $N \times K$. The layouts are the
//! ones that run fastest: $Z'X$ gives a K-major $K \times D$ result and splits the columns of $X$; $XW$ gives an
//! $N \times K$ result and splits the rows of $X$. Each block is one sequential matrix product, so the bits do not depend
//! on the number of threads.
//! Where the output is too small to share out, long sums are cut into fixed parts that are added in order.

use crate::blocks;
use crate::columns::as_slice;
use crate::packed::{SymPacked, dot};
use faer::prelude::ReborrowMut;
use faer::{Accum, Mat, MatMut, MatRef, Par};
use rayon::prelude::*;
use std::ops::Range;

#[cfg(test)]
mod tests;

/// Columns of $X$ in one block of $Z'X$.
const COLUMN_BLOCK: usize = 256;
/// Fewer columns than this are few beside many rows.
const FEW_COLUMNS: usize = 1024;
/// Rows of $X$ in one block of $XW$.
const ROW_BLOCK: usize = 256;
/// Columns of $X$ that a block of rows meets at one time.
const INNER_BLOCK: usize = 256;
/// Least length of a partial sum of $XW$, where the output alone is too small to share out.
const PART: usize = 2048;
/// Likewise of $Z'X$: the blocks of columns in which a sweep reads its data are narrow where samples are many.
const CROSS_PART: usize = 512;
/// Rows added in one partial sum of a Gram.
const SUM_BLOCK: usize = 1024;

/// A sequential product of the underlying library, after which scalar code runs
/// at its usual speed.
pub(crate) fn matmul(
    out: MatMut<'_, f64>,
    accum: Accum,
    a: MatRef<'_, f64>,
    b: MatRef<'_, f64>,
    alpha: f64,
    par: Par,
) {
    faer::linalg::matmul::matmul(out, accum, a, b, alpha, par);
    crate::simd::clear_upper_halves();
}

/// Multiplications of a product that is small for the underlying library.
const SMALL: usize = 16 * 16 * 16;
/// Terms that the underlying library adds at one time where a product is large.
const TERMS: usize = 512;

/// $AB$ in one task, such that a column has the same bits whichever others there are, as long as `a` has two rows.
///
/// The library has a way of its own for one column, and adds all terms at one time where the product is small.
pub(crate) fn product(out: MatMut<'_, f64>, accum: Accum, a: MatRef<'_, f64>, b: MatRef<'_, f64>) {
    let mut out = out;
    if b.ncols() == 1 && a.nrows() > 1 {
        let mut both = Mat::from_fn(out.nrows(), 2, |i, _| out[(i, 0)]);
        let b = Mat::from_fn(b.nrows(), 2, |i, _| b[(i, 0)]);
        product(both.as_mut(), accum, a, b.as_ref());
        out.copy_from(both.as_ref().subcols(0, 1));
        return;
    }
    let mut accum = accum;
    for terms in blocks::ranges(b.nrows().max(1), TERMS) {
        let terms = terms.start..terms.end.min(b.nrows());
        let a = a.subcols(terms.start, terms.len());
        in_order(out.rb_mut(), accum, a, rows_of(b, &terms));
        accum = Accum::Add;
    }
}

/// A product of few terms, added in the same order whatever its size: where `a` lies row by row the library adds a small product
/// in parts, and rounds one term otherwise than where it lies column by column.
fn in_order(out: MatMut<'_, f64>, accum: Accum, a: MatRef<'_, f64>, b: MatRef<'_, f64>) {
    let is_small = a.ncols() == 1 || a.nrows() * a.ncols() * b.ncols() <= SMALL;
    if is_small && a.try_as_col_major().is_none() {
        let a = a.to_owned();
        matmul(out, accum, a.as_ref(), b, 1.0, Par::Seq);
    } else {
        matmul(out, accum, a, b, 1.0, Par::Seq);
    }
}

/// $Z'X$, $K \times D$, of `z` $N \times K$ and `x` $N \times D$. A column has the same bits whichever others there are up to
/// a thousand, and so has a row of sums of less than two thousand terms.
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
    if z.ncols() == 1 && x.ncols() > 0 && z.nrows() < 4 * CROSS_PART {
        // the library has a way of its own for one row, which may be a sample
        let mut out = out;
        let mut both = Mat::from_fn(2, out.ncols(), |_, j| out[(0, j)]);
        let z = Mat::from_fn(z.nrows(), 2, |n, _| z[(n, 0)]);
        cross_into(both.as_mut(), z.as_ref(), x, accum);
        out.copy_from(both.as_ref().subrows(0, 1));
        return;
    }
    if x.ncols() < FEW_COLUMNS && x.nrows() >= 4 * CROSS_PART {
        let total = blocks::ordered_sum(
            x.nrows(),
            blocks::size(x.nrows(), CROSS_PART),
            Mat::<f64>::zeros(z.ncols(), x.ncols()),
            |rows, part| {
                let (z, x) = (rows_of(z, &rows), rows_of(x, &rows));
                product(part.as_mut(), Accum::Add, z.transpose(), x);
            },
            |total, part| *total += part,
        );
        deliver(out, total.as_ref(), accum);
    } else {
        out.par_col_chunks_mut(COLUMN_BLOCK)
            .zip(x.par_col_chunks(COLUMN_BLOCK))
            .for_each(|(out, x)| product(out, accum, z.transpose(), x));
    }
}

/// `out = XW` or `out += XW` of `x` $N \times D$ and `w` $D \times K$; `out` is $N \times K$. A row has the same bits
/// whichever others there are up to a thousand.
///
/// # Panics
/// If the shapes disagree.
pub fn times(x: MatRef<'_, f64>, w: MatRef<'_, f64>, out: MatMut<'_, f64>, accum: Accum) {
    assert_eq!(x.ncols(), w.nrows(), "inner dimension of XW");
    assert_eq!(out.nrows(), x.nrows(), "rows of XW");
    assert_eq!(out.ncols(), w.ncols(), "columns of XW");
    if x.nrows() < 4 * ROW_BLOCK && x.ncols() >= 4 * PART {
        let total = blocks::ordered_sum(
            x.ncols(),
            blocks::size(x.ncols(), PART),
            Mat::<f64>::zeros(x.nrows(), w.ncols()),
            |columns, part| {
                let x = x.subcols(columns.start, columns.len());
                rows_times(x, rows_of(w, &columns), part.as_mut(), Accum::Add);
            },
            |total, part| *total += part,
        );
        deliver(out, total.as_ref(), accum);
    } else {
        out.par_row_chunks_mut(ROW_BLOCK)
            .zip(x.par_row_chunks(ROW_BLOCK))
            .for_each(|(out, x)| rows_times(x, w, out, accum));
    }
}

/// One block of rows of $XW$, column blocks in order; a row has the same bits whichever others there are.
fn rows_times(x: MatRef<'_, f64>, w: MatRef<'_, f64>, out: MatMut<'_, f64>, accum: Accum) {
    let mut out = out;
    if x.nrows() == 1 && w.ncols() > 1 {
        // the library has a way of its own for one row
        let mut both = Mat::from_fn(2, out.ncols(), |_, j| out[(0, j)]);
        let x = Mat::from_fn(2, x.ncols(), |_, d| x[(0, d)]);
        rows_times(x.as_ref(), w, both.as_mut(), accum);
        out.copy_from(both.as_ref().subrows(0, 1));
        return;
    }
    if x.ncols() == 0 {
        matmul(out, accum, x, w, 1.0, Par::Seq);
        return;
    }
    let mut accum = accum;
    for columns in blocks::ranges(x.ncols(), INNER_BLOCK) {
        let x = x.subcols(columns.start, columns.len());
        in_order(out.rb_mut(), accum, x, rows_of(w, &columns));
        accum = Accum::Add;
    }
}

fn rows_of<'a>(matrix: MatRef<'a, f64>, rows: &Range<usize>) -> MatRef<'a, f64> {
    matrix.subrows(rows.start, rows.len())
}

fn deliver(out: MatMut<'_, f64>, total: MatRef<'_, f64>, accum: Accum) {
    let mut out = out;
    match accum {
        Accum::Replace => out.copy_from(total),
        Accum::Add => out += total,
    }
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
            let rows = rows_of(z, &range);
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
    column_map(x.ncols(), |j| match as_slice(x.col(j)) {
        Some(column) => sum(column),
        None => x.col(j).iter().sum(),
    })
}

/// $x't$: sum of every column, its entries times the numbers of `t`.
///
/// # Panics
/// If there is not one number for each row.
///
/// ```
/// use polyview_linalg::{Mat, weighted_column_sums};
///
/// let x = Mat::from_fn(3, 2, |r, c| (r + 10 * c) as f64);
/// assert_eq!(weighted_column_sums(x.as_ref(), &[1.0, 0.0, 2.0]), [4.0, 34.0]);
/// ```
pub fn weighted_column_sums(x: MatRef<'_, f64>, t: &[f64]) -> Vec<f64> {
    assert_eq!(x.nrows(), t.len(), "one weight for each row");
    column_map(x.ncols(), |j| match as_slice(x.col(j)) {
        Some(column) => dot(column, t),
        None => x.col(j).iter().zip(t).map(|(x, t)| x * t).sum(),
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
    match (as_slice(a), as_slice(b)) {
        (Some(a), Some(b)) => dot(a, b),
        _ => a.iter().zip(b.iter()).map(|(x, y)| x * y).sum(),
    }
}

/// Sum of numbers, always in the same order: eight partial sums, then what is left over.
pub fn sum(x: &[f64]) -> f64 {
    let (lanes, rest) = x.as_chunks::<8>();
    let mut sums = [0.0; 8];
    for x in lanes {
        for lane in 0..8 {
            sums[lane] += x[lane];
        }
    }
    sums.iter().sum::<f64>() + rest.iter().sum::<f64>()
}

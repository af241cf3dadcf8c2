//! Second moments of rows and their weighted sums, by row-wise Khatri-Rao products.
//!
//! With precisions that vary by cell, row $d$ needs $G\_d = \sum\_n \omega\_{nd} \langle z\_n z\_n' \rangle$. One Gram
//! per row wastes the hardware; the packed triangles $\langle z\_n z\_n' \rangle$ side by side are a $P \times N$ matrix,
//! and all $G\_d$ are its product with $\Omega$. For 0/1 weights [`masked_sums`](crate::masked_sums) is faster still.

use crate::columns::as_slice;
use crate::packed::{dot, packed_len};
use crate::product::product;
use crate::simd::{Kernel, dispatch, mul_add};
use crate::{PackedRows, SymPacked, packed_index};
use faer::prelude::ReborrowMut;
use faer::{Accum, MatMut, MatRef};
use rayon::prelude::*;

#[cfg(test)]
mod tests;

/// Rows whose triangles are made and used at one time.
const ROW_BLOCK: usize = 512;
/// Columns of the weights in one task.
const COLUMN_BLOCK: usize = 256;

/// Covariance of the rows of a factor or weight matrix with $K$ columns.
#[derive(Debug, Clone, Copy)]
pub enum RowCov<'a> {
    /// None: the rows are known, as in a draw.
    Zero,
    /// One $K \times K$ covariance for all rows.
    Shared(&'a SymPacked),
    /// One covariance per row.
    PerRow(&'a PackedRows),
    /// Independent entries: variances, in the shape of the mean.
    Diagonal(MatRef<'a, f64>),
}

/// Second moments $\langle z\_n z\_n' \rangle = m\_n m\_n' + S\_n$ of all rows, packed: `mean` is $N \times K$.
///
/// # Panics
/// If the covariance has not the shape of the mean.
pub fn khatri_rao(mean: MatRef<'_, f64>, cov: RowCov<'_>) -> PackedRows {
    check(mean, cov);
    let (n, k) = mean.shape();
    let mut out = PackedRows::zeros(n, k);
    if k > 0 {
        out.as_mut_slice()
            .par_chunks_mut(ROW_BLOCK * packed_len(k))
            .enumerate()
            .for_each(|(b, out)| fill(out, mean, cov, b * ROW_BLOCK));
    }
    out
}

/// Weighted Grams $G\_d = \sum\_n \omega\_{nd} T\_n$ of stored second moments $T\_n$ (`kr`), one packed matrix per column
/// of `omega` ($N \times D$, column-major).
///
/// # Panics
/// If `omega` and `kr` differ in rows.
pub fn weighted_gram(omega: MatRef<'_, f64>, kr: &PackedRows) -> PackedRows {
    let mut out = PackedRows::zeros(omega.ncols(), kr.k());
    weighted_gram_into(&mut out, omega, kr, Accum::Replace);
    out
}

/// As [`weighted_gram`], into (or added to) an existing `out`.
///
/// # Panics
/// If the shapes disagree.
pub fn weighted_gram_into(
    out: &mut PackedRows,
    omega: MatRef<'_, f64>,
    kr: &PackedRows,
    accum: Accum,
) {
    assert_eq!(omega.nrows(), kr.rows(), "rows of the weights");
    assert_eq!(out.rows(), omega.ncols(), "rows of the Grams");
    assert_eq!(out.k(), kr.k(), "order of the Grams");
    out.as_mat_mut()
        .par_col_chunks_mut(COLUMN_BLOCK)
        .zip(omega.par_col_chunks(COLUMN_BLOCK))
        .for_each(|(out, omega)| columns(out, accum, kr.as_mat(), omega));
}

/// Weighted sums of the columns of `kr`, by columns of weights: each has the same bits whichever others there are.
fn columns(out: MatMut<'_, f64>, accum: Accum, kr: MatRef<'_, f64>, omega: MatRef<'_, f64>) {
    if kr.nrows() != 1 {
        product(out, accum, kr, omega);
        return;
    }
    // the triangles of one factor are numbers
    let mut out = out;
    let numbers: Vec<f64> = kr.row(0).iter().copied().collect();
    for d in 0..omega.ncols() {
        let sum = match as_slice(omega.col(d)) {
            Some(weights) => dot(weights, &numbers),
            None => omega.col(d).iter().zip(&numbers).map(|(w, x)| w * x).sum(),
        };
        let before = match accum {
            Accum::Add => out[(0, d)],
            Accum::Replace => 0.0,
        };
        out[(0, d)] = before + sum;
    }
}

/// Weighted Grams $G\_d = \sum\_n \omega\_{nd} (m\_n m\_n' + S\_n)$ from the moments themselves: triangles are made for
/// 512 rows at a time and never stored as a whole.
///
/// # Panics
/// If the shapes disagree.
pub fn weighted_gram_moments(
    omega: MatRef<'_, f64>,
    mean: MatRef<'_, f64>,
    cov: RowCov<'_>,
) -> PackedRows {
    let mut out = PackedRows::zeros(omega.ncols(), mean.ncols());
    weighted_gram_moments_into(&mut out, omega, mean, cov, Accum::Replace);
    out
}

/// As [`weighted_gram_moments`], into (or added to) an existing `out`.
fn weighted_gram_moments_into(
    out: &mut PackedRows,
    omega: MatRef<'_, f64>,
    mean: MatRef<'_, f64>,
    cov: RowCov<'_>,
    accum: Accum,
) {
    check(mean, cov);
    let (n, k) = mean.shape();
    assert_eq!(omega.nrows(), n, "rows of the weights");
    assert_eq!(out.rows(), omega.ncols(), "rows of the Grams");
    assert_eq!(out.k(), k, "order of the Grams");
    if k == 0 {
        return;
    }
    // a covariance that all rows share needs the sum of the weights only
    let (varying, shared) = match cov {
        RowCov::Shared(matrix) => (RowCov::Zero, Some(matrix)),
        other => (other, None),
    };
    out.as_mat_mut()
        .par_col_chunks_mut(COLUMN_BLOCK)
        .zip(omega.par_col_chunks(COLUMN_BLOCK))
        .for_each_init(
            || vec![0.0; ROW_BLOCK.min(n) * packed_len(k)],
            |triangles, (mut out, omega)| {
                start(out.rb_mut(), omega, shared, accum);
                for first in (0..n).step_by(ROW_BLOCK) {
                    let rows = ROW_BLOCK.min(n - first);
                    let triangles = &mut triangles[..rows * packed_len(k)];
                    fill(triangles, mean, varying, first);
                    columns(
                        out.rb_mut(),
                        Accum::Add,
                        MatRef::from_column_major_slice(triangles, packed_len(k), rows),
                        omega.subrows(first, rows),
                    );
                }
            },
        );
}

/// Clears the sums where they are to be replaced, and adds the shared covariance.
fn start(out: MatMut<'_, f64>, omega: MatRef<'_, f64>, shared: Option<&SymPacked>, accum: Accum) {
    let mut out = out;
    if matches!(accum, Accum::Replace) {
        out.fill(0.0);
    }
    if let Some(matrix) = shared {
        for d in 0..out.ncols() {
            let weight: f64 = omega.col(d).iter().sum();
            for (x, s) in out.rb_mut().col_mut(d).iter_mut().zip(matrix.as_slice()) {
                *x += weight * s;
            }
        }
    }
}

fn check(mean: MatRef<'_, f64>, cov: RowCov<'_>) {
    let (n, k) = mean.shape();
    match cov {
        RowCov::Zero => {}
        RowCov::Shared(matrix) => assert_eq!(matrix.k(), k, "order of the covariance"),
        RowCov::PerRow(matrices) => {
            assert_eq!(matrices.k(), k, "order of the covariances");
            assert_eq!(matrices.rows(), n, "rows of the covariances");
        }
        RowCov::Diagonal(variances) => {
            assert_eq!(variances.shape(), (n, k), "shape of the variances");
        }
    }
}

/// Triangles of the rows `first..`, as many as `out` has room for.
fn fill(out: &mut [f64], mean: MatRef<'_, f64>, cov: RowCov<'_>, first: usize) {
    let k = mean.ncols();
    let rows = out.len() / packed_len(k);
    let mut by_row = vec![0.0; rows * k];
    for j in 0..k {
        let column = mean.col(j).subrows(first, rows);
        for (row, x) in by_row.chunks_exact_mut(k).zip(column.iter()) {
            row[j] = *x;
        }
    }
    match cov {
        RowCov::Zero | RowCov::Diagonal(_) => out.fill(0.0),
        RowCov::Shared(matrix) => {
            for triangle in out.chunks_exact_mut(packed_len(k)) {
                triangle.copy_from_slice(matrix.as_slice());
            }
        }
        RowCov::PerRow(matrices) => {
            let start = first * packed_len(k);
            out.copy_from_slice(&matrices.as_slice()[start..start + out.len()]);
        }
    }
    dispatch(AddOuter {
        k,
        triangles: out,
        rows: &by_row,
    });
    if let RowCov::Diagonal(variances) = cov {
        for (r, triangle) in out.chunks_exact_mut(packed_len(k)).enumerate() {
            for j in 0..k {
                triangle[packed_index(j, j)] += variances[(first + r, j)];
            }
        }
    }
}

/// Adds $m\_n m\_n'$ to the triangle of every row.
struct AddOuter<'a> {
    k: usize,
    triangles: &'a mut [f64],
    rows: &'a [f64],
}

impl Kernel for AddOuter<'_> {
    #[inline(always)]
    fn run<const FUSED: bool>(self) {
        let triangles = self.triangles.chunks_exact_mut(packed_len(self.k));
        for (triangle, row) in triangles.zip(self.rows.chunks_exact(self.k)) {
            let mut rest = triangle;
            for (i, &x) in row.iter().enumerate() {
                let (entries, after) = rest.split_at_mut(i + 1);
                for (entry, y) in entries.iter_mut().zip(row) {
                    *entry = mul_add::<FUSED>(x, *y, *entry);
                }
                rest = after;
            }
        }
    }
}

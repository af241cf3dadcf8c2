//! Data whose missing cells are filled in by a product of low rank, without a copy.

use super::LinearOperator;
use crate::BitMask;
use crate::LinalgError;
use crate::error::same_len;
use crate::product::times;
use faer::{Accum, Mat, MatMut, MatRef};
use rayon::prelude::*;

/// Missing cells of one of several blocks side by side.
#[derive(Debug, Clone, Copy)]
pub struct Holes<'a> {
    /// Columns of the block.
    pub columns: usize,
    /// Its observed cells, rows × columns and columns × rows; `None` where all are.
    pub observed: Option<(&'a BitMask, &'a BitMask)>,
}

impl Holes<'_> {
    /// Missing cells, of so many rows.
    pub fn count(&self, rows: usize) -> usize {
        self.observed
            .map_or(0, |(seen, _)| rows * self.columns - seen.count())
    }
}

/// Whether the factors of a product are as large as the holes say.
fn check(
    holes: &[Holes<'_>],
    left: MatRef<'_, f64>,
    right: MatRef<'_, f64>,
) -> Result<(), LinalgError> {
    let (rows, columns) = (left.ncols(), right.ncols());
    same_len("rows of the factors", left.nrows(), right.nrows())?;
    same_len(
        "columns of the holes",
        columns,
        holes.iter().map(|h| h.columns).sum(),
    )?;
    for hole in holes {
        if let Some((by_column, by_row)) = hole.observed {
            same_len("rows of a mask", rows, by_column.rows())?;
            same_len("columns of a mask", hole.columns, by_column.cols())?;
            same_len("rows of a transposed mask", hole.columns, by_row.rows())?;
            same_len("columns of a transposed mask", rows, by_row.cols())?;
        }
    }
    Ok(())
}

/// The matrix of an operator that has 0 in missing cells, with $l\_n^\top r\_d$ there in their place, less the means of its
/// columns. Nothing of that size is stored.
#[derive(Debug)]
pub struct Completed<'a, A: ?Sized> {
    data: &'a A,
    holes: &'a [Holes<'a>],
    left: &'a Mat<f64>,
    right: &'a Mat<f64>,
    means: Vec<f64>,
}

impl<'a, A: LinearOperator + ?Sized> Completed<'a, A> {
    /// The matrix of `data`, whose blocks have these `holes`, with `left` (rank × rows) and `right` (rank × columns).
    ///
    /// # Errors
    /// [`LinalgError::ShapeMismatch`] where shapes disagree.
    pub fn new(
        data: &'a A,
        holes: &'a [Holes<'a>],
        (left, right): (&'a Mat<f64>, &'a Mat<f64>),
    ) -> Result<Self, LinalgError> {
        let (rows, columns) = (data.nrows(), data.ncols());
        same_len("columns of the left factor", rows, left.ncols())?;
        same_len("columns of the right factor", columns, right.ncols())?;
        check(holes, left.as_ref(), right.as_ref())?;
        let mut out = Self {
            data,
            holes,
            left,
            right,
            means: vec![0.0; columns],
        };
        let sums = out.apply_transpose(Mat::full(rows, 1, 1.0).as_ref());
        let mean = |sum: &f64| sum / rows.max(1) as f64;
        out.means = sums.col_as_slice(0).iter().map(mean).collect();
        Ok(out)
    }

    /// What was taken away: means of the columns, filled in.
    pub fn means(&self) -> &[f64] {
        &self.means
    }

    /// By what the sums of squares of the columns are larger than those of the observed cells about zero.
    pub fn added_squares(&self) -> Vec<f64> {
        let rows = self.nrows() as f64;
        let mut out: Vec<f64> = self.means.iter().map(|m| -rows * m * m).collect();
        let (left, right) = (self.left, self.right);
        for (first, hole, (by_column, _)) in self.filled() {
            let part = &mut out[first..first + hole.columns];
            part.par_iter_mut().enumerate().for_each(|(d, out)| {
                let own = right.col_as_slice(first + d);
                let filled = |n: usize| dot(own, left.col_as_slice(n)).powi(2);
                *out += by_column.zeros_in_col(d).map(filled).sum::<f64>();
            });
        }
        out
    }

    /// The blocks with missing cells: first columns, holes, masks.
    fn filled(&self) -> impl Iterator<Item = (usize, &Holes<'a>, (&'a BitMask, &'a BitMask))> {
        let mut next = 0;
        self.holes.iter().filter_map(move |hole| {
            let first = next;
            next += hole.columns;
            Some((first, hole, hole.observed?))
        })
    }
}

impl<A: LinearOperator + ?Sized> LinearOperator for Completed<'_, A> {
    fn nrows(&self) -> usize {
        self.data.nrows()
    }

    fn ncols(&self) -> usize {
        self.data.ncols()
    }

    fn apply(&self, b: MatRef<'_, f64>) -> Mat<f64> {
        let mut out = self.data.apply(b);
        let mut sums = Mat::zeros(b.ncols(), self.nrows());
        for (first, hole, (_, by_row)) in self.filled() {
            let own = self.right.subcols(first, hole.columns).to_owned();
            let table = b.subrows(first, hole.columns).transpose().to_owned();
            add_filled(by_row, self.left.as_ref(), (&own, &table), sums.as_mut());
        }
        out += sums.transpose();
        for (j, b) in b.col_iter().enumerate() {
            let shift: f64 = self.means.iter().zip(b.iter()).map(|(m, b)| m * b).sum();
            for out in out.col_as_slice_mut(j) {
                *out -= shift;
            }
        }
        out
    }

    fn apply_transpose(&self, b: MatRef<'_, f64>) -> Mat<f64> {
        let mut out = self.data.apply_transpose(b);
        let table = b.transpose().to_owned();
        let mut sums = Mat::zeros(b.ncols(), self.ncols());
        for (first, hole, (by_column, _)) in self.filled() {
            let own = self.right.subcols(first, hole.columns);
            let part = sums.as_mut().subcols_mut(first, hole.columns);
            add_filled(by_column, own, (self.left, &table), part);
        }
        out += sums.transpose();
        for (j, b) in b.col_iter().enumerate() {
            let sum: f64 = b.iter().sum();
            for (out, mean) in out.col_as_slice_mut(j).iter_mut().zip(&self.means) {
                *out -= sum * mean;
            }
        }
        out
    }
}

/// Adds $\sum\_i(o\_j^\top f\_i)\,t\_i$ over the i that are missing in column j of the mask to column j of `out`, of columns o
/// of `own`, f of `factors` and t of `table`.
fn add_filled(
    mask: &BitMask,
    own: MatRef<'_, f64>,
    (factors, table): (&Mat<f64>, &Mat<f64>),
    out: MatMut<'_, f64>,
) {
    // over all i, for columns of which most is missing: what is observed goes again
    let mut all = Mat::zeros(table.nrows(), factors.nrows());
    times(
        table.as_ref(),
        factors.transpose(),
        all.as_mut(),
        Accum::Replace,
    );
    out.par_col_iter_mut().enumerate().for_each(|(j, out)| {
        let own: Vec<f64> = own.col(j).iter().copied().collect();
        let mut sum = vec![0.0; table.nrows()];
        let mut add = |value: f64, x: &[f64]| {
            for (sum, x) in sum.iter_mut().zip(x) {
                *sum += value * x;
            }
        };
        let value = |i: usize| dot(&own, factors.col_as_slice(i));
        if mask.rows() <= 2 * mask.count_col(j) {
            for i in mask.zeros_in_col(j) {
                add(value(i), table.col_as_slice(i));
            }
        } else {
            for (r, own) in own.iter().enumerate() {
                add(*own, all.col_as_slice(r));
            }
            for i in mask.ones_in_col(j) {
                add(-value(i), table.col_as_slice(i));
            }
        }
        for (out, sum) in out.iter_mut().zip(&sum) {
            *out += sum;
        }
    });
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

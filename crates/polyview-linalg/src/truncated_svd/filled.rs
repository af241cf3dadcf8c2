//! Several blocks of data side by side, centred, scaled and filled, without a copy.

use super::LinearOperator;
use crate::error::{all_finite, same_len};
use crate::product::{column_sums, cross_into, times};
use crate::{BitMask, LinalgError, SparseColumns, masked_sums, sparse_cross, sparse_times_into};
use faer::{Accum, Mat, MatMut, MatRef};

/// Values of a block, however they are stored.
#[derive(Debug, Clone, Copy)]
pub enum BlockValues<'a> {
    /// All of them, column-major.
    Dense(MatRef<'a, f64>),
    /// Those that are not zero.
    Sparse(&'a SparseColumns),
}

impl<'a> From<MatRef<'a, f64>> for BlockValues<'a> {
    fn from(values: MatRef<'a, f64>) -> Self {
        Self::Dense(values)
    }
}

impl<'a> From<&'a SparseColumns> for BlockValues<'a> {
    fn from(values: &'a SparseColumns) -> Self {
        Self::Sparse(values)
    }
}

impl BlockValues<'_> {
    /// Number of rows.
    pub fn nrows(&self) -> usize {
        match self {
            Self::Dense(x) => x.nrows(),
            Self::Sparse(x) => x.nrows(),
        }
    }
    /// Number of columns.
    pub fn ncols(&self) -> usize {
        match self {
            Self::Dense(x) => x.ncols(),
            Self::Sparse(x) => x.ncols(),
        }
    }
    fn check(&self) -> Result<(), LinalgError> {
        match self {
            Self::Dense(x) => all_finite("values of a block", *x),
            // finite by construction
            Self::Sparse(_) => Ok(()),
        }
    }
    fn add_times(&self, b: MatRef<'_, f64>, out: MatMut<'_, f64>) {
        match self {
            Self::Dense(x) => times(*x, b, out, Accum::Add),
            Self::Sparse(x) => sparse_times_into(x, 0..x.ncols(), b, out),
        }
    }
    fn cross(&self, b: MatRef<'_, f64>) -> Mat<f64> {
        match self {
            Self::Dense(x) => {
                let mut product = Mat::zeros(b.ncols(), x.ncols());
                cross_into(product.as_mut(), b, *x, Accum::Replace);
                product
            }
            Self::Sparse(x) => sparse_cross(b, x, 0..x.ncols()),
        }
    }
    /// First missing cell that holds a value.
    fn stray(&self, mask: &BitMask) -> Option<(usize, usize)> {
        for column in (0..mask.cols()).filter(|&d| !mask.is_full_col(d)) {
            let missing = |row: &usize| !mask.get(*row, column);
            let row = match self {
                Self::Dense(x) => (0..mask.rows()).find(|r| missing(r) && x[(*r, column)] != 0.0),
                Self::Sparse(x) => {
                    let rows = x.column(column).0.iter();
                    rows.map(|&r| r as usize).find(missing)
                }
            };
            if let Some(row) = row {
                return Some((row, column));
            }
        }
        None
    }
}

/// One block of [`FilledColumns`].
#[derive(Debug, Clone, Copy)]
pub struct FilledBlock<'a> {
    /// Values, $N \times D\_m$; missing cells hold 0.
    pub values: BlockValues<'a>,
    /// Observed cells; `None` where all are.
    pub mask: Option<&'a BitMask>,
    /// The same mask transposed, where it is at hand; else it is made.
    pub transposed: Option<&'a BitMask>,
    /// Mean of every column, over its observed cells.
    pub mean: &'a [f64],
    /// Factor that multiplies every centred column.
    pub scale: &'a [f64],
}

/// The $N \times \sum\_m D\_m$ matrix of blocks side by side, with entries $(x\_{nd} - \mu\_d) s\_d$ where the cell is
/// observed and 0, its column's mean, where it is missing. Nothing of that size is stored.
#[derive(Debug, Clone)]
pub struct FilledColumns<'a> {
    rows: usize,
    cols: usize,
    blocks: Vec<(FilledBlock<'a>, Option<BitMask>)>,
}

impl<'a> FilledColumns<'a> {
    /// Puts the blocks side by side.
    ///
    /// # Errors
    /// [`LinalgError::ShapeMismatch`] where blocks differ in rows or a mask, mean or scale differs from its block;
    /// [`LinalgError::NotFinite`]; [`LinalgError::MissingNotZero`] where a missing cell holds a value.
    pub fn new(blocks: &[FilledBlock<'a>]) -> Result<Self, LinalgError> {
        let rows = blocks.first().map_or(0, |block| block.values.nrows());
        let mut cols = 0;
        let mut held = Vec::with_capacity(blocks.len());
        for block in blocks {
            let d = block.values.ncols();
            same_len("rows of a block", rows, block.values.nrows())?;
            same_len("means of a block", d, block.mean.len())?;
            same_len("scales of a block", d, block.scale.len())?;
            block.values.check()?;
            if !block.mean.iter().chain(block.scale).all(|x| x.is_finite()) {
                return Err(LinalgError::NotFinite {
                    what: "means and scales of a block",
                });
            }
            if let Some(mask) = block.mask {
                same_len("rows of a mask", rows, mask.rows())?;
                same_len("columns of a mask", d, mask.cols())?;
                if let Some(by_row) = block.transposed {
                    same_len("rows of a transposed mask", d, by_row.rows())?;
                    same_len("columns of a transposed mask", rows, by_row.cols())?;
                }
                if let Some((row, column)) = block.values.stray(mask) {
                    return Err(LinalgError::MissingNotZero { row, column });
                }
            }
            let by_row =
                block
                    .mask
                    .filter(|mask| !mask.is_full())
                    .map(|mask| match block.transposed {
                        Some(by_row) => by_row.clone(),
                        None => mask.transposed(),
                    });
            held.push((*block, by_row));
            cols += d;
        }
        Ok(Self {
            rows,
            cols,
            blocks: held,
        })
    }
}

impl LinearOperator for FilledColumns<'_> {
    fn nrows(&self) -> usize {
        self.rows
    }

    fn ncols(&self) -> usize {
        self.cols
    }

    fn apply(&self, b: MatRef<'_, f64>) -> Mat<f64> {
        let l = b.ncols();
        let mut out = Mat::zeros(self.rows, l);
        let mut first = 0;
        for (block, by_row) in &self.blocks {
            let d = block.values.ncols();
            let part = b.subrows(first, d);
            let scaled = Mat::from_fn(d, l, |i, j| block.scale[i] * part[(i, j)]);
            block.values.add_times(scaled.as_ref(), out.as_mut());
            match by_row {
                None => {
                    for j in 0..l {
                        let shift: f64 = (0..d).map(|i| block.mean[i] * scaled[(i, j)]).sum();
                        for x in out.col_mut(j).iter_mut() {
                            *x -= shift;
                        }
                    }
                }
                Some(mask) => {
                    let table = Mat::from_fn(l, d, |j, i| block.mean[i] * scaled[(i, j)]);
                    let mut shift = Mat::zeros(l, self.rows);
                    masked_sums(mask, table.as_ref(), shift.as_mut());
                    out -= shift.transpose();
                }
            }
            first += d;
        }
        out
    }

    fn apply_transpose(&self, b: MatRef<'_, f64>) -> Mat<f64> {
        let l = b.ncols();
        let table = b.transpose().to_owned();
        let mut out = Mat::zeros(self.cols, l);
        let mut first = 0;
        for (block, by_row) in &self.blocks {
            let d = block.values.ncols();
            let product = block.values.cross(b);
            let mut sums = Mat::zeros(l, d);
            if let (Some(_), Some(mask)) = (by_row, block.mask) {
                masked_sums(mask, table.as_ref(), sums.as_mut());
            } else {
                let total = column_sums(b);
                for i in 0..d {
                    for j in 0..l {
                        sums[(j, i)] = total[j];
                    }
                }
            }
            for j in 0..l {
                for i in 0..d {
                    out[(first + i, j)] =
                        block.scale[i] * (product[(j, i)] - block.mean[i] * sums[(j, i)]);
                }
            }
            first += d;
        }
        out
    }
}

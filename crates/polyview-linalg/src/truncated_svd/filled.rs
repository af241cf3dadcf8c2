//! Several blocks of data side by side, centred, scaled and filled, without a copy.

use super::LinearOperator;
use crate::error::{all_finite, same_len};
use crate::product::{column_sums, cross_into, times};
use crate::{BitMask, LinalgError, masked_sums};
use faer::{Accum, Mat, MatRef};

/// One block of [`FilledColumns`].
#[derive(Debug, Clone, Copy)]
pub struct FilledBlock<'a> {
    /// Values, $N \times D\_m$ column-major; missing cells hold 0.
    pub values: MatRef<'a, f64>,
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
            all_finite("values of a block", block.values)?;
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
                refuse_values_in_missing_cells(block.values, mask)?;
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

fn refuse_values_in_missing_cells(
    values: MatRef<'_, f64>,
    mask: &BitMask,
) -> Result<(), LinalgError> {
    for column in 0..mask.cols() {
        if mask.is_full_col(column) {
            continue;
        }
        let stray =
            (0..mask.rows()).find(|&row| !mask.get(row, column) && values[(row, column)] != 0.0);
        if let Some(row) = stray {
            return Err(LinalgError::MissingNotZero { row, column });
        }
    }
    Ok(())
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
            times(block.values, scaled.as_ref(), out.as_mut(), Accum::Add);
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
            let mut product = Mat::zeros(l, d);
            cross_into(product.as_mut(), b, block.values, Accum::Replace);
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

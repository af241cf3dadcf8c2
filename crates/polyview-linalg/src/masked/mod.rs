//! Sums over the observed rows of every column, for 0/1 masks.
//!
//! $\sum\_n o\_{nd} t\_n$ for all columns $d$ is a product with a matrix of bits, and needs no multiplication. Rows are
//! taken five at a time: their 32 subset sums are tabulated once, and every column adds the one that its five bits
//! select (the method of "four Russians", Arlazarov et al. 1970). Eight tables of sixteen numbers per entry stay in
//! the first-level cache, and one addition does the work of five multiply-adds. A column that misses few rows, or
//! none, is the total without them, and a column that holds few rows is their sum. Columns with equal bits share the
//! work.
//!
//! How a column is summed depends on its bits only, so its result does not depend on its neighbours or on threads.

use crate::BitMask;
use crate::columns::put_column;
use crate::simd::dispatch;
use direct::direct_columns;
use faer::prelude::ReborrowMut;
use faer::{Accum, MatMut, MatRef};
use lookup::{Lookup, Scratch};
use plan::Plan;
use rayon::prelude::*;
use sparse::Total;
use std::ops::Range;

mod direct;
mod lookup;
mod plan;
mod products;
mod sparse;

pub use products::ObservedCells;

#[cfg(test)]
mod tests;

/// Most columns that share one set of tables.
const COLUMN_BLOCK: usize = 5120;
/// Columns in one task of the sparse pass.
const SPARSE_BLOCK: usize = 16;

/// `out[., d]` = sum of the columns $n$ of `table` ($P \times N$) whose bit $(n, d)$ of `mask` ($N \times D$) is set;
/// `out` is $P \times D$. Both are fastest column-major.
///
/// A sum over nearly all rows is the total less the missing ones, in doubled precision: rows of very different size
/// leave no residue.
///
/// # Panics
/// If the shapes disagree.
///
/// ```
/// use polyview_linalg::{BitMask, Mat, masked_sums};
///
/// let mask = BitMask::from_fn(3, 2, |n, d| n != d);
/// let table = Mat::from_fn(1, 3, |_, n| [1.0, 10.0, 100.0][n]);
/// let mut out = Mat::zeros(1, 2);
/// masked_sums(&mask, table.as_ref(), out.as_mut());
/// assert_eq!((out[(0, 0)], out[(0, 1)]), (110.0, 101.0));
/// ```
pub fn masked_sums(mask: &BitMask, table: MatRef<'_, f64>, out: MatMut<'_, f64>) {
    masked_sums_of(mask, 0..mask.cols(), table, out);
}

/// As [`masked_sums`], for some columns of the mask: `out` has one column for each of them. The results have the
/// same bits as among all columns.
///
/// # Panics
/// If the shapes disagree or the columns are out of range.
pub fn masked_sums_of(
    mask: &BitMask,
    columns: Range<usize>,
    table: MatRef<'_, f64>,
    out: MatMut<'_, f64>,
) {
    sums(mask, columns, table, out, Accum::Replace);
}

/// As [`masked_sums`], added to `out`: long sums of which only a part of the table exists at one time.
///
/// # Panics
/// If the shapes disagree.
pub fn add_masked_sums(mask: &BitMask, table: MatRef<'_, f64>, out: MatMut<'_, f64>) {
    sums(mask, 0..mask.cols(), table, out, Accum::Add);
}

fn sums(
    mask: &BitMask,
    columns: Range<usize>,
    table: MatRef<'_, f64>,
    out: MatMut<'_, f64>,
    accum: Accum,
) {
    assert!(columns.end <= mask.cols(), "columns of the mask");
    assert_eq!(mask.rows(), table.ncols(), "rows of the mask");
    assert_eq!(out.nrows(), table.nrows(), "length of the summed vectors");
    assert_eq!(out.ncols(), columns.len(), "columns of the sums");
    let mut out = out;
    if out.nrows() == 0 || out.ncols() == 0 {
        return;
    }
    let counts: Vec<usize> = columns.clone().map(|d| mask.count_col(d)).collect();
    let long: Vec<bool> = counts
        .iter()
        .map(|&count| plan::is_long(count, mask.rows(), table.nrows()))
        .collect();
    let block = long.len().div_ceil(long.len().div_ceil(COLUMN_BLOCK));
    out.rb_mut()
        .par_col_chunks_mut(block)
        .zip(long.par_chunks(block))
        .enumerate()
        .for_each(|(b, (out, long))| {
            let plan = Plan::new(mask, columns.start + b * block, long);
            if plan.distinct() > 0 {
                dense_columns(&plan, table, out, accum);
            }
        });
    let few = |d: usize| !long[d] && 2 * counts[d] <= mask.rows();
    if (0..long.len()).any(few) {
        let others: Vec<bool> = (0..long.len()).map(|d| !few(d)).collect();
        direct_columns(mask, columns.start, &others, table, out.rb_mut(), accum);
    }
    if (0..long.len()).any(|d| !long[d] && !few(d)) {
        nearly_full_columns(mask, columns.start, &counts, &long, table, out, accum);
    }
}

fn dense_columns(plan: &Plan, table: MatRef<'_, f64>, out: MatMut<'_, f64>, accum: Accum) {
    const WIDE: usize = 16;
    const NARROW: usize = 8;
    out.par_row_chunks_mut(WIDE)
        .zip(table.par_row_chunks(WIDE))
        .for_each_init(
            || Scratch::new(plan.distinct()),
            |scratch, (out, table)| {
                if out.nrows() > NARROW {
                    dense_chunk::<2>(plan, table, out, accum, scratch);
                } else {
                    let mut scratch = Scratch::new(plan.distinct());
                    dense_chunk::<1>(plan, table, out, accum, &mut scratch);
                }
            },
        );
}

/// Sums of `LANES` lanes of eight entries, for the columns of the plan.
fn dense_chunk<const LANES: usize>(
    plan: &Plan,
    table: MatRef<'_, f64>,
    out: MatMut<'_, f64>,
    accum: Accum,
    scratch: &mut Scratch<LANES>,
) {
    let mut out = out;
    scratch.clear();
    dispatch(Lookup {
        plan,
        table,
        scratch,
    });
    for (column, source) in plan.columns() {
        let sum = scratch.sum(source).map(|lane| lane.0);
        let rows = out.nrows();
        put_column(
            out.rb_mut().col_mut(column),
            &sum.as_flattened()[..rows],
            accum,
        );
    }
}

/// The columns that miss few rows, or none.
fn nearly_full_columns(
    mask: &BitMask,
    first: usize,
    counts: &[usize],
    long: &[bool],
    table: MatRef<'_, f64>,
    out: MatMut<'_, f64>,
    accum: Accum,
) {
    let total = Total::new(table);
    out.par_col_chunks_mut(SPARSE_BLOCK)
        .enumerate()
        .for_each_init(
            || vec![0.0; 2 * table.nrows()],
            |scratch, (b, mut out)| {
                for j in 0..out.ncols() {
                    let d = b * SPARSE_BLOCK + j;
                    if long[d] || 2 * counts[d] <= mask.rows() {
                        continue;
                    }
                    let sum = total.without(table, mask.zeros_in_col(first + d), scratch);
                    put_column(out.rb_mut().col_mut(j), sum, accum);
                }
            },
        );
}

//! Sums row by row, in registers: what is fastest where few of the rows are observed.

use crate::BitMask;
use crate::columns::as_slice;
use crate::simd::{Kernel, Lane, dispatch};
use faer::prelude::ReborrowMut;
use faer::{Accum, MatMut, MatRef};
use rayon::prelude::*;
use std::ops::Range;

/// Columns in one task.
const COLUMN_BLOCK: usize = 64;
/// Most lanes of eight numbers that are summed at one time.
const MOST_LANES: usize = 9;
/// Rows of a word of the mask.
pub(super) const WORD: usize = 64;
/// Rows that are gone over at one time where there are more: lanes of so many stay in the first-level cache.
const FEW_ROWS: usize = 2 * WORD;

/// The columns of a table, each in whole lanes of eight: what is beyond their end is zero.
pub(super) struct Rows {
    lanes: usize,
    cells: Vec<Lane>,
}

impl Rows {
    pub(super) fn of(table: MatRef<'_, f64>) -> Self {
        let lanes = table.nrows().div_ceil(8);
        let mut cells = vec![Lane::ZERO; lanes * table.ncols()];
        for (n, row) in cells.chunks_exact_mut(lanes.max(1)).enumerate() {
            let column = table.col(n);
            if let Some(entries) = as_slice(column) {
                let (full, rest) = entries.as_chunks();
                for (lane, entries) in row.iter_mut().zip(full) {
                    lane.0 = *entries;
                }
                for (x, y) in row[full.len()..]
                    .iter_mut()
                    .flat_map(|l| &mut l.0)
                    .zip(rest)
                {
                    *x = *y;
                }
            } else {
                let entries = row.iter_mut().flat_map(|lane| &mut lane.0);
                for (x, y) in entries.zip(column.iter()) {
                    *x = *y;
                }
            }
        }
        Self { lanes, cells }
    }
    /// Lanes `from..` of row `n`, as many as that.
    #[inline(always)]
    pub(super) fn part<const LANES: usize>(&self, n: usize, from: usize) -> &[Lane; LANES] {
        let start = n * self.lanes + from;
        match self.cells[start..].first_chunk() {
            Some(part) => part,
            None => panic!("row {n} of a table of {} lanes", self.cells.len()),
        }
    }
}

/// Bits of one column for 64 rows.
#[inline(always)]
pub(super) fn word_of(bytes: &[u8], word: usize) -> u64 {
    let bytes = &bytes[word * 8..];
    if let Some(word) = bytes.first_chunk() {
        return u64::from_le_bytes(*word);
    }
    let mut word = [0; 8];
    word[..bytes.len()].copy_from_slice(bytes);
    u64::from_le_bytes(word)
}

/// The columns that are not `left_out`: each the sum of its rows, ascending.
pub(super) fn direct_columns(
    mask: &BitMask,
    first: usize,
    left_out: &[bool],
    table: MatRef<'_, f64>,
    out: MatMut<'_, f64>,
    accum: Accum,
) {
    let rows = Rows::of(table);
    out.par_col_chunks_mut(COLUMN_BLOCK)
        .zip(left_out.par_chunks(COLUMN_BLOCK))
        .enumerate()
        .for_each(|(b, (mut out, left_out))| {
            let parts = rows.lanes.div_ceil(MOST_LANES).max(1);
            for part in 0..parts {
                let (from, to) = (rows.lanes * part / parts, rows.lanes * (part + 1) / parts);
                let block = Block {
                    mask,
                    first: first + b * COLUMN_BLOCK,
                    left_out,
                    rows: &rows,
                    from,
                    out: out.rb_mut(),
                    accum,
                };
                block.sum(to - from);
            }
        });
}

/// Some columns of the sums, and lanes `from..` of these.
struct Block<'a> {
    mask: &'a BitMask,
    first: usize,
    left_out: &'a [bool],
    rows: &'a Rows,
    from: usize,
    out: MatMut<'a, f64>,
    accum: Accum,
}

impl Block<'_> {
    /// With as many lanes as that.
    fn sum(self, lanes: usize) {
        match lanes {
            0 => {}
            1 => dispatch(Direct::<1>(self)),
            2 => dispatch(Direct::<2>(self)),
            3 => dispatch(Direct::<3>(self)),
            4 => dispatch(Direct::<4>(self)),
            5 => dispatch(Direct::<5>(self)),
            6 => dispatch(Direct::<6>(self)),
            7 => dispatch(Direct::<7>(self)),
            8 => dispatch(Direct::<8>(self)),
            _ => dispatch(Direct::<MOST_LANES>(self)),
        }
    }
}

struct Direct<'a, const LANES: usize>(Block<'a>);

impl<const LANES: usize> Kernel for Direct<'_, LANES> {
    #[inline(always)]
    fn run<const FUSED: bool>(self) {
        let block = self.0;
        let (rows, from) = (block.rows, block.from);
        let words = block.mask.rows().div_ceil(WORD);
        let step = if block.mask.rows() <= FEW_ROWS {
            words.max(1)
        } else {
            1
        };
        let mut out = block.out;
        for start in (0..words.max(1)).step_by(step) {
            let fresh = start == 0 && matches!(block.accum, Accum::Replace);
            for j in 0..out.ncols() {
                if block.left_out[j] {
                    continue;
                }
                let bytes = block.mask.column_bytes(block.first + j);
                let mut column = out.rb_mut().col_mut(j);
                let cells = 8 * from..column.nrows().min(8 * (from + LANES));
                let mut sum = [Lane::ZERO; LANES];
                if let Some(column) = column.rb_mut().try_as_col_major_mut() {
                    let column = &mut column.as_slice_mut()[cells];
                    if !fresh {
                        take(&mut sum, column);
                    }
                    add_rows(
                        &mut sum,
                        (rows, from),
                        bytes,
                        start..(start + step).min(words),
                    );
                    give(&sum, column);
                } else {
                    if !fresh {
                        for (i, cell) in cells.clone().enumerate() {
                            sum[i / 8].0[i % 8] = column[cell];
                        }
                    }
                    add_rows(
                        &mut sum,
                        (rows, from),
                        bytes,
                        start..(start + step).min(words),
                    );
                    for (i, cell) in cells.enumerate() {
                        column[cell] = sum[i / 8].0[i % 8];
                    }
                }
            }
        }
    }
}

#[inline(always)]
fn add_rows<const LANES: usize>(
    sum: &mut [Lane; LANES],
    (rows, from): (&Rows, usize),
    bytes: &[u8],
    words: Range<usize>,
) {
    let mut total = *sum;
    for word in words {
        let mut bits = word_of(bytes, word);
        while bits != 0 {
            let n = WORD * word + bits.trailing_zeros() as usize;
            bits &= bits - 1;
            let row: &[Lane; LANES] = rows.part(n, from);
            for l in 0..LANES {
                for i in 0..8 {
                    total[l].0[i] += row[l].0[i];
                }
            }
        }
    }
    *sum = total;
}

/// Reads what a column holds.
#[inline(always)]
fn take<const LANES: usize>(sum: &mut [Lane; LANES], column: &[f64]) {
    let (full, rest) = column.as_chunks();
    for (lane, cells) in sum.iter_mut().zip(full) {
        lane.0 = *cells;
    }
    if let Some(lane) = sum.get_mut(full.len()) {
        for (x, y) in lane.0.iter_mut().zip(rest) {
            *x = *y;
        }
    }
}

/// Writes it back.
#[inline(always)]
fn give<const LANES: usize>(sum: &[Lane; LANES], column: &mut [f64]) {
    let (full, rest) = column.as_chunks_mut();
    let count = full.len();
    for (lane, cells) in sum.iter().zip(full) {
        *cells = lane.0;
    }
    if let Some(lane) = sum.get(count) {
        for (x, y) in rest.iter_mut().zip(&lane.0) {
            *x = *y;
        }
    }
}

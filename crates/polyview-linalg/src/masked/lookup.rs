//! Sums by subset tables.

use super::plan::{BLOCK_ROWS, Plan, TABLE_ROWS, TABLES};
use crate::columns::as_slice;
use crate::simd::{Kernel, Lane};
use faer::MatRef;

const SUBSETS: usize = 1 << TABLE_ROWS;

type Vector<const LANES: usize> = [Lane; LANES];

/// Tables and sums.
pub(super) struct Scratch<const LANES: usize> {
    tables: Box<[[Vector<LANES>; SUBSETS]; TABLES]>,
    sums: Vec<Vector<LANES>>,
}

impl<const LANES: usize> Scratch<LANES> {
    pub(super) fn new(columns: usize) -> Self {
        Self {
            tables: Box::new([[[Lane::ZERO; LANES]; SUBSETS]; TABLES]),
            sums: vec![[Lane::ZERO; LANES]; columns],
        }
    }

    /// Sets the sums to zero.
    pub(super) fn clear(&mut self) {
        self.sums.fill([Lane::ZERO; LANES]);
    }

    /// Sum of one of the distinct columns.
    pub(super) fn sum(&self, source: usize) -> &Vector<LANES> {
        &self.sums[source]
    }
}

/// Adds the rows of `table` that the columns of the plan select.
pub(super) struct Lookup<'a, const LANES: usize> {
    pub(super) plan: &'a Plan,
    /// Up to `8 * LANES` rows of the whole table, one column per summed row.
    pub(super) table: MatRef<'a, f64>,
    pub(super) scratch: &'a mut Scratch<LANES>,
}

impl<const LANES: usize> Kernel for Lookup<'_, LANES> {
    #[inline(always)]
    fn run<const FUSED: bool>(self) {
        let Scratch { tables, sums } = self.scratch;
        let mut rows = [[Lane::ZERO; LANES]; BLOCK_ROWS];
        for (block, words) in self.plan.blocks().enumerate() {
            gather(self.table, block * BLOCK_ROWS, &mut rows);
            for (table, rows) in tables.iter_mut().zip(rows.as_chunks().0) {
                tabulate(rows, table);
            }
            for (sum, &word) in sums.iter_mut().zip(words) {
                let mut total = *sum;
                for (t, table) in tables.iter().enumerate() {
                    let subset = (word >> (TABLE_ROWS * t)) as usize % SUBSETS;
                    add(&mut total, &table[subset]);
                }
                *sum = total;
            }
        }
    }
}

/// Columns `first..` of the table, padded with zeros.
#[inline(always)]
fn gather<const LANES: usize>(
    table: MatRef<'_, f64>,
    first: usize,
    rows: &mut [Vector<LANES>; BLOCK_ROWS],
) {
    for (r, row) in rows.iter_mut().enumerate() {
        *row = [Lane::ZERO; LANES];
        if first + r == table.ncols() {
            break;
        }
        let column = table.col(first + r);
        match as_slice(column) {
            Some(entries) if entries.len() == 8 * LANES => {
                for (lane, entries) in row.iter_mut().zip(entries.as_chunks().0) {
                    lane.0 = *entries;
                }
            }
            _ => {
                let lanes = row.iter_mut().flat_map(|lane| &mut lane.0);
                for (x, y) in lanes.zip(column.iter()) {
                    *x = *y;
                }
            }
        }
    }
}

/// All subset sums: the highest row of a subset is added to the subset without it.
#[inline(always)]
fn tabulate<const LANES: usize>(
    rows: &[Vector<LANES>; TABLE_ROWS],
    table: &mut [Vector<LANES>; SUBSETS],
) {
    for (r, &row) in rows.iter().enumerate() {
        let (without, with) = table.split_at_mut(1 << r);
        for (with, without) in with.iter_mut().zip(without) {
            let mut sum = *without;
            add(&mut sum, &row);
            *with = sum;
        }
    }
}

#[inline(always)]
fn add<const LANES: usize>(sum: &mut Vector<LANES>, x: &Vector<LANES>) {
    for (sum, x) in sum.iter_mut().zip(x) {
        for l in 0..8 {
            sum.0[l] += x.0[l];
        }
    }
}

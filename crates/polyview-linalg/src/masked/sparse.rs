//! Sums of all rows but few.

use crate::columns::as_slice;
use crate::simd::{Kernel, dispatch};
use faer::MatRef;

/// Sum of all columns of a table in doubled precision.
pub(super) struct Total {
    /// Rounded sums, then what the rounding left out.
    parts: Vec<f64>,
}

impl Total {
    pub(super) fn new(table: MatRef<'_, f64>) -> Self {
        let mut parts = vec![0.0; 2 * table.nrows()];
        accumulate(&mut parts, table, 0..table.ncols(), 1.0);
        Self { parts }
    }

    /// The total without some columns of the table.
    pub(super) fn without<'s>(
        &self,
        table: MatRef<'_, f64>,
        rows: impl Iterator<Item = usize>,
        scratch: &'s mut [f64],
    ) -> &'s [f64] {
        scratch.copy_from_slice(&self.parts);
        accumulate(scratch, table, rows, -1.0);
        let (sum, rest) = scratch.split_at_mut(table.nrows());
        for (s, r) in sum.iter_mut().zip(&*rest) {
            *s += r;
        }
        sum
    }
}

fn accumulate(
    parts: &mut [f64],
    table: MatRef<'_, f64>,
    rows: impl Iterator<Item = usize>,
    sign: f64,
) {
    dispatch(Accumulate {
        parts,
        table,
        rows,
        sign,
    });
}

/// Adds columns of a table, times a sign, to a sum in doubled precision.
struct Accumulate<'a, I> {
    parts: &'a mut [f64],
    table: MatRef<'a, f64>,
    rows: I,
    sign: f64,
}

impl<I: Iterator<Item = usize>> Kernel for Accumulate<'_, I> {
    #[inline(always)]
    fn run<const FUSED: bool>(self) {
        let (sum, rest) = self.parts.split_at_mut(self.table.nrows());
        for n in self.rows {
            let column = self.table.col(n);
            match as_slice(column) {
                Some(entries) => add_column(sum, rest, entries.iter(), self.sign),
                None => add_column(sum, rest, column.iter(), self.sign),
            }
        }
    }
}

/// Knuth's exact addition: what rounding takes from the sum goes to the rest.
#[inline(always)]
fn add_column<'a>(
    sum: &mut [f64],
    rest: &mut [f64],
    column: impl Iterator<Item = &'a f64>,
    sign: f64,
) {
    for ((s, r), x) in sum.iter_mut().zip(rest).zip(column) {
        let x = sign * x;
        let new = *s + x;
        let part = new - *s;
        *r += (*s - (new - part)) + (x - part);
        *s = new;
    }
}

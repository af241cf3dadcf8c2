//! Cells at their places on a sheet, looked up side by side.

// inlined into the function that selects the instruction set
#![allow(clippy::inline_always)]

use polyview_linalg::simd::{Kernel, mul_add};

use super::patch::ORDER;
use super::{Expectations, HALF, OCTAVES, PER_UNIT, STRIPS_BITS, Table};

/// Cells that are looked up together.
pub(super) const TILE: usize = 64;
/// Cells whose polynomials are worked out side by side.
const SIDE: usize = 8;

/// Where a cell lies.
#[derive(Clone, Copy, Debug)]
pub(super) struct Place {
    pub(super) strip: u64,
    pub(super) column: u64,
    pub(super) t: f64,
    pub(super) s: f64,
}

/// Numbers of the cells of a tile.
pub(crate) struct Tile {
    pub(super) mean: [f64; TILE],
    pub(super) variance: [f64; TILE],
    t: [f64; TILE],
    s: [f64; TILE],
    /// The first strip of the function.
    pub(super) first: [u64; TILE],
    pub(super) strip: [u64; TILE],
    pub(super) column: [u64; TILE],
    /// Not zero for cells that are not on the sheet.
    pub(crate) beyond: [u64; TILE],
    /// Not zero where a patch is not there.
    pub(super) unmade: [u64; TILE],
    pub(crate) value: [f64; TILE],
    pub(crate) slope: [f64; TILE],
    pub(crate) curvature: [f64; TILE],
}

impl Default for Tile {
    fn default() -> Self {
        Self {
            mean: [0.0; TILE],
            variance: [0.0; TILE],
            t: [0.0; TILE],
            s: [0.0; TILE],
            first: [0; TILE],
            strip: [0; TILE],
            column: [0; TILE],
            beyond: [0; TILE],
            unmade: [0; TILE],
            value: [0.0; TILE],
            slope: [0.0; TILE],
            curvature: [0.0; TILE],
        }
    }
}

impl Tile {
    /// Writes what was found of the first cells, from the cell `start` on.
    pub(crate) fn write(&self, start: usize, cells: usize, out: &mut Expectations<'_>) {
        let to = start..start + cells;
        out.value[to.clone()].copy_from_slice(&self.value[..cells]);
        out.slope[to.clone()].copy_from_slice(&self.slope[..cells]);
        out.curvature[to].copy_from_slice(&self.curvature[..cells]);
    }
    pub(super) fn any_unmade(&self, cells: usize) -> bool {
        self.unmade[..cells].iter().fold(0, |a, b| a | b) != 0
    }
    /// Whether one of the first cells is not on the sheet.
    pub(crate) fn any_beyond(&self, cells: usize) -> bool {
        self.beyond[..cells].iter().fold(0, |a, b| a | b) != 0
    }
}

/// Where a cell lies, and whether it is on the sheet; the first patch where it is not.
#[inline(always)]
// without branches, for vector instructions
#[allow(clippy::needless_bitwise_bool)]
pub(super) fn place(mean: f64, variance: f64, reach: f64, across: f64) -> (Place, bool) {
    /// Added to a number between 0 and 2^31 it leaves the nearest whole one in the lowest bits.
    const WHOLE: f64 = 4_503_599_627_370_496.0;
    /// Bits of the fraction within a strip.
    const WITHIN: u32 = 52 - STRIPS_BITS;
    let x = (mean + reach) * PER_UNIT;
    let y = 1.0 + variance;
    // one that is no number is beyond
    let on = (x >= 0.0) & (x < across) & (y >= 1.0) & (y < (1u32 << OCTAVES) as f64);
    let x = if on { x } else { 0.0 };
    let y = if on { y } else { 1.0 };
    let shifted = (x - 0.5).max(0.0) + WHOLE;
    // exponent and leading bits of the fraction count the strips
    let bits = y.to_bits() >> WITHIN;
    let centre = f64::from_bits((bits << WITHIN) | (1 << (WITHIN - 1)));
    let place = Place {
        strip: bits - (1f64.to_bits() >> WITHIN),
        column: shifted.to_bits() & 0xffff_ffff,
        t: 2.0 * (x - (shifted - WHOLE)) - 1.0,
        s: (y - centre) * (1.0 / (HALF * HALF)),
    };
    (place, on)
}

/// Places of the cells of a tile.
#[inline(always)]
fn places(tile: &mut Tile, reach: f64, across: f64) {
    for i in 0..TILE {
        let (place, on) = place(tile.mean[i], tile.variance[i], reach, across);
        tile.t[i] = place.t;
        tile.s[i] = place.s;
        tile.strip[i] = tile.first[i] + place.strip;
        tile.column[i] = place.column;
        tile.beyond[i] = u64::from(!on);
    }
}

/// Cells of a tile at their places.
pub(super) struct LookUp<'a> {
    pub(super) tile: &'a mut Tile,
    pub(super) table: &'a Table,
    pub(super) reach: f64,
    pub(super) across: f64,
}

impl Kernel for LookUp<'_> {
    #[inline(always)]
    fn run<const FUSED: bool>(self) {
        let (tile, table) = (self.tile, self.table);
        places(tile, self.reach, self.across);
        for first in (0..TILE).step_by(SIDE) {
            let row = |i: usize| {
                let start = table.starts[tile.strip[first + i] as usize];
                &table.rows[start as usize + tile.column[first + i] as usize].0
            };
            let rows: [&[f64; ORDER]; SIDE] = std::array::from_fn(row);
            let mut c = [[0.0; SIDE]; ORDER];
            for n in 0..ORDER {
                for i in 0..SIDE {
                    c[n][i] = rows[i][n];
                }
            }
            let (mut t, mut s) = ([0.0; SIDE], [0.0; SIDE]);
            t.copy_from_slice(&tile.t[first..first + SIDE]);
            s.copy_from_slice(&tile.s[first..first + SIDE]);
            let mut out = [[0.0; SIDE]; 3];
            sums::<FUSED>(&c, &t, &s, &mut out);
            let cells = first..first + SIDE;
            tile.value[cells.clone()].copy_from_slice(&out[0]);
            for (to, x) in tile.slope[cells.clone()].iter_mut().zip(&out[1]) {
                *to = x * (1.0 / HALF);
            }
            for (to, x) in tile.curvature[cells.clone()].iter_mut().zip(&out[2]) {
                *to = x * (-1.0 / (HALF * HALF));
            }
            for (i, to) in tile.unmade[cells.clone()].iter_mut().enumerate() {
                *to = u64::from(c[0][i] == 0.0);
            }
            for (to, beyond) in tile.unmade[cells.clone()]
                .iter_mut()
                .zip(&tile.beyond[cells])
            {
                *to &= beyond ^ 1;
            }
        }
    }
}

/// $\sum c\_nq\_n$, $\sum c\_{n+1}q\_n$ and $\sum c\_{n+2}q\_n$, cells side by side.
#[inline(always)]
fn sums<const FUSED: bool>(
    c: &[[f64; SIDE]; ORDER],
    t: &[f64; SIDE],
    s: &[f64; SIDE],
    out: &mut [[f64; SIDE]; 3],
) {
    let (mut before, mut q) = ([1.0; SIDE], *t);
    let (mut value, mut slope, mut bend) = ([0.0; SIDE], [0.0; SIDE], [0.0; SIDE]);
    for i in 0..SIDE {
        value[i] = mul_add::<FUSED>(c[1][i], q[i], c[0][i]);
    }
    for i in 0..SIDE {
        slope[i] = mul_add::<FUSED>(c[2][i], q[i], c[1][i]);
    }
    for i in 0..SIDE {
        bend[i] = mul_add::<FUSED>(c[3][i], q[i], c[2][i]);
    }
    for n in 2..ORDER {
        let share = 1.0 / n as f64;
        let mut next = [0.0; SIDE];
        for i in 0..SIDE {
            next[i] = share * mul_add::<FUSED>(t[i], q[i], s[i] * before[i]);
        }
        (before, q) = (q, next);
        for i in 0..SIDE {
            value[i] = mul_add::<FUSED>(c[n][i], q[i], value[i]);
        }
        if n + 1 < ORDER {
            for i in 0..SIDE {
                slope[i] = mul_add::<FUSED>(c[n + 1][i], q[i], slope[i]);
            }
        }
        if n + 2 < ORDER {
            for i in 0..SIDE {
                bend[i] = mul_add::<FUSED>(c[n + 2][i], q[i], bend[i]);
            }
        }
    }
    *out = [value, slope, bend];
}

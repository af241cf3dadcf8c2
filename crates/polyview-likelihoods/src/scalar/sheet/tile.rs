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

/// Where the cells of a tile lie. Those that a tile is too short for lie where others did, so that they can
/// be looked up with the rest.
pub(super) struct Tile {
    t: [f64; TILE],
    s: [f64; TILE],
    pub(super) strip: [u64; TILE],
    pub(super) column: [u64; TILE],
    /// Not zero for cells that are not on the sheet.
    pub(super) beyond: [u64; TILE],
    /// Not zero where a patch is not there.
    pub(super) unmade: [u64; TILE],
}

impl Default for Tile {
    fn default() -> Self {
        Self {
            t: [0.0; TILE],
            s: [0.0; TILE],
            strip: [0; TILE],
            column: [0; TILE],
            beyond: [0; TILE],
            unmade: [0; TILE],
        }
    }
}

impl Tile {
    pub(super) fn any_unmade(&self, cells: usize) -> bool {
        any(&self.unmade[..cells])
    }
    /// Whether one of the first cells is not on the sheet.
    pub(super) fn any_beyond(&self, cells: usize) -> bool {
        any(&self.beyond[..cells])
    }
}

fn any(marks: &[u64]) -> bool {
    marks.iter().fold(0, |a, b| a | b) != 0
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

/// Up to [`TILE`] cells: their predictors, the first strip of each cell's function, and where
/// what is found of them goes.
pub(super) struct LookUp<'a, F> {
    pub(super) tile: &'a mut Tile,
    pub(super) table: &'a Table,
    pub(super) reach: f64,
    pub(super) across: f64,
    pub(super) mean: &'a [f64],
    pub(super) shift: f64,
    pub(super) variance: &'a [f64],
    pub(super) first: F,
    pub(super) out: Expectations<'a>,
}

impl<F: Fn(usize) -> u64> LookUp<'_, F> {
    /// Where the cells lie.
    #[inline(always)]
    fn places(&mut self) {
        let tile = &mut *self.tile;
        let at = (tile.t.iter_mut().zip(&mut tile.s))
            .zip(tile.strip.iter_mut().zip(&mut tile.column))
            .zip(&mut tile.beyond);
        let cells = self.mean.iter().zip(self.variance);
        for (i, ((((t, s), (strip, column)), beyond), (m, v))) in at.zip(cells).enumerate() {
            let (place, on) = place(m - self.shift, *v, self.reach, self.across);
            (*t, *s) = (place.t, place.s);
            *strip = (self.first)(i) + place.strip;
            *column = place.column;
            *beyond = u64::from(!on);
        }
    }
    /// What is found of the cells from `first` on, and which patches are not there.
    #[inline(always)]
    fn side<const FUSED: bool>(&mut self, first: usize) -> [[f64; SIDE]; 3] {
        let (tile, table) = (&mut *self.tile, self.table);
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
        let mut out = sums::<FUSED>(&c, &t, &s);
        for i in 0..SIDE {
            out[1][i] *= 1.0 / HALF;
        }
        for i in 0..SIDE {
            out[2][i] *= -1.0 / (HALF * HALF);
        }
        let cells = first..first + SIDE;
        let marks = tile.unmade[cells.clone()].iter_mut();
        for ((to, c), beyond) in marks.zip(&c[0]).zip(&tile.beyond[cells]) {
            *to = u64::from(*c == 0.0) & (beyond ^ 1);
        }
        out
    }
}

impl<F: Fn(usize) -> u64> Kernel for LookUp<'_, F> {
    #[inline(always)]
    fn run<const FUSED: bool>(mut self) {
        self.places();
        let cells = self.mean.len();
        let whole = cells - cells % SIDE;
        for first in (0..whole).step_by(SIDE) {
            let [value, slope, curvature] = self.side::<FUSED>(first);
            let to = first..first + SIDE;
            self.out.value[to.clone()].copy_from_slice(&value);
            self.out.slope[to.clone()].copy_from_slice(&slope);
            self.out.curvature[to].copy_from_slice(&curvature);
        }
        if whole < cells {
            let [value, slope, curvature] = self.side::<FUSED>(whole);
            for (i, n) in (whole..cells).enumerate() {
                self.out.value[n] = value[i];
                self.out.slope[n] = slope[i];
                self.out.curvature[n] = curvature[i];
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
) -> [[f64; SIDE]; 3] {
    let mut sums = Sums {
        before: [1.0; SIDE],
        q: *t,
        of: [[0.0; SIDE]; 3],
    };
    for d in 0..3 {
        for i in 0..SIDE {
            sums.of[d][i] = mul_add::<FUSED>(c[d + 1][i], t[i], c[d][i]);
        }
    }
    sums.add::<FUSED, 2>(c, t, s);
    sums.add::<FUSED, 3>(c, t, s);
    sums.add::<FUSED, 4>(c, t, s);
    sums.add::<FUSED, 5>(c, t, s);
    sums.add::<FUSED, 6>(c, t, s);
    sums.add::<FUSED, 7>(c, t, s);
    sums.of
}

/// The sums up to some n, with $q\_{n-1}$ and $q\_n$.
struct Sums {
    before: [f64; SIDE],
    q: [f64; SIDE],
    of: [[f64; SIDE]; 3],
}

impl Sums {
    /// Adds the terms of one n: a constant, so that nothing is divided.
    #[inline(always)]
    fn add<const FUSED: bool, const N: usize>(
        &mut self,
        c: &[[f64; SIDE]; ORDER],
        t: &[f64; SIDE],
        s: &[f64; SIDE],
    ) {
        let share = const { 1.0 / N as f64 };
        let mut next = [0.0; SIDE];
        for i in 0..SIDE {
            next[i] = share * mul_add::<FUSED>(t[i], self.q[i], s[i] * self.before[i]);
        }
        (self.before, self.q) = (self.q, next);
        for d in 0..3 {
            if N + d < ORDER {
                for i in 0..SIDE {
                    self.of[d][i] = mul_add::<FUSED>(c[N + d][i], next[i], self.of[d][i]);
                }
            }
        }
    }
}

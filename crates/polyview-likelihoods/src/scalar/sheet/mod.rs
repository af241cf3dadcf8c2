//! Expectations under normal laws as a sheet over mean and variance (spec/sites 1).
//!
//! $F(m, v) = \mathrm E\_{N(\eta; m, v)}f(\eta)$ is smooth in both, and solves the equation of heat,
//! $\partial\_vF = \tfrac12\partial\_m^2F$. The half plane of means and variances is cut into patches,
//! half a unit of the mean by a 64th of an octave of $1 + v$; within each F is the expectation of
//! a polynomial of degree seven,
//!
//! $$ F = \sum\_nc\_nq\_n(\tau, \sigma),\qquad q\_n = \frac{\tau q\_{n-1} + \sigma q\_{n-2}}n,\qquad
//! \tau = \frac{m - m\_0}h,\quad\sigma = \frac{v - v\_0}{h^2}, $$
//!
//! fitted to its values at eighteen points. Since $\partial\_\tau q\_n = q\_{n-1}$ and
//! $2\partial\_\sigma q\_n = q\_{n-2}$, slope and curvature are the same sum with the coefficients one
//! and two places on: exact derivatives of what is looked up, so that the law of a term holds to
//! rounding. For a function that is smooth at the scale of one unit F is off by some 1e-10, its
//! slope by 1e-8. A patch is made when the first cell falls on it, and depends on its place alone.

// inlined into the function that selects the instruction set
#![allow(clippy::inline_always)]

mod cast;
mod patch;

use std::fmt;
use std::sync::{PoisonError, RwLock, RwLockReadGuard};

use polyview_linalg::simd::{Kernel, dispatch, mul_add};

use super::Expectations;

pub(crate) use cast::Cast;
pub(crate) use patch::POINTS;
use patch::{ORDER, Row, ends_of, fitted, points_of};

/// Patches for each unit of the mean.
const PER_UNIT: f64 = 2.0;
/// h: half of the width of a patch along the mean.
const HALF: f64 = 0.5 / PER_UNIT;
/// Strips for each octave of $1 + v$, as a power of two.
const STRIPS_BITS: u32 = 6;
/// Variances go up to 15.
const OCTAVES: usize = 4;
const STRIPS: usize = OCTAVES << STRIPS_BITS;
/// Cells that are looked up together.
pub(crate) const TILE: usize = 64;
/// Cells whose polynomials are worked out side by side.
const SIDE: usize = 8;

/// Where a cell lies.
#[derive(Clone, Copy, Debug)]
struct Place {
    strip: u64,
    column: u64,
    t: f64,
    s: f64,
}

/// F of means between two ends and of variances below 15, patch by patch, for one or several
/// functions.
pub(crate) struct Sheet {
    reach: f64,
    across: usize,
    table: RwLock<Table>,
}

/// The patches that there are.
struct Table {
    /// Where the patches of a strip begin, strips of one function after those of another: at 0
    /// where none has been made.
    starts: Vec<u32>,
    /// Strip after strip; the first stands for those that are not there.
    rows: Vec<Row>,
    made: Vec<bool>,
}

impl fmt::Debug for Sheet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let made = self.read().made.iter().filter(|m| **m).count();
        write!(f, "Sheet({made} patches)")
    }
}

impl Sheet {
    /// Of so many functions, and means from minus `reach` to it, a whole number.
    pub(crate) fn new(functions: usize, reach: f64) -> Self {
        let across = (2.0 * reach * PER_UNIT) as usize;
        Self {
            reach,
            across,
            table: RwLock::new(Table {
                starts: vec![0; functions * STRIPS],
                rows: vec![Row::NONE; across],
                made: vec![false; across],
            }),
        }
    }
    fn across(&self) -> usize {
        self.across
    }
    /// Patches are whole whenever the lock is free.
    fn read(&self) -> RwLockReadGuard<'_, Table> {
        self.table.read().unwrap_or_else(PoisonError::into_inner)
    }
    /// Where a mean and a variance lie; `None` beyond the sheet, or where one is no number.
    fn place(&self, mean: f64, variance: f64) -> Option<Place> {
        let (place, on) = place(mean, variance, self.reach, self.across as f64);
        on.then_some(place)
    }
    /// The points of a patch: means and variances.
    fn points(&self, strip: usize, column: usize) -> ([f64; POINTS], [f64; POINTS]) {
        let (low, half) = ends_of(strip);
        let centre = (column as f64 + 0.5) / PER_UNIT - self.reach;
        let points = points_of(strip);
        (
            points.map(|(t, _)| centre + HALF * t),
            points.map(|(_, s)| low + half - 1.0 + HALF * HALF * s),
        )
    }
    /// Makes the patches of those cells of a tile that have none.
    fn make(
        &self,
        tile: &Tile,
        cells: usize,
        fill: &impl Fn(usize, &[f64; POINTS], &[f64; POINTS]) -> [f64; POINTS],
    ) {
        let missing = (0..cells).filter(|&i| tile.unmade[i] != 0);
        for (strip, column) in missing.map(|i| (tile.strip[i] as usize, tile.column[i] as usize)) {
            let start = self.read().starts[strip] as usize;
            if start > 0 && self.read().made[start + column] {
                continue;
            }
            let (function, within) = (strip / STRIPS, strip % STRIPS);
            let (mean, variance) = self.points(within, column);
            let row = fitted(within, &fill(function, &mean, &variance));
            let mut table = self.table.write().unwrap_or_else(PoisonError::into_inner);
            if table.starts[strip] == 0 {
                let start = table.rows.len();
                table.starts[strip] = start as u32;
                table.rows.resize(start + self.across, Row::NONE);
                table.made.resize(start + self.across, false);
            }
            let at = table.starts[strip] as usize + column;
            table.rows[at] = row;
            table.made[at] = true;
        }
    }
    /// F with its derivatives of many cells, tile by tile: `function` says that of a cell, `fill` says F at means and variances where a patch is not there yet, `out` has
    /// the first cell of a tile and what was found of so many from there, of which those of
    /// [`Tile::beyond`] are not on the sheet.
    pub(crate) fn look_up(
        &self,
        (mean, shift, variance): (&[f64], f64, &[f64]),
        function: impl Fn(usize) -> usize,
        fill: impl Fn(usize, &[f64; POINTS], &[f64; POINTS]) -> [f64; POINTS],
        mut out: impl FnMut(usize, usize, &Tile),
    ) {
        let mut tile = Tile::default();
        let mut table = self.read();
        for (at, (mean, variance)) in mean.chunks(TILE).zip(variance.chunks(TILE)).enumerate() {
            let (start, count) = (at * TILE, mean.len());
            for (to, m) in tile.mean.iter_mut().zip(mean) {
                *to = m - shift;
            }
            tile.variance[..count].copy_from_slice(variance);
            for (i, to) in tile.first[..count].iter_mut().enumerate() {
                *to = (function(start + i) * STRIPS) as u64;
            }
            let look = |table: &Table, tile: &mut Tile| {
                dispatch(LookUp {
                    tile,
                    table,
                    reach: self.reach,
                    across: self.across as f64,
                });
            };
            look(&table, &mut tile);
            if tile.any_unmade(count) {
                drop(table);
                self.make(&tile, count, &fill);
                table = self.read();
                look(&table, &mut tile);
            }
            out(start, count, &tile);
        }
    }
}

/// Numbers of the cells of a tile.
pub(crate) struct Tile {
    mean: [f64; TILE],
    variance: [f64; TILE],
    t: [f64; TILE],
    s: [f64; TILE],
    /// The first strip of the function.
    first: [u64; TILE],
    strip: [u64; TILE],
    column: [u64; TILE],
    /// Not zero for cells that are not on the sheet.
    pub(crate) beyond: [u64; TILE],
    /// Not zero where a patch is not there.
    unmade: [u64; TILE],
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
    fn any_unmade(&self, cells: usize) -> bool {
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
fn place(mean: f64, variance: f64, reach: f64, across: f64) -> (Place, bool) {
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
struct LookUp<'a> {
    tile: &'a mut Tile,
    table: &'a Table,
    reach: f64,
    across: f64,
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

#[cfg(test)]
mod tests {
    use polyview_special::{Expectation, Real};

    use super::*;
    use crate::scalar::Scratch;

    /// The expectations of some cells, and which are not on the sheet.
    fn found(sheet: &Sheet, mean: &[f64], variance: &[f64]) -> (Vec<Expectation>, Vec<usize>) {
        let (mut made, mut beyond) = (Scratch::new(mean.len()), Vec::new());
        let mut out = made.all();
        sheet.look_up(
            (mean, 0.0, variance),
            |_| 0,
            |_, m, v| filled(m, v),
            |start, cells, tile| {
                tile.write(start, cells, &mut out);
                beyond.extend(
                    (0..cells)
                        .filter(|i| tile.beyond[*i] != 0)
                        .map(|i| start + i),
                );
            },
        );
        ((0..mean.len()).map(|i| out.get(i)).collect(), beyond)
    }

    fn softplus(mean: f64, variance: f64) -> Expectation {
        Expectation::of(mean, variance, 1.0, Real::softplus)
    }

    fn filled(mean: &[f64; POINTS], variance: &[f64; POINTS]) -> [f64; POINTS] {
        std::array::from_fn(|i| softplus(mean[i], variance[i]).value)
    }

    #[test]
    fn a_sheet_is_what_it_stands_for() {
        let sheet = Sheet::new(1, 16.0);
        let (mut mean, mut variance) = (Vec::new(), Vec::new());
        for i in 0..2000 {
            mean.push(f64::from(i * 7919 % 2000) * 0.0165 - 16.5);
            variance.push(10f64.powf(f64::from(i % 97) / 15.0 - 5.0));
        }
        let (out, beyond) = found(&sheet, &mean, &variance);
        for (i, found) in out.iter().enumerate() {
            if beyond.contains(&i) {
                assert!(mean[i].abs() >= 16.0 || variance[i] >= 15.0);
                continue;
            }
            let e = softplus(mean[i], variance[i]);
            let at = (mean[i], variance[i]);
            assert!(
                (found.value - e.value).abs() < 3e-10,
                "{at:?}: {found:?} {e:?}"
            );
            assert!(
                (found.slope - e.slope).abs() < 2e-8,
                "{at:?}: {found:?} {e:?}"
            );
            // differences of slopes, over the deviation
            let digits = 2e-15 / variance[i].sqrt();
            assert!(
                (found.curvature - e.curvature).abs() < 5e-7 + digits,
                "{at:?}: {found:?} {e:?}"
            );
        }
        assert!(!beyond.is_empty() && beyond.len() < 600);
    }

    /// The law of a term asks for derivatives that are exact, not for a function that is.
    #[test]
    fn slopes_and_curvatures_are_derivatives_of_the_sheet() {
        let sheet = Sheet::new(1, 4.0);
        let one = |m: f64, v: f64| found(&sheet, &[m], &[v]).0[0];
        let h = 1e-5;
        for (m, v) in [(0.3, 0.1), (-1.7, 0.6), (2.2, 3.3), (-3.9, 8.6)] {
            let slope = (one(m + h, v).value - one(m - h, v).value) / (2.0 * h);
            let by_variance = (one(m, v + h).value - one(m, v - h).value) / (2.0 * h);
            assert!((slope - one(m, v).slope).abs() < 1e-9, "{m} {v}");
            assert!(
                (-2.0 * by_variance - one(m, v).curvature).abs() < 1e-9,
                "{m} {v}"
            );
        }
    }

    #[test]
    fn sums_over_a_cast_are_those_over_its_cells() {
        let sheet = Sheet::new(1, 6.0);
        let (mut cast, mut other) = (Cast::default(), Cast::default());
        let mut exact = [0.0; 3];
        for i in 0..400 {
            let (m, v) = (
                f64::from(i * 37 % 400) * 0.03 - 6.0,
                f64::from(i % 23) * 0.06,
            );
            let into = if i % 3 == 0 { &mut cast } else { &mut other };
            assert!(into.add(&sheet, m, v));
            let e = softplus(m, v);
            for (sum, x) in exact.iter_mut().zip([1.0, m, e.value]) {
                *sum += x;
            }
        }
        assert!(!cast.add(&sheet, 7.0, 0.1) && !cast.add(&sheet, 0.0, 16.0));
        cast.merge(&other);
        let mut found = [0.0; 3];
        cast.each(&sheet, |w, m, v| {
            for (sum, x) in found.iter_mut().zip([1.0, m, softplus(m, v).value]) {
                *sum += w * x;
            }
        });
        for (a, b) in found.iter().zip(exact) {
            assert!((a - b).abs() < 1e-9, "{found:?} {exact:?}");
        }
    }

    #[test]
    fn what_is_no_number_is_beyond() {
        let sheet = Sheet::new(1, 4.0);
        let cells = [
            (f64::NAN, 0.1),
            (0.0, f64::NAN),
            (0.0, -0.5),
            (f64::INFINITY, 1.0),
        ];
        for (m, v) in cells {
            assert!(sheet.place(m, v).is_none(), "{m} {v}");
        }
        assert!(sheet.place(-4.0, 0.0).is_some() && sheet.place(4.0, 0.0).is_none());
    }
}

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

mod cast;
mod patch;
mod tile;

use std::fmt;
use std::sync::{PoisonError, RwLock, RwLockReadGuard};

use polyview_linalg::simd::dispatch;

use super::Expectations;

pub(crate) use cast::Cast;
pub(crate) use patch::POINTS;
use patch::{Row, ends_of, fitted, points_of};
use tile::{LookUp, Place, TILE, Tile, place};

/// Patches for each unit of the mean.
const PER_UNIT: f64 = 2.0;
/// h: half of the width of a patch along the mean.
const HALF: f64 = 0.5 / PER_UNIT;
/// Strips for each octave of $1 + v$, as a power of two.
const STRIPS_BITS: u32 = 6;
/// Variances go up to 15.
const OCTAVES: usize = 4;
const STRIPS: usize = OCTAVES << STRIPS_BITS;

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
    /// F with its derivatives of many cells, tile by tile: `function` says that of a cell, `fill`
    /// says F at means and variances where a patch is not there yet. Cells that are not on the
    /// sheet, of which nothing is found, come to `beyond` in order.
    pub(crate) fn look_up(
        &self,
        (mean, shift, variance): (&[f64], f64, &[f64]),
        function: impl Fn(usize) -> usize,
        fill: impl Fn(usize, &[f64; POINTS], &[f64; POINTS]) -> [f64; POINTS],
        out: &mut Expectations<'_>,
        mut beyond: impl FnMut(usize),
    ) {
        let mut tile = Tile::default();
        let mut table = self.read();
        for start in (0..mean.len()).step_by(TILE) {
            let cells = start..(start + TILE).min(mean.len());
            let count = cells.len();
            let mut look = |table: &Table, tile: &mut Tile| {
                dispatch(LookUp {
                    tile,
                    table,
                    reach: self.reach,
                    across: self.across as f64,
                    mean: &mean[cells.clone()],
                    shift,
                    variance: &variance[cells.clone()],
                    first: |i| (function(start + i) * STRIPS) as u64,
                    out: out.part(cells.clone()),
                });
            };
            look(&table, &mut tile);
            if tile.any_unmade(count) {
                drop(table);
                self.make(&tile, count, &fill);
                table = self.read();
                look(&table, &mut tile);
            }
            if tile.any_beyond(count) {
                let those = (0..count).filter(|i| tile.beyond[*i] != 0);
                those.for_each(|i| beyond(start + i));
            }
        }
    }
}

#[cfg(test)]
mod tests;

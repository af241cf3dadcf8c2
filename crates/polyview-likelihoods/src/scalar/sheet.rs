//! Expectations under normal laws as a sheet over mean and variance (spec/sites 1).
//!
//! $F(m, v) = \mathrm E\_{N(\eta; m, v)}f(\eta)$ is smooth in both. The half plane of means and variances
//! is cut into patches, half a unit of the mean by a quarter of an octave of $1 + v$, and within each
//! F is the polynomial of degree seven in both that has its values at Chebyshev's points: for a function
//! that is smooth at the scale of one unit it is off by some 1e-12. Slope and curvature are the exact
//! derivatives $\partial\_m$ and $-2\partial\_v$ of what is interpolated, so that the law of a term
//! holds to rounding. A patch is made when the first cell falls on it.

// inlined into the function that selects the instruction set
#![allow(clippy::inline_always)]

use std::fmt;
use std::sync::OnceLock;

use polyview_linalg::simd::{Kernel, dispatch, mul_add};
use polyview_special::Expectation;

/// Coefficients of a polynomial, and points that say them.
const ORDER: usize = 8;
/// Patches for each unit of the mean.
const PER_UNIT: f64 = 2.0;
/// Patches for each octave of $1 + v$, as a power of two.
const OCTAVE_BITS: u32 = 2;
/// Variances go up to 15.
const OCTAVES: usize = 4;
const STRIPS: usize = OCTAVES << OCTAVE_BITS;
/// Cells that are looked up together.
const TILE: usize = 64;
/// Cells whose polynomials are worked out side by side.
const SIDE: usize = 8;

/// Points of a patch.
pub(crate) const POINTS: usize = ORDER * ORDER;

/// Polynomials in the place of a mean, each coefficient one in the place of a variance.
type Patch = [[f64; ORDER]; ORDER];

/// Where a cell lies.
#[derive(Clone, Copy, Debug, Default)]
struct Place {
    patch: usize,
    /// Along the mean, -1 to 1.
    t: f64,
    /// Along the variance, -1 to 1.
    s: f64,
    /// $-2\,ds/dv$.
    by_variance: f64,
}

/// F of means between two ends and of variances below 15, patch by patch.
pub(crate) struct Sheet {
    reach: f64,
    across: usize,
    /// Lower end of each strip in $1 + v$, and one over half of its width.
    strips: [[f64; 2]; STRIPS],
    patches: Vec<OnceLock<Box<Patch>>>,
}

impl fmt::Debug for Sheet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let made = self.patches.iter().filter(|p| p.get().is_some()).count();
        write!(f, "Sheet({made} of {} patches)", self.patches.len())
    }
}

impl Sheet {
    /// Of means from minus `reach` to it, a whole number.
    pub(crate) fn new(reach: f64) -> Self {
        let across = (2.0 * reach * PER_UNIT) as usize;
        let mut patches = Vec::new();
        patches.resize_with(across * STRIPS, OnceLock::new);
        let strip = |s: usize| {
            let (low, half) = ends_of(s);
            [low, half.recip()]
        };
        Self {
            reach,
            across,
            strips: std::array::from_fn(strip),
            patches,
        }
    }
    /// Where a mean and a variance lie; `None` beyond the sheet, or where one is no number.
    fn place(&self, mean: f64, variance: f64) -> Option<Place> {
        let x = (mean + self.reach) * PER_UNIT;
        if !(x >= 0.0 && x < self.across as f64) {
            return None;
        }
        let y = 1.0 + variance;
        let strip = strip_of(y)?;
        let [low, per_half] = self.strips[strip];
        let column = x as usize;
        Some(Place {
            patch: strip * self.across + column,
            t: 2.0 * (x - column as f64) - 1.0,
            s: (y - low) * per_half - 1.0,
            by_variance: -2.0 * per_half,
        })
    }
    fn patch(
        &self,
        place: usize,
        fill: &impl Fn(&[f64; POINTS], &[f64; POINTS]) -> [f64; POINTS],
    ) -> &Patch {
        self.patches[place].get_or_init(|| {
            let (mean, variance) = self.points(place);
            Box::new(polynomials(&fill(&mean, &variance)))
        })
    }
    /// The points of a patch: means and variances, the variances of one mean after another.
    fn points(&self, place: usize) -> ([f64; POINTS], [f64; POINTS]) {
        let (strip, column) = (place / self.across, place % self.across);
        let (low, half) = ends_of(strip);
        let at = chebyshev();
        let mean = |i: usize| (column as f64 + 0.5 * (1.0 + at[i / ORDER])) / PER_UNIT - self.reach;
        let variance = |i: usize| low + half * (1.0 + at[i % ORDER]) - 1.0;
        (std::array::from_fn(mean), std::array::from_fn(variance))
    }
    /// F with its derivatives of many cells. `fill` says F at means and variances where a patch is
    /// not there yet; `beyond` has those cells that are not on the sheet.
    pub(crate) fn expectations(
        &self,
        (mean, variance): (&[f64], &[f64]),
        fill: impl Fn(&[f64; POINTS], &[f64; POINTS]) -> [f64; POINTS],
        mut beyond: impl FnMut(usize),
        out: &mut [Expectation],
    ) {
        for start in (0..mean.len()).step_by(TILE) {
            let cells = TILE.min(mean.len() - start);
            let mut places = [Place::default(); TILE];
            // all of one type, so that none needs to be there
            let nothing: &Patch = &[[f64::NAN; ORDER]; ORDER];
            let mut patches = [nothing; TILE];
            for i in 0..cells {
                match self.place(mean[start + i], variance[start + i]) {
                    Some(place) => {
                        places[i] = place;
                        patches[i] = self.patch(place.patch, &fill);
                    }
                    None => beyond(start + i),
                }
            }
            dispatch(Polynomials {
                places: &places[..cells],
                patches: &patches[..cells],
                out: &mut out[start..start + cells],
            });
        }
    }
}

/// Cells on a sheet, in place of which a few points of their patches stand: sums over these of functions
/// that are as smooth as those of the sheet are those over the cells.
#[derive(Debug, Default)]
pub(crate) struct Cast {
    /// $\sum t^is^j$ over the cells of each patch; empty where there are none.
    sums: Vec<Vec<f64>>,
}

impl Cast {
    /// Adds a cell; false where it lies beyond the sheet.
    pub(crate) fn add(&mut self, sheet: &Sheet, mean: f64, variance: f64) -> bool {
        let Some(place) = sheet.place(mean, variance) else {
            return false;
        };
        self.sums.resize_with(sheet.patches.len(), Vec::new);
        let sums = &mut self.sums[place.patch];
        sums.resize(POINTS, 0.0);
        let along = powers(place.s);
        for (row, power) in sums.chunks_exact_mut(ORDER).zip(powers(place.t)) {
            for (cell, along) in row.iter_mut().zip(along) {
                *cell += power * along;
            }
        }
        true
    }
    /// Adds the cells of another.
    pub(crate) fn merge(&mut self, other: &Self) {
        self.sums
            .resize_with(other.sums.len().max(self.sums.len()), Vec::new);
        for (own, other) in self.sums.iter_mut().zip(&other.sums) {
            own.resize(own.len().max(other.len()), 0.0);
            for (a, b) in own.iter_mut().zip(other) {
                *a += b;
            }
        }
    }
    /// Visits the points that stand for the cells: weight, mean and variance.
    pub(crate) fn each(&self, sheet: &Sheet, mut visit: impl FnMut(f64, f64, f64)) {
        let inverse = inverse();
        for (patch, sums) in self.sums.iter().enumerate().filter(|(_, s)| !s.is_empty()) {
            let (mean, variance) = sheet.points(patch);
            let mut half = [[0.0; ORDER]; ORDER];
            for (weights, sums) in inverse.iter().zip(sums.chunks_exact(ORDER)) {
                for (row, weight) in half.iter_mut().zip(weights) {
                    for (cell, sum) in row.iter_mut().zip(sums) {
                        *cell += weight * sum;
                    }
                }
            }
            for i in 0..POINTS {
                let along = half[i / ORDER].iter().zip(inverse);
                let weight = along.map(|(h, w)| h * w[i % ORDER]).sum();
                visit(weight, mean[i], variance[i]);
            }
        }
    }
}

/// $1, x, \dots, x^7$.
#[inline(always)]
fn powers(x: f64) -> [f64; ORDER] {
    let (x2, x4) = (x * x, x * x * (x * x));
    let x6 = x4 * x2;
    [1.0, x, x2, x2 * x, x4, x4 * x, x6, x6 * x]
}

/// The strip of $1 + v$.
#[inline]
fn strip_of(y: f64) -> Option<usize> {
    const SHIFT: u32 = 52 - OCTAVE_BITS;
    // one that is no number is in none
    if !(y >= 1.0 && y < (1u32 << OCTAVES) as f64) {
        return None;
    }
    // exponent and leading bits of the fraction count the strips
    let strip = (y.to_bits() >> SHIFT) - (1f64.to_bits() >> SHIFT);
    Some(strip as usize)
}

/// Lower end and half of the width of a strip, in $1 + v$.
fn ends_of(strip: usize) -> (f64, f64) {
    let (octave, part) = (strip >> OCTAVE_BITS, strip & ((1 << OCTAVE_BITS) - 1));
    let unit = (1u32 << octave) as f64;
    let share = unit / (1u32 << OCTAVE_BITS) as f64;
    (unit + part as f64 * share, 0.5 * share)
}

/// $\cos\frac{(2i + 1)\pi}{16}$.
fn chebyshev() -> [f64; ORDER] {
    std::array::from_fn(|i| (std::f64::consts::PI * (2 * i + 1) as f64 / (2 * ORDER) as f64).cos())
}

/// Coefficients of powers from values at Chebyshev's points, by the polynomials of that name.
fn inverse() -> &'static [[f64; ORDER]; ORDER] {
    static MADE: OnceLock<[[f64; ORDER]; ORDER]> = OnceLock::new();
    MADE.get_or_init(|| {
        let at = chebyshev();
        // T_k as powers
        let mut own = [[0.0; ORDER]; ORDER];
        own[0][0] = 1.0;
        own[1][1] = 1.0;
        for k in 2..ORDER {
            for p in 0..ORDER {
                let shifted = if p > 0 { own[k - 1][p - 1] } else { 0.0 };
                own[k][p] = 2.0 * shifted - own[k - 2][p];
            }
        }
        let mut out = [[0.0; ORDER]; ORDER];
        for (p, row) in out.iter_mut().enumerate() {
            for (i, cell) in row.iter_mut().enumerate() {
                for (k, own) in own.iter().enumerate() {
                    let share = if k == 0 { 1.0 } else { 2.0 } / ORDER as f64;
                    let value = (k as f64 * at[i].acos()).cos();
                    *cell += share * value * own[p];
                }
            }
        }
        out
    })
}

/// The polynomials with these values at the points of a patch.
fn polynomials(values: &[f64; POINTS]) -> Patch {
    let inverse = inverse();
    let mut half = [[0.0; ORDER]; ORDER];
    for (p, row) in half.iter_mut().enumerate() {
        for (i, weight) in inverse[p].iter().enumerate() {
            for (h, f) in row.iter_mut().zip(&values[i * ORDER..(i + 1) * ORDER]) {
                *h += weight * f;
            }
        }
    }
    let mut out = [[0.0; ORDER]; ORDER];
    for (row, half) in out.iter_mut().zip(&half) {
        for (cell, inverse) in row.iter_mut().zip(inverse) {
            *cell = half.iter().zip(inverse).map(|(h, w)| h * w).sum();
        }
    }
    out
}

/// Polynomials of cells at their places.
struct Polynomials<'a> {
    places: &'a [Place],
    patches: &'a [&'a Patch],
    out: &'a mut [Expectation],
}

impl Kernel for Polynomials<'_> {
    #[inline(always)]
    fn run<const FUSED: bool>(self) {
        let cells = self.places.chunks(SIDE).zip(self.patches.chunks(SIDE));
        for ((places, patches), out) in cells.zip(self.out.chunks_mut(SIDE)) {
            let (mut value, mut slope) = ([[0.0; ORDER]; SIDE], [[0.0; ORDER]; SIDE]);
            let mut s = [0.0; SIDE];
            for (i, (place, patch)) in places.iter().zip(patches).enumerate() {
                along::<FUSED>(patch, place.t, &mut value[i], &mut slope[i]);
                s[i] = place.s;
            }
            let mut made = [[0.0; SIDE]; 3];
            across::<FUSED>(&value, &slope, &s, &mut made);
            for (i, (place, out)) in places.iter().zip(out).enumerate() {
                *out = Expectation {
                    value: made[0][i],
                    slope: 2.0 * PER_UNIT * made[1][i],
                    curvature: place.by_variance * made[2][i],
                };
            }
        }
    }
}

/// Horner's rule along the mean, all coefficients of the variance side by side. What it ends with is
/// written to memory, which is where the compiler begins to look for vectors.
#[inline(always)]
fn along<const FUSED: bool>(
    patch: &Patch,
    t: f64,
    value: &mut [f64; ORDER],
    slope: &mut [f64; ORDER],
) {
    let (mut own, mut rise) = (patch[ORDER - 1], [0.0; ORDER]);
    for row in patch[..ORDER - 1].iter().rev() {
        let (mut next, mut next_rise) = ([0.0; ORDER], [0.0; ORDER]);
        for j in 0..ORDER {
            next_rise[j] = mul_add::<FUSED>(rise[j], t, own[j]);
        }
        for j in 0..ORDER {
            next[j] = mul_add::<FUSED>(own[j], t, row[j]);
        }
        (own, rise) = (next, next_rise);
    }
    (*value, *slope) = (own, rise);
}

/// Horner's rule along the variance, cells side by side: value, slope along the mean and slope along
/// the variance.
#[inline(always)]
fn across<const FUSED: bool>(
    value: &[[f64; ORDER]; SIDE],
    slope: &[[f64; ORDER]; SIDE],
    s: &[f64; SIDE],
    out: &mut [[f64; SIDE]; 3],
) {
    let (mut own, mut rise, mut bend) = ([0.0; SIDE], [0.0; SIDE], [0.0; SIDE]);
    for j in (0..ORDER).rev() {
        let (mut a, mut b) = ([0.0; SIDE], [0.0; SIDE]);
        for i in 0..SIDE {
            a[i] = value[i][j];
        }
        for i in 0..SIDE {
            b[i] = slope[i][j];
        }
        let [mut next, mut next_rise, mut next_bend] = [[0.0; SIDE]; 3];
        for i in 0..SIDE {
            next_bend[i] = mul_add::<FUSED>(bend[i], s[i], own[i]);
        }
        for i in 0..SIDE {
            next[i] = mul_add::<FUSED>(own[i], s[i], a[i]);
        }
        for i in 0..SIDE {
            next_rise[i] = mul_add::<FUSED>(rise[i], s[i], b[i]);
        }
        (own, rise, bend) = (next, next_rise, next_bend);
    }
    *out = [own, rise, bend];
}

#[cfg(test)]
mod tests {
    use polyview_special::Real;

    use super::*;

    fn softplus(mean: f64, variance: f64) -> Expectation {
        Expectation::of(mean, variance, 1.0, Real::softplus)
    }

    fn filled(mean: &[f64; POINTS], variance: &[f64; POINTS]) -> [f64; POINTS] {
        std::array::from_fn(|i| softplus(mean[i], variance[i]).value)
    }

    #[test]
    fn a_sheet_is_what_it_stands_for() {
        let sheet = Sheet::new(16.0);
        let (mut mean, mut variance) = (Vec::new(), Vec::new());
        for i in 0..2000 {
            mean.push(f64::from(i * 7919 % 2000) * 0.0165 - 16.5);
            variance.push(10f64.powf(f64::from(i % 97) / 15.0 - 5.0));
        }
        let mut out = vec![Expectation::default(); 2000];
        let mut beyond = Vec::new();
        sheet.expectations((&mean, &variance), filled, |i| beyond.push(i), &mut out);
        for (i, found) in out.iter().enumerate() {
            if beyond.contains(&i) {
                assert!(mean[i].abs() >= 16.0 || variance[i] >= 15.0);
                continue;
            }
            let e = softplus(mean[i], variance[i]);
            let at = (mean[i], variance[i]);
            assert!(
                // the nodes themselves are 1e-11 off where v is 1
                (found.value - e.value).abs() < 2e-11,
                "{at:?}: {found:?} {e:?}"
            );
            assert!(
                (found.slope - e.slope).abs() < 1e-9,
                "{at:?}: {found:?} {e:?}"
            );
            // differences of slopes, over the deviation
            let digits = 2e-15 / variance[i].sqrt();
            assert!(
                (found.curvature - e.curvature).abs() < 1e-9 + digits,
                "{at:?}: {found:?} {e:?}"
            );
        }
        assert!(!beyond.is_empty() && beyond.len() < 600);
    }

    /// The law of a term asks for derivatives that are exact, not for a function that is.
    #[test]
    fn slopes_and_curvatures_are_derivatives_of_the_sheet() {
        let sheet = Sheet::new(4.0);
        let one = |m: f64, v: f64| {
            let mut out = [Expectation::default()];
            sheet.expectations((&[m], &[v]), filled, |_| {}, &mut out);
            out[0]
        };
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
        let sheet = Sheet::new(6.0);
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
        let sheet = Sheet::new(4.0);
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

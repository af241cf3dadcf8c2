//! A patch of a sheet: the expectation of a polynomial.

use std::f64::consts::PI;
use std::sync::OnceLock;

use super::{HALF, OCTAVES, STRIPS_BITS};

/// Coefficients of a patch.
pub(super) const ORDER: usize = 8;
/// Points that say a patch, along the mean and along the variance.
const ALONG: usize = 6;
const ACROSS: usize = 3;
/// Points that say a patch.
pub(crate) const POINTS: usize = ALONG * ACROSS;

/// Coefficients of a patch, on a cache line of their own.
#[derive(Clone, Copy, Debug)]
#[repr(align(64))]
pub(super) struct Row(pub(super) [f64; ORDER]);

impl Row {
    /// Of what has not been made yet.
    pub(super) const NONE: Self = Self([0.0; ORDER]);
}

/// $q\_0, \dots, q\_7$ at $(\tau, \sigma)$: $q\_n = \mathrm E(\tau + \sqrt\sigma\epsilon)^n/n!$.
pub(super) fn basis(t: f64, s: f64) -> [f64; ORDER] {
    let mut q = [0.0; ORDER];
    (q[0], q[1]) = (1.0, t);
    for n in 2..ORDER {
        q[n] = (t * q[n - 1] + s * q[n - 2]) / n as f64;
    }
    q
}

/// Half of the width of a strip, units of $h^2$.
fn half_width(strip: usize) -> f64 {
    ends_of(strip).1 / (HALF * HALF)
}

/// Lower end and half of the width of a strip, in $1 + v$.
pub(super) fn ends_of(strip: usize) -> (f64, f64) {
    let (octave, part) = (strip >> STRIPS_BITS, strip & ((1 << STRIPS_BITS) - 1));
    let unit = (1u32 << octave) as f64;
    let share = unit / (1u32 << STRIPS_BITS) as f64;
    (unit + part as f64 * share, 0.5 * share)
}

fn chebyshev<const N: usize>() -> [f64; N] {
    std::array::from_fn(|i| (PI * (2 * i + 1) as f64 / (2 * N) as f64).cos())
}

/// Where the points of a patch lie: $\tau$ and $\sigma$.
pub(super) fn points_of(strip: usize) -> [(f64, f64); POINTS] {
    let (along, across) = (chebyshev::<ALONG>(), chebyshev::<ACROSS>());
    let half = half_width(strip);
    std::array::from_fn(|i| (along[i / ACROSS], half * across[i % ACROSS]))
}

/// What each point says of each coefficient: least squares over the points.
type Shares = [[f64; POINTS]; ORDER];

/// Shares of the strips of an octave, which are all alike.
fn shares(strip: usize) -> &'static Shares {
    static MADE: [OnceLock<Shares>; OCTAVES] = [const { OnceLock::new() }; OCTAVES];
    let octave = strip >> STRIPS_BITS;
    MADE[octave].get_or_init(|| make_shares(&points_of(strip)))
}

/// By orthogonal columns, each made twice.
fn make_shares(points: &[(f64, f64); POINTS]) -> Shares {
    let dot =
        |a: &[f64; POINTS], b: &[f64; POINTS]| -> f64 { a.iter().zip(b).map(|(x, y)| x * y).sum() };
    // columns: the basis at the points; `upper` turns orthogonal columns into them
    let mut columns: [[f64; POINTS]; ORDER] = [[0.0; POINTS]; ORDER];
    for (i, &(t, s)) in points.iter().enumerate() {
        for (column, q) in columns.iter_mut().zip(basis(t, s)) {
            column[i] = q;
        }
    }
    let mut upper = [[0.0; ORDER]; ORDER];
    for n in 0..ORDER {
        let mut own = columns[n];
        for _ in 0..2 {
            for (before, row) in columns[..n].iter().zip(&mut upper) {
                let along = dot(before, &own);
                row[n] += along;
                for (x, b) in own.iter_mut().zip(before) {
                    *x -= along * b;
                }
            }
        }
        upper[n][n] = dot(&own, &own).sqrt();
        columns[n] = own.map(|x| x / upper[n][n]);
    }
    let mut out = columns;
    for n in (0..ORDER).rev() {
        for later in n + 1..ORDER {
            for i in 0..POINTS {
                out[n][i] -= upper[n][later] * out[later][i];
            }
        }
        for x in &mut out[n] {
            *x /= upper[n][n];
        }
    }
    out
}

/// The patch with these values at its points.
pub(super) fn fitted(strip: usize, values: &[f64; POINTS]) -> Row {
    Row(shares(strip).map(|own| own.iter().zip(values).map(|(w, f)| w * f).sum()))
}

/// Weights of the points of a patch that stand for sums of its basis.
pub(super) fn weights(strip: usize, sums: &[f64; ORDER]) -> [f64; POINTS] {
    let shares = shares(strip);
    std::array::from_fn(|i| (0..ORDER).map(|n| shares[n][i] * sums[n]).sum())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Expectations of polynomials of degree seven are met, whatever the strip.
    #[test]
    fn patches_have_the_polynomials_of_their_order() {
        for strip in [0, 5, 1 << STRIPS_BITS, (3 << STRIPS_BITS) + 7] {
            let points = points_of(strip);
            for n in 0..ORDER {
                let found = fitted(strip, &points.map(|(t, s)| basis(t, s)[n]));
                for (k, c) in found.0.iter().enumerate() {
                    let exact = f64::from(u8::from(k == n));
                    assert!((c - exact).abs() < 1e-10, "{strip}: {n} {k} {c}");
                }
            }
        }
    }
}

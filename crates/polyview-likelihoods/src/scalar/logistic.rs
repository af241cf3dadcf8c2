//! Expectations of the logistic family, a column at a time in vector instructions.

// inlined into the function that selects the instruction set
#![allow(clippy::inline_always)]

use polyview_linalg::simd::{Kernel, decay, dispatch, ln_1p};
use polyview_special::{Expectation, Real};

/// Cells of a tile: what is made of them in one loop is still in the first-level cache for the
/// next.
const TILE: usize = 128;

/// $\mathrm E\ln(1 + e^{\eta})$ under $\eta\sim N(m - c, v)$ with its derivatives, for each of
/// many cells: what Bernoulli, binomial and negative binomial log densities share (spec/sites
/// 1.4). To rounding what [`Expectation::of`] gives.
pub(super) fn softplus(mean: &[f64], variance: &[f64], shift: f64, out: &mut [Expectation]) {
    let cells = mean.chunks(TILE).zip(variance.chunks(TILE));
    for ((mean, variance), out) in cells.zip(out.chunks_mut(TILE)) {
        let mut tile = Tile::new(mean, variance, shift);
        dispatch(Nodes {
            tile: &mut tile,
            cells: mean.len(),
        });
        for (i, out) in out.iter_mut().enumerate() {
            *out = if variance[i] > 1.0 {
                Expectation::of(mean[i] - shift, variance[i], 1.0, Real::softplus)
            } else {
                Expectation {
                    value: tile.value[i],
                    slope: tile.slope[i],
                    curvature: -tile.curvature[i] / tile.deviation[i],
                }
            };
        }
    }
}

/// Numbers of the cells of a tile.
struct Tile {
    mean: [f64; TILE],
    deviation: [f64; TILE],
    value: [f64; TILE],
    slope: [f64; TILE],
    curvature: [f64; TILE],
}

impl Tile {
    fn new(mean: &[f64], variance: &[f64], shift: f64) -> Self {
        let mut out = Self {
            mean: [0.0; TILE],
            deviation: [1.0; TILE],
            value: [0.0; TILE],
            slope: [0.0; TILE],
            curvature: [0.0; TILE],
        };
        for (i, (m, v)) in mean.iter().zip(variance).enumerate() {
            out.mean[i] = m - shift;
            out.deviation[i] = v.max(Expectation::LEAST_VARIANCE).sqrt();
        }
        out
    }
}

/// The sums over the nodes.
struct Nodes<'a> {
    tile: &'a mut Tile,
    cells: usize,
}

impl Kernel for Nodes<'_> {
    #[inline(always)]
    fn run<const FUSED: bool>(self) {
        let Tile {
            mean,
            deviation,
            value,
            slope,
            curvature,
        } = self.tile;
        let n = self.cells;
        for &(u, w) in Expectation::few_nodes() {
            for u in [u, -u] {
                node::<FUSED>(
                    (u, w),
                    (&mean[..n], &deviation[..n]),
                    (&mut value[..n], &mut slope[..n], &mut curvature[..n]),
                );
            }
        }
    }
}

/// Adds one node. A function of its own, so that the compiler knows the slices to be apart.
#[inline(always)]
fn node<const FUSED: bool>(
    (u, w): (f64, f64),
    (mean, deviation): (&[f64], &[f64]),
    (value, slope, curvature): (&mut [f64], &mut [f64], &mut [f64]),
) {
    let mut t = [0.0; TILE];
    let t = &mut t[..mean.len()];
    for ((t, m), s) in t.iter_mut().zip(mean).zip(deviation) {
        *t = decay::<FUSED>((m + s * u).abs()).value;
    }
    for (((v, t), m), s) in value.iter_mut().zip(&*t).zip(mean).zip(deviation) {
        let x = m + s * u;
        *v += w * (x.max(0.0) + ln_1p::<FUSED>(*t));
    }
    let out = slope.iter_mut().zip(curvature);
    for (((g, h), t), (m, s)) in out.zip(&*t).zip(mean.iter().zip(deviation)) {
        let likely = 1.0 / (1.0 + t);
        let p = if m + s * u >= 0.0 { likely } else { t * likely };
        *g += w * p;
        *h += w * u * p;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_column_is_its_cells() {
        let mean: Vec<f64> = (0..300).map(|i| 0.2 * f64::from(i) - 31.0).collect();
        let variance: Vec<f64> = (0..300)
            .map(|i| 10f64.powf(f64::from(i % 25) / 2.0 - 10.5))
            .collect();
        let mut out = vec![Expectation::default(); 300];
        softplus(&mean, &variance, 0.7, &mut out);
        for (i, found) in out.iter().enumerate() {
            let e = Expectation::of(mean[i] - 0.7, variance[i], 1.0, Real::softplus);
            assert!((found.value - e.value).abs() < 1e-13 * (1.0 + e.value.abs()));
            assert!((found.slope - e.slope).abs() < 1e-13);
            // differences of slopes, over the deviation
            let digits = 1e-15 / variance[i].max(1e-10).sqrt();
            assert!(
                (found.curvature - e.curvature).abs() < 1e-13 + 4.0 * digits,
                "{i}"
            );
        }
    }
}

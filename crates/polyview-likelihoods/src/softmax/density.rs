//! What a sample's class says of its predictors.

use std::sync::Arc;

use polyview_linalg::{Mat, packed_index, packed_len};

use super::probabilities::turned;
use super::tilted::{Covariance, Tilted, softmax};

/// What is unknown of the predictors of each sample beside what a predictor says, as part of the
/// law of its class: $\ln\mathrm E\_{N(\xi; \eta, K\_n)}p(t\mid\xi)$ as the mean over fixed points
/// (spec/sites 5).
#[derive(Clone, Debug)]
pub(super) struct Spread {
    /// Roots of the covariances, packed, pairs of classes × samples.
    pub(super) roots: Arc<Mat<f64>>,
    /// Points of a standard normal law, each for itself and its mirror image.
    pub(super) points: Arc<Vec<f64>>,
}

/// $g = e\_t - a$ and $H = \mathrm{diag}(a) - aa^\top$, packed.
pub(super) fn slope_and_curvature(
    class: usize,
    a: impl Fn(usize) -> f64,
    slope: &mut [f64],
    curvature: &mut [f64],
) {
    for (c, slope) in slope.iter_mut().enumerate() {
        let own = a(c);
        *slope = f64::from(u8::from(c == class)) - own;
        for j in 0..c {
            curvature[packed_index(c, j)] = -own * a(j);
        }
        curvature[packed_index(c, c)] = own * (1.0 - own);
    }
}

/// $F$ of a sample, its slope and its curvature, with room to work in.
#[derive(Debug)]
pub(super) struct Density {
    tilted: Tilted,
    /// $g$ and $H$ of each point.
    by_point: Vec<f64>,
    logs: Vec<f64>,
}

impl Density {
    pub(super) fn new(classes: usize) -> Self {
        Self {
            tilted: Tilted::new(classes),
            by_point: Vec::new(),
            logs: Vec::new(),
        }
    }
    /// $F$ of a class whose predictors have the means `m` and the covariances `v`; `out` gets
    /// $g = e\_t - a$ and $H = \mathrm{diag}(a) - aa^\top$, packed.
    fn of_known(&mut self, class: usize, m: &[f64], v: &Covariance, out: &mut [f64]) -> f64 {
        let value = m[class] - self.tilted.minimum(m, v);
        let (slope, curvature) = out.split_at_mut(m.len());
        slope_and_curvature(class, |c| self.tilted.a[c], slope, curvature);
        value
    }
    /// As [`Density::of_known`], of a sample with a spread: with $F\_s$ at the mean moved by a
    /// point, $F = \ln\tfrac1S\sum\_se^{F\_s}$, which is below $\mathrm E\ln\tfrac1S\sum\_sp\_s$,
    /// $g = \sum\omega\_sg\_s$ and $H = \sum\omega\_sH\_s$, $\omega\_s\propto e^{F\_s}$.
    pub(super) fn of(
        &mut self,
        class: usize,
        (m, v): (&[f64], &Covariance),
        (spread, sample): (&Spread, usize),
        out: &mut [f64],
    ) -> f64 {
        let root = spread.roots.col_as_slice(sample);
        if root.iter().all(|x| *x == 0.0) {
            return self.of_known(class, m, v, out);
        }
        let stride = m.len() + packed_len(m.len());
        self.logs.clear();
        let mut by_point = std::mem::take(&mut self.by_point);
        by_point.resize(2 * spread.points.len() / m.len() * stride, 0.0);
        let mut parts = by_point.chunks_mut(stride);
        let (mut shift, mut moved) = (vec![0.0; m.len()], vec![0.0; m.len()]);
        for point in spread.points.chunks(m.len()) {
            turned(root, point, &mut shift);
            for sign in [1.0, -1.0] {
                for c in 0..m.len() {
                    moved[c] = m[c] + sign * shift[c];
                }
                if let Some(part) = parts.next() {
                    let value = self.of_known(class, &moved, v, part);
                    self.logs.push(value);
                }
            }
        }
        let count = self.logs.len() as f64;
        let value = softmax(&mut self.logs) - count.ln();
        out.fill(0.0);
        for (part, share) in by_point.chunks(stride).zip(&self.logs) {
            for (o, x) in out.iter_mut().zip(part) {
                *o += share * x;
            }
        }
        self.by_point = by_point;
        value
    }
}

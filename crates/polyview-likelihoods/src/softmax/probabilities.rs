//! Probabilities of classes whose predictors are uncertain (spec/sites 3, prediction).

use std::ops::Range;

use polyview_core::Predictor;
use polyview_linalg::{Mat, packed_index, packed_len};
use polyview_special::normal_quantile;
use rayon::prelude::*;

use super::Softmax;
use super::tilted::{root, softmax};
use crate::ParameterUncertainty;

/// Points of a standard normal law that predictions take, and as many mirror images.
const HALF: usize = 128;
/// Samples that are worked on together.
const SAMPLES: usize = 256;

/// Fixed points of a standard normal law in so many dimensions, one after the other: a lattice
/// of the powers of the root of $x^{d + 1} = x + 1$, which fills a cube evenly, of the second
/// moments of the law where there are fewer dimensions than points. With their mirror images
/// all odd moments are those of the law.
pub(super) fn points(count: usize, dimensions: usize) -> Vec<f64> {
    let d = dimensions as f64;
    let mut ratio: f64 = 1.5;
    for _ in 0..100 {
        ratio = (1.0 + ratio).powf(1.0 / (d + 1.0));
    }
    let mut out = Vec::with_capacity(count * dimensions);
    for i in 0..count {
        for j in 0..dimensions {
            let at = 0.5 + (i as f64 + 1.0) * ratio.powf(-(j as f64 + 1.0));
            out.push(normal_quantile(at.fract().clamp(1e-6, 1.0 - 1e-6)));
        }
    }
    if 3 * dimensions <= count {
        to_unit_moments(&mut out, dimensions);
    }
    out
}

/// Takes out of points what their second moments differ from the identity by.
fn to_unit_moments(points: &mut [f64], dimensions: usize) {
    let count = (points.len() / dimensions) as f64;
    let mut second = vec![0.0; packed_len(dimensions)];
    for x in points.chunks(dimensions) {
        for i in 0..dimensions {
            for j in 0..=i {
                second[packed_index(i, j)] += x[i] * x[j] / count;
            }
        }
    }
    root(&mut second, dimensions);
    for x in points.chunks_mut(dimensions) {
        for i in 0..dimensions {
            let done: f64 = (0..i).map(|j| second[packed_index(i, j)] * x[j]).sum();
            x[i] = (x[i] - done) / second[packed_index(i, i)];
        }
    }
}

/// A point of the standard normal law as one of the law with this root of its covariance.
pub(super) fn turned(root: &[f64], point: &[f64], out: &mut [f64]) {
    for (c, out) in out.iter_mut().enumerate() {
        *out = (0..=c).map(|j| root[packed_index(c, j)] * point[j]).sum();
    }
}

/// $\mathrm E\\,\mathrm{softmax}(\eta)$ for predictors of the means `m` whose covariances have
/// this root; added to nothing, it sums to one.
fn expected(m: &[f64], root: &[f64], points: &[f64], out: &mut [f64]) {
    let classes = m.len();
    let (mut by, mut x) = (vec![0.0; classes], vec![0.0; classes]);
    out.fill(0.0);
    for point in points.chunks(classes) {
        turned(root, point, &mut by);
        for sign in [1.0, -1.0] {
            for c in 0..classes {
                x[c] = m[c] + sign * by[c];
            }
            softmax(&mut x);
            for (o, x) in out.iter_mut().zip(&x) {
                *o += x;
            }
        }
    }
    let sum: f64 = out.iter().sum();
    for o in out {
        *o /= sum;
    }
}

impl Softmax {
    /// Probabilities of the classes of some samples, classes × samples: over what is uncertain
    /// of the predictors, unless parameters are taken to be known.
    pub(super) fn probabilities(&self, p: &Predictor<'_>, samples: Range<usize>) -> Mat<f64> {
        let classes = self.levels.len();
        let points = points(HALF, classes);
        let starts: Vec<usize> = samples.clone().step_by(SAMPLES).collect();
        let parts: Vec<Mat<f64>> = starts
            .into_par_iter()
            .map(|start| {
                let own = start..(start + SAMPLES).min(samples.end);
                let mean = p.mean(own.clone(), 0..classes);
                let covariance = match self.prediction {
                    ParameterUncertainty::Posterior => Some(self.covariances(own.clone(), p)),
                    ParameterUncertainty::PlugIn => None,
                };
                let mut out = Mat::zeros(classes, own.len());
                let mut v = vec![0.0; packed_len(classes)];
                for i in 0..own.len() {
                    let m: Vec<f64> = (0..classes).map(|c| mean[(i, c)]).collect();
                    for (at, v) in v.iter_mut().enumerate() {
                        *v = covariance.as_ref().map_or(0.0, |all| all[(i, at)]);
                    }
                    let to = out.col_as_slice_mut(i);
                    if v.iter().all(|x| *x == 0.0) {
                        to.copy_from_slice(&m);
                        softmax(to);
                    } else {
                        root(&mut v, classes);
                        expected(&m, &v, &points, to);
                    }
                }
                out
            })
            .collect();
        let mut out = Mat::zeros(classes, samples.len());
        for (b, part) in parts.iter().enumerate() {
            let mut to = out.as_mut().subcols_mut(b * SAMPLES, part.ncols());
            to.copy_from(part);
        }
        out
    }
}

#[cfg(test)]
mod tests {
    use polyview_random::{StreamKey, standard_normal};

    use super::*;

    #[test]
    fn points_have_the_moments_of_the_law() {
        for dimensions in [1, 2, 5, 10, 30] {
            let points = points(HALF, dimensions);
            for i in 0..dimensions {
                for j in 0..=i {
                    let mean: f64 =
                        points.chunks(dimensions).map(|x| x[i] * x[j]).sum::<f64>() / HALF as f64;
                    let exact = f64::from(u8::from(i == j));
                    assert!((mean - exact).abs() < 1e-10, "{dimensions}: {mean}");
                }
            }
        }
    }

    /// Against many draws, with predictors that have much in common.
    #[test]
    fn probabilities_are_those_of_many_draws() {
        let mut rng = StreamKey::new(5).rng();
        for (classes, spread) in [(2, 0.3), (2, 4.0), (4, 0.5), (4, 3.0), (10, 1.0)] {
            let m: Vec<f64> = (0..classes)
                .map(|_| 1.5 * standard_normal(&mut rng))
                .collect();
            let w: Vec<f64> = (0..2 * classes)
                .map(|_| standard_normal(&mut rng))
                .collect();
            let mut v = vec![0.0; packed_len(classes)];
            for i in 0..classes {
                for j in 0..=i {
                    let shared = w[i] * w[j] + w[classes + i] * w[classes + j];
                    let own = if i == j { 0.2 } else { 0.0 };
                    v[packed_index(i, j)] = spread * (0.4 * shared + own);
                }
            }
            root(&mut v, classes);
            let mut found = vec![0.0; classes];
            expected(&m, &v, &points(HALF, classes), &mut found);
            let mut exact = vec![0.0; classes];
            let draws = 40_000;
            for _ in 0..draws {
                let e: Vec<f64> = (0..classes).map(|_| standard_normal(&mut rng)).collect();
                let mut x: Vec<f64> = (0..classes)
                    .map(|c| {
                        let by: f64 = (0..=c).map(|j| v[packed_index(c, j)] * e[j]).sum();
                        m[c] + by
                    })
                    .collect();
                softmax(&mut x);
                for (o, x) in exact.iter_mut().zip(&x) {
                    *o += x / f64::from(draws);
                }
            }
            let gap = found
                .iter()
                .zip(&exact)
                .fold(0.0f64, |g, (a, b)| g.max((a - b).abs()));
            assert!(gap < 0.008, "{classes} {spread}: {gap}");
            assert!((found.iter().sum::<f64>() - 1.0).abs() < 1e-14);
        }
    }
}

//! Sites of some samples.

use std::ops::Range;
use std::sync::Arc;

use polyview_core::{Predictor, RowCov, RowMoments, Stamp};
use polyview_linalg::simd::dispatch;
use polyview_linalg::{Mat, MatRef, PackedRows, packed_index, packed_len};
use rayon::prelude::*;

use super::Softmax;
use super::density::{Density, Spread, slope_and_curvature};
use super::lanes::{Batch, LANES, Minimum};
use super::tilted::{Covariance, root, times};

/// States of factors, weights, intercepts and of the term itself.
pub(super) type Key = [Stamp; 4];

/// Samples that one thread works on at least.
const TOGETHER: usize = 16;

/// Sites of some samples at one state of everything: zero where there is no class.
#[derive(Debug)]
pub(super) struct Sites {
    key: Key,
    samples: Range<usize>,
    classes: usize,
    /// For each sample (a column) the linear part $g + H(m - b)$, the slope $g$, and the
    /// curvature $H$, packed.
    cells: Mat<f64>,
    /// $F$ of each sample.
    pub(super) values: Vec<f64>,
}

impl Sites {
    /// Linear parts, classes × samples.
    pub(super) fn linear(&self) -> MatRef<'_, f64> {
        self.cells.as_ref().subrows(0, self.classes)
    }
    /// Curvatures, packed, pairs of classes × samples.
    pub(super) fn curvature(&self) -> MatRef<'_, f64> {
        let pairs = packed_len(self.classes);
        self.cells.as_ref().subrows(2 * self.classes, pairs)
    }
    /// The curvature of a class and each, samples × classes.
    pub(super) fn coupling(&self, class: usize) -> Mat<f64> {
        let all = self.curvature();
        Mat::from_fn(self.values.len(), self.classes, |n, j| {
            all[(packed_index(class.max(j), class.min(j)), n)]
        })
    }
    /// $\sum g$ and $\sum H$ of a class.
    pub(super) fn sums(&self, class: usize) -> (f64, f64) {
        let (slope, own) = (self.classes + class, packed_index(class, class));
        let curvature = self.curvature();
        (0..self.values.len()).fold((0.0, 0.0), |(g, h), n| {
            (g + self.cells[(slope, n)], h + curvature[(own, n)])
        })
    }
}

/// $\tfrac12(w\_c^\top w\_j + w\_j^\top w\_c)$ for each pair of classes, packed.
pub(super) fn products(weights: MatRef<'_, f64>) -> PackedRows {
    let (classes, k) = (weights.nrows(), weights.ncols());
    let mut out = PackedRows::zeros(packed_len(classes), k);
    for c in 0..classes {
        for j in 0..=c {
            let row = out.row_mut(packed_index(c, j));
            for a in 0..k {
                for b in 0..=a {
                    let both =
                        weights[(c, a)] * weights[(j, b)] + weights[(j, a)] * weights[(c, b)];
                    row[packed_index(a, b)] = 0.5 * both;
                }
            }
        }
    }
    out
}

/// Root of the covariance of a sample's factors, packed; `None` where they are known exactly.
fn root_of_covariance(factors: &RowMoments, sample: usize) -> Option<Vec<f64>> {
    if matches!(factors.cov(), RowCov::Zero) {
        return None;
    }
    let mut out = factors.row_cov(sample).as_slice().to_vec();
    root(&mut out, factors.k());
    Some(out)
}

impl Softmax {
    /// Covariances of the predictors of each sample, samples × pairs of classes.
    pub(super) fn covariances(&self, samples: Range<usize>, p: &Predictor<'_>) -> Mat<f64> {
        let classes = self.levels.len();
        let mut out = p.spread_along(samples.clone(), &products(p.weights.mean()));
        let own = p.variance(samples, 0..classes);
        for c in 0..classes {
            let to = out.col_as_slice_mut(packed_index(c, c));
            for (to, v) in to.iter_mut().zip(own.col_as_slice(c)) {
                *to = v.max(0.0);
            }
        }
        out
    }
    /// The sites of these samples at the moments of `p`: those that were made last, if they are
    /// the same.
    pub(super) fn sites(&mut self, samples: Range<usize>, p: &Predictor<'_>) -> Arc<Sites> {
        let key = [
            p.factors.stamp(),
            p.weights.stamp(),
            p.bias.stamp(),
            self.stamp,
        ];
        if let Some(last) = &self.last
            && last.key == key
            && last.samples == samples
        {
            return last.clone();
        }
        let made = Arc::new(self.make_sites(key, samples, p));
        self.last = Some(made.clone());
        made
    }
    /// The sites that are kept for this sweep, of all samples, made where they are asked for first; and by how much each intercept was
    /// larger then. None where tangents follow the moments, and where groups have intercepts of their own.
    pub(super) fn held_sites(&mut self, p: &Predictor<'_>) -> Option<(Arc<Sites>, Vec<f64>)> {
        if !self.held || p.bias.groups().is_some() {
            return None;
        }
        if self.kept.is_none() {
            let sites = self.sites(0..self.classes.len(), p);
            self.kept = Some((sites, p.bias.mean().to_vec()));
        }
        let (sites, before) = self.kept.as_ref()?;
        let larger = before.iter().zip(p.bias.mean()).map(|(a, b)| a - b);
        Some((sites.clone(), larger.collect()))
    }
    fn make_sites(&self, key: Key, samples: Range<usize>, p: &Predictor<'_>) -> Sites {
        let (classes, rows) = (self.levels.len(), samples.len());
        let stride = 2 * classes + packed_len(classes);
        let about = About {
            mean: p.mean(samples.clone(), 0..classes),
            variance: p.variance(samples.clone(), 0..classes),
            weights: (p.weights.mean().subrows(0, classes).row_iter())
                .flat_map(|row| row.iter().copied().collect::<Vec<f64>>())
                .collect(),
            start: samples.start,
            p,
        };
        let seen: Vec<usize> = samples
            .clone()
            .filter(|n| self.classes[*n].is_some())
            .collect();
        let mut cells = vec![0.0; stride * seen.len()];
        let mut values = vec![0.0; seen.len()];
        match &self.spread {
            Some(spread) => self.one_by_one(&about, spread, &seen, (&mut cells, &mut values)),
            None => self.by_eights(&about, &seen, (&mut cells, &mut values)),
        }
        if seen.len() < rows {
            // nothing where there is no class
            let (of_seen, of_value) = (cells, values);
            (cells, values) = (vec![0.0; stride * rows], vec![0.0; rows]);
            for (i, n) in seen.iter().enumerate() {
                let to = n - samples.start;
                cells[to * stride..][..stride].copy_from_slice(&of_seen[i * stride..][..stride]);
                values[to] = of_value[i];
            }
        }
        let cells = MatRef::from_column_major_slice(&cells, stride, rows).to_owned();
        Sites {
            key,
            samples,
            classes,
            cells,
            values,
        }
    }

    /// Cells and values of these samples, where what factors leave belongs to the law of the data.
    fn one_by_one(
        &self,
        about: &About<'_>,
        spread: &Spread,
        seen: &[usize],
        (cells, values): (&mut [f64], &mut [f64]),
    ) {
        let classes = self.levels.len();
        let stride = 2 * classes + packed_len(classes);
        let room = || {
            (
                Density::new(classes),
                vec![0.0; classes],
                vec![0.0; classes],
                vec![0.0; classes],
            )
        };
        cells
            .par_chunks_mut(stride)
            .zip(values.par_iter_mut())
            .zip(seen)
            .with_min_len(TOGETHER)
            .for_each_init(room, |(density, m, own, variance), ((cell, value), n)| {
                let Some(class) = self.classes[*n] else {
                    return;
                };
                for c in 0..classes {
                    (m[c], variance[c]) = about.of(*n, c);
                    own[c] = m[c] - about.intercept(*n, c);
                }
                let factors = root_of_covariance(about.p.factors, *n);
                let v = &Covariance::of(&about.weights, factors.as_deref(), variance);
                let (linear, said) = cell.split_at_mut(classes);
                *value = density.of(class, (m, v), (spread, *n), said);
                let (slope, curvature) = said.split_at(classes);
                times(curvature, own, linear);
                for (l, g) in linear.iter_mut().zip(slope) {
                    *l += *g;
                }
            });
    }

    /// Cells and values of these samples, eight at a time.
    fn by_eights(
        &self,
        about: &About<'_>,
        seen: &[usize],
        (cells, values): (&mut [f64], &mut [f64]),
    ) {
        let classes = self.levels.len();
        let stride = 2 * classes + packed_len(classes);
        let factors = about.p.factors;
        let known = matches!(factors.cov(), RowCov::Zero);
        let room = || Batch::new(&about.weights, classes, known);
        cells
            .par_chunks_mut(stride * LANES)
            .zip(values.par_chunks_mut(LANES))
            .zip(seen.par_chunks(LANES))
            .with_min_len(TOGETHER.div_ceil(LANES))
            .for_each_init(room, |batch, ((cells, values), seen)| {
                for l in 0..LANES {
                    // what is missing of a last batch is its last sample once more
                    let n = seen[l.min(seen.len() - 1)];
                    for c in 0..classes {
                        (batch.mean[c].0[l], batch.variance[c].0[l]) = about.of(n, c);
                    }
                    if !known {
                        let own = factors.row_cov(n);
                        for (to, x) in batch.factors.iter_mut().zip(own.as_slice()) {
                            to.0[l] = *x;
                        }
                    }
                }
                dispatch(Minimum(batch));
                let each = cells.chunks_mut(stride).zip(values).zip(seen);
                for (l, ((cell, value), n)) in each.enumerate() {
                    let Some(class) = self.classes[*n] else {
                        continue;
                    };
                    let a = |c: usize| batch.a[c].0[l];
                    let own = |c: usize| batch.mean[c].0[l] - about.intercept(*n, c);
                    *value = batch.mean[class].0[l] - batch.bound.0[l];
                    let (linear, said) = cell.split_at_mut(classes);
                    let (slope, curvature) = said.split_at_mut(classes);
                    slope_and_curvature(class, a, slope, curvature);
                    // Hx = a∘x - a(a'x)
                    let along: f64 = (0..classes).map(|c| a(c) * own(c)).sum();
                    for (c, l) in linear.iter_mut().enumerate() {
                        *l = slope[c] + a(c) * (own(c) - along);
                    }
                }
            });
    }
}

/// What is known of the predictors of some samples.
struct About<'a> {
    p: &'a Predictor<'a>,
    /// Means and variances of the predictors, samples × classes, from this sample on.
    mean: Mat<f64>,
    variance: Mat<f64>,
    start: usize,
    /// Weights, class by class.
    weights: Vec<f64>,
}

impl About<'_> {
    /// Mean and variance of a predictor.
    fn of(&self, sample: usize, class: usize) -> (f64, f64) {
        let i = sample - self.start;
        (self.mean[(i, class)], self.variance[(i, class)])
    }
    fn intercept(&self, sample: usize, class: usize) -> f64 {
        self.p.bias.mean()[self.p.bias.place_of(sample, class)]
    }
}

//! From predictors to data: where a predictor stands among the training
//! values.

use std::ops::Range;

use polyview_core::{PredictedBlock, Predictor, RowMoments};
use polyview_linalg::{Mat, SymPacked};
use polyview_random::{StreamKey, standard_normal};
use polyview_special::{normal_cdf, normal_quantile};
use rayon::prelude::*;

use super::anchors::Anchors;

/// Least variance of a normal score about its regression.
const LEAST_SPREAD: f64 = 1e-6;

/// The posterior of the training samples, as far as new ones are compared with
/// it.
#[derive(Clone, Debug)]
pub(super) struct Training {
    /// Means of the factors, those of one sample side by side.
    means: Vec<f64>,
    k: usize,
    /// Mean covariance of the factors.
    pub(super) spread: SymPacked,
    /// One a feature.
    links: Vec<Link>,
}

/// Normal score of a value given its predictor: $N(c + bw, v)$.
#[derive(Clone, Copy, Debug)]
struct Link {
    centre: f64,
    slope: f64,
    spread: f64,
}

/// What a feature's values are, with the normal scores between them.
struct Scale {
    values: Vec<f64>,
    /// Scores at the upper ends of all values but the last.
    ends: Vec<f64>,
}

impl Training {
    /// `None` where the anchors are not of these samples.
    pub(super) fn new(p: &Predictor<'_>, anchors: &Anchors) -> Option<Self> {
        let (n, k) = (p.factors.explicit_rows(), p.factors.k());
        let fits = anchors.samples.iter().all(|s| (*s as usize) < n)
            && p.weights.explicit_rows() == anchors.features();
        if !fits {
            return None;
        }
        let mut means = vec![0.0; n * k];
        for j in 0..k {
            for (r, x) in p.factors.mean().col(j).iter().enumerate() {
                means[r * k + j] = *x;
            }
        }
        let mut spread = p.factors.cov_sum(Some(&vec![1.0; n]));
        spread.scale(1.0 / n.max(1) as f64);
        let mut out = Self {
            means,
            k,
            spread,
            links: Vec::new(),
        };
        out.links = (0..anchors.features())
            .into_par_iter()
            .map(|i| out.link(i, p.weights, anchors))
            .collect();
        Some(out)
    }
    /// Mean factors of an anchor.
    #[inline]
    pub(super) fn row(&self, sample: u32) -> &[f64] {
        let at = sample as usize * self.k;
        &self.means[at..at + self.k]
    }
    /// Regression of the normal scores of the anchors on their predictors.
    fn link(&self, feature: usize, weights: &RowMoments, anchors: &Anchors) -> Link {
        let a: Vec<f64> = (0..self.k).map(|j| weights.mean()[(feature, j)]).collect();
        let total: f64 = anchors.counts[anchors.of(feature)].iter().sum();
        let (mut below, mut points) = (0.0, Vec::new());
        for run in anchors.runs(feature) {
            let size: f64 = anchors.counts[run.clone()].iter().sum();
            let score = normal_quantile((below + 0.5 * (size + 1.0)) / (total + 1.0));
            below += size;
            for at in run {
                let row = self.row(anchors.samples[at]);
                let w: f64 = row.iter().zip(&a).map(|(z, a)| z * a).sum();
                points.push((anchors.counts[at], w, score));
            }
        }
        let mean = |of: &dyn Fn(&(f64, f64, f64)) -> f64| {
            points.iter().map(|p| p.0 * of(p)).sum::<f64>() / total.max(1.0)
        };
        let (w, g) = (mean(&|p| p.1), mean(&|p| p.2));
        let ww = mean(&|p| (p.1 - w).powi(2));
        let wg = mean(&|p| (p.1 - w) * (p.2 - g));
        let gg = mean(&|p| (p.2 - g).powi(2));
        let slope = if ww > 0.0 { (wg / ww).max(0.0) } else { 0.0 };
        Link {
            centre: g - slope * w,
            slope,
            spread: (gg - slope * wg).max(LEAST_SPREAD),
        }
    }
    /// Variance that is left, in squared units of the predictor.
    pub(super) fn link_variance(&self, feature: usize) -> f64 {
        let link = self.links[feature];
        link.spread / (link.slope * link.slope).max(1e-300)
    }
}

impl Scale {
    fn new(feature: usize, anchors: &Anchors) -> Self {
        let runs = anchors.runs(feature);
        let total: f64 = anchors.counts[anchors.of(feature)].iter().sum();
        let mut out = Self {
            values: Vec::with_capacity(runs.len()),
            ends: Vec::with_capacity(runs.len()),
        };
        let (last, mut below) = (runs.len().saturating_sub(1), 0.0);
        for (i, run) in runs.into_iter().enumerate() {
            below += anchors.counts[run.clone()].iter().sum::<f64>();
            out.values.push(anchors.values[run.start]);
            if i < last {
                out.ends.push(normal_quantile(below / total));
            }
        }
        out
    }
    /// Mean and variance of the value whose normal score is N(`mean`,
    /// `variance`).
    fn moments(&self, mean: f64, variance: f64) -> (f64, f64) {
        let Some((&first, _)) = self.values.split_first() else {
            return (0.0, 0.0);
        };
        let sd = variance.sqrt();
        let (mut before, mut m, mut s) = (0.0, 0.0, 0.0);
        for (i, x) in self.values.iter().enumerate() {
            let up = self
                .ends
                .get(i)
                .map_or(1.0, |t| normal_cdf((t - mean) / sd));
            let share = (up - before).max(0.0);
            before = up;
            // about the first value: small spreads on a large level stay exact
            m += share * (x - first);
            s += share * (x - first).powi(2);
        }
        (first + m, (s - m * m).max(0.0))
    }
    /// The value at a normal score.
    fn at(&self, score: f64) -> f64 {
        let place = self.ends.partition_point(|t| *t < score);
        self.values.get(place).copied().unwrap_or(0.0)
    }
}

/// Moments of the training values that predictors meet; those of all training
/// values where nothing is known of the training samples.
pub(super) fn predict(
    anchors: &Anchors,
    training: Option<&Training>,
    p: &Predictor<'_>,
    samples: Range<usize>,
    columns: Range<usize>,
) -> PredictedBlock {
    let mut mean = p.mean(samples.clone(), columns.clone());
    let mut variance = p.variance(samples.clone(), columns.clone());
    let rows = samples.len();
    mean.as_mut()
        .par_col_chunks_mut(1)
        .zip(variance.as_mut().par_col_chunks_mut(1))
        .enumerate()
        .for_each(|(j, (mut mean, mut variance))| {
            let i = columns.start + j;
            let scale = Scale::new(i, anchors);
            let link = training.map(|t| t.links[i]);
            for n in 0..rows {
                let (score, spread) = link.map_or((0.0, 1.0), |l| {
                    (
                        l.centre + l.slope * mean[(n, 0)],
                        l.slope * l.slope * variance[(n, 0)].max(0.0) + l.spread,
                    )
                });
                (mean[(n, 0)], variance[(n, 0)]) = scale.moments(score, spread);
            }
        });
    PredictedBlock { mean, variance }
}

/// Draws of data; one stream of random numbers a column.
pub(super) fn simulate(
    anchors: &Anchors,
    training: Option<&Training>,
    p: &Predictor<'_>,
    key: StreamKey,
) -> Mat<f64> {
    let (rows, features) = (p.factors.explicit_rows(), anchors.features());
    let mut out = Mat::zeros(rows, features);
    for i in 0..features {
        let scale = Scale::new(i, anchors);
        let eta = p.mean(0..rows, i..i + 1);
        let mut rng = key.chunk(i as u32).rng();
        for n in 0..rows {
            let noise = standard_normal(&mut rng);
            let score = training.map_or(noise, |t| {
                let l = t.links[i];
                l.centre + l.slope * eta[(n, 0)] + l.spread.sqrt() * noise
            });
            out[(n, i)] = scale.at(score);
        }
    }
    out
}

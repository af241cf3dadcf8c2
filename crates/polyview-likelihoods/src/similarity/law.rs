//! Predicted similarities.

use std::ops::Range;

use polyview_core::{Domain, Predictor};
use polyview_linalg::{Mat, PackedRows, packed_index};

use super::rows::LatentRows;
use crate::laws::Matched;

/// What is known of the latent rows of some samples.
pub(super) struct Uncertain {
    /// Means, samples × dimensions.
    pub(super) mean: Mat<f64>,
    /// Covariances.
    pub(super) cov: PackedRows,
}

impl Uncertain {
    /// Of predictors with their uncertainty alone.
    pub(super) fn predictor(p: &Predictor<'_>, samples: Range<usize>) -> Self {
        let k = p.weights.explicit_rows();
        let mean = p.mean(samples.clone(), 0..k);
        let own = p.variance(samples.clone(), 0..k);
        // dimensions hang together by the factors that they have in common
        let (w, factors) = (p.weights.mean(), p.weights.k());
        let places: Vec<(usize, usize)> =
            (1..k).flat_map(|a| (0..a).map(move |b| (a, b))).collect();
        let mut matrices = PackedRows::zeros(places.len(), factors);
        for (m, &(a, b)) in places.iter().enumerate() {
            let mut cells = matrices.row_mut(m).iter_mut();
            for i in 0..factors {
                for (j, cell) in (0..=i).zip(&mut cells) {
                    *cell = 0.5 * (w[(a, i)] * w[(b, j)] + w[(a, j)] * w[(b, i)]);
                }
            }
        }
        let across = p.spread_along(samples.clone(), &matrices);
        let mut cov = PackedRows::zeros(samples.len(), k);
        for n in 0..samples.len() {
            let to = cov.row_mut(n);
            for l in 0..k {
                to[packed_index(l, l)] = own[(n, l)];
            }
            for (m, &(a, b)) in places.iter().enumerate() {
                to[packed_index(a, b)] = across[(n, m)];
            }
        }
        Self { mean, cov }
    }
    /// Of rows about their predictors, which they lie about with this variance.
    pub(super) fn of_predictor(p: &Predictor<'_>, samples: Range<usize>, noise: f64) -> Self {
        let mut out = Self::predictor(p, samples);
        let k = out.mean.ncols();
        for n in 0..out.mean.nrows() {
            for l in 0..k {
                out.cov.row_mut(n)[packed_index(l, l)] += noise;
            }
        }
        out
    }
}

/// The laws of the similarities of samples with these rows to some samples of training, about
/// whose product they lie with the variance `noise`.
pub(super) fn of_rows(
    rows: &Uncertain,
    training: &LatentRows,
    noise: f64,
    columns: &Range<usize>,
) -> Matched {
    let samples = rows.mean.nrows();
    let of: Vec<Vec<f64>> = (0..samples)
        .map(|n| (0..training.k()).map(|l| rows.mean[(n, l)]).collect())
        .collect();
    let [mut mean, mut variance] = [(); 2].map(|()| Mat::zeros(samples, columns.len()));
    for (j, d) in columns.clone().enumerate() {
        for n in 0..samples {
            let (m, v) = training.product(d, &of[n], rows.cov.row(n));
            mean[(n, j)] = m;
            variance[(n, j)] = v + noise;
        }
    }
    Matched::new(Domain::Similarities, mean, variance)
}

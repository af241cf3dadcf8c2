//! Observed similarities, sample by sample.

use std::sync::Arc;

use polyview_core::View;
use polyview_linalg::{BitMask, Mat};

/// Similarities of samples to the samples of training, those of a sample side by side.
#[derive(Clone, Debug)]
pub(super) struct Similarities {
    /// Training samples × samples; zero where nothing was observed.
    values: Arc<Mat<f64>>,
    seen: BitMask,
    /// Observed similarities of each sample.
    counts: Vec<usize>,
}

impl Similarities {
    /// Those of a view, whose features are the samples of training.
    pub(super) fn new(view: &View) -> Self {
        let (rows, columns) = (view.n_samples(), view.n_features());
        let seen = BitMask::from_fn(columns, rows, |d, n| view.is_observed(n, d));
        Self {
            values: Arc::new(Mat::from_fn(columns, rows, |d, n| {
                view.value(n, d).unwrap_or(0.0)
            })),
            counts: (0..rows).map(|n| seen.count_col(n)).collect(),
            seen,
        }
    }
    pub(super) fn samples(&self) -> usize {
        self.counts.len()
    }
    pub(super) fn count(&self, sample: usize) -> usize {
        self.counts[sample]
    }
    /// Number of observed cells.
    pub(super) fn total(&self) -> usize {
        self.counts.iter().sum()
    }
    /// The observed similarities of a sample, with whom.
    pub(super) fn of(&self, sample: usize) -> impl Iterator<Item = (usize, f64)> + '_ {
        let column = self.values.col_as_slice(sample);
        let seen = move |j: &usize| self.seen.get(*j, sample);
        (0..column.len()).filter(seen).map(|j| (j, column[j]))
    }
    /// Whether a sample was compared with one of training.
    pub(super) fn is_seen(&self, sample: usize, with: usize) -> bool {
        self.seen.get(with, sample)
    }
    /// Replaces the observed values of a symmetric table: `make(j, i)` is asked once for each
    /// pair, with j < i, in order.
    pub(super) fn replace_pairs(&mut self, mut make: impl FnMut(usize, usize) -> f64) {
        let values = Arc::make_mut(&mut self.values);
        for i in 0..values.ncols() {
            for j in 0..i {
                if self.seen.get(j, i) {
                    let x = make(j, i);
                    values[(j, i)] = x;
                    values[(i, j)] = x;
                }
            }
        }
    }
}

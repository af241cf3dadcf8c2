//! Values of every cell, shared among whoever holds them.

use std::ops::Range;
use std::sync::Arc;

use polyview_linalg::{Mat, MatRef};

/// A matrix samples × features, or some samples of one that lie next to each
/// other. Clones and ranges share the numbers; whoever changes them gets a copy
/// of their own first.
#[derive(Clone, Debug)]
pub struct DenseValues {
    all: Arc<Mat<f64>>,
    rows: Range<usize>,
}

impl PartialEq for DenseValues {
    fn eq(&self, other: &Self) -> bool {
        self.as_ref() == other.as_ref()
    }
}

impl From<Arc<Mat<f64>>> for DenseValues {
    fn from(all: Arc<Mat<f64>>) -> Self {
        let rows = 0..all.nrows();
        Self { all, rows }
    }
}

impl From<Mat<f64>> for DenseValues {
    fn from(all: Mat<f64>) -> Self {
        Arc::new(all).into()
    }
}

impl DenseValues {
    /// The values.
    pub fn as_ref(&self) -> MatRef<'_, f64> {
        let all = self.all.as_ref().as_ref();
        all.subrows(self.rows.start, self.rows.len())
    }
    /// Number of samples.
    pub fn nrows(&self) -> usize {
        self.rows.len()
    }
    /// Number of features.
    pub fn ncols(&self) -> usize {
        self.all.ncols()
    }
    /// The values of a feature.
    ///
    /// # Panics
    /// If there is no such feature.
    pub fn col_as_slice(&self, feature: usize) -> &[f64] {
        &self.all.col_as_slice(feature)[self.rows.clone()]
    }
    /// The value of a cell.
    ///
    /// # Panics
    /// If there is no such cell.
    pub fn get(&self, sample: usize, feature: usize) -> f64 {
        self.col_as_slice(feature)[sample]
    }
    /// Some samples of these; nothing is copied.
    ///
    /// # Panics
    /// If there are no such samples.
    #[must_use]
    pub fn range(&self, samples: Range<usize>) -> Self {
        assert!(samples.start <= samples.end && samples.end <= self.rows.len());
        let first = self.rows.start;
        Self {
            all: self.all.clone(),
            rows: first + samples.start..first + samples.end,
        }
    }
    /// Whether both look at the same numbers in memory, or at parts of them.
    pub fn shares_with(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.all, &other.all)
    }
    /// A matrix of their own: shared where these are all of one, else a copy.
    pub(super) fn to_matrix(&self) -> Arc<Mat<f64>> {
        if self.rows.len() == self.all.nrows() {
            self.all.clone()
        } else {
            Arc::new(self.as_ref().to_owned())
        }
    }
    /// The values to be changed, in a matrix that nobody else holds.
    pub fn make_mut(&mut self) -> &mut Mat<f64> {
        if self.rows.len() < self.all.nrows() {
            *self = self.to_matrix().into();
        }
        Arc::make_mut(&mut self.all)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_share_until_they_change() {
        let all = DenseValues::from(Mat::from_fn(6, 2, |n, d| (10 * d + n) as f64));
        let part = all.range(1..5);
        let mut inner = part.range(1..3);
        assert_eq!(
            inner.as_ref(),
            Mat::from_fn(2, 2, |n, d| (10 * d + n + 2) as f64)
        );
        assert_eq!((inner.nrows(), inner.ncols()), (2, 2));
        assert_eq!(
            (inner.get(1, 1), inner.col_as_slice(1)),
            (13.0, &[12.0, 13.0][..])
        );
        assert!(inner.shares_with(&all) && all.clone().shares_with(&part));
        assert!(Arc::ptr_eq(&all.to_matrix(), &all.all));
        inner.make_mut()[(0, 0)] = -1.0;
        assert!(!inner.shares_with(&all));
        assert_eq!((inner.get(0, 0), all.get(2, 0)), (-1.0, 2.0));
        assert_eq!(inner.nrows(), 2);
        assert_eq!(part.range(4..4).nrows(), 0);
    }
}

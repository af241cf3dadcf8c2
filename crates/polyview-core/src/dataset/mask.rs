//! Which cells of a view were observed.

use polyview_linalg::{BitMask, Mat};

use crate::error::DataError;

/// Which cells of a view were observed.
#[derive(Clone, Debug, PartialEq)]
pub enum Mask {
    /// Every cell.
    Complete,
    /// Whole samples are missing: `true` = every feature of that sample was
    /// observed, `false` = none.
    Rows(Vec<bool>),
    /// Any pattern of cells.
    Cells {
        /// Samples × features, packed along samples.
        by_feature: BitMask,
        /// Features × samples, packed along features.
        by_sample: BitMask,
    },
}

impl Mask {
    /// The simplest mask that describes `observed(sample, feature)`.
    pub fn from_fn(
        samples: usize,
        features: usize,
        mut observed: impl FnMut(usize, usize) -> bool,
    ) -> Self {
        let cells = BitMask::from_fn(samples, features, &mut observed);
        if cells.is_full() {
            return Self::Complete;
        }
        let by_sample = cells.transposed();
        let mut rows = Vec::with_capacity(samples);
        for n in 0..samples {
            let count = by_sample.count_col(n);
            if count != 0 && count != features {
                return Self::Cells {
                    by_feature: cells,
                    by_sample,
                };
            }
            rows.push(count == features && features > 0);
        }
        Self::Rows(rows)
    }

    /// Reads the mask off the `NaN`s and puts zeros in their place.
    pub(crate) fn extract(view: &str, values: &mut Mat<f64>) -> Result<Self, DataError> {
        for d in 0..values.ncols() {
            let infinite = |x: &f64| x.is_infinite();
            if let Some(n) = values.col_as_slice(d).iter().position(infinite) {
                return Err(DataError::Infinite {
                    view: view.to_owned(),
                    sample: n,
                    feature: d,
                });
            }
        }
        Ok(Self::of_finite(values))
    }

    /// As [`Mask::extract`] for values known to hold no infinity.
    pub(crate) fn of_finite(values: &mut Mat<f64>) -> Self {
        let holes = |d: usize| values.col_as_slice(d).iter().any(|x| x.is_nan());
        if !(0..values.ncols()).any(holes) {
            return Self::Complete;
        }
        let mask = {
            let v = values.as_ref();
            Self::from_fn(v.nrows(), v.ncols(), |n, d| !v[(n, d)].is_nan())
        };
        if !matches!(mask, Self::Complete) {
            for d in 0..values.ncols() {
                for n in 0..values.nrows() {
                    if values[(n, d)].is_nan() {
                        values[(n, d)] = 0.0;
                    }
                }
            }
        }
        mask
    }

    /// Whether that cell was observed.
    pub fn is_observed(&self, sample: usize, feature: usize) -> bool {
        match self {
            Self::Complete => true,
            Self::Rows(rows) => rows[sample],
            Self::Cells { by_feature, .. } => by_feature.get(sample, feature),
        }
    }

    /// Number of observed cells of a samples × features view.
    pub fn count(&self, samples: usize, features: usize) -> usize {
        match self {
            Self::Complete => samples * features,
            Self::Rows(rows) => rows.iter().filter(|&&r| r).count() * features,
            Self::Cells { by_feature, .. } => by_feature.count(),
        }
    }

    /// Number of observed cells of one feature.
    pub fn count_feature(&self, feature: usize, samples: usize) -> usize {
        match self {
            Self::Complete => samples,
            Self::Rows(rows) => rows.iter().filter(|&&r| r).count(),
            Self::Cells { by_feature, .. } => by_feature.count_col(feature),
        }
    }

    /// Number of observed cells of one sample.
    pub fn count_sample(&self, sample: usize, features: usize) -> usize {
        match self {
            Self::Complete => features,
            Self::Rows(rows) => {
                if rows[sample] {
                    features
                } else {
                    0
                }
            }
            Self::Cells { by_sample, .. } => by_sample.count_col(sample),
        }
    }
}

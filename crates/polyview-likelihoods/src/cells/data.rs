//! The data of a term, column by column.

use std::borrow::Cow;
use std::ops::Range;
use std::sync::Arc;

use polyview_core::{Mask, Values, View};
use polyview_linalg::Mat;

use super::{Cell, ColumnData};

/// Data, numbers of trials, other ends and mask of a view.
#[derive(Clone, Debug)]
pub(crate) struct Data {
    /// Shared with whoever else holds the view; copied when they change.
    pub(crate) values: Values,
    /// Numbers of trials, where the view has them.
    pub(crate) trials: Option<Arc<Mat<f64>>>,
    /// Other ends of cells, where the view has them.
    pub(crate) ends: Option<Arc<Mat<f64>>>,
    pub(crate) mask: Mask,
}

/// The data of a feature.
pub(crate) struct Column<'a> {
    feature: usize,
    values: Cow<'a, [f64]>,
    trials: Option<&'a [f64]>,
    ends: Option<&'a [f64]>,
    mask: &'a Mask,
}

impl Data {
    /// Name, feature names and data of a view.
    pub(crate) fn of(view: View) -> (String, Vec<String>, Self) {
        let (trials, ends) = (view.trials().cloned(), view.ends().cloned());
        let (name, features, values, mask) = view.into_stored();
        let data = Self {
            values,
            trials,
            ends,
            mask,
        };
        (name, features, data)
    }
    pub(crate) fn rows(&self) -> usize {
        self.values.nrows()
    }
    pub(crate) fn columns(&self) -> usize {
        self.values.ncols()
    }
    /// Other data in place of the observed cells, a column of values and other ends each.
    pub(crate) fn replace(&mut self, drawn: &[Vec<(f64, f64)>]) {
        let values = self.values.cells_mut(&self.mask);
        for (d, column) in drawn.iter().enumerate() {
            for (x, (value, _)) in values.col_as_slice_mut(d).iter_mut().zip(column) {
                *x = *value;
            }
        }
        if let Some(ends) = &mut self.ends {
            let new = |n: usize, d: usize| drawn[d][n].1;
            *ends = Arc::new(Mat::from_fn(ends.nrows(), ends.ncols(), new));
        }
    }
    /// Sum over the observed cells of each feature.
    pub(crate) fn sums(&self, of: impl Fn(Cell) -> f64) -> Vec<f64> {
        (0..self.columns())
            .map(|d| {
                let column = self.column(d);
                (0..self.rows())
                    .filter_map(|n| column.cell(n))
                    .map(&of)
                    .sum()
            })
            .collect()
    }
    /// The data of a feature; with its zeros where these are not stored.
    pub(crate) fn column(&self, column: usize) -> Column<'_> {
        let values = match &self.values {
            Values::Dense(x) => Cow::Borrowed(x.col_as_slice(column)),
            sparse @ Values::Sparse(_) => {
                let mut out = vec![0.0; self.rows()];
                sparse.write_column(column, &self.mask, &mut out);
                Cow::Owned(out)
            }
        };
        Column {
            feature: column,
            values,
            trials: self.trials.as_ref().map(|t| t.col_as_slice(column)),
            ends: self.ends.as_ref().map(|e| e.col_as_slice(column)),
            mask: &self.mask,
        }
    }
}

impl Column<'_> {
    /// All of it.
    pub(crate) fn all(&self) -> ColumnData<'_> {
        ColumnData {
            column: self.feature,
            values: &self.values,
            trials: self.trials,
            ends: self.ends,
        }
    }
    /// Puts zeros where nothing was observed.
    pub(crate) fn clear_missing(&self, out: &mut [f64]) {
        match self.mask {
            Mask::Complete => {}
            Mask::Rows(rows) => {
                for (x, _) in out.iter_mut().zip(rows).filter(|(_, seen)| !**seen) {
                    *x = 0.0;
                }
            }
            Mask::Cells { by_feature, .. } => by_feature.clear_zeros_in_col(self.feature, out),
        }
    }
    /// As [`Column::clear_missing`], for some samples alone.
    pub(crate) fn clear_missing_of(&self, samples: &Range<usize>, out: &mut [f64]) {
        if samples.start == 0 {
            self.clear_missing(out);
        } else if !matches!(self.mask, Mask::Complete) {
            for (x, n) in out.iter_mut().zip(samples.clone()) {
                if !self.mask.is_observed(n, self.feature) {
                    *x = 0.0;
                }
            }
        }
    }
    /// A cell, where it was observed.
    #[inline]
    pub(crate) fn cell(&self, sample: usize) -> Option<Cell> {
        self.mask.is_observed(sample, self.feature).then(|| Cell {
            column: self.feature,
            value: self.values[sample],
            trials: self.trials.map_or(1.0, |t| t[sample]),
            end: self.ends.map_or(f64::NAN, |e| e[sample]),
        })
    }
}

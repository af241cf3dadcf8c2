//! Numbers of trials behind counts of successes.

use std::collections::HashMap;
use std::sync::Arc;

use polyview_linalg::Mat;

use super::{Table, View};
use crate::error::DataError;

impl View {
    /// Number of trials of each cell, samples × features, `NaN` where it is
    /// not known; `None` where the view has none, each count then being out of
    /// one trial.
    pub fn trials(&self) -> Option<&Arc<Mat<f64>>> {
        self.trials.as_ref()
    }
    /// Number of trials of a cell: 1 where the view has none, `NaN` where it
    /// is not known.
    pub fn trials_of(&self, sample: usize, feature: usize) -> f64 {
        self.trials.as_ref().map_or(1.0, |t| t[(sample, feature)])
    }
    /// The view as counts of successes out of `trials`, one a cell; `NaN` where
    /// it is not known.
    ///
    /// # Errors
    /// [`DataError::LengthMismatch`] when the shape differs;
    /// [`DataError::Trials`] where a cell has no, negative or broken trials, or
    /// more successes than trials; [`DataError::SparseTrials`] where the counts
    /// are stored sparse.
    pub fn with_trials(mut self, trials: Mat<f64>) -> Result<Self, DataError> {
        let (rows, columns) = (self.n_samples(), self.n_features());
        if trials.shape() != (rows, columns) {
            return Err(DataError::LengthMismatch {
                view: self.name,
                what: "numbers of trials",
                expected: rows * columns,
                found: trials.nrows() * trials.ncols(),
            });
        }
        if self.sparse().is_some() {
            return Err(DataError::SparseTrials { view: self.name });
        }
        for d in 0..columns {
            for n in 0..rows {
                let of = trials[(n, d)];
                let whole = of.is_nan() || (of >= 0.0 && of.fract() == 0.0 && of.is_finite());
                // a missing count may go without; NaN compares false
                let enough = self.value(n, d).is_none_or(|y| of >= y && of > 0.0);
                if !(whole && enough) {
                    return Err(DataError::Trials {
                        feature: self.features[d].clone(),
                        view: self.name,
                        sample: n,
                        trials: of,
                    });
                }
            }
        }
        self.trials = Some(Arc::new(trials));
        Ok(self)
    }
}

/// Trials of a view in the order of its rows and columns, by names.
pub(super) fn align(
    view: View,
    table: &Table,
    index: &HashMap<&str, usize>,
) -> Result<View, DataError> {
    let trials = by_names(&view, table, index);
    view.with_trials(trials)
}

/// What a table says of each cell of a view, by names; `NaN` where it says nothing.
pub(super) fn by_names(view: &View, table: &Table, index: &HashMap<&str, usize>) -> Mat<f64> {
    let columns: HashMap<&str, usize> = (view.features().iter().enumerate())
        .map(|(d, f)| (f.as_str(), d))
        .collect();
    let mut out = Mat::full(view.n_samples(), view.n_features(), f64::NAN);
    for (j, f) in table.features.iter().enumerate() {
        let Some(&d) = columns.get(f.as_str()) else {
            continue;
        };
        for (i, s) in table.samples.iter().enumerate() {
            if let Some(&n) = index.get(s.as_str()) {
                out[(n, d)] = table.values[(i, j)];
            }
        }
    }
    out
}

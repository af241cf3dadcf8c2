//! Cells of which is known between which two ends they lie.

use std::collections::HashMap;
use std::sync::Arc;

use polyview_linalg::Mat;

use super::limited::most_likely;
use super::{Table, View};
use crate::error::DataError;

impl View {
    /// The other end of each cell, samples × features, in the units of the values; `NaN` where the
    /// value is exact or missing. `None` where all are exact.
    ///
    /// A cell with another end lies between this and its value: a value of 1300 with the end
    /// $\infty$ is all that is known of "above 1300".
    pub fn ends(&self) -> Option<&Arc<Mat<f64>>> {
        self.ends.as_ref()
    }
    /// Whether a cell is known by two ends alone.
    pub fn is_censored(&self, sample: usize, feature: usize) -> bool {
        (self.ends.as_ref()).is_some_and(|e| !e[(sample, feature)].is_nan())
            && self.is_observed(sample, feature)
    }
    /// Between which ends an observed cell lies, lower and upper: the value twice where it is
    /// exact; `None` where the cell is missing.
    pub fn interval(&self, sample: usize, feature: usize) -> Option<(f64, f64)> {
        let value = self.value(sample, feature)?;
        let end = self
            .ends
            .as_ref()
            .map_or(f64::NAN, |e| e[(sample, feature)]);
        // the minimum of a number and none is the number
        Some((value.min(end), value.max(end)))
    }
    /// Mean and standard deviation of the normal law under which all cells of a feature are most likely: the density at exact
    /// values, the probability of what lies between two ends (docs/decisions/0090-scales-of-limits.md). `None` unless two exact
    /// values differ, without which no law is.
    pub fn most_likely_normal(&self, feature: usize) -> Option<(f64, f64)> {
        let cells = (0..self.n_samples()).filter_map(|n| self.interval(n, feature));
        most_likely(&cells.collect::<Vec<_>>())
    }
    /// The view with its exact cells alone.
    #[must_use]
    pub fn exact(&self) -> Self {
        if self.ends.is_none() {
            return self.clone();
        }
        let hidden = self.hiding(|n, d| self.is_censored(n, d));
        Self {
            ends: None,
            ..hidden
        }
    }
    /// The view with other ends of its cells, samples × features, in the units of the values:
    /// infinite on one side where a limit is all that is known; `NaN`, or the value once more,
    /// where the value is exact. Ends of missing cells do not count.
    ///
    /// ```
    /// use polyview_core::View;
    /// use polyview_linalg::Mat;
    ///
    /// # fn main() -> Result<(), polyview_core::DataError> {
    /// // 3.5, "above 1300" and "between 2 and 5"
    /// let values = Mat::from_fn(3, 1, |n, _| [3.5, 1300.0, 2.0][n]);
    /// let ends = Mat::from_fn(3, 1, |n, _| [f64::NAN, f64::INFINITY, 5.0][n]);
    /// let view = View::from_values("readings", vec!["a".into()], values)?.with_ends(ends)?;
    /// assert_eq!(view.interval(0, 0), Some((3.5, 3.5)));
    /// assert_eq!(view.interval(1, 0), Some((1300.0, f64::INFINITY)));
    /// assert!(view.is_censored(2, 0));
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// [`DataError::LengthMismatch`] when the shape differs; [`DataError::SparseEnds`] where the
    /// values are stored sparse.
    pub fn with_ends(mut self, mut ends: Mat<f64>) -> Result<Self, DataError> {
        let (rows, columns) = (self.n_samples(), self.n_features());
        if ends.shape() != (rows, columns) {
            return Err(DataError::LengthMismatch {
                view: self.name,
                what: "ends of cells",
                expected: rows * columns,
                found: ends.nrows() * ends.ncols(),
            });
        }
        if self.sparse().is_some() {
            return Err(DataError::SparseEnds { view: self.name });
        }
        let mut any = false;
        for d in 0..columns {
            for n in 0..rows {
                let end = &mut ends[(n, d)];
                if self.value(n, d).is_none_or(|x| x == *end) {
                    *end = f64::NAN;
                }
                any |= !end.is_nan();
            }
        }
        self.ends = any.then(|| Arc::new(ends));
        Ok(self)
    }
    /// The view as instruments of these limits see it, lower and upper by feature, in the units of the
    /// values, infinite where there is none: of an exact cell at its lower limit or below it is known that
    /// it lies below that limit, of one at the upper limit or above that it lies above. Cells
    /// with ends of their own stay as they are.
    ///
    /// ```
    /// use polyview_core::View;
    /// use polyview_linalg::Mat;
    ///
    /// # fn main() -> Result<(), polyview_core::DataError> {
    /// let values = Mat::from_fn(3, 1, |n, _| [0.01, 3.0, 9.0][n]);
    /// let view = View::from_values("readings", vec!["a".into()], values)?.within(&[(0.05, 9.0)])?;
    /// assert_eq!(view.interval(0, 0), Some((f64::NEG_INFINITY, 0.05)));
    /// assert_eq!(view.interval(1, 0), Some((3.0, 3.0)));
    /// assert_eq!(view.interval(2, 0), Some((9.0, f64::INFINITY)));
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// [`DataError::LengthMismatch`] unless there is a pair for each feature;
    /// [`DataError::SparseEnds`] where the values are stored sparse.
    pub fn within(self, limits: &[(f64, f64)]) -> Result<Self, DataError> {
        let (rows, columns) = (self.n_samples(), self.n_features());
        if limits.len() != columns {
            return Err(DataError::LengthMismatch {
                view: self.name,
                what: "limits",
                expected: columns,
                found: limits.len(),
            });
        }
        if self.sparse().is_some() {
            return Err(DataError::SparseEnds { view: self.name });
        }
        let known = |n: usize, d: usize| match self.value(n, d) {
            _ if self.is_censored(n, d) => None,
            Some(x) if x <= limits[d].0 => Some((limits[d].0, f64::NEG_INFINITY)),
            Some(x) if x >= limits[d].1 => Some((limits[d].1, f64::INFINITY)),
            _ => None,
        };
        let old = self.ends.clone();
        let ends = Mat::from_fn(rows, columns, |n, d| match known(n, d) {
            Some((_, end)) => end,
            None => old.as_ref().map_or(f64::NAN, |e| e[(n, d)]),
        });
        let values = Mat::from_fn(rows, columns, |n, d| match known(n, d) {
            Some((limit, _)) => limit,
            None => self.value(n, d).unwrap_or(0.0),
        });
        self.with_values(values)?.with_ends(ends)
    }
    /// Ends for other values of the same cells: they are as far off as they were.
    pub(super) fn moved_ends(&self, values: &Mat<f64>) -> Option<Arc<Mat<f64>>> {
        let ends = self.ends.as_ref()?;
        Some(Arc::new(Mat::from_fn(
            ends.nrows(),
            ends.ncols(),
            |n, d| {
                let (end, new) = (ends[(n, d)], values[(n, d)]);
                match self.value(n, d) {
                    Some(old) if old != new => end - old + new,
                    _ => end,
                }
            },
        )))
    }
}

/// Ends of the cells of a view in the order of its rows and columns, by names.
pub(super) fn align(
    view: View,
    table: &Table,
    index: &HashMap<&str, usize>,
) -> Result<View, DataError> {
    let ends = super::trials::by_names(&view, table, index);
    view.with_ends(ends)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Centring, Dataset, FeatureScaling, Scaling};

    const INF: f64 = f64::INFINITY;

    fn table(name: &str, samples: &[&str], cells: &[f64]) -> Table {
        Table {
            name: name.to_owned(),
            samples: samples.iter().map(|s| (*s).to_owned()).collect(),
            features: vec!["x".to_owned()],
            values: Mat::from_fn(samples.len(), 1, |n, _| cells[n]),
            levels: Vec::new(),
        }
    }

    #[test]
    fn ends_go_with_their_samples_and_features_and_scale_with_the_values() {
        let data = Dataset::builder()
            .view(table("v", &["a", "b", "c", "d"], &[1.0, 2.0, 3.0, 4.0]))
            .ends(table("v", &["d", "c", "b"], &[-INF, f64::NAN, 5.0]))
            .build()
            .expect("data");
        let view = &data.views()[0];
        let known = |v: &View| -> Vec<(f64, f64)> {
            let cells = 0..v.n_samples();
            cells.filter_map(|n| v.interval(n, 0)).collect()
        };
        let all = [(1.0, 1.0), (2.0, 5.0), (3.0, 3.0), (-INF, 4.0)];
        assert_eq!(known(view), all);
        assert_eq!(known(&view.subset("v", &[3, 1])), [all[3], all[1]]);
        assert_eq!(known(&view.hiding(|n, _| n == 1)), [all[0], all[2], all[3]]);
        assert!(!view.hiding(|n, _| n == 1).is_censored(1, 0));
        let matched = view.matched("w", vec!["y".into(), "x".into()], &[None, Some(0)]);
        let matched = matched.expect("a view");
        assert_eq!(matched.interval(1, 1), Some((2.0, 5.0)));
        assert_eq!(matched.interval(1, 0), None);
        // limits count for the scale as values do
        let scaling = Scaling::learn(view, Centring::Feature, FeatureScaling::Feature);
        let scaled = scaling.apply(view.clone());
        let (lower, upper) = scaled.interval(1, 0).expect("a cell");
        assert_eq!(scaling.backward(0, lower), 2.0);
        assert!((scaling.backward(0, upper) - 5.0).abs() < 1e-14);
        assert_eq!(scaled.interval(3, 0).map(|i| i.0), Some(-INF));
        assert!(!scaled.is_censored(2, 0));
        // other values take their ends with them
        let moved = view
            .with_values(Mat::from_fn(4, 1, |n, _| n as f64))
            .expect("a view");
        assert_eq!(
            known(&moved),
            [(0.0, 0.0), (1.0, 4.0), (2.0, 2.0), (-INF, 3.0)]
        );
    }

    #[test]
    fn ends_that_say_nothing_more_are_none() {
        let values = Mat::from_fn(2, 1, |n, _| n as f64);
        let view = View::from_values("v", vec!["x".into()], values.clone()).expect("a view");
        let exact = view.clone().with_ends(values).expect("ends");
        assert_eq!(exact.ends(), None);
        assert!(matches!(
            view.with_ends(Mat::zeros(3, 1)),
            Err(DataError::LengthMismatch { .. })
        ));
    }
}

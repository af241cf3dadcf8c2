//! What columns of a view were computed of.

use std::sync::Arc;

use polyview_linalg::Mat;

use super::View;
use crate::error::DataError;

impl View {
    /// Features that the columns of the view were computed of, samples × features in the units that they were compared in, `NaN` for
    /// samples without any; `None` where the columns are the features themselves.
    pub fn behind(&self) -> Option<&Arc<Mat<f64>>> {
        self.behind.as_ref()
    }
    /// The view as columns that were computed of these features, one row for each sample, as those of a kernel are.
    ///
    /// ```
    /// use polyview_core::View;
    /// use polyview_linalg::Mat;
    ///
    /// # fn main() -> Result<(), polyview_core::DataError> {
    /// let similar = Mat::from_fn(3, 2, |n, r| (-(n as f64 - r as f64).powi(2)).exp());
    /// let view = View::from_values("genes", vec!["a".into(), "b".into()], similar)?;
    /// let view = view.with_behind(Mat::from_fn(3, 1, |n, _| n as f64))?;
    /// let part = view.subset("genes", &[2]);
    /// assert_eq!(part.behind().map(|x| x[(0, 0)]), Some(2.0));
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// [`DataError::LengthMismatch`] where there are other samples.
    pub fn with_behind(mut self, features: Mat<f64>) -> Result<Self, DataError> {
        if features.nrows() != self.n_samples() {
            return Err(DataError::LengthMismatch {
                view: self.name,
                what: "samples of the features behind it",
                expected: self.values.nrows(),
                found: features.nrows(),
            });
        }
        self.behind = Some(Arc::new(features));
        Ok(self)
    }
}

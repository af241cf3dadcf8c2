//! Features as a linear model is to see them.

use polyview_linalg::{Mat, MatRef};

use crate::BaselineError;
use crate::error::{finite, same};

/// Means and standard deviations of the features of training samples, by which any samples are standardised; missing
/// cells take the training mean, which is zero then.
///
/// ```
/// use polyview_baselines::Design;
/// use polyview_linalg::Mat;
///
/// let training = Mat::from_fn(3, 1, |n, _| [1.0, f64::NAN, 3.0][n]);
/// let design = Design::learn(training.as_ref())?;
/// assert_eq!(design.apply(training.as_ref())?, Mat::from_fn(3, 1, |n, _| [-1.0, 0.0, 1.0][n]));
/// # Ok::<(), polyview_baselines::BaselineError>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Design {
    means: Vec<f64>,
    sds: Vec<f64>,
}

impl Design {
    /// Learns from training samples, samples × features, `NaN` where a cell is missing. A feature that does not vary, or of
    /// which nothing is known, is zero throughout where it has the training mean, and is not scaled elsewhere.
    ///
    /// # Errors
    /// [`BaselineError::NotFinite`] for infinite values.
    pub fn learn(x: MatRef<'_, f64>) -> Result<Self, BaselineError> {
        finite("features", x, true)?;
        let (mut means, mut sds) = (Vec::new(), Vec::new());
        for d in 0..x.ncols() {
            let column = || x.col(d).iter().copied().filter(|v| !v.is_nan());
            let n = column().count().max(1) as f64;
            let mean = column().sum::<f64>() / n;
            let sd = (column().map(|v| (v - mean).powi(2)).sum::<f64>() / n).sqrt();
            means.push(mean);
            // what differs from its mean by rounding alone does not vary
            sds.push(if sd > 1e-12 * mean.abs() { sd } else { 1.0 });
        }
        Ok(Self { means, sds })
    }
    /// Means of the features, in their own units.
    pub fn means(&self) -> &[f64] {
        &self.means
    }
    /// Standard deviations of the features, in their own units; 1 where a feature does not vary.
    pub fn sds(&self) -> &[f64] {
        &self.sds
    }
    /// Samples × features, standardised as the training samples are; no `NaN` is left.
    ///
    /// # Errors
    /// [`BaselineError::Shape`] for another number of features, [`BaselineError::NotFinite`] for infinite values.
    pub fn apply(&self, x: MatRef<'_, f64>) -> Result<Mat<f64>, BaselineError> {
        same("features", self.means.len(), x.ncols())?;
        finite("features", x, true)?;
        Ok(Mat::from_fn(x.nrows(), x.ncols(), |n, d| {
            let value = (x[(n, d)] - self.means[d]) / self.sds[d];
            if value.is_nan() { 0.0 } else { value }
        }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn training_samples_decide_and_holes_are_their_mean() {
        let training = Mat::from_fn(4, 3, |n, d| match d {
            0 => [1.0, 3.0, f64::NAN, 2.0][n],
            1 => 7.1,
            _ => f64::NAN,
        });
        let design = Design::learn(training.as_ref()).expect("a design");
        assert_eq!(design.means(), [2.0, 7.1, 0.0]);
        assert_eq!(design.sds()[1..], [1.0, 1.0]);
        let new = Mat::from_fn(1, 3, |_, d| [2.0 + (2.0f64 / 3.0).sqrt(), f64::NAN, 4.0][d]);
        let new = design.apply(new.as_ref()).expect("samples");
        assert!((new[(0, 0)] - 1.0).abs() < 1e-15);
        assert_eq!((new[(0, 1)], new[(0, 2)]), (0.0, 4.0));
    }

    #[test]
    fn what_cannot_be_is_named() {
        let x = Mat::from_fn(
            2,
            2,
            |n, d| if (n, d) == (1, 0) { f64::INFINITY } else { 1.0 },
        );
        let bad = BaselineError::NotFinite {
            what: "features",
            row: 1,
            column: 0,
        };
        assert_eq!(Design::learn(x.as_ref()), Err(bad));
        let design = Design::learn(Mat::zeros(2, 3).as_ref()).expect("a design");
        assert!(matches!(
            design.apply(x.as_ref()),
            Err(BaselineError::Shape { .. })
        ));
    }
}

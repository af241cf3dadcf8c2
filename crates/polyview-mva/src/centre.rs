//! Tables as they come: checks, means, class indicators, projection.

use std::collections::BTreeMap;

use crate::MvaError;
use polyview_linalg::{Accum, Mat, MatRef, column_sums, times};

/// A linear map of samples: means are subtracted, then the directions applied.
#[derive(Debug, Clone, PartialEq)]
pub struct Projection {
    mean: Vec<f64>,
    directions: Mat<f64>,
}

impl Projection {
    pub(crate) fn new(mean: Vec<f64>, directions: Mat<f64>) -> Self {
        Self { mean, directions }
    }

    /// Means of the features of the training samples.
    pub fn mean(&self) -> &[f64] {
        &self.mean
    }

    /// Directions, features $\times$ components.
    pub fn directions(&self) -> MatRef<'_, f64> {
        self.directions.as_ref()
    }

    /// Scores of samples, $N \times K$; also of new ones.
    ///
    /// # Errors
    /// [`MvaError::Shape`], [`MvaError::NotFinite`].
    pub fn project(&self, x: MatRef<'_, f64>) -> Result<Mat<f64>, MvaError> {
        same("features of the new samples", self.mean.len(), x.ncols())?;
        finite("new samples", x)?;
        let k = self.directions.ncols();
        let mut scores = Mat::zeros(x.nrows(), k);
        times(x, self.directions.as_ref(), scores.as_mut(), Accum::Replace);
        for j in 0..k {
            let shift: f64 = (0..self.mean.len())
                .map(|d| self.mean[d] * self.directions[(d, j)])
                .sum();
            for n in 0..x.nrows() {
                scores[(n, j)] -= shift;
            }
        }
        Ok(scores)
    }
}

/// Means and standard deviations of features, by which any samples are standardised.
#[derive(Debug, Clone, PartialEq)]
pub struct Standard {
    mean: Vec<f64>,
    scale: Vec<f64>,
}

impl Standard {
    /// Of the features of training samples, $N \times D$; the scale of a constant feature is 1.
    ///
    /// # Errors
    /// [`MvaError::NotFinite`], [`MvaError::Empty`], [`MvaError::NoVariance`] where no feature varies.
    pub fn learn(x: MatRef<'_, f64>) -> Result<Self, MvaError> {
        let (x, mean) = centred("the data", x)?;
        let n = x.nrows() as f64;
        let mut varies = false;
        let deviation = |(d, mean): (usize, &f64)| {
            let sd = (x.col(d).iter().map(|v| v * v).sum::<f64>() / n).sqrt();
            // what rounding leaves of a constant
            let constant = sd <= 1e-12 * mean.abs();
            varies |= !constant;
            if constant { 1.0 } else { sd }
        };
        let scale = mean.iter().enumerate().map(deviation).collect();
        if varies {
            Ok(Self { mean, scale })
        } else {
            Err(MvaError::NoVariance)
        }
    }

    /// As [`Standard::learn`], without scales: all are 1.
    ///
    /// # Errors
    /// As [`Standard::learn`].
    pub fn centre(x: MatRef<'_, f64>) -> Result<Self, MvaError> {
        let mut out = Self::learn(x)?;
        out.scale.fill(1.0);
        Ok(out)
    }

    /// Means of the features.
    pub fn mean(&self) -> &[f64] {
        &self.mean
    }

    /// Standard deviations of the features (over $N$), 1 of constant ones.
    pub fn scale(&self) -> &[f64] {
        &self.scale
    }

    /// Samples about the means, over the scales; also new ones.
    ///
    /// # Errors
    /// [`MvaError::Shape`], [`MvaError::NotFinite`].
    pub fn apply(&self, x: MatRef<'_, f64>) -> Result<Mat<f64>, MvaError> {
        same("features of the new samples", self.mean.len(), x.ncols())?;
        finite("the data", x)?;
        Ok(Mat::from_fn(x.nrows(), x.ncols(), |n, d| {
            (x[(n, d)] - self.mean[d]) / self.scale[d]
        }))
    }
}

/// Indicators of classes `0..classes`, $N \times C$: the target of a supervised projection.
///
/// # Errors
/// [`MvaError::OutOfRange`] where a label is not below `classes`.
pub fn class_indicators(labels: &[usize], classes: usize) -> Result<Mat<f64>, MvaError> {
    let mut y = Mat::zeros(labels.len(), classes);
    for (n, &c) in labels.iter().enumerate() {
        if c >= classes {
            return Err(MvaError::OutOfRange {
                what: "class",
                value: c as f64,
                range: "below the number of classes",
            });
        }
        y[(n, c)] = 1.0;
    }
    Ok(y)
}

/// Squared correlation of a score ($N$ samples) with the best combination of the indicators of its
/// classes: the share of its squares that lies between them; 0 where it does not vary.
///
/// # Errors
/// [`MvaError::Shape`] without a class for each sample, [`MvaError::NotFinite`].
pub fn squared_correlation(score: &[f64], labels: &[usize]) -> Result<f64, MvaError> {
    same("classes of the samples", score.len(), labels.len())?;
    if let Some(row) = score.iter().position(|x| !x.is_finite()) {
        return Err(MvaError::NotFinite {
            what: "the score",
            row,
            column: 0,
        });
    }
    let mean = score.iter().sum::<f64>() / score.len() as f64;
    let mut sums = BTreeMap::new();
    for (x, c) in score.iter().zip(labels) {
        let (sum, count) = sums.entry(*c).or_insert((0.0, 0.0));
        *sum += x - mean;
        *count += 1.0;
    }
    let all: f64 = score.iter().map(|x| (x - mean).powi(2)).sum();
    let between: f64 = sums.values().map(|(sum, count)| sum * sum / count).sum();
    Ok(if all > 0.0 { between / all } else { 0.0 })
}

/// The table with its means subtracted, and the means.
pub(crate) fn centred(
    what: &'static str,
    x: MatRef<'_, f64>,
) -> Result<(Mat<f64>, Vec<f64>), MvaError> {
    if x.nrows() == 0 || x.ncols() == 0 {
        return Err(MvaError::Empty { what });
    }
    finite(what, x)?;
    let n = x.nrows() as f64;
    let mean: Vec<f64> = column_sums(x).into_iter().map(|s| s / n).collect();
    let centred = Mat::from_fn(x.nrows(), x.ncols(), |i, j| x[(i, j)] - mean[j]);
    Ok((centred, mean))
}

pub(crate) fn finite(what: &'static str, x: MatRef<'_, f64>) -> Result<(), MvaError> {
    for column in 0..x.ncols() {
        for row in 0..x.nrows() {
            if !x[(row, column)].is_finite() {
                return Err(MvaError::NotFinite { what, row, column });
            }
        }
    }
    Ok(())
}

pub(crate) fn same(what: &'static str, expected: usize, found: usize) -> Result<(), MvaError> {
    if expected == found {
        Ok(())
    } else {
        Err(MvaError::Shape {
            what,
            expected,
            found,
        })
    }
}

/// An option that must be a finite number of at least `least`.
pub(crate) fn at_least(what: &'static str, value: f64, least: f64) -> Result<(), MvaError> {
    if value.is_finite() && value >= least {
        Ok(())
    } else {
        Err(MvaError::OutOfRange {
            what,
            value,
            range: if least > 0.0 {
                "positive"
            } else {
                "at least 0"
            },
        })
    }
}

/// Samples of each class; every class must have `least` of them, and there must be two.
pub(crate) fn class_sizes(labels: &[usize], least: usize) -> Result<Vec<usize>, MvaError> {
    let classes = labels
        .iter()
        .max()
        .map_or(0, |c| c.saturating_add(1))
        .max(2);
    if classes > labels.len().max(2) {
        return Err(MvaError::OutOfRange {
            what: "class",
            value: (classes - 1) as f64,
            range: "below the number of samples; number classes from 0 without gaps",
        });
    }
    let mut sizes = vec![0; classes];
    for &c in labels {
        sizes[c] += 1;
    }
    match sizes.iter().position(|s| *s < least) {
        Some(class) => Err(MvaError::Class {
            class,
            samples: sizes[class],
            least,
        }),
        None => Ok(sizes),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// By hand: means 1 and 4 about 2.2, squares 10.8 between the classes and 4 within.
    #[test]
    fn a_score_is_correlated_with_its_classes() {
        let (score, classes) = ([0.0, 1.0, 2.0, 3.0, 5.0], [4, 4, 4, 1, 1]);
        let found = squared_correlation(&score, &classes).expect("a class for each");
        assert!((found - 10.8 / 14.8).abs() < 1e-12, "{found}");
        assert_eq!(squared_correlation(&[2.0; 5], &classes), Ok(0.0));
        assert!(squared_correlation(&score, &classes[..4]).is_err());
        assert!(squared_correlation(&[1.0, f64::NAN], &[0, 1]).is_err());
    }
}

//! Features of samples in the units of a kernel.

use std::collections::HashMap;

use polyview_core::Table;
use polyview_linalg::Mat;

use crate::error::KernelError;

/// The root of a weight that counts as none.
const LEAST_WEIGHT: f64 = 1e-12;

/// What becomes of cells without a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Holes {
    /// A sample has all features or none.
    Refused,
    /// They are expected to be as in training: at the mean of the feature, with its variance.
    Expected,
}

/// Means and scales of features.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Units {
    pub(crate) features: Vec<String>,
    pub(crate) mean: Vec<f64>,
    pub(crate) scale: Vec<f64>,
    /// Variances in training, in units of the scales; none where holes are refused.
    pub(crate) variance: Vec<f64>,
}

/// Samples in these units.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Points {
    /// Places of the samples that have a value among those of the table.
    pub(crate) samples: Vec<usize>,
    /// Samples × features; zero, the mean, in a hole.
    pub(crate) values: Mat<f64>,
    /// Sum of the variances of the features that a sample lacks.
    pub(crate) spread: Vec<f64>,
    /// Variances of the features in training, where holes are expected.
    pub(crate) variance: Vec<f64>,
    /// Number of samples with a hole.
    pub(crate) with_holes: usize,
}

/// Refuses a number that is not what the values call for.
///
/// # Errors
/// [`KernelError::Shape`].
pub(crate) fn same(what: &'static str, expected: usize, found: usize) -> Result<(), KernelError> {
    if expected == found {
        return Ok(());
    }
    Err(KernelError::Shape {
        what,
        expected,
        found,
    })
}

/// Refuses a table whose names are not those of its rows and columns, one each.
///
/// # Errors
/// [`KernelError::Shape`].
pub(crate) fn names_fit(table: &Table) -> Result<(), KernelError> {
    let (rows, columns) = table.values.shape();
    same("names of samples", rows, table.samples.len())?;
    same("names of features", columns, table.features.len())
}

impl Units {
    /// Of the features of a table.
    pub(crate) fn learn(
        table: &Table,
        standardise: bool,
        holes: Holes,
    ) -> Result<Self, KernelError> {
        let d = table.features.len();
        let columns: Vec<Option<usize>> = (0..d).map(Some).collect();
        let seen = seen_samples(table, &columns, holes)?;
        if seen.is_empty() {
            return Err(KernelError::Empty);
        }
        let mut out = Self {
            features: table.features.clone(),
            mean: vec![0.0; d],
            scale: vec![1.0; d],
            variance: Vec::new(),
        };
        for j in 0..d {
            let x = table.values.col_as_slice(j);
            let known = || seen.iter().map(|&n| x[n]).filter(|x| !x.is_nan());
            let count = known().count().max(1) as f64;
            let mean = known().sum::<f64>() / count;
            let squares: f64 = known().map(|x| (x - mean).powi(2)).sum();
            let sd = (squares / count).sqrt();
            // a constant feature says nothing, whatever its unit
            let varies = sd > 1e-12 * mean.abs();
            if standardise {
                out.mean[j] = mean;
                if varies {
                    out.scale[j] = sd;
                }
            }
            if holes == Holes::Expected {
                // distances do not change, and holes are where the mean is
                out.mean[j] = mean;
                out.variance.push(if varies {
                    (sd / out.scale[j]).powi(2)
                } else {
                    0.0
                });
            }
        }
        Ok(out)
    }
    /// The same without the features that do not vary, and the names of these.
    pub(crate) fn varying(self) -> (Self, Vec<String>) {
        let keep: Vec<bool> = self.variance.iter().map(|v| *v > 0.0).collect();
        let of = |x: &[f64]| -> Vec<f64> {
            let kept = x.iter().zip(&keep).filter(|(_, k)| **k);
            kept.map(|(x, _)| *x).collect()
        };
        let (mean, scale, variance) = (of(&self.mean), of(&self.scale), of(&self.variance));
        let all = self.features.into_iter().zip(&keep);
        let (kept, out): (Vec<_>, Vec<_>) = all.partition(|(_, k)| **k);
        let names = |of: Vec<(String, &bool)>| of.into_iter().map(|(f, _)| f).collect();
        let varying = Self {
            features: names(kept),
            mean,
            scale,
            variance,
        };
        (varying, names(out))
    }
    /// The same with features counted by these weights, one per feature and none below zero: distances and products
    /// are sums of the weighted ones of single features.
    pub(crate) fn weighted(mut self, weights: &[f64]) -> Self {
        for (j, weight) in weights.iter().enumerate() {
            let root = weight.sqrt().max(LEAST_WEIGHT);
            self.scale[j] /= root;
            self.variance[j] *= root * root;
        }
        self
    }
    pub(crate) fn holes(&self) -> Holes {
        if self.variance.is_empty() {
            Holes::Refused
        } else {
            Holes::Expected
        }
    }
    /// The samples of a table in these units, features matched by name.
    pub(crate) fn points(&self, table: &Table) -> Result<Points, KernelError> {
        let places: HashMap<&str, usize> = table
            .features
            .iter()
            .enumerate()
            .map(|(j, f)| (f.as_str(), j))
            .collect();
        let columns = self
            .features
            .iter()
            .map(|f| places.get(f.as_str()).copied());
        let columns: Vec<Option<usize>> = columns.collect();
        let absent = columns.iter().position(Option::is_none);
        let none = columns.iter().all(Option::is_none);
        if let Some(j) = absent.filter(|_| none || self.holes() == Holes::Refused) {
            let feature = self.features[j].clone();
            return Err(KernelError::Absent { feature });
        }
        let samples = seen_samples(table, &columns, self.holes())?;
        let mut spread = vec![0.0; samples.len()];
        let mut values: Mat<f64> = Mat::zeros(samples.len(), columns.len());
        let mut holes = vec![false; samples.len()];
        for (j, column) in columns.iter().enumerate() {
            for (i, &n) in samples.iter().enumerate() {
                let x = column.map_or(f64::NAN, |at| table.values[(n, at)]);
                if x.is_nan() {
                    spread[i] += self.variance[j];
                    holes[i] = true;
                } else {
                    values[(i, j)] = (x - self.mean[j]) / self.scale[j];
                }
            }
        }
        Ok(Points {
            samples,
            values,
            spread,
            variance: self.variance.clone(),
            with_holes: holes.into_iter().filter(|h| *h).count(),
        })
    }
}

impl Points {
    /// Those of so many samples, samples × features; `NaN` for samples that are none of these.
    pub(crate) fn of_samples(&self, samples: usize) -> Mat<f64> {
        let mut out = Mat::full(samples, self.values.ncols(), f64::NAN);
        for j in 0..self.values.ncols() {
            let to = out.col_as_slice_mut(j);
            for (x, &n) in self.values.col_as_slice(j).iter().zip(&self.samples) {
                to[n] = *x;
            }
        }
        out
    }
    /// Squared lengths of the samples, with the variances of what they lack.
    pub(crate) fn squares(&self) -> Vec<f64> {
        let mut out = self.spread.clone();
        for j in 0..self.values.ncols() {
            for (s, x) in out.iter_mut().zip(self.values.col_as_slice(j)) {
                *s += x * x;
            }
        }
        out
    }
}

/// Samples that have a value in these columns; where holes are refused none may have some of them
/// only.
fn seen_samples(
    table: &Table,
    columns: &[Option<usize>],
    holes: Holes,
) -> Result<Vec<usize>, KernelError> {
    let columns: Vec<usize> = columns.iter().flatten().copied().collect();
    let mut seen = Vec::with_capacity(table.samples.len());
    for (n, sample) in table.samples.iter().enumerate() {
        let at = |j: &usize| table.values[(n, *j)];
        let place = |j: usize| (sample.clone(), table.features[j].clone());
        if let Some(j) = columns.iter().find(|j| at(j).is_infinite()) {
            let (sample, feature) = place(*j);
            return Err(KernelError::Infinite { sample, feature });
        }
        if columns.iter().all(|j| at(j).is_nan()) {
            continue;
        }
        let hole = columns.iter().find(|j| at(j).is_nan());
        if let Some(j) = hole.filter(|_| holes == Holes::Refused) {
            let (sample, feature) = place(*j);
            return Err(KernelError::Missing { sample, feature });
        }
        seen.push(n);
    }
    Ok(seen)
}

//! What is learnt of training samples, and how samples are mapped by it.

use std::collections::HashMap;

use polyview_core::Table;
use polyview_linalg::faer::Accum;
use polyview_linalg::{Mat, times};
use polyview_random::StreamKey;
use rand::RngExt;
use serde::{Deserialize, Serialize};

use crate::error::KernelError;
use crate::kernel::{Kernel, KernelKind};

/// Choices of [`KernelMap::learn`].
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct KernelOptions {
    /// Which kernel.
    pub kernel: KernelKind,
    /// Number of reference points, drawn from the samples; all of them where
    /// nothing is said, or where there are no more.
    pub references: Option<usize>,
    /// Seed of that draw.
    pub seed: u64,
    /// Whether features are first brought to mean 0 and standard deviation 1
    /// over the samples.
    pub standardise: bool,
}

impl Default for KernelOptions {
    /// The RBF kernel with γ = 1/D of standardised features against all samples;
    /// seed 1.
    fn default() -> Self {
        Self {
            kernel: KernelKind::Rbf { gamma: None },
            references: None,
            seed: 1,
            standardise: true,
        }
    }
}

/// A kernel with its reference points: maps tables of the features it was learnt
/// with to their similarities (spec/thesis 7.1).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "Parts", into = "Parts")]
pub struct KernelMap {
    kernel: Kernel,
    features: Vec<String>,
    mean: Vec<f64>,
    scale: Vec<f64>,
    references: Vec<String>,
    /// Features × references, standardised.
    points: Mat<f64>,
}

/// A map as it stands in a file.
#[derive(Clone, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
struct Parts {
    kernel: Kernel,
    features: Vec<String>,
    mean: Vec<f64>,
    scale: Vec<f64>,
    references: Vec<String>,
    /// One list of features a reference.
    points: Vec<Vec<f64>>,
}

impl From<KernelMap> for Parts {
    fn from(map: KernelMap) -> Self {
        let points = (0..map.points.ncols()).map(|r| map.points.col_as_slice(r).to_vec());
        Self {
            points: points.collect(),
            kernel: map.kernel,
            features: map.features,
            mean: map.mean,
            scale: map.scale,
            references: map.references,
        }
    }
}

impl TryFrom<Parts> for KernelMap {
    type Error = KernelError;
    fn try_from(parts: Parts) -> Result<Self, KernelError> {
        let damaged = |what| Err(KernelError::Damaged { what });
        parts.kernel.check()?;
        let d = parts.features.len();
        if d == 0 || parts.references.is_empty() {
            return damaged("it has no features, or no reference points");
        }
        if parts.mean.len() != d || parts.scale.len() != d {
            return damaged("means and scales are not as many as features");
        }
        if parts.points.len() != parts.references.len() || parts.points.iter().any(|p| p.len() != d)
        {
            return damaged("reference points have not as many values as there are features");
        }
        let finite = |x: &[f64]| x.iter().all(|x| x.is_finite());
        if !(finite(&parts.mean) && parts.points.iter().all(|p| finite(p))) {
            return damaged("a number is not finite");
        }
        if parts.scale.iter().any(|s| !(*s > 0.0 && s.is_finite())) {
            return damaged("a scale is not above zero");
        }
        Ok(Self {
            points: Mat::from_fn(d, parts.points.len(), |j, r| parts.points[r][j]),
            kernel: parts.kernel,
            features: parts.features,
            mean: parts.mean,
            scale: parts.scale,
            references: parts.references,
        })
    }
}

impl KernelMap {
    /// Learns scales and reference points of the samples of a table, samples ×
    /// features in any units (spec/thesis 7.1). Samples without any value are
    /// left out; a feature that is constant over the others is centred only.
    ///
    /// # Errors
    /// [`KernelError::OutOfRange`] for a kernel that cannot be, or no reference
    /// points; [`KernelError::Missing`] where a sample has some of its features
    /// only; [`KernelError::Infinite`]; [`KernelError::Empty`] where no sample
    /// has values.
    pub fn learn(table: &Table, options: &KernelOptions) -> Result<Self, KernelError> {
        let d = table.features.len();
        let kernel = options.kernel.for_features(d)?;
        if options.references == Some(0) {
            return Err(KernelError::OutOfRange {
                what: "the number of reference points",
                value: 0.0,
                range: "1 or larger",
            });
        }
        let columns: Vec<usize> = (0..d).collect();
        let seen = complete_samples(table, &columns)?;
        if seen.is_empty() {
            return Err(KernelError::Empty);
        }
        let count = seen.len() as f64;
        let (mut mean, mut scale) = (vec![0.0; d], vec![1.0; d]);
        if options.standardise {
            for j in 0..d {
                let x = table.values.col_as_slice(j);
                mean[j] = seen.iter().map(|&n| x[n]).sum::<f64>() / count;
                let squares: f64 = seen.iter().map(|&n| (x[n] - mean[j]).powi(2)).sum();
                let sd = (squares / count).sqrt();
                // a constant feature says nothing, whatever its unit
                if sd > 1e-12 * mean[j].abs() {
                    scale[j] = sd;
                }
            }
        }
        let most = options.references.unwrap_or(usize::MAX);
        let chosen = some_of(&seen, most, options.seed);
        let points = Mat::from_fn(d, chosen.len(), |j, r| {
            (table.values[(chosen[r], j)] - mean[j]) / scale[j]
        });
        Ok(Self {
            kernel,
            features: table.features.clone(),
            references: chosen.iter().map(|&n| table.samples[n].clone()).collect(),
            mean,
            scale,
            points,
        })
    }
    /// The kernel.
    pub fn kernel(&self) -> Kernel {
        self.kernel
    }
    /// Features that a table must have.
    pub fn features(&self) -> &[String] {
        &self.features
    }
    /// The samples that are reference points.
    pub fn references(&self) -> &[String] {
        &self.references
    }
    /// Similarities of the samples of a table, in the units that the map was
    /// learnt in, to the reference points: samples × references, in the unit of
    /// the [`Kernel`]; `NaN` for samples without any value. Features are matched
    /// by name, in any order; others than the map's do not count. The columns are
    /// called as the reference samples (spec/thesis 7.1, test points).
    ///
    /// # Errors
    /// [`KernelError::Absent`] where a feature of the map is not in the table;
    /// [`KernelError::Missing`] where a sample has some of them only;
    /// [`KernelError::Infinite`]; [`KernelError::TooLarge`] where a similarity is
    /// not finite.
    pub fn apply(&self, table: &Table) -> Result<Table, KernelError> {
        let places: HashMap<&str, usize> = table
            .features
            .iter()
            .enumerate()
            .map(|(j, f)| (f.as_str(), j))
            .collect();
        let columns = self.features.iter().map(|f| {
            places.get(f.as_str()).copied().ok_or_else(|| {
                let feature = f.clone();
                KernelError::Absent { feature }
            })
        });
        let columns: Vec<usize> = columns.collect::<Result<_, _>>()?;
        let seen = complete_samples(table, &columns)?;
        let d = columns.len();
        let x = Mat::from_fn(seen.len(), d, |i, j| {
            (table.values[(seen[i], columns[j])] - self.mean[j]) / self.scale[j]
        });
        let mut products: Mat<f64> = Mat::zeros(seen.len(), self.references.len());
        times(
            x.as_ref(),
            self.points.as_ref(),
            products.as_mut(),
            Accum::Replace,
        );
        let mut squares = vec![0.0; seen.len()];
        for j in 0..d {
            for (s, x) in squares.iter_mut().zip(x.col_as_slice(j)) {
                *s += x * x;
            }
        }
        let mut values = Mat::full(table.samples.len(), self.references.len(), f64::NAN);
        for r in 0..self.references.len() {
            let own: f64 = self.points.col_as_slice(r).iter().map(|x| x * x).sum();
            let products = products.col_as_slice(r);
            let column = values.col_as_slice_mut(r);
            for (i, &n) in seen.iter().enumerate() {
                let value = self.kernel.value(products[i], squares[i] + own, d);
                if !value.is_finite() {
                    return Err(KernelError::TooLarge {
                        sample: table.samples[n].clone(),
                        reference: self.references[r].clone(),
                    });
                }
                column[n] = value;
            }
        }
        Ok(Table {
            name: table.name.clone(),
            samples: table.samples.clone(),
            features: self.references.clone(),
            levels: Vec::new(),
            values,
        })
    }
}

/// Samples that have all of these columns; none may have some of them only.
fn complete_samples(table: &Table, columns: &[usize]) -> Result<Vec<usize>, KernelError> {
    let mut seen = Vec::with_capacity(table.samples.len());
    for (n, sample) in table.samples.iter().enumerate() {
        let at = |j: &usize| table.values[(n, *j)];
        let place = |j: usize| (sample.clone(), table.features[j].clone());
        if let Some(j) = columns.iter().find(|j| at(j).is_infinite()) {
            let (sample, feature) = place(*j);
            return Err(KernelError::Infinite { sample, feature });
        }
        match columns.iter().find(|j| at(j).is_nan()) {
            None => seen.push(n),
            Some(j) if columns.iter().any(|j| !at(j).is_nan()) => {
                let (sample, feature) = place(*j);
                return Err(KernelError::Missing { sample, feature });
            }
            Some(_) => {}
        }
    }
    Ok(seen)
}

/// At most `most` of these, drawn without replacement, in their order.
fn some_of(all: &[usize], most: usize, seed: u64) -> Vec<usize> {
    let mut out = all.to_vec();
    if most < out.len() {
        let mut rng = StreamKey::new(seed).rng();
        for i in 0..most {
            let j = rng.random_range(i..out.len());
            out.swap(i, j);
        }
        out.truncate(most);
        out.sort_unstable();
    }
    out
}

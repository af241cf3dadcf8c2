//! Maps in files.

use polyview_linalg::Mat;
use serde::{Deserialize, Serialize};

use crate::centring::Centre;
use crate::error::KernelError;
use crate::kernel::Kernel;
use crate::map::KernelMap;
use crate::units::{Points, Units};

/// A map as it stands in a file. Its points may stand elsewhere, as a matrix
/// ([`KernelMap::parts`]).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct KernelParts {
    kernel: Kernel,
    features: Vec<String>,
    mean: Vec<f64>,
    scale: Vec<f64>,
    /// Where holes are expected.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    variance: Vec<f64>,
    references: Vec<String>,
    /// One list of features a reference.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    points: Vec<Vec<f64>>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    spread: Vec<f64>,
    /// Whether a reference that lacks features is at no distance from itself; not so in maps of earlier releases.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    itself: bool,
    /// Mean similarity of each reference to all of them, where similarities are centred.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    centre: Vec<f64>,
    /// Whether the points are frequencies, of which each has two columns.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    fourier: bool,
}

impl From<KernelMap> for KernelParts {
    fn from(map: KernelMap) -> Self {
        let points = (0..map.points.ncols()).map(|r| map.points.col_as_slice(r).to_vec());
        let points = points.collect();
        Self {
            points,
            ..map.parts()
        }
    }
}

impl KernelMap {
    /// All but its points.
    pub fn parts(&self) -> KernelParts {
        let map = self.clone();
        KernelParts {
            points: Vec::new(),
            kernel: map.kernel,
            features: map.units.features,
            mean: map.units.mean,
            scale: map.units.scale,
            variance: map.units.variance,
            references: map.references,
            spread: map.spread,
            itself: map.itself,
            centre: map.centre.map_or_else(Vec::new, |c| c.references),
            fourier: map.fourier,
        }
    }
}

impl TryFrom<KernelParts> for KernelMap {
    type Error = KernelError;
    fn try_from(mut parts: KernelParts) -> Result<Self, KernelError> {
        let points = std::mem::take(&mut parts.points);
        let d = parts.features.len();
        if points.iter().any(|p| p.len() != d) {
            return damaged("reference points have not as many values as there are features");
        }
        let points = Mat::from_fn(d, points.len(), |j, r| points[r][j]);
        parts.with_points(points)
    }
}

impl KernelMap {
    /// The map of an RBF kernel to these points, features × points, in units that samples have already, about the mean of the points
    /// in feature space (spec/thesis 7.1). Features and points are numbered from 1.
    ///
    /// ```
    /// use polyview_core::Table;
    /// use polyview_kernels::KernelMap;
    /// use polyview_linalg::Mat;
    ///
    /// let points = Mat::from_fn(1, 2, |_, r| r as f64);
    /// let map = KernelMap::to_points(0.5, points.clone())?;
    /// let table = Table {
    ///     name: "x".into(),
    ///     samples: vec!["a".into(), "b".into()],
    ///     features: vec!["1".into()],
    ///     levels: Vec::new(),
    ///     values: points.transpose().to_owned(),
    /// };
    /// let found = map.apply(&table)?.values;
    /// let own = 0.5 * (1.0 - (-0.5f64).exp());
    /// assert!((found[(0, 0)] - own).abs() < 1e-15 && (found[(0, 1)] + own).abs() < 1e-15);
    /// # Ok::<(), polyview_kernels::KernelError>(())
    /// ```
    ///
    /// # Errors
    /// [`KernelError::OutOfRange`] for γ, [`KernelError::Damaged`] where there are no points, or one is not finite.
    pub fn to_points(gamma: f64, points: Mat<f64>) -> Result<Self, KernelError> {
        let numbers = |count: usize| (1..=count).map(|i| i.to_string()).collect();
        let (d, r) = points.shape();
        let mut map = KernelParts {
            kernel: Kernel::Rbf { gamma },
            features: numbers(d),
            mean: vec![0.0; d],
            scale: vec![1.0; d],
            variance: vec![1.0; d],
            references: numbers(r),
            points: Vec::new(),
            spread: Vec::new(),
            itself: false,
            centre: Vec::new(),
            fourier: false,
        }
        .with_points(points)?;
        let own = Points {
            samples: (0..r).collect(),
            values: map.points.transpose().to_owned(),
            spread: vec![0.0; r],
            variance: vec![1.0; d],
            with_holes: 0,
        };
        map.centre = Some(Centre::of(&map.similarities(&own, &map.references))?);
        Ok(map)
    }
}

fn damaged<T>(what: &'static str) -> Result<T, KernelError> {
    Err(KernelError::Damaged { what })
}

impl KernelParts {
    /// Features and references: the extents of the points, of which a precomputed kernel has none.
    pub fn extents(&self) -> Option<(usize, usize)> {
        let columns = self.references.len();
        let own = (
            self.features.len(),
            if self.fourier { columns / 2 } else { columns },
        );
        (self.kernel != Kernel::Precomputed).then_some(own)
    }
    /// The map with these points, features × references in its units.
    ///
    /// # Errors
    /// [`KernelError::Damaged`] where its parts do not fit together.
    pub fn with_points(self, points: Mat<f64>) -> Result<KernelMap, KernelError> {
        let parts = self;
        parts.kernel.check()?;
        let (d, r) = (parts.features.len(), parts.references.len());
        if d == 0 || r == 0 {
            return damaged("it has no features, or no reference points");
        }
        if parts.mean.len() != d || parts.scale.len() != d {
            return damaged("means and scales are not as many as features");
        }
        let precomputed = parts.kernel == Kernel::Precomputed;
        let is_rbf = matches!(parts.kernel, Kernel::Rbf { .. });
        if parts.fourier && !(is_rbf && r % 2 == 0 && parts.centre.is_empty()) {
            return damaged("random features are of an RBF kernel, in pairs, and have no centre");
        }
        let stored = match (precomputed, parts.fourier) {
            (true, _) => 0,
            (_, true) => r / 2,
            _ => r,
        };
        if points.shape() != (d, stored) {
            return damaged("reference points have not as many values as there are features");
        }
        if precomputed && parts.features != parts.references {
            return damaged("the features of a precomputed kernel are not its reference points");
        }
        let all_or_none = |x: &[f64], of: usize| x.is_empty() || x.len() == of;
        if !all_or_none(&parts.variance, d) || !all_or_none(&parts.spread, r) {
            return damaged("variances are not as many as features, or as reference points");
        }
        if !all_or_none(&parts.centre, r) {
            return damaged("mean similarities are not as many as reference points");
        }
        let finite = |x: &[f64]| x.iter().all(|x| x.is_finite());
        let numbers = [&parts.mean, &parts.centre, &parts.variance, &parts.spread];
        let of_points = (0..stored).all(|r| finite(points.col_as_slice(r)));
        if !(numbers.iter().all(|x| finite(x)) && of_points) {
            return damaged("a number is not finite");
        }
        if parts.scale.iter().any(|s| !(*s > 0.0 && s.is_finite())) {
            return damaged("a scale is not above zero");
        }
        if parts.variance.iter().chain(&parts.spread).any(|v| *v < 0.0) {
            return damaged("a variance is below zero");
        }
        Ok(KernelMap {
            points,
            kernel: parts.kernel,
            units: Units {
                features: parts.features,
                mean: parts.mean,
                scale: parts.scale,
                variance: parts.variance,
            },
            references: parts.references,
            spread: parts.spread,
            itself: parts.itself,
            fourier: parts.fourier,
            centre: (!parts.centre.is_empty()).then(|| Centre {
                all: parts.centre.iter().sum::<f64>() / r as f64,
                references: parts.centre,
            }),
        })
    }
}

#[cfg(test)]
mod tests {
    use polyview_core::Table;

    use super::*;
    use crate::{Family, KernelChoice, Width, learn_view};

    /// A map to the points of one that was learnt is that map.
    #[test]
    fn the_points_and_the_width_are_all_of_a_map() {
        let values = Mat::from_fn(9, 3, |n, d| (((n * 7 + d * 5) * 13) % 31) as f64 / 8.0);
        let table = Table {
            name: "x".into(),
            samples: (0..9).map(|n| format!("s{n}")).collect(),
            features: ["1", "2", "3"].map(String::from).to_vec(),
            levels: Vec::new(),
            values,
        };
        let choice = KernelChoice {
            raw: true,
            ..KernelChoice::from(Family::Rbf {
                width: Width::Is(1.7),
            })
        };
        let learnt = learn_view(&table, &choice, 1).unwrap().map;
        let points = table.values.transpose().to_owned();
        let found = KernelMap::to_points(0.5 / (1.7 * 1.7), points).unwrap();
        let [a, b] = [&learnt, &found].map(|map| map.apply(&table).unwrap().values);
        for r in 0..9 {
            for n in 0..9 {
                assert!((a[(n, r)] - b[(n, r)]).abs() < 1e-12, "{n} {r}");
            }
        }
        for (gamma, points) in [
            (0.0, Mat::zeros(2, 2)),
            (1.0, Mat::zeros(2, 0)),
            (1.0, Mat::full(1, 1, f64::NAN)),
        ] {
            assert!(KernelMap::to_points(gamma, points).is_err());
        }
    }
}

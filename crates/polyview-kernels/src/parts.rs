//! Maps in files.

use polyview_linalg::Mat;
use serde::{Deserialize, Serialize};

use crate::centring::Centre;
use crate::error::KernelError;
use crate::kernel::Kernel;
use crate::map::KernelMap;
use crate::units::Units;

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

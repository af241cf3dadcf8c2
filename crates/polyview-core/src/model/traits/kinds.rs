//! What a data term says of itself.

use polyview_linalg::Mat;
use serde::{Deserialize, Serialize};

/// Extents of a data term.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ViewShape {
    /// Rows of the data.
    pub samples: usize,
    /// Columns of the data.
    pub observed_columns: usize,
    /// Columns of the linear predictor: those of the data, or C for the one
    /// column of codes of a categorical view with C classes; T times as many
    /// where each of T components of the factors' prior has its own.
    pub predictor_columns: usize,
}

/// Whether a term's equations for one sample depend on other samples.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Coupling {
    /// Each sample stands alone given the weights.
    Independent,
    /// Samples are coupled (pairwise rank terms): they are updated one after
    /// the other, each given the present factors of the others
    /// ([`ViewTerm::couple`](super::ViewTerm::couple)).
    Rows,
}

/// What a term contributes to the objective.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Objective {
    /// A lower bound on a log likelihood: every update raises it.
    Bound,
    /// A bound on a pseudo-likelihood: every update raises it.
    PseudoLikelihood,
    /// No guarantee; the monotonicity check is off.
    NoGuarantee,
}

/// What one noise precision is shared by.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NoiseScope {
    /// The term has no noise precision to learn.
    None,
    /// One for each predictor column: columns can be updated on their own.
    Column,
    /// One for the whole view.
    View,
}

/// What the predicted columns of a term are.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum PredictedKind {
    /// Real numbers on the scale of the linear predictor, one a feature.
    #[default]
    Real,
    /// The probability of a 1, one a feature.
    Probability,
    /// The probability of each class, one a class: they sum to one.
    Classes,
    /// The expected count, one a feature.
    Count,
    /// Real numbers in the units of the data, found by where the linear
    /// predictor, on a scale of its own, stands among the training values.
    Ranked,
}

impl PredictedKind {
    /// Whether the columns are probabilities: these say how uncertain a label
    /// is, so that they have no intervals.
    pub fn is_label(self) -> bool {
        matches!(self, Self::Probability | Self::Classes)
    }
    /// Whether the columns are on the scale of the linear predictor, in units
    /// that a scaling may have changed.
    pub fn is_real(self) -> bool {
        self == Self::Real
    }
}

/// Predicted data of a block: samples × **predictor** columns.
///
/// For a categorical view the columns are its classes: the mean holds their
/// probabilities p, which sum to one over all columns of a sample, and the
/// variance p(1 − p).
#[derive(Clone, Debug)]
pub struct PredictedBlock {
    /// Predictive means, in working units, or class probabilities.
    pub mean: Mat<f64>,
    /// Predictive variances, observation noise and parameter uncertainty
    /// included, in squared working units.
    pub variance: Mat<f64>,
}

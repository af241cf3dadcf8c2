//! Held-out predictions and the choice of the number of factors.

use super::Grid;
use serde::Serialize;

/// Predictions of cells that were kept from the model.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct HeldOut {
    /// Name of the view.
    pub view: String,
    /// Of numbers $1 - \sum (x - \hat x)^2 / \sum (x - \bar x)^2$ over all of them, with
    /// $\bar x$ the mean of the feature's training values; absent where it is not known.
    pub r2: Option<f64>,
    /// Share of the deviance that the predictions explain, 0.25 for a quarter;
    /// for counts.
    pub deviance_explained: Option<f64>,
    /// The cells and their predictions.
    pub cells: HeldOutCells,
}

/// Held-out cells by the kind of data.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub enum HeldOutCells {
    /// Numbers (and counts).
    Numeric {
        /// True values.
        truth: Vec<f64>,
        /// Predicted means, in the same unit.
        predicted: Vec<f64>,
        /// Predictive intervals.
        intervals: Option<Intervals>,
        /// Unit of the values; empty if they have none.
        unit: String,
    },
    /// Cells that are 0 or 1.
    Binary {
        /// True values, 0 or 1.
        truth: Vec<f64>,
        /// Predicted probability of a 1.
        probability: Vec<f64>,
        /// Names of the labels; empty if the view is one label.
        labels: Vec<String>,
        /// Index into `labels` of each cell; empty like them.
        label: Vec<usize>,
    },
    /// Cells that name a class.
    Classes {
        /// Names of the classes.
        names: Vec<String>,
        /// Index of the true class.
        truth: Vec<usize>,
        /// Index of the most probable class.
        predicted: Vec<usize>,
        /// Cells x classes: predicted probabilities; `NaN` where not known.
        probability: Option<Grid>,
    },
}

/// Central predictive intervals.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Intervals {
    /// Nominal probability, for instance 0.95.
    pub level: f64,
    /// Lower ends.
    pub lower: Vec<f64>,
    /// Upper ends.
    pub upper: Vec<f64>,
}

/// Results of fits with different numbers of factors.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct ChooseK {
    /// Numbers of factors that were tried.
    pub factors: Vec<usize>,
    /// Held-out score for each; `NaN` if not known.
    pub score: Vec<f64>,
    /// Standard error of the score, not negative; `NaN` where not known.
    pub score_error: Option<Vec<f64>>,
    /// What the score is, with its unit, for instance `held-out log density per cell (nats)`.
    pub score_name: String,
    /// Bound for each, in nats.
    pub bound: Option<Vec<f64>>,
    /// Stability for each: mean absolute correlation of matched factors between repeats, 0 to 1.
    pub stability: Option<Vec<f64>>,
    /// The recommended number, one of `factors`.
    pub recommended: Option<usize>,
    /// The rule that recommended it, in words.
    pub rule: String,
}

//! Held-out predictions, and the fit against another one.

use polyview::Comparison;

use super::Grid;

/// Predictions of cells that were kept from the model.
#[derive(Clone, Debug, PartialEq)]
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
#[derive(Clone, Debug, PartialEq)]
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
#[derive(Clone, Debug, PartialEq)]
pub struct Intervals {
    /// Nominal probability, for instance 0.95.
    pub level: f64,
    /// Lower ends.
    pub lower: Vec<f64>,
    /// Upper ends.
    pub upper: Vec<f64>,
}

/// The fit against another one of the same data.
#[derive(Clone, Debug, PartialEq)]
pub struct Against {
    /// What the fit is called, for instance `variational Bayes`.
    pub name: String,
    /// What the other fit is called.
    pub other: String,
    /// What was found.
    pub found: Comparison,
}

//! The error type of this crate.

use polyview_baselines::BaselineError;
use polyview_linalg::LinalgError;
use thiserror::Error;

/// What is wrong with the data or the options of a method. Rows and columns count from 0.
#[derive(Debug, Clone, PartialEq, Error)]
#[non_exhaustive]
pub enum MvaError {
    /// A value is missing or infinite; these methods need complete data.
    #[error(
        "{what}: the value at row {row}, column {column} is not finite; impute missing values first"
    )]
    NotFinite {
        /// The table.
        what: &'static str,
        /// Its row.
        row: usize,
        /// Its column.
        column: usize,
    },
    /// Two tables disagree in a dimension.
    #[error("{what}: expected {expected}, found {found}")]
    Shape {
        /// The dimension.
        what: &'static str,
        /// What the other table calls for.
        expected: usize,
        /// What was given.
        found: usize,
    },
    /// There is nothing to analyse.
    #[error("{what} is empty")]
    Empty {
        /// The table or dimension.
        what: &'static str,
    },
    /// An option lies outside its range.
    #[error("{what} is {value}, must be {range}")]
    OutOfRange {
        /// The option.
        what: &'static str,
        /// Its value.
        value: f64,
        /// What it may be.
        range: &'static str,
    },
    /// A class has no samples, or there is one class only.
    #[error("class {class} has {samples} samples, at least {least} are needed")]
    Class {
        /// The class.
        class: usize,
        /// Its samples.
        samples: usize,
        /// The least number of them.
        least: usize,
    },
    /// More components than there are, or none.
    #[error("{asked} components were asked for; give 1 to {most}")]
    Components {
        /// Components asked for.
        asked: usize,
        /// The most of them.
        most: usize,
    },
    /// No feature varies.
    #[error("no feature varies over the samples")]
    NoVariance,
    /// No feature passed the test.
    #[error("no feature passed the test at level {level}; take a larger one, or more bags")]
    NothingSelected {
        /// The level of the test.
        level: f64,
    },
    /// The classifier, or the folds that choose a penalty.
    #[error(transparent)]
    Classifier(#[from] BaselineError),
    /// A decomposition failed.
    #[error(transparent)]
    Linalg(#[from] LinalgError),
}

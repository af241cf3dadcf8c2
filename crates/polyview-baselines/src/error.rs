//! The error type of this crate.

use polyview_linalg::{LinalgError, MatRef};
use thiserror::Error;

/// What is wrong with the data or the choices. Rows and columns count from 0.
#[derive(Debug, Clone, PartialEq, Error)]
#[non_exhaustive]
pub enum BaselineError {
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
    /// A value that is not finite where it has to be, or infinite where it may be missing.
    #[error("{what}: the value at row {row}, column {column} is not finite")]
    NotFinite {
        /// The table.
        what: &'static str,
        /// Its row.
        row: usize,
        /// Its column.
        column: usize,
    },
    /// A lower limit that is above the upper one.
    #[error("the lower limit at row {row}, column {column} is above the upper one")]
    Limits {
        /// Its row.
        row: usize,
        /// Its column.
        column: usize,
    },
    /// A label that is neither 0 nor 1.
    #[error(
        "the label at row {row}, column {column} is {value}; give 0 or 1, or NaN where it is missing"
    )]
    NotALabel {
        /// Its row.
        row: usize,
        /// Its column.
        column: usize,
        /// The value.
        value: f64,
    },
    /// An ordered level that is none of those that there are.
    #[error(
        "the level at row {row}, column {column} is {value}; give a whole number from 1 to {levels}, or NaN where it is missing"
    )]
    NotALevel {
        /// Its row.
        row: usize,
        /// Its column.
        column: usize,
        /// The value.
        value: f64,
        /// Number of levels.
        levels: usize,
    },
    /// A class beyond the classes.
    #[error("the class of sample {row} is {class}, of {classes} classes numbered from 0")]
    UnknownClass {
        /// The sample.
        row: usize,
        /// Its class.
        class: usize,
        /// Number of classes.
        classes: usize,
    },
    /// No folds, or more than there is to part.
    #[error("{of} {what} cannot be parted into {folds} folds; ask for 1 to {of}")]
    Folds {
        /// Folds asked for.
        folds: usize,
        /// What is parted: `samples` or `groups`.
        what: &'static str,
        /// How many there are.
        of: usize,
    },
    /// A penalty that is not a finite number above 0, or none at all.
    #[error("the penalties have to be finite numbers above 0, one at least")]
    Penalties,
    /// An option out of its range.
    #[error("{option} is {value}; give {range}")]
    Option {
        /// The option.
        option: &'static str,
        /// Its value.
        value: f64,
        /// What it may be.
        range: &'static str,
    },
    /// A matrix of which nothing is known.
    #[error("{what} has no observed cell")]
    NothingObserved {
        /// The table.
        what: &'static str,
    },
    /// A decomposition failed.
    #[error(transparent)]
    Linalg(#[from] LinalgError),
}

/// Refuses another number than expected.
pub(crate) fn same(what: &'static str, expected: usize, found: usize) -> Result<(), BaselineError> {
    if expected == found {
        Ok(())
    } else {
        Err(BaselineError::Shape {
            what,
            expected,
            found,
        })
    }
}

/// Refuses values that are not finite; `NaN` may stand for missing ones where `missing` says so.
pub(crate) fn finite(
    what: &'static str,
    x: MatRef<'_, f64>,
    missing: bool,
) -> Result<(), BaselineError> {
    for column in 0..x.ncols() {
        for row in 0..x.nrows() {
            let value = x[(row, column)];
            if !(value.is_finite() || missing && value.is_nan()) {
                return Err(BaselineError::NotFinite { what, row, column });
            }
        }
    }
    Ok(())
}

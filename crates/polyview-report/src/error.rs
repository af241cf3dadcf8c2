//! What can be wrong with the numbers handed to a report.

use std::io;

/// Why a report or a picture could not be made.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ReportError {
    /// A table was given the wrong number of values.
    #[error("a table of {rows} x {columns} cells needs {} values, not {values}", rows.saturating_mul(*columns))]
    GridShape {
        /// Rows asked for.
        rows: usize,
        /// Columns asked for.
        columns: usize,
        /// Values given.
        values: usize,
    },
    /// Two things that belong together differ in length.
    #[error("{what} of {of:?}: {got} given where {expected} are needed")]
    LengthMismatch {
        /// What was counted.
        what: &'static str,
        /// The view, column or chain concerned; empty where there is only one.
        of: String,
        /// How many there should be.
        expected: usize,
        /// How many there are.
        got: usize,
    },
    /// A number outside its legal range.
    #[error("{what} of {of:?}: {value} at position {position} is not within 0 to {most}")]
    OutOfRange {
        /// What the number means.
        what: &'static str,
        /// The view, column or chain concerned; empty where there is only one.
        of: String,
        /// Index of the number, row-major in tables.
        position: usize,
        /// The number.
        value: f64,
        /// Largest legal value; the smallest is 0.
        most: f64,
    },
    /// A factor was asked for that does not exist.
    #[error("factor index {index} was asked for, but there are {factors} factors (counted from 0)")]
    NoSuchFactor {
        /// Index asked for, from 0.
        index: usize,
        /// Number of factors.
        factors: usize,
    },
    /// A picture was asked for whose optional numbers were not given.
    #[error("there are no {what} to draw")]
    Absent {
        /// What is missing.
        what: &'static str,
    },
    /// The report could not be written.
    #[error("the report could not be written")]
    Io(#[from] io::Error),
}

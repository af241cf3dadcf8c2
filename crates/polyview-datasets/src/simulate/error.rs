//! Why a simulation cannot be made.

use polyview_core::DataError;
use polyview_random::RandomError;
use thiserror::Error;

/// Why a simulation cannot be made.
#[derive(Clone, Debug, PartialEq, Error)]
#[non_exhaustive]
pub enum SimulationError {
    /// No samples, views, features or factors.
    #[error("{what}: 0 was asked for; ask for at least 1")]
    Empty {
        /// What there is none of.
        what: &'static str,
    },
    /// A number outside its range.
    #[error("{what} is {value}; it must lie {range}")]
    OutOfRange {
        /// The quantity.
        what: &'static str,
        /// Its value.
        value: f64,
        /// Where it must lie.
        range: &'static str,
    },
    /// Something given does not have the shape that the options call for.
    #[error("{what}: expected {expected:?}, found {found:?}")]
    Shape {
        /// The quantity.
        what: &'static str,
        /// Rows and columns, or one length.
        expected: Vec<usize>,
        /// Rows and columns, or one length.
        found: Vec<usize>,
    },
    /// Whole rows are to be hidden, but every sample has only one view.
    #[error(
        "samples can only lose a whole view where there are two or more; set the share of rows to 0"
    )]
    RowsOfOneView,
    /// A value is not finite: precisions, drawn or given, are too small, or what
    /// was given is not finite.
    #[error("view {}, sample {}, feature {}: the value is not finite; the precisions are too small or what was given is not finite", view + 1, sample + 1, feature + 1)]
    Overflow {
        /// View from 0.
        view: usize,
        /// Sample from 0.
        sample: usize,
        /// Feature from 0.
        feature: usize,
    },
    /// A random draw was refused.
    #[error(transparent)]
    Random(#[from] RandomError),
    /// The values make no data set.
    #[error(transparent)]
    Data(#[from] DataError),
}

/// Checks that a number lies where it must.
pub(super) fn within(
    what: &'static str,
    value: f64,
    range: &'static str,
    holds: bool,
) -> Result<(), SimulationError> {
    if holds {
        Ok(())
    } else {
        Err(SimulationError::OutOfRange { what, value, range })
    }
}

/// Checks a length or a shape.
pub(super) fn shaped(
    what: &'static str,
    expected: &[usize],
    found: &[usize],
) -> Result<(), SimulationError> {
    if expected == found {
        Ok(())
    } else {
        Err(SimulationError::Shape {
            what,
            expected: expected.to_vec(),
            found: found.to_vec(),
        })
    }
}

/// Checks that there is at least one of everything.
pub(super) fn populated(
    samples: usize,
    features: &[usize],
    factors: usize,
) -> Result<(), SimulationError> {
    for (what, count) in [
        ("samples", samples),
        ("views", features.len()),
        (
            "features of every view",
            features.iter().copied().min().unwrap_or(1),
        ),
        ("factors", factors),
    ] {
        if count == 0 {
            return Err(SimulationError::Empty { what });
        }
    }
    Ok(())
}

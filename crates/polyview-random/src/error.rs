//! The error type of this crate.

use thiserror::Error;

/// Why a distribution cannot be built, or a slice cannot be filled. Data, not text.
///
/// Every check happens in a constructor, so a sampler in a loop returns plain numbers. The only
/// samplers that return a `Result` are those that write into a slice of the caller's.
#[derive(Debug, Clone, Copy, PartialEq, Error)]
#[non_exhaustive]
pub enum RandomError {
    /// A parameter lies outside its range, or is not a number.
    #[error("{what} is {value}; it must lie in [{min}, {max}]")]
    OutOfRange {
        /// The parameter.
        what: &'static str,
        /// Its value.
        value: f64,
        /// Smallest legal value.
        min: f64,
        /// Largest legal value.
        max: f64,
    },
    /// The bounds of an interval are out of order, not numbers, or meet at an infinity.
    #[error("[{lower}, {upper}] holds no finite number")]
    EmptyInterval {
        /// Lower end.
        lower: f64,
        /// Upper end.
        upper: f64,
    },
    /// The generalised inverse Gaussian density has no finite integral for these parameters.
    #[error(
        "GIG(a = {a}, b = {b}, p = {p}) is improper: it needs a > 0 unless p < 0, b > 0 unless p > 0"
    )]
    Improper {
        /// Coefficient of $-x/2$ in the exponent.
        a: f64,
        /// Coefficient of $-1/(2x)$ in the exponent.
        b: f64,
        /// Power of $x$, plus one.
        p: f64,
    },
    /// A log weight is NaN or $+\infty$.
    #[error("log weight {index} is {value}")]
    IllegalWeight {
        /// Its position.
        index: usize,
        /// Its value.
        value: f64,
    },
    /// No category has positive weight.
    #[error("none of {len} categories has positive weight")]
    NoMass {
        /// Number of categories.
        len: usize,
    },
    /// A diagonal entry of a triangular factor is not a positive finite number.
    #[error("diagonal entry {index} of the factor is {value}")]
    IllegalPivot {
        /// Row of the entry.
        index: usize,
        /// Its value.
        value: f64,
    },
    /// A slice has the wrong length.
    #[error("{what}: expected length {expected}, found {found}")]
    LengthMismatch {
        /// The slice.
        what: &'static str,
        /// Length the other arguments call for.
        expected: usize,
        /// Length that was given.
        found: usize,
    },
}

/// `value` if it is finite.
pub(crate) fn finite(what: &'static str, value: f64) -> Result<f64, RandomError> {
    within(what, value, -f64::MAX, f64::MAX)
}

/// `value` if it is positive and finite.
pub(crate) fn positive(what: &'static str, value: f64) -> Result<f64, RandomError> {
    within(what, value, f64::from_bits(1), f64::MAX)
}

/// `value` if it lies in `[min, max]`.
pub(crate) fn within(
    what: &'static str,
    value: f64,
    min: f64,
    max: f64,
) -> Result<f64, RandomError> {
    if value >= min && value <= max {
        Ok(value)
    } else {
        Err(RandomError::OutOfRange {
            what,
            value,
            min,
            max,
        })
    }
}

/// Nothing, if a slice has the length it must have.
pub(crate) fn same_length(
    what: &'static str,
    expected: usize,
    found: usize,
) -> Result<(), RandomError> {
    if expected == found {
        Ok(())
    } else {
        Err(RandomError::LengthMismatch {
            what,
            expected,
            found,
        })
    }
}

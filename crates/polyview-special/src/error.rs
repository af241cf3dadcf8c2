//! Errors of the functions that return more than one number.

/// Why a distribution's moments or a quadrature rule could not be computed.
///
/// Scalar functions do not return this type: outside their domain they return NaN, as the
/// functions of `f64` do, and each says so in its documentation.
#[derive(Debug, Clone, Copy, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum SpecialError {
    /// The truncation interval has no interior, or an end is not a number.
    #[error("the interval from {lower} to {upper} has no interior")]
    EmptyInterval {
        /// Lower end.
        lower: f64,
        /// Upper end.
        upper: f64,
    },
    /// The location or scale of a normal distribution is not usable.
    #[error("a normal distribution needs a finite mean and sd > 0, got mean {mean} and sd {sd}")]
    IllegalNormal {
        /// Mean.
        mean: f64,
        /// Standard deviation.
        sd: f64,
    },
    /// The generalised inverse Gaussian density has no finite integral for these parameters.
    #[error(
        "the generalised inverse Gaussian with a = {a}, b = {b}, p = {p} is not a distribution"
    )]
    ImproperGig {
        /// Coefficient of $x$.
        a: f64,
        /// Coefficient of $1/x$.
        b: f64,
        /// Order.
        p: f64,
    },
    /// The number of quadrature nodes is zero or beyond the limit.
    #[error("a quadrature rule has between 1 and {max} nodes, got {nodes}")]
    NodeCount {
        /// Number asked for.
        nodes: usize,
        /// Largest number supported.
        max: usize,
    },
}

//! Laws of counts with normal predictors, which are mixed at once.

use super::Law;

/// What a count is, given its linear predictor η.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Counting {
    /// Poisson of mean $e^\eta$.
    Poisson,
    /// Negative binomial of mean $e^\eta$ and this size.
    Size(f64),
    /// Successes in so many trials, each with the probability $\sigma(\eta)$.
    Trials(f64),
}

/// The law of a count whose linear predictor is normal.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Counted {
    /// What the count is, given its predictor.
    pub counting: Counting,
    /// Mean of the predictor: the logarithm of a rate, log odds of successes.
    pub mean: f64,
    /// Variance of the predictor, at least 0.
    pub variance: f64,
}

/// A law of counts whose predictors are normal ([`Law::as_counted`]). A mixture of many such laws
/// (draws of a posterior) is one law of a count with a mixed predictor, and is asked as such
/// (spec/sites 4.2).
pub trait CountedLaw: Law {
    /// The law of the cell of a sample in a column, counted as in [`Law::shape`]; `None` where it
    /// is no count.
    fn counted(&self, sample: usize, column: usize) -> Option<Counted>;
    /// The mixture of laws of one cell, each with its share; the shares sum to 1. `None` without
    /// parts.
    fn mix(&self, parts: &[(f64, Counted)]) -> Option<Box<dyn CellCounts>>;
}

/// The law of a single cell.
pub trait CellCounts {
    /// The probability of a count that is not larger.
    fn cdf(&self, x: f64) -> f64;
    /// The smallest count at which the distribution function reaches `p`, between 0 and 1.
    fn quantile(&self, p: f64) -> f64;
}

//! Convergence diagnostics of Markov chains (Vehtari, Gelman, Simpson, Carpenter, Bürkner 2021, "Rank-normalization,
//! folding, and localization: an improved $\widehat R$ for assessing convergence of MCMC").
//!
//! A quantity is given as `chains`, one slice of draws per chain, all of one length. Draws of factors and weights must be
//! brought into one order first ([`alignment`](crate::alignment)); sums such as the log density or fitted values need
//! not.
//!
//! | question | function | rule of thumb |
//! |---|---|---|
//! | have the chains met | [`rank_normalised_rhat`] (the plain one: [`split_rhat`]) | at most 1.05, better 1.01 |
//! | how many independent draws for the centre | [`ess_bulk`] | above 100 a chain |
//! | how many for the 5% and 95% quantiles | [`ess_tail`] | above 100 a chain |
//! | how exact is the mean | [`mcse_mean`] | |
//! | everything at once | [`summary()`] | |
//!
//! ```
//! use polyview_infer::diagnostics::{rank_normalised_rhat, summary};
//!
//! // two chains that have not met
//! let chain = |centre: f64| (0..200).map(|t| centre + (t as f64 * 2.4).sin()).collect::<Vec<_>>();
//! let (a, b) = (chain(0.0), chain(3.0));
//! assert!(rank_normalised_rhat(&[&a, &b])? > 1.5);
//! let alone = summary(&[&a])?;
//! assert!(alone.rhat < 1.01 && alone.lower < alone.median && alone.median < alone.upper);
//! # Ok::<(), polyview_infer::diagnostics::DiagnosticsError>(())
//! ```
//!
//! # Degenerate input
//! Chains of unequal length, no chain, too few draws and values that are not finite are errors. A quantity that never
//! changes is not an error, since pruned weights are just that: its $\widehat R$, effective sizes and standard error are
//! NaN. Chains that are constant each, but at different values, have $\widehat R = \infty$.

mod chains;
mod ess;
mod quantiles;
mod ranks;
mod rhat;
mod summary;
#[cfg(test)]
mod tests;

pub use ess::{ess_bulk, ess_mean, ess_quantile, ess_tail, mcse_mean};
pub use quantiles::quantiles;
pub use rhat::{rank_normalised_rhat, split_rhat};
pub use summary::{Summary, summary};

use thiserror::Error;

/// What the diagnostics refuse.
#[derive(Clone, Copy, Debug, PartialEq, Error)]
#[non_exhaustive]
pub enum DiagnosticsError {
    /// No chain was given.
    #[error("no chain was given")]
    NoChains,
    /// Two chains differ in length.
    #[error("chain {chain} has {found} draws, the first has {expected}")]
    UnequalLengths {
        /// First chain that differs.
        chain: usize,
        /// Draws in the first chain.
        expected: usize,
        /// Draws in this one.
        found: usize,
    },
    /// The chains are too short for the question.
    #[error("at least {needed} draws a chain needed, found {found}")]
    TooFewDraws {
        /// The least number.
        needed: usize,
        /// The number found.
        found: usize,
    },
    /// A draw that is NaN or infinite.
    #[error("draw {draw} of chain {chain} is not finite")]
    NotFinite {
        /// The chain.
        chain: usize,
        /// The first such draw.
        draw: usize,
    },
    /// A probability outside $\[0, 1\]$.
    #[error("{value} is not a probability")]
    Probability {
        /// What was given.
        value: f64,
    },
}

//! A quantity's posterior in one line.

use super::DiagnosticsError;
use super::chains::{check, mean_and_variance};
use super::ess::{ESS_DRAWS, ess_bulk, ess_tail, mcse_mean};
use super::quantiles::{pooled, quantile_of_sorted};
use super::rhat::{RHAT_DRAWS, rank_normalised_rhat};

/// Posterior mean, spread and convergence of one quantity over all chains.
///
/// Whatever the draws are too few for is NaN: the standard deviation of one draw, $\widehat R$ below four draws a chain,
/// effective sizes and standard error below ten; the last three also for a quantity that never changes.
#[derive(Clone, Copy, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct Summary {
    /// Mean.
    pub mean: f64,
    /// Standard deviation (divisor $S - 1$).
    pub sd: f64,
    /// 2.5% quantile.
    pub lower: f64,
    /// Median.
    pub median: f64,
    /// 97.5% quantile.
    pub upper: f64,
    /// Rank-normalised split $\widehat R$.
    pub rhat: f64,
    /// Effective sample size in the bulk.
    pub ess_bulk: f64,
    /// Effective sample size in the tails.
    pub ess_tail: f64,
    /// Monte Carlo standard error of the mean.
    pub mcse: f64,
}

/// Summarises one quantity.
///
/// # Errors
/// [`DiagnosticsError::NoChains`], [`DiagnosticsError::UnequalLengths`], [`DiagnosticsError::NotFinite`],
/// [`DiagnosticsError::TooFewDraws`] for empty chains only.
pub fn summary(chains: &[&[f64]]) -> Result<Summary, DiagnosticsError> {
    let draws = check(chains, 1)?;
    let all: Vec<f64> = chains.iter().copied().flatten().copied().collect();
    let (mean, variance) = mean_and_variance(&all);
    let sorted = pooled(chains);
    let from = |needed: usize, value: fn(&[&[f64]]) -> Result<f64, DiagnosticsError>| {
        if draws < needed {
            Ok(f64::NAN)
        } else {
            value(chains)
        }
    };
    Ok(Summary {
        mean,
        sd: variance.sqrt(),
        lower: quantile_of_sorted(&sorted, 0.025),
        median: quantile_of_sorted(&sorted, 0.5),
        upper: quantile_of_sorted(&sorted, 0.975),
        rhat: from(RHAT_DRAWS, rank_normalised_rhat)?,
        ess_bulk: from(ESS_DRAWS, ess_bulk)?,
        ess_tail: from(ESS_DRAWS, ess_tail)?,
        mcse: from(ESS_DRAWS, mcse_mean)?,
    })
}

//! Potential scale reduction.

use super::DiagnosticsError;
use super::chains::{Halves, check, mean_and_variance};
use super::quantiles::{pooled, quantile_of_sorted};
use super::ranks::rank_normalise;

/// Draws a chain without which a half has no variance.
pub(super) const RHAT_DRAWS: usize = 4;

/// Split $\widehat R$ of the draws themselves (Vehtari et al. 2021, equations 1 to 4): the square root of the ratio of
/// total to within-chain variance, chains cut in half.
///
/// Needs finite mean and variance of the target; [`rank_normalised_rhat`] does not.
///
/// # Errors
/// [`DiagnosticsError`]; at least four draws a chain. NaN for a constant.
pub fn split_rhat(chains: &[&[f64]]) -> Result<f64, DiagnosticsError> {
    check(chains, RHAT_DRAWS)?;
    Ok(rhat(&Halves::of(chains)))
}

/// Rank-normalised split $\widehat R$: the larger of the one of the ranks (bulk) and the one of the ranks of the distance
/// from the median (folded), which sees chains of different spread (Vehtari et al. 2021, section 4).
///
/// # Errors
/// [`DiagnosticsError`]; at least four draws a chain. NaN for a constant.
pub fn rank_normalised_rhat(chains: &[&[f64]]) -> Result<f64, DiagnosticsError> {
    check(chains, RHAT_DRAWS)?;
    let bulk = rhat(&rank_normalise(Halves::of(chains)));
    let median = quantile_of_sorted(&pooled(chains), 0.5);
    let folded = rhat(&rank_normalise(Halves::map(chains, |x| (x - median).abs())));
    // a two-valued quantity may have nothing left once folded
    Ok(bulk.max(folded))
}

/// $\widehat R$ of the halves; NaN where nothing varies.
fn rhat(halves: &Halves) -> f64 {
    if halves.is_constant() {
        return f64::NAN;
    }
    let (means, variances): (Vec<f64>, Vec<f64>) = halves.parts().map(mean_and_variance).unzip();
    let length = halves.length as f64;
    let within = variances.iter().sum::<f64>() / variances.len() as f64;
    let between = mean_and_variance(&means).1;
    if within == 0.0 && between == 0.0 {
        return f64::NAN;
    }
    ((length - 1.0) / length + between / within).sqrt()
}

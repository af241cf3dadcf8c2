//! Effective sample sizes.

use super::DiagnosticsError;
use super::chains::{Halves, check, mean_and_variance};
use super::quantiles::{check_probability, pooled, quantile_of_sorted};
use super::ranks::rank_normalise;

/// Draws a chain without which no autocorrelation can be summed.
pub(super) const ESS_DRAWS: usize = 10;

/// Effective sample size for the mean of the draws themselves, chains cut in half (Vehtari et al. 2021, equations 10 to
/// 13).
///
/// The autocorrelations over all chains together are summed up to where Geyer's initial positive sequence ends, made
/// monotone. The result is at most $S \log\_{10} S$ for $S$ draws; above $S$ where draws are antithetic. Autocovariances are
/// computed directly and only as far as they are needed: cost (draws × autocorrelation length).
///
/// # Errors
/// [`DiagnosticsError`]; at least ten draws a chain. NaN for a constant.
pub fn ess_mean(chains: &[&[f64]]) -> Result<f64, DiagnosticsError> {
    check(chains, ESS_DRAWS)?;
    Ok(effective_size(&Halves::of(chains)))
}

/// Effective sample size in the bulk: that of the rank-normalised draws. Finite even where the mean is not.
///
/// # Errors
/// As [`ess_mean`].
pub fn ess_bulk(chains: &[&[f64]]) -> Result<f64, DiagnosticsError> {
    check(chains, ESS_DRAWS)?;
    Ok(effective_size(&rank_normalise(Halves::of(chains))))
}

/// Effective sample size in the tails: the smaller of those for the 5% and the 95% quantile.
///
/// Where ties leave one of the two without meaning (a quantity whose largest value makes up 5% of the draws), the other
/// decides.
///
/// # Errors
/// As [`ess_mean`].
pub fn ess_tail(chains: &[&[f64]]) -> Result<f64, DiagnosticsError> {
    check(chains, ESS_DRAWS)?;
    let sorted = pooled(chains);
    Ok(below(chains, &sorted, 0.05).min(below(chains, &sorted, 0.95)))
}

/// Effective sample size for the quantile at `probability`: that of the indicator of lying at or below it.
///
/// # Errors
/// As [`ess_mean`], and [`DiagnosticsError::Probability`]. NaN where all draws lie at or below the quantile.
pub fn ess_quantile(chains: &[&[f64]], probability: f64) -> Result<f64, DiagnosticsError> {
    check(chains, ESS_DRAWS)?;
    check_probability(probability)?;
    Ok(below(chains, &pooled(chains), probability))
}

fn below(chains: &[&[f64]], sorted: &[f64], probability: f64) -> f64 {
    let quantile = quantile_of_sorted(sorted, probability);
    effective_size(&Halves::map(chains, |x| f64::from(u8::from(x <= quantile))))
}

/// Monte Carlo standard error of the mean: standard deviation of all draws over the root of [`ess_mean`].
///
/// # Errors
/// As [`ess_mean`].
pub fn mcse_mean(chains: &[&[f64]]) -> Result<f64, DiagnosticsError> {
    let size = ess_mean(chains)?;
    let all: Vec<f64> = chains.iter().copied().flatten().copied().collect();
    Ok((mean_and_variance(&all).1 / size).sqrt())
}

/// Centred parts and what the autocorrelations over all of them need.
struct Autocorrelation {
    centred: Vec<f64>,
    length: usize,
    /// $W$, mean variance within parts.
    within: f64,
    /// $\widehat{\mathrm{var}}^+$.
    total: f64,
}

impl Autocorrelation {
    fn new(halves: &Halves) -> Self {
        let length = halves.length;
        let n = length as f64;
        let mut centred = halves.values.clone();
        let mut means = Vec::new();
        let mut within = 0.0;
        for part in centred.chunks_exact_mut(length) {
            let (mean, variance) = mean_and_variance(part);
            for x in part.iter_mut() {
                *x -= mean;
            }
            means.push(mean);
            within += variance;
        }
        within /= means.len() as f64;
        let total = (n - 1.0) / n * within + mean_and_variance(&means).1;
        Self {
            centred,
            length,
            within,
            total,
        }
    }

    /// $\widehat\rho\_t = 1 - (W - \overline{\gamma\_t}) / \widehat{\mathrm{var}}^+$, autocovariances with divisor $n$.
    fn at(&self, lag: usize) -> f64 {
        let parts = self.centred.chunks_exact(self.length);
        let count = parts.len() as f64;
        let sum: f64 = parts
            .map(|part| {
                part[lag..]
                    .iter()
                    .zip(part)
                    .map(|(x, y)| x * y)
                    .sum::<f64>()
            })
            .sum();
        1.0 - (self.within - sum / (count * self.length as f64)) / self.total
    }
}

fn effective_size(halves: &Halves) -> f64 {
    if halves.is_constant() {
        return f64::NAN;
    }
    let rho = Autocorrelation::new(halves);
    let draws = halves.values.len() as f64;
    // sums of neighbours, positive and made monotone
    let (mut even, mut odd) = (1.0, rho.at(1));
    let mut lag = 0;
    let mut smallest = f64::INFINITY;
    let mut sum = 0.0;
    while lag + 4 < halves.length && even + odd > 0.0 {
        smallest = smallest.min(even + odd);
        sum += smallest;
        lag += 2;
        even = rho.at(lag);
        odd = rho.at(lag + 1);
    }
    // the first even one left over, which cures a bias for antithetic chains
    let time = 2.0 * sum - 1.0 + even.max(0.0);
    draws / time.max(1.0 / draws.log10())
}

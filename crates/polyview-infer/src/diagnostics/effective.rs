//! Effective sample sizes by Geyer's initial monotone sequence.

use super::rank::{halves, normal_scores, quantile, variances};
use super::{DiagnosticError, check};

/// Effective sample size of the mean, over split chains. The number of draws
/// for a constant quantity.
///
/// # Errors
/// [`DiagnosticError`].
pub fn ess_mean(chains: &[&[f64]]) -> Result<f64, DiagnosticError> {
    check(chains)?;
    Ok(effective(&halves(chains)))
}

/// Effective sample size of the bulk: of the normal scores of the ranks.
///
/// # Errors
/// [`DiagnosticError`].
pub fn ess_bulk(chains: &[&[f64]]) -> Result<f64, DiagnosticError> {
    check(chains)?;
    let scores = normal_scores(&halves(chains));
    Ok(effective(&scores.iter().map(Vec::as_slice).collect::<Vec<_>>()))
}

/// Effective sample size of the tails: the smaller one of the indicators of
/// the 5 % and 95 % quantiles.
///
/// # Errors
/// [`DiagnosticError`].
pub fn ess_tail(chains: &[&[f64]]) -> Result<f64, DiagnosticError> {
    check(chains)?;
    let split = halves(chains);
    let mut all: Vec<f64> = split.iter().flat_map(|c| c.iter().copied()).collect();
    all.sort_by(f64::total_cmp);
    let of = |p: f64| {
        let q = quantile(&all, p);
        let below: Vec<Vec<f64>> =
            split.iter().map(|c| c.iter().map(|x| f64::from(u8::from(*x <= q))).collect()).collect();
        effective(&below.iter().map(Vec::as_slice).collect::<Vec<_>>())
    };
    Ok(of(0.05).min(of(0.95)))
}

/// Monte Carlo standard error of the mean.
///
/// # Errors
/// [`DiagnosticError`].
pub fn mcse_mean(chains: &[&[f64]]) -> Result<f64, DiagnosticError> {
    let ess = ess_mean(chains)?;
    let n: usize = chains.iter().map(|c| c.len()).sum();
    let mean = chains.iter().flat_map(|c| c.iter()).sum::<f64>() / n as f64;
    let variance =
        chains.iter().flat_map(|c| c.iter()).map(|x| (x - mean).powi(2)).sum::<f64>() / (n - 1) as f64;
    Ok((variance / ess).sqrt())
}

/// Autocovariance of a centred chain at a lag, divided by its length.
fn autocovariance(centred: &[f64], lag: usize) -> f64 {
    let n = centred.len();
    centred[..n - lag].iter().zip(&centred[lag..]).map(|(a, b)| a * b).sum::<f64>() / n as f64
}

fn effective(chains: &[&[f64]]) -> f64 {
    let n = chains[0].len();
    let total = (n * chains.len()) as f64;
    let (within, between) = variances(chains);
    let pooled = (n - 1) as f64 / n as f64 * within + between / n as f64;
    if pooled <= 0.0 {
        return total;
    }
    let centred: Vec<Vec<f64>> = chains
        .iter()
        .map(|c| {
            let m = c.iter().sum::<f64>() / n as f64;
            c.iter().map(|x| x - m).collect()
        })
        .collect();
    let correlation = |lag: usize| {
        let mean = centred.iter().map(|c| autocovariance(c, lag)).sum::<f64>() / chains.len() as f64;
        // the biased autocovariances against the unbiased variance
        1.0 - (within - mean * n as f64 / (n - 1) as f64) / pooled
    };
    // sums of neighbouring lags, as long as they are positive, made monotone
    let mut sum = 0.0;
    let mut previous = f64::INFINITY;
    let mut lag = 0;
    while lag + 1 < n {
        let first = if lag == 0 { 1.0 } else { correlation(lag) };
        let pair = first + correlation(lag + 1);
        if pair <= 0.0 {
            break;
        }
        previous = previous.min(pair);
        sum += previous;
        lag += 2;
    }
    let time = (-1.0 + 2.0 * sum).max(1.0 / total.log10());
    total / time
}

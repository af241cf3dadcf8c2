//! Split R-hat, plain and rank-normalised.

use super::{DiagnosticError, check};

/// Halves of each chain; the middle draw of an odd chain is left out.
pub(super) fn halves<'a>(chains: &[&'a [f64]]) -> Vec<&'a [f64]> {
    chains
        .iter()
        .flat_map(|c| {
            let half = c.len() / 2;
            [&c[..half], &c[c.len() - half..]]
        })
        .collect()
}

/// Mean of the chains' variances and variance of their means times length.
pub(super) fn variances(chains: &[&[f64]]) -> (f64, f64) {
    let n = chains[0].len() as f64;
    let means: Vec<f64> = chains.iter().map(|c| c.iter().sum::<f64>() / n).collect();
    let within = chains
        .iter()
        .zip(&means)
        .map(|(c, m)| c.iter().map(|x| (x - m).powi(2)).sum::<f64>() / (n - 1.0))
        .sum::<f64>()
        / chains.len() as f64;
    let count = means.len() as f64;
    let grand = means.iter().sum::<f64>() / count;
    let between = if means.len() > 1 {
        n * means.iter().map(|m| (m - grand).powi(2)).sum::<f64>() / (count - 1.0)
    } else {
        0.0
    };
    (within, between)
}

/// Split R-hat: the root of pooled over mean within-half variance. 1 for a
/// constant quantity; infinite for halves that are constant and differ.
///
/// # Errors
/// [`DiagnosticError`].
pub fn split_rhat(chains: &[&[f64]]) -> Result<f64, DiagnosticError> {
    check(chains)?;
    Ok(rhat(&halves(chains)))
}

fn rhat(halves: &[&[f64]]) -> f64 {
    let n = halves[0].len() as f64;
    let (within, between) = variances(halves);
    if within <= 0.0 {
        return if between <= 0.0 { 1.0 } else { f64::INFINITY };
    }
    (((n - 1.0) / n * within + between / n) / within).sqrt()
}

/// Normal scores of the pooled ranks (average ranks for ties), chain by chain:
/// $\Phi^{-1}((r - 3/8) / (S + 1/4))$.
pub(super) fn normal_scores(chains: &[&[f64]]) -> Vec<Vec<f64>> {
    let mut order: Vec<(f64, usize, usize)> = Vec::new();
    for (c, chain) in chains.iter().enumerate() {
        order.extend(chain.iter().enumerate().map(|(i, x)| (*x, c, i)));
    }
    order.sort_by(|a, b| a.0.total_cmp(&b.0));
    let total = order.len() as f64;
    let mut out: Vec<Vec<f64>> = chains.iter().map(|c| vec![0.0; c.len()]).collect();
    let mut start = 0;
    while start < order.len() {
        let mut end = start + 1;
        while end < order.len() && order[end].0 == order[start].0 {
            end += 1;
        }
        let rank = 0.5 * ((start + 1) as f64 + end as f64);
        let score = polyview_special::normal_quantile((rank - 0.375) / (total + 0.25));
        for &(_, c, i) in &order[start..end] {
            out[c][i] = score;
        }
        start = end;
    }
    out
}

/// The larger of the R-hats of the normal scores and of the folded ones: sees
/// chains that differ in place as well as in spread.
///
/// # Errors
/// [`DiagnosticError`].
pub fn rank_normalised_rhat(chains: &[&[f64]]) -> Result<f64, DiagnosticError> {
    check(chains)?;
    let split = halves(chains);
    let of = |parts: &[&[f64]]| {
        let scores = normal_scores(parts);
        rhat(&scores.iter().map(Vec::as_slice).collect::<Vec<_>>())
    };
    let mut all: Vec<f64> = split.iter().flat_map(|c| c.iter().copied()).collect();
    all.sort_by(f64::total_cmp);
    let median = quantile(&all, 0.5);
    let folded: Vec<Vec<f64>> =
        split.iter().map(|c| c.iter().map(|x| (x - median).abs()).collect()).collect();
    let folded: Vec<&[f64]> = folded.iter().map(Vec::as_slice).collect();
    Ok(of(&split).max(of(&folded)))
}

/// Quantile of sorted values by linear interpolation; `NaN` of none.
pub fn quantile(sorted: &[f64], p: f64) -> f64 {
    if sorted.is_empty() {
        return f64::NAN;
    }
    let at = p.clamp(0.0, 1.0) * (sorted.len() - 1) as f64;
    let low = at.floor() as usize;
    let high = (low + 1).min(sorted.len() - 1);
    sorted[low] + (at - low as f64) * (sorted[high] - sorted[low])
}

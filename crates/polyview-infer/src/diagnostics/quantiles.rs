//! Sample quantiles.

use super::DiagnosticsError;

/// Quantiles of `values` at `probabilities`, by linear interpolation between order statistics (type 7 of Hyndman and Fan:
/// position $1 + (n - 1)p$).
///
/// ```
/// use polyview_infer::diagnostics::quantiles;
/// assert_eq!(quantiles(&[4.0, 1.0, 2.0], &[0.0, 0.25, 0.5, 1.0])?, [1.0, 1.5, 2.0, 4.0]);
/// # Ok::<(), polyview_infer::diagnostics::DiagnosticsError>(())
/// ```
///
/// # Errors
/// [`DiagnosticsError::TooFewDraws`] without values, [`DiagnosticsError::NotFinite`],
/// [`DiagnosticsError::Probability`].
pub fn quantiles(values: &[f64], probabilities: &[f64]) -> Result<Vec<f64>, DiagnosticsError> {
    super::chains::check(&[values], 1)?;
    let sorted = pooled(&[values]);
    probabilities
        .iter()
        .map(|&p| {
            check_probability(p)?;
            Ok(quantile_of_sorted(&sorted, p))
        })
        .collect()
}

pub(super) fn check_probability(value: f64) -> Result<(), DiagnosticsError> {
    if (0.0..=1.0).contains(&value) {
        Ok(())
    } else {
        Err(DiagnosticsError::Probability { value })
    }
}

/// All draws, ascending.
pub(super) fn pooled(chains: &[&[f64]]) -> Vec<f64> {
    let mut all: Vec<f64> = chains.iter().copied().flatten().copied().collect();
    all.sort_unstable_by(f64::total_cmp);
    all
}

/// The quantile of ascending, finite, non-empty values.
pub(super) fn quantile_of_sorted(sorted: &[f64], probability: f64) -> f64 {
    let position = (sorted.len() - 1) as f64 * probability;
    let below = position.floor();
    let (low, high) = (sorted[below as usize], sorted[position.ceil() as usize]);
    let fraction = position - below;
    // equal ends stay exact, and no difference overflows
    if low == high {
        low
    } else {
        low * (1.0 - fraction) + high * fraction
    }
}

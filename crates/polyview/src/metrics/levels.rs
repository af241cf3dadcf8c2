//! Scores of predicted ordered levels.

use serde::{Deserialize, Serialize};

use super::{MetricError, same_length, within};

/// How good the probabilities of ordered levels are.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct LevelScore {
    /// Number of true levels.
    pub count: usize,
    /// Mean distance of the median level from the true one, in levels.
    pub absolute_error: f64,
    /// Mean ranked probability score, $\frac1{L-1}\sum\_{k\lt L}(P(X \le k) - \[x \le k\])^2$: 0 is
    /// perfect, 1 the worst there is; it counts by how many levels a prediction is off.
    pub ranked_probability: f64,
    /// Mean of minus the log probability of the true level, nats; infinite where it was
    /// impossible.
    pub log_loss: f64,
}

/// The level in the middle of probabilities: the lowest that half of them reach, from 1 on.
///
/// ```
/// use polyview::metrics::median_level;
/// assert_eq!(median_level(&[0.2, 0.4, 0.4]), 2);
/// ```
pub fn median_level(probabilities: &[f64]) -> usize {
    quantile_level(probabilities, 0.5)
}

/// The lowest level, from 1 on, at which the probabilities add up to `p`.
pub(crate) fn quantile_level(probabilities: &[f64], p: f64) -> usize {
    let mut sum = 0.0;
    let reached = probabilities.iter().position(|own| {
        sum += own;
        sum >= p
    });
    reached.map_or(probabilities.len(), |k| k + 1)
}

/// Scores the probabilities of levels (one list for each true level, from 1 on); cells whose
/// truth is `NaN` are left out. `None` without any.
///
/// ```
/// use polyview::metrics::levels;
///
/// # fn main() -> Result<(), polyview::metrics::MetricError> {
/// let score = levels(&[1.0, 3.0], &[vec![1.0, 0.0, 0.0], vec![0.0, 1.0, 0.0]])?.unwrap();
/// assert_eq!(score.absolute_error, 0.5);
/// assert_eq!(score.ranked_probability, 0.25); // one of four steps is wrong
/// # Ok(())
/// # }
/// ```
///
/// # Errors
/// [`MetricError::LengthMismatch`]; [`MetricError::BadValue`] for a true level that is not
/// among those of the list, and for what is no probability.
pub fn levels(
    truth: &[f64],
    probabilities: &[Vec<f64>],
) -> Result<Option<LevelScore>, MetricError> {
    same_length("lists of probabilities", truth.len(), probabilities.len())?;
    let mut out = LevelScore {
        count: 0,
        absolute_error: 0.0,
        ranked_probability: 0.0,
        log_loss: 0.0,
    };
    for (n, (x, p)) in truth.iter().zip(probabilities).enumerate() {
        if x.is_nan() {
            continue;
        }
        for own in p {
            within("probability", *own, (0.0, 1.0 + 1e-9), n, 0)?;
        }
        let level = within("true level", *x, (1.0, p.len() as f64), n, 0)? as usize;
        let (mut below, mut score) = (0.0, 0.0);
        for (k, own) in p[..p.len() - 1].iter().enumerate() {
            below += own;
            let reached = f64::from(u8::from(level <= k + 1));
            score += (below - reached).powi(2);
        }
        out.count += 1;
        out.absolute_error += (median_level(p) as f64 - x).abs();
        out.ranked_probability += score / (p.len() - 1).max(1) as f64;
        out.log_loss -= p[level - 1].ln();
    }
    let count = out.count as f64;
    Ok((out.count > 0).then(|| LevelScore {
        absolute_error: out.absolute_error / count,
        ranked_probability: out.ranked_probability / count,
        log_loss: out.log_loss / count,
        ..out
    }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn levels_that_are_farther_off_are_worse() {
        let sure = |k: usize| (1..=4).map(|j| f64::from(u8::from(j == k))).collect();
        let of = |k: usize| levels(&[1.0], &[sure(k)]).unwrap().unwrap();
        assert_eq!(of(1).ranked_probability, 0.0);
        for k in 2..5 {
            assert!((of(k).ranked_probability - (k - 1) as f64 / 3.0).abs() < 1e-15);
            assert_eq!(of(k).absolute_error, (k - 1) as f64);
            assert_eq!(of(k).log_loss, f64::INFINITY);
        }
        let even = levels(&[2.0, f64::NAN], &[vec![0.25; 4], vec![0.25; 4]]);
        let even = even.unwrap().unwrap();
        assert_eq!((even.count, even.log_loss), (1, 4f64.ln()));
        // (1/16 + 1/4 + 1/16) / 3
        assert!((even.ranked_probability - 0.125).abs() < 1e-15);
        assert!(levels(&[5.0], &[vec![0.25; 4]]).is_err());
        assert_eq!(levels(&[], &[]).unwrap(), None);
    }
}

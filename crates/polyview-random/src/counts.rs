//! Counts.

use rand::Rng;
use rand_distr::{Binomial, Distribution, Poisson};

use crate::error::{RandomError, within};

/// Largest mean of a draw: above it the law has no use for whole numbers.
const LARGEST: f64 = 1e18;

/// A Poisson draw with that mean, 0 or larger.
///
/// # Errors
/// [`RandomError::OutOfRange`] when the mean is negative, not finite or above
/// 1e18.
pub fn poisson<R: Rng + ?Sized>(rng: &mut R, mean: f64) -> Result<f64, RandomError> {
    let what = "mean of the Poisson";
    let mean = within(what, mean, 0.0, LARGEST)?;
    if mean == 0.0 {
        return Ok(0.0);
    }
    match Poisson::new(mean) {
        Ok(law) => Ok(law.sample(rng)),
        Err(_) => within(what, f64::NAN, 0.0, LARGEST),
    }
}

/// Successes out of `trials` at probability `p`.
///
/// # Errors
/// [`RandomError::OutOfRange`] unless `p` lies in 0..=1.
pub fn binomial<R: Rng + ?Sized>(rng: &mut R, trials: u64, p: f64) -> Result<u64, RandomError> {
    let what = "p of the binomial";
    let p = within(what, p, 0.0, 1.0)?;
    match Binomial::new(trials, p) {
        Ok(law) => Ok(law.sample(rng)),
        Err(_) => within(what, f64::NAN, 0.0, 1.0).map(|_| 0),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::StreamKey;

    #[test]
    fn moments() -> Result<(), RandomError> {
        let mut rng = StreamKey::new(5).rng();
        for mean in [0.05, 3.0, 400.0] {
            let draws: Vec<f64> = (0..40_000)
                .map(|_| poisson(&mut rng, mean))
                .collect::<Result<_, _>>()?;
            let m = draws.iter().sum::<f64>() / 4e4;
            let v = draws.iter().map(|x| (x - m).powi(2)).sum::<f64>() / 4e4;
            assert!((m - mean).abs() < 5.0 * (mean / 4e4).sqrt(), "{mean}: {m}");
            assert!((v / mean - 1.0).abs() < 0.15, "{mean}: {v}");
        }
        for (n, p) in [(1, 0.3), (40, 0.9), (5000, 0.02)] {
            let draws: Vec<f64> = (0..40_000)
                .map(|_| binomial(&mut rng, n, p).map(|x| x as f64))
                .collect::<Result<_, _>>()?;
            let m = draws.iter().sum::<f64>() / 4e4;
            let (mean, variance) = (n as f64 * p, n as f64 * p * (1.0 - p));
            assert!(
                (m - mean).abs() < 5.0 * (variance / 4e4).sqrt(),
                "{n} {p}: {m}"
            );
            assert!(draws.iter().all(|x| *x <= n as f64));
        }
        Ok(())
    }

    #[test]
    fn laws() -> Result<(), RandomError> {
        let mut rng = StreamKey::new(6).rng();
        for (n, p) in [(2_u64, 0.5), (5, 0.6), (9, 0.12), (30, 0.4), (40, 0.9)] {
            let mut seen = vec![0.0; n as usize + 1];
            for _ in 0..100_000 {
                seen[binomial(&mut rng, n, p)? as usize] += 1e-5;
            }
            let mut law = (1.0 - p).powf(n as f64);
            for (x, seen) in seen.iter().enumerate() {
                let sd = (law * (1.0 - law) / 1e5).sqrt();
                assert!(
                    (seen - law).abs() < 5.0 * sd + 1e-5,
                    "{n} {p} {x}: {seen} {law}"
                );
                law *= (n as f64 - x as f64) / (x as f64 + 1.0) * p / (1.0 - p);
            }
        }
        Ok(())
    }

    #[test]
    fn what_cannot_be_drawn() {
        let mut rng = StreamKey::new(1).rng();
        assert_eq!(poisson(&mut rng, 0.0), Ok(0.0));
        for mean in [-1.0, f64::NAN, f64::INFINITY] {
            assert!(poisson(&mut rng, mean).is_err());
        }
        for p in [-0.1, 1.1, f64::NAN] {
            assert!(binomial(&mut rng, 3, p).is_err());
        }
    }
}

//! The laws of counts that predictions are read as.

use polyview_special::{ln_beta, ln_gamma, normal_cdf, normal_quantile};

/// Means above which the ends of intervals are those of a normal law.
const LARGE: f64 = 1e4;
/// Most counts that are visited on the way to an end.
const STEPS: usize = 1 << 17;
/// Sizes above which a negative binomial is Poisson to rounding.
const SHARP: f64 = 1e8;
/// A sum of probabilities begins so many standard deviations below the mean.
const BELOW: f64 = 12.0;

/// A law of counts with a given mean and variance.
///
/// Predictive distributions of counts are mixtures without a closed form. As
/// normal laws stand for those of numbers, so does for counts the negative
/// binomial of the same two moments, or where the variance is not above the
/// mean the Poisson law.
///
/// ```
/// use polyview_likelihoods::CountLaw;
///
/// let law = CountLaw::new(2.0, 2.0); // Poisson
/// assert!((law.ln_density(0.0) + 2.0).abs() < 1e-14);
/// assert_eq!(law.interval(0.9), (0.0, 5.0));
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CountLaw {
    mean: f64,
    variance: f64,
    law: Law,
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Law {
    Poisson,
    /// Its size.
    NegativeBinomial(f64),
}

impl CountLaw {
    /// The law of counts with that mean (not negative) and variance.
    pub fn new(mean: f64, variance: f64) -> Self {
        let size = mean * mean / (variance - mean);
        let law = if variance > mean && size < SHARP {
            Law::NegativeBinomial(size)
        } else {
            Law::Poisson
        };
        Self {
            mean,
            variance: variance.max(mean),
            law,
        }
    }
    /// The mean.
    pub fn mean(&self) -> f64 {
        self.mean
    }
    /// The standard deviation.
    pub fn sd(&self) -> f64 {
        self.variance.sqrt()
    }
    /// Log probability of a count, nats.
    pub fn ln_density(&self, count: f64) -> f64 {
        let (y, m) = (count, self.mean);
        if !(m > 0.0 && m.is_finite()) {
            return if y == m { 0.0 } else { f64::NEG_INFINITY };
        }
        match self.law {
            Law::Poisson if y == 0.0 => -m,
            Law::Poisson => y * m.ln() - m - ln_gamma(y + 1.0),
            Law::NegativeBinomial(r) => {
                // zeros are left out: logarithms of small means may be infinite
                let zero = -r * (m / r).ln_1p();
                if y == 0.0 {
                    zero
                } else {
                    zero - y * (r / m).ln_1p() - ln_beta(r, y + 1.0) - (y + r).ln()
                }
            }
        }
    }
    /// Probability of `count` + 1 over that of `count`.
    fn ratio(&self, count: f64) -> f64 {
        let (k, m) = (count, self.mean);
        match self.law {
            Law::Poisson => m / (k + 1.0),
            Law::NegativeBinomial(r) => (k + r) / (k + 1.0) * (m / (m + r)),
        }
    }
    /// The central interval of probability `level`, between 0 and 1: the quantiles of
    /// $\tfrac12(1 \mp \text{level})$.
    pub fn interval(&self, level: f64) -> (f64, f64) {
        let tail = 0.5 * (1.0 - level);
        (self.quantile(tail), self.quantile(1.0 - tail))
    }
    /// The smallest count at which the distribution function reaches `p`, between 0 and 1.
    /// Where the mean is above ten thousand it is that of the normal law, cut off at zero,
    /// to the next whole number away from the median.
    pub fn quantile(&self, p: f64) -> f64 {
        if self.mean.is_nan() {
            return f64::NAN;
        }
        if !self.mean.is_finite() {
            return if p < 0.5 { 0.0 } else { f64::INFINITY };
        }
        if self.mean == 0.0 {
            return 0.0;
        }
        let far = {
            let normal = (self.mean + normal_quantile(p) * self.sd()).max(0.0);
            if p < 0.5 {
                normal.floor()
            } else {
                normal.ceil()
            }
        };
        if self.mean > LARGE {
            return far;
        }
        let mut sum = 0.0;
        let mut last = 0.0;
        for (k, own) in self.visited() {
            sum += own;
            // beyond rounding the sum does not grow
            let over = k > self.mean && own < 1e-17;
            if sum >= p || over {
                return k;
            }
            last = k + 1.0;
        }
        if p < 0.5 { far } else { far.max(last) }
    }
    /// The probability of a count that is not larger; where the mean is above ten
    /// thousand that of the normal law, half a count further.
    pub fn cdf(&self, count: f64) -> f64 {
        if self.mean.is_nan() || count.is_nan() {
            return f64::NAN;
        }
        if count < 0.0 || !self.mean.is_finite() {
            return f64::from(u8::from(count == f64::INFINITY));
        }
        if self.mean == 0.0 || count == f64::INFINITY {
            return 1.0;
        }
        let top = count.floor();
        if self.mean > LARGE {
            return normal_cdf((top + 0.5 - self.mean) / self.sd());
        }
        let mut sum = 0.0;
        for (k, own) in self.visited() {
            if k > top || (k > self.mean && own < 1e-17) {
                break;
            }
            sum += own;
        }
        sum.min(1.0)
    }
    /// Counts and their probabilities, from the first that is not next to impossible.
    fn visited(&self) -> impl Iterator<Item = (f64, f64)> {
        let mut k = (self.mean - BELOW * self.sd()).floor().max(0.0);
        let mut p = self.ln_density(k).exp();
        std::iter::from_fn(move || {
            let now = (k, p);
            p *= self.ratio(k);
            k += 1.0;
            Some(now)
        })
        .take(STEPS)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn laws() -> Vec<CountLaw> {
        let mut out = Vec::new();
        for mean in [1e-3, 0.4, 3.0, 60.0, 900.0] {
            for over in [0.0, 1e-9, 0.3, 4.0, 100.0] {
                out.push(CountLaw::new(mean, mean * (1.0 + over)));
            }
        }
        out
    }

    #[test]
    fn probabilities_add_up_to_the_moments_they_were_made_of() {
        for law in laws() {
            let (mut total, mut mean, mut square) = (0.0, 0.0, 0.0);
            let end = (law.mean() + 60.0 * law.sd() + 4000.0) as usize;
            for y in 0..=end {
                let (y, p) = (y as f64, law.ln_density(y as f64).exp());
                total += p;
                mean += p * y;
                square += p * y * y;
            }
            assert!((total - 1.0).abs() < 1e-6, "{law:?}: {total}");
            assert!((mean / law.mean() - 1.0).abs() < 1e-4, "{law:?}: {mean}");
            let variance = square - mean * mean;
            assert!((variance.sqrt() / law.sd() - 1.0).abs() < 1e-3, "{law:?}");
        }
    }

    #[test]
    fn ends_are_quantiles() {
        for law in laws() {
            for level in [0.5, 0.95, 0.999] {
                let (low, high) = law.interval(level);
                let below = |end: f64| {
                    let sum = |top: i64| (0..=top).map(|y| law.ln_density(y as f64).exp()).sum();
                    let (at, before): (f64, f64) = (sum(end as i64), sum(end as i64 - 1));
                    (before, at)
                };
                for (end, p) in [(low, 0.5 * (1.0 - level)), (high, 0.5 * (1.0 + level))] {
                    let (before, at) = below(end);
                    assert!(before < p + 1e-9 && at > p - 1e-9, "{law:?} {level}: {end}");
                }
            }
        }
    }

    #[test]
    fn large_means_have_normal_ends_that_join_the_others() {
        for over in [0.0, 0.01] {
            let law = |mean: f64| CountLaw::new(mean, mean * (1.0 + over * mean));
            let (below, above) = (law(9999.0).interval(0.95), law(10001.0).interval(0.95));
            for (a, b) in [(below.0, above.0), (below.1, above.1)] {
                assert!((a - b).abs() < 0.03 * 1e4, "{over}: {a} {b}");
            }
        }
        assert_eq!(CountLaw::new(2e4, 1e12).interval(0.9).0, 0.0);
    }

    #[test]
    fn what_is_extreme_has_an_answer() {
        assert_eq!(CountLaw::new(0.0, 0.0).interval(0.95), (0.0, 0.0));
        assert_eq!(CountLaw::new(0.0, 0.0).ln_density(0.0), 0.0);
        let endless = CountLaw::new(f64::INFINITY, f64::INFINITY);
        assert_eq!(endless.interval(0.95), (0.0, f64::INFINITY));
        let unknown = CountLaw::new(f64::NAN, f64::NAN).interval(0.95);
        assert!(unknown.0.is_nan() && unknown.1.is_nan());
        // nearly all of its mass lies at zero
        assert_eq!(CountLaw::new(100.0, 1e10).interval(0.95), (0.0, 0.0));
        let (low, high) = CountLaw::new(5e3, 1e8).interval(0.95);
        assert!(low == 0.0 && high.is_finite());
    }
}

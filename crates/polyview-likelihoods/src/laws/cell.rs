//! The law of one cell.

use polyview_core::Domain;
use polyview_special::{ln_interval_probability, normal_cdf, normal_quantile};

use super::CountLaw;

/// The law that stands for that of a cell with a given mean and variance, by what the data
/// are: normal for real numbers, [`CountLaw`] for counts, and for labels that of a one.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum CellLaw {
    /// A normal law.
    Normal {
        /// Its mean.
        mean: f64,
        /// Its variance.
        variance: f64,
    },
    /// A law of counts.
    Count(CountLaw),
    /// The law of a 0 or 1.
    Label {
        /// The probability of a 1.
        one: f64,
        /// The variance, $p(1 - p)$, which may have digits that the probability lacks.
        variance: f64,
    },
}

impl CellLaw {
    /// The law of data of that domain with that mean and variance. Successes are those of
    /// a single trial.
    pub fn of(domain: Domain, mean: f64, variance: f64) -> Self {
        match domain {
            _ if domain.is_probability() || domain.has_classes() => Self::Label {
                one: mean,
                variance,
            },
            _ if domain.is_count() => Self::Count(CountLaw::new(mean, variance)),
            _ => Self::Normal { mean, variance },
        }
    }
    /// The mean that it was made with.
    pub fn mean(&self) -> f64 {
        match self {
            Self::Normal { mean, .. } => *mean,
            Self::Count(law) => law.mean(),
            Self::Label { one, .. } => *one,
        }
    }
    /// The variance; of counts at least that of the Poisson law.
    pub fn variance(&self) -> f64 {
        match self {
            Self::Normal { variance, .. } | Self::Label { variance, .. } => *variance,
            Self::Count(law) => law.sd().powi(2),
        }
    }
    /// The probability of a value that is not larger.
    pub fn cdf(&self, x: f64) -> f64 {
        match self {
            Self::Normal { mean, variance } => normal_cdf((x - mean) / variance.sqrt()),
            Self::Count(law) => law.cdf(x),
            Self::Label { .. } if x < 0.0 => 0.0,
            Self::Label { one, .. } if x < 1.0 => 1.0 - one,
            Self::Label { .. } => 1.0,
        }
    }
    /// The probability of a value above `least` and not above `most`, of a normal law to all digits in both tails.
    pub fn between(&self, least: f64, most: f64) -> f64 {
        match self {
            Self::Normal { mean, variance } => {
                let sd = variance.sqrt();
                ln_interval_probability((least - mean) / sd, (most - mean) / sd).exp()
            }
            _ => self.cdf(most) - self.cdf(least),
        }
    }
    /// The log density of a value, or its log probability, nats.
    pub fn ln_density(&self, x: f64) -> f64 {
        match self {
            Self::Normal { mean, variance } => {
                let z2 = (x - mean).powi(2) / variance;
                -0.5 * ((2.0 * std::f64::consts::PI).ln() + variance.ln() + z2)
            }
            Self::Count(law) => law.ln_density(x),
            Self::Label { one, .. } if x > 0.5 => one.ln(),
            Self::Label { one, .. } => (-one).ln_1p(),
        }
    }
    /// The smallest value at which the distribution function reaches `p`, between 0 and 1.
    pub fn quantile(&self, p: f64) -> f64 {
        match self {
            Self::Normal { mean, variance } => mean + normal_end(p) * variance.sqrt(),
            Self::Count(law) => law.quantile(p),
            Self::Label { one, .. } => f64::from(u8::from(1.0 - one < p)),
        }
    }
}

/// The quantile of the standard normal law; that of 1 − p is minus that of p, to the bit.
fn normal_end(p: f64) -> f64 {
    if p > 0.5 {
        -normal_quantile(1.0 - p)
    } else {
        normal_quantile(p)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Quantiles are where the distribution functions reach p, and these are sums of the
    /// densities.
    #[test]
    fn the_answers_of_a_law_agree() {
        for domain in [Domain::COUNTS, Domain::SUCCESSES, Domain::Binary] {
            let law = CellLaw::of(domain, 0.3, 0.21);
            let mut sum = 0.0;
            for x in 0..5 {
                let x = f64::from(x);
                sum += if domain.is_probability() && x > 1.0 {
                    0.0
                } else {
                    law.ln_density(x).exp()
                };
                assert!((law.cdf(x) - sum).abs() < 1e-12, "{domain:?} {x}");
                assert_eq!(law.cdf(x), law.cdf(x + 0.5));
            }
            for p in [0.1, 0.69, 0.71, 0.95] {
                let x = law.quantile(p);
                assert!(law.cdf(x) >= p && (x == 0.0 || law.cdf(x - 1.0) < p));
            }
        }
        let law = CellLaw::of(Domain::Reals, 0.0, 9.0);
        for p in [0.01, 0.5, 0.975] {
            assert!((law.cdf(law.quantile(p)) - p).abs() < 1e-14);
        }
        assert_eq!(-law.quantile(0.25), law.quantile(0.75));
        // far above the mean the distribution function is 1
        for (least, most) in [(-2.0, 1.0), (f64::NEG_INFINITY, 2.0), (0.5, f64::INFINITY)] {
            let p = law.cdf(most) - law.cdf(least);
            assert!((law.between(least, most) - p).abs() < 1e-15);
            assert!((law.between(-most, -least) - p).abs() < 1e-15);
        }
        assert_eq!(law.cdf(60.0), 1.0);
        let (above, below) = (law.between(60.0, f64::INFINITY), law.cdf(-60.0));
        assert!((above / below - 1.0).abs() < 1e-12, "{above} {below}");
        let slope = (law.cdf(3.0 + 1e-4) - law.cdf(3.0 - 1e-4)) / 2e-4;
        assert!((slope - law.ln_density(3.0).exp()).abs() < 1e-9);
    }
}

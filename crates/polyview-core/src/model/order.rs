//! Values between which normal scores lie.

use polyview_special::normal_cdf;

/// The distinct training values of a feature, ascending, with the normal
/// scores at which one ends and the next begins: a quantile map from normal
/// scores to data units.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct OrderStatistics {
    /// The values.
    pub values: Vec<f64>,
    /// Normal scores at the upper ends of all values but the last.
    pub ends: Vec<f64>,
}

impl OrderStatistics {
    /// The value at a normal score; 0 where there is none.
    pub fn at(&self, score: f64) -> f64 {
        let place = self.ends.partition_point(|t| *t < score);
        self.values.get(place).copied().unwrap_or(0.0)
    }
    /// Mean and variance of the value whose normal score is N(`mean`,
    /// `variance`).
    pub fn moments(&self, mean: f64, variance: f64) -> (f64, f64) {
        let Some(&first) = self.values.first() else {
            return (0.0, 0.0);
        };
        let sd = variance.sqrt();
        let (mut before, mut m, mut s) = (0.0, 0.0, 0.0);
        for (i, x) in self.values.iter().enumerate() {
            let up = self
                .ends
                .get(i)
                .map_or(1.0, |t| normal_cdf((t - mean) / sd));
            let share = (up - before).max(0.0);
            before = up;
            // about the first value: small spreads on a large level stay exact
            m += share * (x - first);
            s += share * (x - first).powi(2);
        }
        // rounding must not lead out of the range
        let last = self.values[self.values.len() - 1];
        ((first + m).min(last), (s - m * m).max(0.0))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scores_map_to_the_values_that_they_fall_on() {
        let x = OrderStatistics {
            values: vec![-1.0, 2.0, 50.0],
            ends: vec![-0.5, 1.0],
        };
        let at: Vec<f64> = [-3.0, -0.6, -0.4, 0.9, 1.1, 9.0].map(|s| x.at(s)).to_vec();
        assert_eq!(at, [-1.0, -1.0, 2.0, 2.0, 50.0, 50.0]);
        let (mean, variance) = x.moments(0.3, 1e-6);
        assert!((mean - 2.0).abs() < 1e-9 && variance < 1e-9);
        let shares = [
            normal_cdf(-0.5),
            normal_cdf(1.0) - normal_cdf(-0.5),
            1.0 - normal_cdf(1.0),
        ];
        let mean: f64 = shares.iter().zip(&x.values).map(|(p, x)| p * x).sum();
        assert!((x.moments(0.0, 1.0).0 - mean).abs() < 1e-12);
    }
}

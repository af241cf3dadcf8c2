//! Points with normal laws about them: their distribution function as a table.

use polyview_special::normal_cdf;

use super::grid::{SIDE, interpolation};

/// Steps of a table in a standard deviation: interpolation is good to rounding.
const FINE: f64 = 32.0;
/// Standard deviations beyond which a normal law has nothing, to rounding.
const BEYOND: f64 = 8.5;

/// $\sum_k w_k \Phi((t - \eta_k)/s)$ for points η in equal steps, read off a table. The sum itself
/// has a normal distribution function for each point, at each of the many places it is asked at.
#[derive(Clone, Debug)]
pub(super) struct Smooth {
    first: f64,
    step: f64,
    values: Vec<f64>,
}

impl Smooth {
    /// The points from `first` on, so far apart, with their weights and the standard deviation `s`
    /// that they share.
    pub(super) fn new(first: f64, apart: f64, weights: &[f64], deviation: f64) -> Self {
        let parts = (apart * FINE / deviation).ceil().max(1.0);
        let step = apart / parts;
        let (parts, reach) = (parts as usize, (BEYOND * deviation / step).ceil() as usize);
        let own: Vec<f64> = (0..=2 * reach)
            .map(|i| normal_cdf((i as f64 - reach as f64) * step / deviation))
            .collect();
        // before the first point's own values, and after the last point's, some that do not change
        let mut values = vec![0.0; weights.len() * parts + own.len() + 2 * SIDE];
        let mut whole = vec![0.0; values.len()];
        for (k, w) in weights.iter().enumerate() {
            let start = SIDE + k * parts;
            for (value, own) in values[start..].iter_mut().zip(&own) {
                *value += w * own;
            }
            whole[start + own.len()] += w;
        }
        let mut passed = 0.0;
        for (value, whole) in values.iter_mut().zip(whole) {
            passed += whole;
            *value += passed;
        }
        Self {
            first: first - (reach + SIDE) as f64 * step,
            step,
            values,
        }
    }
    /// What it is at `t`.
    pub(super) fn at(&self, t: f64) -> f64 {
        let place = (t - self.first) / self.step;
        let before = place.floor();
        if before < SIDE as f64 {
            return 0.0;
        }
        if before < (self.values.len() - SIDE) as f64 {
            let start = before as usize + 1 - SIDE;
            let near = &self.values[start..start + 2 * SIDE];
            let each = near.iter().zip(interpolation(place - before));
            return each.map(|(value, w)| value * w).sum();
        }
        self.values.last().copied().unwrap_or(0.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Wide laws and narrow ones, about one point and about many, some with negative weights.
    #[test]
    fn tables_have_the_sum_of_the_laws() {
        let many: Vec<f64> = (0..70)
            .map(|k| (f64::from(k) * 0.7).sin() * 0.02 + 0.01)
            .collect();
        for weights in [&many[..], &[0.4]] {
            let total: f64 = weights.iter().sum();
            for deviation in [0.05, 0.3, 2.0] {
                let (first, apart) = (-1.3, 0.06);
                let table = Smooth::new(first, apart, weights, deviation);
                let plain = |t: f64| -> f64 {
                    let each = weights.iter().enumerate();
                    each.map(|(k, w)| w * normal_cdf((t - first - k as f64 * apart) / deviation))
                        .sum()
                };
                for i in -4000..4000 {
                    let t = f64::from(i) * 0.0073;
                    let off = (table.at(t) - plain(t)).abs();
                    assert!(off < 2e-14, "{deviation} {t}: {off}");
                }
                assert_eq!((table.at(-1e300), table.at(f64::NEG_INFINITY)), (0.0, 0.0));
                for far in [1e300, f64::INFINITY] {
                    assert!((table.at(far) - total).abs() < 1e-14);
                }
            }
        }
    }
}

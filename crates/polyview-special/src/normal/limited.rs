//! A normal number of which limits may be all that is known.

use super::interval::ln_interval_probability;
use super::ln_normal_pdf;
use crate::stirling::HALF_LN_2PI;

/// Log likelihood of a normal number, with its slopes and curvatures, in the coordinates of Olsen (1978), in which it is concave:
/// $\theta$, one over the standard deviation, and $\delta$, the mean in standard deviations.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct LimitedNormal {
    /// $\ln p(x)$ of an exact number, $\ln P(l \le x \le u)$ between two ends; nats.
    pub value: f64,
    /// By $\delta$ and by $\theta$.
    pub slope: [f64; 2],
    /// By $\delta$ twice, by $\delta$ and $\theta$, by $\theta$ twice.
    pub curvature: [f64; 3],
}

impl LimitedNormal {
    /// Of a number between `lower` and `upper`, either of them infinite where there is no limit on that side, twice the number where
    /// it is exact; `NaN` where $\theta$ is not positive or the ends are the wrong way round.
    ///
    /// ```
    /// use polyview_special::{LimitedNormal, ln_normal_cdf};
    ///
    /// // below 3, of mean 1 and standard deviation 2
    /// let below = LimitedNormal::of((f64::NEG_INFINITY, 3.0), (0.5, 0.5));
    /// assert_eq!(below.value, ln_normal_cdf(1.0));
    /// ```
    pub fn of((lower, upper): (f64, f64), (delta, theta): (f64, f64)) -> Self {
        if lower == upper {
            let residual = theta * lower - delta;
            return Self {
                value: theta.ln() - 0.5 * residual * residual - HALF_LN_2PI,
                slope: [residual, theta.recip() - lower * residual],
                curvature: [-1.0, lower, -theta.powi(-2) - lower * lower],
            };
        }
        let (a, b) = (theta * lower - delta, theta * upper - delta);
        let value = ln_interval_probability(a, b);
        // the density at an end as a share of what is between them, times its powers of the end, then of both
        let edge = |end: f64, at: f64| {
            if !end.is_finite() {
                return [0.0; 5];
            }
            let share = (ln_normal_pdf(at) - value).exp();
            let bent = at * share;
            [share, end * share, bent, end * bent, end * end * bent]
        };
        let (low, high) = (edge(lower, a), edge(upper, b));
        let slope = [low[0] - high[0], high[1] - low[1]];
        Self {
            value,
            slope,
            curvature: [
                low[2] - high[2] - slope[0] * slope[0],
                high[3] - low[3] - slope[0] * slope[1],
                low[4] - high[4] - slope[1] * slope[1],
            ],
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slopes_and_curvatures_are_those_of_differences() {
        let inf = f64::INFINITY;
        for cell in [
            (0.4, 0.4),
            (-1.2, -1.2),
            (-inf, 0.7),
            (0.3, inf),
            (-0.5, 1.5),
            (25.0, inf),
        ] {
            let (at, h) = ((0.3, 0.8), 1e-5);
            let place = |d: f64, t: f64| LimitedNormal::of(cell, (at.0 + d, at.1 + t));
            let here = place(0.0, 0.0);
            let of = |plus: LimitedNormal, minus: LimitedNormal| {
                let by = |a: f64, b: f64| (a - b) / (2.0 * h);
                [
                    by(plus.value, minus.value),
                    by(plus.slope[0], minus.slope[0]),
                    by(plus.slope[1], minus.slope[1]),
                ]
            };
            let by_delta = of(place(h, 0.0), place(-h, 0.0));
            let by_theta = of(place(0.0, h), place(0.0, -h));
            let found = [
                by_delta[0],
                by_theta[0],
                by_delta[1],
                by_delta[2],
                by_theta[2],
            ];
            let ([d, t], [dd, dt, tt]) = (here.slope, here.curvature);
            for (f, s) in found.iter().zip([d, t, dd, dt, tt]) {
                assert!((f - s).abs() < 1e-8 * (1.0 + s.abs()), "{cell:?} {f} {s}");
            }
        }
    }
}

//! One cell of which only two ends are known.

use polyview_random::{ChaCha8Rng, TruncatedNormal};
use polyview_special::{TruncatedMoments, ln_normal_pdf, truncated_normal_moments};

/// What is known of a cell: a normal variable of variance 1 about the predictor lies between
/// these ends.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Ends {
    /// $l$, units of the predictor; may be $-\infty$.
    pub(super) lower: f64,
    /// $u > l$; may be $\infty$.
    pub(super) upper: f64,
}

/// The log probability of a cell with its derivatives in the ends.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct ByEnds {
    /// $\ln p$.
    pub(super) value: f64,
    /// $\partial_l\ln p = -\phi(a)/p$.
    pub(super) lower: f64,
    /// $\partial_u\ln p = \phi(b)/p$.
    pub(super) upper: f64,
    /// $\partial_l^2\ln p$.
    pub(super) lower_lower: f64,
    /// $\partial_l\partial_u\ln p$.
    pub(super) lower_upper: f64,
    /// $\partial_u^2\ln p$.
    pub(super) upper_upper: f64,
}

impl Ends {
    /// $\ln p$, $M_1$ and $V$; not a number where the predictor is none.
    pub(super) fn at(self, eta: f64) -> TruncatedMoments {
        let part = truncated_normal_moments(0.0, 1.0, self.lower - eta, self.upper - eta);
        part.unwrap_or(TruncatedMoments {
            mean: f64::NAN,
            variance: f64::NAN,
            ln_mass: f64::NAN,
        })
    }
    /// $\ln p$ with its derivatives in the ends.
    pub(super) fn by_ends(self, eta: f64) -> ByEnds {
        let (a, b) = (self.lower - eta, self.upper - eta);
        let value = polyview_special::ln_interval_probability(a, b);
        let density = |end: f64| {
            if end.is_infinite() {
                0.0
            } else {
                (ln_normal_pdf(end) - value).exp()
            }
        };
        // an infinite end times no density is nothing
        let times = |end: f64, density: f64| if density == 0.0 { 0.0 } else { end * density };
        let (of_a, of_b) = (density(a), density(b));
        ByEnds {
            value,
            lower: -of_a,
            upper: of_b,
            lower_lower: times(a, of_a) - of_a * of_a,
            lower_upper: of_a * of_b,
            upper_upper: -times(b, of_b) - of_b * of_b,
        }
    }
    /// A draw of the variable.
    pub(super) fn draw(self, eta: f64, rng: &mut ChaCha8Rng) -> f64 {
        TruncatedNormal::new(eta, 1.0, self.lower, self.upper)
            .map_or(f64::NAN, |law| law.sample(rng))
    }
}

#[cfg(test)]
mod tests {
    use polyview_special::{Expectation, Real};

    use super::*;

    const INF: f64 = f64::INFINITY;

    /// spec/sites 11: m, v, F, g, H of an interval; of the noise precision τ everything is in
    /// units of $1/\sqrt\tau$.
    #[test]
    fn vectors_of_intervals() {
        let first = [
            [
                0.3,
                1e-8,
                -0.3958986200173,
                0.1418943024197,
                0.7106611348739,
            ],
            [0.3, 0.5, -0.5760079492605, 0.1456802118732, 0.729272280704],
            [-2.0, 1.0, -3.137680285455, 1.963071346206, 0.8525929190186],
            [4.0, 4.0, -6.876611784286, -2.901994730936, 0.8873935783775],
            [-30.0, 1.0, -439.9289030137, 29.53385939752, 0.9988548585723],
            [
                3.0,
                100.0,
                -47.92230841472,
                -2.327601275229,
                0.9322655575903,
            ],
        ];
        let second = [
            [0.3, 1e-8, -2.516314869825, 3.708114406915, 3.367392094106],
            [0.3, 0.5, -3.327341972204, 3.916796160786, 3.128267349002],
            [-2.0, 1.0, -22.68118108429, 12.35364181844, 3.868921446925],
            [4.0, 4.0, -0.3060419998706, 0.3550094879443, 0.361429472468],
            [-30.0, 1.0, -1929.045812603, 124.03227487, 3.998957789528],
            [3.0, 100.0, -73.24987805761, 12.42315433554, 1.689697096337],
        ];
        let third = [
            [
                0.3,
                1e-8,
                -4.875976710209,
                -0.2999900001393,
                0.9999666671711,
            ],
            [0.3, 0.5, -5.125968372043, -0.2999900002393, 0.9999666675044],
            [-2.0, 1.0, -7.330894875355, 1.999933337333, 0.9999666704439],
            [4.0, 4.0, -14.83064491451, -3.999866693323, 0.9999666804367],
        ];
        let cases: [(f64, f64, f64, &[[f64; 5]]); 3] = [
            (-0.5, 1.5, 1.0, &first),
            (1.0, INF, 2.0, &second),
            (-0.01, 0.01, 1.0, &third),
        ];
        for (lower, upper, root, rows) in cases {
            for &[m, v, value, slope, curvature] in rows {
                let (mean, variance) = (root * m, root * root * v);
                let e = Expectation::of(mean, variance, 1.0, |eta| {
                    eta.ln_normal_between(root * lower, root * upper)
                });
                let found = [e.value, root * e.slope, root * root * e.curvature];
                for (found, expected) in found.into_iter().zip([value, slope, curvature]) {
                    let gap = (found - expected).abs() / (1.0 + expected.abs());
                    assert!(gap < 2e-9, "{lower} {m} {v}: {found} {expected}");
                }
            }
        }
    }

    #[test]
    fn derivatives_are_those_of_differences() {
        let h = 1e-5;
        for (lower, upper) in [(-0.4, 0.7), (-INF, 0.2), (1.1, INF), (0.0, 0.05)] {
            for eta in [-3.0, -0.2, 0.3, 4.0] {
                let at = |l: f64, u: f64| Ends { lower: l, upper: u }.by_ends(eta);
                let here = at(lower, upper);
                let slope = |up: f64, down: f64| (up - down) / (2.0 * h);
                let (up, down) = (at(lower, upper + h), at(lower, upper - h));
                let close = |a: f64, b: f64| (a - b).abs() < 1e-6 * (1.0 + a.abs());
                assert!(close(here.upper, slope(up.value, down.value)));
                assert!(close(here.upper_upper, slope(up.upper, down.upper)));
                let (up, down) = (at(lower + h, upper), at(lower - h, upper));
                assert!(close(here.lower, slope(up.value, down.value)));
                assert!(close(here.lower_lower, slope(up.lower, down.lower)));
                assert!(close(here.lower_upper, slope(up.upper, down.upper)));
                let part = Ends { lower, upper }.at(eta);
                assert!(close(part.mean, -here.lower - here.upper));
                assert_eq!(part.ln_mass.is_finite(), here.value.is_finite());
            }
        }
    }
}

//! Expectations under a normal law of a function that is known with its derivative.

use std::sync::OnceLock;

use crate::{Dual, GaussHermite};

/// $F = \mathrm E\\,\ell(\eta)$ under $N(m, v)$ with its derivatives (spec/sites 1.1): a
/// log likelihood as the Gaussian factors around it see it.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Expectation {
    /// $F$, nats.
    pub value: f64,
    /// $g = \partial\_mF$, per unit of $\eta$.
    pub slope: f64,
    /// $H = -2\partial\_vF = -\partial\_m^2F$, per squared unit.
    pub curvature: f64,
}

/// How far out, in standard deviations, equal steps go: $e^{-u^2/2}$ is below 1e-16 there.
const REACH: f64 = 8.6;
/// Octaves of the scale that have rules of their own.
const OCTAVES: usize = 11;
/// Nodes of the Gauss-Hermite rule for small variances.
const FEW: usize = 20;

/// Nodes above zero of a rule that is symmetric about zero, with their weights.
struct Rule {
    centre: f64,
    pairs: Vec<(f64, f64)>,
}

impl Rule {
    fn few() -> Self {
        let pairs = GaussHermite::normal(FEW).map_or_else(
            |_| Vec::new(),
            |r| {
                let all = r.nodes().iter().copied().zip(r.weights().iter().copied());
                all.filter(|(u, _)| *u > 0.0).collect()
            },
        );
        Self { centre: 0.0, pairs }
    }
    /// Equal steps, the weights those of the normal density, adding up to 1.
    fn steps(h: f64) -> Self {
        let count = (REACH / h).floor() as usize;
        let mut pairs: Vec<(f64, f64)> = (1..=count)
            .map(|i| i as f64 * h)
            .map(|u| (u, (-0.5 * u * u).exp()))
            .collect();
        let total = 1.0 + 2.0 * pairs.iter().rev().map(|p| p.1).sum::<f64>();
        for p in &mut pairs {
            p.1 /= total;
        }
        Self {
            centre: total.recip(),
            pairs,
        }
    }
    /// The rule for a function whose nearest singularity is π over `scale` standard
    /// deviations away: constant within an octave, so that what it gives is differentiable
    /// there.
    fn of(scale: f64) -> &'static Self {
        static RULES: [OnceLock<Rule>; OCTAVES + 1] = [const { OnceLock::new() }; OCTAVES + 1];
        // NaN takes the first
        let octave = if scale > 1.0 {
            (scale.log2().ceil() as usize).clamp(1, OCTAVES)
        } else {
            0
        };
        RULES[octave].get_or_init(|| match octave {
            0 => Self::few(),
            o => Self::steps(0.5 / (1u32 << o) as f64),
        })
    }
}

impl Expectation {
    /// Least variance that nodes stand apart for: a smaller one is taken to be this, since the
    /// curvature is one of differences.
    pub const LEAST_VARIANCE: f64 = 1e-10;
    /// The nodes above zero that serve where $\kappa^2v \le 1$, in standard deviations, with their
    /// weights, which are those of the nodes below as well: for whoever makes the expectations
    /// of many cells at once.
    pub fn few_nodes() -> &'static [(f64, f64)] {
        &Rule::of(0.0).pairs
    }
    /// Of a function given with its derivative, by the node form (spec/sites 1.3): slope and
    /// curvature are the exact derivatives of the sum over the nodes, whatever their number.
    ///
    /// `sharpness` κ says how fast the function changes: the rule is fine enough for one
    /// with its nearest singularity at a distance of π/κ from the real axis (spec/sites 1.4):
    /// 1 for logistic functions. 20 nodes where $\kappa^2v \le 1$, equal steps beyond.
    ///
    /// ```
    /// use polyview_special::{Expectation, Real};
    /// // a Bernoulli cell of the value 1
    /// let e = Expectation::of(0.3, 0.5, 1.0, |eta| eta - eta.softplus());
    /// assert!((e.value + 0.6123429445343).abs() < 1e-10);
    /// assert!((e.slope - 0.4329867279935).abs() < 1e-10);
    /// assert!((e.curvature - 0.2209008651225).abs() < 1e-10);
    /// ```
    pub fn of(mean: f64, variance: f64, sharpness: f64, function: impl Fn(Dual) -> Dual) -> Self {
        // a NaN stays one
        let s = if variance < Self::LEAST_VARIANCE {
            Self::LEAST_VARIANCE.sqrt()
        } else {
            variance.sqrt()
        };
        let rule = Rule::of(sharpness * s);
        let mut out = Self::default();
        if rule.centre > 0.0 {
            let at = function(Dual::variable(mean));
            out.value = rule.centre * at.value;
            out.slope = rule.centre * at.slope;
        }
        for &(u, w) in &rule.pairs {
            let above = function(Dual::variable(mean + s * u));
            let below = function(Dual::variable(mean - s * u));
            out.value += w * (above.value + below.value);
            out.slope += w * (above.slope + below.slope);
            out.curvature += w * u * (below.slope - above.slope);
        }
        out.curvature /= s;
        out
    }
    /// $\mathrm E f(\eta)$ alone, by the same nodes.
    pub fn mean_of(
        mean: f64,
        variance: f64,
        sharpness: f64,
        mut function: impl FnMut(f64) -> f64,
    ) -> f64 {
        let mut out = 0.0;
        Self::at_nodes(mean, variance, sharpness, |w, eta| out += w * function(eta));
        out
    }
    /// Visits the nodes of [`Expectation::mean_of`] with their weights, which add up to 1: for
    /// whoever wants several means of what is worked out once.
    pub fn at_nodes(mean: f64, variance: f64, sharpness: f64, mut visit: impl FnMut(f64, f64)) {
        let s = variance.max(0.0).sqrt();
        let rule = Rule::of(sharpness * s);
        if rule.centre > 0.0 {
            visit(rule.centre, mean);
        }
        for &(u, w) in &rule.pairs {
            visit(w, mean + s * u);
            visit(w, mean - s * u);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Real, ln_beta, ln_gamma};

    /// spec/sites 11: m, v, F, g, H in 30-digit arithmetic.
    fn check(
        rows: &[[f64; 5]],
        sharpness: f64,
        tolerance: f64,
        function: impl Fn(Dual) -> Dual + Copy,
    ) {
        for &[m, v, value, slope, curvature] in rows {
            let e = Expectation::of(m, v, sharpness, function);
            for (found, expected) in [(e.value, value), (e.slope, slope), (e.curvature, curvature)]
            {
                let gap = (found - expected).abs() / (1.0 + expected.abs());
                assert!(gap < tolerance, "{m} {v}: {found} {expected}");
            }
        }
    }

    #[test]
    fn vectors_of_logistic_families() {
        let bernoulli = |eta: Dual| eta - eta.softplus();
        check(
            &[
                [
                    0.3,
                    1e-8,
                    -0.5543552456908,
                    0.4255574833703,
                    0.2444583111202,
                ],
                [0.3, 0.5, -0.6123429445343, 0.4329867279935, 0.2209008651225],
                [-2.0, 1.0, -2.182736972066, 0.8445374814699, 0.1157579836166],
                [
                    4.0,
                    4.0,
                    -0.08594569530757,
                    0.06766764161831,
                    0.04717430994331,
                ],
                [-30.0, 1.0, -30.0, 0.9999999999998, 1.542811203191e-13],
                [
                    3.0,
                    100.0,
                    -2.729708603733,
                    0.3839105688363,
                    0.03758493113843,
                ],
            ],
            1.0,
            1e-9,
            bernoulli,
        );
        let choose = -ln_beta(8.0, 14.0) - 21f64.ln();
        check(
            &[
                [0.3, 0.5, -4.888567644122, -4.34026544013, 4.418017302449],
                [-2.0, 1.0, -6.396448194764, 3.890749629398, 2.315159672332],
                [4.0, 4.0, -42.46062265959, -11.64664716763, 0.9434861988662],
                [3.0, 100.0, -82.3358808281, -5.321788623274, 0.7516986227686],
            ],
            1.0,
            1e-9,
            |eta| eta * 7.0 - eta.softplus() * 20.0 + choose,
        );
        let nb = |x: f64, r: f64| {
            let constant = ln_gamma(x + r) - ln_gamma(r) - ln_gamma(x + 1.0);
            move |eta: Dual| {
                let shifted = eta - r.ln();
                shifted * x - shifted.softplus() * (x + r) + constant
            }
        };
        check(
            &[
                [0.3, 1e-8, -3.784373563768, 2.179280620086, 1.684082544402],
                [-2.0, 1.0, -12.36935912923, 4.370581940776, 0.5234082696247],
                [4.0, 4.0, -5.842184239585, -1.249158538869, 0.4740855223704],
                [3.0, 100.0, -23.85625609055, 0.871442811031, 0.2678239487433],
            ],
            1.0,
            1e-9,
            nb(5.0, 2.0),
        );
        check(
            &[
                [
                    0.3,
                    0.5,
                    -0.6781847326281,
                    -0.3551446419626,
                    0.09379033011598,
                ],
                [
                    3.0,
                    100.0,
                    -3.082857187048,
                    -0.3209303970738,
                    0.01837489865285,
                ],
            ],
            1.0,
            1e-9,
            nb(0.0, 0.5),
        );
    }

    #[test]
    fn vectors_of_probit_and_student() {
        check(
            &[
                [
                    0.3,
                    1e-8,
                    -0.4814101644191,
                    0.6172208548701,
                    0.5661278376913,
                ],
                [0.3, 0.5, -0.620169776326, 0.6778342164234, 0.5457358709411],
                [-2.0, 1.0, -4.220748105238, 2.406553679503, 0.8639620815678],
                [
                    4.0,
                    4.0,
                    -0.06115965373142,
                    0.06804344676863,
                    0.06681984133616,
                ],
                [3.0, 100.0, -16.11115426739, 2.782945052048, 0.3886083605496],
            ],
            1.0,
            1e-9,
            Real::ln_normal_cdf,
        );
        let nu = 4.0;
        let constant = ln_gamma(2.5) - ln_gamma(2.0) - 0.5 * (nu * std::f64::consts::PI).ln();
        check(
            &[
                [0.3, 1e-8, -1.00570508621, 0.2475247506615, 1.213116352672],
                [0.3, 0.5, -1.269114271201, 0.1882008429752, 0.9301461715161],
                [-2.0, 1.0, -3.314153363053, 1.120215415553, 0.02637600718115],
                [
                    4.0,
                    4.0,
                    -4.368082686394,
                    -0.9121322662398,
                    0.02775075737985,
                ],
                [
                    -30.0,
                    1.0,
                    -14.6117963279,
                    0.1634048027148,
                    -0.005322743297754,
                ],
                [
                    3.0,
                    100.0,
                    -7.134668847986,
                    -0.0963172927273,
                    0.0371158055278,
                ],
            ],
            2.0,
            3e-8,
            move |eta| ((-eta + 0.5).square() / nu).ln_1p() * (-0.5 * (nu + 1.0)) + constant,
        );
    }

    /// The law of a term: slope and curvature are the derivatives of the value, to rounding,
    /// also on few nodes.
    #[test]
    fn slope_and_curvature_are_derivatives_of_the_value() {
        let f = |eta: Dual| eta * 3.0 - eta.exp();
        for (m, v) in [(0.2, 0.7), (-1.0, 0.05), (1.5, 3.0)] {
            let at = |m: f64, v: f64| Expectation::of(m, v, 1.0, f);
            let (e, h) = (at(m, v), 1e-5);
            let slope = (at(m + h, v).value - at(m - h, v).value) / (2.0 * h);
            let by_variance = (at(m, v + h).value - at(m, v - h).value) / (2.0 * h);
            assert!((e.slope - slope).abs() < 1e-8 * (1.0 + slope.abs()));
            assert!((e.curvature + 2.0 * by_variance).abs() < 1e-7 * (1.0 + e.curvature));
        }
    }
}

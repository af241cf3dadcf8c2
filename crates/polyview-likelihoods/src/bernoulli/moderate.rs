//! Means of the logistic function of a normal variable.

use std::sync::LazyLock;

use polyview_special::{normal_cdf, normal_pdf, sigmoid};

/// Standard deviations up to which the first and the second rule serve.
const LIMITS: [f64; 2] = [1.0, 2.0];
/// Steps and numbers of nodes on either side of these rules: eight standard
/// deviations.
const NORMAL: [(f64, usize); 2] = [(0.75, 11), (0.4, 21)];
/// Step and number of nodes on either side of the rule for wide variables.
const LOGISTIC: (f64, usize) = (0.75, 34);

/// Weights of the nodes 0, 1, 2, … of symmetric trapezoid rules, summing to one
/// over both sides.
struct Rules {
    normal: [Vec<f64>; 2],
    logistic: Vec<f64>,
}

static RULES: LazyLock<Rules> = LazyLock::new(|| Rules {
    normal: NORMAL.map(|rule| trapezoid(rule, normal_pdf)),
    logistic: trapezoid(LOGISTIC, |x| sigmoid(x) * sigmoid(-x)),
});

fn trapezoid((step, nodes): (f64, usize), density: impl Fn(f64) -> f64) -> Vec<f64> {
    let mut out: Vec<f64> = (0..=nodes).map(|i| density(i as f64 * step)).collect();
    let mass = 2.0 * out.iter().sum::<f64>() - out[0];
    for w in &mut out {
        *w /= mass;
    }
    out
}

/// $\mathrm{E}\\,\sigma(\eta)$, $\eta\sim N(m, v)$, for $m \le 0$ (spec/sshiba P6
/// without its approximation).
///
/// With $v \le 4$ the trapezoid rule in the normal variable: the integrand is
/// analytic in a strip of half width $\pi/\sqrt v$, so the error falls as
/// $e^{-2\pi^2/(h\sqrt v)}$, faster than that of a Gauss-Hermite rule of as many
/// nodes, and equal steps need two exponentials in all. With larger v the same
/// rule in the logistic variable, $\mathrm{E}\\,\Phi((m - \ell)/\sqrt v)$. The
/// absolute error is below 1e-8 for all m and v.
pub(super) fn lower_mean_sigmoid(mean: f64, variance: f64) -> f64 {
    let sd = variance.max(0.0).sqrt();
    if sd == 0.0 {
        return sigmoid(mean);
    }
    let rules = &*RULES;
    let Some(rule) = LIMITS.iter().position(|limit| sd <= *limit) else {
        let at = |i: usize| i as f64 * LOGISTIC.0;
        let pair = |i: usize| normal_cdf((mean - at(i)) / sd) + normal_cdf((mean + at(i)) / sd);
        let rest: f64 = (1..rules.logistic.len())
            .map(|i| rules.logistic[i] * pair(i))
            .sum();
        return rules.logistic[0] * normal_cdf(mean / sd) + rest;
    };
    // odds at the nodes are e^m r^i; m <= 0, so they cannot overflow
    let odds = mean.exp();
    let ratio = (sd * NORMAL[rule].0).exp();
    let (mut up, mut down) = (odds, odds);
    let mut sum = rules.normal[rule][0] * odds / (1.0 + odds);
    for w in &rules.normal[rule][1..] {
        up *= ratio;
        down /= ratio;
        sum += w * (up / (1.0 + up) + down / (1.0 + down));
    }
    sum
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A fine sum over twelve standard deviations.
    fn reference(mean: f64, variance: f64) -> f64 {
        let (sd, step) = (variance.sqrt(), 1e-3);
        (-12_000..=12_000)
            .map(|i| f64::from(i) * step)
            .map(|u| step * normal_pdf(u) * sigmoid(mean + sd * u))
            .sum()
    }

    /// On either side of zero.
    fn mean_sigmoid(mean: f64, variance: f64) -> f64 {
        let lower = lower_mean_sigmoid(-mean.abs(), variance);
        if mean > 0.0 { 1.0 - lower } else { lower }
    }

    #[test]
    fn it_is_the_integral() {
        for mean in [-30.0, -7.0, -4.6, -1.0, 0.0, 0.3, 2.0, 12.0] {
            for variance in [1e-6, 0.5, 0.99, 1.01, 3.9, 4.1, 9.0, 100.0, 1e4] {
                let (found, exact) = (mean_sigmoid(mean, variance), reference(mean, variance));
                assert!(
                    (found - exact).abs() < 1e-8,
                    "{mean} {variance}: {found} {exact}"
                );
            }
        }
        assert_eq!(mean_sigmoid(-0.7, 0.0), sigmoid(-0.7));
        // far out it is the mean of e^eta, to relative accuracy
        for mean in [-300.0, -40.0] {
            let found = lower_mean_sigmoid(mean, 0.64);
            assert!((found / (mean + 0.32_f64).exp() - 1.0).abs() < 1e-8);
        }
    }

    #[test]
    fn it_is_what_the_thesis_simulated() {
        // spec/thesis 15.1.6, Monte Carlo to about three digits
        assert!((mean_sigmoid(1.0, 0.5) - 0.7117).abs() < 5e-4);
        assert!((mean_sigmoid(2.0, 4.0) - 0.7750).abs() < 5e-4);
    }
}

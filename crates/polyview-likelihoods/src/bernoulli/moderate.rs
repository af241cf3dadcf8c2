//! Means of the logistic function of a normal variable.

use std::sync::LazyLock;

use polyview_special::{normal_cdf, normal_pdf, sigmoid};

/// Standard deviation from which the other rule is used.
const WIDE: f64 = 2.0;

/// Nodes and weights of trapezoid rules on the real line, for the normal and
/// the logistic density.
struct Rules {
    normal: Vec<(f64, f64)>,
    logistic: Vec<(f64, f64)>,
}

static RULES: LazyLock<Rules> = LazyLock::new(|| Rules {
    normal: trapezoid(0.4, 22, normal_pdf),
    logistic: trapezoid(0.75, 34, |x| sigmoid(x) * sigmoid(-x)),
});

fn trapezoid(step: f64, half: i32, density: impl Fn(f64) -> f64) -> Vec<(f64, f64)> {
    let mut out: Vec<(f64, f64)> = (-half..=half)
        .map(|i| f64::from(i) * step)
        .map(|x| (x, density(x)))
        .collect();
    let mass: f64 = out.iter().map(|n| n.1).sum();
    for node in &mut out {
        node.1 /= mass;
    }
    out
}

/// $\mathrm{E}\\,\sigma(\eta)$, $\eta\sim N(m, v)$ (spec/sshiba P6 without its
/// approximation).
///
/// With $v \le 4$ the trapezoid rule in the normal variable: the integrand is
/// analytic in a strip of half width $\pi/\sqrt v$, so the error falls as
/// $e^{-2\pi^2/(h\sqrt v)}$, faster than that of a Gauss-Hermite rule of as many
/// nodes, whose outer nodes are wasted here. With larger v the same rule in
/// the logistic variable, $\mathrm{E}\\,\Phi((m - \ell)/\sqrt v)$. The absolute
/// error is below 1e-8 for all m and v.
pub(super) fn mean_sigmoid(mean: f64, variance: f64) -> f64 {
    let sd = variance.max(0.0).sqrt();
    if sd == 0.0 {
        sigmoid(mean)
    } else if sd <= WIDE {
        RULES
            .normal
            .iter()
            .map(|&(u, w)| w * sigmoid(mean + sd * u))
            .sum()
    } else {
        RULES
            .logistic
            .iter()
            .map(|&(l, w)| w * normal_cdf((mean - l) / sd))
            .sum()
    }
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

    #[test]
    fn it_is_the_integral() {
        for mean in [-30.0, -7.0, -4.6, -1.0, 0.0, 0.3, 2.0, 12.0] {
            for variance in [1e-6, 0.5, 1.0, 3.9, 4.1, 9.0, 100.0, 1e4] {
                let (found, exact) = (mean_sigmoid(mean, variance), reference(mean, variance));
                assert!(
                    (found - exact).abs() < 1e-8,
                    "{mean} {variance}: {found} {exact}"
                );
                let mirrored = 1.0 - mean_sigmoid(-mean, variance);
                assert!((found - mirrored).abs() < 1e-14);
            }
        }
        assert_eq!(mean_sigmoid(0.7, 0.0), sigmoid(0.7));
    }

    #[test]
    fn it_is_what_the_thesis_simulated() {
        // spec/thesis 15.1.6, Monte Carlo to about three digits
        assert!((mean_sigmoid(1.0, 0.5) - 0.7117).abs() < 5e-4);
        assert!((mean_sigmoid(2.0, 4.0) - 0.7750).abs() < 5e-4);
    }
}

//! Log-probability of an interval.

use super::narrow::sums;
use super::{central_mass, ln_normal_cdf, mills_ratio, upper_tail};
use crate::stirling::HALF_LN_2PI;

/// $\ln\\{\Phi(b) - \Phi(a)\\}$ for $a \le b$, either end infinite.
///
/// Relative accuracy 1e-14 in both tails and in the middle, for any width: subtracting the two
/// values of $\Phi$ is never done.
/// * An interval around zero: $\frac12\[\operatorname{erf}(b/\sqrt2)+\operatorname{erf}(-a/\sqrt2)\]$,
///   or one minus the two tails.
/// * An interval on one side (mirrored to the right): $\phi(a)\\{M(a) - M(b)e^{-(b^2-a^2)/2}\\}$ with
///   Mills ratios $M$.
/// * A narrow one: $2h\\,\phi(c)\sum\_{k\text{ even}} \mathrm{He}\_k(c)\\,h^k/(k+1)!$ about its midpoint
///   $c$, half width $h$.
///
/// Equal ends give $-\infty$ (the log of zero), $a > b$ or a NaN gives NaN.
///
/// ```
/// use polyview_special::ln_interval_probability;
/// let inf = f64::INFINITY;
/// assert_eq!(ln_interval_probability(-inf, inf), 0.0);
/// // One hundred millionth wide, thirty standard deviations out.
/// let narrow = ln_interval_probability(30.0, 30.0 + 1e-8);
/// assert!((narrow - (-450.918938533205 + 1e-8f64.ln())).abs() < 1e-6);
/// ```
pub fn ln_interval_probability(a: f64, b: f64) -> f64 {
    if a.is_nan() || b.is_nan() || a > b {
        f64::NAN
    } else if a == b {
        f64::NEG_INFINITY
    } else if b == f64::INFINITY {
        ln_normal_cdf(-a)
    } else if a == f64::NEG_INFINITY {
        ln_normal_cdf(b)
    } else if a >= 0.0 {
        one_sided(a, b)
    } else if b <= 0.0 {
        one_sided(-b, -a)
    } else {
        around_zero(a, b)
    }
}

/// $a < 0 < b$.
fn around_zero(a: f64, b: f64) -> f64 {
    let mass = 0.5 * (central_mass(b) + central_mass(-a));
    if mass < 0.5 {
        mass.ln()
    } else {
        (-(upper_tail(-a) + upper_tail(b))).ln_1p()
    }
}

/// $0 \le a \le b < \infty$.
fn one_sided(a: f64, b: f64) -> f64 {
    let width = b - a;
    let half = 0.5 * width;
    let centre = a + half;
    if width * centre.max(1.0) < 0.3 {
        return (width * sums(centre, half).zeroth).ln() - (0.5 * centre) * centre - HALF_LN_2PI;
    }
    let decay = (-width * centre).exp();
    let scaled = if decay > 0.0 {
        mills_ratio(a) - mills_ratio(b) * decay
    } else {
        mills_ratio(a)
    };
    scaled.ln() - (0.5 * a) * a - HALF_LN_2PI
}

#[cfg(test)]
mod tests {
    use super::*;

    const INF: f64 = f64::INFINITY;

    #[test]
    fn empty_reversed_and_not_a_number() {
        assert_eq!(ln_interval_probability(1.0, 1.0), -INF);
        assert_eq!(ln_interval_probability(INF, INF), -INF);
        assert_eq!(ln_interval_probability(-INF, -INF), -INF);
        assert!(ln_interval_probability(2.0, 1.0).is_nan());
        assert!(ln_interval_probability(INF, -INF).is_nan());
        assert!(ln_interval_probability(f64::NAN, 1.0).is_nan());
        assert!(ln_interval_probability(0.0, f64::NAN).is_nan());
    }

    #[test]
    fn beyond_the_range_of_the_square() {
        assert_eq!(ln_interval_probability(1e200, 2e200), -INF);
        assert_eq!(ln_interval_probability(-1e200, 2e200), 0.0);
        let far = ln_interval_probability(1e150, 1.1e150);
        assert!((far / -5e299 - 1.0).abs() < 1e-15);
    }

    #[test]
    fn cells_add_up() {
        // The cells of any grid, from -inf to inf, sum to one.
        let mut ends = vec![-INF];
        ends.extend((-80..=80).map(|k| f64::from(k) * 0.25 + 0.013));
        ends.push(INF);
        let total: f64 = ends
            .windows(2)
            .map(|w| ln_interval_probability(w[0], w[1]).exp())
            .sum();
        assert!((total - 1.0).abs() < 1e-14, "{total}");
    }
}

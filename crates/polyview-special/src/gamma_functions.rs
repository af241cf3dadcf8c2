//! Gamma function family.

use crate::stirling::{self, HALF_LN_2PI};

/// Digamma function $\psi(x) = \Gamma\'(x)/\Gamma(x)$ for $x > 0$; NaN elsewhere.
///
/// Relative accuracy 1e-14, except beside the zero at $x = 1.4616\dots$, where the absolute error
/// is 2e-15. $-\infty$ where $1/x$ overflows, that is below $5.6\cdot10^{-309}$. The poles and
/// the branches between them at negative $x$ have no use in this project and are refused.
///
/// ```
/// use polyview_special::digamma;
/// assert!((digamma(1.0) + 0.5772156649015329).abs() < 1e-14);
/// assert!(digamma(0.0).is_nan() && digamma(-0.5).is_nan());
/// ```
#[inline]
pub fn digamma(x: f64) -> f64 {
    // The guard comes first: `special` recurses for ever on large negative arguments.
    if x > 0.0 {
        special::Gamma::digamma(x)
    } else {
        f64::NAN
    }
}

/// Trigamma function $\psi\'(x)$ for $x > 0$; NaN elsewhere. Relative accuracy 1e-14.
///
/// ```
/// use polyview_special::trigamma;
/// assert!((trigamma(1.0) - std::f64::consts::PI.powi(2) / 6.0).abs() < 1e-14);
/// ```
#[inline]
pub fn trigamma(x: f64) -> f64 {
    if x > 0.0 {
        special::Gamma::trigamma(&x)
    } else {
        f64::NAN
    }
}

/// $\ln\Gamma(x)$ for $x > 0$; $+\infty$ at zero, NaN below it.
///
/// Relative accuracy 1e-15 (`libm`), also beside the zeros at 1 and 2.
///
/// ```
/// use polyview_special::ln_gamma;
/// assert!((ln_gamma(0.5) - std::f64::consts::PI.ln() / 2.0).abs() < 1e-15);
/// ```
#[inline]
pub fn ln_gamma(x: f64) -> f64 {
    if x >= 0.0 { libm::lgamma(x) } else { f64::NAN }
}

/// $\ln B(a,b) = \ln\Gamma(a) + \ln\Gamma(b) - \ln\Gamma(a+b)$ for $a, b > 0$; NaN elsewhere.
///
/// Relative accuracy 1e-14, absolute 1e-14 beside the curve $B(a,b) = 1$. Large arguments use
/// Stirling's series with the cancelling terms removed, so $\ln B(10^8, 10^{-3})$ is as good as
/// $\ln B(2, 3)$.
///
/// ```
/// use polyview_special::ln_beta;
/// assert!((ln_beta(2.0, 3.0) + 12f64.ln()).abs() < 1e-15);
/// ```
pub fn ln_beta(a: f64, b: f64) -> f64 {
    if !(a > 0.0 && b > 0.0) {
        return f64::NAN;
    }
    let (small, large) = if a < b { (a, b) } else { (b, a) };
    if large.is_infinite() {
        return f64::NEG_INFINITY;
    }
    if large < stirling::START {
        return ln_gamma(small) + ln_gamma(large) - ln_gamma(small + large);
    }
    let sum = small + large;
    let ratio = small / large;
    let corrections = stirling::correction(large) - stirling::correction(sum);
    if small < stirling::START {
        // ln Gamma(large) - ln Gamma(sum) = -small ln(sum) + (small - (large - 1/2) ln(1+ratio)) + corrections
        let drift = small - (large - 0.5) * ratio.ln_1p();
        return ln_gamma(small) - small * sum.ln() + (drift + corrections);
    }
    let powers = (small - 0.5) * (small / sum).ln() - large * ratio.ln_1p();
    powers + HALF_LN_2PI - 0.5 * large.ln() + (stirling::correction(small) + corrections)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn outside_the_domain() {
        for f in [digamma, trigamma, ln_gamma] {
            for x in [-1e300, -2.0, -0.5, f64::NEG_INFINITY, f64::NAN] {
                assert!(f(x).is_nan(), "{x}");
            }
        }
        assert_eq!(ln_gamma(0.0), f64::INFINITY);
        assert!(digamma(0.0).is_nan() && trigamma(0.0).is_nan());
        assert!(ln_beta(0.0, 1.0).is_nan() && ln_beta(1.0, -1.0).is_nan());
        assert!(ln_beta(f64::NAN, 1.0).is_nan());
    }

    #[test]
    fn ends_of_the_domain() {
        assert_eq!(digamma(5e-324), f64::NEG_INFINITY);
        assert_eq!(trigamma(1e-300), f64::INFINITY);
        assert_eq!(digamma(f64::INFINITY), f64::INFINITY);
        assert_eq!(trigamma(f64::INFINITY), 0.0);
        assert_eq!(ln_gamma(f64::INFINITY), f64::INFINITY);
        assert_eq!(ln_beta(1.0, f64::INFINITY), f64::NEG_INFINITY);
        assert!((ln_beta(1.0, 1e300) + 1e300f64.ln()).abs() < 1e-12);
    }
}

//! Standard normal distribution: density, distribution function, its logarithm and its Mills
//! ratios, each to full relative accuracy in both tails.

mod half_line;
mod interval;
mod limited;
mod narrow;
mod quantile;
mod truncated;

pub use interval::ln_interval_probability;
pub use limited::LimitedNormal;
pub use quantile::normal_quantile;
pub use truncated::{TruncatedMoments, truncated_normal_moments};

use std::f64::consts::{FRAC_1_SQRT_2, SQRT_2};

use crate::erf::{erfcx, exp_minus_half_square};
use crate::stirling::HALF_LN_2PI;

const FRAC_1_SQRT_2PI: f64 = 0.398_942_280_401_432_7;
const SQRT_HALF_PI: f64 = 1.253_314_137_315_500_3;

/// Density $\phi(x) = e^{-x^2/2}/\sqrt{2\pi}$.
///
/// Relative accuracy 5e-16 as long as the value is a normal number ($|x| < 37.5$).
///
/// ```
/// assert_eq!(polyview_special::normal_pdf(0.0), 0.3989422804014327);
/// ```
#[inline]
pub fn normal_pdf(x: f64) -> f64 {
    FRAC_1_SQRT_2PI * exp_minus_half_square(x)
}

/// $\ln\phi(x) = -\frac12 x^2 - \frac12\ln 2\pi$.
///
/// ```
/// assert_eq!(polyview_special::ln_normal_pdf(100.0), -5000.918938533205);
/// ```
#[inline]
pub fn ln_normal_pdf(x: f64) -> f64 {
    -0.5 * x * x - HALF_LN_2PI
}

/// $\Phi(-x)$ for $x \ge 0$: $\frac12 e^{-x^2/2}\operatorname{erfcx}(x/\sqrt2)$. Unlike
/// $\frac12\operatorname{erfc}(x/\sqrt2)$ it does not multiply the rounding error of
/// $x/\sqrt2$ by $x^2$.
#[inline]
fn upper_tail(x: f64) -> f64 {
    0.5 * exp_minus_half_square(x) * erfcx(x * FRAC_1_SQRT_2)
}

/// Distribution function $\Phi(x) = \int\_{-\infty}^x \phi(t)\\,dt$.
///
/// Relative accuracy 2e-15 as long as the value is a normal number ($x > -37.5$).
///
/// ```
/// use polyview_special::normal_cdf;
/// assert!((normal_cdf(-10.0) / 7.619853024160527e-24 - 1.0).abs() < 2e-15);
/// ```
#[inline]
pub fn normal_cdf(x: f64) -> f64 {
    if x < 0.0 {
        upper_tail(-x)
    } else {
        1.0 - upper_tail(x)
    }
}

/// $\ln\Phi(x)$ over the whole line.
///
/// Relative accuracy 2e-15, in the lower tail (about $-x^2/2$), in the upper tail (about
/// $-\phi(x)/x$, until that underflows at $x = 38.5$), and between.
///
/// ```
/// use polyview_special::ln_normal_cdf;
/// assert!((ln_normal_cdf(-1e5) / -5000000012.431864 - 1.0).abs() < 1e-15);
/// assert!((ln_normal_cdf(10.0) / -7.619853024160527e-24 - 1.0).abs() < 2e-15);
/// ```
#[inline]
pub fn ln_normal_cdf(x: f64) -> f64 {
    if x < 0.0 {
        (0.5 * erfcx(-x * FRAC_1_SQRT_2)).ln() - (0.5 * x) * x
    } else {
        (-upper_tail(x)).ln_1p()
    }
}

/// Mills ratio $\Phi(-x)/\phi(x) = \sqrt{\pi/2}\\,\operatorname{erfcx}(x/\sqrt2)$.
///
/// Relative accuracy 1e-15 over the whole line: about $1/x$ for large $x$, $+\infty$ for
/// $x < -37.6$ (where $1/\phi$ overflows).
///
/// ```
/// use polyview_special::mills_ratio;
/// assert!((mills_ratio(1e8) - 1e-8).abs() < 1e-22);
/// ```
#[inline]
pub fn mills_ratio(x: f64) -> f64 {
    if x < 0.0 {
        // In erfcx the rounding error of x / sqrt(2) would be multiplied by x^2.
        normal_cdf(-x) / normal_pdf(x)
    } else {
        SQRT_HALF_PI * erfcx(x * FRAC_1_SQRT_2)
    }
}

/// Inverse Mills ratio $\phi(x)/\Phi(x)$, the derivative of $\ln\Phi$ and the mean shift of a
/// probit observation: $E\[u \mid u > -x\] = \phi(x)/\Phi(x)$ for a standard normal $u$.
///
/// Relative accuracy 2e-15 over the whole line: about $-x$ far to the left, about $\phi(x)$ far
/// to the right.
///
/// ```
/// use polyview_special::inverse_mills;
/// assert!((inverse_mills(-1e8) - 1e8).abs() < 1e-7);
/// assert!((inverse_mills(0.0) - (2.0 / std::f64::consts::PI).sqrt()).abs() < 1e-15);
/// ```
#[inline]
pub fn inverse_mills(x: f64) -> f64 {
    if x < 0.0 {
        1.0 / (SQRT_HALF_PI * erfcx(-x * FRAC_1_SQRT_2))
    } else {
        normal_pdf(x) / normal_cdf(x)
    }
}

/// $\operatorname{erf}(x/\sqrt2) = \Phi(x) - \Phi(-x)$.
#[inline]
fn central_mass(x: f64) -> f64 {
    libm::erf(x / SQRT_2)
}

#[cfg(test)]
mod tests {
    use super::*;

    const INF: f64 = f64::INFINITY;

    #[test]
    fn infinite_and_huge_arguments() {
        assert_eq!((normal_pdf(INF), normal_pdf(-INF)), (0.0, 0.0));
        assert_eq!((normal_cdf(INF), normal_cdf(-INF)), (1.0, 0.0));
        assert_eq!((ln_normal_cdf(INF), ln_normal_cdf(-INF)), (0.0, -INF));
        assert_eq!((mills_ratio(INF), mills_ratio(-INF)), (0.0, INF));
        assert_eq!((inverse_mills(INF), inverse_mills(-INF)), (0.0, INF));
        assert!((inverse_mills(-1e300) / 1e300 - 1.0).abs() < 1e-15);
        assert_eq!(ln_normal_cdf(-1e160), -INF);
        assert!((ln_normal_cdf(-1.5e154) / -1.125e308 - 1.0).abs() < 1e-15);
    }

    #[test]
    fn not_a_number_stays_one() {
        for f in [
            normal_pdf,
            ln_normal_pdf,
            normal_cdf,
            ln_normal_cdf,
            mills_ratio,
            inverse_mills,
        ] {
            assert!(f(f64::NAN).is_nan());
        }
    }
}

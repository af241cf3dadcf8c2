//! Error function family.

use crate::double_double::two_product;

pub(crate) const FRAC_1_SQRT_PI: f64 = 0.564_189_583_547_756_3;

// erfcx(x) = P(x) / Q(x) on [0, 4], relative error 3.6e-19 before rounding; all coefficients are
// positive, so the evaluation cannot cancel. Recomputed by tests/tables/fit_constants.py.
const NEAR_NUM: [f64; 9] = [
    1.0,
    1.8104831689984768,
    1.6432672311003522,
    0.9361439655204822,
    0.36080155542445164,
    0.09566316955599392,
    0.017009210857798517,
    0.0018579118998228543,
    9.603037355783091e-05,
];
const NEAR_DEN: [f64; 10] = [
    1.0,
    2.9388623360939894,
    3.9594182661104536,
    3.217259492786792,
    1.7424392327865033,
    0.6544891403644724,
    0.17120542323350785,
    0.03023312450086098,
    0.0032930639856992355,
    0.00017020938773096276,
];

// sqrt(pi) x erfcx(x) = P(t) / Q(t), t = 1/x^2 in [0, 1/16], relative error 9.8e-18.
const FAR_NUM: [f64; 6] = [
    1.0,
    21.691010673586096,
    149.9422778793218,
    382.30339297572823,
    305.2103597022347,
    34.33858707324611,
];
const FAR_DEN: [f64; 6] = [
    1.0,
    22.191010673586046,
    160.2877832161542,
    447.6790265661646,
    443.8796826328928,
    104.96129231622062,
];

/// $c\_0 + c\_1 x + c\_2 x^2 + \dots$ by Horner's rule.
#[inline]
pub(crate) fn polynomial(coefficients: &[f64], x: f64) -> f64 {
    coefficients.iter().rev().fold(0.0, |sum, &c| sum * x + c)
}

/// Error function $\operatorname{erf}(x) = \frac{2}{\sqrt\pi}\int\_0^x e^{-t^2}\\,dt$.
///
/// Relative accuracy 2e-16 over the whole line (`libm`).
///
/// ```
/// assert_eq!(polyview_special::erf(0.5), 0.5204998778130465);
/// ```
#[inline]
pub fn erf(x: f64) -> f64 {
    libm::erf(x)
}

/// Complementary error function $\operatorname{erfc}(x) = 1 - \operatorname{erf}(x)$.
///
/// Relative accuracy 3e-16 (`libm`); below the smallest normal number for $x > 26.54$, where
/// [`erfcx`] is the one to use.
///
/// ```
/// assert_eq!(polyview_special::erfc(10.0), 2.088487583762545e-45);
/// ```
#[inline]
pub fn erfc(x: f64) -> f64 {
    libm::erfc(x)
}

/// Scaled complementary error function $\operatorname{erfcx}(x) = e^{x^2}\operatorname{erfc}(x)$.
///
/// Relative accuracy 1e-15 over the whole line. For $x \to \infty$ it falls like
/// $1/(x\sqrt\pi)$ and never underflows; for $x < -26.64$ it is $+\infty$.
///
/// Positive arguments use two rational approximations with positive coefficients; negative ones
/// $\operatorname{erfcx}(-x) = 2e^{x^2} - \operatorname{erfcx}(x)$ with the rounding error of
/// $x^2$ carried along.
///
/// ```
/// assert!((polyview_special::erfcx(1e10) * 1e10 - 0.564189583547756).abs() < 1e-15);
/// ```
#[inline]
pub fn erfcx(x: f64) -> f64 {
    if x < 0.0 {
        2.0 * exp_square(x) - erfcx_positive(-x)
    } else {
        erfcx_positive(x)
    }
}

#[inline]
fn erfcx_positive(x: f64) -> f64 {
    if x < 4.0 {
        polynomial(&NEAR_NUM, x) / polynomial(&NEAR_DEN, x)
    } else {
        let t = 1.0 / (x * x);
        FRAC_1_SQRT_PI / x * (polynomial(&FAR_NUM, t) / polynomial(&FAR_DEN, t))
    }
}

/// $e^{x^2}$ with the rounding error of the square put back: without it the relative error is
/// $x^2\epsilon$.
fn exp_square(x: f64) -> f64 {
    if x.abs() > 27.0 {
        return f64::INFINITY;
    }
    let (square, error) = two_product(x, x);
    square.exp() * (1.0 + error)
}

/// $e^{-x^2/2}$, likewise.
#[inline]
pub(crate) fn exp_minus_half_square(x: f64) -> f64 {
    if x.abs() > 40.0 {
        return 0.0;
    }
    let (square, error) = two_product(x, x);
    (-0.5 * square).exp() * (1.0 - 0.5 * error)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ends_and_nan() {
        assert_eq!(erfcx(0.0), 1.0);
        assert_eq!(erfcx(f64::INFINITY), 0.0);
        assert_eq!(erfcx(f64::NEG_INFINITY), f64::INFINITY);
        assert_eq!(erfcx(-27.5), f64::INFINITY);
        assert_eq!(erfcx(1e300), FRAC_1_SQRT_PI / 1e300);
        assert!(erfcx(f64::NAN).is_nan());
        assert!(exp_minus_half_square(f64::NAN).is_nan());
    }

    #[test]
    fn the_two_approximations_meet() {
        let t = 1.0 / 16.0;
        let far = FRAC_1_SQRT_PI / 4.0 * polynomial(&FAR_NUM, t) / polynomial(&FAR_DEN, t);
        let near = polynomial(&NEAR_NUM, 4.0) / polynomial(&NEAR_DEN, 4.0);
        assert!((near / far - 1.0).abs() < 1e-15);
    }
}

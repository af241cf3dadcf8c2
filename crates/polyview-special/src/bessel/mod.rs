//! Modified Bessel function of the second kind, $K\_\nu(x)$, in logarithmic and scaled form.

mod debye;
mod miller;
mod temme;

use std::f64::consts::{FRAC_PI_2, LN_2};

/// From this order on the uniform expansion replaces the recurrence.
const DEBYE_ORDER: f64 = 50.0;
/// Temme's series up to here, Miller's recurrence above.
const SERIES_END: f64 = 2.0;

/// $\ln K\_\nu(x)$ for real $\nu$ and $x > 0$.
///
/// Relative accuracy 1e-13 (absolute beside the zero of the logarithm), for every order and from
/// the smallest $x$ to the largest: nothing overflows, because orders are raised on ratios
/// $K\_{\nu+1}/K\_\nu$ and their logarithm is added.
///
/// $+\infty$ at $x = 0$, $-\infty$ at $x = \infty$, NaN for $x < 0$ or an infinite order.
/// $K\_{-\nu} = K\_\nu$.
///
/// ```
/// use polyview_special::ln_bessel_k;
/// // K_{1/2}(x) = sqrt(pi / 2x) e^{-x}
/// let exact = (std::f64::consts::PI / 6.0).ln() / 2.0 - 3.0;
/// assert!((ln_bessel_k(0.5, 3.0) - exact).abs() < 1e-15);
/// ```
pub fn ln_bessel_k(order: f64, x: f64) -> f64 {
    if x == f64::INFINITY && order.is_finite() {
        return f64::NEG_INFINITY;
    }
    ln_bessel_k_scaled(order, x) - x
}

/// $\ln\\{e^x K\_\nu(x)\\}$; see [`ln_bessel_k`]. Relative accuracy 1e-13, absolute beside zero.
///
/// ```
/// use polyview_special::ln_bessel_k_scaled;
/// let x: f64 = 1e4;
/// let leading = 0.5 * (std::f64::consts::PI / (2.0 * x)).ln();
/// assert!((ln_bessel_k_scaled(0.0, x) - leading + 1.25e-5).abs() < 1e-9);
/// ```
pub fn ln_bessel_k_scaled(order: f64, x: f64) -> f64 {
    if !order.is_finite() || x.is_nan() || x < 0.0 {
        f64::NAN
    } else if x == 0.0 {
        f64::INFINITY
    } else if x == f64::INFINITY {
        f64::NEG_INFINITY
    } else {
        evaluate(order.abs(), x).ln_scaled
    }
}

/// $e^x K\_\nu(x)$; $+\infty$ where that exceeds the range of `f64` (small $x$, large order).
///
/// Relative accuracy 1e-13 while $|\ln\\{e^x K\_\nu\\}| < 100$, and 1e-15 times that logarithm
/// beyond. NaN for $x < 0$ or an infinite order.
///
/// ```
/// use polyview_special::bessel_k_scaled;
/// assert!((bessel_k_scaled(1.5, 2.0) - (std::f64::consts::PI / 4.0).sqrt() * 1.5).abs() < 1e-14);
/// ```
pub fn bessel_k_scaled(order: f64, x: f64) -> f64 {
    ln_bessel_k_scaled(order, x).exp()
}

/// $K\_{\nu+1}(x)/K\_\nu(x)$ for real $\nu$ and $x > 0$.
///
/// Relative accuracy 1e-13 for every order and every $x$. About $2\nu/x$ for small $x$ (so
/// $+\infty$ where that overflows), one for large $x$; one over the ratio of order $-\nu-1$ for
/// negative orders. Limits: at $x = 0$, $+\infty$ for $\nu > -\frac12$, 1 at $-\frac12$, else 0;
/// at $x = \infty$, 1. NaN for $x < 0$ or an infinite order.
///
/// ```
/// use polyview_special::bessel_k_ratio;
/// assert!((bessel_k_ratio(0.5, 0.25) - 5.0).abs() < 1e-14);
/// assert_eq!(bessel_k_ratio(-0.5, 0.25), 1.0);
/// ```
pub fn bessel_k_ratio(order: f64, x: f64) -> f64 {
    if !order.is_finite() || x.is_nan() || x < 0.0 {
        f64::NAN
    } else if x == f64::INFINITY || order == -0.5 {
        1.0
    } else if x == 0.0 {
        if order > -0.5 { f64::INFINITY } else { 0.0 }
    } else if order < -0.5 {
        1.0 / evaluate(-1.0 - order, x).ratio
    } else {
        evaluate(order, x).ratio
    }
}

/// $\ln K\_\nu(x)$ scaled by $e^x$, $K\_{\nu+1}(x)/K\_\nu(x)$ and $K\_{\nu-1}(x)/K\_\nu(x)$.
pub(crate) struct Evaluation {
    pub(crate) ln_scaled: f64,
    pub(crate) ratio: f64,
    pub(crate) ratio_below: f64,
}

/// Order at least $-\frac12$, $0 < x < \infty$. (For orders below zero `ratio_below` is good to
/// the last place of `ratio` only; nothing asks for it.)
pub(crate) fn evaluate(order: f64, x: f64) -> Evaluation {
    if order >= DEBYE_ORDER {
        return debye::evaluate(order, x);
    }
    let steps = (order + 0.5).floor();
    let base = order - steps;
    if x <= SERIES_END {
        raise_small(base, steps, x)
    } else {
        raise_large(base, steps, x)
    }
}

/// Upward recurrence on $\rho\_k = x K\_{k+1}/K\_k = 2k + x^2/\rho\_{k-1}$, which stays finite as
/// $x \to 0$.
fn raise_small(base: f64, steps: f64, x: f64) -> Evaluation {
    let temme::Series {
        mut ln_scaled,
        above: mut rho,
        below,
    } = temme::evaluate(base, x);
    let mut ratio_below = below / x;
    let mut product = 1.0;
    let mut k = 1.0;
    while k <= steps {
        product *= rho;
        ratio_below = x / rho;
        rho = 2.0 * (base + k) + x * ratio_below;
        k += 1.0;
    }
    if steps > 0.0 {
        ln_scaled += product.ln() - steps * x.ln();
    }
    Evaluation {
        ln_scaled,
        ratio: rho / x,
        ratio_below,
    }
}

/// The same on $K\_{k+1}/K\_k$ itself, which stays finite as $x \to \infty$.
fn raise_large(base: f64, steps: f64, x: f64) -> Evaluation {
    let Evaluation {
        mut ln_scaled,
        mut ratio,
        mut ratio_below,
    } = miller::evaluate(base, x);
    let mut product = 1.0;
    let mut k = 1.0;
    while k <= steps {
        product *= ratio;
        ratio_below = 1.0 / ratio;
        ratio = 2.0 * (base + k) / x + ratio_below;
        k += 1.0;
    }
    if steps > 0.0 {
        ln_scaled += product.ln();
    }
    Evaluation {
        ln_scaled,
        ratio,
        ratio_below,
    }
}

/// $\frac12\ln\frac{\pi}{2x}$, the leading term for large $x$ and all of it for order $\frac12$.
fn ln_leading(x: f64) -> f64 {
    0.5 * (FRAC_PI_2.ln() - x.ln())
}

/// $\ln(2/x)$, also where $2/x$ overflows.
fn ln_two_over(x: f64) -> f64 {
    let quotient = 2.0 / x;
    if quotient.is_finite() {
        quotient.ln()
    } else {
        LN_2 - x.ln()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const INF: f64 = f64::INFINITY;

    #[test]
    fn ends_of_the_domain() {
        for f in [
            ln_bessel_k,
            ln_bessel_k_scaled,
            bessel_k_scaled,
            bessel_k_ratio,
        ] {
            assert!(f(1.0, -1.0).is_nan() && f(1.0, f64::NAN).is_nan());
            assert!(f(f64::NAN, 1.0).is_nan() && f(INF, 1.0).is_nan());
        }
        assert_eq!((ln_bessel_k(0.3, 0.0), ln_bessel_k(0.3, INF)), (INF, -INF));
        assert_eq!(
            (bessel_k_scaled(2.0, 0.0), bessel_k_scaled(2.0, INF)),
            (INF, 0.0)
        );
        assert_eq!(
            (bessel_k_ratio(0.0, 0.0), bessel_k_ratio(-1.0, 0.0)),
            (INF, 0.0)
        );
        assert_eq!(bessel_k_ratio(3.0, INF), 1.0);
        assert_eq!(bessel_k_ratio(-0.5, 0.0), 1.0);
    }

    #[test]
    fn extreme_arguments_stay_finite() {
        for order in [0.0, 0.3, 0.5, 1.0, 7.25, 49.9, 50.0, 1e4, 1e12] {
            for x in [
                5e-324, 1e-310, 1e-200, 1e-12, 1.0, 1e4, 1e150, 1e200, 1e300, 1.7e308,
            ] {
                let value = ln_bessel_k_scaled(order, x);
                assert!(value.is_finite(), "{order} {x}: {value}");
                let ratio = bessel_k_ratio(order, x);
                assert!(ratio >= 1.0, "{order} {x}: {ratio}");
            }
        }
    }

    #[test]
    fn every_method_joins_its_neighbour() {
        // The function is smooth: across each switch the second difference is tiny.
        let smooth = |f: &dyn Fn(f64) -> f64, at: f64, h: f64| {
            let (a, b, c) = (f(at - h), f(at), f(at + h));
            ((a - 2.0 * b + c) / b.abs().max(1.0)).abs()
        };
        for order in [0.0, 0.2, 1.3, 20.7] {
            assert!(smooth(&|x| ln_bessel_k_scaled(order, x), SERIES_END, 1e-8) < 1e-14);
            assert!(smooth(&|x| bessel_k_ratio(order, x), SERIES_END, 1e-8) < 1e-14);
        }
        for x in [1e-3, 1.0, 40.0, 1e3] {
            assert!(smooth(&|v| ln_bessel_k_scaled(v, x), DEBYE_ORDER, 1e-8) < 1e-14);
            assert!(smooth(&|v| bessel_k_ratio(v, x), DEBYE_ORDER, 1e-8) < 1e-14);
        }
    }
}

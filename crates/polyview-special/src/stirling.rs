//! Stirling's series and $t - \ln(1+t)$: what is left of differences of log-gamma functions after
//! the large terms have been cancelled on paper.

use crate::erf::polynomial;

/// From here on the asymptotic series below are good to the last digit.
pub(crate) const START: f64 = 10.0;

pub(crate) const HALF_LN_2PI: f64 = 0.918_938_533_204_672_8;

/// $B\_{2k}/(2k(2k-1))$, $k = 1, 2, \dots$
pub(crate) const SERIES: [f64; 9] = [
    1.0 / 12.0,
    -1.0 / 360.0,
    1.0 / 1260.0,
    -1.0 / 1680.0,
    1.0 / 1188.0,
    -691.0 / 360_360.0,
    1.0 / 156.0,
    -3617.0 / 122_400.0,
    43867.0 / 244_188.0,
];

/// $B\_{2k}/(2k)$.
const SLOPE_SERIES: [f64; 9] = [
    1.0 / 12.0,
    -1.0 / 120.0,
    1.0 / 252.0,
    -1.0 / 240.0,
    1.0 / 132.0,
    -691.0 / 32760.0,
    1.0 / 12.0,
    -3617.0 / 8160.0,
    43867.0 / 14364.0,
];

/// $\ln\Gamma(x) - \[(x-\frac12)\ln x - x + \frac12\ln 2\pi\]$ for $x \ge 10$.
pub(crate) fn correction(x: f64) -> f64 {
    let t = 1.0 / x;
    polynomial(&SERIES, t * t) * t
}

/// $\psi(x) - \ln x$ for $x \ge 10$.
pub(crate) fn digamma_minus_ln(x: f64) -> f64 {
    let t = 1.0 / x;
    -t * (0.5 + t * polynomial(&SLOPE_SERIES, t * t))
}

/// $t - \ln(1+t) \ge 0$ for $t > -1$; `other` is $1+t$, given separately because $t$ may have
/// been rounded to $-1$.
pub(crate) fn log_excess(t: f64, other: f64) -> f64 {
    const ATANH: [f64; 11] = [
        1.0 / 3.0,
        1.0 / 5.0,
        1.0 / 7.0,
        1.0 / 9.0,
        1.0 / 11.0,
        1.0 / 13.0,
        1.0 / 15.0,
        1.0 / 17.0,
        1.0 / 19.0,
        1.0 / 21.0,
        1.0 / 23.0,
    ];
    if t.abs() > 0.25 {
        return t - other.ln();
    }
    // ln(1+t) = 2 atanh(r), r = t/(2+t); 2r - t = -r t.
    let r = t / (2.0 + t);
    r * t - 2.0 * r * r * r * polynomial(&ATANH, r * r)
}

/// $\ln(a/b)$ to full relative accuracy also where $a \approx b$; no overflow of the quotient.
pub(crate) fn ln_ratio(a: f64, b: f64) -> f64 {
    if (a - b).abs() < 0.5 * b {
        return ((a - b) / b).ln_1p();
    }
    let ratio = a / b;
    if ratio.is_normal() {
        ratio.ln()
    } else {
        a.ln() - b.ln()
    }
}

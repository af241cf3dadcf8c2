//! Temme's series for small argument (N. M. Temme, J. Comput. Phys. 19 (1975) 324).

use std::f64::consts::PI;

use super::ln_two_over;
use crate::erf::polynomial;

// Even and odd Taylor coefficients of 1/Gamma(1 + mu), in powers of mu^2.
const EVEN: [f64; 10] = [
    1.0,
    -0.6558780715202539,
    0.16653861138229148,
    -0.009621971527876973,
    -0.0011651675918590652,
    0.0001280502823881162,
    -1.2504934821426706e-06,
    -2.056338416977607e-07,
    5.002007644469223e-09,
    1.0434267116911005e-10,
];
const ODD: [f64; 10] = [
    0.5772156649015329,
    -0.04200263503409524,
    -0.04219773455554433,
    0.0072189432466631,
    -0.00021524167411495098,
    -2.013485478078824e-05,
    1.133027231981696e-06,
    6.116095104481416e-09,
    -1.18127457048702e-09,
    7.782263439905071e-12,
];

/// What the series yields: $\ln\\{e^xK\_\mu(x)\\}$, $xK\_{\mu+1}/K\_\mu$ and $xK\_{\mu-1}/K\_\mu$.
pub(super) struct Series {
    pub(super) ln_scaled: f64,
    pub(super) above: f64,
    pub(super) below: f64,
}

/// $|\mu| \le \frac12$, $0 < x \le 2$.
///
/// $K\_\mu = \sum\_k c\_k f\_k$, $x K\_{\mu+1} = 2\sum\_k c\_k (p\_k - k f\_k)$ and
/// $x K\_{\mu-1} = 2\sum\_k c\_k (q\_k - k f\_k)$ with $c\_k = (x^2/4)^k/k!$ and recurrences for
/// $f, p, q$.
pub(super) fn evaluate(mu: f64, x: f64) -> Series {
    if mu == -0.5 {
        return Series {
            ln_scaled: super::ln_leading(x),
            above: x,
            below: 1.0 + x,
        }; // closed form
    }
    let square = mu * mu;
    let ln_inverse = ln_two_over(x);
    let (mut f, mut p, mut q) = if mu == 0.0 {
        (ln_inverse - ODD[0], 0.5, 0.5)
    } else {
        let even = polynomial(&EVEN, square);
        let odd = polynomial(&ODD, square);
        let sigma = mu * ln_inverse;
        let sinhc = if sigma == 0.0 {
            1.0
        } else {
            sigma.sinh() / sigma
        };
        let reflection = mu * PI / (mu * PI).sin();
        (
            reflection * (sinhc * ln_inverse * even - sigma.cosh() * odd),
            0.5 * sigma.exp() / (even + mu * odd),
            0.5 * (-sigma).exp() / (even - mu * odd),
        )
    };
    let quarter = 0.25 * x * x;
    let mut c = 1.0;
    let (mut sum, mut above, mut below) = (f, p, q);
    let mut k = 1.0;
    // x <= 2: the terms fall faster than 1/k!^2, twenty are ample.
    while k < 20.0 {
        f = (k * f + p + q) / (k * k - square);
        p /= k - mu;
        q /= k + mu;
        c *= quarter / k;
        let term = c * f;
        sum += term;
        above += c * p - k * term;
        below += c * q - k * term;
        if k * term.abs() < 1e-17 * sum.min(above).min(below) {
            break;
        }
        k += 1.0;
    }
    Series {
        ln_scaled: sum.ln() + x,
        above: 2.0 * above / sum,
        below: 2.0 * below / sum,
    }
}

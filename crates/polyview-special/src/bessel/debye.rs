//! Debye's uniform expansion for large order (DLMF 10.41.4).

use std::f64::consts::FRAC_PI_2;
use std::sync::LazyLock;

use super::{Evaluation, ln_two_over};
use crate::erf::polynomial;

/// At order 50 the first term left out is below 1e-17.
const TERMS: usize = 10;

/// Coefficients of $u\_k$ and $g\_k$, where $U\_k(p) = p^k u\_k(p^2)$ and
/// $\frac12U\_k(p) + pU\_k\'(p) = p^k g\_k(p^2)$.
struct Coefficients {
    u: [[f64; TERMS]; TERMS],
    g: [[f64; TERMS]; TERMS],
}

static COEFFICIENTS: LazyLock<Coefficients> = LazyLock::new(coefficients);

/// From $U\_{k+1} = \frac12p^2(1-p^2)U\_k\' + \frac18\int\_0^p(1-5t^2)U\_k\\,dt$ (DLMF 10.41.10): the
/// coefficient of $p^{k+2j}$ goes to $p^{k+1+2j}$ and $p^{k+3+2j}$.
fn coefficients() -> Coefficients {
    let mut u = [[0.0; TERMS]; TERMS];
    let mut g = [[0.0; TERMS]; TERMS];
    u[0][0] = 1.0;
    for k in 0..TERMS {
        for j in 0..=k {
            let power = (k + 2 * j) as f64;
            let c = u[k][j];
            g[k][j] = c * (0.5 + power);
            if k + 1 < TERMS {
                u[k + 1][j] += c * (0.5 * power + 0.125 / (power + 1.0));
                u[k + 1][j + 1] -= c * (0.5 * power + 0.625 / (power + 3.0));
            }
        }
    }
    Coefficients { u, g }
}

/// $\sum\_k(-1)^k C\_k(p)/\nu^k$.
fn series(table: &[[f64; TERMS]; TERMS], p: f64, order: f64) -> f64 {
    let square = p * p;
    table.iter().enumerate().rev().fold(0.0, |sum, (k, row)| {
        sum * (-p / order) + polynomial(&row[..=k], square)
    })
}

/// Order at least 50, $0 < x < \infty$.
///
/// With $\ell = \sqrt{\nu^2+x^2}$, $p = \nu/\ell$ and the series $U$ and $G$,
/// $$e^xK\_\nu = \sqrt{\tfrac{\pi}{2\ell}}\\,
///   \exp\\{\nu\operatorname{asinh}\tfrac\nu x - \tfrac{\nu^2}{x+\ell}\\}\\,U,\qquad
///   \frac{K\_{\nu-1}}{K\_\nu} = \frac{x}{\ell+\nu} + \frac{x}{\ell^2}\frac GU;$$
/// the second is the logarithmic derivative of the first with the cancelling terms removed.
pub(super) fn evaluate(order: f64, x: f64) -> Evaluation {
    let length = order.hypot(x);
    let p = order / length;
    let u = series(&COEFFICIENTS.u, p, order);
    let g = series(&COEFFICIENTS.g, p, order);
    let inverse = order / x;
    let asinh = if inverse < 1e8 {
        inverse.asinh()
    } else {
        order.ln() + ln_two_over(x)
    };
    let exponent = order * (asinh - order / (x + length));
    let ratio_below = x / (length + order) + (x / length) / length * (g / u);
    Evaluation {
        ln_scaled: 0.5 * (FRAC_PI_2.ln() - length.ln()) + exponent + u.ln(),
        ratio: 2.0 * inverse + ratio_below,
        ratio_below,
    }
}

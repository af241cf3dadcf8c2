//! Debye's uniform expansion for large order (DLMF 10.41.4 and 10.41.6).

use std::f64::consts::FRAC_PI_2;
use std::sync::LazyLock;

use super::{Evaluation, ln_two_over};
use crate::erf::polynomial;

const TERMS: usize = 11;

/// $U\_k(p) = p^k u\_k(p^2)$ and $V\_k(p) = p^k v\_k(p^2)$: coefficients of $u\_k$, $v\_k$.
struct Coefficients {
    u: [[f64; TERMS]; TERMS],
    v: [[f64; TERMS]; TERMS],
}

static COEFFICIENTS: LazyLock<Coefficients> = LazyLock::new(coefficients);

/// From $U\_{k+1} = \frac12p^2(1-p^2)U\_k\' + \frac18\int\_0^p(1-5t^2)U\_k\\,dt$ and
/// $V\_{k+1} = U\_{k+1} - \frac12p(1-p^2)U\_k - p^2(1-p^2)U\_k\'$ (DLMF 10.41.10, 10.41.11). The
/// coefficient of $p^{k+2j}$ goes to $p^{k+1+2j}$ and $p^{k+3+2j}$.
fn coefficients() -> Coefficients {
    let mut u = [[0.0; TERMS]; TERMS];
    let mut v = [[0.0; TERMS]; TERMS];
    (u[0][0], v[0][0]) = (1.0, 1.0);
    for k in 0..TERMS - 1 {
        for j in 0..=k {
            let power = (k + 2 * j) as f64;
            let c = u[k][j];
            u[k + 1][j] += c * (0.5 * power + 0.125 / (power + 1.0));
            u[k + 1][j + 1] -= c * (0.5 * power + 0.625 / (power + 3.0));
        }
        for j in 0..=k + 1 {
            v[k + 1][j] += u[k + 1][j];
            if j <= k {
                let moved = u[k][j] * (0.5 + (k + 2 * j) as f64);
                v[k + 1][j] -= moved;
                v[k + 1][j + 1] += moved;
            }
        }
    }
    Coefficients { u, v }
}

/// $\sum\_k(-1)^k C\_k(p)/\nu^k$.
fn series(table: &[[f64; TERMS]; TERMS], p: f64, order: f64) -> f64 {
    let square = p * p;
    table.iter().enumerate().rev().fold(0.0, |sum, (k, row)| {
        sum * (-p / order) + polynomial(&row[..=k], square)
    })
}

/// Order at least 50, $0 < x < \infty$.
pub(super) fn evaluate(order: f64, x: f64) -> Evaluation {
    let z = x / order;
    let root = z.hypot(1.0);
    let p = 1.0 / root;
    let u = series(&COEFFICIENTS.u, p, order);
    let v = series(&COEFFICIENTS.v, p, order);
    let inverse = order / x;
    let asinh = if inverse < 1e8 {
        inverse.asinh()
    } else {
        order.ln() + ln_two_over(x)
    };
    // ln(e^x K) = ln(pi / 2 sqrt(nu^2 + x^2)) / 2 + nu (asinh(1/z) - 1/(z + sqrt(1 + z^2))) + ln U
    let exponent = order * (asinh - 1.0 / (z + root));
    let length = order.hypot(x);
    let ln_scaled = 0.5 * (FRAC_PI_2.ln() - length.ln()) + exponent + u.ln();
    Evaluation {
        ln_scaled,
        ratio: (order + length * (v / u)) / x,
    }
}

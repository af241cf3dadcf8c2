//! Inverse of the normal distribution function.

use super::{central_mass, inverse_mills, ln_normal_cdf, normal_pdf};

/// Quantile $\Phi^{-1}(p)$ of the standard normal, $0 < p < 1$.
///
/// Relative accuracy 1e-15 over the whole range, from $p = 5\cdot10^{-324}$
/// ($\approx -38.5$) through $p = \frac12 \pm \epsilon$ to $1 - \epsilon$. Zero gives $-\infty$,
/// one gives $+\infty$, anything outside $\[0,1\]$ NaN.
///
/// A crude start and two steps of Halley's method, on $\ln\Phi$ in the tails and on
/// $\Phi - \frac12$ in the middle, where $p - \frac12$ is exact.
///
/// ```
/// use polyview_special::normal_quantile;
/// assert!((normal_quantile(0.975) - 1.959963984540054).abs() < 1e-15);
/// assert_eq!(normal_quantile(0.5), 0.0);
/// assert_eq!(normal_quantile(0.0), f64::NEG_INFINITY);
/// ```
pub fn normal_quantile(p: f64) -> f64 {
    if !(0.0..=1.0).contains(&p) {
        f64::NAN
    } else if (p - 0.5).abs() <= 0.25 {
        central(p - 0.5)
    } else if p < 0.5 {
        lower(p)
    } else {
        -lower(1.0 - p)
    }
}

/// Root of $\Phi(x) - \frac12 = q$, $|q| \le \frac14$.
fn central(q: f64) -> f64 {
    const SQRT_2PI: f64 = 2.506_628_274_631_000_7;
    let s = SQRT_2PI * q;
    let mut x = s * (1.0 + s * s / 6.0);
    for _ in 0..2 {
        let step = (0.5 * central_mass(x) - q) / normal_pdf(x);
        x -= step / (1.0 + 0.5 * x * step);
    }
    x
}

/// Root of $\ln\Phi(x) = \ln p$, $p < \frac14$.
fn lower(p: f64) -> f64 {
    if p == 0.0 {
        return f64::NEG_INFINITY;
    }
    let target = p.ln();
    // Start: x^2 = -2 ln(p sqrt(2 pi) |x|), one substitution.
    let square = -2.0 * target;
    let mut x = -(square - (2.0 * std::f64::consts::PI * (square - 1.0)).ln().max(0.0))
        .max(0.4)
        .sqrt();
    for _ in 0..3 {
        let slope = inverse_mills(x);
        let step = (ln_normal_cdf(x) - target) / slope;
        x -= step / (1.0 + 0.5 * step * (x + slope));
    }
    x
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn outside_the_unit_interval() {
        for p in [
            -0.1,
            1.1,
            f64::NAN,
            f64::INFINITY,
            f64::NEG_INFINITY,
            -5e-324,
        ] {
            assert!(normal_quantile(p).is_nan());
        }
        assert_eq!(normal_quantile(1.0), f64::INFINITY);
    }

    #[test]
    fn odd_about_one_half_and_increasing() {
        let mut previous = f64::NEG_INFINITY;
        for k in 1..1024 {
            let p = k as f64 / 1024.0;
            let x = normal_quantile(p);
            assert_eq!(x, -normal_quantile(1.0 - p), "{p}");
            assert!(x > previous, "{p}");
            previous = x;
        }
    }
}

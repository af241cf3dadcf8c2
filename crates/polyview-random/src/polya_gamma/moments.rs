//! Mean and variance of the Pólya-Gamma distribution.

/// Mean of $\mathrm{PG}(b, c)$: $\frac{b}{2c}\tanh\frac c2$, and $b/4$ at $c = 0$.
///
/// This is $E[\omega]$ of the variational update of a logistic likelihood, and twice Jaakkola's
/// $\lambda(c)$ at $b = 1$. A formula, with no range check: NaN in, NaN out.
pub fn pg_mean(b: f64, c: f64) -> f64 {
    let half = 0.5 * c;
    let y2 = half * half;
    // tanh(y) / y
    let ratio = if y2 < 1e-4 {
        1.0 - y2 / 3.0 * (1.0 - 0.4 * y2 * (1.0 - 17.0 / 42.0 * y2))
    } else {
        libm::tanh(half) / half
    };
    0.25 * b * ratio
}

/// Variance of $\mathrm{PG}(b, c)$: $\frac{b}{4c^3}(\sinh c - c)\\,\mathrm{sech}^2\frac c2$, and
/// $b/24$ at $c = 0$.
///
/// A formula, with no range check: NaN in, NaN out.
pub fn pg_variance(b: f64, c: f64) -> f64 {
    let c = c.abs();
    let sech = 1.0 / libm::cosh(0.5 * c);
    if c < 1.5 {
        // (sinh(c) - c) / c^3 = 1/6 + c^2/120 + ..., Horner from the back
        let c2 = c * c;
        let mut sum = 1.0;
        for k in (2..=10).rev() {
            let k = f64::from(k);
            sum = 1.0 + sum * c2 / (2.0 * k * (2.0 * k + 1.0));
        }
        0.25 * b * sech * sech * (sum / 6.0)
    } else {
        b * (2.0 * libm::tanh(0.5 * c) - c * sech * sech) / c / c / c * 0.25
    }
}

//! Logistic function and its relatives.

/// Logistic function $\sigma(x) = 1/(1+e^{-x})$, with full relative accuracy in both tails.
///
/// ```
/// assert!((polyview_special::sigmoid(-745.0) / (-745f64).exp() - 1.0).abs() < 1e-15);
/// ```
#[inline]
pub fn sigmoid(x: f64) -> f64 {
    if x < 0.0 {
        let e = x.exp();
        e / (1.0 + e)
    } else {
        1.0 / (1.0 + (-x).exp())
    }
}

/// $\ln\sigma(x) = -\ln(1+e^{-x})$, with full relative accuracy in both tails.
///
/// ```
/// assert_eq!(polyview_special::log_sigmoid(-1e6), -1e6);
/// ```
#[inline]
pub fn log_sigmoid(x: f64) -> f64 {
    -softplus(-x)
}

/// $\ln(1+e^x)$ without overflow; full relative accuracy.
///
/// ```
/// assert_eq!(polyview_special::softplus(0.0), std::f64::consts::LN_2);
/// ```
#[inline]
pub fn softplus(x: f64) -> f64 {
    if x > 0.0 {
        x + (-x).exp().ln_1p()
    } else {
        x.exp().ln_1p()
    }
}

/// $\ln(1-e^{x})$ for $x \le 0$: the log of the complement of a probability given as its log.
///
/// Full relative accuracy (Mächler 2012: switch at $-\ln 2$). $-\infty$ at zero, NaN for $x > 0$.
///
/// ```
/// use polyview_special::log1mexp;
/// assert!((log1mexp(0.25f64.ln()) - 0.75f64.ln()).abs() < 1e-15);
/// assert!(log1mexp(0.1).is_nan());
/// ```
#[inline]
pub fn log1mexp(x: f64) -> f64 {
    if x > 0.0 {
        f64::NAN
    } else if x > -std::f64::consts::LN_2 {
        (-x.exp_m1()).ln()
    } else {
        (-x.exp()).ln_1p()
    }
}

/// $\ln\sum\_i e^{x\_i}$ without overflow; $-\infty$ for an empty slice (the log of zero).
///
/// The largest term is kept out of the sum, so a sum dominated by one term keeps the digits of
/// the others. NaN if any entry is NaN; $+\infty$ if any entry is.
///
/// ```
/// use polyview_special::log_sum_exp;
/// assert_eq!(log_sum_exp(&[1000.0, 1000.0]), 1000.0 + std::f64::consts::LN_2);
/// assert_eq!(log_sum_exp(&[]), f64::NEG_INFINITY);
/// ```
pub fn log_sum_exp(values: &[f64]) -> f64 {
    let mut largest = f64::NEG_INFINITY;
    let mut position = 0;
    for (i, &v) in values.iter().enumerate() {
        if v.is_nan() {
            return f64::NAN;
        }
        if v > largest {
            (largest, position) = (v, i);
        }
    }
    if largest.is_infinite() {
        return largest;
    }
    let term = |slice: &[f64]| slice.iter().map(|&v| (v - largest).exp()).sum::<f64>();
    let rest = term(&values[..position]) + term(&values[position + 1..]);
    largest + rest.ln_1p()
}

/// Curvature of the Jaakkola–Jordan bound, $\lambda(\xi) = \tanh(\xi/2)/(4\xi)$, $\lambda(0)=\frac18$.
///
/// Even in $\xi$; full relative accuracy. The bound is
/// $\ln\sigma(x) \ge \ln\sigma(\xi) + (x-\xi)/2 - \lambda(\xi)(x^2-\xi^2)$, and
/// $2\lambda(\xi)$ is the mean of the Pólya–Gamma variable $\mathrm{PG}(1,\xi)$.
///
/// ```
/// assert_eq!(polyview_special::jaakkola_lambda(0.0), 0.125);
/// ```
#[inline]
pub fn jaakkola_lambda(xi: f64) -> f64 {
    if xi.abs() < 1e-8 {
        0.125
    } else {
        (0.5 * xi).tanh() / (4.0 * xi)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const INF: f64 = f64::INFINITY;

    #[test]
    fn infinite_arguments() {
        assert_eq!((sigmoid(INF), sigmoid(-INF)), (1.0, 0.0));
        assert_eq!((log_sigmoid(INF), log_sigmoid(-INF)), (0.0, -INF));
        assert_eq!((softplus(INF), softplus(-INF)), (INF, 0.0));
        assert_eq!((log1mexp(0.0), log1mexp(-INF)), (-INF, 0.0));
        assert_eq!((jaakkola_lambda(INF), jaakkola_lambda(-INF)), (0.0, 0.0));
    }

    #[test]
    fn not_a_number_stays_one() {
        for f in [sigmoid, log_sigmoid, softplus, log1mexp, jaakkola_lambda] {
            assert!(f(f64::NAN).is_nan());
        }
        assert!(log_sum_exp(&[0.0, f64::NAN, INF]).is_nan());
    }

    #[test]
    fn log_sum_exp_of_extremes() {
        assert_eq!(log_sum_exp(&[-INF, -INF]), -INF);
        assert_eq!(log_sum_exp(&[1.0, INF]), INF);
        assert_eq!(log_sum_exp(&[-INF, 3.5]), 3.5);
        // ln(1 + e^-50) keeps the small term.
        assert!((log_sum_exp(&[0.0, -50.0]) / (-50f64).exp() - 1.0).abs() < 1e-15);
        let equal = vec![-2000.0; 1000];
        assert!((log_sum_exp(&equal) - (-2000.0 + 1000f64.ln())).abs() < 1e-12);
    }
}

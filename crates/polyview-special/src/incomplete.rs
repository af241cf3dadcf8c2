//! Incomplete gamma and beta functions: the distribution functions of counts.

use special::{Beta, Gamma};

/// $Q(a, x) = \Gamma(a, x)/\Gamma(a)$ for $a > 0$, $x \ge 0$: the probability that a Poisson count of
/// mean x is below a. NaN elsewhere.
///
/// Absolute accuracy 1e-11 (`special`); its series have some multiple of $\sqrt a$ terms.
///
/// ```
/// assert!((polyview_special::gamma_q(1.0, 2.0) - (-2f64).exp()).abs() < 1e-14);
/// ```
pub fn gamma_q(a: f64, x: f64) -> f64 {
    if !(a > 0.0 && x >= 0.0) {
        return f64::NAN;
    }
    1.0 - x.inc_gamma(a)
}

/// $I\_x(a, b)$ for $a, b > 0$, $0 \le x \le 1$: the regularised incomplete beta function. NaN
/// elsewhere.
///
/// Absolute accuracy 1e-11 (`special`); its series have up to some $a + b$ terms.
///
/// ```
/// // two of two trials
/// assert!((polyview_special::beta_i(0.3, 2.0, 1.0) - 0.09).abs() < 1e-14);
/// ```
pub fn beta_i(x: f64, a: f64, b: f64) -> f64 {
    if !(a > 0.0 && b > 0.0 && (0.0..=1.0).contains(&x)) {
        return f64::NAN;
    }
    x.inc_beta(a, b, crate::ln_beta(a, b))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn they_are_sums_of_probabilities() {
        for mean in [0.01, 0.7, 5.0, 80.0, 600.0_f64] {
            let (mut p, mut sum) = ((-mean).exp(), 0.0);
            for y in 0..2000 {
                sum += p;
                assert!(
                    (gamma_q(f64::from(y) + 1.0, mean) - sum).abs() < 1e-11,
                    "{mean} {y}"
                );
                p *= mean / (f64::from(y) + 1.0);
            }
        }
        for (r, chance) in [(0.3, 0.02), (2.0, 0.3), (50.0, 0.9), (900.0, 0.5_f64)] {
            let (mut p, mut sum): (f64, f64) = (chance.powf(r), 0.0);
            for y in 0..1500 {
                let y = f64::from(y);
                sum += p;
                assert!((beta_i(chance, r, y + 1.0) - sum).abs() < 1e-11, "{r} {y}");
                p *= (y + r) / (y + 1.0) * (1.0 - chance);
            }
        }
    }

    #[test]
    fn nonsense_is_no_number() {
        assert!(gamma_q(0.0, 1.0).is_nan() && gamma_q(1.0, -1.0).is_nan());
        assert!(beta_i(1.1, 1.0, 1.0).is_nan() && beta_i(0.5, 0.0, 1.0).is_nan());
        assert_eq!((beta_i(0.0, 2.0, 3.0), beta_i(1.0, 2.0, 3.0)), (0.0, 1.0));
    }
}

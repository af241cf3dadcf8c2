//! Incomplete gamma and beta functions: the distribution functions of counts.

use std::f64::consts::PI;

use special::{Beta, Gamma};

use crate::normal_cdf;

/// Shape from which on the asymptotic expansion is taken.
const LARGE: f64 = 1e4;

/// $Q(a, x) = \Gamma(a, x)/\Gamma(a)$ for $a > 0$, $x \ge 0$: the probability that a Poisson count of
/// mean x is below a. NaN elsewhere.
///
/// Absolute accuracy 1e-11: by series of some multiple of $\sqrt a$ terms (`special`), from $a = 10^4$ on by
/// the uniform expansion of Temme (DLMF 8.12),
///
/// $$ Q(a, x) \approx \Phi(-\eta\sqrt a) + \frac{e^{-a\eta^2/2}}{\sqrt{2\pi a}}\Big(c\_0(\eta) +
/// \frac{c\_1(\eta)}a\Big),\qquad \tfrac12\eta^2 = \mu - \ln(1 + \mu),\quad \mu = \frac xa - 1 . $$
///
/// ```
/// assert!((polyview_special::gamma_q(1.0, 2.0) - (-2f64).exp()).abs() < 1e-14);
/// ```
pub fn gamma_q(a: f64, x: f64) -> f64 {
    if !(a > 0.0 && x >= 0.0) {
        return f64::NAN;
    }
    if a >= LARGE {
        return gamma_q_of_large(a, x);
    }
    1.0 - x.inc_gamma(a)
}

/// The expansion. Where $\eta$ is not small there is nothing but 0 or 1.
fn gamma_q_of_large(a: f64, x: f64) -> f64 {
    // series of c_0 and c_1 about 0
    const C0: [f64; 6] = [
        -1.0 / 3.0,
        1.0 / 12.0,
        -2.0 / 135.0,
        1.0 / 864.0,
        1.0 / 2835.0,
        -139.0 / 777_600.0,
    ];
    const C1: [f64; 3] = [-1.0 / 540.0, -1.0 / 288.0, 1.0 / 378.0];
    let mu = (x - a) / a;
    if mu > 1.0 {
        return 0.0;
    }
    let half_square = if mu.abs() < 0.1 {
        // what is left of the two is a small share of each
        let mut power = mu * mu;
        let mut sum = 0.0;
        for k in 2..20 {
            sum += power / f64::from(k);
            power *= -mu;
        }
        sum
    } else {
        mu - mu.ln_1p()
    };
    let eta = (2.0 * half_square).sqrt().copysign(mu);
    let near = (-a * half_square).exp() / (2.0 * PI * a).sqrt();
    let tail = normal_cdf(-eta * a.sqrt());
    if near == 0.0 {
        return tail;
    }
    let series = |c: &[f64]| c.iter().rev().fold(0.0, |sum, c| sum * eta + c);
    tail + near * (series(&C0) + series(&C1) / a)
}

/// $I\_x(a, b)$ for $a, b > 0$, $0 \le x \le 1$: the regularised incomplete beta function. NaN
/// elsewhere.
///
/// Absolute accuracy 1e-11 (`special`), less of large shapes: $3\cdot10^{-10}$ off at $a + b = 10^7$ and $10^{-7}$ at
/// $10^9$; its series have up to some $a + b$ terms.
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

    /// Series and expansion meet where one takes over, and by hand at the mean: $\tfrac12 - 1/(3\sqrt{2\pi a})$
    /// but for the order $a^{-3/2}$.
    #[test]
    fn large_shapes_have_the_accuracy_of_small_ones() {
        for sds in [-6.0, -2.0, -0.5, 0.0, 0.1, 1.0, 3.0, 6.0] {
            let a = 1e4;
            let x = a + sds * 100.0;
            let (series, large) = (1.0 - x.inc_gamma(a), gamma_q_of_large(a, x));
            assert!((series - large).abs() < 1e-11, "{sds}: {series} {large}");
        }
        for a in [1e4_f64, 1e6, 1e9, 1e15] {
            let by_hand = 0.5 - 1.0 / (3.0 * (2.0 * PI * a).sqrt());
            assert!((gamma_q(a, a) - by_hand).abs() < 1e-2 * a.powf(-1.5) + 1e-15);
            assert!(gamma_q(a, 0.0) == 1.0 && gamma_q(a, 2.0 * a) == 0.0);
        }
        assert_eq!(gamma_q(1e8, f64::INFINITY), 0.0);
        // two standard deviations above, to the order of the skewness
        assert!((gamma_q(1e8, 1e8 + 2e4) - normal_cdf(-2.0)).abs() < 1e-5);
    }

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

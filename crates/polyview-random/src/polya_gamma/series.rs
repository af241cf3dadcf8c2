//! Exact draws of $J = 4\\,\mathrm{PG}(h, 2z)$ under an inverse Gaussian envelope.

use rand::Rng;

use crate::inverse_gaussian;
use crate::standard::uniform_open01;

/// The envelope for shape $h$ and tilt $z$; the mathematics is on the page of
/// [`PolyaGamma`](crate::PolyaGamma).
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Envelope {
    h: f64,
    /// Mean of the inverse Gaussian; infinite at $z = 0$, where it is the Lévy distribution.
    mean: f64,
    shape: f64,
}

impl Envelope {
    #[inline]
    pub(super) fn new(h: f64, z: f64) -> Self {
        Self {
            h,
            mean: h / z,
            shape: h * h,
        }
    }

    #[inline]
    pub(super) fn draw<R: Rng + ?Sized>(&self, rng: &mut R) -> f64 {
        if self.shape == 0.0 {
            return 0.0;
        }
        loop {
            let x = inverse_gaussian::draw(rng, self.mean, self.shape);
            if below_series(uniform_open01(rng), self.h, x) {
                return x;
            }
        }
    }
}

/// Beyond this argument the density is less than $e^{-40}$ of its envelope, for there $f\_h/l\_h$
/// is at most 1.1 times
/// $(\pi/4)^h\\, \Gamma(h+1)^{-1} \sqrt{2\pi}\\,x^{h+1/2} e^{-\pi^2x/8 + h^2/(2x)}$.
fn horizon(h: f64) -> f64 {
    44.0 + 4.0 * h
}

/// A term below this is beneath the resolution of the uniform it is compared with.
const NEGLIGIBLE: f64 = 1e-17;

/// Whether $u < f\_h(x)/l\_h(x)$, the sum of the alternating series.
#[inline]
fn below_series(u: f64, h: f64, x: f64) -> bool {
    let first = (2.0 + h) * libm::exp(-2.0 * (1.0 + h) / x);
    // terms fall from the start, so one minus the first of them is a lower bound
    if first < 1.0 && u <= 1.0 - first {
        return true;
    }
    if x > horizon(h) {
        return false;
    }
    let step = libm::exp(-4.0 / x);
    let mut term = first;
    let mut sum = 1.0 - first;
    let mut damping = first / (2.0 + h);
    let mut sign = 1.0;
    let mut n = 1.0;
    loop {
        // ratio of term n + 1 to term n; in two factors, whose product may overflow before damping
        damping *= step;
        let ratio = (n + h) / (n + 1.0) * damping * ((2.0 * n + 2.0 + h) / (2.0 * n + h));
        term *= ratio;
        sum += sign * term;
        // the ratio falls with n: below one, all later terms are smaller than this one, and the
        // partial sums bracket the limit
        if ratio < 1.0 {
            if sign > 0.0 && u > sum {
                return false;
            }
            if sign < 0.0 && (u <= sum || term < NEGLIGIBLE) {
                return u <= sum;
            }
        }
        sign = -sign;
        n += 1.0;
    }
}

#[cfg(test)]
mod tests {
    use super::{below_series, horizon};

    /// The series summed to the end, without any bracketing.
    fn ratio(h: f64, x: f64) -> f64 {
        let (mut weight, mut sum) = (1.0, 0.0);
        for n in 0..400 {
            let n = f64::from(n);
            sum += weight * (2.0 * n + h) / h * (-2.0 * n * (n + h) / x).exp();
            weight *= -(n + h) / (n + 1.0);
        }
        sum
    }

    #[test]
    fn acceptance_is_decided_by_the_sum_of_the_series() {
        for h in [1e-6, 0.1, 0.5, 0.99, 1.0, 1.7, 3.0, 10.0, 60.0] {
            for x in [1e-3, 0.2, 0.5, 0.64, 0.9, 1.3, 2.0, 3.0, 4.0, 6.0, 9.0] {
                let x = x * if h > 1.0 { h } else { 1.0 };
                // a large shape comes with a large tilt, which keeps x below the shape; beyond it
                // the sum is lost in rounding, here and in the sampler
                if h > 5.0 && x > h {
                    continue;
                }
                let exact = ratio(h, x);
                assert!(
                    (0.0..=1.0 + 1e-12).contains(&exact),
                    "envelope at {h}, {x}: {exact}"
                );
                assert!(exact < 1e-8 || below_series(exact - 1e-9, h, x), "{h}, {x}");
                assert!(
                    exact > 1.0 - 1e-9 || !below_series(exact + 1e-9, h, x),
                    "{h}, {x}"
                );
            }
        }
    }

    /// At shape one the other series gives the same ratio.
    #[test]
    fn both_series_agree_at_shape_one() {
        use std::f64::consts::PI;
        for x in [0.3_f64, 0.7, 1.5, 3.0] {
            let right: f64 = (0..40)
                .map(|n| {
                    let k = f64::from(n) + 0.5;
                    let sign = if n % 2 == 0 { 1.0 } else { -1.0 };
                    sign * PI * k * (-k * k * PI * PI * x / 2.0).exp()
                })
                .sum();
            let envelope = 2.0 / (2.0 * PI * x.powi(3)).sqrt() * (-0.5 / x).exp();
            assert!((right / envelope - ratio(1.0, x)).abs() < 1e-13, "{x}");
        }
    }

    #[test]
    fn beyond_the_horizon_nothing_is_accepted() {
        for h in [1e-6_f64, 0.5, 1.0, 5.0, 100.0] {
            let x = horizon(h);
            let ln_gamma = libm::lgamma(h + 1.0);
            let ln_ratio = h * (std::f64::consts::PI / 4.0).ln() - ln_gamma
                + 0.5 * (2.0 * std::f64::consts::PI).ln()
                + (h + 0.5) * x.ln()
                - std::f64::consts::PI.powi(2) * x / 8.0
                + h * h / (2.0 * x);
            assert!(ln_ratio < -40.0, "{h}: {ln_ratio}");
            assert!(!below_series(1e-16, h, 1.001 * x));
            assert!(!below_series(0.5, h, f64::INFINITY));
        }
    }
}

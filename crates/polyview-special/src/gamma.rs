//! Moments, entropy and divergence of the gamma distribution in **shape/rate** form,
//! $\mathrm{Ga}(x; a, b) = b^a x^{a-1} e^{-bx} / \Gamma(a)$, $a, b > 0$.
//!
//! All functions return NaN outside the domain.
//!
//! Subtracting log-gamma functions loses as many digits as their size has: with a shape of
//! $10^8$ (a noise precision learnt from as many cells) the textbook entropy is wrong in the
//! sixth decimal. Here the large terms are cancelled on paper with
//! $F(x) = \ln\Gamma(x) - x\ln x + x$ and what remains is summed.
//!
//! ```
//! use polyview_special::gamma;
//!
//! // A vague prior and what 100 observations make of it.
//! let (shape, rate) = (1e-14 + 50.0, 1e-14 + 47.2);
//! assert!((gamma::mean(shape, rate) - 50.0 / 47.2).abs() < 1e-12);
//! assert!(gamma::mean_log(shape, rate) < gamma::mean(shape, rate).ln());
//! assert!(gamma::kl(shape, rate, 1e-14, 1e-14) > 0.0);
//! assert_eq!(gamma::kl(1e-14, 1e-14, 1e-14, 1e-14), 0.0);
//! ```

use crate::double_double::two_product;
use crate::gamma_functions::{digamma, ln_gamma, trigamma};
use crate::stirling::{self, HALF_LN_2PI, SERIES, ln_ratio, log_excess};

/// Most steps to the most likely shape; four are taken as a rule.
const STEPS: usize = 30;

fn legal(shape: f64, rate: f64) -> bool {
    shape > 0.0 && rate > 0.0 && shape.is_finite() && rate.is_finite()
}

/// $E\[x\] = a/b$.
pub fn mean(shape: f64, rate: f64) -> f64 {
    if legal(shape, rate) {
        shape / rate
    } else {
        f64::NAN
    }
}

/// $E\[\ln x\] = \psi(a) - \ln b$.
///
/// Relative accuracy 1e-14 except beside zero, where the absolute error is 1e-15 times the size
/// of $\ln b$.
pub fn mean_log(shape: f64, rate: f64) -> f64 {
    if legal(shape, rate) {
        with_slope(shape, rate, slope(shape))
    } else {
        f64::NAN
    }
}

/// The part of [`mean_log`] that is the shape's alone: $\psi(a)$, of large shapes $\psi(a) - \ln a$.
fn slope(shape: f64) -> f64 {
    if shape < stirling::START {
        digamma(shape)
    } else {
        stirling::digamma_minus_ln(shape)
    }
}

fn with_slope(shape: f64, rate: f64, slope: f64) -> f64 {
    if shape < stirling::START {
        slope - rate.ln()
    } else {
        ln_ratio(shape, rate) + slope
    }
}

/// What [`mean_log`] and [`kl`] take of a shape alone, given the shape of the prior: shapes of
/// posteriors count terms and stay the same from one update to the next, while rates change.
///
/// ```
/// use polyview_special::gamma::{self, Shape};
///
/// let shape = Shape::new(8.5, 1e-6);
/// assert_eq!(shape.mean_log(2.0), gamma::mean_log(8.5, 2.0));
/// assert_eq!(shape.kl(2.0, 1e-6), gamma::kl(8.5, 2.0, 1e-6, 1e-6));
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Shape {
    own: f64,
    prior: f64,
    slope: f64,
    divergence: f64,
}

impl Shape {
    /// Of a distribution of this shape, whose prior has the shape `prior`.
    pub fn new(shape: f64, prior: f64) -> Self {
        let known = legal(shape, 1.0) && legal(prior, 1.0);
        Self {
            own: shape,
            prior,
            slope: if legal(shape, 1.0) {
                slope(shape)
            } else {
                f64::NAN
            },
            divergence: if known {
                shape_divergence(prior, shape)
            } else {
                f64::NAN
            },
        }
    }
    /// Whether it is of these shapes.
    pub fn is(&self, shape: f64, prior: f64) -> bool {
        self.own == shape && self.prior == prior
    }
    /// [`mean_log`] at a rate, to the bit.
    pub fn mean_log(&self, rate: f64) -> f64 {
        if legal(self.own, rate) {
            with_slope(self.own, rate, self.slope)
        } else {
            f64::NAN
        }
    }
    /// [`kl`] at a rate and the prior's, to the bit.
    pub fn kl(&self, rate: f64, prior_rate: f64) -> f64 {
        if !(legal(self.own, rate) && legal(self.prior, prior_rate)) {
            return f64::NAN;
        }
        let (excess, ratio) = ratio_of_means(self.own, rate, self.prior, prior_rate);
        self.prior * log_excess(excess, ratio) + self.divergence
    }
}

/// Shape of the gamma law under which numbers are most likely, from the logarithm of their mean less the mean of their logarithms:
/// the $a$ with $\ln a - \psi(a) = \ln\bar{x} - \overline{\ln x}$; their mean is that of the law. `NaN` of what is not above zero, as of
/// numbers that are all the same.
///
/// By Newton's steps of $1/a$ (Minka 2002, Estimating a gamma distribution); relative accuracy 1e-8 for shapes up to a million.
///
/// ```
/// use polyview_special::{digamma, gamma};
///
/// let of = |shape: f64| gamma::most_likely_shape(shape.ln() - digamma(shape));
/// assert!((of(2.5) - 2.5).abs() < 1e-9);
/// assert!(gamma::most_likely_shape(0.0).is_nan());
/// ```
pub fn most_likely_shape(excess: f64) -> f64 {
    if !(excess > 0.0 && excess.is_finite()) {
        return f64::NAN;
    }
    let s = excess;
    let mut shape = (3.0 - s + ((s - 3.0).powi(2) + 24.0 * s).sqrt()) / (12.0 * s);
    for _ in 0..STEPS {
        let own = if shape < stirling::START {
            shape.ln() - digamma(shape)
        } else {
            -stirling::digamma_minus_ln(shape)
        };
        let slope = shape * shape * (1.0 / shape - trigamma(shape));
        let next = 1.0 / (1.0 / shape + (own - s) / slope);
        if !(next > 0.0 && next.is_finite()) {
            break;
        }
        let moved = (next - shape).abs();
        shape = next;
        if moved <= 1e-14 * shape {
            break;
        }
    }
    shape
}

/// Entropy $-E\[\ln \mathrm{Ga}(x)\] = a - \ln b + \ln\Gamma(a) + (1-a)\psi(a)$.
///
/// Relative accuracy 1e-14 except beside zero (absolute there). For $a \to 0$ it falls like
/// $-1/a$; for large $a$ it is computed from $F$, without cancellation.
pub fn entropy(shape: f64, rate: f64) -> f64 {
    if !legal(shape, rate) {
        return f64::NAN;
    }
    if shape < stirling::START {
        return shape - rate.ln() + ln_gamma(shape) + (1.0 - shape) * digamma(shape);
    }
    // ln a + F(a) + (1-a) F'(a) - ln b, F(a) = -ln(a)/2 + ln(2 pi)/2 + correction
    let slope = stirling::digamma_minus_ln(shape);
    let rest = HALF_LN_2PI + stirling::correction(shape) + (1.0 - shape) * slope;
    0.5 * shape.ln() - rate.ln() + rest
}

/// Kullback–Leibler divergence
/// $\mathrm{KL}(\mathrm{Ga}(a,b)\\,\\|\\,\mathrm{Ga}(a\_0,b\_0)) = E\_q\[\ln q - \ln p\]$, the negative
/// contribution of a precision to the bound (labels L4 to L6 of the SSHIBA specification):
/// $$(a-a\_0)\psi(a) - \ln\Gamma(a) + \ln\Gamma(a\_0) + a\_0\ln\frac{b}{b\_0} + a\frac{b\_0-b}{b}.$$
///
/// Computed as the sum of two non-negative parts,
/// $$a\_0\\,(s - 1 - \ln s) + \bigl\[F(a\_0) - F(a) - (a\_0-a)F\'(a)\bigr\],\qquad
///   s = \frac{a\\,b\_0}{b\\,a\_0},$$
/// so it is never negative, is exactly zero for equal arguments, and keeps its relative accuracy
/// (1e-13) for nearly equal arguments, for large shapes, and for shapes of 1e-14.
pub fn kl(shape: f64, rate: f64, prior_shape: f64, prior_rate: f64) -> f64 {
    Shape::new(shape, prior_shape).kl(rate, prior_rate)
}

/// $s - 1$ and $s$; the first from exact products, so that it is right for $s \approx 1$.
fn ratio_of_means(shape: f64, rate: f64, prior_shape: f64, prior_rate: f64) -> (f64, f64) {
    let (above, above_error) = two_product(shape, prior_rate);
    let (below, below_error) = two_product(rate, prior_shape);
    let safe = |p: f64| (1e-250..1e250).contains(&p);
    let splittable = |x: f64| (1e-140..1e150).contains(&x);
    let inputs = [shape, rate, prior_shape, prior_rate];
    if safe(above) && safe(below) && inputs.into_iter().all(splittable) {
        let difference = (above - below) + (above_error - below_error);
        (difference / below, above / below)
    } else {
        let ratio = (shape / prior_shape) * (prior_rate / rate);
        (ratio - 1.0, ratio)
    }
}

/// $F(y) - F(x) - (y-x)F\'(x)$, non-negative because $F$ is convex.
fn shape_divergence(y: f64, x: f64) -> f64 {
    if y > 8.0 * x || x > 8.0 * y {
        return stirling_rest(y) - stirling_rest(x) - (y - x) * stirling_rest_slope(x);
    }
    // Near: the divergence of ln Gamma is the sum over k >= 0 of e(k), with
    // e(k) = t - ln(1+t), t = (y-x)/(x+k); that of x ln x - x is the integral of the same.
    // Sum until the asymptotic series holds. The gap is passed on: adding k would round it away.
    let gap = y - x;
    let steps = (stirling::START - x.min(y)).ceil().max(0.0);
    let mut total = 0.0;
    let mut k = 0.0;
    while k < steps {
        total += log_excess(gap / (x + k), (y + k) / (x + k));
        k += 1.0;
    }
    if steps > 0.0 {
        total -= entropy_divergence(y, x, gap) - entropy_divergence(y + steps, x + steps, gap);
    }
    total + series_divergence(y + steps, x + steps, gap)
}

/// Divergence of $x\ln x - x$: $y\ln(y/x) - (y-x)$, with the gap $y-x$.
fn entropy_divergence(y: f64, x: f64, gap: f64) -> f64 {
    y * log_excess(-gap / y, x / y)
}

/// The divergence of $F$ for arguments where Stirling's series holds, with the gap $y-x$. That of
/// $x^{-m}$ is $x^{-m}\frac{q^2}{1+q}\sum\_{j<m}(m-j)v^j$ with $q = (y-x)/x$, $v = x/y$: no
/// cancellation.
fn series_divergence(y: f64, x: f64, gap: f64) -> f64 {
    let q = gap / x;
    let v = x / y;
    let t = 1.0 / x;
    let mut total = 0.0;
    let mut power = t; // x^-m
    let (mut geometric, mut sum) = (1.0, 1.0); // v^(m-1) and its sums for m = 1
    let mut weighted = 1.0; // sum of (m-j) v^j
    for coefficient in SERIES {
        total += coefficient * power * weighted;
        power *= t * t;
        for _ in 0..2 {
            geometric *= v;
            sum += geometric;
            weighted += sum;
        }
    }
    0.5 * log_excess(q, y / x) + total * q * (q * v)
}

/// $F(x) = \ln\Gamma(x) - x\ln x + x$.
fn stirling_rest(x: f64) -> f64 {
    if x < stirling::START {
        ln_gamma(x) - x * x.ln() + x
    } else {
        HALF_LN_2PI - 0.5 * x.ln() + stirling::correction(x)
    }
}

/// $F\'(x) = \psi(x) - \ln x$.
fn stirling_rest_slope(x: f64) -> f64 {
    if x < stirling::START {
        digamma(x) - x.ln()
    } else {
        stirling::digamma_minus_ln(x)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn outside_the_domain() {
        for bad in [0.0, -1.0, f64::NAN, f64::INFINITY] {
            for f in [mean, mean_log, entropy] {
                assert!(f(bad, 1.0).is_nan() && f(1.0, bad).is_nan());
            }
            assert!(kl(bad, 1.0, 1.0, 1.0).is_nan() && kl(1.0, 1.0, 1.0, bad).is_nan());
        }
    }

    #[test]
    fn divergence_from_itself_is_exactly_zero() {
        for shape in [1e-300, 1e-14, 0.3, 1.0, 9.99, 10.0, 1e8, 1e200] {
            for rate in [1e-300, 1e-14, 1.0, 7.3, 1e200] {
                assert_eq!(kl(shape, rate, shape, rate), 0.0, "{shape} {rate}");
            }
        }
    }

    #[test]
    fn near_and_far_forms_of_the_divergence_agree() {
        for x in [1e-10, 0.02, 0.7, 3.0, 12.0, 500.0] {
            for factor in [0.125_000_1, 7.999_999] {
                let y = factor * x;
                let far = stirling_rest(y) - stirling_rest(x) - (y - x) * stirling_rest_slope(x);
                let near = shape_divergence(y, x);
                assert!((near / far - 1.0).abs() < 1e-12, "{x} {y}: {near} {far}");
            }
        }
    }
}

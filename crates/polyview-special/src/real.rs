//! Real numbers, and real numbers that know a derivative.

use std::fmt::Debug;
use std::ops::{Add, Div, Mul, Neg, Sub};

use crate::{
    digamma, inverse_mills, ln_gamma, ln_interval_probability, ln_normal_cdf, sigmoid, softplus,
    truncated_normal_moments,
};

/// What a function is written in that is to be evaluated at plain numbers and with its
/// derivative ([`Dual`]).
///
/// Numbers of type `f64` stand on the right of an operator: `eta * 2.0`, `-eta + 1.0`.
///
/// ```
/// use polyview_special::{Dual, Real};
/// // the log density of a Bernoulli variable, x in {0, 1}
/// fn ln_density<R: Real>(x: f64, eta: R) -> R {
///     eta * x - eta.softplus()
/// }
/// let at = ln_density(1.0, Dual::variable(0.3));
/// assert_eq!(at.value, ln_density(1.0, 0.3));
/// assert!((at.slope - (1.0 - 1.0 / (1.0 + (-0.3f64).exp()))).abs() < 1e-15);
/// ```
pub trait Real:
    Copy
    + Debug
    + Send
    + Sync
    + Add<Output = Self>
    + Sub<Output = Self>
    + Mul<Output = Self>
    + Div<Output = Self>
    + Neg<Output = Self>
    + Add<f64, Output = Self>
    + Sub<f64, Output = Self>
    + Mul<f64, Output = Self>
    + Div<f64, Output = Self>
{
    /// A number that does not vary.
    fn constant(x: f64) -> Self;
    /// The number itself.
    fn value(self) -> f64;
    /// $e^x$.
    #[must_use]
    fn exp(self) -> Self;
    /// $\ln x$.
    #[must_use]
    fn ln(self) -> Self;
    /// $\ln(1 + x)$.
    #[must_use]
    fn ln_1p(self) -> Self;
    /// $\sqrt x$.
    #[must_use]
    fn sqrt(self) -> Self;
    /// $|x|$, whose derivative at 0 is taken to be 0.
    #[must_use]
    fn abs(self) -> Self;
    /// $\ln(1 + e^x)$.
    #[must_use]
    fn softplus(self) -> Self;
    /// $\ln\Phi(x)$.
    #[must_use]
    fn ln_normal_cdf(self) -> Self;
    /// $\ln\\{\Phi(b - x) - \Phi(a - x)\\}$ for $a < b$, either end infinite: the
    /// probability that a normal variable of mean $x$ and variance 1 lies between them.
    #[must_use]
    fn ln_normal_between(self, a: f64, b: f64) -> Self;
    /// $\ln\Gamma(x)$ for $x > 0$.
    #[must_use]
    fn ln_gamma(self) -> Self;
    /// $x^2$.
    #[must_use]
    fn square(self) -> Self {
        self * self
    }
}

impl Real for f64 {
    fn constant(x: f64) -> Self {
        x
    }
    fn value(self) -> f64 {
        self
    }
    fn exp(self) -> Self {
        Self::exp(self)
    }
    fn ln(self) -> Self {
        Self::ln(self)
    }
    fn ln_1p(self) -> Self {
        Self::ln_1p(self)
    }
    fn sqrt(self) -> Self {
        Self::sqrt(self)
    }
    fn abs(self) -> Self {
        Self::abs(self)
    }
    fn softplus(self) -> Self {
        softplus(self)
    }
    fn ln_normal_cdf(self) -> Self {
        ln_normal_cdf(self)
    }
    fn ln_normal_between(self, a: f64, b: f64) -> Self {
        ln_interval_probability(a - self, b - self)
    }
    fn ln_gamma(self) -> Self {
        ln_gamma(self)
    }
}

/// A number and its derivative in one variable.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Dual {
    /// The number.
    pub value: f64,
    /// Its derivative.
    pub slope: f64,
}

impl Dual {
    /// The variable itself.
    pub fn variable(value: f64) -> Self {
        Self { value, slope: 1.0 }
    }
    /// A function of the number with this value and derivative there.
    fn of(self, value: f64, derivative: f64) -> Self {
        Self {
            value,
            slope: derivative * self.slope,
        }
    }
}

impl Add for Dual {
    type Output = Self;
    fn add(self, other: Self) -> Self {
        Self {
            value: self.value + other.value,
            slope: self.slope + other.slope,
        }
    }
}

impl Sub for Dual {
    type Output = Self;
    fn sub(self, other: Self) -> Self {
        Self {
            value: self.value - other.value,
            slope: self.slope - other.slope,
        }
    }
}

impl Mul for Dual {
    type Output = Self;
    fn mul(self, other: Self) -> Self {
        Self {
            value: self.value * other.value,
            slope: self.slope * other.value + self.value * other.slope,
        }
    }
}

impl Div for Dual {
    type Output = Self;
    fn div(self, other: Self) -> Self {
        let value = self.value / other.value;
        Self {
            value,
            slope: (self.slope - value * other.slope) / other.value,
        }
    }
}

impl Neg for Dual {
    type Output = Self;
    fn neg(self) -> Self {
        Self {
            value: -self.value,
            slope: -self.slope,
        }
    }
}

impl Add<f64> for Dual {
    type Output = Self;
    fn add(self, other: f64) -> Self {
        self.of(self.value + other, 1.0)
    }
}

impl Sub<f64> for Dual {
    type Output = Self;
    fn sub(self, other: f64) -> Self {
        self.of(self.value - other, 1.0)
    }
}

impl Mul<f64> for Dual {
    type Output = Self;
    fn mul(self, other: f64) -> Self {
        self.of(self.value * other, other)
    }
}

impl Div<f64> for Dual {
    type Output = Self;
    fn div(self, other: f64) -> Self {
        self.of(self.value / other, other.recip())
    }
}

impl Real for Dual {
    fn constant(value: f64) -> Self {
        Self { value, slope: 0.0 }
    }
    fn value(self) -> f64 {
        self.value
    }
    fn exp(self) -> Self {
        let e = self.value.exp();
        self.of(e, e)
    }
    fn ln(self) -> Self {
        self.of(self.value.ln(), self.value.recip())
    }
    fn ln_1p(self) -> Self {
        self.of(self.value.ln_1p(), (1.0 + self.value).recip())
    }
    fn sqrt(self) -> Self {
        let root = self.value.sqrt();
        self.of(root, 0.5 / root)
    }
    fn abs(self) -> Self {
        let sign = if self.value == 0.0 {
            0.0
        } else {
            self.value.signum()
        };
        self.of(self.value.abs(), sign)
    }
    fn softplus(self) -> Self {
        self.of(softplus(self.value), sigmoid(self.value))
    }
    fn ln_normal_cdf(self) -> Self {
        self.of(ln_normal_cdf(self.value), inverse_mills(self.value))
    }
    /// The slope is the mean of the part of the standard normal law between the ends.
    fn ln_normal_between(self, a: f64, b: f64) -> Self {
        let part = truncated_normal_moments(0.0, 1.0, a - self.value, b - self.value);
        part.map_or(self.of(f64::NAN, f64::NAN), |p| self.of(p.ln_mass, p.mean))
    }
    fn ln_gamma(self) -> Self {
        self.of(ln_gamma(self.value), digamma(self.value))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn everything<R: Real>(x: R) -> R {
        let y = (x.square() + 1.0).ln() / (x.exp() + 2.0) - (x * 0.5).softplus();
        let z = (x.abs() + 0.25).sqrt().ln_gamma() * x.ln_normal_cdf();
        let between = x.ln_normal_between(-0.4, 0.9) - x.ln_normal_between(1.0, f64::INFINITY);
        y - z / 3.0 + (-x - 4.0).square().ln_1p() * R::constant(0.7) + between
    }

    #[test]
    fn slopes_are_those_of_differences() {
        for i in -20..21 {
            let (x, h) = (0.23 * f64::from(i) + 0.01, 1e-6);
            let at = everything(Dual::variable(x));
            let differenced = (everything(x + h) - everything(x - h)) / (2.0 * h);
            assert!((at.value - everything(x)).abs() < 1e-13 * (1.0 + at.value.abs()));
            assert!((at.slope - differenced).abs() < 1e-7, "{x}: {at:?}");
        }
    }
}

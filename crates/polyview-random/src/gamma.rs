//! Gamma draws, on the natural and on the logarithmic scale.

use rand::Rng;
use rand_distr::Distribution;

use crate::error::{RandomError, positive, within};
use crate::standard::{standard_exponential, standard_normal, uniform_open01};

/// Smallest shape that the Gamma family of this crate accepts; below it the logarithm of a draw
/// would overflow.
pub const MIN_SHAPE: f64 = 1e-300;

/// Gamma distribution with shape $s$ and **rate** $r$: density $\propto x^{s-1} e^{-rx}$.
///
/// The method is that of Marsaglia and Tsang (2000). For $s < 1$ it draws
/// $\ln X = \ln X' - E/s$ with $X' \sim \mathrm{Ga}(s+1, r)$ and $E$ exponential, so that
/// [`sample_ln`](Self::sample_ln) is exact where the draw itself underflows: half the draws of a
/// $\mathrm{Ga}(10^{-3}, 10^{-3})$ are below the smallest double. Take the logarithmic form
/// wherever the value will be logged, inverted or normalised.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Gamma {
    shape: f64,
    rate: f64,
    ln_rate: f64,
    kernel: Kernel,
}

impl Gamma {
    /// Gamma distribution with the given shape and rate.
    ///
    /// # Errors
    /// [`RandomError::OutOfRange`] unless the shape is finite and at least [`MIN_SHAPE`] and the
    /// rate is positive and finite.
    pub fn new(shape: f64, rate: f64) -> Result<Self, RandomError> {
        let shape = within("Gamma shape", shape, MIN_SHAPE, f64::MAX)?;
        let rate = positive("Gamma rate", rate)?;
        let boosted = if shape < 1.0 { shape + 1.0 } else { shape };
        Ok(Self {
            shape,
            rate,
            ln_rate: libm::log(rate),
            kernel: Kernel::new(boosted),
        })
    }

    /// The shape $s$.
    pub fn shape(&self) -> f64 {
        self.shape
    }

    /// The rate $r$.
    pub fn rate(&self) -> f64 {
        self.rate
    }

    /// A draw. Underflows to zero where the exact value is below the smallest double, which is
    /// common for shapes below 0.01; see [`sample_ln`](Self::sample_ln).
    pub fn sample<R: Rng + ?Sized>(&self, rng: &mut R) -> f64 {
        if self.shape < 1.0 {
            libm::exp(self.sample_ln(rng))
        } else {
            self.kernel.draw(rng) / self.rate
        }
    }

    /// Logarithm of a draw, finite for every legal shape and rate.
    pub fn sample_ln<R: Rng + ?Sized>(&self, rng: &mut R) -> f64 {
        let ln_value = libm::log(self.kernel.draw(rng)) - self.ln_rate;
        if self.shape < 1.0 {
            ln_value - standard_exponential(rng) / self.shape
        } else {
            ln_value
        }
    }
}

impl Distribution<f64> for Gamma {
    fn sample<R: Rng + ?Sized>(&self, rng: &mut R) -> f64 {
        Gamma::sample(self, rng)
    }
}

/// One draw of a Gamma variable, shape and **rate**.
///
/// # Errors
/// As [`Gamma::new`].
pub fn gamma<R: Rng + ?Sized>(rng: &mut R, shape: f64, rate: f64) -> Result<f64, RandomError> {
    Ok(Gamma::new(shape, rate)?.sample(rng))
}

/// The logarithm of one draw of a Gamma variable, shape and **rate**; never underflows.
///
/// # Errors
/// As [`Gamma::new`].
pub fn ln_gamma_draw<R: Rng + ?Sized>(
    rng: &mut R,
    shape: f64,
    rate: f64,
) -> Result<f64, RandomError> {
    Ok(Gamma::new(shape, rate)?.sample_ln(rng))
}

/// Marsaglia and Tsang's generator for a shape of at least one and rate one:
/// $d\\,(1 + cX)^3$ with $d = s - 1/3$, $c = (9d)^{-1/2}$ and $X$ normal, with rejection.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Kernel {
    d: f64,
    c: f64,
}

impl Kernel {
    fn new(shape: f64) -> Self {
        let d = shape - 1.0 / 3.0;
        Self {
            d,
            c: 1.0 / (3.0 * d.sqrt()),
        }
    }

    fn draw<R: Rng + ?Sized>(&self, rng: &mut R) -> f64 {
        loop {
            let x = standard_normal(rng);
            let w = self.c * x;
            if w <= -1.0 {
                continue;
            }
            let v = (1.0 + w) * (1.0 + w) * (1.0 + w);
            let u = uniform_open01(rng);
            let x2 = x * x;
            if u < 1.0 - 0.0331 * x2 * x2 || libm::log(u) < self.ln_acceptance(w, x2, v) {
                return self.d * v;
            }
        }
    }

    /// $x^2/2 + d\\,(1 - v + \ln v)$. With $w = cx$ it equals
    /// $3d\\,(\ln(1+w) - w + w^2/2 - w^3/3)$, whose series is used for small $w$: the direct form
    /// loses all digits at shapes near $10^{16}$.
    fn ln_acceptance(&self, w: f64, x2: f64, v: f64) -> f64 {
        if w.abs() > 0.05 {
            return 0.5 * x2 + self.d * (1.0 - v + libm::log(v));
        }
        let mut tail = 0.0;
        for k in (4..=12).rev() {
            let sign = if k % 2 == 0 { -1.0 } else { 1.0 };
            tail = tail * w + sign / f64::from(k);
        }
        3.0 * self.d * (w * w) * (w * w) * tail
    }
}

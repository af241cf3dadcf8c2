//! Inverse Gaussian (Wald) draws.

use rand::Rng;
use rand_distr::Distribution;

use crate::error::{RandomError, positive};
use crate::standard::{positive_normal_square, uniform_open01};

/// Inverse Gaussian distribution with mean $\mu$ and shape $\lambda$: density
/// $\sqrt{\lambda / (2\pi x^3)}\\,\exp\\{-\lambda (x-\mu)^2 / (2\mu^2 x)\\}$ on $x > 0$, variance
/// $\mu^3/\lambda$. (Not the inverse *Gamma* distribution.)
///
/// The method of Michael, Schucany and Haas (1976): the roots of a quadratic are drawn from a
/// squared normal $\nu$. The smaller root is computed as
/// $\mu / (1 + r + \sqrt{r(r+2)})$ with $r = \mu\nu/(2\lambda)$, which adds positive numbers only;
/// the textbook form subtracts and returns zero or negative numbers once $\mu/\lambda$ passes about
/// $10^8$.
///
/// `mean = f64::INFINITY` is legal and means the limit, the Lévy distribution
/// $\lambda/\nu$. It is what an augmentation variable with mean $1/|u|$ needs at $u = 0$.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct InverseGaussian {
    mean: f64,
    shape: f64,
}

impl InverseGaussian {
    /// Inverse Gaussian distribution with the given mean and shape.
    ///
    /// # Errors
    /// [`RandomError::OutOfRange`] unless the mean is positive (infinity allowed) and the shape
    /// positive and finite.
    #[inline]
    pub fn new(mean: f64, shape: f64) -> Result<Self, RandomError> {
        if mean != f64::INFINITY {
            positive("mean of the inverse Gaussian", mean)?;
        }
        let shape = positive("shape of the inverse Gaussian", shape)?;
        Ok(Self { mean, shape })
    }

    /// The mean $\mu$.
    pub fn mean(&self) -> f64 {
        self.mean
    }

    /// The shape $\lambda$.
    pub fn shape(&self) -> f64 {
        self.shape
    }

    /// A draw.
    #[inline]
    pub fn sample<R: Rng + ?Sized>(&self, rng: &mut R) -> f64 {
        draw(rng, self.mean, self.shape)
    }
}

impl Distribution<f64> for InverseGaussian {
    fn sample<R: Rng + ?Sized>(&self, rng: &mut R) -> f64 {
        InverseGaussian::sample(self, rng)
    }
}

/// Beyond this ratio the smaller root is $\lambda/\nu$ to all digits and the larger one, chosen
/// with probability $1/(2r)$, is out of reach of a 53-bit uniform.
const LEVY_RATIO: f64 = 1e40;

/// One inverse Gaussian draw; legal parameters are the caller's duty.
#[inline]
pub(crate) fn draw<R: Rng + ?Sized>(rng: &mut R, mean: f64, shape: f64) -> f64 {
    let nu = positive_normal_square(rng);
    let ratio = 0.5 * nu * (mean / shape);
    if ratio > LEVY_RATIO {
        shape / nu
    } else {
        mean * relative_root(rng, ratio)
    }
}

/// One inverse Gaussian draw, divided by its mean, for a finite quotient of mean and shape.
#[inline]
pub(crate) fn draw_relative<R: Rng + ?Sized>(rng: &mut R, mean_over_shape: f64) -> f64 {
    let nu = positive_normal_square(rng);
    relative_root(rng, 0.5 * nu * mean_over_shape)
}

/// One of the two roots, which multiply to one; the smaller has probability 1 / (1 + smaller).
#[inline]
fn relative_root<R: Rng + ?Sized>(rng: &mut R, ratio: f64) -> f64 {
    let smaller = 1.0 / (1.0 + ratio + (ratio * (ratio + 2.0)).sqrt());
    if uniform_open01(rng) * (1.0 + smaller) <= 1.0 {
        smaller
    } else {
        1.0 / smaller
    }
}

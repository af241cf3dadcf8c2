//! Generalised inverse Gaussian draws.

use std::f64::consts::LN_2;

use rand::Rng;
use rand_distr::Distribution;

use crate::error::{RandomError, finite, within};
use crate::gamma::{Gamma, MIN_SHAPE};
use crate::inverse_gaussian::InverseGaussian;
use crate::standard::{standard_exponential, uniform_open01};

/// Generalised inverse Gaussian distribution $\mathrm{GIG}(a, b, p)$: density
/// $\propto x^{p-1} \exp\\{-(ax + b/x)/2\\}$ on $x > 0$.
///
/// | parameters | method |
/// |---|---|
/// | $b = 0$, $p > 0$ | Gamma with shape $p$, rate $a/2$ |
/// | $a = 0$, $p < 0$ | reciprocal of a Gamma with shape $-p$, rate $b/2$ |
/// | $p = \pm\tfrac12$ | inverse Gaussian, or its reciprocal |
/// | the rest | Devroye (2014) on the scale of $\ln x$ |
///
/// Devroye's generator is rejection for the density of $T = \ln X$ around its mode, which is
/// log-concave, $\propto e^{\psi(t)}$ with
/// $\psi(t) = -\alpha(\cosh t - 1) - \lambda(e^t - t - 1)$, $\lambda = |p|$,
/// $\omega = \sqrt{ab}$ and $\alpha = \omega^2/(\lambda + \sqrt{\lambda^2 + \omega^2})$ (his
/// difference of nearly equal numbers, rationalised). The hat is flat in the middle and exponential
/// on both sides, and its area is bounded for all parameters together, so the time per draw hardly
/// depends on them. Mode and scale enter as $X = e^T(\lambda + \sqrt{\lambda^2+\omega^2})/a$
/// for $p \ge 0$ and as $X = e^{-T}\\,b/(\lambda + \sqrt{\lambda^2+\omega^2})$ for $p < 0$, which
/// is free of cancellation and of spurious overflow from $\omega = 10^{-150}$ to $10^{150}$.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Gig {
    a: f64,
    b: f64,
    p: f64,
    plan: Plan,
}

#[derive(Debug, Clone, Copy, PartialEq)]
enum Plan {
    Gamma(Gamma),
    InverseGamma(Gamma),
    Wald(InverseGaussian),
    InverseWald(InverseGaussian),
    LogConcave {
        hat: Hat,
        ln_mode: f64,
        direction: Direction,
    },
}

/// Whether the log of the draw is the log of the mode plus or minus $T$.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Direction {
    Up,
    Down,
}

impl Gig {
    /// Generalised inverse Gaussian distribution.
    ///
    /// # Errors
    /// [`RandomError::OutOfRange`] unless `a` and `b` are finite and not negative and `p` is
    /// finite; [`RandomError::Improper`] if `b == 0` without `p > 0` or `a == 0` without `p < 0`.
    /// In those two limits $|p|$ must be at least [`MIN_SHAPE`].
    pub fn new(a: f64, b: f64, p: f64) -> Result<Self, RandomError> {
        let a = within("a of the GIG", a, 0.0, f64::MAX)?;
        let b = within("b of the GIG", b, 0.0, f64::MAX)?;
        let p = finite("p of the GIG", p)?;
        if (b == 0.0 && (a == 0.0 || p <= 0.0)) || (a == 0.0 && p >= 0.0) {
            return Err(RandomError::Improper { a, b, p });
        }
        let plan = if p == 0.5 {
            Plan::InverseWald(InverseGaussian::new(ratio_root(a, b), a)?)
        } else if p == -0.5 {
            Plan::Wald(InverseGaussian::new(ratio_root(b, a), b)?)
        } else if b == 0.0 {
            Plan::Gamma(Gamma::new(p, half(a))?)
        } else if a == 0.0 {
            Plan::InverseGamma(Gamma::new(-p, half(b))?)
        } else {
            // a power below 1e-300 cannot be told from zero: ln x is at most 1500 wide
            let lambda = if p.abs() < MIN_SHAPE { 0.0 } else { p.abs() };
            let omega = a.sqrt() * b.sqrt();
            let total = lambda + norm(lambda, omega);
            let hat = Hat::new(omega * (omega / total), lambda);
            if p >= 0.0 {
                Plan::LogConcave {
                    hat,
                    ln_mode: ln_ratio(total, a),
                    direction: Direction::Up,
                }
            } else {
                Plan::LogConcave {
                    hat,
                    ln_mode: ln_ratio(b, total),
                    direction: Direction::Down,
                }
            }
        };
        Ok(Self { a, b, p, plan })
    }

    /// The parameters $(a, b, p)$.
    pub fn parameters(&self) -> (f64, f64, f64) {
        (self.a, self.b, self.p)
    }

    /// A draw. May underflow to zero, or overflow, where the exact value does.
    pub fn sample<R: Rng + ?Sized>(&self, rng: &mut R) -> f64 {
        match self.plan {
            Plan::Gamma(gamma) => gamma.sample(rng),
            Plan::Wald(wald) => wald.sample(rng),
            Plan::InverseWald(wald) => 1.0 / wald.sample(rng),
            Plan::InverseGamma(_) | Plan::LogConcave { .. } => libm::exp(self.sample_ln(rng)),
        }
    }

    /// Logarithm of a draw.
    pub fn sample_ln<R: Rng + ?Sized>(&self, rng: &mut R) -> f64 {
        match self.plan {
            Plan::Gamma(gamma) => gamma.sample_ln(rng),
            Plan::InverseGamma(gamma) => -gamma.sample_ln(rng),
            Plan::Wald(wald) => libm::log(wald.sample(rng)),
            Plan::InverseWald(wald) => -libm::log(wald.sample(rng)),
            Plan::LogConcave {
                hat,
                ln_mode,
                direction,
            } => {
                let t = hat.draw(rng);
                match direction {
                    Direction::Up => ln_mode + t,
                    Direction::Down => ln_mode - t,
                }
            }
        }
    }
}

impl Distribution<f64> for Gig {
    fn sample<R: Rng + ?Sized>(&self, rng: &mut R) -> f64 {
        Gig::sample(self, rng)
    }
}

/// $\sqrt{x/y}$ without overflow of the quotient; infinite at $y = 0$.
fn ratio_root(x: f64, y: f64) -> f64 {
    x.sqrt() / y.sqrt()
}

/// $\ln(x/y)$, also where the quotient overflows or loses digits to underflow.
fn ln_ratio(x: f64, y: f64) -> f64 {
    let ratio = x / y;
    if ratio.is_normal() {
        libm::log(ratio)
    } else {
        libm::log(x) - libm::log(y)
    }
}

/// $\sqrt{x^2 + y^2}$; the slow way only where the squares overflow or underflow.
fn norm(x: f64, y: f64) -> f64 {
    let square = x * x + y * y;
    if square > 1e-290 && square < f64::MAX {
        square.sqrt()
    } else {
        libm::hypot(x, y)
    }
}

/// Half of a positive number, still positive.
fn half(x: f64) -> f64 {
    (0.5 * x).max(f64::from_bits(1))
}

/// Rejection sampler for the density $\propto e^{\psi(t)}$: hat and density.
///
/// Right of `right` the hat is the tangent exponential that touches at some $t\_0 > 0$, left of
/// $-$`left` the one that touches at $-s\_0 < 0$, and one in between. Any touching points give an
/// exact sampler; Devroye's give a bounded area.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Hat {
    alpha: f64,
    lambda: f64,
    left: f64,
    right: f64,
    left_scale: f64,
    right_scale: f64,
}

impl Hat {
    fn new(alpha: f64, lambda: f64) -> Self {
        // cosh(1) - 1, e - 2 and 1/e
        const COSH: f64 = 0.543_080_634_815_243_7;
        const RIGHT: f64 = 0.718_281_828_459_045_2;
        const LEFT: f64 = 0.367_879_441_171_442_33;
        let psi = Psi { alpha, lambda };

        let drop = alpha * COSH + lambda * RIGHT;
        let touch = if drop > 2.0 {
            (2.0 / (alpha + lambda)).sqrt()
        } else if drop < 0.5 {
            2.0 * LN_2 - libm::log(alpha + 2.0 * lambda)
        } else {
            1.0
        };
        let (value, slope) = psi.value_and_slope(touch);
        let right_scale = -1.0 / slope;
        let right = touch + value * right_scale;

        let drop = alpha * COSH + lambda * LEFT;
        let touch = if drop > 2.0 {
            (4.0 / (alpha * (1.0 + COSH) + lambda)).sqrt()
        } else if drop < 0.5 {
            // ln(1 + 1/alpha + sqrt(1/alpha^2 + 2/alpha)), infinite if alpha has underflowed to
            // zero; then lambda is not zero
            let wall = libm::log(1.0 + alpha + (1.0 + 2.0 * alpha).sqrt()) - libm::log(alpha);
            wall.min(1.0 / lambda)
        } else {
            1.0
        };
        let (value, slope) = psi.value_and_slope(-touch);
        let left_scale = 1.0 / slope;
        let left = touch + value * left_scale;
        Self {
            alpha,
            lambda,
            left,
            right,
            left_scale,
            right_scale,
        }
    }

    fn draw<R: Rng + ?Sized>(&self, rng: &mut R) -> f64 {
        let psi = Psi {
            alpha: self.alpha,
            lambda: self.lambda,
        };
        let middle = self.left + self.right;
        let area = middle + self.left_scale + self.right_scale;
        loop {
            let pick = uniform_open01(rng) * area;
            // the tails start at height one, so the hat there is exp(-excess)
            let (t, ln_hat) = if pick < middle {
                (pick - self.left, 0.0)
            } else if pick < middle + self.right_scale {
                let excess = standard_exponential(rng);
                (self.right + excess * self.right_scale, -excess)
            } else {
                let excess = standard_exponential(rng);
                (-self.left - excess * self.left_scale, -excess)
            };
            if ln_hat - standard_exponential(rng) <= psi.value_and_slope(t).0 {
                return t;
            }
        }
    }
}

/// $\psi(t) = -\alpha(\cosh t - 1) - \lambda(e^t - t - 1)$.
struct Psi {
    alpha: f64,
    lambda: f64,
}

impl Psi {
    /// $\psi(t)$ and $\psi'(t)$ from one exponential.
    fn value_and_slope(&self, t: f64) -> (f64, f64) {
        if t.abs() > 600.0 {
            return self.far_value_and_slope(t);
        }
        let (grown, rise) = if t.abs() < 0.5 {
            let rise = libm::expm1(t);
            (1.0 + rise, rise)
        } else {
            let grown = libm::exp(t);
            (grown, grown - 1.0)
        };
        // e^t - 1 - t
        let bend = if t.abs() < 0.1 {
            exp_remainder(t)
        } else {
            rise - t
        };
        let cosh_minus_one = 0.5 * rise * (rise / grown);
        let sinh = 0.5 * (rise + rise / grown);
        let value = -self.alpha * cosh_minus_one - self.lambda * bend;
        let slope = -self.alpha * sinh - self.lambda * rise;
        (value, slope)
    }

    /// The same where the smaller of $e^t$ and $e^{-t}$ does not count and the larger may overflow
    /// although its product with the coefficient does not.
    fn far_value_and_slope(&self, t: f64) -> (f64, f64) {
        let Self { alpha, lambda } = *self;
        if t > 0.0 {
            let wall = libm::exp(t - LN_2 + libm::log(alpha + 2.0 * lambda));
            (alpha + lambda * (1.0 + t) - wall, lambda - wall)
        } else {
            let wall = libm::exp(-t - LN_2 + libm::log(alpha));
            (alpha + lambda * (1.0 + t) - wall, lambda + wall)
        }
    }
}

/// $e^t - 1 - t$ by its series, for $|t| < 0.1$.
fn exp_remainder(t: f64) -> f64 {
    let mut sum = 1.0;
    for k in (3..=12).rev() {
        sum = 1.0 + sum * t / f64::from(k);
    }
    0.5 * t * t * sum
}

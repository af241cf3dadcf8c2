//! Exact draws of $J = 4\\,\mathrm{PG}(1, 2z)$ for a small tilt, under Devroye's two-piece envelope.

use std::f64::consts::PI;

use rand::Rng;

use crate::standard::{standard_exponential, uniform_open01};
use crate::truncated_normal::TailProposal;

/// Devroye's point of division; $t^{-1/2} = 1.25$.
const DIVIDE: f64 = 0.64;
const INVERSE_ROOT: f64 = 1.25;

/// Mass of the untilted envelope left of the point of division,
/// $\int\_0^t l\_1 = 2\\,\mathrm{erfc}(1/\sqrt{2t})$.
const LEFT_MASS: f64 = 0.422_599_094_667_421_03;

/// Proposal for a standard normal beyond 1.25: nearly the best rate, and exactly the shift that
/// belongs to it.
const TAIL: TailProposal = TailProposal {
    rate: 1.8,
    shift: 1.8 - INVERSE_ROOT,
};

/// Every series is at least this: one minus three times $e^{-\pi^2 t}$ or $e^{-4/t}$.
const SQUEEZE: f64 = 0.994;

/// The envelope for tilt $z$.
///
/// Left of $t$ it is the first term of the series in $e^{-1/x}$, *without* the tilt: that term is
/// the density of $1/N^2$ with $N$ normal beyond $t^{-1/2}$, and its mass is a constant. Polson,
/// Scott and Windle tilt it, which takes two normal distribution functions for every new $z$. Right
/// of $t$ it is the first term of the series in $e^{-x}$, tilted, an exponential with rate
/// $\pi^2/8 + z^2/2$. The tilt on the left goes into the acceptance test, which costs little while
/// $z$ is small.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct TwoPiece {
    half_square: f64,
    rate: f64,
    right_share: f64,
}

impl TwoPiece {
    #[inline]
    pub(super) fn new(z: f64) -> Self {
        let half_square = 0.5 * z * z;
        let rate = PI * PI / 8.0 + half_square;
        let right_mass = PI / (2.0 * rate) * libm::exp(-rate * DIVIDE);
        Self {
            half_square,
            rate,
            right_share: right_mass / (right_mass + LEFT_MASS),
        }
    }

    #[inline]
    pub(super) fn draw<R: Rng + ?Sized>(&self, rng: &mut R) -> f64 {
        loop {
            let (x, exponent) = if uniform_open01(rng) < self.right_share {
                let x = DIVIDE + standard_exponential(rng) / self.rate;
                (x, 0.5 * PI * PI * x)
            } else {
                let root = INVERSE_ROOT + TAIL.draw(rng, f64::INFINITY);
                let x = 1.0 / (root * root);
                if standard_exponential(rng) < self.half_square * x {
                    continue;
                }
                (x, 2.0 / x)
            };
            if below_series(uniform_open01(rng), exponent) {
                return x;
            }
        }
    }
}

/// Whether $u < \sum\_n (-1)^n (2n+1) e^{-n(n+1)q}$, the series relative to its first term on
/// either side: $q = 2/x$ on the left, $q = \pi^2x/2$ on the right. The terms fall from the start,
/// so partial sums bracket the limit.
#[inline]
fn below_series(u: f64, q: f64) -> bool {
    if u < SQUEEZE {
        return true;
    }
    let mut sum = 1.0;
    let mut n = 1.0;
    loop {
        sum -= (2.0 * n + 1.0) * libm::exp(-n * (n + 1.0) * q);
        if u <= sum {
            return true;
        }
        n += 1.0;
        sum += (2.0 * n + 1.0) * libm::exp(-n * (n + 1.0) * q);
        if u > sum {
            return false;
        }
        n += 1.0;
    }
}

//! The parameter-free draws that everything else is made of.

use rand::Rng;
use rand_distr::{Distribution, Exp1, StandardNormal};

/// Standard normal draw.
///
/// The ziggurat of `rand_distr`; this crate's golden test pins its values.
#[inline]
pub fn standard_normal<R: Rng + ?Sized>(rng: &mut R) -> f64 {
    StandardNormal.sample(rng)
}

/// Fills `out` with independent standard normal draws, first entry first.
///
/// The result is the same as that of calling [`standard_normal`] once per entry.
pub fn fill_standard_normal<R: Rng + ?Sized>(rng: &mut R, out: &mut [f64]) {
    for value in out {
        *value = standard_normal(rng);
    }
}

/// Uniform draw from the open interval $(0, 1)$.
///
/// Takes the values $(i + \tfrac12)\\,2^{-52}$, $0 \le i < 2^{52}$: never 0, never 1, symmetric
/// about one half, so both $\ln u$ and $\ln(1-u)$ are finite.
#[inline]
pub fn uniform_open01<R: Rng + ?Sized>(rng: &mut R) -> f64 {
    const STEP: f64 = 1.0 / (1u64 << 52) as f64;
    ((rng.next_u64() >> 12) as f64 + 0.5) * STEP
}

/// Exponential draw with rate one.
#[inline]
pub fn standard_exponential<R: Rng + ?Sized>(rng: &mut R) -> f64 {
    Exp1.sample(rng)
}

/// Square of a standard normal draw, never zero.
#[inline]
pub(crate) fn positive_normal_square<R: Rng + ?Sized>(rng: &mut R) -> f64 {
    loop {
        let z = standard_normal(rng);
        if z != 0.0 {
            return z * z;
        }
    }
}

//! Gamma functions of counts of one size.

// inlined into the function that selects the instruction set
#![allow(clippy::inline_always)]

use polyview_linalg::simd::{Kernel, dispatch, ln};
use polyview_special::{digamma, ln_gamma, trigamma};

/// Counts below it are looked up.
const SMALL: usize = 64;

/// What gamma functions say of counts of one size r: those of small counts are sums from zero on, those
/// of large ones series.
pub(super) struct Gammas {
    size: f64,
    ln_gamma: f64,
    /// $\ln\frac{\Gamma(y + r)}{\Gamma(r)y!}$.
    ways: [f64; SMALL],
}

/// As [`Gammas`], of derivatives in r.
pub(super) struct Slopes {
    size: f64,
    digamma: f64,
    trigamma: f64,
    first: [f64; SMALL],
    second: [f64; SMALL],
}

impl Gammas {
    pub(super) fn new(size: f64) -> Self {
        let mut steps = [0.0; SMALL];
        dispatch(Steps {
            size,
            out: &mut steps,
        });
        let mut sum = 0.0;
        Self {
            size,
            ln_gamma: ln_gamma(size),
            ways: steps.map(|step| {
                let here = sum;
                sum += step;
                here
            }),
        }
    }
    /// $\ln\frac{\Gamma(y + r)}{\Gamma(r)y!}$ of a count.
    #[inline]
    pub(super) fn ways(&self, y: f64) -> f64 {
        // counts are whole numbers from zero on
        match self.ways.get(y as usize) {
            Some(ways) => *ways,
            None => ln_gamma_of_large(y + self.size) - self.ln_gamma - ln_gamma_of_large(y + 1.0),
        }
    }
}

impl Slopes {
    pub(super) fn new(size: f64) -> Self {
        let (mut first, mut second) = ([0.0; SMALL], [0.0; SMALL]);
        for y in 1..SMALL {
            let over = 1.0 / ((y - 1) as f64 + size);
            first[y] = first[y - 1] + over;
            second[y] = second[y - 1] - over * over;
        }
        Self {
            size,
            digamma: digamma(size),
            trigamma: trigamma(size),
            first,
            second,
        }
    }
    /// $\psi(y + r) - \psi(r)$ and $\psi'(y + r) - \psi'(r)$.
    #[inline]
    pub(super) fn of(&self, y: f64) -> (f64, f64) {
        let at = y as usize;
        if at < SMALL {
            return (self.first[at], self.second[at]);
        }
        let over = 1.0 / (y + self.size);
        let square = over * over;
        let first = -over.ln()
            - 0.5 * over
            - square * (1.0 / 12.0 - square * (1.0 / 120.0 - square * (1.0 / 252.0)));
        let second = over
            + 0.5 * square
            + over * square * (1.0 / 6.0 - square * (1.0 / 30.0 - square * (1.0 / 42.0)));
        (first - self.digamma, second - self.trigamma)
    }
}

/// $\ln\Gamma(x)$ for x from 64 on, by Stirling's series.
pub(crate) fn ln_gamma_of_large(x: f64) -> f64 {
    const HALF_LN_2PI: f64 = 0.918_938_533_204_672_7;
    let over = 1.0 / x;
    let square = over * over;
    let rest = over * (1.0 / 12.0 - square * (1.0 / 360.0 - square * (1.0 / 1260.0)));
    (x - 0.5) * x.ln() - x + HALF_LN_2PI + rest
}

/// $\ln\frac{y + r}{y + 1}$ of counts from 0 on.
struct Steps<'a> {
    size: f64,
    out: &'a mut [f64; SMALL],
}

impl Kernel for Steps<'_> {
    #[inline(always)]
    fn run<const FUSED: bool>(self) {
        for (y, out) in self.out.iter_mut().enumerate() {
            *out = ln::<FUSED>((y as f64 + self.size) / (y as f64 + 1.0));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn small_and_large_counts_have_their_gamma_functions() {
        for size in [1e-6, 0.02, 0.7, 1.0, 13.5, 900.0, 1e6] {
            let (gammas, slopes) = (Gammas::new(size), Slopes::new(size));
            for y in [0.0, 1.0, 2.0, 17.0, 63.0, 64.0, 65.0, 800.0, 1e5, 1e9] {
                let exact = ln_gamma(y + size) - ln_gamma(size) - ln_gamma(y + 1.0);
                let digits = 1e-14 * (1.0 + ln_gamma(y + size).abs() + ln_gamma(y + 1.0).abs());
                let found = gammas.ways(y);
                assert!(
                    (found - exact).abs() < digits,
                    "{size} {y}: {found} {exact}"
                );
                let (first, second) = slopes.of(y);
                let exact = digamma(y + size) - digamma(size);
                assert!((first - exact).abs() < 1e-12 * (1.0 + digamma(size).abs()));
                let exact = trigamma(y + size) - trigamma(size);
                assert!((second - exact).abs() < 1e-12 * (1.0 + trigamma(size).abs()));
            }
        }
    }
}

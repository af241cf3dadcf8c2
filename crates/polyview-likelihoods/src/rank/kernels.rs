//! Inner loops over the terms of a feature: K multiplications a term.
// only what is inlined is compiled for the wide vectors
#![allow(clippy::inline_always)]

use polyview_linalg::Mat;
use polyview_linalg::simd::{Kernel, dispatch, mul_add};

/// Partial sums of a dot product.
const LANES: usize = 4;

/// K numbers of one feature for each sample: those from `shift` on in the
/// sample's column.
#[derive(Clone, Copy)]
pub(super) struct Strip<'a> {
    pub(super) of: &'a Mat<f64>,
    pub(super) shift: usize,
}

/// Quadratic forms $(m\_l - m\_h)^\top S(m\_l - m\_h)$ of the terms `(low, high)` of one
/// feature, from the means (K numbers a sample) and from `turned`, which holds
/// $Sm\_n$: with $q\_n = m\_n^\top S m\_n$ they are $q\_l + q\_h - 2m\_h^\top Sm\_l$. `squares`, one
/// number a sample, is overwritten.
pub(super) fn differences(
    means: &[f64],
    turned: Strip<'_>,
    (low, high): (&[u32], &[u32]),
    squares: &mut [f64],
    out: &mut [f64],
) {
    dispatch(Quadratic {
        k: means.len() / squares.len().max(1),
        means,
        turned,
        low,
        high,
        squares,
        out,
    });
}

struct Quadratic<'a> {
    k: usize,
    means: &'a [f64],
    turned: Strip<'a>,
    low: &'a [u32],
    high: &'a [u32],
    squares: &'a mut [f64],
    out: &'a mut [f64],
}

impl Kernel for Quadratic<'_> {
    #[inline(always)]
    fn run<const FUSED: bool>(self) {
        let Strip { of, shift } = self.turned;
        let k = self.k;
        for (n, q) in self.squares.iter_mut().enumerate() {
            let turned = &of.col_as_slice(n)[shift..shift + k];
            *q = dot::<FUSED>(&self.means[n * k..(n + 1) * k], turned);
        }
        for ((x, l), h) in self.out.iter_mut().zip(self.low).zip(self.high) {
            let (l, h) = (*l as usize, *h as usize);
            let turned = &of.col_as_slice(l)[shift..shift + k];
            let product = dot::<FUSED>(&self.means[h * k..(h + 1) * k], turned);
            // not below zero but for rounding
            *x = (self.squares[l] + self.squares[h] - 2.0 * product).max(0.0);
        }
    }
}

#[inline(always)]
fn dot<const FUSED: bool>(a: &[f64], b: &[f64]) -> f64 {
    let mut sums = [0.0; LANES];
    let (a, b) = (a.chunks_exact(LANES), b.chunks_exact(LANES));
    let mut rest = 0.0;
    for (x, y) in a.remainder().iter().zip(b.remainder()) {
        rest = mul_add::<FUSED>(*x, *y, rest);
    }
    for (x, y) in a.zip(b) {
        for j in 0..LANES {
            sums[j] = mul_add::<FUSED>(x[j], y[j], sums[j]);
        }
    }
    (sums[0] + sums[2]) + (sums[1] + sums[3]) + rest
}

/// Sums of one feature over its terms, of which term $t$ counts `precision[t]`.
pub(super) struct Gathering<'a> {
    /// Means, K numbers a sample.
    pub(super) means: &'a [f64],
    pub(super) k: usize,
    pub(super) low: &'a [u32],
    pub(super) high: &'a [u32],
    pub(super) kappa: &'a [f64],
    /// $\sum\_{t\ni n}\kappa\_t$ and $\sum\_{t\ni n}\sigma\_{tn}(1 + \epsilon\kappa\_t)$ of each sample.
    pub(super) omega: &'a [f64],
    pub(super) slope: &'a [f64],
    /// Gets $\omega\_nm\_n - 2\sum\_{t: l = n}\kappa\_tm\_h$ in the columns from `shift` on.
    pub(super) to: &'a mut Mat<f64>,
    pub(super) shift: usize,
    /// Gets $-\sum\_ns\_nm\_n$.
    pub(super) rhs: &'a mut [f64],
}

impl Kernel for Gathering<'_> {
    #[inline(always)]
    fn run<const FUSED: bool>(self) {
        let (k, shift) = (self.k, self.shift);
        for (n, m) in self.means.chunks_exact(k).enumerate() {
            let (omega, slope) = (self.omega[n], self.slope[n]);
            for (h, m) in self.rhs.iter_mut().zip(m) {
                *h = mul_add::<FUSED>(-slope, *m, *h);
            }
            let to = &mut self.to.col_as_slice_mut(n)[shift..shift + k];
            for (x, m) in to.iter_mut().zip(m) {
                *x = omega * m;
            }
        }
        for ((l, h), kappa) in self.low.iter().zip(self.high).zip(self.kappa) {
            let (l, h) = (*l as usize, *h as usize);
            let m = &self.means[h * k..(h + 1) * k];
            let to = &mut self.to.col_as_slice_mut(l)[shift..shift + k];
            let kappa = -2.0 * kappa;
            for (x, m) in to.iter_mut().zip(m) {
                *x = mul_add::<FUSED>(kappa, *m, *x);
            }
        }
    }
}

//! Sites of a whole column of labels, in vector instructions.

// inlined into the function that selects the instruction set
#![allow(clippy::inline_always)]

use polyview_linalg::simd::{Kernel, decay, ln_1p};

use crate::cells::{ColumnSites, tiles};

/// ω, h and c of labels given ξ (spec/mofa A.2, A.4).
pub(super) struct Sites<'a> {
    pub(super) labels: &'a [f64],
    pub(super) local: &'a [f64],
    pub(super) out: ColumnSites<'a>,
}

impl Kernel for Sites<'_> {
    #[inline(always)]
    fn run<const FUSED: bool>(self) {
        for (labels, local, out) in tiles(self.labels, self.local, self.out) {
            let ColumnSites {
                precision,
                linear,
                offset,
            } = out;
            sites::<FUSED>(labels, local, precision, linear, offset);
        }
    }
}

/// A function of its own, so that the compiler knows the slices to be apart.
/// Exponentials and logarithms have a loop each: more of these long chains are
/// then under way at one time.
#[inline(always)]
fn sites<const FUSED: bool>(
    labels: &[f64],
    local: &[f64],
    precision: &mut [f64],
    linear: &mut [f64],
    offset: &mut [f64],
) {
    for ((omega, t), xi) in precision.iter_mut().zip(&mut *offset).zip(local) {
        // an even function
        let decay = decay::<FUSED>(xi.abs());
        *t = decay.value;
        // (1 - e^-ξ)/(4ξ(1 + e^-ξ))
        *omega = 2.0 * (decay.lost / (4.0 * decay.over * (1.0 + decay.value)));
    }
    let out = linear.iter_mut().zip(offset).zip(precision);
    for ((&x, xi), ((h, c), omega)) in labels.iter().zip(local).zip(out) {
        let (xi, lambda) = (xi.abs(), 0.5 * *omega);
        *h = x - 0.5;
        *c = lambda * xi * xi - 0.5 * xi - ln_1p::<FUSED>(*c);
    }
}

/// $\xi = \langle\eta^2\rangle^{1/2}$.
pub(super) struct Roots<'a> {
    pub(super) square: &'a [f64],
    pub(super) out: &'a mut [f64],
}

impl Kernel for Roots<'_> {
    #[inline(always)]
    fn run<const FUSED: bool>(self) {
        roots(self.square, self.out);
    }
}

#[inline(always)]
fn roots(square: &[f64], out: &mut [f64]) {
    for (out, &x) in out.iter_mut().zip(square) {
        // NaN fails the comparison and stays
        *out = if x < 0.0 { 0.0 } else { x }.sqrt();
    }
}

//! What the anchors of a feature say to a new sample.
//!
//! With $\langle a\_ia\_i^\top\rangle$ the expected squares expand to products:
//!
//! $$ \langle u^2\rangle = \langle(a\_i^\top z\_*)^2\rangle + 2\epsilon\sigma
//! a\_i^\top m\_* + \big[\langle(a\_i^\top z\_q)^2\rangle - 2\epsilon\sigma a\_i^\top
//! m\_q + \epsilon^2\big] - 2 m\_*^\top\langle a\_ia\_i^\top\rangle m\_q. $$
//!
//! The bracket and $\langle a\_ia\_i^\top\rangle m\_q$ do not depend on the new sample: they are
//! made once a projection, and a round is two products of matrices a feature.
// only what is inlined is compiled for the wide vectors
#![allow(clippy::inline_always)]

use polyview_core::{RowMoments, Stamp};
use polyview_linalg::simd::{Kernel, dispatch, mul_add};
use polyview_linalg::{Mat, cross, packed_dot, packed_index};
use rayon::prelude::*;

use super::super::LEAST_SQUARE;
use super::super::anchors::Anchors;
use super::super::map::Training;

/// Most numbers that are kept from round to round; with more of them grids are
/// made when they are needed.
const MOST: usize = 1 << 26;
/// Terms whose sums are carried side by side.
const LANES: usize = 8;

/// The anchors of one feature under given weights.
#[derive(Clone, Debug)]
pub(super) struct Grid {
    /// Weights.
    weight: Vec<f64>,
    /// The bracket for a sample above the anchor ($\sigma = -1$), and for one
    /// below it.
    levels: [Vec<f64>; 2],
    /// $a\_i^\top m\_q$.
    etas: Vec<f64>,
    /// Sums over the anchors before each place: of the weights, and of weights
    /// times $a\_i^\top m\_q$.
    before: Vec<[f64; 2]>,
    /// $\langle a\_ia\_i^\top\rangle m\_q$, K × anchors.
    pub(super) pull: Mat<f64>,
}

/// What the anchors on one side of a sample add up to.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Side {
    /// $\sum\kappa$.
    pub(super) omega: f64,
    /// $\sum\kappa\langle u\rangle^2/\langle u^2\rangle$.
    pub(super) slack: f64,
    /// $\sum\sigma(w + \epsilon\kappa)$.
    pub(super) push: f64,
    /// Their part of what does not depend on the sample's factors.
    pub(super) constant: f64,
}

impl Grid {
    /// That of a feature whose weights have the mean `a` and the packed second
    /// moment `second`.
    pub(super) fn new(
        (anchors, training): (&Anchors, &Training),
        (feature, epsilon, weight): (usize, f64, f64),
        a: &[f64],
        second: &[f64],
    ) -> Self {
        let (of, k) = (anchors.of(feature), a.len());
        let rate = weight * anchors.rates[feature];
        let fixed = packed_dot(training.spread.as_slice(), second, k);
        let mut means = Mat::zeros(k, of.len());
        for (q, at) in of.clone().enumerate() {
            let row = training.row(anchors.samples[at]);
            means.col_as_slice_mut(q).copy_from_slice(row);
        }
        let full = Mat::from_fn(k, k, |i, j| second[packed_index(i.max(j), i.min(j))]);
        let pull = cross(full.as_ref(), means.as_ref());
        let weight: Vec<f64> = anchors.counts[of].iter().map(|c| rate * c).collect();
        let mut levels = [Vec::new(), Vec::new()];
        let mut etas = Vec::with_capacity(weight.len());
        let mut before = vec![[0.0; 2]];
        let mut sum = [0.0; 2];
        for (q, w) in weight.iter().enumerate() {
            let (m, b) = (means.col_as_slice(q), pull.col_as_slice(q));
            let dot = |x: &[f64]| m.iter().zip(x).map(|(m, x)| m * x).sum::<f64>();
            let (eta, square) = (dot(a), dot(b) + fixed);
            for (side, sign) in [-1.0, 1.0].into_iter().enumerate() {
                levels[side].push(square + epsilon * (epsilon - 2.0 * sign * eta));
            }
            etas.push(eta);
            sum = [sum[0] + w, sum[1] + w * eta];
            before.push(sum);
        }
        Self {
            weight,
            levels,
            etas,
            before,
            pull,
        }
    }
    /// Number of anchors.
    pub(super) fn len(&self) -> usize {
        self.weight.len()
    }
    /// A sample whose predictor is `own` meets the anchors `from..to`, which are
    /// all below it (`side` 0) or all above it (1). `base` is
    /// $\langle(a\_i^\top z\_*)^2\rangle$; `products` holds
    /// $m\_*^\top\langle a\_ia\_i^\top\rangle m\_q$, which $\kappa$ replaces.
    pub(super) fn meet(
        &self,
        (side, from, to): (usize, usize, usize),
        epsilon: f64,
        (own, base): (f64, f64),
        products: &mut [f64],
    ) -> Side {
        let sign = if side == 0 { -1.0 } else { 1.0 };
        let mut out = [0.0; 4];
        dispatch(Precisions {
            products: &mut products[from..to],
            weight: &self.weight[from..to],
            levels: &self.levels[side][from..to],
            etas: &self.etas[from..to],
            base: base + 2.0 * epsilon * sign * own,
            // squared below, so that the sign is of no matter
            own: own + sign * epsilon,
            sums: &mut out,
        });
        let [omega, sizes, squares, slack] = out;
        let [w, eta] = [0, 1].map(|i| self.before[to][i] - self.before[from][i]);
        Side {
            omega,
            slack,
            push: sign * (w + epsilon * omega),
            constant: -(w * epsilon - sign * eta) - 0.5 * (sizes + squares),
        }
    }
}

/// $\kappa = w\langle u^2\rangle^{-1/2}$ in place of the products, and the sums
/// of $\kappa$, of $w\langle u^2\rangle^{1/2}$, of $\kappa$ times `levels` and of
/// $\kappa\langle u\rangle^2/\langle u^2\rangle$.
struct Precisions<'a> {
    products: &'a mut [f64],
    weight: &'a [f64],
    levels: &'a [f64],
    etas: &'a [f64],
    base: f64,
    own: f64,
    sums: &'a mut [f64; 4],
}

impl Kernel for Precisions<'_> {
    #[inline(always)]
    fn run<const FUSED: bool>(self) {
        let mut sums = [[0.0; LANES]; 4];
        let (base, own) = (self.base, self.own);
        let mut step =
            |x: &mut [f64; LANES], w: &[f64; LANES], l: &[f64; LANES], e: &[f64; LANES]| {
                for j in 0..LANES {
                    let size = (base + l[j] - 2.0 * x[j]).max(LEAST_SQUARE).sqrt();
                    let inverse = size.recip();
                    let kappa = w[j] * inverse;
                    let share = (own - e[j]) * inverse;
                    x[j] = kappa;
                    sums[0][j] += kappa;
                    sums[1][j] = mul_add::<FUSED>(w[j], size, sums[1][j]);
                    sums[2][j] = mul_add::<FUSED>(kappa, l[j], sums[2][j]);
                    sums[3][j] = mul_add::<FUSED>(kappa, share * share, sums[3][j]);
                }
            };
        let (products, rest) = self.products.as_chunks_mut::<LANES>();
        let (weight, last) = self.weight.as_chunks::<LANES>();
        let (levels, last_levels) = self.levels.as_chunks::<LANES>();
        let (etas, last_etas) = self.etas.as_chunks::<LANES>();
        for (((x, w), l), e) in products.iter_mut().zip(weight).zip(levels).zip(etas) {
            step(x, w, l, e);
        }
        if !rest.is_empty() {
            // places beyond the last weigh nothing
            let mut x = padded(rest);
            step(
                &mut x,
                &padded(last),
                &padded(last_levels),
                &padded(last_etas),
            );
            rest.copy_from_slice(&x[..rest.len()]);
        }
        *self.sums = sums.map(|s| s.iter().sum());
    }
}

#[inline(always)]
fn padded(values: &[f64]) -> [f64; LANES] {
    let mut out = [0.0; LANES];
    out[..values.len()].copy_from_slice(values);
    out
}

/// The grids of all features under given weights.
#[derive(Clone, Debug)]
pub(super) struct Grids {
    weights: Stamp,
    /// Nothing of features that nobody compares; empty where there are too
    /// many to keep.
    of: Vec<Option<Grid>>,
}

impl Grids {
    /// Those of the weights, features in parallel.
    pub(super) fn new(
        with: (&Anchors, &Training),
        (epsilon, weight): (f64, f64),
        weights: &RowMoments,
    ) -> Self {
        let (features, k) = (with.0.features(), weights.k());
        let fits = with.0.samples.len().saturating_mul(k + 4) <= MOST;
        let one = |i: usize| {
            let second = weights.second_moment_rows(i..i + 1);
            one(with, (i, epsilon, weight), weights, second.row(0))
        };
        let of = if fits {
            (0..features).into_par_iter().map(one).collect()
        } else {
            Vec::new()
        };
        Self {
            weights: weights.stamp(),
            of,
        }
    }
    /// Whether they are those of these weights.
    pub(super) fn is_of(&self, weights: &RowMoments) -> bool {
        self.weights == weights.stamp()
    }
    /// That of a feature, where it is kept.
    pub(super) fn kept(&self, feature: usize) -> Option<&Grid> {
        self.of.get(feature)?.as_ref()
    }
}

/// The grid of a feature; nothing where nobody compares it.
pub(super) fn one(
    with: (&Anchors, &Training),
    law: (usize, f64, f64),
    weights: &RowMoments,
    second: &[f64],
) -> Option<Grid> {
    let i = law.0;
    if with.0.rates[i] <= 0.0 {
        return None;
    }
    let a: Vec<f64> = (0..weights.k()).map(|j| weights.mean()[(i, j)]).collect();
    Some(Grid::new(with, law, &a, second))
}

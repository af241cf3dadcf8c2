//! The tilted bound of eight samples at once, interleaved: what [`Tilted`](super::tilted::Tilted) does, number by number in
//! the same order, with one number of each of eight samples side by side in a [`Lane`].
//!
//! All samples of a batch take the steps that the slowest needs, and one that has arrived stays where it is, so that what
//! else is in a batch has no influence on it.

// inlined into the function that selects the instruction set
#![allow(clippy::inline_always)]

use polyview_linalg::simd::{Kernel, decay, ln, mul_add};
use polyview_linalg::{packed_index, packed_len};

use super::tilted::{HALVINGS, NEAR, NO_VARIANCE, STEPS, STILL};

/// Samples of a batch.
pub(super) const LANES: usize = 8;

/// A number of each sample, on a cache line of their own.
#[derive(Clone, Copy, Debug)]
#[repr(align(64))]
pub(super) struct Lane(pub(super) [f64; LANES]);

impl Lane {
    const ZERO: Self = Self([0.0; LANES]);
    const ONE: Self = Self([1.0; LANES]);

    #[inline(always)]
    fn map(self, f: impl Fn(f64) -> f64) -> Self {
        Self(self.0.map(f))
    }
    #[inline(always)]
    fn zip(self, other: Self, f: impl Fn(f64, f64) -> f64) -> Self {
        let mut out = Self::ZERO;
        for l in 0..LANES {
            out.0[l] = f(self.0[l], other.0[l]);
        }
        out
    }
    /// `self + a b`
    #[inline(always)]
    fn plus<const FUSED: bool>(self, a: Self, b: Self) -> Self {
        let mut out = Self::ZERO;
        for l in 0..LANES {
            out.0[l] = mul_add::<FUSED>(a.0[l], b.0[l], self.0[l]);
        }
        out
    }
    #[inline(always)]
    fn times(self, other: Self) -> Self {
        self.zip(other, |a, b| a * b)
    }
    #[inline(always)]
    fn minus(self, other: Self) -> Self {
        self.zip(other, |a, b| a - b)
    }
}

/// Room for a batch.
#[derive(Debug)]
pub(super) struct Batch {
    classes: usize,
    /// Factors; none where these are known exactly.
    k: usize,
    /// Weights, class by class.
    weights: Vec<f64>,
    /// In: means and variances of the predictors.
    pub(super) mean: Vec<Lane>,
    pub(super) variance: Vec<Lane>,
    /// In: covariances of the factors, packed; their root afterwards.
    pub(super) factors: Vec<Lane>,
    /// Out: $a$, and the least bound.
    pub(super) a: Vec<Lane>,
    pub(super) bound: Lane,
    /// U, class by class, its columns, and what the variances have beside it.
    shared: Vec<Lane>,
    rank: usize,
    own: Vec<Lane>,
    /// Products of the rows of U, packed, where there are fewer classes than factors.
    products: Vec<Lane>,
    /// As in [`Tilted`](super::tilted::Tilted).
    s: Vec<Lane>,
    q: Vec<Lane>,
    gap: Vec<Lane>,
    step: Vec<Lane>,
    next: Vec<Lane>,
    spare: Vec<Lane>,
    along: Vec<Lane>,
    /// $1/e$.
    per_weight: Vec<Lane>,
    root: Vec<Lane>,
    /// One over the diagonal of a root.
    reciprocal: Vec<Lane>,
}

impl Batch {
    /// For predictors with these weights, class by class, of factors whose covariances are to be told, or that are known
    /// exactly.
    pub(super) fn new(weights: &[f64], classes: usize, known: bool) -> Self {
        let k = if known {
            0
        } else {
            weights.len() / classes.max(1)
        };
        let rank = k.min(classes);
        let lanes = |count: usize| vec![Lane::ZERO; count];
        let products = if rank < k { packed_len(classes) } else { 0 };
        Self {
            classes,
            k,
            weights: weights.to_vec(),
            mean: lanes(classes),
            variance: lanes(classes),
            factors: lanes(packed_len(k)),
            a: lanes(classes),
            bound: Lane::ZERO,
            shared: lanes(classes * k),
            rank,
            own: lanes(classes),
            products: lanes(products),
            s: lanes(classes),
            q: lanes(classes),
            gap: lanes(classes),
            step: lanes(classes),
            next: lanes(classes),
            spare: lanes(classes),
            along: lanes(rank),
            per_weight: lanes(classes),
            root: lanes(packed_len(rank)),
            reciprocal: lanes(k.max(classes)),
        }
    }

    /// U and o of [`Covariance`](super::tilted::Covariance).
    #[inline(always)]
    fn covariances<const FUSED: bool>(&mut self) {
        let (classes, k) = (self.classes, self.k);
        root::<FUSED>(&mut self.factors, k, &mut self.reciprocal);
        for c in 0..classes {
            for b in 0..k {
                let mut sum = Lane::ZERO;
                for a in b..k {
                    let w = Lane([self.weights[c * k + a]; LANES]);
                    sum = sum.plus::<FUSED>(w, self.factors[packed_index(a, b)]);
                }
                self.shared[c * k + b] = sum;
            }
        }
        if self.rank < k {
            for c in 0..classes {
                for j in 0..=c {
                    let rows = [c, j].map(|c| &self.shared[c * k..][..k]);
                    self.products[packed_index(c, j)] = dot::<FUSED>(rows[0], rows[1]);
                }
            }
            root::<FUSED>(&mut self.products, classes, &mut self.reciprocal);
            for c in 0..classes {
                let row = packed_index(c, 0);
                for j in 0..classes {
                    self.shared[c * classes + j] = if j <= c {
                        self.products[row + j]
                    } else {
                        Lane::ZERO
                    };
                }
            }
        }
        let rank = self.rank;
        for c in 0..classes {
            let row = &self.shared[c * rank..][..rank];
            let square = dot::<FUSED>(row, row);
            let own = self.variance[c].minus(square).map(|x| x.max(0.0));
            self.own[c] = own;
            self.variance[c] = square.zip(own, |a, b| a + b);
        }
    }

    /// $Vx$ of `next` or `step` or `gap` to `spare`.
    #[inline(always)]
    fn times<const FUSED: bool>(&mut self, of: Of) {
        let x = match of {
            Of::Next => &self.next,
            Of::Step => &self.step,
            Of::Gap => &self.gap,
        };
        let rank = self.rank;
        self.along.fill(Lane::ZERO);
        for (c, x) in x.iter().enumerate() {
            let row = &self.shared[c * rank..][..rank];
            for (to, u) in self.along.iter_mut().zip(row) {
                *to = to.plus::<FUSED>(*x, *u);
            }
        }
        for (c, x) in x.iter().enumerate() {
            let row = &self.shared[c * rank..][..rank];
            self.spare[c] = dot::<FUSED>(row, &self.along).plus::<FUSED>(self.own[c], *x);
        }
    }

    /// $B$ at `next`; the softmax there goes to `s`.
    #[inline(always)]
    fn value<const FUSED: bool>(&mut self) -> Lane {
        self.times::<FUSED>(Of::Next);
        let half = Lane([0.5; LANES]);
        for c in 0..self.classes {
            let shifted = self.mean[c].plus::<FUSED>(half, self.variance[c]);
            self.s[c] = shifted.minus(self.spare[c]);
        }
        let along = dot::<FUSED>(&self.next, &self.spare);
        softmax::<FUSED>(&mut self.s).plus::<FUSED>(half, along)
    }

    /// [`Tilted::divide`](super::tilted::Tilted) of `spare`.
    #[inline(always)]
    fn divide<const FUSED: bool>(&mut self) {
        for (x, e) in self.spare.iter_mut().zip(&self.per_weight) {
            *x = x.times(*e);
        }
        let rank = self.rank;
        if rank == 0 {
            return;
        }
        self.along.fill(Lane::ZERO);
        for (c, x) in self.spare.iter().enumerate() {
            let x = self.q[c].times(*x);
            let row = &self.shared[c * rank..][..rank];
            for (to, u) in self.along.iter_mut().zip(row) {
                *to = to.plus::<FUSED>(x, *u);
            }
        }
        solve::<FUSED>(&self.root, &self.reciprocal, &mut self.along);
        for c in 0..self.classes {
            let row = &self.shared[c * rank..][..rank];
            let by = dot::<FUSED>(row, &self.along).times(self.q[c]);
            self.spare[c] = self.spare[c].minus(by.times(self.per_weight[c]));
        }
    }

    /// [`Tilted::newton`](super::tilted::Tilted): `step` from `gap`.
    #[inline(always)]
    fn newton<const FUSED: bool>(&mut self) {
        let (classes, rank) = (self.classes, self.rank);
        self.root.fill(Lane::ZERO);
        for c in 0..classes {
            let s = self.s[c];
            self.q[c] = s.map(f64::sqrt);
            let weight = Lane::ONE.plus::<FUSED>(s, self.own[c]);
            self.per_weight[c] = weight.map(|e| 1.0 / e);
            let times = s.times(self.per_weight[c]);
            let row = &self.shared[c * rank..][..rank];
            for a in 0..rank {
                let (by, at) = (times.times(row[a]), packed_index(a, 0));
                for (to, u) in self.root[at..=at + a].iter_mut().zip(row) {
                    *to = to.plus::<FUSED>(by, *u);
                }
            }
        }
        for a in 0..rank {
            let at = packed_index(a, a);
            self.root[at] = self.root[at].zip(Lane::ONE, |x, one| x + one);
        }
        root::<FUSED>(&mut self.root, rank, &mut self.reciprocal);
        self.times::<FUSED>(Of::Gap);
        for (x, q) in self.spare.iter_mut().zip(&self.q) {
            *x = x.times(*q);
        }
        self.divide::<FUSED>();
        for c in 0..classes {
            self.step[c] = self.gap[c].minus(self.q[c].times(self.spare[c]));
        }
        self.times::<FUSED>(Of::Step);
        let along = dot::<FUSED>(&self.s, &self.spare);
        self.spare.copy_from_slice(&self.q);
        self.divide::<FUSED>();
        let rate = along.zip(dot::<FUSED>(&self.q, &self.spare), |a, b| a / b);
        for c in 0..classes {
            let more = self.q[c].times(self.spare[c]);
            self.step[c] = self.step[c].plus::<FUSED>(rate, more);
        }
    }

    /// Largest $|s - a|$ of each sample; leaves $s - a$. `NaN` where there is one.
    #[inline(always)]
    fn off(&mut self) -> Lane {
        let mut off = Lane::ZERO;
        for c in 0..self.classes {
            let gap = self.s[c].minus(self.a[c]);
            self.gap[c] = gap;
            off = off.zip(gap, |off, gap| {
                let gap = gap.abs();
                // a comparison with NaN is false
                if gap <= off { off } else { gap }
            });
        }
        off
    }

    #[inline(always)]
    fn minimise<const FUSED: bool>(&mut self) {
        self.covariances::<FUSED>();
        self.a.copy_from_slice(&self.mean);
        softmax::<FUSED>(&mut self.a);
        self.next.copy_from_slice(&self.a);
        self.bound = self.value::<FUSED>();
        let mut active = [true; LANES];
        for _ in 0..STEPS {
            let off = self.off();
            for (active, off) in active.iter_mut().zip(off.0) {
                // no number is no reason to go on
                *active &= off > STILL;
            }
            if !active.contains(&true) {
                return;
            }
            self.newton::<FUSED>();
            // one that is near goes there, and is done
            let mut rate = Lane::ZERO;
            for l in 0..LANES {
                let near = active[l] && off.0[l] <= NEAR;
                if near {
                    for (a, step) in self.a.iter_mut().zip(&self.step) {
                        a.0[l] += step.0[l];
                    }
                }
                active[l] &= !near;
                rate.0[l] = f64::from(u8::from(active[l]));
            }
            if !active.contains(&true) {
                return;
            }
            let mut trying = active;
            for _ in 0..HALVINGS {
                for c in 0..self.classes {
                    // no step where nothing is to change, whatever it is
                    self.next[c] = Lane::ZERO;
                    for l in 0..LANES {
                        let moved = mul_add::<FUSED>(rate.0[l], self.step[c].0[l], self.a[c].0[l]);
                        self.next[c].0[l] = if rate.0[l] > 0.0 {
                            moved
                        } else {
                            self.a[c].0[l]
                        };
                    }
                }
                let there = self.value::<FUSED>();
                for l in 0..LANES {
                    let most = self.bound.0[l];
                    let lower = there.0[l] <= most + 4.0 * f64::EPSILON * (1.0 + most.abs());
                    if trying[l] && lower {
                        self.bound.0[l] = there.0[l];
                        trying[l] = false;
                    } else if trying[l] {
                        rate.0[l] *= 0.5;
                    }
                }
                if !trying.contains(&true) {
                    break;
                }
            }
            for l in 0..LANES {
                // uphill all the way: there is nothing lower
                active[l] &= !trying[l];
                if active[l] {
                    for (a, next) in self.a.iter_mut().zip(&self.next) {
                        a.0[l] = next.0[l];
                    }
                }
            }
        }
    }
}

/// What V is multiplied with.
#[derive(Clone, Copy)]
enum Of {
    Next,
    Step,
    Gap,
}

/// Where the bounds of a batch are least.
pub(super) struct Minimum<'a>(pub(super) &'a mut Batch);

impl Kernel for Minimum<'_> {
    #[inline(always)]
    fn run<const FUSED: bool>(self) {
        self.0.minimise::<FUSED>();
    }
}

#[inline(always)]
fn dot<const FUSED: bool>(x: &[Lane], y: &[Lane]) -> Lane {
    let mut sum = Lane::ZERO;
    for (x, y) in x.iter().zip(y) {
        sum = sum.plus::<FUSED>(*x, *y);
    }
    sum
}

/// Softmax in place; returns $\ln\sum e^x$.
#[inline(always)]
fn softmax<const FUSED: bool>(x: &mut [Lane]) -> Lane {
    let mut top = Lane([f64::NEG_INFINITY; LANES]);
    for x in x.iter() {
        top = top.zip(*x, f64::max);
    }
    let mut sum = Lane::ZERO;
    for x in x.iter_mut() {
        for l in 0..LANES {
            x.0[l] = decay::<FUSED>(top.0[l] - x.0[l]).value;
            sum.0[l] += x.0[l];
        }
    }
    let per = sum.map(|s| 1.0 / s);
    for x in x.iter_mut() {
        *x = x.times(per);
    }
    top.zip(sum, |top, sum| top + ln::<FUSED>(sum))
}

/// [`root`](super::tilted::root) of eight matrices, with one over its diagonal, zero where that is.
#[inline(always)]
fn root<const FUSED: bool>(matrix: &mut [Lane], order: usize, reciprocal: &mut [Lane]) {
    for i in 0..order {
        let (above, rest) = matrix.split_at_mut(packed_index(i, 0));
        let row = &mut rest[..=i];
        for j in 0..i {
            let other = &above[packed_index(j, 0)..][..j];
            let dot = dot::<FUSED>(&row[..j], other);
            row[j] = row[j].minus(dot).times(reciprocal[j]);
        }
        let scale = row[i];
        let left = scale.minus(dot::<FUSED>(&row[..i], &row[..i]));
        // rounding is no variance
        let own = left.zip(scale, |left, scale| {
            let kept = if left > NO_VARIANCE * scale {
                left
            } else {
                0.0
            };
            kept.sqrt()
        });
        row[i] = own;
        reciprocal[i] = own.map(|x| if x > 0.0 { 1.0 / x } else { 0.0 });
    }
}

/// $M^{-1}x$ from a root without zeros on its diagonal and the reciprocals of that; in place.
#[inline(always)]
fn solve<const FUSED: bool>(root: &[Lane], reciprocal: &[Lane], x: &mut [Lane]) {
    let order = x.len();
    for i in 0..order {
        let row = &root[packed_index(i, 0)..][..i];
        let left = x[i].minus(dot::<FUSED>(row, &x[..i]));
        x[i] = left.times(reciprocal[i]);
    }
    for i in (0..order).rev() {
        let own = x[i].times(reciprocal[i]);
        x[i] = own;
        let row = &root[packed_index(i, 0)..][..i];
        let down = own.map(|x| -x);
        for (x, m) in x[..i].iter_mut().zip(row) {
            *x = x.plus::<FUSED>(down, *m);
        }
    }
}

#[cfg(test)]
mod tests;

//! The means of the entries of a row, all at once.

// inlined into the function that selects the instruction set
#![allow(clippy::inline_always)]

use polyview_linalg::simd::{Kernel, dispatch, mul_add};
use polyview_linalg::{SideBySide, packed_index, packed_len};

use crate::rows::sweep::{LANES, Swept};

/// Least probability of inclusion that the equations of the means know.
const LEAST: f64 = 1e-12;

/// Takes the means $\mu$ of the entries of each row to their joint optimum, given inclusions $\gamma$ and variances: entry by entry
/// they come there slowly where factors look alike to the row, as where its cells count very differently. With
/// $w\_k = \gamma\_k\mu\_k$ the row's part of the bound is highest where
///
/// $$\frac{P\_{kk} + \langle\alpha\_k\rangle}{\gamma\_k}w\_k + \sum\_{j \ne k}P\_{kj}w\_j = b\_k .$$
///
/// Rows whose equations are singular to rounding, or whose part rounding would make lower, stay where they are. `alpha` has $\langle\alpha\rangle$ of a row and column; the outputs are those of
/// the optimum: $\langle w\rangle$, its variance, $\gamma$, $\mu$, $\sigma^2$.
pub(super) fn settle(rows: &mut Swept<'_, 5>, alpha: impl Fn(usize, usize) -> f64) {
    let k = rows.rhs.len();
    if k < 2 {
        return;
    }
    let count = rows.rows.len();
    let mut solver = SideBySide::new(k);
    let mut system = vec![[0.0; LANES]; packed_len(k)];
    let (mut rhs, mut solved) = (vec![[0.0; LANES]; k], vec![[0.0; LANES]; k]);
    let groups = rows.precisions.chunks_exact(packed_len(k)).enumerate();
    for (group, precision) in groups {
        let first = group * LANES;
        let own = LANES.min(count - first);
        system.copy_from_slice(precision);
        for j in 0..k {
            rhs[j][..own].copy_from_slice(&rows.rhs[j][first..first + own]);
            let gamma = &rows.out[2][j * count + first..][..own];
            let diagonal = &mut system[packed_index(j, j)];
            for (i, gamma) in gamma.iter().enumerate() {
                diagonal[i] = (diagonal[i] + alpha(rows.rows[first + i], j)) / gamma.max(LEAST);
            }
        }
        solved.copy_from_slice(&rhs);
        let positive = solver.solve(&system, &mut solved);
        dispatch(Accept {
            system: &system,
            rhs: &rhs,
            solved: &solved,
            positive: &positive,
            place: (first, count, own),
            out: rows.out,
        });
    }
}

/// Takes over the solutions of some rows where the part of the bound rises.
struct Accept<'a> {
    system: &'a [[f64; LANES]],
    rhs: &'a [[f64; LANES]],
    solved: &'a [[f64; LANES]],
    positive: &'a [bool; LANES],
    /// First row, rows of a column, rows that there are.
    place: (usize, usize, usize),
    out: &'a mut [Vec<f64>; 5],
}

impl Kernel for Accept<'_> {
    #[inline(always)]
    fn run<const FUSED: bool>(self) {
        let (first, count, own) = self.place;
        let k = self.rhs.len();
        let [mean, variance, gamma, slab_mean, slab_variance] = self.out;
        let mut before = vec![[0.0; LANES]; k];
        for (j, line) in before.iter_mut().enumerate() {
            line[..own].copy_from_slice(&mean[j * count + first..][..own]);
        }
        let was = part::<FUSED>(self.system, self.rhs, &before);
        let is = part::<FUSED>(self.system, self.rhs, self.solved);
        let mut taken = *self.positive;
        for i in 0..LANES {
            // what rounding makes lower is no optimum, and what is no number none either
            taken[i] &= is[i] > was[i];
        }
        for (j, solved) in self.solved.iter().enumerate() {
            let at = j * count + first..j * count + first + own;
            let (mean, variance) = (&mut mean[at.clone()], &mut variance[at.clone()]);
            let (slab_mean, gamma) = (&mut slab_mean[at.clone()], &gamma[at.clone()]);
            let slab_variance = &slab_variance[at];
            for i in (0..own).filter(|i| taken[*i]) {
                let mu = solved[i] / gamma[i].max(LEAST);
                slab_mean[i] = mu;
                mean[i] = gamma[i] * mu;
                variance[i] = gamma[i] * (slab_variance[i] + (1.0 - gamma[i]) * mu * mu);
            }
        }
    }
}

/// $b^\top w - \tfrac12w^\top Aw$ of eight rows.
#[inline(always)]
fn part<const FUSED: bool>(
    system: &[[f64; LANES]],
    rhs: &[[f64; LANES]],
    w: &[[f64; LANES]],
) -> [f64; LANES] {
    let mut out = [0.0; LANES];
    let mut start = 0;
    for (j, (b, own)) in rhs.iter().zip(w).enumerate() {
        let line = &system[start..=start + j];
        start += j + 1;
        let mut sum = *b;
        for (a, other) in line[..j].iter().zip(w) {
            for i in 0..LANES {
                sum[i] = mul_add::<FUSED>(-a[i], other[i], sum[i]);
            }
        }
        for i in 0..LANES {
            sum[i] = mul_add::<FUSED>(-0.5 * line[j][i], own[i], sum[i]);
            out[i] = mul_add::<FUSED>(sum[i], own[i], out[i]);
        }
    }
    out
}

//! Views with cells missing in any pattern, integrated out (spec/sshiba 2.5).

use std::ops::Range;

use polyview_core::{Mask, NormalEquations, Predictor};
use polyview_linalg::{Mat, masked_sums, packed_dot, packed_len};

use super::Gaussian;

impl Gaussian {
    /// Sums of the factors' moment table over the observed samples of each
    /// feature: $\sum\_{n\in O\_d}\langle z\_n^\top z\_n\rangle$ and
    /// $\sum\_{n\in O\_d}\langle z\_n\rangle$ (U2m, U3m).
    pub(super) fn ensure_observed(&mut self, p: &Predictor<'_>) {
        let Mask::Cells { by_feature, .. } = &self.mask else {
            return;
        };
        let stamp = p.factors.stamp();
        if matches!(&self.cache.observed, Some((s, _)) if *s == stamp) {
            return;
        }
        let table = p.factors.moment_table();
        let mut out = match self.cache.observed.take() {
            Some((_, m)) if m.nrows() == table.nrows() => m,
            _ => Mat::zeros(table.nrows(), self.values.ncols()),
        };
        masked_sums(by_feature, table.as_ref(), out.as_mut());
        self.cache.observed = Some((stamp, out));
    }
    /// $\sum\_{n\in O\_d}\langle z\_n\rangle$.
    pub(super) fn observed_sum(&self, column: usize) -> &[f64] {
        match &self.cache.observed {
            Some((_, m)) => {
                let k = Self::factors_of(m.nrows());
                &m.col_as_slice(column)[m.nrows() - k..]
            }
            None => &[],
        }
    }
    /// K from K(K+1)/2 + K = K(K+3)/2.
    fn factors_of(rows: usize) -> usize {
        let root = ((9 + 8 * rows) as f64).sqrt();
        ((root - 3.0) / 2.0).round() as usize
    }
    /// U2m: own precision and right-hand side of each feature.
    pub(super) fn cells_weights(&mut self, p: &Predictor<'_>, eq: &mut NormalEquations) {
        let (k, columns) = (eq.k(), eq.rows());
        let Some((_, observed)) = &self.cache.observed else {
            return;
        };
        let packed = eq.packed_mut();
        for (i, d) in columns.clone().enumerate() {
            let tau = self.tau(d);
            for (g, s) in packed.row_mut(i).iter_mut().zip(observed.col_as_slice(d)) {
                *g += tau * s;
            }
        }
        let zx = self.zx();
        for (i, d) in columns.enumerate() {
            let (tau, b, sum) = (self.tau(d), p.bias.mean()[d], self.observed_sum(d));
            for j in 0..k {
                eq.rhs[(i, j)] += tau * (zx[(j, d)] - b * sum[j]);
            }
        }
    }
    /// Expected squared residual over the observed cells of each column (U6m).
    pub(super) fn cells_residuals(&mut self, columns: Range<usize>, p: &Predictor<'_>) -> Vec<f64> {
        self.ensure_zx_of(&columns, p);
        self.ensure_observed(p);
        let k = p.weights.k();
        let (zx, w) = (self.zx(), p.weights.mean());
        let Some((_, observed)) = &self.cache.observed else {
            return Vec::new();
        };
        let moments = p.weights.second_moment_rows(columns.clone());
        columns
            .enumerate()
            .map(|(i, d)| {
                let b = p.bias.mean()[d];
                let sum = self.observed_sum(d);
                let (mut with_x, mut with_b) = (0.0, 0.0);
                for j in 0..k {
                    with_x += w[(d, j)] * zx[(j, d)];
                    with_b += w[(d, j)] * sum[j];
                }
                let gram = &observed.col_as_slice(d)[..packed_len(k)];
                self.squares[d] - 2.0 * with_x - 2.0 * b * self.sums[d]
                    + packed_dot(gram, moments.row(i), k)
                    + 2.0 * b * with_b
                    + self.counts[d] * (b * b + p.bias.variance()[d])
            })
            .collect()
    }
    /// Sums over the observed features of each sample:
    /// $\sum\_{d\in O\_n}\tau\_d\langle w\_d^\top w\_d\rangle$ and
    /// $\sum\_{d\in O\_n}\tau\_d b\_d w\_d$ (U1m).
    fn ensure_samples(&mut self, p: &Predictor<'_>) {
        let Mask::Cells { by_sample, .. } = &self.mask else {
            return;
        };
        let mut key = self.xw_key(p);
        key.noise = Some(self.noise_stamp);
        let stamp = p.bias.stamp();
        if matches!(&self.cache.samples, Some((k, b, _)) if *k == key && *b == stamp) {
            return;
        }
        let (k, columns) = (p.weights.k(), self.values.ncols());
        let len = packed_len(k);
        let mut table = p.weights.moment_table().clone();
        for d in 0..columns {
            let (tau, b) = (self.tau(d), p.bias.mean()[d]);
            let column = table.col_as_slice_mut(d);
            for x in &mut column[..len] {
                *x *= tau;
            }
            for x in &mut column[len..] {
                *x *= tau * b;
            }
        }
        let mut out = match self.cache.samples.take() {
            Some((_, _, m)) if m.nrows() == table.nrows() => m,
            _ => Mat::zeros(table.nrows(), self.values.nrows()),
        };
        masked_sums(by_sample, table.as_ref(), out.as_mut());
        self.cache.samples = Some((key, stamp, out));
    }
    /// U1m: own precision and right-hand side of each sample.
    pub(super) fn cells_factors(&mut self, p: &Predictor<'_>, eq: &mut NormalEquations) {
        self.ensure_xw(p);
        self.ensure_samples(p);
        let (Some((_, xw)), Some((_, _, samples))) = (&self.cache.xw, &self.cache.samples) else {
            return;
        };
        let (k, start, tau) = (eq.k(), eq.rows().start, self.common_tau());
        let len = packed_len(k);
        let rows = eq.rows().len();
        let packed = eq.packed_mut();
        for i in 0..rows {
            for (g, s) in packed
                .row_mut(i)
                .iter_mut()
                .zip(samples.col_as_slice(start + i))
            {
                *g += s;
            }
        }
        for j in 0..k {
            for i in 0..rows {
                eq.rhs[(i, j)] += tau * xw[(start + i, j)] - samples[(len + j, start + i)];
            }
        }
    }
    /// $\sum\_d\tau\_d R\_d$ over the observed cells.
    pub(super) fn cells_energy(&mut self, p: &Predictor<'_>) -> f64 {
        self.ensure_xw(p);
        self.ensure_samples(p);
        let (Some((_, xw)), Some((_, _, samples))) = (&self.cache.xw, &self.cache.samples) else {
            return 0.0;
        };
        let (k, z, tau) = (p.factors.k(), p.factors.mean(), self.common_tau());
        let len = packed_len(k);
        let moments = p.factors.moment_table();
        let mut energy = 0.0;
        for n in 0..z.nrows() {
            let s = samples.col_as_slice(n);
            let mut cross = 0.0;
            for j in 0..k {
                cross += z[(n, j)] * (tau * xw[(n, j)] - s[len + j]);
            }
            energy += packed_dot(&s[..len], &moments.col_as_slice(n)[..len], k) - 2.0 * cross;
        }
        for d in 0..self.counts.len() {
            let b = p.bias.mean()[d];
            energy += self.tau(d)
                * (self.squares[d] - 2.0 * b * self.sums[d]
                    + self.counts[d] * (b * b + p.bias.variance()[d]));
        }
        energy
    }
}

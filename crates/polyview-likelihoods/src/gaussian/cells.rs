//! Views with cells missing in any pattern, integrated out (spec/sshiba 2.5).

use std::ops::Range;

use polyview_core::{Mask, NormalEquations, Predictor, SAMPLE_BLOCK, Stamp};
use polyview_linalg::{Mat, masked_sums, masked_sums_of, packed_dot, packed_len};

use super::Gaussian;

/// A pass over the samples, block by block.
#[derive(Clone, Debug)]
pub(super) struct SamplePass {
    /// See [`Gaussian::weight_table`].
    table: Mat<f64>,
    /// Samples of the current block.
    rows: Range<usize>,
    /// Sums of the table over the observed features of each of them.
    sums: Mat<f64>,
    /// Energy of the samples that are done.
    energy: f64,
    /// Number of samples that are done.
    done: usize,
}

/// State that the samples' part of the energy belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct EnergyKey {
    factors: Stamp,
    weights: Stamp,
    bias: Stamp,
    noise: Stamp,
    data: Stamp,
}

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
                self.squares[d] + self.hidden_variance(d) - 2.0 * with_x - 2.0 * b * self.sums[d]
                    + packed_dot(gram, moments.row(i), k)
                    + 2.0 * b * with_b
                    + self.counts[d] * (b * b + p.bias.variance()[d])
            })
            .collect()
    }
    /// What the samples' sums are made of (U1m): for each feature
    /// $\tau\_d\langle w\_d^\top w\_d\rangle$ and $\tau\_d b\_d w\_d$.
    fn weight_table(&self, p: &Predictor<'_>) -> Mat<f64> {
        let k = p.weights.k();
        let mut table = Mat::zeros(packed_len(k) + k, self.values.ncols());
        p.weights.write_moment_table(
            |d| {
                let tau = self.tau(d);
                (tau, tau * p.bias.mean()[d])
            },
            table.as_mut(),
        );
        table
    }
    /// Sums of a weight table over the observed features of some samples.
    fn sample_sums(&self, table: &Mat<f64>, samples: Range<usize>, mut out: Mat<f64>) -> Mat<f64> {
        if out.nrows() != table.nrows() || out.ncols() != samples.len() {
            out = Mat::zeros(table.nrows(), samples.len());
        }
        if let Mask::Cells { by_sample, .. } = &self.mask {
            masked_sums_of(by_sample, samples, table.as_ref(), out.as_mut());
        }
        out
    }
    /// Gets ready for a pass over the samples.
    pub(super) fn cells_factor_gram(&mut self, p: &Predictor<'_>) {
        // the features' sums belong to factors that are about to change
        self.cache.observed = None;
        self.ensure_xw(p);
        self.cache.pass = Some(SamplePass {
            table: self.weight_table(p),
            rows: 0..0,
            sums: Mat::new(),
            energy: 0.0,
            done: 0,
        });
    }
    /// U1m: own precision and right-hand side of each sample.
    pub(super) fn cells_factors(&mut self, p: &Predictor<'_>, eq: &mut NormalEquations) {
        if self.cache.pass.is_none() {
            self.cells_factor_gram(p);
        }
        self.ensure_xw(p);
        let Some(mut pass) = self.cache.pass.take() else {
            return;
        };
        pass.rows = eq.rows();
        pass.sums = self.sample_sums(
            &pass.table,
            eq.rows(),
            std::mem::replace(&mut pass.sums, Mat::new()),
        );
        if let Some((_, xw)) = &self.cache.xw {
            let (k, start, tau) = (eq.k(), eq.rows().start, self.common_tau());
            let len = packed_len(k);
            let rows = eq.rows().len();
            let packed = eq.packed_mut();
            for i in 0..rows {
                for (g, s) in packed.row_mut(i).iter_mut().zip(pass.sums.col_as_slice(i)) {
                    *g += s;
                }
            }
            for j in 0..k {
                for i in 0..rows {
                    eq.rhs[(i, j)] += tau * xw[(start + i, j)] - pass.sums[(len + j, i)];
                }
            }
        }
        self.cache.pass = Some(pass);
    }
    /// What the factors of some samples add to the energy:
    /// $\mathrm{tr}(\langle z\_n^\top z\_n\rangle P\_n) - 2 z\_n\\,\mathrm{rhs}\_n$.
    fn sample_energy(&self, samples: Range<usize>, sums: &Mat<f64>, p: &Predictor<'_>) -> f64 {
        let Some((_, xw)) = &self.cache.xw else {
            return 0.0;
        };
        let (k, z, tau) = (p.factors.k(), p.factors.mean(), self.common_tau());
        let len = packed_len(k);
        let mut energy = 0.0;
        for (i, n) in samples.enumerate() {
            let s = sums.col_as_slice(i);
            let mut cross = 0.0;
            for j in 0..k {
                cross += z[(n, j)] * (tau * xw[(n, j)] - s[len + j]);
            }
            energy += p.factors.row_energy(n, &s[..len]) - 2.0 * cross;
        }
        energy
    }
    /// Adds the energy of samples whose factors are final.
    pub(super) fn cells_absorb(&mut self, samples: Range<usize>, p: &Predictor<'_>) {
        if let Some(mut pass) = self.cache.pass.take() {
            if pass.rows == samples && pass.done == samples.start {
                pass.energy += self.sample_energy(samples.clone(), &pass.sums, p);
                pass.done = samples.end;
            }
            self.cache.pass = Some(pass);
        }
    }
    /// Ends a pass over the samples; its energy serves the next bound.
    pub(super) fn cells_seal(&mut self, p: &Predictor<'_>) {
        if let Some(pass) = self.cache.pass.take()
            && pass.done == self.values.nrows()
        {
            self.cache.energy = Some((self.energy_key(p), pass.energy));
        }
    }
    /// What the energy of the samples depends on.
    fn energy_key(&self, p: &Predictor<'_>) -> EnergyKey {
        EnergyKey {
            factors: p.factors.stamp(),
            weights: p.weights.stamp(),
            bias: p.bias.stamp(),
            noise: self.noise_stamp,
            data: self.data_stamp,
        }
    }
    /// $\sum\_d\tau\_d R\_d$ over the observed cells.
    pub(super) fn cells_energy(&mut self, p: &Predictor<'_>) -> f64 {
        let key = self.energy_key(p);
        let mut energy = match self.cache.energy {
            Some((k, energy)) if k == key => energy,
            _ => {
                self.ensure_xw(p);
                let table = self.weight_table(p);
                let (mut sums, mut energy) = (Mat::new(), 0.0);
                for start in (0..self.values.nrows()).step_by(SAMPLE_BLOCK) {
                    let samples = start..(start + SAMPLE_BLOCK).min(self.values.nrows());
                    sums = self.sample_sums(&table, samples.clone(), sums);
                    energy += self.sample_energy(samples, &sums, p);
                }
                self.cache.energy = Some((key, energy));
                energy
            }
        };
        for d in 0..self.counts.len() {
            let b = p.bias.mean()[d];
            energy += self.tau(d)
                * (self.squares[d] + self.hidden_variance(d) - 2.0 * b * self.sums[d]
                    + self.counts[d] * (b * b + p.bias.variance()[d]));
        }
        energy
    }
}

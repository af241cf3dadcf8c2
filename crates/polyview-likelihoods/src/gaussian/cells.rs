//! Views with cells missing in any pattern, integrated out (spec/sshiba 2.5).

// kernels are compiled for several instruction sets only where they are inlined
#![allow(clippy::inline_always)]

use std::ops::Range;

use polyview_core::{Mask, NormalEquations, Predictor, SAMPLE_BLOCK, Stamp};
use polyview_linalg::simd::{Kernel, dispatch, mul_add};
use polyview_linalg::{MatRef, ScratchMat, add_masked_sums, masked_sums_of, packed_len};

use super::Gaussian;

/// Features whose sums over the samples, or whose part of the samples' sums,
/// are made together: many share the look-up tables of the sums, yet their
/// moments are few beside the data.
const FEATURES: usize = 1024;

/// Features whose moments are in one table where it is made anew for every
/// block of samples: a multiple of the rows that the look-up of sums takes
/// together.
const TABLE_FEATURES: usize = 320;

/// As [`TABLE_FEATURES`], where so few cells are observed that sums are made cell by cell: their
/// moments stay in the first-level cache.
const FEW_TABLE_FEATURES: usize = 128;

/// Features whose right-hand sides are made together.
const TILE: usize = 64;

/// For some features the sums of the factors' moment table over the observed
/// samples of each.
#[derive(Clone, Debug)]
pub(super) struct Observed {
    factors: Stamp,
    columns: Range<usize>,
    sums: ScratchMat,
}

impl Observed {
    fn column(&self, feature: usize) -> &[f64] {
        self.sums.col(feature - self.columns.start)
    }
}

/// Expected squared residuals of the features, and what they belong to.
#[derive(Clone, Debug, Default)]
pub(super) struct Residuals {
    key: Option<[Stamp; 4]>,
    values: Vec<f64>,
}

/// A pass over the samples, block by block.
#[derive(Clone, Debug)]
pub(super) struct SamplePass {
    /// See [`Gaussian::weight_table`]; of all features or of the latest.
    table: ScratchMat,
    /// Features of the table.
    features: Range<usize>,
    /// Samples of the current block.
    rows: Range<usize>,
    /// Whether their sums have been made ahead of their equations.
    prepared: bool,
    /// Sums of the table over the observed features of each of them.
    sums: ScratchMat,
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

/// Adds the features' sums, each times its noise precision, to their own precisions.
struct AddScaled<'a, F> {
    sums: MatRef<'a, f64>,
    /// Column of the first feature.
    first: usize,
    tau: F,
    own: &'a mut [f64],
    /// Numbers of a precision.
    length: usize,
}

impl<F: Fn(usize) -> f64> Kernel for AddScaled<'_, F> {
    #[inline(always)]
    fn run<const FUSED: bool>(self) {
        for (i, own) in self.own.chunks_exact_mut(self.length.max(1)).enumerate() {
            let tau = (self.tau)(i);
            let sums = self.sums.col(self.first + i);
            match sums.try_as_col_major() {
                Some(sums) => {
                    for (to, x) in own.iter_mut().zip(sums.as_slice()) {
                        *to = mul_add::<FUSED>(tau, *x, *to);
                    }
                }
                None => {
                    for (to, x) in own.iter_mut().zip(sums.iter()) {
                        *to = mul_add::<FUSED>(tau, *x, *to);
                    }
                }
            }
        }
    }
}

impl SamplePass {
    fn new() -> Self {
        Self {
            table: ScratchMat::default(),
            features: 0..0,
            rows: 0..0,
            prepared: false,
            sums: ScratchMat::default(),
            energy: 0.0,
            done: 0,
        }
    }
}

impl Gaussian {
    /// Groups of features that are summed together: as equal as blocks of
    /// `column_block` allow.
    fn feature_groups(&self) -> usize {
        let (rows, features) = self.values.shape();
        let unit = polyview_core::own_column_block(rows);
        let groups = features.div_ceil(FEATURES).max(1);
        features.div_ceil(groups).max(1).next_multiple_of(unit)
    }
    /// Sums of the factors' moment table over the observed samples of each
    /// feature: $\sum\_{n\in O\_d}\langle z\_n^\top z\_n\rangle$ and
    /// $\sum\_{n\in O\_d}\langle z\_n\rangle$ (U2m, U3m). Made for the group of
    /// features that `columns` are in.
    pub(super) fn ensure_observed(&mut self, columns: &Range<usize>, p: &Predictor<'_>) {
        let Mask::Cells { by_feature, .. } = &self.mask else {
            return;
        };
        let factors = p.factors.stamp();
        if matches!(&self.cache.observed, Some(o) if o.factors == factors
            && o.columns.start <= columns.start && columns.end <= o.columns.end)
        {
            return;
        }
        let group = self.feature_groups();
        let columns = columns.start / group * group
            ..columns.end.next_multiple_of(group).min(self.values.ncols());
        let table = p.factors.moment_table();
        let shape = (table.nrows(), columns.len());
        let mut sums = match self.cache.observed.take() {
            Some(o) if o.sums.shape() == shape => o.sums,
            old => {
                // it goes first
                drop(old);
                ScratchMat::zeros(shape.0, shape.1)
            }
        };
        masked_sums_of(by_feature, columns.clone(), table.as_ref(), sums.as_mut());
        self.cache.observed = Some(Observed {
            factors,
            columns,
            sums,
        });
    }
    /// $\sum\_{n\in O\_d}\langle z\_n\rangle$.
    pub(super) fn observed_sum(&self, column: usize) -> &[f64] {
        match &self.cache.observed {
            Some(o) => {
                let k = Self::factors_of(o.sums.nrows());
                &o.column(column)[o.sums.nrows() - k..]
            }
            None => &[],
        }
    }
    /// $\sum\_{n\in O\_d}\langle z\_n\rangle w\_d^\top$ of some features.
    pub(super) fn observed_fit(&self, columns: Range<usize>, p: &Predictor<'_>) -> Vec<f64> {
        let Some(o) = &self.cache.observed else {
            return vec![0.0; columns.len()];
        };
        let k = p.weights.k();
        let sums = (o.sums.as_ref()).submatrix(
            o.sums.nrows() - k,
            columns.start - o.columns.start,
            k,
            columns.len(),
        );
        p.weights.row_products(columns, sums)
    }
    /// K from K(K+1)/2 + K = K(K+3)/2.
    fn factors_of(rows: usize) -> usize {
        let root = ((9 + 8 * rows) as f64).sqrt();
        ((root - 3.0) / 2.0).round() as usize
    }
    /// U2m: own precision and right-hand side of each feature.
    pub(super) fn cells_weights(&mut self, p: &Predictor<'_>, eq: &mut NormalEquations) {
        let (k, columns) = (eq.k(), eq.rows());
        self.ensure_observed(&columns, p);
        let Some(observed) = &self.cache.observed else {
            return;
        };
        let own = eq.packed_mut();
        dispatch(AddScaled {
            sums: observed.sums.as_ref(),
            first: columns.start - observed.columns.start,
            tau: |i| self.tau(columns.start + i),
            own: own.as_mut_slice(),
            length: packed_len(k),
        });
        let mut linear = vec![0.0; TILE * k];
        for start in (0..columns.len()).step_by(TILE) {
            let rows = TILE.min(columns.len() - start);
            for i in 0..rows {
                let d = columns.start + start + i;
                let (tau, b, sum) = (self.tau(d), self.level(p, d), self.observed_sum(d));
                let cells = linear[i * k..(i + 1) * k].iter_mut().zip(self.zx_column(d));
                for ((to, zx), sum) in cells.zip(sum) {
                    *to = tau * (zx - b * sum);
                }
            }
            for j in 0..k {
                let column = &mut eq.rhs.col_as_slice_mut(j)[start..start + rows];
                for (to, x) in column.iter_mut().zip(linear[j..].iter().step_by(k)) {
                    *to += x;
                }
            }
        }
    }
    /// Expected squared residual over the observed cells of each column (U6m).
    pub(super) fn cells_residuals(&mut self, columns: Range<usize>, p: &Predictor<'_>) -> Vec<f64> {
        if self.cache.residuals.key == Some(self.residual_key(p)) {
            return self.cache.residuals.values[columns].to_vec();
        }
        let mut out = Vec::with_capacity(columns.len());
        let group = self.feature_groups();
        let mut start = columns.start;
        while start < columns.end {
            let end = (start / group + 1) * group;
            let part = start..end.min(columns.end);
            start = part.end;
            out.extend(self.residuals_of(&part, p));
        }
        out
    }
    /// Residuals of features of one group.
    fn residuals_of(&mut self, columns: &Range<usize>, p: &Predictor<'_>) -> Vec<f64> {
        self.ensure_zx_of(columns, p);
        self.ensure_observed(columns, p);
        let k = p.weights.k();
        let Some(observed) = &self.cache.observed else {
            return Vec::new();
        };
        let sums = observed.sums.as_ref();
        let sums = sums.subcols(columns.start - observed.columns.start, columns.len());
        let with_sums = |d: usize, line: &mut [f64]| {
            let level = self.level(p, d);
            let sum = &observed.column(d)[packed_len(k)..];
            for ((to, zx), sum) in line.iter_mut().zip(self.zx_column(d)).zip(sum) {
                *to = 2.0 * (level * sum - zx);
            }
        };
        let energies = p.weights.own_energies(columns.clone(), sums, with_sums);
        let all = columns.clone().zip(energies);
        all.map(|(d, energy)| {
            let b = p.bias.mean()[d];
            self.squares[d] + self.hidden_variance(d) - 2.0 * b * self.sums[d]
                + energy
                + self.counts[d] * (b * b + p.bias.variance()[d])
        })
        .collect()
    }
    /// What the residuals depend on.
    fn residual_key(&self, p: &Predictor<'_>) -> [Stamp; 4] {
        let (factors, weights) = (p.factors.stamp(), p.weights.stamp());
        [factors, weights, p.bias.stamp(), self.data_stamp]
    }
    /// Residuals of features that the pass is done with, while what they are
    /// made of is there.
    pub(super) fn cells_keep_residuals(&mut self, columns: &Range<usize>, p: &Predictor<'_>) {
        self.cache.residuals.key = None;
        let part = self.residuals_of(columns, p);
        let values = &mut self.cache.residuals.values;
        values.resize(self.counts.len(), 0.0);
        values[columns.clone()].copy_from_slice(&part);
        if columns.end == self.counts.len() {
            self.cache.residuals.key = Some(self.residual_key(p));
        }
    }
    /// Ends a pass over the features: what belongs to single features goes.
    pub(super) fn cells_seal_columns(&mut self) {
        self.cache.observed = None;
        self.cache.zx = None;
    }
    /// What the samples' sums are made of (U1m): for each feature
    /// $\tau\_d\langle w\_d^\top w\_d\rangle$ and $\tau\_d b\_d w\_d$.
    fn weight_table(&self, features: &Range<usize>, p: &Predictor<'_>, table: &mut ScratchMat) {
        let k = p.weights.k();
        let shape = (packed_len(k) + k, features.len());
        if table.shape() != shape {
            // the old one goes first
            *table = ScratchMat::default();
            *table = ScratchMat::zeros(shape.0, shape.1);
        }
        p.weights.write_moment_table(
            features.clone(),
            |d| {
                let tau = self.tau(d);
                (tau, tau * self.level(p, d))
            },
            table.as_mut(),
        );
    }
    /// Whether the moments of all features stay in one table for the whole pass:
    /// where that is little beside the data.
    fn keeps_table(&self, k: usize) -> bool {
        12 * (packed_len(k) + k) <= self.values.nrows()
    }
    /// Sums of the weight table over the observed features of some samples.
    fn sample_sums(&self, pass: &mut SamplePass, samples: Range<usize>, p: &Predictor<'_>) {
        let (k, features) = (p.weights.k(), self.values.ncols());
        let shape = (packed_len(k) + k, samples.len());
        if pass.sums.shape() == shape {
            pass.sums.fill(0.0);
        } else {
            pass.sums = ScratchMat::zeros(shape.0, shape.1);
        }
        pass.rows = samples.clone();
        let Mask::Cells { by_sample, .. } = &self.mask else {
            return;
        };
        let keeps = self.keeps_table(k);
        let width = match (keeps, self.few) {
            (true, _) => features.max(1),
            (false, true) => FEW_TABLE_FEATURES,
            (false, false) => TABLE_FEATURES,
        };
        for start in (0..features).step_by(width) {
            let group = start..(start + width).min(features);
            if pass.features != group {
                self.weight_table(&group, p, &mut pass.table);
                pass.features = group.clone();
            }
            let mask = by_sample.part(group, samples.clone());
            add_masked_sums(&mask, pass.table.as_ref(), pass.sums.as_mut());
        }
        if !keeps {
            // another view's table may have its place
            pass.table = ScratchMat::default();
            pass.features = 0..0;
        }
    }
    /// Gets ready for a pass over the samples.
    pub(super) fn cells_factor_gram(&mut self, p: &Predictor<'_>) {
        // the features' sums belong to factors that are about to change
        self.cache.observed = None;
        self.ensure_xw(p);
        self.cache.pass = Some(SamplePass::new());
    }
    /// The sums that the equations of some samples are made of.
    pub(super) fn cells_prepare(&mut self, samples: Range<usize>, p: &Predictor<'_>) {
        if self.cache.pass.is_none() {
            self.cells_factor_gram(p);
        }
        if let Some(mut pass) = self.cache.pass.take() {
            self.sample_sums(&mut pass, samples, p);
            pass.prepared = true;
            self.cache.pass = Some(pass);
        }
    }
    /// U1m: own precision and right-hand side of each sample.
    pub(super) fn cells_factors(&mut self, p: &Predictor<'_>, eq: &mut NormalEquations) {
        let ready = |pass: &SamplePass| pass.prepared && pass.rows == eq.rows();
        if !self.cache.pass.as_ref().is_some_and(ready) {
            self.cells_prepare(eq.rows(), p);
        }
        self.ensure_xw(p);
        let Some(mut pass) = self.cache.pass.take() else {
            return;
        };
        pass.prepared = false;
        if let Some((_, xw)) = &self.cache.xw {
            let (k, start, tau) = (eq.k(), eq.rows().start, self.common_tau());
            let len = packed_len(k);
            let rows = eq.rows().len();
            let packed = eq.packed_mut();
            for i in 0..rows {
                for (g, s) in packed.row_mut(i).iter_mut().zip(pass.sums.col(i)) {
                    *g += s;
                }
            }
            for i in 0..rows {
                let sums = &pass.sums.col(i)[len..];
                for (j, sum) in sums.iter().enumerate() {
                    eq.rhs[(i, j)] += tau * xw[(start + i, j)] - sum;
                }
            }
        }
        self.cache.pass = Some(pass);
    }
    /// What the factors of some samples add to the energy:
    /// $\mathrm{tr}(\langle z\_n^\top z\_n\rangle P\_n) - 2 z\_n\\,\mathrm{rhs}\_n$.
    fn sample_energy(&self, samples: Range<usize>, sums: &ScratchMat, p: &Predictor<'_>) -> f64 {
        let Some((_, xw)) = &self.cache.xw else {
            return 0.0;
        };
        let (k, tau) = (p.factors.k(), self.common_tau());
        let (len, first) = (packed_len(k), samples.start);
        let linear = |n: usize, line: &mut [f64]| {
            let sums = &sums.col(n - first)[len..];
            for (j, (to, sum)) in line.iter_mut().zip(sums).enumerate() {
                *to = 2.0 * (sum - tau * xw[(n, j)]);
            }
        };
        let parts = p.factors.own_energies(samples, sums.as_ref(), linear);
        parts.iter().sum()
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
                let (mut pass, mut energy) = (SamplePass::new(), 0.0);
                for start in (0..self.values.nrows()).step_by(SAMPLE_BLOCK) {
                    let samples = start..(start + SAMPLE_BLOCK).min(self.values.nrows());
                    self.sample_sums(&mut pass, samples.clone(), p);
                    energy += self.sample_energy(samples, &pass.sums, p);
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

//! Weighted second moments of factors and of weights: all rows in one product
//! a block of columns.

use std::ops::Range;

use polyview_core::{Predictor, Stamp};
use polyview_linalg::{
    Accum, Mat, MatMut, MatRef, column_chunks, cross_into, each_of, packed_len, sum, times,
};

use super::{CellLikelihood, Cells, ColumnSites};

/// Sums that stay valid as long as their stamps do.
#[derive(Clone, Debug, Default)]
pub(super) struct Cache {
    /// $\sum\_n\omega\_{nd}$, $\sum\_n h\_{nd}$ and $\sum\_n c\_{nd}$ of each
    /// column; complete whenever one of the two sides is.
    pub(super) columns: Vec<(f64, f64, f64)>,
    /// $\sum c\_{nd}$ with the stamp of the local numbers.
    pub(super) offset: Option<(Stamp, f64)>,
    /// For the weights.
    pub(super) weights: Option<WeightSums>,
    /// For the factors.
    pub(super) factors: Option<FactorSums>,
    /// Sites of the last block of columns.
    sites: Option<SiteBlock>,
    /// Whether a site was made from what is not finite.
    pub(super) spoilt: bool,
}

/// What the weights need of the factors.
#[derive(Clone, Debug)]
pub(super) struct WeightSums {
    /// Stamps of factors and local numbers.
    key: (Stamp, Stamp),
    /// Columns made so far, from the first.
    filled: usize,
    /// $\sum\_n\omega\_{nd}[\langle z\_n^\top z\_n\rangle; \langle z\_n\rangle]$,
    /// (packed K × K, then K) × columns.
    pub(super) sums: Mat<f64>,
    /// $\sum\_n h\_{nd}\langle z\_n\rangle$, K × columns.
    pub(super) linear: Mat<f64>,
}

/// What the factors need of the weights.
#[derive(Clone, Debug)]
pub(super) struct FactorSums {
    /// Stamps of weights, intercepts and local numbers; `None` while it is
    /// being summed.
    key: Option<(Stamp, Stamp, Stamp)>,
    /// Columns summed so far, from the first.
    filled: usize,
    /// $\sum\_d\omega\_{nd}[\langle w\_d^\top w\_d\rangle; b\_d\langle w\_d\rangle]$,
    /// (packed K × K, then K) × samples.
    pub(super) sums: Mat<f64>,
    /// $\sum\_d h\_{nd}\langle w\_d\rangle$, samples × K.
    pub(super) linear: Mat<f64>,
}

/// Columns whose sites are made and summed by one task: with what they are made
/// from and summed with they stay in the cache of a core.
pub(super) const TASK: usize = 32;

/// ω and h of a block of columns, samples × columns, column after column.
#[derive(Clone, Debug)]
struct SiteBlock {
    stamp: Stamp,
    columns: Range<usize>,
    precision: Vec<f64>,
    linear: Vec<f64>,
}

impl SiteBlock {
    fn matrix<'a>(&self, cells: &'a [f64]) -> MatRef<'a, f64> {
        let columns = self.columns.len();
        MatRef::from_column_major_slice(cells, cells.len() / columns.max(1), columns)
    }
    fn precision(&self) -> MatRef<'_, f64> {
        self.matrix(&self.precision)
    }
    fn linear(&self) -> MatRef<'_, f64> {
        self.matrix(&self.linear)
    }
}

/// Some columns of a block and where their sums for the weights go, if they are
/// wanted.
struct Task<'a> {
    columns: Range<usize>,
    precision: &'a mut [f64],
    linear: &'a mut [f64],
    sums: Option<[MatMut<'a, f64>; 2]>,
}

/// A matrix of that shape, whatever is in it.
fn of_shape(old: Option<Mat<f64>>, rows: usize, columns: usize) -> Mat<f64> {
    match old {
        Some(m) if m.shape() == (rows, columns) => m,
        old => {
            // it goes first
            drop(old);
            Mat::zeros(rows, columns)
        }
    }
}

impl<L: CellLikelihood> Cells<L> {
    /// Takes the sites of these columns out of the cache, if they are there and
    /// those of the current local numbers.
    fn take_sites(&mut self, columns: &Range<usize>) -> Option<SiteBlock> {
        let current = |b: &SiteBlock| b.stamp == self.stamp && b.columns == *columns;
        if self.cache.sites.as_ref().is_some_and(current) {
            self.cache.sites.take()
        } else {
            None
        }
    }
    /// Makes the sites of a block of columns, and their sums for the weights
    /// while they are in cache.
    fn make_sites(
        &mut self,
        columns: &Range<usize>,
        p: &Predictor<'_>,
        sums: Option<[MatMut<'_, f64>; 2]>,
    ) -> SiteBlock {
        let rows = self.data.rows();
        let cells = rows * columns.len();
        let (mut precision, mut linear) = match self.cache.sites.take() {
            Some(b) if b.precision.len() == cells => (b.precision, b.linear),
            old => {
                // it goes first
                drop(old);
                (vec![0.0; cells], vec![0.0; cells])
            }
        };
        let mut outputs: Vec<Option<[MatMut<'_, f64>; 2]>> = match sums {
            Some([sums, linear]) => column_chunks(sums, TASK)
                .into_iter()
                .zip(column_chunks(linear, TASK))
                .map(|(sums, linear)| Some([sums, linear]))
                .collect(),
            None => Vec::new(),
        };
        outputs.resize_with(columns.len().div_ceil(TASK), || None);
        let chunk = (rows * TASK).max(1);
        let tasks: Vec<Task<'_>> = precision
            .chunks_mut(chunk)
            .zip(linear.chunks_mut(chunk))
            .zip(outputs)
            .enumerate()
            .map(|(i, ((precision, linear), sums))| {
                let start = columns.start + i * TASK;
                Task {
                    columns: start..(start + TASK).min(columns.end),
                    precision,
                    linear,
                    sums,
                }
            })
            .collect();
        let this = &*self;
        let done = each_of(tasks, |_, task| this.carry_out(task, p));
        let spoilt = done.iter().any(|(finite, _)| !finite);
        let totals: Vec<(f64, f64, f64)> = done.into_iter().flat_map(|(_, sums)| sums).collect();
        self.cache.spoilt |= spoilt;
        self.cache
            .columns
            .resize(self.data.columns(), (0.0, 0.0, 0.0));
        self.cache.columns[columns.clone()][..totals.len()].copy_from_slice(&totals);
        SiteBlock {
            stamp: self.stamp,
            columns: columns.clone(),
            precision,
            linear,
        }
    }
    /// Whether all that the sites are made from is finite, and the sums of ω, h
    /// and c of each column.
    fn carry_out(&self, task: Task<'_>, p: &Predictor<'_>) -> (bool, Vec<(f64, f64, f64)>) {
        let rows = self.data.rows();
        let locals = self.locals_of(&task.columns, Some(p));
        let mut offset = vec![0.0; rows];
        let columns = task
            .precision
            .chunks_mut(rows.max(1))
            .zip(task.linear.chunks_mut(rows.max(1)));
        let totals = columns
            .zip(task.columns.clone())
            .enumerate()
            .map(|(j, ((precision, linear), d))| {
                let (data, local) = (self.data.column(d), locals.column(j));
                let out = ColumnSites {
                    precision: &mut *precision,
                    linear: &mut *linear,
                    offset: &mut offset,
                };
                self.evaluate_column(data.all(), local, out);
                for x in [&mut *precision, linear, &mut offset] {
                    data.clear_missing(x);
                    if let Some(weights) = &self.weights {
                        for (n, x) in x.iter_mut().enumerate() {
                            *x *= weights.of(n, d);
                        }
                    }
                }
                let constant = if self.drawn {
                    0.0
                } else {
                    self.datum_offset(d)
                };
                (sum(precision), sum(linear), sum(&offset) + constant)
            })
            .collect();
        if let Some([sums, linear]) = task.sums {
            let width = task.columns.len();
            let omega = MatRef::from_column_major_slice(task.precision, rows, width);
            let h = MatRef::from_column_major_slice(task.linear, rows, width);
            let table = p.factors.moment_table().as_ref();
            cross_into(sums, table.transpose(), omega, Accum::Replace);
            cross_into(linear, p.factors.mean(), h, Accum::Replace);
        }
        (locals.finite, totals)
    }
    /// Makes sure that the columns up to `end` are summed over the current
    /// factors: $\sum\_n\omega\_{nd}\langle z\_n^\top z\_n\rangle$ for a whole
    /// block of columns is one product with the factors' moment table.
    pub(super) fn ensure_weight_sums(&mut self, end: usize, p: &Predictor<'_>) {
        let (k, columns) = (p.factors.k(), self.data.columns());
        let key = (p.factors.stamp(), self.stamp);
        let len = packed_len(k) + k;
        let mut side = match self.cache.weights.take() {
            Some(s) if s.key == key => s,
            old => {
                let (sums, linear) = old.map(|s| (s.sums, s.linear)).unzip();
                WeightSums {
                    key,
                    filled: 0,
                    sums: of_shape(sums, len, columns),
                    linear: of_shape(linear, k, columns),
                }
            }
        };
        if side.filled < end {
            for block in self.blocks() {
                if block.end <= side.filled || block.start >= end {
                    continue;
                }
                let [sums, linear] = [&mut side.sums, &mut side.linear]
                    .map(|m| m.as_mut().subcols_mut(block.start, block.len()));
                let sites = match self.take_sites(&block) {
                    Some(sites) => {
                        let table = p.factors.moment_table().as_ref();
                        cross_into(sums, table.transpose(), sites.precision(), Accum::Replace);
                        cross_into(linear, p.factors.mean(), sites.linear(), Accum::Replace);
                        sites
                    }
                    None => self.make_sites(&block, p, Some([sums, linear])),
                };
                side.filled = block.end;
                self.cache.sites = Some(sites);
            }
        }
        self.cache.weights = Some(side);
    }
    /// Whether the sums by column are those of the current local numbers.
    pub(super) fn has_column_sums(&self) -> bool {
        let columns = self.data.columns();
        let weights = self.cache.weights.as_ref();
        let factors = self.cache.factors.as_ref();
        weights.is_some_and(|s| s.key.1 == self.stamp && s.filled == columns)
            || factors.is_some_and(|s| s.key.is_some_and(|k| k.2 == self.stamp))
    }
    fn factor_key(&self, p: &Predictor<'_>) -> (Stamp, Stamp, Stamp) {
        (p.weights.stamp(), p.bias.stamp(), self.stamp)
    }
    /// Whether the sums for the factors fit weights, intercepts and local
    /// numbers.
    pub(super) fn has_factor_sums(&self, p: &Predictor<'_>) -> bool {
        let key = self.factor_key(p);
        matches!(&self.cache.factors, Some(s) if s.key == Some(key))
    }
    /// Adds some columns to the sums for the factors; the first column starts
    /// them anew.
    pub(super) fn add_factor_sums(&mut self, columns: Range<usize>, p: &Predictor<'_>) {
        let (k, rows) = (p.weights.k(), self.data.rows());
        let len = packed_len(k);
        let mut side = match self.cache.factors.take() {
            Some(s) if columns.start > 0 && s.key.is_none() && s.filled == columns.start => s,
            old => {
                let (sums, linear) = old.map(|s| (s.sums, s.linear)).unzip();
                FactorSums {
                    key: None,
                    filled: 0,
                    sums: of_shape(sums, len + k, rows),
                    linear: of_shape(linear, rows, k),
                }
            }
        };
        if side.filled != columns.start {
            // columns are missing before these: `finish` will see it
            return;
        }
        let accum = if columns.start == 0 {
            Accum::Replace
        } else {
            Accum::Add
        };
        let w = p.weights.mean().subrows(columns.start, columns.len());
        let second = p.weights.second_moment_rows(columns.clone());
        let mut table: Mat<f64> = Mat::zeros(len + k, columns.len());
        for (j, d) in columns.clone().enumerate() {
            let column = table.col_as_slice_mut(j);
            column[..len].copy_from_slice(second.row(j));
            for (i, x) in column[len..].iter_mut().enumerate() {
                *x = p.bias.mean()[d] * w[(j, i)];
            }
        }
        let sites = match self.take_sites(&columns) {
            Some(sites) => sites,
            None => self.make_sites(&columns, p, None),
        };
        cross_into(
            side.sums.as_mut(),
            table.as_ref().transpose(),
            sites.precision().transpose(),
            accum,
        );
        times(sites.linear(), w, side.linear.as_mut(), accum);
        side.filled = columns.end;
        self.cache.sites = Some(sites);
        self.cache.factors = Some(side);
    }
    /// Marks the sums for the factors as those of the current weights and
    /// intercepts, if no column is missing.
    pub(super) fn finish_factor_sums(&mut self, p: &Predictor<'_>) {
        let key = self.factor_key(p);
        let columns = self.data.columns();
        if let Some(side) = &mut self.cache.factors
            && side.filled == columns
            && side.key.is_none()
        {
            side.key = Some(key);
        }
    }
    /// Makes sure that the sums for the factors fit.
    pub(super) fn ensure_factor_sums(&mut self, p: &Predictor<'_>) {
        if !self.has_factor_sums(p) {
            for block in self.blocks() {
                self.add_factor_sums(block, p);
            }
            self.finish_factor_sums(p);
        }
    }
}

//! Weighted second moments of factors and of weights: all rows in one product
//! a block of columns.

use std::ops::Range;

use polyview_core::{Predictor, Stamp};
use polyview_linalg::{Accum, Mat, cross, cross_into, packed_len, times};
use rayon::prelude::*;

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

/// ω and h of a block of columns, samples × columns.
#[derive(Clone, Debug)]
struct SiteBlock {
    stamp: Stamp,
    columns: Range<usize>,
    precision: Mat<f64>,
    linear: Mat<f64>,
}

fn zeros_like(old: Option<Mat<f64>>, rows: usize, columns: usize) -> Mat<f64> {
    match old {
        Some(mut m) if m.shape() == (rows, columns) => {
            m.fill(0.0);
            m
        }
        _ => Mat::zeros(rows, columns),
    }
}

impl<L: CellLikelihood> Cells<L> {
    /// Takes the sites of these columns out of the cache, made anew where they
    /// are others.
    fn take_sites(&mut self, columns: &Range<usize>, p: &Predictor<'_>) -> SiteBlock {
        let old = self.cache.sites.take();
        let rows = self.data.rows();
        let mut block = match old {
            Some(b) if b.stamp == self.stamp && b.columns == *columns => return b,
            Some(b) if b.precision.ncols() == columns.len() => b,
            _ => SiteBlock {
                stamp: self.stamp,
                columns: columns.clone(),
                precision: Mat::zeros(rows, columns.len()),
                linear: Mat::zeros(rows, columns.len()),
            },
        };
        block.stamp = self.stamp;
        block.columns = columns.clone();
        let this = &*self;
        let locals = this.locals_of(columns, Some(p));
        let spoilt = !locals.finite;
        let sums: Vec<(f64, f64, f64)> = block
            .precision
            .as_mut()
            .par_col_chunks_mut(1)
            .zip(block.linear.as_mut().par_col_chunks_mut(1))
            .enumerate()
            .map(|(j, (mut precision, mut linear))| {
                let (data, local) = (this.data.column(columns.start + j), locals.column(j));
                let [mut omega, mut h, mut c] = [(); 3].map(|()| vec![0.0; rows]);
                let out = ColumnSites {
                    precision: &mut omega,
                    linear: &mut h,
                    offset: &mut c,
                };
                this.evaluate_column(data.all(), local, out);
                for x in [&mut omega, &mut h, &mut c] {
                    data.clear_missing(x);
                    if let Some(weights) = &this.weights {
                        for (n, x) in x.iter_mut().enumerate() {
                            *x *= weights.of(n, columns.start + j);
                        }
                    }
                }
                for n in 0..rows {
                    precision[(n, 0)] = omega[n];
                    linear[(n, 0)] = h[n];
                }
                let sum = |x: &[f64]| x.iter().sum();
                (sum(&omega), sum(&h), sum(&c))
            })
            .collect();
        drop(locals);
        self.cache.spoilt |= spoilt;
        self.cache
            .columns
            .resize(self.data.columns(), (0.0, 0.0, 0.0));
        self.cache.columns[columns.clone()].copy_from_slice(&sums);
        block
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
                    sums: zeros_like(sums, len, columns),
                    linear: zeros_like(linear, k, columns),
                }
            }
        };
        if side.filled < end {
            let table = p.factors.moment_table().as_ref();
            for block in self.blocks() {
                if block.end <= side.filled || block.start >= end {
                    continue;
                }
                let sites = self.take_sites(&block, p);
                let to = |m: &mut Mat<f64>, from: &Mat<f64>| {
                    m.as_mut()
                        .subcols_mut(block.start, block.len())
                        .copy_from(from);
                };
                let sums = cross(table.transpose(), sites.precision.as_ref());
                to(&mut side.sums, &sums);
                let linear = cross(p.factors.mean(), sites.linear.as_ref());
                to(&mut side.linear, &linear);
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
                    sums: zeros_like(sums, len + k, rows),
                    linear: zeros_like(linear, rows, k),
                }
            }
        };
        if side.filled != columns.start {
            // columns are missing before these: `finish` will see it
            return;
        }
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
        let sites = self.take_sites(&columns, p);
        cross_into(
            side.sums.as_mut(),
            table.as_ref().transpose(),
            sites.precision.as_ref().transpose(),
            Accum::Add,
        );
        times(sites.linear.as_ref(), w, side.linear.as_mut(), Accum::Add);
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

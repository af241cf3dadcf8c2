//! K-dimensional Gaussian rows: the factors (N rows) or the weights of one
//! view (D rows).

use std::ops::Range;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering};

use polyview_linalg::faer::prelude::ReborrowMut;
use polyview_linalg::{
    Mat, MatMut, MatRef, PackedRows, SpdFactor, SymPacked, gram, packed_dot, packed_index,
    packed_len, packed_quad,
};

use rayon::prelude::*;

use super::basis;
use super::state::{State, StateArray, StateReader};
use crate::error::NumericError;

static STAMPS: AtomicU64 = AtomicU64::new(1);

/// Marks one state of a block. Two equal stamps mean that nothing changed in
/// between, so whatever was computed from the block is still valid.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Stamp(u64);

impl Stamp {
    /// A stamp that no other block state has had or will have.
    pub fn fresh() -> Self {
        Self(STAMPS.fetch_add(1, Ordering::Relaxed))
    }
}

/// Covariances of the rows of a [`RowMoments`].
#[derive(Clone, Debug, PartialEq)]
pub enum RowCov {
    /// The rows are known exactly: a draw, or a fixed value.
    Zero,
    /// One covariance for all rows.
    Shared(SymPacked),
    /// $S\_r = V\\,\mathrm{diag}(\rho\_r)\\,V^\top$: common vectors, own
    /// scales (spec/sshiba 2.6).
    Basis {
        /// $V$, K × J. J = K after an update; more after columns of the rows
        /// were dropped.
        vectors: Mat<f64>,
        /// $\rho$, rows × J.
        scales: Mat<f64>,
    },
    /// Rows of one missingness pattern share a covariance.
    Patterns {
        /// One covariance a pattern.
        cov: PackedRows,
        /// Pattern of each row.
        of_row: Vec<u32>,
    },
    /// One covariance a row.
    PerRow(PackedRows),
    /// Independent entries: variances, rows × K.
    Diagonal(Mat<f64>),
}

/// First and second moments of a block of K-dimensional Gaussian rows.
///
/// Besides the explicit rows of the mean there may be *implicit* rows: rows
/// whose mean is exactly zero and whose covariance is the shared one. They
/// stand for the directions that a compressed data set no longer spells out
/// and count in every sum.
#[derive(Clone, Debug)]
pub struct RowMoments {
    mean: Mat<f64>,
    cov: RowCov,
    log_det: f64,
    implicit: usize,
    stamp: Stamp,
    table: OnceLock<Mat<f64>>,
    cov_total: OnceLock<SymPacked>,
}

impl RowMoments {
    /// Moments with the given mean (explicit rows × K), covariance and sum of
    /// the log-determinants over all rows.
    pub fn new(mean: Mat<f64>, cov: RowCov, log_det: f64, implicit: usize) -> Self {
        Self {
            mean,
            cov,
            log_det,
            implicit,
            stamp: Stamp::fresh(),
            table: OnceLock::new(),
            cov_total: OnceLock::new(),
        }
    }
    /// Rows known exactly.
    pub fn point(mean: Mat<f64>) -> Self {
        Self::new(mean, RowCov::Zero, 0.0, 0)
    }
    /// All rows with covariance `variance`·I.
    pub fn isotropic(mean: Mat<f64>, variance: f64, implicit: usize) -> Self {
        let k = mean.ncols();
        let mut cov = SymPacked::identity(k);
        cov.scale(variance);
        let rows = (mean.nrows() + implicit) as f64;
        Self::new(
            mean,
            RowCov::Shared(cov),
            rows * k as f64 * variance.ln(),
            implicit,
        )
    }

    /// Number of rows, implicit ones included.
    pub fn rows(&self) -> usize {
        self.mean.nrows() + self.implicit
    }
    /// Number of rows of [`RowMoments::mean`].
    pub fn explicit_rows(&self) -> usize {
        self.mean.nrows()
    }
    /// Number of implicit rows.
    pub fn implicit_rows(&self) -> usize {
        self.implicit
    }
    /// Number of columns (factors).
    pub fn k(&self) -> usize {
        self.mean.ncols()
    }
    /// Means, explicit rows × K.
    pub fn mean(&self) -> MatRef<'_, f64> {
        self.mean.as_ref()
    }
    /// Covariances.
    pub fn cov(&self) -> &RowCov {
        &self.cov
    }
    /// $\sum\_r \ln|S\_r|$ over all rows (0 for [`RowCov::Zero`]).
    pub fn log_det(&self) -> f64 {
        self.log_det
    }
    /// The stamp of this state.
    pub fn stamp(&self) -> Stamp {
        self.stamp
    }
    /// Gives write access to the parts; the stamp changes.
    pub fn parts_mut(&mut self) -> (&mut Mat<f64>, &mut RowCov, &mut f64) {
        self.changed();
        (&mut self.mean, &mut self.cov, &mut self.log_det)
    }

    /// Covariance of one explicit row, packed.
    pub fn row_cov(&self, row: usize) -> SymPacked {
        let k = self.k();
        let mut out = SymPacked::zeros(k);
        match &self.cov {
            RowCov::Zero => {}
            RowCov::Shared(s) => out.add_scaled(1.0, s),
            RowCov::Basis { vectors, scales } => {
                basis::covariance(vectors.as_ref(), |j| scales[(row, j)], out.as_mut_slice());
            }
            RowCov::Patterns { cov, of_row } => {
                out.as_mut_slice()
                    .copy_from_slice(cov.row(of_row[row] as usize));
            }
            RowCov::PerRow(cov) => out.as_mut_slice().copy_from_slice(cov.row(row)),
            RowCov::Diagonal(v) => {
                let d: Vec<f64> = (0..k).map(|j| v[(row, j)]).collect();
                out.add_diag(&d);
            }
        }
        out
    }

    /// Variance of one entry of an explicit row.
    pub fn variance(&self, row: usize, k: usize) -> f64 {
        let p = packed_index(k, k);
        match &self.cov {
            RowCov::Zero => 0.0,
            RowCov::Shared(s) => s.as_slice()[p],
            RowCov::Basis { vectors, scales } => (0..vectors.ncols())
                .map(|j| scales[(row, j)] * vectors[(k, j)] * vectors[(k, j)])
                .sum(),
            RowCov::Patterns { cov, of_row } => cov.row(of_row[row] as usize)[p],
            RowCov::PerRow(cov) => cov.row(row)[p],
            RowCov::Diagonal(v) => v[(row, k)],
        }
    }

    /// $\sum\_r t\_r S\_r$ over the explicit rows (`t` = 1 without weights),
    /// plus the implicit ones with weight 1 when there are no weights.
    pub fn cov_sum(&self, weights: Option<&[f64]>) -> SymPacked {
        match weights {
            None => self.cov_total.get_or_init(|| self.sum_cov(None)).clone(),
            Some(_) => self.sum_cov(weights),
        }
    }
    fn sum_cov(&self, weights: Option<&[f64]>) -> SymPacked {
        let (k, rows) = (self.k(), self.mean.nrows());
        let weight = |r: usize| weights.map_or(1.0, |t| t[r]);
        let total = || match weights {
            None => self.rows() as f64,
            Some(t) => t.iter().sum(),
        };
        let mut out = SymPacked::zeros(k);
        match &self.cov {
            RowCov::Zero => {}
            RowCov::Shared(s) => out.add_scaled(total(), s),
            RowCov::Basis { vectors, scales } => {
                let sums: Vec<f64> = (0..vectors.ncols())
                    .map(|j| (0..rows).map(|r| weight(r) * scales[(r, j)]).sum())
                    .collect();
                basis::covariance(vectors.as_ref(), |j| sums[j], out.as_mut_slice());
            }
            RowCov::Patterns { cov, of_row } => {
                let mut per = vec![0.0; cov.rows()];
                for (r, &p) in of_row.iter().enumerate() {
                    per[p as usize] += weight(r);
                }
                for (p, t) in per.iter().enumerate() {
                    axpy(*t, cov.row(p), out.as_mut_slice());
                }
            }
            RowCov::PerRow(cov) => match weights {
                None => out.add_scaled(1.0, &cov.sum()),
                Some(t) => {
                    for (r, t) in t.iter().enumerate() {
                        axpy(*t, cov.row(r), out.as_mut_slice());
                    }
                }
            },
            RowCov::Diagonal(v) => {
                let d: Vec<f64> = (0..k)
                    .map(|j| (0..rows).map(|r| weight(r) * v[(r, j)]).sum())
                    .collect();
                out.add_diag(&d);
            }
        }
        out
    }

    /// $\sum\_r t\_r \langle r^\top r\rangle$ (spec/sshiba M1, M2).
    pub fn second_moment(&self, weights: Option<&[f64]>) -> SymPacked {
        let mut out = self.cov_sum(weights);
        let outer = match weights {
            None => gram(self.mean.as_ref()),
            Some(t) => {
                let scaled = Mat::from_fn(self.mean.nrows(), self.k(), |r, j| {
                    t[r].max(0.0).sqrt() * self.mean[(r, j)]
                });
                gram(scaled.as_ref())
            }
        };
        out.add_scaled(1.0, &outer);
        out
    }

    /// $\langle r^\top r\rangle$ of each explicit row in `rows`, packed.
    pub fn second_moment_rows(&self, rows: Range<usize>) -> PackedRows {
        let k = self.k();
        let mut out = PackedRows::zeros(rows.len(), k);
        let mut mean = vec![0.0; k];
        for (i, r) in rows.enumerate() {
            self.copy_mean(r, &mut mean);
            self.second_moment_of(r, &mean, out.row_mut(i));
        }
        out
    }
    fn copy_mean(&self, row: usize, into: &mut [f64]) {
        for (j, x) in into.iter_mut().enumerate() {
            *x = self.mean[(row, j)];
        }
    }
    /// Packed $\langle r^\top r\rangle$ of one explicit row whose mean is
    /// `mean`; `cell` holds zeros or anything.
    fn second_moment_of(&self, r: usize, mean: &[f64], cell: &mut [f64]) {
        match &self.cov {
            RowCov::Zero => cell.fill(0.0),
            RowCov::Shared(s) => cell.copy_from_slice(s.as_slice()),
            RowCov::PerRow(cov) => cell.copy_from_slice(cov.row(r)),
            RowCov::Patterns { cov, of_row } => {
                cell.copy_from_slice(cov.row(of_row[r] as usize));
            }
            RowCov::Basis { vectors, scales } => {
                basis::covariance(vectors.as_ref(), |j| scales[(r, j)], cell);
            }
            RowCov::Diagonal(v) => {
                cell.fill(0.0);
                for j in 0..mean.len() {
                    cell[packed_index(j, j)] = v[(r, j)];
                }
            }
        }
        let mut rest = cell;
        for (a, x) in mean.iter().enumerate() {
            let (row, tail) = rest.split_at_mut(a + 1);
            for (c, y) in row.iter_mut().zip(mean) {
                *c += x * y;
            }
            rest = tail;
        }
    }

    /// $\mathrm{tr}(\langle r^\top r\rangle C)$ of one explicit row, `c`
    /// packed.
    pub fn row_energy(&self, row: usize, c: &[f64]) -> f64 {
        let k = self.k();
        let mut mean = vec![0.0; k];
        self.copy_mean(row, &mut mean);
        packed_quad(c, &mean)
            + match &self.cov {
                RowCov::Zero => 0.0,
                RowCov::Shared(s) => packed_dot(s.as_slice(), c, k),
                RowCov::Patterns { cov, of_row } => packed_dot(cov.row(of_row[row] as usize), c, k),
                RowCov::PerRow(cov) => packed_dot(cov.row(row), c, k),
                RowCov::Diagonal(v) => (0..k).map(|j| v[(row, j)] * c[packed_index(j, j)]).sum(),
                RowCov::Basis { .. } => packed_dot(self.row_cov(row).as_slice(), c, k),
            }
    }

    /// $\mathrm{tr}(\langle r^\top r\rangle C)$ of each explicit row in `rows`.
    pub fn row_energies(&self, rows: Range<usize>, c: &SymPacked) -> Vec<f64> {
        let k = self.k();
        let shared = match &self.cov {
            RowCov::Shared(s) => s.dot(c),
            _ => 0.0,
        };
        let by_pattern: Vec<f64> = match &self.cov {
            RowCov::Patterns { cov, .. } => (0..cov.rows())
                .map(|p| packed_dot(cov.row(p), c.as_slice(), k))
                .collect(),
            _ => Vec::new(),
        };
        let in_basis: Vec<f64> = match &self.cov {
            RowCov::Basis { vectors, .. } => (0..vectors.ncols())
                .map(|j| {
                    let v: Vec<f64> = (0..k).map(|i| vectors[(i, j)]).collect();
                    packed_quad(c.as_slice(), &v)
                })
                .collect(),
            _ => Vec::new(),
        };
        let full = c.to_mat();
        let block = self.mean.as_ref().subrows(rows.start, rows.len());
        let turned = polyview_linalg::times_small(block, full.as_ref());
        rows.enumerate()
            .map(|(i, r)| {
                let quad: f64 = (0..k).map(|j| turned[(i, j)] * self.mean[(r, j)]).sum();
                quad + match &self.cov {
                    RowCov::Zero => 0.0,
                    RowCov::Shared(_) => shared,
                    RowCov::Basis { scales, .. } => in_basis
                        .iter()
                        .enumerate()
                        .map(|(j, e)| scales[(r, j)] * e)
                        .sum(),
                    RowCov::Patterns { of_row, .. } => by_pattern[of_row[r] as usize],
                    RowCov::PerRow(cov) => packed_dot(cov.row(r), c.as_slice(), k),
                    RowCov::Diagonal(v) => (0..k).map(|j| v[(r, j)] * c.get(j, j)).sum(),
                }
            })
            .collect()
    }

    /// $\sum\_r t\_r\langle r\_k^2\rangle$ for each column (all rows,
    /// implicit ones with weight 1 when there are no weights).
    pub fn column_squares(&self, weights: Option<&[f64]>) -> Vec<f64> {
        let cov = self.cov_sum(weights);
        (0..self.k())
            .map(|k| {
                let means: f64 = (0..self.mean.nrows())
                    .map(|r| weights.map_or(1.0, |t| t[r]) * self.mean[(r, k)].powi(2))
                    .sum();
                means + cov.get(k, k)
            })
            .collect()
    }

    /// $\sum\_k c\_k\langle r\_k^2\rangle$ of each explicit row, one weight a
    /// column.
    pub fn row_squares(&self, weights: &[f64]) -> Vec<f64> {
        let (k, rows) = (self.k(), self.mean.nrows());
        let diagonal = |packed: &[f64]| -> f64 {
            (0..k)
                .map(|j| weights[j] * packed[packed_index(j, j)])
                .sum()
        };
        let mut out: Vec<f64> = match &self.cov {
            RowCov::Zero => vec![0.0; rows],
            RowCov::Shared(s) => vec![diagonal(s.as_slice()); rows],
            RowCov::Basis { vectors, scales } => {
                let mut out = vec![0.0; rows];
                for j in 0..vectors.ncols() {
                    let energy: f64 = (0..k).map(|i| weights[i] * vectors[(i, j)].powi(2)).sum();
                    axpy(energy, scales.col_as_slice(j), &mut out);
                }
                out
            }
            RowCov::Patterns { cov, of_row } => {
                let per: Vec<f64> = (0..cov.rows()).map(|p| diagonal(cov.row(p))).collect();
                of_row.iter().map(|&p| per[p as usize]).collect()
            }
            RowCov::PerRow(cov) => (0..rows).map(|r| diagonal(cov.row(r))).collect(),
            RowCov::Diagonal(v) => {
                let mut out = vec![0.0; rows];
                for j in 0..k {
                    axpy(weights[j], v.col_as_slice(j), &mut out);
                }
                out
            }
        };
        for j in 0..k {
            for (sum, x) in out.iter_mut().zip(self.mean.col_as_slice(j)) {
                *sum += weights[j] * x * x;
            }
        }
        out
    }

    /// The rows after multiplication by `a` from the right: means $r A$,
    /// covariances $A^\top S A$. `log_abs_det` is $\ln|\det A|$.
    pub fn transform(&mut self, a: MatRef<'_, f64>, log_abs_det: f64) {
        let (rows, k) = (self.rows() as f64, self.k());
        self.mean = polyview_linalg::times_small(self.mean.as_ref(), a);
        match &mut self.cov {
            RowCov::Zero => {}
            RowCov::Shared(s) => {
                let mut one = PackedRows::repeat(1, s);
                one.congruence(a);
                *s = one.sym(0);
            }
            RowCov::Basis { vectors, .. } => {
                *vectors = polyview_linalg::times_small(
                    a.transpose().to_owned().as_ref(),
                    vectors.as_ref(),
                );
            }
            RowCov::Patterns { cov, .. } | RowCov::PerRow(cov) => {
                cov.congruence(a);
            }
            RowCov::Diagonal(v) => {
                // exact for scaled permutations; any other map leaves the
                // family, and the entries' covariances are lost
                *v = Mat::from_fn(v.nrows(), k, |r, j| {
                    (0..k).map(|i| v[(r, i)] * a[(i, j)] * a[(i, j)]).sum()
                });
            }
        }
        if !matches!(self.cov, RowCov::Zero) {
            self.log_det += 2.0 * rows * log_abs_det;
        }
        self.changed();
    }

    /// Keeps the columns `keep`, in that order, each times its sign (±1).
    /// Also reorders; `log_det` is recomputed by the next update.
    pub fn select(&mut self, keep: &[usize], signs: &[f64]) {
        // the covariances are read with the old number of columns
        let mean = Mat::from_fn(self.mean.nrows(), keep.len(), |r, j| {
            signs[j] * self.mean[(r, keep[j])]
        });
        match &mut self.cov {
            RowCov::Zero => {}
            RowCov::Shared(s) => {
                let mut one = PackedRows::repeat(1, s);
                one.select(keep, signs);
                *s = one.sym(0);
            }
            RowCov::Basis { vectors, .. } => {
                *vectors = Mat::from_fn(keep.len(), vectors.ncols(), |i, j| {
                    signs[i] * vectors[(keep[i], j)]
                });
            }
            RowCov::Patterns { cov, .. } | RowCov::PerRow(cov) => {
                cov.select(keep, signs);
            }
            RowCov::Diagonal(v) => {
                *v = Mat::from_fn(v.nrows(), keep.len(), |r, j| v[(r, keep[j])]);
            }
        }
        self.mean = mean;
        self.changed();
    }

    fn changed(&mut self) {
        self.stamp = Stamp::fresh();
        self.table = OnceLock::new();
        self.cov_total = OnceLock::new();
    }

    /// For each explicit row (a column here) the packed $\\langle r^\\top
    /// r\\rangle$ followed by the mean: (K(K+1)/2 + K) × rows. Made when first
    /// asked for and kept until the rows change; every incomplete view sums
    /// columns of it.
    pub fn moment_table(&self) -> &Mat<f64> {
        self.table.get_or_init(|| {
            let mut out = Mat::zeros(packed_len(self.k()) + self.k(), self.mean.nrows());
            let rows = 0..self.mean.nrows();
            self.write_moment_table(rows, |_| (1.0, 1.0), out.as_mut());
            out
        })
    }
    /// Gives the memory of [`RowMoments::moment_table`] back; who asks for it
    /// again has it made anew.
    pub fn forget_moment_table(&mut self) {
        self.table = OnceLock::new();
    }
    /// Writes the columns of [`RowMoments::moment_table`] that belong to `rows`
    /// to `out`, the second moments of row $r$ times the first and its mean
    /// times the second number of `weights(r)`.
    pub fn write_moment_table(
        &self,
        rows: Range<usize>,
        weights: impl Fn(usize) -> (f64, f64) + Sync,
        out: MatMut<'_, f64>,
    ) {
        const ROWS: usize = 256;
        let (k, p) = (self.k(), packed_len(self.k()));
        out.par_col_chunks_mut(ROWS)
            .enumerate()
            .for_each(|(chunk, mut out)| {
                let (mut mean, mut spare) = (vec![0.0; k], vec![0.0; p + k]);
                for i in 0..out.ncols() {
                    let r = rows.start + chunk * ROWS + i;
                    self.copy_mean(r, &mut mean);
                    let (second, first) = weights(r);
                    let write = |cell: &mut [f64]| {
                        let (cell, line) = cell.split_at_mut(p);
                        self.second_moment_of(r, &mean, cell);
                        for x in cell {
                            *x *= second;
                        }
                        for (x, m) in line.iter_mut().zip(&mean) {
                            *x = first * m;
                        }
                    };
                    if let Some(column) = out.rb_mut().col_mut(i).try_as_col_major_mut() {
                        write(column.as_slice_mut());
                    } else {
                        write(&mut spare);
                        for (to, x) in out.rb_mut().col_mut(i).iter_mut().zip(&spare) {
                            *to = *x;
                        }
                    }
                }
            });
    }

    /// Sets $\sum\_r\ln|S\_r|$ anew, by factoring what there is. Needed after
    /// [`RowMoments::select`] dropped columns.
    ///
    /// # Errors
    /// [`NumericError::Linalg`] when a covariance is not positive definite.
    pub fn refresh_log_det(&mut self, block: &str) -> Result<(), NumericError> {
        let one = |s: &SymPacked| {
            SpdFactor::factor(s)
                .map(|(f, _)| f.log_det())
                .map_err(|source| NumericError::Linalg {
                    block: block.to_owned(),
                    source,
                })
        };
        let k = self.k();
        let packed = |row: &[f64]| {
            let mut s = SymPacked::zeros(k);
            s.as_mut_slice().copy_from_slice(row);
            s
        };
        self.log_det = match &self.cov {
            RowCov::Zero => 0.0,
            RowCov::Shared(s) => self.rows() as f64 * one(s)?,
            RowCov::Basis { vectors, scales } => basis::log_det(vectors.as_ref(), scales.as_ref())
                .map_err(|source| NumericError::Linalg {
                    block: block.to_owned(),
                    source,
                })?,
            RowCov::Patterns { cov, of_row } => {
                let per: Vec<f64> = (0..cov.rows())
                    .map(|p| one(&packed(cov.row(p))))
                    .collect::<Result<_, _>>()?;
                of_row.iter().map(|&p| per[p as usize]).sum()
            }
            RowCov::PerRow(cov) => {
                let mut sum = 0.0;
                for r in 0..cov.rows() {
                    sum += one(&packed(cov.row(r)))?;
                }
                sum
            }
            RowCov::Diagonal(v) => (0..k)
                .map(|j| (0..v.nrows()).map(|r| v[(r, j)].ln()).sum::<f64>())
                .sum(),
        };
        Ok(())
    }

    /// As [`RowMoments::save`], but the covariances move: they are not there
    /// twice at any time.
    pub fn give_up(self, prefix: &str, state: &mut State) {
        self.save_means(prefix, state);
        let Self { mean, cov, .. } = self;
        drop(mean);
        let mut put = |name: &str, rows: PackedRows| {
            let shape = vec![packed_len(rows.k()), rows.rows()];
            let values = rows.into_vec();
            state.put(&format!("{prefix}/{name}"), StateArray { shape, values });
        };
        match cov {
            RowCov::PerRow(rows) => put("cov_rows", rows),
            RowCov::Patterns { cov, of_row } => {
                put("cov_patterns", cov);
                Self::save_patterns(&of_row, prefix, state);
            }
            other => Self::save_cov(&other, prefix, state),
        }
    }

    /// Writes the moments under `prefix`.
    pub fn save(&self, prefix: &str, state: &mut State) {
        self.save_means(prefix, state);
        Self::save_cov(&self.cov, prefix, state);
    }
    fn save_means(&self, prefix: &str, state: &mut State) {
        state.put_mat(&format!("{prefix}/mean"), self.mean.as_ref());
        state.put_vec(&format!("{prefix}/log_det"), &[self.log_det]);
        state.put_vec(&format!("{prefix}/implicit"), &[self.implicit as f64]);
    }
    fn save_patterns(of_row: &[u32], prefix: &str, state: &mut State) {
        let of_row: Vec<f64> = of_row.iter().map(|&p| f64::from(p)).collect();
        state.put_vec(&format!("{prefix}/pattern_of_row"), &of_row);
    }
    fn save_cov(cov: &RowCov, prefix: &str, state: &mut State) {
        match cov {
            RowCov::Zero => {}
            RowCov::Shared(s) => state.put_vec(&format!("{prefix}/cov_shared"), s.as_slice()),
            RowCov::Basis { vectors, scales } => {
                state.put_mat(&format!("{prefix}/cov_vectors"), vectors.as_ref());
                state.put_mat(&format!("{prefix}/cov_scales"), scales.as_ref());
            }
            RowCov::Patterns { cov, of_row } => {
                state.put_mat(&format!("{prefix}/cov_patterns"), cov.as_mat());
                Self::save_patterns(of_row, prefix, state);
            }
            RowCov::PerRow(cov) => state.put_mat(&format!("{prefix}/cov_rows"), cov.as_mat()),
            RowCov::Diagonal(v) => state.put_mat(&format!("{prefix}/variances"), v.as_ref()),
        }
    }

    /// Reads moments written by [`RowMoments::save`].
    ///
    /// # Errors
    /// [`NumericError::BadState`] when an array is absent or misshapen.
    pub fn load(prefix: &str, state: &StateReader<'_>) -> Result<Self, NumericError> {
        let bad = |name: &str| NumericError::BadState {
            name: format!("{prefix}/{name}"),
        };
        let mean = state.mat(&format!("{prefix}/mean"))?;
        let k = mean.ncols();
        let log_det = state.scalar(&format!("{prefix}/log_det"))?;
        let implicit = state.scalar(&format!("{prefix}/implicit"))?;
        let packed = |name: &str, rows: Option<usize>| -> Result<PackedRows, NumericError> {
            let m = state.columns(&format!("{prefix}/{name}"))?;
            if m.nrows() != packed_len(k) || rows.is_some_and(|r| r != m.ncols()) {
                return Err(bad(name));
            }
            let mut out = PackedRows::zeros(m.ncols(), k);
            out.as_mat_mut().copy_from(m);
            Ok(out)
        };
        let has = |name: &str| state.has(&format!("{prefix}/{name}"));
        let cov = if has("cov_shared") {
            let v = state.vec(&format!("{prefix}/cov_shared"))?;
            if v.len() != packed_len(k) {
                return Err(bad("cov_shared"));
            }
            let mut s = SymPacked::zeros(k);
            s.as_mut_slice().copy_from_slice(&v);
            RowCov::Shared(s)
        } else if has("cov_vectors") {
            let vectors = state.mat(&format!("{prefix}/cov_vectors"))?;
            let scales = state.mat(&format!("{prefix}/cov_scales"))?;
            if vectors.nrows() != k
                || vectors.ncols() < k
                || scales.nrows() != mean.nrows()
                || scales.ncols() != vectors.ncols()
            {
                return Err(bad("cov_scales"));
            }
            RowCov::Basis { vectors, scales }
        } else if has("cov_patterns") {
            let cov = packed("cov_patterns", None)?;
            let of_row = state.vec(&format!("{prefix}/pattern_of_row"))?;
            if of_row.len() != mean.nrows()
                || of_row
                    .iter()
                    .any(|&p| !(p >= 0.0 && (p as usize) < cov.rows()))
            {
                return Err(bad("pattern_of_row"));
            }
            RowCov::Patterns {
                cov,
                of_row: of_row.iter().map(|&p| p as u32).collect(),
            }
        } else if has("cov_rows") {
            RowCov::PerRow(packed("cov_rows", Some(mean.nrows()))?)
        } else if has("variances") {
            let v = state.mat(&format!("{prefix}/variances"))?;
            if v.nrows() != mean.nrows() || v.ncols() != k {
                return Err(bad("variances"));
            }
            RowCov::Diagonal(v)
        } else {
            RowCov::Zero
        };
        if !(0.0..1e15).contains(&implicit) {
            return Err(bad("implicit"));
        }
        Ok(Self::new(mean, cov, log_det, implicit as usize))
    }
}

fn axpy(t: f64, x: &[f64], y: &mut [f64]) {
    for (y, x) in y.iter_mut().zip(x) {
        *y += t * x;
    }
}

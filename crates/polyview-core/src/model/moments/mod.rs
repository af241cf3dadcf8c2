//! K-dimensional Gaussian rows: the factors (N rows) or the weights of one
//! view (D rows).

mod beside;
mod change;
mod file;
mod kept;
mod lanes;
mod subset;
mod sums;

pub use kept::KeptRows;

use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering};

use polyview_linalg::{Mat, MatRef, PackedRows, SymPacked, packed_index};

use super::basis;

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

impl RowCov {
    /// Covariances of so many explicit rows of K columns, each its own: rows × packed triangles.
    ///
    /// # Panics
    /// If there are fewer rows, or other columns.
    pub fn set_apart(&self, rows: usize, k: usize) -> PackedRows {
        let mut out = PackedRows::zeros(rows, k);
        for r in 0..rows {
            out.row_mut(r).copy_from_slice(self.of_row(r, k).as_slice());
        }
        out
    }
    /// Covariance of one explicit row of so many columns, packed.
    fn of_row(&self, row: usize, k: usize) -> SymPacked {
        let mut out = SymPacked::zeros(k);
        match self {
            Self::Zero => {}
            Self::Shared(s) => out.add_scaled(1.0, s),
            Self::Basis { vectors, scales } => {
                basis::covariance(vectors.as_ref(), |j| scales[(row, j)], out.as_mut_slice());
            }
            Self::Patterns { cov, of_row } => {
                out.as_mut_slice()
                    .copy_from_slice(cov.row(of_row[row] as usize));
            }
            Self::PerRow(cov) => out.as_mut_slice().copy_from_slice(cov.row(row)),
            Self::Diagonal(v) => {
                let d: Vec<f64> = (0..k).map(|j| v[(row, j)]).collect();
                out.add_diag(&d);
            }
        }
        out
    }
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
        self.cov.of_row(row, self.k())
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
}

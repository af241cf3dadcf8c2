//! Changes of all rows at once.

use std::sync::OnceLock;

use polyview_linalg::{Mat, MatRef, PackedRows, SpdFactor, SymPacked};

use super::{RowCov, RowMoments, Stamp};
use crate::error::NumericError;
use crate::model::basis;

impl RowMoments {
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

    pub(super) fn changed(&mut self) {
        self.stamp = Stamp::fresh();
        self.table = OnceLock::new();
        self.cov_total = OnceLock::new();
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
            // rows that are known, in a model of parts
            RowCov::Shared(s) if s.as_slice().iter().all(|x| *x == 0.0) => 0.0,
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
}

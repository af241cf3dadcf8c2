//! Rows in a state.

use polyview_linalg::{PackedRows, SymPacked, packed_len};

use super::{RowCov, RowMoments};
use crate::error::NumericError;
use crate::model::state::{State, StateReader};

impl RowMoments {
    /// As [`RowMoments::save`], but the covariances move: they are not there
    /// twice at any time.
    pub fn give_up(self, prefix: &str, state: &mut State) {
        self.save_means(prefix, state);
        let Self { mean, cov, .. } = self;
        drop(mean);
        let mut put = |name: &str, rows: PackedRows| {
            let shape = vec![packed_len(rows.k()), rows.rows()];
            let values = rows.into_vec();
            state.put_values(&format!("{prefix}/{name}"), shape, values);
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

//! One symmetric positive definite system.

use super::{JITTER, Jitter, pivot_is_good};
use crate::decompose::cholesky;
use crate::error::all_finite;
use crate::{LinalgError, SymPacked};
use faer::dyn_stack::{MemBuffer, MemStack};
use faer::linalg::cholesky::llt;
use faer::linalg::triangular_solve::{
    solve_lower_triangular_in_place, solve_upper_triangular_in_place,
};
use faer::{Mat, MatRef, Par};

/// Cholesky factor $A = LL'$ of one symmetric positive definite matrix.
#[derive(Debug, Clone)]
pub struct SpdFactor {
    lower: Mat<f64>,
}

impl SpdFactor {
    /// Factors `matrix`.
    ///
    /// A pivot that is not positive beyond rounding, $p \le K \epsilon a\_{jj}$, is met by adding $10^{-12}, 10^{-10},
    /// 10^{-8}, 10^{-6}$ times the mean diagonal to the diagonal, in turn; the jitter that was needed is returned
    /// beside the factor, as row 0.
    ///
    /// # Errors
    /// [`LinalgError::NotFinite`]; [`LinalgError::NotPositiveDefinite`] where the largest jitter does not help.
    pub fn factor(matrix: &SymPacked) -> Result<(Self, Option<Jitter>), LinalgError> {
        let mut full = matrix.to_mat();
        all_finite("a symmetric positive definite matrix", full.as_ref())?;
        let pivot = match checked_cholesky(full.as_ref()) {
            Ok(lower) => return Ok((Self { lower }, None)),
            Err(pivot) => pivot,
        };
        let diagonal = matrix.diag();
        let mean = diagonal.iter().map(|x| x / matrix.k() as f64).sum::<f64>();
        for relative in JITTER {
            let amount = relative * mean;
            for (i, x) in diagonal.iter().enumerate() {
                full[(i, i)] = x + amount;
            }
            if let Ok(lower) = checked_cholesky(full.as_ref()) {
                return Ok((Self { lower }, Some((0, pivot, amount))));
            }
        }
        Err(LinalgError::NotPositiveDefinite { row: 0, pivot })
    }

    /// Order $K$.
    pub fn k(&self) -> usize {
        self.lower.nrows()
    }

    /// The factor $L$, upper triangle zero.
    pub fn lower(&self) -> Mat<f64> {
        self.lower.clone()
    }

    /// $\log \det A$.
    pub fn log_det(&self) -> f64 {
        2.0 * (0..self.k()).map(|i| self.lower[(i, i)].ln()).sum::<f64>()
    }

    /// $A^{-1}$.
    pub fn inverse(&self) -> SymPacked {
        let k = self.k();
        let mut out = Mat::zeros(k, k);
        let mut memory = MemBuffer::new(llt::inverse::inverse_scratch::<f64>(k, Par::Seq));
        llt::inverse::inverse(
            out.as_mut(),
            self.lower.as_ref(),
            Par::Seq,
            MemStack::new(&mut memory),
        );
        SymPacked::from_mat(out.as_ref())
    }

    /// $BA^{-1}$ of `rhs` $B$, rows × $K$.
    ///
    /// # Panics
    /// If `rhs` has not $K$ columns.
    pub fn solve_mat_right(&self, rhs: MatRef<'_, f64>) -> Mat<f64> {
        let mut out = rhs.to_owned();
        solve_lower_triangular_in_place(
            self.lower.as_ref(),
            out.as_mut().transpose_mut(),
            Par::Seq,
        );
        solve_upper_triangular_in_place(
            self.lower.transpose(),
            out.as_mut().transpose_mut(),
            Par::Seq,
        );
        out
    }

    /// $EL^{-1}$ of standard normal `noise` $E$, rows × $K$: every row is a draw from $N(0, A^{-1})$.
    ///
    /// # Panics
    /// If `noise` has not $K$ columns.
    pub fn draw(&self, noise: MatRef<'_, f64>) -> Mat<f64> {
        let mut out = noise.to_owned();
        solve_upper_triangular_in_place(
            self.lower.transpose(),
            out.as_mut().transpose_mut(),
            Par::Seq,
        );
        out
    }
}

/// Lower factor, or the first pivot that is not positive beyond rounding.
fn checked_cholesky(matrix: MatRef<'_, f64>) -> Result<Mat<f64>, usize> {
    let tolerance = matrix.nrows() as f64 * f64::EPSILON;
    let first_failed = |lower: &Mat<f64>| {
        (0..lower.nrows())
            .find(|&j| !pivot_is_good(lower[(j, j)].powi(2), matrix[(j, j)], tolerance))
    };
    match cholesky(matrix) {
        Ok(lower) => match first_failed(&lower) {
            None => Ok(lower),
            Some(pivot) => Err(pivot),
        },
        // a pivot before the one that stopped the factorisation may have been no more than rounding
        Err(stop) => Err(cholesky(matrix.submatrix(0, 0, stop, stop))
            .ok()
            .and_then(|lower| first_failed(&lower))
            .unwrap_or(stop)),
    }
}

//! Reordering and reflecting factors.

use super::{AlignmentError, same};
use polyview_linalg::{Mat, MatRef};

/// A new order and new signs for $K$ factors: new factor $k$ is `signs()[k]` times old factor `order()[k]`.
#[derive(Clone, Debug, PartialEq)]
pub struct SignedPermutation {
    of: Vec<usize>,
    sign: Vec<f64>,
}

impl SignedPermutation {
    /// New factor $k$ is `sign[k]` times old factor `of[k]`.
    ///
    /// # Errors
    /// [`AlignmentError::Shape`] where the lengths differ, [`AlignmentError::NoPermutation`] where `of` is not a
    /// permutation of $0..K$ or a sign is neither 1 nor -1.
    pub fn new(of: Vec<usize>, sign: Vec<f64>) -> Result<Self, AlignmentError> {
        same("signs of a permutation", of.len(), sign.len())?;
        let mut seen = vec![false; of.len()];
        for (position, (&old, &sign)) in of.iter().zip(&sign).enumerate() {
            if old >= seen.len() || seen[old] || sign.abs() != 1.0 {
                return Err(AlignmentError::NoPermutation { position });
            }
            seen[old] = true;
        }
        Ok(Self { of, sign })
    }

    /// Old factor behind every new one.
    pub fn order(&self) -> &[usize] {
        &self.of
    }

    /// 1 or -1 for every new factor.
    pub fn signs(&self) -> &[f64] {
        &self.sign
    }

    /// Number of factors, $K$.
    pub fn factors(&self) -> usize {
        self.of.len()
    }

    /// Whether nothing changes.
    pub fn is_identity(&self) -> bool {
        self.of.iter().enumerate().all(|(new, &old)| new == old)
            && self.sign.iter().all(|&s| s == 1.0)
    }

    /// Reorders and reflects the columns of scores or weights (rows × $K$).
    ///
    /// # Errors
    /// [`AlignmentError::Shape`] where `matrix` has not $K$ columns.
    pub fn apply(&self, matrix: MatRef<'_, f64>) -> Result<Mat<f64>, AlignmentError> {
        same("columns to reorder", self.factors(), matrix.ncols())?;
        Ok(Mat::from_fn(matrix.nrows(), self.factors(), |i, k| {
            self.sign[k] * matrix[(i, self.of[k])]
        }))
    }
}

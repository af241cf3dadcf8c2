//! Reordering and reflecting factors.

use super::{AlignmentError, same};
use polyview_linalg::{Mat, MatMut, MatRef};

/// A new order and new signs for $K$ factors: new factor $k$ is `signs()[k]` times old factor `order()[k]`.
#[derive(Clone, Debug, PartialEq)]
pub struct SignedPermutation {
    of: Vec<usize>,
    sign: Vec<f64>,
}

impl SignedPermutation {
    /// The factors as they are.
    pub fn identity(k: usize) -> Self {
        Self {
            of: (0..k).collect(),
            sign: vec![1.0; k],
        }
    }

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
        let mut out = Mat::zeros(matrix.nrows(), self.factors());
        self.apply_into(matrix, out.as_mut())?;
        Ok(out)
    }

    /// As [`apply`](Self::apply), into `out` of the shape of `matrix`.
    ///
    /// # Errors
    /// [`AlignmentError::Shape`].
    pub fn apply_into(
        &self,
        matrix: MatRef<'_, f64>,
        mut out: MatMut<'_, f64>,
    ) -> Result<(), AlignmentError> {
        same("columns to reorder", self.factors(), matrix.ncols())?;
        same("columns of the output", self.factors(), out.ncols())?;
        same("rows of the output", matrix.nrows(), out.nrows())?;
        for (new, (&old, &sign)) in self.of.iter().zip(&self.sign).enumerate() {
            let target = out.as_mut().col_mut(new);
            for (y, x) in target.iter_mut().zip(matrix.col(old).iter()) {
                *y = sign * x;
            }
        }
        Ok(())
    }

    /// Reorders what has one value per factor and no sign: scales, precisions, inclusion probabilities.
    ///
    /// # Errors
    /// [`AlignmentError::Shape`].
    pub fn apply_to_values<T: Clone>(&self, values: &[T]) -> Result<Vec<T>, AlignmentError> {
        same("values to reorder", self.factors(), values.len())?;
        Ok(self.of.iter().map(|&old| values[old].clone()).collect())
    }

    /// Reorders and reflects a $K \times K$ covariance or precision on both sides.
    ///
    /// # Errors
    /// [`AlignmentError::Shape`].
    pub fn apply_to_covariance(&self, matrix: MatRef<'_, f64>) -> Result<Mat<f64>, AlignmentError> {
        same("rows of a covariance", self.factors(), matrix.nrows())?;
        same("columns of a covariance", self.factors(), matrix.ncols())?;
        Ok(Mat::from_fn(self.factors(), self.factors(), |i, j| {
            self.sign[i] * self.sign[j] * matrix[(self.of[i], self.of[j])]
        }))
    }

    /// What undoes this.
    pub fn inverse(&self) -> Self {
        let mut out = Self::identity(self.factors());
        for (new, (&old, &sign)) in self.of.iter().zip(&self.sign).enumerate() {
            out.of[old] = new;
            out.sign[old] = sign;
        }
        out
    }

    /// This first, then `next`.
    ///
    /// # Errors
    /// [`AlignmentError::Shape`] where the numbers of factors differ.
    pub fn then(&self, next: &Self) -> Result<Self, AlignmentError> {
        same(
            "factors of the second permutation",
            self.factors(),
            next.factors(),
        )?;
        Ok(Self {
            of: next.of.iter().map(|&middle| self.of[middle]).collect(),
            sign: next
                .of
                .iter()
                .zip(&next.sign)
                .map(|(&middle, &sign)| sign * self.sign[middle])
                .collect(),
        })
    }
}

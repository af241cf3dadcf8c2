//! Gaussian draws from a Cholesky factor of the precision.

use rand::Rng;

use crate::error::{RandomError, same_length};
use crate::standard::standard_normal;

/// Lower Cholesky factor $L$ of a precision matrix $P = LL^\top$, borrowed and checked once.
///
/// Storage: packed lower triangle row by row, entry $(i, j)$, $j \le i$, at $i(i+1)/2 + j$.
///
/// With $\varepsilon$ standard normal, $L^{-\top}\varepsilon$ has covariance $P^{-1}$, so a draw
/// costs one triangular solve and no inverse. Normals are drawn in the order of the entries.
///
/// ```
/// use polyview_random::{PrecisionFactor, StreamKey};
///
/// // P = [[4, 2], [2, 10]] = L L^T with L = [[2, 0], [1, 3]]
/// let factor = PrecisionFactor::new(&[2.0, 1.0, 3.0], 2)?;
/// let mut draw = [0.0; 2];
/// factor.sample_into(&mut StreamKey::new(1).rng(), &[0.5, -0.5], &mut draw)?;
/// assert!(draw.iter().all(|x| x.is_finite()));
/// # Ok::<(), polyview_random::RandomError>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct PrecisionFactor<'a> {
    packed: &'a [f64],
    dim: usize,
}

impl<'a> PrecisionFactor<'a> {
    /// The factor stored in `packed`, of a `dim` by `dim` matrix.
    ///
    /// # Errors
    /// [`RandomError::LengthMismatch`] unless `packed` has `dim (dim + 1) / 2` entries,
    /// [`RandomError::IllegalPivot`] for a diagonal entry that is not positive and finite.
    pub fn new(packed: &'a [f64], dim: usize) -> Result<Self, RandomError> {
        let expected = dim
            .checked_add(1)
            .and_then(|n| n.checked_mul(dim))
            .map_or(usize::MAX, |n| n / 2);
        same_length("packed factor", expected, packed.len())?;
        let factor = Self { packed, dim };
        for index in 0..dim {
            let value = factor.row(index)[index];
            if !(value > 0.0 && value < f64::INFINITY) {
                return Err(RandomError::IllegalPivot { index, value });
            }
        }
        Ok(factor)
    }

    /// Dimension $K$ of the Gaussian.
    pub fn dim(&self) -> usize {
        self.dim
    }

    /// Writes a draw of $\mathcal N(\text{mean}, P^{-1})$ into `out`.
    ///
    /// # Errors
    /// [`RandomError::LengthMismatch`] unless `mean` and `out` have [`dim`](Self::dim) entries.
    pub fn sample_into<R: Rng + ?Sized>(
        &self,
        rng: &mut R,
        mean: &[f64],
        out: &mut [f64],
    ) -> Result<(), RandomError> {
        same_length("mean", self.dim, mean.len())?;
        same_length("draw", self.dim, out.len())?;
        for value in out.iter_mut() {
            *value = standard_normal(rng);
        }
        self.solve_transposed(out);
        for (value, &centre) in out.iter_mut().zip(mean) {
            *value += centre;
        }
        Ok(())
    }

    /// Replaces `rhs` by a draw of $\mathcal N(P^{-1}\text{rhs}, P^{-1})$.
    ///
    /// This is the full conditional of a Gibbs step given its normal equations:
    /// $L^{-\top}(L^{-1}\text{rhs} + \varepsilon)$, two triangular solves for mean and draw
    /// together.
    ///
    /// # Errors
    /// [`RandomError::LengthMismatch`] unless `rhs` has [`dim`](Self::dim) entries.
    pub fn sample_canonical<R: Rng + ?Sized>(
        &self,
        rng: &mut R,
        rhs: &mut [f64],
    ) -> Result<(), RandomError> {
        same_length("right-hand side", self.dim, rhs.len())?;
        for i in 0..self.dim {
            let (row, pivot) = self.split_row(i);
            let known: f64 = row.iter().zip(rhs.iter()).map(|(l, x)| l * x).sum();
            rhs[i] = (rhs[i] - known) / pivot;
        }
        for value in rhs.iter_mut() {
            *value += standard_normal(rng);
        }
        self.solve_transposed(rhs);
        Ok(())
    }

    /// $x \leftarrow L^{-\top}x$.
    fn solve_transposed(&self, x: &mut [f64]) {
        for i in (0..self.dim).rev() {
            let (row, pivot) = self.split_row(i);
            let value = x[i] / pivot;
            x[i] = value;
            for (left, l) in x.iter_mut().zip(row) {
                *left -= l * value;
            }
        }
    }

    /// Row `i` up to and including the diagonal.
    fn row(&self, i: usize) -> &'a [f64] {
        let start = i * (i + 1) / 2;
        &self.packed[start..=start + i]
    }

    /// Row `i` left of the diagonal, and the diagonal entry.
    fn split_row(&self, i: usize) -> (&'a [f64], f64) {
        let row = self.row(i);
        (&row[..i], row[i])
    }
}

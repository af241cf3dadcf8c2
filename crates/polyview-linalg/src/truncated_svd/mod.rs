//! The leading singular vectors of a matrix that is known by its products only.

use crate::LinalgError;
use crate::decompose::{ThinSvd, thin_qr, thin_svd};
use crate::error::{all_finite, same_len};
use crate::product::{cross, times_small};
use faer::{Mat, MatRef};

mod completed;
mod filled;

#[cfg(test)]
mod tests;

pub use completed::{Completed, Holes};
pub use filled::{BlockValues, FilledBlock, FilledColumns};

/// A matrix given by its products.
pub trait LinearOperator {
    /// Number of rows.
    fn nrows(&self) -> usize;
    /// Number of columns.
    fn ncols(&self) -> usize;
    /// $AB$ of `b`, columns × l: a rows × l matrix.
    fn apply(&self, b: MatRef<'_, f64>) -> Mat<f64>;
    /// $A'B$ of `b`, rows × l: a columns × l matrix.
    fn apply_transpose(&self, b: MatRef<'_, f64>) -> Mat<f64>;
}

impl LinearOperator for MatRef<'_, f64> {
    fn nrows(&self) -> usize {
        MatRef::nrows(self)
    }

    fn ncols(&self) -> usize {
        MatRef::ncols(self)
    }

    fn apply(&self, b: MatRef<'_, f64>) -> Mat<f64> {
        times_small(*self, b)
    }

    fn apply_transpose(&self, b: MatRef<'_, f64>) -> Mat<f64> {
        cross(b, *self).transpose().to_owned()
    }
}

/// Options of [`truncated_svd`].
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct TruncatedSvdOptions {
    /// Singular triplets wanted.
    pub rank: usize,
    /// Columns carried beyond `rank`.
    pub oversampling: usize,
    /// Most iterations; each applies the operator and its transpose once.
    pub power_iterations: usize,
    /// Converged once every wanted triplet has $\lVert A v\_i - s\_i u\_i \rVert \le$ tolerance · $s\_1$.
    pub tolerance: f64,
}

impl TruncatedSvdOptions {
    /// Defaults for a rank: 10 columns more, at most 30 iterations, tolerance $10^{-6}$.
    pub fn new(rank: usize) -> Self {
        Self {
            rank,
            oversampling: 10,
            power_iterations: 30,
            tolerance: 1e-6,
        }
    }

    /// Columns of the test matrix, `rank + oversampling`.
    pub fn width(&self) -> usize {
        self.rank.saturating_add(self.oversampling)
    }
}

/// Result of [`truncated_svd`]: $A \approx U S V'$.
#[derive(Debug, Clone)]
pub struct TruncatedSvd {
    /// Left singular vectors, rows × rank.
    pub u: Mat<f64>,
    /// Singular values, descending.
    pub singular_values: Vec<f64>,
    /// Right singular vectors, columns × rank.
    pub v: Mat<f64>,
    /// Iterations spent; 0 where the decomposition was exact.
    pub iterations: usize,
    /// Whether the tolerance was met.
    pub converged: bool,
}

/// Leading singular triplets by block subspace iteration (Halko, Martinsson and Tropp 2011).
///
/// `start` is the test matrix, columns × [`width`](TruncatedSvdOptions::width), usually of standard normals: the
/// result is a function of the operator, the options and `start`. Where the width reaches the smaller dimension the
/// operator is applied to an identity and decomposed exactly, and `start` is not read.
///
/// # Errors
/// [`LinalgError::ShapeMismatch`] for a rank above the smaller dimension or a `start` of another shape;
/// [`LinalgError::NotFinite`] where the operator or `start` is; [`LinalgError::NoConvergence`] from the inner dense
/// decomposition only: too few iterations are reported by [`TruncatedSvd::converged`].
pub fn truncated_svd(
    operator: &(impl LinearOperator + ?Sized),
    options: &TruncatedSvdOptions,
    start: MatRef<'_, f64>,
) -> Result<TruncatedSvd, LinalgError> {
    let (m, n) = (operator.nrows(), operator.ncols());
    if options.rank > m.min(n) {
        return Err(LinalgError::ShapeMismatch {
            what: "rank of a truncated SVD",
            expected: m.min(n),
            found: options.rank,
        });
    }
    if options.width() >= m.min(n) {
        return exact(operator, options.rank);
    }
    same_len("truncated_svd: rows of the start", n, start.nrows())?;
    same_len(
        "truncated_svd: columns of the start",
        options.width(),
        start.ncols(),
    )?;
    all_finite("truncated_svd: start", start)?;

    let (mut right, _) = thin_qr(start)?;
    let mut image = operator.apply(right.as_ref());
    let mut iterations = 0;
    loop {
        // image = A right; one more half step each way, then the SVD of the small middle factor
        drop(right);
        let (left, _) = thin_qr(image.as_ref())?;
        drop(image);
        let back = operator.apply_transpose(left.as_ref());
        let (next, middle) = thin_qr(back.as_ref())?;
        drop(back);
        let inner = thin_svd(middle.as_ref())?;
        let u = times_small(left.as_ref(), inner.v.as_ref());
        drop(left);
        right = times_small(next.as_ref(), inner.u.as_ref());
        drop(next);
        image = operator.apply(right.as_ref());
        iterations += 1;
        let converged = residual(image.as_ref(), u.as_ref(), &inner.singular_values, options)
            <= options.tolerance;
        if converged || iterations >= options.power_iterations {
            return Ok(TruncatedSvd {
                u: u.subcols(0, options.rank).to_owned(),
                singular_values: inner.singular_values[..options.rank].to_vec(),
                v: right.subcols(0, options.rank).to_owned(),
                iterations,
                converged,
            });
        }
    }
}

/// Largest residual of the wanted triplets, relative to the largest singular value.
fn residual(
    image: MatRef<'_, f64>,
    u: MatRef<'_, f64>,
    values: &[f64],
    options: &TruncatedSvdOptions,
) -> f64 {
    let largest = values.first().copied().unwrap_or(0.0);
    if largest == 0.0 {
        return 0.0;
    }
    (0..options.rank)
        .map(|i| {
            let square: f64 = image
                .col(i)
                .iter()
                .zip(u.col(i).iter())
                .map(|(x, u)| (x - values[i] * u).powi(2))
                .sum();
            square.sqrt() / largest
        })
        .fold(0.0, f64::max)
}

fn exact(
    operator: &(impl LinearOperator + ?Sized),
    rank: usize,
) -> Result<TruncatedSvd, LinalgError> {
    let (m, n) = (operator.nrows(), operator.ncols());
    let ThinSvd {
        u,
        singular_values,
        v,
    } = if n <= m {
        thin_svd(operator.apply(Mat::identity(n, n).as_ref()).as_ref())?
    } else {
        let flipped = thin_svd(
            operator
                .apply_transpose(Mat::identity(m, m).as_ref())
                .as_ref(),
        )?;
        ThinSvd {
            u: flipped.v,
            singular_values: flipped.singular_values,
            v: flipped.u,
        }
    };
    Ok(TruncatedSvd {
        u: u.subcols(0, rank).to_owned(),
        singular_values: singular_values[..rank].to_vec(),
        v: v.subcols(0, rank).to_owned(),
        iterations: 0,
        converged: true,
    })
}

//! Symmetric matrices through their spectrum: descending eigenpairs, pseudo-inverses and inverse roots.

use crate::MvaError;
use crate::centre::centred;
use polyview_linalg::{Mat, MatRef, cross, sym_eigen, times_small};

/// Eigenvalues below this share of the largest count as zero.
pub(crate) const RELATIVE_RANK: f64 = 1e-10;

/// The `k` largest eigenvalues with their eigenvectors; the entry of the largest absolute value of each is positive.
pub(crate) fn leading(matrix: MatRef<'_, f64>, k: usize) -> Result<(Vec<f64>, Mat<f64>), MvaError> {
    let (values, vectors) = sym_eigen(matrix)?;
    let n = values.len();
    let k = k.min(n);
    let mut out = Mat::zeros(n, k);
    for j in 0..k {
        let column = vectors.col(n - 1 - j);
        let mut largest = 0.0_f64;
        for i in 0..n {
            // the first of equal ones, up to rounding
            if column[i].abs() > largest.abs() * (1.0 + 1e-9) {
                largest = column[i];
            }
        }
        let sign = if largest < 0.0 { -1.0 } else { 1.0 };
        for i in 0..n {
            out[(i, j)] = sign * column[i];
        }
    }
    Ok(((0..k).map(|j| values[n - 1 - j]).collect(), out))
}

/// In how many directions the samples of a table ($N \times D$) vary: $N - 1$ or $D$ at most.
///
/// Two tables of ranks $r\_1$ and $r\_2$ share $r\_1 + r\_2 - (N - 1)$ directions at least, so that without a ridge so many
/// canonical correlations ([`cca`](crate::cca)) are 1 whatever the data are.
///
/// # Errors
/// [`MvaError::NotFinite`], [`MvaError::Empty`].
pub fn rank(x: MatRef<'_, f64>) -> Result<usize, MvaError> {
    let (x, _) = centred("the data", x)?;
    let x = x.as_ref();
    // both have the same positive eigenvalues
    let small = if x.ncols() > x.nrows() {
        cross(x.transpose(), x.transpose())
    } else {
        cross(x, x)
    };
    let (values, _) = sym_eigen(small.as_ref())?;
    let least = least_of(&values);
    Ok(values.into_iter().filter(|value| *value > least).count())
}

/// The eigenvalue, of ascending ones, that others have to be above to count.
fn least_of(values: &[f64]) -> f64 {
    RELATIVE_RANK * values.last().copied().unwrap_or(0.0).max(0.0)
}

/// $A^{p}$ of a positive semi-definite matrix, directions of eigenvalue zero left out.
pub(crate) fn pseudo_power(matrix: MatRef<'_, f64>, power: f64) -> Result<Mat<f64>, MvaError> {
    let (values, vectors) = sym_eigen(matrix)?;
    let least = least_of(&values);
    let of = |value: f64| {
        if value > least {
            value.powf(power)
        } else {
            0.0
        }
    };
    let n = values.len();
    let scaled = Mat::from_fn(n, n, |i, j| vectors[(i, j)] * of(values[j]));
    Ok(times_small(scaled.as_ref(), vectors.transpose()))
}

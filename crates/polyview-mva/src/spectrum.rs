//! Symmetric matrices through their spectrum: descending eigenpairs, pseudo-inverses and inverse roots.

use crate::MvaError;
use polyview_linalg::{Mat, MatRef, sym_eigen, times_small};

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

/// $A^{p}$ of a positive semi-definite matrix, directions of eigenvalue zero left out.
pub(crate) fn pseudo_power(matrix: MatRef<'_, f64>, power: f64) -> Result<Mat<f64>, MvaError> {
    let (values, vectors) = sym_eigen(matrix)?;
    let least = RELATIVE_RANK * values.last().copied().unwrap_or(0.0).max(0.0);
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

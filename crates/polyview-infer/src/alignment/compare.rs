//! Cosines of columns.

use super::AlignmentError;
use polyview_linalg::faer::linalg::matmul::matmul;
use polyview_linalg::faer::{Accum, Par};
use polyview_linalg::{Mat, MatRef};

pub(super) fn all_finite(
    what: &'static str,
    matrix: MatRef<'_, f64>,
) -> Result<(), AlignmentError> {
    for column in 0..matrix.ncols() {
        if let Some(row) = matrix.col(column).iter().position(|x| !x.is_finite()) {
            return Err(AlignmentError::NotFinite { what, row, column });
        }
    }
    Ok(())
}

/// The columns at length one; columns of zeros stay. Scaled in two steps, so that no square over- or underflows.
pub(super) fn unit_columns(matrix: MatRef<'_, f64>) -> Mat<f64> {
    let mut out = matrix.to_owned();
    for k in 0..out.ncols() {
        let largest = out.col(k).iter().fold(0.0_f64, |m, x| m.max(x.abs()));
        if largest > 0.0 {
            out.col_mut(k).iter_mut().for_each(|x| *x /= largest);
            let length = out.col(k).iter().map(|x| x * x).sum::<f64>().sqrt();
            out.col_mut(k).iter_mut().for_each(|x| *x /= length);
        }
    }
    out
}

/// $A'B$, one thread.
pub(super) fn cross(a: MatRef<'_, f64>, b: MatRef<'_, f64>) -> Mat<f64> {
    let mut out = Mat::zeros(a.ncols(), b.ncols());
    matmul(
        out.as_mut(),
        Accum::Replace,
        a.transpose(),
        b,
        1.0,
        Par::Seq,
    );
    out
}

/// Entry by entry absolute values.
pub(super) fn absolute(matrix: &Mat<f64>) -> Mat<f64> {
    Mat::from_fn(matrix.nrows(), matrix.ncols(), |i, j| matrix[(i, j)].abs())
}

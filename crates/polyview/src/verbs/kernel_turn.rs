//! Columns of a kernel as those of a linear model.

use polyview_core::NumericError;
use polyview_linalg::{Mat, MatRef, thin_svd};

use crate::error::Result;

/// Least singular value, relative to the largest, that says anything.
const LEAST: f64 = 1e-8;

/// What the columns of a kernel (samples × reference points, centred, no cell missing) are multiplied by so that their
/// products are the kernel itself, and a ridge on them is kernel ridge regression: for $X = USV^\top$ it is
/// $\sqrt u\,VS^{-1/2}$, reference points × directions, where `unit` says u by the mean square of a sample over all
/// directions, the trace of S over the number of samples. `None` where nothing varies.
///
/// # Errors
/// [`NumericError::Linalg`] where there is no decomposition.
pub(super) fn kernel_turn(
    columns: MatRef<'_, f64>,
    unit: impl Fn(f64) -> f64,
) -> Result<Option<Mat<f64>>> {
    if columns.nrows() == 0 || columns.ncols() == 0 {
        return Ok(None);
    }
    let svd = thin_svd(columns).map_err(|source| NumericError::Linalg {
        block: "kernel".to_owned(),
        source,
    })?;
    let s = &svd.singular_values;
    let least = LEAST * s.first().copied().unwrap_or(0.0);
    let count = s.iter().take_while(|s| **s > least).count();
    let unit = unit(s[..count].iter().sum::<f64>() / columns.nrows() as f64);
    Ok((count > 0 && unit.is_finite()).then(|| {
        Mat::from_fn(columns.ncols(), count, |d, j| {
            svd.v[(d, j)] * (unit / s[j]).sqrt()
        })
    }))
}

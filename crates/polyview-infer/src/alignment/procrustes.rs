//! Orthogonal Procrustes: where the prior leaves rotation free.

use super::compare::{all_finite, cross};
use super::{AlignmentError, same};
use polyview_linalg::{Mat, MatRef, thin_svd};

/// The orthogonal $R$ ($K \times K$) that minimises $\lVert A - BR\rVert\_F$ for the `reference` $A$ and the `draw` $B$,
/// both $D \times K$: $R = UV^\top$ with $B^\top A = USV^\top$ (Schönemann 1966).
///
/// Weights $W$ and factors $Z$ of the draw become $WR$ and $ZR$, and $ZW^\top$ stays. $R$ may reflect. Where the two share
/// fewer than $K$ directions, $R$ is one of several minimisers, the same one for the same input.
///
/// # Errors
/// [`AlignmentError::Shape`], [`AlignmentError::NotFinite`], [`AlignmentError::Linalg`] where the decomposition does not
/// converge.
pub fn orthogonal_procrustes(
    reference: MatRef<'_, f64>,
    draw: MatRef<'_, f64>,
) -> Result<Mat<f64>, AlignmentError> {
    same("rows of the draw", reference.nrows(), draw.nrows())?;
    same("columns of the draw", reference.ncols(), draw.ncols())?;
    all_finite("reference", reference)?;
    all_finite("draw", draw)?;
    // neither scale matters, and so no product overflows
    let product = cross(shrunk(draw).as_ref(), shrunk(reference).as_ref());
    let svd = thin_svd(product.as_ref())?;
    Ok(cross(svd.u.transpose(), svd.v.transpose()))
}

/// The matrix divided by its largest absolute entry.
fn shrunk(matrix: MatRef<'_, f64>) -> Mat<f64> {
    let largest = matrix.norm_max();
    let divisor = if largest > 0.0 { largest } else { 1.0 };
    Mat::from_fn(matrix.nrows(), matrix.ncols(), |i, j| {
        matrix[(i, j)] / divisor
    })
}

//! Aligning a draw to another.

use super::assignment::best_assignment;
use super::compare::{absolute, all_finite, cross, unit_columns};
use super::{AlignmentError, SignedPermutation, same};
use polyview_linalg::MatRef;

/// The order and the signs that bring the factors of `draw` closest to those of `reference` (both loadings
/// $D \times K$, the views stacked): the signed permutation with the largest total absolute cosine.
///
/// A factor without any resemblance, such as a column of zeros, keeps its sign, and its place as far as that is free.
///
/// ```
/// use polyview_infer::alignment::align_to_reference;
/// use polyview_linalg::faer::mat;
///
/// let reference = mat![[1.0, 0.0], [2.0, 0.1], [0.0, 3.0]];
/// let draw = mat![[0.1, -1.1], [0.0, -1.9], [2.9, 0.1]];
/// let alignment = align_to_reference(reference.as_ref(), draw.as_ref())?;
/// assert_eq!(alignment.order(), [1, 0]);
/// assert_eq!(alignment.signs(), [-1.0, 1.0]);
/// assert_eq!(alignment.apply(draw.as_ref())?[(1, 0)], 1.9);
/// # Ok::<(), polyview_infer::alignment::AlignmentError>(())
/// ```
///
/// # Errors
/// [`AlignmentError::Shape`], [`AlignmentError::NotFinite`].
pub fn align_to_reference(
    reference: MatRef<'_, f64>,
    draw: MatRef<'_, f64>,
) -> Result<SignedPermutation, AlignmentError> {
    same("rows of the draw", reference.nrows(), draw.nrows())?;
    same("columns of the draw", reference.ncols(), draw.ncols())?;
    all_finite("reference", reference)?;
    all_finite("draw", draw)?;
    let cosines = cross(
        unit_columns(reference).as_ref(),
        unit_columns(draw).as_ref(),
    );
    let k = cosines.nrows();
    let mut of: Vec<usize> = best_assignment(absolute(&cosines).as_ref())?
        .into_iter()
        .map(|c| c.expect("as many columns as rows: every row has one"))
        .collect();
    // Factors matched without resemblance: any order among them is as good, so the one that moves least.
    let loose: Vec<usize> = (0..k).filter(|&r| cosines[(r, of[r])] == 0.0).collect();
    let mut free = vec![false; k];
    for &r in &loose {
        free[of[r]] = true;
    }
    let stay: Vec<bool> = (0..k).map(|r| free[r] && loose.contains(&r)).collect();
    let mut rest = (0..k).filter(|&c| free[c] && !stay[c]);
    for &r in &loose {
        of[r] = if stay[r] {
            r
        } else {
            rest.next()
                .expect("as many free columns as rows without resemblance")
        };
    }
    let sign = of
        .iter()
        .enumerate()
        .map(|(r, &c)| if cosines[(r, c)] < 0.0 { -1.0 } else { 1.0 })
        .collect();
    SignedPermutation::new(of, sign)
}

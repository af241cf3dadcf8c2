//! Least squares along a path of penalties.

use polyview_linalg::{Mat, MatRef, cross, gram, solve_spd};

use super::{place, rows, scores, splits};
use crate::BaselineError;

/// Least squares of all targets, each with its own penalty of the path, and what is said of each sample
/// by the fit without its fold.
pub(super) fn squares(
    x: MatRef<'_, f64>,
    y: MatRef<'_, f64>,
    path: &[f64],
    fold: &[usize],
) -> Result<(Mat<f64>, Vec<f64>, Mat<f64>), BaselineError> {
    let mut losses = Mat::<f64>::zeros(path.len(), y.ncols());
    let splits = splits(fold);
    let mut said = vec![Mat::full(x.nrows(), y.ncols(), f64::NAN); path.len()];
    for (inside, outside) in &splits {
        let (seen, known) = (rows(x, outside), rows(y, outside));
        let (new, truth) = (rows(x, inside), rows(y, inside));
        for (p, beta) in least_squares(&seen, &known, path)?.iter().enumerate() {
            let score = scores(new.as_ref(), beta);
            for d in 0..y.ncols() {
                place(&score, d, inside, (&mut said[p], d));
                for n in 0..inside.len() {
                    losses[(p, d)] += (truth[(n, d)] - score[(n, d)]).powi(2);
                }
            }
        }
    }
    let all = least_squares(&x.to_owned(), &y.to_owned(), path)?;
    let mut chosen = Mat::zeros(1 + x.ncols(), y.ncols());
    let mut penalties = Vec::with_capacity(y.ncols());
    let mut held = Mat::full(x.nrows(), y.ncols(), f64::NAN);
    for d in 0..y.ncols() {
        let best = (0..path.len()).fold(0, |best, p| {
            // of equal ones the weaker, where anything was compared
            let better = !splits.is_empty() && losses[(p, d)] <= losses[(best, d)];
            if better { p } else { best }
        });
        chosen
            .col_as_slice_mut(d)
            .copy_from_slice(all[best].col_as_slice(d));
        penalties.push(path[best]);
        held.col_as_slice_mut(d)
            .copy_from_slice(said[best].col_as_slice(d));
    }
    Ok((chosen, penalties, held))
}

/// Coefficients for every penalty of the path; the intercepts have none.
fn least_squares(x: &Mat<f64>, y: &Mat<f64>, path: &[f64]) -> Result<Vec<Mat<f64>>, BaselineError> {
    let (n, p) = (x.nrows() as f64, x.ncols());
    let mean = |m: &Mat<f64>, d: usize| m.col_as_slice(d).iter().sum::<f64>() / n;
    let of_x: Vec<f64> = (0..p).map(|d| mean(x, d)).collect();
    let of_y: Vec<f64> = (0..y.ncols()).map(|d| mean(y, d)).collect();
    let centred = |m: &Mat<f64>, means: &[f64]| {
        Mat::from_fn(m.nrows(), m.ncols(), |n, d| m[(n, d)] - means[d])
    };
    let (x, y) = (centred(x, &of_x), centred(y, &of_y));
    let product = gram(x.as_ref()).to_mat();
    let rhs = cross(x.as_ref(), y.as_ref());
    path.iter()
        .map(|penalty| {
            let mut matrix = product.clone();
            for i in 0..p {
                matrix[(i, i)] += penalty;
            }
            let slopes = solve_spd(matrix.as_ref(), rhs.as_ref())?;
            Ok(Mat::from_fn(1 + p, y.ncols(), |i, d| {
                if i > 0 {
                    slopes[(i - 1, d)]
                } else {
                    of_y[d] - (0..p).map(|j| of_x[j] * slopes[(j, d)]).sum::<f64>()
                }
            }))
        })
        .collect()
}

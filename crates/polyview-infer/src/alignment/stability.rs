//! Agreement between fits.

use super::assignment::best_assignment;
use super::compare::{absolute, all_finite, cross, unit_columns};
use super::{AlignmentError, same};
use polyview_linalg::{Mat, MatRef};

/// How far several fits agree on their factors.
#[derive(Clone, Debug, PartialEq)]
pub struct Stability {
    /// Agreement of every two fits, symmetric, ones on the diagonal.
    pub pairwise: Mat<f64>,
    /// Its mean over the pairs.
    pub mean: f64,
}

/// Agreement of restarts: for each two of `runs` (loadings $D \times K\_r$), the matched absolute cosines of their
/// factors, averaged over the factors of the larger fit, so that a factor without partner counts 0.
///
/// Columns of zeros (pruned factors) are no factors; two fits without any agree fully.
///
/// # Errors
/// [`AlignmentError::TooFew`] for fewer than two runs, [`AlignmentError::Shape`] where the numbers of features differ,
/// [`AlignmentError::NotFinite`].
pub fn stability(runs: &[MatRef<'_, f64>]) -> Result<Stability, AlignmentError> {
    if runs.len() < 2 {
        return Err(AlignmentError::TooFew {
            what: "runs",
            needed: 2,
            found: runs.len(),
        });
    }
    let mut units = Vec::with_capacity(runs.len());
    for run in runs {
        same("rows of a run", runs[0].nrows(), run.nrows())?;
        all_finite("run", *run)?;
        let unit = unit_columns(*run);
        let used: Vec<usize> = (0..unit.ncols())
            .filter(|&k| unit.col(k).iter().any(|&x| x != 0.0))
            .collect();
        units.push(Mat::from_fn(unit.nrows(), used.len(), |i, k| {
            unit[(i, used[k])]
        }));
    }
    let mut pairwise = Mat::identity(runs.len(), runs.len());
    let mut sum = 0.0;
    for b in 0..units.len() {
        for a in 0..b {
            let cosines = absolute(&cross(units[a].as_ref(), units[b].as_ref()));
            let matched: f64 = best_assignment(cosines.as_ref())?
                .iter()
                .enumerate()
                .filter_map(|(r, c)| c.map(|c| cosines[(r, c)]))
                .sum();
            let larger = cosines.nrows().max(cosines.ncols());
            let agreement = if larger == 0 {
                1.0
            } else {
                matched / larger as f64
            };
            pairwise[(a, b)] = agreement;
            pairwise[(b, a)] = agreement;
            sum += agreement;
        }
    }
    let pairs = runs.len() * (runs.len() - 1) / 2;
    Ok(Stability {
        pairwise,
        mean: sum / pairs as f64,
    })
}

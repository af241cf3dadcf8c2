//! Recovery of known factors, and agreement between fits.

use super::assignment::best_assignment;
use super::compare::{absolute, all_finite, cross, standardised, unit_columns};
use super::{AlignmentError, same};
use polyview_linalg::{Mat, MatRef};

/// How well known factors were recovered.
#[derive(Clone, Debug, PartialEq)]
pub struct FactorMatch {
    /// Estimated factor assigned to each true one; `None` where there are too few.
    pub of: Vec<Option<usize>>,
    /// Correlation with the assigned factor, signed; 0 where there is none.
    pub correlation: Vec<f64>,
    /// Largest absolute correlation with any estimated factor, assigned or not.
    pub best: Vec<f64>,
}

impl FactorMatch {
    /// The worst recovered factor's absolute correlation with what was assigned to it; `None` where no factor was asked
    /// for.
    pub fn worst(&self) -> Option<f64> {
        self.correlation.iter().map(|x| x.abs()).reduce(f64::min)
    }
}

/// Matches estimated factor scores ($N \times K\_2$) to the true ones ($N \times K\_1$), one to one, by the largest total
/// absolute correlation over samples.
///
/// A constant column has correlation 0 with everything.
///
/// # Errors
/// [`AlignmentError::Shape`] where the numbers of samples differ, [`AlignmentError::NotFinite`],
/// [`AlignmentError::TooFew`] for fewer than two samples.
pub fn match_factors(
    true_factors: MatRef<'_, f64>,
    estimated: MatRef<'_, f64>,
) -> Result<FactorMatch, AlignmentError> {
    let samples = true_factors.nrows();
    same("rows of the estimated factors", samples, estimated.nrows())?;
    if samples < 2 {
        return Err(AlignmentError::TooFew {
            what: "samples",
            needed: 2,
            found: samples,
        });
    }
    all_finite("true factors", true_factors)?;
    all_finite("estimated factors", estimated)?;
    let correlations = cross(
        standardised(true_factors).as_ref(),
        standardised(estimated).as_ref(),
    );
    let of = best_assignment(absolute(&correlations).as_ref())?;
    Ok(FactorMatch {
        correlation: of
            .iter()
            .enumerate()
            .map(|(r, c)| c.map_or(0.0, |c| correlations[(r, c)]))
            .collect(),
        best: (0..correlations.nrows())
            .map(|r| {
                correlations
                    .row(r)
                    .iter()
                    .fold(0.0, |m: f64, x| m.max(x.abs()))
            })
            .collect(),
        of,
    })
}

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

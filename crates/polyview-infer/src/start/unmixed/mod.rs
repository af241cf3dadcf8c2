//! Factors turned, and made oblique, to where their loadings are sparse (docs/decisions/0105-starts-are-completed-and-unmixed.md).

mod entries;
mod search;

use polyview_linalg::{LinalgError, Mat, MatRef, inverse, times_small};

use super::by_varimax;
use search::Search;

/// Loadings have to say so much more of oblique factors than of those of varimax, as a multiple of what their K(K - 1) numbers cost by the criterion of
/// Schwarz (1978).
const CLEAR: f64 = 2.0;
/// Errors are at first as wide as so much of the mean square of a loading.
const WIDEST: f64 = 0.1;
/// Features that are looked at, at most: those that stand out most from noise.
const FEATURES: usize = 3000;
/// Noise of a loading is at least this share of the mean square of a loading.
const LEAST_NOISE: f64 = 1e-10;

/// Factors (samples × K) with mean square 1 a column, by what their `loadings` (features × K) say: those of $ZA^{-1}$, of which the
/// loadings are $WA^\top$, where these are sparse ([`Search`]), with the error of a loading by the squares that are `left` of each feature. It begins at the
/// rotation of varimax with wide errors, which narrow. Where loadings do not clearly say that they are sparse the factors stay as varimax has
/// them.
///
/// # Errors
/// [`LinalgError`] when loadings are not finite.
pub(super) fn unmixed(
    factors: MatRef<'_, f64>,
    loadings: MatRef<'_, f64>,
    left: &[f64],
) -> Result<Mat<f64>, LinalgError> {
    let (rows, k) = factors.shape();
    let rotation = by_varimax(factors, loadings)?;
    let turned = times_small(factors, rotation.as_ref());
    let weights = times_small(loadings, rotation.as_ref());
    let squares = |d: usize| weights.row(d).iter().map(|w| w * w).sum::<f64>();
    let size = (0..weights.nrows()).map(squares).sum::<f64>() / (weights.nrows() * k) as f64;
    if size <= 0.0 || !size.is_finite() {
        return Ok(turned);
    }
    let n = rows as f64;
    let freedom = n * rows.saturating_sub(k).max(1) as f64;
    let noise = |d: usize| (left[d].max(0.0) / freedom).max(LEAST_NOISE * size);
    let stands_out = |d: usize| squares(d) / noise(d);
    let mut features: Vec<usize> = (0..weights.nrows()).collect();
    if features.len() > FEATURES {
        features.sort_by(|a, b| stands_out(*b).total_cmp(&stands_out(*a)).then(a.cmp(b)));
        features.truncate(FEATURES);
        features.sort_unstable();
    }
    let of = |d: usize, j: usize| weights[(features[d], j)];
    let loadings = Mat::from_fn(features.len(), k, of);
    let noise: Vec<f64> = features.iter().map(|d| noise(*d)).collect();
    let mean = noise.iter().sum::<f64>() / noise.len() as f64;
    let samples = n * features.len() as f64 / weights.nrows() as f64;
    let mut search = Search::new(loadings, (noise, size), samples);
    let turned_alone = search.settled();
    search.narrow(WIDEST * size / mean)?;
    let pairs = (k * (k - 1)) as f64;
    if search.settled() - turned_alone < CLEAR * 0.5 * pairs * (features.len() as f64).ln() {
        return Ok(turned);
    }
    let back = inverse(search.found())?;
    let mut out = times_small(turned.as_ref(), back.as_ref());
    for j in 0..k {
        let own = out.col_as_slice_mut(j);
        let size = (own.iter().map(|x| x * x).sum::<f64>() / n).sqrt();
        for x in own {
            *x /= size;
        }
    }
    Ok(out)
}

#[cfg(test)]
mod tests {
    use polyview_linalg::thin_svd;

    use super::super::seeded as normal;
    use super::*;

    fn correlation(a: &[f64], b: &[f64]) -> f64 {
        let dot = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f64>();
        (dot(a, b) / (dot(a, a) * dot(b, b)).sqrt()).abs()
    }

    /// Least correlation of a true factor with one that was found.
    fn worst(truth: &Mat<f64>, found: &Mat<f64>) -> f64 {
        let best = |j: usize| {
            let own = truth.col_as_slice(j);
            let of = |i: usize| correlation(own, found.col_as_slice(i));
            (0..found.ncols()).map(of).fold(0.0, f64::max)
        };
        (0..truth.ncols()).map(best).fold(1.0, f64::min)
    }

    /// Factors of sparse loadings that are correlated in the sample, given as principal components: with little noise they are found as they are, where
    /// varimax, which leaves them uncorrelated, mixes them; more features than are looked at make no difference.
    #[test]
    fn factors_of_sparse_loadings_are_found_oblique() {
        let (n, k, sd) = (100, 4, 0.01);
        for (seed, d) in [(1, 60), (2, 60), (3, 5000)] {
            let (z, w, e) = (
                normal(n, k, seed),
                normal(d, k, seed + 50),
                normal(n, d, seed + 90),
            );
            let on = normal(d, k, seed + 70);
            let w = Mat::from_fn(d, k, |d, j| if on[(d, j)] > 0.5 { w[(d, j)] } else { 0.0 });
            let x = &z * w.transpose() + e * sd;
            let svd = thin_svd(x.as_ref()).expect("a decomposition");
            let root = (n as f64).sqrt();
            let start = Mat::from_fn(n, k, |n, j| root * svd.u[(n, j)]);
            let loadings = Mat::from_fn(d, k, |d, j| svd.v[(d, j)] * svd.singular_values[j] / root);
            let left = vec![n as f64 * sd * sd; d];
            let found = unmixed(start.as_ref(), loadings.as_ref(), &left).expect("factors");
            let turned = by_varimax(start.as_ref(), loadings.as_ref()).expect("a rotation");
            let turned = times_small(start.as_ref(), turned.as_ref());
            let (own, varimax) = (worst(&z, &found), worst(&z, &turned));
            assert!(
                own > 0.9995 && varimax < 0.998,
                "seed {seed}: {own} {varimax}"
            );
            for j in 0..k {
                let square = found.col(j).iter().map(|x| x * x).sum::<f64>() / n as f64;
                assert!((square - 1.0).abs() < 1e-12);
            }
        }
    }

    #[test]
    fn what_has_no_loadings_is_left_as_it_is() {
        let z = normal(10, 2, 1);
        let none = unmixed(z.as_ref(), Mat::zeros(5, 2).as_ref(), &[1.0; 5]).expect("factors");
        assert!(none.col_iter().all(|c| c.iter().all(|x| x.is_finite())));
        // no noise at all
        let (w, left) = (normal(5, 2, 2), [0.0; 5]);
        let out = unmixed(z.as_ref(), w.as_ref(), &left).expect("factors");
        assert!(out.col_iter().all(|c| c.iter().all(|x| x.is_finite())));
    }
}

//! Factors beyond those that are known.

use polyview_linalg::{
    LinalgError, LinearOperator, Mat, MatRef, TruncatedSvdOptions, cross, solve_spd, thin_qr,
    times_small, truncated_svd,
};
use polyview_random::StreamKey;

use super::{fits, noise, normal_columns};

/// Of a column less than this share of its squares is rounding, and so is as much of the squares of a factor.
const ROUNDING: f64 = 1e-10;

/// What known factors leave of the products of the columns, each by its noise: $\Psi^{-1/2}(X'X - WAW')\Psi^{-1/2}$.
struct Left<'a, D> {
    data: &'a D,
    /// Weights of the known factors, columns × known.
    weights: Mat<f64>,
    /// Second moments of the known factors, summed over the rows.
    second: Mat<f64>,
    /// By which each column is multiplied.
    scale: Vec<f64>,
}

impl<D: LinearOperator> Left<'_, D> {
    fn scaled(&self, mut of: Mat<f64>) -> Mat<f64> {
        for j in 0..of.ncols() {
            for (x, scale) in of.col_as_slice_mut(j).iter_mut().zip(&self.scale) {
                *x *= scale;
            }
        }
        of
    }
}

impl<D: LinearOperator> LinearOperator for Left<'_, D> {
    fn nrows(&self) -> usize {
        self.data.ncols()
    }
    fn ncols(&self) -> usize {
        self.data.ncols()
    }
    fn apply(&self, b: MatRef<'_, f64>) -> Mat<f64> {
        let own = self.scaled(b.to_owned());
        let mut out = self
            .data
            .apply_transpose(self.data.apply(own.as_ref()).as_ref());
        if self.second.ncols() > 0 {
            let said = times_small(
                self.second.as_ref(),
                cross(self.weights.as_ref(), own.as_ref()).as_ref(),
            );
            out -= times_small(self.weights.as_ref(), said.as_ref());
        }
        self.scaled(out)
    }
    fn apply_transpose(&self, b: MatRef<'_, f64>) -> Mat<f64> {
        self.apply(b)
    }
}

/// Factors beyond known ones, and what the data say of these.
#[derive(Clone, Debug)]
pub struct MoreFactors {
    /// Loadings of the known factors, features × known.
    pub loadings: Mat<f64>,
    /// Squares of each feature that the known factors leave, summed over the samples.
    pub left: Vec<f64>,
    /// Samples × as many as were asked for, with mean square 1 a column: the directions along which data vary most beside
    /// the known factors, each feature by its noise.
    pub factors: Mat<f64>,
    /// So many of the first vary more than noise does.
    pub above_noise: usize,
}

/// Directions of centred data (samples × features,
/// of which nothing but products is asked, and the sums of `squares` of its columns) beside known factors, `most` of
/// them, or as many as there are features. Of the known factors there are the means, samples × any number, and
/// their covariances, summed over the samples. Every feature counts by its noise, so that
/// noise which differs by feature is no direction
/// (docs/decisions/0108-dense-weights-first.md).
///
/// # Errors
/// [`LinalgError`] when data or factors are not finite, or of shapes that do not fit.
pub fn more_factors(
    (data, squares): (&impl LinearOperator, &[f64]),
    (known, covariances): (MatRef<'_, f64>, MatRef<'_, f64>),
    most: usize,
    key: StreamKey,
) -> Result<MoreFactors, LinalgError> {
    let (rows, columns, k) = (data.nrows(), data.ncols(), known.ncols());
    for (what, expected, found) in [
        ("more_factors: squares of columns", columns, squares.len()),
        (
            "more_factors: samples of the known factors",
            rows,
            known.nrows(),
        ),
        (
            "more_factors: rows of the covariances",
            k,
            covariances.nrows(),
        ),
        (
            "more_factors: columns of the covariances",
            k,
            covariances.ncols(),
        ),
    ] {
        fits(what, expected, found)?;
    }
    let mut left = squares.to_vec();
    let mut second = cross(known, known);
    second += covariances;
    let weights = if k > 0 {
        // columns that say the same share what they say
        for j in 0..k {
            second[(j, j)] *= 1.0 + ROUNDING;
            second[(j, j)] += ROUNDING;
        }
        let products = data.apply_transpose(known);
        let weights = solve_spd(second.as_ref(), products.transpose())?;
        for (d, x) in left.iter_mut().enumerate() {
            *x -= (0..k)
                .map(|j| weights[(j, d)] * products[(d, j)])
                .sum::<f64>();
        }
        weights.transpose().to_owned()
    } else {
        Mat::zeros(columns, 0)
    };
    if most == 0 {
        return Ok(MoreFactors {
            loadings: weights,
            left,
            factors: Mat::zeros(rows, 0),
            above_noise: 0,
        });
    }
    let is_left = |d: usize| left[d] > ROUNDING * squares[d];
    let scale = |d: usize| {
        if is_left(d) {
            left[d].sqrt().recip()
        } else {
            0.0
        }
    };
    let own = Left {
        data,
        weights,
        second,
        scale: (0..columns).map(scale).collect(),
    };
    let ones: Vec<f64> = (0..columns)
        .map(|d| f64::from(u8::from(is_left(d))))
        .collect();
    let options = TruncatedSvdOptions {
        power_iterations: 4,
        tolerance: 1e-3,
        ..TruncatedSvdOptions::new(most.min(columns))
    };
    let test = normal_columns(columns, options.width().min(columns), key.block(6));
    let svd = truncated_svd(&own, &options, test.as_ref())?;
    let values: Vec<f64> = svd
        .singular_values
        .iter()
        .take(most)
        .map(|x| x.sqrt())
        .collect();
    let (above_noise, _) = noise::above_noise(&values, svd.v.as_ref(), &ones, (rows, 0));
    let all = values.len();
    let mut out = data.apply(own.scaled(svd.v.subcols(0, all).to_owned()).as_ref());
    if k > 0 {
        let (basis, _) = thin_qr(known)?;
        let said = cross(basis.as_ref(), out.as_ref());
        out -= times_small(basis.as_ref(), said.as_ref());
    }
    for j in 0..all {
        let column = out.col_as_slice_mut(j);
        let square = column.iter().map(|x| x * x).sum::<f64>() / rows as f64;
        let by = if square > 0.0 {
            square.sqrt().recip()
        } else {
            0.0
        };
        for x in column {
            *x *= by;
        }
    }
    Ok(MoreFactors {
        loadings: own.weights,
        left,
        factors: out,
        above_noise,
    })
}

#[cfg(test)]
mod tests {
    use super::super::seeded;
    use super::*;

    /// Factors of features whose noise is a hundredth of that of others are found beside these, and beyond the first.
    #[test]
    fn factors_of_quiet_features_are_found() {
        let (rows, columns) = (4000, 20);
        let (z, e) = (seeded(rows, 3, 1), seeded(rows, columns, 2));
        let sd = |d: usize| if d < 10 { 0.05 } else { 5.0 };
        let weight = |d: usize, k: usize| match (d, k) {
            (10.., 0) => 3.0,
            (0..5, 1) | (5..10, 2) => 0.05,
            _ => 0.0,
        };
        let x = Mat::from_fn(rows, columns, |n, d| {
            (0..3).map(|k| weight(d, k) * z[(n, k)]).sum::<f64>() + sd(d) * e[(n, d)]
        });
        let squares: Vec<f64> = (0..columns)
            .map(|d| x.col(d).iter().map(|x| x * x).sum())
            .collect();
        let more = |known: MatRef<'_, f64>, most: usize| {
            let data = (&x.as_ref(), &squares[..]);
            let exact = Mat::zeros(known.ncols(), known.ncols());
            let known = (known, exact.as_ref());
            more_factors(data, known, most, StreamKey::new(4)).expect("factors")
        };
        let none = Mat::zeros(rows, 0);
        let all = more(none.as_ref(), 10);
        assert_eq!((all.factors.ncols(), all.above_noise), (10, 3));
        for k in 0..10 {
            let square = all.factors.col(k).iter().map(|x| x * x).sum::<f64>() / rows as f64;
            assert!((square - 1.0).abs() < 1e-6, "{square}");
        }
        assert_eq!(more(none.as_ref(), 2).above_noise, 2);
        // beside the first two true ones the third is left, and beside all none
        let third = more(z.subcols(0, 2), 10);
        assert_eq!(third.above_noise, 1);
        let (found, truth) = (third.factors.col(0), z.col(2));
        let r = found
            .iter()
            .zip(truth.iter())
            .map(|(a, b)| a * b)
            .sum::<f64>()
            / rows as f64;
        assert!(r.abs() > 0.9, "{r}");
        assert_eq!(more(z.as_ref(), 10).above_noise, 0);
        // no more than features
        assert_eq!(more(none.as_ref(), 50).factors.ncols(), columns);
        // what does not fit is refused
        let (exact, key) = (Mat::zeros(3, 3), StreamKey::new(4));
        let refused = |squares: &[f64], known: MatRef<'_, f64>| {
            let data = (&x.as_ref(), squares);
            more_factors(data, (known, exact.as_ref()), 2, key).is_err()
        };
        assert!(refused(&squares[1..], z.as_ref()));
        assert!(refused(&squares, z.subcols(0, 2)));
        assert!(refused(&squares, z.subrows(0, 7)));
        assert!(!refused(&squares, z.as_ref()));
    }
}

//! Where latent rows start: principal factors of the similarities (spec/mlfs 4.8).

use polyview_core::DataError;
use polyview_linalg::{
    LinalgError, LinearOperator, Mat, MatRef, TruncatedSvdOptions, times_small, truncated_svd,
};
use polyview_random::{StreamKey, standard_normal};

use super::pairs::Similarities;

/// Rounds in which diagonal and missing cells follow the factors.
const ROUNDS: usize = 3;
/// Least size of a direction, as a share of the largest one: smaller ones could not grow.
const LEAST: f64 = 1e-3;

/// A symmetric matrix.
struct Symmetric(Mat<f64>);

impl LinearOperator for Symmetric {
    fn nrows(&self) -> usize {
        self.0.nrows()
    }
    fn ncols(&self) -> usize {
        self.0.ncols()
    }
    fn apply(&self, b: MatRef<'_, f64>) -> Mat<f64> {
        times_small(self.0.as_ref(), b)
    }
    fn apply_transpose(&self, b: MatRef<'_, f64>) -> Mat<f64> {
        times_small(self.0.as_ref(), b)
    }
}

/// Eigenvalues of the largest size, signed, with their vectors.
fn leading(matrix: Mat<f64>, k: usize) -> Result<(Vec<f64>, Mat<f64>), LinalgError> {
    let n = matrix.nrows();
    let options = TruncatedSvdOptions::new(k.min(n));
    let mut rng = StreamKey::new(0).rng();
    let mut start = Mat::zeros(n, options.width().min(n));
    for j in 0..start.ncols() {
        for x in start.col_as_slice_mut(j) {
            *x = standard_normal(&mut rng);
        }
    }
    let found = truncated_svd(&Symmetric(matrix), &options, start.as_ref())?;
    let signed = |j: usize| {
        let dot: f64 = (found.u.col_as_slice(j).iter())
            .zip(found.v.col_as_slice(j))
            .map(|(u, v)| u * v)
            .sum();
        found.singular_values[j] * dot.signum()
    };
    let values = (0..found.singular_values.len()).map(signed).collect();
    Ok((values, found.u))
}

/// Starting means of the rows, K × samples; zero for samples without a similarity.
///
/// # Errors
/// [`DataError::NegativeDefinite`]; [`DataError::TooManyDimensions`] where there are not more
/// samples than dimensions.
pub(super) fn rows(view: &str, data: &Similarities, k: usize) -> Result<Mat<f64>, DataError> {
    let samples = data.samples();
    let seen: Vec<usize> = (0..samples).filter(|&n| data.count(n) > 0).collect();
    let n = seen.len();
    if k >= n {
        return Err(DataError::TooManyDimensions {
            view: view.to_owned(),
            dimensions: k,
            samples: n,
        });
    }
    let failed = |_| DataError::NegativeDefinite {
        view: view.to_owned(),
    };
    let mean = {
        let all = seen.iter().flat_map(|&i| data.of(i)).map(|(_, x)| x);
        all.sum::<f64>() / data.total().max(1) as f64
    };
    let mut table: Mat<f64> = Mat::full(n, n, mean);
    let mut place = vec![0; samples];
    for (a, &i) in seen.iter().enumerate() {
        place[i] = a;
    }
    for (a, &i) in seen.iter().enumerate() {
        let column = table.col_as_slice_mut(a);
        let mut most = 0.0_f64;
        for (j, x) in data.of(i) {
            column[place[j]] = x;
            most = most.max(x);
        }
        // no pair is more alike than a sample and itself
        column[a] = most;
    }
    if about_mean(&table, k).map_err(failed)? {
        return Err(DataError::NegativeDefinite {
            view: view.to_owned(),
        });
    }
    let mut out: Mat<f64> = Mat::zeros(k, n);
    for _ in 0..ROUNDS {
        let (values, vectors) = leading(table.clone(), k).map_err(failed)?;
        let largest = values.iter().fold(0.0_f64, |m, x| m.max(*x));
        if largest <= 0.0 {
            return Err(DataError::NegativeDefinite {
                view: view.to_owned(),
            });
        }
        for (l, value) in values.iter().enumerate() {
            let size = value.max(LEAST * largest).sqrt();
            for a in 0..n {
                out[(l, a)] = size * vectors[(a, l)];
            }
        }
        let product = |a: usize, b: usize| -> f64 {
            let (x, y) = (out.col_as_slice(a), out.col_as_slice(b));
            x.iter().zip(y).map(|(x, y)| x * y).sum()
        };
        for (a, &i) in seen.iter().enumerate() {
            table[(a, a)] = product(a, a);
            for (b, &j) in seen.iter().enumerate().take(a) {
                if !data.is_seen(i, j) {
                    table[(a, b)] = product(a, b);
                    table[(b, a)] = table[(a, b)];
                }
            }
        }
    }
    let mut all: Mat<f64> = Mat::zeros(k, samples);
    for (a, &i) in seen.iter().enumerate() {
        all.col_as_slice_mut(i).copy_from_slice(out.col_as_slice(a));
    }
    Ok(all)
}

/// Whether the leading eigenvalues of the table about its means are more negative than positive.
fn about_mean(table: &Mat<f64>, k: usize) -> Result<bool, LinalgError> {
    let n = table.nrows();
    let means: Vec<f64> = (0..n)
        .map(|a| table.col_as_slice(a).iter().sum::<f64>() / n as f64)
        .collect();
    let all = means.iter().sum::<f64>() / n as f64;
    let about = Mat::from_fn(n, n, |a, b| table[(a, b)] - means[a] - means[b] + all);
    let (values, _) = leading(about, k)?;
    let squares = |positive: bool| -> f64 {
        let of = values.iter().filter(|x| (**x > 0.0) == positive);
        of.map(|x| x * x).sum()
    };
    Ok(squares(false) > squares(true))
}

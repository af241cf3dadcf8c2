//! Where a run starts from (spec/sshiba 5, 9.5; docs/decisions/0003-start-and-order.md).

mod beyond;
mod completed;
mod noise;
mod unmixed;

use polyview_linalg::{
    Holes, KaiserNormalisation, LinalgError, LinearOperator, Mat, MatRef, TruncatedSvdOptions,
    VarimaxOptions, times_small, truncated_svd, varimax,
};
use polyview_random::{StreamKey, fill_standard_normal};
use serde::{Deserialize, Serialize};

pub use beyond::{MoreFactors, more_factors};

/// How factors are started.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Start {
    /// Truncated SVD of the views side by side, then varimax of the directions that are more than noise
    /// (docs/decisions/0101-noise-is-not-turned.md).
    #[default]
    Varimax,
    /// Truncated SVD alone.
    Svd,
    /// Standard normal noise.
    Random,
}

/// Whether samples are so many times the features that directions which are no more than noise are no start: factors that
/// begin there explain the noise of single features, and need as many more sweeps to leave it to the noise as there are
/// more samples (docs/decisions/0107-noise-of-many-samples.md). `samples` are all, `features` those of all views.
pub fn many_samples(samples: usize, features: usize) -> bool {
    samples > MANY * features
}

/// Samples per feature that are many.
const MANY: usize = 50;

/// Starting factors, samples × K, with mean square 1 a column, of centred data
/// (samples × features) of which nothing but products is asked and the sums of `squares` of its columns.
///
/// For weights that choose their entries `sparse` says where cells are missing, if anywhere: these are completed by what the
/// leading directions say of them, and directions that are more than noise are turned further, and made oblique, to where
/// loadings are sparse (docs/decisions/0105-starts-are-completed-and-unmixed.md), as such weights cannot be turned later on.
///
/// Restart 0 is the plain start; later ones turn it by a random rotation and
/// add a tenth of noise from the span of the data. Factors beyond as many as the data have
/// samples or features start at noise, and so do those beyond the directions that are more than noise
/// where samples are many times the features (docs/decisions/0107-noise-of-many-samples.md).
///
/// # Errors
/// [`LinalgError`] when the data are not finite.
pub fn start_factors(
    start: Start,
    (data, squares): (&impl LinearOperator, &[f64]),
    sparse: Option<&[Holes<'_>]>,
    k: usize,
    key: StreamKey,
    restart: usize,
) -> Result<Mat<f64>, LinalgError> {
    let rows = data.nrows();
    let key = key.chain(restart as u32);
    if start == Start::Random {
        return Ok(normal_columns(rows, k, key.block(1)));
    }
    // a start, not an answer: directions that matter stand out after a few
    // passes, and the sweeps do the rest
    let options = TruncatedSvdOptions {
        power_iterations: 4,
        tolerance: 1e-3,
        ..TruncatedSvdOptions::new(k.min(rows).min(data.ncols()))
    };
    // the test matrix is the same for all restarts: they share the SVD
    let test = normal_columns(
        data.ncols(),
        options.width().min(data.ncols()),
        key.chain(0).block(2),
    );
    let mut svd = truncated_svd(data, &options, test.as_ref())?;
    let mut squares = squares.to_vec();
    if let Some(holes) = sparse {
        let how = (&options, test.as_ref());
        svd = completed::completed((data, holes), &mut squares, svd, how)?;
    }
    let all = svd.u.ncols().min(k);
    let root = (rows as f64).sqrt();
    let (found, left) = match start {
        Start::Varimax => {
            let values = &svd.singular_values[..all];
            noise::above_noise(values, svd.v.as_ref(), &squares, (rows, 0))
        }
        Start::Svd | Start::Random => (0, Vec::new()),
    };
    let many = many_samples(rows, data.ncols());
    let taken = match start {
        Start::Varimax if many => found,
        _ => all,
    };
    let rest = normal_columns(rows, k - taken, key.block(3));
    let mut z = Mat::from_fn(rows, k, |n, j| match j.checked_sub(taken) {
        None => root * svd.u[(n, j)],
        Some(j) => rest[(n, j)],
    });
    if found > 1 {
        let loadings = Mat::from_fn(svd.v.nrows(), found, |d, j| {
            svd.v[(d, j)] * svd.singular_values[j] / root
        });
        let head = z.as_ref().subcols(0, found);
        let head = match sparse {
            None => turned_by_varimax(head, loadings.as_ref())?,
            Some(_) => unmixed::unmixed(head, loadings.as_ref(), &left)?,
        };
        z.as_mut().subcols_mut(0, found).copy_from(&head);
    }
    if restart > 0 {
        let (q, _) = polyview_linalg::thin_qr(normal_columns(k, k, key.block(4)).as_ref())?;
        z = times_small(z.as_ref(), q.as_ref());
        let noise = data.apply(normal_columns(data.ncols(), k, key.block(5)).as_ref());
        for j in 0..k {
            let norm = (0..rows).map(|n| noise[(n, j)].powi(2)).sum::<f64>().sqrt();
            if norm > 0.0 {
                for n in 0..rows {
                    z[(n, j)] += 0.1 * root * noise[(n, j)] / norm;
                }
            }
        }
    }
    Ok(z)
}

/// Factors, samples × K, turned by varimax of their loadings, features × K, every feature by its communality (Kaiser 1958).
///
/// # Errors
/// [`LinalgError`] when the loadings are not finite, or of another number of factors.
pub fn turned_by_varimax(
    factors: MatRef<'_, f64>,
    loadings: MatRef<'_, f64>,
) -> Result<Mat<f64>, LinalgError> {
    Ok(times_small(
        factors,
        by_varimax(factors, loadings)?.as_ref(),
    ))
}

/// Factors, samples × K, turned to where their loadings (features × K) are sparse, as those of a start for weights that choose their entries are
/// (docs/decisions/0105-starts-are-completed-and-unmixed.md), with mean square 1 a column; `left` are the squares of each feature that these factors
/// leave, summed over the samples.
///
/// # Errors
/// [`LinalgError`] when the loadings are not finite, or of another number of factors.
pub fn turned_to_sparse(
    factors: MatRef<'_, f64>,
    loadings: MatRef<'_, f64>,
    left: &[f64],
) -> Result<Mat<f64>, LinalgError> {
    fits(
        "turned_to_sparse: columns of the loadings",
        factors.ncols(),
        loadings.ncols(),
    )?;
    fits(
        "turned_to_sparse: features that something is left of",
        loadings.nrows(),
        left.len(),
    )?;
    let size = |k: usize| {
        let squares = factors.col(k).iter().map(|x| x * x).sum::<f64>();
        (squares / factors.nrows().max(1) as f64)
            .sqrt()
            .max(f64::MIN_POSITIVE)
    };
    let sizes: Vec<f64> = (0..factors.ncols()).map(size).collect();
    let of = |n: usize, k: usize| factors[(n, k)] / sizes[k];
    let factors = Mat::from_fn(factors.nrows(), factors.ncols(), of);
    let of = |d: usize, k: usize| loadings[(d, k)] * sizes[k];
    let loadings = Mat::from_fn(loadings.nrows(), loadings.ncols(), of);
    unmixed::unmixed(factors.as_ref(), loadings.as_ref(), left)
}

/// Refuses a number that is not the one that fits.
fn fits(what: &'static str, expected: usize, found: usize) -> Result<(), LinalgError> {
    if expected == found {
        return Ok(());
    }
    Err(LinalgError::ShapeMismatch {
        what,
        expected,
        found,
    })
}

/// The rotation of factors by varimax of their loadings.
fn by_varimax(
    factors: MatRef<'_, f64>,
    loadings: MatRef<'_, f64>,
) -> Result<Mat<f64>, LinalgError> {
    fits(
        "turned_by_varimax: columns of the loadings",
        factors.ncols(),
        loadings.ncols(),
    )?;
    let options = VarimaxOptions {
        normalisation: KaiserNormalisation::Rows,
        ..VarimaxOptions::default()
    };
    Ok(varimax(loadings, &options)?.rotation)
}

/// Standard normal numbers, rows × columns, each column from the chunk of the key that has its number.
pub fn normal_columns(rows: usize, cols: usize, key: StreamKey) -> Mat<f64> {
    let mut out = Mat::zeros(rows, cols);
    let mut line = vec![0.0; rows];
    for j in 0..cols {
        fill_standard_normal(&mut key.chunk(j as u32).rng(), &mut line);
        for (i, x) in line.iter().enumerate() {
            out[(i, j)] = *x;
        }
    }
    out
}

/// Standard normal numbers of a seed.
#[cfg(test)]
fn seeded(rows: usize, columns: usize, seed: u64) -> Mat<f64> {
    normal_columns(rows, columns, StreamKey::new(seed))
}

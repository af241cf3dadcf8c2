//! Principal components, canonical correlation and supervised projections; the last where features are fewer than some thousands
//! (spec/thesis 3.1 to 3.3).

use crate::MvaError;
use crate::centre::{Projection, at_least, centred, finite, same};
use crate::spectrum::{RELATIVE_RANK, leading, pseudo_power};
use polyview_linalg::{Mat, MatRef, cross, thin_svd, times_small};

/// Principal components.
#[derive(Debug, Clone, PartialEq)]
pub struct Pca {
    /// Orthonormal directions and the means.
    pub projection: Projection,
    /// Variance of each component over the training samples, descending (sums of squares over $N$).
    pub variances: Vec<f64>,
    /// Share of the total variance of each component.
    pub shares: Vec<f64>,
}

/// The `components` principal components of `x` ($N \times D$), by its singular value decomposition (spec/thesis 3.1).
/// No more than $\min(N, D)$ are returned.
///
/// # Errors
/// [`MvaError::NotFinite`], [`MvaError::Empty`].
pub fn pca(x: MatRef<'_, f64>, components: usize) -> Result<Pca, MvaError> {
    let (x, mean) = centred("the data", x)?;
    let svd = thin_svd(x.as_ref())?;
    let k = components.min(svd.singular_values.len());
    let total: f64 = svd.singular_values.iter().map(|s| s * s).sum();
    let squares: Vec<f64> = svd.singular_values[..k].iter().map(|s| s * s).collect();
    Ok(Pca {
        projection: Projection::new(mean, svd.v.subcols(0, k).to_owned()),
        variances: squares.iter().map(|s| s / x.nrows() as f64).collect(),
        shares: squares
            .iter()
            .map(|s| if total > 0.0 { s / total } else { 0.0 })
            .collect(),
    })
}

/// Canonical correlation of two views.
#[derive(Debug, Clone, PartialEq)]
pub struct Cca {
    /// Correlations of the two scores of each pair over the training samples; 0 where one does not
    /// vary. Without a ridge they are the canonical correlations.
    pub correlations: Vec<f64>,
    /// Singular values of the whitened cross-covariance, descending: the correlations without a
    /// ridge, and what is left of them by one.
    pub singular_values: Vec<f64>,
    /// Directions of the first view; scores have sum of squares 1 (and the ridge's share).
    pub first: Projection,
    /// Directions of the second view.
    pub second: Projection,
}

/// The `components` leading canonical pairs of `x` ($N \times D\_1$) and `y` ($N \times D\_2$), by one singular value
/// decomposition of $C\_{11}^{-1/2} C\_{12} C\_{22}^{-1/2}$ (spec/thesis 3.2). `ridge` is added to the diagonals of
/// $C\_{11}$ and $C\_{22}$, which are sums over samples; directions without variance are left out. Of views with more
/// features than samples those in which samples vary are found first, and there are no more pairs than of these.
///
/// # Errors
/// [`MvaError::NotFinite`], [`MvaError::Empty`], [`MvaError::Shape`] where samples differ, [`MvaError::OutOfRange`] of
/// a negative ridge.
pub fn cca(
    x: MatRef<'_, f64>,
    y: MatRef<'_, f64>,
    components: usize,
    ridge: f64,
) -> Result<Cca, MvaError> {
    same("samples of the second view", x.nrows(), y.nrows())?;
    at_least("the ridge", ridge, 0.0)?;
    let (x, mean_x) = centred("the first view", x)?;
    let (y, mean_y) = centred("the second view", y)?;
    let ((x, from_x), (y, from_y)) = (of_samples(x)?, of_samples(y)?);
    let root_x = inverse_root(x.as_ref(), ridge)?;
    let root_y = inverse_root(y.as_ref(), ridge)?;
    let between = cross(x.as_ref(), y.as_ref());
    let whitened = times_small(
        times_small(root_x.as_ref(), between.as_ref()).as_ref(),
        root_y.as_ref(),
    );
    let svd = thin_svd(whitened.as_ref())?;
    let k = components.min(svd.singular_values.len());
    let directions = |root: &Mat<f64>, vectors: &Mat<f64>| {
        times_small(root.as_ref(), vectors.as_ref().subcols(0, k))
    };
    let (first, second) = (directions(&root_x, &svd.u), directions(&root_y, &svd.v));
    let (z_x, z_y) = (
        times_small(x.as_ref(), first.as_ref()),
        times_small(y.as_ref(), second.as_ref()),
    );
    let of_features = |from: Option<Mat<f64>>, directions: Mat<f64>| match from {
        Some(v) => times_small(v.as_ref(), directions.as_ref()),
        None => directions,
    };
    Ok(Cca {
        correlations: (0..k)
            .map(|j| correlation(z_x.col_as_slice(j), z_y.col_as_slice(j)))
            .collect(),
        singular_values: svd.singular_values[..k].to_vec(),
        first: Projection::new(mean_x, of_features(from_x, first)),
        second: Projection::new(mean_y, of_features(from_y, second)),
    })
}

/// A centred table with more features than samples in coordinates of the directions in which samples vary, and these,
/// features × directions; other tables as they are. No direction beside these is of use to a ridge, which is the same in all.
fn of_samples(x: Mat<f64>) -> Result<(Mat<f64>, Option<Mat<f64>>), MvaError> {
    if x.ncols() <= x.nrows() {
        return Ok((x, None));
    }
    let svd = thin_svd(x.as_ref())?;
    let squares: Vec<f64> = svd.singular_values.iter().map(|s| s * s).collect();
    let least = RELATIVE_RANK * squares.first().copied().unwrap_or(0.0);
    let rank = squares.iter().filter(|s| **s > least).count().max(1);
    let v = svd.v.as_ref().subcols(0, rank).to_owned();
    Ok((times_small(x.as_ref(), v.as_ref()), Some(v)))
}

/// The correlation of two columns of mean 0; 0 where one is 0 throughout.
fn correlation(a: &[f64], b: &[f64]) -> f64 {
    let product = |a: &[f64], b: &[f64]| -> f64 { a.iter().zip(b).map(|(a, b)| a * b).sum() };
    let size = (product(a, a) * product(b, b)).sqrt();
    if size > 0.0 {
        product(a, b) / size
    } else {
        0.0
    }
}

/// $(C + \rho I)^{-1/2}$ of a centred table.
fn inverse_root(x: MatRef<'_, f64>, ridge: f64) -> Result<Mat<f64>, MvaError> {
    pseudo_power(ridged(x, ridge).as_ref(), -0.5)
}

fn ridged(x: MatRef<'_, f64>, ridge: f64) -> Mat<f64> {
    let mut c = cross(x, x);
    for d in 0..c.nrows() {
        c[(d, d)] += ridge;
    }
    c
}

/// The metric $\Gamma$ of the target in a supervised projection (spec/thesis 3.3).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Metric {
    /// $\Gamma = I$: orthonormalised partial least squares.
    #[default]
    Identity,
    /// $\Gamma = C\_{22}^{-1}$: canonical correlation; eigenvalues are squared correlations.
    Correlation,
}

impl Metric {
    /// $\Gamma^{-p}$ for a target as it is used.
    pub(crate) fn power(self, y: MatRef<'_, f64>, power: f64) -> Result<Mat<f64>, MvaError> {
        match self {
            Self::Identity => Ok(Mat::identity(y.ncols(), y.ncols())),
            Self::Correlation => pseudo_power(cross(y, y).as_ref(), power),
        }
    }
}

/// A projection of features that predicts a target by least squares.
#[derive(Debug, Clone, PartialEq)]
pub struct Supervised {
    /// Eigenvalues, descending.
    pub eigenvalues: Vec<f64>,
    /// Directions $W\_1$ of the features.
    pub projection: Projection,
    /// $W\_2$, targets $\times$ components: the target is approximated by scores times its transpose.
    pub targets: Mat<f64>,
}

/// The `components` leading directions of `x` that predict `y` in the least-squares framework of spec/thesis 3.3:
/// $\min \Vert (Y - X W\_1 W\_2') \Gamma^{1/2} \Vert\_F^2$ subject to $W\_2' \Gamma W\_2 = I$. `x` is centred, `y` is
/// taken as it is (indicators of classes are not centred).
///
/// # Errors
/// As [`cca`].
pub fn opls(
    x: MatRef<'_, f64>,
    y: MatRef<'_, f64>,
    components: usize,
    metric: Metric,
    ridge: f64,
) -> Result<Supervised, MvaError> {
    same("samples of the target", x.nrows(), y.nrows())?;
    at_least("the ridge", ridge, 0.0)?;
    finite("the target", y)?;
    let (x, mean) = centred("the data", x)?;
    let root = metric.power(y, -0.5)?;
    let c12 = cross(x.as_ref(), times_small(y, root.as_ref()).as_ref());
    let inverse = pseudo_power(ridged(x.as_ref(), ridge).as_ref(), -1.0)?;
    let solved = times_small(inverse.as_ref(), c12.as_ref());
    let (eigenvalues, v) = leading(cross(c12.as_ref(), solved.as_ref()).as_ref(), components)?;
    Ok(Supervised {
        eigenvalues,
        projection: Projection::new(mean, times_small(solved.as_ref(), v.as_ref())),
        targets: times_small(metric.power(y, 0.5)?.as_ref(), v.as_ref()),
    })
}

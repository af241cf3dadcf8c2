//! The ridge-dual form of the supervised framework, for more features than samples (spec/thesis 3.4).

use crate::MvaError;
use crate::centre::{Projection, at_least, centred, finite, same};
use crate::primal::Metric;
use crate::spectrum::leading;
use polyview_linalg::{Mat, MatRef, cross, sym_eigen, times_small};

/// A supervised projection by weights of samples: directions are $X'A$.
#[derive(Debug, Clone, PartialEq)]
pub struct Dual {
    /// Eigenvalues, descending.
    pub eigenvalues: Vec<f64>,
    /// Dual weights $A$, samples $\times$ components.
    pub weights: Mat<f64>,
    /// $W\_2^*$, the orthonormal coordinates of the target, targets $\times$ components.
    pub targets: Mat<f64>,
    /// Directions $X'A$ and the means.
    pub projection: Projection,
}

/// The `components` leading directions of `x` that predict `y`, as combinations of samples with the penalty
/// $\lambda \Vert A \Vert\_F^2$, `ridge` $\lambda > 0$ (spec/thesis 3.4). `x` is centred, `y` taken as it is. Costs one
/// eigendecomposition of the $N \times N$ kernel, whatever the number of features.
///
/// # Errors
/// [`MvaError::NotFinite`], [`MvaError::Empty`], [`MvaError::Shape`], [`MvaError::OutOfRange`].
pub fn dual(
    x: MatRef<'_, f64>,
    y: MatRef<'_, f64>,
    components: usize,
    metric: Metric,
    ridge: f64,
) -> Result<Dual, MvaError> {
    same("samples of the target", x.nrows(), y.nrows())?;
    at_least("the ridge", ridge, f64::MIN_POSITIVE)?;
    finite("the target", y)?;
    let (x, mean) = centred("the data", x)?;
    let kernel = cross(x.transpose(), x.transpose());
    let target = times_small(y, metric.power(y, -0.5)?.as_ref());
    // (K K + λ I)^-1 K of the target, by the spectrum of K
    let (values, vectors) = sym_eigen(kernel.as_ref())?;
    let turned = times_small(vectors.transpose(), target.as_ref());
    let shrunk = Mat::from_fn(turned.nrows(), turned.ncols(), |i, j| {
        let k = values[i].max(0.0);
        turned[(i, j)] * (k / (k * k + ridge))
    });
    let solved = times_small(vectors.as_ref(), shrunk.as_ref());
    let rhs = times_small(kernel.as_ref(), target.as_ref());
    let (eigenvalues, targets) =
        leading(cross(rhs.as_ref(), solved.as_ref()).as_ref(), components)?;
    let weights = times_small(solved.as_ref(), targets.as_ref());
    let directions = cross(x.as_ref(), weights.as_ref());
    Ok(Dual {
        eigenvalues,
        weights,
        targets,
        projection: Projection::new(mean, directions),
    })
}

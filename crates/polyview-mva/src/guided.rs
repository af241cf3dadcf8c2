//! Dual CCA whose penalty knows how relevant features are, with classes weighted to count alike (spec/thesis 4.3, 4.4).

use crate::MvaError;
use crate::centre::{Projection, at_least, centred, class_indicators, class_sizes, same};
use crate::spectrum::{leading, pseudo_power};
use polyview_linalg::{Mat, MatRef, cross, times_small};

/// How samples of classes of different sizes count.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Balance {
    /// All samples alike (4.3).
    Samples,
    /// Classes alike, $\Theta = \mathrm{diag}(N / N\_{c(n)})$, the covariance of the target as the thesis prints it,
    /// without weights: eigenvalues may exceed 1 (4.4).
    #[default]
    Classes,
    /// Classes alike, the covariance of the target weighted too: eigenvalues are squared correlations.
    ClassesWeighted,
}

/// The directions among which the solution is sought.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Representer {
    /// $U = X'A$, as the thesis has it.
    #[default]
    Rows,
    /// $U = \Omega^{-1} X'A$, which holds the exact minimum for any $\Omega$.
    Exact,
}

/// Choices of [`guided`].
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct GuidedOptions {
    /// Components; at most classes - 1 have an eigenvalue above 0.
    pub components: usize,
    /// The penalty $\lambda$.
    pub penalty: f64,
    /// How classes count.
    pub balance: Balance,
    /// Among which directions.
    pub representer: Representer,
}

/// Relevance-regularised dual CCA of features and classes.
#[derive(Debug, Clone, PartialEq)]
pub struct Guided {
    /// Eigenvalues, descending.
    pub eigenvalues: Vec<f64>,
    /// $V$, classes $\times$ components.
    pub targets: Mat<f64>,
    /// Directions $U$ and the means.
    pub projection: Projection,
    /// Dual weights $A$, samples $\times$ components.
    pub weights: Mat<f64>,
}

/// Solves $\min \Vert (Y - K A W') C\_{YY}^{-1/2} \Vert^2\_\Theta + \lambda \Vert \Omega^{1/2} X'A \Vert^2$, with `penalties`
/// the diagonal of $\Omega$, one positive number a feature, small for relevant ones (spec/thesis 4.3, 4.4). Classes are
/// numbered from 0 without gaps. `x` is centred.
///
/// # Errors
/// [`MvaError::NotFinite`], [`MvaError::Empty`], [`MvaError::Shape`], [`MvaError::OutOfRange`] of penalties,
/// [`MvaError::Class`] of a class without samples.
pub fn guided(
    x: MatRef<'_, f64>,
    labels: &[usize],
    penalties: &[f64],
    options: &GuidedOptions,
) -> Result<Guided, MvaError> {
    same("labels", x.nrows(), labels.len())?;
    same("penalties of features", x.ncols(), penalties.len())?;
    at_least("the penalty", options.penalty, f64::MIN_POSITIVE)?;
    for &p in penalties {
        at_least("the penalty of a feature", p, f64::MIN_POSITIVE)?;
    }
    let sizes = class_sizes(labels, 1)?;
    let (x, mean) = centred("the data", x)?;
    let n = labels.len() as f64;
    let theta = |row: usize| match options.balance {
        Balance::Samples => 1.0,
        Balance::Classes | Balance::ClassesWeighted => n / sizes[labels[row]] as f64,
    };
    let target_variance = |class: usize| match options.balance {
        Balance::ClassesWeighted => n,
        Balance::Samples | Balance::Classes => sizes[class] as f64,
    };

    // the rows of `spread` span the directions: X', or Ω^-1 X'
    let spread = match options.representer {
        Representer::Rows => x.clone(),
        Representer::Exact => scaled_columns(x.as_ref(), |d| 1.0 / penalties[d]),
    };
    let kernel = cross(x.transpose(), spread.transpose());
    let balanced = Mat::from_fn(kernel.nrows(), kernel.ncols(), |i, j| {
        theta(i) * kernel[(i, j)]
    });
    let mut system = times_small(kernel.as_ref(), balanced.as_ref());
    let penalised = scaled_columns(spread.as_ref(), |d| penalties[d]);
    let penalty = cross(spread.transpose(), penalised.transpose());
    for j in 0..system.ncols() {
        for i in 0..system.nrows() {
            system[(i, j)] += options.penalty * penalty[(i, j)];
        }
    }
    let y = class_indicators(labels, sizes.len())?;
    let target = Mat::from_fn(labels.len(), sizes.len(), |i, c| {
        theta(i) * y[(i, c)] / target_variance(c).sqrt()
    });
    let rhs = times_small(kernel.as_ref(), target.as_ref());
    let solved = times_small(pseudo_power(system.as_ref(), -1.0)?.as_ref(), rhs.as_ref());
    let (eigenvalues, targets) = leading(
        cross(rhs.as_ref(), solved.as_ref()).as_ref(),
        options.components,
    )?;
    let weights = times_small(solved.as_ref(), targets.as_ref());
    let directions = cross(spread.as_ref(), weights.as_ref());
    Ok(Guided {
        eigenvalues,
        targets,
        projection: Projection::new(mean, directions),
        weights,
    })
}

fn scaled_columns(x: MatRef<'_, f64>, scale: impl Fn(usize) -> f64) -> Mat<f64> {
    Mat::from_fn(x.nrows(), x.ncols(), |i, d| x[(i, d)] * scale(d))
}

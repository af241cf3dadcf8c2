//! Dual CCA whose penalty knows how relevant features are, with classes weighted to count alike (spec/thesis 4.3, 4.4).

use crate::MvaError;
use crate::centre::{Projection, at_least, centred, class_indicators, class_sizes, same};
use crate::spectrum::{RELATIVE_RANK, leading};
use polyview_linalg::{Mat, MatRef, cross, sym_eigen, times_small};

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
/// the diagonal of $\Omega$, one positive number per feature, small for relevant ones (spec/thesis 4.3, 4.4). Classes are
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
    let path = GuidedPath::new(x, labels, penalties, options.balance, options.representer)?;
    path.at(options.components, options.penalty)
}

/// The same for many penalties $\lambda$: all that does not depend on it is computed once.
///
/// In the coordinates of the row space, $X = T V'$ with orthonormal columns of $V$, directions are $V B$, and
/// $(M + \lambda Q) B$ is $T' \Theta Y C\_{YY}^{-1/2}$ times eigenvectors, with $M = T' \Theta T$ and $Q = V' \Omega V$, which one
/// basis makes diagonal both (spec/thesis 4.5). Of exact directions $X \Omega^{-1/2}$ has the place of $X$, and $Q = I$.
pub(crate) struct GuidedPath {
    mean: Vec<f64>,
    /// Features × rank: what coordinates are as directions.
    spread: Mat<f64>,
    /// Samples × rank: dual weights of coordinates.
    dual: Mat<f64>,
    /// Rank × rank: the basis in which M and Q are diagonal.
    basis: Mat<f64>,
    /// M in that basis, where Q is the identity.
    values: Vec<f64>,
    /// The target in that basis, rank × classes.
    target: Mat<f64>,
}

impl GuidedPath {
    pub(crate) fn new(
        x: MatRef<'_, f64>,
        labels: &[usize],
        penalties: &[f64],
        balance: Balance,
        representer: Representer,
    ) -> Result<Self, MvaError> {
        same("labels", x.nrows(), labels.len())?;
        same("penalties of features", x.ncols(), penalties.len())?;
        for &p in penalties {
            at_least("the penalty of a feature", p, f64::MIN_POSITIVE)?;
        }
        let sizes = class_sizes(labels, 1)?;
        let (x, mean) = centred("the data", x)?;
        let n = labels.len() as f64;
        let theta = |row: usize| match balance {
            Balance::Samples => 1.0,
            Balance::Classes | Balance::ClassesWeighted => n / sizes[labels[row]] as f64,
        };
        let target_variance = |class: usize| match balance {
            Balance::ClassesWeighted => n,
            Balance::Samples | Balance::Classes => sizes[class] as f64,
        };
        let x = match representer {
            Representer::Rows => x,
            Representer::Exact => scaled_columns(x.as_ref(), |d| 1.0 / penalties[d].sqrt()),
        };
        let (roots, left) = range(cross(x.transpose(), x.transpose()).as_ref())?;
        // V = X' U / s, T = U s
        let dual = scaled_columns(left.as_ref(), |r| 1.0 / roots[r]);
        let v = cross(x.as_ref(), dual.as_ref());
        let t = scaled_columns(left.as_ref(), |r| roots[r]);
        let weighted = Mat::from_fn(t.nrows(), t.ncols(), |i, r| theta(i) * t[(i, r)]);
        let m = cross(t.as_ref(), weighted.as_ref());
        let whitening = match representer {
            Representer::Rows => {
                let scaled = Mat::from_fn(v.nrows(), v.ncols(), |d, r| penalties[d] * v[(d, r)]);
                inverse_root(cross(v.as_ref(), scaled.as_ref()).as_ref())?
            }
            Representer::Exact => Mat::identity(v.ncols(), v.ncols()),
        };
        let both = times_small(
            cross(whitening.as_ref(), m.as_ref()).as_ref(),
            whitening.as_ref(),
        );
        let (values, turn) = sym_eigen(both.as_ref())?;
        let basis = times_small(whitening.as_ref(), turn.as_ref());
        let y = class_indicators(labels, sizes.len())?;
        let target = Mat::from_fn(labels.len(), sizes.len(), |i, c| {
            y[(i, c)] / target_variance(c).sqrt()
        });
        let target = cross(
            basis.as_ref(),
            cross(weighted.as_ref(), target.as_ref()).as_ref(),
        );
        let spread = match representer {
            Representer::Rows => v,
            Representer::Exact => {
                Mat::from_fn(v.nrows(), v.ncols(), |d, r| v[(d, r)] / penalties[d].sqrt())
            }
        };
        Ok(Self {
            mean,
            spread,
            dual,
            basis,
            values,
            target,
        })
    }

    pub(crate) fn at(&self, components: usize, penalty: f64) -> Result<Guided, MvaError> {
        at_least("the penalty", penalty, f64::MIN_POSITIVE)?;
        let solved = Mat::from_fn(self.target.nrows(), self.target.ncols(), |r, c| {
            self.target[(r, c)] / (self.values[r].max(0.0) + penalty)
        });
        let (eigenvalues, targets) = leading(
            cross(self.target.as_ref(), solved.as_ref()).as_ref(),
            components,
        )?;
        let coordinates = times_small(
            self.basis.as_ref(),
            times_small(solved.as_ref(), targets.as_ref()).as_ref(),
        );
        let directions = times_small(self.spread.as_ref(), coordinates.as_ref());
        Ok(Guided {
            eigenvalues,
            targets,
            projection: Projection::new(self.mean.clone(), directions),
            weights: times_small(self.dual.as_ref(), coordinates.as_ref()),
        })
    }
}

/// Square roots of the eigenvalues of a positive semi-definite matrix that are not zero, and their eigenvectors.
fn range(matrix: MatRef<'_, f64>) -> Result<(Vec<f64>, Mat<f64>), MvaError> {
    let (values, vectors) = sym_eigen(matrix)?;
    let least = RELATIVE_RANK * values.last().copied().unwrap_or(0.0).max(0.0);
    let first = values.iter().take_while(|v| **v <= least).count();
    let roots = values[first..].iter().map(|v| v.sqrt()).collect();
    let kept = Mat::from_fn(vectors.nrows(), values.len() - first, |i, j| {
        vectors[(i, first + j)]
    });
    Ok((roots, kept))
}

/// $Q^{-1/2}$ of a positive definite matrix; eigenvalues that rounding hides count as the least that it leaves.
fn inverse_root(matrix: MatRef<'_, f64>) -> Result<Mat<f64>, MvaError> {
    let (values, vectors) = sym_eigen(matrix)?;
    let least = f64::EPSILON * values.last().copied().unwrap_or(0.0).max(0.0);
    let scaled = scaled_columns(vectors.as_ref(), |j| 1.0 / values[j].max(least).sqrt());
    Ok(times_small(scaled.as_ref(), vectors.transpose()))
}

fn scaled_columns(x: MatRef<'_, f64>, scale: impl Fn(usize) -> f64) -> Mat<f64> {
    Mat::from_fn(x.nrows(), x.ncols(), |i, d| x[(i, d)] * scale(d))
}

//! The error type of this crate.

use thiserror::Error;

/// What can go wrong in a kernel or a decomposition. Data, not text.
#[derive(Debug, Clone, PartialEq, Error)]
#[non_exhaustive]
pub enum LinalgError {
    /// A symmetric matrix that must be positive definite is not, even with the largest jitter.
    #[error("the matrix of row {row} is not positive definite (pivot {pivot})")]
    NotPositiveDefinite {
        /// Row of the batch; 0 for a single matrix.
        row: usize,
        /// Index of the first pivot that failed.
        pivot: usize,
    },
    /// Two arguments disagree in a dimension.
    #[error("{what}: expected {expected}, found {found}")]
    ShapeMismatch {
        /// The dimension that disagrees.
        what: &'static str,
        /// The length that the other arguments call for.
        expected: usize,
        /// The length that was given.
        found: usize,
    },
    /// An argument holds a NaN or an infinity.
    #[error("{what} holds a value that is not finite")]
    NotFinite {
        /// The argument.
        what: &'static str,
    },
    /// An iteration stopped short of its tolerance.
    #[error("{what} did not converge in {iterations} iterations")]
    NoConvergence {
        /// The algorithm.
        what: &'static str,
        /// Iterations spent; 0 where the algorithm does not count them.
        iterations: usize,
    },
    /// A square matrix has no inverse.
    #[error("the matrix is singular (pivot {pivot})")]
    Singular {
        /// Index of the first zero pivot.
        pivot: usize,
    },
    /// Stored bits of a mask reach beyond its last row.
    #[error("column {column} of the mask has bits set beyond its last row")]
    MaskPadding {
        /// First such column.
        column: usize,
    },
    /// A missing cell holds a value other than 0.
    #[error("the missing cell at row {row}, column {column} is not 0")]
    MissingNotZero {
        /// Row of the first such cell.
        row: usize,
        /// Its column.
        column: usize,
    },
    /// The operating system refused to start worker threads.
    #[error("no pool of {threads} threads could be started")]
    ThreadPool {
        /// Threads asked for.
        threads: usize,
    },
}

/// `Ok` where the two lengths agree, [`LinalgError::ShapeMismatch`] otherwise.
pub(crate) fn same_len(
    what: &'static str,
    expected: usize,
    found: usize,
) -> Result<(), LinalgError> {
    if expected == found {
        Ok(())
    } else {
        Err(LinalgError::ShapeMismatch {
            what,
            expected,
            found,
        })
    }
}

/// `Ok` where every entry is finite, [`LinalgError::NotFinite`] otherwise.
pub(crate) fn all_finite(
    what: &'static str,
    matrix: faer::MatRef<'_, f64>,
) -> Result<(), LinalgError> {
    let finite = (0..matrix.ncols()).all(|j| matrix.col(j).iter().all(|x| x.is_finite()));
    if finite {
        Ok(())
    } else {
        Err(LinalgError::NotFinite { what })
    }
}

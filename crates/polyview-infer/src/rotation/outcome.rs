//! What a maximisation takes and returns.

use polyview_linalg::Mat;
use thiserror::Error;

/// How far [`maximise`](super::maximise) goes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RotationOptions {
    /// Most L-BFGS iterations; 0 leaves the identity.
    pub max_iterations: usize,
    /// Stops when the gain still expected (half the slope along a quasi-Newton step) is below this fraction of the gain
    /// so far or of one nat, whichever is larger.
    pub tolerance: f64,
    /// Number of steps that L-BFGS remembers.
    pub memory: usize,
}

impl Default for RotationOptions {
    /// 100 iterations, tolerance $10^{-6}$, memory 10.
    fn default() -> Self {
        Self {
            max_iterations: 100,
            tolerance: 1e-6,
            memory: 10,
        }
    }
}

/// Why [`maximise`](super::maximise) stopped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum RotationOutcome {
    /// The gain still expected is below the tolerance.
    Converged,
    /// The iterations ran out.
    IterationLimit,
    /// No longer step raises the bound in floating point.
    NoProgress,
    /// The bound rises towards a singular map; the search stopped where rounding would begin to matter.
    IllConditioned,
}

/// The rotation found.
#[derive(Clone, Debug, PartialEq)]
pub struct Rotation {
    /// $Q$, $K \times K$, of positive determinant: weights become $W Q^\top$ in rows, covariances $Q\Sigma Q^\top$.
    pub q: Mat<f64>,
    /// $Q^{-1}$: factors become $Z Q^{-1}$, covariances $Q^{-\top}\Sigma Q^{-1}$.
    pub q_inverse: Mat<f64>,
    /// $\log|\det Q|$.
    pub log_abs_det: f64,
    /// $\mathcal L(Q) - \mathcal L(I) \ge 0$ in nats; 0 exactly where `q` is the identity.
    pub gain: f64,
    /// L-BFGS iterations.
    pub iterations: usize,
    /// Evaluations of all terms.
    pub evaluations: usize,
    /// Why the search stopped.
    pub outcome: RotationOutcome,
}

impl Rotation {
    pub(super) fn identity(
        k: usize,
        iterations: usize,
        evaluations: usize,
        outcome: RotationOutcome,
    ) -> Self {
        Self {
            q: Mat::identity(k, k),
            q_inverse: Mat::identity(k, k),
            log_abs_det: 0.0,
            gain: 0.0,
            iterations,
            evaluations,
            outcome,
        }
    }

    /// Whether nothing better than $Q = I$ was found.
    pub fn is_identity(&self) -> bool {
        self.gain == 0.0
    }
}

/// What [`maximise`](super::maximise) refuses.
#[derive(Clone, Copy, Debug, PartialEq, Error)]
#[non_exhaustive]
pub enum RotationError {
    /// The value or the gradient of a term is not finite where the search starts.
    #[error("rotation: term {term} is not finite at the identity")]
    NotFinite {
        /// Index of the term.
        term: usize,
    },
    /// A tolerance that is negative or not a number.
    #[error("rotation: the tolerance must be non-negative, got {value}")]
    Tolerance {
        /// The tolerance.
        value: f64,
    },
}

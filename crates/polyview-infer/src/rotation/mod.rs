//! Rotation of the factors inside variational inference: the exact bound is maximised over all invertible maps
//! $Z \to Z Q^{-1}$, $W \to Q W$ (spec/mlfs 4.7, errata E7 to E12; parameter expansion).
//!
//! Mean-field updates crawl along such maps, because $Z$ and $W$ can only move together; one maximisation jumps the
//! whole way. The likelihood does not change, so the bound is, up to a constant, a sum of [`RotationTerm`]s, one for
//! the factor prior and one for the weight prior of each view:
//!
//! $$\mathcal L(Q) = -N\log|\det Q| - \tfrac12\mathrm{tr}(Q^{-\top}\Lambda\_V Q^{-1})
//!   + \sum\_m \Big\\{ K\_m\log|\det Q| - \big(a + \tfrac{K\_m}2\big)\sum\_r
//!     \log\big(b + \tfrac12 Q\_{r:}\Lambda\_m Q\_{r:}^\top\big) \Big\\}$$
//!
//! for standard normal factors and ARD weights. Blocks of rows hand out their own
//! ([`RowBlock::rotation_term`](polyview_core::RowBlock::rotation_term)).
//!
//! # Method
//! [`maximise`] climbs on the group of matrices with positive determinant: $Q \leftarrow e^{tE} Q$, where the direction
//! $E$ comes from limited-memory BFGS in relative coordinates, that is with the gradient $\nabla\_Q\mathcal L\\,Q^\top$.
//! Every iterate is invertible by construction: its inverse is a product of $e^{-tE}$ and its log-determinant a sum of
//! $t\\,\mathrm{tr} E$, so nothing is ever factorised. The memory is preconditioned by the curvature that terms report
//! ([`RotationTerm::curvature`]) in $2 \times 2$ blocks for the pairs $(E\_{rs}, E\_{sr})$. The blocks are what makes it
//! fast: two factors with similar profiles over the views are nearly free to rotate into each other, which is a
//! property of the pair, not of an entry. Steps do not depend on the units of the factors.

mod exponential;
mod lbfgs;
mod outcome;
mod search;
#[cfg(test)]
pub(crate) mod test_noise;
#[cfg(test)]
mod tests;
mod vector;

pub use outcome::{Rotation, RotationError, RotationOptions, RotationOutcome};
pub use search::maximise;

pub use polyview_core::RotationTerm;

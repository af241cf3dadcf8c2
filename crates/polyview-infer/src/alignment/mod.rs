//! Identifiability of factors: signs and order of draws and of restarts.
//!
//! The likelihood of a factor model depends on $ZW^\top$ only, so factors are known up to their order and signs at best,
//! and up to a rotation where no prior pins it down.
//! Draws from chains, and fits from several starts, must be brought into one order before they can be averaged or
//! compared.
//!
//! | question | function |
//! |---|---|
//! | which factor of this draw is which of the reference's | [`align_to_reference`] |
//! | by which rotation does this draw come closest to the reference | [`rotation_to_reference`] |
//! | which of all rotations tells views and factors apart | [`separating_rotation`] |
//! | do restarts find the same factors | [`stability`] |
//!
//! Loadings are $D \times K$, the views stacked. Factors are compared by the cosine of their
//! columns, so their scale does not matter, and matched one to one by the Hungarian algorithm.
//! Everything is deterministic, ties included: equal candidates are taken in ascending order.

mod assignment;
mod compare;
mod frame;
mod reference;
mod signed_permutation;
mod stability;
#[cfg(test)]
mod tests;

pub use frame::{rotation_to_reference, separating_rotation};
pub use reference::align_to_reference;
pub use signed_permutation::SignedPermutation;
pub use stability::{Stability, stability};

use thiserror::Error;

/// What the functions of this module refuse.
#[derive(Clone, Debug, PartialEq, Error)]
#[non_exhaustive]
pub enum AlignmentError {
    /// Two arguments disagree in a dimension.
    #[error("{what}: expected {expected}, found {found}")]
    Shape {
        /// The dimension.
        what: &'static str,
        /// The length that the other argument calls for.
        expected: usize,
        /// The length found.
        found: usize,
    },
    /// A value that is NaN or infinite.
    #[error("{what} holds a value that is not finite, at row {row}, column {column}")]
    NotFinite {
        /// The argument.
        what: &'static str,
        /// First such value's row.
        row: usize,
        /// Its column.
        column: usize,
    },
    /// Fewer matrices than the question needs.
    #[error("{what}: at least {needed} needed, found {found}")]
    TooFew {
        /// What was counted.
        what: &'static str,
        /// The least number.
        needed: usize,
        /// The number found.
        found: usize,
    },
    /// Entries that are no permutation, or signs other than 1 and -1.
    #[error("entry {position} does not make a signed permutation")]
    NoPermutation {
        /// First offending entry.
        position: usize,
    },
}

fn same(what: &'static str, expected: usize, found: usize) -> Result<(), AlignmentError> {
    if expected == found {
        Ok(())
    } else {
        Err(AlignmentError::Shape {
            what,
            expected,
            found,
        })
    }
}

//! What every likelihood of polyview's factor models must pass, for one's own.
//!
//! ```
//! use polyview_likelihoods::species::ProbitSpecies;
//! use polyview_testing::assert_likelihood;
//!
//! assert_likelihood(&ProbitSpecies);
//! ```
//!
//! | item | what |
//! |---|---|
//! | [`check_likelihood`], [`assert_likelihood`] | all tests of a species, on data that it simulates |
//! | [`LikelihoodCheck`] | the same with other options, data or lengths |
//! | [`Failure`], [`Finding`] | what failed |
//! | [`PriorCheck`], [`check_weights_prior`] | all tests of a prior of weights or of factors |
//! | [`PriorFailure`], [`PriorFinding`] | what failed |
//! | [`law`] | central differences of a term's bound against its equations |
//! | [`geweke`] | a Gibbs sampler against the joint distribution |
//!
//! What is tested of a species, and of its data term on complete data and with cells or whole
//! samples missing, left out or imputed:
//!
//! 1. **The law.** Central differences of the bound in the mean of a row of factors or weights,
//!    or in an intercept, equal `rhs − P·mean`; in a diagonal entry of a row's covariance
//!    $-P_{ii}/2$.
//! 2. **The bound never falls** in any update of any block, unless the term says
//!    [`Objective::NoGuarantee`](polyview_core::Objective::NoGuarantee).
//! 3. **Values under the mask do not matter**, to the bit.
//! 4. **Saved states**: what is written, read into a new term and written again is the same;
//!    parameters alone go into a term without samples.
//! 5. **Groups**: one group is none, and two obey 1 and 2, unless
//!    [`Way::Groups`](polyview_core::Way::Groups) is refused.
//! 6. **What follows from its domain and its ways**: numbers of columns, ranks, columns by
//!    component, data that are stored sparse.
//! 7. **Predictions** are the means of what it simulates.
//! 8. **The Gibbs sampler** leaves the joint distribution alone (Geweke 2004), unless
//!    [`Way::Gibbs`](polyview_core::Way::Gibbs) is refused. Pseudo-likelihoods have no law of the
//!    data, and ranks no unit: their samplers are not tested.
//! 9. **Words and options**: defaults that it takes itself, every option described.
//!
//! Of a prior: no update of its rows or scales lowers the bound, rows that are kept come back
//! and change the bound by what they say, states are saved, order and signs of columns do not
//! matter, and its draws leave the joint distribution alone.

pub mod geweke;
pub mod law;
mod likelihood;
mod prior;
mod random;

pub use likelihood::{
    DataCase, Failure, Finding, LikelihoodCheck, assert_likelihood, check_likelihood,
};
pub use prior::{PriorCheck, PriorFailure, PriorFinding, check_weights_prior};
pub use random::{assemble, normal, weights};

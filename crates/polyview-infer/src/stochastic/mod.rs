//! Stochastic variational Bayes: data that do not fit in memory, batch by
//! batch (spec/mofa B.11).
//!
//! A step reads a batch B of the N samples, finds its factors and local
//! variables under the present weights, intercepts and noise ($\rho = 1$), and
//! moves **running sums** over samples towards those of the batch,
//!
//! $$S \leftarrow (1-\rho\_e) S + \rho\_e\tfrac{N}{|B|} S\_B, \qquad \rho\_e =
//! \kappa/(1+\varphi e)^{3/4}.$$
//!
//! Weights, intercepts, noise and scales then follow from the sums, each at its
//! optimum given the others and in the order of a sweep. For weights whose
//! noise and scales stand still this is the natural-gradient step of B.11,
//! $\Lambda \leftarrow (1-\rho)\Lambda + \rho(\langle\alpha\rangle +
//! c\sum\_B\tau\langle z^2\rangle)$. What the sums leave out takes full steps:
//! the prior's part and the noise precision, by which sums are multiplied only
//! when they are used, so that an old sum never carries an old noise.
//!
//! After the epochs come **exact sweeps**: sums over all batches at one state of
//! the weights, then one update. They are those of variational Bayes, with the
//! data read once each, and go on while the bound gains.

mod collect;
mod gathered;
mod options;
mod run;
mod source;
mod stream;
mod sums;
mod upkeep;

use polyview_core::{DataError, NumericError, SourceError};
use thiserror::Error;

pub use options::StochasticOptions;
pub use run::{FactorMaker, Stochastic, StochasticRun};
pub use stream::Sums;

/// What a stochastic run can fail with.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum StochasticError {
    /// Numerical trouble.
    #[error(transparent)]
    Numeric(#[from] NumericError),
    /// Data that do not suit their likelihood.
    #[error(transparent)]
    Data(#[from] DataError),
    /// The data could not be read.
    #[error("{0}")]
    Source(SourceError),
    /// A start that does not have a row for each of its samples.
    #[error("the start has {found} rows for {expected} samples")]
    Start {
        /// Samples.
        expected: usize,
        /// Rows of the start.
        found: usize,
    },
    /// The source gave other views than before, or other numbers of samples.
    #[error("the source gave {found} where {expected} were expected: {what}")]
    Changed {
        /// What was counted.
        what: &'static str,
        /// How many there should be.
        expected: usize,
        /// How many there are.
        found: usize,
    },
}

/// The same error about the data with the sample's number among all of them, in
/// place of that among those of a batch.
pub fn in_all_samples(error: DataError, batch: &[std::ops::Range<usize>]) -> DataError {
    let all = |sample: usize| {
        batch
            .iter()
            .cloned()
            .flatten()
            .nth(sample)
            .unwrap_or(sample)
    };
    match error {
        DataError::OutOfDomain {
            view,
            feature,
            sample,
            value,
            needs,
        } => DataError::OutOfDomain {
            view,
            feature,
            sample: all(sample),
            value,
            needs,
        },
        other => other,
    }
}

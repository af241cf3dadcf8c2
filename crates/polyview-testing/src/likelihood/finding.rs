//! What the tests found.

use std::fmt;

use polyview_core::{DataError, NumericError, OptionError, Way};
use thiserror::Error;

use super::DataCase;

/// One thing that is wrong with a likelihood.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum Finding {
    /// Its name, words or options do not hold together.
    #[error("{0}")]
    Description(String),
    /// Its default options, or those that the test was given, are refused.
    #[error("its options are refused: {0}")]
    Options(#[source] OptionError),
    /// There is no data term of data that ought to suit it.
    #[error("{case}: there is no data term: {source}")]
    Term {
        /// The data.
        case: DataCase,
        /// Why not.
        source: DataError,
    },
    /// A numerical error.
    #[error("{case}, {what}: {source}")]
    Numeric {
        /// The data.
        case: DataCase,
        /// What was tested.
        what: &'static str,
        /// The error.
        source: NumericError,
    },
    /// The bound is not what the equations say.
    #[error(
        "{case}: the law does not hold: differences of the bound and the equations are {gap:e} \
         apart ({what}); check that site, offset and bound belong to one local number"
    )]
    Law {
        /// The data.
        case: DataCase,
        /// Which term.
        what: &'static str,
        /// Largest difference, in nats per unit of what was moved.
        gap: f64,
    },
    /// The bound fell although the objective is one that never does.
    #[error(
        "{case}: {source}; an update of local numbers or parameters is not at its optimum, or the \
         objective is NoGuarantee"
    )]
    BoundFell {
        /// The data.
        case: DataCase,
        /// The block, and the bound before and after.
        source: NumericError,
    },
    /// Values of missing cells make a difference.
    #[error("values of missing cells matter: '{array}' differs with them")]
    HiddenValues {
        /// The array of the model that differs.
        array: String,
    },
    /// A state that is read is not the one that was written.
    #[error("{what}: '{array}' was not read as it was written")]
    State {
        /// What was read into what.
        what: &'static str,
        /// The first array that differs.
        array: String,
    },
    /// One group of samples is not the same as none.
    #[error("with one group of samples the bound is {grouped}, without groups {plain}")]
    OneGroup {
        /// The bound without groups, in nats.
        plain: f64,
        /// The bound with one.
        grouped: f64,
    },
    /// The term's extents do not follow from its domain.
    #[error("{what} is {found}, and by its domain it is {expected}")]
    Shape {
        /// The extent.
        what: &'static str,
        /// What it is.
        found: usize,
        /// What it should be.
        expected: usize,
    },
    /// The term cannot do what its domain implies.
    #[error("its data are a matter of order, and its term has no {what}")]
    Capability {
        /// The capability.
        what: &'static str,
    },
    /// The term cannot go a way that the species does not refuse.
    #[error("it does not refuse the way {}, and {why}; say so in `refuses`, or mend it", way.name())]
    Way {
        /// The way.
        way: Way,
        /// What is in the way.
        why: String,
    },
    /// Simulated data do not have the predicted mean.
    #[error(
        "predicted column {column} of sample {sample} has the mean {predicted}, its simulated data \
         {simulated}, {score:.1} standard errors off"
    )]
    Predicted {
        /// Row from 0.
        sample: usize,
        /// Predicted column from 0.
        column: usize,
        /// Predicted mean.
        predicted: f64,
        /// Mean of simulated data.
        simulated: f64,
        /// Difference in standard errors.
        score: f64,
    },
    /// The sampler does not leave the joint distribution alone.
    #[error(
        "{case}: the Gibbs sampler changes the joint distribution: a mean of it moves by {score:.1} \
         standard errors; check the draws of local numbers against the sites, and draws of data"
    )]
    Sampler {
        /// The data.
        case: DataCase,
        /// Largest score.
        score: f64,
    },
}

/// Everything that is wrong with a likelihood.
#[derive(Debug)]
pub struct Failure {
    /// Its name.
    pub species: String,
    /// What was found, one at least.
    pub findings: Vec<Finding>,
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "likelihood {} fails", self.species)?;
        for finding in &self.findings {
            write!(f, "\n* {finding}")?;
        }
        Ok(())
    }
}

impl std::error::Error for Failure {}

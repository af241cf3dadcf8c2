//! Tests of a prior of weights or of factors.

mod block;
mod rows;

use std::fmt;

use polyview_core::{DataError, NumericError, OptionError, Options, PriorSpecies, RowRole};
use thiserror::Error;

use block::Subject;

/// One thing that is wrong with a prior.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum PriorFinding {
    /// Its name, words or options do not hold together.
    #[error("{0}")]
    Description(String),
    /// Its default options, or those that the test was given, are refused.
    #[error("its options are refused: {0}")]
    Options(#[source] OptionError),
    /// There is no block of rows.
    #[error("there is no block of rows: {0}")]
    Block(#[source] DataError),
    /// A numerical error.
    #[error("{what}: {source}")]
    Numeric {
        /// What was tested.
        what: &'static str,
        /// The error.
        source: NumericError,
    },
    /// An update lowered the bound.
    #[error("{step} lowers the bound from {before} to {after}")]
    BoundFell {
        /// The update.
        step: &'static str,
        /// Nats.
        before: f64,
        /// Nats.
        after: f64,
    },
    /// A number is not what it should be.
    #[error("{what} is {found}, and should be {expected}")]
    Number {
        /// What it is.
        what: &'static str,
        /// What it came out as.
        found: f64,
        /// What it should be.
        expected: f64,
    },
    /// A state that is read is not the one that was written.
    #[error("'{array}' was not read as it was written")]
    State {
        /// The first array that differs.
        array: String,
    },
    /// The sampler does not leave the joint distribution alone.
    #[error(
        "the Gibbs sampler changes the joint distribution: a mean of it moves by {score:.1} \
         standard errors; check the draws of rows and scales, and those of the prior"
    )]
    Sampler {
        /// Largest score.
        score: f64,
    },
}

/// Everything that is wrong with a prior.
#[derive(Debug)]
pub struct PriorFailure {
    /// Its name.
    pub species: String,
    /// What rows it was tested of.
    pub role: RowRole,
    /// What was found, one at least.
    pub findings: Vec<PriorFinding>,
}

impl fmt::Display for PriorFailure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let role = match self.role {
            RowRole::Weights => "weights",
            RowRole::Factors => "factors",
        };
        write!(f, "prior {} of {role} fails", self.species)?;
        for finding in &self.findings {
            write!(f, "\n* {finding}")?;
        }
        Ok(())
    }
}

impl std::error::Error for PriorFailure {}

/// Tests of a prior in one role.
///
/// Options matter to the sampler's test, which draws scales from their prior: a vague one,
/// with draws of a hundred powers of ten, hides every error.
///
/// ```
/// use polyview_core::{Options, RowRole};
/// use polyview_priors::species::ArdSpecies;
/// use polyview_testing::PriorCheck;
///
/// let narrow = Options::parse("weight-prior={shape=4,rate=4}")?;
/// PriorCheck::new(&ArdSpecies, RowRole::Weights).options(narrow).draws(300).run()?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone)]
pub struct PriorCheck<'a> {
    species: &'a dyn PriorSpecies,
    role: RowRole,
    options: Options,
    draws: u64,
    seed: u64,
}

impl<'a> PriorCheck<'a> {
    /// Tests of this prior of rows of that role, with its default options.
    pub fn new(species: &'a dyn PriorSpecies, role: RowRole) -> Self {
        Self {
            species,
            role,
            options: Options::new(),
            draws: 1000,
            seed: 1,
        }
    }
    /// With these options, the others at their defaults.
    #[must_use]
    pub fn options(mut self, options: Options) -> Self {
        self.options = options;
        self
    }
    /// With so many draws of the joint distribution for the sampler; 1000 unless said, none
    /// leaves the sampler out.
    #[must_use]
    pub fn draws(mut self, draws: u64) -> Self {
        self.draws = draws;
        self
    }
    /// With other random numbers.
    #[must_use]
    pub fn seed(mut self, seed: u64) -> Self {
        self.seed = seed;
        self
    }
    /// Makes all tests.
    ///
    /// # Errors
    /// [`PriorFailure`] with everything that was found.
    pub fn run(self) -> Result<(), PriorFailure> {
        let mut findings = description(self.species, self.role);
        match Subject::new(&self) {
            Ok(subject) => {
                for test in [
                    rows::rises,
                    rows::goes_back,
                    rows::is_saved,
                    rows::is_reordered,
                    rows::is_sampled,
                ] {
                    findings.extend(test(&subject).err());
                }
            }
            Err(finding) => findings.push(finding),
        }
        if findings.is_empty() {
            return Ok(());
        }
        Err(PriorFailure {
            species: self.species.name().to_owned(),
            role: self.role,
            findings,
        })
    }
}

fn description(species: &dyn PriorSpecies, role: RowRole) -> Vec<PriorFinding> {
    let mut out = Vec::new();
    let about = species.about(role);
    if !species.roles().contains(&role) {
        out.push(PriorFinding::Description(
            "it is not for rows of this role".to_owned(),
        ));
    }
    if about.line.is_empty() || about.line.ends_with('.') || about.line.contains('\n') {
        out.push(PriorFinding::Description(format!(
            "'{}' is not one line without a full stop",
            about.line
        )));
    }
    let defaults = species.defaults();
    for name in defaults.names() {
        if !about.options.iter().any(|o| o.0 == name) {
            out.push(PriorFinding::Description(format!(
                "the option '{name}' is not described in `about`"
            )));
        }
    }
    if let Err(error) = species.check(&defaults) {
        out.push(PriorFinding::Options(error));
    }
    out
}

/// Makes all tests of a prior of weights, with its default options but without its sampler's:
/// vague scales hide every error of that ([`PriorCheck`]).
///
/// # Errors
/// [`PriorFailure`] with everything that was found.
pub fn check_weights_prior(species: &dyn PriorSpecies) -> Result<(), PriorFailure> {
    PriorCheck::new(species, RowRole::Weights).draws(0).run()
}

//! Tests of a likelihood.

mod description;
mod finding;
mod groups;
mod missing;
mod numbers;
mod sampler;
mod state;
mod subject;
mod ways;

pub use finding::{Failure, Finding};
pub use subject::DataCase;

use polyview_core::{LikelihoodSpecies, Options, View};
use subject::Subject;

/// Tests of a likelihood, with what they are made on.
///
/// ```
/// use polyview_core::Options;
/// use polyview_likelihoods::species::NegativeBinomialSpecies;
/// use polyview_testing::LikelihoodCheck;
///
/// let known_size = Options::parse("size=2")?;
/// LikelihoodCheck::new(&NegativeBinomialSpecies)
///     .options(known_size)
///     .draws(500)
///     .run()?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone)]
pub struct LikelihoodCheck<'a> {
    species: &'a dyn LikelihoodSpecies,
    options: Options,
    data: Option<View>,
    draws: u64,
    seed: u64,
}

impl<'a> LikelihoodCheck<'a> {
    /// Tests of this species with its default options, on data that it simulates itself.
    pub fn new(species: &'a dyn LikelihoodSpecies) -> Self {
        Self {
            species,
            options: Options::new(),
            data: None,
            draws: 2000,
            seed: 1,
        }
    }
    /// With these options, the others at their defaults.
    #[must_use]
    pub fn options(mut self, options: Options) -> Self {
        self.options = options;
        self
    }
    /// On this view, complete, in working units. Needed where data of any domain do not suit
    /// the species, such as positive numbers alone: what it simulates itself begins with a term
    /// of data made up by [`LikelihoodSpecies::domain`].
    #[must_use]
    pub fn data(mut self, view: View) -> Self {
        self.data = Some(view);
        self
    }
    /// With so many draws of the joint distribution for the sampler; 2000 unless said. A few
    /// hundred find a sampler that is badly wrong.
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
    /// [`Failure`] with everything that was found.
    pub fn run(self) -> Result<(), Failure> {
        let name = self.species.name();
        let mut found = description::findings(self.species, &self.options);
        match Subject::new(&self) {
            Ok(subject) => {
                for test in [
                    numbers::findings,
                    missing::findings,
                    state::findings,
                    groups::findings,
                    ways::findings,
                    sampler::findings,
                ] {
                    found.extend(test(&subject));
                }
            }
            Err(finding) => found.push(finding),
        }
        if found.is_empty() {
            return Ok(());
        }
        Err(Failure {
            species: name.to_owned(),
            findings: found,
        })
    }
}

/// Makes all tests of a likelihood, with its default options.
///
/// # Errors
/// [`Failure`] with everything that was found.
pub fn check_likelihood(species: &dyn LikelihoodSpecies) -> Result<(), Failure> {
    LikelihoodCheck::new(species).run()
}

/// As [`check_likelihood`], for a test of one line.
///
/// # Panics
/// If anything was found, with a list of it.
pub fn assert_likelihood(species: &dyn LikelihoodSpecies) {
    if let Err(failure) = check_likelihood(species) {
        panic!("{failure}");
    }
}

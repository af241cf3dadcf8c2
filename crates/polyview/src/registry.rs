//! The list of all species.

use std::sync::{Arc, LazyLock};

use polyview_core::{LikelihoodSpecies, Options};
use polyview_likelihoods::species;

use crate::error::Result;
use crate::spec::Likelihood;

/// The likelihoods that specifications and files may name. Nothing is registered behind
/// anybody's back: a registry is a value, and
/// [`Registry::standard`] with one's own [added](Registry::with) is handed to
/// [`Fitting::with_registry`](crate::Fitting::with_registry) and
/// [`Fit::load_with`](crate::Fit::load_with).
#[derive(Clone, Default)]
pub struct Registry {
    likelihoods: Vec<Arc<dyn LikelihoodSpecies>>,
}

static STANDARD: LazyLock<Registry> = LazyLock::new(|| {
    Registry::default()
        .with(species::GaussianSpecies)
        .with(species::BernoulliSpecies)
        .with(species::LatentBernoulliSpecies)
        .with(species::BayesianSvmSpecies)
        .with(species::ProbitSpecies)
        .with(species::CategoricalSpecies)
        .with(species::PoissonSpecies)
        .with(species::NegativeBinomialSpecies)
        .with(species::PoissonLogNormalSpecies)
        .with(species::BinomialSpecies)
        .with(species::RankSpecies)
        .with(species::OrdinaryRankSpecies)
});

impl Registry {
    /// Polyview's own.
    pub fn standard() -> &'static Self {
        &STANDARD
    }
    /// One more likelihood. One of the same name as another comes in its place.
    #[must_use]
    pub fn with(mut self, species: impl LikelihoodSpecies + 'static) -> Self {
        let species: Arc<dyn LikelihoodSpecies> = Arc::new(species);
        let same = |s: &Arc<dyn LikelihoodSpecies>| s.name() == species.name();
        match self.likelihoods.iter().position(same) {
            Some(at) => self.likelihoods[at] = species,
            None => self.likelihoods.push(species),
        }
        self
    }
    /// The likelihood of that name or alias.
    pub fn likelihood(&self, name: &str) -> Option<&Arc<dyn LikelihoodSpecies>> {
        let called =
            |s: &&Arc<dyn LikelihoodSpecies>| s.name() == name || s.aliases().contains(&name);
        self.likelihoods.iter().find(called)
    }
    /// Checks options of the likelihood of that name or alias.
    ///
    /// # Errors
    /// [`UnknownLikelihood`](crate::ErrorKind::UnknownLikelihood),
    /// [`SpeciesOption`](crate::ErrorKind::SpeciesOption).
    pub fn check_options(&self, name: &str, options: &Options) -> Result<()> {
        let mut likelihood = Likelihood::from(name).with(options.clone());
        likelihood.resolve(self)
    }
    /// All likelihoods, in the order in which they were added.
    pub fn likelihoods(&self) -> impl Iterator<Item = &dyn LikelihoodSpecies> {
        self.likelihoods.iter().map(AsRef::as_ref)
    }
}

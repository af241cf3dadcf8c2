//! The list of all species.

use std::sync::{Arc, LazyLock};

use polyview_core::{LikelihoodSpecies, Options, PriorSpecies, RowRole};
use polyview_likelihoods::species;
use polyview_priors::species as priors;

use crate::compose::Composer;
use crate::error::{ErrorKind, Result};
use crate::spec::Likelihood;

/// Makes a composer of its options, as a file has them.
pub type ComposerReader = dyn Fn(&Options) -> Result<Arc<dyn Composer>> + Send + Sync;

/// The likelihoods and priors that specifications and files may name, and the composers that
/// files may. Nothing is registered behind
/// anybody's back: a registry is a value, and
/// [`Registry::standard`] with one's own [added](Registry::with) is handed to
/// [`Fitting::with_registry`](crate::Fitting::with_registry) and
/// [`Fit::load_with`](crate::Fit::load_with).
#[derive(Clone, Default)]
pub struct Registry {
    likelihoods: Vec<Arc<dyn LikelihoodSpecies>>,
    priors: Vec<Arc<dyn PriorSpecies>>,
    /// By name.
    composers: Vec<(String, Arc<ComposerReader>)>,
}

static STANDARD: LazyLock<Registry> = LazyLock::new(|| {
    Registry::default()
        .with(species::GaussianSpecies)
        .with(species::BernoulliSpecies)
        .with(species::LatentBernoulliSpecies)
        .with(species::BayesianSvmSpecies)
        .with(species::ProbitSpecies)
        .with(species::OrdinalSpecies)
        .with(species::MidpointOrdinalSpecies)
        .with(species::CensoredSpecies)
        .with(species::SurvivalSpecies)
        .with(species::SoftmaxSpecies)
        .with(species::CategoricalProbitSpecies)
        .with(species::PoissonSpecies)
        .with(species::NegativeBinomialSpecies)
        .with(species::PoissonLogNormalSpecies)
        .with(species::BinomialSpecies)
        .with(species::GammaSpecies)
        .with(species::SimilaritySpecies)
        .with(species::RankSpecies)
        .with(species::OrdinaryRankSpecies)
        .with_prior(priors::StandardNormalSpecies)
        .with_prior(priors::ArdSpecies)
        .with_prior(priors::GroupArdSpecies)
        .with_prior(priors::DoubleArdSpecies)
        .with_prior(priors::RidgeSpecies)
        .with_prior(priors::RidgeByFeatureSpecies)
        .with_prior(priors::RelativeRidgeSpecies)
        .with_prior(priors::SpikeSlabSpecies)
        .with_prior(priors::ThreeParameterBetaSpecies)
        .with_prior(priors::MixtureSpecies)
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
    /// [`UnknownSpecies`](crate::ErrorKind::UnknownSpecies),
    /// [`SpeciesOption`](crate::ErrorKind::SpeciesOption).
    pub fn check_options(&self, name: &str, options: &Options) -> Result<()> {
        let mut likelihood = Likelihood::from(name).with(options.clone());
        likelihood.resolve(self)
    }
    /// All likelihoods, in the order in which they were added.
    pub fn likelihoods(&self) -> impl Iterator<Item = &dyn LikelihoodSpecies> {
        self.likelihoods.iter().map(AsRef::as_ref)
    }
    /// One more prior. One of the same name and of rows of the same role as another comes in
    /// its place.
    #[must_use]
    pub fn with_prior(mut self, species: impl PriorSpecies + 'static) -> Self {
        let species: Arc<dyn PriorSpecies> = Arc::new(species);
        let same = |s: &Arc<dyn PriorSpecies>| {
            s.name() == species.name() && s.roles().iter().any(|r| species.roles().contains(r))
        };
        match self.priors.iter().position(same) {
            Some(at) => self.priors[at] = species,
            None => self.priors.push(species),
        }
        self
    }
    /// The prior of that name or alias, for rows of this role.
    pub fn prior(&self, role: RowRole, name: &str) -> Option<&Arc<dyn PriorSpecies>> {
        self.shared_priors(role)
            .find(|s| s.name() == name || s.aliases().contains(&name))
    }
    /// All priors of rows of this role, in the order in which they were added.
    pub fn priors(&self, role: RowRole) -> impl Iterator<Item = &(dyn PriorSpecies + 'static)> {
        self.shared_priors(role).map(AsRef::as_ref)
    }
    /// One more composer: `read` makes it of the options that its
    /// [`describe`](Composer::describe) gave, which a file has kept under that name. One of the same name
    /// as another comes in its place. A [`ModelSpec`](crate::ModelSpec) is read without.
    ///
    /// What `read` says of options that it cannot use is an error of the file
    /// ([`ErrorKind::SpeciesOption`] says it best).
    #[must_use]
    pub fn with_composer(
        mut self,
        name: &str,
        read: impl Fn(&Options) -> Result<Arc<dyn Composer>> + Send + Sync + 'static,
    ) -> Self {
        self.composers.retain(|(known, _)| known != name);
        self.composers.push((name.to_owned(), Arc::new(read)));
        self
    }
    /// The composer of that name with these options.
    ///
    /// # Errors
    /// [`ErrorKind::UnknownComposer`]; what its reader says of the options.
    pub fn composer(&self, name: &str, options: &Options) -> Result<Arc<dyn Composer>> {
        let Some((_, read)) = self.composers.iter().find(|(known, _)| known == name) else {
            let others = self.composers.iter().map(|(name, _)| name.clone());
            return Err(ErrorKind::UnknownComposer {
                name: name.to_owned(),
                known: std::iter::once("spec".to_owned()).chain(others).collect(),
            }
            .into());
        };
        read(options)
    }
    pub(crate) fn shared_likelihoods(&self) -> &[Arc<dyn LikelihoodSpecies>] {
        &self.likelihoods
    }
    pub(crate) fn shared_priors(
        &self,
        role: RowRole,
    ) -> impl Iterator<Item = &Arc<dyn PriorSpecies>> {
        let suits = move |s: &&Arc<dyn PriorSpecies>| s.roles().contains(&role);
        self.priors.iter().filter(suits)
    }
}

//! Likelihoods of views.

use std::sync::Arc;

use polyview_core::{DataError, Domain, LikelihoodSpecies, TermContext, View, ViewTerm, Way};

use super::named::{Kind, Named};
use crate::registry::Registry;

/// The kind of [`Likelihood`].
#[derive(Clone, Copy, Debug)]
pub struct Likelihoods;

impl Kind for Likelihoods {
    type Species = dyn LikelihoodSpecies;
    const WHAT: &'static str = "likelihood";
    const DEFAULT: &'static str = "gaussian";
    fn all(registry: &Registry) -> Vec<&Arc<dyn LikelihoodSpecies>> {
        registry.shared_likelihoods().iter().collect()
    }
}

/// How the data of a view arise from its linear predictor: a
/// [species](LikelihoodSpecies) by its name.
pub type Likelihood = Named<Likelihoods>;

impl Likelihood {
    /// The data term of a view.
    ///
    /// # Errors
    /// [`DataError`] when the data do not suit it, and of a likelihood that is not known.
    pub(crate) fn term(
        &self,
        view: View,
        cx: &TermContext,
    ) -> std::result::Result<Box<dyn ViewTerm>, DataError> {
        let Some(species) = self.species() else {
            return Err(DataError::UnknownLikelihood {
                view: view.name().to_owned(),
                name: self.name().to_owned(),
            });
        };
        species.term(view, &self.written_out(), cx)
    }
    /// What the data are; `None` for a name that is not known.
    pub fn domain(&self) -> Option<Domain> {
        self.species().map(polyview_core::LikelihoodSpecies::domain)
    }
    /// Why a view of it cannot go a way, in words that follow "it"; `None` where it can.
    pub fn refuses(&self, way: Way) -> Option<String> {
        match self.species() {
            Some(species) => species.refuses(way, &self.written_out()),
            None => Some("is not known".to_owned()),
        }
    }
    fn is(&self, asked: impl Fn(Domain) -> bool) -> bool {
        self.domain().is_some_and(asked)
    }
    /// The same with what these data say where nobody has said it, and the names of the options
    /// that they say.
    pub(crate) fn with_data(self, view: &View) -> (Self, Vec<String>) {
        let Some(species) = self.species() else {
            return (self, Vec::new());
        };
        let (before, defaults) = (self.written_out(), species.defaults());
        let after = species.with_data(&before, view);
        if after == before || after.over(&defaults).is_err() {
            return (self, Vec::new());
        }
        let said = after.names().filter(|o| after.text(o) != before.text(o));
        let said = said.map(str::to_owned).collect();
        (self.with(after), said)
    }
    /// Words of ordered levels in their order; none where levels are numbers.
    pub fn level_words(&self) -> Vec<String> {
        let species = self.species();
        species.map_or_else(Vec::new, |s| s.level_words(&self.written_out()))
    }
    /// The largest number that a cell of ordered levels may have; none of other data.
    pub fn most_levels(&self) -> Option<usize> {
        self.species()?.most_levels(&self.written_out())
    }
    /// What to take instead where data vary much more than it lets them
    /// ([`LikelihoodSpecies::for_more_variance`]).
    pub(crate) fn for_more_variance(&self) -> Option<&'static str> {
        self.species()?.for_more_variance()
    }
    /// Whether how far a feature varies about its linear predictor is learnt ([`LikelihoodSpecies::learns_spread`]).
    pub fn learns_spread(&self) -> bool {
        let species = self.species();
        species.is_some_and(|s| s.learns_spread(&self.written_out()))
    }
    /// Whether plain regressions have its linear predictors ([`LikelihoodSpecies::has_plain_regression`]).
    pub fn has_plain_regression(&self) -> bool {
        self.species()
            .is_some_and(LikelihoodSpecies::has_plain_regression)
    }
    /// Whether the data are zeros and ones, or classes.
    pub fn is_label(&self) -> bool {
        self.is(Domain::is_label)
    }
    /// Whether the data are counts: whole numbers, not negative. Successes are
    /// such too.
    pub fn is_count(&self) -> bool {
        self.is(Domain::is_count)
    }
    /// Whether the data are ordered levels.
    pub fn is_ordered(&self) -> bool {
        self.is(Domain::is_ordered)
    }
    /// Whether the data are real numbers, which may be centred and scaled.
    pub fn is_real(&self) -> bool {
        self.is(Domain::is_real)
    }
    /// Whether the data are numbers above 0.
    pub fn is_positive(&self) -> bool {
        self.is(Domain::is_positive)
    }
    /// Whether of some of the data two ends may be all that is known.
    pub fn is_censored(&self) -> bool {
        self.is(Domain::is_censored)
    }
    /// Whether the data are logarithms of times to an event.
    pub fn is_survival(&self) -> bool {
        self.is(Domain::is_survival)
    }
    /// Whether the data are numbers of successes out of known numbers of trials.
    pub fn has_trials(&self) -> bool {
        self.is(Domain::has_trials)
    }
    /// Whether the data say how alike samples are, pair by pair.
    pub fn is_similarity(&self) -> bool {
        self.is(Domain::is_similarity)
    }
    /// Number of latent dimensions, where weights belong to these and not to features.
    pub fn latent_dimensions(&self) -> Option<usize> {
        self.species()?.latent_dimensions(&self.written_out())
    }
    /// Whether only the order of the data counts.
    pub fn is_rank(&self) -> bool {
        self.is(Domain::is_ranked)
    }
    /// Whether the data are classes: one column of codes with class names.
    pub fn has_classes(&self) -> bool {
        self.is(Domain::has_classes)
    }
    /// Whether its sites are as steep as the data are large, so that factors of large ones
    /// hardly move.
    pub fn steepens(&self) -> bool {
        self.species()
            .is_some_and(polyview_core::LikelihoodSpecies::steepens)
    }
    /// Whether a view of it keeps no number for single cells, so that data that
    /// are stored sparse stay so.
    pub fn stays_sparse(&self) -> bool {
        self.refuses(Way::Sparse).is_none()
    }
    /// Whether each component of a mixture prior of the factors can have weights
    /// of its own.
    pub fn can_be_local(&self) -> bool {
        self.refuses(Way::Components).is_none()
    }
}

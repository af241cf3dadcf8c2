//! Priors of weights and of factors.

use std::sync::Arc;

use polyview_core::{
    DataError, Finding, Options, PriorContext, PriorSpecies, RowBlock, RowMoments, RowRole, Setting,
};

use super::named::{Kind, Named};
use crate::registry::Registry;

/// A kind of priors: of rows of one role.
pub trait PriorKind: Kind<Species = dyn PriorSpecies> {
    /// What the rows are.
    const ROLE: RowRole;
}

/// The kind of [`WeightPrior`].
#[derive(Clone, Copy, Debug)]
pub struct WeightPriors;

impl Kind for WeightPriors {
    type Species = dyn PriorSpecies;
    const WHAT: &'static str = "prior of weights";
    const DEFAULT: &'static str = "none";
    fn all(registry: &Registry) -> Vec<&Arc<dyn PriorSpecies>> {
        registry.shared_priors(Self::ROLE).collect()
    }
}

impl PriorKind for WeightPriors {
    const ROLE: RowRole = RowRole::Weights;
}

/// The kind of [`FactorPrior`].
#[derive(Clone, Copy, Debug)]
pub struct FactorPriors;

impl Kind for FactorPriors {
    type Species = dyn PriorSpecies;
    const WHAT: &'static str = "prior of factors";
    const DEFAULT: &'static str = "standard-normal";
    fn all(registry: &Registry) -> Vec<&Arc<dyn PriorSpecies>> {
        registry.shared_priors(Self::ROLE).collect()
    }
}

impl PriorKind for FactorPriors {
    const ROLE: RowRole = RowRole::Factors;
}

/// Prior of the weights of a view: a [species](PriorSpecies) by its name.
///
/// * `none` (or `ard`): all features of a view share the precisions of the factors.
/// * `relevance`: each feature has a precision of its own besides (double ARD;
///   spec/sshiba G8, G9). See [`Fit::relevance`](crate::Fit::relevance).
/// * `spike-and-slab` (or `spike-slab`): each weight is zero or not, with a share of those
///   that are not for each factor (spec/mofa B.3). See
///   [`Fit::inclusion`](crate::Fit::inclusion).
/// * `horseshoe`: each weight has a variance of its own under a scale that its factor has in
///   this view (of labels: that the label or class has), so that small weights vanish and
///   large ones are left alone (spec/maxmargin-rank 2.4). See
///   [`Fit::effective_features`](crate::Fit::effective_features).
///
/// ```
/// let mut spec = polyview::models::sshiba(4);
/// spec.defaults.selection = "relevance".into();
/// assert_eq!(spec.defaults.selection, "relevance");
/// ```
pub type WeightPrior = Named<WeightPriors>;

/// Prior of the factors: a [species](PriorSpecies) by its name. Where the data have groups
/// of samples, each group has scales of its own (spec/mofa B.3).
///
/// * `standard-normal`: $z\_{nk} \sim N(0, 1)$.
/// * `ard`: $z\_{nk} \sim N(0, 1/\alpha^g\_k)$ with the prior of the weights' precisions, one
///   a group and factor. The common scale of a factor and its weights is then fixed by the
///   hyperpriors alone; ratios between groups mean something.
/// * `spike-and-slab`: as `ard`, and each entry is zero or not, with a share of those that
///   are not for each group and factor.
/// * `mixture`: each sample belongs to one of several components, with a mean and a
///   precision each ([`mixture`](crate::ModelSpec::mixture); spec/maxmargin-rank 2.5).
pub type FactorPrior = Named<FactorPriors>;

impl<K: PriorKind> Named<K> {
    /// The block of rows that start at `start`; `shared` has the options that a
    /// specification has for all priors.
    ///
    /// # Errors
    /// [`DataError`] for options that cannot be read, and of a prior that is not known.
    pub(crate) fn rows(
        &self,
        shared: &Options,
        start: RowMoments,
        cx: &PriorContext<'_>,
    ) -> Result<Box<dyn RowBlock>, DataError> {
        let Some(species) = self.species() else {
            return Err(DataError::UnknownPrior {
                block: cx.block.to_owned(),
                name: self.name().to_owned(),
            });
        };
        species.rows(&self.over(shared)?, start, cx)
    }
    /// What it cannot go with in this setting, in words that follow "cannot be combined
    /// with"; `None` where it can.
    pub fn refuses(&self, setting: Setting) -> Option<&'static str> {
        self.species()?.refuses(setting)
    }
    /// What it is called where it is refused: `horseshoe weights`.
    pub fn called(&self) -> String {
        let species = self.species();
        species.map_or_else(|| self.name().to_owned(), |s| s.called(K::ROLE))
    }
    /// What its rows have to tell beside their moments.
    pub fn finding(&self) -> Option<Finding> {
        self.species()?.finding()
    }
    /// Whether each group of rows has scales of its own.
    pub fn knows_groups(&self) -> bool {
        self.species().is_some_and(PriorSpecies::knows_groups)
    }
}

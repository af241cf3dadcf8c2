//! Priors of weights and of factors that describe themselves.

use polyview_random::StreamKey;
use serde::{Deserialize, Serialize};

use super::{About, OptionError, Options};
use crate::error::DataError;
use crate::model::{Domain, RowBlock, RowGroups, RowMoments};

/// What rows are: a prior may suit one of them or both.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RowRole {
    /// Weights of a view, a row for each predictor column.
    Weights,
    /// Factors, a row for each sample.
    Factors,
}

/// Which covariances the posterior of factors and weights keeps.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Posterior {
    /// Those of all factors of a sample, and of all weights of a feature.
    #[default]
    Full,
    /// None, as in MOFA: variances too small and a slower way there, for very
    /// many factors or to compare.
    Factorised,
}

/// What rows under a prior have to tell beside their moments.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Finding {
    /// A relevance of each row ([`RowBlock::relevance`]).
    Relevance,
    /// A probability of each entry that it is not zero ([`RowBlock::inclusion`]).
    Inclusion,
    /// How many rows a column rests on: entries vanish without being zero.
    EffectiveRows,
    /// Components that rows belong to ([`RowBlock::shares`]).
    Components,
}

/// What a prior may be asked to go with and that not every one can.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Setting {
    /// A posterior without covariances ([`Posterior::Factorised`]).
    Factorised,
    /// The steps of mofapy2.
    Mofapy2,
    /// Weights of classes: a row for each class of one feature.
    Classes,
    /// Weights for each component of the factors.
    Components,
}

/// The rows that a prior is for.
#[derive(Clone, Copy, Debug)]
pub enum RowsOf<'a> {
    /// Weights of a view.
    Weights {
        /// What the data of the view are.
        domain: Domain,
        /// Number of components of the factors' prior that have weights of their own,
        /// where they have.
        components: Option<usize>,
        /// Rows that the data say nothing of, ascending.
        idle: &'a [usize],
    },
    /// Factors.
    Factors {
        /// The groups of the samples; one where they make no difference.
        groups: &'a RowGroups,
    },
}

/// What a block of rows is made with.
#[derive(Clone, Copy, Debug)]
pub struct PriorContext<'a> {
    /// Name of the block for the journal and the ledger, such as `weights/genes`.
    pub block: &'a str,
    /// What the rows are.
    pub rows: RowsOf<'a>,
    /// Which covariances the posterior keeps.
    pub posterior: Posterior,
    /// Random numbers for the start of the prior: the same for each restart and chain, and
    /// when a model is read again.
    pub key: StreamKey,
    /// Sweeps for which probabilities of inclusion stay at their start, where the steps
    /// are those of mofapy2 (spec/mofa B.5); its bound takes the spike of the prior for that
    /// of the posterior (spec/mofa C.2, item 5). `None` where steps are exact.
    pub mofapy2: Option<usize>,
}

impl PriorContext<'_> {
    /// The groups of that many rows: one of weights.
    pub fn groups(&self, rows: usize) -> RowGroups {
        match self.rows {
            RowsOf::Weights { .. } => RowGroups::one(rows),
            RowsOf::Factors { groups } => groups.clone(),
        }
    }
}

/// A prior of weights, of factors, or of both that describes itself. Object safe.
///
/// Options that a specification has for all priors come by their names there, if the prior
/// has [defaults](PriorSpecies::defaults) of these names: `weight-prior`, `relevance-prior`,
/// `shrinkage-prior` and `inclusion-prior`; `components`, `precision` and `concentration` of a
/// mixture.
pub trait PriorSpecies: Send + Sync {
    /// Its name in specifications and files, in kebab case.
    fn name(&self) -> &'static str;
    /// Other names that are read.
    fn aliases(&self) -> &'static [&'static str] {
        &[]
    }
    /// What rows it is for.
    fn roles(&self) -> &'static [RowRole];
    /// What it is, of rows of this role.
    fn about(&self, role: RowRole) -> About;
    /// What it is called where it is refused: `horseshoe weights`.
    fn called(&self, role: RowRole) -> String {
        match role {
            RowRole::Weights => format!("{} weights", self.name()),
            RowRole::Factors => format!("{} factors", self.name()),
        }
    }
    /// Its options with their defaults.
    fn defaults(&self) -> Options {
        Options::new()
    }
    /// Checks options, all of them written out.
    ///
    /// # Errors
    /// [`OptionError`] for one that cannot be.
    fn check(&self, options: &Options) -> Result<(), OptionError> {
        let _ = options;
        Ok(())
    }
    /// What it cannot go with in this setting, in words that follow "cannot be combined
    /// with"; `None` where it can. A prior that says nothing of a setting is refused where
    /// going on would be wrong in silence.
    fn refuses(&self, setting: Setting) -> Option<&'static str> {
        match setting {
            Setting::Classes => None,
            Setting::Factorised => {
                Some("a factorised posterior: it does not say that it has none of the covariances")
            }
            Setting::Mofapy2 => Some("the algorithm of mofapy2, which has none"),
            Setting::Components => Some("weights for each component (local)"),
        }
    }
    /// What its rows have to tell beside their moments.
    fn finding(&self) -> Option<Finding> {
        None
    }
    /// Whether each group of rows has scales of its own.
    fn knows_groups(&self) -> bool {
        false
    }
    /// The block of rows that start at `start`, with these options, all of them written
    /// out.
    ///
    /// # Errors
    /// [`DataError`] for options that it cannot read.
    fn rows(
        &self,
        options: &Options,
        start: RowMoments,
        cx: &PriorContext<'_>,
    ) -> Result<Box<dyn RowBlock>, DataError>;
}

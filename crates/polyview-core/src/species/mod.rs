//! Species: likelihoods and priors that describe themselves, so that everything above asks
//! the description and knows no names.
//!
//! A likelihood is one [`LikelihoodSpecies`] beside its data term, a prior one
//! [`PriorSpecies`] beside its block of rows. A registry lists them;
//! specifications and files name them, with a table of [`Options`] that the species alone
//! reads.

mod options;
mod prior;

pub use options::{OptionError, Options};
pub use prior::{Finding, Posterior, PriorContext, PriorSpecies, RowRole, RowsOf, Setting};

use polyview_random::StreamKey;
use serde::{Deserialize, Serialize};

use crate::dataset::{View, ViewTable};
use crate::error::DataError;
use crate::model::{Domain, GammaPrior, ViewTerm};

/// How a prediction takes the parameters.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ParameterUncertainty {
    /// As sure as the posterior says (spec/sshiba P4, P6, P8).
    #[default]
    Posterior,
    /// Known, as printed in the papers: noise $1/\langle\tau\rangle$ in place of
    /// $\mathrm{E}[1/\tau]$ (P3), probabilities of the predictor's mean (P5,
    /// P7).
    PlugIn,
}

impl ParameterUncertainty {
    /// What a prediction takes the variance of a predictor to be.
    pub fn of_predictor(self, variance: f64) -> f64 {
        match self {
            Self::Posterior => variance,
            Self::PlugIn => 0.0,
        }
    }
}

/// How missing cells are treated.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum MissingData {
    /// Integrated out exactly: `[M]`, the tighter bound.
    #[default]
    Marginal,
    /// A mean-field factor each: `[I]`, the papers' scheme.
    Impute,
}

/// What one noise precision is shared by.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum NoiseBy {
    /// One precision for the view: right where all features are measured in
    /// the same unit with the same error. Where they are not, the features'
    /// unequal noise is explained by factors that do not exist.
    View,
    /// One precision for each feature.
    #[default]
    Feature,
}

/// What a species says of itself, for help, messages and tables of documents.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct About {
    /// Of a likelihood its data and how they arise, of a prior what it does, in one line
    /// without a full stop.
    pub line: &'static str,
    /// What the data of a likelihood must be, as in "expected 0 or 1", or the rows of a prior.
    pub needs: &'static str,
    /// Where its formulas stand, such as `sshiba 1.4`.
    pub label: &'static str,
    /// Its options: name and meaning.
    pub options: &'static [(&'static str, &'static str)],
}

/// Ways that a view of a likelihood may be asked to go and that not every one can.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Way {
    /// Gibbs sampling.
    Gibbs,
    /// Stochastic variational Bayes, which sees a batch of the samples at a time.
    Stochastic,
    /// Data that are stored sparse: no number is kept for single cells.
    Sparse,
    /// Noise, parameters or intercepts by group of samples.
    Groups,
    /// Predictor columns for each component of the factors' prior.
    Components,
    /// Weights settled on factors that did not see the view.
    Settling,
    /// A known number added to the linear predictor of each sample.
    Offset,
}

impl Way {
    /// All of them, in the order of tables.
    pub const ALL: [Self; 7] = [
        Self::Gibbs,
        Self::Stochastic,
        Self::Sparse,
        Self::Groups,
        Self::Components,
        Self::Settling,
        Self::Offset,
    ];
    /// Its name in tables.
    pub fn name(self) -> &'static str {
        match self {
            Self::Gibbs => "Gibbs",
            Self::Stochastic => "stochastic",
            Self::Sparse => "sparse",
            Self::Groups => "groups",
            Self::Components => "components",
            Self::Settling => "settling",
            Self::Offset => "offset",
        }
    }
}

/// How surely a table is of a likelihood.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Guess {
    /// The strongest guess wins; ties go to the likelihood that is listed first. 0: never
    /// guessed, offered beside what was.
    pub strength: u8,
    /// What was seen: "all values are 0 or 1".
    pub why: String,
    /// When it would be right although another one was guessed: "they are counts".
    pub when: &'static str,
}

/// Data that are about to be fitted.
#[derive(Clone, Copy, Debug)]
pub struct Observed<'a> {
    /// Mean of the observed cells.
    pub mean: f64,
    /// The view, unless it comes block by block.
    pub view: Option<&'a View>,
    /// The options of its likelihood, those at least that were chosen.
    pub options: &'a Options,
}

/// What a data term is made with.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TermContext {
    /// Treatment of missing cells.
    pub missing: MissingData,
    /// How sure predictions take parameters to be.
    pub prediction: ParameterUncertainty,
    /// What one noise precision is shared by.
    pub noise: NoiseBy,
    /// Prior of noise precisions, per squared working unit.
    pub noise_prior: GammaPrior,
    /// Noise precision to start from, per squared working unit.
    pub start_noise: f64,
    /// Number of components of the factors' prior that are to have predictor columns of
    /// their own, where they are.
    pub components: Option<usize>,
    /// Whether the engine takes terms that stand for tangents ([`Tangents`](crate::Tangents)) and
    /// have no better form: variational Bayes over all samples at once, with one set of weights.
    pub tangents: bool,
    /// Random numbers of the view: the same for each restart and chain, and when a model
    /// is read again.
    pub key: StreamKey,
}

/// A likelihood that describes itself. Object safe.
pub trait LikelihoodSpecies: Send + Sync {
    /// Its name in specifications and files, in kebab case.
    fn name(&self) -> &'static str;
    /// Other names that are read.
    fn aliases(&self) -> &'static [&'static str] {
        &[]
    }
    /// What it is.
    fn about(&self) -> About;
    /// What its data are.
    fn domain(&self) -> Domain;
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
    /// Why a view of it cannot go a way with these options, in words that follow "it"
    /// ("keeps a number for every cell"), and what to do instead; `None` where it can.
    /// A way that a likelihood says nothing of is refused where going it would be wrong in
    /// silence; whether there is a sampler, and what groups pass on, is asked of its
    /// data term as well.
    fn refuses(&self, way: Way, options: &Options) -> Option<String> {
        let _ = options;
        match way {
            Way::Gibbs | Way::Groups | Way::Settling | Way::Offset => None,
            Way::Sparse => Some("does not say that it works without a number for each cell".into()),
            Way::Stochastic => Some("does not say that its sums can be made by parts".into()),
            Way::Components => Some("does not say how components share its data".into()),
        }
    }
    /// Whether and how surely a table is of it.
    fn guess(&self, table: &ViewTable) -> Option<Guess> {
        let _ = table;
        None
    }
    /// The same options with what the data say where nobody has said it, such as the number of
    /// levels: asked once of all data that there are, before any of them are left out.
    fn with_data(&self, options: &Options, view: &View) -> Options {
        let _ = view;
        options.clone()
    }
    /// Words of ordered levels in their order, where the options have any: cells with the first
    /// of them are ones.
    fn level_words(&self, options: &Options) -> Vec<String> {
        let _ = options;
        Vec::new()
    }
    /// The largest number that a cell of ordered levels may have with these options; `None` of other data.
    fn most_levels(&self, options: &Options) -> Option<usize> {
        let _ = options;
        None
    }
    /// What to take instead, in words that follow "take the likelihood", where data vary much more
    /// than the likelihood lets them: said by those whose variance follows from their mean.
    fn for_more_variance(&self) -> Option<&'static str> {
        None
    }
    /// Whether how far a feature varies about its linear predictor is learnt from the data, as noise, sizes or shapes are: a
    /// factor of that feature alone cannot be told from it. Numbers have noise unless their likelihood says otherwise.
    fn learns_spread(&self, options: &Options) -> bool {
        let _ = options;
        self.domain().is_real()
    }
    /// Whether linear predictors of the plain regression of its domain are its own: ridge regression of numbers (with
    /// normal noise), the same of numbers between limits, logistic of zeros and ones, multinomial of classes, that of a normal variable between cut points of ordered levels. Then a view can be predicted by such a regression on
    /// the features of others, through its own laws (docs/decisions/0084-mixtures-of-ways.md).
    fn has_plain_regression(&self) -> bool {
        false
    }
    /// Number of latent dimensions, where the predictor has these for columns and not the
    /// features of the data (or their classes).
    fn latent_dimensions(&self, options: &Options) -> Option<usize> {
        let _ = options;
        None
    }
    /// What a user should know before data like these are fitted by it.
    fn remarks(&self, data: &Observed<'_>) -> Vec<String> {
        let _ = data;
        Vec::new()
    }
    /// Whether counts above a million are nothing unusual for it.
    fn takes_large_counts(&self) -> bool {
        false
    }
    /// Whether the precisions of its sites grow with the data, so that factors of large
    /// ones hardly move.
    fn steepens(&self) -> bool {
        false
    }
    /// The data term of a view, with these options, all of them written out.
    ///
    /// # Errors
    /// [`DataError`] when the data do not suit it.
    fn term(
        &self,
        view: View,
        options: &Options,
        cx: &TermContext,
    ) -> Result<Box<dyn ViewTerm>, DataError>;
}

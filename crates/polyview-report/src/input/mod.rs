//! What a report is made from: results of a fit as the facade gives them, and the tables that
//! pictures are drawn of.

mod factors;
mod grid;
mod progress;
mod results;
mod summary;
mod validate;

pub use factors::{
    Factors, GroupFactors, VarianceExplained, ViewInclusion, ViewRelevance, ViewWeights,
};
pub use grid::Grid;
pub use progress::{BoundTrace, Chain, ChainTraces, Event, EventKind, Progress};
pub use results::{Against, HeldOut, HeldOutCells, Intervals};
pub use summary::{Coverage, OptionValue, Origin, Summary, ViewSummary};

pub(crate) use validate::{check_factor, checked, compared, known_of, shape};

use polyview::{ChooseK, Journal, Metadata, PredictiveCheck};

/// Everything that a report shows. What is absent or empty has no section.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Report {
    /// Title of the page.
    pub title: String,
    /// A paragraph under the title; may be empty.
    pub introduction: String,
    /// What was fitted.
    pub summary: Summary,
    /// Which samples have which views.
    pub coverage: Option<Coverage>,
    /// The bound or the chains.
    pub progress: Option<Progress>,
    /// Variance explained by view and factor.
    pub variance: Option<VarianceExplained>,
    /// What factors do in groups of samples.
    pub groups: Option<GroupFactors>,
    /// Posterior of the factors.
    pub factors: Option<Factors>,
    /// What is known about the samples, in the order of `factors.samples`.
    pub metadata: Vec<Metadata>,
    /// Names of the columns of `metadata` that the model has seen, as groups, covariates or offsets.
    pub metadata_in_the_fit: Vec<String>,
    /// Posterior of the weights, one entry per view.
    pub weights: Vec<ViewWeights>,
    /// Inclusion probabilities of the weights, one entry per view that learnt them.
    pub inclusion: Vec<ViewInclusion>,
    /// Relevance of the features, one entry per view that learnt it.
    pub relevance: Vec<ViewRelevance>,
    /// Held-out predictions, one entry per view.
    pub held_out: Vec<HeldOut>,
    /// Posterior predictive checks, one entry per view.
    pub checks: Vec<PredictiveCheck>,
    /// The fit against another one.
    pub comparison: Option<Against>,
    /// Fits with different numbers of factors.
    pub choose_k: Option<ChooseK>,
    /// What happened during the fit.
    pub journal: Journal,
    /// Names and versions of the software that took part.
    pub versions: Vec<(String, String)>,
    /// How much to show.
    pub options: Options,
}

/// How much a report shows.
#[derive(Clone, Debug, PartialEq)]
pub struct Options {
    /// Features per factor and view in the pictures of weights.
    pub top_weights: usize,
    /// Features per view in the pictures of inclusion probabilities.
    pub inclusion_features: usize,
    /// Leading factors whose weights are drawn.
    pub weight_factors: usize,
    /// Leading factors whose pairs are drawn against each other.
    pub scatter_factors: usize,
    /// Metadata columns that colour the pictures of the factors (all appear in the table).
    pub metadata_pictures: usize,
    /// Points in one picture; beyond it evenly spaced points are drawn, or a density.
    pub max_points: usize,
    /// Rows of a table of raw numbers.
    pub table_rows: usize,
    /// Share of a view's variance from which a factor counts as active in it.
    pub active_share: f64,
}

impl Default for Options {
    /// 12 features for each of 4 factors, inclusion of 24 features a view, pairs of 3 factors, 6 metadata columns, 3000 points, 25
    /// table rows, active from 1 % on.
    fn default() -> Self {
        Self {
            top_weights: 12,
            inclusion_features: 24,
            weight_factors: 4,
            scatter_factors: 3,
            metadata_pictures: 6,
            max_points: 3000,
            table_rows: 25,
            active_share: 0.01,
        }
    }
}

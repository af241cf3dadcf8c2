//! Factors, weights, and what is known about the samples.

use super::Grid;

/// Variance explained, as shares: 0.25 is a quarter. Negative values are legal and shown as such.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct VarianceExplained {
    /// Names of the views.
    pub views: Vec<String>,
    /// Names of the factors.
    pub factors: Vec<String>,
    /// Views x factors: share of the view's variance that the factor explains alone.
    pub marginal: Grid,
    /// Per view: share that all factors explain together.
    pub joint: Vec<f64>,
    /// Views x factors: share that is lost when only this factor is left out.
    pub unique: Option<Grid>,
}

/// What factors do in groups of samples.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct GroupFactors {
    /// Names of the groups.
    pub groups: Vec<String>,
    /// Names of the factors.
    pub factors: Vec<String>,
    /// Groups x factors: mean square of the factor in the group, relative to its largest over the
    /// groups.
    pub activity: Grid,
    /// Variance explained within each group, about the group's own means; empty where it is not known.
    pub variance: Vec<VarianceExplained>,
}

/// Posterior of the factors.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Factors {
    /// Names of the samples.
    pub samples: Vec<String>,
    /// Names of the factors.
    pub names: Vec<String>,
    /// Samples x factors: posterior means.
    pub means: Grid,
    /// Samples x factors: posterior standard deviations, not negative; `NaN` where not known.
    pub sds: Option<Grid>,
}

/// Posterior of the weights of one view.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ViewWeights {
    /// Name of the view.
    pub view: String,
    /// Names of the features.
    pub features: Vec<String>,
    /// Features x factors: posterior means.
    pub means: Grid,
    /// Features x factors: posterior standard deviations, not negative; `NaN` where not known.
    pub sds: Option<Grid>,
}

/// Which weights of one view are not zero.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ViewInclusion {
    /// Name of the view.
    pub view: String,
    /// Names of the features.
    pub features: Vec<String>,
    /// Features x factors: posterior probability that the weight is not zero; `NaN` where not known.
    pub probability: Grid,
}

/// Relevance of the features of one view, as shares of its median: 2 is twice as relevant as an ordinary
/// feature.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ViewRelevance {
    /// Name of the view.
    pub view: String,
    /// Names of the features.
    pub features: Vec<String>,
    /// Relevance of each feature, not negative; `NaN` where not known.
    pub relevance: Vec<f64>,
    /// Height and width where the features are the pixels of an image, row by row.
    pub shape: Option<[usize; 2]>,
}

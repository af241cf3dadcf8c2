//! The model against its own replicates, and against another fit.

use serde::Serialize;

/// Posterior predictive checks of one view: statistics of the data against those of data that the
/// model makes for the same samples.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Check {
    /// Name of the view.
    pub view: String,
    /// Samples that were replicated.
    pub samples: usize,
    /// Replicated data sets.
    pub replicates: usize,
    /// Which part of the data was looked at, in words, where it was not all of them.
    pub part: Option<String>,
    /// The statistics.
    pub statistics: Vec<CheckStatistic>,
}

/// One statistic of the features (or classes) of a view; `NaN` where it is not defined.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct CheckStatistic {
    /// What it is, for instance `skewness`.
    pub name: String,
    /// Of the data, one value a feature.
    pub observed: Vec<f64>,
    /// Mean over the replicates, one value a feature.
    pub replicated: Vec<f64>,
    /// 5% quantile of the replicates, one value a feature.
    pub lower: Vec<f64>,
    /// 95% quantile of the replicates, one value a feature.
    pub upper: Vec<f64>,
    /// Posterior predictive p-values, one a feature: the share of replicates with a larger value.
    pub p: Vec<f64>,
    /// Mean of the data's over the features.
    pub mean_observed: f64,
    /// Mean of the replicates' over the features.
    pub mean_replicated: f64,
    /// Posterior predictive p-value of the mean over the features.
    pub mean_p: f64,
}

/// The fit against another one of the same data.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Comparison {
    /// What the fit is called, for instance `variational Bayes`.
    pub name: String,
    /// What the other fit is called.
    pub other: String,
    /// Samples that both have.
    pub samples: usize,
    /// Views that both have.
    pub views: Vec<ComparedView>,
    /// What should be known to read the numbers.
    pub notes: Vec<String>,
}

/// The linear predictor of one view in two fits.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct ComparedView {
    /// Name of the view.
    pub view: String,
    /// Posterior means at cells, of the fit.
    pub mean: Vec<f64>,
    /// Posterior standard deviations, of the fit.
    pub sd: Vec<f64>,
    /// Posterior means, of the other fit.
    pub other_mean: Vec<f64>,
    /// Posterior standard deviations, of the other fit.
    pub other_sd: Vec<f64>,
    /// Correlation of the means, each feature about its own; `NaN` where nothing varies.
    pub correlation: f64,
    /// Ratios of the standard deviations of the predictor.
    pub predictor: Spreads,
    /// Ratios of the standard deviations of the squared lengths of the features' weights.
    pub weights: Spreads,
}

/// Ratios of standard deviations, the fit's by those of the other; `NaN` without quantities.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct Spreads {
    /// Quantities that both are unsure of.
    pub quantities: usize,
    /// Median ratio.
    pub median: f64,
    /// 5% quantile of the ratios.
    pub lower: f64,
    /// 95% quantile of the ratios.
    pub upper: f64,
}

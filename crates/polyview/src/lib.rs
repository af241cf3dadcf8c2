//! Modular Bayesian factor models for heterogeneous, multi-view data: shared
//! and private factors of several measurements of the same samples, any cell
//! of which may be missing, with every prediction's uncertainty.
//!
//! ```
//! use polyview::models;
//! use polyview_datasets::nutrimouse;
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let data = nutrimouse(); // 40 mice: 120 genes, 21 lipids
//! let fit = polyview::fit(data, models::bibfa(6))?;
//! let factors = fit.factors()?; // 40 x K, means and standard deviations
//! assert_eq!(factors.mean.nrows(), 40);
//! # Ok(())
//! # }
//! ```
//!
//! | item | what |
//! |---|---|
//! | [`models`] | published models, each a [`ModelSpec`] |
//! | [`ModelSpec`] | every choice of a fit, with its value |
//! | [`Composer`] | a model that no specification says, put together by hand |
//! | [`fit`](fit()), [`Fitting`] | fits, at once or sweep by sweep |
//! | [`Fit`] | the posterior and its verbs |
//! | [`cross_validate`] | models and plain predictors on the same folds |
//! | [`metrics`] | scores of predictions against the truth |
//! | [`prelude`] | what most programs need |
//!
//! A fit projects new samples from whichever views they have, predicts one view from others, fills holes with intervals, says how much each
//! factor explains (also within a group of samples), draws new data, and is saved as one file that Python reads with a stock package.
//! Variational Bayes and Gibbs sampling work on the same model; checkpoints resume bit for bit, on any number of threads.

mod adjust;
mod assemble;
mod compose;
mod drawn;
mod error;
mod faithful;
mod file;
mod fit;
mod local;
pub mod metrics;
pub mod models;
mod plan;
pub mod prelude;
mod registry;
mod spec;
mod verbs;

pub use adjust::Offset;
pub use assemble::{most_factors, validate};
pub use compose::{Composer, ModelContext};
pub use error::{Error, ErrorKind, Result};
pub use file::{FORMAT_VERSION, Overwrite};
pub use fit::{
    Checkpoint, Coefficients, Component, ComponentView, Convergence, Diagnostic, Estimate, Fit,
    FitParts, FitRecord, Fitting, InterceptEstimates, Mixing, Noise, Optimum, Progress, Reading,
    Repeated, Repeating, TrainingScale, ViewInfo, ViewParts,
};
// the vocabulary of the signatures
pub use polyview_core::{
    Bias, BlockSource, Centring, Dataset, Domain, Event, FeatureScaling, Finding, GainLeft,
    GammaPrior, Groups, Join, Journal, Ledger, LikelihoodSpecies, Metadata, MetadataValues,
    MissingData, NoiseBy, OptionError, Options, ParameterUncertainty, PriorSpecies, RowBlock,
    RowCov, RowMoments, RowRole, Scaling, Schedule, Setting, State, Table, View, ViewTerm,
};
pub use polyview_infer::{
    GibbsChain, Model, Moving, Outcome, PruneRule, Start, StochasticOptions, VbOptions, ViewPart,
};
pub use polyview_kernels::{
    Family, Kernel, KernelChoice, KernelError, KernelMap, Smoothness, Width,
};
pub use polyview_linalg::{Mat, MatRef};
pub use polyview_priors::{BetaPrior, MixtureOptions};
pub use registry::{ComposerReader, Registry};
pub use spec::{
    Algorithm, ChainStart, Described, EngineKind, FactorPrior, FactorPriors, GibbsOptions,
    GroupChoices, InterceptPrior, Intercepts, Kind, Likelihood, Likelihoods, Limit, Limits,
    ModelSpec, Named, Path, Posterior, PriorKind, RunOptions, Settle, ShrinkageShapes, ViewChoices,
    ViewSpec, WeightPrior, WeightPriors,
};

pub use verbs::{
    ACTIVE_SHARE, Activity, ActivityBasis, CheckOptions, CheckedStatistic, ChooseK, ChooseKOptions,
    ChooseKProgress, ChooseKRow, ChooseKStage, Clusters, ComparedMoments, ComparedView, Comparison,
    CrossValidate, CrossValidateModel, CrossValidateOptions, CrossValidateProgress,
    CrossValidateRow, CrossValidateScore, CrossValidateSummary, Explained, FactorKind,
    GroupActivity, HeldOut, HeldOutPairs, HoldOut, Imputation, PredictOptions, PredictedLevels,
    PredictedRanks, PredictedScores, Prediction, PredictiveCheck, ProjectOptions, Projection,
    Selection, SettleProgress, Settled, SimulateOptions, Spreads, UpdateOptions, Updated,
    WeightUncertainty, choose_k, choose_k_composed, cross_validate, cross_validate_warnings,
    default_candidates, hold_out, unlike_training,
};

/// Fits a model to its end.
///
/// # Errors
/// What is wrong with data or choices, or a numerical error with the sweep it
/// happened in.
pub fn fit(data: polyview_core::Dataset, spec: ModelSpec) -> Result<Fit> {
    Fitting::new(data, spec)?.to_the_end()
}

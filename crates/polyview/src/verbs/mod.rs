//! The verbs of a fitted model: project, predict, impute, explain, simulate,
//! hold out and score, check the model against its own replicates, compare two fits,
//! choose the number of factors, cross-validate, rotate.
//!
//! Everything comes out in data units. With one component (variational Bayes)
//! the formulas are those of spec/sshiba 4; with several (Gibbs draws) the
//! answer is the equally weighted mixture over the draws, $\mathrm{E}\\,y =
//! \overline{m\_i}$ and $\mathrm{Var}\\,y = \overline{v\_i} +
//! \overline{(m\_i - \bar m)^2}$.

mod activity;
mod align;
mod candidate;
mod choose_k;
mod choosing;
mod clusters;
mod compare;
mod components;
mod cross_validate;
mod curved;
mod discrepancies;
mod explain;
mod far_off;
mod filled;
mod folds;
mod group_activity;
mod held_out;
mod hold_out;
mod holes;
mod impute;
mod kernel_turn;
mod label_loss;
mod latent;
mod laws;
mod mixing;
mod other_data;
mod own_units;
mod placing;
mod predict;
mod prediction;
mod predictive_check;
mod project;
mod regressed;
mod regressing;
mod relevance;
mod score;
mod score_cells;
mod score_counts;
mod score_labels;
mod score_levels;
mod score_limits;
mod settle;
mod settling;
mod settling_beside;
mod settling_features;
mod simulate;
mod stacking;
mod survival;
mod update;
mod varimax;

#[cfg(test)]
mod tests;

pub use activity::{ACTIVE_SHARE, Activity, ActivityBasis, FactorKind};
pub use choose_k::{
    ChooseK, ChooseKOptions, ChooseKProgress, ChooseKRow, ChooseKStage, choose_k,
    choose_k_composed, default_candidates,
};
pub use clusters::Clusters;
pub use compare::{ComparedMoments, ComparedView, Comparison, Spreads};
pub(crate) use cross_validate::columns as regression_columns;
pub use cross_validate::{
    CrossValidate, CrossValidateModel, CrossValidateOptions, CrossValidateProgress,
    CrossValidateRow, CrossValidateScore, CrossValidateSummary, cross_validate,
    cross_validate_warnings,
};
pub use explain::Explained;
pub use far_off::unlike_training;
pub(crate) use far_off::{is_far, middle};
pub(crate) use folds::kept_together;
pub use group_activity::GroupActivity;
pub use hold_out::{HoldOut, hold_out};
pub use impute::Imputation;
pub use predict::PredictOptions;
pub use prediction::{PredictedLevels, PredictedRanks, PredictedScores, Prediction};
pub use predictive_check::{CheckOptions, CheckedStatistic, PredictiveCheck};
pub use project::{ProjectOptions, Projection, WeightUncertainty};
pub(crate) use regressed::{BEHIND, OWN, place as regression_of};
pub use relevance::Selection;
pub(crate) use relevance::shares_of_squares;
pub use score::{HeldOut, HeldOutPairs};
pub(crate) use settle::Watch;
pub use settle::{SettleProgress, Settled};
pub(crate) use settling_features::{leaves_numbers, place as features_of};
pub use simulate::SimulateOptions;
pub(crate) use stacking::{WAYS as MIXED_WAYS, place as shares_of};
pub(crate) use update::UPDATE;
pub use update::{UpdateOptions, Updated};

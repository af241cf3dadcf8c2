//! The options of `polyview score`.

use std::path::PathBuf;

use clap::{Args, ValueEnum};

use super::FormatArgs;

/// What was predicted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum ScoreKind {
    /// Probabilities of labels that are 0 or 1, or one of two words.
    Binary,
    /// One class a sample.
    Categorical,
    /// Expected counts.
    Count,
    /// Probabilities of ordered levels.
    Ordinal,
    /// Numbers.
    Real,
    /// Times to an event, and probabilities that it comes later.
    Survival,
}

/// Arguments of `score`.
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  \
polyview score --truth lipids.csv --predicted p.csv --kind real --lower low.csv --upper high.csv\n  \
polyview score --truth genotype.csv --predicted p.csv --kind binary\n  \
polyview score --truth ill.csv --predicted p.csv --kind binary --positive yes\n  \
polyview score --truth diet.csv --predicted p.csv --kind categorical --json\n  \
polyview score --truth counts.csv --predicted p.csv --kind count --sd sd.csv\n  \
polyview score --truth wins.csv --predicted p.csv --kind count --trials games.csv\n  \
polyview score --truth os.csv --predicted p.csv --kind survival --time days --event died --training old-os.csv\n\n\
Samples are matched by ID, columns by name; cells whose truth is empty are left out. The \
predictions are files as `predict` writes them, or `impute --probabilities`; --delimiter and \
--decimal-comma are about the truth and the training values. Scores that cannot be computed \
are listed.")]
pub struct ScoreArgs {
    /// The true values; for classes one column of names.
    #[arg(long, value_name = "FILE", help_heading = "Data")]
    pub truth: PathBuf,
    #[command(flatten)]
    pub format: FormatArgs,
    /// The predictions.
    #[arg(long, value_name = "FILE", help_heading = "Predictions")]
    pub predicted: PathBuf,
    /// What was predicted.
    #[arg(long, value_enum, help_heading = "Predictions")]
    pub kind: ScoreKind,
    /// The word of the truth that the probabilities are of (binary); not needed
    /// for the predictions of labels that `predict` writes.
    #[arg(long, value_name = "WORD", help_heading = "Predictions")]
    pub positive: Option<String>,
    /// The column of the truth with the times (survival), after which those of the
    /// predictions are named [default: time].
    #[arg(long, value_name = "COLUMN", help_heading = "Predictions")]
    pub time: Option<String>,
    /// The column of the truth that is 1 where the event came at the time, 0 where
    /// it had not come by then (survival) [default: event].
    #[arg(long, value_name = "COLUMN", help_heading = "Predictions")]
    pub event: Option<String>,
    /// The training values (real): R2 is then against each column's mean over
    /// them, as that of fits and reports, and not over the true values. Fits with
    /// intercepts by group take the mean over each group: see --groups; choose-k and
    /// cross-validate take that over all training samples, whatever the groups.
    /// Of survival the training times, which say how long samples are watched
    /// (the Brier score) [default: those of the truth].
    #[arg(long, value_name = "FILE", help_heading = "Predictions")]
    pub training: Option<PathBuf>,
    /// A table about the samples, true and training ones (with --groups).
    #[arg(
        long,
        value_name = "FILE",
        requires = "groups",
        help_heading = "Predictions"
    )]
    pub metadata: Option<PathBuf>,
    /// Column of the metadata that gives each sample its group (with --training):
    /// R2 is then against each column's mean over the training values of the
    /// sample's group, as that of fits with intercepts by group.
    #[arg(
        long,
        value_name = "COLUMN",
        requires_all = ["metadata", "training"],
        help_heading = "Predictions"
    )]
    pub groups: Option<String>,
    /// Numbers of trials (count), in a table like the truth: the predictions are
    /// then probabilities of a success, as those of binomial views are.
    #[arg(
        long,
        value_name = "FILE",
        conflicts_with_all = ["sd", "lower"],
        help_heading = "Predictions"
    )]
    pub trials: Option<PathBuf>,
    /// Limits of detection of the truth (real): a table, a row for each feature with
    /// a column lower, a column upper, or both; a number, the lower limit of all
    /// columns; or LOWER..UPPER. True values at a limit or beyond are left out [default:
    /// no limits].
    #[arg(
        long,
        value_name = "FILE|LOWER|LOWER..UPPER",
        allow_hyphen_values = true,
        help_heading = "Predictions"
    )]
    pub limit: Option<String>,
    /// Lower ends of intervals (real, count).
    #[arg(
        long,
        value_name = "FILE",
        requires = "upper",
        help_heading = "Predictions"
    )]
    pub lower: Option<PathBuf>,
    /// Upper ends of intervals (real, count).
    #[arg(
        long,
        value_name = "FILE",
        requires = "lower",
        help_heading = "Predictions"
    )]
    pub upper: Option<PathBuf>,
    /// Standard deviations (count): log densities are then those of negative
    /// binomial counts, else of Poisson counts.
    #[arg(long, value_name = "FILE", help_heading = "Predictions")]
    pub sd: Option<PathBuf>,
}

//! The options of `polyview cross-validate`.

use std::path::PathBuf;

use clap::Args;

use super::numbers::{counted, real};
use super::{DataArgs, ModelArgs};

/// Arguments of `cross-validate`.
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  polyview cross-validate --model sshiba --view genes=genes.csv --view diet=diet.csv:categorical --target diet\n  polyview cross-validate --view genes=genes.csv --view lipids=lipids.csv --target lipids --folds 10 --out folds.csv\n  polyview cross-validate --spec study.toml --hide 0.1 --repeats 2"
)]
pub struct CrossValidateArgs {
    /// A study file (TOML) with data and choices; options given here win.
    #[arg(long, value_name = "FILE", help_heading = "Data")]
    pub spec: Option<PathBuf>,
    #[command(flatten)]
    pub data: DataArgs,
    #[command(flatten)]
    pub model: ModelArgs,
    /// A view, but for successes out of trials, to predict from all views that are no targets; may be given several
    /// times [default: the targets of the study file; where there are none, cells are hidden in all views instead].
    /// Limits (<0.05, [2,5]) are scored by how probable what lies beyond or between them was.
    #[arg(long, value_name = "VIEW", help_heading = "Comparison")]
    pub target: Vec<String>,
    /// Folds into which the samples are parted; without targets how often cells
    /// are hidden in each repeat.
    #[arg(long, default_value_t = 5, value_name = "N", value_parser = counted::<usize>, allow_negative_numbers = true, help_heading = "Comparison")]
    pub folds: usize,
    /// Times that the samples are parted anew.
    #[arg(long, default_value_t = 1, value_name = "N", value_parser = counted::<usize>, allow_negative_numbers = true, help_heading = "Comparison")]
    pub repeats: usize,
    /// View of labels or classes whose shares every fold keeps [default: the
    /// targets that are such].
    #[arg(long, value_name = "VIEW", help_heading = "Comparison")]
    pub stratify: Option<String>,
    /// Share of the cells to hide [default: 0.1].
    #[arg(long, value_name = "P", value_parser = real, allow_hyphen_values = true, conflicts_with = "target", help_heading = "Comparison")]
    pub hide: Option<f64>,
    /// A further model to compare on the same folds: the name of one (bibfa, sshiba,
    /// mofa, mofapy2, rank), with the other options as given here, or a study
    /// file, whose choices of a model are taken and its data are not; may be
    /// given several times.
    #[arg(long, value_name = "MODEL|FILE", help_heading = "Comparison")]
    pub against: Vec<String>,
    /// The model alone, without plain predictors beside it.
    #[arg(long, help_heading = "Comparison")]
    pub no_baselines: bool,
    /// No regression on the factors of a fit without the targets.
    #[arg(long, help_heading = "Comparison")]
    pub no_two_steps: bool,
    /// Every score of every fold, as a table; - is standard output.
    #[arg(long, value_name = "FILE", help_heading = "Output")]
    pub out: Option<PathBuf>,
    /// Replace the file if it exists; none that this command reads.
    #[arg(long, help_heading = "Output")]
    pub force: bool,
}

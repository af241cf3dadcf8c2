//! The command line, as parsed: one file per verb, and those that several
//! verbs share.

mod choose_k;
mod cross_validate;
mod data;
mod datasets;
mod demo;
mod export;
mod fit;
mod import;
mod impute;
mod inspect;
mod intervals;
mod kernel;
mod layout;
mod model;
mod models;
mod mva;
mod numbers;
mod predict;
mod project;
mod report;
mod score;
mod simulate;
#[cfg(test)]
mod tests;
mod update;

pub use choose_k::ChooseKArgs;
pub use cross_validate::CrossValidateArgs;
pub use data::{DataArgs, FormatArgs};
pub use datasets::DatasetsArgs;
pub use demo::DemoArgs;
pub use export::ExportArgs;
pub use fit::FitArgs;
pub use import::ImportArgs;
pub use impute::ImputeArgs;
pub use inspect::InspectArgs;
pub use intervals::IntervalArgs;
pub use kernel::{KernelArgs, KernelName};
pub use layout::{LayoutArgs, Outputs, RowsOf};
pub use model::{ModelArgs, ModelName};
pub use models::ModelsArgs;
pub use mva::{MvaArgs, MvaMethod, Select};
pub use predict::PredictArgs;
pub use project::ProjectArgs;
pub use report::ReportArgs;
pub use score::{ScoreArgs, ScoreKind};
pub use simulate::SimulateArgs;
pub use update::UpdateArgs;

use clap::{ArgAction, Parser, Subcommand};

/// Bayesian factor models for several views of the same samples.
#[derive(Debug, Parser)]
#[command(
    name = "polyview",
    version,
    about = "Bayesian factor models for several views of the same samples",
    disable_help_flag = true,
    disable_version_flag = true,
    next_help_heading = "General",
    after_help = "Results go to standard output or to files, progress and messages to standard error.\n\
Exit codes: 0 done, 1 something is wrong with data, model or files, 2 wrong usage (or a study \
file that cannot be read), 130 interrupted (a checkpoint was written if --checkpoint was given).\n\n\
Start with:  polyview demo"
)]
pub struct Cli {
    /// No progress, no messages but errors.
    #[arg(long, short, global = true)]
    pub quiet: bool,
    /// Number of threads; 0 takes all cores. Results do not depend on it.
    #[arg(long, global = true, default_value_t = 0, value_name = "N", value_parser = numbers::whole::<usize>, allow_negative_numbers = true)]
    pub threads: usize,
    /// Machine-readable results on standard output; of tables that go to files,
    /// which files were written.
    #[arg(long, global = true)]
    pub json: bool,
    /// Significant digits of numbers, 1 to 17 [default: in printed tables 4 or
    /// what their unit deserves; in written text tables as many as a number needs
    /// to be read back exactly]. JSON, NumPy and model files keep all.
    #[arg(long, global = true, value_name = "N", value_parser = numbers::digits, allow_negative_numbers = true)]
    pub digits: Option<usize>,
    /// Print help (-h: a line per option).
    #[arg(long, short, global = true, action = ArgAction::Help)]
    help: Option<bool>,
    /// Print the version.
    #[arg(long, short = 'V', action = ArgAction::Version)]
    version: Option<bool>,
    /// What to do.
    #[command(subcommand)]
    pub command: Command,
}

/// The verbs.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Fit a model to tables and write a model file.
    Fit(FitArgs),
    /// Factors of new samples from any subset of the views.
    Project(ProjectArgs),
    /// New samples taken into a model, without fitting it again.
    Update(UpdateArgs),
    /// Predict one view of samples from others.
    Predict(PredictArgs),
    /// The training data of a view with its holes filled.
    Impute(ImputeArgs),
    /// How good predictions are, against the truth.
    Score(ScoreArgs),
    /// What a model file holds.
    Inspect(InspectArgs),
    /// An HTML report with pictures.
    Report(ReportArgs),
    /// Factors, weights and variances as tables; or a model file for MOFA2.
    Export(ExportArgs),
    /// A model of MOFA2 (mofapy2) as a model file.
    Import(ImportArgs),
    /// Compare numbers of factors and recommend one.
    ChooseK(ChooseKArgs),
    /// Compare a model with plain predictors on samples or cells that none of them has seen.
    CrossValidate(CrossValidateArgs),
    /// Similarities of samples to reference points, as a table to fit.
    Kernel(KernelArgs),
    /// Classical projections of complete tables: principal components, canonical correlation,
    /// features that tell classes apart.
    Mva(MvaArgs),
    /// Repeated visits of subjects as a study: views of what was known before, targets.
    Layout(LayoutArgs),
    /// Draw data from a model.
    Simulate(SimulateArgs),
    /// Fit real data that come with the program, and report.
    Demo(DemoArgs),
    /// Data that come with the program, as tables to try it on.
    Datasets(DatasetsArgs),
    /// What may be fitted: models, likelihoods, priors, engines, and what goes with what.
    Models(ModelsArgs),
    /// Shell completions.
    Completions {
        /// The shell.
        shell: clap_complete::Shell,
    },
}

//! The options of `polyview inspect`.

use std::path::PathBuf;

use clap::Args;

use super::numbers::counted;

/// Arguments of `inspect`.
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  polyview inspect model.pv\n  polyview inspect model.pv --journal\n  polyview inspect model.pv --json\n  polyview inspect vb.pv --against gibbs.pv\n  polyview inspect model.pv --checks"
)]
pub struct InspectArgs {
    /// The model file.
    pub model: PathBuf,
    /// Everything that happened during the fit.
    #[arg(long, help_heading = "What to show")]
    pub journal: bool,
    /// Every choice, as a study file.
    #[arg(long, help_heading = "What to show")]
    pub spec: bool,
    /// Another model of the same data: whether the two predict the same, and how
    /// sure this one is beside it.
    #[arg(long, value_name = "MODEL", help_heading = "What to show")]
    pub against: Option<PathBuf>,
    /// Data that the model makes, in so many replicates (100 if no number
    /// is given), beside those given.
    #[arg(long, value_name = "REPLICATES", num_args = 0..=1, default_missing_value = "100", value_parser = counted::<usize>, allow_negative_numbers = true, help_heading = "What to show")]
    pub checks: Option<usize>,
}

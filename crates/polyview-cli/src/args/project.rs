//! The options of `polyview project`.

use std::path::PathBuf;

use clap::Args;

use super::DataArgs;

/// Arguments of `project`.
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  \
polyview project model.pv --view genes=new.csv --out factors.csv\n  \
polyview project model.pv --view genes=g.csv --view lipids=l.csv --out z.csv --sd z-sd.csv")]
pub struct ProjectArgs {
    /// The model file.
    pub model: PathBuf,
    #[command(flatten)]
    pub data: DataArgs,
    /// What becomes of a class that the model has not seen.
    #[arg(long, value_name = "HOW", value_parser = ["error", "missing"], default_value = "error", help_heading = "Projection")]
    pub unknown_class: String,
    /// Where the factors go, a column for each; - is standard output.
    #[arg(long, short, value_name = "FILE", help_heading = "Output")]
    pub out: PathBuf,
    /// Where their standard deviations go.
    #[arg(long, value_name = "FILE", help_heading = "Output")]
    pub sd: Option<PathBuf>,
    /// Weights at their means, without their uncertainty; the standard deviations
    /// of factors are then wider, as uncertain weights hold factors back.
    #[arg(long, help_heading = "Projection")]
    pub plug_in: bool,
    /// Replace files that exist, though none that this command reads.
    #[arg(long, help_heading = "Output")]
    pub force: bool,
}

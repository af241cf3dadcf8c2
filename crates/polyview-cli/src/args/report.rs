//! The options of `polyview report`.

use std::path::PathBuf;

use clap::Args;

use super::FormatArgs;
use super::numbers::counted;

/// Arguments of `report`.
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  polyview report model.pv --out report.html\n  polyview report model.pv --out report.html --metadata samples.csv\n  polyview report model.pv --out report.html --pictures figures/\n  polyview report vb.pv --out report.html --against gibbs.pv --checks"
)]
pub struct ReportArgs {
    /// The model file.
    pub model: PathBuf,
    /// The page to write.
    #[arg(long, short, value_name = "FILE", help_heading = "Output")]
    pub out: PathBuf,
    /// A table about the samples, for colours.
    #[arg(long, value_name = "FILE", help_heading = "Data")]
    pub metadata: Option<PathBuf>,
    #[command(flatten)]
    pub format: FormatArgs,
    /// Also write each picture as SVG into this folder.
    #[arg(long, value_name = "FOLDER", help_heading = "Output")]
    pub pictures: Option<PathBuf>,
    /// Title of the page [default: one that names the model].
    #[arg(long, value_name = "TITLE", help_heading = "Contents")]
    pub title: Option<String>,
    /// Another model of the same data: whether the two predict the same, and how
    /// sure this one is beside it.
    #[arg(long, value_name = "MODEL", help_heading = "Contents")]
    pub against: Option<PathBuf>,
    /// Data that the model makes, in so many replicates (100 if no number
    /// is given), beside those given.
    #[arg(long, value_name = "REPLICATES", num_args = 0..=1, default_missing_value = "100", help_heading = "Contents", value_parser = counted::<usize>, allow_negative_numbers = true)]
    pub checks: Option<usize>,
    /// Replace files that exist, though none that this command reads.
    #[arg(long, help_heading = "Output")]
    pub force: bool,
}

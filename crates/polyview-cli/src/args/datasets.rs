//! The options of `polyview datasets`.

use std::path::PathBuf;

use clap::Args;

/// Arguments of `datasets`.
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  polyview datasets\n  polyview datasets nutrimouse\n  polyview datasets nutrimouse --out-dir mice"
)]
pub struct DatasetsArgs {
    /// The data set; all are listed if none is named.
    pub name: Option<String>,
    /// Write its tables here, one CSV file each. Every fifth sample is set apart,
    /// in tables whose names begin with new-.
    #[arg(
        long,
        value_name = "FOLDER",
        requires = "name",
        help_heading = "Output"
    )]
    pub out_dir: Option<PathBuf>,
    /// Set no samples apart.
    #[arg(long, requires = "out_dir", help_heading = "Output")]
    pub whole: bool,
    /// Replace files that exist.
    #[arg(long, requires = "out_dir", help_heading = "Output")]
    pub force: bool,
}

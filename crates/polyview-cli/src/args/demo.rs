//! The options of `polyview demo`.

use std::path::PathBuf;

use clap::Args;

/// Arguments of `demo`.
#[derive(Debug, Args)]
#[command(after_help = "Example:\n  polyview demo --out-dir polyview-demo")]
pub struct DemoArgs {
    /// Where model and report go.
    #[arg(
        long,
        value_name = "FOLDER",
        default_value = "polyview-demo",
        help_heading = "Output"
    )]
    pub out_dir: PathBuf,
    /// Replace files that exist.
    #[arg(long, help_heading = "Output")]
    pub force: bool,
}

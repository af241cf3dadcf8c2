//! The options of `polyview demo`.

use std::path::PathBuf;

use clap::Args;

/// Arguments of `demo`.
#[derive(Debug, Args)]
#[command(
    next_help_heading = "Output",
    after_help = "Example:\n  polyview demo --out-dir polyview-demo"
)]
pub struct DemoArgs {
    /// Where model and report go.
    #[arg(long, value_name = "FOLDER", default_value = "polyview-demo")]
    pub out_dir: PathBuf,
}

//! Arguments of `polyview models`.

use clap::Args;

/// What may be fitted.
#[derive(Debug, Args)]
#[command(next_help_heading = "Output")]
pub struct ModelsArgs {
    /// The tables of the documentation, as Markdown.
    #[arg(long)]
    pub markdown: bool,
}

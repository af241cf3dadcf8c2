//! The options of `polyview fit`.

use std::path::PathBuf;

use clap::Args;

use super::numbers::whole;
use super::{DataArgs, ModelArgs};

/// Arguments of `fit`.
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  \
polyview fit --view genes=genes.csv --view lipids=lipids.csv --factors 15 --seed 1 --out model.pv\n  \
polyview fit --model sshiba --view genes=genes.csv --view diet=diet.csv:categorical --out model.pv\n  \
polyview fit --model mofa --view rna=counts.csv:poisson-log-normal --view drugs=d.csv --out model.pv\n  \
polyview fit --spec study.toml --out model.pv\n  \
polyview fit --spec study.toml --dry-run > complete.toml\n  \
polyview fit --view x=x.npy --engine gibbs --chains 4 --sweeps 2000 --out draws.pv\n  \
polyview fit --view x=huge.npy --engine stochastic --batch 0.05 --out model.pv\n  \
polyview fit --spec study.toml --checkpoint run.ckpt --out model.pv\n  \
polyview fit --spec study.toml --resume run.ckpt --out model.pv")]
pub struct FitArgs {
    /// A study file (TOML) with data and choices; options given here win.
    #[arg(long, value_name = "FILE", help_heading = "Data")]
    pub spec: Option<PathBuf>,
    #[command(flatten)]
    pub data: DataArgs,
    #[command(flatten)]
    pub model: ModelArgs,
    #[command(flatten)]
    pub disk: DiskArgs,
    #[command(flatten)]
    pub checkpoints: CheckpointArgs,
    /// The model file to write.
    #[arg(
        long,
        short,
        value_name = "FILE",
        required_unless_present = "dry_run",
        help_heading = "Output"
    )]
    pub out: Option<PathBuf>,
    /// Replace files that exist, though none that this command reads.
    #[arg(long, help_heading = "Output")]
    pub force: bool,
    /// Leave the training data out of the model file.
    #[arg(long, help_heading = "Output")]
    pub no_data: bool,
    /// Print the study with every default filled in, and stop. Its files are named from this
    /// folder, where it belongs.
    #[arg(long, help_heading = "Output")]
    pub dry_run: bool,
}

/// Where the data are while they are fitted by batches.
#[derive(Debug, Args)]
#[command(next_help_heading = "Batches of samples (--engine stochastic)")]
pub struct DiskArgs {
    /// Load the views, so that they are joined by their IDs and may be of any
    /// kind.
    #[arg(long)]
    pub in_memory: bool,
    /// Folder for the numbers of views in text files while fitting, eight bytes
    /// a cell [default: the system's folder for temporary files].
    #[arg(long, value_name = "FOLDER")]
    pub scratch: Option<PathBuf>,
}

/// Going on later.
#[derive(Debug, Args)]
#[command(next_help_heading = "Checkpoints")]
pub struct CheckpointArgs {
    /// Write a checkpoint here now and then, on Ctrl-C, and before the last sweep
    /// that --max-sweeps allows.
    #[arg(long, value_name = "FILE")]
    pub checkpoint: Option<PathBuf>,
    /// Seconds between checkpoints.
    #[arg(long, value_name = "SECONDS", default_value_t = 60, requires = "checkpoint", value_parser = whole::<u64>, allow_negative_numbers = true)]
    pub checkpoint_every: u64,
    /// Go on from a checkpoint of the same data and choices; --max-sweeps may be
    /// another.
    #[arg(long, value_name = "FILE")]
    pub resume: Option<PathBuf>,
}

//! The options of `polyview choose-k`.

use std::path::PathBuf;

use clap::Args;

use super::numbers::{counted, real};
use super::{DataArgs, ModelArgs};

/// Arguments of `choose-k`.
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  polyview choose-k --spec study.toml\n  polyview choose-k --view genes=genes.csv --candidates 2,4,8,16 --repeats 5\n\n\
The smallest number is recommended that falls short of the best by no more than one standard error of that \
difference, or by what counts as none: one nat over all hidden cells of a repeat, and of the R2 of ranks, which \
have no density, 0.005. That limit is a convention: fits of the same data that stopped a little earlier or \
later were seen to differ by up to that much."
)]
pub struct ChooseKArgs {
    /// A study file (TOML) with data and choices; options given here win.
    #[arg(long, value_name = "FILE", help_heading = "Data")]
    pub spec: Option<PathBuf>,
    #[command(flatten)]
    pub data: DataArgs,
    #[command(flatten)]
    pub model: ModelArgs,
    /// Numbers of factors to compare [default: from 1 to 25, or to what the
    /// data carry, denser where they are small].
    #[arg(long, value_delimiter = ',', value_name = "K,K,...", value_parser = counted::<usize>, allow_negative_numbers = true, help_heading = "Comparison")]
    pub candidates: Vec<usize>,
    /// Share of the cells that is held out.
    #[arg(long, default_value_t = 0.1, value_name = "P", value_parser = real, allow_hyphen_values = true, help_heading = "Comparison")]
    pub held_out: f64,
    /// Repeats with other cells held out.
    #[arg(long, default_value_t = 3, value_name = "N", value_parser = counted::<usize>, allow_negative_numbers = true, help_heading = "Comparison")]
    pub repeats: usize,
}

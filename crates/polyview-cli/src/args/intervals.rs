//! Intervals that predictions come with.

use std::path::PathBuf;

use clap::Args;

use super::numbers::real;

/// Where intervals go, and how probable they are.
#[derive(Debug, Args)]
#[command(next_help_heading = "Output")]
pub struct IntervalArgs {
    /// Where lower ends of central intervals go (not for labels and classes,
    /// whose probabilities say how uncertain they are).
    #[arg(long, value_name = "FILE")]
    pub lower: Option<PathBuf>,
    /// Where upper ends of the intervals go.
    #[arg(long, value_name = "FILE")]
    pub upper: Option<PathBuf>,
    /// Probability of the intervals, above 0 and below 1.
    #[arg(long, value_name = "P", default_value_t = 0.95, value_parser = real, allow_hyphen_values = true)]
    pub level: f64,
}

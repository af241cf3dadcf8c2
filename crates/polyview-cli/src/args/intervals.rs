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
    /// Probability of the intervals, above 0 and below 1 [default: 0.95].
    #[arg(long, value_name = "P", value_parser = real, allow_hyphen_values = true)]
    pub level: Option<f64>,
}

impl IntervalArgs {
    /// Probability of the intervals where none is given.
    const LEVEL: f64 = 0.95;

    /// Probability of the intervals.
    pub fn level(&self) -> f64 {
        self.level.unwrap_or(Self::LEVEL)
    }

    /// Whether any of their ends goes somewhere.
    pub fn any(&self) -> bool {
        self.lower.is_some() || self.upper.is_some()
    }
}

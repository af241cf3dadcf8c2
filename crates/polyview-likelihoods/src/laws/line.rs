//! Predictors of one kind of count, and how likely they make a count.

use polyview_core::Counting;
use polyview_special::normal_cdf;

use super::smooth::Smooth;
use super::threshold::{Grid, Threshold};

/// Predictors of one kind of count.
#[derive(Clone, Debug)]
pub(super) struct Line {
    pub(super) counting: Counting,
    pub(super) predictors: Predictors,
}

/// What is known of predictors, with their weights.
#[derive(Clone, Debug)]
pub(super) enum Predictors {
    /// A single one.
    One { eta: f64, weight: f64 },
    /// A single normal law.
    Normal {
        mean: f64,
        deviation: f64,
        weight: f64,
    },
    /// In equal steps.
    Steps(Grid),
    /// Normal laws in equal steps, of one standard deviation.
    Normals { table: Smooth, deviation: f64 },
}

impl Predictors {
    /// Those in equal steps, with normal laws of this standard deviation about them.
    pub(super) fn steps(first: f64, step: f64, weights: &[f64], deviation: f64) -> Self {
        if deviation > 0.0 {
            let table = Smooth::new(first, step, weights, deviation);
            Self::Normals { table, deviation }
        } else {
            Self::Steps(Grid::new(first, step, weights))
        }
    }
}

impl Line {
    /// The probability of a count that is not larger, times the weights.
    pub(super) fn cdf(&self, x: f64) -> f64 {
        let threshold = Threshold::new(self.counting, x);
        match &self.predictors {
            Predictors::One { eta, weight } => weight * threshold.above(*eta),
            Predictors::Normal {
                mean,
                deviation,
                weight,
            } => threshold.above_law(*deviation, |t| weight * normal_cdf((t - mean) / deviation)),
            Predictors::Steps(grid) => threshold.above_grid(grid),
            Predictors::Normals { table, deviation } => {
                threshold.above_law(*deviation, |t| table.at(t))
            }
        }
    }
}

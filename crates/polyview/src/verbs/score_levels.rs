//! Scores of held-out ordered levels.

use super::score::{Cell, HeldOut};
use crate::metrics;

/// What the score of numbers becomes for levels, of so many components.
pub(super) fn levels_scored(mut score: HeldOut, cells: &[Cell], components: f64) -> HeldOut {
    let truth: Vec<f64> = cells.iter().map(|c| c.value).collect();
    let probabilities: Vec<Vec<f64>> = (cells.iter())
        .map(|c| c.levels.iter().map(|p| p / components).collect())
        .collect();
    // a level that training never had has no probability to be scored by
    score.levels = metrics::levels(&truth, &probabilities).ok().flatten();
    score
}

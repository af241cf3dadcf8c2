//! Scores of held-out ordered levels.

use super::score::HeldOut;
use super::score_cells::Cell;
use crate::metrics;

/// What the score of numbers becomes for levels.
pub(super) fn levels_scored(mut score: HeldOut, cells: &[Cell]) -> HeldOut {
    let truth: Vec<f64> = cells.iter().map(|c| c.value).collect();
    let probabilities: Vec<Vec<f64>> = cells.iter().map(|c| c.said.levels.clone()).collect();
    // a level that training never had has no probability to be scored by
    score.levels = metrics::levels(&truth, &probabilities).ok().flatten();
    score
}

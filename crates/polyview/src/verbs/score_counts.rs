//! Scores of held-out counts.

use polyview_core::View;

use super::score::HeldOut;
use super::score_cells::Cell;
use crate::metrics::{binomial_unit, explained, gamma_unit, poisson_unit};

/// What the score of numbers becomes for counts, whose laws are given: of
/// successes their trials are those of the cells.
pub(super) fn counts_scored(mut score: HeldOut, cells: &[Cell], training: &View) -> HeldOut {
    let positive = score.kind.is_positive();
    let (mut own, mut null) = (0.0, 0.0);
    for of_feature in cells.chunk_by(|a, b| a.feature == b.feature) {
        let share = of_feature
            .first()
            .map_or(0.0, |c| rate(training, c.feature));
        for c in of_feature {
            let unit = |mean: f64| unit_deviance((c.value, c.trials), positive, mean);
            own += unit(c.said.mean);
            null += unit(share * c.trials.unwrap_or(1.0));
        }
    }
    score.deviance = own / cells.len() as f64;
    score.deviance_explained = explained(own, null).unwrap_or(f64::NAN);
    score
}

/// Deviance of a count, a number of successes out of so many trials or a number above 0 from what it is expected to be.
pub(super) fn unit_deviance((value, trials): (f64, Option<f64>), positive: bool, mean: f64) -> f64 {
    match trials {
        Some(n) => binomial_unit(value, n, mean / n),
        None if positive => gamma_unit(value, mean),
        None => poisson_unit(value, mean),
    }
}

/// Mean training count of a feature, or its successes a trial.
pub(super) fn rate(training: &View, feature: usize) -> f64 {
    let (mut sum, mut of) = (0.0, 0.0);
    for (n, x) in training.column(feature).into_iter().enumerate() {
        if training.is_observed(n, feature) {
            sum += x;
            of += training.trials_of(n, feature);
        }
    }
    if of > 0.0 { sum / of } else { f64::NAN }
}

//! Factors that no view uses any more (DESIGN 4.8; spec/sshiba 5).

use polyview_linalg::MatRef;
use serde::{Deserialize, Serialize};

use crate::model::Model;

/// When a factor counts as empty.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields, default)]
pub struct PruneRule {
    /// Largest ratio of the squared posterior means of its weights to their
    /// posterior variances, each summed over a view. Free of scales: a factor
    /// below it says less than its own uncertainty, in every view.
    pub energy_ratio: f64,
    /// Largest absolute weight, in working units: at or below it in all views
    /// the factor is empty whatever the ratio (the papers' rule). 0 turns it
    /// off.
    pub largest_weight: f64,
}

impl Default for PruneRule {
    fn default() -> Self {
        Self {
            energy_ratio: 1e-4,
            largest_weight: 1e-6,
        }
    }
}

impl PruneRule {
    /// The rule that never removes a factor.
    pub const fn never() -> Self {
        Self {
            energy_ratio: 0.0,
            largest_weight: 0.0,
        }
    }
}

/// An empty factor and how empty it is.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct EmptyFactor {
    /// Place from 0.
    pub factor: usize,
    /// Largest absolute weight in any view, working units.
    pub largest_weight: f64,
    /// Share of the variance of all views' predictors.
    pub explained: f64,
}

/// Factors that are empty in every view by `rule`.
pub fn empty_factors(model: &Model, rule: &PruneRule) -> Vec<EmptyFactor> {
    let k = model.k();
    let z = model.factors.moments().mean();
    let energy =
        |m: MatRef<'_, f64>, j: usize| (0..m.nrows()).map(|r| m[(r, j)].powi(2)).sum::<f64>();
    let mut total = 0.0;
    let mut own = vec![0.0; k];
    let mut largest = vec![0.0_f64; k];
    let mut empty = vec![true; k];
    for view in &model.views {
        let w = view.weights.moments();
        let spread = w.cov_sum(None);
        for j in 0..k {
            let means = energy(w.mean(), j);
            let peak = (0..w.mean().nrows())
                .map(|d| w.mean()[(d, j)].abs())
                .fold(0.0, f64::max);
            largest[j] = largest[j].max(peak);
            empty[j] &=
                means <= rule.energy_ratio * spread.get(j, j) || peak <= rule.largest_weight;
            let explained = means * energy(z, j) / z.nrows().max(1) as f64;
            own[j] += explained;
            total += explained;
        }
    }
    (0..k)
        .filter(|&j| empty[j] && (rule.energy_ratio > 0.0 || rule.largest_weight > 0.0))
        .map(|j| EmptyFactor {
            factor: j,
            largest_weight: largest[j],
            explained: if total > 0.0 { own[j] / total } else { 0.0 },
        })
        .collect()
}

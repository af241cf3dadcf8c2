//! Features of a view that are features of another one.

use std::collections::BTreeMap;

use polyview_core::View;

use super::copies::listed;
use super::scaled::{alike, is_telling};
use crate::study::Study;

/// A label is told from chance if so many times as many columns with its numbers of values are possible as there are features.
const TIMES: f64 = 1e3;

/// What is to be said of features of different views that are one but for scale and shift, with the same cells missing: such as
/// a label that was left among the features it is to be predicted from. Nothing is said of two views with the very same table,
/// of which fits speak.
pub fn copied_across(views: &[View], study: &Study) -> Option<String> {
    let likelihood = |view: &View| study.model.view(view.name()).likelihood;
    let views: Vec<&View> = (views.iter())
        .filter(|v| !likelihood(v).is_similarity())
        .collect();
    let is_label: Vec<bool> = views.iter().map(|v| likelihood(v).is_label()).collect();
    let features: usize = views.iter().map(|v| v.n_features()).sum();
    let mut pairs = Vec::new();
    for of in alike(&views) {
        // one of each view
        let mut firsts = of.clone();
        firsts.dedup_by_key(|(m, _)| *m);
        for (i, &(a, d)) in firsts.iter().enumerate() {
            for &(b, e) in &firsts[i + 1..] {
                let is_no_chance = if is_label[a] || is_label[b] {
                    ways(views[a], d) > (TIMES * features as f64).ln()
                } else {
                    is_telling(views[a], d) && is_telling(views[b], e)
                };
                if is_no_chance && !are_twins(views[a], views[b]) {
                    pairs.push(((a, d), (b, e)));
                }
            }
        }
    }
    let listed = listed(pairs, |(m, d)| {
        format!(
            "'{}' of view '{}'",
            views[*m].features()[*d],
            views[*m].name()
        )
    })?;
    Some(format!(
        "features of different views that are each other (all their cells are alike but for scale and shift): {listed}; leave \
         one of each out: what they share is no finding, and a target with a copy among its sources is predicted from itself"
    ))
}

/// The logarithm of the number of columns that have each value of a feature as often as it has.
fn ways(view: &View, d: usize) -> f64 {
    let mut counts: BTreeMap<u64, usize> = BTreeMap::new();
    for x in (0..view.n_samples()).filter_map(|n| view.value(n, d)) {
        *counts.entry((x + 0.0).to_bits()).or_default() += 1;
    }
    let ln_factorial = |n: usize| (2..=n).map(|i| (i as f64).ln()).sum::<f64>();
    let of_each: f64 = counts.values().map(|n| ln_factorial(*n)).sum();
    ln_factorial(counts.values().sum()) - of_each
}

/// Whether two views of several features have the same cells in the same places.
fn are_twins(a: &View, b: &View) -> bool {
    let alike = |d: usize| (0..a.n_samples()).all(|n| a.value(n, d) == b.value(n, d));
    a.n_features() > 1 && a.n_features() == b.n_features() && (0..a.n_features()).all(alike)
}

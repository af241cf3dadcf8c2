//! Scores of held-out cells of which limits are all that is known.

use std::collections::HashMap;
use std::ops::Range;

use polyview_core::{Law, View};

use super::laws::{Laws, VANISHES};
use super::score::HeldOut;
use super::score_cells::LEAST_LN;
use crate::fit::ViewInfo;

/// A held-out cell that is known to lie between two ends, data units.
pub(super) struct Between {
    sample: usize,
    feature: usize,
    ends: (f64, f64),
}

/// Those of one view, feature by feature and by sample within them, of features that the fit knows something of.
pub(super) fn held_out_between(
    info: &ViewInfo,
    truth: &View,
    rows: &[Option<usize>],
    training: &View,
) -> Vec<Between> {
    let names = truth.features().iter().enumerate();
    let place: HashMap<&str, usize> = names.map(|(d, f)| (f.as_str(), d)).collect();
    let mut out = Vec::new();
    for (feature, name) in info.features.iter().enumerate() {
        let Some(&d) = place.get(name.as_str()).filter(|_| info.knows(feature)) else {
            continue;
        };
        for (n, sample) in rows.iter().enumerate() {
            let Some(sample) = sample.filter(|_| truth.is_censored(n, d)) else {
                continue;
            };
            let ends = truth.interval(n, d);
            if let Some(ends) = ends.filter(|_| !training.is_observed(sample, feature)) {
                out.push(Between {
                    sample,
                    feature,
                    ends,
                });
            }
        }
    }
    out.sort_by_key(|c| (c.feature, c.sample));
    out
}

/// The score with the log probabilities of what lies between limits among its log densities.
pub(super) fn limits_scored(mut score: HeldOut, laws: &Laws, cells: &[Between]) -> HeldOut {
    if cells.is_empty() {
        return score;
    }
    let of = |rows: &Range<usize>, feature: usize| {
        let at = |n: usize| cells.partition_point(|c| (c.feature, c.sample) < (feature, n));
        &cells[at(rows.start)..at(rows.end)]
    };
    let answers = laws.each(
        |rows, feature| !of(rows, feature).is_empty(),
        |c| {
            let own = of(&c.rows, c.feature);
            let (mut least, mut most) =
                (vec![f64::NAN; c.rows.len()], vec![f64::NAN; c.rows.len()]);
            for cell in own {
                let n = cell.sample - c.rows.start;
                (least[n], most[n]) = cell.ends;
            }
            let mut p = vec![0.0; c.rows.len()];
            c.law.between(c.at, [&least, &most], &mut p);
            let ln = |cell: &Between| p[cell.sample - c.rows.start].ln().max(VANISHES);
            own.iter().map(ln).collect::<Vec<f64>>()
        },
    );
    let sums = answers.iter().map(|(_, _, own)| own.iter().sum::<f64>());
    let between: f64 = sums.sum();
    let robust = answers.iter().flat_map(|(_, _, own)| own);
    score.robust.extend(robust.map(|ln| ln.max(LEAST_LN)));
    let exact = if score.cells == 0 {
        0.0
    } else {
        score.cells as f64 * score.log_density
    };
    score.limits = cells.len();
    score.log_density = (exact + between) / (score.cells + cells.len()) as f64;
    score
}

//! What is remarkable about groups of samples before a fit.

use polyview_core::{Event, Groups, Journal, Mask, RowGroups, View};

use super::ViewInfo;
use crate::assemble::several;
use crate::spec::ModelSpec;

/// Groups of fewer samples than this know next to nothing of noise and intercepts of
/// their own.
const FEW: usize = 10;

/// Notes groups with too few samples for what is their own, and groups without a cell of a
/// view or feature.
pub(super) fn note_thin_groups(
    spec: &ModelSpec,
    groups: Option<&Groups>,
    views: &[View],
    infos: &[ViewInfo],
    journal: &mut Journal,
) {
    let own = spec.groups.noise || spec.groups.intercepts;
    let Some(groups) = several(groups).filter(|_| own) else {
        return;
    };
    let rows = RowGroups::from(groups).rows_of_groups();
    for (name, rows) in groups.names.iter().zip(&rows) {
        if rows.len() < FEW {
            let what = match (spec.groups.noise, spec.groups.intercepts) {
                (true, true) => "noise and intercepts",
                (true, false) => "noise",
                _ => "intercepts",
            };
            let note = format!(
                "group '{name}' has {} samples, which say little of {what} of its own: its intervals are wide, \
                 and factors may follow single samples; merge it with another group, leave it out, or let groups \
                 share noise and intercepts",
                rows.len()
            );
            journal.note(0, "data", Event::Data { note });
        }
    }
    for (view, info) in views.iter().zip(infos) {
        if info.choices.likelihood.is_rank() {
            continue;
        }
        let what = if spec.group_intercepts(view.name()) {
            "levels there are taken from the other groups, as unsure as groups differ"
        } else if spec.groups.noise && info.choices.likelihood.is_real() {
            "noise there is known from its prior alone"
        } else {
            continue;
        };
        let block = format!("data/{}", view.name());
        for (name, rows) in groups.names.iter().zip(&rows) {
            let unseen = unseen(view, info, rows);
            let note = match unseen.as_slice() {
                [] => continue,
                all if all.len() + info.unobserved.len() == view.n_features() => {
                    format!("no sample of group '{name}' has a value: the {what}")
                }
                [first, ..] => format!(
                    "{} feature(s) have no value in group '{name}', first '{}': their {what}",
                    unseen.len(),
                    view.features()[*first]
                ),
            };
            journal.note(0, block.clone(), Event::Data { note });
        }
    }
}

/// The features that have a value, but none in these samples.
fn unseen(view: &View, info: &ViewInfo, rows: &[u32]) -> Vec<usize> {
    let mask = view.mask();
    let seen = |d: usize| rows.iter().any(|&n| mask.is_observed(n as usize, d));
    if matches!(mask, Mask::Complete) {
        return Vec::new();
    }
    (0..view.n_features())
        .filter(|d| !seen(*d) && info.knows(*d))
        .collect()
}

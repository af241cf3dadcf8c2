//! What is remarkable about groups of samples before a fit.

use polyview_core::{Event, Groups, Journal, Mask, RowGroups, View};

use super::ViewInfo;
use crate::assemble::several;
use crate::spec::ModelSpec;

/// Groups of fewer samples than this know next to nothing of noise and intercepts of
/// their own.
const FEW: usize = 10;
/// Most groups that a note names.
const NAMED: usize = 3;

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
    let few: Vec<(&str, usize)> = (groups.names.iter().zip(&rows))
        .map(|(name, rows)| (name.as_str(), rows.len()))
        .filter(|(_, samples)| *samples < FEW)
        .collect();
    if let Some(note) = of_few(&few, spec) {
        journal.note(0, "data", Event::Data { note });
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
        let (mut empty, mut partly) = (Vec::new(), Vec::new());
        for (name, rows) in groups.names.iter().zip(&rows) {
            match unseen(view, info, rows).as_slice() {
                [] => {}
                all if all.len() + info.unobserved.len() == view.n_features() => {
                    empty.push(format!("'{name}'"));
                }
                all => partly.push((name.as_str(), all.to_vec())),
            }
        }
        if !empty.is_empty() {
            let note = format!(
                "no sample of {} has a value: the {what}",
                named("group", &empty)
            );
            journal.note(0, block.clone(), Event::Data { note });
        }
        if let Some(found) = features_by_group(view, &partly, "have no value in") {
            let note = format!("{found}: their {what}");
            journal.note(0, block, Event::Data { note });
        }
    }
}

/// What is to be said of groups of few samples.
fn of_few(few: &[(&str, usize)], spec: &ModelSpec) -> Option<String> {
    let what = match (spec.groups.noise, spec.groups.intercepts) {
        (true, true) => "noise and intercepts",
        (true, false) => "noise",
        _ => "intercepts",
    };
    let (which, [own, merge]) = match few {
        [] => return None,
        [(name, samples)] => (
            format!("group '{name}' has {samples} samples"),
            [
                "of its own: its intervals are wide",
                "merge it with another group, leave it out",
            ],
        ),
        several => {
            let of = |(name, samples): &(&str, usize)| format!("'{name}' ({samples})");
            let each: Vec<String> = several.iter().map(of).collect();
            (
                format!(
                    "{} have fewer than {FEW} samples each",
                    named("group", &each)
                ),
                [
                    "of their own: their intervals are wide",
                    "merge them with other groups, leave them out",
                ],
            )
        }
    };
    Some(format!(
        "{which}, which say little of {what} {own}, and factors may follow single samples; {merge}, or let groups share \
         noise and intercepts"
    ))
}

/// How many features of a view are so in which groups, and the first of each; nothing where none are.
pub(super) fn features_by_group(
    view: &View,
    found: &[(&str, Vec<usize>)],
    are: &str,
) -> Option<String> {
    let first = |features: &[usize]| features.first().map_or("", |d| &view.features()[*d]);
    match found {
        [] => None,
        [(name, features)] => Some(format!(
            "{} feature(s) {are} group '{name}', first '{}'",
            features.len(),
            first(features)
        )),
        several => {
            let each: Vec<String> = (several.iter())
                .map(|(name, features)| {
                    format!("'{name}' ({}, first '{}')", features.len(), first(features))
                })
                .collect();
            Some(format!("features {are} {}", named("group", &each)))
        }
    }
}

/// Things of a kind: the first, and how many more there are.
fn named(kind: &str, all: &[String]) -> String {
    let plural = if all.len() == 1 { "" } else { "s" };
    let more = match all.len().saturating_sub(NAMED) {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    let first = &all[..all.len().min(NAMED)];
    format!("{kind}{plural} {}{more}", first.join(", "))
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

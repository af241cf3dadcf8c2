//! What is remarkable about classes before a fit.

use std::collections::BTreeMap;

use polyview_core::{Event, Journal, View};

use super::ViewInfo;

/// Warns of classes whose names differ in their spelling alone, and of classes that have a
/// sample each. `labels` are the words of a view of two values.
pub(super) fn note_classes(
    info: &ViewInfo,
    view: &View,
    labels: Option<&[String; 2]>,
    journal: &mut Journal,
) {
    let names = labels.map_or(info.levels.as_slice(), <[String; 2]>::as_slice);
    let notes = [alike(names), alone(info, view)];
    for note in notes.into_iter().flatten() {
        journal.note(0, format!("data/{}", info.name), Event::Warning { note });
    }
}

/// Two names that differ in capitals, or in blanks around them, alone.
fn alike(names: &[String]) -> Option<String> {
    let mut seen: BTreeMap<String, &String> = BTreeMap::new();
    names.iter().find_map(|name| {
        let other = seen.insert(name.trim().to_lowercase(), name)?;
        Some(format!(
            "the classes '{other}' and '{name}' differ in upper and lower case or in blanks alone, and \
             count as two: write them alike, if they are the same"
        ))
    })
}

/// Classes of a single sample, where most samples are such.
fn alone(info: &ViewInfo, view: &View) -> Option<String> {
    let mut count = vec![0_usize; info.levels.len()];
    for n in 0..view.n_samples() {
        let code = view.value(n, 0).filter(|_| !count.is_empty());
        if let Some(c) = code.and_then(|code| count.get_mut(code as usize)) {
            *c += 1;
        }
    }
    let single = count.iter().filter(|c| **c == 1).count();
    if 2 * single <= info.observed {
        return None;
    }
    let first = count.iter().position(|c| *c == 1)?;
    Some(format!(
        "{single} of {} samples are alone in their class, such as that of '{}': nothing is to be learnt of \
         a class from one sample; if the column holds IDs or free text, leave it out",
        info.observed, info.levels[first]
    ))
}

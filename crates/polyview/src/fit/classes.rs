//! What is remarkable about classes before a fit.

use std::collections::{BTreeMap, BTreeSet};

use polyview_core::{Event, Journal, View};

use super::ViewInfo;

/// Warns of classes whose names differ in their spelling alone, of classes that have a
/// sample each, and of ordered levels without a cell. `labels` are the words of a view of two values.
pub(super) fn note_classes(
    info: &ViewInfo,
    view: &View,
    labels: Option<&[String; 2]>,
    journal: &mut Journal,
) {
    let names = labels.map_or(info.levels.as_slice(), <[String; 2]>::as_slice);
    let notes = [alike(names), alone(info, view), unseen(info, view)];
    for note in notes.into_iter().flatten() {
        journal.note(0, format!("data/{}", info.name), Event::Warning { note });
    }
}

/// Two names that differ in capitals, in blanks around them, or in how a number is written,
/// alone.
fn alike(names: &[String]) -> Option<String> {
    let mut seen: BTreeMap<String, &String> = BTreeMap::new();
    names.iter().find_map(|name| {
        let word = name.trim().to_lowercase();
        let number = word.parse::<f64>().ok().filter(|x| x.is_finite());
        // no sign of a zero
        let key = number.map_or_else(|| word.clone(), |x| (x + 0.0).to_string());
        let other = seen.insert(key, name)?;
        let what = if other.trim().to_lowercase() == word {
            "in upper and lower case or in blanks alone"
        } else {
            "in how a number is written alone"
        };
        Some(format!(
            "the classes '{other}' and '{name}' differ {what}, and count as two: write them alike, if \
             they are the same"
        ))
    })
}

/// Ordered levels below the highest one seen, or of those with names, which no cell of the view has.
fn unseen(info: &ViewInfo, view: &View) -> Option<String> {
    if !info.choices.likelihood.is_ordered() {
        return None;
    }
    let cells = (0..view.n_samples())
        .flat_map(|n| (0..view.n_features()).filter_map(move |d| view.value(n, d)));
    let seen: BTreeSet<usize> = cells.map(|x| x as usize).filter(|l| *l > 0).collect();
    let highest = seen.last().map_or(0, |l| *l).max(info.levels.len());
    let first = (1..=highest).find(|l| !seen.contains(l))?;
    let name = match info.levels.get(first - 1) {
        Some(name) => format!("'{name}'"),
        None => first.to_string(),
    };
    let what = match highest - seen.len() {
        1 => format!("the level {name}"),
        count => format!("{count} levels, first {name}"),
    };
    Some(format!(
        "no cell has {what}: what is predicted of it comes from the prior of the cut points alone; number levels \
         without gaps, and name those alone that the data can have"
    ))
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

#[cfg(test)]
mod tests {
    use super::alike;

    #[test]
    fn names_that_differ_in_their_spelling_alone_are_named() {
        let said = |names: &[&str]| {
            let names: Vec<String> = names.iter().map(|n| (*n).to_owned()).collect();
            alike(&names).unwrap_or_default()
        };
        assert!(said(&["Yes", "no", "yes"]).contains("'Yes' and 'yes' differ in upper and lower"));
        assert!(said(&["1", "2", "1.0"]).contains("'1' and '1.0' differ in how a number"));
        assert!(said(&["0", "1e2", "100"]).contains("'1e2' and '100'"));
        assert_eq!(said(&["1", "2", "1.5", "nan", "inf"]), "");
    }
}

//! Sample IDs that do not meet, and what may have been meant.

use std::collections::{HashMap, HashSet};

use unicode_normalization::UnicodeNormalization;

/// The names in one table.
pub(super) struct Names<'a> {
    pub(super) view: &'a str,
    pub(super) samples: &'a [String],
    pub(super) features: &'a [String],
    /// Whether features are samples: a table of similarities.
    pub(super) of_samples: bool,
}

/// What tables of names look like where their IDs do not meet: similarities of other samples, transposed, or the
/// same IDs in another spelling. `None` where there is nothing to be said.
pub(super) fn advice(tables: &[Names<'_>]) -> Option<String> {
    let other = similarities_of_others(tables).or_else(|| transposed(tables));
    other.or_else(|| spelling(tables))
}

/// Says which tables hold similarities of samples that no other table has to those that another one has.
fn similarities_of_others(tables: &[Names<'_>]) -> Option<String> {
    tables.iter().enumerate().find_map(|(i, t)| {
        let samples = of_others(tables, i, |t| t.samples);
        let is_known = |s: &&String| samples.contains(s.as_str());
        let stranger = t.samples.first()?;
        if !t.of_samples || t.samples.iter().any(|s| is_known(&s)) {
            return None;
        }
        let feature = t.features.iter().find(is_known)?;
        Some(format!(
            "the rows of view '{}' are of samples that no other view has, such as '{stranger}', and its columns of those \
             that have one, such as '{feature}': similarities of new samples to old ones are for 'predict' and 'project', and a \
             fit takes those of its samples among themselves",
            t.view
        ))
    })
}

/// Fewer samples that a view shares with any other, where they are less than half of its
/// own, are warned of: the correlation of two numbers in nine samples is 0.67 or above by
/// chance alone once in twenty times.
const FEW: usize = 10;

/// What is to be said of views none of whose samples is in another, or so few that nothing
/// is to be learnt of what they share.
pub(super) fn strangers(tables: &[Names<'_>]) -> impl Iterator<Item = String> {
    let mut count: HashMap<&str, usize> = HashMap::new();
    for s in tables.iter().flat_map(|t| t.samples) {
        *count.entry(s).or_default() += 1;
    }
    let several = tables.len() > 1;
    tables.iter().filter(move |_| several).filter_map(move |t| {
        let own = t.samples.iter();
        let shared = own.filter(|s| count[s.as_str()] > 1).count();
        let (view, all) = (t.view, t.samples.len());
        if shared >= FEW || 2 * shared >= all {
            return None;
        }
        Some(match shared {
            0 => format!(
                "view '{view}' shares no sample ID with any other view (its first is '{}'): nothing can be \
                 learnt of what it has in common with them; check that its first column holds the \
                 same IDs, or leave it out",
                t.samples[0]
            ),
            some => format!(
                "view '{view}' shares {some} of its {all} samples with any other view: hardly anything can be \
                 learnt of what it has in common with them from so few; check that its first column \
                 holds the same IDs, or fit it alone"
            ),
        })
    })
}

/// Says which tables seem to lie the other way than others: those whose features are
/// the samples (or the features) of another table, while their own samples are
/// nowhere else.
fn transposed(tables: &[Names<'_>]) -> Option<String> {
    let mut turned = None;
    let mut all = tables.len() > 1;
    for (i, t) in tables.iter().enumerate() {
        let samples = of_others(tables, i, |t| t.samples);
        if t.of_samples {
            // its header holds sample IDs whichever way it lies
            all = false;
            continue;
        }
        if t.samples.iter().any(|s| samples.contains(s.as_str())) {
            all = false;
            continue;
        }
        if let Some(f) = t.features.iter().find(|f| samples.contains(f.as_str())) {
            turned = Some((t.view, f));
        }
        let features = of_others(tables, i, |t| t.features);
        all &= t.features.iter().any(|f| features.contains(f.as_str()));
    }
    if all {
        // names that headers share say less than IDs that are alike
        if let Some(text) = spelling(tables) {
            return Some(text);
        }
        let rest = of_others(tables, 0, |t| t.features);
        let mut shared = tables[0].features.iter();
        let shared = shared.find(|f| rest.contains(f.as_str()))?;
        return Some(format!(
            "check that the first column holds the same IDs in every file, or that --transposed is \
             given where samples stand in columns and not where they stand in rows (the headers share \
             names, such as '{shared}')"
        ));
    }
    let (view, example) = turned?;
    // whoever reads the tables may have turned them
    Some(format!(
        "features of view '{view}' are called as samples of another view are, such as '{example}': its table seems to lie the \
         other way than that one; write every table with samples in rows (and leave --transposed out), or every one with \
         samples in columns (and say --transposed)"
    ))
}

/// Names of all tables but one.
fn of_others<'a>(
    tables: &'a [Names<'_>],
    but: usize,
    of: impl Fn(&'a Names<'_>) -> &'a [String],
) -> HashSet<&'a str> {
    let rest = tables.iter().enumerate().filter(|(i, _)| *i != but);
    rest.flat_map(|(_, t)| of(t)).map(String::as_str).collect()
}

/// Says which IDs differ in their spelling alone from those of another view.
fn spelling(tables: &[Names<'_>]) -> Option<String> {
    let mut of_key: HashMap<String, Vec<(usize, &str)>> = HashMap::new();
    let mut order = Vec::new();
    for (i, t) in tables.iter().enumerate() {
        for s in t.samples {
            let at = of_key.entry(plain(s)).or_default();
            if at.is_empty() {
                order.push(plain(s));
            }
            if !at.iter().any(|(j, other)| *j == i && other == s) {
                at.push((i, s));
            }
        }
    }
    let mut pairs = 0;
    let mut first = None;
    for key in order {
        let Some(found) = of_key.remove(&key) else {
            continue;
        };
        // IDs that one view tells apart are two samples
        let mut views = HashSet::new();
        if !found.iter().all(|(i, _)| views.insert(*i)) {
            continue;
        }
        let (i, a) = found[0];
        if let Some(&(j, b)) = found.iter().find(|(_, b)| *b != a) {
            pairs += 1;
            first.get_or_insert((i, a, j, b));
        }
    }
    let (i, a, j, b) = first?;
    let unseen = other_form(a, b).map_or_else(String::new, |how| format!(" ({how})"));
    Some(format!(
        "{pairs} sample ID(s) differ between views in their spelling alone, such as '{a}' \
         (view '{}') and '{b}' (view '{}'){unseen}, and count as different samples: write them alike, \
         if they are the same",
        tables[i].view, tables[j].view
    ))
}

/// What nobody sees of two names that look alike: letters with accents may be one character each, or
/// letter and accent apart (Unicode's normal forms NFC and NFD). `None` of names that differ otherwise.
pub fn other_form(a: &str, b: &str) -> Option<String> {
    let same = a != b && a.nfc().eq(b.nfc());
    same.then(|| {
        let (a, b) = (a.chars().count(), b.chars().count());
        format!(
            "they look alike and have {a} and {b} characters: accents are part of their letters in the one, and \
             characters of their own in the other; write both in one Unicode normal form, such as NFC"
        )
    })
}

/// An ID without what programs change on the way: blanks around it, capitals, the
/// `X` that R puts before a digit, `.` for `-` and the like, decimals of a whole
/// number, and whether accents are characters of their own.
pub fn plain(id: &str) -> String {
    let id: String = id.trim().nfc().collect::<String>().to_lowercase();
    let bare = id
        .strip_prefix('x')
        .filter(|rest| rest.starts_with(|c: char| c.is_ascii_digit()));
    let id = bare.unwrap_or(&id);
    match id.parse::<f64>() {
        Ok(x) if x.is_finite() => format!("{x}"),
        _ => {
            let mark = |c: char| if c.is_alphanumeric() { c } else { '.' };
            id.chars().map(mark).collect()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn said(tables: &[(&str, &[&str], &[&str])]) -> Option<String> {
        let owned = |names: &[&str]| names.iter().map(|n| (*n).to_owned()).collect::<Vec<_>>();
        let all: Vec<_> = tables
            .iter()
            .map(|(v, s, f)| (*v, owned(s), owned(f)))
            .collect();
        let names: Vec<Names<'_>> = all
            .iter()
            .map(|(view, samples, features)| Names {
                view,
                samples,
                features,
                // the views of these names are
                of_samples: view.starts_with("similar"),
            })
            .collect();
        advice(&names)
    }

    #[test]
    fn similarities_of_new_samples_are_no_turned_table() {
        let y: (&str, &[&str], &[&str]) = ("y", &["s1", "s2"], &["f1", "f2"]);
        let new: (&str, &[&str], &[&str]) = ("similar", &["n1", "n2"], &["s1", "s2"]);
        let text = said(&[new, y]).expect("advice");
        assert!(text.contains("'n1'") && text.contains("'s1'"), "{text}");
        assert!(!text.contains("transposed"), "{text}");
        let own: (&str, &[&str], &[&str]) = ("similar", &["s1", "s2"], &["s1", "s2"]);
        assert_eq!(said(&[own, y]), None);
    }

    #[test]
    fn spellings_of_one_id() {
        for (a, b) in [
            ("1", "1.0"),
            ("S1", "s1"),
            (" s1", "s1 "),
            ("TCGA-A1-01", "TCGA.A1.01"),
            ("X1", "1"),
            ("1e1", "10"),
            ("J\u{e9}r\u{f4}me", "Je\u{301}ro\u{302}me"),
        ] {
            let text = said(&[("a", &[a, "q"], &["f"]), ("b", &[b, "r"], &["g"])]);
            let text = text.expect("advice");
            assert!(
                text.contains(&format!("'{a}' (view 'a') and '{b}' (view 'b')")),
                "{text}"
            );
            assert!(text.starts_with("1 sample ID(s)"), "{text}");
        }
    }

    #[test]
    fn names_that_look_alike_are_told_apart() {
        let how = other_form("\u{e9}1", "e\u{301}1").expect("forms");
        assert!(how.contains("have 2 and 3 characters"), "{how}");
        assert_eq!(other_form("S1", "s1"), None);
        assert_eq!(other_form("\u{e9}", "\u{e9}"), None);
    }

    #[test]
    fn what_one_view_tells_apart_is_different() {
        assert_eq!(
            said(&[("a", &["s1", "S1"], &["f"]), ("b", &["s1"], &["g"])]),
            None
        );
        assert_eq!(
            said(&[("a", &["s1"], &["f"]), ("b", &["s1"], &["g"])]),
            None
        );
        assert_eq!(said(&[("a", &["s1", "S1"], &["f"])]), None);
        assert_eq!(
            said(&[("a", &["s1"], &["f"]), ("b", &["s2"], &["g"])]),
            None
        );
    }

    #[test]
    fn samples_in_columns() {
        // one of two, one of three, and all
        let a: (&str, &[&str], &[&str]) = ("a", &["s1", "s2"], &["f1", "f2"]);
        let b: (&str, &[&str], &[&str]) = ("b", &["s1", "s2"], &["g1", "g2"]);
        let c: (&str, &[&str], &[&str]) = ("c", &["h1", "h2", "h3"], &["s1", "s2"]);
        let d: (&str, &[&str], &[&str]) = ("d", &["i1"], &["s1", "s2"]);
        for tables in [&[a, c][..], &[a, b, c]] {
            let text = said(tables).expect("advice");
            assert!(
                text.contains("features of view 'c'") && text.contains("'s1'"),
                "{text}"
            );
            // that the tables were turned as they were read is one of both
            assert!(
                text.contains("leave --transposed out") && text.contains("say --transposed"),
                "{text}"
            );
        }
        let text = said(&[c, d]).expect("advice");
        assert!(
            text.contains("the headers share names, such as 's1'"),
            "{text}"
        );
        assert_eq!(said(&[a, b]), None);
        // features of one name in both views are nothing odd where samples meet
        assert_eq!(
            said(&[("a", &["s1"], &["f"]), ("b", &["s1", "s2"], &["f"])]),
            None
        );
    }
}

//! How wide a line of text is, without a font at hand.
//!
//! The advance widths are those of the Helvetica/Arial family, which the stylesheet asks for first;
//! metric-compatible faces agree to the unit. A small surcharge covers wider fallbacks.

/// Advance widths of U+0020 to U+007E in thousandths of the font size.
const ADVANCE: [u16; 95] = [
    278, 278, 355, 556, 556, 889, 667, 191, 333, 333, 389, 584, 278, 333, 278, 278, 556, 556, 556,
    556, 556, 556, 556, 556, 556, 556, 278, 278, 584, 584, 584, 556, 1015, 667, 667, 722, 722, 667,
    611, 778, 722, 278, 500, 667, 556, 833, 722, 778, 667, 778, 722, 667, 611, 722, 667, 944, 667,
    667, 611, 278, 278, 278, 469, 556, 333, 556, 556, 500, 556, 556, 278, 556, 556, 222, 222, 500,
    222, 833, 556, 556, 556, 556, 333, 500, 278, 556, 500, 722, 500, 500, 500, 334, 260, 334, 584,
];
/// Allowance for fallback fonts that run wider.
const SURCHARGE: f64 = 1.04;

/// Estimated width in pixels of one line set at `size` pixels.
pub(crate) fn width(text: &str, size: f64) -> f64 {
    text.chars().map(advance).sum::<f64>() * size * SURCHARGE
}

/// `text` shortened in the middle with an ellipsis so that it fits `room` pixels.
///
/// Both ends survive, because identifiers tend to differ at their ends. Combining marks stay with
/// the letter they belong to. A name that fits is returned as it is.
pub(crate) fn fitted(text: &str, size: f64, room: f64) -> String {
    if width(text, size) <= room {
        return text.to_owned();
    }
    let clusters = clusters(text);
    let room = room - width("…", size);
    let (mut head, mut tail) = (0, 0);
    let mut used = 0.0;
    while head + tail < clusters.len() {
        // three from the front for every two from the back
        let from_front = head * 2 <= tail * 3;
        let next = if from_front {
            clusters[head]
        } else {
            clusters[clusters.len() - 1 - tail]
        };
        used += width(next, size);
        if used > room {
            break;
        }
        if from_front {
            head += 1;
        } else {
            tail += 1;
        }
    }
    let mut out: String = clusters[..head].concat();
    out.push('…');
    out.push_str(&clusters[clusters.len() - tail..].concat());
    out
}

/// `text` broken at spaces into lines of at most `room` pixels; at most `most` lines, the last one
/// shortened when there is more.
pub(crate) fn wrapped(text: &str, size: f64, room: f64, most: usize) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    let mut rest: Vec<&str> = text.split_whitespace().collect();
    while !rest.is_empty() && lines.len() < most {
        let mut taken = 1;
        while taken < rest.len() && width(&rest[..=taken].join(" "), size) <= room {
            taken += 1;
        }
        if lines.len() + 1 == most {
            taken = rest.len();
        }
        lines.push(fitted(&rest[..taken].join(" "), size, room));
        rest.drain(..taken);
    }
    lines
}

/// A set of names shortened together, so that different names stay different.
#[derive(Clone, Debug)]
pub(crate) struct Labels<'a> {
    full: &'a [String],
    short: Vec<String>,
    widest: f64,
}

impl<'a> Labels<'a> {
    /// Names of at most `room` pixels at `size`. When shortening each name for itself would make two
    /// of them look alike, what all begin or end with is left out; when that is not enough, they are
    /// numbered.
    pub fn fit(full: &'a [String], size: f64, room: f64) -> Self {
        let all = |of: &dyn Fn(usize, &str) -> String| -> Vec<String> {
            full.iter()
                .enumerate()
                .map(|(i, name)| of(i, name))
                .collect()
        };
        let mut short = all(&|_, name| fitted(name, size, room));
        if confused(full, &short) {
            let (head, tail) = common_ends(full);
            let pieces: Vec<Vec<&str>> = full.iter().map(|n| clusters(n)).collect();
            let core: Vec<String> = pieces
                .iter()
                .map(|p| {
                    let after = if tail > 0 { "…" } else { "" };
                    format!("{}{after}", p[head..p.len() - tail].concat())
                })
                .collect();
            // as much of the common beginning as there is room for
            let longest = core.iter().map(|c| width(c, size)).fold(0.0, f64::max);
            let beginning = pieces
                .first()
                .map_or_else(String::new, |p| p[..head].concat());
            let lead = shortened_end(&beginning, size, room - longest);
            short = all(&|i, _| fitted(&format!("{lead}{}", core[i]), size, room));
            if confused(full, &short) {
                short = all(&|i, name| {
                    let number = format!("{}: ", i + 1);
                    let left = room - width(&number, size);
                    format!("{number}{}", fitted(name, size, left))
                });
            }
        }
        let widest = short.iter().map(|s| width(s, size)).fold(0.0, f64::max);
        Self {
            full,
            short,
            widest,
        }
    }

    /// The short form of a name, and the full one when they differ.
    pub fn get(&self, i: usize) -> (&str, Option<&str>) {
        let (short, full) = (self.short[i].as_str(), self.full[i].as_str());
        (short, (short != full).then_some(full))
    }

    /// Width of the widest short form in pixels.
    pub fn widest(&self) -> f64 {
        self.widest
    }

    pub fn len(&self) -> usize {
        self.full.len()
    }
}

/// `text` cut at its end with an ellipsis so that it fits; just the ellipsis when nothing fits.
fn shortened_end(text: &str, size: f64, room: f64) -> String {
    if width(text, size) <= room {
        return text.to_owned();
    }
    let mut out = String::new();
    let mut used = width("…", size);
    for piece in clusters(text) {
        used += width(piece, size);
        if used > room {
            break;
        }
        out.push_str(piece);
    }
    out.push('…');
    out
}

/// Whether two different names have the same short form.
fn confused(full: &[String], short: &[String]) -> bool {
    let distinct = |names: &[String]| {
        names
            .iter()
            .collect::<std::collections::BTreeSet<_>>()
            .len()
    };
    distinct(short) < distinct(full)
}

/// Lengths in clusters of what all names begin and end with, without overlap.
fn common_ends(names: &[String]) -> (usize, usize) {
    let pieces: Vec<Vec<&str>> = names.iter().map(|n| clusters(n)).collect();
    let shortest = pieces.iter().map(Vec::len).min().unwrap_or(0);
    let Some(first) = pieces.first() else {
        return (0, 0);
    };
    let head = (0..shortest)
        .take_while(|&i| pieces.iter().all(|p| p[i] == first[i]))
        .count();
    let at_end = |p: &[&str], i: usize| p[p.len() - 1 - i].to_owned();
    let tail = (0..shortest - head)
        .take_while(|&i| pieces.iter().all(|p| at_end(p, i) == at_end(first, i)))
        .count();
    (head, tail)
}

/// `first`, `joint` and `second` in one line of at most `room` pixels, the two names shortened evenly.
pub(crate) fn joined(first: &str, joint: &str, second: &str, size: f64, room: f64) -> String {
    let left = room - width(joint, size);
    let (a, b) = (width(first, size), width(second, size));
    let half = left / 2.0;
    let (for_a, for_b) = if a + b <= left {
        (a, b)
    } else if a <= half {
        (a, left - a)
    } else if b <= half {
        (left - b, b)
    } else {
        (half, half)
    };
    format!(
        "{}{joint}{}",
        fitted(first, size, for_a),
        fitted(second, size, for_b)
    )
}

/// Pieces that must not be torn apart: a character with the marks that follow it.
fn clusters(text: &str) -> Vec<&str> {
    let mut starts: Vec<usize> = Vec::new();
    let mut glued = false;
    for (i, c) in text.char_indices() {
        let joins = attaches(c) || glued;
        if !joins || starts.is_empty() {
            starts.push(i);
        }
        glued = c == '\u{200D}';
    }
    let ends = starts
        .iter()
        .skip(1)
        .copied()
        .chain(std::iter::once(text.len()));
    starts.iter().zip(ends).map(|(&a, b)| &text[a..b]).collect()
}

fn attaches(c: char) -> bool {
    matches!(c,
        '\u{300}'..='\u{36F}' | '\u{483}'..='\u{489}' | '\u{591}'..='\u{5BD}' | '\u{610}'..='\u{61A}'
        | '\u{64B}'..='\u{65F}' | '\u{93C}' | '\u{93E}'..='\u{94D}' | '\u{E31}' | '\u{E34}'..='\u{E3A}'
        | '\u{E47}'..='\u{E4E}' | '\u{1AB0}'..='\u{1AFF}' | '\u{1DC0}'..='\u{1DFF}' | '\u{200B}'..='\u{200F}'
        | '\u{202A}'..='\u{202E}' | '\u{2066}'..='\u{2069}' | '\u{20D0}'..='\u{20FF}'
        | '\u{FE00}'..='\u{FE0F}' | '\u{FE20}'..='\u{FE2F}' | '\u{1F3FB}'..='\u{1F3FF}')
}

fn advance(c: char) -> f64 {
    if let Some(&units) = (c as usize).checked_sub(0x20).and_then(|i| ADVANCE.get(i)) {
        return f64::from(units) / 1000.0;
    }
    if attaches(c) {
        return 0.0;
    }
    match c {
        '−' | '×' => 0.584,
        '⁻' | '⁰' | '¹' | '²' | '³' | '⁴'..='⁹' => 0.36,
        '…'
        | '→'
        | '\u{1100}'..='\u{115F}'
        | '\u{2E80}'..='\u{A4CF}'
        | '\u{AC00}'..='\u{D7A3}'
        | '\u{F900}'..='\u{FAFF}'
        | '\u{FE30}'..='\u{FE4F}'
        | '\u{FF00}'..='\u{FF60}'
        | '\u{20000}'..='\u{3FFFD}' => 1.0,
        '\u{1F000}'..='\u{1FAFF}' => 1.3,
        _ => 0.62,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_that_fits_is_left_alone() {
        assert_eq!(fitted("rna", 11.0, 100.0), "rna");
    }

    #[test]
    fn a_long_name_keeps_both_ends_and_fits() {
        for room in [20.0, 55.5, 80.0, 120.0] {
            let short = fitted("ENSG00000141510_TP53_isoform_alpha", 11.0, room);
            assert!(width(&short, 11.0) <= room, "{short} at {room}");
            assert!(short.contains('…'));
        }
        let short = fitted("ENSG00000141510_TP53_isoform_alpha", 11.0, 120.0);
        assert!(
            short.starts_with("ENSG") && short.ends_with("alpha"),
            "{short}"
        );
    }

    #[test]
    fn marks_stay_with_their_letters() {
        let name = "e\u{301}".repeat(60);
        let short = fitted(&name, 11.0, 50.0);
        let (head, tail) = short.split_once('…').expect("shortened");
        assert!(head.chars().count() % 2 == 0 && tail.chars().count() % 2 == 0);
        assert!(head.starts_with('e') && (tail.is_empty() || tail.starts_with('e')));
    }

    #[test]
    fn no_room_leaves_an_ellipsis() {
        assert_eq!(fitted("a name", 11.0, 0.0), "…");
        assert_eq!(fitted("", 11.0, 0.0), "");
    }

    #[test]
    fn labels_that_would_look_alike_are_told_apart() {
        let names: Vec<String> = (1..=14)
            .map(|m| format!("tissue section no. {m} (right side)"))
            .collect();
        let labels = Labels::fit(&names, 11.0, 90.0);
        let short: std::collections::BTreeSet<&str> = (0..14).map(|i| labels.get(i).0).collect();
        assert_eq!(short.len(), 14, "{short:?}");
        assert_eq!(
            labels.get(11),
            (
                "tissue sect…12…",
                Some("tissue section no. 12 (right side)")
            )
        );
        assert!(labels.widest() <= 90.0);

        let hopeless: Vec<String> = ["a", "b"]
            .iter()
            .map(|c| format!("{c}{}{c}", "x".repeat(80)))
            .collect();
        let middle: Vec<String> = ["a", "b"]
            .iter()
            .map(|c| format!("{0}{c}{1}", "x".repeat(9), "y".repeat(70)))
            .collect();
        let two = [middle[0].clone(), middle[1].clone(), hopeless[0].clone()];
        let labels = Labels::fit(&two, 11.0, 60.0);
        assert!(labels.get(0).0.starts_with("1: ") && labels.get(1).0.starts_with("2: "));
        let same = vec!["one name".to_owned(); 3];
        assert_eq!(Labels::fit(&same, 11.0, 200.0).get(2), ("one name", None));
    }

    #[test]
    fn two_names_share_a_line() {
        let long = "a very long name of a factor indeed";
        let line = joined(long, " by ", long, 12.0, 200.0);
        assert!(
            width(&line, 12.0) <= 200.0 && line.contains(" by ") && line.matches('…').count() == 2
        );
        assert_eq!(joined("F1", " by ", "age", 12.0, 200.0), "F1 by age");
        assert!(joined("F1", " by ", long, 12.0, 150.0).starts_with("F1 by a"));
    }

    #[test]
    fn wrapping_breaks_at_spaces() {
        let lines = wrapped("share of the variance explained", 11.0, 80.0, 3);
        assert!(lines.len() > 1 && lines.len() <= 3);
        assert!(lines.iter().all(|l| width(l, 11.0) <= 80.0));
        assert!(wrapped("", 11.0, 80.0, 3).is_empty());
    }
}

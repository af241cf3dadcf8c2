//! Numbers that look like codes of missing values.

use std::collections::BTreeMap;

use polyview_core::View;
use polyview_io::MISSING_NUMBER;

use crate::study::Study;

/// Fewest cells with one and the same number.
const CELLS: usize = 3;

/// How many times the range of all other values of its feature a number that reads like a code,
/// of two digits at least, is off where one cell is enough.
const RANGES: f64 = 10.0;

/// Fewest other cells of a feature that say where its values lie.
const OTHERS: usize = 5;

/// Most codes of one feature.
const CODES: usize = 3;

/// What is to be said of numbers that stand in several cells of a view of numbers or counts,
/// each of them farther from all others of its feature than these are from one another: 999
/// among ages, -1 among lengths. What a sample is to itself in a table of similarities, whose
/// features are called as the `samples` are, is no code.
pub fn codes(views: &[View], samples: &[String], study: &Study) -> Vec<String> {
    let views = views.iter().filter(|v| {
        let likelihood = study.model.view(v.name()).likelihood;
        v.sparse().is_none()
            && (likelihood.is_real() || likelihood.is_count() || likelihood.is_positive())
    });
    views.flat_map(|v| of_view(v, samples)).collect()
}

/// What is to be said of classes that are called what stands for a missing number: `none`, `-` and `.`
/// may well be words, and are read as such.
pub fn missing_words(views: &[View]) -> Vec<String> {
    let of_view = |view: &View| {
        let is_odd = |level: &&String| MISSING_NUMBER.iter().any(|w| w.eq_ignore_ascii_case(level));
        let odd = view.levels().iter().find(is_odd)?;
        Some(format!(
            "view '{}': '{odd}' is taken for a class; if it stands for a missing value, say --na '{odd}'",
            view.name()
        ))
    };
    views.iter().filter_map(of_view).collect()
}

/// Where a code stands.
struct Found {
    cells: usize,
    /// Whether no more of them are needed.
    plain: bool,
    features: usize,
    first: usize,
}

fn of_view(view: &View, samples: &[String]) -> Vec<String> {
    let mut found: BTreeMap<u64, Found> = BTreeMap::new();
    let mut column = vec![0.0; view.n_samples()];
    for d in 0..view.n_features() {
        view.write_column(d, &mut column);
        let known = column.iter().enumerate();
        let is_own = |n: usize| samples.get(n).is_some_and(|s| *s == view.features()[d]);
        let known = known.filter(|(n, _)| view.is_observed(*n, d) && !is_own(*n));
        let values: Vec<f64> = known.map(|(_, x)| *x).collect();
        for (code, cells) in of_feature(&values) {
            let entry = found.entry(code.to_bits()).or_insert(Found {
                cells: 0,
                plain: false,
                features: 0,
                first: d,
            });
            entry.cells += cells;
            entry.plain |= is_plain(code, &values);
            entry.features += 1;
        }
    }
    let many = found
        .into_iter()
        .filter(|(_, f)| f.plain || f.cells >= CELLS);
    many.map(|(bits, f)| {
        let code = f64::from_bits(bits);
        let text = if code.abs() < 1e16 {
            code.to_string()
        } else {
            format!("{code:e}")
        };
        format!(
            "view '{}': {text} stands in {} cell{} of {} feature(s), first '{}', far from all other values there; if \
             it is a code for missing values, say --na {text}",
            view.name(),
            f.cells,
            if f.cells == 1 { "" } else { "s" },
            f.features,
            view.features()[f.first]
        )
    })
    .collect()
}

/// The smallest or largest of some numbers, and what lies next to it.
struct End {
    value: f64,
    cells: usize,
    next: f64,
}

/// Codes among the values of a feature, with their numbers of cells: ends that lie far
/// off, taken off one by one.
fn of_feature(values: &[f64]) -> Vec<(f64, usize)> {
    let mut out = Vec::new();
    let mut rest = values.to_vec();
    while out.len() < CODES {
        let whole = rest.iter().all(|x| x.fract() == 0.0);
        let ends = [end(&rest, 1.0), end(&rest, -1.0)];
        let others = |e: &End| rest.len() - e.cells >= OTHERS;
        let far = |e: &&End| others(e) && is_far(e, &ends, &rest, whole);
        let Some(code) = ends.iter().find(far) else {
            break;
        };
        out.push((code.value, code.cells));
        let value = code.value;
        rest.retain(|x| *x != value);
    }
    out
}

/// The largest number, by sign 1, or the smallest, by sign -1.
fn end(values: &[f64], sign: f64) -> End {
    let mut out = End {
        value: f64::NEG_INFINITY,
        cells: 0,
        next: f64::NEG_INFINITY,
    };
    for x in values.iter().map(|x| sign * x) {
        if x > out.value {
            (out.next, out.value, out.cells) = (out.value, x, 1);
        } else if x == out.value {
            out.cells += 1;
        } else if x > out.next {
            out.next = x;
        }
    }
    (out.value, out.next) = (sign * out.value, sign * out.next);
    out
}

/// Whether a number is so far from all others of its feature that it stands for none.
fn is_plain(code: f64, values: &[f64]) -> bool {
    let others = || values.iter().copied().filter(|x| *x != code);
    let least = others().fold(f64::INFINITY, f64::min);
    let most = others().fold(f64::NEG_INFINITY, f64::max);
    let gap = (code - most).max(least - code);
    code.abs() >= 88.0 && reads_like_a_code(code) && gap > RANGES * (most - least)
}

/// Steps between the other values that a number below zero is off by, at least, if it is a
/// code.
const STEPS: f64 = 2.0;

/// Whether one of the two ends of a feature is a code: farther from the next value than all
/// others are from one another, or the only number below zero, where it reads like a code
/// and is some of their steps away: among -1, 0 and 1 it is one value of three.
fn is_far(end: &End, ends: &[End; 2], values: &[f64], whole: bool) -> bool {
    let reads = reads_like_a_code(end.value);
    if end.value == 0.0 || !end.next.is_finite() || (whole && !reads) {
        return false;
    }
    let other = if end.value == ends[0].value {
        &ends[1]
    } else {
        &ends[0]
    };
    let range = (end.next - other.value).abs();
    let gap = (end.value - end.next).abs();
    let alone = end.value < 0.0 && end.next >= 0.0 && reads;
    (range > 0.0 && gap > range)
        || (alone && step(values, end.value).is_some_and(|step| gap >= STEPS * step))
}

/// The median step from one value to the next, that one left out; `None` of fewer than two.
fn step(values: &[f64], without: f64) -> Option<f64> {
    let mut sorted: Vec<f64> = values.iter().copied().filter(|x| *x != without).collect();
    sorted.sort_by(f64::total_cmp);
    sorted.dedup();
    let mut steps: Vec<f64> = sorted.windows(2).map(|w| w[1] - w[0]).collect();
    steps.sort_by(f64::total_cmp);
    steps.get(steps.len() / 2).copied()
}

/// -1, digits that are all 8 or all 9, or a number beyond those of data.
fn reads_like_a_code(x: f64) -> bool {
    let digits = x.abs().to_string();
    let all = |digit: char| digits.chars().all(|c| c == digit);
    x == -1.0 || all('9') || all('8') || x.abs() >= 1e9
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ends_that_lie_far_off_are_codes() {
        let found = |more: &[f64]| {
            let mut values: Vec<f64> = (0..20).map(|i| f64::from(i % 7) * 0.37 + 0.1).collect();
            values.extend_from_slice(more);
            of_feature(&values)
        };
        assert_eq!(found(&[]), []);
        assert_eq!(found(&[2.9, 3.5]), []);
        assert_eq!(found(&[999.0, 999.0]), [(999.0, 2)]);
        assert_eq!(
            found(&[-99.0, -9.0, 1e30]),
            [(1e30, 1), (-99.0, 1), (-9.0, 1)]
        );
        assert_eq!(found(&[-1.0]), [(-1.0, 1)]);
        assert_eq!(found(&[-0.5]), []);
        // with numbers below zero -1 is one like the others
        assert_eq!(found(&[-1.0, -0.7, -0.2]), []);
        // one step from the next value
        let three: Vec<f64> = (0..30).map(|i| f64::from(i % 3) - 1.0).collect();
        assert_eq!(of_feature(&three), []);
        let scale: Vec<f64> = (0..30).map(|i| f64::from(i % 7) - 1.0).collect();
        assert_eq!(of_feature(&scale), []);
        let ages = (0..30).map(|i| 18.0 + f64::from(i)).chain([-1.0; 3]);
        assert_eq!(of_feature(&ages.collect::<Vec<_>>()), [(-1.0, 3)]);
        // zeros are natural
        let apart: Vec<f64> = (0..20)
            .map(|i| 10.0 + f64::from(i % 7))
            .chain([0.0; 9])
            .collect();
        assert_eq!(of_feature(&apart), []);
        // of whole numbers only what reads like a code
        let counts = |more: f64| {
            let all: Vec<f64> = (0..20).map(|i| f64::from(i % 5)).chain([more; 3]).collect();
            of_feature(&all)
        };
        assert_eq!(counts(40.0), []);
        assert_eq!(counts(9999.0), [(9999.0, 3)]);
        assert_eq!(of_feature(&[5.0; 9]), []);
    }

    #[test]
    fn what_a_sample_is_to_itself_is_no_code() {
        let ids = |n: usize| -> Vec<String> { (0..n).map(|i| format!("s{i}")).collect() };
        let near = |n: usize, d: usize| {
            if n == d {
                1.0
            } else {
                0.01 * ((n * 7 + d * 5) % 9) as f64
            }
        };
        let similar = polyview_linalg::Mat::from_fn(20, 6, near);
        let view = View::from_values("x", ids(6), similar).unwrap();
        assert_eq!(of_view(&view, &ids(20)), [""; 0]);
        // features of other names have codes
        let others: Vec<String> = (0..20).map(|i| format!("p{i}")).collect();
        assert_eq!(of_view(&view, &others).len(), 1);
    }

    #[test]
    fn one_cell_is_enough_where_nothing_else_is_near() {
        let said = |code: f64| {
            let values = (0..20).map(|i| f64::from(i % 7) * 0.37 + 0.1).chain([code]);
            let values: Vec<f64> = values.collect();
            let x = polyview_linalg::Mat::from_fn(values.len(), 1, |n, _| values[n]);
            of_view(&View::from_values("x", vec!["f".into()], x).unwrap(), &[])
        };
        for code in ["-999", "99", "8888"] {
            let found = said(code.parse().unwrap());
            assert!(found[0].contains(&format!("--na {code}")), "{found:?}");
        }
        // ten times the range of the others away, and more than a digit
        for value in [9.0, -9.0, 99.5, 1000.0, 20.0] {
            assert_eq!(said(value), [""; 0], "{value}");
        }
    }
}

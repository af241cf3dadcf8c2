//! Features that stand in two views.

use std::fmt::Write;

use crate::common::{put, said};

/// A number of sample `n` and feature `d`, which no other feature has.
fn number(n: usize, d: usize) -> f64 {
    let step = [
        0.618_034, 0.414_214, 0.732_051, 0.236_068, 0.302_776, 0.645_751,
    ];
    let x = ((n as f64 + 1.0) * step[d]).fract();
    ((x + 0.3 * ((n as f64 + 1.0) * 0.449_490).fract()) * 1e4).round() / 1e4
}

fn label(n: usize) -> usize {
    usize::from((n * n + 3 * n) % 7 > 3)
}

/// A table of 40 samples.
fn table(names: &[&str], cell: impl Fn(usize, usize) -> String) -> String {
    let mut text = format!("id,{}\n", names.join(","));
    for n in 0..40 {
        let cells: Vec<String> = (0..names.len()).map(|d| cell(n, d)).collect();
        let _ = writeln!(text, "s{n},{}", cells.join(","));
    }
    text
}

/// Labels and targets that were left among the features, scaled, shifted and elsewhere in the table.
#[test]
fn copies_in_other_views_are_named() {
    let dir = tempfile::tempdir().expect("a folder");
    let at = dir.path();
    put(
        at,
        "x.csv",
        table(&["a", "b", "c"], |n, d| number(n, d).to_string()),
    );
    put(
        at,
        "y.csv",
        table(&["q", "r"], |n, d| number(n, d + 3).to_string()),
    );
    put(at, "ill.csv", table(&["ill"], |n, _| label(n).to_string()));
    let leak = |n: usize, d: usize| match d {
        3 => (2 * label(n) + 1).to_string(),
        4 => format!("{:.6}", 1.0 - 0.25 * number(n, 4)),
        _ => number(n, d).to_string(),
    };
    put(
        at,
        "leak.csv",
        table(&["a", "b", "c", "status", "other"], leak),
    );
    put(
        at,
        "turned.csv",
        table(&["r", "q"], |n, d| number(n, 4 - d).to_string()),
    );
    let words = "features of different views that are each other";
    let fit = |views: &str| {
        said(
            at,
            &format!(
                "fit --model sshiba {views} -k 2 --max-sweeps 5 --no-settle --out m.pv --force"
            ),
        )
    };
    let [x, y, ill] = [
        "--view x=x.csv",
        "--view y=y.csv",
        "--view ill=ill.csv:bernoulli",
    ];
    let text = fit(&format!("{x} {y} {ill}"));
    assert!(!text.contains(words), "{text}");
    let text = fit(&format!("--view x=leak.csv {y} {ill}"));
    assert!(
        text.contains("'status' of view 'x' and 'ill' of view 'ill'")
            && text.contains("'other' of view 'x' and 'r' of view 'y'"),
        "{text}"
    );
    assert!(
        text.contains(words) && text.contains("predicted from itself"),
        "{text}"
    );
    let text = fit(&format!("{y} --view z=turned.csv"));
    assert!(
        text.contains("'q' of view 'y' and 'q' of view 'z', 'r' of view 'y' and 'r' of view 'z';"),
        "{text}"
    );
    // of one table under two names fits speak
    let text = fit(&format!("{y} --view z=y.csv"));
    assert!(
        text.contains("the very values of view 'y'") && !text.contains(words),
        "{text}"
    );
}

/// Features of two values, and of few cells, are alike by chance.
#[test]
fn features_of_few_values_are_no_copies() {
    let dir = tempfile::tempdir().expect("a folder");
    let at = dir.path();
    let two = |own: usize| {
        move |n: usize, d: usize| {
            if d == 0 {
                label(n).to_string()
            } else {
                number(n, own).to_string()
            }
        }
    };
    put(at, "x.csv", table(&["a", "b"], two(0)));
    put(at, "y.csv", table(&["c", "d"], two(1)));
    // a label that one sample has
    put(
        at,
        "rare.csv",
        table(&["rare"], |n, _| usize::from(n == 7).to_string()),
    );
    put(
        at,
        "seen.csv",
        table(&["seen", "e"], |n, d| {
            if d == 0 {
                usize::from(n == 7).to_string()
            } else {
                number(n, 2).to_string()
            }
        }),
    );
    for views in [
        "--view x=x.csv --view y=y.csv",
        "--view x=seen.csv --view y=rare.csv:bernoulli",
    ] {
        let text = said(
            at,
            &format!(
                "fit --model sshiba {views} -k 1 --max-sweeps 5 --no-settle --out m.pv --force"
            ),
        );
        assert!(!text.contains("of different views"), "{text}");
    }
}

//! What a user has to hear is said on standard error, with what to do about it.

use std::fmt::Write;
use std::path::Path;

use crate::common::run;

mod fits;
mod new_data;
mod tables;
mod training_data;

const SAMPLES: usize = 30;
const FEATURES: usize = 6;

/// A value of two factors about a mean of its own for each feature.
fn value(n: usize, d: usize) -> f64 {
    let (a, b) = ((n as f64 * 0.9).sin(), (n as f64 * 2.3 + 1.0).cos());
    let noise = ((n * 37 + d * 101) % 17) as f64 / 17.0 - 0.5;
    4.0 + d as f64 + a * (d as f64 - 2.0) + b * (1.5 - 0.4 * d as f64) + 0.5 * noise
}

/// A table of some samples whose cells are what `cell` writes.
fn table(samples: usize, cell: impl Fn(usize, usize) -> String) -> String {
    let names: Vec<String> = (0..FEATURES).map(|d| format!("g{d}")).collect();
    let mut text = format!("sample,{}\n", names.join(","));
    for n in 0..samples {
        let cells: Vec<String> = (0..FEATURES).map(|d| cell(n, d)).collect();
        let _ = writeln!(text, "s{n},{}", cells.join(","));
    }
    text
}

fn times(by: f64) -> String {
    table(SAMPLES, |n, d| format!("{:e}", by * value(n, d)))
}

/// Runs a command that succeeds; returns standard error.
fn said(folder: &Path, words: &str) -> String {
    let o = run(folder, words);
    let err = String::from_utf8_lossy(&o.stderr).into_owned();
    assert!(o.status.success(), "polyview {words}: {err}");
    err
}

/// The lines that begin so.
fn lines(err: &str, kind: &str) -> Vec<String> {
    err.lines()
        .filter(|l| l.starts_with(kind))
        .map(str::to_owned)
        .collect()
}

fn has(text: &str, words: &[&str]) {
    for w in words {
        assert!(text.contains(w), "'{w}' is not in: {text}");
    }
}

/// Fits the view `x` of x.csv, which succeeds; returns standard error.
fn fitted(at: &Path, more: &str) -> String {
    said(
        at,
        &format!("fit --model mofa --view x=x.csv:gaussian -k 2 --out m.pv --force {more}"),
    )
}

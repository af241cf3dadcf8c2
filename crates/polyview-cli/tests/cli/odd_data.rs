//! What is said of samples that are copies.

use std::fmt::Write;
use std::path::Path;

use crate::common::{put, said};

/// A number between 0 and 9, by place.
fn number(n: usize, d: usize) -> f64 {
    let x = (n as f64 * 12.9898 + d as f64 * 78.233).sin() * 43_758.545;
    9.0 * (x - x.floor())
}

/// Twenty samples of six numbers; `cell` may say another text.
fn table(at: &Path, name: &str, cell: impl Fn(usize, usize) -> Option<String>) {
    let mut text = "id,f0,f1,f2,f3,f4,f5\n".to_owned();
    for n in 0..20 {
        let _ = write!(text, "s{n}");
        for d in 0..6 {
            let own = format!("{:.3}", number(n, d));
            let _ = write!(text, ",{}", cell(n, d).unwrap_or(own));
        }
        text.push('\n');
    }
    put(at, name, text);
}

fn copy(from: usize, d: usize) -> Option<String> {
    Some(format!("{:.3}", number(from, d)))
}

#[test]
fn copies_of_samples_are_said() {
    let dir = tempfile::tempdir().expect("a folder");
    let at = dir.path();
    let fit = "fit --view x=x.csv:gaussian -k 1 --max-sweeps 3 --out m.pv --force";
    table(at, "x.csv", |n, d| match n {
        12 => copy(3, d),
        17 | 19 => copy(5, d),
        _ => None,
    });
    let err = said(at, fit);
    assert!(
        err.contains(
            "warning: samples that are exact copies of each other in every view: 's3' and 's12', 's5' and \
             's17', 's5' and 's19'; where"
        ),
        "{err}"
    );
    let err = said(
        at,
        "choose-k --view x=x.csv:gaussian --candidates 1 --repeats 1",
    );
    assert!(err.contains("exact copies"), "{err}");
    // other labels are other samples
    let mut labels = "id,ill\n".to_owned();
    for n in 0..20 {
        let _ = writeln!(labels, "s{n},{}", usize::from(n % 2 == 0 && n != 3));
    }
    put(at, "y.csv", labels);
    let err = said(
        at,
        "fit --model sshiba --view x=x.csv:gaussian --view y=y.csv:bernoulli -k 1 --max-sweeps 3 --out m.pv --force",
    );
    assert!(
        !err.contains("'s3' and 's12'") && err.contains("'s5' and 's17'"),
        "{err}"
    );
    // one cell that differs, or is missing in one of the two
    for cell in ["0.001", ""] {
        table(at, "x.csv", |n, d| match (n, d) {
            (12, 4) => Some(cell.to_owned()),
            (12, _) => copy(3, d),
            _ => None,
        });
        assert!(!said(at, fit).contains("copies"));
    }
    // equal rows are natural where there are few levels, or nothing but zeros
    table(at, "x.csv", |n, d| Some(((n + d) % 3).to_string()));
    assert!(!said(at, fit).contains("copies"));
    table(at, "x.csv", |n, _| (n > 15).then(|| "0".to_owned()));
    assert!(!said(at, fit).contains("copies"));
}

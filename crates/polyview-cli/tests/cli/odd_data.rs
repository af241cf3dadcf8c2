//! What is said of samples that are copies and of numbers that stand for missing values.

use std::fmt::Write;
use std::path::Path;

use crate::common::{get, ok, put, run, said};

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

fn copy(from: usize, d: usize) -> String {
    format!("{:.3}", number(from, d))
}

#[test]
fn copies_of_samples_are_said() {
    let dir = tempfile::tempdir().expect("a folder");
    let at = dir.path();
    let fit = "fit --view x=x.csv:gaussian -k 1 --max-sweeps 3 --out m.pv --force";
    table(at, "x.csv", |n, d| match n {
        12 => Some(copy(3, d)),
        17 | 19 => Some(copy(5, d)),
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
            (12, _) => Some(copy(3, d)),
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

#[test]
fn codes_of_missing_values_are_said_and_taken() {
    let dir = tempfile::tempdir().expect("a folder");
    let at = dir.path();
    let fit = "fit --view x=x.csv:gaussian -k 1 --max-sweeps 3 --out m.pv --force";
    let with = |code: &'static str| {
        move |n: usize, d: usize| ((n + 7 * d) % 9 == 2 && d > 0).then(|| code.to_owned())
    };
    for code in ["999", "-999", "9999", "-9", "-99", "-1", "1e30"] {
        table(at, "x.csv", with(code));
        let err = said(at, fit);
        let start = format!("view 'x': {code} stands in 11 cells of 5 feature(s), first 'f1'");
        assert!(err.contains(&start), "{code}: {err}");
        assert!(err.contains(&format!("say --na {code}")), "{code}: {err}");
        let err = said(at, &format!("{fit} --na {code}"));
        assert!(!err.contains("stands in"), "{code}: {err}");
    }
    // as missing as an empty cell, in a study file, too, and however it is written
    let filled = |what: &str| {
        ok(at, &format!("{what} --out m.pv --force"));
        ok(at, "impute m.pv --view x --out f.csv --force");
        get(at, "f.csv")
    };
    table(at, "empty.csv", with(""));
    let empty = filled("fit --view x=empty.csv:gaussian -k 1 --max-sweeps 9");
    table(at, "x.csv", with("-9.0"));
    assert_eq!(
        filled("fit --view x=x.csv:gaussian -k 1 --max-sweeps 9 --na -9"),
        empty
    );
    let study = ok(
        at,
        "fit --view x=x.csv:gaussian -k 1 --max-sweeps 9 --na -9 --dry-run",
    );
    assert!(study.contains("na = [\"-9\"]"), "{study}");
    put(at, "s.toml", study);
    assert_eq!(filled("fit --spec s.toml"), empty);
    let shown = |out: &str| get(at, out);
    ok(at, "project m.pv --view x=x.csv --na -9 --out a.csv");
    ok(at, "project m.pv --view x=empty.csv --out b.csv");
    assert_eq!(shown("a.csv"), shown("b.csv"));
    // a word, which without the option is none
    table(at, "x.csv", with("lost"));
    assert!(!run(at, fit).status.success());
    assert_eq!(
        filled("fit --view x=x.csv:gaussian -k 1 --max-sweeps 9 --na lost"),
        empty
    );
    // numbers of data are none
    table(at, "x.csv", |_, _| None);
    assert!(!said(at, fit).contains("stands in"));
    table(at, "x.csv", |n, d| {
        (n % 3 == 0).then(|| format!("{:.3}", -number(d, n)))
    });
    assert!(!said(at, fit).contains("stands in"));
}

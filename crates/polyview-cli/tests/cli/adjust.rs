//! Covariates and offsets at the command line.

use std::fmt::Write;
use std::path::Path;

use crate::common::{get, ok, put, run, said};

/// A view of numbers with a batch effect, counts of unlike totals, and tables that say so.
fn folder() -> tempfile::TempDir {
    let dir = tempfile::tempdir().expect("a folder");
    let (mut x, mut y) = ("id".to_owned(), "id".to_owned());
    let (mut who, mut size) = ("id,age,batch\n".to_owned(), "id,size\n".to_owned());
    for d in 0..6 {
        let _ = write!(x, ",x{d}");
        let _ = write!(y, ",y{d}");
    }
    (x, y) = (x + "\n", y + "\n");
    for n in 0_usize..36 {
        let batch = ["b1", "b2", "b2"][n % 3];
        let depth = [1.0, 3.0, 9.0, 2.0][n % 4];
        let z = ((n * 5) % 12) as f64 / 6.0 - 1.0;
        let _ = write!(x, "s{n}");
        let _ = write!(y, "s{n}");
        for d in 0_usize..6 {
            let wobble = ((n * 7 + d * 11) % 13) as f64 / 13.0 - 0.5;
            let level = if batch == "b1" { 0.0 } else { 3.0 + d as f64 };
            let sign = if d.is_multiple_of(2) { 1.0 } else { -1.0 };
            let _ = write!(x, ",{:.4}", sign * z + level + 0.4 * wobble);
            let rate = 20.0 * depth * (0.6 * sign * z).exp();
            let _ = write!(y, ",{}", (rate * (1.0 + 0.4 * wobble)).round());
        }
        (x, y) = (x + "\n", y + "\n");
        let _ = writeln!(who, "s{n},{},{batch}", 30 + (n * 7) % 31);
        let _ = writeln!(size, "s{n},{depth}");
    }
    put(dir.path(), "x.csv", x);
    put(dir.path(), "y.csv", y);
    put(dir.path(), "who.csv", who);
    put(dir.path(), "size.csv", size);
    dir
}

/// What a run that fails says, as one line.
fn fails(folder: &Path, words: &str) -> String {
    let o = run(folder, words);
    let err = String::from_utf8_lossy(&o.stderr).into_owned();
    assert!(
        !o.status.success() && !err.contains("panicked"),
        "{words}: {err}"
    );
    err.split_whitespace().collect::<Vec<_>>().join(" ")
}

const FIT: &str =
    "fit --model mofa --view x=x.csv --view y=y.csv:pln -k 3 --seed 1 --max-sweeps 60";

#[test]
fn what_a_fit_is_adjusted_for_goes_through_files_and_verbs() {
    let dir = folder();
    let at = dir.path();
    let adjusted = "--covariates who.csv --adjust age,batch --offset y=size.csv";
    ok(at, &format!("{FIT} {adjusted} --out m.pv"));
    let shown = ok(at, "inspect m.pv");
    assert!(
        shown.contains("covariates") && shown.contains("offset"),
        "{shown}"
    );
    ok(at, "export m.pv --coefficients x=b.csv");
    let table = get(at, "b.csv");
    assert!(table.starts_with("feature,age,batch=b2\n"), "{table}");
    assert_eq!(table.lines().count(), 7);
    let new = "--view x=x.csv --view y=y.csv";
    ok(
        at,
        &format!("project m.pv {new} --covariates who.csv --offset y=size.csv --out z.csv"),
    );
    let predicted = "predict m.pv --view x=x.csv --target y --covariates who.csv";
    let without = said(at, &format!("{predicted} --out p.csv"));
    assert!(without.contains("no offset is known"), "{without}");
    ok(at, &format!("{predicted} --offset y=size.csv --out q.csv"));
    assert_ne!(get(at, "p.csv"), get(at, "q.csv"));
    ok(at, "impute m.pv --view y --out i.csv");
    let e = fails(at, &format!("project m.pv {new} --out w.csv"));
    assert!(e.contains("'age'") && e.contains("--covariates"), "{e}");
}

#[test]
fn what_cannot_be_adjusted_for_is_said_with_its_place() {
    let dir = folder();
    let at = dir.path();
    put(
        at,
        "hole.csv",
        get(at, "who.csv").replacen("s7,48", "s7,", 1),
    );
    put(
        at,
        "zero.csv",
        get(at, "size.csv").replacen("s5,3", "s5,0", 1),
    );
    for (options, words) in [
        ("--covariates who.csv", vec!["--adjust"]),
        ("--adjust age", vec!["--covariates"]),
        (
            "--covariates who.csv --adjust sex",
            vec!["who.csv", "'sex'", "age, batch"],
        ),
        (
            "--covariates hole.csv --adjust age",
            vec!["hole.csv", "'s7'", "'age'", "leave"],
        ),
        ("--offset y=zero.csv", vec!["view 'y'", "'s5'", "positive"]),
        ("--offset z=log-total", vec!["'z'"]),
        ("--offset x=log-total", vec!["view 'x'", "counts"]),
        ("--offset y=who.csv", vec!["who.csv", "one"]),
    ] {
        let e = fails(at, &format!("{FIT} {options} --out m.pv"));
        for word in words {
            assert!(e.contains(word), "{options}: {e}");
        }
    }
}

#[test]
fn a_study_says_the_same() {
    let dir = folder();
    let at = dir.path();
    let adjusted = "--covariates who.csv --adjust batch --offset y=log-total";
    let study = ok(at, &format!("{FIT} {adjusted} --dry-run"));
    assert!(study.contains("covariates = \"who.csv\""), "{study}");
    put(at, "study.toml", &study);
    assert_eq!(ok(at, "fit --spec study.toml --dry-run"), study);
    ok(at, "fit --spec study.toml --out b.pv");
    ok(at, &format!("{FIT} {adjusted} --out a.pv"));
    for m in ["a", "b"] {
        ok(at, &format!("export {m}.pv --factors {m}.csv"));
    }
    assert_eq!(get(at, "a.csv"), get(at, "b.csv"));
}

//! What `choose-k` says of a comparison that is worth little.

use std::fmt::Write;
use std::path::Path;

use crate::common::{put, run};

/// Standard output and error of a run that succeeds, on one line each.
fn both(at: &Path, words: &str) -> [String; 2] {
    let o = run(at, words);
    let [out, err] = [o.stdout, o.stderr].map(|t| String::from_utf8_lossy(&t).into_owned());
    assert!(o.status.success(), "polyview {words}: {err}");
    [out, err].map(|t| t.split_whitespace().collect::<Vec<_>>().join(" "))
}

/// A number between -1 and 1 that looks random.
fn noise(i: usize) -> f64 {
    let mut x = (i as u64).wrapping_mul(0x9E37_79B9_7F4A_7C15) ^ 0x5851_F42D_4C95_7F2D;
    x ^= x >> 31;
    x = x.wrapping_mul(0xBF58_476D_1CE4_E5B9);
    x ^= x >> 29;
    (x >> 11) as f64 / (1_u64 << 52) as f64 - 1.0
}

fn table(at: &Path, name: &str, cell: impl Fn(usize, usize) -> f64) {
    let mut text = "id,a,b,c,d,e\n".to_owned();
    for n in 0..40 {
        let cells: Vec<String> = (0..5).map(|d| format!("{:.5}", cell(n, d))).collect();
        let _ = writeln!(text, "s{n},{}", cells.join(","));
    }
    put(at, name, text);
}

/// Two factors in five features.
fn cell(n: usize, d: usize) -> f64 {
    let factors = (0..2).map(|k| noise(3 * n + k) * noise(9000 + 7 * d + k));
    3.0 * factors.sum::<f64>() + 0.2 * noise(50_000 + 11 * n + d)
}

#[test]
fn numbers_that_predict_nothing_are_said() {
    let dir = tempfile::tempdir().expect("a folder");
    let at = dir.path();
    table(at, "x.csv", |n, d| noise(100 * n + d));
    let choose = "choose-k --candidates 1,2 --repeats 2 --restarts 1 --view";
    let [_, said] = both(at, &format!("{choose} x=x.csv"));
    assert!(
        said.contains("warning: no number of factors predicts hidden cells better than the mean of their feature"),
        "{said}"
    );
    table(at, "y.csv", cell);
    let [_, said] = both(at, &format!("{choose} y=y.csv"));
    assert!(!said.contains("warning"), "{said}");
}

#[test]
fn fits_that_did_not_end_are_counted() {
    let dir = tempfile::tempdir().expect("a folder");
    let at = dir.path();
    table(at, "y.csv", cell);
    let choose = "choose-k --view y=y.csv --candidates 1,2 --repeats 2 --restarts 1 --max-sweeps 2";
    let [_, said] = both(at, choose);
    assert!(
        said.contains("warning: 6 of 6 fits stopped at their limit of sweeps (max-sweeps)"),
        "{said}"
    );
    let [json, _] = both(at, &format!("{choose} --json"));
    let found: serde_json::Value = serde_json::from_str(&json).expect("JSON");
    assert_eq!(
        found["warnings"].as_array().map(Vec::len),
        Some(1),
        "{found}"
    );
}

#[test]
fn views_that_do_not_vary_are_said_as_by_fit() {
    let dir = tempfile::tempdir().expect("a folder");
    let at = dir.path();
    table(at, "x.csv", |_, _| 3.5);
    table(at, "y.csv", cell);
    let views = "--view x=x.csv --view y=y.csv";
    let words = "warning: data/x: none of its features varies";
    let [_, said] = both(at, &format!("fit {views} -k 1 --out m.pv"));
    assert_eq!(said.matches(words).count(), 1, "{said}");
    let [_, said] = both(
        at,
        &format!("choose-k {views} --candidates 1,2 --repeats 1 --restarts 1"),
    );
    assert_eq!(said.matches(words).count(), 1, "{said}");
}

/// More factors than the data carry: as in a fit a note, and the largest number.
#[test]
fn candidates_are_lowered_to_what_data_carry() {
    let dir = tempfile::tempdir().expect("a folder");
    let at = dir.path();
    table(at, "y.csv", cell);
    let choose = "choose-k --view y=y.csv --repeats 1 --restarts 1 --json --candidates";
    for (candidates, rows, note) in [
        (
            "2,500",
            vec![2, 5],
            "5 factors, the most that these data carry, in place of 500",
        ),
        ("5,7,500", vec![5], "in place of 7, 500"),
    ] {
        let [json, said] = both(at, &format!("{choose} {candidates}"));
        let found: serde_json::Value = serde_json::from_str(&json).expect("JSON");
        let factors = found["rows"].as_array().into_iter().flatten();
        let factors: Vec<u64> = factors.filter_map(|r| r["factors"].as_u64()).collect();
        assert_eq!(factors, rows, "{found}");
        assert_eq!(said.matches(note).count(), 1, "{said}");
    }
}

/// Where nearly all cells are hidden, that is why nothing is predicted, not the data.
#[test]
fn many_hidden_cells_are_the_reason() {
    let dir = tempfile::tempdir().expect("a folder");
    let mut text = "id".to_owned();
    for d in 0..12 {
        let _ = write!(text, ",f{d}");
    }
    text.push('\n');
    for n in 0..40 {
        let _ = write!(text, "s{n}");
        for d in 0..12 {
            let x = noise(n * 3 + d % 3 + 5000) + 1.2 * noise(n * 100 + d);
            let _ = write!(text, ",{x:.4}");
        }
        text.push('\n');
    }
    put(dir.path(), "x.csv", text);
    let [out, err] = both(
        dir.path(),
        "choose-k --view x=x.csv:gaussian --candidates 1,2,3 --repeats 2 --held-out 0.9",
    );
    assert!(
        err.contains("with 90 % of the cells hidden hardly any are left to learn from"),
        "{err}"
    );
    assert!(!err.contains("say nothing of one another"), "{err}");
    assert!(
        out.contains(
            "recommended: 1 factor. hidden cells are predicted alike with 1, 2 and 3 factors"
        ),
        "{out}"
    );
}

//! What is said of new data that are unlike those of the fit.

use super::{SAMPLES, fitted, has, lines, said, table, times, value};
use crate::common::put;

#[test]
fn new_data_far_off_the_training_data_are_warned_of() {
    let dir = tempfile::tempdir().expect("a folder");
    let at = dir.path();
    put(at, "x.csv", times(1.0));
    fitted(at, "--no-data");
    let project = |view: &str| format!("project m.pv --view {view} --out z.csv --force");
    // the training samples, and others like them
    assert_eq!(lines(&said(at, &project("x=x.csv")), "warning:"), [""; 0]);
    put(at, "x3.csv", table(3, |n, d| value(n + 77, d).to_string()));
    assert_eq!(lines(&said(at, &project("x=x3.csv")), "warning:"), [""; 0]);
    for (factor, words) in [
        (
            1e3,
            &[
                "far off those of the training data: in 6 of 6 feature(s)",
                "about 1000 times as large",
                "units",
            ][..],
        ),
        (60.0, &["about 60 times as large"]),
        (1e-3, &["1000 times as small"]),
    ] {
        put(at, "new.csv", times(factor));
        let err = said(at, &project("x=new.csv"));
        let found = lines(&err, "warning: view 'x': ");
        assert_eq!(found.len(), 1, "{err}");
        has(&found[0], words);
    }
    // one sample alone
    put(
        at,
        "new.csv",
        table(1, |n, d| (1e3 * value(n, d)).to_string()),
    );
    let err = said(at, &project("x=new.csv"));
    has(&err, &["warning: view 'x'", "about 1000 times as large"]);
    // one feature alone, and the worst first
    put(
        at,
        "new.csv",
        table(SAMPLES, |n, d| {
            let by = [1.0, 1.0, 1e4, 1.0, 1e2, 1.0][d];
            (by * value(n, d)).to_string()
        }),
    );
    let err = said(at, &project("x=new.csv"));
    let found = lines(&err, "warning: view 'x': ");
    has(&found[0], &["2 of 6 feature(s)", "worst first: 'g2' ("]);
    assert!(found[0].find("'g2'") < found[0].find("'g4'"), "{err}");
    // no feature as a whole, but all cells of some samples
    put(
        at,
        "odd.csv",
        table(SAMPLES, |n, d| {
            (value(n, d) * if n % 3 == 0 { 50.0 } else { 1.0 }).to_string()
        }),
    );
    let err = said(at, &project("x=odd.csv"));
    has(
        &err,
        &[
            "warning: view 'x'",
            "the new values of 10 of 30 samples, first 's0', are far off",
        ],
    );
    // powers of two where logarithms were, and the other way round
    put(
        at,
        "new.csv",
        table(SAMPLES, |n, d| (value(n, d).exp2() - 1.0).to_string()),
    );
    has(
        &said(at, &project("x=new.csv")),
        &["log2(1 + x) of them", "take logarithms"],
    );
    put(
        at,
        "x.csv",
        table(SAMPLES, |n, d| (value(n, d).exp2() - 1.0).to_string()),
    );
    put(at, "new.csv", times(1.0));
    fitted(at, "");
    has(
        &said(at, &project("x=new.csv")),
        &["look like logarithms", "2^x - 1 of them"],
    );
    // other numbers altogether
    put(at, "junk.csv", times(-1e5));
    has(
        &said(at, &project("x=junk.csv")),
        &["warning: view 'x'", "right file"],
    );
}

#[test]
fn predictions_and_counts_far_off_are_warned_of() {
    let dir = tempfile::tempdir().expect("a folder");
    let at = dir.path();
    let count = |by: f64| {
        table(SAMPLES, move |n, d| {
            (by * (value(n, d) * 0.4).exp().round()).to_string()
        })
    };
    put(at, "c.csv", count(1.0));
    put(at, "x.csv", times(1.0));
    let data = "--view x=x.csv:gaussian --view c=c.csv:pln";
    said(
        at,
        &format!("fit --model mofa {data} -k 2 --out m.pv --no-data"),
    );
    put(at, "c1000.csv", count(1000.0));
    put(at, "x1000.csv", times(1000.0));
    let predict = "predict m.pv --out z.csv --force";
    let err = said(at, &format!("{predict} --target x --view c=c.csv"));
    assert_eq!(lines(&err, "warning:"), [""; 0]);
    let err = said(at, &format!("{predict} --target x --view c=c1000.csv"));
    has(
        &err,
        &[
            "warning: view 'c': the new values are far off",
            "1000 times as large",
        ],
    );
    let err = said(at, &format!("{predict} --target c --view x=x1000.csv"));
    has(
        &err,
        &[
            "warning: view 'x': the new values are far off",
            "1000 times as large",
        ],
    );
}

#[test]
fn new_data_that_do_not_vary_are_warned_of() {
    let dir = tempfile::tempdir().expect("a folder");
    let at = dir.path();
    // about zero, where a table of zeros is not far off
    let about_zero = |n: usize, d: usize| (value(n, d) - 4.0 - d as f64).to_string();
    put(at, "x.csv", table(SAMPLES, about_zero));
    put(at, "y.csv", times(1.0));
    put(at, "zero.csv", table(SAMPLES, |_, _| "0".into()));
    put(
        at,
        "same.csv",
        table(6, |_, d| (0.1 * d as f64).to_string()),
    );
    for model in ["bibfa", "mofa", "rank"] {
        let rank = if model == "rank" { "rank" } else { "gaussian" };
        let views = format!("--view x=x.csv:{rank} --view y=y.csv:{rank}");
        said(
            at,
            &format!("fit --model {model} {views} -k 2 --out m.pv --force --no-data"),
        );
        for (file, words) in [
            (
                "zero.csv",
                "warning: view 'x': all new values are 0, where the training data vary",
            ),
            (
                "same.csv",
                "warning: view 'x': each feature has one and the same new value in all samples",
            ),
        ] {
            for verb in ["project m.pv", "predict m.pv --target y"] {
                let err = said(at, &format!("{verb} --view x={file} --out z.csv --force"));
                has(&err, &[words, "right file"]);
                assert_eq!(lines(&err, "warning: view 'x'").len(), 1, "{err}");
            }
        }
        let err = said(at, "project m.pv --view x=x.csv --out z.csv --force");
        assert_eq!(lines(&err, "warning:"), [""; 0]);
        // few samples may well be alike
        put(at, "few.csv", table(3, |_, _| "0".into()));
        let err = said(at, "project m.pv --view x=few.csv --out z.csv --force");
        assert_eq!(lines(&err, "warning:"), [""; 0]);
    }
}

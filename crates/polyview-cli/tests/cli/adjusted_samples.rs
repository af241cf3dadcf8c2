//! Covariates and sizes of single samples that are far off, missing, or no sizes at all.

use crate::adjust::folder;
use crate::common::{fails, get, ok, put, said};

const FIT: &str =
    "fit --model mofa --view x=x.csv --view y=y.csv:pln -k 2 --seed 1 --max-sweeps 30";

/// Standard error of a run that fails with an exit code, as one line.
fn refused(at: &std::path::Path, words: &str, code: i32) -> String {
    let err = fails(at, words, code);
    err.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// One sample of which a covariate or a size is absurd is named, where those of the others are as in training.
#[test]
fn single_samples_with_absurd_covariates_and_sizes_are_named() {
    let dir = folder();
    let at = dir.path();
    let about = "--covariates who.csv --adjust age --offset y=size.csv";
    ok(at, &format!("{FIT} {about} --out m.pv"));
    let predict = "predict m.pv --view x=x.csv --target y --out p.csv --force";
    let quiet = said(
        at,
        &format!("{predict} --covariates who.csv --offset y=size.csv"),
    );
    assert!(!quiet.contains("no mistake"), "{quiet}");
    put(
        at,
        "far.csv",
        get(at, "who.csv").replacen("s7,48", "s7,5000", 1),
    );
    let text = said(
        at,
        &format!("{predict} --covariates far.csv --offset y=size.csv"),
    );
    assert!(
        text.contains("the covariate 'age' of sample 's7' ("),
        "{text}"
    );
    assert!(text.contains("see that it is no mistake"), "{text}");
    for (size, words) in [
        ("300000", "view 'y': the size of sample 's5' ("),
        ("0.00001", "view 'y': the size of sample 's5' ("),
    ] {
        put(
            at,
            "large.csv",
            get(at, "size.csv").replacen("s5,3", &format!("s5,{size}"), 1),
        );
        let text = said(
            at,
            &format!("{predict} --covariates who.csv --offset y=large.csv"),
        );
        assert!(
            text.contains(words) && text.contains("leave the sample out"),
            "{text}"
        );
    }
    // several, of which the worst is told
    put(
        at,
        "two.csv",
        get(at, "size.csv")
            .replacen("s5,3", "s5,300000", 1)
            .replacen("s8,1", "s8,900000", 1),
    );
    let text = said(
        at,
        &format!("{predict} --covariates who.csv --offset y=two.csv"),
    );
    assert!(
        text.contains("the size of 2 of 36 samples, most of all 's8' ("),
        "{text}"
    );
}

/// A file that is both metadata and covariates is one file with holes as well.
#[test]
fn a_hole_in_a_file_that_is_metadata_and_covariates_is_found() {
    let dir = folder();
    let at = dir.path();
    put(
        at,
        "hole.csv",
        get(at, "who.csv").replacen("s7,48", "s7,", 1),
    );
    let hole = "--metadata hole.csv --covariates hole.csv";
    let due = "hole.csv: sample 's7' has no value in the column 'age'";
    let text = refused(at, &format!("{FIT} {hole} --adjust age --out m.pv"), 2);
    assert!(text.contains(due), "{text}");
    ok(
        at,
        &format!("{FIT} --covariates who.csv --adjust age --out m.pv"),
    );
    let text = refused(
        at,
        &format!("predict m.pv --view x=x.csv --target y {hole} --out p.csv"),
        2,
    );
    assert!(text.contains(due), "{text}");
    // two files that say different things are still two
    let text = refused(
        at,
        &format!("{FIT} --metadata who.csv --covariates hole.csv --adjust age --out n.pv"),
        2,
    );
    assert!(text.contains("both have a column 'age'"), "{text}");
}

/// A size of 0 in a table is one of the table, whatever the offset was in the fit.
#[test]
fn sizes_of_zero_are_those_of_the_table_that_has_them() {
    let dir = folder();
    let at = dir.path();
    put(
        at,
        "zero.csv",
        get(at, "size.csv").replacen("s5,3", "s5,0", 1),
    );
    for offset in ["log-total", "size.csv"] {
        ok(at, &format!("{FIT} --offset y={offset} --out m.pv --force"));
        let text = refused(
            at,
            "predict m.pv --view x=x.csv --target y --offset y=zero.csv --out p.csv",
            1,
        );
        assert!(
            text.contains("zero.csv: view 'y': the size of sample 's5' is 0")
                && text.contains("positive"),
            "{text}"
        );
    }
    let text = refused(at, &format!("{FIT} --offset y=zero.csv --out n.pv"), 1);
    assert!(
        text.contains("zero.csv: view 'y': the size of sample 's5' is 0"),
        "{text}"
    );
}

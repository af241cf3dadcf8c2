//! What is said of how a fit ended, and of what its file does not hold.

use super::{fitted, has, said, times};
use crate::common::{fails, put, run};

#[test]
fn who_chose_the_algorithm_is_named() {
    let dir = tempfile::tempdir().expect("a folder");
    let at = dir.path();
    put(at, "x.csv", times(1.0));
    for more in [
        "--view x=x.csv:rank",
        "--view x=x.csv:gaussian --engine gibbs",
    ] {
        let err = fails(
            at,
            &format!("fit --model mofapy2 {more} -k 2 --out m.pv"),
            1,
        );
        has(&err, &["the model mofapy2"]);
        assert!(!err.contains("faithful"), "{err}");
    }
    let settled = "fit --model mofapy2 --view x=x.csv:gaussian --settle x -k 2 --out m.pv";
    let err = fails(at, settled, 1);
    assert!(
        err.contains("the model mofapy2") && !err.contains("faithful"),
        "{err}"
    );
    // whoever wrote it is told so
    put(
        at,
        "study.toml",
        "[[data]]\nname = \"x\"\npath = \"x.csv\"\nlikelihood = \"rank\"\n\
         [model]\nmodel = \"mofa\"\nfactors = 2\nalgorithm = \"faithful\"\n",
    );
    let err = fails(at, "fit --spec study.toml --out m.pv", 1);
    has(&err, &["algorithm = \"faithful\""]);
}

#[test]
fn the_mend_of_a_fit_that_stopped_is_that_of_the_command() {
    let dir = tempfile::tempdir().expect("a folder");
    let at = dir.path();
    put(at, "x.csv", times(1.0));
    let err = fitted(at, "--max-sweeps 2");
    has(
        &err,
        &[
            "limit of 2 sweeps",
            "note: fit again with a larger --max-sweeps",
            "--checkpoint FILE",
        ],
    );
    let err = fitted(at, "--max-sweeps 2 --checkpoint c.ckpt");
    has(
        &err,
        &["note: go on with --resume c.ckpt and a larger --max-sweeps"],
    );
    let err = fitted(at, "--engine stochastic --batch 10 --epochs 1");
    has(
        &err,
        &[
            "limit of 1 epochs",
            "note: fit again with a larger --epochs",
        ],
    );
    assert!(!err.contains("--resume"), "{err}");
}

#[test]
fn models_without_their_data_say_how_to_have_them() {
    let dir = tempfile::tempdir().expect("a folder");
    let at = dir.path();
    put(at, "x.csv", times(1.0));
    for (more, mend, other) in [
        ("--no-data", "without --no-data", "--in-memory"),
        (
            "--engine stochastic --batch 10",
            "--in-memory",
            "again, or save",
        ),
    ] {
        fitted(at, more);
        for words in [
            "inspect m.pv --checks",
            "impute m.pv --view x --out f.csv",
            "report m.pv --checks --out r.html",
        ] {
            let err = fails(at, words, 1);
            assert!(err.contains(mend) && !err.contains(other), "{words}: {err}");
        }
        let text = String::from_utf8(run(at, "inspect m.pv").stdout).expect("text");
        let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
        has(
            &text,
            &["data not kept: ", mend, "no table of variance explained"],
        );
    }
    // batches that the factors cannot start from
    let err = fails(
        at,
        "fit --view x=x.csv:gaussian -k 6 --engine stochastic --batch 0.1 --out n.pv",
        1,
    );
    has(
        &err,
        &["too small for 6 factors", "--batch", "more than 6 samples"],
    );
    said(
        at,
        "fit --view x=x.csv:gaussian -k 6 --engine stochastic --batch 7 --out n.pv",
    );
}

/// A fit that kept all it was offered may have found fewer factors than there are.
#[test]
fn a_fit_that_kept_all_factors_hints_at_more() {
    let dir = tempfile::tempdir().expect("a folder");
    let at = dir.path();
    put(at, "x.csv", times(1.0));
    let hint =
        "note: all 2 factors that were offered were kept: there may be more; offer more with -k";
    let err = fitted(at, "");
    assert_eq!(err.matches(hint).count(), 1, "{err}");
    assert!(!fitted(at, "--quiet").contains("offered"));
    // not where factors were removed, nor where none are removed, nor where the data
    // carry no more
    for more in ["-k 5", "-k 6", "-k 2 --no-pruning"] {
        let words = format!("fit --model bibfa --view x=x.csv:gaussian --out m.pv --force {more}");
        let err = said(at, &words);
        assert!(!err.contains("offered"), "{more}: {err}");
    }
}

//! What is said of how a fit ended, and of what its file does not hold.

use std::fmt::Write;

use super::{fitted, has, said, table, times, value};
use crate::common::{fails, ok, put, run};

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
    let err = fitted(
        at,
        "--engine stochastic --batch 10 --epochs 1 --exact-sweeps 1",
    );
    has(
        &err,
        &[
            "limit of 1 exact sweeps (exact-sweeps), which come after 1 epochs",
            "note: fit again with larger --epochs and --exact-sweeps",
        ],
    );
    assert!(!err.contains("--resume"), "{err}");
}

/// In nats and in what users read: the bound, and the factor that moves most. What is left is
/// told of fits that came to their end as well.
#[test]
fn a_fit_at_its_limit_says_what_still_moves() {
    let dir = tempfile::tempdir().expect("a folder");
    let at = dir.path();
    put(at, "x.csv", times(1.0));
    let err = fitted(at, "--max-sweeps 8 --tolerance 1e-300 --no-pruning");
    has(
        &err,
        &[
            "limit of 8 sweeps",
            "factors may still change (the bound by",
            "nats per sweep,",
            "% of their size); allow more",
        ],
    );
    let text = ok(at, "inspect m.pv");
    let bound = text.lines().find(|l| l.starts_with("bound"));
    let told = bound.expect("a line of the bound");
    assert!(
        told.contains("nats are left") || told.contains("rising by"),
        "{told}"
    );
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

/// A factor of a single column is no finding.
#[test]
fn a_factor_that_repeats_one_feature_is_said() {
    let dir = tempfile::tempdir().expect("a folder");
    let at = dir.path();
    let wave =
        |n: usize, d: usize| ((n as f64 * 12.9898 + d as f64 * 78.233).sin() * 43_758.545).fract();
    put(at, "x.csv", table(120, |n, d| value(n, d).to_string()));
    let about = |age: &dyn Fn(usize) -> f64| {
        let mut text = "sample,age,dose\n".to_owned();
        for n in 0..120 {
            let _ = writeln!(text, "s{n},{},{}", age(n), 0.3 * wave(n, 5));
        }
        put(at, "about.csv", text);
        // the noise of both is that of the dose, so that something has to take the rest of the age
        let fit = "fit --view x=x.csv --view about=about.csv --noise view --scaling none -k 4";
        let err = said(at, &format!("{fit} --out m.pv --force"));
        [err, ok(at, "inspect m.pv")].map(|text| {
            let words: Vec<&str> = text.split_whitespace().collect();
            words.join(" ")
        })
    };
    let [err, text] = about(&|n| 40.0 + 10.0 * wave(n, 3));
    assert!(
        err.contains(
            "warning: weights/about: factor(s) 1 act in no other view, and here on one feature alone"
        ),
        "{err}"
    );
    assert!(
        text.contains("about: factor(s) 1 act in no other view and repeat one feature"),
        "{text}"
    );
    // what the other view explains is a finding
    let explained = |n: usize| 2.0 * value(n, 0) - value(n, 5) + 0.2 * wave(n, 3);
    let [err, text] = about(&explained);
    assert!(
        !err.contains("one feature") && !text.contains("one feature"),
        "{err} {text}"
    );
}

/// A column of labels that counts several times pays for a factor of its own.
#[test]
fn factors_that_repeat_weighted_labels_are_said() {
    let dir = tempfile::tempdir().expect("a folder");
    let at = dir.path();
    let wave =
        |n: usize, d: usize| ((n as f64 * 12.9898 + d as f64 * 78.233).sin() * 43_758.545).fract();
    put(at, "x.csv", table(120, |n, d| value(n, d).to_string()));
    let mut text = "sample,b\n".to_owned();
    for n in 0..120 {
        let _ = writeln!(text, "s{n},{}", u8::from(wave(n, 3) > 0.0));
    }
    put(at, "b.csv", text);
    let fit = "fit --model sshiba --view x=x.csv:gaussian --view b=b.csv:bernoulli -k 4 --out m.pv --force";
    for (weight, says) in [("--weight b=20", true), ("", false)] {
        let err = said(at, &format!("{fit} {weight}"));
        let err = [err, ok(at, "inspect m.pv")].map(|text| {
            let words: Vec<&str> = text.split_whitespace().collect();
            words.join(" ")
        });
        assert_eq!(
            err[0].contains("they repeat its training labels"),
            says,
            "{err:?}"
        );
        assert_eq!(
            err[1].contains("repeat the labels of one column"),
            says,
            "{err:?}"
        );
    }
}

/// A fit by batches ends by epochs.
#[test]
fn the_limit_of_epochs_is_called_so() {
    let dir = tempfile::tempdir().expect("a folder");
    let at = dir.path();
    put(at, "x.csv", table(60, |n, d| format!("{:.4}", value(n, d))));
    let fit = "fit --view x=x.csv --engine stochastic --batch 20 --epochs 2 --exact-sweeps 2 -k 2 --out m.pv";
    let text = ok(at, fit).replace('\n', " ");
    let text = text + &ok(at, "inspect m.pv").replace('\n', " ");
    assert_eq!(
        text.matches("stopped at the limit of epochs").count(),
        2,
        "{text}"
    );
    assert!(!text.contains("limit of sweeps"), "{text}");
}

/// Views on disk are looked at like those in memory.
#[test]
fn copies_and_codes_on_disk_are_said() {
    let dir = tempfile::tempdir().expect("a folder");
    let at = dir.path();
    let cell = |n: usize, d: usize| match (n, d) {
        (4 | 9 | 17, 2) => "999".to_owned(),
        // one sample twice
        (11, _) => format!("{:.4}", value(7, d)),
        _ => format!("{:.4}", value(n, d)),
    };
    put(at, "x.csv", table(60, cell));
    put(at, "y.csv", table(60, cell));
    let fit = "fit --view x=x.csv:gaussian --view y=y.csv:gaussian -k 2 --out m.pv --force";
    for engine in ["", "--engine stochastic --batch 20 --epochs 2"] {
        let err = said(at, &format!("{fit} {engine}"));
        let err = err.split_whitespace().collect::<Vec<_>>().join(" ");
        for part in [
            "warning: samples that are exact copies of each other in every view: 's7' and 's11'",
            "warning: view 'x': 999 stands in 3 cells",
            "warning: data/y: it holds the very values of view 'x'",
        ] {
            assert!(err.contains(part), "{engine}, {part}: {err}");
        }
    }
}

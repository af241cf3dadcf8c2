//! Counts at the command line: what is guessed, refused, noted and scored.

use std::fmt::Write;
use std::path::Path;

use crate::common::{fails, get, ok, put, run, said};
use crate::transcripts::transcript;

/// A table of `rows` samples of `f`, with holes where it gives nothing.
pub fn table(rows: usize, columns: usize, f: impl Fn(usize, usize) -> Option<f64>) -> String {
    let mut text = "id".to_owned();
    for d in 0..columns {
        let _ = write!(text, ",f{d}");
    }
    text.push('\n');
    for n in 0..rows {
        let _ = write!(text, "s{n}");
        for d in 0..columns {
            let x = f(n, d).map_or_else(String::new, |x| x.to_string());
            let _ = write!(text, ",{x}");
        }
        text.push('\n');
    }
    text
}

/// Counts that follow one factor.
fn count(n: usize, d: usize) -> f64 {
    let z = ((n * 5) % 12) as f64 / 6.0 - 1.0;
    let sign = if d.is_multiple_of(2) { 1.0 } else { -1.0 };
    let noise = ((n * 7 + d * 3) % 5) as f64;
    (6.0 * (1.2 * sign * z).exp() + noise).floor()
}

/// Counts, successes, their trials and real numbers.
fn folder() -> tempfile::TempDir {
    let dir = tempfile::tempdir().expect("a folder");
    let hole = |n: usize, d: usize| n == 3 && d == 1 || n == 10 && d == 4;
    let seen = |n: usize, d: usize| (!hole(n, d)).then(|| count(n, d));
    put(dir.path(), "y.csv", table(24, 6, seen));
    put(
        dir.path(),
        "truth.csv",
        table(24, 6, |n, d| Some(count(n, d))),
    );
    let trials = |n: usize, d: usize| Some((20 + (n + d) % 9) as f64);
    put(dir.path(), "trials.csv", table(24, 6, trials));
    let successes = |n, d| seen(n, d).map(|y| y.min(20.0));
    put(dir.path(), "wins.csv", table(24, 6, successes));
    let real = |n: usize, d: usize| Some(((n * 5) % 12) as f64 / 6.0 + 0.1 * ((n + d) % 3) as f64);
    put(dir.path(), "x.csv", table(24, 5, real));
    dir
}

#[test]
fn transcripts_of_counts() {
    let dir = folder();
    let lines = [
        "fit --model mofa --view y=y.csv:nb --view wins=wins.csv --trials wins=trials.csv --view x=x.csv -k 2 --seed 1 --max-sweeps 40 --out m.pv",
        "inspect m.pv",
        "impute m.pv --view y --out filled.csv --lower low.csv --upper high.csv",
        "impute m.pv --view wins --out wins-filled.csv",
        "predict m.pv --view x=x.csv --view wins=wins.csv --trials wins=trials.csv --target y --out p.csv --sd sd.csv",
        "score --truth truth.csv --predicted p.csv --kind count",
        "score --truth truth.csv --predicted p.csv --kind count --sd sd.csv --json",
        "export m.pv --inclusion y=inclusion.csv",
        "fit --model mofa --view y=y.csv -k 1 --dry-run",
    ];
    let text: Vec<String> = lines.iter().map(|l| transcript(dir.path(), l)).collect();
    insta::assert_snapshot!("counts", text.join("\n"));
    // whole ends from zero on; a success is out of its trials
    let cell = |file: &str, n: usize, d: usize| -> f64 {
        let text = get(dir.path(), file);
        let line = text.lines().nth(n + 1).expect("a line").to_owned();
        let word = line.split(',').nth(d + 1).expect("a cell").to_owned();
        word.parse().expect("a number")
    };
    for (n, d) in [(3, 1), (10, 4)] {
        let (low, high) = (cell("low.csv", n, d), cell("high.csv", n, d));
        assert!(low >= 0.0 && low.fract() == 0.0 && high.fract() == 0.0);
        let filled = cell("filled.csv", n, d);
        assert!(low <= filled && filled <= high);
        assert!((1.0..29.0).contains(&cell("wins-filled.csv", n, d)));
    }
    assert!((0.0..=1.0).contains(&cell("inclusion.csv", 0, 0)));
    ok(dir.path(), "report m.pv --out r.html --pictures p");
    assert!(get(dir.path(), "r.html").contains("inclusion"));
}

/// The same from a study file.
#[test]
fn a_study_names_trials_and_begins_from_the_model() {
    let dir = folder();
    let study = "[model]\nmodel = \"mofa\"\nfactors = 2\n[model.vb]\nmax-sweeps = 5\n\
        [[data]]\nname = \"wins\"\npath = \"wins.csv\"\nlikelihood = \"binomial\"\ntrials = \"trials.csv\"\n\
        [[data]]\nname = \"x\"\npath = \"x.csv\"\n";
    put(dir.path(), "study.toml", study);
    let complete = ok(dir.path(), "fit --spec study.toml --dry-run");
    for word in [
        "trials = \"trials.csv\"",
        "selection = \"spike-and-slab\"",
        "scaling = \"view\"",
        "by-bound = true",
        "likelihood = \"gaussian\"",
    ] {
        let trials = word.replace("\"trials.csv\"", "\"");
        assert!(
            complete.contains(word) || complete.contains(&trials),
            "{word}: {complete}"
        );
    }
    put(dir.path(), "complete.toml", &complete);
    ok(dir.path(), "fit --spec complete.toml --out a.pv");
    ok(dir.path(), "fit --spec study.toml --out b.pv");
    let bound = |m: &str| {
        let text = ok(dir.path(), &format!("inspect {m}"));
        text.lines()
            .find(|l| l.starts_with("bound"))
            .map(str::to_owned)
    };
    assert!(bound("a.pv").is_some() && bound("a.pv") == bound("b.pv"));
}

/// Expects a fit of counts to fail with these words.
fn refused(folder: &Path, options: &str, words: &[&str]) {
    let code = if words.contains(&"usage") { 2 } else { 1 };
    let err = fails(
        folder,
        &format!("fit --model mofa {options} -k 1 --out m.pv"),
        code,
    );
    for w in words.iter().filter(|w| **w != "usage") {
        assert!(err.contains(w), "'{w}' is not in: {err}");
    }
    assert!(!folder.join("m.pv").exists());
}

#[test]
fn counts_that_are_none() {
    let dir = folder();
    let f = dir.path();
    let with =
        |x: &str| table(24, 6, |n, d| Some(count(n, d))).replacen("s2,", &format!("s2,{x},"), 1);
    let with = |x: &str| {
        // one cell too many: the last one goes
        let text = with(x);
        let cut = |l: &str| {
            let (head, _) = l.rsplit_once(',').expect("cells");
            if l.starts_with("s2,") {
                head.to_owned()
            } else {
                l.to_owned()
            }
        };
        text.lines().map(|l| cut(l) + "\n").collect::<String>()
    };
    for (x, words) in [
        ("-1", ["-1 is negative", "correct it"]),
        ("2.5", ["2.5 is not a whole number", "gaussian"]),
        ("3e9", ["3000000000 is above 1000000000", "gaussian"]),
    ] {
        put(f, "bad.csv", with(x));
        for likelihood in ["poisson", "negative-binomial"] {
            let [a, b] = words;
            refused(
                f,
                &format!("--view y=bad.csv:{likelihood}"),
                &["bad.csv", "sample 's2'", "column 'f0'", a, b],
            );
        }
    }
    put(f, "large.csv", with("2000000"));
    let o = run(
        f,
        "fit --model mofa --view y=large.csv:nb -k 1 --max-sweeps 3 --out large.pv",
    );
    let err = String::from_utf8_lossy(&o.stderr).into_owned();
    assert!(o.status.success(), "{err}");
    assert!(
        err.contains("1 count(s) above 1000000") && err.contains("sample 's2'"),
        "{err}"
    );
    let journal = ok(f, "inspect large.pv --journal");
    assert!(journal.contains("above 1000000"), "{journal}");
    // what looks like counts is not taken for counts; large ones have a likelihood of their own
    for (file, likelihood) in [
        ("y.csv", "negative-binomial"),
        ("large.csv", "poisson-log-normal"),
    ] {
        let fit =
            format!("fit --model mofa --view y={file} -k 1 --max-sweeps 3 --force --out g.pv");
        let o = run(f, &fit);
        let err = String::from_utf8_lossy(&o.stderr).into_owned();
        assert!(
            err.contains("'y' is gaussian") && err.contains(&format!("y={file}:{likelihood}")),
            "{err}"
        );
    }
}

#[test]
fn trials_that_do_not_fit() {
    let dir = folder();
    let f = dir.path();
    let wins = "--view wins=wins.csv:binomial";
    refused(
        f,
        wins,
        &[
            "wins.csv",
            "sample 's1'",
            "column 'f0'",
            "--trials wins=FILE",
        ],
    );
    let text = get(f, "trials.csv");
    let first = text.lines().nth(2).expect("a line").to_owned();
    for (cell, words) in [
        ("1", ["1 trial(s) are below", "correct one"]),
        ("", ["no number of trials", "leave both cells empty"]),
        ("20.5", ["20.5 is no number of trials", "whole number"]),
    ] {
        let (head, rest) = first.split_once(',').expect("cells");
        let (_, rest) = rest.split_once(',').expect("cells");
        put(
            f,
            "few.csv",
            text.replace(&first, &format!("{head},{cell},{rest}")),
        );
        let [a, b] = words;
        refused(
            f,
            &format!("{wins} --trials wins=few.csv"),
            &["few.csv", "sample 's1'", "column 'f0'", a, b],
        );
    }
    refused(
        f,
        "--view y=y.csv:nb --trials y=trials.csv",
        &["usage", "not negative-binomial", "y=y.csv:binomial"],
    );
    refused(
        f,
        "--view y=y.csv:nb --trials z=trials.csv",
        &["usage", "no view 'z'"],
    );
    refused(
        f,
        "--view y=y.csv:nb --trials trials.csv",
        &["usage", "--trials", "VIEW=FILE"],
    );
    ok(
        f,
        "fit --model mofa --view wins=wins.csv --trials wins=trials.csv --view x=x.csv -k 1 --max-sweeps 3 --out m.pv",
    );
    let project = |more: &str| format!("project m.pv {more} --out z.csv --force");
    let err = fails(f, &project("--view wins=wins.csv"), 1);
    assert!(err.contains("--trials wins=FILE"), "{err}");
    let err = fails(f, &project("--view x=x.csv --trials x=trials.csv"), 2);
    assert!(err.contains("'x' is gaussian"), "{err}");
    let err = fails(f, &project("--view x=x.csv --trials wins=trials.csv"), 2);
    assert!(err.contains("--view wins=FILE"), "{err}");
    ok(f, &project("--view wins=wins.csv --trials wins=trials.csv"));
}

#[test]
fn softplus_rates_have_no_sampler() {
    let dir = folder();
    let f = dir.path();
    // refused before a file is looked for
    let err = fails(
        f,
        "fit --model mofa --engine gibbs --view y=none.csv:poisson{rate=softplus} -k 1 --out m.pv",
        1,
    );
    assert!(
        err.contains("negative-binomial") && err.contains("'y'"),
        "{err}"
    );
    let err = fails(f, "fit --view y=y.csv:poisson -k 1 --out m.pv", 2);
    assert!(err.contains("--model mofa"), "{err}");
}

#[test]
fn scores_of_counts_that_cannot_be() {
    let dir = folder();
    let f = dir.path();
    put(f, "p.csv", table(24, 6, |n, d| Some(count(n, d) + 0.5)));
    put(f, "below.csv", table(24, 6, |n, d| Some(count(n, d) - 7.0)));
    let score = |more: &str| format!("score --kind count {more}");
    let err = fails(f, &score("--truth truth.csv --predicted below.csv"), 1);
    assert!(
        err.contains("below.csv") && err.contains("expected count"),
        "{err}"
    );
    let err = fails(f, &score("--truth p.csv --predicted truth.csv"), 1);
    assert!(
        err.contains("p.csv") && err.contains("is no count"),
        "{err}"
    );
    let err = fails(
        f,
        "score --kind real --truth truth.csv --predicted p.csv --sd p.csv",
        2,
    );
    assert!(err.contains("--kind count"), "{err}");
    let text = ok(
        f,
        &score("--truth truth.csv --predicted p.csv --lower truth.csv --upper p.csv"),
    );
    assert!(
        text.contains("share inside the intervals") && text.contains("1.000"),
        "{text}"
    );
}

#[test]
fn successes_are_drawn_out_of_trials() {
    let dir = folder();
    let f = dir.path();
    ok(
        f,
        "fit --model mofa --view wins=wins.csv:binomial --trials wins=trials.csv -k 1 \
         --max-sweeps 5 --out m.pv",
    );
    ok(f, "simulate --from m.pv --samples 9 --out-dir own");
    let numbers = |file: &str| -> Vec<f64> {
        let text = get(f, file);
        let cells = text.lines().skip(1).flat_map(|l| l.split(',').skip(1));
        cells.map(|c| c.parse().expect("a number")).collect()
    };
    let (wins, trials) = (numbers("own/wins.csv"), numbers("own/wins-trials.csv"));
    assert!(wins.iter().zip(&trials).all(|(y, n)| y <= n));
    assert!(trials.iter().any(|n| *n > 1.0));
    // they go back in
    ok(
        f,
        "project m.pv --view wins=own/wins.csv --trials wins=own/wins-trials.csv --out z.csv",
    );
    ok(
        f,
        "simulate --from m.pv --samples 9 --trials wins=7 --out-dir seven",
    );
    assert!(numbers("seven/wins-trials.csv").iter().all(|n| *n == 7.0));
    for (trials, code, word) in [
        ("wins=0", 2, "trials"),
        ("wins=x", 2, "VIEW=N"),
        ("x=3", 1, "no view 'x'"),
    ] {
        let line = format!("simulate --from m.pv --trials {trials} --out-dir no");
        let err = fails(f, &line, code);
        assert!(err.contains(word), "{err}");
    }
}

/// Counts of about 20 that vary as Poisson counts do, or several times as much, are told apart at
/// the end of a fit, and in its journal.
#[test]
fn counts_that_vary_more_than_poisson_counts_are_warned_of() {
    let dir = tempfile::tempdir().expect("a folder");
    let at = dir.path();
    // a uniform of this variance
    let spread = |times: f64| {
        let width = (12.0 * 20.0 * times).sqrt();
        table(60, 12, move |n, d| {
            let u = ((n * 7919 + d * 104_729 + n * n * 31 + n * d * 617) % 1009) as f64 / 1009.0;
            Some((20.0 + width * (u - 0.5)).round().max(0.0))
        })
    };
    for (times, warned) in [(1.0, false), (5.0, true)] {
        put(at, "y.csv", spread(times));
        for engine in [
            "vb",
            "gibbs --weights ard --chains 1 --warm-up 20 --sweeps 40",
        ] {
            let fit = format!("fit --model mofa --engine {engine} --view y=y.csv:poisson -k 1");
            let said = said(at, &format!("{fit} --force --out m.pv"));
            let told = |text: &str| text.contains("times as much as Poisson counts");
            assert_eq!(told(&said), warned, "{times} {engine}: {said}");
            assert_eq!(told(&ok(at, "inspect m.pv --journal")), warned);
        }
        let fit = "fit --model mofa --view y=y.csv:nb -k 1 --force --out m.pv";
        assert!(!said(at, fit).contains("Poisson"), "{times}");
    }
}

#[test]
fn weights_that_are_drawn_one_by_one_are_refused_around_tangents() {
    let dir = folder();
    let at = dir.path();
    let fit = "fit --model mofa --engine gibbs --view y=y.csv:poisson -k 1 --chains 1 --warm-up 2 --sweeps 10";
    let err = fails(at, &format!("{fit} --out m.pv"), 1);
    let err = err.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(
        err.contains("view 'y'") && err.contains("spike-and-slab") && err.contains("--weights ard"),
        "{err}"
    );
    ok(at, &format!("{fit} --weights ard --out m.pv"));
}

/// A view whose deviance cannot be computed says so, and keeps the words of the table.
#[test]
fn a_deviance_that_cannot_be_told_is_said() {
    let dir = tempfile::tempdir().expect("a folder");
    let at = dir.path();
    let line = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
    let usual = |n: usize, d: usize| ((n * 7 + d * 5 + n * d) % 6) as f64;
    let fit = "fit --model mofa --view c=c.csv:nb -k 1 --seed 1 --max-sweeps 20 --force --out m.pv";
    let why = "c: no deviance can be told";
    // counts that are all the same
    put(at, "c.csv", table(40, 3, |_, _| Some(3.0)));
    let text = line(&ok(at, fit));
    for words in ["deviance: of the data", "view deviance all 1", why] {
        assert!(text.contains(words), "{words}: {text}");
    }
    let json: serde_json::Value =
        serde_json::from_str(&ok(at, "inspect m.pv --json")).expect("JSON");
    assert!(json["views"][0]["explained"]["deviance"].is_null());
    let shown = line(&ok(at, "inspect m.pv"));
    assert!(shown.contains(why), "{shown}");
    put(at, "c.csv", table(40, 3, |n, d| Some(usual(n, d))));
    let text = line(&ok(at, fit));
    assert!(
        text.contains("view deviance all 1") && !text.contains(why),
        "{text}"
    );
    // what it is of counts is said
    let shown = line(&ok(at, "inspect m.pv"));
    assert!(
        shown.contains("deviance of c: the share of 2 sum("),
        "{shown}"
    );
}

/// What was counted in one sample alone is warned of.
#[test]
fn features_that_were_counted_once_are_warned_of() {
    let dir = tempfile::tempdir().expect("a folder");
    let at = dir.path();
    let seen = |n: usize, d: usize| (d != 3 || n == 7).then(|| count(n, d));
    put(at, "c.csv", table(24, 5, seen));
    let fit = "fit --model mofa --view c=c.csv:nb -k 1 --max-sweeps 9 --force --out m.pv";
    let words = "1 feature(s) of counts were observed in one sample alone, first 'f3'";
    let err = said(at, fit);
    assert!(err.contains(words), "{err}");
    // each feature is told of once
    assert_eq!(err.matches("'f3'").count(), 1, "{err}");
    let none = |n: usize, d: usize| Some(if d == 2 { 0.0 } else { count(n, d) });
    put(at, "none.csv", table(24, 5, none));
    let err = said(at, &fit.replace("c.csv", "none.csv"));
    assert!(
        err.contains("(1 without a count above zero), first 'f2'"),
        "{err}"
    );
    assert_eq!(err.matches("'f2'").count(), 1, "{err}");
    put(at, "c.csv", table(24, 5, |n, d| Some(count(n, d))));
    let err = said(at, fit);
    assert!(!err.contains("one sample alone"), "{err}");
}

/// A prior of the factors that cannot be drawn around tangents is named, before the fit begins.
#[test]
fn factors_that_are_drawn_one_by_one_are_refused_around_tangents() {
    let dir = folder();
    let at = dir.path();
    let fit = "fit --model sshiba --engine gibbs --view x=x.csv:gaussian --view y=y.csv:poisson -k 2 --chains 1 \
               --warm-up 2 --sweeps 10 --out m.pv --factor-prior";
    let err = fails(at, &format!("{fit} spike-and-slab"), 1);
    let err = err.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(
        err.contains("view 'y'") && err.contains("--factor-prior standard-normal"),
        "{err}"
    );
    assert!(
        !err.contains("standardise") && !err.contains("sweep 1"),
        "{err}"
    );
    ok(at, &format!("{fit} standard-normal"));
}

/// A feature that was counted once is filled with numbers of the size of that count, whatever the
/// engine.
#[test]
fn features_that_were_counted_once_are_filled_with_sane_numbers() {
    let dir = tempfile::tempdir().expect("a folder");
    let at = dir.path();
    let seen = |n: usize, d: usize| (d != 3 || n == 7).then(|| count(n, d));
    put(at, "c.csv", table(24, 5, seen));
    let largest = (0..24).flat_map(|n| (0..5).map(move |d| count(n, d)));
    let largest = largest.fold(0.0, f64::max);
    for likelihood in ["nb", "pln", "poisson"] {
        ok(
            at,
            &format!(
                "fit --model mofa --view c=c.csv:{likelihood} --weights ard -k 1 --engine gibbs --sweeps 200 --warm-up 100 --seed 2 --force --out m.pv"
            ),
        );
        ok(at, "impute m.pv --view c --out f.csv --force");
        let filled = get(at, "f.csv");
        for line in filled.lines().skip(1) {
            let x: f64 = line
                .split(',')
                .nth(4)
                .and_then(|c| c.parse().ok())
                .expect("a number");
            assert!(
                (0.0..=100.0 * (1.0 + largest)).contains(&x),
                "{likelihood}: {line}"
            );
        }
    }
}

//! What `cross-validate` prints, writes and refuses.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::path::Path;

use crate::common::{fails, get, ok, put, run, said};

/// A number between -1 and 1 that looks random.
fn noise(i: usize) -> f64 {
    let mut x = (i as u64).wrapping_mul(0x9E37_79B9_7F4A_7C15) ^ 0x5851_F42D_4C95_7F2D;
    x ^= x >> 31;
    x = x.wrapping_mul(0xBF58_476D_1CE4_E5B9);
    x ^= x >> 29;
    (x >> 11) as f64 / (1_u64 << 52) as f64 - 1.0
}

type Cell<'a> = &'a dyn Fn(usize, usize) -> String;

/// `x.csv` and `y.csv` of numbers with two factors in common, `l.csv` of two labels, `c.csv` of three classes, `m.csv` with the
/// patients, two samples each.
fn folder(samples: usize) -> tempfile::TempDir {
    let dir = tempfile::tempdir().expect("a folder");
    let factor = |n: usize, k: usize| noise(3 * n + k);
    let number = |n: usize, d: usize| {
        let factors: f64 = (0..2).map(|k| factor(n, k) * noise(9000 + 7 * d + k)).sum();
        format!("{:.5}", 3.0 * factors + 0.2 * noise(50_000 + 11 * n + d))
    };
    let label = |n: usize, d: usize| {
        u8::from(factor(n, d) + 0.3 * noise(70_000 + 2 * n + d) > 0.0).to_string()
    };
    let class = |n: usize, _: usize| {
        let at = factor(n, 0) + 0.2 * noise(80_000 + n);
        if at > 0.4 {
            "sun"
        } else if at > -0.3 {
            "fish"
        } else {
            "coc"
        }
        .to_owned()
    };
    let tables: [(&str, &[usize], Cell<'_>); 5] = [
        ("x", &[0, 1, 2, 3, 4], &number),
        ("y", &[20, 21, 22], &number),
        ("l", &[0, 1], &label),
        ("c", &[0], &class),
        ("m", &[0], &|n, _| format!("p{}", n / 2)),
    ];
    for (name, columns, cell) in tables {
        let named = columns.iter().map(|d| format!(",{name}{d}"));
        let mut text = format!("id{}\n", named.collect::<String>());
        for n in 0..samples {
            let cells: Vec<String> = columns.iter().map(|d| cell(n, *d)).collect();
            let _ = writeln!(text, "s{n},{}", cells.join(","));
        }
        put(dir.path(), &format!("{name}.csv"), text);
    }
    dir
}

/// Rows of a table of words.
fn rows(at: &Path, name: &str) -> Vec<Vec<String>> {
    let text = get(at, name);
    let cells = |l: &str| l.split(',').map(str::to_owned).collect();
    text.lines().map(cells).collect()
}

const LABELS: &str = "cross-validate --model sshiba --view x=x.csv:gaussian --view y=y.csv:gaussian --view l=l.csv:bernoulli \
                      --target l -k 3 --folds 4";

#[test]
fn labels_are_predicted_beside_plain_predictors() {
    let dir = folder(60);
    let at = dir.path();
    let text = ok(at, &format!("{LABELS} --out folds.csv"));
    let head = text.lines().next().expect("a line");
    assert!(
        head.starts_with("l ") && head.contains("AUC") && head.contains("log loss"),
        "{text}"
    );
    for line in [
        "sshiba",
        "sshiba, two steps",
        "mean",
        "logistic regression",
        "mean ± standard error over 4 folds of 60 samples, each predicted by fits of all others",
        "AUC: area under the ROC curve",
        "error: share of labels",
        "every fold is in folds.csv",
    ] {
        assert!(text.lines().any(|l| l.starts_with(line)), "{line}: {text}");
    }
    let found = rows(at, "folds.csv");
    assert_eq!(
        found[0],
        [
            "repeat", "fold", "target", "method", "score", "value", "cells"
        ]
    );
    // four folds of four methods and three scores
    assert_eq!(found.len(), 1 + 48);
    let mut cells: BTreeMap<&str, usize> = BTreeMap::new();
    for row in found[1..]
        .iter()
        .filter(|r| r[3] == "mean" || r[3] == "sshiba")
    {
        let value: f64 = row[5].parse().expect("a number");
        match (row[3].as_str(), row[4].as_str()) {
            ("mean", "auc") => assert_eq!(value, 0.5),
            ("sshiba", "auc") => assert!(value > 0.7, "{row:?}"),
            (_, "error") => {
                *cells.entry(&row[3]).or_default() += row[6].parse::<usize>().expect("cells");
            }
            _ => {}
        }
    }
    // every label once
    assert_eq!(cells, BTreeMap::from([("mean", 120), ("sshiba", 120)]));
    // the printed mean is that of the folds
    let areas: Vec<f64> = found[1..]
        .iter()
        .filter(|r| r[3] == "sshiba" && r[4] == "auc")
        .map(|r| r[5].parse().expect("a number"))
        .collect();
    let mean = format!("{:.4}", areas.iter().sum::<f64>() / 4.0);
    let line = text
        .lines()
        .find(|l| l.starts_with("sshiba "))
        .expect("a line");
    assert!(line.contains(&mean), "{mean}: {line}");
    let error = fails(at, &format!("{LABELS} --out folds.csv"), 1);
    assert!(error.contains("'folds.csv' exists"), "{error}");
}

#[test]
fn results_do_not_depend_on_threads() {
    let dir = folder(40);
    let at = dir.path();
    let of = |threads: usize| ok(at, &format!("{LABELS} --quiet --threads {threads} --out -"));
    let one = of(1);
    assert_eq!(one.lines().count(), 49);
    assert_eq!(one, of(4));
}

#[test]
fn classes_numbers_and_groups() {
    let dir = folder(48);
    let at = dir.path();
    let views =
        "--model sshiba --view x=x.csv:gaussian --view y=y.csv:gaussian --view c=c.csv:categorical";
    let words = format!(
        "cross-validate {views} --target c --target y -k 3 --folds 3 --repeats 2 --metadata m.csv --keep-together m0 --json"
    );
    let found: serde_json::Value = serde_json::from_str(&ok(at, &words)).expect("JSON");
    let folds = found["folds"].as_array().expect("folds");
    assert_eq!(folds.len(), 2);
    for of_repeat in folds {
        let of_sample: Vec<u64> = of_repeat
            .as_array()
            .into_iter()
            .flatten()
            .filter_map(serde_json::Value::as_u64)
            .collect();
        assert_eq!(of_sample.len(), 48);
        for pair in of_sample.chunks(2) {
            assert_eq!(pair[0], pair[1]);
        }
    }
    let summary = found["summary"].as_array().expect("a summary");
    let has = |target: &str, method: &str, score: &str| {
        summary
            .iter()
            .any(|s| s["target"] == target && s["method"] == method && s["score"] == score)
    };
    assert!(
        has("c", "multinomial regression", "log-loss") && has("c", "sshiba, two steps", "error")
    );
    assert!(has("y", "ridge regression", "r2") && has("y", "sshiba", "coverage"));
    assert!(!has("y", "ridge regression", "coverage"));
    let of = |target: &str| {
        format!(
            "cross-validate {views} --target {target} -k 3 --folds 3 --no-baselines --no-two-steps"
        )
    };
    let alone = ok(at, &of("c"));
    let told = said(at, &of("c"));
    assert!(
        told.contains("c: predicted from other views by a mixture")
            && !told.contains("does so with"),
        "{told}"
    );
    // a fit predicts numbers by the joint fit
    let told = said(at, &of("y"));
    assert!(
        told.contains("'polyview fit' does so with --settle y=mixture"),
        "{told}"
    );
    assert!(
        !alone.contains("two steps") && !alone.contains("multinomial"),
        "{alone}"
    );
}

#[test]
fn cells_are_hidden_without_targets() {
    let dir = folder(40);
    let at = dir.path();
    let text = ok(
        at,
        "cross-validate --view x=x.csv --view y=y.csv -k 2 --folds 2 --hide 0.2",
    );
    for word in [
        "softly thresholded SVD",
        "log density",
        "mean ± standard error over 2 times that 20 % of the cells",
    ] {
        assert!(text.contains(word), "{word}: {text}");
    }
}

#[test]
fn several_models_stand_on_the_same_folds() {
    let dir = folder(40);
    let at = dir.path();
    let study =
        "[[data]]\nname = \"x\"\npath = \"x.csv\"\n\n[model]\nmodel = \"bibfa\"\nfactors = 1\n";
    put(at, "one.toml", study);
    let words = "cross-validate --view x=x.csv --view y=y.csv -k 2 --target y --folds 3 --no-two-steps --out -";
    let both = ok(at, &format!("{words} --against mofa --against one.toml"));
    let of = |text: &str, method: &str| -> Vec<String> {
        let own = text.lines().filter(|l| l.contains(&format!(",{method},")));
        own.map(str::to_owned).collect()
    };
    let alone = ok(at, &words.replace("-k 2", "-k 1"));
    assert_eq!(
        of(&both, "one"),
        of(&alone, "bibfa")
            .iter()
            .map(|l| l.replace("bibfa", "one"))
            .collect::<Vec<_>>()
    );
    assert_eq!(of(&both, "mofa").len(), 9);
    assert_ne!(of(&both, "one").len(), 0);
    let error = fails(at, &format!("{words} --against pca"), 2);
    assert!(
        error.contains("--against: 'pca' is no model; name one (bibfa,"),
        "{error}"
    );
    let error = fails(at, &format!("{words} --against bibfa"), 2);
    assert!(error.contains("models = 'bibfa' twice"), "{error}");
}

#[test]
fn what_cannot_be_is_said_with_the_mend() {
    let dir = folder(30);
    let at = dir.path();
    let views = "cross-validate --view x=x.csv --view y=y.csv -k 2";
    for (words, code, what) in [
        ("--target z", 1, "no view 'z'; it has x, y; name one of"),
        (
            "--target x --target y",
            1,
            "hold no view but targets: there is nothing to predict it from; add a view",
        ),
        (
            "--target y --folds 1",
            2,
            "folds = 1 is not allowed; give a whole number from 2 on",
        ),
        (
            "--target y --folds 31",
            1,
            "30 samples cannot be parted into 31 folds; ask for 2 to 30",
        ),
        (
            "--target y --repeats 0",
            2,
            "repeats = 0 is not allowed; give a whole number from 1",
        ),
        (
            "--target y --stratify x",
            1,
            "stratified folds cannot be combined with data that are no labels",
        ),
        (
            "--target y --metadata m.csv --keep-together who",
            1,
            "no column 'who' about their samples; there is m0",
        ),
        (
            "--target y --metadata m.csv --keep-together m0 --folds 20",
            1,
            "15 groups cannot be parted into 20 folds",
        ),
        (
            "--hide 1",
            2,
            "--hide: 1 is not allowed; give a share above 0 and below 1",
        ),
        ("--out - --json", 2, "leave one of them out"),
    ] {
        let error = fails(at, &format!("{views} {words}"), code);
        let error = error.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(error.contains(what), "{words}: {error}");
    }
    for words in [
        "--keep-together m0 --target y",
        "--stratify y",
        "--hide 0.1 --target y",
    ] {
        fails(at, &format!("{views} {words}"), 2);
    }
    // all labels alike; a sample that has labels alone
    let ones: Vec<String> = (0..30).map(|n| format!("s{n},1")).collect();
    put(at, "ones.csv", format!("id,l\n{}\n", ones.join("\n")));
    let labels = "cross-validate --model sshiba --view x=x.csv:gaussian -k 2 --target l --view l=";
    let error = fails(at, &format!("{labels}ones.csv:bernoulli"), 1);
    assert!(error.contains("view 'l' has one class alone"), "{error}");
    let mut more = get(at, "l.csv");
    more.push_str("alone,1,0\n");
    put(at, "more.csv", more);
    let error = fails(at, &format!("{labels}more.csv:bernoulli"), 1);
    assert!(
        error.contains("1 of 31 sample(s), first 'alone'") && error.contains("--join intersection"),
        "{error}"
    );
    ok(
        at,
        &format!("{labels}more.csv:bernoulli --join intersection --folds 2 --no-two-steps"),
    );
}

#[test]
fn fits_that_did_not_end_are_counted() {
    let dir = folder(30);
    let words =
        "cross-validate --view x=x.csv --view y=y.csv -k 2 --target y --folds 2 --max-sweeps 2";
    let err = said(dir.path(), words);
    assert!(
        err.contains("warning: 4 of 4 fits stopped at their limit of sweeps"),
        "{err}"
    );
    assert!(
        run(dir.path(), &format!("{words} --quiet"))
            .stderr
            .is_empty()
    );
}

/// A fold that holds a whole group is refused before anything is fitted.
#[test]
fn folds_leave_samples_of_every_group() {
    let dir = folder(40);
    let at = dir.path();
    let mut who = "id,clinic,part\n".to_owned();
    for n in 0..40 {
        let clinic = ["north", "south", "west"][n % 3];
        let part = if n == 1 { "alone" } else { "rest" };
        let _ = writeln!(who, "s{n},{clinic},{part}");
    }
    put(at, "who.csv", who);
    let cv =
        "cross-validate --view x=x.csv --view y=y.csv --target y --folds 3 -k 2 --metadata who.csv";
    let one_line = |words: &str, code: i32| {
        let err = fails(at, words, code);
        err.split_whitespace().collect::<Vec<_>>().join(" ")
    };
    let err = one_line(
        &format!("{cv} --groups clinic --keep-together clinic --group-intercepts"),
        1,
    );
    assert!(
        err.contains("all samples of group 'north' are in one fold")
            && err.contains("--keep-together"),
        "{err}"
    );
    assert!(!err.contains("fold 1 of repeat 1"), "{err}");
    let err = one_line(&format!("{cv} --groups part --factor-prior ard"), 1);
    assert!(
        err.contains("group 'alone' are in one fold")
            && err.contains("merge it with another group"),
        "{err}"
    );
    // a group of two leaves one sample, too few for intercepts of its own
    let mut who = "id,part\n".to_owned();
    for n in 0..40 {
        let _ = writeln!(who, "s{n},{}", if n < 2 { "pair" } else { "rest" });
    }
    put(at, "pairs.csv", who);
    let pairs = cv.replace("who.csv", "pairs.csv");
    let err = one_line(&format!("{pairs} --groups part --group-intercepts"), 1);
    assert!(
        err.contains("all samples of group 'pair' but one are in one fold")
            && !err.contains("fold 1 of repeat 1"),
        "{err}"
    );
    // groups that change nothing are no matter
    ok(at, &format!("{cv} --groups part --no-two-steps"));
}

/// Where means have no density of hidden cells the table says why.
#[test]
fn a_dash_in_the_row_of_means_is_explained() {
    let dir = folder(40);
    let at = dir.path();
    let cv = "cross-validate --view x=x.csv --view y=y.csv --hide 0.2 --folds 2 -k 2";
    let why = "log density of mean, -";
    assert!(!ok(at, cv).contains(why));
    let constant: Vec<String> = (get(at, "y.csv").lines().enumerate())
        .map(|(i, line)| match line.rsplit_once(',') {
            Some((rest, _)) if i > 0 => format!("{rest},2.5"),
            _ => line.to_owned(),
        })
        .collect();
    put(at, "y.csv", constant.join("\n") + "\n");
    let text = ok(at, cv);
    let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(
        text.contains(&format!("{why}: a feature of y has one value alone")),
        "{text}"
    );
}

/// What is known of the classes is said before any fit begins.
#[test]
fn classes_of_one_sample_are_said_at_once() {
    let dir = folder(40);
    let at = dir.path();
    let rare: Vec<String> = (get(at, "c.csv").lines().enumerate())
        .map(|(i, line)| {
            if i == 1 {
                "s0,alone".to_owned()
            } else {
                line.to_owned()
            }
        })
        .collect();
    put(at, "c.csv", rare.join("\n") + "\n");
    let cv = "cross-validate --model sshiba --view x=x.csv:gaussian --view c=c.csv:categorical --target c -k 2";
    // refused when folds are made
    let err = fails(at, &format!("{cv} --folds 400"), 1);
    assert!(
        err.contains("1 class of one sample, first 'alone'"),
        "{err}"
    );
    let err = said(at, &format!("{cv} --folds 2 --no-two-steps"));
    assert_eq!(
        err.matches("of one sample, first 'alone'").count(),
        1,
        "{err}"
    );
}

/// One mend, where there is one.
#[test]
fn trials_as_targets_have_one_mend() {
    let dir = folder(40);
    let at = dir.path();
    let n = get(at, "l.csv").replace(",0", ",3").replace(",1", ",3");
    put(at, "n.csv", n);
    let err = fails(
        at,
        "cross-validate --model mofa --view x=x.csv:gaussian --view l=l.csv:binomial --trials l=n.csv --target l",
        1,
    );
    assert!(
        err.contains("hide cells") && !err.contains("change one"),
        "{err}"
    );
}

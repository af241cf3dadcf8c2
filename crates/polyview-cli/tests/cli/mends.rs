//! What is said of files and options that cannot be used: the likely cause, and the mend.

use std::fmt::Write;
use std::path::Path;

use crate::common::{fails, ok, put, said};

/// Numbers that follow one factor.
fn numbers(prefix: &str, samples: usize, columns: usize, transposed: bool) -> String {
    let cell = |n: usize, d: usize| {
        let z = ((n * 5) % 24) as f64 / 12.0 - 1.0;
        z * (1 + d % 3) as f64 + ((n * 7 + d * 11) % 13) as f64 / 13.0
    };
    table(prefix, samples, columns, transposed, |n, d| {
        format!("{:.3}", cell(n, d))
    })
}

fn table(
    prefix: &str,
    samples: usize,
    columns: usize,
    transposed: bool,
    cell: impl Fn(usize, usize) -> String,
) -> String {
    let name = |row: bool, i: usize| {
        if row == transposed {
            format!("{prefix}{i}")
        } else {
            format!("s{i}")
        }
    };
    let (rows, across) = if transposed {
        (columns, samples)
    } else {
        (samples, columns)
    };
    let mut text = "id".to_owned();
    for j in 0..across {
        let _ = write!(text, ",{}", name(false, j));
    }
    text.push('\n');
    for i in 0..rows {
        let _ = write!(text, "{}", name(true, i));
        for j in 0..across {
            let (n, d) = if transposed { (j, i) } else { (i, j) };
            let _ = write!(text, ",{}", cell(n, d));
        }
        text.push('\n');
    }
    text
}

fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// That a command is refused with these words.
fn refused(at: &Path, command: &str, code: i32, words: &[&str]) {
    let err = one_line(&fails(at, command, code));
    for word in words {
        assert!(err.contains(word), "{command}: '{word}' is not in: {err}");
    }
}

#[test]
fn a_choice_of_a_view_is_made_once() {
    let dir = tempfile::tempdir().expect("a folder");
    let at = dir.path();
    put(at, "x.csv", numbers("x", 24, 4, false));
    put(at, "y.csv", numbers("y", 24, 3, false));
    let fit = "fit --view x=x.csv:gaussian --view y=y.csv:gaussian --dry-run";
    for (option, first, second) in [
        ("--kernel", "x=rbf", "x=linear"),
        ("--weight", "x=2", "x=3"),
        ("--shape", "x=2x2", "x=4x1"),
        ("--weights", "x=ard", "x=horseshoe"),
        ("--offset", "x=x.csv", "x=y.csv"),
        ("--limit", "x=1", "x=2"),
        ("--settle", "x", "x=mixture"),
    ] {
        refused(
            at,
            &format!("{fit} {option} {first} {option} {second}"),
            2,
            &[option, "view 'x' is given twice; leave one of them out"],
        );
    }
    let all = "--weights ard --weights horseshoe";
    refused(
        at,
        &format!("{fit} {all}"),
        2,
        &["for all views is given twice"],
    );
    let both = "--weights x=ard --select-features x";
    refused(
        at,
        &format!("{fit} {both}"),
        2,
        &["view 'x' is given twice"],
    );
    ok(at, &format!("{fit} --weights ard --weights x=horseshoe"));
}

#[test]
fn every_number_of_variational_bayes_has_its_range() {
    let dir = tempfile::tempdir().expect("a folder");
    let at = dir.path();
    put(at, "x.csv", numbers("x", 24, 4, false));
    for (key, value) in [
        ("prune.least-explained", "1.5"),
        ("prune.least-explained", "nan"),
        ("prune.least-explained", "-1"),
        ("prune.largest-weight", "1000"),
        ("prune.energy-ratio", "nan"),
        ("relaxation", "nan"),
        ("movement", "0"),
    ] {
        let data = "[[data]]\nname = \"x\"\npath = \"x.csv\"\n";
        put(
            at,
            "s.toml",
            format!("{data}[model]\nmodel = \"bibfa\"\n[model.vb]\n{key} = {value}\n"),
        );
        let name = key.rsplit('.').next().unwrap_or_default();
        refused(
            at,
            "fit --spec s.toml --dry-run",
            2,
            &[name, "give a number"],
        );
    }
}

#[test]
fn the_likely_cause_is_named() {
    let dir = tempfile::tempdir().expect("a folder");
    let at = dir.path();
    put(at, "x.csv", numbers("x", 24, 4, false));
    put(at, "y.csv", numbers("y", 24, 3, false));
    let fit = "fit --view x=x.csv:gaussian --view y=y.csv:gaussian -k 2 --max-sweeps 5";
    // a limit where a time belongs
    for (time, word) in [(">723.0", "write 723 and 0"), ("<5", "as censored")] {
        let rows: Vec<String> = (0..24)
            .map(|n| {
                let time = if n == 3 {
                    time.to_owned()
                } else {
                    (n + 1).to_string()
                };
                format!("s{n},{time},1\n")
            })
            .collect();
        let rows = rows.concat();
        put(at, "t.csv", format!("id,time,event\n{rows}"));
        let fit = "fit --model sshiba --view x=x.csv:gaussian --view t=t.csv:survival --out m.pv";
        refused(at, fit, 1, &["t.csv", "'s3'", "'time'", time, word]);
    }
    // kernels
    let kernel = "--kernel x=rbf{references=1,width=5} --out m.pv";
    refused(
        at,
        &format!("{fit} {kernel}"),
        1,
        &[
            "one reference point alone says nothing",
            "ask for two or more",
        ],
    );
    let narrow = said(
        at,
        &format!("{fit} --kernel x=rbf{{width=1e-7}} --out k.pv"),
    );
    assert!(narrow.contains("of width 1.000e-7"), "{narrow}");
    // similarities of new samples to old ones
    let header: Vec<String> = (0..24).map(|n| format!("s{n}")).collect();
    let mut new = format!("id,{}\n", header.join(","));
    for n in 0..5 {
        let cells: Vec<String> = (0..24).map(|m| format!("{}", (n * m) % 7)).collect();
        let _ = writeln!(new, "new{n},{}", cells.join(","));
    }
    put(at, "similar.csv", new);
    let words =
        "fit --model mlfs --view s=similar.csv:similarity --view y=y.csv:gaussian --out m.pv";
    refused(
        at,
        words,
        1,
        &[
            "of samples that no other view has, such as 'new0'",
            "'predict' and 'project'",
        ],
    );
    // trials that lie the other way
    let wins = |transposed| table("w", 24, 3, transposed, |n, d| ((n + d) % 4).to_string());
    let trials = |transposed| table("w", 24, 3, transposed, |_, _| "9".to_owned());
    put(at, "wins.csv", wins(true));
    put(at, "trials.csv", trials(false));
    let view = "--view w=wins.csv:binomial --trials w=trials.csv --transposed";
    refused(
        at,
        &format!("fit --model mofa {view} --out m.pv"),
        1,
        &[
            "trials.csv and wins.csv",
            "no sample of the trials is one of the counts",
            "--transposed",
        ],
    );
    put(at, "trials.csv", trials(true));
    ok(
        at,
        &format!("fit --model mofa {view} -k 1 --max-sweeps 3 --out w.pv"),
    );
    // settling
    put(
        at,
        "k.csv",
        table("s", 24, 24, false, |n, m| ((n * m) % 11).to_string()),
    );
    let words =
        "fit --model mlfs --view s=k.csv:similarity --view y=y.csv:gaussian --settle s --dry-run";
    refused(
        at,
        words,
        1,
        &["settling it cannot be combined with similarity: it has latent rows"],
    );
    // bags
    put(
        at,
        "c.csv",
        table("c", 24, 1, false, |n, _| ["a", "b"][n % 2].to_owned()),
    );
    let mva = "mva --method rb-cca --view x=x.csv --labels c.csv";
    refused(
        at,
        &format!("{mva} --bags 0"),
        2,
        &["--bags 0", "from 1 on"],
    );
    refused(
        at,
        &format!("{mva} --bag-ridge 0"),
        2,
        &["--bag-ridge 0", "above 0"],
    );
    // one column
    for (separator, word) in [(" ", "blanks occur in it"), ("|", "'|' occur in it")] {
        put(
            at,
            "parted.csv",
            numbers("x", 8, 3, false).replace(',', separator),
        );
        let words = "fit --view x=parted.csv:gaussian --out m.pv";
        refused(
            at,
            words,
            1,
            &["one column when split at ','", word, "with commas"],
        );
    }
    let words = "predict k.pv --view x=x.csv --target y --times abc --out p.csv";
    refused(at, words, 2, &["--times", "give a number"]);
}

#[test]
fn an_adjusted_model_is_not_updated_before_anybody_asks_for_tables() {
    let dir = tempfile::tempdir().expect("a folder");
    let at = dir.path();
    put(at, "x.csv", numbers("x", 24, 4, false));
    put(at, "age.csv", numbers("age", 24, 1, false));
    ok(
        at,
        "fit --view x=x.csv:gaussian --covariates age.csv --adjust age0 -k 1 --max-sweeps 5 --out m.pv",
    );
    let err = one_line(&fails(at, "update m.pv --view x=x.csv --out n.pv", 1));
    assert!(
        err.contains("adjusted for covariates or has offsets"),
        "{err}"
    );
    assert!(
        !err.contains("engine vb") && !err.contains("--covariates"),
        "{err}"
    );
}

#[test]
fn cells_at_limits_count_where_they_are_predicted() {
    let dir = tempfile::tempdir().expect("a folder");
    let at = dir.path();
    put(at, "t.csv", "id,a,b\ns1,1,5\ns2,3,1\ns3,1,4\ns4,1,1\n");
    put(at, "p.csv", "id,a\ns1,1\ns2,2\ns3,4\n");
    let words = "score --kind real --truth t.csv --predicted p.csv --limit 1";
    let told = said(at, words);
    assert!(
        told.contains("note: 2 value(s) of t.csv are at their limits or beyond"),
        "{told}"
    );
}

#[test]
fn a_dry_run_is_json_where_that_is_asked_for() {
    let dir = tempfile::tempdir().expect("a folder");
    let at = dir.path();
    put(at, "x.csv", numbers("x", 24, 4, false));
    let words = "fit --view x=x.csv:gaussian -k 2 --dry-run";
    let found = ok(at, &format!("{words} --json"));
    let found: serde_json::Value = serde_json::from_str(&found).expect("JSON");
    assert_eq!(found["model"]["factors"], 2);
    assert_eq!(found["data"][0]["name"], "x");
    assert!(ok(at, words).contains("[[data]]"));
}

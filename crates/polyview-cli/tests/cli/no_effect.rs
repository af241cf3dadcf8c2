//! Options mean what they say, and are refused where they can mean nothing.

use std::fmt::Write;
use std::path::Path;

use crate::common::{fails, get, ok, put, said};

/// Two views of one factor and noise.
fn folder() -> tempfile::TempDir {
    let dir = tempfile::tempdir().expect("a folder");
    let noise = |n: usize, d: usize| ((n * 7919 + d * 104_729 + n * d * 31) % 1009) as f64 / 504.0;
    for (name, shift) in [("x", 0), ("y", 9)] {
        let mut text = "id,a,b,c,d,e\n".to_owned();
        for n in 0..30 {
            let z = noise(n, 100) - 1.0;
            let _ = write!(text, "p{n}");
            for d in 0..5 {
                let _ = write!(text, ",{:.4}", z * (d as f64 + 1.0) + noise(n, d + shift));
            }
            text.push('\n');
        }
        put(dir.path(), &format!("{name}.csv"), text);
    }
    dir
}

const VIEWS: &str = "--view x=x.csv --view y=y.csv";

fn one_line(text: &[u8]) -> String {
    let text = String::from_utf8_lossy(text);
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

fn refused(at: &Path, words: &str, parts: &[&str]) {
    let err = one_line(fails(at, words, 2).as_bytes());
    for part in parts {
        assert!(err.contains(part), "{words}, {part}: {err}");
    }
}

#[test]
fn without_pruning_no_factor_is_removed() {
    let dir = folder();
    let at = dir.path();
    let out = ok(at, &format!("fit {VIEWS} -k 5 --out m.pv"));
    assert!(!out.contains("5 of 5 factors"), "{out}");
    for more in [
        "",
        "--model mofa",
        "--engine stochastic --in-memory --batch 1",
    ] {
        let words = format!("fit {VIEWS} -k 5 --no-pruning --force --out n.pv {more}");
        let out = ok(at, &words);
        assert!(out.contains("5 of 5 factors"), "{more}: {out}");
        let journal = ok(at, "inspect n.pv --journal");
        assert!(!journal.contains("removed"), "{more}: {journal}");
    }
}

#[test]
fn choices_of_a_fit_are_a_study_file() {
    let dir = folder();
    let at = dir.path();
    ok(
        at,
        &format!("fit --model mofa {VIEWS} -k 3 --seed 4 --out m.pv"),
    );
    let study = ok(at, "inspect m.pv --spec");
    put(at, "s.toml", &study);
    ok(at, &format!("fit --spec s.toml {VIEWS} --out n.pv"));
    for name in ["m", "n"] {
        ok(at, &format!("export {name}.pv --factors {name}.csv"));
    }
    assert_eq!(get(at, "m.csv"), get(at, "n.csv"));
    assert_eq!(ok(at, "inspect n.pv --spec"), study);
    // the data as entries of the file
    let entries =
        "[[data]]\nname = \"x\"\npath = \"x.csv\"\n[[data]]\nname = \"y\"\npath = \"y.csv\"\n";
    put(at, "s.toml", study + entries);
    ok(at, "fit --spec s.toml --out o.pv");
}

#[test]
fn a_dry_run_counts_the_clusters() {
    let dir = folder();
    let at = dir.path();
    let study = ok(
        at,
        &format!("fit {VIEWS} -k 2 --factor-prior mixture --dry-run"),
    );
    assert!(study.contains("[model.mixture]\ncomponents = 5"), "{study}");
    let study = ok(at, &format!("fit {VIEWS} -k 2 --dry-run"));
    assert!(!study.contains("components"), "{study}");
}

#[test]
fn ranks_by_batches_are_refused_by_name() {
    let dir = folder();
    let at = dir.path();
    let words = format!("fit --model rank {VIEWS} -k 2 --engine stochastic --out m.pv");
    for more in ["", "--in-memory"] {
        let err = one_line(fails(at, &format!("{words} {more}"), 1).as_bytes());
        assert!(
            err.contains("view 'x': likelihood rank") && err.contains("engine vb"),
            "{err}"
        );
        assert!(!err.contains("relaxation"), "{err}");
    }
}

#[test]
fn options_that_cannot_have_an_effect() {
    let dir = folder();
    let at = dir.path();
    let fit = format!("fit {VIEWS} -k 2 --out m.pv");
    let rank = "fit --model rank -k 2 --out r.pv --view x=x.csv";
    for option in ["--noise view", "--centring none"] {
        let name = option.split(' ').next().expect("a word");
        refused(
            at,
            &format!("{rank} {option}"),
            &[name, "about gaussian views", "'x' is rank"],
        );
        let mixed = format!("{rank} --view y=y.csv:gaussian --max-sweeps 2 --force {option}");
        let err = said(at, &mixed);
        assert!(
            err.contains(&format!(
                "note: {name}: about gaussian views, without effect on 'x' (rank)"
            )),
            "{err}"
        );
    }
    refused(
        at,
        &format!("{fit} --group-intercepts --no-intercepts"),
        &["--group-intercepts", "--no-intercepts"],
    );
    refused(
        at,
        &format!("{fit} --checkpoint-every 5"),
        &["--checkpoint"],
    );
    refused(at, &format!("{fit} --settle x --settle y"), &["--settle"]);
    ok(at, &fit);
    for option in ["-k 3", "--features 3", "--missing 0.1"] {
        refused(
            at,
            &format!("simulate --from m.pv {option} --out-dir sim"),
            &["--from"],
        );
    }
    for (option, kind) in [
        ("--kind linear --gamma 2", "rbf"),
        ("--kind linear --degree 5", "polynomial"),
        ("--offset 2", "polynomial"),
        ("--kind polynomial --gamma 1", "rbf"),
    ] {
        let words = format!("kernel x.csv --out k.csv {option}");
        refused(at, &words, &[&format!("belongs to --kind {kind}")]);
    }
    let err = said(at, "kernel x.csv --references 5000 --out k.csv");
    assert!(
        err.contains("5000 reference points were asked for: all 30 samples"),
        "{err}"
    );
    let gibbs = format!("fit {VIEWS} -k 2 --engine gibbs --warm-up 5 --sweeps 20 --out g.pv");
    ok(at, &gibbs);
    for verb in [
        "project g.pv --view x=x.csv",
        "predict g.pv --view x=x.csv --target y",
        "impute g.pv --view y",
    ] {
        let words = format!("{verb} --plug-in --force --out f.csv");
        refused(at, &words, &["--plug-in", "Gibbs"]);
        ok(at, &words.replace("g.pv", "m.pv"));
    }
}

#[test]
fn json_says_what_was_written_where() {
    let dir = folder();
    let at = dir.path();
    ok(at, &format!("fit {VIEWS} -k 2 --out m.pv"));
    for (words, option) in [
        ("project m.pv --view x=x.csv --out z.csv", "out"),
        (
            "predict m.pv --view x=x.csv --target y --out p.csv --sd s.csv",
            "sd",
        ),
        ("impute m.pv --view y --out i.csv", "out"),
        ("export m.pv --factors e.csv --weights x=w.csv", "weights"),
        ("kernel x.csv --out k.csv", "out"),
        ("simulate --from m.pv --samples 5 --out-dir sim", "out_dir"),
        ("report m.pv --out r.html", "out"),
    ] {
        let text = ok(at, &format!("{words} --json"));
        let found: serde_json::Value = serde_json::from_str(&text).expect("JSON");
        let path = found["written"][option][0].as_str().expect("a path");
        assert!(
            words.ends_with(path) || words.contains(path),
            "{words}: {text}"
        );
        assert!(at.join(path).exists(), "{words}: {text}");
    }
    refused(
        at,
        "predict m.pv --view x=x.csv --target y --out - --json",
        &["--out", "--json"],
    );
    refused(
        at,
        "simulate --features 4 --samples 5 --out-dir - --json",
        &["--out-dir", "--json"],
    );
}

#[test]
fn digits_are_significant_ones() {
    let dir = folder();
    let at = dir.path();
    let out = ok(at, &format!("fit {VIEWS} -k 1 --digits 2 --out m.pv"));
    let cells = out
        .lines()
        .filter(|l| l.starts_with("x ") || l.starts_with("y "));
    let cells: Vec<&str> = cells.flat_map(|l| l.split_whitespace().skip(1)).collect();
    assert!(cells.len() >= 4, "{out}");
    for cell in cells {
        let digits = cell.trim_start_matches(['0', '.', '-']).replace('.', "");
        assert!(digits.len() <= 2, "{cell}: {out}");
    }
}

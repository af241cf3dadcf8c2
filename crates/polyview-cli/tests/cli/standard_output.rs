//! What goes to standard output: to readers that go away, and tables that
//! would else go to files.

use std::path::Path;
use std::process::Command;

use crate::common::{fails, get, ok, put, run};

fn simulated() -> tempfile::TempDir {
    let dir = tempfile::tempdir().expect("a folder");
    let at = dir.path();
    ok(
        at,
        "simulate --samples 30 --features 6,5 --factors 2 --missing 0.05 --seed 4 --out-dir s",
    );
    ok(
        at,
        "fit --quiet --view a=s/view1.csv --view b=s/view2.csv -k 2 --max-sweeps 30 --out m.pv",
    );
    dir
}

/// Runs it with a standard output, and perhaps a standard error, that nobody
/// reads; returns the exit code and what it said.
fn unread(folder: &Path, words: &str, errors_too: bool) -> (Option<i32>, String) {
    let gone = || {
        let (reader, writer) = std::io::pipe().expect("a pipe");
        drop(reader);
        writer
    };
    let mut command = Command::new(env!("CARGO_BIN_EXE_polyview"));
    command
        .current_dir(folder)
        .args(words.split_whitespace())
        .stdout(gone())
        .stderr(std::process::Stdio::piped());
    if errors_too {
        command.stderr(gone());
    }
    let o = command
        .spawn()
        .expect("it starts")
        .wait_with_output()
        .expect("it runs");
    let said = String::from_utf8_lossy(&o.stderr).into_owned();
    (o.status.code(), said)
}

/// No panic and no complaint: whoever wrote `| head` has read enough.
#[test]
fn a_reader_that_goes_away_ends_a_command_quietly() {
    let dir = simulated();
    let at = dir.path();
    for words in [
        "completions bash",
        "completions zsh",
        "--help",
        "fit --help",
        "--version",
        "inspect m.pv",
        "inspect m.pv --json",
        "inspect m.pv --journal",
        "inspect m.pv --spec",
        "fit --view a=s/view1.csv -k 1 --dry-run",
        "fit --quiet --view a=s/view1.csv -k 1 --max-sweeps 2 --out again.pv --force",
        "score --kind real --truth s/view1.csv --predicted s/view1.csv",
        "choose-k --quiet --view a=s/view1.csv --candidates 1 --repeats 1 --restarts 1 --max-sweeps 3",
        "project m.pv --quiet --view a=s/view1.csv --out -",
    ] {
        let (code, said) = unread(at, words, false);
        assert_eq!(code, Some(0), "polyview {words}: {said}");
        assert!(
            !said.contains("panicked") && !said.contains("error"),
            "polyview {words}: {said}"
        );
        let (code, _) = unread(at, words, true);
        assert_eq!(code, Some(0), "polyview {words} 2>&1");
    }
    // the messages may have lost their reader alone
    let words = "fit --view a=s/view1.csv -k 1 --max-sweeps 2 --out again.pv --force";
    assert_eq!(unread(at, words, true).0, Some(0));
    assert_eq!(unread(at, "inspect none.pv", true).0, Some(1));
}

#[test]
fn a_minus_stands_for_standard_output() {
    let dir = simulated();
    let at = dir.path();
    put(
        at,
        "whole.csv",
        "sample,p,q\ns1,1,2\ns2,0.5,-1\ns3,0,0.25\n",
    );
    for (words, option) in [
        ("project m.pv --view a=s/view1.csv", "--out"),
        ("predict m.pv --view a=s/view1.csv --target b", "--out"),
        ("impute m.pv --view a", "--out"),
        ("impute m.pv --force --view a --out x.csv", "--upper"),
        ("kernel whole.csv", "--out"),
        ("export m.pv", "--factors"),
        ("export m.pv", "--variance"),
        (
            "project m.pv --force --view a=s/view1.csv --out x.csv",
            "--sd",
        ),
    ] {
        let o = run(at, &format!("{words} {option} -"));
        let said = String::from_utf8_lossy(&o.stderr);
        assert!(o.status.success(), "{words}: {said}");
        let _ = std::fs::remove_file(at.join("file.csv"));
        ok(at, &format!("{words} {option} file.csv"));
        let text = String::from_utf8_lossy(&o.stdout);
        assert_eq!(text, get(at, "file.csv"), "{words} {option}");
        assert!(!at.join("-").exists());
    }
    let o = run(at, "export m.pv --weights b=-");
    assert!(String::from_utf8_lossy(&o.stdout).starts_with("feature,Factor 1"));
    let o = run(at, "project m.pv --view a=s/view1.csv --out -");
    let said = String::from_utf8_lossy(&o.stderr);
    assert!(said.contains("projected to standard output"), "{said}");
    let text = ok(
        at,
        "simulate --samples 4 --features 3 --factors 1 --seed 9 --out-dir -",
    );
    assert_eq!(text.lines().count(), 5, "{text}");
    assert!(text.starts_with("sample,"), "{text}");
}

/// What is no text table does not go there, nor do two tables.
#[test]
fn standard_output_takes_one_text_table() {
    let dir = simulated();
    let at = dir.path();
    for (words, named) in [
        ("fit --view a=s/view1.csv -k 1 --out -", "--out: '-'"),
        (
            "fit --view a=s/view1.csv -k 1 --out n.pv --checkpoint -",
            "--checkpoint: '-'",
        ),
        ("report m.pv --out -", "--out: '-'"),
        ("import m.pv --out -", "--out: '-'"),
        ("kernel s/view2.csv --out - --save -", "--save: '-'"),
        ("export m.pv --format mofa2 -", "--format: '-'"),
        (
            "project m.pv --view a=s/view1.csv --out - --sd -",
            "both write standard output",
        ),
        ("simulate --out-dir -", "standard output takes one"),
    ] {
        let said = fails(at, words, 2);
        assert!(said.contains(named), "{words}: {said}");
        assert!(
            said.contains("name a folder")
                || said.contains("name a file")
                || said.contains("its own file"),
            "{said}"
        );
    }
    // a file of that name has a path
    ok(at, "project m.pv --view a=s/view1.csv --out ./-.csv");
    assert!(at.join("-.csv").exists());
}

/// Tables take as many digits as are asked for, in files and in print.
#[test]
fn digits_are_as_asked_for() {
    let dir = simulated();
    let at = dir.path();
    let all = ok(at, "project m.pv --quiet --view a=s/view1.csv --out -");
    let few = ok(
        at,
        "project m.pv --quiet --view a=s/view1.csv --out - --digits 3",
    );
    let cells = |text: &str| -> Vec<f64> {
        let rows = text.lines().skip(1);
        let cells = rows.flat_map(|l| l.split(',').skip(1));
        cells.map(|c| c.parse().expect("a number")).collect()
    };
    let digits = |text: &str| -> usize {
        let rows = text.lines().skip(1);
        let cells = rows.flat_map(|l| l.split(',').skip(1));
        let count = |c: &str| {
            let c = c
                .split('e')
                .next()
                .unwrap_or_default()
                .replace(['-', '.'], "");
            c.trim_start_matches('0').len()
        };
        cells.map(count).max().unwrap_or(0)
    };
    assert!(digits(&all) > 14 && digits(&few) <= 3, "{few}");
    for (x, y) in cells(&all).into_iter().zip(cells(&few)) {
        assert!((x - y).abs() <= 0.005 * x.abs(), "{x} {y}");
    }
    // probabilities among words, too
    put(
        at,
        "y.csv",
        "sample,y\nsample1,u\nsample2,v\nsample3,u\nsample4,v\nsample5,w\n",
    );
    let x = "sample,p,q\nsample1,1.5,2\nsample2,0.1,-1\nsample3,1.25,2.5\nsample4,0,-1.5\nsample5,-2,0.5\n";
    put(at, "x.csv", x);
    ok(
        at,
        "fit --quiet --model sshiba --view x=x.csv:gaussian --view y=y.csv:categorical -k 1 --out c.pv",
    );
    let text = ok(
        at,
        "predict c.pv --quiet --view x=x.csv --target y --out - --digits 2",
    );
    let first = text.lines().nth(1).expect("a row");
    for cell in first.split(',').skip(2) {
        let digits = cell.split('e').next().unwrap_or_default().replace('.', "");
        assert!(digits.trim_start_matches('0').len() <= 2, "{first}");
    }
    let score = "score --kind real --truth s/view1.csv --predicted file.csv --digits";
    ok(at, "impute m.pv --view a --out file.csv");
    ok(
        at,
        "predict m.pv --view b=s/view2.csv --target a --out file.csv --force",
    );
    let printed = |n: usize| {
        let text = ok(at, &format!("{score} {n}"));
        let line = text
            .lines()
            .find(|l| l.starts_with("RMSE"))
            .expect("a line");
        let number = line.split_whitespace().last().expect("a number").to_owned();
        number.replace('.', "").trim_start_matches('0').len()
    };
    assert_eq!([2, 4, 9].map(printed), [2, 4, 9]);
    for bad in ["0", "18", "-2", "x"] {
        let said = fails(at, &format!("inspect m.pv --digits {bad}"), 2);
        assert!(
            said.contains("--digits") && said.contains("from 1 to 17"),
            "{said}"
        );
    }
}

//! Printed tables: as wide as the terminal, and what they say first.

use std::path::Path;

use assert_cmd::Command;

use crate::common::{ok, put};

/// What it prints where lines have that many columns.
fn printed(folder: &Path, words: &str, columns: usize) -> String {
    let o = Command::cargo_bin("polyview")
        .expect("the binary")
        .current_dir(folder)
        .env("COLUMNS", columns.to_string())
        .args(words.split_whitespace())
        .output()
        .expect("it runs");
    let said = String::from_utf8_lossy(&o.stderr).into_owned();
    assert!(o.status.success(), "polyview {words}: {said}");
    String::from_utf8_lossy(&o.stdout).into_owned()
}

fn narrow(folder: &Path, words: &str, columns: usize) -> String {
    let text = printed(folder, words, columns);
    for line in text.lines() {
        let length = line.chars().count();
        assert!(
            length <= columns,
            "polyview {words}: {length} columns: {line}"
        );
    }
    text
}

#[test]
fn no_line_is_wider_than_the_terminal() {
    let dir = tempfile::tempdir().expect("a folder");
    let at = dir.path();
    ok(
        at,
        "simulate --samples 60 --features 45,30 --factors 30 --seed 2 --out-dir s",
    );
    ok(
        at,
        "fit --quiet --view genes=s/view1.csv --view lipids=s/view2.csv -k 30 --no-pruning --max-sweeps 3 --out m.pv",
    );
    let wide = printed(at, "inspect m.pv", 1000);
    let row = |text: &str| -> Vec<String> {
        // of the table of variances, after its title
        let from = text.find("variance explained").expect("the table");
        let rows = text[from..].lines().filter(|l| l.starts_with("genes"));
        rows.flat_map(|l| l.split_whitespace().skip(1))
            .map(str::to_owned)
            .collect()
    };
    for columns in [100, 60, 40] {
        let text = narrow(at, "inspect m.pv", columns);
        assert_eq!(row(&text), row(&wide), "{columns}");
    }
    // without a word about the terminal: 100
    let o = Command::cargo_bin("polyview")
        .expect("the binary")
        .current_dir(at)
        .env_remove("COLUMNS")
        .args(["inspect", "m.pv"])
        .output()
        .expect("it runs");
    assert_eq!(
        String::from_utf8_lossy(&o.stdout),
        narrow(at, "inspect m.pv", 100)
    );
    narrow(at, "inspect m.pv --checks 5", 60);
    narrow(at, "inspect m.pv --against m.pv", 60);
    let fit = "fit --quiet --view genes=s/view1.csv -k 20 --no-pruning --max-sweeps 2 --out n.pv";
    let table = printed(at, fit, 50);
    // after a line about the fit
    for line in table.lines().skip(1) {
        assert!(line.chars().count() <= 50, "{line}");
    }
    assert_eq!(table.matches("genes").count(), 3, "{table}");
    narrow(
        at,
        "choose-k --quiet --view genes=s/view1.csv --candidates 1,2 --repeats 2 --restarts 1 --max-sweeps 3",
        50,
    );
    ok(
        at,
        "predict m.pv --quiet --view lipids=s/view2.csv --target genes --out p.csv --lower l.csv --upper u.csv",
    );
    let score =
        "score --kind real --truth s/view1.csv --predicted p.csv --lower l.csv --upper u.csv";
    narrow(at, score, 40);
}

/// Every kind of score says what all columns come to before it lists them.
#[test]
fn scores_sum_up_first() {
    let dir = tempfile::tempdir().expect("a folder");
    let at = dir.path();
    put(at, "t.csv", "sample,a,b\n1,3,0\n2,1,4\n3,0,2\n");
    put(at, "p.csv", "sample,a,b\n1,2.5,0.5\n2,1.5,3\n3,0.25,2\n");
    put(at, "y.csv", "sample,a,b\n1,1,0\n2,1,1\n3,0,1\n");
    put(at, "q.csv", "sample,a,b\n1,0.9,0.3\n2,0.6,0.7\n3,0.2,0.6\n");
    for (kind, truth, predicted, sum, head) in [
        ("count", "t.csv", "p.csv", "Poisson deviance", "column"),
        ("real", "t.csv", "p.csv", "R2", "column"),
        ("binary", "y.csv", "q.csv", "AUC, labels", "label"),
    ] {
        let text = printed(
            at,
            &format!("score --kind {kind} --truth {truth} --predicted {predicted}"),
            120,
        );
        let place = |start: &str| {
            let at = text.lines().position(|l| l.starts_with(start));
            at.unwrap_or_else(|| panic!("{start}: {text}"))
        };
        assert!(place(sum) < place(head), "{text}");
    }
}

/// Small numbers keep their digits, and large ones get none that they have not.
#[test]
fn numbers_have_the_digits_that_they_deserve() {
    let dir = tempfile::tempdir().expect("a folder");
    let at = dir.path();
    put(
        at,
        "t.csv",
        "sample,a,b\n1,0.0003,30000\n2,0.0001,10000\n3,0.0002,20000\n",
    );
    put(
        at,
        "p.csv",
        "sample,a,b\n1,0.0006,60000\n2,0.0004,40000\n3,0.0005,50000\n",
    );
    let text = printed(at, "score --kind real --truth t.csv --predicted p.csv", 120);
    let row = |name: &str| {
        let row = text.lines().find(|l| l.starts_with(name)).expect("a row");
        row.split_whitespace().last().expect("a cell").to_owned()
    };
    assert_eq!(row("a "), "0.0003000", "{text}");
    assert_eq!(row("b "), "30000", "{text}");
}

//! Levels and classes that are whole numbers, as other programs write these: `4.0` is `4`.

use std::fmt::Write;

use crate::common::{fails, get, ok, put, said};

/// Whole numbers as a program writes them whose column has an empty cell: `4.0` for `4`.
fn with_decimals(table: &str) -> String {
    let mut lines = table.lines();
    let mut out = lines.next().unwrap_or_default().to_owned() + "\n";
    for line in lines {
        let mut cells = line.split(',');
        out.push_str(cells.next().unwrap_or_default());
        for cell in cells {
            let _ = write!(out, ",{cell}{}", if cell.is_empty() { "" } else { ".0" });
        }
        out.push('\n');
    }
    out
}

/// Levels, classes and labels that follow one factor, and numbers that do.
fn folder() -> tempfile::TempDir {
    let dir = tempfile::tempdir().expect("a folder");
    let factor = |n: usize| ((n * 5) % 24) as f64 / 12.0 - 1.0;
    let level = |n: usize, d: usize| {
        let noise = ((n * 7 + d * 13 + n * n * 3) % 11) as f64 / 11.0 - 0.45;
        (2.0 + 1.5 * factor(n) + noise).clamp(0.0, 3.0) as usize + 1
    };
    let table = |name: &str, columns: usize, cell: &dyn Fn(usize, usize) -> String| {
        let names: Vec<String> = (0..columns).map(|d| format!("{name}{d}")).collect();
        let mut text = format!("id,{}\n", names.join(","));
        for n in 0..48 {
            let cells: Vec<String> = (0..columns).map(|d| cell(n, d)).collect();
            let _ = writeln!(text, "s{n},{}", cells.join(","));
        }
        put(dir.path(), &format!("{name}.csv"), &text);
        put(dir.path(), &format!("{name}-0.csv"), with_decimals(&text));
    };
    table("x", 4, &|n, d| {
        (factor(n) + 0.1 * ((n + 3 * d) % 5) as f64).to_string()
    });
    table("q", 3, &|n, d| level(n, d).to_string());
    table("c", 1, &|n, d| level(n, d).to_string());
    table("b", 1, &|n, _| u8::from(factor(n) > 0.0).to_string());
    dir
}

#[test]
fn the_same_number_is_the_same_level_class_and_label() {
    let dir = folder();
    let at = dir.path();
    let fit = "fit --model sshiba --view x=x.csv -k 2 --seed 1 --max-sweeps 20 --no-settle";
    for (view, kind, model) in [
        ("q=q.csv:ordinal", "ordinal", "q"),
        ("c=c.csv:categorical", "categorical", "c"),
    ] {
        ok(at, &format!("{fit} --view {view} --out {model}.pv"));
        ok(
            at,
            &format!("predict {model}.pv --view x=x.csv --target {model} --out p.csv --force"),
        );
        let scored = |truth: &str| {
            ok(
                at,
                &format!("score --truth {truth} --predicted p.csv --kind {kind}"),
            )
        };
        assert_eq!(
            scored(&format!("{model}.csv")),
            scored(&format!("{model}-0.csv"))
        );
    }
    // classes without probabilities
    put(
        at,
        "only.csv",
        get(at, "p.csv")
            .lines()
            .map(|l| l.split(',').take(2).collect::<Vec<_>>().join(",") + "\n")
            .collect::<String>(),
    );
    let scored = |truth: &str| {
        let words = format!("score --truth {truth} --predicted only.csv --kind categorical");
        ok(at, &words)
    };
    let [plain, decimals] = ["c.csv", "c-0.csv"].map(scored);
    assert_eq!(plain, decimals);
    // new data of a model, either way
    for (trained, new) in [("c", "c-0"), ("c-0", "c")] {
        let view = format!("--view c={trained}.csv:categorical");
        ok(at, &format!("{fit} {view} --out m.pv --force"));
        let project = |table: &str| {
            let words = format!("project m.pv --view x=x.csv --view c={table}.csv --out z.csv");
            ok(at, &format!("{words} --force"));
            get(at, "z.csv")
        };
        assert_eq!(project(trained), project(new));
    }
    ok(at, &format!("{fit} --labels b.csv:bernoulli --out b.pv"));
    let project = |table: &str| {
        let words = format!("project b.pv --view x=x.csv --labels {table} --out z.csv --force");
        ok(at, &words);
        get(at, "z.csv")
    };
    assert_eq!(project("b.csv"), project("b-0.csv"));
    // levels by words, or by their numbers
    let words = "--view q=q-0.csv:ordinal{levels=never;seldom;often;always}";
    let told = said(at, &format!("{fit} {words} --out w.pv"));
    assert!(told.contains("w.pv"), "{told}");
    // what is no class is none
    put(at, "strange.csv", get(at, "c.csv").replace("s0,", "s0,1"));
    let words = "project c.pv --view x=x.csv --view c=strange.csv --out n.csv";
    let err = fails(at, words, 1);
    assert!(err.contains("s0"), "{err}");
}

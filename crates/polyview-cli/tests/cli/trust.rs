//! What `inspect` says of what it did not look at.

use std::fmt::Write;
use std::path::Path;

use crate::common::{ok, put};

fn table(at: &Path, name: &str, samples: usize, features: usize) {
    let names: Vec<String> = (0..features).map(|d| format!("{name}{d}")).collect();
    let mut text = format!("id,{}\n", names.join(","));
    for n in 0..samples {
        let u = ((n * 7) % 23) as f64 / 11.0 - 1.0;
        let cell = |d: usize| u * (d % 5) as f64 + ((n * 3 + d * 5) % 13) as f64 / 13.0;
        let cells: Vec<String> = (0..features).map(|d| format!("{:.3}", cell(d))).collect();
        let _ = writeln!(text, "s{n},{}", cells.join(","));
    }
    put(at, &format!("{name}.csv"), text);
}

fn words(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[test]
fn checks_say_which_part_they_looked_at() {
    let dir = tempfile::tempdir().expect("a folder");
    let at = dir.path();
    for (samples, features, said) in [
        (
            510,
            4,
            Some("note: x: looked at 500 of 510 samples, evenly spread"),
        ),
        (
            12,
            1010,
            Some("note: x: looked at 1000 of 1010 features, evenly spread"),
        ),
        (30, 4, None),
    ] {
        table(at, "x", samples, features);
        ok(
            at,
            "fit --view x=x.csv:gaussian -k 1 --max-sweeps 5 --out m.pv --force",
        );
        let text = words(&ok(at, "inspect m.pv --checks 3"));
        match said {
            Some(said) => assert!(text.contains(said), "{text}"),
            None => assert!(!text.contains("looked at"), "{text}"),
        }
        ok(at, "report m.pv --checks 3 --out r.html --force");
        let page = std::fs::read_to_string(at.join("r.html")).expect("a report");
        assert_eq!(page.contains("Of x: looked at"), said.is_some());
    }
}

#[test]
fn views_that_are_not_compared_are_named() {
    let dir = tempfile::tempdir().expect("a folder");
    let at = dir.path();
    for name in ["x", "y", "z"] {
        table(at, name, 20, 3);
    }
    let class = |n: usize| ["low", "mid", "high"][n % 3];
    let classes = (0..20).map(|n| format!("s{n},{}\n", class(n)));
    put(
        at,
        "c.csv",
        format!("id,c\n{}", classes.collect::<String>()),
    );
    let codes = (0..20).map(|n| format!("s{n},{}\n", n % 3));
    put(
        at,
        "codes.csv",
        format!("id,c\n{}", codes.collect::<String>()),
    );
    let fit = "fit --model sshiba -k 1 --max-sweeps 5 --view x=x.csv:gaussian";
    ok(
        at,
        &format!("{fit} --view y=y.csv:gaussian --view c=c.csv:categorical --out a.pv"),
    );
    ok(
        at,
        &format!("{fit} --view z=z.csv:gaussian --view c=codes.csv:gaussian --out b.pv"),
    );
    let text = words(&ok(at, "inspect a.pv --against b.pv"));
    for said in [
        "note: y: not compared: the second fit has no such view",
        "note: z: not compared: the first fit has no such view",
        "note: c: not compared: it is categorical in the first fit and gaussian in the second",
    ] {
        assert!(text.contains(said), "{said}: {text}");
    }
    assert!(!text.contains("x: not compared"), "{text}");
}

/// What the numbers of a comparison are of is said.
#[test]
fn what_is_compared_is_said() {
    let dir = tempfile::tempdir().expect("a folder");
    let at = dir.path();
    table(at, "x", 30, 4);
    let fit = "fit --view x=x.csv:gaussian -k 1 --max-sweeps 5 --out";
    ok(at, &format!("{fit} m.pv"));
    ok(at, &format!("{fit} n.pv --seed 2"));
    let text = words(&ok(at, "inspect m.pv --against n.pv"));
    assert!(
        text.contains(
            "weights: of the squared length of the weights of each feature that was looked at"
        ),
        "{text}"
    );
}

/// Which part is looked at, which choices of all views are others, and what is usual of engines alone.
#[test]
fn comparisons_say_what_differs() {
    let dir = tempfile::tempdir().expect("a folder");
    let at = dir.path();
    table(at, "x", 80, 50);
    let rows: Vec<String> = (0..80)
        .map(|n| format!("s{n},{},{}\n", n % 7, n % 2))
        .collect();
    let rows = rows.concat();
    put(at, "about.csv", format!("id,age,batch\n{rows}"));
    let fit = "fit --view x=x.csv:gaussian --max-sweeps 5 --metadata about.csv";
    ok(at, &format!("{fit} -k 1 --out m.pv"));
    ok(at, &format!("{fit} -k 2 --adjust age --out a.pv"));
    ok(
        at,
        &format!("{fit} -k 1 --groups batch --group-noise --weights relevance --out g.pv"),
    );
    ok(at, &format!("{fit} -k 1 --factor-prior ard --out p.pv"));
    for (other, said) in [
        (
            "m.pv",
            "note: x: looked at 50 of 80 samples and 40 of 50 features, evenly spread",
        ),
        (
            "a.pv",
            "adjusted for are none in the first fit and age in the second",
        ),
        (
            "a.pv",
            "the first fit started with 1 factors, of which 1 are left, the second with 2",
        ),
        (
            "g.pv",
            "groups of samples with parameters of their own are none in the first fit and 0, 1 in the second",
        ),
        (
            "p.pv",
            "choices for all views are others in the first fit and in the second: factor-prior",
        ),
    ] {
        let text = words(&ok(at, &format!("inspect m.pv --against {other}")));
        assert!(text.contains(said), "{said}: {text}");
        assert!(!text.contains("usual"), "{text}");
        let alike = other == "m.pv";
        assert!(!alike || !text.contains("in the second"), "{text}");
    }
}

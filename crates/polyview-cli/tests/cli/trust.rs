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
        text.contains("weights: of the squared length of each feature's weights"),
        "{text}"
    );
}

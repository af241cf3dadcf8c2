//! Scores against what a model was measured by: means of groups, numbers of trials.

use std::fmt::Write;

use crate::common::{fails, ok, put};

#[test]
fn r2_is_against_the_means_of_groups() {
    let dir = tempfile::tempdir().expect("a folder");
    let at = dir.path();
    let mut who = "id,clinic\n".to_owned();
    let [mut training, mut truth, mut predicted] = [(); 3].map(|()| "id,a\n".to_owned());
    for n in 0..12 {
        let (clinic, level) = [("north", 0.0), ("south", 100.0)][n % 2];
        let x = level + [-1.0, 1.0][(n / 2) % 2];
        let _ = writeln!(who, "s{n},{clinic}\nt{n},{clinic}");
        let _ = writeln!(training, "s{n},{x}");
        let _ = writeln!(truth, "t{n},{x}");
        // half of what the groups leave
        let _ = writeln!(predicted, "t{n},{}", level + 0.5 * (x - level));
    }
    put(at, "who.csv", who);
    put(at, "training.csv", training);
    put(at, "truth.csv", truth);
    put(at, "p.csv", predicted);
    let score = "score --truth truth.csv --predicted p.csv --kind real --training training.csv";
    let r2 = |words: &str| -> f64 {
        let text = ok(at, &format!("{words} --json"));
        let json: serde_json::Value = serde_json::from_str(&text).expect("JSON");
        json["r2"].as_f64().expect("a number")
    };
    assert!(r2(score) > 0.99);
    let grouped = format!("{score} --metadata who.csv --groups clinic");
    assert!((r2(&grouped) - 0.75).abs() < 1e-12);
    assert!(ok(at, &grouped).contains("over the samples of the same clinic"));
    assert!(ok(at, score).contains("--groups"));
    let err = fails(at, &format!("{score} --metadata who.csv --groups ward"), 2);
    assert!(err.contains("no such column"), "{err}");
}

#[test]
fn probabilities_of_a_success_need_trials() {
    let dir = tempfile::tempdir().expect("a folder");
    let at = dir.path();
    let [mut wins, mut games, mut p] = [(); 3].map(|()| "id,a,b\n".to_owned());
    for n in 0..10 {
        let _ = writeln!(wins, "s{n},{},{}", 2 * n, n + 1);
        let _ = writeln!(games, "s{n},20,{}", 2 * n + 2);
        let _ = writeln!(p, "s{n},{},0.5", n as f64 / 10.0);
    }
    put(at, "wins.csv", wins);
    put(at, "games.csv", games);
    put(at, "p.csv", p);
    let score = "score --truth wins.csv --predicted p.csv --kind count";
    let err = fails(at, score, 2);
    assert!(
        err.contains("probabilities of a success") && err.contains("--trials"),
        "{err}"
    );
    let text = ok(at, &format!("{score} --trials games.csv --json"));
    let json: serde_json::Value = serde_json::from_str(&text).expect("JSON");
    assert_eq!(json["density"], "binomial");
    assert!(json["deviance"].as_f64().expect("a number").abs() < 1e-9);
    assert!(
        (json["columns"][0]["deviance_explained"]
            .as_f64()
            .expect("a number")
            - 1.0)
            .abs()
            < 1e-9
    );
    // a rate that every cell has leaves nothing to explain
    assert!(json["columns"][1]["deviance_explained"].is_null());
    let err = fails(at, &format!("{score} --trials wins.csv --sd p.csv"), 2);
    assert!(err.contains("--sd"), "{err}");
}

//! Labels that are words: written as words by every verb, and scored by the word
//! that the probabilities are of.

use std::fmt::Write;

use crate::common::{fails, get, ok, put, run};

/// Numbers, a label of words that follows them, and one of numbers; every fifth
/// label is unknown.
fn folder() -> tempfile::TempDir {
    let dir = tempfile::tempdir().expect("a folder");
    let mut x = "id,a,b,c\n".to_owned();
    let (mut truth, mut holes) = ("id,ill,side\n".to_owned(), "id,ill,side\n".to_owned());
    for n in 0_usize..40 {
        let u = ((n * 5) % 13) as f64 / 6.0 - 1.0;
        let v = ((n * 7) % 11) as f64 / 5.0 - 1.0;
        let wobble = |d: usize| 0.2 * (((n * 3 + d * 5) % 7) as f64 / 7.0 - 0.5);
        let _ = writeln!(
            x,
            "s{n},{:.3},{:.3},{:.3}",
            u + wobble(0),
            v + wobble(1),
            u - v
        );
        let ill = if u > 0.0 { "wt" } else { "mutant" };
        let side = if v > 0.0 { "2" } else { "1" };
        let _ = writeln!(truth, "s{n},{ill},{side}");
        let ill = if n % 5 == 0 { "" } else { ill };
        let _ = writeln!(holes, "s{n},{ill},{side}");
    }
    put(dir.path(), "x.csv", x);
    put(dir.path(), "truth.csv", truth);
    put(dir.path(), "y.csv", holes);
    ok(
        dir.path(),
        "fit --model sshiba -k 2 --view x=x.csv --labels y.csv:bernoulli --out m.pv",
    );
    dir
}

fn score(folder: &std::path::Path, truth: &str, predicted: &str, more: &str) -> serde_json::Value {
    let words =
        format!("score --truth {truth} --predicted {predicted} --kind binary --json {more}");
    serde_json::from_str(&ok(folder, &words)).expect("JSON")
}

#[test]
fn probabilities_are_scored_by_their_word() {
    let dir = folder();
    let at = dir.path();
    for (target, word) in [("ill", "wt"), ("side", "2")] {
        let o = run(
            at,
            &format!("predict m.pv --view x=x.csv --target {target} --out {target}.csv"),
        );
        let said = String::from_utf8_lossy(&o.stderr).into_owned();
        assert!(
            said.contains(&format!("probabilities are of '{word}'")),
            "{said}"
        );
        let text = get(at, &format!("{target}.csv"));
        let header = format!("sample,{target},score,probability_of_{word}\n");
        assert!(text.starts_with(&header), "{text}");
        let found = score(at, "truth.csv", &format!("{target}.csv"), "");
        assert_eq!(found["positive"], word);
        let loss = found["all"]["log_loss"].as_f64().expect("a finite loss");
        assert!(loss > 0.0 && loss < 0.7, "{loss}");
        assert!(found["auc_macro"]["value"].as_f64() > Some(0.9), "{found}");
        // files without the word in the name, as they were once written
        let old = text.replacen(&format!("probability_of_{word}"), "probability", 1);
        put(at, "old.csv", &old);
        assert_eq!(score(at, "truth.csv", "old.csv", ""), found);
        assert_eq!(
            score(at, "truth.csv", "old.csv", &format!("--positive {word}")),
            found
        );
        // where none of them is likely, the truth knows the other word
        let unlikely: Vec<&str> = (old.lines().enumerate())
            .filter(|(n, l)| *n == 0 || !l.contains(&format!(",{word},")))
            .map(|(_, l)| l)
            .collect();
        put(at, "unlikely.csv", unlikely.join("\n") + "\n");
        assert_eq!(score(at, "truth.csv", "unlikely.csv", "")["positive"], word);
        let err = fails(
            at,
            &format!(
                "score --truth truth.csv --predicted {target}.csv --kind binary --positive no"
            ),
            2,
        );
        assert!(
            err.contains(&format!("are of '{word}', not of 'no'")),
            "{err}"
        );
    }
    // a table of probabilities of one's own, and a truth of words
    let rows = get(at, "truth.csv");
    let mut own = "id,ill\n".to_owned();
    for line in rows.lines().skip(1) {
        let p = if line.contains("wt") { 0.9 } else { 0.2 };
        let _ = writeln!(own, "{},{p}", line.split(',').next().unwrap_or(""));
    }
    put(at, "own.csv", own);
    let found = score(at, "truth.csv", "own.csv", "--positive wt");
    assert!(found["all"]["accuracy"].as_f64() > Some(0.999), "{found}");
    let binary = "score --truth truth.csv --predicted own.csv --kind binary";
    let err = fails(at, binary, 2);
    assert!(err.contains("--positive WORD"), "{err}");
    let err = fails(at, &format!("{binary} --positive nobody"), 2);
    assert!(
        err.contains("'nobody' does not stand in truth.csv"),
        "{err}"
    );
    // another truth than the label's
    put(at, "bits.csv", "id,ill\ns1,0\ns2,1\n");
    let err = fails(
        at,
        "score --truth bits.csv --predicted ill.csv --kind binary",
        1,
    );
    assert!(err.contains("is neither 'mutant' nor 'wt'"), "{err}");
    put(at, "no.csv", "id,well\ns1,0\ns2,1\n");
    let err = fails(
        at,
        "score --truth no.csv --predicted ill.csv --kind binary",
        1,
    );
    assert!(err.contains("no column 'ill'"), "{err}");
}

#[test]
fn what_holds_no_probabilities_is_said() {
    let dir = folder();
    let at = dir.path();
    ok(at, "impute m.pv --view ill --out filled.csv");
    let err = fails(
        at,
        "score --truth truth.csv --predicted filled.csv --kind binary",
        2,
    );
    assert!(err.contains("no column 'probability_of_WORD'"), "{err}");
    put(at, "t.csv", "id,a\ns1,0\ns2,1\ns3,1\n");
    put(at, "hard.csv", "id,a\ns1,0\ns2,1\ns3,0\n");
    let o = run(at, "score --truth t.csv --predicted hard.csv --kind binary");
    let said = String::from_utf8_lossy(&o.stderr).into_owned();
    assert!(said.contains("column 'a' holds no probabilities"), "{said}");
    let text = String::from_utf8_lossy(&o.stdout).into_owned();
    assert!(
        text.contains("share of ones") && !text.contains("share right"),
        "{text}"
    );
}

#[test]
fn every_verb_writes_words() {
    let dir = folder();
    let at = dir.path();
    ok(
        at,
        "impute m.pv --view ill --out filled.csv --probabilities p.csv",
    );
    let (filled, truth) = (get(at, "filled.csv"), get(at, "truth.csv"));
    assert!(filled.starts_with("sample,ill\n"), "{filled}");
    let mut right = 0;
    for (n, (f, t)) in filled.lines().zip(truth.lines()).enumerate().skip(1) {
        let (word, known) = (f.split(',').nth(1), t.split(',').nth(1));
        assert!(matches!(word, Some("wt" | "mutant")), "{f}");
        // the first line is that of sample 0, a hole
        if n % 5 == 1 {
            right += usize::from(word == known);
        } else {
            assert_eq!(word, known, "an observed word stays");
        }
    }
    assert!(right >= 6, "{right} of 8");
    let p = get(at, "p.csv");
    assert!(p.starts_with("sample,mutant,wt\n"), "{p}");
    assert!(p.contains("\ns1,1,0\n") || p.contains("\ns1,0,1\n"), "{p}");
    // probabilities alone can be scored as classes
    let ill = |l: &str| l.rsplit_once(',').expect("three columns").0.to_owned() + "\n";
    put(
        at,
        "truth-ill.csv",
        truth.lines().map(ill).collect::<String>(),
    );
    let scored = ok(
        at,
        "score --truth truth-ill.csv --predicted p.csv --kind categorical --json",
    );
    assert!(scored.contains("\"log_loss\""), "{scored}");

    ok(at, "simulate --from m.pv --samples 30 --out-dir sim");
    let drawn = get(at, "sim/ill.csv");
    assert!(
        drawn.contains(",wt\n") && drawn.contains(",mutant\n"),
        "{drawn}"
    );
    ok(
        at,
        "project m.pv --view x=sim/x.csv --labels sim/ill.csv --out z.csv",
    );
    let text = ok(at, "inspect m.pv");
    assert!(
        text.contains("labels of ill: mutant, wt; scores and probabilities are of 'wt'"),
        "{text}"
    );
    let err = fails(at, "impute m.pv --view ill --out f.npy", 2);
    assert!(err.contains("NumPy"), "{err}");
}

/// What `impute --probabilities` writes of a label is scored as what `predict` writes.
#[test]
fn filled_labels_are_scored_by_their_words() {
    let dir = folder();
    let at = dir.path();
    // the truth of what was hidden, and of no other sample
    let rows = get(at, "truth.csv");
    let hidden = (rows.lines().enumerate()).filter(|(n, _)| *n == 0 || (n - 1).is_multiple_of(5));
    let hidden: Vec<&str> = hidden.map(|(_, line)| line).collect();
    put(at, "hidden.csv", hidden.join("\n") + "\n");
    for (view, words) in [("ill", ["mutant", "wt"]), ("side", ["1", "2"])] {
        let (filled, p) = (format!("{view}-filled.csv"), format!("{view}-p.csv"));
        ok(
            at,
            &format!("impute m.pv --view {view} --out {filled} --probabilities {p}"),
        );
        let header = format!("sample,{},{}\n", words[0], words[1]);
        assert!(get(at, &p).starts_with(&header), "{}", get(at, &p));
        let found = score(at, "hidden.csv", &p, "");
        assert_eq!(found["positive"], words[1]);
        assert_eq!(found["samples"], 8);
        assert_eq!(found["labels"][0]["name"], view);
        let right = found["all"]["accuracy"].as_f64();
        assert!(
            right > Some(if view == "ill" { 0.7 } else { 0.99 }),
            "{found}"
        );
        // of the other word everything mirrors
        let other = score(at, "hidden.csv", &p, &format!("--positive {}", words[0]));
        assert_eq!(other["positive"], words[0]);
        assert_eq!(other["all"]["accuracy"], found["all"]["accuracy"]);
        assert_eq!(other["auc_macro"], found["auc_macro"]);
        let err = fails(
            at,
            &format!("score --truth hidden.csv --predicted {p} --kind binary --positive nobody"),
            2,
        );
        assert!(err.contains("not of 'nobody'"), "{err}");
        // chosen words are classes
        for file in [&p, &filled] {
            let words =
                format!("score --truth {view}.csv --predicted {file} --kind categorical --json");
            let column = usize::from(view == "side") + 1;
            let one = hidden.iter().map(|l| {
                let cells: Vec<&str> = l.split(',').collect();
                format!("{},{}\n", cells[0], cells[column])
            });
            put(at, &format!("{view}.csv"), one.collect::<String>());
            let classes: serde_json::Value = serde_json::from_str(&ok(at, &words)).expect("JSON");
            assert_eq!(classes["accuracy"], found["all"]["accuracy"], "{classes}");
        }
    }
}

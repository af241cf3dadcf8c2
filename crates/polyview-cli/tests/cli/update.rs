//! New samples taken into a model at the command line.

use crate::common::{fails, get, ok, put, said};

/// Rows of the mice that come with the program, in two parts, and new mice.
fn folder() -> tempfile::TempDir {
    let dir = tempfile::tempdir().expect("a folder");
    ok(dir.path(), "datasets nutrimouse --out-dir .");
    for view in ["genes", "lipids"] {
        let all = get(dir.path(), &format!("{view}.csv"));
        let lines: Vec<&str> = all.lines().collect();
        let part = |rows: &[&str]| format!("{}\n{}\n", lines[0], rows.join("\n"));
        put(
            dir.path(),
            &format!("first-{view}.csv"),
            part(&lines[1..21]),
        );
        put(dir.path(), &format!("later-{view}.csv"), part(&lines[21..]));
    }
    dir
}

const FIT: &str = "fit --view genes=first-genes.csv --view lipids=first-lipids.csv -k 3 --seed 1";
const LATER: &str = "--view genes=later-genes.csv --view lipids=later-lipids.csv";

#[test]
fn new_samples_go_into_a_model() {
    let dir = folder();
    let dir = dir.path();
    ok(dir, &format!("{FIT} --out m.pv"));
    let told = said(dir, &format!("update m.pv {LATER} --out m2.pv"));
    assert!(
        told.contains("12 new samples beside 20, 3 factors, 1 pass"),
        "{told}"
    );
    let found = ok(dir, "inspect m2.pv --json");
    let found: serde_json::Value = serde_json::from_str(&found).expect("JSON");
    assert_eq!(
        found["samples"].as_array().map_or(32, Vec::len),
        32,
        "{found}"
    );
    let shown = ok(dir, "inspect m2.pv");
    let shown = shown.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(
        shown.contains("all of the first fit updated 12 new sample(s) taken in beside 20"),
        "{shown}"
    );
    assert_eq!(found["updates"].as_array().map(Vec::len), Some(1));
    assert!(!ok(dir, "inspect m.pv").contains("of the first fit"));
    ok(dir, "report m2.pv --out r.html");
    ok(dir, "export m2.pv --factors z.csv");
    assert_eq!(get(dir, "z.csv").lines().count(), 33);
    ok(
        dir,
        "predict m2.pv --view genes=new-genes.csv --target lipids --out p.csv",
    );
    // one view alone, sample by sample, with machine-readable words; and again from the answer
    let json = ok(
        dir,
        "--json update m.pv --view genes=later-genes.csv --batch 1 --forget 0.01 --out g.pv",
    );
    let json: serde_json::Value = serde_json::from_str(&json).expect("JSON");
    assert_eq!((&json["taken"], &json["samples"]), (&12.into(), &32.into()));
    let told = said(
        dir,
        "update g.pv --view lipids=new-lipids.csv --passes 3 --out g2.pv",
    );
    assert!(told.contains("8 new samples beside 32"), "{told}");
    ok(
        dir,
        &format!("update m.pv {LATER} --refresh --passes 5 --out all.pv"),
    );
}

#[test]
fn what_cannot_be_taken_in_is_said() {
    let dir = folder();
    let dir = dir.path();
    ok(dir, &format!("{FIT} --out m.pv"));
    for (words, says) in [
        (
            "m.pv --view genes=first-genes.csv --out n.pv",
            "20 of the new samples are in the model already",
        ),
        (
            "m.pv --view lipids=later-genes.csv --out n.pv",
            "are not in the model, first",
        ),
        ("m.pv --out n.pv", "no view was given"),
        (
            "m.pv --view genes=later-genes.csv --passes 0 --out n.pv",
            "passes = 0 is not allowed",
        ),
        (
            "m.pv --view genes=later-genes.csv --forget 1 --out n.pv",
            "forget = 1 is not allowed; give a number from 0 on, below 1",
        ),
        (
            "m.pv --view genes=later-genes.csv --refresh --out n.pv",
            "ask for more passes",
        ),
        ("m.pv --view genes=later-genes.csv --out m.pv", "m.pv"),
        ("m.pv --view diet=diet.csv --out n.pv", "has no view 'diet'"),
    ] {
        let o = crate::common::run(dir, &format!("update {words}"));
        let err = String::from_utf8_lossy(&o.stderr);
        let err = err.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(!o.status.success() && err.contains(says), "{words}: {err}");
        assert!(
            !err.contains("panicked") && !dir.join("n.pv").exists(),
            "{err}"
        );
    }
    ok(
        dir,
        "fit --model mofa --view lipids=first-lipids.csv:censored -k 2 --max-sweeps 5 --out c.pv",
    );
    let err = fails(
        dir,
        "update c.pv --view lipids=later-lipids.csv --out n.pv",
        1,
    );
    let err = err.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(
        err.contains("view 'lipids' is censored: its noise is learnt from all cells"),
        "{err}"
    );
    assert!(
        err.contains("fit the old and the new samples together"),
        "{err}"
    );
}

#[test]
fn what_update_takes_is_what_its_help_says() {
    let dir = tempfile::tempdir().expect("a folder");
    let dir = dir.path();
    let help = ok(dir, "update --help");
    let help = help.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(
        !help.contains("--covariates") && !help.contains("--offset"),
        "{help}"
    );
    assert!(
        help.contains("though none that this command reads"),
        "{help}"
    );
    assert!(help.contains("form=bound"), "{help}");
    for (option, least) in [("--batch", 1), ("--passes", 1)] {
        for bad in ["-3", "x", "1.5", ""] {
            let o = std::process::Command::new(assert_cmd::cargo::cargo_bin("polyview"))
                .args(["update", "m.pv", option, bad, "--out", "n.pv"])
                .output()
                .expect("it runs");
            let err = String::from_utf8_lossy(&o.stderr);
            assert!(
                err.contains(&format!("give a whole number, {least} or larger")),
                "{option} {bad}: {err}"
            );
        }
    }
    let err = fails(dir, "update m.pv --batch 0 --out n.pv", 2);
    assert!(err.contains("give a whole number, 1 or larger"), "{err}");
    let err = fails(dir, "update m.pv --forget x --out n.pv", 2);
    assert!(err.contains("give a number, such as 0.5"), "{err}");
}

#[test]
fn a_model_is_not_its_own_answer_and_bounds_are_told_of() {
    let dir = folder();
    let dir = dir.path();
    ok(dir, &format!("{FIT} --out m.pv"));
    let err = fails(dir, &format!("update m.pv {LATER} --force --out m.pv"), 2);
    assert!(err.contains("is read by this command"), "{err}");
    for (option, file) in [
        ("--covariates", "samples.csv"),
        ("--offset", "genes=samples.csv"),
    ] {
        let err = fails(
            dir,
            &format!("update m.pv {LATER} {option} {file} --out n.pv"),
            2,
        );
        let err = err.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(
            err.contains(&format!("{option}: this model was not adjusted")),
            "{err}"
        );
    }
    let all = get(dir, "knockout.csv");
    let lines: Vec<&str> = all.lines().collect();
    put(dir, "first-knockout.csv", lines[..21].join("\n") + "\n");
    let words = "fit --model sshiba --no-settle -k 2 --max-sweeps 20 --view lipids=first-lipids.csv --view knockout=first-knockout.csv:";
    ok(dir, &format!("{words}bernoulli --out b.pv"));
    let told = said(
        dir,
        "update b.pv --view lipids=later-lipids.csv --out b2.pv",
    );
    assert!(
        told.contains("view 'knockout' is bernoulli: samples are taken in under its bound"),
        "{told}"
    );
    ok(dir, &format!("{words}bernoulli{{form=bound}} --out c.pv"));
    let told = said(
        dir,
        "update c.pv --view lipids=later-lipids.csv --out c2.pv",
    );
    assert!(!told.contains("under its bound"), "{told}");
}

/// Samples keep their groups where nothing in the model depends on them: those of the column of the fit, without a word that
/// it changes nothing.
#[test]
fn groups_of_new_samples_are_those_of_the_column_of_the_fit() {
    let dir = tempfile::tempdir().unwrap();
    let at = dir.path();
    let rows = |from: usize, to: usize| {
        let row = |n: usize| {
            let x = |d: usize| ((n * 7 + d * 13) % 11) as f64 + (n * d % 3) as f64;
            format!("s{n},{},{},{}\n", x(1), x(2), x(3))
        };
        "id,a,b,c\n".to_owned() + &(from..to).map(row).collect::<String>()
    };
    let groups = |from: usize, to: usize| {
        let row = |n: usize| format!("s{n},{}\n", ["north", "south"][n % 2]);
        "id,site\n".to_owned() + &(from..to).map(row).collect::<String>()
    };
    put(at, "x.csv", rows(0, 30));
    put(at, "m.csv", groups(0, 30));
    put(at, "y.csv", rows(30, 50));
    put(at, "n.csv", groups(30, 50));
    let fit = "fit --view x=x.csv --metadata m.csv --groups site -k 2 --seed 1 --out a.pv";
    ok(at, &format!("{fit} --model bibfa"));
    let text = said(at, "update a.pv --view x=y.csv --metadata n.csv --out b.pv");
    assert!(
        text.contains("those of the column 'site', as in the fit")
            && !text.contains("changes nothing"),
        "{text}"
    );
    assert!(!text.contains("have no groups"), "{text}");
    let json = ok(at, "inspect b.pv --json");
    assert!(json.contains("south") && json.contains("north"), "{json}");
}

//! The studies that come with the program, as tables.

use crate::common::{fails, get, ok, put, run};

#[test]
fn they_are_listed_described_and_written() {
    let dir = tempfile::tempdir().expect("a folder");
    let at = dir.path();
    let list = ok(at, "datasets");
    let names = ["nutrimouse", "patients", "cohort", "digits"];
    assert!(names.iter().all(|n| list.contains(n)), "{list}");
    let all: serde_json::Value = serde_json::from_str(&ok(at, "datasets --json")).expect("JSON");
    let found: Vec<&str> = all
        .as_array()
        .expect("a list")
        .iter()
        .map(|s| s["name"].as_str().expect("a name"))
        .collect();
    assert_eq!(found, names);
    assert_eq!(all[1]["simulated"], true);

    // whom to cite, the licence, and how each table is given to a fit
    let said = ok(at, "datasets nutrimouse");
    for what in [
        "Martin",
        "MIT",
        "--view lipids=lipids.csv",
        "--view diet=diet.csv:categorical",
        "--metadata samples.csv",
    ] {
        assert!(said.contains(what), "{what}: {said}");
    }
    assert!(ok(at, "datasets patients").contains("no real data"));

    let o = run(at, "datasets nutrimouse --out-dir mice");
    let said = String::from_utf8_lossy(&o.stderr).into_owned();
    assert!(
        o.status.success() && said.contains("5 tables of 32 samples written to mice; 8 more"),
        "{said}"
    );
    let rows = |name: &str| get(at, name).lines().count() - 1;
    assert_eq!(
        (rows("mice/genes.csv"), rows("mice/new-genes.csv")),
        (32, 8)
    );
    assert!(get(at, "mice/diet.csv").starts_with("sample,diet\nmouse01,lin\n"));
    assert!(get(at, "mice/new-knockout.csv").starts_with("sample,knockout\nmouse05,0\n"));
    ok(at, "datasets nutrimouse --whole --out-dir whole");
    assert_eq!(rows("whole/samples.csv"), 40);
    assert!(!at.join("whole/new-genes.csv").exists());
}

#[test]
fn the_options_of_a_study_fit_it() {
    let dir = tempfile::tempdir().expect("a folder");
    let at = dir.path();
    for name in ["nutrimouse", "patients"] {
        ok(at, &format!("datasets {name} --out-dir ."));
        let about: serde_json::Value =
            serde_json::from_str(&ok(at, &format!("datasets {name} --json"))).expect("JSON");
        let tables = about["tables"].as_array().expect("a list");
        let options: Vec<&str> = tables
            .iter()
            .map(|t| t["option"].as_str().expect("an option"))
            .collect();
        let fit = options.join(" ");
        ok(
            at,
            &format!("fit --model sshiba {fit} -k 2 --max-sweeps 3 --out {name}.pv"),
        );
    }
}

#[test]
fn what_is_there_stays() {
    let dir = tempfile::tempdir().expect("a folder");
    let at = dir.path();
    put(at, "new-diet.csv", "precious");
    let said = fails(at, "datasets nutrimouse --out-dir .", 1);
    assert!(
        said.contains("new-diet.csv: the file exists") && said.contains("--force"),
        "{said}"
    );
    assert_eq!(get(at, "new-diet.csv"), "precious");
    assert!(!at.join("genes.csv").exists(), "all of them or none");
    ok(at, "datasets nutrimouse --out-dir . --force");
    assert!(get(at, "new-diet.csv").starts_with("sample,diet"));
    let said = fails(at, "datasets mice", 2);
    assert!(
        said.contains("'mice'") && said.contains("nutrimouse, patients, cohort, digits"),
        "{said}"
    );
    fails(at, "datasets --out-dir .", 2);
    fails(at, "datasets nutrimouse --whole", 2);
}

/// A folder that cannot be made is named, by every command that makes one.
#[test]
fn a_folder_that_is_a_file_is_named() {
    let dir = tempfile::tempdir().expect("a folder");
    let at = dir.path();
    put(at, "taken", "precious");
    for words in [
        "datasets nutrimouse --out-dir taken",
        "simulate --out-dir taken",
        "demo --out-dir taken",
    ] {
        let said = fails(at, words, 1);
        assert!(said.contains("error: taken: cannot write it"), "{said}");
    }
}

/// The demonstration replaces files as other commands do: with `--force` alone.
#[test]
fn the_demonstration_replaces_nothing_unasked() {
    let dir = tempfile::tempdir().expect("a folder");
    let at = dir.path();
    std::fs::create_dir(at.join("d")).expect("a folder");
    put(at, "d/report.html", "precious");
    let said = fails(at, "demo --out-dir d", 1);
    assert!(said.contains("report.html: the file exists"), "{said}");
    assert_eq!(get(at, "d/report.html"), "precious");
    ok(at, "demo --out-dir d --force --quiet");
    assert!(get(at, "d/report.html").contains("<html"));
}

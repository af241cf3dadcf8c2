//! What a user is told who would take an answer for something else.

use std::fmt::Write;

use crate::common::{get, ok, put, run};

/// Two views of one factor, levels among them, and samples of two halves.
fn folder() -> tempfile::TempDir {
    let dir = tempfile::tempdir().expect("a folder");
    let factor = |n: usize| ((n * 5) % 24) as f64 / 12.0 - 1.0;
    let noise = |n: usize, d: usize| ((n * 7 + d * 13 + n * n * 3) % 11) as f64 / 11.0 - 0.45;
    let table = |name: &str, cell: &dyn Fn(usize, usize) -> String| {
        let mut text = "id,a,b,c\n".to_owned();
        for n in 0..48 {
            let cells: Vec<String> = (0..3).map(|d| cell(n, d)).collect();
            let _ = writeln!(text, "s{n},{}", cells.join(","));
        }
        put(dir.path(), name, text);
    };
    table("x.csv", &|n, d| (factor(n) + 0.3 * noise(n, d)).to_string());
    // nothing of it is known of the last twelve
    table("y.csv", &|n, d| match n {
        36.. => String::new(),
        _ => (5.0 - 2.0 * factor(n) + noise(n, d + 5)).to_string(),
    });
    table("o.csv", &|n, d| {
        (1 + ((factor(n) + 1.2 + 0.4 * noise(n, d)) * 1.5) as usize).to_string()
    });
    // what has nothing to do with anything
    table("noise.csv", &|n, d| {
        (((n * n * (d + 3) + 7 * n) % 101) as f64).sin().to_string()
    });
    dir
}

/// Standard output and standard error in one line each.
fn both(dir: &std::path::Path, line: &str) -> [String; 2] {
    let found = run(dir, line);
    assert!(found.status.success(), "{line}: {found:?}");
    [found.stdout, found.stderr].map(|said| {
        let said = String::from_utf8_lossy(&said).into_owned();
        said.split_whitespace().collect::<Vec<_>>().join(" ")
    })
}

const FIT: &str = "fit --model sshiba --view x=x.csv:gaussian --view y=y.csv:gaussian -k 2 --seed 1 --max-sweeps 40 --no-settle --force";

/// The data are at hand while a fit is made, whatever the file keeps.
#[test]
fn a_fit_without_its_data_tells_the_same_shares() {
    let dir = folder();
    let dir = dir.path();
    let shares = |said: &str| {
        said.split_once("variance explained")
            .map(|(_, t)| t.to_owned())
    };
    let [whole, _] = both(dir, &format!("{FIT} --out m.pv"));
    let [without, _] = both(dir, &format!("{FIT} --out n.pv --no-data"));
    assert!(shares(&whole).is_some(), "{whole}");
    assert_eq!(shares(&whole), shares(&without));
    let json = |options: &str| -> serde_json::Value {
        let said = ok(dir, &format!("{FIT} --out m.pv --json {options}"));
        let mut found: serde_json::Value = serde_json::from_str(&said).expect("JSON");
        found["seconds"] = serde_json::Value::Null;
        found
    };
    let found = json("--no-data");
    assert!(found["views"][0]["explained"].is_number(), "{found}");
    assert_eq!(found, json(""));
    assert!(both(dir, "inspect n.pv")[0].contains("not kept"));
}

#[test]
fn what_is_said_of_training_samples_is_no_prediction() {
    let dir = folder();
    let dir = dir.path();
    ok(dir, &format!("{FIT} --out m.pv"));
    ok(dir, &format!("{FIT} --out n.pv --no-data"));
    let predict = "predict m.pv --view x=x.csv --target y --out p.csv --force";
    // twelve had nothing of the target: of these it is a prediction
    let [_, said] = both(dir, predict);
    assert!(
        said.contains("36 of 48 samples were in training with values of 'y'"),
        "{said}"
    );
    let [_, said] = both(dir, &predict.replace("m.pv", "n.pv"));
    assert!(
        said.contains("48 of 48 samples were in training by"),
        "{said}"
    );
    let [_, said] = both(dir, "project m.pv --view y=y.csv --out z.csv --force");
    assert!(said.contains("36 of 48 samples were in training"), "{said}");
    // other samples, and those that had nothing of it
    let rows = get(dir, "x.csv");
    let some = |keep: &dyn Fn(usize) -> bool| -> String {
        let lines = rows.lines().enumerate();
        let kept = lines.filter(|(i, _)| *i == 0 || keep(*i - 1));
        let kept: Vec<&str> = kept.map(|(_, line)| line).collect();
        kept.join("\n") + "\n"
    };
    put(dir, "last.csv", some(&|n| n >= 36));
    put(dir, "new.csv", some(&|_| true).replace("\ns", "\nnew"));
    for file in ["last.csv", "new.csv"] {
        let [_, said] = both(dir, &predict.replace("x=x.csv", &format!("x={file}")));
        assert!(!said.contains("in training"), "{file}: {said}");
    }
    let [_, said] = both(dir, "project m.pv --view x=new.csv --out z.csv --force");
    assert!(!said.contains("in training"), "{said}");
}

#[test]
fn a_model_that_does_not_beat_means_is_warned_of() {
    let dir = folder();
    let dir = dir.path();
    let views = "--model sshiba --view x=x.csv:gaussian --view noise=noise.csv:gaussian -k 2 --seed 1 --max-sweeps 40";
    let [_, said] = both(
        dir,
        &format!("cross-validate {views} --target noise --folds 4"),
    );
    assert!(
        said.contains("'noise': sshiba predicts it no better than means do")
            && said.contains("--scaling"),
        "{said}"
    );
    let [_, said] = both(dir, &format!("cross-validate {views} --folds 3 --hide 0.9"));
    assert!(said.contains("hide fewer cells (--hide 0.1)"), "{said}");
    let good = "--model sshiba --view x=x.csv:gaussian --view y=y.csv:gaussian -k 2 --seed 1 --max-sweeps 40";
    for how in ["--target y --join intersection", "--hide 0.1"] {
        let [_, said] = both(dir, &format!("cross-validate {good} --folds 3 {how}"));
        assert!(!said.contains("no better than means"), "{said}");
    }
}

#[test]
fn options_of_a_view_on_the_command_line_beat_those_of_a_study_file() {
    let dir = folder();
    let dir = dir.path();
    let study = |model: &str| {
        format!(
            "[[data]]\nname = \"x\"\npath = \"x.csv\"\n[[data]]\nname = \"o\"\npath = \"o.csv\"\n[model]\nmodel = \"sshiba\"\n\
             [[model.views]]\nname = \"x\"\nlikelihood = \"gaussian\"\n{model}"
        )
    };
    let own = "[[model.views]]\nname = \"o\"\nlikelihood = \"ordinal\"\noptions.ordinal = { levels = 7, form = \"bound\" }\n";
    put(dir, "own.toml", study(own));
    let defaults = "[model.defaults.options.ordinal]\nlevels = 7\nform = \"bound\"\n";
    put(dir, "defaults.toml", study(defaults));
    let choices = |file: &str, view: &str| -> (toml::Value, String) {
        let found = run(dir, &format!("fit --spec {file} {view} --dry-run"));
        let said = String::from_utf8_lossy(&found.stderr).into_owned();
        assert!(found.status.success(), "{view}: {said}");
        let text = String::from_utf8_lossy(&found.stdout).into_owned();
        let study: toml::Table = toml::from_str(&text).expect("a study");
        let views = study["model"]["views"].as_array().expect("views");
        let own = views.iter().find(|v| v["name"].as_str() == Some("o"));
        (own.expect("the view").clone(), said)
    };
    for file in ["own.toml", "defaults.toml"] {
        let levels = |view: &str| {
            let options = choices(file, view).0["options"]["ordinal"].clone();
            let form = options["form"].as_str().map(str::to_owned);
            (options["levels"].as_integer(), form)
        };
        let bound = Some("bound".to_owned());
        assert_eq!(levels("--view o=o.csv:ordinal"), (Some(7), bound.clone()));
        // what is not said stays
        assert_eq!(levels("--view o=o.csv:ordinal{levels=5}"), (Some(5), bound));
        let both = levels("--view o=o.csv:ordinal{levels=5,form=expectation}");
        assert_eq!(both, (Some(5), Some("expectation".to_owned())));
    }
    // another likelihood has none of them
    for likelihood in ["gaussian", "ordinal-midpoint"] {
        let (own, said) = choices("own.toml", &format!("--view o=o.csv:{likelihood}"));
        // the default is not written out
        let is = own.get("likelihood").and_then(toml::Value::as_str);
        assert_eq!(is.unwrap_or("gaussian"), likelihood);
        let options = own.get("options");
        assert!(
            options.is_none_or(|o| o.get("ordinal").is_none()),
            "{own:?}"
        );
        let said = said.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(
            said.contains("own.toml: line") && said.contains("options of ordinal are left out"),
            "{said}"
        );
    }
    // what a file itself mixes is refused as before
    put(
        dir,
        "mixed.toml",
        study(&own.replace("\"ordinal\"\n", "\"gaussian\"\n")),
    );
    let found = run(dir, "fit --spec mixed.toml --dry-run");
    assert!(!found.status.success());
}

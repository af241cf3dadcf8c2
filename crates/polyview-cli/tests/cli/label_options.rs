//! Options of views and verbs for labels: plug-in forms, images.

use std::path::Path;

use crate::common::{fails, get, ok, put};
use crate::labels::{FIT, folder};

/// The numbers of a written table, without its columns of words.
fn numbers(folder: &Path, name: &str) -> Vec<f64> {
    let text = get(folder, name);
    let cells = text.lines().skip(1).flat_map(|l| l.split(',').skip(1));
    cells.filter_map(|c| c.parse().ok()).collect()
}

/// Mean distance of probabilities from one half.
fn sureness(p: &[f64]) -> f64 {
    p.iter().map(|p| (p - 0.5).abs()).sum::<f64>() / p.len() as f64
}

#[test]
fn classifiers_and_horseshoe_weights_are_options() {
    let dir = folder();
    let at = dir.path();
    let fit = "fit --model sshiba -k 3 --view x=sx.csv --view labels=slabels.csv:svm --view diet=sdiet.csv \
               --weights relevance --weights x=horseshoe --weights labels=horseshoe --weights diet=ard";
    let study = ok(at, &format!("{fit} --dry-run"));
    assert_eq!(
        study.matches("selection = \"horseshoe\"").count(),
        2,
        "{study}"
    );
    assert!(study.contains("likelihood = \"svm\"") && study.contains("selection = \"none\""));
    assert!(study.contains("selection = \"relevance\""), "the default");
    ok(at, &format!("{fit} --out m.pv"));
    assert!(ok(at, "inspect m.pv").contains("effective number of features"));
    ok(
        at,
        "predict m.pv --view x=tx.csv --target labels --out p.csv",
    );
    assert!(numbers(at, "p.csv").iter().all(|p| (0.0..=1.0).contains(p)));
    let error = fails(at, &format!("{fit} --weights x=no --out n.pv"), 2);
    assert!(error.contains("weights"), "{error}");
}

#[test]
fn plug_in_predictions_are_surer() {
    let dir = folder();
    let at = dir.path();
    ok(at, &format!("{FIT} --out m.pv"));
    for target in ["labels", "diet"] {
        let predict = format!("predict m.pv --view x=tx.csv --target {target}");
        ok(at, &format!("{predict} --out a.csv --force"));
        ok(at, &format!("{predict} --plug-in --out b.csv --force"));
        let (a, b) = (numbers(at, "a.csv"), numbers(at, "b.csv"));
        assert_eq!(a.len(), b.len());
        assert!(sureness(&b) > sureness(&a), "{target}");
    }
    let predict = "predict m.pv --view labels=tlabels.csv --target x";
    ok(at, &format!("{predict} --out a.csv --sd as.csv --force"));
    ok(
        at,
        &format!("{predict} --plug-in --out b.csv --sd bs.csv --force"),
    );
    let (a, b) = (numbers(at, "as.csv"), numbers(at, "bs.csv"));
    assert!(a.len() == 360 && a.iter().zip(&b).all(|(a, b)| a != b));

    let lines: Vec<String> = get(at, "sx.csv")
        .lines()
        .enumerate()
        .map(|(n, l)| match l.split_once(',') {
            Some((id, rest)) if n > 0 && n % 9 == 0 => {
                let (_, rest) = rest.split_once(',').expect("a second cell");
                format!("{id},,{rest}")
            }
            _ => l.to_owned(),
        })
        .collect();
    put(at, "holes.csv", lines.join("\n"));
    ok(
        at,
        "fit --model sshiba -k 3 --view x=holes.csv --view labels=slabels.csv --out h.pv",
    );
    for (option, file) in [("", "a.csv"), ("--plug-in", "b.csv")] {
        ok(
            at,
            &format!("impute h.pv --view x {option} --out f.csv --upper {file} --force"),
        );
    }
    let (a, b) = (numbers(at, "a.csv"), numbers(at, "b.csv"));
    let wider = a.iter().zip(&b).filter(|(a, b)| a > b).count();
    assert_eq!(wider, 13, "each hole, and nothing else");
    assert_eq!(
        a.iter().zip(&b).filter(|(a, b)| a == b).count(),
        a.len() - 13
    );
}

#[test]
fn an_image_is_declared_kept_and_shown() {
    let dir = folder();
    let at = dir.path();
    let fit = "fit --model sshiba -k 2 --view x=sx.csv --view diet=sdiet.csv --select-features x";
    ok(at, &format!("{fit} --shape x=2x3 --out m.pv"));
    let json = ok(at, "inspect m.pv --json");
    let value: serde_json::Value = serde_json::from_str(&json).expect("JSON");
    assert_eq!(
        value["views"][0]["choices"]["shape"],
        serde_json::json!([2, 3])
    );
    assert!(value["views"][1]["choices"].get("shape").is_none());
    ok(at, "report m.pv --out r.html --pictures p");
    assert!(get(at, "r.html").contains("Image of the relevance of 2 x 3 pixels"));
    // a study file says the same
    let spec = ok(at, &format!("{fit} --shape x=2x3 --dry-run"));
    assert!(
        spec.contains("shape = [2, 3]") || spec.contains("shape = [\n"),
        "{spec}"
    );
    put(at, "s.toml", &spec);
    ok(at, "fit --spec s.toml --out again.pv");
    let again: serde_json::Value =
        serde_json::from_str(&ok(at, "inspect again.pv --json")).expect("JSON");
    assert_eq!(again["bound"], value["bound"]);
    assert_eq!(
        again["views"][0]["choices"]["shape"],
        serde_json::json!([2, 3])
    );

    let err = fails(at, &format!("{fit} --shape x=2x4 --out n.pv"), 1);
    assert!(
        err.contains("an image of 2 x 4 pixels does not fit its 6 features; give the height"),
        "{err}"
    );
    let most = usize::MAX;
    fails(at, &format!("{fit} --shape x={most}x{most} --out n.pv"), 1);
    let err = fails(at, &format!("{fit} --shape x=6 --out n.pv"), 2);
    assert!(err.contains("'x=6' is not VIEW=HxW"), "{err}");
    let err = fails(at, &format!("{fit} --shape z=2x3 --out n.pv"), 1);
    assert!(err.contains("no view 'z'"), "{err}");
}

//! The rank model at the command line: order of values, labels of two words,
//! local classifiers.

use std::fmt::Write;

use crate::common::{fails, get, ok, put};

/// Skewed features of two factors, and a label that follows the first.
fn folder() -> tempfile::TempDir {
    let dir = tempfile::tempdir().expect("a folder");
    let mut x = "id,a,b,c,d,e,f\n".to_owned();
    let mut cubes = x.clone();
    let mut y = "id,relapse\n".to_owned();
    for n in 0_usize..48 {
        let u = ((n * 5) % 17) as f64 / 8.0 - 1.0;
        let v = ((n * 7) % 13) as f64 / 6.0 - 1.0;
        let wobble = |d: usize| 0.15 * (((n * 3 + d * 5) % 7) as f64 / 3.5 - 1.0);
        let row = [u, -u, v, u + v, v - u, 2.0 * u]
            .iter()
            .enumerate()
            .map(|(d, e)| e + wobble(d))
            .collect::<Vec<f64>>();
        let line = |f: &dyn Fn(f64) -> f64| -> String {
            let cells: Vec<String> = row.iter().map(|e| f(*e).to_string()).collect();
            cells.join(",")
        };
        let _ = writeln!(x, "s{n},{}", line(&|e| (2.0 * e).exp()));
        let _ = writeln!(cubes, "s{n},{}", line(&|e| 1e3 * e.powi(3)));
        let word = if u > 0.0 { "yes" } else { "no" };
        let _ = writeln!(y, "s{n},{}", if n % 8 == 3 { "" } else { word });
    }
    put(dir.path(), "x.csv", x);
    put(dir.path(), "cubes.csv", cubes);
    put(dir.path(), "y.csv", y);
    dir
}

const FIT: &str = "fit --model rank -k 3 --seed 1 --max-sweeps 40 --labels y.csv:svm";

#[test]
fn labels_follow_from_the_order_of_values() {
    let dir = folder();
    let at = dir.path();
    for (file, model) in [("x.csv", "a"), ("cubes.csv", "b")] {
        ok(at, &format!("{FIT} --view x={file} --out {model}.pv"));
        ok(
            at,
            &format!("predict {model}.pv --view x={file} --target relapse --out {model}.csv"),
        );
    }
    let (a, b) = (get(at, "a.csv"), get(at, "b.csv"));
    // a monotone transform of every feature changes nothing at all
    assert_eq!(a, b);
    assert!(
        a.starts_with("sample,relapse,score,probability_of_yes\n"),
        "{a}"
    );
    let right = a
        .lines()
        .skip(1)
        .enumerate()
        .filter(|(n, line)| {
            let u = ((n * 5) % 17) as f64 / 8.0 - 1.0;
            line.split(',').nth(1) == Some(if u > 0.0 { "yes" } else { "no" })
        })
        .count();
    assert!(right >= 43, "{right}: {a}");
    // data units come back
    ok(at, "impute a.pv --view x --out filled.csv");
    assert!(get(at, "filled.csv").lines().count() == 49);
    let text = ok(at, "inspect a.pv");
    assert!(text.contains("rank") && text.contains("svm"), "{text}");
    ok(at, "report a.pv --out r.html");
}

#[test]
fn local_classifiers_and_probit() {
    let dir = folder();
    let at = dir.path();
    let fit = FIT.replace(":svm", ":probit");
    ok(at, &format!("{fit} --view x=x.csv --mixture 2 --out m.pv"));
    let text = ok(at, "inspect m.pv");
    assert!(text.contains("cluster"), "{text}");
    ok(
        at,
        "predict m.pv --view x=x.csv --target relapse --out p.csv",
    );
    assert!(get(at, "p.csv").starts_with("sample,relapse,score,probability_of_yes\n"));
    let text = fails(
        at,
        &format!("{FIT} --view x=x.csv --mixture 100 --out m2.pv"),
        1,
    );
    assert!(text.contains("100"), "{text}");
}

#[test]
fn labels_are_settled_on_what_a_prediction_meets() {
    let dir = folder();
    let at = dir.path();
    let fit = format!("{FIT} --view x=x.csv");
    let settled = |model: &str| ok(at, &format!("inspect {model} --json"));
    ok(at, &format!("{fit} --out a.pv"));
    ok(at, &format!("{fit} --no-settle --out b.pv"));
    let (a, b) = (settled("a.pv"), settled("b.pv"));
    assert!(
        a.contains("weights settled on factors of the other views alone"),
        "{a}"
    );
    assert!(!b.contains("weights settled"), "{b}");
    for (model, file) in [("a", "a.csv"), ("b", "b.csv")] {
        let predict = format!("predict {model}.pv --view x=x.csv --target relapse --out {file}");
        ok(at, &predict);
    }
    assert_ne!(get(at, "a.csv"), get(at, "b.csv"));
    // a study file says so, and so does the option of any other model
    let study = ok(at, &format!("{fit} --settle relapse --dry-run"));
    assert!(study.contains("settle = true"), "{study}");
    let other = fit
        .replace("--model rank", "--model sshiba")
        .replace("y.csv:svm", "y.csv:probit");
    ok(at, &format!("{other} --settle relapse --out c.pv"));
    assert!(settled("c.pv").contains("weights settled"));
    let error = fails(at, &format!("{other} --settle nobody --out d.pv"), 1);
    assert!(error.contains("no view 'nobody'"), "{error}");
    let error = fails(at, &format!("{fit} --settle x --out d.pv"), 1);
    assert!(
        error.contains("view 'x': settling it cannot be combined with rank: it has weights"),
        "{error}"
    );
    let error = fails(
        at,
        &format!("{other} --engine gibbs --settle relapse --out d.pv"),
        1,
    );
    assert!(
        error.contains("cannot be combined with this engine"),
        "{error}"
    );
}

#[test]
fn two_engines_are_compared_and_the_model_checked() {
    let dir = folder();
    let at = dir.path();
    let fit = format!("{FIT} --view x=x.csv");
    ok(at, &format!("{fit} --out vb.pv"));
    ok(
        at,
        &format!("{fit} --engine gibbs --chains 2 --warm-up 100 --sweeps 200 --thin 5 --out g.pv"),
    );
    // convergence by kind of identified quantity
    let text = ok(at, "inspect g.pv");
    for kind in [
        "log joint density",
        "length of the weights/x",
        "predictor/x",
        "score/relapse",
        "R-hat worst",
        "ESS tail least",
    ] {
        assert!(text.contains(kind), "{kind}: {text}");
    }
    assert!(!ok(at, "inspect vb.pv").contains("R-hat"));
    let parsed =
        |words: &str| -> serde_json::Value { serde_json::from_str(&ok(at, words)).expect("JSON") };
    let all = parsed("inspect g.pv --json");
    let kinds = all["convergence"].as_array().expect("a list");
    let scores = kinds.iter().find(|k| k["kind"] == "score/relapse");
    assert_eq!(scores.expect("scores")["quantities"], 16);
    // one fit against the other, and the model against its replicates
    let text = ok(at, "inspect vb.pv --against g.pv --checks 20");
    for told in [
        "against the other fit, on 48 samples",
        "predictor",
        "weights",
        "20 replicates of 48 samples",
        "order agreement",
        "share of ones",
        "separation",
    ] {
        assert!(text.contains(told), "{told}: {text}");
    }
    let all = parsed("inspect vb.pv --against g.pv --checks --json");
    assert!(all["against"]["views"][0]["correlation"].as_f64() > Some(0.8));
    assert_eq!(all["checks"][0]["replicates"], 100);
    ok(
        at,
        "report vb.pv --out r.html --against g.pv --checks 20 --pictures figures",
    );
    let page = get(at, "r.html");
    for told in [
        "Posterior predictive checks",
        "Against another fit",
        "variational Bayes against Gibbs",
    ] {
        assert!(page.contains(told), "{told}");
    }
    assert!(
        at.join("figures/check1-1.svg").exists() && at.join("figures/against1-sd.svg").exists()
    );
    // what cannot be compared, or checked
    put(
        at,
        "other.csv",
        "id,a,b,c\nq1,1,2,3\nq2,2,1,0\nq3,0,1,1\nq4,2,2,5\n",
    );
    ok(at, "fit --view x=other.csv -k 1 --out o.pv");
    let text = fails(at, "inspect vb.pv --against o.pv", 1);
    assert!(text.contains("no sample in common"), "{text}");
    let text = fails(at, "inspect vb.pv --checks 0", 2);
    assert!(text.contains("replicates"), "{text}");
    fails(at, "report vb.pv --out r2.html --against none.pv", 1);
}

/// Shares of rank views are those of normal scores, and every table says so.
#[test]
fn shares_of_ranks_say_their_unit() {
    let dir = folder();
    let at = dir.path();
    let summary = ok(at, &format!("{FIT} --view x=x.csv --out m.pv"));
    for text in [summary, ok(at, "inspect m.pv")] {
        let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(text.contains("; of x: of its normal scores)"), "{text}");
    }
    ok(at, "report m.pv --out r.html");
    let report = get(at, "r.html");
    assert!(
        report.contains("variance explained is that of normal scores"),
        "the report"
    );
    ok(at, "fit --view x=x.csv -k 2 --out g.pv");
    assert!(!ok(at, "inspect g.pv").contains("normal scores"));
}

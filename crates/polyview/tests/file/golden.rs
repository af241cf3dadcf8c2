//! Model files of every format that was ever released can be read for ever.
//!
//! To add the files of a new format, run this test with
//! `POLYVIEW_NEW_GOLDEN=<folder>` and move what it wrote to `tests/golden`
//! under the format's number. Files that are there are never changed.

use std::path::PathBuf;

use crate::common::{Holes, data, fit, gibbs, use_all, vb};
use polyview::{Fit, Overwrite};
use polyview_core::{Dataset, Mask, MetadataValues, RowMoments, Table};
use polyview_linalg::Mat;
use serde_json::{Value, json};

/// What a golden file holds, by way of the public interface: stored numbers,
/// none that this program would have to calculate. They are compared by their
/// bits, which JSON keeps.
fn summary(fit: &Fit) -> Value {
    let record = fit.record();
    let components = (0..fit.n_components()).map(|i| {
        let c = fit.component(i).unwrap();
        let of_view = |v: &polyview::ComponentView| {
            json!({
                "weights": rows(&v.weights),
                "bias": v.bias.mean(), "bias-variance": v.bias.variance(),
            })
        };
        let views: Vec<Value> = c.views.iter().map(of_view).collect();
        json!({"factors": rows(c.factors()), "views": views})
    });
    let views = fit
        .views()
        .iter()
        .zip(fit.data().unwrap())
        .map(|(v, data)| {
            let cell = |n: usize, d: usize| json!(data.value(n, d));
            let cells = |n: usize| (0..data.n_features()).map(|d| cell(n, d)).collect();
            json!({
                "name": v.name, "features": v.features, "observed": v.observed,
                "choices": v.choices, "scaling": v.scaling,
                "mask": match data.mask() {
                    Mask::Complete => "complete",
                    Mask::Rows(_) => "samples",
                    Mask::Cells { .. } => "cells",
                },
                "data": (0..data.n_samples()).map(cells).collect::<Vec<Value>>(),
            })
        });
    let metadata = fit.metadata().iter().map(|m| match &m.values {
        MetadataValues::Numbers(x) => json!({"name": m.name, "numbers": x}),
        MetadataValues::Categories(x) => json!({"name": m.name, "categories": x}),
    });
    let diagnostics = record.diagnostics.iter().map(|d| {
        let s = &d.summary;
        json!({"quantity": d.quantity, "mean": s.mean, "sd": s.sd, "rhat": s.rhat})
    });
    json!({
        "spec": fit.spec(),
        "samples": fit.samples(),
        "components": components.collect::<Vec<_>>(),
        "views": views.collect::<Vec<_>>(),
        "groups": fit.groups().map(|g| json!({"names": g.names, "of-sample": g.of_sample})),
        "metadata": metadata.collect::<Vec<_>>(),
        "outcome": record.outcome, "sweeps": record.sweeps, "bound": record.bound,
        "restart-bounds": record.restart_bounds,
        "ledgers": record.ledgers, "journal": record.journal,
        "diagnostics": diagnostics.collect::<Vec<_>>(),
    })
}

/// Means and packed covariances.
fn rows(m: &RowMoments) -> Value {
    let row = |r: usize| {
        let mean: Vec<f64> = (0..m.k()).map(|j| m.mean()[(r, j)]).collect();
        json!({"mean": mean, "cov": m.row_cov(r).as_slice()})
    };
    json!({
        "rows": (0..m.explicit_rows()).map(row).collect::<Vec<_>>(),
        "log-det": m.log_det(),
    })
}

/// Whether `found` has all that `expected` has. Later versions may know of
/// more: further options, further numbers.
fn holds(found: &Value, expected: &Value, at: &str) {
    match (found, expected) {
        (Value::Object(f), Value::Object(e)) => {
            for (key, value) in e {
                let place = format!("{at}/{key}");
                holds(
                    f.get(key).unwrap_or_else(|| panic!("{place}")),
                    value,
                    &place,
                );
            }
        }
        (Value::Array(f), Value::Array(e)) => {
            assert_eq!(f.len(), e.len(), "{at}");
            for (i, (f, e)) in f.iter().zip(e).enumerate() {
                holds(f, e, &format!("{at}/{i}"));
            }
        }
        _ => assert_eq!(found, expected, "{at}"),
    }
}

fn golden(name: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR"))
        .join("tests/golden")
        .join(name)
}

fn check(name: &str) -> Fit {
    let fit = Fit::load(golden(&format!("{name}.pv"))).unwrap();
    let expected = std::fs::read_to_string(golden(&format!("{name}.json"))).unwrap();
    let mut expected: Value = serde_json::from_str(&expected).unwrap();
    // of what was calculated
    expected.as_object_mut().unwrap().remove("probabilities");
    holds(&summary(&fit), &expected, name);
    use_all(&fit);
    fit
}

#[test]
fn format_1() {
    let vb = check("v1");
    assert_eq!((vb.samples().len(), vb.views().len()), (12, 2));
    assert!(
        vb.data()
            .unwrap()
            .iter()
            .any(|v| !matches!(v.mask(), Mask::Complete))
    );
    let gibbs = check("v1-gibbs");
    assert!(gibbs.is_sampled() && gibbs.n_components() == 4);
    // what was called categorical then
    let classes = predicts_as_before("v1-classes");
    assert_eq!(classes.views()[1].choices.likelihood, "categorical-probit");
}

#[test]
fn format_2() {
    let vb = check("v2");
    assert_eq!((vb.samples().len(), vb.views().len()), (12, 2));
    let gibbs = check("v2-gibbs");
    assert!(gibbs.is_sampled() && gibbs.n_components() == 4);
    let classes = predicts_as_before("v2-classes");
    assert_eq!(classes.views()[1].choices.likelihood, "categorical");
}

/// As [`check`], with probabilities of classes.
fn predicts_as_before(name: &str) -> Fit {
    let fit = check(name);
    let expected = std::fs::read_to_string(golden(&format!("{name}.json"))).unwrap();
    let expected: Value = serde_json::from_str(&expected).unwrap();
    let expected: Vec<f64> = serde_json::from_value(expected["probabilities"].clone()).unwrap();
    let found = probabilities(&fit);
    assert_eq!(found.len(), expected.len());
    for (found, expected) in found.iter().zip(&expected) {
        assert!((found - expected).abs() < 1e-9, "{found} {expected}");
    }
    fit
}

/// Class probabilities of all samples, sample after sample.
fn probabilities(fit: &Fit) -> Vec<f64> {
    let p = fit.fitted("class").unwrap().mean;
    let cells = (0..p.nrows()).flat_map(|n| (0..p.ncols()).map(move |c| (n, c)));
    cells.map(|at| p[at]).collect()
}

/// Numbers, and one of three classes that some samples lack.
fn with_classes() -> Dataset {
    let table = |name: &str,
                 columns: usize,
                 levels: Vec<String>,
                 value: &dyn Fn(usize, usize) -> f64| Table {
        name: name.into(),
        samples: (0..14).map(|n| format!("s{n}")).collect(),
        features: (0..columns).map(|d| format!("{name}{d}")).collect(),
        values: Mat::from_fn(14, columns, value),
        levels,
    };
    let class = |n: usize| (n * 5) % 3;
    let numbers = |n: usize, d: usize| {
        let own = [1.0, -0.5, -0.9][class(n)] * (d as f64 - 1.2);
        own + ((n * 7 + d * 3) % 11) as f64 / 11.0
    };
    let codes = |n: usize, _: usize| {
        if n % 6 == 4 {
            f64::NAN
        } else {
            class(n) as f64
        }
    };
    let levels = ["fish", "coco", "sun"].map(String::from).to_vec();
    let x = table("x", 4, Vec::new(), &numbers);
    let y = table("class", 1, levels, &codes);
    Dataset::builder().view(x).view(y).build().unwrap()
}

/// Mice like those of nutrimouse, fewer: two views, missing cells and rows.
fn small() -> Vec<(&'static str, Fit)> {
    let mut short = gibbs(1);
    (short.gibbs.sweeps, short.gibbs.thin) = (8, 4);
    let of_classes = vb(2, 25).with_likelihood("class", "categorical");
    vec![
        ("classes", fit(with_classes(), of_classes)),
        ("vb", fit(data(12, &[5, 4], Holes::Both, 34), vb(2, 25))),
        ("gibbs", fit(data(8, &[3, 2], Holes::Rows, 35), short)),
    ]
}

#[test]
fn files_of_this_format_can_be_made() {
    let temporary = tempfile::tempdir().unwrap();
    let folder = std::env::var_os("POLYVIEW_NEW_GOLDEN")
        .map_or_else(|| temporary.path().to_owned(), PathBuf::from);
    for (name, fit) in small() {
        let path = folder.join(format!("{name}.pv"));
        fit.save(&path, Overwrite::Refuse).unwrap();
        let again = Fit::load(&path).unwrap();
        assert_eq!(summary(&again), summary(&fit));
        let mut all = summary(&fit);
        if name == "classes" {
            all["probabilities"] = json!(probabilities(&fit));
        }
        let text = serde_json::to_string(&all).unwrap();
        std::fs::write(path.with_extension("json"), text + "\n").unwrap();
        // only what it takes is in it
        assert!(std::fs::metadata(&path).unwrap().len() < 50_000);
    }
}

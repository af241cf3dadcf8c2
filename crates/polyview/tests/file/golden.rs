//! Model files of every format that was ever released can be read for ever.
//!
//! To add the files of a new format, run this test with
//! `POLYVIEW_NEW_GOLDEN=<folder>` and move what it wrote to `tests/golden`
//! under the format's number. Files that are there are never changed.

use std::path::PathBuf;

use crate::common::{Holes, data, fit, gibbs, use_all, vb};
use polyview::{Fit, Overwrite};
use polyview_core::{Mask, MetadataValues, RowMoments};
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
    let expected: Value = serde_json::from_str(&expected).unwrap();
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
}

/// Mice like those of nutrimouse, fewer: two views, missing cells and rows.
fn small() -> Vec<(&'static str, Fit)> {
    let mut short = gibbs(1);
    (short.gibbs.sweeps, short.gibbs.thin) = (8, 4);
    vec![
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
        let text = serde_json::to_string(&summary(&fit)).unwrap();
        std::fs::write(path.with_extension("json"), text + "\n").unwrap();
        // only what it takes is in it
        assert!(std::fs::metadata(&path).unwrap().len() < 50_000);
    }
}

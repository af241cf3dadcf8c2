//! A model file read with Python and the stock safetensors package, by the
//! example script.
//!
//! The interpreter is the one of the variable `POLYVIEW_PYTHON`, and then it
//! must work; without the variable it is `python3`, and the test says that it
//! was skipped where that lacks the packages.

use std::process::Command;

use crate::common::{Holes, data, fit, gibbs, vb};
use polyview::{Fit, Overwrite};
use serde_json::Value;

/// An interpreter with the packages, if there is one.
fn python() -> Option<String> {
    let given = std::env::var("POLYVIEW_PYTHON").ok();
    let python = given.clone().unwrap_or_else(|| "python3".to_owned());
    let tried = Command::new(&python)
        .args(["-c", "import numpy, safetensors"])
        .output();
    match (tried, given) {
        (Ok(out), _) if out.status.success() => Some(python),
        (tried, Some(_)) => panic!("POLYVIEW_PYTHON={python} cannot be used: {tried:?}"),
        (_, None) => {
            eprintln!("skipped: python3 cannot import numpy and safetensors");
            None
        }
    }
}

fn numbers(rows: &Value) -> Vec<Vec<f64>> {
    serde_json::from_value(rows.clone()).unwrap()
}

fn check(python: &str, fit: &Fit) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("model.pv");
    fit.save(&path, Overwrite::Refuse).unwrap();
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/examples/read_model.py");
    let out = Command::new(python)
        .arg(script)
        .arg(&path)
        .output()
        .unwrap();
    assert!(
        out.status.success(),
        "{}",
        String::from_utf8_lossy(&out.stderr)
    );
    let read: Value = serde_json::from_slice(&out.stdout).unwrap();
    let samples: Vec<String> = serde_json::from_value(read["samples"].clone()).unwrap();
    assert_eq!(samples, fit.samples());
    // one component: the same bits; several: a mean summed in another order
    let tolerance = if fit.n_components() == 1 { 0.0 } else { 1e-14 };
    let close = |a: f64, b: f64| assert!((a - b).abs() <= tolerance * (1.0 + b.abs()), "{a} {b}");
    let factors = fit.factors().unwrap().mean;
    let found = numbers(&read["factors"]);
    assert_eq!((found.len(), found[0].len()), (samples.len(), fit.k()));
    for (n, row) in found.iter().enumerate() {
        for (k, x) in row.iter().enumerate() {
            close(*x, factors[(n, k)]);
        }
    }
    for view in fit.views() {
        let weights = fit.weights(&view.name).unwrap().mean;
        let found = numbers(&read["weights"][&view.name]);
        assert_eq!(found.len(), view.features.len());
        for (d, row) in found.iter().enumerate() {
            for (k, x) in row.iter().enumerate() {
                close(*x, weights[(d, k)] * view.scaling.scale[d]);
            }
        }
    }
}

#[test]
fn python_reads_the_same_numbers() {
    let Some(python) = python() else { return };
    check(&python, &fit(data(24, &[6, 5], Holes::Both, 4), vb(2, 10)));
    check(&python, &fit(data(20, &[6, 5], Holes::Rows, 7), gibbs(2)));
}

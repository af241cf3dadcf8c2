//! An exported model read with mofax, the reader of MOFA models that its users
//! have, by the example script.
//!
//! The interpreter is the one of the variable `POLYVIEW_PYTHON`, and then it
//! must work; without the variable it is `python3`, and the test says that it
//! was skipped where that lacks the package.

use std::process::Command;

use polyview::{GroupChoices, models};
use polyview_core::{Dataset, MetadataValues, Table};
use polyview_datasets::nutrimouse;
use polyview_hdf5::{ExportOptions, write_mofa2};
use serde_json::Value;

/// An interpreter with the package, if there is one.
fn python() -> Option<String> {
    let given = std::env::var("POLYVIEW_PYTHON").ok();
    let python = given.clone().unwrap_or_else(|| "python3".to_owned());
    let tried = Command::new(&python).args(["-c", "import mofax"]).output();
    match (tried, given) {
        (Ok(out), _) if out.status.success() => Some(python),
        (tried, Some(_)) => panic!("POLYVIEW_PYTHON={python} cannot import mofax: {tried:?}"),
        (_, None) => {
            eprintln!("skipped: python3 cannot import mofax");
            None
        }
    }
}

/// Mice in two groups, with holes, and the fish diet as a view of ones and
/// zeros.
fn mice() -> Dataset {
    let (samples, views, _, metadata) = nutrimouse().into_parts();
    let MetadataValues::Categories(genotype) = &metadata[1].values else {
        panic!("words")
    };
    let groups = samples
        .iter()
        .zip(genotype)
        .map(|(s, g)| (s.clone(), g.clone().unwrap()))
        .collect();
    let mut builder = Dataset::builder().groups(groups);
    for v in &views {
        let v = v.hiding(|n, d| (n * 7 + d * 3) % 17 == 0);
        builder = builder.view(Table {
            name: v.name().to_owned(),
            samples: samples.clone(),
            features: v.features().to_vec(),
            values: v.to_values_with_nan(),
            levels: Vec::new(),
        });
    }
    let MetadataValues::Categories(diet) = &metadata[0].values else {
        panic!("words")
    };
    let fish =
        polyview_linalg::Mat::from_fn(40, 1, |n, _| f64::from(diet[n].as_deref() == Some("fish")));
    builder = builder.view(Table {
        name: "fish".into(),
        samples: samples.clone(),
        features: vec!["fed fish".into()],
        values: fish,
        levels: Vec::new(),
    });
    for column in metadata {
        builder = builder.metadata(samples.clone(), column);
    }
    builder.build().unwrap()
}

#[test]
fn mofax_finds_the_same_numbers() {
    let Some(python) = python() else { return };
    let mut spec = models::mofa(4).with_likelihood("fish", "bernoulli");
    spec.vb.max_sweeps = 100;
    // one intercept a feature, as the comparison below has it
    spec.groups = GroupChoices::default();
    let fit = polyview::fit(mice(), spec).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("model.hdf5");
    write_mofa2(&fit, &path, &ExportOptions::default()).unwrap();
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/examples/read_mofa2.py");
    let out = Command::new(python)
        .arg(script)
        .arg(&path)
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&out.stderr);
    assert!(out.status.success(), "{said}");
    let read: Value = serde_json::from_slice(&out.stdout).unwrap();

    let groups = fit.groups().unwrap();
    assert_eq!(read["groups"], serde_json::json!(groups.names));
    assert_eq!(read["views"], serde_json::json!(["gene", "lipid", "fish"]));
    assert_eq!(
        read["likelihoods"],
        serde_json::json!(["gaussian", "gaussian", "bernoulli"])
    );
    assert_eq!(read["shape"], serde_json::json!([40, 142]));
    // group by group
    let order: Vec<usize> = (0..groups.names.len())
        .flat_map(|g| (0..40).filter(move |&n| groups.of_sample[n] as usize == g))
        .collect();
    let z = fit.factors().unwrap().mean;
    for (i, &n) in order.iter().enumerate() {
        assert_eq!(read["samples"][i], serde_json::json!(fit.samples()[n]));
        for k in 0..fit.k() {
            assert_eq!(read["factors"][i][k].as_f64(), Some(z[(n, k)]));
        }
    }
    for v in fit.views() {
        assert_eq!(read["features"][&v.name], serde_json::json!(v.features));
        let w = fit.weights(&v.name).unwrap().mean;
        let found = read["weights"][&v.name].as_array().unwrap();
        assert_eq!(found.len(), v.features.len());
        for (d, row) in found.iter().enumerate() {
            for k in 0..fit.k() {
                assert_eq!(row[k].as_f64(), Some(w[(d, k)]));
            }
        }
    }
    // the first feature's data, working units less the intercept
    let b = fit.component(0).unwrap().views[0].bias.mean()[0];
    let data = &fit.data().unwrap()[0];
    for (i, &n) in order.iter().enumerate() {
        assert_eq!(read["data"][i].as_f64(), data.value(n, 0).map(|x| x - b));
    }
    let at = |name: &Value| fit.views().iter().position(|v| *name == *v.name).unwrap();
    let close = |a: &Value, b: f64, tolerance: f64| {
        let a = a.as_f64().unwrap();
        assert!((a - b).abs() < tolerance, "{a} {b}");
    };
    let found = read["explained"].as_array().unwrap();
    assert_eq!(found.len(), 2 * 3 * fit.k());
    for row in found {
        let e = fit.explain_group(row[0].as_str().unwrap()).unwrap();
        let k = row[2].as_u64().unwrap() as usize;
        close(&row[3], 100.0 * e.marginal[(at(&row[1]), k)], 1e-9);
    }
    for g in &groups.names {
        let e = fit.explain_group(g).unwrap();
        for m in 0..3 {
            close(&read["total"][g][m], 100.0 * e.total[m], 1e-9);
        }
    }
    // mofax computes shares of its own, about zero instead of the group's mean
    let largest = read["recomputed"]
        .as_array()
        .unwrap()
        .iter()
        .filter(|row| row[1] != "fish")
        .map(|row| row[2].as_f64().unwrap())
        .fold(0.0, f64::max);
    assert!(largest > 20.0, "{largest}");
    let elbo = read["elbo"].as_array().unwrap();
    assert_eq!(elbo.last().unwrap().as_f64(), fit.record().bound);
    let diets: Vec<&str> = read["metadata"]["diet"]
        .as_array()
        .unwrap()
        .iter()
        .map(|d| d.as_str().unwrap())
        .collect();
    let MetadataValues::Categories(own) = &fit.metadata()[0].values else {
        panic!("words")
    };
    assert_eq!(diets[3], own[order[3]].as_deref().unwrap());
}

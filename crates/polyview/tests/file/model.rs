//! Model files: what is written comes back, and errors say what is wrong.

use std::fs;

use crate::common::{Holes, Parts, assert_same, data, fit, gibbs, relevance, vb};
use polyview::{ErrorKind, Fit, Overwrite, ViewChoices};
use polyview_core::{Bias, MetadataValues, RowMoments};
use polyview_infer::Outcome;
use polyview_likelihoods::NoiseBy;
use serde_json::json;

/// Fits of all kinds that a file can hold.
fn all_kinds() -> Vec<(&'static str, Fit)> {
    let mut by_feature = vb(3, 12);
    by_feature.defaults.noise = NoiseBy::Feature;
    let mut mixed = vb(3, 12);
    mixed = mixed.with_view(
        "genes/α",
        ViewChoices {
            noise: NoiseBy::Feature,
            centring: polyview_core::Centring::None,
            scaling: polyview_core::FeatureScaling::View,
            ..ViewChoices::default()
        },
    );
    mixed.intercepts = polyview::Intercepts::None;
    mixed.restarts = 2;
    let mut no_data = fit(data(20, &[6, 5], Holes::Both, 5), vb(2, 8));
    no_data.forget_data();
    vec![
        (
            "complete",
            fit(data(30, &[6, 5], Holes::None, 1), vb(3, 15)),
        ),
        ("wide", fit(data(9, &[14, 11], Holes::None, 2), vb(3, 15))),
        ("rows", fit(data(24, &[6, 5, 4], Holes::Rows, 3), vb(2, 15))),
        ("cells", fit(data(24, &[6, 5], Holes::Cells, 4), by_feature)),
        ("mixed", fit(data(24, &[6, 5], Holes::Both, 6), mixed)),
        ("gibbs", fit(data(20, &[6, 5], Holes::Both, 7), gibbs(2))),
        (
            "relevance",
            fit(data(40, &[9, 8], Holes::None, 3), relevance(vb(6, 60))),
        ),
        (
            "sampled relevance",
            fit(data(20, &[6, 5], Holes::None, 7), relevance(gibbs(2))),
        ),
        ("no data", no_data),
    ]
}

fn bits(a: &[f64]) -> Vec<u64> {
    a.iter().map(|x| x.to_bits()).collect()
}

fn moment_bits(m: &RowMoments) -> Vec<u64> {
    let (rows, k) = (m.explicit_rows(), m.k());
    let mut out = vec![m.log_det().to_bits(), rows as u64, k as u64];
    for r in 0..rows {
        out.extend((0..k).map(|j| m.mean()[(r, j)].to_bits()));
        out.extend(bits(m.row_cov(r).as_slice()));
    }
    out
}

fn bias_bits(b: &Bias) -> Vec<u64> {
    let mut out = bits(b.mean());
    out.extend(bits(b.variance()));
    out.push(u64::from(b.is_present()));
    out
}

#[test]
fn every_number_comes_back() {
    for (kind, fit) in all_kinds() {
        let bytes = fit.to_bytes().unwrap();
        let again = Fit::from_bytes(&bytes).unwrap();
        assert_eq!(again.to_bytes().unwrap(), bytes, "{kind}");
        assert_eq!(again.spec(), fit.spec(), "{kind}");
        assert_eq!(again.samples(), fit.samples(), "{kind}");
        assert_eq!(again.views(), fit.views(), "{kind}");
        assert_eq!(again.groups(), fit.groups(), "{kind}");
        assert_eq!(
            (again.k(), again.n_components()),
            (fit.k(), fit.n_components())
        );
        for i in 0..fit.n_components() {
            let (a, b) = (again.component(i).unwrap(), fit.component(i).unwrap());
            assert_eq!(moment_bits(a.factors()), moment_bits(b.factors()), "{kind}");
            for (a, b) in a.views.iter().zip(&b.views) {
                assert_eq!(moment_bits(&a.weights), moment_bits(&b.weights), "{kind}");
                assert_eq!(bias_bits(&a.bias), bias_bits(&b.bias), "{kind}");
            }
        }
        match (fit.data(), again.data()) {
            (Ok(a), Ok(b)) => assert_eq!(a, b, "{kind}"),
            (Err(a), Err(b)) => assert_eq!(a.kind(), b.kind(), "{kind}"),
            _ => panic!("{kind}: data on one side only"),
        }
        for (a, b) in fit.metadata().iter().zip(again.metadata()) {
            assert_eq!(a.name, b.name);
            match (&a.values, &b.values) {
                (MetadataValues::Numbers(a), MetadataValues::Numbers(b)) => {
                    assert_eq!(bits(a), bits(b));
                    assert!(a[0].is_nan());
                }
                (a, b) => assert_eq!(a, b),
            }
        }
        let (a, b) = (fit.record(), again.record());
        assert_eq!(a.ledgers, b.ledgers, "{kind}");
        assert_eq!(a.journal, b.journal, "{kind}");
        assert_eq!((a.outcome, a.sweeps), (b.outcome, b.sweeps), "{kind}");
        assert_eq!(a.seconds.to_bits(), b.seconds.to_bits(), "{kind}");
        assert_eq!(bits(&a.restart_bounds), bits(&b.restart_bounds), "{kind}");
        assert_eq!(a.bound.map(f64::to_bits), b.bound.map(f64::to_bits));
        // as text: NaN where the draws are too few
        assert_eq!(
            format!("{:?}", a.diagnostics),
            format!("{:?}", b.diagnostics)
        );
    }
}

#[test]
fn the_kinds_are_what_they_are_called() {
    for (kind, fit) in all_kinds() {
        let parts = Parts::of(&fit.to_bytes().unwrap());
        let shapes: Vec<_> = fit
            .views()
            .iter()
            .map(|v| parts.arrays.get(&format!("mask/{}", v.name)))
            .map(|a| a.map(|a| (a.dtype.clone(), a.shape.len())))
            .collect();
        let complete = shapes.iter().all(Option::is_none);
        assert_eq!(
            complete,
            [
                "complete",
                "wide",
                "relevance",
                "sampled relevance",
                "no data"
            ]
            .contains(&kind),
            "{kind}"
        );
        let rows = shapes.contains(&Some(("U8".to_owned(), 1)));
        assert_eq!(rows, kind == "rows", "{kind}");
        assert_eq!(
            parts.arrays.keys().any(|k| k.starts_with("data/")),
            kind != "no data"
        );
        if kind == "gibbs" {
            assert_eq!(fit.n_components(), 6);
            assert!(!fit.record().diagnostics.is_empty());
        }
    }
}

#[test]
fn the_layout_is_the_documented_one() {
    let fit = fit(data(24, &[6, 5], Holes::Cells, 4), vb(2, 8));
    let (n, k, p) = (24, fit.k(), fit.k() * (fit.k() + 1) / 2);
    let parts = Parts::of(&fit.to_bytes().unwrap());
    let shape = |name: &str| parts.arrays[name].shape.clone();
    assert_eq!(shape("components/0/factors/mean"), [n, k]);
    assert_eq!(shape("components/0/factors/cov_rows"), [p, n]);
    assert_eq!(shape("components/0/views/genes/α/weights/mean"), [6, k]);
    assert_eq!(shape("components/0/views/genes/α/weights/cov_rows"), [p, 6]);
    assert_eq!(shape("data/genes/α"), [n, 6]);
    assert_eq!(shape("mask/genes/α"), [n, 6]);
    assert_eq!(shape("offset/genes/α"), [6]);
    assert_eq!(shape("metadata/0"), [n]);
    let ledger = &fit.record().ledgers[0];
    assert_eq!(shape("ledgers/0/terms"), [8, ledger.names.len()]);
    // rows one after the other, as NumPy reads them
    let factors = fit.factors().unwrap().mean;
    let stored = parts.arrays["components/0/factors/mean"].numbers();
    let view = &fit.data().unwrap()[1];
    let (values, mask) = (
        parts.arrays["data/lipids \"2\""].numbers(),
        &parts.arrays["mask/lipids \"2\""].bytes,
    );
    for i in 0..n {
        for j in 0..k {
            assert_eq!(stored[i * k + j], factors[(i, j)]);
        }
        for d in 0..5 {
            assert_eq!(values[i * 5 + d], view.values()[(i, d)]);
            assert_eq!(mask[i * 5 + d] == 1, view.is_observed(i, d));
        }
    }
    let terms = parts.arrays["ledgers/0/terms"].numbers();
    assert_eq!(terms[..ledger.names.len()], ledger.rows[0].values);
    // header
    assert_eq!(parts.header["format"], 2);
    assert_eq!(parts.header["kind"], "model");
    assert_eq!(parts.header["spec"]["factors"], 2);
    assert_eq!(
        parts.header["views"][0]["features"]
            .as_array()
            .unwrap()
            .len(),
        6
    );
    assert_eq!(parts.header["views"][0]["data"], "cells");
}

#[test]
fn the_checksum_is_the_documented_one() {
    for (kind, fit) in all_kinds() {
        let bytes = fit.to_bytes().unwrap();
        let parts = Parts::of(&bytes);
        assert_eq!(
            parts.sum(&parts.header.to_string()),
            parts.checksum,
            "{kind}"
        );
        // what another program seals can be read
        assert_same(&Fit::from_bytes(&parts.seal()).unwrap(), &fit);
    }
}

#[test]
fn numbers_lie_on_multiples_of_eight() {
    let bytes = fit(data(23, &[7, 5], Holes::Cells, 4), vb(2, 5))
        .to_bytes()
        .unwrap();
    let n = u64::from_le_bytes(bytes[..8].try_into().unwrap()) as usize;
    assert_eq!(n % 8, 0);
    let table: serde_json::Map<String, serde_json::Value> =
        serde_json::from_slice(&bytes[8..8 + n]).unwrap();
    for (name, about) in table {
        if about["dtype"] == "F64" {
            assert_eq!(about["data_offsets"][0].as_u64().unwrap() % 8, 0, "{name}");
        }
    }
}

#[test]
fn a_fit_without_a_sweep_can_be_saved() {
    let fitting = polyview::Fitting::new(data(20, &[6, 5], Holes::None, 5), vb(2, 8)).unwrap();
    let fit = fitting.finish().unwrap();
    assert_eq!(fit.record().outcome, Outcome::Interrupted);
    let again = Fit::from_bytes(&fit.to_bytes().unwrap()).unwrap();
    assert_same(&fit, &again);
}

#[test]
fn files_are_replaced_only_on_demand() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("mice.pv");
    let first = fit(data(20, &[6, 5], Holes::None, 5), vb(2, 8));
    let second = fit(data(20, &[6, 5], Holes::Rows, 6), vb(2, 8));
    first.save(&path, Overwrite::Refuse).unwrap();
    let before = fs::read(&path).unwrap();
    assert_eq!(before, first.to_bytes().unwrap());
    let error = second.save(&path, Overwrite::Refuse).unwrap_err();
    assert_eq!(
        error.kind(),
        &ErrorKind::Exists {
            path: path.display().to_string()
        }
    );
    assert_eq!(fs::read(&path).unwrap(), before);
    second.save(&path, Overwrite::Replace).unwrap();
    assert_same(&Fit::load(&path).unwrap(), &second);
    // nothing is left behind
    let names: Vec<_> = fs::read_dir(folder.path())
        .unwrap()
        .map(|e| e.unwrap().file_name())
        .collect();
    assert_eq!(names, ["mice.pv"]);
}

#[cfg(unix)]
#[test]
fn links_are_followed_and_modes_are_usual() {
    use std::os::unix::fs::{MetadataExt, symlink};
    let folder = tempfile::tempdir().unwrap();
    let (path, link) = (folder.path().join("a.pv"), folder.path().join("b.pv"));
    let fit = fit(data(20, &[6, 5], Holes::None, 5), vb(2, 8));
    fit.save(&path, Overwrite::Refuse).unwrap();
    let plain = folder.path().join("plain");
    fs::write(&plain, "x").unwrap();
    let mode = |p| fs::metadata(p).unwrap().mode();
    assert_eq!(mode(&path), mode(&plain));
    fs::write(&path, "old").unwrap();
    symlink(&path, &link).unwrap();
    fit.save(&link, Overwrite::Replace).unwrap();
    assert!(link.symlink_metadata().unwrap().is_symlink());
    assert_same(&Fit::load(&path).unwrap(), &fit);
}

#[test]
fn a_disk_that_refuses_is_an_io_error() {
    let folder = tempfile::tempdir().unwrap();
    let fit = fit(data(20, &[6, 5], Holes::None, 5), vb(2, 8));
    let plain = folder.path().join("plain");
    fs::write(&plain, "x").unwrap();
    for path in [
        folder.path().join("absent").join("a.pv"),
        plain.join("a.pv"),
        folder.path().to_owned(),
    ] {
        for overwrite in [Overwrite::Refuse, Overwrite::Replace] {
            let error = fit.save(&path, overwrite).unwrap_err();
            assert!(
                matches!(error.kind(), ErrorKind::Io { path: p, .. } if *p == path.display().to_string()),
                "{error:?}"
            );
        }
        let error = Fit::load(&path).unwrap_err();
        assert!(matches!(error.kind(), ErrorKind::Io { .. }), "{error:?}");
    }
}

#[test]
fn a_draw_that_is_not_finite_is_refused() {
    let fit = fit(data(20, &[6, 5], Holes::None, 5), vb(2, 8));
    let mut parts = Parts::of(&fit.to_bytes().unwrap());
    let name = "components/0/factors/mean";
    parts.arrays.get_mut(name).unwrap().set(3, f64::NAN);
    let error = Fit::from_bytes(&parts.seal()).unwrap_err();
    assert!(error.to_string().contains(name), "{error}");
}

#[test]
fn features_that_were_never_observed_are_known_from_every_file() {
    let full = data(20, &[6, 5], Holes::None, 5);
    let view = full.views()[0].hiding(|_, d| d == 2);
    let mut model = fit(full.with_view(view).unwrap(), vb(2, 8));
    let unobserved = |fit: &Fit| fit.views()[0].unobserved.clone();
    assert_eq!(unobserved(&model), [2]);
    let mut parts = Parts::of(&model.to_bytes().unwrap());
    assert_eq!(parts.header["views"][0]["unobserved"], json!([2]));
    assert!(parts.header["views"][1].get("unobserved").is_none());
    // files from before the header said it
    let header = parts.header["views"][0].as_object_mut().unwrap();
    header.remove("unobserved");
    assert_same(&Fit::from_bytes(&parts.seal()).unwrap(), &model);
    // a header that says what the data do not
    parts.header["views"][0]["unobserved"] = json!([1]);
    assert!(Fit::from_bytes(&parts.seal()).is_err());
    model.forget_data();
    assert_eq!(
        unobserved(&Fit::from_bytes(&model.to_bytes().unwrap()).unwrap()),
        [2]
    );
    let mut parts = Parts::of(&model.to_bytes().unwrap());
    for bad in [json!([6]), json!([3, 2]), json!([2, 2])] {
        parts.header["views"][0]["unobserved"] = bad;
        assert!(Fit::from_bytes(&parts.seal()).is_err());
    }
}

/// Counts by mofapy2's steps, as earlier releases wrote them down: with options that took no part.
#[test]
fn counts_of_mofapy2_are_read_as_what_they_were_computed_with() {
    let counts = polyview_core::Table {
        name: "c".into(),
        samples: (0..20).map(|n| format!("s{n}")).collect(),
        features: (0..4).map(|d| format!("c{d}")).collect(),
        levels: Vec::new(),
        values: polyview_linalg::Mat::from_fn(20, 4, |n, d| ((n * 7 + d * 5) % 9) as f64),
    };
    let data = polyview_core::Dataset::builder().view(counts).build();
    let mut spec = polyview::models::mofapy2(2).with_likelihood("c", "poisson");
    spec.vb.max_sweeps = 5;
    let fit = polyview::fit(data.unwrap(), spec).unwrap();
    let mut parts = Parts::of(&fit.to_bytes().unwrap());
    let text = parts.header.to_string();
    assert!(text.contains("softplus"), "{text}");
    parts.header = serde_json::from_str(&text.replace("softplus", "exponential")).unwrap();
    let old = Fit::from_bytes(&parts.seal()).unwrap();
    assert_same(&fit, &old);
}

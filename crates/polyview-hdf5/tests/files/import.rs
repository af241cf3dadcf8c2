//! Models of mofapy2: their own numbers, and what numpy makes of them.

use crate::common::{expected, golden, rows};
use polyview::{ErrorKind, Fit, Overwrite, ProjectOptions};
use polyview_core::{Dataset, Table};
use polyview_hdf5::{Hdf5Error, ImportOptions, read_mofa2};
use polyview_linalg::Mat;

const VIEWS: [&str; 3] = ["rna", "prot", "meth"];

fn read(name: &str, options: &ImportOptions) -> Fit {
    let (_folder, path) = golden(&format!("{name}.hdf5"));
    read_mofa2(path, options).unwrap()
}

fn group(name: &str) -> ImportOptions {
    ImportOptions {
        group: Some(name.into()),
        ..ImportOptions::default()
    }
}

fn close(found: &Mat<f64>, expected: &[Vec<f64>], tolerance: f64) {
    assert_eq!(
        (found.nrows(), found.ncols()),
        (expected.len(), expected[0].len())
    );
    for (n, row) in expected.iter().enumerate() {
        for (j, x) in row.iter().enumerate() {
            let y = found[(n, j)];
            assert!(
                (x - y).abs() <= tolerance * (1.0 + x.abs()),
                "[{n}, {j}] {y} {x}"
            );
        }
    }
}

/// The training data in data units.
fn training(fit: &Fit) -> Dataset {
    let mut builder = Dataset::builder();
    for (info, data) in fit.views().iter().zip(fit.data().unwrap()) {
        let mut values = data.to_values_with_nan();
        info.scaling.restore(&mut values);
        builder = builder.view(Table {
            name: info.name.clone(),
            samples: fit.samples().to_vec(),
            features: info.features.clone(),
            values,
            levels: Vec::new(),
        });
    }
    if let Some(groups) = fit.groups() {
        let names = groups
            .of_sample
            .iter()
            .map(|&g| groups.names[g as usize].clone());
        builder = builder.groups(fit.samples().iter().cloned().zip(names).collect());
    }
    builder.build().unwrap()
}

/// Everything that does not depend on noise.
fn same_estimates(fit: &Fit, of_file: &serde_json::Value, groups: &[&str]) {
    let z: Vec<Vec<f64>> = groups
        .iter()
        .flat_map(|g| rows(&of_file["groups"][g]["factors"]))
        .collect();
    close(&fit.factors().unwrap().mean, &z, 0.0);
    for v in VIEWS {
        let w = fit.weights(v).unwrap();
        close(&w.mean, &rows(&of_file["weights"][v]), 0.0);
        assert!((0..w.sd.ncols()).all(|k| w.sd.col(k).iter().all(|s| *s == 0.0)));
    }
    assert_eq!(fit.record().bound, of_file["bound"].as_f64());
}

fn same_projection(fit: &Fit, of_group: &serde_json::Value) {
    let p = fit
        .project(&training(fit), &ProjectOptions::default())
        .unwrap();
    close(&p.mean, &rows(&of_group["projected"]), 1e-10);
    close(&p.sd, &rows(&of_group["sd"]), 1e-10);
    // the factors of the model have these standard deviations too
    close(&fit.factors().unwrap().sd, &rows(&of_group["sd"]), 1e-10);
    assert!(
        p.notes.iter().any(|n| n.contains("weights are known")),
        "{:?}",
        p.notes
    );
}

#[test]
fn one_group_without_noise() {
    let (fit, file) = (read("one", &ImportOptions::default()), expected("one"));
    same_estimates(&fit, &file, &["A"]);
    same_projection(&fit, &file["groups"]["A"]);
    assert!(fit.groups().is_none());
    assert_eq!(fit.samples()[1], "s0_1");
    assert_eq!(fit.views()[0].features[8], "r8");
    // the file's own shares; its residuals are not about their means
    let shares = fit.explain().unwrap().total;
    for (m, r2) in file["groups"]["A"]["r2"]
        .as_array()
        .unwrap()
        .iter()
        .enumerate()
    {
        assert!((100.0 * shares[m] - r2.as_f64().unwrap()).abs() < 1.0);
    }
    let notes = fit.record().assumptions().join("\n");
    assert!(notes.contains("does not say how noisy"), "{notes}");
    assert!(!notes.contains("scale_views"), "{notes}");
}

#[test]
fn predictions_are_in_data_units() {
    let fit = read("one", &ImportOptions::default());
    let p = fit.predict(&training(&fit), "prot").unwrap();
    // view 1 was simulated about 1
    let mean = (0..7)
        .map(|d| p.mean.col(d).iter().sum::<f64>() / 14.0)
        .sum::<f64>()
        / 7.0;
    assert!((mean - 1.0).abs() < 0.5, "{mean}");
    assert!(p.sd[(0, 0)] > 0.1 && p.sd[(0, 0)] < 2.0);
    assert!(p.notes.iter().any(|n| n.contains("weights are known")));
}

#[test]
fn a_group_with_its_noise() {
    let file = expected("groups");
    for g in ["A", "B"] {
        let fit = read("groups", &group(g));
        same_estimates(&fit, &file, &[g]);
        same_projection(&fit, &file["groups"][g]);
        let notes = fit.record().assumptions().join("\n");
        assert!(
            !notes.contains("noisy") && notes.contains("standard normal prior"),
            "{notes}"
        );
    }
}

#[test]
fn all_groups_together() {
    let (fit, file) = (
        read("groups", &ImportOptions::default()),
        expected("groups"),
    );
    same_estimates(&fit, &file, &["A", "B"]);
    let groups = fit.groups().unwrap();
    assert_eq!(groups.names, ["A", "B"]);
    assert_eq!(groups.of_sample.iter().filter(|g| **g == 1).count(), 12);
    let notes = fit.record().assumptions().join("\n");
    assert!(notes.contains("standard normal prior"), "{notes}");
    // noise and intercepts are each group's own: projected together, samples
    // have the factors that the models of single groups give them
    let of_all = |what: &str| -> Vec<Vec<f64>> {
        let of = |g| rows(&file["groups"][g][what]);
        [of("A"), of("B")].concat()
    };
    let given = training(&fit);
    let p = fit.project(&given, &ProjectOptions::default()).unwrap();
    close(&p.mean, &of_all("projected"), 1e-10);
    close(&p.sd, &of_all("sd"), 1e-10);
    close(&fit.factors().unwrap().sd, &of_all("sd"), 1e-10);
    // whose group is not known may be of any, and a note says so
    let samples = given.samples().to_vec();
    let mut without = Dataset::builder();
    for v in given.views() {
        without = without.view(Table {
            name: v.name().into(),
            samples: samples.clone(),
            features: v.features().to_vec(),
            values: v.to_values_with_nan(),
            levels: Vec::new(),
        });
    }
    let any = fit
        .project(&without.build().unwrap(), &ProjectOptions::default())
        .unwrap();
    assert!(
        any.notes
            .iter()
            .any(|n| n.contains("as likely as its data make it"))
    );
    // predictions have the level of the sample's group
    let alone = |g: &str| {
        let fit = read("groups", &group(g));
        fit.predict(&training(&fit), "rna").unwrap()
    };
    let (all, a, b) = (fit.predict(&given, "rna").unwrap(), alone("A"), alone("B"));
    for d in 0..9 {
        for n in 0..26 {
            let (own, i) = if n < 14 { (&a, n) } else { (&b, n - 14) };
            assert!((all.mean[(n, d)] - own.mean[(i, d)]).abs() < 1e-9);
            assert!((all.sd[(n, d)] - own.sd[(i, d)]).abs() < 1e-9);
        }
    }
    // each group's data keep its own level: B lies 2 above A
    let data = training(&fit);
    let level = |rows: std::ops::Range<usize>| {
        let v = data.view("rna").unwrap();
        let cells: Vec<f64> = rows
            .flat_map(|n| (0..9).filter_map(move |d| v.value(n, d)))
            .collect();
        cells.iter().sum::<f64>() / cells.len() as f64
    };
    assert!((level(14..26) - level(0..14) - 2.0).abs() < 0.4);
}

#[test]
fn binary_and_count_views() {
    let (fit, file) = (read("mixed", &ImportOptions::default()), expected("mixed"));
    same_estimates(&fit, &file, &["A"]);
    let kinds: Vec<&str> = (fit.views().iter().map(|v| v.choices.likelihood.name())).collect();
    assert_eq!(kinds, ["gaussian", "bernoulli", "poisson"]);
    let notes = fit.record().assumptions().join("\n");
    assert!(
        notes.contains("intercepts of bernoulli views are not in the file"),
        "{notes}"
    );
    // intercepts were estimated: the fitted means are those of the data
    let data = training(&fit);
    for v in ["prot", "meth"] {
        let fitted = fit.fitted(v).unwrap();
        let view = data.view(v).unwrap();
        let (mut seen, mut truth, mut guess) = (0.0, 0.0, 0.0);
        for n in 0..14 {
            for d in 0..view.n_features() {
                if let Some(x) = view.value(n, d) {
                    seen += 1.0;
                    truth += x;
                    guess += fitted.mean[(n, d)];
                }
            }
        }
        assert!(
            (truth - guess).abs() / seen < 0.1,
            "{v}: {} {}",
            truth / seen,
            guess / seen
        );
    }
    fit.project(&data, &ProjectOptions::default()).unwrap();
}

#[test]
fn scaled_views_are_noticed() {
    let fit = read("scaled", &ImportOptions::default());
    let notes = fit.record().assumptions().join("\n");
    assert!(notes.contains("--scale rna=NUMBER"), "{notes}");
    // mofapy2 centres features in groups first, and keeps their means as they were: no new data fit without the scale
    assert!(
        notes.contains("about the mean of their feature") && !notes.contains("scaled likewise"),
        "{notes}"
    );
    let options = ImportOptions {
        scales: VIEWS.iter().map(|v| ((*v).to_owned(), 2.5)).collect(),
        ..ImportOptions::default()
    };
    let scaled = read("scaled", &options);
    assert!(!scaled.record().assumptions().join("\n").contains("--scale"));
    assert_eq!(scaled.views()[0].scaling.scale, [2.5; 9]);
    // the same working data, other data units
    assert_eq!(
        scaled.data().unwrap()[0].values(),
        fit.data().unwrap()[0].values()
    );
    same_estimates(&scaled, &expected("scaled"), &["A"]);
}

#[test]
fn imported_models_are_models() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("model.pv");
    for name in ["one", "groups", "mixed"] {
        let fit = read(name, &ImportOptions::default());
        fit.save(&path, Overwrite::Replace).unwrap();
        let again = Fit::load(&path).unwrap();
        assert_eq!(again.to_bytes().unwrap(), fit.to_bytes().unwrap());
        assert_eq!(again.record().assumptions(), fit.record().assumptions());
        assert_eq!(again.k(), 3);
        again.active(0.01).unwrap();
        // known weights turn as others do
        let (turned, own) = (again.varimax().unwrap(), again.explain().unwrap());
        for (x, y) in turned.explain().unwrap().total.iter().zip(&own.total) {
            assert!((x - y).abs() < 1e-9, "{name}: {x} {y}");
        }
    }
}

#[test]
fn options_that_do_not_fit() {
    let (_folder, path) = golden("groups.hdf5");
    let e = read_mofa2(&path, &group("C")).unwrap_err().to_string();
    assert!(e.contains("no group 'C'; there are A, B"), "{e}");
    for (view, scale, said) in [("x", 1.0, "no view 'x'"), ("rna", 0.0, "must be positive")] {
        let options = ImportOptions {
            scales: vec![(view.into(), scale)],
            ..ImportOptions::default()
        };
        let e = read_mofa2(&path, &options).unwrap_err().to_string();
        assert!(e.contains(said), "{e}");
    }
}

#[test]
fn files_that_are_no_models() {
    let (_folder, path) = golden("new.h5ad");
    let e = read_mofa2(&path, &ImportOptions::default()).unwrap_err();
    assert!(matches!(e, Hdf5Error::Missing { .. }), "{e}");
    assert!(
        e.to_string()
            .contains("every MOFA2 model has it: is this one?"),
        "{e}"
    );
    let (_folder, path) = crate::common::put("a.hdf5", b"sample,a\ns,1\n");
    let e = read_mofa2(&path, &ImportOptions::default()).unwrap_err();
    assert!(matches!(e, Hdf5Error::NotHdf5 { .. }), "{e}");
    let e = read_mofa2("no/such/file", &ImportOptions::default()).unwrap_err();
    assert!(matches!(e, Hdf5Error::Read { .. }), "{e}");
}

#[test]
fn a_model_without_data_says_so() {
    let (_folder, path) = golden("one.hdf5");
    let fit = read_mofa2(&path, &ImportOptions::default()).unwrap();
    let mut without = fit.clone();
    without.forget_data();
    assert!(matches!(
        without.explain().unwrap_err().kind(),
        ErrorKind::NoData
    ));
}

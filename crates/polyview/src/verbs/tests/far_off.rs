//! New data far off the training data, told from the model file alone.

use polyview_core::{Dataset, Table};
use polyview_datasets::Missing;
use polyview_linalg::{Mat, SparseColumns};

use super::{gibbs, rebuilt, simulated, table, vb};
use crate::{Fit, PredictOptions, ProjectOptions, models};

fn times(data: &Dataset, view: &str, by: f64) -> Dataset {
    rebuilt(data, &["view1", "view2"], |v| {
        let t = table(data, v);
        let by = if v.name() == view { by } else { 1.0 };
        let values = Mat::from_fn(t.samples.len(), t.features.len(), |n, d| {
            by * t.values[(n, d)]
        });
        Table { values, ..t }
    })
}

fn warnings(fit: &Fit, data: &Dataset) -> Vec<String> {
    let p = fit.project(data, &ProjectOptions::default());
    p.unwrap().warnings
}

#[test]
fn every_answer_to_new_data_warns() {
    let data = simulated(40, 3, Missing::default());
    for mut fit in [vb(data.clone(), 2), gibbs(data.clone(), 2)] {
        fit.forget_data();
        let fit = Fit::from_bytes(&fit.to_bytes().unwrap()).unwrap();
        assert_eq!(warnings(&fit, &data), [""; 0]);
        let new = times(&data, "view2", 1000.0);
        let found = warnings(&fit, &new);
        assert_eq!(found.len(), 1, "{found:?}");
        assert!(found[0].starts_with("view 'view2': "), "{found:?}");
        assert!(found[0].contains("about 1000 times"), "{found:?}");
        let p = fit.predict(&new, "view1").unwrap();
        assert_eq!(p.warnings, found);
        // what is predicted is not looked at
        assert_eq!(fit.predict(&new, "view2").unwrap().warnings, [""; 0]);
        let options = PredictOptions::default();
        let f = fit.impute_data_with(&new, "view1", 0.9, &options).unwrap();
        assert_eq!(f.warnings, found);
        let notes = fit.explain_on(&new).unwrap().notes;
        assert!(notes.contains(&found[0]), "{notes:?}");
    }
}

/// Other samples of the same kind are never called far off, however few they are,
/// and of a batch with one odd cell that cell alone is named.
#[test]
fn good_data_are_not_warned_of() {
    let all = simulated(400, 8, Missing::default());
    let part = |from: usize, to: usize| {
        rebuilt(&all, &["view1", "view2"], |v| {
            let t = table(&all, v);
            let values = Mat::from_fn(to - from, t.features.len(), |n, d| t.values[(from + n, d)]);
            Table {
                samples: t.samples[from..to].to_vec(),
                values,
                ..t
            }
        })
    };
    let fit = vb(part(0, 60), 2);
    for size in [1, 2, 5, 9, 40] {
        for from in (60..=400 - size).step_by(size) {
            assert_eq!(warnings(&fit, &part(from, from + size)), [""; 0]);
        }
    }
    let odd = rebuilt(&all, &["view1", "view2"], |v| {
        let mut t = table(&all, v);
        t.values[(70, 2)] *= 1e6;
        t
    });
    let found = warnings(&fit, &odd);
    assert_eq!(found.len(), 2, "{found:?}");
    for (warning, cell) in found.iter().zip(["'v1f3'", "'v2f3'"]) {
        assert!(
            warning.contains(": 1 new value(s) lie more than 100")
                && warning.contains(&format!("sample 's71', feature {cell} (")),
            "{warning}"
        );
    }
}

/// Both views with features of mean 10 and standard deviation 8.
fn about_ten(samples: usize) -> Dataset {
    let data = simulated(samples, 5, Missing::default());
    rebuilt(&data, &["view1", "view2"], |v| {
        let t = table(&data, v);
        let n = samples as f64;
        let columns: Vec<Vec<f64>> = (0..t.features.len())
            .map(|d| {
                let x = t.values.col_as_slice(d);
                let mean = x.iter().sum::<f64>() / n;
                let sd = (x.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / n).sqrt();
                x.iter().map(|x| 10.0 + 8.0 * (x - mean) / sd).collect()
            })
            .collect();
        let values = Mat::from_fn(samples, columns.len(), |n, d| columns[d][n]);
        Table { values, ..t }
    })
}

/// A unit that all features share is not taken for a logarithm that lies a little nearer.
#[test]
fn a_unit_comes_before_a_logarithm() {
    let data = about_ten(60);
    let fit = vb(data.clone(), 2);
    // samples somewhat below those of training, in thousandths
    let new = rebuilt(&data, &["view1", "view2"], |v| {
        let mut t = table(&data, v);
        if v.name() == "view2" {
            t.values = Mat::from_fn(60, t.features.len(), |n, d| {
                1000.0 * (t.values[(n, d)] - 4.0)
            });
        }
        t
    });
    let found = warnings(&fit, &new);
    assert_eq!(found.len(), 1, "{found:?}");
    assert!(found[0].contains("about 1000 times"), "{found:?}");
}

/// Three samples do not tell a unit from a logarithm: both are named, unless the training values
/// or the new ones have values that no logarithm has.
#[test]
fn few_samples_leave_open_what_is_the_matter() {
    let thousandfold = |shift: f64| {
        let data = about_ten(60);
        let of = |from: usize, to: usize, by: f64| {
            rebuilt(&data, &["view1", "view2"], |v| {
                let t = table(&data, v);
                let cell = |n: usize, d: usize| {
                    // none below zero
                    let x = t.values[(from + n, d)];
                    by * ((10.0 + 0.25 * (x - 10.0)).max(2.0) - shift)
                };
                Table {
                    samples: t.samples[from..to].to_vec(),
                    values: Mat::from_fn(to - from, t.features.len(), cell),
                    ..t
                }
            })
        };
        let fit = vb(of(0, 50, 1.0), 2);
        warnings(&fit, &of(55, 58, 1000.0)).join("\n")
    };
    let found = thousandfold(0.0);
    assert!(
        found.contains("about 1000 times as large, or ") && found.contains("(1 + x)"),
        "{found}"
    );
    // training values below zero
    let found = thousandfold(5.0);
    assert!(found.contains("far off"), "{found}");
    assert!(!found.contains("(1 + x)"), "{found}");
}

/// Where few samples are off, they are named, and no unit is made up from all of them.
#[test]
fn few_samples_far_off_are_named() {
    let data = about_ten(100);
    let fit = vb(data.clone(), 2);
    let new = rebuilt(&data, &["view1", "view2"], |v| {
        let mut t = table(&data, v);
        if v.name() == "view2" {
            let by = |n: usize| if (20..30).contains(&n) { 1000.0 } else { 1.0 };
            t.values = Mat::from_fn(100, t.features.len(), |n, d| by(n) * t.values[(n, d)]);
        }
        t
    });
    let found = warnings(&fit, &new);
    assert_eq!(found.len(), 1, "{found:?}");
    let first = format!(
        "the new values of 10 of 100 samples, first '{}'",
        data.samples()[20]
    );
    assert!(found[0].contains(&first), "{found:?}");
}

/// Files that do not hold where the training data lay are as good where they were
/// scaled feature by feature, or hold the data.
#[test]
fn what_a_file_does_not_say_follows_from_it() {
    let data = simulated(40, 3, Missing::default());
    let fit = vb(data.clone(), 2);
    for info in fit.views() {
        let training = info.training.as_ref().unwrap();
        let implied = crate::fit::TrainingScale::of_scaling(info).unwrap();
        let at = fit.view(&info.name).unwrap().0;
        let kept = &fit.data().unwrap()[at];
        let restored =
            crate::fit::TrainingScale::of_working(&"gaussian".into(), kept, &info.scaling, None)
                .unwrap();
        for other in [implied, restored] {
            for d in 0..info.features.len() {
                assert!((training.mean[d] - other.mean[d]).abs() < 1e-12 * training.sd[d]);
                assert!((training.sd[d] / other.sd[d] - 1.0).abs() < 1e-12);
            }
        }
    }
}

/// Counts are compared as logarithms, and stored sparse as when every zero is
/// stored.
#[test]
fn counts_stored_sparse() {
    let count = |n: usize, d: usize, by: f64| {
        let x = ((n * 7 + d * 5) % 9) as f64;
        by * if x > 4.0 { x - 4.0 } else { 0.0 }
    };
    let dense = |by: f64| Table {
        name: "c".into(),
        samples: (0..40).map(|n| format!("s{n}")).collect(),
        features: (0..6).map(|d| format!("f{d}")).collect(),
        values: Mat::from_fn(40, 6, |n, d| count(n, d, by)),
        levels: Vec::new(),
    };
    let sparse = |by: f64| {
        let t = dense(by);
        polyview_core::SparseTable {
            name: t.name,
            samples: t.samples,
            features: t.features,
            values: SparseColumns::from_dense(t.values.as_ref()).unwrap(),
        }
    };
    let spec = models::mofa(2).with_likelihood("c", "negative-binomial");
    let a = Dataset::builder().view(dense(1.0)).build().unwrap();
    let b = Dataset::builder().view(sparse(1.0)).build().unwrap();
    let a = crate::fit(a, spec.clone()).unwrap();
    let b = crate::fit(b, spec).unwrap();
    let (of_a, of_b) = (&a.views()[0].training, &b.views()[0].training);
    let (of_a, of_b) = (of_a.as_ref().unwrap(), of_b.as_ref().unwrap());
    for d in 0..6 {
        assert!((of_a.mean[d] - of_b.mean[d]).abs() < 1e-14);
        assert!((of_a.sd[d] - of_b.sd[d]).abs() < 1e-14);
        let mean = (0..40).map(|n| count(n, d, 1.0).ln_1p()).sum::<f64>() / 40.0;
        assert!((of_a.mean[d] - mean).abs() < 1e-14);
    }
    for fit in [a, b] {
        for (by, off) in [(1.0, 0), (1000.0, 1)] {
            let new = Dataset::builder().view(sparse(by)).build().unwrap();
            let info = &fit.views()[0];
            let training = crate::verbs::far_off::Training::of(info, None).unwrap();
            let found = crate::verbs::far_off::far_off(&training, &new.views()[0], new.samples());
            assert_eq!(usize::from(found.is_some()), off, "{found:?}");
        }
    }
}

/// A single count that is far off is found on the scale of logarithms, and named.
#[test]
fn a_single_count_far_off_is_named() {
    let counts = |odd: f64| Table {
        name: "c".into(),
        samples: (0..60).map(|n| format!("s{n}")).collect(),
        features: (0..6).map(|d| format!("f{d}")).collect(),
        values: Mat::from_fn(60, 6, |n, d| {
            let by = if (n, d) == (7, 2) { odd } else { 1.0 };
            by * (20 + (n * 7 + d * 5) % 30) as f64
        }),
        levels: Vec::new(),
    };
    let data = |odd: f64| Dataset::builder().view(counts(odd)).build().unwrap();
    let spec = models::mofa(2).with_likelihood("c", "negative-binomial");
    let fit = crate::fit(data(1.0), spec).unwrap();
    // a hundred times as many reads are nothing unheard of
    for (odd, found) in [(1.0, 0), (100.0, 0), (1e6, 1)] {
        let all = warnings(&fit, &data(odd));
        assert_eq!(all.len(), found, "{odd}: {all:?}");
        for text in all {
            assert!(
                text.contains(": 1 new value(s) lie more than 10") && text.contains("of ln(1 + x)"),
                "{text}"
            );
            assert!(text.contains("sample 's7', feature 'f2' ("), "{text}");
        }
    }
}

/// Cells far off that make neither features nor samples are told as a share, the worst of them by name.
#[test]
fn scattered_cells_far_off_are_named() {
    let data = about_ten(100);
    let fit = vb(data.clone(), 2);
    let new = rebuilt(&data, &["view1", "view2"], |v| {
        let mut t = table(&data, v);
        if v.name() == "view2" {
            let off = |n: usize, d: usize| (n * 7 + d * 3).is_multiple_of(13);
            t.values = Mat::from_fn(100, t.features.len(), |n, d| {
                t.values[(n, d)] + if off(n, d) { 1e4 + n as f64 } else { 0.0 }
            });
        }
        t
    });
    let found = warnings(&fit, &new);
    assert_eq!(found.len(), 1, "{found:?}");
    assert!(
        found[0].contains("% of them lie more than") && found[0].contains("worst first: sample '"),
        "{found:?}"
    );
}

//! Views and annotations of files that anndata and mudata wrote, with string
//! encodings old and new.

use std::path::Path;

use crate::common::golden;
use polyview_core::{MetadataValues, Table, ViewTable};
use polyview_hdf5::{Hdf5Error, Location, read_classes, read_obs, read_view};

fn at(path: &Path, inside: &str) -> Location {
    Location {
        path: path.to_owned(),
        inside: inside.to_owned(),
    }
}

fn is_dense(t: &Table) {
    assert_eq!(
        t.samples,
        [
            "cell0", "cell1", "cell2", "cell3", "cell4", "cell5", "cell6"
        ]
    );
    assert_eq!(t.features, ["gene0", "gene1", "gene2", "gene3", "gene4"]);
    for n in 0..7 {
        for d in 0..5 {
            let x = t.values[(n, d)];
            if (n, d) == (2, 3) {
                assert!(x.is_nan());
            } else {
                assert_eq!(x, (n * 5 + d) as f64 / 4.0);
            }
        }
    }
}

fn is_counts(t: &Table, columns: usize) {
    assert_eq!((t.values.nrows(), t.values.ncols()), (7, columns));
    for n in 0..7 {
        for d in 0..columns {
            let cell = n * 5 + d;
            let x = if cell % 3 == 0 { 0.0 } else { cell as f64 };
            assert_eq!(t.values[(n, d)], x, "{n} {d}");
        }
    }
}

#[test]
fn matrices() {
    for (file, prefix) in [("new.h5ad", ""), ("old.h5ad", ""), ("two.h5mu", "rna/")] {
        let (_folder, path) = golden(file);
        let read = |inside: &str| read_view(&at(&path, inside), "rna").unwrap();
        let t = read(prefix.trim_end_matches('/'));
        assert_eq!(t.name(), "rna");
        is_dense(&t.into_dense());
        is_dense(&read(&format!("{prefix}X")).into_dense());
        let counts = read(&format!("{prefix}layers/counts"));
        assert!(matches!(counts, ViewTable::Sparse(_)));
        is_counts(&counts.into_dense(), 5);
    }
    let (_folder, path) = golden("new.h5ad");
    let columns = read_view(&at(&path, "layers/columns"), "c").unwrap();
    assert!(matches!(columns, ViewTable::Sparse(_)));
    is_counts(&columns.into_dense(), 5);
    let (_folder, path) = golden("two.h5mu");
    let t = read_view(&at(&path, "prot"), "p").unwrap().into_dense();
    assert_eq!(t.features, ["gene0", "gene1", "gene2"]);
    is_counts(&t, 3);
}

#[test]
fn annotations() {
    let donors = ["b", "a", "b", "", "a", "a", "b"].map(|d| (!d.is_empty()).then(|| d.to_owned()));
    for (file, inside, columns) in [
        ("new.h5ad", "", &["donor", "age", "word", "good"][..]),
        ("old.h5ad", "", &["donor", "age"]),
        ("two.h5mu", "rna", &["donor", "age", "word", "good"]),
    ] {
        let (_folder, path) = golden(file);
        let (found, notes) = read_obs(&at(&path, inside)).unwrap();
        assert!(notes.is_empty(), "{notes:?}");
        let names: Vec<&str> = found.iter().map(|c| c.1.name.as_str()).collect();
        assert_eq!(names, columns);
        assert_eq!(found[0].0[6], "cell6");
        assert_eq!(
            found[0].1.values,
            MetadataValues::Categories(donors.to_vec())
        );
        let MetadataValues::Numbers(age) = &found[1].1.values else {
            panic!("numbers")
        };
        assert!(age[2].is_nan() && age[6] == 36.0);
        if let Some(good) = found.get(3) {
            let MetadataValues::Categories(good) = &good.1.values else {
                panic!("words")
            };
            assert_eq!(good[1].as_deref(), Some("FALSE"));
        }
    }
    // of several matrices without a choice: the common table
    let (_folder, path) = golden("two.h5mu");
    let (found, _) = read_obs(&at(&path, "")).unwrap();
    assert_eq!(found.len(), 1);
    assert_eq!(found[0].1.name, "batch");
}

#[test]
fn classes() {
    for (file, inside) in [("new.h5ad", "obs/donor"), ("two.h5mu", "rna/obs/donor")] {
        let (_folder, path) = golden(file);
        let t = read_classes(&at(&path, inside), "who").unwrap();
        assert_eq!(t.levels, ["a", "b"]);
        assert_eq!(t.features, ["donor"]);
        assert_eq!((t.values[(0, 0)], t.values[(1, 0)]), (1.0, 0.0));
        assert!(t.values[(3, 0)].is_nan());
    }
    let (_folder, path) = golden("new.h5ad");
    let e = read_classes(&at(&path, "obs/age"), "who").unwrap_err();
    assert!(matches!(e, Hdf5Error::Layout { .. }), "{e}");
    let e = read_classes(&at(&path, "X"), "who").unwrap_err();
    assert!(matches!(e, Hdf5Error::Option(_)), "{e}");
    let e = read_classes(&at(&path, "obs/nobody"), "who")
        .unwrap_err()
        .to_string();
    assert!(e.contains("the columns are donor, age, word, good"), "{e}");
}

#[test]
fn what_is_not_there() {
    let (_folder, path) = golden("two.h5mu");
    for inside in ["", "atac", "atac/X"] {
        let e = read_view(&at(&path, inside), "v").unwrap_err().to_string();
        assert!(
            e.contains("name a modality") && e.contains("there are prot, rna"),
            "{e}"
        );
    }
    let e = read_view(&at(&path, "rna/layers/raw"), "v")
        .unwrap_err()
        .to_string();
    assert!(
        e.contains("what there is: X, layers/columns, layers/counts"),
        "{e}"
    );
    let (_folder, path) = golden("new.h5ad");
    let e = read_view(&at(&path, "raw/X"), "v").unwrap_err();
    assert!(matches!(e, Hdf5Error::Missing { .. }), "{e}");
    let e = read_view(&at(&path, "obs"), "v").unwrap_err();
    assert!(matches!(e, Hdf5Error::Layout { .. }), "{e}");
    let (_folder, path) = golden("oldest.h5ad");
    let e = read_view(&at(&path, ""), "v").unwrap_err().to_string();
    assert!(
        e.contains("before 0.7") && e.contains("write it again"),
        "{e}"
    );
    let (_folder, path) = golden("one.hdf5");
    let e = read_view(&at(&path, ""), "v").unwrap_err().to_string();
    assert!(e.contains("an .h5ad file has it at its top"), "{e}");
}

#[test]
fn locations() {
    let parse = |text: &str| Location::parse(Path::new(text));
    assert_eq!(parse("a/b.h5ad"), Some(at(Path::new("a/b.h5ad"), "")));
    assert_eq!(
        parse("a#1/b.H5MU#rna/layers/counts"),
        Some(at(Path::new("a#1/b.H5MU"), "rna/layers/counts"))
    );
    assert_eq!(parse("b.h5ad#/X/"), Some(at(Path::new("b.h5ad"), "X")));
    assert_eq!(parse("table#1.csv"), None);
    assert_eq!(parse("b.h5"), None);
}

//! Files that are cut off, damaged or lie: errors, never a panic.

use std::path::Path;

use crate::common::{bytes, put};
use hdf5_pure::{AttrValue, FileBuilder};
use polyview_hdf5::{Hdf5Error, ImportOptions, Location, read_mofa2, read_obs, read_view};

fn views(path: &Path) {
    for inside in ["", "layers/counts", "layers/columns", "rna", "prot"] {
        let location = Location {
            path: path.to_owned(),
            inside: inside.to_owned(),
        };
        let _ = read_view(&location, "v");
        let _ = read_obs(&location);
    }
}

#[test]
fn cut_off() {
    let whole = bytes("one.hdf5");
    for part in [0, 7, 8, 60, 700, 5000, whole.len() / 2, whole.len() - 1] {
        let (_folder, path) = put("m.hdf5", &whole[..part]);
        let e = read_mofa2(&path, &ImportOptions::default()).unwrap_err();
        assert!(
            matches!(
                e,
                Hdf5Error::NotHdf5 { .. } | Hdf5Error::Damaged { .. } | Hdf5Error::Missing { .. }
            ),
            "{part}: {e}"
        );
    }
    for name in ["new.h5ad", "two.h5mu"] {
        let whole = bytes(name);
        for part in [0, 100, whole.len() / 3, whole.len() / 2] {
            let (_folder, path) = put(name, &whole[..part]);
            let location = Location {
                path,
                inside: "rna".into(),
            };
            assert!(read_view(&location, "v").is_err());
        }
    }
}

/// Bytes changed one at a time, at places spread over the whole file.
#[test]
fn damaged() {
    for name in ["one.hdf5", "mixed.hdf5", "new.h5ad", "old.h5ad", "two.h5mu"] {
        let mut damaged = bytes(name);
        let length = damaged.len();
        let mut at = 11;
        for i in 0..160_usize {
            at = (at * 48_271 + 7) % length;
            let before = damaged[at];
            damaged[at] = [0xff, 0, before ^ 1, before ^ 0x80][i % 4];
            let (_folder, path) = put(name, &damaged);
            if name.ends_with("hdf5") {
                let _ = read_mofa2(&path, &ImportOptions::default());
            } else {
                views(&path);
            }
            damaged[at] = before;
        }
    }
}

/// An `.h5ad` of two samples and features whose matrix is made by `x`.
fn h5ad(x: impl FnOnce(&mut FileBuilder)) -> (tempfile::TempDir, Location) {
    let mut file = FileBuilder::new();
    for name in ["obs", "var"] {
        let mut group = file.create_group(name);
        group
            .create_dataset("_index")
            .with_vlen_strings(&["a", "b"]);
        file.add_group(group.finish());
    }
    x(&mut file);
    let (folder, path) = put("x.h5ad", &file.finish().unwrap());
    let location = Location {
        path,
        inside: String::new(),
    };
    (folder, location)
}

fn sparse(shape: [i64; 2], starts: &[i64], indices: &[i64], values: &[f64]) -> Result<f64, String> {
    let (_folder, location) = h5ad(|file| {
        let mut group = file.create_group("X");
        group.set_attr(
            "encoding-type",
            AttrValue::VarLenString("csr_matrix".into()),
        );
        group.set_attr("shape", AttrValue::I64Array(shape.to_vec()));
        group.create_dataset("indptr").with_i64_data(starts);
        group.create_dataset("indices").with_i64_data(indices);
        group.create_dataset("data").with_f64_data(values);
        file.add_group(group.finish());
    });
    read_view(&location, "v")
        .map(|t| t.into_dense().values[(1, 0)])
        .map_err(|e| e.to_string())
}

#[test]
fn sparse_matrices_that_lie() {
    assert_eq!(sparse([2, 2], &[0, 1, 2], &[1, 0], &[5.0, 6.0]), Ok(6.0));
    // twice the same place: the sum
    assert_eq!(sparse([2, 2], &[0, 0, 2], &[0, 0], &[5.0, 6.0]), Ok(11.0));
    for (shape, starts, indices, said) in [
        ([2, 3], [0, 1, 2], [1, 0], "shape"),
        ([2, 2], [0, 2, 1], [1, 0], "does not run from 0"),
        ([2, 2], [1, 1, 2], [1, 0], "does not run from 0"),
        ([2, 2], [0, 1, 3], [1, 0], "does not run from 0"),
        ([2, 2], [0, 1, 2], [2, 0], "points at place 2 of 2"),
        ([2, 2], [0, 1, 2], [-1, 0], "points at place -1 of 2"),
    ] {
        let e = sparse(shape, &starts, &indices, &[5.0, 6.0]).unwrap_err();
        assert!(e.contains(said), "{e}");
    }
    let e = sparse([2, 2], &[0, 1, 2], &[1, 0], &[5.0]).unwrap_err();
    assert!(e.contains("shape"), "{e}");
    // a missing cell has its place in a dense matrix
    let missing = sparse([2, 2], &[0, 1, 2], &[1, 0], &[5.0, f64::NAN]).unwrap();
    assert!(missing.is_nan());
}

#[test]
fn matrices_that_do_not_fit_their_names() {
    let (_folder, location) = h5ad(|file| {
        let values: Vec<f64> = (0..6).map(f64::from).collect();
        file.create_dataset("X")
            .with_f64_data(&values)
            .with_shape(&[2, 3]);
    });
    let e = read_view(&location, "v").unwrap_err();
    assert!(matches!(e, Hdf5Error::Shape { .. }), "{e}");
    let (_folder, location) = h5ad(|file| {
        file.create_dataset("X").with_vlen_strings(&["a", "b"]);
    });
    assert!(read_view(&location, "v").is_err());
    let (_folder, location) = h5ad(|_| {});
    let e = read_view(&location, "v").unwrap_err();
    assert!(matches!(e, Hdf5Error::Missing { .. }), "{e}");
}

#[test]
fn infinite_values_are_refused() {
    let (_folder, location) = h5ad(|file| {
        let values = [1.0, f64::INFINITY, 0.0, 2.0];
        file.create_dataset("X")
            .with_f64_data(&values)
            .with_shape(&[2, 2]);
    });
    let e = read_view(&location, "v").unwrap_err();
    assert!(matches!(e, Hdf5Error::Values { .. }), "{e}");
    let e = e.to_string();
    for word in ["'X'", "infinite", "of sample '", "feature '", "NaN"] {
        assert!(e.contains(word), "'{word}' is not in: {e}");
    }
}

/// A model of MOFA2 of one view and one group, as far as it is read before its noise.
fn model(samples: &[&str], weights: &[f64]) -> String {
    let mut file = FileBuilder::new();
    let words = |file: &mut FileBuilder, group: &str, name: &str, words: &[&str]| {
        let mut group = file.create_group(group);
        group.create_dataset(name).with_vlen_strings(words);
        file.add_group(group.finish());
    };
    words(&mut file, "views", "views", &["v"]);
    words(&mut file, "groups", "groups", &["g"]);
    words(&mut file, "features", "v", &["a", "b"]);
    words(&mut file, "samples", "g", samples);
    words(&mut file, "model_options", "likelihoods", &["gaussian"]);
    let mut all = file.create_group("expectations");
    for (kind, name, values) in [("Z", "g", &[0.5, -1.0, 0.5][..]), ("W", "v", weights)] {
        let mut group = all.create_group(kind);
        group
            .create_dataset(name)
            .with_f64_data(values)
            .with_shape(&[1, values.len() as u64]);
        all.add_group(group.finish());
    }
    file.add_group(all.finish());
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("m.hdf5");
    file.write(&path).unwrap();
    let e = read_mofa2(&path, &ImportOptions::default()).unwrap_err();
    e.to_string()
}

#[test]
fn what_is_wrong_with_a_model_is_named_in_its_file() {
    let e = model(&["s", "t", "u"], &[1.0, f64::NAN]);
    for word in [
        "m.hdf5",
        "'expectations/W/v'",
        "feature 'b' in factor 1",
        "fit it again",
    ] {
        assert!(e.contains(word), "'{word}' is not in: {e}");
    }
    let e = model(&["s", "t", "s"], &[1.0, 2.0]);
    for word in ["m.hdf5", "'samples/g' holds 's' twice"] {
        assert!(e.contains(word), "'{word}' is not in: {e}");
    }
}

//! MOFA2 models out and in, and views of `.h5ad` and `.h5mu` files.

use std::path::Path;

use hdf5_pure::{AttrValue, FileBuilder, GroupBuilder};

use crate::common::{fails, get, ok, put, run, same_table};

const SAMPLES: usize = 24;

fn value(n: usize, d: usize) -> f64 {
    let a = (n as f64 * 0.9).sin();
    (a * (d as f64 - 2.0) * 3.0 + ((n * 7 + d * 5) % 9) as f64 * 0.1).round() + 10.0
}

fn names(prefix: &str, count: usize) -> Vec<String> {
    (0..count).map(|i| format!("{prefix}{i}")).collect()
}

fn words(group: &mut GroupBuilder, name: &str, words: &[String]) {
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    group.create_dataset(name).with_vlen_strings(&words);
}

/// `obs`, `var`, a dense `X` and a sparse layer of counts.
fn annotated(group: &mut GroupBuilder, features: usize) {
    let mut obs = group.create_group("obs");
    words(&mut obs, "_index", &names("s", SAMPLES));
    let donors: Vec<String> = (0..SAMPLES).map(|n| format!("donor{}", n % 2)).collect();
    words(&mut obs, "donor", &donors);
    let flags: Vec<String> = (0..SAMPLES)
        .map(|n| ["TRUE", "FALSE"][n % 2].to_owned())
        .collect();
    words(&mut obs, "flag", &flags);
    obs.set_attr(
        "column-order",
        AttrValue::VarLenStringArray(vec!["donor".into(), "flag".into()]),
    );
    group.add_group(obs.finish());
    let mut var = group.create_group("var");
    words(&mut var, "_index", &names("g", features));
    group.add_group(var.finish());
    let cells: Vec<f64> = (0..SAMPLES)
        .flat_map(|n| (0..features).map(move |d| value(n, d)))
        .collect();
    group
        .create_dataset("X")
        .with_f64_data(&cells)
        .with_shape(&[SAMPLES as u64, features as u64])
        .with_chunks(&[5, features as u64])
        .with_deflate(4);
    let mut layers = group.create_group("layers");
    let mut counts = layers.create_group("counts");
    counts.set_attr(
        "encoding-type",
        AttrValue::VarLenString("csr_matrix".into()),
    );
    let shape = vec![SAMPLES as i64, features as i64];
    counts.set_attr("shape", AttrValue::I64Array(shape));
    let starts: Vec<i64> = (0..=SAMPLES).map(|n| (n * features) as i64).collect();
    let places: Vec<i64> = (0..SAMPLES).flat_map(|_| 0..features as i64).collect();
    counts.create_dataset("indptr").with_i64_data(&starts);
    counts.create_dataset("indices").with_i64_data(&places);
    counts.create_dataset("data").with_f64_data(&cells);
    layers.add_group(counts.finish());
    let mut infinite = cells.clone();
    infinite[1] = f64::INFINITY;
    layers
        .create_dataset("inf")
        .with_f64_data(&infinite)
        .with_shape(&[SAMPLES as u64, features as u64]);
    let mut obsm = group.create_group("obsm");
    obsm.create_dataset("pca")
        .with_f64_data(&cells[..2 * SAMPLES])
        .with_shape(&[SAMPLES as u64, 2]);
    group.add_group(obsm.finish());
    group.add_group(layers.finish());
}

fn h5mu(folder: &Path, name: &str) {
    let mut file = FileBuilder::new();
    let mut all = file.create_group("mod");
    for (modality, features) in [("rna", 6), ("prot", 4)] {
        let mut group = all.create_group(modality);
        annotated(&mut group, features);
        all.add_group(group.finish());
    }
    file.add_group(all.finish());
    let mut obs = file.create_group("obs");
    words(&mut obs, "_index", &names("s", SAMPLES));
    let batch: Vec<String> = (0..SAMPLES).map(|n| format!("b{}", n / 12)).collect();
    words(&mut obs, "batch", &batch);
    file.add_group(obs.finish());
    file.write(folder.join(name)).expect("a file");
}

fn csv(features: usize) -> String {
    let mut lines = vec![format!("sample,{}", names("g", features).join(","))];
    for n in 0..SAMPLES {
        let cells: Vec<String> = (0..features).map(|d| value(n, d).to_string()).collect();
        lines.push(format!("s{n},{}", cells.join(",")));
    }
    lines.join("\n") + "\n"
}

#[test]
fn a_column_of_obs_is_no_matrix() {
    let dir = tempfile::tempdir().expect("a folder");
    let at = dir.path();
    h5mu(at, "cells.h5mu");
    for kind in ["", ":gaussian"] {
        let words = format!("fit --view who=cells.h5mu#rna/obs/donor{kind} -k 1 --out m.pv");
        let err = fails(at, &words, 1);
        for w in [
            "cells.h5mu",
            "rna/obs/donor",
            "a column of words",
            ":categorical",
        ] {
            assert!(err.contains(w), "'{w}' is not in: {err}");
        }
    }
}

#[test]
fn views_are_those_of_the_tables() {
    let dir = tempfile::tempdir().expect("a folder");
    let at = dir.path();
    h5mu(at, "cells.h5mu");
    put(at, "rna.csv", csv(6));
    put(at, "prot.csv", csv(4));
    let rest = "-k 2 --max-sweeps 20 --seed 1";
    ok(
        at,
        &format!("fit --view rna=rna.csv --view prot=prot.csv {rest} --out a.pv"),
    );
    for (i, (rna, prot)) in [("rna", "prot"), ("rna/X", "prot/layers/counts:gaussian")]
        .iter()
        .enumerate()
    {
        let out = format!("b{i}.pv");
        ok(
            at,
            &format!(
                "fit --view rna=cells.h5mu#{rna} --view prot=cells.h5mu#{prot} {rest} --out {out}"
            ),
        );
        for (model, z) in [("a.pv", "za.csv"), (out.as_str(), "zb.csv")] {
            ok(at, &format!("export {model} --factors {z} --force"));
        }
        same_table(&get(at, "za.csv"), &get(at, "zb.csv"));
    }
    // new data likewise
    for (view, z) in [("rna.csv", "pa.csv"), ("cells.h5mu#rna", "pb.csv")] {
        ok(at, &format!("project a.pv --view rna={view} --out {z}"));
    }
    same_table(&get(at, "pa.csv"), &get(at, "pb.csv"));
}

#[test]
fn groups_and_classes_of_obs() {
    let dir = tempfile::tempdir().expect("a folder");
    let at = dir.path();
    h5mu(at, "cells.h5mu");
    ok(
        at,
        "fit --model sshiba --view rna=cells.h5mu#rna --view who=cells.h5mu#rna/obs/donor:categorical \
         --metadata cells.h5mu --groups batch -k 2 --max-sweeps 10 --out m.pv",
    );
    let said = ok(at, "inspect m.pv --json");
    assert!(
        said.contains("\"b1\"") && said.contains("\"categorical\""),
        "{said}"
    );
    ok(at, "report m.pv --metadata cells.h5mu#rna --out r.html");
}

#[test]
fn out_to_mofa2_and_back() {
    let dir = tempfile::tempdir().expect("a folder");
    let at = dir.path();
    put(at, "rna.csv", csv(6));
    put(at, "prot.csv", csv(4));
    ok(
        at,
        "fit --view rna=rna.csv --view prot=prot.csv -k 2 --max-sweeps 20 --out a.pv",
    );
    let o = run(at, "export a.pv --format mofa2 a.hdf5");
    let said = String::from_utf8_lossy(&o.stderr).into_owned();
    assert!(
        o.status.success() && said.contains("a.hdf5 written"),
        "{said}"
    );
    assert!(
        said.contains("standard deviations of factors and weights have no place"),
        "{said}"
    );
    let said = fails(at, "export a.pv --format mofa2 a.hdf5", 1);
    assert!(said.contains("the file exists"), "{said}");
    let o = run(at, "import a.hdf5 --out b.pv");
    let said = String::from_utf8_lossy(&o.stderr).into_owned();
    assert!(
        o.status.success() && said.contains("note: weights are known"),
        "{said}"
    );
    assert!(
        said.contains("b.pv: 24 samples, 2 views, 2 factors"),
        "{said}"
    );
    for (model, z, w) in [("a.pv", "za.csv", "wa.csv"), ("b.pv", "zb.csv", "wb.csv")] {
        ok(
            at,
            &format!("export {model} --factors {z} --weights rna={w}"),
        );
    }
    same_table(&get(at, "za.csv"), &get(at, "zb.csv"));
    assert_eq!(get(at, "wa.csv"), get(at, "wb.csv"));
    // every verb works on it, and says what it takes for granted
    let o = run(
        at,
        "project b.pv --view rna=rna.csv --out z.csv --sd sd.csv",
    );
    let said = String::from_utf8_lossy(&o.stderr).into_owned();
    assert!(
        o.status.success() && said.contains("weights are known"),
        "{said}"
    );
    ok(
        at,
        "predict b.pv --view rna=rna.csv --target prot --out p.csv --sd ps.csv",
    );
    ok(at, "impute b.pv --view prot --out i.csv");
    ok(at, "inspect b.pv");
    let journal = ok(at, "inspect b.pv --journal");
    assert!(journal.contains("weights are known"), "{journal}");
    ok(at, "report b.pv --out b.html");
    ok(at, "simulate --from b.pv --samples 5 --out-dir sim");
}

#[test]
fn what_goes_wrong() {
    let dir = tempfile::tempdir().expect("a folder");
    let at = dir.path();
    h5mu(at, "cells.h5mu");
    put(at, "no.h5ad", "sample,a\ns,1\n");
    let said = fails(at, "fit --view a=no.h5ad --out m.pv", 1);
    assert!(said.contains("no.h5ad: this is no HDF5 file"), "{said}");
    let said = fails(at, "fit --view a=gone.h5ad --out m.pv", 1);
    assert!(said.contains("gone.h5ad: cannot read it"), "{said}");
    let said = fails(at, "fit --view a=cells.h5mu --out m.pv", 1);
    assert!(
        said.contains("name a modality after a '#'") && said.contains("prot, rna"),
        "{said}"
    );
    let said = fails(at, "fit --view a=cells.h5mu#rna/layers/raw --out m.pv", 1);
    assert!(
        said.contains("what there is: X, layers/inf, layers/counts"),
        "{said}"
    );
    let said = fails(at, "fit --view a=cells.h5mu#rna/obsm/pca --out m.pv", 1);
    assert!(
        said.contains("whose columns are not those of var") && said.contains("layers/counts"),
        "{said}"
    );
    let said = fails(
        at,
        "fit --view a=cells.h5mu#rna --metadata cells.h5mu --groups donor --out m.pv",
        2,
    );
    assert!(
        said.contains("it has batch; a modality of it has columns of its own")
            && said.contains("cells.h5mu#prot"),
        "{said}"
    );
    let said = fails(at, "fit --view a=cells.h5mu#rna/obs/flag --out m.pv", 1);
    assert!(said.contains("a column of true and false"), "{said}");
    // infinite, by its names
    let said = fails(at, "fit --view a=cells.h5mu#rna/layers/inf --out m.pv", 1);
    assert!(
        said.contains("cells.h5mu") && said.contains("sample 's0' and feature 'g1'"),
        "{said}"
    );
    let o = run(
        at,
        "fit --view a=cells.h5mu#rna:gaussian --transposed -k 1 --max-sweeps 2 --out t.pv",
    );
    let said = String::from_utf8_lossy(&o.stderr).into_owned();
    assert!(
        o.status.success() && said.contains("--transposed does not turn it"),
        "{said}"
    );
    std::fs::remove_file(at.join("t.pv")).expect("a file");
    let said = fails(at, "import cells.h5mu --out m.pv", 1);
    assert!(
        said.contains("'views/views'") && said.contains("is this one?"),
        "{said}"
    );
    let said = fails(at, "import cells.h5mu --scale rna --out m.pv", 2);
    assert!(said.contains("VIEW=NUMBER"), "{said}");
    // half a file
    let whole = std::fs::read(at.join("cells.h5mu")).expect("a file");
    put(at, "half.h5mu", &whole[..whole.len() / 2]);
    let said = fails(at, "fit --view a=half.h5mu#rna --out m.pv", 1);
    assert!(
        said.contains("cut off") && said.contains("bytes are there"),
        "{said}"
    );
    assert!(!at.join("m.pv").exists());
    fails(at, "export m.pv --format mofa2", 2);
}

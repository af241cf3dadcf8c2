//! Sparse matrices at the command line.

use std::fmt::Write;

use crate::common::{fails, get, ok, put, run, same_table};

const N: usize = 30;
const D: usize = 8;

/// Counts of one factor, many of them zero.
fn count(n: usize, d: usize) -> usize {
    let own = n.is_multiple_of(2) == d.is_multiple_of(2);
    // no period: equal singular values would leave the start open
    let noise = (n * n * 31 + n * d * 17 + d * d * 7 + n) % 97 % 6;
    if own { noise } else { noise / 4 }
}

/// The same counts as a table and as a sparse matrix with names.
fn folder() -> tempfile::TempDir {
    let dir = tempfile::tempdir().expect("a folder");
    let mut csv = "id".to_owned();
    for d in 0..D {
        let _ = write!(csv, ",f{d}");
    }
    let mut entries = String::new();
    let mut found = 0;
    for n in 0..N {
        let _ = write!(csv, "\ns{n}");
        for d in 0..D {
            let y = count(n, d);
            let _ = write!(csv, ",{y}");
            if y > 0 {
                found += 1;
                let _ = writeln!(entries, "{} {} {y}", n + 1, d + 1);
            }
        }
    }
    put(dir.path(), "y.csv", csv + "\n");
    let head = "%%MatrixMarket matrix coordinate integer general";
    put(
        dir.path(),
        "y.mtx",
        format!("{head}\n{N} {D} {found}\n{entries}"),
    );
    let names = |letter: char, count: usize| {
        (0..count).fold(String::new(), |s, i| format!("{s}{letter}{i}\n"))
    };
    put(dir.path(), "y.rows.txt", names('s', N));
    put(dir.path(), "y.cols.txt", names('f', D));
    dir
}

#[test]
fn a_sparse_matrix_is_fitted_as_a_table_is() {
    let dir = folder();
    for likelihood in ["negative-binomial", "poisson", "gaussian"] {
        let fit = |file: &str| {
            let out = format!("{file}.pv");
            ok(
                dir.path(),
                &format!(
                    "fit --model mofa --view y={file}:{likelihood} -k 1 --seed 1 --max-sweeps 30 --quiet --force --out {out}"
                ),
            );
            let export = format!("export {out} --factors z.csv --force");
            ok(dir.path(), &export);
            get(dir.path(), "z.csv")
        };
        same_table(&fit("y.csv"), &fit("y.mtx"));
    }
    ok(dir.path(), "impute y.mtx.pv --view y --out filled.csv");
    assert!(get(dir.path(), "filled.csv").contains("s29"));
}

#[test]
fn what_it_looks_like_is_guessed_and_what_it_cannot_be_is_said() {
    let dir = folder();
    let o = run(
        dir.path(),
        "fit --model mofa --view y=y.mtx -k 1 --max-sweeps 2 --out g.pv",
    );
    let said = String::from_utf8_lossy(&o.stderr).into_owned();
    assert!(said.contains("negative-binomial"), "{said}");
    let o = run(
        dir.path(),
        "fit --model sshiba --view y=y.mtx:bernoulli-latent -k 1 --max-sweeps 2 --out l.pv",
    );
    let said = String::from_utf8_lossy(&o.stderr).into_owned();
    assert!(said.contains("neither 0 nor 1"), "{said}");
    let bits = "%%MatrixMarket matrix coordinate pattern general\n4 2 3\n1 1\n2 2\n3 1\n";
    put(dir.path(), "b.mtx", bits);
    let o = run(
        dir.path(),
        "fit --model sshiba --view b=b.mtx:bernoulli-latent -k 1 --max-sweeps 2 --out l.pv",
    );
    let said = String::from_utf8_lossy(&o.stderr).into_owned();
    assert!(
        o.status.success() && said.contains("'b' is made dense"),
        "{said}"
    );
    // what takes tables of every cell alone says so
    for words in [
        "kernel y.mtx --out k.csv",
        "fit --engine stochastic --view y=y.mtx -k 1 --out s.pv",
    ] {
        let said = fails(dir.path(), words, 1);
        assert!(
            said.contains("y.mtx") && said.contains("a sparse matrix, and here"),
            "{said}"
        );
    }
    put(dir.path(), "b.mtx", bits.replace("3 1", "5 1"));
    let said = fails(
        dir.path(),
        "fit --model sshiba --view b=b.mtx:bernoulli -k 1 --out b.pv",
        1,
    );
    assert!(
        said.contains("b.mtx: line 5") && said.contains("'5'"),
        "{said}"
    );
}

/// A folder is no file; where it holds a matrix as 10x has it, that is named.
#[test]
fn a_folder_is_told_its_matrix() {
    let dir = folder();
    let at = dir.path();
    std::fs::create_dir(at.join("run")).expect("a folder");
    let fit = "fit --model mofa --view y=run:poisson -k 1 --out m.pv";
    let err = fails(at, fit, 1);
    assert!(err.trim_end().ends_with("name a file in it"), "{err}");
    put(at, "run/matrix.mtx", get(at, "y.mtx"));
    let err = fails(at, fit, 1);
    let file = std::path::Path::new("run").join("matrix.mtx");
    assert!(
        err.contains(&format!("name a file in it, such as {}", file.display())),
        "{err}"
    );
}

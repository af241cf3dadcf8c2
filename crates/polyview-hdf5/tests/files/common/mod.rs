//! Files of the tests.

use std::io::Read;
use std::path::PathBuf;

use serde_json::Value;
use tempfile::TempDir;

/// The bytes of a packed file of `golden`.
pub fn bytes(name: &str) -> Vec<u8> {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join(format!("tests/golden/{name}.gz"));
    let mut out = Vec::new();
    flate2::read::GzDecoder::new(std::fs::File::open(path).unwrap())
        .read_to_end(&mut out)
        .unwrap();
    out
}

/// An unpacked file of `golden` in a folder of its own.
pub fn golden(name: &str) -> (TempDir, PathBuf) {
    put(name, &bytes(name))
}

/// A file in a folder of its own.
pub fn put(name: &str, bytes: &[u8]) -> (TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join(name);
    std::fs::write(&path, bytes).unwrap();
    (folder, path)
}

/// What must come out of the files of mofapy2.
pub fn expected(name: &str) -> Value {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/golden/mofa2.json");
    let all: Value = serde_json::from_slice(&std::fs::read(path).unwrap()).unwrap();
    all[name].clone()
}

/// A matrix by rows.
pub fn rows(value: &Value) -> Vec<Vec<f64>> {
    serde_json::from_value(value.clone()).unwrap()
}

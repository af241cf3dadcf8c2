//! What the tests share.

pub mod numpy;

use std::io::Write;
use std::path::{Path, PathBuf};

use polyview_core::Table;
use polyview_io::{IoError, ReadOptions, read_table};

/// A folder with one file in it.
pub struct Fixture {
    pub folder: tempfile::TempDir,
    pub path: PathBuf,
}

impl Fixture {
    pub fn new(name: &str, content: &[u8]) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join(name);
        std::fs::write(&path, content).unwrap();
        Self { folder, path }
    }
}

/// Reads a text as a CSV file.
pub fn read(content: impl AsRef<[u8]>) -> Result<Table, IoError> {
    read_as("t.csv", content, &ReadOptions::default())
}

/// Reads bytes as a file of that name.
pub fn read_as(
    name: &str,
    content: impl AsRef<[u8]>,
    options: &ReadOptions,
) -> Result<Table, IoError> {
    let file = Fixture::new(name, content.as_ref());
    read_table(&file.path, options)
}

/// The error's text without the folder of the file.
pub fn message(error: &IoError) -> String {
    let folder = error.path().parent().unwrap().display().to_string();
    error.to_string().replace(&format!("{folder}/"), "")
}

pub fn gzip(content: &[u8]) -> Vec<u8> {
    let mut out = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
    out.write_all(content).unwrap();
    out.finish().unwrap()
}

/// Rows of a table with `None` for missing cells.
pub fn cells(table: &Table) -> Vec<Vec<Option<f64>>> {
    (0..table.values.nrows())
        .map(|n| {
            (0..table.values.ncols())
                .map(|d| Some(table.values[(n, d)]).filter(|x| !x.is_nan()))
                .collect()
        })
        .collect()
}

/// Names of the files in a folder.
pub fn listing(folder: &Path) -> Vec<String> {
    let mut names: Vec<String> = std::fs::read_dir(folder)
        .unwrap()
        .map(|e| e.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    names
}

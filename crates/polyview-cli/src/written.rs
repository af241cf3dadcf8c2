//! Tables that a command writes, into files or to standard output.

use polyview_core::Overwrite;
use std::path::Path;

use polyview_io::{
    NamedMatrix, StringTable, WriteOptions, print_matrix, print_string_table, write_matrix,
    write_string_table,
};
use polyview_linalg::MatRef;

use crate::failure::Outcome;
use crate::output::{bytes, digits, rounded};

/// Whether a path stands for standard output.
pub fn is_stdout(path: &Path) -> bool {
    path.as_os_str() == "-"
}

/// What a message calls a path.
pub fn called(path: &Path) -> String {
    if is_stdout(path) {
        "standard output".to_owned()
    } else {
        path.display().to_string()
    }
}

/// A number of a table of words as it reads back.
pub fn shortest(x: f64) -> String {
    // exponents where zeros would be many
    format!("{:?}", rounded(x))
}

/// Writes a matrix with names; `corner` heads the first column.
pub fn write(
    path: &Path,
    corner: &str,
    rows: &[String],
    columns: &[String],
    values: MatRef<'_, f64>,
    force: bool,
) -> Outcome<()> {
    let options = WriteOptions {
        overwrite: overwrite(force),
        corner: corner.to_owned(),
        digits: digits(),
        ..WriteOptions::default()
    };
    let matrix = NamedMatrix {
        rows,
        columns,
        values,
    };
    if is_stdout(path) {
        let mut text = Vec::new();
        print_matrix(&mut text, &matrix, &options)?;
        return bytes(&text);
    }
    Ok(write_matrix(path, &matrix, &options)?)
}

/// Writes rows of words under the names of their columns.
pub fn write_rows(path: &Path, header: &[&str], rows: &[Vec<String>], force: bool) -> Outcome<()> {
    let options = WriteOptions {
        overwrite: overwrite(force),
        corner: header.first().copied().unwrap_or_default().to_owned(),
        ..WriteOptions::default()
    };
    let column = |j: usize| rows.iter().map(|r| r.get(j).cloned()).collect();
    let table = StringTable {
        name: String::new(),
        samples: rows.iter().filter_map(|r| r.first().cloned()).collect(),
        columns: header.iter().skip(1).map(|h| (*h).to_owned()).collect(),
        values: (1..header.len()).map(column).collect(),
    };
    print_or_write(path, &table, &options)
}

fn print_or_write(path: &Path, table: &StringTable, options: &WriteOptions) -> Outcome<()> {
    if is_stdout(path) {
        let mut text = Vec::new();
        print_string_table(&mut text, table, options)?;
        return bytes(&text);
    }
    Ok(write_string_table(path, table, options)?)
}

/// Writes columns of words, each with its name.
pub fn write_columns(
    path: &Path,
    samples: &[String],
    columns: Vec<(String, Vec<Option<String>>)>,
    force: bool,
) -> Outcome<()> {
    let options = WriteOptions {
        overwrite: overwrite(force),
        ..WriteOptions::default()
    };
    let (columns, values) = columns.into_iter().unzip();
    let table = StringTable {
        name: String::new(),
        samples: samples.to_vec(),
        columns,
        values,
    };
    print_or_write(path, &table, &options)
}

/// Overwrite policy of `--force`.
pub fn overwrite(force: bool) -> Overwrite {
    if force {
        Overwrite::Replace
    } else {
        Overwrite::Refuse
    }
}

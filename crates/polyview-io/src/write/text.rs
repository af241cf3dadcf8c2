//! Delimited text.

use std::fs::File;
use std::io::{self, BufWriter, Write};

use flate2::Compression;
use flate2::write::GzEncoder;

use super::{MissingText, NamedMatrix, WriteOptions, atomic};
use crate::number::{format, to_digits};
use crate::text::StringTable;

pub(super) fn write_matrix(
    file: &mut File,
    delimiter: u8,
    gzip: bool,
    matrix: &NamedMatrix<'_>,
    options: &WriteOptions,
) -> io::Result<()> {
    encoded(file, gzip, |out| {
        self::matrix(out, delimiter, matrix, options)
    })
}

pub(super) fn write_words(
    file: &mut File,
    delimiter: u8,
    gzip: bool,
    table: &StringTable,
    options: &WriteOptions,
) -> io::Result<()> {
    encoded(file, gzip, |out| words(out, delimiter, table, options))
}

/// A matrix as text.
pub(super) fn matrix(
    out: &mut dyn Write,
    delimiter: u8,
    matrix: &NamedMatrix<'_>,
    options: &WriteOptions,
) -> io::Result<()> {
    let missing = missing_text(options);
    let mut text = csv::WriterBuilder::new()
        .delimiter(delimiter)
        .from_writer(out);
    text.write_field(&options.corner)?;
    text.write_record(matrix.columns)?;
    let mut number = String::new();
    for (row, name) in matrix.rows.iter().enumerate() {
        text.write_field(name)?;
        for column in 0..matrix.columns.len() {
            let value = matrix.values[(row, column)];
            let value = options
                .digits
                .map_or(value, |digits| to_digits(value, digits));
            format(value, missing, &mut number);
            text.write_field(&number)?;
        }
        text.write_record(None::<&[u8]>)?;
    }
    text.flush()
}

/// A table of words as text.
pub(super) fn words(
    out: &mut dyn Write,
    delimiter: u8,
    table: &StringTable,
    options: &WriteOptions,
) -> io::Result<()> {
    let missing = missing_text(options);
    let mut text = csv::WriterBuilder::new()
        .delimiter(delimiter)
        .from_writer(out);
    text.write_field(&options.corner)?;
    text.write_record(&table.columns)?;
    for (row, name) in table.samples.iter().enumerate() {
        text.write_field(name)?;
        for column in &table.values {
            text.write_field(column[row].as_deref().unwrap_or(missing))?;
        }
        text.write_record(None::<&[u8]>)?;
    }
    text.flush()
}

fn missing_text(options: &WriteOptions) -> &'static str {
    match options.missing {
        MissingText::Empty => "",
        MissingText::Na => "NA",
    }
}

/// Runs a writer over a buffer, compressed (without a time stamp) or not.
fn encoded(
    file: &mut File,
    gzip: bool,
    write: impl FnOnce(&mut dyn Write) -> io::Result<()>,
) -> io::Result<()> {
    let mut out = BufWriter::with_capacity(1 << 17, file);
    if gzip {
        let mut inside = GzEncoder::new(&mut out, Compression::default());
        write(&mut inside)?;
        inside.finish()?;
    } else {
        write(&mut out)?;
    }
    atomic::finish(out)
}

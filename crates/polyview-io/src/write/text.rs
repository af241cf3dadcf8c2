//! Delimited text.

use std::fs::File;
use std::io::{self, BufWriter, Write};

use flate2::Compression;
use flate2::write::GzEncoder;

use super::{MissingText, NamedMatrix, WriteOptions, atomic};
use crate::number::format;
use crate::text::StringTable;

pub(super) fn write_matrix(
    file: &mut File,
    delimiter: u8,
    gzip: bool,
    matrix: &NamedMatrix<'_>,
    options: &WriteOptions,
) -> io::Result<()> {
    let missing = missing_text(options);
    encoded(file, gzip, |out| {
        let mut text = csv::WriterBuilder::new()
            .delimiter(delimiter)
            .from_writer(out);
        text.write_field(&options.corner)?;
        text.write_record(matrix.columns)?;
        let mut number = String::new();
        for (row, name) in matrix.rows.iter().enumerate() {
            text.write_field(name)?;
            for column in 0..matrix.columns.len() {
                format(matrix.values[(row, column)], missing, &mut number);
                text.write_field(&number)?;
            }
            text.write_record(None::<&[u8]>)?;
        }
        text.flush()
    })
}

pub(super) fn write_words(
    file: &mut File,
    delimiter: u8,
    gzip: bool,
    table: &StringTable,
    options: &WriteOptions,
) -> io::Result<()> {
    let missing = missing_text(options);
    encoded(file, gzip, |out| {
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
    })
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

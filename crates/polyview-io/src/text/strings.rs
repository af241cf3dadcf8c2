//! Columns of words, and metadata of words or numbers.

use std::path::Path;

use polyview_core::{Metadata, MetadataValues};

use super::header::{check_lines, line_name, read_header};
use super::records::Records;
use super::thousands::Commas;
use crate::error::{Cell, Foreign, IoError, excerpt};
use crate::number::{Codes, DecimalMark, MISSING_WORD, Parsed, is_missing, parse};
use crate::options::{Orientation, ReadOptions, default_name};
use crate::source::{Source, open};

/// A table of words: samples in rows, first column their IDs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StringTable {
    /// The table's name: the file's name without its endings.
    pub name: String,
    /// Sample IDs, one a row.
    pub samples: Vec<String>,
    /// Column names.
    pub columns: Vec<String>,
    /// One vector a column, one entry a sample; `None` where the cell is empty
    /// or spells one of [`MISSING_WORD`].
    pub values: Vec<Vec<Option<String>>>,
}

impl StringTable {
    /// The column of that name.
    pub fn column(&self, name: &str) -> Option<&[Option<String>]> {
        let at = self.columns.iter().position(|c| c == name)?;
        self.values.get(at).map(Vec::as_slice)
    }
}

/// Reads a text table whose columns are words, such as groups or classes.
///
/// Format, delimiter and first column are those of
/// [`read_table`](crate::read_table); `options.name`, `options.delimiter` and
/// `options.missing` count, the rest does not apply (samples lie in rows).
///
/// # Errors
/// Every error of [`read_table`](crate::read_table) for text, except those
/// about numbers.
pub fn read_string_table(
    path: impl AsRef<Path>,
    options: &ReadOptions,
) -> Result<StringTable, IoError> {
    let path = path.as_ref();
    let name = options.name.clone().unwrap_or_else(|| default_name(path));
    let in_rows = ReadOptions {
        orientation: Orientation::SamplesInRows,
        ..options.clone()
    };
    let raw = read_raw(path, &in_rows)?;
    let known = |cell: String| (!is_missing(cell.as_bytes(), MISSING_WORD)).then_some(cell);
    Ok(StringTable {
        name,
        samples: raw.samples,
        columns: raw.columns,
        values: raw
            .values
            .into_iter()
            .map(|c| c.into_iter().map(known).collect())
            .collect(),
    })
}

/// Reads what is known about the samples: every column becomes numbers or
/// categories, paired with the sample IDs, ready for
/// [`DatasetBuilder::metadata`](polyview_core::DatasetBuilder::metadata).
///
/// A column is numeric where every cell is a number or spells one of
/// [`MISSING_NUMBER`](crate::MISSING_NUMBER), with at least one number; otherwise it holds categories,
/// missing where a cell spells one of [`MISSING_WORD`]. Categories written as
/// numbers therefore become numbers: read those with [`read_string_table`].
///
/// # Errors
/// As [`read_string_table`]; and [`IoError::Infinite`] where a column is
/// numeric but for an infinite value.
pub fn read_metadata(path: impl AsRef<Path>) -> Result<Vec<(Vec<String>, Metadata)>, IoError> {
    read_metadata_with(path, &ReadOptions::default())
}

/// As [`read_metadata`]; `options.delimiter`, `options.decimal` and `options.missing`
/// count, the rest does not apply.
///
/// # Errors
/// As [`read_metadata`].
pub fn read_metadata_with(
    path: impl AsRef<Path>,
    options: &ReadOptions,
) -> Result<Vec<(Vec<String>, Metadata)>, IoError> {
    let path = path.as_ref();
    let in_rows = ReadOptions {
        orientation: Orientation::SamplesInRows,
        ..options.clone()
    };
    let raw = read_raw(path, &in_rows)?;
    let mut out = Vec::with_capacity(raw.columns.len());
    let mut commas = Commas::default();
    for (column, (name, cells)) in raw.columns.iter().cloned().zip(raw.values).enumerate() {
        let values = match guess(&cells, options.decimal) {
            Guess::Numbers(numbers) => {
                if options.decimal == DecimalMark::Comma {
                    let known = numbers.iter().zip(&cells).enumerate();
                    for (row, (_, cell)) in known.filter(|(_, (x, _))| !x.is_nan()) {
                        commas.see(column, (row, column), cell.as_bytes());
                    }
                }
                MetadataValues::Numbers(numbers)
            }
            Guess::InfiniteAt(row) => {
                return Err(IoError::Infinite {
                    cell: Box::new(Cell {
                        path: path.to_owned(),
                        line: raw.lines[row],
                        column: column + 2,
                        column_name: name,
                        line_name: raw.samples[row].clone(),
                        text: excerpt(cells[row].as_bytes()),
                    }),
                });
            }
            Guess::Words => MetadataValues::Categories(
                cells
                    .into_iter()
                    .map(|c| (!is_missing(c.as_bytes(), MISSING_WORD)).then_some(c))
                    .collect(),
            ),
        };
        out.push((raw.samples.clone(), Metadata { name, values }));
    }
    match commas.between_thousands(raw.delimiter) {
        Some(place) => Err(place.refused(path, &raw.columns, &raw.samples, &raw.lines)),
        None => Ok(out),
    }
}

enum Guess {
    Numbers(Vec<f64>),
    InfiniteAt(usize),
    Words,
}

fn guess(cells: &[String], decimal: DecimalMark) -> Guess {
    let mut numbers = Vec::with_capacity(cells.len());
    let mut infinite = None;
    let mut any = false;
    for (row, cell) in cells.iter().enumerate() {
        numbers.push(match parse(cell.as_bytes(), decimal) {
            Parsed::Number(x) => {
                any = true;
                x
            }
            Parsed::Missing => f64::NAN,
            Parsed::Infinite => {
                infinite.get_or_insert(row);
                f64::INFINITY
            }
            Parsed::Words => return Guess::Words,
        });
    }
    match infinite {
        _ if !any => Guess::Words,
        Some(row) => Guess::InfiniteAt(row),
        None => Guess::Numbers(numbers),
    }
}

/// Words as they stand in a file.
pub(crate) struct Raw {
    /// Names of the lines.
    pub(crate) samples: Vec<String>,
    lines: Vec<u64>,
    /// What parts the columns.
    delimiter: u8,
    /// Names of the columns.
    pub(crate) columns: Vec<String>,
    /// One vector a column, one cell a line.
    pub(crate) values: Vec<Vec<String>>,
}

fn read_raw(path: &Path, options: &ReadOptions) -> Result<Raw, IoError> {
    let Source::Text(input) = open(path)? else {
        return Err(IoError::Foreign {
            path: path.to_owned(),
            found: Foreign::NoText,
        });
    };
    read_words(Records::new(path, input), options)
}

/// Reads all words of a file, whichever way it lies.
pub(crate) fn read_words(mut records: Records, options: &ReadOptions) -> Result<Raw, IoError> {
    let (columns_are, lines_are) = options.orientation.names();
    let columns = read_header(&mut records, options.delimiter, columns_are)?;
    let mut raw = Raw {
        samples: Vec::new(),
        lines: Vec::new(),
        delimiter: records.delimiter(),
        values: vec![Vec::new(); columns.len()],
        columns,
    };
    let codes = Codes::of(options);
    while records.advance()? {
        let sample = line_name(
            &records,
            raw.columns.len(),
            raw.samples.is_empty(),
            lines_are,
        )?;
        for (column, values) in raw.values.iter_mut().enumerate() {
            let text = records.text(column + 1)?;
            let missing = codes.hold(text.as_bytes());
            values.push(if missing { "" } else { text }.to_owned());
        }
        raw.lines.push(records.line());
        raw.samples.push(sample);
    }
    check_lines(records.path(), &raw.samples, &raw.lines, lines_are)?;
    Ok(raw)
}

#[cfg(test)]
mod tests {
    use crate::{MISSING_NUMBER, MISSING_WORD};

    #[test]
    fn the_two_lists_agree() {
        assert!(MISSING_WORD.iter().all(|w| MISSING_NUMBER.contains(w)));
        assert_eq!(MISSING_NUMBER.len(), MISSING_WORD.len() + 3);
    }
}

//! Text into numbers.

use polyview_core::Table;

use super::header::{check_lines, line_name, read_header};
use super::records::Records;
use super::thousands::{Commas, parts_thousands};
use crate::blocks::LineBlocks;
use crate::error::{Cell, IoError, NumberHint, excerpt};
use crate::number::{Codes, DecimalMark, Parsed, parse};
use crate::options::{Orientation, ReadOptions};

/// Reads a numeric table from text.
pub(crate) fn read_text_table(
    mut records: Records,
    name: String,
    options: &ReadOptions,
) -> Result<Table, IoError> {
    let (columns_are, _) = options.orientation.names();
    let columns = read_header(&mut records, options.delimiter, columns_are)?;
    let mut blocks = LineBlocks::new(columns.len());
    let names = each_line(&mut records, options, &columns, |values| {
        for x in values {
            blocks.push(*x);
        }
        Ok(())
    })?;
    Ok(match options.orientation {
        Orientation::SamplesInRows => Table {
            name,
            samples: names,
            features: columns,
            values: blocks.into_rows(),
            levels: Vec::new(),
        },
        Orientation::FeaturesInRows => Table {
            name,
            samples: columns,
            features: names,
            values: blocks.into_columns(),
            levels: Vec::new(),
        },
    })
}

/// How the cells of a table of numbers are written.
struct Cells {
    orientation: Orientation,
    decimal: DecimalMark,
    codes: Codes,
    commas: Commas,
}

impl Cells {
    fn of(options: &ReadOptions) -> Self {
        Self {
            orientation: options.orientation,
            decimal: options.decimal,
            codes: Codes::of(options),
            commas: Commas::default(),
        }
    }
    /// Takes a number that stands at that line and column of data.
    fn see(&mut self, row: usize, column: usize, field: &[u8]) {
        if self.decimal == DecimalMark::Comma {
            let feature = match self.orientation {
                Orientation::SamplesInRows => column,
                Orientation::FeaturesInRows => row,
            };
            self.commas.see(feature, (row, column), field);
        }
    }
    /// Refuses numbers that were read with decimal commas and have none, once all are read.
    fn check(
        self,
        records: &Records,
        columns: &[String],
        names: &[String],
        lines: &[u64],
    ) -> Result<(), IoError> {
        match self.commas.between_thousands(records.delimiter()) {
            Some(place) => Err(place.refused(records.path(), columns, names, lines)),
            None => Ok(()),
        }
    }
}

/// Goes over the lines of data, and hands on the numbers of each, `NaN` where one is missing. Returns
/// the names of the lines.
///
/// # Errors
/// [`IoError`] on what is no number or has no name, or one twice; those of `take`.
pub(crate) fn each_line(
    records: &mut Records,
    options: &ReadOptions,
    columns: &[String],
    mut take: impl FnMut(&[f64]) -> Result<(), IoError>,
) -> Result<Vec<String>, IoError> {
    let (_, lines_are) = options.orientation.names();
    let (mut names, mut lines) = (Vec::new(), Vec::new());
    let mut values = Vec::with_capacity(columns.len());
    let mut cells = Cells::of(options);
    while records.advance()? {
        let line = line_name(records, columns.len(), names.is_empty(), lines_are)?;
        values.clear();
        let at = (names.len(), line.as_str());
        numbers(records, columns, at, &mut cells, |x| values.push(x))?;
        take(&values)?;
        lines.push(records.line());
        names.push(line);
    }
    check_lines(records.path(), &names, &lines, lines_are)?;
    cells.check(records, columns, &names, &lines)?;
    Ok(names)
}

/// The numbers of the current record, the line of data of that place and name; `NaN` where one is
/// missing.
fn numbers(
    records: &mut Records,
    columns: &[String],
    (row, line): (usize, &str),
    cells: &mut Cells,
    mut take: impl FnMut(f64),
) -> Result<(), IoError> {
    for column in 0..columns.len() {
        let field = records.field(column + 1);
        match parse(field, cells.decimal) {
            Parsed::Missing => take(f64::NAN),
            _ if cells.codes.hold(field) => take(f64::NAN),
            Parsed::Number(x) => {
                cells.see(row, column, field);
                take(x);
            }
            odd => return Err(refuse(records, column, columns, line, cells.decimal, odd)),
        }
    }
    Ok(())
}

fn refuse(
    records: &mut Records,
    column: usize,
    columns: &[String],
    line_name: &str,
    decimal: DecimalMark,
    found: Parsed,
) -> IoError {
    let field = records.field(column + 1);
    if std::str::from_utf8(field).is_err() {
        return records.not_utf8();
    }
    let cell = Box::new(Cell {
        path: records.path().to_owned(),
        line: records.line(),
        column: column + 2,
        column_name: columns[column].clone(),
        line_name: line_name.to_owned(),
        text: excerpt(field),
    });
    if found == Parsed::Infinite {
        return IoError::Infinite { cell };
    }
    let other = match decimal {
        DecimalMark::Point => DecimalMark::Comma,
        DecimalMark::Comma => DecimalMark::Point,
    };
    let hint = if field.contains(&b'\n') {
        NumberHint::StrayQuote
    } else if let (Parsed::Number(_), true) = (parse(field, other), field.contains(&other.byte())) {
        match other {
            DecimalMark::Comma if !parts_thousands(records, column + 1) => NumberHint::DecimalComma,
            DecimalMark::Comma if records.delimiter() == b',' => NumberHint::Thousands,
            DecimalMark::Comma => NumberHint::ThousandsOrDecimals,
            DecimalMark::Point => NumberHint::DecimalPoint,
        }
    } else {
        odd_mark(field, decimal).map_or(NumberHint::Words, NumberHint::Mark)
    };
    IoError::NotNumber { cell, hint }
}

/// The mark without which a text would be a number: a per cent sign, another dash than that of numbers, or what
/// parts thousands.
fn odd_mark(field: &[u8], decimal: DecimalMark) -> Option<char> {
    const MARKS: [char; 9] = [
        '%', '\u{2212}', '\u{2013}', '\u{2014}', ' ', '\u{a0}', '\u{202f}', '\'', '.',
    ];
    let text = std::str::from_utf8(field).ok()?;
    let thousands = if decimal == DecimalMark::Point {
        ','
    } else {
        '.'
    };
    let mark = text
        .chars()
        .find(|c| MARKS.contains(c) && *c != '.' || *c == thousands)?;
    let with = if "\u{2212}\u{2013}\u{2014}".contains(mark) {
        "-"
    } else {
        ""
    };
    let plain = text.replace(mark, with);
    matches!(parse(plain.trim().as_bytes(), decimal), Parsed::Number(_)).then_some(mark)
}

//! Commas that part thousands, told from decimal commas.

use std::path::Path;

use super::records::Records;
use crate::error::{Cell, IoError, excerpt};
use crate::number::{DecimalMark, Parsed, parse};

/// Whether a cell is digits in groups of three, such as `1,200` or `-12,345,678`: no decimal comma has a zero
/// alone before it there.
fn in_groups(cell: &[u8]) -> bool {
    let mut groups = without_sign(cell).split(|byte| *byte == b',');
    let first = groups.next().unwrap_or_default();
    let begins = matches!(first, [b'1'..=b'9', rest @ ..] if rest.len() < 3 && digits(rest));
    let mut rest = groups.peekable();
    begins && rest.peek().is_some() && rest.all(|group| group.len() == 3 && digits(group))
}

fn without_sign(cell: &[u8]) -> &[u8] {
    match cell {
        [b'-' | b'+', rest @ ..] => rest,
        _ => cell,
    }
}

fn digits(text: &[u8]) -> bool {
    text.iter().all(u8::is_ascii_digit)
}

/// Whether the cell of the current record has a comma that parts thousands, as far as the commas of all numbers from
/// there on say. Reads the rest of the file: for errors.
pub(super) fn parts_thousands(records: &mut Records, field: usize) -> bool {
    if !in_groups(records.field(field)) {
        return false;
    }
    loop {
        for at in 1..records.len() {
            let cell = records.field(at);
            let is_decimal = cell.contains(&b',') && !in_groups(cell);
            if is_decimal && matches!(parse(cell, DecimalMark::Comma), Parsed::Number(_)) {
                return false;
            }
        }
        // what else is wrong with the file is told another time
        if !records.advance().unwrap_or(false) {
            return true;
        }
    }
}

/// The commas of the numbers of a table that is read with decimal commas.
#[derive(Debug, Default)]
pub(super) struct Commas {
    /// By feature.
    seen: Vec<Seen>,
    /// Whether a comma cannot part thousands.
    decimal: bool,
}

/// The numbers of a feature.
#[derive(Clone, Debug, Default)]
struct Seen {
    /// The first with a comma between groups of three digits.
    first: Option<Place>,
    /// Whether one with a comma ends in a zero.
    rounded: bool,
    /// Whether all without a comma have three digits, where there are any.
    of_three_digits: Option<bool>,
}

/// A cell with a comma.
#[derive(Clone, Debug)]
pub(super) struct Place {
    /// The line of data, from 0.
    row: usize,
    /// The column of data, from 0.
    column: usize,
    text: String,
}

impl Commas {
    /// Takes a number of a feature, at that line and column of data.
    pub(super) fn see(&mut self, feature: usize, (row, column): (usize, usize), cell: &[u8]) {
        if self.seen.len() <= feature {
            self.seen.resize(feature + 1, Seen::default());
        }
        let seen = &mut self.seen[feature];
        if in_groups(cell) {
            seen.rounded |= cell.ends_with(b"0");
            seen.first.get_or_insert_with(|| Place {
                row,
                column,
                text: excerpt(cell),
            });
        } else if cell.contains(&b',') {
            self.decimal = true;
        } else {
            let whole = without_sign(cell);
            let three = whole.len() == 3 && digits(whole) && whole[0] != b'0';
            seen.of_three_digits = Some(seen.of_three_digits.unwrap_or(true) && three);
        }
    }
    /// A cell whose comma parts thousands. Where commas part columns too, all commas of numbers have to; elsewhere
    /// decimal commas are common, and no number is read as one that cannot be: beside whole numbers of three digits,
    /// one that ends in a zero after the comma has neither all its decimals nor those alone that it needs.
    pub(super) fn between_thousands(self, delimiter: u8) -> Option<Place> {
        if self.decimal {
            return None;
        }
        let refused = |s: &Seen| delimiter == b',' || s.rounded && s.of_three_digits == Some(true);
        self.seen.into_iter().filter(refused).find_map(|s| s.first)
    }
}

impl Place {
    /// The error of a table with these names of columns and lines, at these lines of a file.
    pub(super) fn refused(
        self,
        path: &Path,
        columns: &[String],
        names: &[String],
        lines: &[u64],
    ) -> IoError {
        let name = |names: &[String], at: usize| names.get(at).cloned().unwrap_or_default();
        IoError::Thousands {
            cell: Box::new(Cell {
                path: path.to_owned(),
                line: lines.get(self.row).copied().unwrap_or_default(),
                column: self.column + 2,
                column_name: name(columns, self.column),
                line_name: name(names, self.row),
                text: self.text,
            }),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn groups_have_three_digits() {
        for cell in ["1,200", "-12,345", "+999,000", "1,234,567"] {
            assert!(in_groups(cell.as_bytes()), "{cell}");
        }
        for cell in [
            "", "1", "1200", "1,5", "0,123", "1,2345", "1234,567", "1,200,", ",200", "1,20,300",
            "1,200e3", "1,2a0", "-,200", "12,34",
        ] {
            assert!(!in_groups(cell.as_bytes()), "{cell}");
        }
    }

    fn refused(delimiter: u8, cells: &[&str]) -> bool {
        let mut commas = Commas::default();
        for (row, cell) in cells.iter().enumerate() {
            commas.see(0, (row, 0), cell.as_bytes());
        }
        commas.between_thousands(delimiter).is_some()
    }

    #[test]
    fn commas_between_columns_say_that_those_of_numbers_part_thousands() {
        assert!(refused(b',', &["950", "1,200", "2,400", "800"]));
        assert!(refused(b',', &["0", "1,234"]));
        assert!(!refused(b',', &["950", "1,200", "2,4"]));
        assert!(!refused(b',', &["950", "800"]));
        assert!(!refused(b',', &["0,125", "1,125"]));
    }

    /// 1,234 is a number like any other there.
    #[test]
    fn elsewhere_decimal_commas_are_what_is_expected() {
        assert!(refused(b';', &["950", "1,200", "2,400", "800"]));
        for legitimate in [
            &["1,234", "2,400", "9,500"][..],
            &["100", "99,125", "98,375"],
            &["1,250", "2", "1,500"],
            &["950", "1,200", "2,4"],
            &["1200", "1,200", "950"],
        ] {
            assert!(!refused(b';', legitimate), "{legitimate:?}");
        }
    }
}

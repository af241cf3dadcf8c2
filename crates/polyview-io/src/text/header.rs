//! The header of a text table and what it says about the rest.

use std::path::Path;

use serde::{Deserialize, Serialize};

use super::records::Records;
use crate::error::{Axis, IoError, MarketError, NameKind, RaggedHint};
use crate::market::BANNER;

/// What parts the columns of a text file.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Delimiter {
    /// Tab where the name ends in `.tsv` or `.tab` (before `.gz`); else
    /// whichever of comma, semicolon and tab occurs first in the header line,
    /// outside quotation marks.
    #[default]
    Auto,
    /// `,`
    Comma,
    /// `;`
    Semicolon,
    /// Tab.
    Tab,
}

const CANDIDATES: [u8; 3] = *b",;\t";

/// What parts columns in other programs' files, and is not read as that here.
const UNREAD: [u8; 2] = *b"| ";

impl Delimiter {
    fn choose(self, path: &Path, header: &[u8]) -> u8 {
        match self {
            Self::Comma => b',',
            Self::Semicolon => b';',
            Self::Tab => b'\t',
            Self::Auto if ends_in_tab_name(path) => b'\t',
            Self::Auto => first_outside_quotes(header).unwrap_or(b','),
        }
    }
}

fn ends_in_tab_name(path: &Path) -> bool {
    let name = path
        .file_name()
        .map(|n| n.to_string_lossy().to_ascii_lowercase());
    let name = name.unwrap_or_default();
    let name = name.strip_suffix(".gz").unwrap_or(&name);
    [".tsv", ".tab"].iter().any(|ending| name.ends_with(ending))
}

/// Names of features may hold other delimiters (`k__Bacteria;p__Firmicutes`),
/// so the first to occur says more than the most frequent.
fn first_outside_quotes(line: &[u8]) -> Option<u8> {
    let mut inside = false;
    line.iter().copied().find(|b| {
        inside ^= *b == b'"';
        !inside && CANDIDATES.contains(b)
    })
}

/// Reads the header; returns the column names without the first.
pub(crate) fn read_header(
    records: &mut Records,
    delimiter: Delimiter,
    columns_are: NameKind,
) -> Result<Vec<String>, IoError> {
    let path = records.path().to_owned();
    if !records.advance_to_header(|line| delimiter.choose(&path, line))? {
        return Err(IoError::Empty { path });
    }
    if !records.is_utf8() {
        return Err(records.not_utf8());
    }
    if let Some(text) = records.comment()? {
        return Err(IoError::Comment {
            path,
            line: records.line(),
            text,
        });
    }
    if records.len() < 2 {
        let line = records.field(0);
        if line.starts_with(BANNER) {
            return Err(IoError::Market {
                path,
                line: 1,
                source: MarketError::NoTable,
            });
        }
        let likely = (CANDIDATES.into_iter().chain(UNREAD))
            .find(|&c| c != records.delimiter() && line.contains(&c))
            .map(char::from);
        return Err(IoError::OneColumn {
            path,
            delimiter: char::from(records.delimiter()),
            likely,
        });
    }
    let mut names = Vec::with_capacity(records.len() - 1);
    for column in 1..records.len() {
        let name = records.text(column)?;
        if name.is_empty() {
            return Err(IoError::BlankColumnName {
                path,
                column: column + 1,
            });
        }
        names.push(name.to_owned());
    }
    if let Some((first, second)) = duplicate(&names) {
        return Err(IoError::DuplicateName {
            path,
            what: columns_are,
            name: names[first].clone(),
            axis: Axis::Columns,
            first: first as u64 + 2,
            second: second as u64 + 2,
        });
    }
    Ok(names)
}

/// Checks the number of fields of the current record.
pub(crate) fn check_fields(
    records: &Records,
    expected: usize,
    first_line: bool,
) -> Result<(), IoError> {
    let found = records.len();
    if found != expected {
        return Err(IoError::Ragged {
            path: records.path().to_owned(),
            line: records.line(),
            expected,
            found,
            hint: if (expected..found).all(|i| records.field(i).is_empty()) && found > expected {
                RaggedHint::TrailingDelimiter
            } else if first_line && found == expected + 1 {
                RaggedHint::HeaderLacksFirstName
            } else {
                RaggedHint::Plain
            },
        });
    }
    Ok(())
}

/// Checks the number of fields of the current record and returns the name in
/// its first.
pub(crate) fn line_name(
    records: &Records,
    columns: usize,
    first_line: bool,
    lines_are: NameKind,
) -> Result<String, IoError> {
    check_fields(records, columns + 1, first_line)?;
    let name = records.text(0)?;
    if name.is_empty() {
        return Err(IoError::BlankLineName {
            path: records.path().to_owned(),
            line: records.line(),
            what: lines_are,
        });
    }
    Ok(name.to_owned())
}

/// Checks that there are lines and that their names are unique.
pub(crate) fn check_lines(
    path: &Path,
    names: &[String],
    lines: &[u64],
    lines_are: NameKind,
) -> Result<(), IoError> {
    if names.is_empty() {
        return Err(IoError::HeaderOnly {
            path: path.to_owned(),
        });
    }
    match duplicate(names) {
        None => Ok(()),
        Some((first, second)) => Err(IoError::DuplicateName {
            path: path.to_owned(),
            what: lines_are,
            name: names[first].clone(),
            axis: Axis::Lines,
            first: lines[first],
            second: lines[second],
        }),
    }
}

/// The first repetition: where the name stood first, and where again.
pub(crate) fn duplicate(names: &[String]) -> Option<(usize, usize)> {
    let mut seen = std::collections::HashMap::with_capacity(names.len());
    names
        .iter()
        .enumerate()
        .find_map(|(i, name)| Some((seen.insert(name.as_str(), i)?, i)))
}

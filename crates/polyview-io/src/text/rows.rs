//! Lines of words that have no name of their own, such as visits: several of one subject.

use std::path::Path;

use super::header::{check_fields, read_header};
use super::records::Records;
use crate::error::{Axis, Foreign, IoError, NameKind};
use crate::number::{Codes, MISSING_WORD, is_missing};
use crate::options::{ReadOptions, default_name};
use crate::source::{Source, open};

/// A table of words in which no column names the lines.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RowTable {
    /// The table's name: the file's name without its endings.
    pub name: String,
    /// Names of all columns.
    pub columns: Vec<String>,
    /// The line of the file that each row begins in, from 1.
    pub lines: Vec<u64>,
    /// One vector a column, one entry a row; `None` where the cell is empty or spells one of
    /// [`MISSING_WORD`].
    pub values: Vec<Vec<Option<String>>>,
}

impl RowTable {
    /// The column of that name.
    pub fn column(&self, name: &str) -> Option<&[Option<String>]> {
        let at = self.columns.iter().position(|c| c == name)?;
        self.values.get(at).map(Vec::as_slice)
    }
}

/// Reads a text table whose rows are told apart by several columns, such as subject and time. Format and delimiter are
/// those of [`read_table`](crate::read_table); `options.name`, `options.delimiter` and `options.missing` count, the rest
/// does not apply.
///
/// # Errors
/// Every error of [`read_table`](crate::read_table) for text, except those about numbers and repeated names of lines.
pub fn read_rows(path: impl AsRef<Path>, options: &ReadOptions) -> Result<RowTable, IoError> {
    let path = path.as_ref();
    let Source::Text(input) = open(path)? else {
        return Err(IoError::Foreign {
            path: path.to_owned(),
            found: Foreign::NoText,
        });
    };
    let mut records = Records::new(path, input);
    let others = read_header(&mut records, options.delimiter, NameKind::Feature)?;
    let first = records.text(0)?.to_owned();
    if first.is_empty() {
        return Err(IoError::BlankColumnName {
            path: path.to_owned(),
            column: 1,
        });
    }
    if let Some(again) = others.iter().position(|name| *name == first) {
        return Err(IoError::DuplicateName {
            path: path.to_owned(),
            what: NameKind::Feature,
            name: first,
            axis: Axis::Columns,
            first: 1,
            second: again as u64 + 2,
        });
    }
    let columns: Vec<String> = std::iter::once(first).chain(others).collect();
    let mut out = RowTable {
        name: options.name.clone().unwrap_or_else(|| default_name(path)),
        lines: Vec::new(),
        values: vec![Vec::new(); columns.len()],
        columns,
    };
    let codes = Codes::of(options);
    while records.advance()? {
        check_fields(&records, out.columns.len(), out.lines.is_empty())?;
        for (column, values) in out.values.iter_mut().enumerate() {
            let text = records.text(column)?;
            let missing = codes.hold(text.as_bytes()) || is_missing(text.as_bytes(), MISSING_WORD);
            values.push((!missing).then(|| text.to_owned()));
        }
        out.lines.push(records.line());
    }
    if out.lines.is_empty() {
        return Err(IoError::HeaderOnly {
            path: path.to_owned(),
        });
    }
    Ok(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<RowTable, IoError> {
        let dir = tempfile::tempdir().expect("a folder");
        let path = dir.path().join("visits.csv");
        std::fs::write(&path, text).expect("a file");
        read_rows(&path, &ReadOptions::default())
    }

    #[test]
    fn lines_may_begin_alike() {
        let table = read("RID,month,x\n7,0,1.50\n\n7,6,NA\n8,0,<3\n").expect("a table");
        assert_eq!(table.columns, ["RID", "month", "x"]);
        assert_eq!(table.lines, [2, 4, 5]);
        let words = |name: &str| -> Vec<&str> {
            let cells = table.column(name).expect("a column").iter();
            cells.map(|c| c.as_deref().unwrap_or("-")).collect()
        };
        assert_eq!(words("RID"), ["7", "7", "8"]);
        assert_eq!(words("x"), ["1.50", "-", "<3"]);
        assert!(table.column("y").is_none());
    }

    #[test]
    fn what_cannot_be_is_named() {
        assert!(matches!(read("a,b\n"), Err(IoError::HeaderOnly { .. })));
        assert!(matches!(
            read("a,b,a\n1,2,3\n"),
            Err(IoError::DuplicateName { second: 3, .. })
        ));
        assert!(matches!(
            read("a,b\n1,2\n1,2,3\n"),
            Err(IoError::Ragged { line: 3, .. })
        ));
        assert!(matches!(
            read(",b\n1,2\n"),
            Err(IoError::BlankColumnName { column: 1, .. })
        ));
    }
}

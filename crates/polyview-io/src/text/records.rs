//! Lines of delimited text, split into fields, with exact positions.
//!
//! The rules are those of RFC 4180 with the usual latitude: LF or CRLF line
//! ends, quotation marks around any field, doubled inside, blanks around
//! fields ignored, blank lines skipped. Own code rather than a CSV library's
//! reader, because that one counts lines wrongly after blank lines and CRLF,
//! and swallows the rest of the file where a quotation mark is not closed; the
//! tests hold both against each other.

use std::io::BufRead;
use std::path::{Path, PathBuf};

use crate::error::{IoError, excerpt};

/// Reads one record after the other into the same buffers.
pub(crate) struct Records {
    path: PathBuf,
    input: Box<dyn BufRead>,
    delimiter: u8,
    /// The lines of the current record as they stand in the file.
    raw: Vec<u8>,
    /// Fields with their quotation marks taken off, where there were any.
    unquoted: Vec<u8>,
    /// Ranges of the fields in `raw` or `unquoted`, blanks around them taken off.
    fields: Vec<(usize, usize)>,
    quoted: bool,
    line: u64,
    lines_read: u64,
    /// A line that was looked at before its turn.
    ahead: Vec<u8>,
}

impl Records {
    pub(crate) fn new(path: &Path, input: Box<dyn BufRead>) -> Self {
        Self {
            path: path.to_owned(),
            input,
            delimiter: b',',
            raw: Vec::new(),
            unquoted: Vec::new(),
            fields: Vec::new(),
            quoted: false,
            line: 0,
            lines_read: 0,
            ahead: Vec::new(),
        }
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }
    pub(crate) fn delimiter(&self) -> u8 {
        self.delimiter
    }
    /// Number of the line on which the current record begins, from 1.
    pub(crate) fn line(&self) -> u64 {
        self.line
    }
    /// Number of fields of the current record.
    pub(crate) fn len(&self) -> usize {
        self.fields.len()
    }
    /// One field of the current record without blanks around it.
    pub(crate) fn field(&self, index: usize) -> &[u8] {
        let (from, to) = self.fields[index];
        if self.quoted {
            &self.unquoted[from..to]
        } else {
            &self.raw[from..to]
        }
    }

    /// One field as text.
    pub(crate) fn text(&self, index: usize) -> Result<&str, IoError> {
        match std::str::from_utf8(self.field(index)) {
            Ok(text) => Ok(text.trim()),
            Err(_) => Err(self.not_utf8()),
        }
    }

    /// Whether the current record is UTF-8 throughout.
    pub(crate) fn is_utf8(&self) -> bool {
        std::str::from_utf8(&self.raw).is_ok()
    }

    /// The error for the first byte of the current record that is not UTF-8.
    pub(crate) fn not_utf8(&self) -> IoError {
        let at = match std::str::from_utf8(&self.raw) {
            Ok(_) => 0,
            Err(e) => e.valid_up_to(),
        };
        let before = &self.raw[..at];
        let line_start = before
            .iter()
            .rposition(|&b| b == b'\n')
            .map_or(0, |p| p + 1);
        IoError::NotUtf8 {
            path: self.path.clone(),
            line: self.line + line_ends(before),
            byte: at - line_start + 1,
            value: self.raw.get(at).copied().unwrap_or_default(),
        }
    }

    /// Reads the header: the first line that is not blank, split at the
    /// delimiter that `choose` picks from it. `false` at the end of the file.
    pub(crate) fn advance_to_header(
        &mut self,
        choose: impl FnOnce(&[u8]) -> u8,
    ) -> Result<bool, IoError> {
        while self.read_line()? {
            if self.raw.iter().all(u8::is_ascii_whitespace) {
                continue;
            }
            if self.raw[..content_end(&self.raw)].contains(&b'\r') {
                return Err(IoError::CarriageReturns {
                    path: self.path.clone(),
                });
            }
            self.delimiter = choose(&self.raw);
            self.split()?;
            return Ok(true);
        }
        Ok(false)
    }

    /// The header as an excerpt, where it is a comment above the header: it begins with `#`, and the line after it
    /// begins so as well or has other columns.
    pub(crate) fn comment(&mut self) -> Result<Option<String>, IoError> {
        if self.raw.first() != Some(&b'#') {
            return Ok(None);
        }
        (self.input.read_until(b'\n', &mut self.ahead))
            .map_err(|e| IoError::text(&self.path, e))?;
        let next = &self.ahead;
        if next.is_empty() {
            return Ok(None);
        }
        let parts = |delimiter: u8| {
            let mut inside = false;
            let is_end = |b: &&u8| {
                inside ^= **b == b'"';
                !inside && **b == delimiter
            };
            next.iter().filter(is_end).count() + 1
        };
        let own = self.fields.len();
        let other = if own == 1 {
            b",;\t".iter().any(|d| parts(*d) > 1)
        } else {
            // R leaves the name of the first column out
            let lacks_first = parts(self.delimiter) == own + 1 && self.raw.get(1) != Some(&b' ');
            parts(self.delimiter) != own && !lacks_first
        };
        let text = &self.raw[..content_end(&self.raw)];
        Ok((next.first() == Some(&b'#') || other).then(|| excerpt(text)))
    }

    /// Reads the next record that is not blank. `false` at the end of the file.
    pub(crate) fn advance(&mut self) -> Result<bool, IoError> {
        while self.read_line()? {
            self.split()?;
            if self.len() > 1 || !self.field(0).is_empty() {
                return Ok(true);
            }
        }
        Ok(false)
    }

    fn read_line(&mut self) -> Result<bool, IoError> {
        self.raw.clear();
        self.line = self.lines_read + 1;
        self.append_line()
    }

    fn append_line(&mut self) -> Result<bool, IoError> {
        let before = self.raw.len();
        if self.ahead.is_empty() {
            (self.input.read_until(b'\n', &mut self.raw))
                .map_err(|e| IoError::text(&self.path, e))?;
        } else {
            self.raw.append(&mut self.ahead);
        }
        let read = self.raw.len() - before;
        self.lines_read += u64::from(read > 0);
        Ok(read > 0)
    }

    fn split(&mut self) -> Result<(), IoError> {
        self.fields.clear();
        self.quoted = self.raw.contains(&b'"');
        if self.quoted {
            return self.split_quoted();
        }
        let end = content_end(&self.raw);
        let mut from = 0;
        for (at, &byte) in self.raw[..end].iter().enumerate() {
            if byte == self.delimiter {
                self.fields.push(trim(&self.raw, from, at));
                from = at + 1;
            }
        }
        self.fields.push(trim(&self.raw, from, end));
        Ok(())
    }

    fn split_quoted(&mut self) -> Result<(), IoError> {
        self.unquoted.clear();
        let mut end = content_end(&self.raw);
        let mut at = 0;
        loop {
            // one field a turn; `at` is its first byte
            let from = self.unquoted.len();
            while at < end && self.raw[at] != self.delimiter && self.raw[at].is_ascii_whitespace() {
                at += 1;
            }
            if at < end && self.raw[at] == b'"' {
                let opened = self.line + line_ends(&self.raw[..at]);
                at += 1;
                loop {
                    if at >= end {
                        let terminator = end..self.raw.len();
                        self.unquoted.extend_from_slice(&self.raw[terminator]);
                        at = self.raw.len();
                        if !self.append_line()? {
                            return Err(IoError::UnclosedQuote {
                                path: self.path.clone(),
                                line: opened,
                            });
                        }
                        end = content_end(&self.raw);
                    } else if self.raw[at] != b'"' {
                        self.unquoted.push(self.raw[at]);
                        at += 1;
                    } else if self.raw.get(at + 1) == Some(&b'"') {
                        self.unquoted.push(b'"');
                        at += 2;
                    } else {
                        at += 1;
                        break;
                    }
                }
            }
            while at < end && self.raw[at] != self.delimiter {
                self.unquoted.push(self.raw[at]);
                at += 1;
            }
            self.fields
                .push(trim(&self.unquoted, from, self.unquoted.len()));
            if at >= end {
                return Ok(());
            }
            at += 1;
        }
    }
}

/// Where the content of a line ends and its line end begins.
fn content_end(raw: &[u8]) -> usize {
    let raw = raw.strip_suffix(b"\n").unwrap_or(raw);
    raw.strip_suffix(b"\r").unwrap_or(raw).len()
}

fn line_ends(bytes: &[u8]) -> u64 {
    (bytes.split(|&b| b == b'\n').count() - 1) as u64
}

fn trim(bytes: &[u8], mut from: usize, mut to: usize) -> (usize, usize) {
    while from < to && bytes[from].is_ascii_whitespace() {
        from += 1;
    }
    while from < to && bytes[to - 1].is_ascii_whitespace() {
        to -= 1;
    }
    (from, to)
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn all(text: &[u8], delimiter: u8) -> Result<Vec<(u64, Vec<String>)>, IoError> {
        let mut records = Records::new(
            Path::new("t"),
            Box::new(std::io::Cursor::new(text.to_vec())),
        );
        records.delimiter = delimiter;
        let mut out = Vec::new();
        while records.advance()? {
            let fields = (0..records.len())
                .map(|i| String::from_utf8_lossy(records.field(i)).into_owned())
                .collect();
            out.push((records.line(), fields));
        }
        Ok(out)
    }

    fn row(line: u64, fields: &[&str]) -> (u64, Vec<String>) {
        (line, fields.iter().map(|&f| f.to_owned()).collect())
    }

    #[test]
    fn lines_are_counted_as_an_editor_counts() {
        for text in [
            "a,b\n\n\nc,\"d\ne\"\n   \nf,g",
            "a,b\r\n\r\n\r\nc,\"d\ne\"\r\n   \r\nf,g\r\n",
        ] {
            let found = all(text.as_bytes(), b',').unwrap();
            assert_eq!(
                found,
                [
                    row(1, &["a", "b"]),
                    row(4, &["c", "d\ne"]),
                    row(7, &["f", "g"])
                ]
            );
        }
    }

    #[test]
    fn quotes_and_blanks() {
        let text = b" a b ,\"x,\"\"y\"\"\",  \"q\" , 5\" pipe,,\"\"\n";
        let found = all(text, b',').unwrap();
        assert_eq!(
            found,
            [row(1, &["a b", "x,\"y\"", "q", "5\" pipe", "", ""])]
        );
        // a tab is a delimiter, not a blank, where it is the delimiter
        assert_eq!(
            all(b"a\t\t\"b\"\t", b'\t').unwrap(),
            [row(1, &["a", "", "b", ""])]
        );
    }

    #[test]
    fn an_open_quote_is_an_error_on_its_line() {
        let found = all(b"a,b\nc,\"d\ne,f\ng,h\n", b',');
        assert!(
            matches!(found, Err(IoError::UnclosedQuote { line: 2, .. })),
            "{found:?}"
        );
        let found = all(b"a,\"b\nx\",\"d\ne,f\n", b',');
        assert!(
            matches!(found, Err(IoError::UnclosedQuote { line: 2, .. })),
            "{found:?}"
        );
    }

    #[test]
    fn a_header_may_begin_with_the_sign_of_a_comment() {
        let comment = |text: &str| {
            let text = text.as_bytes().to_vec();
            let mut records = Records::new(Path::new("t"), Box::new(std::io::Cursor::new(text)));
            assert!(records.advance_to_header(|_| b',').unwrap());
            let found = records.comment().unwrap();
            // the line that was looked at is still there
            let mut rest = 0;
            while records.advance().unwrap() {
                rest += 1;
                assert_eq!(records.line(), rest + 1);
            }
            (found, rest)
        };
        for header in [
            "#ID,a\n1,\"x, y, z\"\n",
            "# ID,a\n1,2\n",
            "#a,b\n1,2,3\n",
            "#ID\n1\n",
        ] {
            assert_eq!(comment(header), (None, 1), "{header}");
        }
        assert_eq!(comment("#ID,a\n"), (None, 0));
        for text in ["# by A, B\nID,a,b\n1,2,3\n", "#\nID\ta\n1\t2\n", "#a\n#b\n"] {
            let first = text.lines().next().unwrap();
            assert_eq!(comment(text).0.as_deref(), Some(first), "{text}");
        }
    }

    #[test]
    fn bad_bytes_are_placed() {
        let mut records = Records::new(
            Path::new("t"),
            Box::new(std::io::Cursor::new(b"a,\"x\ny\xE9\"\n".to_vec())),
        );
        assert!(records.advance().unwrap());
        let found = records.text(1);
        assert!(
            matches!(
                found,
                Err(IoError::NotUtf8 {
                    line: 2,
                    byte: 2,
                    value: 0xE9,
                    ..
                })
            ),
            "{found:?}"
        );
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(500))]

        #[test]
        fn splits_as_the_csv_crate(rows in prop::collection::vec(
            prop::collection::vec("[a-c\",;\n0-9]([ a-c\",;\n0-9]{0,6}[a-c\",;0-9])?", 1..5), 1..8)
        ) {
            let mut writer = csv::WriterBuilder::new().flexible(true).from_writer(Vec::new());
            for row in &rows {
                writer.write_record(row).unwrap();
            }
            let text = writer.into_inner().unwrap();
            let found = all(&text, b',').unwrap();
            prop_assert_eq!(found.len(), rows.iter().filter(|r| r.len() > 1 || !r[0].trim().is_empty()).count());
            for ((_, fields), row) in
                found.iter().zip(rows.iter().filter(|r| r.len() > 1 || !r[0].trim().is_empty()))
            {
                let trimmed: Vec<&str> = row.iter().map(|f| f.trim()).collect();
                prop_assert_eq!(fields, &trimmed);
            }
        }

        #[test]
        fn arbitrary_bytes_never_panic(bytes: Vec<u8>, delimiter in prop::sample::select(vec![b',', b';', b'\t'])) {
            let _ = all(&bytes, delimiter);
        }
    }
}

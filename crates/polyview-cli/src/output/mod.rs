//! Tables, sentences and JSON on standard output.

mod number;
mod table;

use std::io::{IsTerminal, Write};
use std::sync::OnceLock;

use crate::failure::{Failure, Outcome};

pub use polyview_core::counted;

pub use number::{count, nats, number, percent, rounded, share, significant};

/// Columns of a line where nothing says how wide the reader's is.
const WIDTH: usize = 100;
/// Columns that a line has at least, however narrow the terminal.
const NARROWEST: usize = 40;

/// How results are printed; nothing before [`set_digits`].
static DIGITS: OnceLock<Option<usize>> = OnceLock::new();

/// Takes the significant digits of `--digits` for all that is printed or
/// written as text from now on; the first call counts.
pub fn set_digits(digits: Option<usize>) {
    DIGITS.get_or_init(|| digits);
}

/// The significant digits that were asked for.
pub fn digits() -> Option<usize> {
    DIGITS.get().copied().flatten()
}

/// Columns of a line: as `COLUMNS` says, or the terminal.
fn width() -> usize {
    let told = std::env::var("COLUMNS").ok();
    let told = told.and_then(|w| w.trim().parse().ok());
    let found = told.or_else(|| {
        let out = std::io::stdout();
        let size = out.is_terminal().then(terminal_size::terminal_size);
        size.flatten().map(|(w, _)| usize::from(w.0))
    });
    found.unwrap_or(WIDTH).max(NARROWEST)
}

/// Writes a line to standard output as it is.
pub fn line(text: impl AsRef<str>) -> Outcome<()> {
    bytes(format!("{}\n", text.as_ref()).as_bytes())
}

/// Writes a sentence, in as many lines as the width of the terminal asks for.
pub fn prose(text: impl AsRef<str>) -> Outcome<()> {
    table::wrapped(text.as_ref(), width())
        .iter()
        .try_for_each(line)
}

/// Writes to standard output.
pub fn bytes(text: &[u8]) -> Outcome<()> {
    let mut out = std::io::stdout().lock();
    out.write_all(text)?;
    Ok(())
}

/// Writes a value as JSON to standard output.
pub fn json(value: &serde_json::Value) -> Outcome<()> {
    line(serde_json::to_string_pretty(value).unwrap_or_else(|_| value.to_string()))
}

/// A table with aligned columns: the first column to the left, the others to
/// the right, numbers by their decimal points. Columns that the terminal has no
/// room for come in a further block, under the names of the rows again.
pub fn table(header: &[String], rows: &[Vec<String>]) -> Outcome<()> {
    table::lines(header, rows, width())
        .iter()
        .try_for_each(line)
}

/// Says something on standard error, whoever listens.
pub fn aside(text: impl AsRef<str>) {
    // nothing is to be done where nobody does
    let _ = writeln!(std::io::stderr().lock(), "{}", text.as_ref());
}

/// Says on standard error why a command failed; nothing where its reader went away.
pub fn failed(failure: &Failure) {
    if !matches!(failure, Failure::Output(e) if e.kind() == std::io::ErrorKind::BrokenPipe) {
        aside(format!("error: {failure}"));
    }
}

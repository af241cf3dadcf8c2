//! What can go wrong with a file: data, with a text that says where and how to mend it.

mod array;
mod kinds;
mod market;

use std::io;
use std::path::{Path, PathBuf};

use polyview_core::{WriteError, WriteFault};
use thiserror::Error;

pub use array::ArrayError;
pub use kinds::{Action, Axis, Cell, Foreign, NameKind, NumberHint, RaggedHint};
pub use market::MarketError;

/// What can go wrong with a file.
///
/// Every variant names the file; positions count from 1 as in an editor or a
/// spreadsheet, unless a field says otherwise.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum IoError {
    /// There is no such file.
    #[error("{}: there is no such file; check the path", path.display())]
    NotFound {
        /// The file.
        path: PathBuf,
    },
    /// A folder where a file belongs.
    #[error("{}: this is a folder; name a file in it{}", path.display(), such_as(path))]
    IsDirectory {
        /// The folder.
        path: PathBuf,
    },
    /// A device, pipe or socket where a plain file is needed.
    #[error("{}: this is not a plain file; name one", path.display())]
    NotRegular {
        /// The path.
        path: PathBuf,
    },
    /// A pipe or a device where a table is read more than once.
    #[error("{}: the table of a view is read more than once, which a pipe does not allow; write it to a file and name that", path.display())]
    Pipe {
        /// The path.
        path: PathBuf,
    },
    /// The file system does not allow it.
    #[error("{}: no permission to {action} it; change the permissions or choose another path", path.display())]
    PermissionDenied {
        /// The file.
        path: PathBuf,
        /// What was tried.
        action: Action,
    },
    /// The folder to write into does not exist.
    #[error("{}: the folder {} does not exist; create it first", path.display(), folder.display())]
    NoFolder {
        /// The file to be written.
        path: PathBuf,
        /// The folder.
        folder: PathBuf,
    },
    /// No room left, or a quota reached. Nothing was changed at the path.
    #[error("{}: the disk is full or a quota is reached; make room (nothing was changed at this path)", path.display())]
    DiskFull {
        /// The file to be written.
        path: PathBuf,
    },
    /// Something is at the path already.
    #[error("{}: the file exists; choose another path, or overwrite it with --force", path.display())]
    Exists {
        /// The file.
        path: PathBuf,
    },
    /// Any other refusal of the system.
    #[error("{}: cannot {action} it: {source}", path.display())]
    System {
        /// The file.
        path: PathBuf,
        /// What was tried.
        action: Action,
        /// The system's own error.
        source: io::Error,
    },
    /// A file of another kind.
    #[error("{}: this is {found}", path.display())]
    Foreign {
        /// The file.
        path: PathBuf,
        /// What it is.
        found: Foreign,
    },
    /// A gzip stream that ends early or does not match its checksum.
    #[error("{}: the gzip data are damaged or cut off; copy or compress the file again", path.display())]
    DamagedGzip {
        /// The file.
        path: PathBuf,
    },
    /// Bytes that are not UTF-8.
    #[error("{}: line {line}, byte {byte} (0x{value:02X}) is not UTF-8; save the file as UTF-8", path.display())]
    NotUtf8 {
        /// The file.
        path: PathBuf,
        /// Line number from 1.
        line: u64,
        /// Position in the line from 1, in bytes.
        byte: usize,
        /// The byte.
        value: u8,
    },
    /// A carriage return inside the header: lines end the way of old Macs.
    #[error("{}: lines end in carriage returns only; save the file with LF or CRLF line ends", path.display())]
    CarriageReturns {
        /// The file.
        path: PathBuf,
    },
    /// A quotation mark that is never closed.
    #[error("{}: the quotation mark opened on line {line} is never closed; close or remove it", path.display())]
    UnclosedQuote {
        /// The file.
        path: PathBuf,
        /// Line number from 1.
        line: u64,
    },
    /// Nothing in the file.
    #[error("{}: the file is empty; it needs a header line and at least one more", path.display())]
    Empty {
        /// The file.
        path: PathBuf,
    },
    /// A comment above the header.
    #[error("{}: line {line} ('{text}') begins with '#' and has not the columns of the lines below it: it seems to be a comment, and comments are not read; remove such lines, so that the header comes first", path.display())]
    Comment {
        /// The file.
        path: PathBuf,
        /// Line number from 1.
        line: u64,
        /// What stands there.
        text: String,
    },
    /// A header and nothing else.
    #[error("{}: there is a header but no line of data below it", path.display())]
    HeaderOnly {
        /// The file.
        path: PathBuf,
    },
    /// A header of one column.
    #[error("{}: the header has one column when split at {}{}", path.display(), show_delimiter(*delimiter), split_hint(*likely))]
    OneColumn {
        /// The file.
        path: PathBuf,
        /// The delimiter used.
        delimiter: char,
        /// A delimiter that does occur in the header.
        likely: Option<char>,
    },
    /// A line with more or fewer columns than the header.
    #[error("{}: line {line} has {found} columns, the header has {expected}; {hint}", path.display())]
    Ragged {
        /// The file.
        path: PathBuf,
        /// Line number from 1.
        line: u64,
        /// Columns of the header.
        expected: usize,
        /// Columns of the line.
        found: usize,
        /// What it may be.
        hint: RaggedHint,
    },
    /// A blank in the header.
    #[error("{}: column {column} has no name in the header; name it, or remove a trailing delimiter", path.display())]
    BlankColumnName {
        /// The file.
        path: PathBuf,
        /// Column number from 1.
        column: usize,
    },
    /// A blank first column.
    #[error("{}: line {line} has no {what} in its first column; give it one or remove the line", path.display())]
    BlankLineName {
        /// The file.
        path: PathBuf,
        /// Line number from 1.
        line: u64,
        /// What belongs there.
        what: NameKind,
    },
    /// One name twice.
    #[error("{}: the {what} '{name}' stands twice, {axis} {first} and {second}; make each unique{}", path.display(), names_or_data(name, *axis))]
    DuplicateName {
        /// The file.
        path: PathBuf,
        /// What the name stands for.
        what: NameKind,
        /// The name.
        name: String,
        /// What the positions count.
        axis: Axis,
        /// First position, from 1.
        first: u64,
        /// Second position, from 1.
        second: u64,
    },
    /// Class names in more than one column.
    #[error("{}: class names stand in one column beside the sample IDs, but there are {found}; keep one, and give each other one a file of its own", path.display())]
    ManyClassColumns {
        /// The file.
        path: PathBuf,
        /// Columns found.
        found: usize,
    },
    /// A column of class names without one.
    #[error("{}: the column '{column}' holds no class name; leave the file out, or fill in the classes that are known", path.display())]
    NoClasses {
        /// The file.
        path: PathBuf,
        /// Name of the column.
        column: String,
    },
    /// Text where a number belongs.
    #[error("{cell}: '{}' is not a number; {hint}", cell.text)]
    NotNumber {
        /// Where, and what stands there.
        cell: Box<Cell>,
        /// What it may be.
        hint: NumberHint,
    },
    /// A comma between thousands in a file that is read with decimal commas.
    #[error("{cell}: '{}' is read with a decimal comma, but its comma looks like one between thousands, as do all commas in the numbers of this file: write them without it, and leave --decimal-comma out (where it is a decimal comma, write a point)", cell.text)]
    Thousands {
        /// Where, and what stands there.
        cell: Box<Cell>,
    },
    /// An infinite value, or a number beyond the range of 64-bit floats.
    #[error("{cell}: '{}' is infinite or beyond the range of 64-bit floats; correct it, or leave the cell empty", cell.text)]
    Infinite {
        /// Where, and what stands there.
        cell: Box<Cell>,
    },
    /// Something is wrong with a NumPy array.
    #[error("{}{}: {source}", path.display(), array.as_ref().map(|a| format!(" (array '{a}')")).unwrap_or_default())]
    Array {
        /// The file.
        path: PathBuf,
        /// The array of an archive.
        array: Option<String>,
        /// What is wrong.
        source: ArrayError,
    },
    /// Something is wrong with a Matrix Market file.
    #[error("{}{}: {source}", path.display(), if *line > 0 { format!(": line {line}") } else { String::new() })]
    Market {
        /// The file.
        path: PathBuf,
        /// Line number from 1; 0 where it is about no single line.
        line: u64,
        /// What is wrong.
        source: MarketError,
    },
    /// A file that can only be read as a whole.
    #[error("{}: this cannot be read some samples at a time; give NPY or text", path.display())]
    NotByBlocks {
        /// The file.
        path: PathBuf,
    },
    /// Views that are read some samples at a time, of other samples.
    #[error("{}: sample {row} is {found} here and {expected} in the views before; views on disk need the same samples in the same order, write them again so", path.display())]
    OtherSamples {
        /// The file.
        path: PathBuf,
        /// Number of the sample, from 1.
        row: usize,
        /// What the views before have there.
        expected: Box<str>,
        /// What this one has.
        found: Box<str>,
    },
    /// An ending that names no format to write.
    #[error("{}: the ending names no format; use .csv, .tsv, .csv.gz, .tsv.gz, .npy or .npz", path.display())]
    UnknownEnding {
        /// The file to be written.
        path: PathBuf,
    },
    /// A matrix handed to a writer with too many or too few names.
    #[error("{}: {found} {what}s for {expected} of them", path.display())]
    NameCount {
        /// The file to be written.
        path: PathBuf,
        /// What the names stand for.
        what: NameKind,
        /// Rows or columns of the matrix.
        expected: usize,
        /// Names given.
        found: usize,
    },
}

/// The file of a folder that is read in its place, where it holds a matrix as 10x has it.
fn such_as(folder: &Path) -> String {
    let files = ["matrix.mtx", "matrix.mtx.gz"].map(|name| folder.join(name));
    let found = files.into_iter().find(|path| path.is_file());
    found.map_or_else(String::new, |path| format!(", such as {}", path.display()))
}

fn show_delimiter(delimiter: char) -> String {
    match delimiter {
        '\t' => "tabs".to_owned(),
        other => format!("'{other}'"),
    }
}

/// What to do where numbers stand for names.
fn names_or_data(name: &str, axis: Axis) -> &'static str {
    match axis {
        _ if name.parse::<f64>().is_err() => "",
        Axis::Lines => ", or if the first column holds data, put a column of names before it",
        Axis::Entries => "",
        Axis::Columns => ", or if the first line holds data, put a line of names before it",
    }
}

fn split_hint(likely: Option<char>) -> String {
    match likely {
        Some(other @ (' ' | '|')) => {
            let what = if other == ' ' { "blanks" } else { "'|'" };
            format!(
                ", but {what} occur in it: if they part the columns, write the file with commas, \
                 semicolons or tabs in their place"
            )
        }
        Some(other) => {
            format!(
                ", but {} occur in it; read it with that delimiter (--delimiter {})",
                show_delimiter(other),
                match other {
                    '\t' => "tab",
                    ';' => "semicolon",
                    _ => "comma",
                }
            )
        }
        None => {
            "; it needs sample IDs and at least one feature, parted by commas, semicolons or tabs"
                .to_owned()
        }
    }
}

impl IoError {
    /// The file it is about.
    pub fn path(&self) -> &Path {
        match self {
            Self::NotFound { path }
            | Self::IsDirectory { path }
            | Self::NotRegular { path }
            | Self::Pipe { path }
            | Self::PermissionDenied { path, .. }
            | Self::NoFolder { path, .. }
            | Self::DiskFull { path }
            | Self::Exists { path }
            | Self::System { path, .. }
            | Self::Foreign { path, .. }
            | Self::DamagedGzip { path }
            | Self::NotUtf8 { path, .. }
            | Self::CarriageReturns { path }
            | Self::UnclosedQuote { path, .. }
            | Self::Empty { path }
            | Self::Comment { path, .. }
            | Self::HeaderOnly { path }
            | Self::OneColumn { path, .. }
            | Self::Ragged { path, .. }
            | Self::BlankColumnName { path, .. }
            | Self::BlankLineName { path, .. }
            | Self::DuplicateName { path, .. }
            | Self::ManyClassColumns { path, .. }
            | Self::NoClasses { path, .. }
            | Self::Array { path, .. }
            | Self::Market { path, .. }
            | Self::NotByBlocks { path }
            | Self::OtherSamples { path, .. }
            | Self::UnknownEnding { path }
            | Self::NameCount { path, .. } => path,
            Self::NotNumber { cell, .. } | Self::Thousands { cell } | Self::Infinite { cell } => {
                &cell.path
            }
        }
    }

    /// The line it is about, from 1, where it is about one.
    pub fn line(&self) -> Option<u64> {
        match self {
            Self::NotUtf8 { line, .. }
            | Self::UnclosedQuote { line, .. }
            | Self::Comment { line, .. }
            | Self::Ragged { line, .. }
            | Self::BlankLineName { line, .. } => Some(*line),
            Self::Market { line, .. } => (*line > 0).then_some(*line),
            Self::DuplicateName {
                axis: Axis::Lines,
                second,
                ..
            } => Some(*second),
            Self::NotNumber { cell, .. } | Self::Thousands { cell } | Self::Infinite { cell } => {
                Some(cell.line)
            }
            _ => None,
        }
    }

    /// What the system said, as a variant that names the file.
    pub(crate) fn system(path: &Path, action: Action, source: io::Error) -> Self {
        let path = path.to_owned();
        match source.kind() {
            io::ErrorKind::NotFound => Self::NotFound { path },
            io::ErrorKind::IsADirectory => Self::IsDirectory { path },
            io::ErrorKind::PermissionDenied | io::ErrorKind::ReadOnlyFilesystem => {
                Self::PermissionDenied { path, action }
            }
            _ => Self::System {
                path,
                action,
                source,
            },
        }
    }
}

impl From<WriteError> for IoError {
    fn from(WriteError { path, fault }: WriteError) -> Self {
        let action = Action::Write;
        match fault {
            WriteFault::Exists => Self::Exists { path },
            WriteFault::NoFolder { folder } => Self::NoFolder { path, folder },
            WriteFault::IsDirectory => Self::IsDirectory { path },
            WriteFault::NotRegular => Self::NotRegular { path },
            WriteFault::PermissionDenied => Self::PermissionDenied { path, action },
            WriteFault::DiskFull => Self::DiskFull { path },
            WriteFault::System(source) => Self::System {
                path,
                action,
                source,
            },
            other => Self::System {
                path,
                action,
                source: io::Error::other(other.to_string()),
            },
        }
    }
}

/// At most sixty characters of what stands in a file, control characters
/// escaped.
pub(crate) fn excerpt(bytes: &[u8]) -> String {
    const LONGEST: usize = 60;
    let head = &bytes[..bytes.len().min(4 * LONGEST)];
    let text = String::from_utf8_lossy(head);
    let mut out: String = text
        .chars()
        .take(LONGEST)
        .flat_map(|c| c.escape_debug().collect::<Vec<_>>())
        .collect();
    if text.chars().count() > LONGEST || head.len() < bytes.len() {
        out.push('…');
    }
    out
}

//! Writing matrices and tables; every file appears whole or not at all.

mod atomic;
mod text;

use std::io::{self, BufWriter, Write};
use std::path::Path;

use polyview_core::Table;
use polyview_linalg::MatRef;
use serde::{Deserialize, Serialize};

use crate::error::{IoError, NameKind};
use crate::numpy::{write_npy, write_npz};
use crate::text::StringTable;
pub use atomic::{ensure_writable, write_atomic};
pub use polyview_core::Overwrite;

/// A matrix with the names of its rows and columns.
#[derive(Clone, Copy, Debug)]
pub struct NamedMatrix<'a> {
    /// Names of the rows, usually sample IDs.
    pub rows: &'a [String],
    /// Names of the columns, usually features.
    pub columns: &'a [String],
    /// Values, rows × columns; `NaN` = missing.
    pub values: MatRef<'a, f64>,
}

impl NamedMatrix<'_> {
    /// Refuses names that are not as many as rows and columns; `path` is for the
    /// message.
    fn check(&self, path: &Path) -> Result<(), IoError> {
        let rows = (NameKind::Sample, self.values.nrows(), self.rows.len());
        let columns = (NameKind::Feature, self.values.ncols(), self.columns.len());
        same_counts(path, [rows, columns])
    }
}

/// Refuses columns of another length than there are samples, and another number
/// of them than of names.
fn check_columns(path: &Path, table: &StringTable) -> Result<(), IoError> {
    let n = table.samples.len();
    let columns = (NameKind::Feature, table.values.len(), table.columns.len());
    let lengths = table.values.iter().map(|c| (NameKind::Sample, c.len(), n));
    same_counts(path, std::iter::once(columns).chain(lengths))
}

fn same_counts(
    path: &Path,
    counts: impl IntoIterator<Item = (NameKind, usize, usize)>,
) -> Result<(), IoError> {
    let differing = counts
        .into_iter()
        .find(|(_, expected, found)| expected != found);
    match differing {
        None => Ok(()),
        Some((what, expected, found)) => Err(IoError::NameCount {
            path: path.to_owned(),
            what,
            expected,
            found,
        }),
    }
}

impl<'a> From<&'a Table> for NamedMatrix<'a> {
    fn from(table: &'a Table) -> Self {
        Self {
            rows: &table.samples,
            columns: &table.features,
            values: table.values.as_ref(),
        }
    }
}

/// What a missing value becomes in text.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum MissingText {
    /// An empty cell.
    #[default]
    Empty,
    /// `NA`, as R likes it.
    Na,
}

/// How to write a matrix or table.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct WriteOptions {
    /// What to do where the file exists.
    pub overwrite: Overwrite,
    /// What a missing value becomes (text).
    pub missing: MissingText,
    /// Header of the first column (text).
    pub corner: String,
    /// Significant digits of numbers (text), 1 to 17; `None` for as many as a
    /// number needs to be read back exactly.
    pub digits: Option<usize>,
}

impl Default for WriteOptions {
    fn default() -> Self {
        Self {
            overwrite: Overwrite::default(),
            missing: MissingText::default(),
            corner: "sample".to_owned(),
            digits: None,
        }
    }
}

/// Formats that can be written, by ending.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Format {
    Text { delimiter: u8, gzip: bool },
    Npy,
    Npz,
}

impl Format {
    fn of(path: &Path) -> Result<Self, IoError> {
        let name = path
            .file_name()
            .map(|n| n.to_string_lossy().to_ascii_lowercase());
        let name = name.unwrap_or_default();
        let (stem, gzip) = match name.strip_suffix(".gz") {
            Some(stem) => (stem, true),
            None => (name.as_str(), false),
        };
        let ending = stem.rsplit_once('.').map(|(_, e)| e);
        match (ending, gzip) {
            (Some("csv"), _) => Ok(Self::Text {
                delimiter: b',',
                gzip,
            }),
            (Some("tsv" | "tab"), _) => Ok(Self::Text {
                delimiter: b'\t',
                gzip,
            }),
            (Some("npy"), false) => Ok(Self::Npy),
            (Some("npz"), false) => Ok(Self::Npz),
            _ => Err(IoError::UnknownEnding {
                path: path.to_owned(),
            }),
        }
    }
}

/// Writes a matrix in the format of the path's ending: `.csv`, `.tsv` (also
/// `.tab`), either with `.gz`, `.npy` (values only, Fortran order) or `.npz`
/// (`x`, `samples`, `features`).
///
/// Text holds the shortest decimals that read back as the same 64-bit floats;
/// infinities are written as `inf`, which [`read_table`](crate::read_table)
/// refuses. The file appears whole or not at all.
///
/// ```
/// use polyview_core::Table;
/// use polyview_io::{ReadOptions, WriteOptions, read_table, write_matrix};
/// use polyview_linalg::Mat;
///
/// let folder = tempfile::tempdir()?;
/// let path = folder.path().join("lipids.tsv.gz");
/// let table = Table {
///     name: "lipids".into(),
///     samples: vec!["m1".into(), "m2".into()],
///     features: vec!["C16:0".into()],
///     values: Mat::from_fn(2, 1, |n, _| if n == 0 { 26.45 } else { f64::NAN }),
///     levels: Vec::new(),
/// };
/// write_matrix(&path, &(&table).into(), &WriteOptions::default())?;
/// let back = read_table(&path, &ReadOptions::default())?;
/// assert_eq!(back.samples, table.samples);
/// assert_eq!(back.values[(0, 0)], 26.45);
/// assert!(back.values[(1, 0)].is_nan());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// [`IoError::UnknownEnding`], [`IoError::NameCount`], and those of
/// [`write_atomic`].
pub fn write_matrix(
    path: impl AsRef<Path>,
    matrix: &NamedMatrix<'_>,
    options: &WriteOptions,
) -> Result<(), IoError> {
    let path = path.as_ref();
    let format = Format::of(path)?;
    matrix.check(path)?;
    polyview_core::write_atomic(path, options.overwrite, |file| match format {
        Format::Text { delimiter, gzip } => {
            text::write_matrix(file, delimiter, gzip, matrix, options)
        }
        Format::Npy => {
            let mut out = BufWriter::with_capacity(1 << 17, file);
            write_npy(&mut out, matrix.values)?;
            atomic::finish(out)
        }
        Format::Npz => {
            let mut out = BufWriter::with_capacity(1 << 17, file);
            write_npz(&mut out, matrix)?;
            atomic::finish(out)
        }
    })
    .map_err(IoError::from)
}

/// Writes a table of words as `.csv` or `.tsv`, either with `.gz`; the file
/// appears whole or not at all.
///
/// # Errors
/// [`IoError::UnknownEnding`] (also for `.npy` and `.npz`),
/// [`IoError::NameCount`] where a column does not have one entry a sample, and
/// those of [`write_atomic`].
pub fn write_string_table(
    path: impl AsRef<Path>,
    table: &StringTable,
    options: &WriteOptions,
) -> Result<(), IoError> {
    let path = path.as_ref();
    let Format::Text { delimiter, gzip } = Format::of(path)? else {
        return Err(IoError::UnknownEnding {
            path: path.to_owned(),
        });
    };
    check_columns(path, table)?;
    polyview_core::write_atomic(path, options.overwrite, |file| {
        text::write_words(file, delimiter, gzip, table, options)
    })
    .map_err(IoError::from)
}

/// Prints a matrix as comma-separated text, as [`write_matrix`] does into a
/// `.csv` file.
///
/// ```
/// use polyview_io::{NamedMatrix, WriteOptions, print_matrix};
/// use polyview_linalg::Mat;
///
/// let values = Mat::from_fn(1, 2, |_, d| 1.0 / (d + 2) as f64);
/// let matrix = NamedMatrix {
///     rows: &["m1".to_owned()],
///     columns: &["a".to_owned(), "b".to_owned()],
///     values: values.as_ref(),
/// };
/// let options = WriteOptions { digits: Some(3), ..WriteOptions::default() };
/// let mut text = Vec::new();
/// print_matrix(&mut text, &matrix, &options)?;
/// assert_eq!(text, b"sample,a,b\nm1,0.5,0.333\n");
/// # Ok::<(), std::io::Error>(())
/// ```
///
/// # Errors
/// What the stream reports; [`io::ErrorKind::InvalidInput`] where names are not
/// as many as rows and columns.
pub fn print_matrix(
    out: &mut dyn Write,
    matrix: &NamedMatrix<'_>,
    options: &WriteOptions,
) -> io::Result<()> {
    matrix.check(Path::new(STREAM)).map_err(invalid)?;
    text::matrix(out, b',', matrix, options)
}

/// Prints a table of words as comma-separated text, as [`write_string_table`]
/// does into a `.csv` file.
///
/// # Errors
/// As [`print_matrix`].
pub fn print_string_table(
    out: &mut dyn Write,
    table: &StringTable,
    options: &WriteOptions,
) -> io::Result<()> {
    check_columns(Path::new(STREAM), table).map_err(invalid)?;
    text::words(out, b',', table, options)
}

/// What stands for the path of a stream in messages.
const STREAM: &str = "-";

fn invalid(error: IoError) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidInput, error)
}

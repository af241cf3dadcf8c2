//! What the variants of an error carry.

use std::fmt;
use std::path::PathBuf;

/// What was being done to a file when the system refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Action {
    /// Opening or reading it.
    Read,
    /// Creating, writing or renaming it.
    Write,
}

impl fmt::Display for Action {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Read => "read",
            Self::Write => "write",
        })
    }
}

/// What a name stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NameKind {
    /// A sample ID.
    Sample,
    /// A feature name, or the name of a metadata column.
    Feature,
}

impl fmt::Display for NameKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Sample => "sample ID",
            Self::Feature => "feature name",
        })
    }
}

/// Which way names run through a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Axis {
    /// One name a line: positions are line numbers.
    Lines,
    /// One name a column of the header: positions are column numbers, the
    /// first column being 1.
    Columns,
    /// Entries of a name array in an NPZ archive: positions count from 1.
    Entries,
}

impl fmt::Display for Axis {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Lines => "lines",
            Self::Columns => "columns",
            Self::Entries => "entries",
        })
    }
}

/// A kind of file that cannot be read as a table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Foreign {
    /// An `.xlsx` workbook, or another ZIP archive without arrays.
    Workbook,
    /// An old `.xls` workbook.
    OldWorkbook,
    /// HDF5 (`.h5`, `.h5ad`, `.h5mu`, `.hdf5`).
    Hdf5,
    /// Compressed with bzip2, xz or zstd.
    OtherCompression,
    /// Parquet or Feather.
    ColumnStore,
    /// A NumPy array where a table of words belongs.
    NoText,
    /// Something other than text inside gzip.
    BinaryInGzip,
    /// UTF-16 or UTF-32 text.
    Utf16,
    /// Bytes of no known kind that are no text.
    Bytes,
}

impl fmt::Display for Foreign {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Workbook => {
                "a ZIP archive without NumPy arrays (a spreadsheet?); export it as CSV"
            }
            Self::OldWorkbook => "an .xls workbook; export it as CSV",
            Self::Hdf5 => "an HDF5 file; export the matrix as CSV, NPY or NPZ",
            Self::OtherCompression => {
                "compressed with something other than gzip; unpack it, or compress it with gzip"
            }
            Self::ColumnStore => "a Parquet or Feather file; export it as CSV, NPY or NPZ",
            Self::NoText => "a NumPy array, which holds no words; give a CSV or TSV file",
            Self::BinaryInGzip => "a gzipped file that holds no text; unpack it first",
            Self::Utf16 => "UTF-16 text; save it as UTF-8",
            Self::Bytes => {
                "no text table: its bytes are no text, and of no kind that is known here; give CSV \
                 or TSV (also gzipped), NPY, NPZ or Matrix Market"
            }
        })
    }
}

/// One cell of a text table.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cell {
    /// The file.
    pub path: PathBuf,
    /// Line number from 1, as an editor counts.
    pub line: u64,
    /// Column number from 1; the first column holds the names of the lines.
    pub column: usize,
    /// The column's name in the header.
    pub column_name: String,
    /// The line's name in the first column.
    pub line_name: String,
    /// What stands there, shortened.
    pub text: String,
}

impl fmt::Display for Cell {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{}: line {} ('{}'), column {} ('{}')",
            self.path.display(),
            self.line,
            self.line_name,
            self.column,
            self.column_name
        )
    }
}

/// What a text that is not a number looks like.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum NumberHint {
    /// A number with a decimal comma.
    DecimalComma,
    /// A number with a comma between thousands, in a file whose columns commas part.
    Thousands,
    /// A number with a comma between thousands, or a decimal comma.
    ThousandsOrDecimals,
    /// A number with a decimal point where a decimal comma was asked for.
    DecimalPoint,
    /// Several lines in one cell: a quotation mark out of place.
    StrayQuote,
    /// A sign or mark that does not belong to a number.
    Mark(char),
    /// Words: perhaps a column of categories.
    Words,
}

impl fmt::Display for NumberHint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::DecimalComma => {
                "it looks like a decimal comma: write a point, or read the file with decimal commas (--decimal-comma)"
            }
            Self::Thousands => {
                "it looks like a comma between thousands, as do all commas from here on: write numbers without it (where it is a decimal comma, write a point)"
            }
            Self::ThousandsOrDecimals => {
                "it looks like a comma between thousands or a decimal comma: write numbers without that between thousands; for a decimal comma write a point, or read the file with decimal commas (--decimal-comma)"
            }
            Self::DecimalPoint => {
                "it looks like a decimal point, but the file is read with decimal commas: write a comma, or leave --decimal-comma out"
            }
            Self::Mark(mark) => {
                let what = match mark {
                    '%' => "a per cent sign: leave it out of all cells",
                    '\u{2212}' | '\u{2013}' | '\u{2014}' => {
                        "a dash in place of the sign - of a negative number: write that"
                    }
                    _ => "a mark between thousands: leave it out",
                };
                return write!(f, "it has {what}");
            }
            Self::StrayQuote => "it spans several lines: look for a quotation mark out of place",
            Self::Words => {
                "correct it, leave the cell empty where nothing was observed, or keep columns of words in a metadata file"
            }
        })
    }
}

/// Why the lines of a file may differ in length.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum RaggedHint {
    /// The header lacks the name of the first column, as R's `write.table`
    /// leaves it out.
    HeaderLacksFirstName,
    /// All that the line has more than the header is empty.
    TrailingDelimiter,
    /// Nothing in particular.
    Plain,
}

impl fmt::Display for RaggedHint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::HeaderLacksFirstName => {
                "the header seems to lack the name of the first column (put 'sample' before it), or this line has one value too many"
            }
            Self::TrailingDelimiter => {
                "what it has more is empty: remove the delimiter at its end (or, if its last value is missing and the header lacks the name of \
                 the first column, put 'sample' before the header)"
            }
            Self::Plain => {
                "look for a missing value without its delimiter, or for a delimiter inside a name that needs quotation marks"
            }
        })
    }
}

//! What can be wrong with a Matrix Market file.

use polyview_linalg::SparseError;
use thiserror::Error;

/// What can be wrong with a Matrix Market file.
#[derive(Clone, Debug, PartialEq, Error)]
#[non_exhaustive]
pub enum MarketError {
    /// The first line is another.
    #[error(
        "the first line is not that of a Matrix Market file: '%%MatrixMarket matrix coordinate real general'"
    )]
    Banner,
    /// A sparse matrix where a table of every cell is needed.
    #[error(
        "a sparse matrix, and here a table of every cell is needed: write it as CSV, NPY or NPZ"
    )]
    NoTable,
    /// A matrix of another kind.
    #[error(
        "'{found}' is not read; write the matrix as coordinate, real, integer or pattern, and general"
    )]
    Kind {
        /// What the first line says.
        found: String,
    },
    /// No line of rows, columns and entries, or one that cannot be.
    #[error("here rows, columns and number of entries belong: three whole numbers that fit")]
    Size,
    /// A row or column that is none.
    #[error("'{found}' is no row or column: these are numbered from 1 to {most}")]
    Place {
        /// What stands there.
        found: String,
        /// The last row or column.
        most: usize,
    },
    /// No finite number.
    #[error("'{found}' is not a finite number; correct it, or remove the entry where it is zero")]
    Value {
        /// What stands there.
        found: String,
    },
    /// More than an entry on a line.
    #[error("'{found}' stands after the entry; remove it")]
    Rest {
        /// What stands there.
        found: String,
    },
    /// Fewer entries than promised.
    #[error("the file ends after {found} of {expected} entries; copy it again")]
    TooFew {
        /// Entries promised.
        expected: usize,
        /// Entries found.
        found: usize,
    },
    /// More entries than promised.
    #[error("there are more than the {expected} entries that the head of the file promises")]
    TooMany {
        /// Entries promised.
        expected: usize,
    },
    /// Two entries for one place.
    #[error("row {}, column {} has two entries; keep one", row + 1, column + 1)]
    Repeated {
        /// Row from 0.
        row: usize,
        /// Column from 0.
        column: usize,
    },
    /// No names where there are too many rows or columns to number them.
    #[error(
        "{rows} rows and {columns} columns need names beside the file: one a line in NAME.rows.txt and NAME.cols.txt"
    )]
    NoNames {
        /// Rows.
        rows: usize,
        /// Columns.
        columns: usize,
    },
    /// Entries that make no matrix.
    #[error(transparent)]
    Sparse(SparseError),
}

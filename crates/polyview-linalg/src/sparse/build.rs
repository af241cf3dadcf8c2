//! From what files and programs hold to compressed columns, checked.

use faer::MatRef;
use thiserror::Error;

use super::SparseColumns;

/// What becomes of two entries for one place.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Repeats {
    /// An error that names the place.
    #[default]
    Refuse,
    /// They add up.
    Add,
}

/// What can be wrong with the parts of a sparse matrix. Rows, columns and positions count from 0.
#[derive(Clone, Debug, PartialEq, Error)]
#[non_exhaustive]
pub enum SparseError {
    /// More rows or columns than an index of 32 bits can name.
    #[error(
        "{rows} x {columns} is too large for a sparse matrix: at most 4294967295 rows and columns"
    )]
    TooLarge {
        /// Rows.
        rows: usize,
        /// Columns.
        columns: usize,
    },
    /// Indices and values that differ in number.
    #[error("{indices} indices, but {values} values")]
    Lengths {
        /// Number of indices.
        indices: usize,
        /// Number of values.
        values: usize,
    },
    /// Pointers that do not run from zero to the number of entries without falling, one more than there are lines.
    #[error(
        "the pointers of the lines do not run from 0 to the number of entries (at line {line})"
    )]
    Pointers {
        /// First line at which they do not.
        line: usize,
    },
    /// An index beyond the last row or column.
    #[error("the entry at row {row}, column {column} lies outside a matrix of {rows} x {columns}")]
    OutOfRange {
        /// Row of the entry.
        row: usize,
        /// Its column.
        column: usize,
        /// Rows of the matrix.
        rows: usize,
        /// Columns of the matrix.
        columns: usize,
    },
    /// Indices of a line that do not ascend.
    #[error("the indices of line {line} do not ascend (at entry {entry} of the line)")]
    Unsorted {
        /// The line: a row of a matrix by rows, a column of one by columns.
        line: usize,
        /// Entry of the line.
        entry: usize,
    },
    /// Two entries for one place.
    #[error("row {row}, column {column} has two entries")]
    Repeated {
        /// The row.
        row: usize,
        /// The column.
        column: usize,
    },
    /// An entry that is infinite or no number.
    #[error("the entry at row {row}, column {column} is not finite")]
    NotFinite {
        /// The row.
        row: usize,
        /// The column.
        column: usize,
    },
}

/// Whether rows and columns can be named by 32 bits.
fn check_shape(rows: usize, columns: usize) -> Result<(), SparseError> {
    if u32::try_from(rows).is_ok() && u32::try_from(columns).is_ok() {
        Ok(())
    } else {
        Err(SparseError::TooLarge { rows, columns })
    }
}

/// Whether pointers fit their lines and entries.
fn check_lines(
    lines: usize,
    starts: &[usize],
    indices: usize,
    values: usize,
) -> Result<(), SparseError> {
    if indices != values {
        return Err(SparseError::Lengths { indices, values });
    }
    if starts.len() != lines + 1 {
        let line = lines.min(starts.len());
        return Err(SparseError::Pointers { line });
    }
    if starts[0] != 0 {
        return Err(SparseError::Pointers { line: 0 });
    }
    if let Some(line) = starts.windows(2).position(|p| p[0] > p[1]) {
        return Err(SparseError::Pointers { line });
    }
    if starts[lines] != values {
        return Err(SparseError::Pointers { line: lines });
    }
    Ok(())
}

/// Whether the indices of every line ascend.
fn check_order(
    starts: &[usize],
    indices: &[u32],
    repeated: impl Fn(usize, usize) -> SparseError,
) -> Result<(), SparseError> {
    for (line, at) in starts.windows(2).enumerate() {
        for (entry, pair) in indices[at[0]..at[1]].windows(2).enumerate() {
            if pair[0] == pair[1] {
                return Err(repeated(line, pair[0] as usize));
            }
            if pair[0] > pair[1] {
                return Err(SparseError::Unsorted {
                    line,
                    entry: entry + 1,
                });
            }
        }
    }
    Ok(())
}

impl SparseColumns {
    /// A matrix given by columns: `starts` of each column and the end of the last, rows ascending in each column.
    ///
    /// # Errors
    /// [`SparseError`], whatever does not fit.
    pub fn from_csc(
        rows: usize,
        columns: usize,
        starts: Vec<usize>,
        indices: Vec<u32>,
        values: Vec<f64>,
    ) -> Result<Self, SparseError> {
        check_shape(rows, columns)?;
        check_lines(columns, &starts, indices.len(), values.len())?;
        check_order(&starts, &indices, |column, row| SparseError::Repeated {
            row,
            column,
        })?;
        for (column, at) in starts.windows(2).enumerate() {
            for i in at[0]..at[1] {
                let row = indices[i] as usize;
                check_entry(rows, columns, row, column, values[i])?;
            }
        }
        let out = Self {
            rows,
            starts,
            indices,
            values,
        };
        if out.values.contains(&0.0) {
            return out.map(|_, _, x| x);
        }
        Ok(out)
    }
    /// A matrix given by rows: `starts` of each row and the end of the last, columns ascending in each row.
    ///
    /// # Errors
    /// [`SparseError`], whatever does not fit.
    pub fn from_csr(
        rows: usize,
        columns: usize,
        starts: &[usize],
        indices: &[u32],
        values: &[f64],
    ) -> Result<Self, SparseError> {
        check_shape(rows, columns)?;
        check_lines(rows, starts, indices.len(), values.len())?;
        check_order(starts, indices, |row, column| SparseError::Repeated {
            row,
            column,
        })?;
        Self::from_rows(rows, columns, starts, indices, values, Repeats::Refuse)
    }
    /// As [`SparseColumns::from_csr`], whatever the order within a row.
    ///
    /// # Errors
    /// [`SparseError`], whatever does not fit.
    pub fn from_rows(
        rows: usize,
        columns: usize,
        starts: &[usize],
        indices: &[u32],
        values: &[f64],
        repeats: Repeats,
    ) -> Result<Self, SparseError> {
        check_shape(rows, columns)?;
        check_lines(rows, starts, indices.len(), values.len())?;
        let lines = starts.windows(2).enumerate();
        let entries = lines.flat_map(|(row, at)| {
            (at[0]..at[1]).map(move |i| (row, indices[i] as usize, values[i]))
        });
        Self::gather(rows, columns, entries, repeats)
    }
    /// A matrix from (row, column, entry) in any order.
    ///
    /// # Errors
    /// [`SparseError`], whatever does not fit.
    pub fn from_triplets(
        rows: usize,
        columns: usize,
        entries: &[(u32, u32, f64)],
        repeats: Repeats,
    ) -> Result<Self, SparseError> {
        check_shape(rows, columns)?;
        let entries = entries.iter().map(|&(r, c, x)| (r as usize, c as usize, x));
        Self::gather(rows, columns, entries, repeats)
    }
    /// The entries of a dense matrix that are not zero.
    ///
    /// # Errors
    /// [`SparseError::NotFinite`], [`SparseError::TooLarge`].
    pub fn from_dense(x: MatRef<'_, f64>) -> Result<Self, SparseError> {
        let (rows, columns) = (x.nrows(), x.ncols());
        check_shape(rows, columns)?;
        let mut out = Self::zeros(rows, 0);
        for d in 0..columns {
            for (n, &x) in x.col(d).iter().enumerate() {
                check_entry(rows, columns, n, d, x)?;
                if x != 0.0 {
                    out.indices.push(n as u32);
                    out.values.push(x);
                }
            }
            out.starts.push(out.values.len());
        }
        Ok(out)
    }
    /// By counting twice: entries go to their columns in the order they come, then the rows of each column are put in
    /// order where they are not.
    fn gather(
        rows: usize,
        columns: usize,
        entries: impl Iterator<Item = (usize, usize, f64)> + Clone,
        repeats: Repeats,
    ) -> Result<Self, SparseError> {
        let mut starts = vec![0usize; columns + 1];
        for (row, column, x) in entries.clone() {
            check_entry(rows, columns, row, column, x)?;
            starts[column + 1] += 1;
        }
        for d in 0..columns {
            starts[d + 1] += starts[d];
        }
        let mut next = starts.clone();
        let mut indices = vec![0u32; starts[columns]];
        let mut values = vec![0.0; starts[columns]];
        for (row, column, x) in entries {
            let at = &mut next[column];
            indices[*at] = row as u32;
            values[*at] = x;
            *at += 1;
        }
        drop(next);
        let mut out = Self {
            rows,
            starts,
            indices,
            values,
        };
        out.sort_columns();
        out.settle(repeats)
    }
    fn sort_columns(&mut self) {
        let mut column: Vec<(u32, f64)> = Vec::new();
        for at in self.starts.windows(2) {
            let (rows, values) = (
                &mut self.indices[at[0]..at[1]],
                &mut self.values[at[0]..at[1]],
            );
            if rows.is_sorted() {
                continue;
            }
            column.clear();
            column.extend(rows.iter().copied().zip(values.iter().copied()));
            // stable, so that repeated entries add up in the order they came
            column.sort_by_key(|e| e.0);
            for ((r, x), e) in rows.iter_mut().zip(values).zip(&column) {
                (*r, *x) = *e;
            }
        }
    }
    /// Adds up or refuses repeated entries, and drops zeros.
    fn settle(mut self, repeats: Repeats) -> Result<Self, SparseError> {
        let (mut from, mut to) = (0, 0);
        for column in 0..self.ncols() {
            let (end, first) = (self.starts[column + 1], to);
            while from < end {
                let row = self.indices[from];
                let mut sum = self.values[from];
                from += 1;
                while from < end && self.indices[from] == row {
                    if repeats == Repeats::Refuse {
                        return Err(SparseError::Repeated {
                            row: row as usize,
                            column,
                        });
                    }
                    sum += self.values[from];
                    from += 1;
                }
                if !sum.is_finite() {
                    return Err(SparseError::NotFinite {
                        row: row as usize,
                        column,
                    });
                }
                if sum != 0.0 {
                    (self.indices[to], self.values[to]) = (row, sum);
                    to += 1;
                }
            }
            self.starts[column] = first;
        }
        let columns = self.ncols();
        self.starts[columns] = to;
        self.indices.truncate(to);
        self.values.truncate(to);
        Ok(self)
    }
}

fn check_entry(
    rows: usize,
    columns: usize,
    row: usize,
    column: usize,
    x: f64,
) -> Result<(), SparseError> {
    if row >= rows || column >= columns {
        return Err(SparseError::OutOfRange {
            row,
            column,
            rows,
            columns,
        });
    }
    if x.is_finite() {
        Ok(())
    } else {
        Err(SparseError::NotFinite { row, column })
    }
}

//! Matrices most of whose entries are zero.

mod build;
mod product;
#[cfg(test)]
mod tests;

use std::ops::Range;

use faer::Mat;

pub use build::{Repeats, SparseError};
pub use product::{sparse_cross, sparse_times_into};

/// A matrix that stores its non-zero entries alone, column after column (CSC), the rows of each column ascending.
///
/// It takes 12 bytes an entry and 8 a column. Entries are finite and not zero; a zero that was given is not kept.
///
/// ```
/// use polyview_linalg::{Repeats, SparseColumns};
///
/// let x = SparseColumns::from_triplets(3, 2, &[(2, 0, 5.0), (0, 0, 1.0), (1, 1, 2.0)], Repeats::Refuse)?;
/// assert_eq!(x.column(0).0, [0, 2]);
/// assert_eq!((x.get(2, 0), x.get(1, 0), x.count()), (5.0, 0.0, 3));
/// # Ok::<(), polyview_linalg::SparseError>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct SparseColumns {
    rows: usize,
    /// Where each column starts, and where the last ends.
    starts: Vec<usize>,
    /// Rows of the entries.
    indices: Vec<u32>,
    values: Vec<f64>,
}

impl SparseColumns {
    /// A matrix of zeros.
    pub fn zeros(rows: usize, columns: usize) -> Self {
        Self {
            rows,
            starts: vec![0; columns + 1],
            indices: Vec::new(),
            values: Vec::new(),
        }
    }
    /// Number of rows.
    pub fn nrows(&self) -> usize {
        self.rows
    }
    /// Number of columns.
    pub fn ncols(&self) -> usize {
        self.starts.len() - 1
    }
    /// Number of entries that are not zero.
    pub fn count(&self) -> usize {
        self.values.len()
    }
    /// Where each column starts among the entries, and where the last ends.
    pub fn starts(&self) -> &[usize] {
        &self.starts
    }
    /// Rows of the entries.
    pub fn indices(&self) -> &[u32] {
        &self.indices
    }
    /// The entries.
    pub fn values(&self) -> &[f64] {
        &self.values
    }
    /// Rows and values of the entries of a column.
    ///
    /// # Panics
    /// If there is no such column.
    pub fn column(&self, column: usize) -> (&[u32], &[f64]) {
        let at = self.starts[column]..self.starts[column + 1];
        (&self.indices[at.clone()], &self.values[at])
    }
    /// The entry at a place: zero where none is stored.
    ///
    /// # Panics
    /// If there is no such place.
    pub fn get(&self, row: usize, column: usize) -> f64 {
        assert!(row < self.rows, "row of a sparse matrix");
        let (rows, values) = self.column(column);
        rows.binary_search(&(row as u32))
            .map_or(0.0, |at| values[at])
    }
    /// Writes a column with its zeros.
    ///
    /// # Panics
    /// If there is no such column or `out` has not as many entries as rows.
    pub fn write_column(&self, column: usize, out: &mut [f64]) {
        assert_eq!(out.len(), self.rows, "rows of a column");
        out.fill(0.0);
        let (rows, values) = self.column(column);
        for (&r, &x) in rows.iter().zip(values) {
            out[r as usize] = x;
        }
    }
    /// Some columns with their zeros.
    ///
    /// # Panics
    /// If there are no such columns.
    pub fn dense_columns(&self, columns: Range<usize>) -> Mat<f64> {
        let mut out = Mat::zeros(self.rows, columns.len());
        for (j, d) in columns.enumerate() {
            self.write_column(d, out.col_as_slice_mut(j));
        }
        out
    }
    /// The matrix with other entries at the same places: `change(row, column, entry)`. What becomes zero is no longer
    /// stored.
    ///
    /// # Errors
    /// [`SparseError::NotFinite`].
    pub fn map(
        &self,
        mut change: impl FnMut(usize, usize, f64) -> f64,
    ) -> Result<Self, SparseError> {
        let mut out = Self {
            rows: self.rows,
            starts: Vec::with_capacity(self.starts.len()),
            indices: Vec::with_capacity(self.indices.len()),
            values: Vec::with_capacity(self.values.len()),
        };
        out.starts.push(0);
        for d in 0..self.ncols() {
            let (rows, values) = self.column(d);
            for (&r, &x) in rows.iter().zip(values) {
                let x = change(r as usize, d, x);
                if !x.is_finite() {
                    return Err(SparseError::NotFinite {
                        row: r as usize,
                        column: d,
                    });
                }
                if x != 0.0 {
                    out.indices.push(r);
                    out.values.push(x);
                }
            }
            out.starts.push(out.values.len());
        }
        Ok(out)
    }
    /// The matrix with zeros where `keep(row, column)` is false.
    #[must_use]
    pub fn retain(&self, mut keep: impl FnMut(usize, usize) -> bool) -> Self {
        let mut out = Self::zeros(self.rows, 0);
        for d in 0..self.ncols() {
            let (rows, values) = self.column(d);
            for (&r, &x) in rows.iter().zip(values) {
                if keep(r as usize, d) {
                    out.indices.push(r);
                    out.values.push(x);
                }
            }
            out.starts.push(out.values.len());
        }
        out
    }
    /// The rows `keep`, in that order; `None` is a row of zeros, and a row may come several times.
    ///
    /// # Panics
    /// If there is no such row.
    #[must_use]
    pub fn select_rows(&self, keep: &[Option<u32>]) -> Self {
        // the new places of each old row, by counting
        let mut first = vec![0u32; self.rows + 1];
        for &r in keep.iter().flatten() {
            first[r as usize + 1] += 1;
        }
        for r in 0..self.rows {
            first[r + 1] += first[r];
        }
        let mut next = first.clone();
        let mut places = vec![0u32; next[self.rows] as usize];
        for (new, old) in keep.iter().enumerate() {
            if let Some(r) = old {
                let at = &mut next[*r as usize];
                places[*at as usize] = new as u32;
                *at += 1;
            }
        }
        let mut out = Self::zeros(keep.len(), 0);
        let mut entries: Vec<(u32, f64)> = Vec::new();
        for d in 0..self.ncols() {
            entries.clear();
            let (rows, values) = self.column(d);
            for (&r, &x) in rows.iter().zip(values) {
                let at = first[r as usize] as usize..first[r as usize + 1] as usize;
                entries.extend(places[at].iter().map(|&new| (new, x)));
            }
            entries.sort_unstable_by_key(|e| e.0);
            out.indices.extend(entries.iter().map(|e| e.0));
            out.values.extend(entries.iter().map(|e| e.1));
            out.starts.push(out.values.len());
        }
        out
    }
    /// The columns `keep`, in that order; `None` is a column of zeros.
    ///
    /// # Panics
    /// If there is no such column.
    #[must_use]
    pub fn select_columns(&self, keep: impl IntoIterator<Item = Option<usize>>) -> Self {
        let mut out = Self::zeros(self.rows, 0);
        for column in keep {
            if let Some(d) = column {
                let (rows, values) = self.column(d);
                out.indices.extend_from_slice(rows);
                out.values.extend_from_slice(values);
            }
            out.starts.push(out.values.len());
        }
        out
    }
    /// The matrix transposed.
    #[must_use]
    pub fn transposed(&self) -> Self {
        let mut starts = vec![0usize; self.rows + 1];
        for &r in &self.indices {
            starts[r as usize + 1] += 1;
        }
        for r in 0..self.rows {
            starts[r + 1] += starts[r];
        }
        let mut next = starts.clone();
        let mut indices = vec![0u32; self.indices.len()];
        let mut values = vec![0.0; self.values.len()];
        for d in 0..self.ncols() {
            let (rows, entries) = self.column(d);
            for (&r, &x) in rows.iter().zip(entries) {
                let at = &mut next[r as usize];
                indices[*at] = d as u32;
                values[*at] = x;
                *at += 1;
            }
        }
        Self {
            rows: self.ncols(),
            starts,
            indices,
            values,
        }
    }
}

//! Groups of rows: which row has which group's precisions.

use polyview_linalg::{Mat, MatRef};

use super::moments::{RowCov, RowMoments};
use super::state::{State, StateReader};
use crate::dataset::Groups;
use crate::error::{DataError, NumericError};

/// Which group each row of a block belongs to.
///
/// ```
/// use polyview_core::RowGroups;
///
/// let groups = RowGroups::new(vec![0, 0, 1], 2)?;
/// assert_eq!(groups.sizes(), [2.0, 1.0]);
/// assert!(RowGroups::new(vec![0, 2], 2).is_err());
/// # Ok::<(), polyview_core::DataError>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct RowGroups {
    of_row: Vec<u32>,
    sizes: Vec<f64>,
}

impl RowGroups {
    /// Groups numbered from 0 to `groups` − 1, one a row. A group may have no
    /// rows.
    ///
    /// # Errors
    /// [`DataError::GroupOutOfRange`] for a number at or above `groups`, or
    /// where there is no group at all.
    pub fn new(of_row: Vec<u32>, groups: usize) -> Result<Self, DataError> {
        let mut sizes = vec![0.0; groups];
        for (row, &group) in of_row.iter().enumerate() {
            match sizes.get_mut(group as usize) {
                Some(size) => *size += 1.0,
                None => return Err(DataError::GroupOutOfRange { row, group, groups }),
            }
        }
        if groups == 0 {
            return Err(DataError::GroupOutOfRange {
                row: 0,
                group: 0,
                groups,
            });
        }
        Ok(Self { of_row, sizes })
    }
    /// All rows in one group.
    pub fn one(rows: usize) -> Self {
        Self {
            of_row: vec![0; rows],
            sizes: vec![rows as f64],
        }
    }
    /// Group of each row.
    pub fn of_row(&self) -> &[u32] {
        &self.of_row
    }
    /// Number of rows of each group.
    pub fn sizes(&self) -> &[f64] {
        &self.sizes
    }
    /// Share of the rows that each group has; without rows all have the same.
    pub fn shares(&self) -> Vec<f64> {
        let all: f64 = self.sizes.iter().sum();
        let each = 1.0 / self.sizes.len() as f64;
        let share = |size: &f64| if all > 0.0 { size / all } else { each };
        self.sizes.iter().map(share).collect()
    }
    /// Number of groups, at least 1.
    pub fn count(&self) -> usize {
        self.sizes.len()
    }
    /// Number of rows.
    pub fn rows(&self) -> usize {
        self.of_row.len()
    }
    /// Sums a column of numbers, one a row, within each group.
    pub fn sums(&self, column: &[f64]) -> Vec<f64> {
        let mut out = vec![0.0; self.count()];
        self.add(column, &mut out);
        out
    }
    fn add(&self, column: &[f64], sums: &mut [f64]) {
        if let [sum] = sums {
            *sum += polyview_linalg::sum(column);
        } else {
            for (x, &g) in column.iter().zip(&self.of_row) {
                sums[g as usize] += x;
            }
        }
    }
    /// The rows of each group, ascending.
    pub fn rows_of_groups(&self) -> Vec<Vec<u32>> {
        let mut out = vec![Vec::new(); self.count()];
        for (r, &g) in self.of_row.iter().enumerate() {
            out[g as usize].push(r as u32);
        }
        out
    }
    /// 1 for the rows of one group, 0 for the others.
    pub fn members(&self, group: usize) -> Vec<f64> {
        self.of_row
            .iter()
            .map(|&g| f64::from(u8::from(g as usize == group)))
            .collect()
    }
    /// Writes the groups under `prefix`.
    pub fn save(&self, prefix: &str, state: &mut State) {
        let of_row: Vec<f64> = self.of_row.iter().map(|&g| f64::from(g)).collect();
        state.put_vec(&format!("{prefix}/of_row"), &of_row);
        state.put_vec(&format!("{prefix}/count"), &[self.count() as f64]);
    }
    /// Reads what [`RowGroups::save`] wrote.
    ///
    /// # Errors
    /// [`NumericError::BadState`] when an array is absent or misshapen.
    pub fn load(prefix: &str, state: &StateReader<'_>) -> Result<Self, NumericError> {
        let bad = |name: &str| NumericError::BadState {
            name: format!("{prefix}/{name}"),
        };
        let of_row = state.vec(&format!("{prefix}/of_row"))?;
        let count = state.scalar(&format!("{prefix}/count"))?;
        let whole = |x: f64, most: f64| x >= 0.0 && x < most && x.fract() == 0.0;
        if !whole(count, 1e6) {
            return Err(bad("count"));
        }
        if of_row.iter().any(|&g| !whole(g, count)) {
            return Err(bad("of_row"));
        }
        let of_row = of_row.into_iter().map(|g| g as u32).collect();
        Self::new(of_row, count as usize).map_err(|_| bad("count"))
    }
}

impl From<&Groups> for RowGroups {
    /// The groups of a data set's samples.
    fn from(groups: &Groups) -> Self {
        let most = groups.of_sample.iter().max().map_or(1, |&g| g as usize + 1);
        let mut sizes = vec![0.0; groups.names.len().max(most)];
        for &g in &groups.of_sample {
            sizes[g as usize] += 1.0;
        }
        Self {
            of_row: groups.of_sample.clone(),
            sizes,
        }
    }
}

impl RowMoments {
    /// $\sum\_{r \in g}\langle r\_k^2\rangle$, groups × K, over the explicit
    /// rows; with one group [`RowMoments::column_squares`], implicit rows
    /// included.
    ///
    /// # Panics
    /// If `groups` has fewer rows than the block.
    pub fn group_squares(&self, groups: &RowGroups) -> Mat<f64> {
        let (k, rows) = (self.k(), self.explicit_rows());
        if groups.count() == 1 {
            let squares = self.column_squares(None);
            return Mat::from_fn(1, k, |_, j| squares[j]);
        }
        let mut out = Mat::zeros(groups.count(), k);
        let mut column = vec![0.0; rows];
        for j in 0..k {
            for (x, m) in column.iter_mut().zip(self.mean().col(j).iter()) {
                *x = m * m;
            }
            if let RowCov::Diagonal(v) = self.cov() {
                for (x, v) in column.iter_mut().zip(v.col_as_slice(j)) {
                    *x += v;
                }
            } else if !matches!(self.cov(), RowCov::Zero) {
                for (r, x) in column.iter_mut().enumerate() {
                    *x += self.variance(r, j);
                }
            }
            groups.add(&column, out.col_as_slice_mut(j));
        }
        out
    }
}

/// Expected prior precisions of the entries of a block of rows.
#[derive(Clone, Copy, Debug)]
pub enum PrecisionView<'a> {
    /// The same for all rows: one a column.
    Columns(&'a [f64]),
    /// A product: one a row times one a column.
    Outer {
        /// By row.
        rows: &'a [f64],
        /// By column.
        columns: &'a [f64],
    },
    /// One for each group of rows and each column.
    Groups {
        /// Group of each row.
        of_row: &'a [u32],
        /// Groups × K.
        groups: MatRef<'a, f64>,
    },
    /// One for each entry, rows × K.
    Cells(MatRef<'a, f64>),
}

impl PrecisionView<'_> {
    /// The precision of one entry.
    ///
    /// # Panics
    /// If there is no such entry.
    #[inline]
    pub fn at(&self, row: usize, column: usize) -> f64 {
        match self {
            Self::Columns(c) => c[column],
            Self::Outer { rows, columns } => rows[row] * columns[column],
            Self::Groups { of_row, groups } => groups[(of_row[row] as usize, column)],
            Self::Cells(m) => m[(row, column)],
        }
    }
    /// Whether there is one for each entry of `rows` rows and `k` columns.
    pub fn fits(&self, rows: usize, k: usize) -> bool {
        match self {
            Self::Columns(c) => c.len() == k,
            Self::Outer { rows: r, columns } => r.len() == rows && columns.len() == k,
            Self::Groups { of_row, groups } => {
                of_row.len() == rows
                    && groups.ncols() == k
                    && of_row.iter().all(|&g| (g as usize) < groups.nrows())
            }
            Self::Cells(m) => m.nrows() == rows && m.ncols() == k,
        }
    }
}

//! A plain table of numbers.

use crate::ReportError;

/// A dense table of numbers, row by row. `NaN` marks a cell that is not available.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Grid {
    rows: usize,
    columns: usize,
    values: Vec<f64>,
}

impl Grid {
    /// A table from its values, row by row.
    ///
    /// # Errors
    /// [`ReportError::GridShape`] when there are not `rows * columns` values.
    pub fn new(rows: usize, columns: usize, values: Vec<f64>) -> Result<Self, ReportError> {
        if rows.checked_mul(columns) == Some(values.len()) {
            Ok(Self {
                rows,
                columns,
                values,
            })
        } else {
            Err(ReportError::GridShape {
                rows,
                columns,
                values: values.len(),
            })
        }
    }

    /// A table whose cell (i, j) is `value(i, j)`.
    pub fn from_fn(rows: usize, columns: usize, value: impl Fn(usize, usize) -> f64) -> Self {
        let values = (0..rows).flat_map(|i| (0..columns).map(move |j| (i, j)));
        Self {
            rows,
            columns,
            values: values.map(|(i, j)| value(i, j)).collect(),
        }
    }

    /// Number of rows.
    pub fn rows(&self) -> usize {
        self.rows
    }

    /// Number of columns.
    pub fn columns(&self) -> usize {
        self.columns
    }

    /// One cell; `None` outside the table.
    pub fn get(&self, row: usize, column: usize) -> Option<f64> {
        (row < self.rows && column < self.columns).then(|| self.values[row * self.columns + column])
    }

    /// All values, row by row.
    pub fn values(&self) -> &[f64] {
        &self.values
    }

    /// One row; empty outside the table.
    pub fn row(&self, row: usize) -> &[f64] {
        let start = row.min(self.rows) * self.columns;
        let end = (row.saturating_add(1)).min(self.rows) * self.columns;
        &self.values[start..end]
    }

    /// One column from the top; empty outside the table.
    pub fn column(&self, column: usize) -> Vec<f64> {
        if column >= self.columns {
            return Vec::new();
        }
        (0..self.rows)
            .map(|i| self.values[i * self.columns + column])
            .collect()
    }

    /// One cell that a validated caller knows to exist; `NaN` outside the table.
    pub(crate) fn at(&self, row: usize, column: usize) -> f64 {
        self.get(row, column).unwrap_or(f64::NAN)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_and_columns_are_where_they_should_be() {
        let g = Grid::from_fn(2, 3, |i, j| (10 * i + j) as f64);
        assert_eq!(g.row(1), [10.0, 11.0, 12.0]);
        assert_eq!(g.column(2), [2.0, 12.0]);
        assert_eq!(
            (g.get(1, 2), g.get(2, 0), g.get(0, 3)),
            (Some(12.0), None, None)
        );
        assert!(g.row(2).is_empty() && g.column(3).is_empty());
    }

    #[test]
    fn a_wrong_number_of_values_is_refused() {
        assert!(Grid::new(2, 2, vec![0.0; 3]).is_err());
        assert!(Grid::new(usize::MAX, 2, vec![]).is_err());
        assert!(Grid::new(0, 5, vec![]).is_ok());
    }
}

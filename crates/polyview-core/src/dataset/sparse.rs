//! Values stored sparse: counts and labels most of which are zero.

#[cfg(test)]
mod tests;

use std::sync::{Arc, OnceLock};

use polyview_linalg::{Mat, SparseColumns};

use super::{DenseValues, Mask, Table, View};
use crate::error::DataError;

/// One table whose zeros are not stored: what a file of counts holds.
///
/// A cell without an entry **is** a zero that was observed, not a missing
/// cell.
#[derive(Clone, Debug, PartialEq)]
pub struct SparseTable {
    /// Name of the view.
    pub name: String,
    /// Sample IDs, one a row.
    pub samples: Vec<String>,
    /// Feature names, one a column.
    pub features: Vec<String>,
    /// Values, samples × features.
    pub values: SparseColumns,
}

/// One table, however its values are stored.
#[derive(Clone, Debug, PartialEq)]
pub enum ViewTable {
    /// Every cell is stored.
    Dense(Table),
    /// Cells that are not zero are stored.
    Sparse(SparseTable),
}

impl From<Table> for ViewTable {
    fn from(table: Table) -> Self {
        Self::Dense(table)
    }
}

impl From<SparseTable> for ViewTable {
    fn from(table: SparseTable) -> Self {
        Self::Sparse(table)
    }
}

impl ViewTable {
    /// Name of the view.
    pub fn name(&self) -> &str {
        match self {
            Self::Dense(t) => &t.name,
            Self::Sparse(t) => &t.name,
        }
    }
    /// Sample IDs, one a row.
    pub fn samples(&self) -> &[String] {
        match self {
            Self::Dense(t) => &t.samples,
            Self::Sparse(t) => &t.samples,
        }
    }
    /// Feature names, one a column.
    pub fn features(&self) -> &[String] {
        match self {
            Self::Dense(t) => &t.features,
            Self::Sparse(t) => &t.features,
        }
    }
    /// Class names of a table of classes; none of every other.
    pub fn levels(&self) -> &[String] {
        match self {
            Self::Dense(t) => &t.levels,
            Self::Sparse(_) => &[],
        }
    }
    /// Number of rows and of columns of the values.
    pub fn shape(&self) -> (usize, usize) {
        match self {
            Self::Dense(t) => t.values.shape(),
            Self::Sparse(t) => (t.values.nrows(), t.values.ncols()),
        }
    }
}

impl ViewTable {
    /// Row, column and value of the cells, column after column; of a sparse
    /// table those that are not zero.
    pub fn cells(&self) -> Box<dyn Iterator<Item = (usize, usize, f64)> + '_> {
        match self {
            Self::Dense(t) => Box::new((0..t.values.ncols()).flat_map(|d| {
                let column = t.values.col_as_slice(d).iter().enumerate();
                column.map(move |(n, x)| (n, d, *x))
            })),
            Self::Sparse(t) => Box::new((0..t.values.ncols()).flat_map(|d| {
                let (rows, values) = t.values.column(d);
                let entries = rows.iter().zip(values);
                entries.map(move |(n, x)| (*n as usize, d, *x))
            })),
        }
    }
    /// The table with every cell stored.
    pub fn into_dense(self) -> Table {
        match self {
            Self::Dense(t) => t,
            Self::Sparse(t) => t.to_dense(),
        }
    }
}

impl SparseTable {
    /// The same table with every zero stored.
    pub fn to_dense(&self) -> Table {
        Table {
            name: self.name.clone(),
            samples: self.samples.clone(),
            features: self.features.clone(),
            values: self.values.dense_columns(0..self.values.ncols()),
            levels: Vec::new(),
        }
    }
}

/// Values stored sparse, each column about a level of its own: the value of a
/// cell is its entry (zero where there is none) plus the column's base.
///
/// Centring changes the base alone, so that what was sparse stays sparse.
#[derive(Clone, Debug)]
pub struct SparseValues {
    entries: SparseColumns,
    base: Vec<f64>,
    dense: OnceLock<Arc<Mat<f64>>>,
}

impl PartialEq for SparseValues {
    fn eq(&self, other: &Self) -> bool {
        self.entries == other.entries && self.base == other.base
    }
}

impl SparseValues {
    /// # Panics
    /// If there is not one base a column.
    pub(super) fn new(entries: SparseColumns, base: Vec<f64>) -> Self {
        assert_eq!(entries.ncols(), base.len(), "one base a column");
        Self {
            entries,
            base,
            dense: OnceLock::new(),
        }
    }
    /// The entries, samples × features.
    pub fn entries(&self) -> &SparseColumns {
        &self.entries
    }
    /// The value of the cells of each column that have no entry, in the units
    /// of the values.
    pub fn base(&self) -> &[f64] {
        &self.base
    }
    /// Sums of the values and of their squares over the observed cells of a
    /// column. Nothing cancels: each stored value is squared about the base.
    pub fn sums(&self, column: usize, mask: &Mask) -> (f64, f64) {
        let base = self.base[column];
        let (_, values) = self.entries.column(column);
        let rest = mask.count_feature(column, self.entries.nrows()) - values.len();
        let stored: (f64, f64) = values.iter().fold((0.0, 0.0), |(sum, squares), x| {
            let x = x + base;
            (sum + x, squares + x * x)
        });
        let rest = rest as f64;
        (stored.0 + rest * base, stored.1 + rest * base * base)
    }
    fn write_column(&self, column: usize, mask: &Mask, out: &mut [f64]) {
        self.entries.write_column(column, out);
        let base = self.base[column];
        if base != 0.0 {
            for (n, x) in out.iter_mut().enumerate() {
                if mask.is_observed(n, column) {
                    *x += base;
                }
            }
        }
    }
}

/// The values of a view, however they are stored; zero where missing.
#[derive(Clone, Debug, PartialEq)]
pub enum Values {
    /// Every cell, samples × features.
    Dense(DenseValues),
    /// Entries that are not zero. Where a column has a base, its missing cells
    /// are to be told by the mask.
    Sparse(Arc<SparseValues>),
}

impl From<Mat<f64>> for Values {
    fn from(values: Mat<f64>) -> Self {
        Self::Dense(values.into())
    }
}

impl Values {
    /// Number of samples.
    pub fn nrows(&self) -> usize {
        match self {
            Self::Dense(x) => x.nrows(),
            Self::Sparse(x) => x.entries.nrows(),
        }
    }
    /// Number of features.
    pub fn ncols(&self) -> usize {
        match self {
            Self::Dense(x) => x.ncols(),
            Self::Sparse(x) => x.entries.ncols(),
        }
    }
    /// Number of samples and of features.
    pub fn shape(&self) -> (usize, usize) {
        (self.nrows(), self.ncols())
    }
    /// The value of a cell that was observed.
    ///
    /// # Panics
    /// If there is no such cell.
    pub fn get(&self, sample: usize, feature: usize) -> f64 {
        match self {
            Self::Dense(x) => x.get(sample, feature),
            Self::Sparse(x) => x.entries.get(sample, feature) + x.base[feature],
        }
    }
    /// Writes a column, zero where missing.
    ///
    /// # Panics
    /// If there is no such column, or `out` has not one entry a sample.
    pub fn write_column(&self, feature: usize, mask: &Mask, out: &mut [f64]) {
        match self {
            Self::Dense(x) => out.copy_from_slice(x.col_as_slice(feature)),
            Self::Sparse(x) => x.write_column(feature, mask, out),
        }
    }
    /// Every cell to be changed: values stored sparse become dense.
    pub fn cells_mut(&mut self, mask: &Mask) -> &mut Mat<f64> {
        if matches!(self, Self::Sparse(_)) {
            *self = Self::Dense(self.to_dense(mask).into());
        }
        match *self {
            Self::Dense(ref mut x) => x.make_mut(),
            Self::Sparse(_) => self.cells_mut(mask),
        }
    }
    /// The values, every cell stored: shared where they are and no others with
    /// them, made where not.
    pub fn to_dense(&self, mask: &Mask) -> Arc<Mat<f64>> {
        match self {
            Self::Dense(x) => x.to_matrix(),
            Self::Sparse(x) => Arc::new(x.made_dense(mask)),
        }
    }
}

impl SparseValues {
    fn made_dense(&self, mask: &Mask) -> Mat<f64> {
        let mut out = Mat::zeros(self.entries.nrows(), self.entries.ncols());
        for d in 0..out.ncols() {
            self.write_column(d, mask, out.col_as_slice_mut(d));
        }
        out
    }
    pub(super) fn dense(&self, mask: &Mask) -> &Arc<Mat<f64>> {
        self.dense.get_or_init(|| Arc::new(self.made_dense(mask)))
    }
}

impl View {
    /// A view that stores its non-zero values alone; every cell was observed,
    /// the zeros as well.
    ///
    /// Counts and labels are fitted as they are stored, real numbers centred
    /// and scaled without storing a zero. Likelihoods that keep something for
    /// each cell need [`View::to_dense`] first.
    ///
    /// ```
    /// use polyview_core::View;
    /// use polyview_linalg::{Repeats, SparseColumns};
    ///
    /// let counts = [(0, 0, 3.0), (2, 1, 1.0)];
    /// let values = SparseColumns::from_triplets(3, 2, &counts, Repeats::Refuse)?;
    /// let view = View::from_sparse("rna", vec!["A".into(), "B".into()], values)?;
    /// assert_eq!((view.value(0, 0), view.value(1, 0)), (Some(3.0), Some(0.0)));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// [`DataError::LengthMismatch`] when there are not as many names as
    /// columns.
    pub fn from_sparse(
        name: impl Into<String>,
        features: Vec<String>,
        values: SparseColumns,
    ) -> Result<Self, DataError> {
        let name = name.into();
        if features.len() != values.ncols() {
            return Err(DataError::LengthMismatch {
                view: name,
                what: "feature names",
                expected: values.ncols(),
                found: features.len(),
            });
        }
        let base = vec![0.0; values.ncols()];
        Ok(Self::sparse_unchecked(
            name,
            features,
            SparseValues::new(values, base),
            Mask::Complete,
        ))
    }
    /// A view of sparse values that were taken apart: entries, the base of each
    /// column, mask.
    ///
    /// # Errors
    /// [`DataError::LengthMismatch`] when names or bases are not one a column;
    /// [`DataError::Infinite`] for a base that is not finite,
    /// [`DataError::MissingNotZero`] for an entry in a missing cell.
    pub fn from_sparse_parts(
        name: impl Into<String>,
        features: Vec<String>,
        entries: SparseColumns,
        base: Vec<f64>,
        mask: Mask,
    ) -> Result<Self, DataError> {
        let view = Self::from_sparse(name, features, entries)?;
        let Some(x) = view.sparse() else {
            return Ok(view);
        };
        if base.len() != view.n_features() {
            return Err(DataError::LengthMismatch {
                view: view.name.clone(),
                what: "bases",
                expected: view.n_features(),
                found: base.len(),
            });
        }
        for (feature, b) in base.iter().enumerate() {
            let mut rows = x.entries.column(feature).0.iter().map(|&n| n as usize);
            let stray = rows.find(|&n| !mask.is_observed(n, feature));
            let view = view.name.clone();
            if let Some(sample) = stray {
                return Err(DataError::MissingNotZero {
                    view,
                    sample,
                    feature,
                });
            }
            if !b.is_finite() {
                return Err(DataError::Infinite {
                    view,
                    sample: 0,
                    feature,
                });
            }
        }
        let values = SparseValues::new(x.entries.clone(), base);
        let (name, features) = (view.name.clone(), view.features.clone());
        Ok(Self::sparse_unchecked(name, features, values, mask))
    }
    pub(super) fn sparse_unchecked(
        name: String,
        features: Vec<String>,
        values: SparseValues,
        mask: Mask,
    ) -> Self {
        Self {
            name,
            features,
            values: Values::Sparse(Arc::new(values)),
            mask,
            levels: Vec::new(),
            trials: None,
            ends: None,
            behind: None,
        }
    }
    /// The values as they are stored, where zeros are not.
    pub fn sparse(&self) -> Option<&SparseValues> {
        match &self.values {
            Values::Dense(_) => None,
            Values::Sparse(x) => Some(x),
        }
    }
    /// The values as they are stored.
    pub fn stored(&self) -> &Values {
        &self.values
    }
    /// The same view with every cell stored.
    #[must_use]
    pub fn to_dense(&self) -> Self {
        Self {
            values: Values::Dense(self.values.to_dense(&self.mask).into()),
            ..self.clone()
        }
    }
    /// The values of a feature, zero where missing.
    pub fn column(&self, feature: usize) -> Vec<f64> {
        let mut out = vec![0.0; self.n_samples()];
        self.write_column(feature, &mut out);
        out
    }
    /// Writes the values of a feature, zero where missing.
    ///
    /// # Panics
    /// If there is no such feature, or `out` has not one entry a sample.
    pub fn write_column(&self, feature: usize, out: &mut [f64]) {
        self.values.write_column(feature, &self.mask, out);
    }
    /// Takes the view apart, with its values as they are stored: name, feature
    /// names, values, mask.
    pub fn into_stored(self) -> (String, Vec<String>, Values, Mask) {
        (self.name, self.features, self.values, self.mask)
    }
    /// The columns `source` of the view under other names, in that order;
    /// `None` is a feature that nothing is known of. As they are stored.
    ///
    /// # Errors
    /// [`DataError::LengthMismatch`] when there is not one name a column;
    /// [`DataError::Trials`] as [`View::with_trials`].
    pub fn matched(
        &self,
        name: impl Into<String>,
        features: Vec<String>,
        source: &[Option<usize>],
    ) -> Result<Self, DataError> {
        let name = name.into();
        if features.len() != source.len() {
            return Err(DataError::LengthMismatch {
                view: name,
                what: "feature names",
                expected: source.len(),
                found: features.len(),
            });
        }
        let rows = self.n_samples();
        let Some(x) = self.sparse() else {
            let values = Mat::from_fn(rows, source.len(), |n, d| {
                source[d].and_then(|s| self.value(n, s)).unwrap_or(f64::NAN)
            });
            let matched = Self::from_values(name, features, values)?;
            let matched = match &self.ends {
                None => matched,
                Some(ends) => matched.with_ends(Mat::from_fn(rows, source.len(), |n, d| {
                    source[d].map_or(f64::NAN, |s| ends[(n, s)])
                }))?,
            };
            if self.trials.is_none() {
                return Ok(matched);
            }
            let trials = |n: usize, d: usize| source[d].map_or(f64::NAN, |s| self.trials_of(n, s));
            return matched.with_trials(Mat::from_fn(rows, source.len(), trials));
        };
        let entries = x.entries.select_columns(source.iter().copied());
        let base = |s: &Option<usize>| s.map_or(0.0, |s| x.base[s]);
        let values = SparseValues::new(entries, source.iter().map(base).collect());
        let known = source.iter().all(Option::is_some);
        let mask = match &self.mask {
            mask @ (Mask::Complete | Mask::Rows(_)) if known => mask.clone(),
            mask => Mask::from_fn(rows, source.len(), |n, d| {
                source[d].is_some_and(|s| mask.is_observed(n, s))
            }),
        };
        Ok(Self::sparse_unchecked(name, features, values, mask))
    }
}

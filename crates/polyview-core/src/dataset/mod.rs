//! Data sets: named views whose samples are joined by their IDs.

mod align;
mod behind;
mod blocks;
mod builder;
mod by_name;
mod dense;
mod ends;
mod levels;
mod limited;
mod magnitude;
mod mask;
mod names;
mod normal_scores;
mod numbered;
mod overlap;
mod rounding;
mod scaling;
mod similarities;
mod sparse;
mod subset;
mod trials;

pub use blocks::{BlockSource, SourceError, excerpt};
pub use builder::{DatasetBuilder, Join};
pub use by_name::by_name;
pub use dense::DenseValues;
pub use levels::{ClassPlaces, Relevelled, UnknownClass, whole_number};
pub use mask::Mask;
pub use names::{other_form, plain as plain_name};
pub use normal_scores::NormalScores;
pub use overlap::{Overlap, OverlapRow};
pub use rounding::Rounding;
pub use scaling::{Centring, FeatureScaling, Scaling, ScalingSums};
pub use sparse::{SparseTable, SparseValues, Values, ViewTable};

use std::sync::Arc;

use polyview_linalg::{Mat, MatRef};

use crate::error::DataError;
use crate::journal::Journal;

/// One rectangular table as it came from a file or from memory: samples in
/// rows, features in columns, `NaN` where nothing was observed.
///
/// This is the only place where `NaN` stands for "missing"; a [`View`] keeps
/// a [`Mask`] and zeros instead.
#[derive(Clone, Debug, PartialEq)]
pub struct Table {
    /// Name of the view.
    pub name: String,
    /// Sample IDs, one a row.
    pub samples: Vec<String>,
    /// Feature names, one a column.
    pub features: Vec<String>,
    /// Values, samples × features, column-major; `NaN` = missing.
    pub values: Mat<f64>,
    /// Class names of a categorical view, whose one column holds the index of
    /// each sample's class; empty for every other view.
    pub levels: Vec<String>,
}

/// One view of a [`Dataset`]: a matrix with a row for **every** sample of the
/// data set, zeros where nothing was observed, and the mask that says where.
#[derive(Clone, Debug, PartialEq)]
pub struct View {
    name: String,
    features: Vec<String>,
    values: Values,
    mask: Mask,
    levels: Vec<String>,
    trials: Option<Arc<Mat<f64>>>,
    ends: Option<Arc<Mat<f64>>>,
    behind: Option<Arc<Mat<f64>>>,
}

impl View {
    /// A view from values with `NaN` for missing cells; the rows are taken as
    /// they are (no joining by IDs).
    ///
    /// # Errors
    /// [`DataError::LengthMismatch`] when there are not as many names as
    /// columns, [`DataError::Infinite`] on an infinite value.
    pub fn from_values(
        name: impl Into<String>,
        features: Vec<String>,
        mut values: Mat<f64>,
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
        let mask = Mask::extract(&name, &mut values)?;
        Ok(Self {
            name,
            features,
            values: values.into(),
            mask,
            levels: Vec::new(),
            trials: None,
            ends: None,
            behind: None,
        })
    }

    /// The view's name.
    pub fn name(&self) -> &str {
        &self.name
    }
    /// Feature names, one a column.
    pub fn features(&self) -> &[String] {
        &self.features
    }
    /// Values, samples × features; zero where the mask says missing.
    ///
    /// Of a view stored sparse this makes a matrix with all its zeros, once,
    /// and keeps it: what is to stay small asks [`View::sparse`],
    /// [`View::write_column`] or [`View::value`].
    pub fn values(&self) -> MatRef<'_, f64> {
        match &self.values {
            Values::Dense(x) => x.as_ref(),
            Values::Sparse(x) => x.dense(&self.mask).as_ref().as_ref(),
        }
    }
    /// Which cells were observed.
    pub fn mask(&self) -> &Mask {
        &self.mask
    }
    /// Number of samples (rows) of the whole data set.
    pub fn n_samples(&self) -> usize {
        self.values.nrows()
    }
    /// Number of features (columns).
    pub fn n_features(&self) -> usize {
        self.features.len()
    }
    /// Number of observed cells.
    pub fn n_observed(&self) -> usize {
        self.mask.count(self.n_samples(), self.n_features())
    }
    /// Places of the features without any observed cell.
    pub fn unobserved_features(&self) -> Vec<usize> {
        let seen = |d: usize| self.mask.count_feature(d, self.n_samples());
        (0..self.n_features()).filter(|&d| seen(d) == 0).collect()
    }
    /// Whether a cell was observed.
    pub fn is_observed(&self, sample: usize, feature: usize) -> bool {
        self.mask.is_observed(sample, feature)
    }
    /// The value of a cell, if it was observed.
    pub fn value(&self, sample: usize, feature: usize) -> Option<f64> {
        self.is_observed(sample, feature)
            .then(|| self.values.get(sample, feature))
    }
    /// Takes the view apart: name, feature names, values, mask; class names,
    /// trials and ends are dropped ([`View::levels`], [`View::trials`], [`View::ends`] have them). The values are
    /// shared with the view's clones; whoever changes them gets a copy of
    /// their own then. Values stored sparse come with all their zeros
    /// ([`View::into_stored`] leaves them as they are).
    pub fn into_parts(self) -> (String, Vec<String>, Arc<Mat<f64>>, Mask) {
        let values = self.values.to_dense(&self.mask);
        (self.name, self.features, values, self.mask)
    }
    /// The same view with other values at the same places, for example after
    /// standardisation. Missing cells must be zero. Other ends of cells ([`View::ends`]) move
    /// with the values.
    ///
    /// # Errors
    /// [`DataError::LengthMismatch`] when the shape differs; for a categorical
    /// view as [`View::with_levels`].
    pub fn with_values(&self, values: Mat<f64>) -> Result<Self, DataError> {
        if values.nrows() != self.n_samples() || values.ncols() != self.n_features() {
            return Err(DataError::LengthMismatch {
                view: self.name.clone(),
                what: "cells",
                expected: self.n_samples() * self.n_features(),
                found: values.nrows() * values.ncols(),
            });
        }
        levels::check(&self.name, &self.levels, &values, &self.mask)?;
        Ok(Self {
            ends: self.moved_ends(&values),
            name: self.name.clone(),
            features: self.features.clone(),
            values: values.into(),
            mask: self.mask.clone(),
            levels: self.levels.clone(),
            trials: self.trials.clone(),
            behind: self.behind.clone(),
        })
    }
    /// The same view with further cells hidden: `hide(sample, feature)` is
    /// asked for every observed cell. Used to hold cells out.
    pub fn hiding(&self, mut hide: impl FnMut(usize, usize) -> bool) -> Self {
        if let Some(x) = self.sparse() {
            let (rows, columns) = (self.n_samples(), self.n_features());
            let mask = Mask::from_fn(rows, columns, |n, d| self.is_observed(n, d) && !hide(n, d));
            let entries = x.entries().retain(|n, d| mask.is_observed(n, d));
            return Self {
                values: Values::Sparse(Arc::new(SparseValues::new(entries, x.base().to_vec()))),
                mask,
                ..self.clone()
            };
        }
        let mut values = self.values().to_owned();
        for d in 0..values.ncols() {
            for n in 0..values.nrows() {
                if !self.is_observed(n, d) || hide(n, d) {
                    values[(n, d)] = f64::NAN;
                }
            }
        }
        let mask = Mask::of_finite(&mut values);
        Self {
            values: values.into(),
            mask,
            ..self.clone()
        }
    }
    /// Values with `NaN` in the missing cells, as a [`Table`] would hold them.
    pub fn to_values_with_nan(&self) -> Mat<f64> {
        Mat::from_fn(self.n_samples(), self.n_features(), |n, d| {
            self.value(n, d).unwrap_or(f64::NAN)
        })
    }
    /// Refuses a view without an observed value.
    fn check_any_observed(&self) -> Result<(), DataError> {
        if self.n_observed() > 0 {
            return Ok(());
        }
        Err(DataError::NothingObserved {
            view: self.name.clone(),
        })
    }
    pub(crate) fn new_unchecked(
        name: String,
        features: Vec<String>,
        values: Mat<f64>,
        mask: Mask,
        levels: Vec<String>,
    ) -> Self {
        Self {
            name,
            features,
            values: values.into(),
            mask,
            levels,
            trials: None,
            ends: None,
            behind: None,
        }
    }
}

/// Whether a sample has an observed value in any of the views.
fn is_seen(views: &[View], sample: usize) -> bool {
    let observed = |v: &View| v.mask.count_sample(sample, v.n_features());
    views.iter().any(|v| observed(v) > 0)
}

/// The values of one metadata column.
#[derive(Clone, Debug, PartialEq)]
pub enum MetadataValues {
    /// Categories by name, `None` where absent.
    Categories(Vec<Option<String>>),
    /// Numbers, `NaN` where absent.
    Numbers(Vec<f64>),
}

/// One column of what is known about the samples: kept for reports, for folds that keep samples together and
/// for what is compared with factors. A fit looks at a column where it is asked to, as a covariate or as the sizes of
/// counts; of itself it models none.
#[derive(Clone, Debug, PartialEq)]
pub struct Metadata {
    /// The column's name.
    pub name: String,
    /// A value for each sample, in the order of the data set.
    pub values: MetadataValues,
}

/// Groups of samples (batches, studies, conditions).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Groups {
    /// Names of the groups in order of first appearance.
    pub names: Vec<String>,
    /// Group index of each sample.
    pub of_sample: Vec<u32>,
}

impl Groups {
    /// Name of the group of a new sample of which nobody knows the group: any of those of the
    /// model that it is given to, each as likely.
    pub const ANY: &'static str = "";
}

/// Samples with one or several views, joined by sample ID.
///
/// Built by [`Dataset::builder`].
#[derive(Clone, Debug, PartialEq)]
pub struct Dataset {
    samples: Vec<String>,
    views: Vec<View>,
    groups: Option<Groups>,
    metadata: Vec<Metadata>,
    journal: Journal,
}

impl Dataset {
    /// Starts an empty builder (union of samples).
    pub fn builder() -> DatasetBuilder {
        DatasetBuilder::new()
    }
    /// Sample IDs in the order of the rows.
    pub fn samples(&self) -> &[String] {
        &self.samples
    }
    /// Number of samples.
    pub fn n_samples(&self) -> usize {
        self.samples.len()
    }
    /// All views in the order they were added.
    pub fn views(&self) -> &[View] {
        &self.views
    }
    /// The view of that name.
    pub fn view(&self, name: &str) -> Option<&View> {
        self.views.iter().find(|v| v.name == name)
    }
    /// Sample groups, if given.
    pub fn groups(&self) -> Option<&Groups> {
        self.groups.as_ref()
    }
    /// Metadata columns.
    pub fn metadata(&self) -> &[Metadata] {
        &self.metadata
    }
    /// What was remarkable when the tables were joined: samples that were left
    /// out, IDs that differ in their spelling alone. A fit begins its journal with
    /// it, and projections and predictions repeat it.
    pub fn journal(&self) -> &Journal {
        &self.journal
    }
    /// Which samples have which views.
    pub fn overlap(&self) -> Overlap {
        Overlap::of(self)
    }
    /// Refuses what nothing can be learnt from: samples and views without an
    /// observed value, and values that are too large to be squared.
    ///
    /// # Errors
    /// [`DataError::NothingObserved`], [`DataError::EmptySample`],
    /// [`DataError::TooLarge`].
    pub fn check_observed(&self) -> Result<(), DataError> {
        for view in &self.views {
            view.check_any_observed()?;
            view.check_magnitude(|n| self.samples[n].clone())?;
        }
        self.check_samples()
    }
    /// Refuses samples without an observed value.
    fn check_samples(&self) -> Result<(), DataError> {
        match (0..self.n_samples()).find(|n| !is_seen(&self.views, *n)) {
            Some(n) => Err(DataError::EmptySample {
                sample: self.samples[n].clone(),
            }),
            None => Ok(()),
        }
    }
    /// The data set with one view replaced by another of the same rows.
    ///
    /// # Errors
    /// [`DataError::UnknownView`] when no view has that name,
    /// [`DataError::LengthMismatch`] when the rows differ in number.
    pub fn with_view(&self, view: View) -> Result<Self, DataError> {
        let at = self
            .views
            .iter()
            .position(|v| v.name == view.name)
            .ok_or_else(|| DataError::UnknownView {
                view: view.name.clone(),
            })?;
        if view.n_samples() != self.n_samples() {
            return Err(DataError::LengthMismatch {
                view: view.name,
                what: "samples",
                expected: self.n_samples(),
                found: view.values.nrows(),
            });
        }
        let mut next = self.clone();
        next.views[at] = view;
        Ok(next)
    }
    /// The data set with only some features of one view, the columns `keep` in
    /// that order. Samples, other views, groups and metadata stay.
    ///
    /// # Errors
    /// [`DataError::UnknownView`]; [`DataError::EmptyView`] when no feature is
    /// kept; [`DataError::LengthMismatch`] when there is no such column;
    /// [`DataError::DuplicateFeature`] when a column is named twice;
    /// [`DataError::EmptySample`] when a sample has nothing left.
    pub fn with_features(&self, view: &str, keep: &[usize]) -> Result<Self, DataError> {
        let old = self.view(view).ok_or_else(|| DataError::UnknownView {
            view: view.to_owned(),
        })?;
        if keep.is_empty() {
            return Err(DataError::EmptyView {
                view: view.to_owned(),
            });
        }
        let mut place = vec![None; old.n_features()];
        for (second, &d) in keep.iter().enumerate() {
            if d >= old.n_features() {
                return Err(DataError::LengthMismatch {
                    view: view.to_owned(),
                    what: "features",
                    expected: d + 1,
                    found: old.n_features(),
                });
            }
            if let Some(first) = place[d].replace(second) {
                return Err(DataError::DuplicateFeature {
                    view: view.to_owned(),
                    feature: old.features[d].clone(),
                    first,
                    second,
                });
            }
        }
        let names = keep.iter().map(|&d| old.features[d].clone()).collect();
        let source: Vec<Option<usize>> = keep.iter().copied().map(Some).collect();
        let reduced = old.matched(view, names, &source)?;
        let next = self.with_view(reduced)?;
        next.check_samples()?;
        Ok(next)
    }
    /// Takes the data set apart: samples, views, groups, metadata.
    pub fn into_parts(self) -> (Vec<String>, Vec<View>, Option<Groups>, Vec<Metadata>) {
        (self.samples, self.views, self.groups, self.metadata)
    }
    pub(crate) fn assemble(
        samples: Vec<String>,
        views: Vec<View>,
        groups: Option<Groups>,
        metadata: Vec<Metadata>,
        journal: Journal,
    ) -> Self {
        Self {
            samples,
            views,
            groups,
            metadata,
            journal,
        }
    }
}

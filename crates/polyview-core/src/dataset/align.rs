//! Tables, groups and metadata in the order of a data set's samples.

use std::collections::HashMap;

use polyview_linalg::Mat;

use super::{
    Groups, Mask, Metadata, MetadataValues, SparseTable, SparseValues, Table, View, is_seen,
};
use crate::error::DataError;
use crate::journal::{Event, Journal};

/// Puts a table's rows in the order of the data set. A table that has them in
/// that order already is not copied.
pub(super) fn align(
    table: Table,
    samples: &[String],
    index: &HashMap<&str, usize>,
) -> Result<View, DataError> {
    let Table {
        name,
        samples: own,
        features,
        mut values,
        levels,
    } = table;
    if own != samples {
        let mut to: Vec<Option<usize>> = vec![None; samples.len()];
        for (row, s) in own.iter().enumerate() {
            if let Some(&at) = index.get(s.as_str()) {
                to[at] = Some(row);
            }
        }
        values = Mat::from_fn(samples.len(), features.len(), |n, d| {
            to[n].map_or(f64::NAN, |row| values[(row, d)])
        });
    }
    let mask = Mask::extract(&name, &mut values)?;
    super::levels::check(&name, &levels, &values, &mask)?;
    Ok(View::new_unchecked(name, features, values, mask, levels))
}

/// As [`align`]; samples that the table lacks are missing as a whole.
pub(super) fn align_sparse(
    table: SparseTable,
    samples: &[String],
    index: &HashMap<&str, usize>,
) -> View {
    let SparseTable {
        name,
        samples: own,
        features,
        mut values,
    } = table;
    let mut mask = Mask::Complete;
    if own != samples {
        let mut from: Vec<Option<u32>> = vec![None; samples.len()];
        for (row, s) in own.iter().enumerate() {
            if let Some(&at) = index.get(s.as_str()) {
                from[at] = Some(row as u32);
            }
        }
        values = values.select_rows(&from);
        if from.iter().any(Option::is_none) {
            mask = Mask::Rows(from.iter().map(Option::is_some).collect());
        }
    }
    let base = vec![0.0; features.len()];
    let values = SparseValues::new(values, base);
    View::sparse_unchecked(name, features, values, mask)
}

/// The place of each sample.
pub(super) fn places(samples: &[String]) -> HashMap<&str, usize> {
    let all = samples.iter().enumerate();
    all.map(|(i, s)| (s.as_str(), i)).collect()
}

/// Leaves out the samples that have no observed value in any view, with a note
/// that names them: nothing is to be learnt from them.
pub(super) fn without_empty(
    samples: Vec<String>,
    views: &mut [View],
    journal: &mut Journal,
) -> Vec<String> {
    let keep: Vec<u32> = (0..samples.len())
        .filter(|&n| is_seen(views, n))
        .map(|n| n as u32)
        .collect();
    if keep.len() == samples.len() {
        return samples;
    }
    for view in views {
        *view = view.subset(view.name().to_owned(), &keep);
    }
    let mut kept = Vec::with_capacity(keep.len());
    let mut left_out = Vec::new();
    let mut next = keep.iter().peekable();
    for (n, s) in samples.into_iter().enumerate() {
        if next.next_if(|k| **k as usize == n).is_some() {
            kept.push(s);
        } else {
            left_out.push(format!("'{s}'"));
        }
    }
    let note = format!(
        "{} sample(s) have no observed value in any view and take no part: {}",
        left_out.len(),
        left_out.join(", ")
    );
    journal.note(0, "data", Event::Data { note });
    kept
}

/// The group of each sample, which all have.
pub(super) fn group(pairs: &[(String, String)], samples: &[String]) -> Result<Groups, DataError> {
    let index = places(samples);
    let mut names: Vec<String> = Vec::new();
    let mut of_sample = vec![u32::MAX; samples.len()];
    for (sample, name) in pairs {
        let Some(&n) = index.get(sample.as_str()) else {
            continue;
        };
        let g = names.iter().position(|g| g == name).unwrap_or_else(|| {
            names.push(name.clone());
            names.len() - 1
        });
        of_sample[n] = g as u32;
    }
    match of_sample.iter().position(|&g| g == u32::MAX) {
        Some(n) => Err(DataError::NoGroup {
            sample: samples[n].clone(),
        }),
        None => Ok(Groups { names, of_sample }),
    }
}

impl Metadata {
    /// The column in the order of `samples`, given the IDs of its own values;
    /// samples without a value have none.
    ///
    /// # Errors
    /// [`DataError::LengthMismatch`] when there is not one value an ID.
    pub fn aligned(&self, ids: &[String], samples: &[String]) -> Result<Self, DataError> {
        let length = match &self.values {
            MetadataValues::Categories(v) => v.len(),
            MetadataValues::Numbers(v) => v.len(),
        };
        if length != ids.len() {
            return Err(DataError::LengthMismatch {
                view: self.name.clone(),
                what: "metadata values",
                expected: ids.len(),
                found: length,
            });
        }
        let index = places(ids);
        let place = |s: &String| index.get(s.as_str()).copied();
        let values = match &self.values {
            MetadataValues::Categories(v) => MetadataValues::Categories(
                samples
                    .iter()
                    .map(|s| place(s).and_then(|i| v[i].clone()))
                    .collect(),
            ),
            MetadataValues::Numbers(v) => MetadataValues::Numbers(
                samples
                    .iter()
                    .map(|s| place(s).map_or(f64::NAN, |i| v[i]))
                    .collect(),
            ),
        };
        Ok(Self {
            name: self.name.clone(),
            values,
        })
    }
}

//! Data that are stored sparse, in a model file.
//!
//! Four arrays a view: where each column starts among the entries (and where
//! the last ends), the rows of the entries, the entries, and the base of each
//! column.

use polyview_core::{Mask, SparseValues, View};
use polyview_linalg::SparseColumns;

use super::container::{Container, Tensor, Values};
use super::fault::Fault;
use super::header::ViewHeader;
use crate::error::Error;

const PARTS: [&str; 4] = [
    "sparse-starts",
    "sparse-rows",
    "sparse-values",
    "sparse-base",
];

/// Adds the arrays of a view.
pub(super) fn push_sparse<'a>(tensors: &mut Vec<Tensor<'a>>, view: &str, x: &'a SparseValues) {
    let entries = x.entries();
    let starts: Vec<f64> = entries.starts().iter().map(|&s| s as f64).collect();
    let rows: Vec<f64> = entries.indices().iter().map(|&r| f64::from(r)).collect();
    let parts = [
        starts.into(),
        rows.into(),
        entries.values().into(),
        x.base().into(),
    ];
    for (name, values) in PARTS.iter().zip(parts) {
        tensors.push(Tensor::new(
            format!("{name}/{view}"),
            Values::Vector(values),
        ));
    }
}

/// The data of a view with that mask.
pub(super) fn take_sparse(
    view: &ViewHeader,
    samples: usize,
    mask: Mask,
    file: &mut Container<'_>,
) -> Result<View, Fault> {
    let columns = view.features.len();
    let [starts_at, rows_at, values_at, base_at] = PARTS.map(|p| format!("{p}/{}", view.name));
    let starts = file.take(&starts_at)?.numbers(&starts_at, &[columns + 1])?;
    let whole = |x: &f64| *x >= 0.0 && *x < 1e15 && x.fract() == 0.0;
    if !starts.iter().all(whole) {
        return Err(Fault::values(&starts_at, "holds a value that is no place"));
    }
    let starts: Vec<usize> = starts.into_iter().map(|x| x as usize).collect();
    let count = starts[columns];
    let rows = file.take(&rows_at)?.numbers(&rows_at, &[count])?;
    if !rows.iter().all(|x| whole(x) && *x < samples as f64) {
        return Err(Fault::values(&rows_at, "holds a value that is no row"));
    }
    let rows = rows.into_iter().map(|x| x as u32).collect();
    let values = file.take(&values_at)?.numbers(&values_at, &[count])?;
    if values.contains(&0.0) {
        return Err(Fault::values(&values_at, "holds a zero"));
    }
    let base = file.take(&base_at)?.numbers(&base_at, &[columns])?;
    let entries = SparseColumns::from_csc(samples, columns, starts, rows, values);
    let entries =
        entries.map_err(|_| Fault::values(&rows_at, "does not make a matrix with the entries"))?;
    let (name, features) = (view.name.clone(), view.features.clone());
    let view = View::from_sparse_parts(name, features, entries, base, mask);
    Ok(view.map_err(Error::from)?)
}

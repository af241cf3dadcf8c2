//! What terms of labels and counts have in common.

use std::ops::Range;

use polyview_core::{DataError, Mask, View, column_block};
use polyview_linalg::{Mat, MatMut, MatRef, column_chunks, each_of};

/// Mean and number of the observed data of a feature.
pub(crate) fn mean_of(values: MatRef<'_, f64>, mask: &Mask, column: usize) -> (f64, usize) {
    let (mut sum, mut count) = (0.0, 0);
    for (n, x) in values.col(column).iter().enumerate() {
        if mask.is_observed(n, column) {
            sum += x;
            count += 1;
        }
    }
    (if count > 0 { sum / count as f64 } else { 0.0 }, count)
}

/// Checks every observed datum of a view, by row and column.
pub(crate) fn check_domain(
    view: &View,
    needs: &'static str,
    admits: impl Fn(usize, usize, f64) -> bool,
) -> Result<(), DataError> {
    let mut values = vec![0.0; view.n_samples()];
    for d in 0..view.n_features() {
        view.write_column(d, &mut values);
        for (n, &value) in values.iter().enumerate() {
            if view.is_observed(n, d) && !admits(n, d, value) {
                return Err(DataError::OutOfDomain {
                    view: view.name().to_owned(),
                    feature: view.features()[d].clone(),
                    sample: n,
                    value,
                    needs,
                });
            }
        }
    }
    Ok(())
}

/// Checks that a view has the features of a term.
pub(crate) fn check_features(view: &View, expected: usize) -> Result<(), DataError> {
    if view.n_features() == expected {
        return Ok(());
    }
    Err(DataError::LengthMismatch {
        view: view.name().to_owned(),
        what: "features",
        expected,
        found: view.n_features(),
    })
}

/// Blocks of columns in which cells are visited.
pub(crate) fn blocks(rows: usize, columns: usize) -> impl Iterator<Item = Range<usize>> {
    blocks_of(column_block(rows), columns)
}

/// Blocks of so many columns.
pub(crate) fn blocks_of(width: usize, columns: usize) -> impl Iterator<Item = Range<usize>> {
    (0..columns)
        .step_by(width)
        .map(move |start| start..(start + width).min(columns))
}

/// Replaces moments of predictors by moments of data, cell by cell.
pub(crate) fn predict_cells(
    mut mean: Mat<f64>,
    mut variance: Mat<f64>,
    of: impl Fn(usize, f64, f64) -> (f64, f64) + Sync,
) -> (Mat<f64>, Mat<f64>) {
    let rows = mean.nrows();
    let parts = column_chunks(mean.as_mut(), 1);
    let parts = (parts.into_iter().zip(column_chunks(variance.as_mut(), 1))).collect();
    each_of(
        parts,
        |j, (mut mean, mut variance): (MatMut<'_, f64>, MatMut<'_, f64>)| {
            for i in 0..rows {
                (mean[(i, 0)], variance[(i, 0)]) = of(j, mean[(i, 0)], variance[(i, 0)].max(0.0));
            }
        },
    );
    (mean, variance)
}

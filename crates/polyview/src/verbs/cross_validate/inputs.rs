//! Views as plain predictors see them.

use std::borrow::Borrow;

use polyview_core::{Dataset, Domain, View};
use polyview_linalg::Mat;

use crate::assemble;

/// The columns of a view for a linear model, samples × columns, `NaN` where a cell is missing: numbers and labels as
/// they are, classes one column each, counts as $\ln(1 + x)$, numbers above 0 as $\ln x$, successes as shares of their trials.
pub(crate) fn columns(view: &View, kind: Domain) -> Mat<f64> {
    let samples = view.n_samples();
    if kind.has_classes() {
        let classes = view.classes();
        return Mat::from_fn(samples, view.levels().len(), |n, c| {
            classes[n].map_or(f64::NAN, |own| f64::from(u8::from(own == c)))
        });
    }
    Mat::from_fn(samples, view.n_features(), |n, d| {
        let value = view.value(n, d).unwrap_or(f64::NAN);
        match kind {
            kind if kind.has_trials() => value / view.trials_of(n, d),
            kind if kind.is_count() => value.ln_1p(),
            kind if kind.is_positive() => value.ln(),
            _ => value,
        }
    })
}

/// Between which ends each cell lies, lower and upper, samples × features: the value twice where it is exact, `NaN` where
/// nothing is known.
pub(in crate::verbs) fn limits(view: &View) -> [Mat<f64>; 2] {
    let ends = |n: usize, d: usize| view.interval(n, d).unwrap_or((f64::NAN, f64::NAN));
    let (samples, features) = (view.n_samples(), view.n_features());
    [
        Mat::from_fn(samples, features, |n, d| ends(n, d).0),
        Mat::from_fn(samples, features, |n, d| ends(n, d).1),
    ]
}

/// To which group each of some samples belongs, samples × groups of the whole data, 1 or 0: what a model of groups
/// knows, plain predictors know too. No column where there is one group or none.
pub(super) fn groups(data: &Dataset, samples: &[u32]) -> Mat<f64> {
    let Some(groups) = assemble::several(data.groups()) else {
        return Mat::zeros(samples.len(), 0);
    };
    Mat::from_fn(samples.len(), groups.names.len(), |n, g| {
        f64::from(u8::from(
            groups.of_sample[samples[n] as usize] as usize == g,
        ))
    })
}

/// Matrices of the same rows side by side.
pub(in crate::verbs) fn side_by_side<M: Borrow<Mat<f64>>>(parts: &[M], rows: usize) -> Mat<f64> {
    let parts: Vec<&Mat<f64>> = parts.iter().map(Borrow::borrow).collect();
    let places: Vec<(usize, usize)> = (parts.iter().enumerate())
        .flat_map(|(part, m)| (0..m.ncols()).map(move |d| (part, d)))
        .collect();
    Mat::from_fn(rows, places.len(), |n, d| {
        let (part, d) = places[d];
        parts[part][(n, d)]
    })
}

//! Features of real numbers that do not vary are left out of a fit.

use std::collections::HashMap;

use polyview_core::{Dataset, Event, Journal, View};

use super::training::cells;
use crate::spec::ViewChoices;

/// Names of the features that were left out, by view.
pub(super) type LeftOut = HashMap<String, Vec<String>>;

/// Whether the observed values of a feature, two or more, are all the same.
fn is_constant(view: &View, feature: usize) -> bool {
    let values = cells(view, feature);
    let count: f64 = values.iter().map(|v| v.1).sum();
    count > 1.0 && values.iter().all(|v| v.0 == values[0].0)
}

/// The features of a view that a fit keeps where some are left out ([`leave_out_constants`]), and those; `None` where none is.
pub(crate) fn kept_and_left_out(
    view: &View,
    choices: &ViewChoices,
) -> Option<(Vec<usize>, Vec<usize>)> {
    // the columns of a kernel are those of its map
    if !choices.likelihood.is_real() || choices.shape.is_some() || choices.kernel.is_some() {
        return None;
    }
    let features = 0..view.n_features();
    let (out, keep): (Vec<usize>, Vec<usize>) = features.partition(|&d| is_constant(view, d));
    let varies = |d: &usize| view.mask().count_feature(*d, view.n_samples()) > 1;
    (!out.is_empty() && keep.iter().any(varies)).then_some((keep, out))
}

/// The data without the features of real numbers that do not vary, and the names of
/// these. Such a feature has no
/// noise at all: its weights are known to be zero beyond any doubt, and each of
/// them makes a factor of the view pay for that, so that a few of them take true factors
/// out. A view of nothing else stays as it is, and so does a feature which is all that some
/// sample has, and pixels stay in their image.
pub(super) fn leave_out_constants(
    mut data: Dataset,
    choices: &[ViewChoices],
    journal: &mut Journal,
) -> (Dataset, LeftOut) {
    let mut left_out = LeftOut::new();
    let names: Vec<String> = data.views().iter().map(|v| v.name().to_owned()).collect();
    for (name, choices) in names.into_iter().zip(choices) {
        let Some(view) = data.view(&name) else {
            continue;
        };
        let Some((keep, out)) = kept_and_left_out(view, choices) else {
            continue;
        };
        let note = format!(
            "{} feature(s) do not vary, first '{}': they say nothing of the samples, and are left out \
             of the model and of all that it predicts",
            out.len(),
            view.features()[out[0]]
        );
        let Ok(less) = data.with_features(&name, &keep) else {
            continue;
        };
        journal.note(0, format!("data/{name}"), Event::Data { note });
        let names = out.iter().map(|&d| view.features()[d].clone()).collect();
        left_out.insert(name, names);
        data = less;
    }
    (data, left_out)
}

//! Answers about samples that a model was trained on.

use std::collections::HashMap;
use std::path::Path;

use polyview::Fit;
use polyview_core::{Dataset, View};

use crate::args::DataArgs;
use crate::failure::Outcome;
use crate::inputs::{files, has_ids};

/// How many of the samples of new data were in training with a value of one of these views; by their IDs alone where
/// the model was saved without its data. None where files have no IDs, so that equal names are no equal samples.
fn counted(fit: &Fit, args: &DataArgs, data: &Dataset, views: &[&str]) -> Outcome<usize> {
    for path in files(args) {
        if !has_ids(Path::new(&path))? {
            return Ok(0);
        }
    }
    let places = fit.samples().iter().enumerate();
    let place: HashMap<&str, usize> = places.map(|(n, id)| (id.as_str(), n)).collect();
    let training = fit.data().ok();
    let known = |n: usize| {
        let Some(training) = training else {
            return true;
        };
        let named = fit.views().iter().zip(training);
        let mut own = named.filter(|(info, _)| views.contains(&info.name.as_str()));
        own.any(|(_, view)| view.mask().count_sample(n, view.n_features()) > 0)
    };
    let seen = data.samples().iter();
    let seen = seen.filter_map(|id| place.get(id.as_str()));
    Ok(seen.filter(|n| known(**n)).count())
}

/// What is to be said of predictions of a view, of samples that had it in training.
pub fn of_prediction(
    fit: &Fit,
    args: &DataArgs,
    (data, target): (&Dataset, &str),
) -> Outcome<Option<String>> {
    let count = counted(fit, args, data, &[target])?;
    let all = data.n_samples();
    let with = if fit.data().is_ok() {
        format!(" with values of '{target}'")
    } else {
        String::new()
    };
    Ok((count > 0).then(|| {
        format!(
            "{count} of {all} samples were in training{with} by their IDs: what is said of these is a fit, not a prediction of new \
             samples, whatever it is scored by; 'polyview cross-validate --target {target}' predicts each from fits without it"
        )
    }))
}

/// What is to be said of factors of samples that had the views in training.
pub fn of_projection(fit: &Fit, args: &DataArgs, data: &Dataset) -> Outcome<Option<String>> {
    let given: Vec<&str> = data.views().iter().map(View::name).collect();
    let count = counted(fit, args, data, &given)?;
    let all = data.n_samples();
    Ok((count > 0).then(|| {
        format!(
            "{count} of {all} samples were in training by their IDs, and the weights are fitted to them: their factors do not show how new \
             samples are placed; those that they had in the fit are told by 'polyview export --factors'"
        )
    }))
}

//! Tables of similarities of a fit: symmetric, of its samples and nobody else.

use std::collections::HashMap;

use polyview_core::{Dataset, Event, Journal, View};

use crate::error::Result;
use crate::spec::ViewChoices;

/// Similarities of samples to themselves, by view.
pub(super) type Selves = HashMap<String, Vec<Option<f64>>>;

/// The data with tables of similarities as symmetric ones of the samples
/// ([`View::among`](polyview_core::View::among)), and by view what samples were given to be to
/// themselves.
pub(super) fn among_samples(
    mut data: Dataset,
    choices: &[ViewChoices],
    journal: &mut Journal,
) -> Result<(Dataset, Selves)> {
    let names: Vec<String> = data.views().iter().map(|v| v.name().to_owned()).collect();
    let mut changed = false;
    let mut selves = Selves::new();
    for (name, choices) in names.into_iter().zip(choices) {
        let Some(view) = data
            .view(&name)
            .filter(|_| choices.likelihood.is_similarity())
        else {
            continue;
        };
        let (own, zero) = view.diagonal(data.samples());
        if own > 0 && !zero {
            let note = format!(
                "{own} similarities of samples to themselves are not used: they say nothing of others"
            );
            journal.note(0, format!("data/{name}"), Event::Data { note });
            selves.insert(name.clone(), of_themselves(view, data.samples()));
        }
        let view = view.among(data.samples())?;
        if let Some(least) = least_below_zero(&view, choices) {
            let note = format!(
                "similarities are below zero on average, which products of latent rows with a mean of their own are not: they count from the \
                 least of them on, {least:.4}"
            );
            journal.note(0, format!("data/{name}"), Event::Data { note });
        }
        data = data.with_view(view)?;
        changed = true;
    }
    if changed {
        // cells of a sample with itself do not count
        data.check_observed()?;
    }
    Ok((data, selves))
}

/// What similarities are counted from where they are below zero on average: the least of them. Latent rows whose dimensions have means
/// say a constant of any size that is above zero, and none below (spec/mlfs 4.3).
pub(crate) fn least_below_zero(view: &View, choices: &ViewChoices) -> Option<f64> {
    if !choices.likelihood.is_similarity() {
        return None;
    }
    let (rows, columns) = (view.n_samples(), view.n_features());
    let cells = (0..columns).flat_map(|d| (0..rows).filter_map(move |n| view.value(n, d)));
    let (mut sum, mut least) = (0.0, f64::INFINITY);
    for x in cells {
        sum += x;
        least = least.min(x);
    }
    (sum < 0.0).then_some(least)
}

/// The similarity of each sample, which are the rows of the view, to itself.
fn of_themselves(view: &View, samples: &[String]) -> Vec<Option<f64>> {
    let columns = view.features().iter().enumerate();
    let place: HashMap<&str, usize> = columns.map(|(d, f)| (f.as_str(), d)).collect();
    (samples.iter().enumerate())
        .map(|(n, s)| view.value(n, *place.get(s.as_str())?))
        .collect()
}

//! Tables of similarities of a fit: symmetric, of its samples and nobody else.

use polyview_core::{Dataset, Event, Journal};

use crate::error::Result;
use crate::spec::ViewChoices;

/// The data with tables of similarities as symmetric ones of the samples
/// ([`View::among`](polyview_core::View::among)).
pub(super) fn among_samples(
    mut data: Dataset,
    choices: &[ViewChoices],
    journal: &mut Journal,
) -> Result<Dataset> {
    let names: Vec<String> = data.views().iter().map(|v| v.name().to_owned()).collect();
    let mut changed = false;
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
        }
        data = data.with_view(view.among(data.samples())?)?;
        changed = true;
    }
    if changed {
        // cells of a sample with itself do not count
        data.check_observed()?;
    }
    Ok(data)
}

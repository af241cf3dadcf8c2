//! How many factors data carry, and how many are offered.

use polyview_core::{Dataset, Event, Journal, View};

use crate::compose::Composed;
use crate::fit::kept_and_left_out;
use crate::spec::{Algorithm, EngineKind, ModelSpec, ViewChoices};

/// Most factors that data carry: as many as they have samples, or features and
/// classes of all views together where these are fewer.
pub fn most_factors(data: &Dataset) -> usize {
    most(data.views(), data.n_samples())
}

/// As [`most_factors`] of what a fit with these choices has of the data: without the features that do not vary and are left
/// out, of which mofapy2's algorithm (`is_faithful`) knows none, and with the columns of kernels.
pub(crate) fn most_with_choices(
    data: &Dataset,
    choices: &[ViewChoices],
    is_faithful: bool,
) -> usize {
    let columns = |(view, choices): (&View, &ViewChoices)| {
        if let Some(kernel) = &choices.kernel {
            return (kernel.features.or(kernel.references)).unwrap_or_else(|| view.n_samples());
        }
        let left_out = kept_and_left_out(view, choices).filter(|_| !is_faithful);
        features(std::slice::from_ref(view)) - left_out.map_or(0, |(_, out)| out.len())
    };
    let all: usize = data.views().iter().zip(choices).map(columns).sum();
    data.n_samples().min(all)
}

impl ModelSpec {
    /// Most factors that data carry with these choices: as [`most_factors`], without the features that do not vary and that a
    /// fit leaves out, and with the reference points of kernels for the features of their views.
    pub fn most_factors(&self, data: &Dataset) -> usize {
        let views = data.views().iter();
        let choices: Vec<ViewChoices> = views.map(|v| self.view(v.name())).collect();
        most_with_choices(data, &choices, self.algorithm == Algorithm::Faithful)
    }

    /// The number of factors to offer data of `samples` samples where nobody gave one: these choices' own, or one for
    /// every four samples, up to 40, where that is more (docs/decisions/0087-factors-follow-samples.md). Draws, which take no factor out,
    /// models with labels, which gain nothing from more, models of ranks, and those computed as by another program keep their own.
    pub fn offered_factors(&self, samples: usize) -> usize {
        let drawn = self.engine == EngineKind::Gibbs && !self.run_options().is_polished();
        let mut choices = self
            .views
            .iter()
            .map(|v| &v.choices)
            .chain([&self.defaults]);
        if drawn
            || choices.any(|c| c.likelihood.is_rank() || c.likelihood.is_label())
            || self.algorithm == Algorithm::Faithful
        {
            return self.factors;
        }
        self.factors
            .max((samples / SAMPLES_OF_A_FACTOR).min(MOST_OFFERED))
    }
}

/// Samples for each factor that is offered.
const SAMPLES_OF_A_FACTOR: usize = 4;

/// Most factors that are offered.
const MOST_OFFERED: usize = 40;

fn features(views: &[View]) -> usize {
    let columns = |v: &View| v.n_features().max(v.levels().len());
    views.iter().map(columns).sum()
}

fn most(views: &[View], samples: usize) -> usize {
    samples.min(features(views))
}

/// As many factors as were asked for, or the largest number that views of `samples` samples
/// carry, with a warning in the journal where that is less, unless nobody asked for a number and the data decide it
/// ([`ModelSpec::from_data`]).
pub(crate) fn fit_factors(
    composed: &Composed,
    views: &[View],
    samples: usize,
    journal: &mut Journal,
) -> usize {
    let (factors, most) = (composed.options.factors, most(views, samples));
    if factors <= most || most == 0 {
        return factors;
    }
    let from_data = composed.spec().map_or(&[][..], |spec| &spec.from_data);
    if from_data.iter().any(|place| place == "factors") {
        return most;
    }
    let note = format!(
        "{factors} factors are more than {samples} samples of {} features carry, which is at most {most}: \
         the fit starts with {most}",
        features(views)
    );
    journal.note(0, "factors", Event::Warning { note });
    most
}

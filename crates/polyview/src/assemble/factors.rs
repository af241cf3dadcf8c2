//! How many factors data carry, and how many are offered.

use polyview_core::{Dataset, Event, Journal, View};

use crate::spec::{Algorithm, EngineKind, ModelSpec, ViewChoices};

/// Most factors that data carry: as many as they have samples, or features and
/// classes of all views together where these are fewer.
pub fn most_factors(data: &Dataset) -> usize {
    most(data.views(), data.n_samples())
}

/// As [`most_factors`], where some views are made of the columns of kernels.
pub(crate) fn most_with_kernels(data: &Dataset, choices: &[ViewChoices]) -> usize {
    let columns = |(v, c): (&View, &ViewChoices)| match &c.kernel {
        Some(kernel) => (kernel.features.or(kernel.references)).unwrap_or_else(|| v.n_samples()),
        None => features(std::slice::from_ref(v)),
    };
    let all: usize = data.views().iter().zip(choices).map(columns).sum();
    data.n_samples().min(all)
}

impl ModelSpec {
    /// Most factors that data carry with these choices: as [`most_factors`], with the reference
    /// points of kernels for the features of their views.
    pub fn most_factors(&self, data: &Dataset) -> usize {
        let views = data.views().iter();
        let choices: Vec<ViewChoices> = views.map(|v| self.view(v.name())).collect();
        most_with_kernels(data, &choices)
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
/// carry, with a warning in the journal where that is less.
pub(crate) fn fit_factors(
    factors: usize,
    views: &[View],
    samples: usize,
    journal: &mut Journal,
) -> usize {
    let most = most(views, samples);
    if factors <= most || most == 0 {
        return factors;
    }
    let note = format!(
        "{factors} factors are more than {samples} samples of {} features carry, which is at most {most}: \
         the fit starts with {most}",
        features(views)
    );
    journal.note(0, "factors", Event::Warning { note });
    most
}

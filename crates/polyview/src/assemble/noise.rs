//! The prior of noise precisions where nobody has chosen one.

use polyview_core::{GammaPrior, Groups, NoiseBy, RowGroups, View};

use crate::fit::GroupMeans;
use crate::spec::{EngineKind, ModelSpec};

/// Says next to nothing.
const VAGUE: GammaPrior = GammaPrior::new(1e-6, 1e-6);
/// That of draws, in units of a feature's variance (spec/sites 10): noise has mean .2 and mode
/// .067; less than .01 has the probability 4e-8.
const OF_DRAWS: GammaPrior = GammaPrior::new(2.0, 0.2);

/// The one that was chosen, else a vague one.
pub(crate) fn vague(spec: &ModelSpec) -> GammaPrior {
    spec.noise_prior.unwrap_or(VAGUE)
}

/// Whether a view's noise has the prior that draws have by default.
pub(crate) fn has_prior_of_draws(spec: &ModelSpec, view: &str) -> bool {
    let choices = spec.view(view);
    spec.noise_prior.is_none()
        && spec.engine == EngineKind::Gibbs
        && choices.noise == NoiseBy::Feature
        && choices.likelihood.is_real()
}

/// The prior of a view's noise, `groups` of whose samples there are several.
///
/// With noise by feature the posterior of a draw has the tail of its prior: as
/// $\tau\_d\to\infty$ the likelihood, factors and weights integrated out, tends to a constant, since a
/// factor can explain the feature exactly. A vague prior leaves the precision between nothing and its
/// own rate (spec/sites 10). Optima have no such tail
/// (docs/decisions/0068-draws.md). The unit is the smallest variance of a feature, within
/// groups where these have intercepts of their own, so that the noise of none is held up.
pub(super) fn prior(spec: &ModelSpec, groups: Option<&Groups>, view: &View) -> GammaPrior {
    if !has_prior_of_draws(spec, view.name()) {
        return vague(spec);
    }
    let own = groups.filter(|_| spec.group_intercepts(view.name()));
    let groups = own.map_or_else(|| RowGroups::one(view.n_samples()), RowGroups::from);
    let variances = GroupMeans::new(view, &groups).1;
    let positive = variances.into_iter().filter(|v| *v > 0.0);
    match positive.reduce(f64::min) {
        // data of a tiny unit are bounded as by the vague one
        Some(least) => {
            let rate = (OF_DRAWS.rate * least).max(VAGUE.rate);
            GammaPrior::new(OF_DRAWS.shape, rate)
        }
        // parameters alone, which come with their prior
        None => VAGUE,
    }
}

#[cfg(test)]
mod tests;

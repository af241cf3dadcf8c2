//! Data terms of views.

use polyview_core::{
    GammaPrior, Groups, MissingData, ParameterUncertainty, RowGroups, TermContext, View, ViewTerm,
    Way,
};
use polyview_likelihoods::{GaussianOptions, GroupNoise, Grouped, PseudoData, Weighted};
use polyview_random::StreamKey;

use super::{noise, several};
use crate::error::{ErrorKind, Result};
use crate::faithful;
use crate::spec::{EngineKind, ModelSpec};

/// Random numbers of the pairs of rank views.
const RANK_PAIRS: u32 = 0x7061_6972;

/// Options of a compressed Gaussian view, which no draws are made of.
pub(crate) fn gaussian_options(
    spec: &ModelSpec,
    view: &str,
    missing: MissingData,
    start: f64,
) -> GaussianOptions {
    GaussianOptions {
        noise: spec.view(view).noise,
        prior: noise::vague(spec),
        missing,
        start,
    }
}

/// The data term of one view, as often as it counts in a fit: parameters alone, which new samples are
/// projected and predicted with, are those of one observation.
pub(super) fn term(
    spec: &ModelSpec,
    groups: Option<&Groups>,
    view: View,
    missing: MissingData,
    prediction: ParameterUncertainty,
    start: f64,
) -> Result<Box<dyn ViewTerm>> {
    let (name, fitted) = (view.name().to_owned(), view.n_samples() > 0);
    let term = once(spec, groups, view, missing, prediction, start)?;
    match spec.view(&name).own_weight().filter(|_| fitted) {
        Some(weight) => Ok(Box::new(Weighted::new(&name, term, weight)?)),
        None => Ok(term),
    }
}

/// The data term of one view, in groups of samples where these have something
/// of their own, with a noise precision to start from.
fn once(
    spec: &ModelSpec,
    groups: Option<&Groups>,
    view: View,
    missing: MissingData,
    prediction: ParameterUncertainty,
    start: f64,
) -> Result<Box<dyn ViewTerm>> {
    let name = view.name().to_owned();
    if let Some(kind) = faithful::pseudo_data(spec, &name) {
        return Ok(Box::new(PseudoData::new(view, kind)?));
    }
    // ranks have neither noise nor intercepts that a group could have
    let refused = spec.view(&name).likelihood.refuses(Way::Groups);
    let own = (spec.groups.noise || spec.groups.intercepts) && refused.is_none();
    let prior = noise::prior(spec, several(groups), &view);
    let noise = (prior, start);
    let Some(groups) = several(groups).filter(|_| own) else {
        return plain_term(spec, &name, view, missing, prediction, noise);
    };
    let shared = if spec.groups.noise {
        GroupNoise::Own
    } else {
        GroupNoise::Shared
    };
    let called = |g: usize| format!("{name} ({})", groups.names[g]);
    let groups = RowGroups::from(groups);
    let make = |v: View| plain_term(spec, &name, v, missing, prediction, noise);
    let term = Grouped::new(&view, groups, shared, called, make)?;
    Ok(Box::new(term))
}

/// The data term of samples without groups, with the choices of the view
/// `name`, and of its noise the prior and a precision to start from.
fn plain_term(
    spec: &ModelSpec,
    name: &str,
    view: View,
    missing: MissingData,
    prediction: ParameterUncertainty,
    (noise_prior, start_noise): (GammaPrior, f64),
) -> Result<Box<dyn ViewTerm>> {
    let choices = spec.view(name);
    let components = choices.local.then_some(spec.components());
    let cx = TermContext {
        missing,
        prediction,
        noise: choices.noise,
        noise_prior,
        start_noise,
        components,
        tangents: spec.engine == EngineKind::Vb && components.is_none(),
        key: view_key(spec, name),
    };
    let mut term = choices.likelihood.term(view, &cx)?;
    if components.is_some() && term.as_by_component().is_none() {
        return Err(ErrorKind::Incompatible {
            view: name.to_owned(),
            what: "weights for each component (local)".to_owned(),
            with: format!("the likelihood {}", choices.likelihood),
        }
        .into());
    }
    Ok(term)
}

/// Random numbers of a view, such as the pairs of ranks: the same for every restart and
/// chain, and when a model is read again.
fn view_key(spec: &ModelSpec, name: &str) -> StreamKey {
    // FNV-1a
    let hash = name.bytes().fold(0xcbf2_9ce4_8422_2325_u64, |h, b| {
        (h ^ u64::from(b)).wrapping_mul(0x0100_0000_01b3)
    });
    StreamKey::new(spec.seed ^ hash).block(RANK_PAIRS)
}

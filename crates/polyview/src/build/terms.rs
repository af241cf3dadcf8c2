//! Data terms of views.

use polyview_core::{Groups, RowGroups, View, ViewTerm};
use polyview_likelihoods::{
    BayesianSvm, Bernoulli, Binomial, Categorical, CategoricalOptions, Cells, Gaussian,
    GaussianOptions, GroupNoise, Grouped, LatentBernoulli, LatentBernoulliOptions, MissingData,
    NegativeBinomial, OrdinaryRank, ParameterUncertainty, Poisson, PoissonLogNormal, Probit,
    PseudoData, rank_term,
};
use polyview_random::StreamKey;

use super::several;
use crate::error::Result;
use crate::faithful;
use crate::local;
use crate::spec::{Likelihood, ModelSpec};

/// Random numbers of the pairs of rank views.
const RANK_PAIRS: u32 = 0x7061_6972;

/// Options of a Gaussian view.
pub(crate) fn gaussian_options(
    spec: &ModelSpec,
    view: &str,
    missing: MissingData,
    start: f64,
) -> GaussianOptions {
    GaussianOptions {
        noise: spec.view(view).noise,
        prior: spec.noise_prior,
        missing,
        start,
    }
}

/// The data term of one view, in groups of samples where these have something
/// of their own, with a noise precision to start from.
pub(super) fn term(
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
    let ranked = spec.view(&name).likelihood.is_rank();
    let own = (spec.groups.noise || spec.groups.intercepts) && !ranked;
    let Some(groups) = several(groups).filter(|_| own) else {
        return plain_term(spec, &name, view, missing, prediction, start);
    };
    let noise = if spec.groups.noise {
        GroupNoise::Own
    } else {
        GroupNoise::Shared
    };
    let called = |g: usize| format!("{name} ({})", groups.names[g]);
    let groups = RowGroups::from(groups);
    let make = |v: View| plain_term(spec, &name, v, missing, prediction, start);
    let term = Grouped::new(&view, groups, noise, called, make)?;
    Ok(Box::new(term))
}

/// The data term of samples without groups, with the choices of the view
/// `name` and a noise precision to start from.
fn plain_term(
    spec: &ModelSpec,
    name: &str,
    view: View,
    missing: MissingData,
    prediction: ParameterUncertainty,
    noise: f64,
) -> Result<Box<dyn ViewTerm>> {
    if spec.view(name).local {
        return local::term(spec, name, view, prediction);
    }
    Ok(match spec.view(name).likelihood {
        Likelihood::Gaussian => {
            let term = Gaussian::new(view, gaussian_options(spec, name, missing, noise));
            Box::new(term.with_prediction(prediction))
        }
        Likelihood::Bernoulli => Box::new(Cells::new(view, Bernoulli { prediction })?),
        Likelihood::Svm => Box::new(Cells::new(view, BayesianSvm { prediction })?),
        Likelihood::Probit => Box::new(Cells::new(view, Probit { prediction })?),
        Likelihood::Poisson => {
            let law = Poisson::default().with_prediction(prediction);
            Box::new(Cells::new(view, law)?)
        }
        Likelihood::NegativeBinomial => {
            let law = NegativeBinomial::default().with_prediction(prediction);
            Box::new(Cells::new(view, law)?)
        }
        Likelihood::PoissonLogNormal => {
            let law = PoissonLogNormal::default().with_prediction(prediction);
            Box::new(Cells::new(view, law)?)
        }
        Likelihood::Binomial => Box::new(Cells::new(view, Binomial { prediction })?),
        Likelihood::BernoulliLatent => {
            let options = LatentBernoulliOptions {
                prior: spec.noise_prior,
                missing,
                prediction,
                ..LatentBernoulliOptions::default()
            };
            Box::new(LatentBernoulli::new(view, options)?)
        }
        Likelihood::Rank => {
            let options = spec.view(name).ranks.unwrap_or_default();
            rank_term(&view, options, pair_key(spec, name))?
        }
        Likelihood::OrdinaryRank => {
            let options = spec.view(name).ranks.unwrap_or_default();
            Box::new(OrdinaryRank::new(&view, options.anchors)?)
        }
        Likelihood::Categorical => {
            let options = CategoricalOptions {
                missing,
                prediction,
            };
            Box::new(Categorical::new(&view, options)?)
        }
    })
}

/// Draws the pairs of a rank view: the same for every restart and chain, and
/// when a model is read again.
fn pair_key(spec: &ModelSpec, name: &str) -> StreamKey {
    // FNV-1a
    let hash = name.bytes().fold(0xcbf2_9ce4_8422_2325_u64, |h, b| {
        (h ^ u64::from(b)).wrapping_mul(0x0100_0000_01b3)
    });
    StreamKey::new(spec.seed ^ hash).block(RANK_PAIRS)
}

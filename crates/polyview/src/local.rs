//! Mixture priors of the factors, and what views with classifiers for each of their
//! components may be.

use polyview_core::{RowBlock, RowMoments};
use polyview_priors::MixtureRows;
use polyview_random::StreamKey;

use crate::error::{ErrorKind, Result};
use crate::spec::{Algorithm, FactorPrior, FeatureSelection, ModelSpec, Posterior};

/// Chain of the random numbers that cluster the starting factors.
const START: u32 = 1 << 20;

/// Checks the choices that have to do with components, for a number of samples
/// and views of these names.
///
/// # Errors
/// [`ErrorKind::TooManyComponents`], [`ErrorKind::Incompatible`].
pub(crate) fn validate<'a>(
    spec: &ModelSpec,
    samples: usize,
    views: impl Iterator<Item = &'a str>,
) -> Result<()> {
    let refused = |view: &str, what: &str, with: &str| {
        Err(ErrorKind::Incompatible {
            view: view.to_owned(),
            what: what.to_owned(),
            with: with.to_owned(),
        }
        .into())
    };
    let mixture = spec.factor_prior == FactorPrior::Mixture;
    if mixture {
        let components = spec.mixture.components;
        if components > samples {
            return Err(ErrorKind::TooManyComponents {
                components,
                samples,
            }
            .into());
        }
        let what = "a mixture prior of the factors";
        if spec.algorithm == Algorithm::Faithful {
            return refused("", what, "the algorithm of mofapy2, which has none");
        }
        if spec.posterior == Posterior::Factorised {
            return refused("", what, "a factorised posterior: it needs covariances");
        }
    }
    for view in views {
        let choices = spec.view(view);
        if !choices.local {
            continue;
        }
        let what = "weights for each component (local)";
        if !mixture {
            return refused(view, what, "factors without a mixture prior");
        }
        if !choices.likelihood.can_be_local() {
            let with = format!("the likelihood {}", choices.likelihood);
            return refused(view, what, &with);
        }
        let plain = [FeatureSelection::None, FeatureSelection::Horseshoe];
        if !plain.contains(&choices.selection) {
            return refused(view, what, "selection of features");
        }
        if spec.groups.noise || spec.groups.intercepts {
            return refused(view, what, "parameters by group of samples");
        }
    }
    Ok(())
}

/// The factors' block.
pub(crate) fn factors(spec: &ModelSpec, block: String, start: RowMoments) -> Box<dyn RowBlock> {
    let key = StreamKey::new(spec.seed).chain(START);
    Box::new(MixtureRows::new(block, spec.mixture, start, key))
}

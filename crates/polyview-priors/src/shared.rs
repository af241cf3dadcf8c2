//! What the species of priors share: options of specifications, Gaussian rows.

use polyview_core::{
    GammaPrior, OptionError, Options, Posterior, PriorContext, RowBlock, RowMoments, ScalePrior,
};
use serde::{Deserialize, Serialize};

use crate::{DiagonalRows, FullRows};

/// The option of every prior with precisions.
pub(crate) const WEIGHT_PRIOR: (&str, &str) = (
    "weight-prior",
    "prior of the precisions, a Gamma distribution by shape and rate",
);

/// Options of priors whose only hyper-prior is that of precisions.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub(crate) struct Precisions {
    pub(crate) weight_prior: GammaPrior,
}

impl Default for Precisions {
    fn default() -> Self {
        Self {
            weight_prior: VAGUE,
        }
    }
}

impl Precisions {
    pub(crate) fn check(options: &Options) -> Result<(), OptionError> {
        proper("weight-prior", options.read::<Self>()?.weight_prior)
    }
}

/// Hyper-prior of precisions of which nothing is known.
pub(crate) const VAGUE: GammaPrior = GammaPrior::new(1e-6, 1e-6);

/// Refuses a hyper-prior that is no distribution.
pub(crate) fn proper(option: &str, prior: GammaPrior) -> Result<(), OptionError> {
    if prior.is_proper() {
        return Ok(());
    }
    Err(OptionError::Value {
        option: option.to_owned(),
        value: format!("({}, {})", prior.shape, prior.rate),
        needs: "shape and rate are positive and finite".to_owned(),
    })
}

/// Gaussian rows with the covariances that the context asks for.
pub(crate) fn gaussian_rows<P: ScalePrior>(
    prior: P,
    start: RowMoments,
    cx: &PriorContext<'_>,
) -> Box<dyn RowBlock> {
    match cx.posterior {
        Posterior::Full => Box::new(FullRows::new(cx.block, prior, start)),
        Posterior::Factorised => Box::new(DiagonalRows::new(cx.block, prior, start)),
    }
}

//! Relevances of features, as a species.

use polyview_core::{
    About, DataError, Finding, GammaPrior, OptionError, Options, PriorContext, PriorSpecies,
    RowBlock, RowMoments, RowRole, Setting,
};
use serde::{Deserialize, Serialize};

use super::DoubleArd;
use crate::shared::{VAGUE, WEIGHT_PRIOR, gaussian_rows, proper};

/// What one may choose of it.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
struct Chosen {
    weight_prior: GammaPrior,
    relevance_prior: GammaPrior,
}

impl Default for Chosen {
    fn default() -> Self {
        Self {
            weight_prior: VAGUE,
            relevance_prior: VAGUE,
        }
    }
}

/// [`DoubleArd`] as a species.
#[derive(Clone, Copy, Debug, Default)]
pub struct DoubleArdSpecies;

impl PriorSpecies for DoubleArdSpecies {
    fn name(&self) -> &'static str {
        "relevance"
    }
    fn roles(&self) -> &'static [RowRole] {
        &[RowRole::Weights]
    }
    fn about(&self, _role: RowRole) -> About {
        About {
            line: "a precision for each feature besides: features that matter",
            needs: "weights of features, not of classes",
            label: "sshiba G8, G9",
            options: &[
                WEIGHT_PRIOR,
                (
                    "relevance-prior",
                    "prior of the precisions of features, a Gamma distribution by shape and rate",
                ),
            ],
        }
    }
    fn called(&self, _role: RowRole) -> String {
        "selection of features".to_owned()
    }
    fn defaults(&self) -> Options {
        Options::of(&Chosen::default()).unwrap_or_default()
    }
    fn check(&self, options: &Options) -> Result<(), OptionError> {
        let own: Chosen = options.read()?;
        proper("weight-prior", own.weight_prior)?;
        proper("relevance-prior", own.relevance_prior)
    }
    fn refuses(&self, setting: Setting) -> Option<&'static str> {
        match setting {
            Setting::Classes => Some("a categorical view, which has one feature"),
            Setting::Components => Some("weights for each component (local)"),
            _ => None,
        }
    }
    fn finding(&self) -> Option<Finding> {
        Some(Finding::Relevance)
    }
    fn rows(
        &self,
        options: &Options,
        start: RowMoments,
        cx: &PriorContext<'_>,
    ) -> Result<Box<dyn RowBlock>, DataError> {
        let own: Chosen = options.read()?;
        let (rows, k) = (start.explicit_rows(), start.k());
        let prior = DoubleArd::new(own.weight_prior, own.relevance_prior, rows, k);
        Ok(gaussian_rows(prior, start, cx))
    }
}

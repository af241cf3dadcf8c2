//! Spike and slab, as a species.

use polyview_core::{
    About, DataError, Finding, GammaPrior, OptionError, Options, PriorContext, PriorSpecies,
    RowBlock, RowMoments, RowRole, Setting,
};
use serde::{Deserialize, Serialize};

use super::{SpikeSlab, SpikeSlabOptions, SpikeSlabRows};
use crate::beta::BetaPrior;
use crate::shared::{VAGUE, WEIGHT_PRIOR, proper};

/// What one may choose of it.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
struct Chosen {
    weight_prior: GammaPrior,
    inclusion_prior: BetaPrior,
}

impl Default for Chosen {
    fn default() -> Self {
        Self {
            weight_prior: VAGUE,
            inclusion_prior: BetaPrior::uniform(),
        }
    }
}

/// [`SpikeSlabRows`] as a species.
#[derive(Clone, Copy, Debug, Default)]
pub struct SpikeSlabSpecies;

impl PriorSpecies for SpikeSlabSpecies {
    fn name(&self) -> &'static str {
        "spike-and-slab"
    }
    fn aliases(&self) -> &'static [&'static str] {
        &["spike-slab"]
    }
    fn roles(&self) -> &'static [RowRole] {
        &[RowRole::Weights, RowRole::Factors]
    }
    fn about(&self, role: RowRole) -> About {
        About {
            line: match role {
                RowRole::Weights => "each weight is zero or not",
                RowRole::Factors => "each entry is zero or not, by group of samples",
            },
            needs: "weights of any view, or factors",
            label: "mofa B.3",
            options: &[
                WEIGHT_PRIOR,
                (
                    "inclusion-prior",
                    "prior of the share of entries that are not zero, a Beta distribution by its \
                     shapes a and b",
                ),
            ],
        }
    }
    fn defaults(&self) -> Options {
        Options::of(&Chosen::default()).unwrap_or_default()
    }
    fn check(&self, options: &Options) -> Result<(), OptionError> {
        let own: Chosen = options.read()?;
        proper("weight-prior", own.weight_prior)?;
        if own.inclusion_prior.is_proper() {
            return Ok(());
        }
        let BetaPrior { a, b } = own.inclusion_prior;
        Err(OptionError::Value {
            option: "inclusion-prior".to_owned(),
            value: format!("({a}, {b})"),
            needs: "both shapes are positive and finite".to_owned(),
        })
    }
    fn refuses(&self, setting: Setting) -> Option<&'static str> {
        match setting {
            Setting::Components => Some("weights for each component (local)"),
            _ => None,
        }
    }
    fn finding(&self) -> Option<Finding> {
        Some(Finding::Inclusion)
    }
    fn knows_groups(&self) -> bool {
        true
    }
    fn rows(
        &self,
        options: &Options,
        start: RowMoments,
        cx: &PriorContext<'_>,
    ) -> Result<Box<dyn RowBlock>, DataError> {
        let own: Chosen = options.read()?;
        let options = SpikeSlabOptions {
            precision: Some(own.weight_prior),
            inclusion: own.inclusion_prior,
        };
        let groups = cx.groups(start.explicit_rows());
        let mut prior = SpikeSlab::by_group(options, groups, start.k());
        Ok(Box::new(match cx.mofapy2 {
            None => SpikeSlabRows::new(cx.block, prior, start),
            Some(held) => {
                prior.hold_probabilities(held);
                let rows = SpikeSlabRows::new(cx.block, prior, start);
                rows.with_spike_of_prior().one_by_one()
            }
        }))
    }
}

//! The mixture prior, as a species.

use polyview_core::{
    About, DataError, Finding, OptionError, Options, PriorContext, PriorSpecies, RowBlock,
    RowMoments, RowRole, Setting,
};

use super::{MixtureOptions, MixtureRows};
use crate::shared::proper;

/// [`MixtureRows`] as a species.
#[derive(Clone, Copy, Debug, Default)]
pub struct MixtureSpecies;

impl PriorSpecies for MixtureSpecies {
    fn name(&self) -> &'static str {
        "mixture"
    }
    fn roles(&self) -> &'static [RowRole] {
        &[RowRole::Factors]
    }
    fn about(&self, _role: RowRole) -> About {
        About {
            line: "each sample belongs to one of several components",
            needs: "factors",
            label: "maxmargin-rank 2.5",
            options: &[
                (
                    "components",
                    "number of components, at most that of the samples",
                ),
                (
                    "precision",
                    "prior of the components' precisions, a Gamma distribution by shape and rate",
                ),
                (
                    "concentration",
                    "prior of the concentration, a Gamma distribution by shape and rate",
                ),
            ],
        }
    }
    fn called(&self, _role: RowRole) -> String {
        "a mixture prior of the factors".to_owned()
    }
    fn defaults(&self) -> Options {
        Options::of(&MixtureOptions::default()).unwrap_or_default()
    }
    fn check(&self, options: &Options) -> Result<(), OptionError> {
        let own: MixtureOptions = options.read()?;
        if own.components == 0 {
            return Err(OptionError::Value {
                option: "components".to_owned(),
                value: "0".to_owned(),
                needs: "there is one at least".to_owned(),
            });
        }
        proper("precision", own.precision)?;
        proper("concentration", own.concentration)
    }
    fn refuses(&self, setting: Setting) -> Option<&'static str> {
        match setting {
            Setting::Factorised => Some("a factorised posterior: it needs covariances"),
            Setting::Mofapy2 => Some("the algorithm of mofapy2, which has none"),
            _ => None,
        }
    }
    fn finding(&self) -> Option<Finding> {
        Some(Finding::Components)
    }
    fn rows(
        &self,
        options: &Options,
        start: RowMoments,
        cx: &PriorContext<'_>,
    ) -> Result<Box<dyn RowBlock>, DataError> {
        let own: MixtureOptions = options.read()?;
        Ok(Box::new(MixtureRows::new(cx.block, own, start, cx.key)))
    }
}

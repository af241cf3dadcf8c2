//! Automatic relevance determination, as a species.

use polyview_core::{
    About, DataError, OptionError, Options, PriorContext, PriorSpecies, RowBlock, RowMoments,
    RowRole, Setting,
};

use super::Ard;
use crate::shared::{Precisions, WEIGHT_PRIOR, gaussian_rows};

/// [`Ard`] as a species.
#[derive(Clone, Copy, Debug, Default)]
pub struct ArdSpecies;

impl PriorSpecies for ArdSpecies {
    fn name(&self) -> &'static str {
        "none"
    }
    fn aliases(&self) -> &'static [&'static str] {
        &["ard"]
    }
    fn roles(&self) -> &'static [RowRole] {
        &[RowRole::Weights]
    }
    fn about(&self, _role: RowRole) -> About {
        About {
            line: "one precision for each view and factor (automatic relevance determination)",
            needs: "weights of any view",
            label: "sshiba G2, G4",
            options: &[WEIGHT_PRIOR],
        }
    }
    fn defaults(&self) -> Options {
        Options::of(&Precisions::default()).unwrap_or_default()
    }
    fn check(&self, options: &Options) -> Result<(), OptionError> {
        Precisions::check(options)
    }
    fn refuses(&self, _setting: Setting) -> Option<&'static str> {
        None
    }
    fn rows(
        &self,
        options: &Options,
        start: RowMoments,
        cx: &PriorContext<'_>,
    ) -> Result<Box<dyn RowBlock>, DataError> {
        let own: Precisions = options.read()?;
        Ok(gaussian_rows(
            Ard::new(own.weight_prior, start.k()),
            start,
            cx,
        ))
    }
}

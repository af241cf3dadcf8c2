//! Automatic relevance determination by groups of rows, as a species.

use polyview_core::{
    About, DataError, OptionError, Options, PriorContext, PriorSpecies, RowBlock, RowMoments,
    RowRole, Setting,
};

use super::GroupArd;
use crate::shared::{Precisions, WEIGHT_PRIOR, gaussian_rows};

/// [`GroupArd`] as a species.
#[derive(Clone, Copy, Debug, Default)]
pub struct GroupArdSpecies;

impl PriorSpecies for GroupArdSpecies {
    fn name(&self) -> &'static str {
        "ard"
    }
    fn roles(&self) -> &'static [RowRole] {
        &[RowRole::Factors]
    }
    fn about(&self, _role: RowRole) -> About {
        About {
            line: "a precision for each group of samples and factor",
            needs: "factors",
            label: "mofa B.3",
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
    fn knows_groups(&self) -> bool {
        true
    }
    fn rows(
        &self,
        options: &Options,
        start: RowMoments,
        cx: &PriorContext<'_>,
    ) -> Result<Box<dyn RowBlock>, DataError> {
        let own: Precisions = options.read()?;
        let groups = cx.groups(start.explicit_rows());
        let prior = GroupArd::new(own.weight_prior, groups, start.k());
        Ok(gaussian_rows(prior, start, cx))
    }
}

//! The standard normal prior, as a species.

use polyview_core::{
    About, DataError, Options, PriorContext, PriorSpecies, RowBlock, RowMoments, RowRole, Setting,
};

use super::Fixed;
use crate::shared::gaussian_rows;

/// [`Fixed`] as a species.
#[derive(Clone, Copy, Debug, Default)]
pub struct StandardNormalSpecies;

impl PriorSpecies for StandardNormalSpecies {
    fn name(&self) -> &'static str {
        "standard-normal"
    }
    fn roles(&self) -> &'static [RowRole] {
        &[RowRole::Factors]
    }
    fn about(&self, _role: RowRole) -> About {
        About {
            line: "independent, of unit variance",
            needs: "factors",
            label: "sshiba G1",
            options: &[],
        }
    }
    fn refuses(&self, _setting: Setting) -> Option<&'static str> {
        None
    }
    fn rows(
        &self,
        _options: &Options,
        start: RowMoments,
        cx: &PriorContext<'_>,
    ) -> Result<Box<dyn RowBlock>, DataError> {
        Ok(gaussian_rows(Fixed::standard_normal(start.k()), start, cx))
    }
}

//! Ridge, as species.

use polyview_core::{
    About, DataError, GammaPrior, OptionError, Options, PriorContext, PriorSpecies, RowBlock,
    RowMoments, RowRole, Setting,
};
use serde::{Deserialize, Serialize};

use super::Ridge;
use crate::shared::{WEIGHT_PRIOR, gaussian_rows, proper};

/// What one may choose of it. The prior is no vague one: where labels are told apart without
/// error nothing else keeps weights finite (spec/sites 6).
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
struct Chosen {
    weight_prior: GammaPrior,
}

impl Default for Chosen {
    fn default() -> Self {
        Self {
            weight_prior: GammaPrior::new(1.0, 1.0),
        }
    }
}

/// [`Ridge`] with one precision a view, as a species.
#[derive(Clone, Copy, Debug, Default)]
pub struct RidgeSpecies;

/// [`Ridge`] with one precision a feature, as a species.
#[derive(Clone, Copy, Debug, Default)]
pub struct RidgeByFeatureSpecies;

fn chosen(options: &Options) -> Result<GammaPrior, OptionError> {
    Ok(options.read::<Chosen>()?.weight_prior)
}

impl PriorSpecies for RidgeSpecies {
    fn name(&self) -> &'static str {
        "ridge"
    }
    fn roles(&self) -> &'static [RowRole] {
        &[RowRole::Weights]
    }
    fn about(&self, _role: RowRole) -> About {
        About {
            line: "one precision for all weights of a view, whatever the factor",
            needs: "weights of any view",
            label: "sites 6",
            options: &[WEIGHT_PRIOR],
        }
    }
    fn defaults(&self) -> Options {
        Options::of(&Chosen::default()).unwrap_or_default()
    }
    fn check(&self, options: &Options) -> Result<(), OptionError> {
        proper("weight-prior", chosen(options)?)
    }
    fn refuses(&self, setting: Setting) -> Option<&'static str> {
        refused(setting)
    }
    fn rows(
        &self,
        options: &Options,
        start: RowMoments,
        cx: &PriorContext<'_>,
    ) -> Result<Box<dyn RowBlock>, DataError> {
        Ok(gaussian_rows(
            Ridge::new(chosen(options)?, start.k()),
            start,
            cx,
        ))
    }
}

impl PriorSpecies for RidgeByFeatureSpecies {
    fn name(&self) -> &'static str {
        "ridge-by-feature"
    }
    fn roles(&self) -> &'static [RowRole] {
        &[RowRole::Weights]
    }
    fn about(&self, _role: RowRole) -> About {
        About {
            line: "one precision for each feature or label, whatever the factor",
            needs: "weights of any view",
            label: "sites 6",
            options: &[WEIGHT_PRIOR],
        }
    }
    fn defaults(&self) -> Options {
        RidgeSpecies.defaults()
    }
    fn check(&self, options: &Options) -> Result<(), OptionError> {
        RidgeSpecies.check(options)
    }
    fn refuses(&self, setting: Setting) -> Option<&'static str> {
        refused(setting)
    }
    fn rows(
        &self,
        options: &Options,
        start: RowMoments,
        cx: &PriorContext<'_>,
    ) -> Result<Box<dyn RowBlock>, DataError> {
        let (rows, k) = (start.explicit_rows(), start.k());
        let prior = Ridge::by_feature(chosen(options)?, rows, k);
        Ok(gaussian_rows(prior, start, cx))
    }
}

/// What one may choose of [`RelativeRidgeSpecies`]: a prior of its own, which the vague one of
/// all other weights does not replace.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
struct ChosenOfLabels {
    precision_prior: GammaPrior,
}

impl Default for ChosenOfLabels {
    fn default() -> Self {
        Self {
            precision_prior: GammaPrior::new(1.0, 1.0),
        }
    }
}

/// [`Ridge`] with one precision a feature, relative to the sizes of the factors in other views,
/// as a species.
#[derive(Clone, Copy, Debug, Default)]
pub struct RelativeRidgeSpecies;

impl PriorSpecies for RelativeRidgeSpecies {
    fn name(&self) -> &'static str {
        "relative-ridge"
    }
    fn roles(&self) -> &'static [RowRole] {
        &[RowRole::Weights]
    }
    fn about(&self, _role: RowRole) -> About {
        About {
            line: "one precision for each feature or label, relative to how large a factor is in other views",
            needs: "weights of any view, labels above all, beside views of another prior",
            label: "sites 6",
            options: &[(
                "precision-prior",
                "prior of the precisions, a Gamma distribution by shape and rate",
            )],
        }
    }
    fn defaults(&self) -> Options {
        Options::of(&ChosenOfLabels::default()).unwrap_or_default()
    }
    fn check(&self, options: &Options) -> Result<(), OptionError> {
        let chosen: ChosenOfLabels = options.read()?;
        proper("precision-prior", chosen.precision_prior)
    }
    fn refuses(&self, setting: Setting) -> Option<&'static str> {
        refused(setting)
    }
    fn rows(
        &self,
        options: &Options,
        start: RowMoments,
        cx: &PriorContext<'_>,
    ) -> Result<Box<dyn RowBlock>, DataError> {
        let chosen: ChosenOfLabels = options.read()?;
        let (rows, k) = (start.explicit_rows(), start.k());
        let prior = Ridge::by_feature(chosen.precision_prior, rows, k).following();
        Ok(gaussian_rows(prior, start, cx))
    }
}

fn refused(setting: Setting) -> Option<&'static str> {
    matches!(setting, Setting::Components).then_some("weights for each component (local)")
}

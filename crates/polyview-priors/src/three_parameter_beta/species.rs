//! The horseshoe and its like, as a species.

use polyview_core::{
    About, DataError, Finding, OptionError, Options, PriorContext, PriorSpecies, RowBlock,
    RowMoments, RowRole, RowsOf, Setting,
};
use serde::{Deserialize, Serialize};

use super::{GlobalScale, ThreeParameterBeta, ThreeParameterBetaOptions};
use crate::shared::gaussian_rows;

/// What one may choose of it.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
struct Chosen {
    shrinkage_prior: Shapes,
}

#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Shapes {
    r: f64,
    s: f64,
}

impl Default for Shapes {
    fn default() -> Self {
        let ThreeParameterBetaOptions { r, s, .. } = ThreeParameterBetaOptions::default();
        Self { r, s }
    }
}

/// Factors have global scales of their own, classifiers of labels too; those of components
/// share theirs (spec/maxmargin-rank 2.4-2.6).
fn scope(rows: RowsOf<'_>) -> GlobalScale {
    match rows {
        RowsOf::Weights {
            components: Some(_),
            ..
        } => GlobalScale::All,
        RowsOf::Weights { domain, .. } if domain.is_label() => GlobalScale::Row,
        _ => GlobalScale::Column,
    }
}

/// [`ThreeParameterBeta`] as a species.
#[derive(Clone, Copy, Debug, Default)]
pub struct ThreeParameterBetaSpecies;

impl PriorSpecies for ThreeParameterBetaSpecies {
    fn name(&self) -> &'static str {
        "horseshoe"
    }
    fn roles(&self) -> &'static [RowRole] {
        &[RowRole::Weights]
    }
    fn about(&self, _role: RowRole) -> About {
        About {
            line: "a variance for each weight: small ones vanish, large ones stay",
            needs: "weights of any view",
            label: "maxmargin-rank 2.4",
            options: &[(
                "shrinkage-prior",
                "shapes r and s: the smaller r, the more mass at zero, the smaller s, the heavier \
                 the tails",
            )],
        }
    }
    fn defaults(&self) -> Options {
        Options::of(&Chosen::default()).unwrap_or_default()
    }
    fn check(&self, options: &Options) -> Result<(), OptionError> {
        let Shapes { r, s } = options.read::<Chosen>()?.shrinkage_prior;
        let global = GlobalScale::default();
        if (ThreeParameterBetaOptions { r, s, global }).is_proper() {
            return Ok(());
        }
        Err(OptionError::Value {
            option: "shrinkage-prior".to_owned(),
            value: format!("({r}, {s})"),
            needs: "both shapes are positive and finite".to_owned(),
        })
    }
    fn refuses(&self, setting: Setting) -> Option<&'static str> {
        match setting {
            Setting::Mofapy2 => Some("the algorithm of mofapy2, which has none"),
            _ => None,
        }
    }
    fn finding(&self) -> Option<Finding> {
        Some(Finding::EffectiveRows)
    }
    fn rows(
        &self,
        options: &Options,
        start: RowMoments,
        cx: &PriorContext<'_>,
    ) -> Result<Box<dyn RowBlock>, DataError> {
        let Shapes { r, s } = options.read::<Chosen>()?.shrinkage_prior;
        let global = scope(cx.rows);
        let (rows, k) = (start.explicit_rows(), start.k());
        let idle = match cx.rows {
            RowsOf::Weights { idle, .. } => idle,
            RowsOf::Factors { .. } => &[],
        };
        let options = ThreeParameterBetaOptions { r, s, global };
        let prior = ThreeParameterBeta::new(options, rows, k).without(idle);
        Ok(gaussian_rows(prior, start, cx))
    }
}

//! What may be chosen of the three-parameter beta prior.

use serde::{Deserialize, Serialize};

/// Which entries have a global scale in common.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum GlobalScale {
    /// Those of a column: loadings, where it is automatic relevance
    /// determination of the factors (spec/maxmargin-rank 2.4).
    #[default]
    Column,
    /// Those of a row, each with a hierarchy of its own: coefficients of
    /// classifiers, one task a row (spec/maxmargin-rank 2.4, 2.6).
    Row,
    /// All of them.
    All,
}

/// Shapes and scopes of a [`ThreeParameterBeta`](super::ThreeParameterBeta).
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields, default)]
pub struct ThreeParameterBetaOptions {
    /// Shape of the variances, $r > 0$: the smaller, the more mass at zero.
    pub r: f64,
    /// Shape of their rates, $s > 0$: the smaller, the heavier the tails.
    pub s: f64,
    /// Which entries share a global scale.
    pub global: GlobalScale,
}

impl Default for ThreeParameterBetaOptions {
    /// The horseshoe, $r = s = \tfrac12$, with a global scale a column.
    fn default() -> Self {
        Self::horseshoe(GlobalScale::Column)
    }
}

impl ThreeParameterBetaOptions {
    /// The horseshoe, $r = s = \tfrac12$.
    pub const fn horseshoe(global: GlobalScale) -> Self {
        Self {
            r: 0.5,
            s: 0.5,
            global,
        }
    }
    /// Whether both shapes are positive and finite.
    pub fn is_proper(&self) -> bool {
        self.r > 0.0 && self.s > 0.0 && self.r.is_finite() && self.s.is_finite()
    }
}

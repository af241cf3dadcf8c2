//! How sure predictions take the parameters to be.

use serde::{Deserialize, Serialize};

/// How sure a prediction takes the parameters to be.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ParameterUncertainty {
    /// As sure as the posterior says (spec/sshiba P4, P6, P8).
    #[default]
    Posterior,
    /// Known, as printed in the papers: noise $1/\langle\tau\rangle$ in place of
    /// $\mathrm{E}[1/\tau]$ (P3), probabilities of the predictor's mean (P5,
    /// P7).
    PlugIn,
}

impl ParameterUncertainty {
    /// What a prediction takes the variance of a predictor to be.
    pub(crate) fn of_predictor(self, variance: f64) -> f64 {
        match self {
            Self::Posterior => variance,
            Self::PlugIn => 0.0,
        }
    }
}

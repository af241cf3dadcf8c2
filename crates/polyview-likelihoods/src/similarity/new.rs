//! How factors of new samples are found from their similarities to samples of training.

use serde::{Deserialize, Serialize};

/// How factors of new samples are found.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum NewSamples {
    /// Their latent rows are integrated out, which is exact given those of the samples of
    /// training (spec/mlfs 7).
    #[default]
    Exact,
    /// As printed in the paper: first a latent row from the similarities alone, under the law that
    /// the prior of the factors gives it, then the factors from its mean as if it had been
    /// observed. Factors come out too certain, and with several views somewhat off (spec/mlfs 7, E24).
    TwoStage,
}

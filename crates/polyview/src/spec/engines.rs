//! Engines, and how they go about their work.

use serde::{Deserialize, Serialize};

/// Whether steps are those of exact variational Bayes or of mofapy2.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Algorithm {
    /// Exact coordinate steps: the bound never falls.
    #[default]
    Corrected,
    /// Those of mofapy2, departures from exact variational Bayes included, so
    /// that anyone can check one program against the other (spec/mofa B, C.2).
    /// See [`models::mofapy2`](crate::models::mofapy2).
    Faithful,
}

/// The engine.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum EngineKind {
    /// Variational Bayes.
    #[default]
    Vb,
    /// Gibbs sampling.
    Gibbs,
    /// Stochastic variational Bayes: a batch of the samples at a time, for data
    /// that do not fit in memory ([`Fitting::from_blocks`](crate::Fitting::from_blocks))
    /// or of very many samples.
    Stochastic,
}

/// How complete Gaussian data are swept. All ways give the same iterates.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Path {
    /// Whatever a cost model finds cheapest.
    #[default]
    Auto,
    /// The data themselves, one pass a sweep.
    Streaming,
    /// Sums over samples: a sweep costs O(D²K) whatever N.
    CompressSamples,
    /// Sums over features: a sweep costs O(N²K) whatever D.
    CompressFeatures,
}

/// Choices of the Gibbs sampler.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields, default)]
pub struct GibbsOptions {
    /// Chains, each from its own start.
    pub chains: usize,
    /// Sweeps thrown away at the beginning of each chain.
    pub warm_up: usize,
    /// Sweeps kept after that, in each chain.
    pub sweeps: usize,
    /// Every how many sweeps a draw is stored.
    pub thin: usize,
}

impl Default for GibbsOptions {
    fn default() -> Self {
        Self {
            chains: 2,
            warm_up: 500,
            sweeps: 1000,
            thin: 10,
        }
    }
}

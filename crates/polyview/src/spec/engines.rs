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

/// Where the chains of the Gibbs sampler start.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ChainStart {
    /// Factors as variational Bayes would start them, each chain its own.
    #[default]
    Factors,
    /// The optimum that variational Bayes finds first, with its own choices (restarts,
    /// tolerances, removal of factors): all chains start there.
    Optimum,
}

impl ChainStart {
    fn is_usual(&self) -> bool {
        *self == Self::default()
    }
}

/// Draws that a chain keeps at least, if it is that long, where nobody says how many
/// ([`GibbsOptions::from_optimum`]).
const DRAWS: usize = 100;

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
    /// Where chains start.
    #[serde(skip_serializing_if = "ChainStart::is_usual")]
    pub start: ChainStart,
}

impl GibbsOptions {
    /// Of a single chain that starts at the variational optimum: a third of `sweeps` to leave it,
    /// then these sweeps, of which a hundred draws are kept, or up to twice as many.
    pub fn from_optimum(sweeps: usize) -> Self {
        Self {
            chains: 1,
            warm_up: sweeps / 3,
            sweeps,
            thin: (sweeps / DRAWS).max(1),
            start: ChainStart::Optimum,
        }
    }
}

impl Default for GibbsOptions {
    fn default() -> Self {
        Self {
            chains: 2,
            warm_up: 500,
            sweeps: 1000,
            thin: 10,
            start: ChainStart::default(),
        }
    }
}

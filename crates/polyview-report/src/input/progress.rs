//! How a fit went from sweep to sweep.

use polyview::Convergence;

/// How the fit proceeded.
#[derive(Clone, Debug, PartialEq)]
pub enum Progress {
    /// A variational fit: the bound after each sweep.
    Bound(BoundTrace),
    /// A sampler: chains.
    Chains(ChainTraces),
}

/// The bound after each sweep of a variational fit.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct BoundTrace {
    /// Number of the sweep to which the first value belongs.
    pub first_sweep: usize,
    /// The bound in nats, one value per sweep; `NaN` where it was not computed.
    pub values: Vec<f64>,
    /// What happened on the way.
    pub events: Vec<Event>,
    /// The terms of the last bound by name, in nats; may be empty.
    pub terms: Vec<(String, f64)>,
}

/// Something that happened in a sweep and may show in the bound.
#[derive(Clone, Debug, PartialEq)]
pub struct Event {
    /// Sweep in which it happened.
    pub sweep: usize,
    /// What kind of thing.
    pub kind: EventKind,
}

/// Kinds of events marked in the picture of the bound.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum EventKind {
    /// A factor was removed.
    Pruned,
    /// The factors were rotated.
    Rotated,
    /// Anything else worth a mark.
    Other,
}

/// Chains of a sampler.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ChainTraces {
    /// What is traced and its unit, for instance `log joint density (nats)`.
    pub quantity: String,
    /// The chains.
    pub chains: Vec<Chain>,
    /// Sweeps at the start of every chain that were not used.
    pub warm_up: usize,
    /// Convergence figures.
    pub diagnostics: Vec<Convergence>,
}

/// One chain of a sampler.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Chain {
    /// Name of the chain.
    pub name: String,
    /// Number of the sweep to which the first value belongs.
    pub first_sweep: usize,
    /// One value per kept sweep.
    pub values: Vec<f64>,
}

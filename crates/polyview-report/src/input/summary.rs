//! What was fitted, to what, and how it went.

use super::Grid;

/// The facts at the head of a report.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Summary {
    /// Name of the model, for instance `mofa`.
    pub model: String,
    /// Engine that fitted it, for instance `variational`.
    pub engine: String,
    /// The views in their order.
    pub views: Vec<ViewSummary>,
    /// Samples in the fit (the union over views).
    pub samples: usize,
    /// Factors at the end.
    pub factors_kept: usize,
    /// Factors at the start.
    pub factors_started: usize,
    /// Sweeps done.
    pub sweeps: Option<usize>,
    /// How the run ended, for instance `converged after 212 sweeps`.
    pub outcome: String,
    /// Last value of the bound in nats; for a sampler leave it out.
    pub bound: Option<f64>,
    /// Wall-clock time of the fit in seconds.
    pub seconds: Option<f64>,
    /// Seed of the random streams.
    pub seed: Option<u64>,
    /// Version of the software that fitted the model.
    pub version: String,
    /// Further rows of the summary table: name and value.
    pub extra: Vec<(String, String)>,
    /// Every option of the model as it was used.
    pub options: Vec<OptionValue>,
}

/// One view in the summary table.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ViewSummary {
    /// Name of the view.
    pub name: String,
    /// Samples that have this view.
    pub samples: usize,
    /// Features (columns) of the view.
    pub features: usize,
    /// Likelihood, for instance `gaussian`.
    pub likelihood: String,
    /// Share of cells missing among the samples that have the view, 0 to 1; `NaN` if not known.
    pub missing: f64,
}

/// One option of the specification.
#[derive(Clone, Debug, PartialEq)]
pub struct OptionValue {
    /// Part of the specification it belongs to; may be empty.
    pub section: String,
    /// Name of the option.
    pub name: String,
    /// Its value as text.
    pub value: String,
    /// Who chose the value.
    pub origin: Origin,
}

/// Who chose the value of an option.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Origin {
    /// The user wrote it.
    Chosen,
    /// The preset or the program supplied it.
    Default,
    /// The data decided it.
    Guessed,
}

/// Which cells of which samples were observed.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Coverage {
    /// Names of the views.
    pub views: Vec<String>,
    /// Samples x views: share of the view's features observed in the sample, 0 to 1.
    /// 0 says that the sample does not have the view.
    pub observed: Grid,
}

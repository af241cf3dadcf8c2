//! What happened in a fit.

use polyview_core::{Event, Journal, Ledger};
use polyview_infer::{Moving, Outcome};
use serde::{Deserialize, Serialize};

use super::Diagnostic;

/// What happened in a fit, in words and numbers.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct FitRecord {
    /// How it ended.
    pub outcome: Outcome,
    /// Sweeps of the run that was kept; for Gibbs of each chain.
    pub sweeps: usize,
    /// Final bound in nats; none for Gibbs, whose [`FitRecord::optimum`] may have one.
    pub bound: Option<f64>,
    /// Final bound of each restart, and of the runs that followed from factors of different views that are one
    /// (docs/decisions/0111-factors-of-different-views-are-merged.md).
    pub restart_bounds: Vec<f64>,
    /// Bound (or log joint density) by term and sweep, one ledger a chain.
    pub ledgers: Vec<Ledger>,
    /// What happened.
    pub journal: Journal,
    /// Wall-clock seconds; not part of what two equal fits share.
    pub seconds: f64,
    /// Gibbs: identified quantities with R-hat and effective sizes.
    pub diagnostics: Vec<Diagnostic>,
    /// The variational fit at whose end the chains started, if they did.
    pub optimum: Option<Optimum>,
    /// What moved most in the last sweep of variational Bayes; model files do not keep it.
    pub moving: Option<Moving>,
}

/// The variational fit at whose end chains started.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct Optimum {
    /// How it ended.
    pub outcome: Outcome,
    /// Its sweeps; of several restarts those of the one that was kept.
    pub sweeps: usize,
    /// Its bound, nats.
    pub bound: f64,
    /// Wall-clock seconds it took, of those of the whole fit; not part of what two equal fits share.
    pub seconds: f64,
}

impl FitRecord {
    /// What the model takes for granted because nothing said otherwise.
    pub fn assumptions(&self) -> Vec<String> {
        self.journal
            .entries
            .iter()
            .filter_map(|e| match &e.event {
                Event::Assumed { note } if e.block.is_empty() => Some(note.clone()),
                Event::Assumed { note } => Some(format!("{}: {note}", e.block)),
                _ => None,
            })
            .collect()
    }
}

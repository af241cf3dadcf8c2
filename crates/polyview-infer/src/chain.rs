//! One Markov chain of the Gibbs sampler.

use polyview_core::{
    Context, Journal, Ledger, NumericError, Schedule, State, StateReader, Stateful, Step,
};
use polyview_random::StreamKey;

use crate::engine::{Gibbs, run_steps, step_groups};
use crate::model::Model;

/// A Gibbs chain in progress. Its random streams are keyed by chain, sweep and
/// block: it can be stopped and gone on with, and chains can run side by side,
/// without a bit of difference.
pub struct GibbsChain {
    model: Model,
    key: StreamKey,
    sweep: usize,
    ledger: Ledger,
    journal: Journal,
}

impl GibbsChain {
    /// A chain from a model whose blocks have their starting values. `key`
    /// carries seed and chain number.
    pub fn new(mut model: Model, key: StreamKey) -> Self {
        let sampled = |s: &Step| !matches!(s, Step::Rotate | Step::Prune);
        model.schedule = Schedule {
            sweep: model
                .schedule
                .sweep
                .iter()
                .copied()
                .filter(sampled)
                .collect(),
        };
        Self {
            model,
            key,
            sweep: 0,
            ledger: Ledger::default(),
            journal: Journal::default(),
        }
    }
    /// The model; its blocks hold the current draw.
    pub fn model(&self) -> &Model {
        &self.model
    }
    /// Write access to the model.
    pub fn model_mut(&mut self) -> &mut Model {
        &mut self.model
    }
    /// Sweeps done.
    pub fn sweeps(&self) -> usize {
        self.sweep
    }
    /// Log joint density by term and sweep.
    pub fn ledger(&self) -> &Ledger {
        &self.ledger
    }
    /// What happened.
    pub fn journal(&self) -> &Journal {
        &self.journal
    }
    /// One sweep: every block is drawn once. Returns the log joint density.
    ///
    /// # Errors
    /// [`NumericError`] from the parts.
    pub fn sweep(&mut self) -> Result<f64, NumericError> {
        self.advance()?;
        let terms = self.model.objective();
        let k = self.model.k();
        Ok(self.ledger.push(self.sweep, k, terms))
    }
    /// One sweep without the log joint density.
    ///
    /// # Errors
    /// [`NumericError`] from the parts.
    pub fn advance(&mut self) -> Result<(), NumericError> {
        self.sweep += 1;
        let mut cx = Context {
            key: self.key.sweep(self.sweep as u64),
            sweep: self.sweep,
            journal: &mut self.journal,
        };
        let groups = step_groups(&self.model.schedule);
        run_steps(&Gibbs, &groups, &mut self.model, &mut cx)?;
        Ok(())
    }
    /// Writes what is needed to go on, bit for bit.
    pub fn save(&self, prefix: &str, state: &mut State) -> (usize, Ledger, Journal) {
        self.model.save(prefix, state);
        (self.sweep, self.ledger.clone(), self.journal.clone())
    }
    /// Goes on from what [`GibbsChain::save`] wrote.
    ///
    /// # Errors
    /// [`NumericError::BadState`] when an array is absent or misshapen.
    pub fn resume(
        &mut self,
        prefix: &str,
        record: (usize, Ledger, Journal),
        state: &StateReader<'_>,
    ) -> Result<(), NumericError> {
        self.model.load(prefix, state)?;
        (self.sweep, self.ledger, self.journal) = record;
        Ok(())
    }
}

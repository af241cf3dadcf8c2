//! One Markov chain of the Gibbs sampler.

use polyview_core::{NumericError, Term};
use polyview_random::StreamKey;

use super::{Outcome, Resumable, Run, RunState, Strategy, SweepReport};
use crate::engine::{Gibbs, step_groups};
use crate::follow::is_due_in_chain;
use crate::model::Model;

/// A Gibbs chain; the blocks of its model hold the current draw. Its random streams are
/// keyed by chain, sweep and block: it can be stopped and gone on with, and chains can
/// run side by side, without a bit of difference. It has no end of its own.
pub type GibbsChain = Run<Gibbs>;

impl Run<Gibbs> {
    /// A chain from a model whose blocks have their starting values. `key`
    /// carries seed and chain number.
    pub fn new(model: Model, key: StreamKey) -> Self {
        Self::of(model, Gibbs, key)
    }
    /// One sweep without the log joint density.
    ///
    /// # Errors
    /// [`NumericError`] from the parts.
    pub fn advance(&mut self) -> Result<(), NumericError> {
        self.state.begin();
        self.strategy.draw(&mut self.state)
    }
}

impl Gibbs {
    /// Every block is drawn once.
    fn draw(self, run: &mut RunState) -> Result<(), NumericError> {
        let groups = step_groups(&run.model.schedule);
        run.steps(&self, &groups)?;
        if is_due_in_chain(run.record.sweep) {
            run.model.tell_sizes();
        }
        Ok(())
    }
}

impl Strategy for Gibbs {
    type Error = NumericError;

    fn sweep(&mut self, run: &mut RunState) -> Result<Vec<Term<String>>, NumericError> {
        self.draw(run)?;
        Ok(run.model.objective())
    }
    fn judge(
        &mut self,
        _run: &mut RunState,
        _report: &mut SweepReport,
    ) -> Result<Option<Outcome>, NumericError> {
        Ok(None)
    }
}

impl Resumable for Gibbs {}

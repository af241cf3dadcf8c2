//! One Markov chain of the Gibbs sampler.

use polyview_core::{Context, NumericError, Schedule, Step, Term};
use polyview_random::StreamKey;

use super::{Outcome, Resumable, Run, RunState, Strategy, SweepReport};
use crate::engine::{Gibbs, run_steps, step_groups};
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
    /// Draws what data terms have of their own, local variables, noise and other parameters,
    /// `times` over while factors, weights and intercepts stand as they are: for a chain whose
    /// rows come from elsewhere ([`Model::take_rows`]).
    ///
    /// # Errors
    /// [`NumericError`] from the parts.
    pub fn draw_terms(&mut self, times: u32) -> Result<(), NumericError> {
        let RunState {
            model, key, record, ..
        } = &mut self.state;
        let of_terms = |s: &Step| matches!(s, Step::Local(_) | Step::Noise(_));
        let sweep = model.schedule.sweep.iter().copied().filter(of_terms);
        let groups = step_groups(&Schedule {
            sweep: sweep.collect(),
        });
        for i in 0..u64::from(times) {
            let mut cx = Context {
                // no sweep comes so far
                key: key.sweep(u64::MAX - i),
                sweep: record.sweep,
                journal: &mut record.journal,
            };
            run_steps(&self.strategy, &groups, model, &mut cx)?;
        }
        Ok(())
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

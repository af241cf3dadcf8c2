//! Checkpoints: going on with a fit, bit for bit.

use polyview_core::State;

use super::Fitting;
use crate::error::{Error, ErrorKind, Result};
use crate::file::{Origin, same_origin};

/// Everything needed to go on with a fit, bit for bit.
#[derive(Clone, Debug)]
pub struct Checkpoint {
    /// Numbers.
    pub state: State,
    /// Words and counts, as JSON.
    pub record: serde_json::Value,
    /// What the fit was made from.
    pub(crate) origin: Origin,
}

/// Refuses a limit of sweeps below the number that is done.
pub(super) fn enough_sweeps(option: &'static str, done: usize, limit: usize) -> Result<()> {
    if done <= limit {
        return Ok(());
    }
    Err(ErrorKind::SweepsDone {
        option,
        done,
        limit,
    }
    .into())
}

/// What stochastic variational Bayes says, whose running sums are not kept.
pub(super) fn no_checkpoints() -> Error {
    ErrorKind::NotWithEngine {
        what: "a checkpoint",
        engine: "stochastic",
    }
    .into()
}

impl Fitting {
    /// Everything needed to go on later.
    ///
    /// # Errors
    /// [`ErrorKind::File`] when the record cannot be written as JSON;
    /// [`ErrorKind::NotWithEngine`] for stochastic variational Bayes.
    pub fn checkpoint(&self) -> Result<Checkpoint> {
        let mut state = State::new();
        let record = self.campaign.save(&self.given, &mut state)?;
        Ok(Checkpoint {
            state,
            record,
            origin: self.origin().clone(),
        })
    }

    /// Goes on from a checkpoint. The fit must have been made from the same
    /// data and choices.
    ///
    /// # Errors
    /// [`ErrorKind::OtherFit`] when the checkpoint belongs to other data or choices,
    /// [`ErrorKind::File`] when its parts do not fit together; [`ErrorKind::SweepsDone`] when
    /// more sweeps are done than this fit may have; [`ErrorKind::Numeric`] when
    /// an array does not fit the model; [`ErrorKind::NotWithEngine`] for stochastic
    /// variational Bayes. After an error this fit should not be
    /// gone on with.
    pub fn resume(&mut self, checkpoint: &Checkpoint) -> Result<()> {
        // what there is here says which arrays there have to be
        let mut own = State::new();
        self.campaign.save(&self.given, &mut own)?;
        same_origin(&checkpoint.origin, self.origin())?;
        let there = (&checkpoint.state, &checkpoint.record);
        self.campaign.resume(&mut self.given, &own, there)
    }
}

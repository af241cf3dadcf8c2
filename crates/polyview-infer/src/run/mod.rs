//! A run: sweeps by any strategy, what is remembered of them, and how they go on
//! later (docs/decisions/0051-one-driver.md).

mod centre;
mod gibbs;
mod momentum;
mod noise_first;
mod state;
mod vb;

use std::fmt;

use polyview_core::{Event, Journal, Ledger, NumericError, State, StateReader, Stateful, Term};
use polyview_random::StreamKey;
use serde::{Deserialize, Serialize};

pub use gibbs::GibbsChain;
pub use state::RunState;
pub(crate) use vb::FALL;
pub use vb::{Audit, Rotate, VbOptions, VbRun};

use crate::model::Model;

/// How a run ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum Outcome {
    /// Neither the bound nor factors and weights move any more.
    Converged,
    /// The limit of sweeps was reached.
    MaxSweeps,
    /// Somebody stopped it.
    Interrupted,
}

impl Outcome {
    /// Of a run that rests or is at its limit; none of one that goes on.
    pub(crate) fn of(rests: bool, limit: bool) -> Option<Self> {
        match (rests, limit) {
            (true, _) => Some(Self::Converged),
            (false, true) => Some(Self::MaxSweeps),
            (false, false) => None,
        }
    }
}

impl fmt::Display for Outcome {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Converged => "converged",
            Self::MaxSweeps => "stopped at the limit of sweeps before it converged",
            Self::Interrupted => "interrupted",
        })
    }
}

/// What one sweep did.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SweepReport {
    /// The sweep, from 1.
    pub sweep: usize,
    /// Bound after it, or log joint density of draws, nats.
    pub bound: f64,
    /// Relative change of the bound.
    pub change: f64,
    /// Largest relative movement of a factor or its weights; not a number where
    /// nobody asks (draws always move).
    pub movement: f64,
    /// Factors left.
    pub factors: usize,
    /// Set when the run is over.
    pub outcome: Option<Outcome>,
}

impl SweepReport {
    /// An error unless the bound is finite.
    ///
    /// # Errors
    /// [`NumericError::NotFinite`].
    pub fn finite(&self) -> Result<(), NumericError> {
        if self.bound.is_finite() {
            return Ok(());
        }
        Err(NumericError::NotFinite {
            block: "model".into(),
            what: "the bound",
        })
    }
}

/// Most sweeps from one rotation to the next.
const LONGEST_WAIT: usize = 16;

/// What a run remembers besides the model, in words and numbers.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct RunRecord {
    /// Sweeps done.
    pub sweep: usize,
    /// Quiet sweeps in a row.
    pub quiet: usize,
    /// How often a run at rest went on because sizes of factors had moved that priors follow.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub followed: usize,
    /// Sweep of the next rotation and the present interval.
    pub next_rotation: usize,
    /// Sweeps between rotations now.
    pub rotation_interval: usize,
    /// Sweep of the next step of the factors' means to the intercepts ([`RunState::centre`]).
    #[serde(default, skip_serializing_if = "is_zero")]
    pub next_centring: usize,
    /// Sweeps between these steps now.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub centring_interval: usize,
    /// How far a sweep begins beyond where the one before ended, in steps of the two last
    /// ends ([`VbOptions::momentum`]).
    #[serde(default, skip_serializing_if = "is_none")]
    pub momentum: f64,
    /// Sweep up to which none keeps its tangents ([`polyview_core::Tangents::hold`]).
    #[serde(default, skip_serializing_if = "is_zero")]
    pub next_held: usize,
    /// Sweeps that were watched after the last one that kept its tangents and was taken back.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub held_interval: usize,
    /// What moved most in the last sweep; none where nobody asked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub moving: Option<Moving>,
    /// Bound, or log joint density of draws, by term and sweep.
    pub ledger: Ledger,
    /// What happened.
    pub journal: Journal,
}

/// A factor that moved, or its weights.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub struct Moving {
    /// The view of the weights; none where it is the factor's own values.
    pub view: Option<String>,
    /// The factor, from 1.
    pub factor: usize,
    /// Length of its step, relative to the longest column there.
    pub share: f64,
}

fn is_none(momentum: &f64) -> bool {
    *momentum == 0.0
}

fn is_zero(count: &usize) -> bool {
    *count == 0
}

impl RunRecord {
    /// Whether a run can have left it: as many rows in the ledger as sweeps, each with a
    /// value of every term.
    pub fn is_whole(&self) -> bool {
        let ledger = &self.ledger;
        self.quiet <= self.sweep
            && self.rotation_interval <= LONGEST_WAIT
            && self.centring_interval <= LONGEST_WAIT
            && (0.0..1.0).contains(&self.momentum)
            && ledger.rows.len() == self.sweep
            && (ledger.rows.iter()).all(|r| r.values.len() == ledger.names.len())
    }
}

/// How the sweeps of a [`Run`] are carried out, and when they end.
///
/// What strategies have in common they ask of the [`RunState`]: steps of the schedule,
/// rotation, removal of factors, what moved, what is at rest. What only one of them has
/// (running sums) it keeps to itself, and brings along when it rotates or removes.
pub trait Strategy {
    /// What can go wrong.
    type Error: From<NumericError>;
    /// Carries out the sweep of this number ([`RunRecord::sweep`]); the objective after
    /// it, by term.
    ///
    /// # Errors
    /// From the parts of the model.
    fn sweep(&mut self, run: &mut RunState) -> Result<Vec<Term<String>>, Self::Error>;
    /// What follows from the objective, which is in the ledger by now: fills in how far
    /// the parts moved, and says whether the run is over.
    ///
    /// # Errors
    /// From the parts of the model.
    fn judge(
        &mut self,
        run: &mut RunState,
        report: &mut SweepReport,
    ) -> Result<Option<Outcome>, Self::Error>;
}

/// A [`Strategy`] without numbers of its own: what [`Run::save`] writes is all that
/// it takes to go on, bit for bit.
pub trait Resumable: Strategy {}

/// A run in progress.
pub struct Run<S> {
    pub(crate) state: RunState,
    pub(crate) strategy: S,
}

impl<S: Strategy> Run<S> {
    /// A run from a model whose blocks have their starting values. `key` carries seed
    /// and number of the chain or restart.
    pub fn of(model: Model, strategy: S, key: StreamKey) -> Self {
        Self {
            state: RunState::new(model, key),
            strategy,
        }
    }
    /// The model as it stands.
    pub fn model(&self) -> &Model {
        &self.state.model
    }
    /// Write access to the model.
    pub fn model_mut(&mut self) -> &mut Model {
        &mut self.state.model
    }
    /// Sweeps, objective and journal so far.
    pub fn record(&self) -> &RunRecord {
        &self.state.record
    }
    /// Takes the run apart.
    pub fn into_parts(self) -> (Model, RunRecord) {
        (self.state.model, self.state.record)
    }

    /// One sweep.
    ///
    /// # Errors
    /// From the strategy; of variational Bayes [`NumericError::BoundFell`] under
    /// [`Audit::Blocks`].
    pub fn sweep(&mut self) -> Result<SweepReport, S::Error> {
        let Self { state, strategy } = self;
        state.begin();
        let before = state.record.ledger.last();
        let terms = strategy.sweep(state)?;
        let sweep = state.record.sweep;
        let bound = state.record.ledger.push(sweep, state.model.k(), terms);
        let mut report = SweepReport {
            sweep,
            bound,
            change: before.map_or(f64::INFINITY, |b| (bound - b) / bound.abs().max(1.0)),
            movement: f64::NAN,
            factors: 0,
            outcome: None,
        };
        report.outcome = strategy.judge(state, &mut report)?;
        report.factors = state.model.k();
        if let Some(o) = report.outcome {
            let outcome = o.to_string();
            let journal = &mut state.record.journal;
            journal.note(sweep, "", Event::Ended { outcome });
        }
        Ok(report)
    }
}

impl<S: Resumable> Run<S> {
    /// Writes everything needed to go on, bit for bit; the words go into the
    /// returned record.
    pub fn save(&self, prefix: &str, state: &mut State) -> RunRecord {
        self.state.model.save(prefix, state);
        self.state.save_previous(prefix, state);
        self.state.record.clone()
    }
    /// As [`Run::save`], at the end of the run's life: nothing large is there
    /// twice.
    pub fn give_up(self, state: &mut State) -> RunRecord {
        self.state.save_previous("", state);
        drop(self.state.momentum);
        let Model { factors, views, .. } = self.state.model;
        for view in views {
            view.give_up("", state);
        }
        factors.give_up("factors", state);
        self.state.record
    }
    /// Goes on from what [`Run::save`] wrote. The run must have been made from the
    /// same data and choices.
    ///
    /// # Errors
    /// [`NumericError::BadState`] when an array is absent or misshapen.
    pub fn resume(
        &mut self,
        prefix: &str,
        record: RunRecord,
        state: &StateReader<'_>,
    ) -> Result<(), NumericError> {
        self.state.model.load(prefix, state)?;
        self.state.load_previous(prefix, state)?;
        self.state.record = record;
        Ok(())
    }
}

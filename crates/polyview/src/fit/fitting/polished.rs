//! Chains that start at the optimum of variational Bayes (docs/decisions/0068-draws.md).

use std::time::Instant;

use polyview_core::{Event, Journal, State};
use polyview_infer::GibbsChain;
use polyview_linalg::Mat;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::chains::Chains;
use super::finish::outcome;
use super::restarts::Restarts;
use super::{Campaign, Ended, Given, Progress, begun};
use crate::drawn::can_be_drawn_of;
use crate::error::Result;
use crate::file::{read_record, record_fits, write_record};
use crate::fit::Optimum;
use crate::fit::draws::no_draws;

/// Variational Bayes, then chains.
pub(super) struct Polished {
    /// The same data, whose model is fitted by variational Bayes.
    before: Given,
    stage: Stage,
    started: Instant,
}

enum Stage {
    Climbing(Box<Restarts>),
    Drawing(Chains, Optimum),
    /// An error came in between.
    Lost,
}

#[derive(Serialize, Deserialize)]
struct Record {
    /// Once the optimum is found: how it was.
    optimum: Option<Optimum>,
    /// Factors that were left there.
    factors: usize,
    /// Of the runs under way.
    runs: Value,
}

impl Polished {
    /// The first run, and its start.
    pub(super) fn new(given: &Given) -> Result<(Self, Mat<f64>)> {
        // what chains refuse is refused before anything is fitted
        can_be_drawn_of(&given.composed, given.groups.as_ref(), &given.infos)?;
        let mut before = Given {
            composed: given.composed.by_variational_bayes(),
            samples: given.samples.clone(),
            infos: given.infos.clone(),
            views: given.views.clone(),
            groups: given.groups.clone(),
            journal: Journal::default(),
        };
        let start = before.start(0)?;
        let restarts = Restarts::new(&mut before, &start)?;
        let out = Self {
            before,
            stage: Stage::Climbing(Box::new(restarts)),
            started: Instant::now(),
        };
        Ok((out, start))
    }
    /// The optimum is found: chains start there.
    fn start_chains(&mut self, given: &mut Given) -> Result<()> {
        let Stage::Climbing(restarts) = std::mem::replace(&mut self.stage, Stage::Lost) else {
            return Ok(());
        };
        let (model, record) = restarts.into_optimum(&self.before)?;
        let optimum = Optimum {
            outcome: outcome(&record.journal),
            sweeps: record.sweep,
            bound: record.ledger.last().unwrap_or(f64::NAN),
            seconds: self.started.elapsed().as_secs_f64(),
        };
        let journal = &mut given.journal.entries;
        journal.append(&mut self.before.journal.entries);
        journal.extend(record.journal.entries);
        let note = format!(
            "chains start at the optimum of variational Bayes ({}, {} sweeps, bound {:.1})",
            optimum.outcome, optimum.sweeps, optimum.bound
        );
        given.journal.note(0, "chains", Event::Note { note });
        self.stage = Stage::Drawing(Chains::at(given, &model)?, optimum);
        Ok(())
    }
}

impl Campaign for Polished {
    fn step(&mut self, given: &mut Given) -> Result<Progress> {
        match &mut self.stage {
            Stage::Climbing(restarts) => {
                let mut progress = restarts.step(&mut self.before)?;
                if progress.done {
                    self.start_chains(given)?;
                    progress.done = false;
                }
                Ok(progress)
            }
            Stage::Drawing(chains, _) => chains.step(given),
            Stage::Lost => Err(no_draws(0)),
        }
    }

    fn finish(self: Box<Self>, given: &mut Given) -> Result<Ended> {
        match self.stage {
            Stage::Drawing(chains, optimum) => {
                let mut ended = Box::new(chains).finish(given)?;
                ended.record.optimum = Some(optimum);
                Ok(ended)
            }
            Stage::Climbing(_) | Stage::Lost => Err(no_draws(0)),
        }
    }

    fn save(&self, given: &Given, state: &mut State) -> Result<Value> {
        let (optimum, factors, runs) = match &self.stage {
            Stage::Climbing(restarts) => (None, 0, restarts.save(&self.before, state)?),
            Stage::Drawing(chains, optimum) => {
                let factors = chains.k();
                (Some(optimum.clone()), factors, chains.save(given, state)?)
            }
            Stage::Lost => return Err(no_draws(0)),
        };
        write_record(&Record {
            optimum,
            factors,
            runs,
        })
    }

    fn resume(
        &mut self,
        given: &mut Given,
        own: &State,
        (state, record): (&State, &Value),
    ) -> Result<()> {
        let r: Record = read_record(record)?;
        let there = (state, &r.runs);
        match (&mut self.stage, r.optimum) {
            (Stage::Climbing(restarts), None) => restarts.resume(&mut self.before, own, there),
            (_, Some(optimum)) => {
                let most = given.composed.options.factors;
                record_fits("factors", (1..=most).contains(&r.factors))?;
                let zeros = Mat::zeros(given.samples.len(), r.factors);
                let mut chains = Chains::of(given, |_| Ok(zeros.clone()))?;
                let mut own = State::new();
                chains.save(given, &mut own)?;
                chains.resume(given, &own, there)?;
                self.stage = Stage::Drawing(chains, optimum);
                Ok(())
            }
            _ => record_fits("sweeps before the chains", false),
        }
    }

    fn start_from(&mut self, _given: &Given, factors: &Mat<f64>) -> Result<()> {
        match &mut self.stage {
            Stage::Climbing(restarts) => restarts.start_from(&self.before, factors),
            _ => Err(begun()),
        }
    }
    fn shake(&mut self, number: usize) -> bool {
        match &mut self.stage {
            Stage::Climbing(restarts) => restarts.shake(number),
            _ => false,
        }
    }
    fn bound(&mut self) -> Option<f64> {
        match &mut self.stage {
            Stage::Climbing(restarts) => restarts.bound(),
            _ => None,
        }
    }
    fn chains(&self) -> &[GibbsChain] {
        match &self.stage {
            Stage::Drawing(chains, _) => chains.chains(),
            _ => &[],
        }
    }
}

//! Checkpoints: going on with a fit, bit for bit.

use polyview_core::{Journal, Ledger, State};
use polyview_infer::{RunRecord, VbRun};
use polyview_random::StreamKey;
use serde::{Deserialize, Serialize};

use super::{Best, Fitting, Stage};
use crate::error::{ErrorKind, Result};
use crate::file::{Extents, Origin, is_table, read_record, record_fits, same_origin, write_record};
use crate::fit::draws::ChainDraws;
use crate::fit::start::start;
use crate::fit::states::{copy, part};

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

#[derive(Clone, Debug, Serialize, Deserialize)]
struct VbRecord {
    restart: usize,
    run: RunRecord,
    best: Option<RunRecord>,
    bounds: Vec<f64>,
    journal: Journal,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
struct GibbsRecord {
    chains: Vec<(usize, Ledger, Journal)>,
    draws: Vec<ChainDraws>,
    stored: Vec<usize>,
    journal: Journal,
}

/// Refuses a limit of sweeps below the number that is done.
fn enough_sweeps(option: &'static str, done: usize, limit: usize) -> Result<()> {
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

fn no_checkpoints() -> crate::error::Error {
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
        let record = match &self.stage {
            Stage::Vb {
                run,
                restart,
                best,
                bounds,
                ..
            } => {
                let run = run.save(&mut state);
                let best = match best {
                    Best::None => None,
                    Best::Saved(best, record) => {
                        copy(best, "best/", &mut state);
                        Some((**record).clone())
                    }
                    Best::Last => {
                        let best = state.clone();
                        copy(&best, "best/", &mut state);
                        Some(run.clone())
                    }
                };
                write_record(&VbRecord {
                    restart: *restart,
                    run,
                    best,
                    bounds: bounds.clone(),
                    journal: self.journal.clone(),
                })?
            }
            Stage::Stochastic(_) => return Err(no_checkpoints()),
            Stage::Gibbs { chains, draws } => {
                let mut records = Vec::new();
                for (i, c) in chains.iter().enumerate() {
                    records.push(c.save(&format!("chain{i}/"), &mut state));
                    for (j, d) in draws[i].states().iter().enumerate() {
                        copy(d, &format!("draw{i}.{j}/"), &mut state);
                    }
                }
                write_record(&GibbsRecord {
                    chains: records,
                    stored: draws.iter().map(|d| d.states().len()).collect(),
                    draws: draws.clone(),
                    journal: self.journal.clone(),
                })?
            }
        };
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
    /// [`ErrorKind::File`] when the checkpoint belongs to other data or
    /// choices, or its parts do not fit together; [`ErrorKind::SweepsDone`] when
    /// more sweeps are done than this fit may have; [`ErrorKind::Numeric`] when
    /// an array does not fit the model. After an error this fit should not be
    /// gone on with.
    pub fn resume(&mut self, checkpoint: &Checkpoint) -> Result<()> {
        if matches!(self.stage, Stage::Stochastic(_)) {
            return Err(no_checkpoints());
        }
        same_origin(&checkpoint.origin, self.origin())?;
        let state = &checkpoint.state;
        let Self {
            composed,
            infos,
            groups,
            views,
            stage,
            journal,
            done,
            ..
        } = self;
        let options = &composed.options;
        match stage {
            Stage::Vb {
                plan,
                run,
                restart,
                best,
                bounds,
            } => {
                let r: VbRecord = read_record(&checkpoint.record)?;
                let mut own = State::new();
                run.save(&mut own);
                let extents = Extents::of(&own, infos);
                extents.check(state, "", 1..=options.factors)?;
                let furthest = r.best.iter().map(|b| b.sweep).max().unwrap_or(0);
                enough_sweeps(
                    "max-sweeps",
                    furthest.max(r.run.sweep),
                    options.vb.max_sweeps,
                )?;
                let fits = |run: &RunRecord| {
                    run.quiet <= run.sweep
                        && run.rotation_interval <= 16
                        && run.ledger.rows.len() == run.sweep
                        && is_table(&run.ledger)
                };
                record_fits("sweeps of the run", fits(&r.run))?;
                record_fits(
                    "restarts",
                    r.restart <= options.restarts
                        && r.bounds.len() == r.restart
                        && r.best.is_some() == (r.restart > 0),
                )?;
                if let Some(best) = &r.best {
                    extents.check(state, "best/", 1..=options.factors)?;
                    record_fits("sweeps of the best run", fits(best))?;
                }
                if r.restart > 0 && r.restart < options.restarts {
                    let z = start(composed, groups.as_ref(), (infos, views), r.restart)?;
                    let m = plan.model(composed, groups.as_ref(), views.clone(), z)?;
                    let key = StreamKey::new(options.seed).chain(r.restart as u32);
                    **run = VbRun::new(m, options.vb.clone(), key, Journal::default());
                }
                run.resume(r.run, &state.reader())?;
                *best = match r.best {
                    None => Best::None,
                    Some(record) => Best::Saved(part(state, "best/"), Box::new(record)),
                };
                *done = r.restart >= options.restarts;
                (*restart, *bounds, *journal) = (r.restart, r.bounds, r.journal);
            }
            Stage::Stochastic(_) => return Err(no_checkpoints()),
            Stage::Gibbs { chains, draws } => {
                let r: GibbsRecord = read_record(&checkpoint.record)?;
                let count = chains.len();
                record_fits(
                    "chains",
                    r.chains.len() == count && r.draws.len() == count && r.stored.len() == count,
                )?;
                let total = options.gibbs.warm_up + options.gibbs.sweeps;
                let sweeps = r.chains.first().map_or(0, |c| c.0);
                enough_sweeps("warm-up + sweeps", sweeps, total)?;
                let k = options.factors;
                for (i, (c, chain)) in chains.iter().zip(&r.chains).enumerate() {
                    let mut own = State::new();
                    c.save("", &mut own);
                    let extents = Extents::of(&own, infos);
                    extents.check(state, &format!("chain{i}/"), k..=k)?;
                    record_fits(
                        "sweeps of the chains",
                        chain.0 == sweeps && chain.1.rows.len() == sweeps && is_table(&chain.1),
                    )?;
                    let stored = r.stored[i];
                    record_fits("draws", r.draws[i].fits(c.model(), stored))?;
                    for j in 0..stored {
                        extents.check(state, &format!("draw{i}.{j}/"), k..=k)?;
                    }
                }
                for (i, (c, record)) in chains.iter_mut().zip(r.chains).enumerate() {
                    c.resume(&format!("chain{i}/"), record, &state.reader())?;
                }
                *draws = r.draws;
                for (i, d) in draws.iter_mut().enumerate() {
                    d.set_states(
                        (0..r.stored[i])
                            .map(|j| part(state, &format!("draw{i}.{j}/")))
                            .collect(),
                    );
                }
                *done = sweeps >= total;
                *journal = r.journal;
            }
        }
        Ok(())
    }
}

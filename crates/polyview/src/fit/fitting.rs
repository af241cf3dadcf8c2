//! A fit in progress: sweep by sweep, with checkpoints.

use std::sync::OnceLock;
use std::time::Instant;

use polyview_core::{Dataset, Event, Groups, Journal, Ledger, Metadata, State, Stateful, View};
use polyview_infer::{GibbsChain, Outcome, RunRecord, VbRun, start_factors};
use polyview_linalg::{Mat, on_pool};
use polyview_random::StreamKey;
use rayon::prelude::*;
use serde::{Deserialize, Serialize};

use super::draws::{ChainDraws, finish_chains};
use super::order::order_factors;
use super::remarks::large_counts;
use super::states::{copy, given_up_parameters, part};
use super::{Fit, FitRecord, ViewInfo};
use crate::build::{StartBlocks, WorkingData, model, start_views, validate};
use crate::error::{Error, ErrorKind, Result};
use crate::faithful;
use crate::file::{Extents, Origin, is_table, read_record, record_fits, same_origin, write_record};
use crate::plan::Plan;
use crate::spec::{Algorithm, EngineKind, ModelSpec};

/// What one step of a fit did.
#[derive(Clone, Debug, PartialEq)]
pub struct Progress {
    /// Restart (variational Bayes) from 1.
    pub restart: usize,
    /// Restarts in all.
    pub restarts: usize,
    /// Sweep of this restart, from 1.
    pub sweep: usize,
    /// Most sweeps of a restart; all sweeps of a chain.
    pub sweeps: usize,
    /// Bound, or mean log joint density of the chains, nats.
    pub objective: f64,
    /// Relative change of the bound.
    pub change: f64,
    /// Factors left.
    pub factors: usize,
    /// Set when the whole fit is over.
    pub done: bool,
}

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

/// The restart of the highest bound.
enum Best {
    /// None is over yet.
    None,
    /// An earlier one.
    Saved(State, Box<RunRecord>),
    /// The last one: the run itself, not a copy.
    Last,
}

enum Stage {
    Vb {
        plan: Plan,
        run: Box<VbRun>,
        restart: usize,
        best: Best,
        bounds: Vec<f64>,
    },
    Gibbs {
        chains: Vec<GibbsChain>,
        draws: Vec<ChainDraws>,
    },
}

/// A fit in progress.
///
/// ```
/// # use polyview::{Fitting, models};
/// # use polyview_core::{Dataset, Table};
/// # use polyview_linalg::Mat;
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let table = Table {
/// #     name: "genes".into(),
/// #     samples: (0..12).map(|n| format!("s{n}")).collect(),
/// #     features: (0..4).map(|d| format!("g{d}")).collect(),
/// #     values: Mat::from_fn(12, 4, |n, d| (n * (d + 1)) as f64 + ((n * 7 + d * 3) % 5) as f64),
/// #     levels: Vec::new(),
/// # };
/// # let data = Dataset::builder().view(table).build()?;
/// let mut fitting = Fitting::new(data, models::bibfa(2))?;
/// while !fitting.step()?.done {}
/// let fit = fitting.finish()?;
/// assert_eq!(fit.samples().len(), 12);
/// # Ok(())
/// # }
/// ```
pub struct Fitting {
    spec: ModelSpec,
    samples: Vec<String>,
    infos: Vec<ViewInfo>,
    views: Vec<View>,
    starts: Mat<f64>,
    groups: Option<Groups>,
    metadata: Vec<Metadata>,
    journal: Journal,
    stage: Stage,
    done: bool,
    started: Instant,
    origin: OnceLock<Origin>,
}

impl Fitting {
    /// Checks the choices, standardises the data and makes the first start.
    ///
    /// # Errors
    /// What [`crate::validate`] finds; [`ErrorKind::Linalg`] from the start.
    pub fn new(data: Dataset, spec: ModelSpec) -> Result<Self> {
        on_pool(|| Self::started(data, spec))
    }

    fn started(data: Dataset, spec: ModelSpec) -> Result<Self> {
        validate(&spec, &data)?;
        let started = Instant::now();
        let groups = data.groups().cloned();
        let metadata = data.metadata().to_vec();
        let mut spec = spec;
        // every view's choices are written out: the file says all
        for v in data.views() {
            let choices = spec.view(v.name());
            spec = spec.with_view(v.name(), choices);
        }
        let working = WorkingData::learn(data, &spec);
        let mut journal = Journal::default();
        let infos: Vec<ViewInfo> = working
            .views
            .iter()
            .zip(&working.scalings)
            .map(|(v, s)| ViewInfo {
                name: v.name().to_owned(),
                features: v.features().to_vec(),
                levels: v.levels().to_vec(),
                choices: spec.view(v.name()),
                scaling: s.clone(),
                observed: v.n_observed(),
            })
            .collect();
        for info in &infos {
            if let Some(first) = info.scaling.constant.first() {
                let note = format!(
                    "{} feature(s) do not vary, first '{}': kept, but they carry no information",
                    info.scaling.constant.len(),
                    info.features[*first]
                );
                journal.note(0, format!("data/{}", info.name), Event::Data { note });
            }
            let empty = working
                .views
                .iter()
                .find(|v| v.name() == info.name)
                .map_or(0, |v| {
                    (0..v.n_features())
                        .filter(|&d| v.mask().count_feature(d, v.n_samples()) == 0)
                        .count()
                });
            if empty > 0 {
                let note = format!(
                    "{empty} feature(s) have no observed value: kept, predicted from nothing"
                );
                journal.note(0, format!("data/{}", info.name), Event::Data { note });
            }
        }
        for (info, view) in infos.iter().zip(&working.views) {
            if let Some(note) = large_counts(info, view, &working.samples) {
                journal.note(0, format!("data/{}", info.name), Event::Data { note });
            }
        }
        crate::build::note_constant_in_groups(&spec, groups.as_ref(), &working.views, &mut journal);
        let (stage, starts) = match spec.engine {
            EngineKind::Vb => {
                let plan = Plan::choose(&spec, groups.as_ref(), &working.views, &mut journal)?;
                let z = start(&spec, &working.views, 0)?;
                let views = working.views.clone();
                let run = VbRun::new(
                    plan.model(&spec, groups.as_ref(), views, z.clone())?,
                    spec.vb.clone(),
                    StreamKey::new(spec.seed),
                    Journal::default(),
                );
                (
                    Stage::Vb {
                        plan,
                        run: Box::new(run),
                        restart: 0,
                        best: Best::None,
                        bounds: Vec::new(),
                    },
                    z,
                )
            }
            EngineKind::Gibbs => {
                let mut chains = Vec::with_capacity(spec.gibbs.chains);
                let mut first = None;
                for c in 0..spec.gibbs.chains {
                    let z = start(&spec, &working.views, c)?;
                    first.get_or_insert_with(|| z.clone());
                    let m = model(
                        &spec,
                        groups.as_ref(),
                        working.views.clone(),
                        z,
                        spec.missing,
                    )?;
                    chains.push(GibbsChain::new(
                        m,
                        StreamKey::new(spec.seed).chain(c as u32),
                    ));
                }
                let draws = vec![ChainDraws::default(); chains.len()];
                (
                    Stage::Gibbs { chains, draws },
                    first.unwrap_or_else(|| Mat::zeros(0, 0)),
                )
            }
        };
        Ok(Self {
            spec,
            samples: working.samples,
            infos,
            views: working.views,
            starts,
            groups,
            metadata,
            journal,
            stage,
            done: false,
            started,
            origin: OnceLock::new(),
        })
    }

    /// What the fit is made from; hashes the data when first asked.
    fn origin(&self) -> &Origin {
        self.origin.get_or_init(|| {
            let groups = self.groups.as_ref().filter(|_| self.spec.knows_groups());
            Origin::of(&self.spec, &self.samples, groups, &self.infos, &self.views)
        })
    }

    /// The choices, with every view's written out.
    pub fn spec(&self) -> &ModelSpec {
        &self.spec
    }
    /// What is known of the views.
    pub fn views(&self) -> &[ViewInfo] {
        &self.infos
    }
    /// The starting factors of the first restart, samples × K.
    pub fn starting_factors(&self) -> polyview_linalg::MatRef<'_, f64> {
        self.starts.as_ref()
    }
    /// Replaces the starting factors (samples × K) before the first step.
    ///
    /// # Errors
    /// [`ErrorKind::Option`] when the shape is wrong or the fit has begun.
    pub fn start_from(&mut self, factors: Mat<f64>) -> Result<()> {
        let fits = factors.nrows() == self.samples.len() && factors.ncols() == self.spec.factors;
        match &mut self.stage {
            Stage::Vb { plan, run, .. } if fits && run.record().sweep == 0 => {
                let groups = self.groups.as_ref();
                let m = plan.model(&self.spec, groups, self.views.clone(), factors.clone())?;
                **run = VbRun::new(
                    m,
                    self.spec.vb.clone(),
                    StreamKey::new(self.spec.seed),
                    Journal::default(),
                );
                self.starts = factors;
                Ok(())
            }
            _ => Err(ErrorKind::Option {
                option: "start",
                value: format!("{} x {}", factors.nrows(), factors.ncols()),
            }
            .into()),
        }
    }

    /// The chains of a Gibbs fit as the latest step left them, each holding its
    /// current draw in working units; none for variational Bayes.
    ///
    /// Draws are streamed by looking at them between steps: sum up or write
    /// out what is needed, and let [`GibbsOptions::thin`](crate::GibbsOptions)
    /// keep as few as one.
    ///
    /// ```
    /// use polyview::{EngineKind, Fitting, models};
    /// use polyview_datasets::{BibfaOptions, simulate_bibfa};
    ///
    /// let data = simulate_bibfa(&BibfaOptions::new(20, &[4, 3], 2, 1))?.data.dataset;
    /// let mut spec = models::bibfa(2);
    /// spec.engine = EngineKind::Gibbs;
    /// (spec.gibbs.warm_up, spec.gibbs.sweeps, spec.gibbs.thin) = (5, 20, 20);
    /// let mut fitting = Fitting::new(data, spec)?;
    /// let (mut sum, mut draws) = (0.0, 0.0);
    /// loop {
    ///     let progress = fitting.step()?;
    ///     if progress.sweep > 5 {
    ///         for chain in fitting.chains() {
    ///             let weights = chain.model().views[0].weights.moments().mean();
    ///             sum += weights.norm_l2();
    ///             draws += 1.0;
    ///         }
    ///     }
    ///     if progress.done {
    ///         break;
    ///     }
    /// }
    /// assert_eq!(draws, 40.0);
    /// assert!(sum / draws > 0.0);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn chains(&self) -> &[GibbsChain] {
        match &self.stage {
            Stage::Gibbs { chains, .. } => chains,
            Stage::Vb { .. } => &[],
        }
    }

    /// One sweep (of all chains, for Gibbs).
    ///
    /// # Errors
    /// Numerical errors, with the sweep they happened in.
    pub fn step(&mut self) -> Result<Progress> {
        on_pool(|| self.sweep())
    }

    fn sweep(&mut self) -> Result<Progress> {
        let Self {
            spec,
            groups,
            views,
            stage,
            journal,
            done,
            ..
        } = self;
        match stage {
            Stage::Vb {
                plan,
                run,
                restart,
                best,
                bounds,
            } => {
                let report = run
                    .sweep()
                    .map_err(|e| Error::from(e).at_sweep(run.record().sweep))?;
                let progress = Progress {
                    restart: *restart + 1,
                    restarts: spec.restarts,
                    sweep: report.sweep,
                    sweeps: spec.vb.max_sweeps,
                    objective: report.bound,
                    change: report.change,
                    factors: report.factors,
                    done: false,
                };
                if report.outcome.is_none() {
                    return Ok(progress);
                }
                bounds.push(report.bound);
                let better = match best {
                    Best::Saved(_, r) => r.ledger.last().is_none_or(|b| report.bound > b),
                    Best::None | Best::Last => true,
                };
                if spec.restarts > 1 {
                    let event = Event::Restart {
                        number: *restart + 1,
                        bound: Some(report.bound),
                        kept: better,
                    };
                    journal.note(report.sweep, "", event);
                }
                *restart += 1;
                *done = *restart >= spec.restarts;
                if *done {
                    if better {
                        *best = Best::Last;
                    }
                } else {
                    let z = start(spec, views, *restart)?;
                    let m = plan.model(spec, groups.as_ref(), views.clone(), z)?;
                    let key = StreamKey::new(spec.seed).chain(*restart as u32);
                    let next = VbRun::new(m, spec.vb.clone(), key, Journal::default());
                    let over = std::mem::replace(&mut **run, next);
                    if better {
                        // the one before goes first
                        *best = Best::None;
                        let mut state = State::new();
                        let record = over.give_up(&mut state);
                        *best = Best::Saved(state, Box::new(record));
                    }
                }
                Ok(Progress {
                    done: *done,
                    ..progress
                })
            }
            Stage::Gibbs { chains, draws } => {
                let total = spec.gibbs.warm_up + spec.gibbs.sweeps;
                let densities: Vec<f64> = chains
                    .par_iter_mut()
                    .map(|c| c.sweep().map_err(|e| Error::from(e).at_sweep(c.sweeps())))
                    .collect::<Result<_>>()?;
                let sweep = chains.first().map_or(total, GibbsChain::sweeps);
                if sweep > spec.gibbs.warm_up {
                    let store = (sweep - spec.gibbs.warm_up).is_multiple_of(spec.gibbs.thin);
                    for ((chain, draws), density) in
                        chains.iter_mut().zip(draws.iter_mut()).zip(&densities)
                    {
                        draws.record(chain.model_mut(), *density, store);
                    }
                }
                *done = sweep >= total;
                Ok(Progress {
                    restart: 1,
                    restarts: 1,
                    sweep,
                    sweeps: total,
                    objective: densities.iter().sum::<f64>() / densities.len().max(1) as f64,
                    change: f64::NAN,
                    factors: chains.first().map_or(0, |c| c.model().k()),
                    done: *done,
                })
            }
        }
    }

    /// Everything needed to go on later.
    ///
    /// # Errors
    /// [`ErrorKind::File`] when the record cannot be written as JSON.
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
    /// choices, or its parts do not fit together; [`ErrorKind::Numeric`] when
    /// an array does not fit the model. After an error this fit should not be
    /// gone on with.
    pub fn resume(&mut self, checkpoint: &Checkpoint) -> Result<()> {
        same_origin(&checkpoint.origin, self.origin())?;
        let state = &checkpoint.state;
        let Self {
            spec,
            infos,
            groups,
            views,
            stage,
            journal,
            done,
            ..
        } = self;
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
                extents.check(state, "", 1..=spec.factors)?;
                let fits = |run: &RunRecord| {
                    run.sweep <= spec.vb.max_sweeps
                        && run.quiet <= run.sweep
                        && run.rotation_interval <= 16
                        && run.ledger.rows.len() == run.sweep
                        && is_table(&run.ledger)
                };
                record_fits("sweeps of the run", fits(&r.run))?;
                record_fits(
                    "restarts",
                    r.restart <= spec.restarts
                        && r.bounds.len() == r.restart
                        && r.best.is_some() == (r.restart > 0),
                )?;
                if let Some(best) = &r.best {
                    extents.check(state, "best/", 1..=spec.factors)?;
                    record_fits("sweeps of the best run", fits(best))?;
                }
                if r.restart > 0 && r.restart < spec.restarts {
                    let z = start(spec, views, r.restart)?;
                    let m = plan.model(spec, groups.as_ref(), views.clone(), z)?;
                    let key = StreamKey::new(spec.seed).chain(r.restart as u32);
                    **run = VbRun::new(m, spec.vb.clone(), key, Journal::default());
                }
                run.resume(r.run, &state.reader())?;
                *best = match r.best {
                    None => Best::None,
                    Some(record) => Best::Saved(part(state, "best/"), Box::new(record)),
                };
                *done = r.restart >= spec.restarts;
                (*restart, *bounds, *journal) = (r.restart, r.bounds, r.journal);
            }
            Stage::Gibbs { chains, draws } => {
                let r: GibbsRecord = read_record(&checkpoint.record)?;
                let count = chains.len();
                record_fits(
                    "chains",
                    r.chains.len() == count && r.draws.len() == count && r.stored.len() == count,
                )?;
                let total = spec.gibbs.warm_up + spec.gibbs.sweeps;
                let sweeps = r.chains.first().map_or(0, |c| c.0);
                let k = spec.factors;
                for (i, (c, chain)) in chains.iter().zip(&r.chains).enumerate() {
                    let mut own = State::new();
                    c.save("", &mut own);
                    let extents = Extents::of(&own, infos);
                    extents.check(state, &format!("chain{i}/"), k..=k)?;
                    record_fits(
                        "sweeps of the chains",
                        chain.0 == sweeps
                            && sweeps <= total
                            && chain.1.rows.len() == sweeps
                            && is_table(&chain.1),
                    )?;
                    let stored = r.stored[i];
                    record_fits("draws", r.draws[i].fits(views.len(), stored))?;
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

    /// Ends the fit as it stands: the best restart so far, or the draws so
    /// far.
    ///
    /// # Errors
    /// Numerical errors of the last step; [`ErrorKind::Option`] when Gibbs
    /// sampling was stopped before the first draw.
    pub fn finish(self) -> Result<Fit> {
        on_pool(|| self.into_fit())
    }

    fn into_fit(self) -> Result<Fit> {
        let Self {
            spec,
            samples,
            infos,
            views,
            groups,
            metadata,
            mut journal,
            stage,
            done,
            started,
            ..
        } = self;
        let (components, mut record) = match stage {
            Stage::Vb {
                plan,
                run,
                best,
                bounds,
                ..
            } => {
                let (swept, record) = match best {
                    Best::None | Best::Last => run.into_parts(),
                    Best::Saved(state, best) => {
                        drop(run);
                        let k = state.arrays().get("factors/mean").map_or(0, |a| a.shape[1]);
                        let zeros = Mat::zeros(samples.len(), k);
                        let mut m = plan.model(&spec, groups.as_ref(), views.clone(), zeros)?;
                        m.load("", &state.reader())?;
                        (m, *best)
                    }
                };
                let mut full = plan.expand(&spec, groups.as_ref(), &views, swept)?;
                if record.sweep > 0 {
                    order_factors(&mut full)?;
                }
                let outcome = match record.journal.entries.last().map(|e| &e.event) {
                    Some(Event::Ended { outcome })
                        if *outcome == Outcome::Converged.to_string() =>
                    {
                        Outcome::Converged
                    }
                    Some(Event::Ended { .. }) => Outcome::MaxSweeps,
                    _ => Outcome::Interrupted,
                };
                let state = given_up_parameters(full);
                journal.entries.extend(record.journal.entries);
                let record = FitRecord {
                    outcome,
                    sweeps: record.sweep,
                    bound: record.ledger.last(),
                    restart_bounds: bounds,
                    ledgers: vec![record.ledger],
                    journal,
                    seconds: 0.0,
                    diagnostics: Vec::new(),
                };
                (vec![state], record)
            }
            Stage::Gibbs { chains, draws } => finish_chains(
                &spec,
                groups.as_ref(),
                &views,
                &chains,
                draws,
                journal,
                done,
            )?,
        };
        record.seconds = started.elapsed().as_secs_f64();
        Ok(Fit {
            spec,
            samples,
            views: infos,
            data: Some(views),
            components,
            record,
            groups,
            metadata,
        })
    }
}

fn start(spec: &ModelSpec, views: &[View], restart: usize) -> Result<Mat<f64>> {
    if spec.algorithm == Algorithm::Faithful {
        return faithful::start(spec, views);
    }
    let views = start_views(spec, views)?;
    let blocks = StartBlocks::new(&views);
    let key = StreamKey::new(spec.seed).sweep(0);
    Ok(start_factors(
        spec.start,
        &blocks.blocks(&views),
        spec.factors,
        key,
        restart,
    )?)
}

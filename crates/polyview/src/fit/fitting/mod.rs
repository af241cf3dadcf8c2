//! A fit in progress: sweep by sweep, with checkpoints.

mod blocks;
mod checkpoint;
mod finish;

use std::sync::OnceLock;
use std::time::Instant;

use polyview_core::{Dataset, Event, Groups, Journal, Metadata, Observed, Rounding, State, View};
use polyview_infer::{GibbsChain, RunRecord, StochasticRun, VbRun};
use polyview_linalg::{Mat, on_pool};
use polyview_random::StreamKey;
use rayon::prelude::*;

pub use checkpoint::Checkpoint;

use super::classes::note_classes;
use super::constants::leave_out_constants;
use super::draws::ChainDraws;
use super::group_remarks::note_thin_groups;
use super::ranks::note_left_out;
use super::remarks::{
    large_counts, note_constant_in_groups, note_features, note_idle_groups, note_remarks,
    note_twins, observed_mean, slips,
};
use super::start::start;
use super::stochastic;
use super::training::TrainingScale;
use super::{Fit, ViewInfo};
use crate::build::{WorkingData, fit_factors, model, validate};
use crate::error::{Error, ErrorKind, Result};
use crate::file::Origin;
use crate::plan::Plan;
use crate::registry::Registry;
use crate::spec::{EngineKind, ModelSpec};

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
    Stochastic(Box<StochasticRun>),
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
    rounding: Vec<Rounding>,
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
    /// Checks the choices, standardises the data and makes the first start. Where more
    /// factors are asked for than the data carry ([`crate::most_factors`]) the fit starts with as many as
    /// they do; features of real numbers that do not vary are left out, unless all features of
    /// a view are such. [`Fitting::journal`] says both.
    ///
    /// # Errors
    /// What [`crate::validate`] and [`Dataset::check_observed`] find;
    /// [`ErrorKind::Linalg`] from the start.
    pub fn new(data: Dataset, spec: ModelSpec) -> Result<Self> {
        Self::with_registry(data, spec, Registry::standard())
    }
    /// As [`Fitting::new`], with likelihoods that `registry` knows.
    ///
    /// # Errors
    /// As [`Fitting::new`]; [`ErrorKind::UnknownSpecies`].
    pub fn with_registry(data: Dataset, mut spec: ModelSpec, registry: &Registry) -> Result<Self> {
        spec.resolve(registry)?;
        on_pool(|| Self::started(data, spec))
    }

    fn started(data: Dataset, spec: ModelSpec) -> Result<Self> {
        data.check_observed()?;
        validate(&spec, &data)?;
        if spec.engine == EngineKind::Stochastic {
            stochastic::check(&spec, data.views(), data.n_samples(), data.groups())?;
        }
        let started = Instant::now();
        let groups = data.groups().cloned();
        let metadata = data.metadata().to_vec();
        let (mut spec, mut journal) = (spec, data.journal().clone());
        let (data, mut left_out) = leave_out_constants(data, &spec, &mut journal);
        fit_factors(&mut spec, data.views(), data.n_samples(), &mut journal);
        // every view's choices are written out: the file says all
        for v in data.views() {
            let choices = spec.view(v.name());
            spec = spec.with_view(v.name(), choices);
        }
        let training: Vec<Option<TrainingScale>> = data
            .views()
            .iter()
            .map(|v| TrainingScale::of(&spec.view(v.name()).likelihood, v))
            .collect();
        let working = WorkingData::learn(data, &spec);
        let infos: Vec<ViewInfo> = working
            .views
            .iter()
            .zip(&working.scalings)
            .zip(training)
            .map(|((v, s), training)| ViewInfo {
                name: v.name().to_owned(),
                features: v.features().to_vec(),
                levels: v.levels().to_vec(),
                choices: spec.view(v.name()),
                scaling: s.clone(),
                observed: v.n_observed(),
                unobserved: v.unobserved_features(),
                left_out: left_out.remove(v.name()).unwrap_or_default(),
                training,
            })
            .collect();
        for info in &infos {
            note_features(info, &mut journal);
        }
        for (info, view) in infos.iter().zip(&working.views) {
            if let Some(note) = large_counts(info, view, &working.samples) {
                journal.note(0, format!("data/{}", info.name), Event::Data { note });
            }
            if let Some(note) = slips(info, view, &working.samples) {
                journal.note(0, format!("data/{}", info.name), Event::Data { note });
            }
            let observed = Observed {
                mean: observed_mean(view),
                view: Some(view),
            };
            note_remarks(info, &observed, &mut journal);
            note_classes(info, view, spec.labels(&info.name), &mut journal);
            note_left_out(info, view, &mut journal);
        }
        note_constant_in_groups(&spec, groups.as_ref(), &working.views, &mut journal);
        note_thin_groups(&spec, groups.as_ref(), &working.views, &infos, &mut journal);
        note_twins(&working.views, &mut journal);
        note_idle_groups(&spec, groups.as_ref(), &working.views, &mut journal);
        let (stage, starts) = match spec.engine {
            EngineKind::Vb => {
                let plan = Plan::choose(&spec, groups.as_ref(), &working.views, &mut journal)?;
                let z = start(&spec, groups.as_ref(), &working.views, 0)?;
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
                    let z = start(&spec, groups.as_ref(), &working.views, c)?;
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
            EngineKind::Stochastic => {
                let run = stochastic::begin(&spec, Box::new(working.views.clone()))?;
                (Stage::Stochastic(Box::new(run)), Mat::zeros(0, 0))
            }
        };
        Ok(Self {
            spec,
            samples: working.samples,
            infos,
            views: working.views,
            rounding: working.rounding,
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
    /// What was noted about data and choices before the first sweep, and of
    /// restarts; the sweeps' own lines are in the record of the fit.
    pub fn journal(&self) -> &Journal {
        &self.journal
    }
    /// What is known of the views.
    pub fn views(&self) -> &[ViewInfo] {
        &self.infos
    }
    /// The starting factors of the first restart, samples × K; none for
    /// stochastic variational Bayes.
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

    /// The bound of variational Bayes as it stands, before the first sweep as
    /// well: a lower bound on the log evidence of the data in working units, in
    /// nats, constants included; of a pseudo-evidence where views have a
    /// pseudo-likelihood. `None` for the other engines.
    pub fn bound(&mut self) -> Option<f64> {
        match &mut self.stage {
            Stage::Vb { run, .. } => Some(on_pool(|| run.model_mut().bound())),
            Stage::Gibbs { .. } | Stage::Stochastic(_) => None,
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
            Stage::Vb { .. } | Stage::Stochastic(_) => &[],
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
                    let z = start(spec, groups.as_ref(), views, *restart)?;
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
            Stage::Stochastic(run) => {
                let report = run
                    .epoch()
                    .map_err(|e| stochastic::astray(spec, self.samples.len(), e.into()))
                    .map_err(|e| e.at_sweep(run.record().sweep))?;
                *done = report.outcome.is_some();
                Ok(Progress {
                    restart: 1,
                    restarts: 1,
                    sweep: report.sweep,
                    sweeps: spec.stochastic.epochs + spec.stochastic.exact_sweeps,
                    objective: report.bound,
                    change: report.change,
                    factors: report.factors,
                    done: *done,
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

    /// Ends the fit as it stands: the best restart so far, or the draws so
    /// far.
    ///
    /// # Errors
    /// Numerical errors of the last step; [`ErrorKind::Option`] when Gibbs
    /// sampling was stopped before the first draw.
    pub fn finish(self) -> Result<Fit> {
        on_pool(|| self.into_fit())
    }
}

//! A fit in progress: sweep by sweep, with checkpoints.

mod again;
mod batches;
mod blocks;
mod chains;
mod checkpoint;
mod dense_first;
mod finish;
mod merged;
mod polished;
mod progress;
mod restarts;

use std::sync::{Arc, OnceLock};
use std::time::Instant;

use polyview_core::{
    Dataset, Event, Groups, Journal, Metadata, NumericError, Rounding, State, View,
};
use polyview_infer::{GibbsChain, Run, Strategy, SweepReport};
use polyview_linalg::{Mat, on_pool};
use serde_json::Value;

use batches::Batches;
use chains::Chains;
pub use checkpoint::Checkpoint;
use checkpoint::no_checkpoints;
use polished::Polished;
pub use progress::Progress;
use restarts::Restarts;

use super::classes::note_classes;
use super::constants::{LeftOut, leave_out_constants};
use super::counted_more::note_weight;
use super::far_levels::note_far_levels;
use super::group_remarks::note_thin_groups;
use super::heavy_tails::note_heavy_tails;
use super::kernels;
use super::ranks::note_left_out;
use super::remarks::{
    large_counts, note_constant_in_groups, note_features, note_idle_groups, note_remarks,
    note_small_features, note_twins, observed_mean, seen_once, seen_once_note, slips,
};
use super::similarities::among_samples;
use super::start::start;
use super::training::TrainingScale;
use super::{Fit, FitRecord, ViewInfo};
use crate::adjust::Adjustment;
use crate::assemble::{WorkingData, fit_factors, several};
use crate::compose::Composed;
use crate::error::{Error, ErrorKind, Result};
use crate::faithful::pseudo_data;
use crate::file::Origin;
use crate::registry::Registry;
use crate::spec::{EngineKind, ModelSpec, limited};
use crate::verbs::{SettleProgress, kept_together};

/// What a fit is made from, and what was noted of it.
pub(super) struct Given {
    pub(super) composed: Composed,
    pub(super) samples: Vec<String>,
    pub(super) infos: Vec<ViewInfo>,
    /// The data in working units; none where they are read block by block.
    pub(super) views: Vec<View>,
    pub(super) groups: Option<Groups>,
    pub(super) journal: Journal,
}

impl Given {
    /// Factors that the run of this number starts from.
    pub(super) fn start(&self, number: usize) -> Result<Mat<f64>> {
        let seen = (&self.infos[..], &self.views[..]);
        start(&self.composed, self.groups.as_ref(), seen, number)
    }
}

/// What a fit ends with.
pub(super) struct Ended {
    /// The posterior.
    pub(super) components: Vec<State>,
    /// How it came about.
    pub(super) record: FitRecord,
    /// Sums over the samples, of a run that had them.
    pub(super) sums: Option<State>,
}

/// The runs of a fit: restarts of which the best is kept, chains side by side, or a
/// single one (docs/decisions/0051-one-driver.md).
pub(super) trait Campaign: Send {
    /// One sweep (of all chains).
    fn step(&mut self, given: &mut Given) -> Result<Progress>;
    /// The posterior, and how it came about.
    fn finish(self: Box<Self>, given: &mut Given) -> Result<Ended>;
    /// Writes everything needed to go on; words and counts are returned.
    fn save(&self, _given: &Given, _state: &mut State) -> Result<Value> {
        Err(no_checkpoints())
    }
    /// Goes on from what `save` wrote `there`, with the arrays that there are here in `own`.
    fn resume(&mut self, _: &mut Given, _own: &State, _there: (&State, &Value)) -> Result<()> {
        Err(no_checkpoints())
    }
    /// Starts from these factors.
    fn start_from(&mut self, given: &Given, _factors: &Mat<f64>) -> Result<()> {
        Err(ErrorKind::NotWithEngine {
            what: "a start from given factors",
            engine: match given.composed.options.engine {
                EngineKind::Vb => "vb",
                EngineKind::Gibbs => "gibbs",
                EngineKind::Stochastic => "stochastic",
            },
        }
        .into())
    }
    /// Where dense weights come first the run starts from these, shaken by a stream of this number; whether it does.
    fn shake(&mut self, _number: usize) -> bool {
        false
    }
    /// Whether no step is left.
    fn is_over(&self, _given: &Given) -> bool {
        false
    }
    /// The bound as it stands, of variational Bayes.
    fn bound(&mut self) -> Option<f64> {
        None
    }
    /// The chains, of Gibbs sampling.
    fn chains(&self) -> &[GibbsChain] {
        &[]
    }
}

/// What a fit that has begun says to a start.
fn begun() -> Error {
    let why = "the fit has begun".to_owned();
    ErrorKind::Start { why }.into()
}

/// One sweep of a run; an error with the sweep it happened in.
pub(super) fn swept<S: Strategy>(run: &mut Run<S>) -> Result<SweepReport>
where
    Error: From<S::Error>,
{
    let report = run.sweep();
    report.map_err(|e| Error::from(e).at_sweep(run.record().sweep))
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
    pub(super) given: Given,
    campaign: Box<dyn Campaign>,
    starts: Mat<f64>,
    rounding: Vec<Rounding>,
    metadata: Vec<Metadata>,
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
        Self::of(data, spec.into())
    }
    pub(crate) fn of(data: Dataset, composed: Composed) -> Result<Self> {
        on_pool(|| Self::started(data, composed))
    }

    fn started(data: Dataset, composed: Composed) -> Result<Self> {
        data.check_observed()?;
        if let Some(column) = &composed.options.keep_together {
            // of which nothing is asked before the fit is done
            kept_together(data.samples(), data.metadata(), column)?;
        }
        let composed = composed.with_data(data.views());
        let choices = composed.views(data.views(), data.n_samples(), data.groups())?;
        if composed.starts_at_optimum() {
            let before = composed.by_variational_bayes();
            before.views(data.views(), data.n_samples(), data.groups())?;
        }
        let started = Instant::now();
        let groups = data.groups().cloned();
        let metadata = data.metadata().to_vec();
        let mut journal = data.journal().clone();
        let (data, mut selves) = among_samples(data, &choices, &mut journal)?;
        let data = limited(data, &choices)?;
        let (data, mut maps) = kernels::mapped(data, &composed, &choices, &mut journal)?;
        let (data, mut left_out) = if composed.is_faithful() {
            // mofapy2 sees all features
            (data, LeftOut::new())
        } else {
            leave_out_constants(data, &choices, &mut journal)
        };
        let factors = fit_factors(&composed, data.views(), data.n_samples(), &mut journal);
        let mut composed = composed.written_out(data.views(), factors);
        let adjustment = match composed.spec() {
            Some(spec) => Adjustment::learn(spec, &data, &mut journal)?,
            None => None,
        };
        let looked_at = several(groups.as_ref()).filter(|_| composed.knows_groups());
        let training: Vec<Option<TrainingScale>> = (data.views().iter())
            .zip(&choices)
            .map(|(v, c)| TrainingScale::of(&c.likelihood, v, looked_at))
            .collect();
        let working = WorkingData::learn(data, &choices);
        let infos: Vec<ViewInfo> = working
            .views
            .iter()
            .zip(&working.scalings)
            .zip(training)
            .zip(choices)
            .map(|(((v, s), training), choices)| {
                let (kernel, unlike) = maps.remove(v.name()).unzip();
                ViewInfo {
                    name: v.name().to_owned(),
                    features: v.features().to_vec(),
                    levels: v.levels().to_vec(),
                    choices,
                    scaling: s.clone(),
                    observed: v.n_observed(),
                    unobserved: v.unobserved_features(),
                    left_out: unlike
                        .or_else(|| left_out.remove(v.name()))
                        .unwrap_or_default(),
                    selves: selves.remove(v.name()).unwrap_or_default(),
                    training,
                    kernel,
                }
            })
            .collect();
        composed.adjustment = adjustment.map(|mut a| {
            a.in_working_units(&infos);
            Arc::new(a)
        });
        let once: Vec<Vec<usize>> = (infos.iter().zip(&working.views))
            .map(|(info, view)| match info.kernel {
                None => seen_once(info, view),
                Some(_) => Vec::new(),
            })
            .collect();
        for (info, once) in infos.iter().zip(&once) {
            note_features(info, once, &mut journal);
        }
        for ((info, view), once) in infos.iter().zip(&working.views).zip(&once) {
            if info.kernel.is_some() {
                // what is said of its features was said of them
                continue;
            }
            if let Some(note) = large_counts(info, view, &working.samples) {
                journal.note(0, format!("data/{}", info.name), Event::Data { note });
            }
            note_heavy_tails(info, view, &mut journal);
            if let Some(note) = seen_once_note(info, once) {
                journal.note(0, format!("data/{}", info.name), Event::Warning { note });
            }
            if let Some(note) = slips(info, view, &working.samples) {
                journal.note(0, format!("data/{}", info.name), Event::Data { note });
            }
            // pseudo-data are none of the likelihood's own
            let own = (composed.spec()).is_none_or(|s| pseudo_data(s, &info.name).is_none());
            if own {
                note_remarks(info, (observed_mean(view), Some(view)), &mut journal);
            }
            let labels = composed.spec().and_then(|s| s.labels(&info.name));
            note_classes(info, view, labels, &mut journal);
            note_left_out(info, view, &mut journal);
        }
        if let Some(spec) = composed.spec() {
            for info in &infos {
                note_small_features(spec, info, &mut journal);
                note_far_levels(spec, info, &mut journal);
                note_weight(info, &mut journal);
            }
            note_constant_in_groups(spec, groups.as_ref(), &working.views, &mut journal);
            note_thin_groups(spec, groups.as_ref(), &working.views, &infos, &mut journal);
        }
        note_twins(&working.views, &mut journal);
        note_idle_groups(&composed, groups.as_ref(), &working.views, &mut journal);
        let mut given = Given {
            composed,
            samples: working.samples,
            infos,
            views: working.views,
            groups,
            journal,
        };
        let (campaign, starts): (Box<dyn Campaign>, _) = match given.composed.options.engine {
            EngineKind::Vb => {
                let start = given.start(0)?;
                (Box::new(Restarts::new(&mut given, &start)?), start)
            }
            EngineKind::Gibbs if given.composed.starts_at_optimum() => {
                let (polished, start) = Polished::new(&given)?;
                (Box::new(polished), start)
            }
            EngineKind::Gibbs => {
                let (chains, start) = Chains::new(&given)?;
                (Box::new(chains), start)
            }
            EngineKind::Stochastic => {
                let source = Box::new(given.views.clone());
                let run = Batches::new(&given.composed, (&given.samples, &given.infos), source)?;
                (Box::new(run), Mat::zeros(0, 0))
            }
        };
        Ok(Self {
            given,
            campaign,
            starts,
            rounding: working.rounding,
            metadata,
            started,
            origin: OnceLock::new(),
        })
    }

    /// What the fit is made from; hashes the data when first asked.
    fn origin(&self) -> &Origin {
        self.origin.get_or_init(|| {
            let g = &self.given;
            let groups = g.groups.as_ref().filter(|_| g.composed.knows_groups());
            Origin::of(&g.composed, &g.samples, groups, &g.infos, &g.views)
        })
    }

    /// What was noted about data and choices before the first sweep, and of
    /// restarts; the sweeps' own lines are in the record of the fit.
    pub fn journal(&self) -> &Journal {
        &self.given.journal
    }
    /// What is known of the views.
    pub fn views(&self) -> &[ViewInfo] {
        &self.given.infos
    }
    /// The starting factors of the first restart, samples × K; none for stochastic variational
    /// Bayes.
    pub fn starting_factors(&self) -> polyview_linalg::MatRef<'_, f64> {
        self.starts.as_ref()
    }
    /// Replaces the starting factors (samples × K) before the first step.
    ///
    /// # Errors
    /// [`ErrorKind::Start`] when the shape is wrong, a number is not finite or the fit has begun;
    /// [`ErrorKind::NotWithEngine`] for Gibbs sampling from random numbers and for batches.
    pub fn start_from(&mut self, factors: Mat<f64>) -> Result<()> {
        let samples = self.given.samples.len();
        let shape = (samples, self.given.composed.options.factors);
        if factors.shape() != shape {
            let why = format!(
                "they are {} x {}, and the fit has {} samples and {} factors",
                factors.nrows(),
                factors.ncols(),
                shape.0,
                shape.1
            );
            return Err(ErrorKind::Start { why }.into());
        }
        let cells = (0..shape.1).flat_map(|k| (0..samples).map(move |n| (n, k)));
        if let Some((n, k)) = cells.into_iter().find(|at| !factors[*at].is_finite()) {
            let why = format!(
                "factor {} of sample '{}' is {}",
                k + 1,
                self.given.samples[n],
                factors[(n, k)]
            );
            return Err(ErrorKind::Start { why }.into());
        }
        self.campaign.start_from(&self.given, &factors)?;
        self.starts = factors;
        Ok(())
    }

    /// Has the fit, before its first step, start from what dense weights lead to, shaken by a stream of this number,
    /// where they come first; whether they do.
    pub(crate) fn shake(&mut self, number: usize) -> bool {
        self.campaign.shake(number)
    }

    /// The bound of variational Bayes as it stands, before the first sweep as
    /// well: a lower bound on the log evidence of the data in working units, in
    /// nats, constants included; of a pseudo-evidence where views have a
    /// pseudo-likelihood. While dense weights come first (docs/decisions/0108-dense-weights-first.md) it is theirs. `None` for the other engines.
    pub fn bound(&mut self) -> Option<f64> {
        on_pool(|| self.campaign.bound())
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
        self.campaign.chains()
    }

    /// One sweep (of all chains, for Gibbs).
    ///
    /// # Errors
    /// Numerical errors, with the sweep they happened in.
    pub fn step(&mut self) -> Result<Progress> {
        on_pool(|| self.campaign.step(&mut self.given))
    }

    /// Ends the fit as it stands: the best restart so far, or the draws so
    /// far.
    ///
    /// # Errors
    /// Numerical errors of the last step; [`ErrorKind::Option`] when Gibbs
    /// sampling was stopped before the first draw.
    pub fn finish(self) -> Result<Fit> {
        let whole = self.finish_while(&|_| true)?;
        // nobody asked it to stop
        whole.ok_or_else(|| NumericError::BadState { name: "fit".into() }.into())
    }
    /// As [`Fitting::finish`], where views are settled at the end for as long as `go_on` says so, which
    /// is asked before each sweep over them. `None` once it does not: a checkpoint that was saved
    /// before ([`Fitting::checkpoint`]) holds the fit up to there.
    ///
    /// # Errors
    /// As [`Fitting::finish`].
    pub fn finish_while(
        self,
        go_on: &(dyn Fn(&SettleProgress) -> bool + Sync),
    ) -> Result<Option<Fit>> {
        on_pool(|| self.into_fit(go_on))
    }
    /// Whether the fit is over, as one that goes on from a checkpoint saved after its last sweep:
    /// there is nothing left but to finish it.
    pub fn is_over(&self) -> bool {
        self.campaign.is_over(&self.given)
    }
    /// Whether views are settled at the end.
    pub fn settles(&self) -> bool {
        (self.given.infos.iter()).any(|v| v.choices.settles())
    }
}

//! Restarts of variational Bayes, of which the best is kept.

use polyview_core::{Event, Journal, State, Stateful};
use polyview_infer::{Model, RunRecord, SweepReport, VbRun};
use polyview_linalg::Mat;
use polyview_random::StreamKey;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::checkpoint::enough_sweeps;
use super::dense_first::{DenseFirst, Handed, Next, Stage};
use super::merged::merged_start;
use super::{Campaign, Ended, Given, Progress, begun, swept};
use crate::error::Result;
use crate::file::{Extents, read_record, record_fits, write_record};
use crate::fit::FitRecord;
use crate::fit::order::order_factors;
use crate::fit::states::{copy, given_up_parameters, part};
use crate::plan::Plan;

/// Where a checkpoint has the run that the first one waits for.
const BEFORE: &str = "before/";

/// Most runs from merged factors: each merges what the one before has shown to be one.
const MOST_MERGED: usize = 4;

/// One run after the other.
pub(super) struct Restarts {
    plan: Plan,
    run: VbRun,
    /// What the first run waits for to start from.
    before: Option<DenseFirst>,
    /// What it started from, if it waited: later ones start near that.
    handed: Option<Handed>,
    /// By which stream that is shaken for the first run, if it is.
    shaken: Option<usize>,
    /// Runs that are over.
    over: usize,
    /// An earlier run, where it is better than this one or this one is not over.
    best: Option<(State, RunRecord)>,
    /// Final bound of each that is over.
    bounds: Vec<f64>,
    /// How many follow all restarts, each from what is one among the factors of different views of the best so far.
    merged: usize,
}

#[derive(Serialize, Deserialize)]
struct Record {
    restart: usize,
    run: RunRecord,
    /// Of the run that the first one waits for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    before: Option<(Stage, RunRecord)>,
    /// How many factors dense weights handed over, where later restarts start from them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    handed: Option<usize>,
    best: Option<RunRecord>,
    bounds: Vec<f64>,
    /// How many runs from merged factors follow all restarts.
    #[serde(default, skip_serializing_if = "is_zero")]
    merged: usize,
    journal: Journal,
}

impl Restarts {
    pub(super) fn new(given: &mut Given, start: &Mat<f64>) -> Result<Self> {
        let groups = given.groups.as_ref();
        let plan = Plan::choose(&given.composed, groups, &given.views, &mut given.journal)?;
        let mut run = run(&plan, given, 0, start.clone())?;
        Ok(Self {
            before: DenseFirst::new(given, given.samples.len(), run.model_mut(), start)?,
            handed: None,
            shaken: None,
            run,
            plan,
            over: 0,
            best: None,
            bounds: Vec::new(),
            merged: 0,
        })
    }
    /// Runs in all.
    fn runs(&self, given: &Given) -> usize {
        given.composed.options.restarts + self.merged
    }
    /// The model of the data themselves at the end of the best run, and how it came there.
    pub(super) fn into_optimum(self, given: &Given) -> Result<(Model, RunRecord)> {
        let (composed, groups) = (&given.composed, given.groups.as_ref());
        let (swept, record) = match self.best {
            None => self.run.into_parts(),
            Some((state, best)) => {
                drop(self.run);
                let zeros = Mat::zeros(given.samples.len(), factors_of(&state));
                let mut m = self
                    .plan
                    .model(composed, groups, given.views.clone(), zeros)?;
                m.load("", &state.reader())?;
                (m, best)
            }
        };
        let mut full = self.plan.expand(composed, groups, &given.views, swept)?;
        if record.sweep > 0 {
            order_factors(&mut full)?;
        }
        Ok((full, record))
    }
}

impl Restarts {
    /// Factors of the best run so far, of which those of different views that are one are merged, if there are such.
    fn merged_start(&self, given: &Given) -> Result<Option<Mat<f64>>> {
        if let Some((state, _)) = &self.best {
            return merged_start(&given.views, state);
        }
        let mut state = State::new();
        self.run.model().save("", &mut state);
        merged_start(&given.views, &state)
    }
    /// How much higher the bound of the run that is over is than that of the best before, if there was one. Of one from merged factors those that it has no more
    /// count as factors of which no data speak ([`Model::idle_factor`]): without them any bound is higher.
    fn gain(&self, report: &SweepReport, merged: bool) -> Option<f64> {
        let (state, record) = self.best.as_ref()?;
        let gain = report.bound - record.ledger.last()?;
        let before = factors_of(state);
        let idle = if merged && before > report.factors {
            (before - report.factors) as f64 * self.run.model().idle_factor()
        } else {
            0.0
        };
        Some(gain + idle)
    }
    /// Says what came of the run from merged factors.
    fn note_merged(&self, gain: f64, given: &mut Given) {
        let what = "factors of different views that go together in the samples which these share were taken for one";
        let note = if gain > 0.0 {
            format!(
                "{what}, and the fit from there is kept: its bound is {gain:.1} nats higher, beside as many factors"
            )
        } else {
            format!(
                "{what}, and the fit from there is not kept: its bound is {:.1} nats lower, beside as many factors",
                -gain
            )
        };
        let sweep = self.run.record().sweep;
        given.journal.note(sweep, "", Event::Note { note });
    }
    /// Factors that the run of this number starts from, not the first.
    fn start(&self, given: &Given, number: usize) -> Result<Mat<f64>> {
        match &self.handed {
            Some(handed) => handed.shaken(stream(given, number)),
            None => given.start(number),
        }
    }
}

/// Number of factors of a state.
fn factors_of(state: &State) -> usize {
    state.arrays().get("factors/mean").map_or(0, |a| a.shape[1])
}

fn is_zero(count: &usize) -> bool {
    *count == 0
}

fn stream(given: &Given, number: usize) -> StreamKey {
    StreamKey::new(given.composed.options.seed).chain(number as u32)
}

/// The run of this number.
fn run(plan: &Plan, given: &Given, number: usize, start: Mat<f64>) -> Result<VbRun> {
    let options = &given.composed.options;
    let views = given.views.clone();
    let model = plan.model(&given.composed, given.groups.as_ref(), views, start)?;
    let key = stream(given, number);
    let vb = options.vb.clone();
    Ok(VbRun::new(model, vb, key, Journal::default()))
}

impl Campaign for Restarts {
    fn step(&mut self, given: &mut Given) -> Result<Progress> {
        let restarts = self.runs(given);
        if let Some(before) = self.before.take() {
            let (progress, next) = before.step(given)?;
            match next {
                Next::Sweep(before) => self.before = Some(*before),
                Next::Start(handed) => {
                    let start = match self.shaken {
                        None => handed.factors.clone(),
                        Some(number) => handed.shaken(stream(given, number))?,
                    };
                    self.run = run(&self.plan, given, 0, start)?;
                    self.handed = Some(handed).filter(|_| restarts > 1);
                }
            }
            return Ok(Progress {
                restarts,
                ..progress
            });
        }
        let report = swept(&mut self.run)?;
        let vb = &given.composed.options.vb;
        let gain = self.run.record().ledger.gain_left();
        let mut progress = Progress {
            restart: self.over + 1,
            restarts,
            done: false,
            ..Progress::of(&report, vb.max_sweeps).with_gain(gain, vb)
        };
        if report.outcome.is_none() {
            return Ok(progress);
        }
        self.bounds.push(report.bound);
        let is_merged = self.over >= given.composed.options.restarts;
        let gain = self.gain(&report, is_merged);
        let better = gain.is_none_or(|gain| gain > 0.0);
        if let (true, Some(gain)) = (is_merged, gain) {
            self.note_merged(gain, given);
        } else if given.composed.options.restarts > 1 {
            let event = Event::Restart {
                number: self.over + 1,
                bound: Some(report.bound),
                kept: better,
            };
            given.journal.note(report.sweep, "", event);
        }
        self.over += 1;
        if better {
            // the one before goes first
            self.best = None;
        }
        let mut start = None;
        if self.over < restarts {
            start = Some(self.start(given, self.over)?);
        } else if self.merged == 0 || (better && self.merged < MOST_MERGED) {
            start = self.merged_start(given)?;
            self.merged += usize::from(start.is_some());
            progress.restarts = self.runs(given);
        }
        progress.done = start.is_none();
        if let Some(start) = start {
            let next = run(&self.plan, given, self.over, start)?;
            let over = std::mem::replace(&mut self.run, next);
            if better {
                let mut state = State::new();
                let record = over.give_up(&mut state);
                self.best = Some((state, record));
            }
        }
        Ok(progress)
    }

    fn finish(mut self: Box<Self>, given: &mut Given) -> Result<Ended> {
        // stopped on the way: one sweep says what weights and intercepts go with these factors
        if let Some(before) = self.before.take().filter(|b| b.sweeps() > 0) {
            let start = before.into_start(given)?;
            self.run = run(&self.plan, given, 0, start.factors)?;
            swept(&mut self.run)?;
        }
        let bounds = self.bounds.clone();
        let (full, record) = self.into_optimum(given)?;
        let state = given_up_parameters(full);
        let journal = std::mem::take(&mut given.journal);
        let record = FitRecord::of(record, journal, bounds);
        Ok(Ended {
            components: vec![state],
            record,
            sums: None,
        })
    }

    fn save(&self, given: &Given, state: &mut State) -> Result<Value> {
        if let Some((best, _)) = &self.best {
            copy(best, "best/", state);
        }
        write_record(&Record {
            restart: self.over,
            run: self.run.save("", state),
            before: self.before.as_ref().map(|b| b.save(BEFORE, state)),
            handed: self.handed.as_ref().map(|h| h.save(state)),
            best: self.best.as_ref().map(|best| best.1.clone()),
            bounds: self.bounds.clone(),
            merged: self.merged,
            journal: given.journal.clone(),
        })
    }

    fn resume(
        &mut self,
        given: &mut Given,
        own: &State,
        (state, record): (&State, &Value),
    ) -> Result<()> {
        let r: Record = read_record(record)?;
        let options = &given.composed.options;
        let extents = Extents::of(own, "", &given.infos);
        extents.check(state, "", 1..=options.factors)?;
        let furthest = r.best.iter().map(|b| b.sweep).max().unwrap_or(0);
        enough_sweeps(
            "max-sweeps",
            furthest.max(r.run.sweep),
            options.vb.max_sweeps,
        )?;
        record_fits("sweeps of the run", r.run.is_whole())?;
        self.before = match (r.before, self.before.take()) {
            (None, _) => None,
            (Some(there), Some(mut before)) => {
                Extents::of(own, BEFORE, &given.infos).check(state, BEFORE, 1..=options.factors)?;
                before.resume(BEFORE, there, state)?;
                Some(before)
            }
            (Some(_), None) => {
                record_fits("sweeps before the run", false)?;
                None
            }
        };
        let samples = given.samples.len();
        self.handed = r
            .handed
            .map(|kept| Handed::load(state, samples, kept))
            .transpose()?;
        self.merged = r.merged;
        let runs = options.restarts + r.merged;
        let others = 0 < r.restart && r.restart < runs;
        record_fits(
            "restarts",
            r.restart <= runs
                && r.bounds.len() == r.restart
                && (r.best.is_some() || !others)
                && (r.best.is_none() || r.restart > 0),
        )?;
        if let Some(best) = &r.best {
            extents.check(state, "best/", 1..=options.factors)?;
            record_fits("sweeps of the best run", best.is_whole())?;
        }
        if others {
            let start = self.start(given, r.restart)?;
            self.run = run(&self.plan, given, r.restart, start)?;
        }
        self.run.resume("", r.run, &state.reader())?;
        self.best = r.best.map(|record| (part(state, "best/"), record));
        (self.over, self.bounds, given.journal) = (r.restart, r.bounds, r.journal);
        Ok(())
    }

    fn start_from(&mut self, given: &Given, factors: &Mat<f64>) -> Result<()> {
        if self.run.record().sweep > 0 {
            return Err(begun());
        }
        self.run = run(&self.plan, given, 0, factors.clone())?;
        self.before = None;
        Ok(())
    }
    fn shake(&mut self, number: usize) -> bool {
        self.shaken = Some(number).filter(|_| self.before.is_some());
        self.shaken.is_some()
    }
    fn is_over(&self, given: &Given) -> bool {
        self.over >= self.runs(given)
    }
    fn bound(&mut self) -> Option<f64> {
        Some(match &mut self.before {
            Some(before) => before.bound(),
            None => self.run.model_mut().bound(),
        })
    }
}

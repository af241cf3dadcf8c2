//! Sparse weights of more samples than features, or of counts, begin where dense ones lead
//! (docs/decisions/0104-means-go-to-the-intercepts.md, 0107-noise-of-many-samples.md, 0108-dense-weights-first.md).

use polyview_core::{Event, Journal, RowMoments, State, View, counted};
use polyview_infer::{
    Model, RunRecord, Start, VbRun, many_samples, normal_columns, turned_by_varimax,
    turned_to_sparse,
};
use polyview_linalg::{Mat, MatRef, thin_qr, times_small};
use polyview_random::StreamKey;
use serde::{Deserialize, Serialize};

use super::{Given, Progress, swept};
use crate::compose::Composed;
use crate::error::Result;
use crate::file::record_fits;
use crate::fit::ViewInfo;
use crate::fit::start::{more, spread};
use crate::plan::Plan;
use crate::spec::ViewChoices;

/// Sweeps of dense weights, at most; where there are stages those of each. Of many samples they say more, and of complete
/// data they cost less.
const SWEEPS: usize = 50;
const MORE_SWEEPS: usize = 100;

/// Noise of the factors of later restarts, which have variance 1, and of the rotation that they are turned by, beside the
/// identity.
const SHAKEN: f64 = 0.1;
const TURNED: f64 = 0.5;

/// Variance of logarithms of counts from which on dense weights come first, mean over the features: with less, sparse weights find their way and end
/// higher than from varimax.
const SPREAD: f64 = 1.0;

/// A run of the same data with dense weights. Where samples are more than features it begins with the factors that are more
/// than noise, and goes on with those that it leaves, for as long as it leaves any and keeps some of them.
pub(super) struct DenseFirst {
    composed: Composed,
    plan: Plan,
    run: VbRun,
    /// Whether there are stages.
    in_stages: bool,
    /// Whether sparse weights start with all factors that are offered, those beyond noise first.
    fills: bool,
    stage: Stage,
}

/// How far the stages have come.
#[derive(Clone, Copy, Default, Serialize, Deserialize)]
pub(super) struct Stage {
    /// Factors that the one before kept.
    kept: usize,
    /// Sweeps of those before.
    sweeps: usize,
}

/// What follows a sweep.
pub(super) enum Next {
    /// Another one.
    Sweep(Box<DenseFirst>),
    /// The sparse weights, from these factors.
    Start(Handed),
}

/// What sparse weights start from.
pub(super) struct Handed {
    /// Samples × factors.
    pub(super) factors: Mat<f64>,
    /// So many of the first are those of dense weights.
    pub(super) kept: usize,
}

/// Array of a checkpoint.
const HANDED: &str = "handed";

impl Handed {
    fn all(factors: Mat<f64>) -> Self {
        let kept = factors.ncols();
        Self { factors, kept }
    }
    /// The start of a later restart: the factors of dense weights, turned a little and shaken. Turned by any rotation they would end
    /// lower, as sparse weights cannot turn them back.
    pub(super) fn shaken(&self, key: StreamKey) -> Result<Mat<f64>> {
        let (rows, kept) = (self.factors.nrows(), self.kept);
        let by = TURNED / (kept as f64).sqrt();
        let noise = normal_columns(kept, kept, key.block(8));
        let near = Mat::from_fn(kept, kept, |i, j| {
            f64::from(u8::from(i == j)) + by * noise[(i, j)]
        });
        let (rotation, _) = thin_qr(near.as_ref())?;
        let turned = times_small(self.factors.subcols(0, kept), rotation.as_ref());
        let noise = normal_columns(rows, kept, key.block(9));
        let shaken = Mat::from_fn(rows, kept, |n, k| turned[(n, k)] + SHAKEN * noise[(n, k)]);
        let rest = self.factors.subcols(kept, self.factors.ncols() - kept);
        Ok(side_by_side(shaken.as_ref(), rest))
    }
    /// Writes what later restarts need.
    pub(super) fn save(&self, state: &mut State) -> usize {
        state.put_mat(HANDED, self.factors.as_ref());
        self.kept
    }
    /// Reads what [`Handed::save`] wrote, `kept` among it.
    ///
    /// # Errors
    /// [`crate::ErrorKind`] of arrays that do not fit.
    pub(super) fn load(state: &State, samples: usize, kept: usize) -> Result<Self> {
        let factors = state.reader().mat(HANDED)?;
        let fits = factors.nrows() == samples && (1..=factors.ncols()).contains(&kept);
        record_fits("factors of dense weights", fits)?;
        Ok(Self { factors, kept })
    }
}

impl DenseFirst {
    /// A run for `model`, where that has sparse weights, and more samples than features, all of numbers or many more, or else data that say
    /// where weights begin, alone, whose rates are far apart; none
    /// otherwise, nor where another start was asked for, the algorithm is another program's or the composer no specification.
    /// `samples` are those of the whole fit, of which what is `given` may be a part.
    pub(super) fn new(
        given: &Given,
        samples: usize,
        model: &mut Model,
        start: &Mat<f64>,
    ) -> Result<Option<Self>> {
        let spec = given.composed.spec();
        let usual = given.composed.options.start == Start::default();
        let usual = usual && !given.composed.is_faithful();
        let spec = spec.filter(|_| usual && model.chooses_entries());
        let Some(spec) = spec else {
            return Ok(None);
        };
        let (groups, seen) = (given.groups.as_ref(), (&given.infos[..], &given.views[..]));
        let features = given.views.iter().map(View::n_features).sum();
        let real = |v: &ViewInfo| v.choices.likelihood.is_real() && v.kernel.is_none();
        let many = many_samples(samples, features);
        let in_stages = many || (samples > features && given.infos.iter().all(real));
        let whole = |v: &View| v.n_observed() == v.n_samples() * v.n_features();
        let sweeps = if many || (in_stages && given.views.iter().all(whole)) {
            MORE_SWEEPS
        } else if in_stages
            || (model.is_sparse_at_data() && spread(&given.composed, groups, seen)? >= SPREAD)
        {
            SWEEPS
        } else {
            return Ok(None);
        };
        // those of numbers cost next to nothing, and a fit goes on later from the same start whatever limit it had first
        let sweeps = if given.infos.iter().all(real) {
            sweeps
        } else {
            sweeps.min(spec.vb.max_sweeps)
        };
        let mut spec = spec.clone();
        let dense = ViewChoices::default().selection;
        for view in &mut spec.views {
            view.choices.selection = dense.clone();
        }
        spec.defaults.selection = dense;
        spec.vb.max_sweeps = sweeps;
        let composed = given.composed.with_spec(spec);
        let plan = Plan::choose(&composed, groups, &given.views, &mut Journal::default())?;
        let mut first = start.clone();
        if in_stages {
            let none = RowMoments::point(Mat::zeros(start.nrows(), 0));
            let all = more(&composed, groups, seen, &none, start.ncols())?;
            // where nothing is more than noise the start of all
            if all.above_noise > 0 {
                first = all.factors.subcols(0, all.above_noise).to_owned();
            }
        }
        Ok(Some(Self {
            run: run(&composed, &plan, given, first)?,
            composed,
            plan,
            in_stages,
            fills: in_stages && !many,
            stage: Stage::default(),
        }))
    }
    /// One sweep; the fit goes on after it.
    pub(super) fn step(mut self, given: &mut Given) -> Result<(Progress, Next)> {
        let report = swept(&mut self.run)?;
        let progress = Progress {
            before_start: true,
            done: false,
            ..Progress::of(&report, self.composed.options.vb.max_sweeps)
        };
        let next = match report.outcome {
            None => Next::Sweep(Box::new(self)),
            Some(_) => self.after(given)?,
        };
        Ok((progress, next))
    }
    /// Sweeps done.
    pub(super) fn sweeps(&self) -> usize {
        self.stage.sweeps + self.run.record().sweep
    }
    /// The bound of dense weights as they stand.
    pub(super) fn bound(&mut self) -> f64 {
        self.run.model_mut().bound()
    }
    /// Writes everything needed to go on.
    pub(super) fn save(&self, prefix: &str, state: &mut State) -> (Stage, RunRecord) {
        (self.stage, self.run.save(prefix, state))
    }
    /// Goes on from what [`DenseFirst::save`] wrote.
    ///
    /// # Errors
    /// [`crate::ErrorKind`] of a record or of arrays that do not fit.
    pub(super) fn resume(
        &mut self,
        prefix: &str,
        (stage, there): (Stage, RunRecord),
        state: &State,
    ) -> Result<()> {
        record_fits("sweeps before the run", there.is_whole())?;
        self.stage = stage;
        Ok(self.run.resume(prefix, there, &state.reader())?)
    }
    /// The next stage, if the last one kept some of its own factors and leaves others; else the start.
    fn after(self, given: &mut Given) -> Result<Next> {
        let (sweeps, before) = (self.sweeps(), self.stage.kept);
        let kept = self.run.model().k();
        let most = given.composed.options.factors.saturating_sub(kept);
        let full = ended(&self.composed, &self.plan, given, self.run)?;
        if !self.in_stages {
            return Ok(Next::Start(Handed::all(turned(&full, sweeps, given)?)));
        }
        let known = full.factors.moments();
        let (groups, seen) = (given.groups.as_ref(), (&given.infos[..], &given.views[..]));
        let others = more(&self.composed, groups, seen, known, most)?;
        if others.above_noise == 0 || kept <= before {
            let loadings = others.loadings.subcols(0, kept);
            let start = turned_to_sparse(known.mean(), loadings, &others.left)?;
            // of many samples what comes next would be noise
            let next = Some(others.factors.ncols())
                .filter(|_| self.fills)
                .unwrap_or(0);
            note(sweeps, (kept, next), given);
            let factors = side_by_side(start.as_ref(), others.factors.subcols(0, next));
            return Ok(Next::Start(Handed { factors, kept }));
        }
        let those = others.factors.subcols(0, others.above_noise);
        let all = side_by_side(known.mean(), those);
        Ok(Next::Sweep(Box::new(Self {
            run: run(&self.composed, &self.plan, given, all)?,
            stage: Stage { kept, sweeps },
            ..self
        })))
    }
    /// The factors as they are.
    pub(super) fn into_start(self, given: &mut Given) -> Result<Handed> {
        let sweeps = self.sweeps();
        let full = ended(&self.composed, &self.plan, given, self.run)?;
        Ok(Handed::all(turned(&full, sweeps, given)?))
    }
}

fn side_by_side(a: MatRef<'_, f64>, b: MatRef<'_, f64>) -> Mat<f64> {
    Mat::from_fn(a.nrows(), a.ncols() + b.ncols(), |n, k| {
        match k.checked_sub(a.ncols()) {
            None => a[(n, k)],
            Some(k) => b[(n, k)],
        }
    })
}

/// The factors of a model, turned by varimax of their weights as those of a start are; the journal says how many.
fn turned(full: &Model, sweeps: usize, given: &mut Given) -> Result<Mat<f64>> {
    let factors = full.factors.moments().mean();
    let of_views = full.views.iter().map(|v| v.weights.moments().mean());
    let rows = of_views.clone().map(|w| w.nrows()).sum();
    let mut weights = Mat::zeros(rows, factors.ncols());
    let mut at = 0;
    for own in of_views {
        weights.subrows_mut(at, own.nrows()).copy_from(own);
        at += own.nrows();
    }
    note(sweeps, (factors.ncols(), 0), given);
    Ok(turned_by_varimax(factors, weights.as_ref())?)
}

/// Says in the journal how many factors are left, and how many `next` directions come beside them.
fn note(sweeps: usize, (kept, next): (usize, usize), given: &mut Given) {
    let offered = given.composed.options.factors;
    let beside = match next {
        0 => String::new(),
        next => format!(
            ", and go on with these and the next {}",
            counted(next, "direction")
        ),
    };
    let note = format!(
        "sparse weights start after {} of dense ones, which keep {kept} of {offered} factors{beside}",
        counted(sweeps, "sweep"),
    );
    given.journal.note(0, "start", Event::Note { note });
}

/// A run from these factors.
fn run(composed: &Composed, plan: &Plan, given: &Given, start: Mat<f64>) -> Result<VbRun> {
    let model = plan.model(composed, given.groups.as_ref(), given.views.clone(), start)?;
    let (vb, key) = (composed.options.vb.clone(), composed.options.seed);
    Ok(VbRun::new(
        model,
        vb,
        StreamKey::new(key),
        Journal::default(),
    ))
}

/// The model of the data themselves where a run ended.
fn ended(composed: &Composed, plan: &Plan, given: &Given, run: VbRun) -> Result<Model> {
    let (swept, _) = run.into_parts();
    plan.expand(composed, given.groups.as_ref(), &given.views, swept)
}

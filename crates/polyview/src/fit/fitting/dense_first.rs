//! Sparse weights of counts, or of many samples, begin where dense ones lead
//! (docs/decisions/0104-means-go-to-the-intercepts.md, 0107-noise-of-many-samples.md).

use polyview_core::{Journal, State, View};
use polyview_infer::{Model, RunRecord, Start, VbRun, many_samples, turned_by_varimax};
use polyview_linalg::Mat;
use polyview_random::StreamKey;

use super::{Given, Progress, swept};
use crate::compose::Composed;
use crate::error::Result;
use crate::file::record_fits;
use crate::fit::start::spread;
use crate::plan::Plan;
use crate::spec::ViewChoices;

/// Sweeps of dense weights, at most; of many samples, of which they are to find how many factors there are.
const SWEEPS: usize = 50;
const SWEEPS_OF_MANY: usize = 500;

/// Variance of logarithms of counts from which on dense weights come first, mean over the features: with less, sparse weights find their way and end
/// higher than from varimax.
const SPREAD: f64 = 1.0;

/// A run of the same data with dense weights.
pub(super) struct DenseFirst {
    composed: Composed,
    plan: Plan,
    run: VbRun,
}

impl DenseFirst {
    /// A run from the same factors as that of `model`, where that has sparse weights, and many samples or else data that say
    /// where weights begin, alone, whose rates are far apart; none
    /// otherwise, nor where another start was asked for, the algorithm is another program's or the composer no specification.
    pub(super) fn new(given: &Given, model: &mut Model, start: &Mat<f64>) -> Result<Option<Self>> {
        let spec = given.composed.spec();
        let usual = given.composed.options.start == Start::default();
        let usual = usual && !given.composed.is_faithful();
        let spec = spec.filter(|_| usual && model.chooses_entries());
        let Some(spec) = spec else {
            return Ok(None);
        };
        let (groups, seen) = (given.groups.as_ref(), (&given.infos[..], &given.views[..]));
        let features = given.views.iter().map(View::n_features).sum();
        let sweeps = if many_samples(given.samples.len(), features) {
            SWEEPS_OF_MANY.min(spec.vb.max_sweeps)
        } else if model.is_sparse_at_data() && spread(&given.composed, groups, seen)? >= SPREAD {
            SWEEPS
        } else {
            return Ok(None);
        };
        let mut spec = spec.clone();
        let dense = ViewChoices::default().selection;
        for view in &mut spec.views {
            view.choices.selection = dense.clone();
        }
        spec.defaults.selection = dense;
        spec.vb.max_sweeps = sweeps;
        let composed = given.composed.with_spec(spec);
        let views = given.views.clone();
        let plan = Plan::choose(&composed, groups, &given.views, &mut Journal::default())?;
        let model = plan.model(&composed, groups, views, start.clone())?;
        let (vb, key) = (composed.options.vb.clone(), composed.options.seed);
        let run = VbRun::new(model, vb, StreamKey::new(key), Journal::default());
        Ok(Some(Self {
            composed,
            plan,
            run,
        }))
    }
    /// One sweep.
    pub(super) fn step(&mut self) -> Result<Progress> {
        let report = swept(&mut self.run)?;
        let progress = Progress::of(&report, self.composed.options.vb.max_sweeps);
        Ok(Progress {
            before_start: true,
            ..progress
        })
    }
    /// Sweeps done.
    pub(super) fn sweeps(&self) -> usize {
        self.run.record().sweep
    }
    /// Writes everything needed to go on.
    pub(super) fn save(&self, prefix: &str, state: &mut State) -> RunRecord {
        self.run.save(prefix, state)
    }
    /// Goes on from what [`DenseFirst::save`] wrote.
    ///
    /// # Errors
    /// [`crate::ErrorKind`] of a record or of arrays that do not fit.
    pub(super) fn resume(&mut self, prefix: &str, there: RunRecord, state: &State) -> Result<()> {
        record_fits("sweeps before the run", there.is_whole())?;
        Ok(self.run.resume(prefix, there, &state.reader())?)
    }
    /// The factors that are left, turned by varimax of their weights as those of a start are.
    pub(super) fn into_start(self, given: &Given) -> Result<Mat<f64>> {
        let (swept, _) = self.run.into_parts();
        let groups = given.groups.as_ref();
        let full = (self.plan).expand(&self.composed, groups, &given.views, swept)?;
        let factors = full.factors.moments().mean();
        let of_views = full.views.iter().map(|v| v.weights.moments().mean());
        let rows = of_views.clone().map(|w| w.nrows()).sum();
        let mut weights = Mat::zeros(rows, factors.ncols());
        let mut at = 0;
        for own in of_views {
            weights.subrows_mut(at, own.nrows()).copy_from(own);
            at += own.nrows();
        }
        Ok(turned_by_varimax(factors, weights.as_ref())?)
    }
}

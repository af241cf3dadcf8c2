//! Stochastic variational Bayes as a strategy: epochs, exact sweeps, the factors of all
//! samples.

use std::ops::Range;

use polyview_core::{
    BlockSource, Context, DataError, Event, Journal, Noise, NoiseScope, Of, RowBlock, RowMoments,
    Rule, Schedule, Term,
};
use polyview_linalg::{Mat, SymPacked};
use polyview_random::StreamKey;

use super::collect::Collector;
use super::gathered::Gathered;
use super::source::{Batches, samples_in};
use super::sums::{ViewSums, Weighting};
use super::{StochasticError, StochasticOptions, in_all_samples};
use crate::engine::{Projected, ProjectionRounds, project_factors};
use crate::follow::is_due;
use crate::model::{Model, ViewPart};
use crate::run::{FALL, Outcome, Rotate, Run, RunState, Strategy, SweepReport, VbOptions};

/// Makes the factors' block for some samples and factors.
pub type FactorMaker = Box<dyn Fn(usize, usize) -> Result<Box<dyn RowBlock>, DataError> + Send>;

/// Stochastic variational Bayes: the data term of its model holds the samples of the latest
/// batch, or none.
pub struct Stochastic {
    pub(super) source: Box<dyn BlockSource>,
    pub(super) factors: FactorMaker,
    options: StochasticOptions,
    pub(super) vb: VbOptions,
    pub(super) batches: Batches,
    pub(super) sums: Vec<ViewSums>,
    /// Running sum of the factors' second moments.
    pub(super) second: SymPacked,
    /// Epochs done; sweeps beyond them are exact ones.
    epochs: usize,
    exact: bool,
    /// Whether the epochs came to rest.
    rested: bool,
    /// Most exact sweeps.
    limit: usize,
    /// Whether factors have been taken out on trial.
    tried: bool,
}

/// A run of stochastic variational Bayes. Its sweeps are epochs, and exact sweeps once the
/// epochs are over. The ledger has the bound: of an epoch the mean of its batches'
/// estimates, of an exact sweep the bound itself.
pub type StochasticRun = Run<Stochastic>;

/// Numbers of the random streams of an epoch.
const SHUFFLE: u32 = 7;

impl Run<Stochastic> {
    /// A run over `source`, whose parts `views` hold no samples yet or any: the
    /// data come from the source. `factors` makes the factors' block of a
    /// batch. Of `vb` the rule of pruning, the rotation, and the tolerances of
    /// exact sweeps count.
    ///
    /// # Errors
    /// [`DataError`] of the factors' block.
    pub fn new(
        views: Vec<ViewPart>,
        factors: FactorMaker,
        source: Box<dyn BlockSource>,
        options: StochasticOptions,
        vb: VbOptions,
        key: StreamKey,
    ) -> Result<Self, DataError> {
        let k = views.first().map_or(0, |v| v.weights.moments().k());
        let sums = views.iter().map(|v| empty_sums(v, k)).collect();
        let model = Model::new(factors(0, k)?, views, Schedule { sweep: Vec::new() });
        let strategy = Stochastic {
            batches: Batches::new(source.samples(), &options),
            source,
            factors,
            options,
            vb,
            sums,
            second: SymPacked::zeros(k),
            epochs: 0,
            exact: false,
            rested: false,
            limit: options.exact_sweeps,
            tried: false,
        };
        Ok(Self::of(model, strategy, key))
    }
    /// Samples of the first batch, to which a start may belong and from which
    /// parts may learn their starting intercepts.
    pub fn first_batch(
        samples: usize,
        options: &StochasticOptions,
        key: StreamKey,
    ) -> Vec<Range<usize>> {
        let batches = Batches::new(samples, options);
        batches.shuffled(key.sweep(0).block(SHUFFLE)).swap_remove(0)
    }
    /// So many samples, or all that there are, in the order in which the first epoch visits them: for a
    /// start from more samples than a batch has, or from fewer.
    pub fn first_samples(
        samples: usize,
        options: &StochasticOptions,
        key: StreamKey,
        count: usize,
    ) -> Vec<Range<usize>> {
        let batches = Batches::new(samples, options).shuffled(key.sweep(0).block(SHUFFLE));
        let mut left = count.min(samples);
        let mut out = Vec::new();
        for range in batches.into_iter().flatten() {
            let end = range.end.min(range.start + left);
            left -= end - range.start;
            if end > range.start {
                out.push(range.start..end);
            }
        }
        out
    }

    /// Makes the first weights from starting factors of these samples (samples × K), as the first
    /// half of a sweep of variational Bayes.
    ///
    /// # Errors
    /// [`StochasticError`] from reading, from the parts, or where the start has
    /// another number of rows.
    pub fn start(
        &mut self,
        factors: Mat<f64>,
        ranges: &[Range<usize>],
    ) -> Result<(), StochasticError> {
        let Self { state, strategy } = self;
        let samples = strategy.source.samples();
        // the parts may still hold the samples that they were made from
        strategy.load(state, &[])?;
        let rows = strategy.load(state, ranges)?;
        if factors.nrows() != rows || factors.ncols() != state.model.k() {
            return Err(StochasticError::Start {
                expected: rows,
                found: factors.nrows(),
            });
        }
        let start = RowMoments::isotropic(factors, 1e-2, 0);
        state.model.factors.set_moments(start);
        let mut scratch = Journal::default();
        let (model, mut cx) = ahead(state, &mut scratch);
        let Model { factors, views, .. } = model;
        for part in views {
            let (term, p) = part.with(factors.moments());
            term.refresh(&p, &mut cx)?;
        }
        let scale = samples as f64 / rows.max(1) as f64;
        let weighting = Weighting {
            keep: 0.0,
            add: scale,
        };
        strategy.take(state, weighting)?;
        strategy.update(state, strategy.rule(state))
    }

    /// Factors of all samples under the final weights, noise and intercepts.
    ///
    /// The model holds no samples after it. The ledger gets a last row: the bound of the state that is left.
    ///
    /// # Errors
    /// [`StochasticError`] from reading and from the parts.
    pub fn project_all(&mut self) -> Result<RowMoments, StochasticError> {
        let Self { state, strategy } = self;
        let mut all = Collector::new(strategy.source.samples(), state.model.k());
        let mut mean = Gathered::default();
        let (mut moving, mut moved) = (0, 0.0_f64);
        for ranges in strategy.batches.in_order() {
            strategy.load(state, &ranges)?;
            // the same, to the tolerance of those rounds, as projecting these samples later
            let projected = rounds(state, ProjectionRounds::default())?;
            moving += projected.moving.len();
            moved = moved.max(projected.moved);
            mean.add_part(state.model.objective());
            all.put(&ranges, state.model.factors.moments());
        }
        let (sweep, k) = (state.record.sweep, state.model.k());
        state.record.ledger.push(sweep + 1, k, mean.terms);
        if moving > 0 {
            let note = format!(
                "the factors of {moving} sample(s) did not settle: under the final weights they still moved by \
                 {moved:.1e} of their size"
            );
            let journal = &mut state.record.journal;
            journal.note(sweep, "factors", Event::Warning { note });
            // how the run ended stays the last line
            if let [.., ended, new] = journal.entries.as_mut_slice()
                && matches!(ended.event, Event::Ended { .. })
            {
                std::mem::swap(ended, new);
            }
        }
        strategy.load(state, &[])?;
        Ok(all.finish())
    }
}

impl Strategy for Stochastic {
    type Error = StochasticError;

    fn sweep(&mut self, run: &mut RunState) -> Result<Vec<Term<String>>, StochasticError> {
        if self.exact {
            self.exact_sweep(run)
        } else {
            self.epochs += 1;
            self.epoch(run)
        }
    }

    fn judge(
        &mut self,
        run: &mut RunState,
        report: &mut SweepReport,
    ) -> Result<Option<Outcome>, StochasticError> {
        report.finite()?;
        // the sweep before was exact, too, and nothing was removed since
        let comparable = report.sweep - self.epochs > 1 && !run.previous.is_empty();
        let fall = FALL.max(self.options.local_tolerance.powi(2));
        if comparable && report.change < -fall && run.model.is_guaranteed() {
            run.note_fall();
        }
        if !self.noise_comes_down(run) {
            if self.vb.rotate == Rotate::InLoop {
                self.rotate(run)?;
            }
            if let Some(keep) = run.prune(&self.vb.prune)? {
                self.select(&keep);
            }
        }
        report.movement = run.movement(false);
        if !self.exact && is_due(report.sweep) {
            run.model.tell_sizes();
        }
        let outcome = self.outcome(run, report);
        if outcome.is_some() && self.vb.prune.by_bound && !self.tried {
            self.tried = true;
            let mut dropped = self.drop_needless(run)?;
            if self.exact {
                // what sweeps gain by themselves, as long as the run has not come to rest
                let drift = (report.change * report.bound.abs().max(1.0)).max(0.0);
                dropped |= self.drop_after_sweeps(run, drift)?;
            }
            if dropped && self.exact {
                // the others take over what the dropped ones explained
                self.limit += self.options.exact_sweeps;
                run.disturb();
                return Ok(None);
            }
        }
        Ok(outcome)
    }
}

impl Stochastic {
    /// Whether epochs or sweeps are over.
    fn outcome(&mut self, run: &mut RunState, report: &SweepReport) -> Option<Outcome> {
        let (tolerance, still) = if self.exact {
            (self.vb.tolerance, report.movement <= self.vb.movement)
        } else {
            // weights move by the noise of the batches as long as steps are long
            (self.options.tolerance, true)
        };
        let done = report.sweep - self.epochs;
        let quiet = report.change.abs() <= tolerance && still;
        let guaranteed = run.model.is_guaranteed();
        // weights and factors may still move by more than a run of variational Bayes leaves them, where the bound is flat
        let flat = self.exact && guaranteed && self.vb.leaves_little(&run.record.ledger, done);
        let rest = run.rests(quiet || flat);
        if self.exact {
            let limit = done >= self.limit;
            // what is left of an objective that no step is sure to raise, nobody knows: there the rest of the epochs counts
            return Outcome::of(rest || (limit && self.rested && !guaranteed), limit);
        }
        let last = self.epochs >= self.options.epochs;
        let outcome = Outcome::of(rest, last)?;
        if self.options.exact_sweeps == 0 {
            return Some(outcome);
        }
        let note = format!(
            "{} epochs, {}: exact sweeps from here",
            self.epochs,
            if rest {
                "the mean bound of an epoch rests"
            } else {
                "as many as allowed"
            }
        );
        let journal = &mut run.record.journal;
        journal.note(report.sweep, "stochastic", Event::Note { note });
        self.exact = true;
        self.rested = rest;
        run.record.quiet = 0;
        None
    }

    /// All batches in a new order, a step each; mean of the bounds' estimates.
    fn epoch(&mut self, run: &mut RunState) -> Result<Vec<Term<String>>, StochasticError> {
        let epoch = self.epochs;
        let rho = self.options.step(epoch - 1);
        let key = run.key.sweep(epoch as u64).block(SHUFFLE);
        let samples = self.source.samples();
        let rule = self.rule(run);
        let mut mean = Gathered::default();
        for ranges in self.batches.shuffled(key) {
            let rows = self.load(run, &ranges)?;
            self.locals(run)?;
            let scale = samples as f64 / rows.max(1) as f64;
            mean.add(
                estimate(&mut run.model, scale),
                rows as f64 / samples.max(1) as f64,
            );
            let weighting = Weighting {
                keep: 1.0 - rho,
                add: rho * scale,
            };
            self.take(run, weighting)?;
            self.update(run, rule)?;
        }
        Ok(mean.terms)
    }

    /// One sweep of variational Bayes: all samples under the same weights, then
    /// the weights. The bound is that of factors just found and old weights.
    pub(super) fn exact_sweep(
        &mut self,
        run: &mut RunState,
    ) -> Result<Vec<Term<String>>, StochasticError> {
        let mut mean = Gathered::default();
        for (i, ranges) in self.batches.in_order().into_iter().enumerate() {
            self.load(run, &ranges)?;
            self.locals(run)?;
            mean.add_part(run.model.objective());
            let keep = if i == 0 { 0.0 } else { 1.0 };
            self.take(run, Weighting { keep, add: 1.0 })?;
        }
        self.update(run, self.rule(run))?;
        Ok(mean.terms)
    }

    /// Reads a batch; the one before goes first. Returns its number of samples.
    pub(super) fn load(
        &mut self,
        run: &mut RunState,
        ranges: &[Range<usize>],
    ) -> Result<usize, StochasticError> {
        if !ranges.is_empty() && run.model.factors.moments().explicit_rows() > 0 {
            self.load(run, &[])?;
        }
        let rows = samples_in(ranges);
        let views = self.source.read(ranges).map_err(StochasticError::Source)?;
        let count = run.model.views.len();
        if views.len() != count {
            return Err(StochasticError::Changed {
                what: "views",
                expected: count,
                found: views.len(),
            });
        }
        if let Some(v) = views.iter().find(|v| v.n_samples() != rows) {
            return Err(StochasticError::Changed {
                what: "samples of a batch",
                expected: rows,
                found: v.n_samples(),
            });
        }
        let terms = (run.model.views.iter())
            .zip(&views)
            .map(|(part, view)| part.term.rebind(view))
            .collect::<Result<Vec<_>, _>>()
            .map_err(|e| in_all_samples(e, ranges))?;
        let k = run.model.k();
        let mut parts = std::mem::take(&mut run.model.views);
        for (part, term) in parts.iter_mut().zip(terms) {
            part.term = term;
        }
        let mut factors = (self.factors)(rows, k)?;
        factors.set_moments(RowMoments::isotropic(Mat::zeros(rows, k), 1.0, 0));
        run.model = Model::new(factors, parts, Schedule { sweep: Vec::new() });
        Ok(rows)
    }

    /// Local variables and factors of the batch.
    pub(super) fn locals(&self, run: &mut RunState) -> Result<(), StochasticError> {
        let most = ProjectionRounds {
            tolerance: self.options.local_tolerance,
            most: self.options.rounds,
        };
        rounds(run, most)?;
        Ok(())
    }

    /// Moves the running sums.
    pub(super) fn take(
        &mut self,
        run: &mut RunState,
        weighting: Weighting,
    ) -> Result<(), StochasticError> {
        let Model { factors, views, .. } = &mut run.model;
        let z = factors.moments();
        for (part, sums) in views.iter_mut().zip(&mut self.sums) {
            sums.take(part.term.as_mut(), z, weighting)?;
        }
        let keep = weighting.keep;
        for (s, b) in self
            .second
            .as_mut_slice()
            .iter_mut()
            .zip(z.second_moment(None).as_slice())
        {
            *s = if keep == 0.0 { 0.0 } else { keep * *s } + weighting.add * b;
        }
        Ok(())
    }

    /// Everything that follows from the sums.
    pub(super) fn update(&self, run: &mut RunState, rule: Rule) -> Result<(), StochasticError> {
        let (model, mut cx) = run.parts();
        for (part, sums) in model.views.iter_mut().zip(&self.sums) {
            sums.update(part, rule, &mut cx)?;
        }
        Ok(())
    }
    /// How weights are updated: those that choose their entries take all of them while noise comes down.
    fn rule(&self, run: &RunState) -> Rule {
        if self.noise_comes_down(run) && run.model.chooses_entries() {
            Rule::Dense
        } else {
            Rule::Optimum
        }
    }
    fn noise_comes_down(&self, run: &RunState) -> bool {
        self.vb.noise_first && run.noise_comes_down(self.source.samples())
    }
}

/// Rounds of local variables and factors of the samples that the model holds.
fn rounds(run: &mut RunState, most: ProjectionRounds) -> Result<Projected, StochasticError> {
    // remarks on single batches are no news of the data
    let mut scratch = Journal::default();
    let (model, mut cx) = ahead(run, &mut scratch);
    Ok(project_factors(model, most, &mut cx)?)
}

/// The bound, reckoned from a batch that stands for `scale` times as many
/// samples.
fn estimate(model: &mut Model, scale: f64) -> Vec<Term<String>> {
    let mut terms = model.objective();
    for term in terms.iter_mut().filter(|t| t.of == Of::Samples) {
        term.value *= scale;
    }
    terms
}

pub(super) fn empty_sums(part: &ViewPart, k: usize) -> ViewSums {
    let columns = part.term.shape().predictor_columns;
    let noise = match part.term.as_noise().map(Noise::scope) {
        None => 0,
        Some(NoiseScope::View) => 1,
        Some(NoiseScope::Column) => columns,
    };
    ViewSums::new(columns, k, noise)
}

/// The model and a context that leaves no trace, with streams of the next sweep: those of
/// this one belong to the weights.
fn ahead<'a>(run: &'a mut RunState, journal: &'a mut Journal) -> (&'a mut Model, Context<'a>) {
    let sweep = run.record.sweep + 1;
    let cx = Context {
        key: run.key.sweep(sweep as u64),
        sweep,
        journal,
    };
    (&mut run.model, cx)
}

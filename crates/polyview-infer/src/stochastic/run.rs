//! A stochastic run: epochs, exact sweeps, the factors of all samples.

use std::ops::Range;

use polyview_core::{
    BlockSource, Context, DataError, Event, Journal, Ledger, Noise, NoiseScope, NumericError,
    Objective, Of, RowBlock, RowMoments, Schedule, Term,
};
use polyview_linalg::{Mat, SymPacked};
use polyview_random::StreamKey;
use serde::{Deserialize, Serialize};

use super::collect::Collector;
use super::gathered::Gathered;
use super::source::{Batches, samples_in};
use super::sums::{ViewSums, Weighting};
use super::{StochasticError, StochasticOptions, in_all_samples};
use crate::engine::{Projected, ProjectionRounds, project_factors};
use crate::model::{Model, ViewPart};
use crate::run::{FALL, Outcome, Rotate, SweepReport, VbOptions};

/// Makes the factors' block for some samples and factors.
pub type FactorMaker = Box<dyn Fn(usize, usize) -> Result<Box<dyn RowBlock>, DataError> + Send>;

/// What a stochastic run remembers besides the model.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct StochasticRecord {
    /// Epochs and exact sweeps done.
    pub sweep: usize,
    /// Of these, epochs.
    pub epochs: usize,
    /// Quiet epochs or sweeps in a row.
    pub quiet: usize,
    /// Bound by term: of an epoch the mean of its batches' estimates, of an
    /// exact sweep the bound itself.
    pub ledger: Ledger,
    /// What happened.
    pub journal: Journal,
}

/// A run of stochastic variational Bayes in progress.
pub struct StochasticRun {
    pub(super) model: Model,
    pub(super) source: Box<dyn BlockSource>,
    pub(super) factors: FactorMaker,
    pub(super) options: StochasticOptions,
    pub(super) vb: VbOptions,
    pub(super) key: StreamKey,
    pub(super) batches: Batches,
    pub(super) sums: Vec<ViewSums>,
    /// Running sum of the factors' second moments.
    pub(super) second: SymPacked,
    pub(super) record: StochasticRecord,
    pub(super) previous: Vec<Mat<f64>>,
    pub(super) exact: bool,
    /// Whether the epochs came to rest.
    rested: bool,
    /// Most exact sweeps.
    pub(super) limit: usize,
    /// Whether factors have been taken out on trial.
    tried: bool,
}

/// Numbers of the random streams of an epoch.
const SHUFFLE: u32 = 7;

impl StochasticRun {
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
        let batches = Batches::new(source.samples(), &options);
        let sums = views.iter().map(|v| empty_sums(v, k)).collect();
        let model = Model::new(factors(0, k)?, views, Schedule { sweep: Vec::new() });
        Ok(Self {
            model,
            source,
            factors,
            options,
            vb,
            key,
            batches,
            sums,
            second: SymPacked::zeros(k),
            record: StochasticRecord::default(),
            previous: Vec::new(),
            exact: false,
            rested: false,
            limit: options.exact_sweeps,
            tried: false,
        })
    }
    /// The model: its data terms hold the samples of the latest batch, or none.
    pub fn model(&self) -> &Model {
        &self.model
    }
    /// Epochs, bound and journal so far.
    pub fn record(&self) -> &StochasticRecord {
        &self.record
    }
    /// Write access to the journal.
    pub fn journal_mut(&mut self) -> &mut Journal {
        &mut self.record.journal
    }
    /// Samples of the first batch, to which a start belongs and from which
    /// parts may learn their starting intercepts.
    pub fn first_batch(
        samples: usize,
        options: &StochasticOptions,
        key: StreamKey,
    ) -> Vec<Range<usize>> {
        let batches = Batches::new(samples, options);
        batches.shuffled(key.sweep(0).block(SHUFFLE)).swap_remove(0)
    }

    /// Makes the first weights from starting factors of the first batch
    /// (samples × K), as the first half of a sweep of variational Bayes.
    ///
    /// # Errors
    /// [`StochasticError`] from reading, from the parts, or where the start has
    /// another number of rows.
    pub fn start(&mut self, factors: Mat<f64>) -> Result<(), StochasticError> {
        let samples = self.source.samples();
        let ranges = Self::first_batch(samples, &self.options, self.key);
        // the parts may still hold the samples that they were made from
        self.load(&[])?;
        let rows = self.load(&ranges)?;
        if factors.nrows() != rows || factors.ncols() != self.model.k() {
            return Err(StochasticError::Start {
                expected: rows,
                found: factors.nrows(),
            });
        }
        let start = RowMoments::isotropic(factors, 1e-2, 0);
        self.model.factors.set_moments(start);
        let mut scratch = Journal::default();
        let Model { factors, views, .. } = &mut self.model;
        for part in views {
            let p = polyview_core::Predictor {
                factors: factors.moments(),
                weights: part.weights.moments(),
                bias: &part.bias,
            };
            let mut cx = context(self.key, 1, &mut scratch);
            part.term.refresh(&p, &mut cx)?;
        }
        let scale = samples as f64 / rows.max(1) as f64;
        let weighting = Weighting {
            keep: 0.0,
            add: scale,
        };
        self.take(weighting)?;
        self.update(0)
    }

    /// One epoch, or one exact sweep once the epochs are over.
    ///
    /// # Errors
    /// [`StochasticError`] from reading and from the parts.
    pub fn epoch(&mut self) -> Result<SweepReport, StochasticError> {
        self.record.sweep += 1;
        let terms = if self.exact {
            self.exact_sweep()?
        } else {
            self.record.epochs += 1;
            self.stochastic_epoch()?
        };
        let sweep = self.record.sweep;
        let before = self.record.ledger.last();
        let bound = self.record.ledger.push(sweep, self.model.k(), terms);
        if !bound.is_finite() {
            return Err(NumericError::NotFinite {
                block: "model".into(),
                what: "the bound",
            }
            .into());
        }
        let change = before.map_or(f64::INFINITY, |b| (bound - b) / bound.abs().max(1.0));
        if self.vb.rotate == Rotate::InLoop {
            self.rotate(sweep, bound)?;
        }
        let pruned = self.prune(sweep)?;
        let movement = if pruned {
            self.previous.clear();
            f64::INFINITY
        } else {
            self.movement()
        };
        let mut outcome = self.judge(change, movement, pruned);
        if outcome.is_some() && self.vb.prune.by_bound && !self.tried {
            self.tried = true;
            let mut dropped = self.drop_needless(sweep)?;
            if self.exact {
                dropped |= self.drop_after_sweeps(sweep)?;
            }
            if dropped && self.exact {
                // the others take over what the dropped ones explained
                self.limit += self.options.exact_sweeps;
                self.record.quiet = 0;
                outcome = None;
            }
        }
        if let Some(o) = outcome {
            let event = Event::Ended {
                outcome: o.to_string(),
            };
            self.record.journal.note(sweep, "", event);
        }
        Ok(SweepReport {
            sweep,
            bound,
            change,
            movement,
            factors: self.model.k(),
            outcome,
        })
    }

    /// Whether epochs or sweeps are over.
    fn judge(&mut self, change: f64, movement: f64, pruned: bool) -> Option<Outcome> {
        let (tolerance, still) = if self.exact {
            (self.vb.tolerance, movement <= self.vb.movement)
        } else {
            // weights move by the noise of the batches as long as steps are long
            (self.options.tolerance, true)
        };
        let quiet = !pruned && change.abs() <= tolerance && still;
        self.record.quiet = if quiet { self.record.quiet + 1 } else { 0 };
        let rest = self.record.quiet >= 2;
        if self.exact {
            let done = self.record.sweep - self.record.epochs;
            let limit = done >= self.limit;
            return match (rest || (limit && self.rested), limit) {
                (true, _) => Some(Outcome::Converged),
                (false, true) => Some(Outcome::MaxSweeps),
                (false, false) => None,
            };
        }
        let last = self.record.epochs >= self.options.epochs;
        if !rest && !last {
            return None;
        }
        let outcome = if rest {
            Outcome::Converged
        } else {
            Outcome::MaxSweeps
        };
        if self.options.exact_sweeps == 0 {
            return Some(outcome);
        }
        let note = format!(
            "{} epochs, {}: exact sweeps from here",
            self.record.epochs,
            if rest {
                "the mean bound of an epoch rests"
            } else {
                "as many as allowed"
            }
        );
        self.record
            .journal
            .note(self.record.sweep, "stochastic", Event::Note { note });
        self.exact = true;
        self.rested = rest;
        self.record.quiet = 0;
        None
    }

    /// All batches in a new order, a step each; mean of the bounds' estimates.
    fn stochastic_epoch(&mut self) -> Result<Vec<Term<String>>, StochasticError> {
        let epoch = self.record.epochs;
        let rho = self.options.step(epoch - 1);
        let key = self.key.sweep(epoch as u64).block(SHUFFLE);
        let samples = self.source.samples();
        let mut mean = Gathered::default();
        for ranges in self.batches.shuffled(key) {
            let rows = self.load(&ranges)?;
            self.locals()?;
            let scale = samples as f64 / rows.max(1) as f64;
            let terms = self.estimate(scale);
            mean.add(terms, rows as f64 / samples.max(1) as f64);
            self.take(Weighting {
                keep: 1.0 - rho,
                add: rho * scale,
            })?;
            self.update(self.record.sweep)?;
        }
        Ok(mean.terms)
    }

    /// One sweep of variational Bayes: all samples under the same weights, then
    /// the weights. The bound is that of factors just found and old weights.
    pub(super) fn exact_sweep(&mut self) -> Result<Vec<Term<String>>, StochasticError> {
        let mut mean = Gathered::default();
        for (i, ranges) in self.batches.in_order().into_iter().enumerate() {
            self.load(&ranges)?;
            self.locals()?;
            mean.add_part(self.model.objective());
            let keep = if i == 0 { 0.0 } else { 1.0 };
            self.take(Weighting { keep, add: 1.0 })?;
        }
        self.update(self.record.sweep)?;
        let before = self.record.ledger.last();
        let after = mean.total();
        // the sweep before was exact, too, and nothing was removed since
        let comparable = self.record.sweep - self.record.epochs > 1 && !self.previous.is_empty();
        let guaranteed = self
            .model
            .views
            .iter()
            .all(|v| v.term.objective() != Objective::NoGuarantee);
        if let (Some(before), true, true) = (before, comparable, guaranteed)
            && after
                < before - FALL.max(self.options.local_tolerance.powi(2)) * before.abs().max(1.0)
        {
            self.record
                .journal
                .note(self.record.sweep, "", Event::BoundFell { before, after });
        }
        Ok(mean.terms)
    }

    /// Factors of all samples under the final weights, noise and intercepts.
    ///
    /// The ledger gets a last row: the bound of the state that is left.
    ///
    /// # Errors
    /// [`StochasticError`] from reading and from the parts.
    pub fn project_all(&mut self) -> Result<RowMoments, StochasticError> {
        let mut all = Collector::new(self.source.samples(), self.model.k());
        let mut mean = Gathered::default();
        let (mut moving, mut moved) = (0, 0.0_f64);
        for ranges in self.batches.in_order() {
            self.load(&ranges)?;
            // the same, to the tolerance of those rounds, as projecting these samples later
            let projected = self.rounds(ProjectionRounds::default())?;
            moving += projected.moving.len();
            moved = moved.max(projected.moved);
            mean.add_part(self.model.objective());
            all.put(&ranges, self.model.factors.moments());
        }
        let (sweep, k) = (self.record.sweep + 1, self.model.k());
        self.record.ledger.push(sweep, k, mean.terms);
        if moving > 0 {
            let note = format!(
                "the factors of {moving} sample(s) did not settle: under the final weights they still moved by \
                 {moved:.1e} of their size"
            );
            let last = self.record.sweep;
            let journal = &mut self.record.journal;
            journal.note(last, "factors", Event::Warning { note });
            // how the run ended stays the last line
            if let [.., ended, new] = journal.entries.as_mut_slice()
                && matches!(ended.event, Event::Ended { .. })
            {
                std::mem::swap(ended, new);
            }
        }
        self.load(&[])?;
        Ok(all.finish())
    }

    /// Takes the run apart; the parts hold no samples after
    /// [`StochasticRun::project_all`].
    pub fn into_parts(self) -> (Vec<ViewPart>, StochasticRecord) {
        (self.model.views, self.record)
    }

    /// Reads a batch; the one before goes first. Returns its number of samples.
    pub(super) fn load(&mut self, ranges: &[Range<usize>]) -> Result<usize, StochasticError> {
        if !ranges.is_empty() && self.model.factors.moments().explicit_rows() > 0 {
            self.load(&[])?;
        }
        let rows = samples_in(ranges);
        let views = self.source.read(ranges).map_err(StochasticError::Source)?;
        let count = self.model.views.len();
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
        let terms = self
            .model
            .views
            .iter()
            .zip(&views)
            .map(|(part, view)| part.term.rebind(view))
            .collect::<Result<Vec<_>, _>>()
            .map_err(|e| in_all_samples(e, ranges))?;
        let k = self.model.k();
        let mut parts = std::mem::take(&mut self.model.views);
        for (part, term) in parts.iter_mut().zip(terms) {
            part.term = term;
        }
        let mut factors = (self.factors)(rows, k)?;
        factors.set_moments(RowMoments::isotropic(Mat::zeros(rows, k), 1.0, 0));
        self.model = Model::new(factors, parts, Schedule { sweep: Vec::new() });
        Ok(rows)
    }

    /// Local variables and factors of the batch.
    pub(super) fn locals(&mut self) -> Result<(), StochasticError> {
        let rounds = ProjectionRounds {
            tolerance: self.options.local_tolerance,
            most: self.options.rounds,
        };
        self.rounds(rounds)?;
        Ok(())
    }
    fn rounds(&mut self, rounds: ProjectionRounds) -> Result<Projected, StochasticError> {
        // remarks on single batches are no news of the data
        let mut scratch = Journal::default();
        let mut cx = context(self.key, self.record.sweep + 1, &mut scratch);
        Ok(project_factors(&mut self.model, rounds, &mut cx)?)
    }

    /// Moves the running sums.
    fn take(&mut self, weighting: Weighting) -> Result<(), StochasticError> {
        let Model { factors, views, .. } = &mut self.model;
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
    pub(super) fn update(&mut self, sweep: usize) -> Result<(), StochasticError> {
        for (part, sums) in self.model.views.iter_mut().zip(&self.sums) {
            let mut cx = context(self.key, sweep, &mut self.record.journal);
            sums.update(part, &mut cx)?;
        }
        Ok(())
    }

    /// The bound, reckoned from a batch that stands for `scale` times as many
    /// samples.
    fn estimate(&mut self, scale: f64) -> Vec<Term<String>> {
        let mut terms = self.model.objective();
        for term in terms.iter_mut().filter(|t| t.of == Of::Samples) {
            term.value *= scale;
        }
        terms
    }

    /// Largest change of a factor's weights since the last epoch, relative to
    /// the largest norm among the factors of the view.
    fn movement(&mut self) -> f64 {
        let now: Vec<Mat<f64>> = self
            .model
            .views
            .iter()
            .map(|v| v.weights.moments().mean().to_owned())
            .collect();
        let mut largest: f64 = if self.previous.len() == now.len() {
            0.0
        } else {
            f64::INFINITY
        };
        for (old, new) in self.previous.iter().zip(&now) {
            let (mut moved, mut norm): (f64, f64) = (0.0, 0.0);
            for j in 0..new.ncols() {
                let pairs = old.col_as_slice(j).iter().zip(new.col_as_slice(j));
                moved = moved.max(pairs.map(|(a, b)| (a - b).powi(2)).sum());
                norm = norm.max(new.col_as_slice(j).iter().map(|b| b * b).sum());
            }
            if norm > 0.0 {
                largest = largest.max((moved / norm).sqrt());
            }
        }
        self.previous = now;
        largest
    }
}

fn empty_sums(part: &ViewPart, k: usize) -> ViewSums {
    let columns = part.term.shape().predictor_columns;
    let noise = match part.term.as_noise().map(Noise::scope) {
        None => 0,
        Some(NoiseScope::View) => 1,
        Some(NoiseScope::Column) => columns,
    };
    ViewSums::new(columns, k, noise)
}

pub(super) fn context(key: StreamKey, sweep: usize, journal: &mut Journal) -> Context<'_> {
    Context {
        key: key.sweep(sweep as u64),
        sweep,
        journal,
    }
}

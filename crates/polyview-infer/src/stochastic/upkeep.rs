//! What changes the factors of a stochastic run besides its steps: rotation,
//! pruning, and factors taken out on trial.

use polyview_core::{
    Event, NumericError, Objective, RotationSide, RowCov, RowMoments, State, Stateful,
};
use polyview_linalg::{Mat, PackedRows, SymPacked};

use super::gathered::Gathered;
use super::run::context;
use super::{StochasticError, StochasticRun};
use crate::prune::{PruneRule, TRIAL, empty_factors, hopeless, smallest_first};
use crate::rotation::{RotationOptions, maximise};

impl StochasticRun {
    /// As a run of variational Bayes does, on the running sums.
    pub(super) fn rotate(&mut self, sweep: usize, bound: f64) -> Result<(), StochasticError> {
        let k = self.model.k();
        if k < 2 || self.record.sweep < 2 {
            return Ok(());
        }
        let samples = self.source.samples();
        let mut mean = self.second.clone();
        mean.as_mut_slice()
            .iter_mut()
            .for_each(|x| *x /= samples.max(1) as f64);
        let mut stand_in = (self.factors)(0, k)?;
        stand_in.set_moments(RowMoments::new(
            Mat::zeros(0, k),
            RowCov::Shared(mean),
            0.0,
            samples,
        ));
        let terms: Option<Vec<_>> = std::iter::once(stand_in.rotation_term(RotationSide::Factors))
            .chain(
                self.model
                    .views
                    .iter()
                    .map(|v| v.weights.rotation_term(RotationSide::Weights)),
            )
            .collect();
        let Some(terms) = terms else {
            return Ok(());
        };
        let rotation = maximise(&terms, k, &RotationOptions::default()).map_err(|_| {
            NumericError::NotFinite {
                block: "rotation".into(),
                what: "the objective",
            }
        })?;
        let scale = bound.abs().max(1.0);
        if rotation.gain <= 1e-12 * scale {
            return Ok(());
        }
        let turn = rotation.q.transpose().to_owned();
        let mut cx = context(self.key, sweep, &mut self.record.journal);
        for (view, sums) in self.model.views.iter_mut().zip(&mut self.sums) {
            view.weights.transform(turn.as_ref(), rotation.log_abs_det);
            view.weights.learn(&mut cx)?;
            sums.transform(rotation.q_inverse.as_ref());
        }
        let mut second = PackedRows::repeat(1, &self.second);
        second.congruence(rotation.q_inverse.as_ref());
        self.second = second.sym(0);
        self.model
            .factors
            .transform(rotation.q_inverse.as_ref(), -rotation.log_abs_det);
        if rotation.gain > 1e-6 * scale {
            let event = Event::Rotated {
                gain: rotation.gain,
            };
            self.record.journal.note(sweep, "rotation", event);
        }
        Ok(())
    }

    pub(super) fn prune(&mut self, sweep: usize) -> Result<bool, StochasticError> {
        let mut rule: PruneRule = self.vb.prune;
        if sweep < 10 {
            rule.least_explained = 0.0;
        }
        let k = self.model.k();
        let empty = empty_factors(&self.model, &rule);
        if empty.is_empty() || k <= 1 || sweep < 2 {
            return Ok(false);
        }
        let gone: Vec<usize> = empty.iter().map(|e| e.factor).take(k - 1).collect();
        let keep: Vec<usize> = (0..k).filter(|f| !gone.contains(f)).collect();
        self.keep(&keep)?;
        for (i, e) in empty.iter().take(k - 1).enumerate() {
            let event = Event::Pruned {
                factor: e.factor + 1,
                largest_weight: e.largest_weight,
                explained: e.explained,
                left: k - 1 - i,
            };
            self.record.journal.note(sweep, "", event);
        }
        Ok(true)
    }

    /// Keeps some factors, in that order.
    fn keep(&mut self, keep: &[usize]) -> Result<(), StochasticError> {
        self.model.select(keep, &vec![1.0; keep.len()])?;
        for sums in &mut self.sums {
            sums.select(keep);
        }
        let old = self.second.clone();
        self.second = SymPacked::from_lower(keep.len(), |i, j| old.get(keep[i], keep[j]));
        Ok(())
    }

    /// Takes each factor out on trial in one pass over the data, and for good the one whose
    /// absence raises the bound most, an idle factor in its place; again until there is
    /// none. Whether any went.
    pub(super) fn drop_needless(&mut self, sweep: usize) -> Result<bool, StochasticError> {
        let mut dropped = false;
        while self.drop_most_needless(sweep)? {
            dropped = true;
        }
        if dropped {
            self.update(sweep)?;
            self.previous.clear();
        }
        Ok(dropped)
    }

    fn drop_most_needless(&mut self, sweep: usize) -> Result<bool, StochasticError> {
        let k = self.model.k();
        if k <= 1 {
            return Ok(false);
        }
        let factors = smallest_first(&self.model);
        let mut with = Gathered::default();
        let mut without: Vec<Gathered> = factors.iter().map(|_| Gathered::default()).collect();
        let mut idle = 0.0;
        for ranges in self.batches.in_order() {
            self.load(&ranges)?;
            self.locals()?;
            with.add_part(self.model.objective());
            let mut before = State::new();
            self.model.save_rows(&mut before);
            for (one, bound) in factors.iter().zip(&mut without) {
                let keep: Vec<usize> = (0..k).filter(|f| *f != one.factor).collect();
                self.model.select(&keep, &vec![1.0; k - 1])?;
                bound.add_part(self.model.objective());
                idle = self.model.idle_factor();
                self.model.load_rows(&before.reader())?;
            }
        }
        let goal = with.total() - idle;
        let gains = without.iter().map(|bound| bound.total() - goal);
        let most = factors.iter().zip(gains).max_by(|a, b| a.1.total_cmp(&b.1));
        let Some((one, gain)) = most.filter(|m| m.1 > 0.0) else {
            return Ok(false);
        };
        let event = Event::Needless {
            factor: one.factor + 1,
            explained: one.explained,
            gain,
            left: k - 1,
        };
        self.record.journal.note(sweep, "", event);
        let keep: Vec<usize> = (0..k).filter(|f| *f != one.factor).collect();
        self.keep(&keep)?;
        Ok(true)
    }

    /// Takes the smallest factor out on trial while the others sweep exactly, and for good where
    /// the bound, an idle factor in its place, comes to be higher than with it; again until one
    /// has to stay. Whether any went.
    ///
    /// Epochs with few batches take few steps: they come to rest before faint factors have
    /// handed what they hold to the others, and as long as these do not have it no bound is
    /// higher without.
    pub(super) fn drop_after_sweeps(&mut self, sweep: usize) -> Result<bool, StochasticError> {
        let fixed = |o: Objective| o != Objective::NoGuarantee;
        let mut dropped = false;
        if self.model.views.iter().all(|v| fixed(v.term.objective())) {
            while self.drop_smallest(sweep)? {
                dropped = true;
            }
        }
        if dropped {
            self.previous.clear();
        }
        Ok(dropped)
    }

    fn drop_smallest(&mut self, sweep: usize) -> Result<bool, StochasticError> {
        let k = self.model.k();
        if k <= 1 {
            return Ok(false);
        }
        let mut with = Gathered::default();
        for ranges in self.batches.in_order() {
            self.load(&ranges)?;
            self.locals()?;
            with.add_part(self.model.objective());
        }
        let small = smallest_first(&self.model).swap_remove(0);
        self.load(&[])?;
        let mut before = State::new();
        self.model.save("", &mut before);
        let (sums, second) = (self.sums.clone(), self.second.clone());
        let previous = std::mem::take(&mut self.previous);
        let entries = self.record.journal.entries.len();
        let others: Vec<usize> = (0..k).filter(|f| *f != small.factor).collect();
        self.keep(&others)?;
        let goal = with.total() - self.model.idle_factor();
        let (mut bound, mut gain) = (f64::NAN, f64::NAN);
        for _ in 0..TRIAL {
            let now = Gathered {
                terms: self.exact_sweep()?,
            };
            let gains = (gain, now.total() - bound);
            (bound, gain) = (now.total(), gains.1);
            if bound > goal || hopeless(bound, gains, goal) || !bound.is_finite() {
                break;
            }
        }
        self.record.journal.entries.truncate(entries);
        if bound > goal {
            let event = Event::Needless {
                factor: small.factor + 1,
                explained: small.explained,
                gain: bound - goal,
                left: k - 1,
            };
            self.record.journal.note(sweep, "", event);
            return Ok(true);
        }
        self.load(&[])?;
        self.model.load("", &before.reader())?;
        (self.sums, self.second, self.previous) = (sums, second, previous);
        Ok(false)
    }
}

//! What changes the factors of a stochastic run besides its steps: rotation,
//! pruning, and factors taken out on trial.

use polyview_core::{Event, RotationSide, RowCov, RowMoments, Rule, State, Stateful};
use polyview_linalg::{Mat, PackedRows, SymPacked};

use super::gathered::Gathered;
use super::{Stochastic, StochasticError};
use crate::prune::{TRIAL, hopeless, smallest_first};
use crate::run::RunState;

impl Stochastic {
    /// As a run of variational Bayes does, on the running sums, which turn along.
    pub(super) fn rotate(&mut self, run: &mut RunState) -> Result<(), StochasticError> {
        let k = run.model.k();
        if k < 2 || run.record.sweep < 2 {
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
        let factors = stand_in.rotation_term(RotationSide::Factors);
        if let Some(rotation) = run.rotate(factors, self.vb.tolerance)? {
            for sums in &mut self.sums {
                sums.transform(rotation.q_inverse.as_ref());
            }
            let mut second = PackedRows::repeat(1, &self.second);
            second.congruence(rotation.q_inverse.as_ref());
            self.second = second.sym(0);
        }
        Ok(())
    }

    /// Keeps the sums of some factors, in that order.
    pub(super) fn select(&mut self, keep: &[usize]) {
        for sums in &mut self.sums {
            sums.select(keep);
        }
        let old = self.second.clone();
        self.second = SymPacked::from_lower(keep.len(), |i, j| old.get(keep[i], keep[j]));
    }

    /// Takes each factor out on trial in one pass over the data, and for good the one whose
    /// absence raises the bound most, an idle factor in its place; again until there is
    /// none. Whether any went.
    pub(super) fn drop_needless(&mut self, run: &mut RunState) -> Result<bool, StochasticError> {
        let mut dropped = false;
        while self.drop_most_needless(run)? {
            dropped = true;
        }
        if dropped {
            self.update(run, Rule::Optimum)?;
            run.previous.clear();
        }
        Ok(dropped)
    }

    fn drop_most_needless(&mut self, run: &mut RunState) -> Result<bool, StochasticError> {
        let k = run.model.k();
        if k <= 1 {
            return Ok(false);
        }
        let factors = smallest_first(&run.model);
        let mut with = Gathered::default();
        let mut without: Vec<Gathered> = factors.iter().map(|_| Gathered::default()).collect();
        let mut idle = 0.0;
        for ranges in self.batches.in_order() {
            self.load(run, &ranges)?;
            self.locals(run)?;
            let model = &mut run.model;
            with.add_part(model.objective());
            let mut before = State::new();
            model.save_rows(&mut before);
            for (one, bound) in factors.iter().zip(&mut without) {
                let keep: Vec<usize> = (0..k).filter(|f| *f != one.factor).collect();
                model.select(&keep, &vec![1.0; k - 1])?;
                bound.add_part(model.objective());
                idle = model.idle_factor();
                model.load_rows(&before.reader())?;
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
        run.record.journal.note(run.record.sweep, "", event);
        let keep: Vec<usize> = (0..k).filter(|f| *f != one.factor).collect();
        run.model.select(&keep, &vec![1.0; k - 1])?;
        self.select(&keep);
        Ok(true)
    }

    /// Takes the smallest factor out on trial while the others sweep exactly, and for good where
    /// the bound, an idle factor in its place, comes to be higher than with it; again until one
    /// has to stay. Whether any went.
    ///
    /// Epochs with few batches take few steps: they come to rest before faint factors have
    /// handed what they hold to the others, and as long as these do not have it no bound is
    /// higher without. With the factor, too, sweeps would gain: about `drift` nats each.
    pub(super) fn drop_after_sweeps(
        &mut self,
        run: &mut RunState,
        drift: f64,
    ) -> Result<bool, StochasticError> {
        let mut dropped = false;
        if run.model.is_guaranteed() {
            while self.drop_smallest(run, drift)? {
                dropped = true;
            }
        }
        if dropped {
            run.previous.clear();
        }
        Ok(dropped)
    }

    fn drop_smallest(&mut self, run: &mut RunState, drift: f64) -> Result<bool, StochasticError> {
        let k = run.model.k();
        if k <= 1 {
            return Ok(false);
        }
        let mut with = Gathered::default();
        for ranges in self.batches.in_order() {
            self.load(run, &ranges)?;
            self.locals(run)?;
            with.add_part(run.model.objective());
        }
        let small = smallest_first(&run.model).swap_remove(0);
        self.load(run, &[])?;
        let mut before = State::new();
        run.model.save("", &mut before);
        let (sums, second) = (self.sums.clone(), self.second.clone());
        let previous = std::mem::take(&mut run.previous);
        let entries = run.record.journal.entries.len();
        let others: Vec<usize> = (0..k).filter(|f| *f != small.factor).collect();
        run.model.select(&others, &vec![1.0; k - 1])?;
        self.select(&others);
        let mut goal = with.total() - run.model.idle_factor();
        let (mut bound, mut gain) = (f64::NAN, f64::NAN);
        for _ in 0..TRIAL {
            goal += drift;
            let now = Gathered {
                terms: self.exact_sweep(run)?,
            };
            let gains = (gain, now.total() - bound);
            (bound, gain) = (now.total(), gains.1);
            if bound > goal || hopeless(bound, gains, goal) || !bound.is_finite() {
                break;
            }
        }
        run.record.journal.entries.truncate(entries);
        if bound > goal {
            let event = Event::Needless {
                factor: small.factor + 1,
                explained: small.explained,
                gain: bound - goal,
                left: k - 1,
            };
            run.record.journal.note(run.record.sweep, "", event);
            return Ok(true);
        }
        self.load(run, &[])?;
        run.model.load("", &before.reader())?;
        (self.sums, self.second) = (sums, second);
        run.previous = previous;
        Ok(false)
    }
}

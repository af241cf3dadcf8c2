//! What every strategy works on, and what strategies have in common.

use std::iter;

use polyview_core::{
    Context, Event, NumericError, RotationSide, RotationTerm, State, StateReader, Step,
};
use polyview_linalg::faer::prelude::ReborrowMut;
use polyview_linalg::{Mat, MatRef};
use polyview_random::StreamKey;
use rayon::prelude::*;

use super::momentum::Momentum;
use super::{LONGEST_WAIT, Moving, RunRecord};
use crate::engine::{Engine, run_steps};
use crate::model::Model;
use crate::prune::{PruneRule, drop_empty};
use crate::rotation::{Rotation, RotationOptions, maximise};

/// A model on its way: what a [`Strategy`](super::Strategy) works on.
pub struct RunState {
    /// The model as it stands.
    pub model: Model,
    /// Random streams of the run, of which each sweep has its own.
    pub key: StreamKey,
    /// Sweeps, objective and journal so far.
    pub record: RunRecord,
    /// Means as they were when movement was last asked for.
    pub(crate) previous: Vec<Mat<f64>>,
    /// Whether factors were removed in this sweep.
    pub(super) pruned: bool,
    /// Where sweeps began.
    pub(super) momentum: Momentum,
}

impl RunState {
    pub(super) fn new(model: Model, key: StreamKey) -> Self {
        let record = RunRecord {
            next_rotation: 2,
            rotation_interval: 1,
            ..RunRecord::default()
        };
        Self {
            model,
            key,
            record,
            previous: Vec::new(),
            pruned: false,
            momentum: Momentum::default(),
        }
    }
    /// Counts a sweep, which begins.
    pub(super) fn begin(&mut self) {
        self.record.sweep += 1;
        self.pruned = false;
        self.momentum.taken_back = false;
    }
    /// The model, and what its steps in this sweep may use besides.
    pub fn parts(&mut self) -> (&mut Model, Context<'_>) {
        let sweep = self.record.sweep;
        let cx = Context {
            key: self.key.sweep(sweep as u64),
            sweep,
            journal: &mut self.record.journal,
        };
        (&mut self.model, cx)
    }
    /// Carries out groups of steps in order ([`run_steps`]).
    ///
    /// # Errors
    /// [`NumericError`] from the parts.
    pub fn steps(&mut self, engine: &dyn Engine, groups: &[Vec<Step>]) -> Result<(), NumericError> {
        let (model, mut cx) = self.parts();
        run_steps(engine, groups, model, &mut cx)
    }
    /// Rotates by the exact gain of the bound (spec/mlfs 4.7), whose part of the factors is
    /// `factors`; without one, or where the weights have none, never again. Tells what was
    /// done, if anything was. The next one is due at [`RunRecord::next_rotation`]: one that
    /// gains less than `tolerance`, relative to the bound, can wait.
    ///
    /// # Errors
    /// [`NumericError`] on numbers that are not finite.
    pub fn rotate(
        &mut self,
        factors: Option<Box<dyn RotationTerm>>,
        tolerance: f64,
    ) -> Result<Option<Rotation>, NumericError> {
        let of_weights = self.model.views.iter();
        let of_weights = of_weights.map(|v| v.weights.rotation_term(RotationSide::Weights));
        let terms: Option<Vec<_>> = iter::once(factors).chain(of_weights).collect();
        let Some(terms) = terms else {
            self.record.next_rotation = usize::MAX;
            return Ok(None);
        };
        let rotation =
            maximise(&terms, self.model.k(), &RotationOptions::default()).map_err(|_| {
                NumericError::NotFinite {
                    block: "rotation".into(),
                    what: "the objective",
                }
            })?;
        let record = &mut self.record;
        let (sweep, gain) = (record.sweep, rotation.gain);
        let scale = record.ledger.last().map_or(1.0, f64::abs).max(1.0);
        record.rotation_interval = if gain > tolerance * scale {
            1
        } else {
            (2 * record.rotation_interval).min(LONGEST_WAIT)
        };
        record.next_rotation = sweep + record.rotation_interval;
        let worthwhile = gain > 1e-12 * scale;
        if !worthwhile {
            return Ok(None);
        }
        self.momentum.rotated(rotation.q_inverse.as_ref());
        let (model, mut cx) = self.parts();
        let Model { factors, views, .. } = model;
        factors.transform(rotation.q_inverse.as_ref(), -rotation.log_abs_det);
        factors.learn_turned(&mut cx)?;
        let turn = rotation.q.transpose().to_owned();
        for view in views {
            view.weights.transform(turn.as_ref(), rotation.log_abs_det);
            view.weights.learn_turned(&mut cx)?;
        }
        if gain > 1e-6 * scale {
            cx.journal.note(sweep, "rotation", Event::Rotated { gain });
        }
        Ok(Some(rotation))
    }
    /// Removes the factors that are empty by the rule; which ones stay, if any went.
    ///
    /// # Errors
    /// [`NumericError`] when a covariance is not positive definite.
    pub fn prune(&mut self, rule: &PruneRule) -> Result<Option<Vec<usize>>, NumericError> {
        let (model, mut cx) = self.parts();
        let kept = drop_empty(model, rule, &mut cx)?;
        self.pruned |= kept.is_some();
        Ok(kept)
    }
    /// Largest change of the weights, and of the `factors` if these count, of one factor
    /// since it was last asked for, relative to the largest norm among the factors of that
    /// block. Infinite the first time, and where factors were removed.
    pub fn movement(&mut self, factors: bool) -> f64 {
        if self.pruned || self.momentum.taken_back {
            self.previous.clear();
            return f64::INFINITY;
        }
        let of_weights = self.model.views.iter().map(|v| v.weights.moments().mean());
        let blocks: Vec<MatRef<'_, f64>> = iter::once(self.model.factors.moments().mean())
            .filter(|_| factors)
            .chain(of_weights)
            .collect();
        let comparable = self.previous.len() == blocks.len()
            && (self.previous.iter().zip(&blocks)).all(|(a, b)| a.ncols() == b.ncols());
        if !comparable {
            self.previous = blocks.iter().map(MatRef::to_owned).collect();
            return f64::INFINITY;
        }
        let moves = self.previous.iter_mut().zip(&blocks);
        let moves: Vec<(f64, usize)> = moves.map(|(old, new)| moved(old, *new)).collect();
        let most = moves.iter().map(|m| m.0).fold(0.0, f64::max);
        let at = moves.iter().position(|m| m.0 == most);
        self.record.moving = at.map(|at| Moving {
            // the factors come first, where they count; the views are last
            view: (at + self.model.views.len())
                .checked_sub(blocks.len())
                .map(|m| self.model.views[m].name.clone()),
            factor: moves[at].1 + 1,
            share: most,
        });
        most
    }
    /// Whether this sweep and the one before were quiet: nothing moved beyond the
    /// tolerances of the strategy, and no factor was removed.
    pub fn rests(&mut self, quiet: bool) -> bool {
        let quiet = quiet && !self.pruned && !self.momentum.taken_back;
        self.record.quiet = if quiet { self.record.quiet + 1 } else { 0 };
        self.record.quiet >= 2
    }
    /// What was at rest has been disturbed.
    pub(crate) fn disturb(&mut self) {
        self.record.quiet = 0;
        self.previous.clear();
        self.momentum.forget();
    }
    /// Notes that the bound is lower than after the sweep before, unless factors went.
    pub(crate) fn note_fall(&mut self) {
        let mut totals = self.record.ledger.rows.iter().rev().map(|r| r.total);
        if let (Some(after), Some(before), false) = (totals.next(), totals.next(), self.pruned) {
            let event = Event::BoundFell { before, after };
            self.record.journal.note(self.record.sweep, "", event);
        }
    }
    pub(super) fn save_previous(&self, prefix: &str, state: &mut State) {
        for (i, m) in self.previous.iter().enumerate() {
            state.put_mat(&format!("{prefix}previous/{i}"), m.as_ref());
        }
        self.momentum.save(prefix, state);
    }
    pub(super) fn load_previous(
        &mut self,
        prefix: &str,
        state: &StateReader<'_>,
    ) -> Result<(), NumericError> {
        let name = |i: usize| format!("{prefix}previous/{i}");
        let names = (0..).map(name).take_while(|name| state.has(name));
        self.previous = names
            .map(|name| state.mat(&name))
            .collect::<Result<_, _>>()?;
        self.momentum.load(prefix, state)
    }
}

/// Partial sums of a column, which do not wait for each other.
const LANES: usize = 8;

/// Largest change of a column, relative to the largest column, and which it is; takes over the new
/// ones.
fn moved(old: &mut Mat<f64>, new: MatRef<'_, f64>) -> (f64, usize) {
    let columns: Vec<(f64, f64)> = old
        .as_mut()
        .par_col_chunks_mut(1)
        .zip(new.par_col_chunks(1))
        .map(|(mut old, new)| {
            let (mut difference, mut size) = ([0.0; LANES], [0.0; LANES]);
            let mut step = |lane: usize, old: &mut f64, new: f64| {
                difference[lane] += (new - *old).powi(2);
                size[lane] += new.powi(2);
                *old = new;
            };
            let (mut old, new) = (old.rb_mut().col_mut(0), new.col(0));
            match (old.rb_mut().try_as_col_major_mut(), new.try_as_col_major()) {
                (Some(old), Some(new)) => {
                    let old = old.as_slice_mut().chunks_mut(LANES);
                    for (old, new) in old.zip(new.as_slice().chunks(LANES)) {
                        for (lane, (old, new)) in old.iter_mut().zip(new).enumerate() {
                            step(lane, old, *new);
                        }
                    }
                }
                _ => {
                    for (i, (old, new)) in old.iter_mut().zip(new.iter()).enumerate() {
                        step(i % LANES, old, *new);
                    }
                }
            }
            (difference.iter().sum(), size.iter().sum())
        })
        .collect();
    let norm = columns.iter().map(|c| c.1).fold(0.0, f64::max);
    let (mut moved, mut at) = (0.0, 0);
    for (k, (difference, _)) in columns.iter().enumerate() {
        if *difference > moved {
            (moved, at) = (*difference, k);
        }
    }
    if norm > 0.0 {
        ((moved / norm).sqrt(), at)
    } else {
        (0.0, 0)
    }
}

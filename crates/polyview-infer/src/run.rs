//! One run of variational Bayes: sweeps, rotation, pruning, convergence.

use std::fmt;

use polyview_core::{
    Context, Event, Journal, Ledger, NumericError, Objective, RotationSide, RowCov, Rule, State,
    StateReader, Stateful, Step,
};
use polyview_linalg::{Mat, MatRef};
use polyview_random::StreamKey;
use rayon::prelude::*;
use serde::{Deserialize, Serialize};

use crate::engine::{Vb, run_steps, step_groups};
use crate::model::{Model, ViewPart};
use crate::prune::{PruneRule, drop_after_sweeps, drop_empty, drop_needless};
use crate::rotation::{RotationOptions, maximise};

/// When a run ends and what it does on the way.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields, default)]
pub struct VbOptions {
    /// Most sweeps.
    pub max_sweeps: usize,
    /// Largest relative change of the bound at convergence.
    pub tolerance: f64,
    /// Largest change of weights and factors at convergence, relative to the
    /// largest factor.
    pub movement: f64,
    /// Whether factors and weights are rotated on the bound.
    pub rotate: Rotate,
    /// When a factor is removed.
    pub prune: PruneRule,
    /// Whether the bound is checked after every block.
    pub audit: Audit,
    /// How far updates go of factors and weights that have precisions of their
    /// own (missing cells, labels, counts, ranks): 1 is the optimum given
    /// everything else, and between 0 and 2 the bound does not fall. Beyond 1
    /// (over-relaxation) fewer sweeps are needed where steps are short, as those
    /// of rank views are. Spike-and-slab rows, whose bound is no quadratic, go to
    /// their optimum whatever it is.
    #[serde(skip_serializing_if = "is_one")]
    pub relaxation: f64,
}

/// Whether updates go to the optimum.
fn is_one(relaxation: &f64) -> bool {
    *relaxation == 1.0
}

impl Default for VbOptions {
    fn default() -> Self {
        Self {
            max_sweeps: 2000,
            tolerance: 1e-7,
            movement: 1e-3,
            rotate: Rotate::InLoop,
            prune: PruneRule::default(),
            audit: Audit::Sweeps,
            relaxation: 1.0,
        }
    }
}

/// Whether factors and weights are rotated.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Rotate {
    /// Never.
    Off,
    /// At the start of a sweep, by the exact gain of the bound; less often
    /// while it gains nothing.
    #[default]
    InLoop,
}

/// How closely the bound is watched.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Audit {
    /// After each sweep; a fall is noted in the journal.
    #[default]
    Sweeps,
    /// After each block; a fall is an error that names the block.
    Blocks,
}

/// How a run ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum Outcome {
    /// Neither the bound nor factors and weights move any more.
    Converged,
    /// The limit of sweeps was reached.
    MaxSweeps,
    /// Somebody stopped it.
    Interrupted,
}

impl fmt::Display for Outcome {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Converged => "converged",
            Self::MaxSweeps => "stopped at the limit of sweeps before it converged",
            Self::Interrupted => "interrupted",
        })
    }
}

/// What one sweep did.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SweepReport {
    /// The sweep, from 1.
    pub sweep: usize,
    /// Bound after it, nats.
    pub bound: f64,
    /// Relative change of the bound.
    pub change: f64,
    /// Largest relative movement of a factor or its weights.
    pub movement: f64,
    /// Factors left.
    pub factors: usize,
    /// Set when the run is over.
    pub outcome: Option<Outcome>,
}

/// What a run remembers besides the model, in words and numbers.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct RunRecord {
    /// Sweeps done.
    pub sweep: usize,
    /// Quiet sweeps in a row.
    pub quiet: usize,
    /// Sweep of the next rotation and the present interval.
    pub next_rotation: usize,
    /// Sweeps between rotations now.
    pub rotation_interval: usize,
    /// Bound by term and sweep.
    pub ledger: Ledger,
    /// What happened.
    pub journal: Journal,
}

/// A run of variational Bayes in progress.
pub struct VbRun {
    model: Model,
    options: VbOptions,
    key: StreamKey,
    record: RunRecord,
    previous: Vec<Mat<f64>>,
}

/// Sweeps before updates go beyond the optimum: first ones come from starts
/// that mean nothing.
const BEFORE_RELAXATION: usize = 3;

/// Relative fall of the bound that counts as one.
pub const FALL: f64 = 1e-9;

impl VbRun {
    /// A run from a model whose blocks have their starting values.
    pub fn new(model: Model, options: VbOptions, key: StreamKey, journal: Journal) -> Self {
        let record = RunRecord {
            journal,
            next_rotation: 2,
            rotation_interval: 1,
            ..RunRecord::default()
        };
        Self {
            model,
            options,
            key,
            record,
            previous: Vec::new(),
        }
    }
    /// The model as it stands.
    pub fn model(&self) -> &Model {
        &self.model
    }
    /// Write access to the model.
    pub fn model_mut(&mut self) -> &mut Model {
        &mut self.model
    }
    /// Sweeps, bound and journal so far.
    pub fn record(&self) -> &RunRecord {
        &self.record
    }
    /// Takes the run apart.
    pub fn into_parts(self) -> (Model, RunRecord) {
        (self.model, self.record)
    }

    /// One sweep.
    ///
    /// # Errors
    /// [`NumericError`] from the parts; [`NumericError::BoundFell`] under
    /// [`Audit::Blocks`].
    pub fn sweep(&mut self) -> Result<SweepReport, NumericError> {
        self.record.sweep += 1;
        let sweep = self.record.sweep;
        let before = self.record.ledger.last();
        let guaranteed = self.guaranteed();
        let engine = self.engine(sweep);
        let audit = self.options.audit == Audit::Blocks && sweep > 1 && guaranteed;
        let mut last = if audit {
            Some(self.model.bound())
        } else {
            None
        };
        let mut pruned = false;
        let mut groups = step_groups(&self.model.schedule);
        if audit {
            groups = groups.concat().into_iter().map(|s| vec![s]).collect();
        }
        // a step that concerns the number of factors or their basis stands alone
        let own = |group: &[Step]| matches!(group, [Step::Rotate | Step::Prune]);
        for part in groups.chunk_by(|a, b| !audit && !own(a) && !own(b)) {
            if part == [[Step::Rotate]] {
                if self.options.rotate == Rotate::InLoop && sweep >= self.record.next_rotation {
                    self.rotate(sweep, before)?;
                }
            } else if part == [[Step::Prune]] {
                let rule = &self.options.prune;
                let journal = &mut self.record.journal;
                let dropped = drop_empty(&mut self.model, rule, sweep, journal)?;
                pruned |= dropped;
                if dropped && audit {
                    last = Some(self.model.bound());
                }
                continue;
            } else {
                let mut cx = Context {
                    key: self.key.sweep(sweep as u64),
                    sweep,
                    journal: &mut self.record.journal,
                };
                run_steps(&engine, part, &mut self.model, &mut cx)?;
            }
            if let (Some(old), [step]) = (last, part.concat().as_slice()) {
                let new = self.model.bound();
                fell(&self.model.block_name(*step), old, new)?;
                last = Some(new);
            }
        }
        let terms = self.model.objective();
        let bound = self.record.ledger.push(sweep, self.model.k(), terms);
        if !bound.is_finite() {
            return Err(NumericError::NotFinite {
                block: "model".into(),
                what: "the bound",
            });
        }
        let change = before.map_or(f64::INFINITY, |b| (bound - b) / bound.abs().max(1.0));
        if change < -FALL && !pruned && guaranteed {
            let event = Event::BoundFell {
                before: before.unwrap_or(bound),
                after: bound,
            };
            self.record.journal.note(sweep, "", event);
        }
        let movement = if pruned {
            self.previous.clear();
            f64::INFINITY
        } else {
            self.movement()
        };
        let quiet =
            !pruned && change.abs() <= self.options.tolerance && movement <= self.options.movement;
        self.record.quiet = if quiet { self.record.quiet + 1 } else { 0 };
        if self.record.quiet >= 2
            && self.options.prune.by_bound
            && guaranteed
            && sweep < self.options.max_sweeps
            && self.drop_on_trial(bound)?
        {
            self.record.quiet = 0;
            self.previous.clear();
        }
        let outcome = if self.record.quiet >= 2 {
            Some(Outcome::Converged)
        } else if sweep >= self.options.max_sweeps {
            Some(Outcome::MaxSweeps)
        } else {
            None
        };
        if let Some(o) = outcome {
            self.record.journal.note(
                sweep,
                "",
                Event::Ended {
                    outcome: o.to_string(),
                },
            );
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

    /// Takes factors out on trial; whether one of them stayed out.
    fn drop_on_trial(&mut self, bound: f64) -> Result<bool, NumericError> {
        let sweep = self.record.sweep;
        if drop_needless(&mut self.model, bound, sweep, &mut self.record.journal)? {
            return Ok(true);
        }
        let engine = self.engine(sweep);
        let mut cx = Context {
            key: self.key.sweep(sweep as u64),
            sweep,
            journal: &mut self.record.journal,
        };
        drop_after_sweeps(&mut self.model, bound, engine, &mut cx)
    }
    /// Whether no step can lower the objective.
    fn guaranteed(&self) -> bool {
        let fixed = |v: &ViewPart| v.term.objective() != Objective::NoGuarantee;
        self.model.views.iter().all(fixed)
    }
    /// How this sweep is carried out. Beyond the optimum only where it is that of an
    /// objective which the steps do not change: one that is chosen anew in every sweep
    /// (extreme partners of ranks) is overshot further each time.
    fn engine(&self, sweep: usize) -> Vb {
        let relaxed = sweep > BEFORE_RELAXATION && self.guaranteed();
        Vb {
            rule: if relaxed {
                Rule::Relaxed(self.options.relaxation)
            } else {
                Rule::Optimum
            },
        }
    }

    /// Largest change of a factor or of its weights since the last sweep,
    /// relative to the largest norm among the factors of that block.
    fn movement(&mut self) -> f64 {
        let blocks: Vec<MatRef<'_, f64>> = std::iter::once(self.model.factors.moments().mean())
            .chain(self.model.views.iter().map(|v| v.weights.moments().mean()))
            .collect();
        let mut largest: f64 = 0.0;
        let fits = self.previous.len() == blocks.len()
            && self
                .previous
                .iter()
                .zip(&blocks)
                .all(|(a, b)| a.ncols() == b.ncols());
        if fits {
            for (old, new) in self.previous.iter_mut().zip(&blocks) {
                let columns: Vec<(f64, f64)> = old
                    .as_mut()
                    .par_col_chunks_mut(1)
                    .zip(new.par_col_chunks(1))
                    .map(|(mut old, new)| {
                        let (mut difference, mut size) = (0.0, 0.0);
                        for r in 0..new.nrows() {
                            difference += (new[(r, 0)] - old[(r, 0)]).powi(2);
                            size += new[(r, 0)].powi(2);
                            old[(r, 0)] = new[(r, 0)];
                        }
                        (difference, size)
                    })
                    .collect();
                let (moved, norm) = columns
                    .iter()
                    .fold((0.0_f64, 0.0_f64), |m, c| (m.0.max(c.0), m.1.max(c.1)));
                if norm > 0.0 {
                    largest = largest.max((moved / norm).sqrt());
                }
            }
            largest
        } else {
            self.previous = blocks.iter().map(MatRef::to_owned).collect();
            f64::INFINITY
        }
    }

    /// spec/mlfs 4.7: rotates by the exact gain of the bound, and less often
    /// while there is none.
    fn rotate(&mut self, sweep: usize, bound: Option<f64>) -> Result<(), NumericError> {
        let model = &mut self.model;
        let k = model.k();
        let mut terms = Vec::with_capacity(1 + model.views.len());
        terms.push(model.factors.rotation_term(RotationSide::Factors));
        terms.extend(
            model
                .views
                .iter()
                .map(|v| v.weights.rotation_term(RotationSide::Weights)),
        );
        let draws = matches!(model.factors.moments().cov(), RowCov::Zero);
        let Some(terms) = terms
            .into_iter()
            .collect::<Option<Vec<_>>>()
            .filter(|t| !t.is_empty() && !draws)
        else {
            self.record.next_rotation = usize::MAX;
            return Ok(());
        };
        let rotation = maximise(&terms, k, &RotationOptions::default()).map_err(|_| {
            NumericError::NotFinite {
                block: "rotation".into(),
                what: "the objective",
            }
        })?;
        let scale = bound.map_or(1.0, f64::abs).max(1.0);
        let worthwhile = rotation.gain > 1e-12 * scale;
        if worthwhile {
            model
                .factors
                .transform(rotation.q_inverse.as_ref(), -rotation.log_abs_det);
            let mut cx = Context {
                key: self.key.sweep(sweep as u64),
                sweep,
                journal: &mut self.record.journal,
            };
            model.factors.learn(&mut cx)?;
            let turn = rotation.q.transpose().to_owned();
            for view in &mut model.views {
                view.weights.transform(turn.as_ref(), rotation.log_abs_det);
                view.weights.learn(&mut cx)?;
            }
            if rotation.gain > 1e-6 * scale {
                self.record.journal.note(
                    sweep,
                    "rotation",
                    Event::Rotated {
                        gain: rotation.gain,
                    },
                );
            }
        }
        // a rotation that gains little next to the tolerance can wait
        self.record.rotation_interval = if rotation.gain > self.options.tolerance * scale {
            1
        } else {
            (2 * self.record.rotation_interval).min(16)
        };
        self.record.next_rotation = sweep + self.record.rotation_interval;
        Ok(())
    }

    /// Writes everything needed to go on, bit for bit; the words go into the
    /// returned record.
    pub fn save(&self, state: &mut State) -> RunRecord {
        self.model.save("", state);
        for (i, m) in self.previous.iter().enumerate() {
            state.put_mat(&format!("previous/{i}"), m.as_ref());
        }
        self.record.clone()
    }

    /// As [`VbRun::save`], at the end of the run's life: nothing large is there
    /// twice.
    pub fn give_up(self, state: &mut State) -> RunRecord {
        let Self {
            model,
            record,
            previous,
            ..
        } = self;
        let Model { factors, views, .. } = model;
        for view in views {
            view.give_up("", state);
        }
        factors.give_up("factors", state);
        for (i, m) in previous.iter().enumerate() {
            state.put_mat(&format!("previous/{i}"), m.as_ref());
        }
        record
    }

    /// Goes on from what [`VbRun::save`] wrote. The run must have been made
    /// from the same data and choices.
    ///
    /// # Errors
    /// [`NumericError::BadState`] when an array is absent or misshapen.
    pub fn resume(
        &mut self,
        record: RunRecord,
        state: &StateReader<'_>,
    ) -> Result<(), NumericError> {
        self.model.load("", state)?;
        self.previous.clear();
        while state.has(&format!("previous/{}", self.previous.len())) {
            let m = state.mat(&format!("previous/{}", self.previous.len()))?;
            self.previous.push(m);
        }
        self.record = record;
        Ok(())
    }
}

fn fell(block: &str, before: f64, after: f64) -> Result<(), NumericError> {
    if after < before - FALL * before.abs().max(1.0) || after.is_nan() {
        return Err(NumericError::BoundFell {
            block: block.to_owned(),
            before,
            after,
        });
    }
    Ok(())
}

//! Variational Bayes: sweeps in the order of the schedule until nothing moves.

use polyview_core::{Journal, Ledger, NumericError, RotationSide, RowCov, Rule, Step, Term};
use polyview_random::StreamKey;
use serde::{Deserialize, Serialize};

use super::{Outcome, Resumable, Run, RunState, Strategy, SweepReport};
use crate::engine::{Vb, step_groups};
use crate::model::Model;
use crate::prune::{PruneRule, drop_on_trial};

/// When a run ends and what it does on the way.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields, default)]
pub struct VbOptions {
    /// Most sweeps.
    pub max_sweeps: usize,
    /// Largest relative change of the bound in a sweep at convergence. What further sweeps would
    /// gain, a thousand of them at most, is by the estimate no more than ten times that then, or a tenth of a nat if that is more.
    pub tolerance: f64,
    /// Largest change of weights and factors at convergence, relative to the
    /// largest factor.
    pub movement: f64,
    /// Whether factors and weights are rotated on the bound.
    pub rotate: Rotate,
    /// When a factor is removed.
    pub prune: PruneRule,
    /// Whether the bound is checked after every block, where no sweep keeps its tangents
    /// (docs/decisions/0109-tangents-are-kept.md).
    pub audit: Audit,
    /// How far updates go of factors and weights that have precisions of their
    /// own (missing cells, labels, counts, ranks): 1 is the optimum given
    /// everything else, and between 0 and 2 the bound does not fall. Beyond 1
    /// (over-relaxation) fewer sweeps are needed where steps are short, as those
    /// of rank views are. Spike-and-slab rows, whose bound is no quadratic, go to
    /// their optimum whatever it is.
    #[serde(skip_serializing_if = "is_one")]
    pub relaxation: f64,
    /// Whether sweeps begin beyond where the one before ended, by a share of the step from the
    /// end before that one, in factors and in the scales of priors. The share grows
    /// while the bound rises; a sweep that ends lower is taken back, and the next one begins
    /// where the last good one ended (docs/decisions/0085-momentum-and-the-end.md). On by default.
    #[serde(skip_serializing_if = "is_true")]
    pub momentum: bool,
    /// Whether noise comes down before factors are judged: while the likelihood of a view rises by more than a tenth
    /// of a nat per cell in each sweep, factors are neither turned nor removed, and weights that choose
    /// their entries take all of them, under factors that stay where the start put them beside views with noise of their own. Noise begins at the variance of the
    /// data, beside which small factors look empty (docs/decisions/0099-noise-first.md). On by default.
    #[serde(skip_serializing_if = "is_true")]
    pub noise_first: bool,
}

/// Whether a choice that is on by default is.
fn is_true(choice: &bool) -> bool {
    *choice
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
            momentum: true,
            noise_first: true,
        }
    }
}

impl VbOptions {
    /// The first option that is out of its range, and its value in words.
    pub fn fault(&self) -> Option<(&'static str, String)> {
        let between = |x: f64, most: f64| x > 0.0 && x < most;
        let share = |x: f64| (0.0..1.0).contains(&x);
        let PruneRule {
            energy_ratio,
            largest_weight,
            least_explained,
            by_bound: _,
        } = self.prune;
        let checks = [
            ("tolerance", self.tolerance, between(self.tolerance, 1.0)),
            ("movement", self.movement, between(self.movement, 1.0)),
            ("relaxation", self.relaxation, between(self.relaxation, 2.0)),
            ("energy-ratio", energy_ratio, share(energy_ratio)),
            ("largest-weight", largest_weight, share(largest_weight)),
            ("least-explained", least_explained, share(least_explained)),
        ];
        if self.max_sweeps == 0 {
            return Some(("max-sweeps", "0".to_owned()));
        }
        let wrong = checks.iter().find(|c| !c.2);
        wrong.map(|(name, value, _)| (*name, value.to_string()))
    }
}

/// Whether factors and weights are rotated.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Rotate {
    /// Never.
    Off,
    /// At the start of a sweep, by the exact gain of the bound; less often
    /// while it gains nothing. Likewise the means of the factors of labels and
    /// counts go to the intercepts.
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

/// A run of variational Bayes.
pub type VbRun = Run<VbOptions>;

/// Sweeps before updates go beyond the optimum: first ones come from starts
/// that mean nothing.
const BEFORE_RELAXATION: usize = 3;

/// Relative fall of the bound that counts as one.
pub(crate) const FALL: f64 = 1e-9;

impl Run<VbOptions> {
    /// A run from a model whose blocks have their starting values.
    pub fn new(model: Model, options: VbOptions, key: StreamKey, journal: Journal) -> Self {
        let mut run = Self::of(model, options, key);
        run.state.record.journal = journal;
        run
    }
}

impl Strategy for VbOptions {
    type Error = NumericError;

    fn sweep(&mut self, run: &mut RunState) -> Result<Vec<Term<String>>, NumericError> {
        if self.rotate == Rotate::InLoop
            && run.record.sweep >= run.record.next_centring.max(2)
            && run.model.is_guaranteed()
        {
            run.centre(self.tolerance);
        }
        let kept = if self.momentum && run.model.is_guaranteed() {
            run.push_on()
        } else {
            None
        };
        // it is taken back as a whole where it leads down
        let held = kept.is_some()
            && self.audit == Audit::Sweeps
            && run.record.sweep > run.record.next_held
            && gains_little(run);
        if held {
            run.model.hold(true);
        }
        let done = self.steps(run);
        if held {
            run.model.hold(false);
        }
        match kept {
            Some(kept) => run.weigh((kept, held), done),
            None => done.map(|()| run.model.objective()),
        }
    }

    fn judge(
        &mut self,
        run: &mut RunState,
        report: &mut SweepReport,
    ) -> Result<Option<Outcome>, NumericError> {
        report.finite()?;
        let guaranteed = run.model.is_guaranteed();
        if report.change < -FALL && guaranteed {
            run.note_fall();
        }
        report.movement = run.movement(true);
        let still = report.movement <= self.movement;
        let quiet = report.change.abs() <= self.tolerance && still;
        let mut rests = run.rests(quiet) && self.has_little_left(run);
        let last = report.sweep >= self.max_sweeps;
        if rests {
            rests = last || !run.follow_at_rest(report);
        } else if !last {
            run.follow_when_due(report);
        }
        if rests && self.prune.by_bound && guaranteed && !last {
            let engine = self.engine(run);
            let (model, mut cx) = run.parts();
            if drop_on_trial(model, report.bound, engine, &mut cx)? {
                run.disturb();
                rests = false;
            }
        }
        Ok(Outcome::of(rests, last))
    }
}

impl Resumable for VbOptions {}

/// How many times what a sweep may gain at convergence all further ones may, and what they may
/// gain in any case, nats.
const LEFT: f64 = 10.0;
const LITTLE: f64 = 0.1;

impl VbOptions {
    /// What all further sweeps may still gain at convergence, by their estimate
    /// ([`Ledger::most_left`](polyview_core::Ledger::most_left)), of a bound of so many nats: ten times the tolerance of it, or a tenth
    /// of a nat if that is more.
    pub fn enough_left(&self, bound: f64) -> f64 {
        (LEFT * self.tolerance * bound.abs()).max(LITTLE)
    }
    /// Whether the bound, by its last sweeps, has next to nothing to gain any more: a crawl in short
    /// steps is no end. Without a guarantee steps of the bound say nothing of that.
    fn has_little_left(&self, run: &RunState) -> bool {
        !run.model.is_guaranteed() || self.leaves_little(&run.record.ledger, usize::MAX)
    }
    /// Whether a bound, by no more than so many last `sweeps`, has next to nothing to gain any more; not known of fewer than
    /// five with as many factors.
    pub(crate) fn leaves_little(&self, ledger: &Ledger, sweeps: usize) -> bool {
        let known = ledger.last().zip(ledger.most_left_of(sweeps));
        known.is_some_and(|(bound, left)| left <= self.enough_left(bound))
    }
    /// One sweep in the order of the schedule.
    fn steps(&self, run: &mut RunState) -> Result<(), NumericError> {
        let samples = run.model.factors.moments().rows();
        let early = self.noise_first && run.noise_comes_down(samples);
        let engine = if early && run.model.chooses_entries() {
            Vb { rule: Rule::Dense }
        } else {
            self.engine(run)
        };
        let groups = if early {
            run.steps_while_noise_comes_down()
        } else {
            step_groups(&run.model.schedule)
        };
        if self.audit == Audit::Blocks && run.record.sweep > 1 && run.model.is_guaranteed() {
            let mut before = run.model.bound();
            for step in groups.concat() {
                self.carry_out(run, engine, &[vec![step]])?;
                let after = run.model.bound();
                // without a factor it is the bound of another model
                if step != Step::Prune {
                    fell(&run.model.block_name(step), before, after)?;
                }
                before = after;
            }
        } else {
            // a step that concerns the number of factors or their basis stands alone
            let own = |group: &[Step]| matches!(group, [Step::Rotate | Step::Prune]);
            for part in groups.chunk_by(|a, b| !own(a) && !own(b)) {
                self.carry_out(run, engine, part)?;
            }
        }
        Ok(())
    }
    /// Groups of steps that one engine carries out, or one that concerns the basis of
    /// the factors or their number.
    fn carry_out(
        &self,
        run: &mut RunState,
        engine: Vb,
        part: &[Vec<Step>],
    ) -> Result<(), NumericError> {
        if part == [[Step::Prune]] {
            run.prune(&self.prune)?;
        } else if part != [[Step::Rotate]] {
            run.steps(&engine, part)?;
        } else if self.rotate == Rotate::InLoop
            && run.record.sweep >= run.record.next_rotation
            && !climbs(run)
        {
            let factors = &run.model.factors;
            let draws = matches!(factors.moments().cov(), RowCov::Zero);
            let factors = factors.rotation_term(RotationSide::Factors);
            run.rotate(factors.filter(|_| !draws), self.tolerance)?;
        }
        Ok(())
    }
    /// How this sweep is carried out. Beyond the optimum only where it is that of an
    /// objective which the steps do not change: one that is chosen anew in every sweep
    /// (extreme partners of ranks) is overshot further each time.
    fn engine(&self, run: &RunState) -> Vb {
        let relaxed = run.record.sweep > BEFORE_RELAXATION && run.model.is_guaranteed();
        Vb {
            rule: if relaxed {
                Rule::Relaxed(self.relaxation)
            } else {
                Rule::Optimum
            },
        }
    }
}

/// Gain of a sweep, relative to the bound, of models of tangents alone, up to which they are
/// not rotated.
const CLIMBING: f64 = 1e-2;

/// Gain of a sweep, relative to the bound, from which on sweeps keep their tangents: before, these change within a
/// sweep by as much as weights do.
const NEAR: f64 = 1e-3;

/// Whether the last sweep gained so little.
fn gains_little(run: &RunState) -> bool {
    match run.record.ledger.rows[..] {
        [.., ref before, ref last] => last.total - before.total <= NEAR * last.total.abs(),
        _ => false,
    }
}

/// Whether steps that tangents hold back are still on their way to data of which these say little
/// yet: the prior of weights that are about to grow would turn them into others, and empty
/// factors that the data need. Views whose equations hold as they are know their weights after
/// one sweep, and hold the factors for all.
fn climbs(run: &mut RunState) -> bool {
    let tangents = (run.model.views.iter_mut()).all(|v| v.term.as_tangents().is_some());
    let totals: Vec<f64> = run.record.ledger.totals().collect();
    match totals[..] {
        [.., before, last] => tangents && last - before > CLIMBING * last.abs(),
        _ => tangents,
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

//! Sweeps that begin beyond where the one before ended (docs/decisions/0077-momentum.md,
//! docs/decisions/0085-momentum-and-the-end.md).

use polyview_core::{NumericError, State, StateReader, Stateful, Term, compensated};
use polyview_linalg::{Mat, MatRef, times_small};

use super::RunState;
use crate::model::Model;

/// Sweeps before any goes beyond its beginning: the first ones choose among optima, and one that
/// was carried past the choice ended lower (docs/decisions/0085-momentum-and-the-end.md).
const BEFORE: usize = 20;

/// How the share of a step grows with each sweep that is kept, and its upper end: at 1 a step
/// would never die down.
const GROWTH: (f64, f64) = (1.1, 0.05);
const MOST: f64 = 0.98;

/// A share that is not worth going on with once a sweep was taken back.
const LEAST: f64 = 0.15;

/// Sweeps that are watched, at first, after one that kept its tangents was taken back.
const SHORTEST_WATCH: usize = 8;

/// Relative fall of the bound that is rounding.
const ROUNDING: f64 = 1e-12;

/// Where sweeps begin.
#[derive(Default)]
pub(super) struct Momentum {
    /// End of the sweep before the last one.
    before: Option<Place>,
    /// Whether the present sweep was taken back.
    pub(super) taken_back: bool,
    /// What was kept last, whose memory serves again.
    spare: State,
}

/// What is carried on of the end of a sweep.
struct Place {
    /// Means of the factors, samples × K.
    factors: Mat<f64>,
    /// Scales of all priors, those of the factors first; none where a rotation came between.
    scales: Vec<f64>,
}

impl Place {
    fn of(model: &Model) -> Self {
        let mut scales = model.factors.scales_at();
        for view in &model.views {
            scales.extend(view.weights.scales_at());
        }
        Self {
            factors: model.factors.moments().mean().to_owned(),
            scales,
        }
    }
}

/// A model as it was at the end of a sweep.
pub(super) struct Kept {
    state: State,
    bound: f64,
    /// Lines of the journal then.
    lines: usize,
    rotation: (usize, usize),
    centring: (usize, usize),
}

impl Momentum {
    /// Nothing is known of the sweeps before any more.
    pub(super) fn forget(&mut self) {
        self.before = None;
    }
    /// Factors were multiplied by `turn` (K × K) from the right.
    pub(super) fn rotated(&mut self, turn: MatRef<'_, f64>) {
        if let Some(before) = &mut self.before {
            before.factors = times_small(before.factors.as_ref(), turn);
            before.scales.clear();
        }
    }
    /// Factors were moved, all samples by the same, one number for each factor.
    pub(super) fn shifted(&mut self, by: &[f64]) {
        if let Some(before) = &mut self.before {
            let z = &mut before.factors;
            for (j, by) in by.iter().enumerate().take(z.ncols()) {
                for x in z.col_as_slice_mut(j) {
                    *x += by;
                }
            }
        }
    }
    pub(super) fn save(&self, prefix: &str, state: &mut State) {
        if let Some(before) = &self.before {
            state.put_mat(
                &format!("{prefix}momentum/factors"),
                before.factors.as_ref(),
            );
            state.put_vec(&format!("{prefix}momentum/scales"), &before.scales);
        }
    }
    pub(super) fn load(
        &mut self,
        prefix: &str,
        state: &StateReader<'_>,
    ) -> Result<(), NumericError> {
        let name = format!("{prefix}momentum/factors");
        self.before = if state.has(&name) {
            Some(Place {
                factors: state.mat(&name)?,
                scales: state.vec(&format!("{prefix}momentum/scales"))?,
            })
        } else {
            None
        };
        Ok(())
    }
}

impl Model {
    /// Puts factors and scales `share` of the step from `before` to `now` beyond `now`, which
    /// is where they are.
    fn push(&mut self, before: &Place, now: &Place, share: f64) {
        let (a, b) = (&before.factors, &now.factors);
        let step = Mat::from_fn(b.nrows(), b.ncols(), |n, k| share * (b[(n, k)] - a[(n, k)]));
        let scales: Vec<f64> = if before.scales.len() == now.scales.len() {
            let moved = now.scales.iter().zip(&before.scales);
            moved.map(|(b, a)| b + share * (b - a)).collect()
        } else {
            Vec::new()
        };
        let mut rest = &scales[..];
        let mut own = |count: usize| {
            let (own, more) = rest.split_at(count.min(rest.len()));
            rest = more;
            own
        };
        let scales = own(self.factors.scales_at().len());
        self.factors.push(Some(step.as_ref()), scales);
        for view in &mut self.views {
            let scales = own(view.weights.scales_at().len());
            if !scales.is_empty() {
                view.weights.set_scales(scales);
            }
        }
        self.share();
    }
}

impl RunState {
    /// Begins a sweep beyond where the last one ended; what to go back to, unless it begins
    /// there after all.
    pub(super) fn push_on(&mut self) -> Option<Kept> {
        let now = Place::of(&self.model);
        let before = self.momentum.before.take();
        let share = self.record.momentum;
        let mut kept = None;
        if let Some(before) = before.filter(|b| b.factors.shape() == now.factors.shape()) {
            if share > 0.0
                && let Some(bound) = self.record.ledger.last()
            {
                let mut state = std::mem::take(&mut self.momentum.spare);
                state.clear();
                self.model.save("", &mut state);
                kept = Some(Kept {
                    state,
                    bound,
                    lines: self.record.journal.entries.len(),
                    rotation: (self.record.next_rotation, self.record.rotation_interval),
                    centring: (self.record.next_centring, self.record.centring_interval),
                });
                self.model.push(&before, &now, share);
            }
            let grown = (GROWTH.0 * share + GROWTH.1).min(MOST);
            self.record.momentum = grown;
        }
        if self.record.sweep > BEFORE {
            self.momentum.before = Some(now);
        }
        kept
    }
    /// The objective after a sweep that began beyond the end of the one before. Where it is
    /// lower than it was then, factors went, or numbers failed on the way, the sweep is taken
    /// back, and it is that from before. One that kept its tangents (`held`) may have failed by these: the next ones are watched, for
    /// a while that doubles each time.
    ///
    /// # Errors
    /// Of an audit, and from the parts of the model.
    pub(super) fn weigh(
        &mut self,
        (kept, held): (Kept, bool),
        done: Result<(), NumericError>,
    ) -> Result<Vec<Term<String>>, NumericError> {
        match done {
            Err(e @ NumericError::BoundFell { .. }) => return Err(e),
            Ok(()) if !self.pruned => {
                let terms = self.model.objective();
                let after = compensated(terms.iter().map(|t| t.value));
                if after >= kept.bound - ROUNDING * kept.bound.abs() {
                    self.momentum.spare = kept.state;
                    return Ok(terms);
                }
            }
            _ => {}
        }
        self.model.load("", &kept.state.reader())?;
        self.record.journal.entries.truncate(kept.lines);
        (self.record.next_rotation, self.record.rotation_interval) = kept.rotation;
        (self.record.next_centring, self.record.centring_interval) = kept.centring;
        if held {
            let wait = &mut self.record.held_interval;
            *wait = (2 * *wait).max(SHORTEST_WATCH);
            self.record.next_held = self.record.sweep + *wait;
        } else {
            let half = 0.5 * self.record.momentum;
            self.record.momentum = if half > LEAST { half } else { 0.0 };
        }
        self.pruned = false;
        self.momentum.forget();
        self.momentum.taken_back = true;
        self.momentum.spare = kept.state;
        Ok(self.model.objective())
    }
}

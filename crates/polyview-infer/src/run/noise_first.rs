//! The first sweeps, while noise comes down (docs/decisions/0099-noise-first.md).

use polyview_core::{LedgerRow, Mask, Step, Tangents};

use super::RunState;
use crate::engine::step_groups;
use crate::model::{Model, ViewPart};

/// Rise of the likelihood of a view in one sweep, nats per cell, with which its noise still comes down: that of a
/// variance which falls by a fifth.
const RISE: f64 = 0.1;

impl RunState {
    /// Whether noise still comes down: from the start on the likelihood of some view has risen with each sweep by more than a
    /// tenth of a nat per cell. So it is in the first two sweeps, of which nothing is known yet. Objectives that no step is
    /// sure to raise say nothing of it. The data have so many `samples`, of which the model may hold a batch.
    pub(crate) fn noise_comes_down(&self, samples: usize) -> bool {
        if !self.model.is_guaranteed() {
            return false;
        }
        let ledger = &self.record.ledger;
        let views: Vec<(usize, f64)> = (self.model.views.iter())
            .filter_map(|view| {
                let name = format!("likelihood/{}", view.name);
                let at = ledger.names.iter().position(|n| *n == name)?;
                Some((at, RISE * cells(view, samples)))
            })
            .collect();
        let rises = |rows: &[LedgerRow]| {
            (views.iter()).any(|&(at, rise)| rows[1].values[at] - rows[0].values[at] > rise)
        };
        ledger.rows.windows(2).all(rises)
    }
    /// The steps of a sweep while noise comes down: factors are neither turned nor removed, which would be judged by noise that
    /// is not there. Where weights choose their entries, the factors stay where the start put them, beside views whose noise comes down;
    /// tangents have none.
    pub(super) fn steps_while_noise_comes_down(&mut self) -> Vec<Vec<Step>> {
        let has_noise = |view: &mut ViewPart| view.term.as_tangents().is_none();
        let stay = self.model.chooses_entries() && self.model.views.iter_mut().any(has_noise);
        let mut schedule = self.model.schedule.clone();
        schedule.sweep.retain(|step| match *step {
            Step::Rotate | Step::Prune => false,
            Step::Factors | Step::FactorScales | Step::Assign => !stay,
            _ => true,
        });
        step_groups(&schedule)
    }
}

impl Model {
    /// Whether weights of some view choose which entries are zero, and of all views a datum alone says where its predictor is
    /// ([`Tangents::starts_at_data`]).
    pub fn is_sparse_at_data(&mut self) -> bool {
        let starts = |v: &mut ViewPart| v.term.as_tangents().is_some_and(Tangents::starts_at_data);
        self.chooses_entries() && self.views.iter_mut().all(starts)
    }
    /// Whether weights of some view choose which entries are zero.
    pub fn chooses_entries(&self) -> bool {
        self.views.iter().any(|v| v.weights.inclusion().is_some())
    }
}

/// Observed cells of a view in all `samples`, each as often as it has predictors, in features as they were before any were
/// summed up.
fn cells(view: &ViewPart, samples: usize) -> f64 {
    let all = (samples * view.weights.moments().rows()) as f64;
    let shape = view.term.shape();
    let held = shape.samples * shape.observed_columns;
    match view.term.mask() {
        Some(mask @ (Mask::Rows(_) | Mask::Cells { .. })) if held > 0 => {
            all * mask.count(shape.samples, shape.observed_columns) as f64 / held as f64
        }
        _ => all,
    }
}

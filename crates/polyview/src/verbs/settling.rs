//! Views of labels given factors that are known, and whether they tell samples apart.

use polyview_core::{
    Block, Journal, ParameterUncertainty, RowBlock, RowMoments, Schedule, State, Step, View,
};
use polyview_infer::{Model, Outcome, PruneRule, VbOptions, VbRun, ViewPart};
use polyview_random::StreamKey;

use crate::assemble;
use crate::error::{Error, Result};
use crate::fit::{Component, Fit};

/// Streams of this step are none of the fit's.
const CHAIN: u32 = 0x7365_7474;

/// Most sweeps, and what counts as no change: sweeps without factors cost next
/// to nothing, and the bound includes that of the factors, which stays.
const SWEEPS: usize = 1000;
const TOLERANCE: f64 = 1e-9;
const MOVEMENT: f64 = 1e-4;

/// Least range of predicted probabilities over the samples of a classifier that
/// tells them apart.
const LEAST_RANGE: f64 = 1e-3;
/// One view after a run.
pub(super) struct Candidate {
    /// Its part of what the model saves, without what belongs to samples.
    pub(super) state: State,
    /// Log loss of the labels of training samples at the given factors, nats over all
    /// cells; `None` for what is no label.
    pub(super) loss: Option<f64>,
    /// That of the joint fit's weights.
    pub(super) joint_loss: Option<f64>,
    /// Number of weights.
    weights: f64,
    /// Whether it predicts the same of all samples.
    pub(super) constant: bool,
}

impl Candidate {
    /// Whether the joint fit's own weights predict the labels better, by more than a nat
    /// for each weight (they have seen these labels), though these do not move with
    /// the samples at all.
    pub(super) fn is_worse_than_joint(&self) -> bool {
        match (self.loss, self.joint_loss) {
            (Some(own), Some(joint)) => self.constant && joint + self.weights < own,
            _ => false,
        }
    }
}

/// What a run comes to.
pub(super) struct Runs {
    /// One a target, in the order of the fit's views.
    pub(super) views: Vec<Candidate>,
    /// How the sweeps ended, and their number.
    pub(super) outcome: Outcome,
    pub(super) sweeps: usize,
}

impl Fit {
    /// Brings weights, intercepts, scales and noise of the views `targets` to their
    /// optimum given the factors, from where the joint fit has them.
    pub(super) fn settle_from(
        &self,
        component: &Component,
        targets: &[usize],
        factors: Box<dyn RowBlock>,
    ) -> Result<Runs> {
        let data = self.data()?;
        let groups = assemble::several(self.groups());
        let (composed, prediction) = (&self.composed, ParameterUncertainty::Posterior);
        let views = self.empty_views()?;
        let mut model = composed.parameters(groups, views, self.k(), prediction)?;
        model.load_views("", &self.components[0].reader())?;
        let mut views = Vec::with_capacity(targets.len());
        for (v, part) in model.views.into_iter().enumerate() {
            if targets.contains(&v) {
                let own = &component.views[v];
                let term = own.term.rebind(&data[v])?;
                let bias = own.bias.clone();
                views.push(ViewPart { term, bias, ..part });
            }
        }
        let mut schedule = Schedule::standard(views.len());
        schedule.sweep.retain(|s| {
            !matches!(
                s,
                Step::Rotate | Step::Factors | Step::FactorScales | Step::Prune
            )
        });
        let vb = &composed.options.vb;
        let options = VbOptions {
            prune: PruneRule::never(),
            max_sweeps: SWEEPS,
            tolerance: TOLERANCE.min(vb.tolerance),
            movement: MOVEMENT.min(vb.movement),
            ..vb.clone()
        };
        let key = StreamKey::new(composed.options.seed).chain(CHAIN);
        let model = Model::new(factors, views, schedule);
        let mut run = VbRun::new(model, options, key, Journal::default());
        let factors = run.model().factors.moments();
        let parts = run.model().views.iter().zip(targets);
        let before: Vec<Option<f64>> = parts
            .map(|(part, v)| Some(predicted(part, factors, &data[*v])?.0))
            .collect();
        let outcome = loop {
            let report = run.sweep().map_err(Error::from)?;
            if let Some(outcome) = report.outcome {
                break outcome;
            }
        };
        let (model, record) = run.into_parts();
        let mut out = Vec::with_capacity(targets.len());
        for ((view, v), joint_loss) in model.views.into_iter().zip(targets).zip(before) {
            let (loss, constant) = predicted(&view, model.factors.moments(), &data[*v]).unzip();
            out.push(Candidate {
                loss,
                joint_loss,
                weights: (view.weights.moments().explicit_rows() * self.k()) as f64,
                constant: constant.unwrap_or(false),
                state: {
                    let mut state = State::new();
                    view.give_up("", &mut state);
                    state.drop_local();
                    state
                },
            });
        }
        Ok(Runs {
            views: out,
            outcome,
            sweeps: record.sweep,
        })
    }
}

/// Log loss of the labels of a view, nats over all cells, and whether the same is predicted of all
/// samples; `None` for what is no label.
fn predicted(part: &ViewPart, factors: &RowMoments, view: &View) -> Option<(f64, bool)> {
    let domain = part.term.domain();
    if !(domain.is_label() || domain.has_trials()) {
        return None;
    }
    let p = polyview_core::Predictor {
        factors,
        weights: part.weights.moments(),
        bias: &part.bias,
    };
    let rows = view.n_samples();
    let block = Block::new(0..rows, 0..part.term.shape().observed_columns);
    let mean = part.term.law(&p, &block).means();
    let columns = mean.ncols();
    let mut sum = 0.0;
    let mut tell = |probability: f64| sum -= probability.max(f64::MIN_POSITIVE).ln();
    for n in 0..rows {
        if domain.has_classes() {
            if let Some(class) = view.value(n, 0) {
                tell(mean[(n, class as usize)]);
            }
            continue;
        }
        for d in 0..columns {
            if let Some(x) = view.value(n, d) {
                tell(if x > 0.5 {
                    mean[(n, d)]
                } else {
                    1.0 - mean[(n, d)]
                });
            }
        }
    }
    let still = |d: usize| {
        let column = mean.col_as_slice(d);
        let least = column.iter().copied().fold(f64::INFINITY, f64::min);
        let most = column.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        most - least < LEAST_RANGE
    };
    Some((sum, (0..columns).all(still)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_is_constant_and_clearly_worse_gives_way() {
        let found = |constant: bool, joint: f64| Candidate {
            state: State::new(),
            loss: Some(50.0),
            joint_loss: Some(joint),
            weights: 5.0,
            constant,
        };
        assert!(found(true, 30.0).is_worse_than_joint());
        // a nat for each weight is what weights gain that have seen the labels
        assert!(!found(true, 46.0).is_worse_than_joint());
        assert!(!found(false, 30.0).is_worse_than_joint());
    }
}

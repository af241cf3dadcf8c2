//! Views of labels given factors that are known: runs from several starts, and the
//! choice among them.

use polyview_core::{Journal, PredictedKind, RowBlock, RowMoments, Schedule, State, Step, View};
use polyview_infer::{Model, Outcome, PruneRule, Rotate, VbOptions, VbRun, ViewPart};
use polyview_random::StreamKey;

use crate::build;
use crate::error::{Error, Result};
use crate::fit::{Component, Fit, is_local};

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
/// By how much the mean log loss is to be lower, in nats, to count as better.
const LEAST_GAIN: f64 = 1e-3;

/// Where weights, intercepts and scales begin.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Start {
    /// Those of the joint fit.
    Joint,
    /// Weights of zero under scales of which nothing is known yet. Those of the joint fit
    /// may stand on a factor that the labels have for themselves: it says nothing of a
    /// sample without label, and the scales of all other weights have
    /// shrunk, which is an optimum of its own.
    Fresh,
}

/// One view after a run.
pub(super) struct Candidate {
    /// Its part of what the model saves, without what belongs to samples.
    pub(super) state: State,
    /// Its part of the bound, nats.
    pub(super) bound: f64,
    /// Mean log loss of the labels of training samples at the given factors; `None` for
    /// what is no label.
    pub(super) loss: Option<f64>,
    /// That of the joint fit's weights.
    pub(super) joint_loss: Option<f64>,
    /// Whether it predicts the same of all samples.
    pub(super) constant: bool,
}

impl Candidate {
    /// Whether the joint fit's own weights predict the labels better, though
    /// these do not move with the samples at all.
    pub(super) fn is_worse_than_joint(&self) -> bool {
        match (self.loss, self.joint_loss) {
            (Some(own), Some(joint)) => self.constant && joint + LEAST_GAIN < own,
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
    /// The factors, as they came.
    pub(super) factors: Box<dyn RowBlock>,
}

impl Fit {
    /// Brings weights, intercepts, scales and noise of the views `targets` to their
    /// optimum given the factors, from a start.
    pub(super) fn settle_from(
        &self,
        component: &Component,
        targets: &[usize],
        factors: Box<dyn RowBlock>,
        start: Start,
    ) -> Result<Runs> {
        let data = self.data()?;
        let groups = build::several(self.groups());
        let mut model = build::parameters(&self.spec, groups, self.empty_views()?, self.k())?;
        if start == Start::Joint {
            model.load_views("", &self.components[0].reader())?;
        }
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
        let options = VbOptions {
            rotate: Rotate::Off,
            prune: PruneRule {
                by_bound: false,
                ..self.spec.vb.prune
            },
            max_sweeps: SWEEPS,
            tolerance: TOLERANCE.min(self.spec.vb.tolerance),
            movement: MOVEMENT.min(self.spec.vb.movement),
            ..self.spec.vb.clone()
        };
        let key = StreamKey::new(self.spec.seed).chain(CHAIN);
        let model = Model::new(factors, views, schedule);
        let mut run = VbRun::new(model, options, key, Journal::default());
        let joint = |m: &Model| -> Vec<Option<f64>> {
            let of = |(part, v): (&ViewPart, &usize)| {
                Some(predicted(part, m.factors.moments(), &data[*v])?.0)
            };
            m.views.iter().zip(targets).map(of).collect()
        };
        let before = match start {
            Start::Joint => joint(run.model()),
            Start::Fresh => vec![None; targets.len()],
        };
        let outcome = loop {
            let report = run.sweep().map_err(Error::from)?;
            if let Some(outcome) = report.outcome {
                break outcome;
            }
        };
        let (mut model, record) = run.into_parts();
        let terms = model.objective();
        let mut out = Vec::with_capacity(targets.len());
        for ((view, v), joint_loss) in model.views.into_iter().zip(targets).zip(before) {
            let own = format!("/{}", view.name);
            let of_view = terms.iter().filter(|(name, _)| name.ends_with(&own));
            let (loss, constant) = predicted(&view, model.factors.moments(), &data[*v]).unzip();
            out.push(Candidate {
                bound: of_view.map(|(_, value)| value).sum(),
                loss,
                joint_loss,
                constant: constant.unwrap_or(false),
                state: {
                    let mut all = State::new();
                    view.give_up("", &mut all);
                    let mut state = State::new();
                    for (name, array) in all.arrays() {
                        if !is_local(name) {
                            state.put(name, array.clone());
                        }
                    }
                    state
                },
            });
        }
        Ok(Runs {
            views: out,
            outcome,
            sweeps: record.sweep,
            factors: model.factors,
        })
    }
}

/// Mean log loss of the labels of a view, and whether the same is predicted of all
/// samples; `None` for what is no label.
fn predicted(part: &ViewPart, factors: &RowMoments, view: &View) -> Option<(f64, bool)> {
    let kind = part.term.predicted_kind();
    if !kind.is_label() {
        return None;
    }
    let p = polyview_core::Predictor {
        factors,
        weights: part.weights.moments(),
        bias: &part.bias,
    };
    let (rows, columns) = (view.n_samples(), part.term.predicted_columns());
    let mean = part.term.predict(&p, 0..rows, 0..columns).mean;
    let (mut sum, mut cells) = (0.0, 0.0);
    let mut tell = |probability: f64| {
        sum -= probability.max(f64::MIN_POSITIVE).ln();
        cells += 1.0;
    };
    for n in 0..rows {
        if kind == PredictedKind::Classes {
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
    Some((sum / f64::max(cells, 1.0), (0..columns).all(still)))
}

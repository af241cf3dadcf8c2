//! The steps of one view, and those of several views side by side.

use polyview_core::{
    Context, Journal, NoiseScope, NormalEquations, NumericError, Predictor, RowBlock, Step, ViewId,
    column_block, own_column_block,
};
use rayon::prelude::*;

use super::Engine;
use super::sweep::key;
use super::tangents::{Around, AroundBias, AroundWeights, guarded};
use crate::model::{Model, ViewPart};

/// The view that a group of steps belongs to; `None` if it concerns all.
pub(super) fn view_of(group: &[Step]) -> Option<ViewId> {
    match group.first()? {
        &(Step::Local(v) | Step::Weights(v) | Step::Bias(v) | Step::Noise(v) | Step::Scales(v)) => {
            Some(v)
        }
        Step::Factors | Step::Assign | Step::FactorScales | Step::Rotate | Step::Prune => None,
    }
}

/// Carries out groups that belong to a view each: those of one view in order,
/// the views side by side. Journals come in the order of the views.
pub(super) fn run_views(
    engine: &dyn Engine,
    groups: &[Vec<Step>],
    model: &mut Model,
    cx: &mut Context<'_>,
) -> Result<(), NumericError> {
    let Model { factors, views, .. } = model;
    let factors: &dyn RowBlock = factors.as_ref();
    let (base, sweep) = (cx.key, cx.sweep);
    let done: Vec<Result<Journal, NumericError>> = views
        .par_iter_mut()
        .enumerate()
        .with_max_len(1)
        .map(|(v, view)| {
            let mut journal = Journal::default();
            for group in groups.iter().filter(|g| view_of(g) == Some(v)) {
                let mut cx = Context {
                    key: base,
                    sweep,
                    journal: &mut journal,
                };
                run_view_group(engine, group, v, factors, view, &mut cx)?;
            }
            Ok(journal)
        })
        .collect();
    for journal in done {
        cx.journal.entries.extend(journal?.entries);
    }
    Ok(())
}

/// Carries out one group of steps of a view.
fn run_view_group(
    engine: &dyn Engine,
    group: &[Step],
    v: ViewId,
    factors: &dyn RowBlock,
    view: &mut ViewPart,
    cx: &mut Context<'_>,
) -> Result<(), NumericError> {
    let base = cx.key;
    if let Some(&first) = group.first() {
        cx.key = key(base, first);
    }
    match group.first() {
        Some(Step::Local(_)) => {
            let (term, p) = view.with(factors.seen());
            engine.locals(term, &p, cx)?;
        }
        Some(Step::Scales(_)) => engine.scales(view.weights.as_mut(), cx)?,
        _ => {
            cx.key = base;
            pass(engine, group, v, factors, view, cx)?;
        }
    }
    cx.key = base;
    Ok(())
}

/// One pass over the columns of a view.
fn pass(
    engine: &dyn Engine,
    group: &[Step],
    v: ViewId,
    factors: &dyn RowBlock,
    view: &mut ViewPart,
    cx: &mut Context<'_>,
) -> Result<(), NumericError> {
    let has = |step: Step| group.contains(&step);
    let base = cx.key;
    let ViewPart {
        term,
        weights,
        bias,
        ..
    } = view;
    let shape = term.shape();
    let columns = shape.predictor_columns;
    let mut eq = NormalEquations::new(factors.seen().k(), 0..0);
    let with_weights = has(Step::Weights(v));
    let with_tangents = guarded(term.as_mut()).is_some();
    let coupled = term.as_tangents().is_some_and(|t| t.couples_columns());
    if with_weights {
        cx.key = key(base, Step::Weights(v));
        let p = Predictor {
            factors: factors.seen(),
            weights: weights.seen(),
            bias,
        };
        term.equations().weight_gram(&p, &mut eq)?;
        weights.prepare(&eq, cx)?;
    }
    let width = if coupled {
        1
    } else if eq.own {
        own_column_block(shape.samples)
    } else {
        column_block(shape.samples)
    };
    let scope = has(Step::Noise(v))
        .then(|| Some(term.as_noise()?.scope()))
        .flatten();
    let by_column = scope == Some(NoiseScope::Column);
    let each = bias.per_column();
    let (mut precision, mut rhs) = (vec![0.0; width * each], vec![0.0; width * each]);
    for start in (0..columns).step_by(width) {
        let block = start..(start + width).min(columns);
        if with_weights {
            cx.key = key(base, Step::Weights(v));
            eq.set_rows(block.clone());
            let p = Predictor {
                factors: factors.seen(),
                weights: weights.seen(),
                bias,
            };
            term.equations().weight_equations(&p, &mut eq)?;
            let mut around = AroundWeights {
                term: term.as_mut(),
                factors: factors.seen(),
                bias,
            };
            let around = with_tangents.then_some(&mut around as &mut dyn Around);
            engine.rows(weights.as_mut(), &mut eq, around, cx)?;
        }
        if has(Step::Bias(v)) && bias.is_present() {
            cx.key = key(base, Step::Bias(v));
            let count = block.len() * each;
            let (precision, rhs) = (&mut precision[..count], &mut rhs[..count]);
            let p = Predictor {
                factors: factors.seen(),
                weights: weights.seen(),
                bias,
            };
            let implicit = term
                .equations()
                .bias_equations(block.clone(), &p, precision, rhs);
            let mut around = AroundBias {
                term: term.as_mut(),
                factors: factors.seen(),
                weights: weights.seen(),
                columns: block.clone(),
            };
            let around = with_tangents.then_some(&mut around);
            engine.bias(bias, block.clone(), (precision, rhs), around, cx);
            bias.update_implicit(implicit);
        }
        let p = Predictor {
            factors: factors.seen(),
            weights: weights.seen(),
            bias,
        };
        if by_column {
            cx.key = key(base, Step::Noise(v));
            engine.noise(term.as_mut(), block.clone(), &p, cx)?;
        }
        if with_weights {
            term.equations().absorb(block, &p);
        }
    }
    if has(Step::Bias(v)) && bias.learns_prior() {
        cx.key = key(base, Step::Bias(v));
        engine.bias_prior(bias, cx);
    }
    let p = Predictor {
        factors: factors.seen(),
        weights: weights.seen(),
        bias,
    };
    if with_weights {
        term.equations().seal(&p);
    }
    if scope == Some(NoiseScope::View) {
        cx.key = key(base, Step::Noise(v));
        engine.noise(term.as_mut(), 0..columns, &p, cx)?;
    }
    Ok(())
}

//! Draws brought into one frame (docs/decisions/0068-draws.md).

use polyview_core::{Context, Groups, Journal, ParameterUncertainty, State, Stateful, View};
use polyview_infer::Model;
use polyview_infer::alignment::{
    AlignmentError, align_to_reference, rotation_to_reference, separating_rotation,
};
use polyview_linalg::{Mat, cross};
use polyview_random::StreamKey;

use super::order::by_variance;
use super::states::{saved_parameters, share};
use crate::assemble::empty_view;
use crate::compose::Composed;
use crate::error::{Error, ErrorKind, Result};

/// Passes over the draws; the reference is the mean of the draws as the last pass left them.
const PASSES: usize = 3;

/// Brings every draw into the frame of a common reference: first the draw of the highest
/// density, then the mean of the draws as they stand.
///
/// Where nothing pins down a rotation of factors ([`Model::may_turn`]) draws are **turned** to
/// it, and all of them together at the end to where views and factors are told apart best
/// ([`separating_rotation`]), the frame that no draw has a say in alone; elsewhere their factors are
/// put in its order and signs.
///
/// `run` is the seed and the number of sweeps.
pub(super) fn align(
    composed: &Composed,
    (groups, views): (Option<&Groups>, &[View]),
    states: Vec<(f64, State)>,
    (seed, sweep): (u64, usize),
) -> Result<Vec<State>> {
    let k = states[0]
        .1
        .arrays()
        .get("factors/mean")
        .map_or(0, |a| a.shape[1]);
    let empty = views
        .iter()
        .map(|v| empty_view(v.name(), v.features(), v.levels()))
        .collect::<Result<Vec<View>>>()?;
    let prediction = ParameterUncertainty::Posterior;
    let mut model = composed.parameters(groups, empty, k, prediction)?;
    let best = (0..states.len())
        .max_by(|&a, &b| states[a].0.total_cmp(&states[b].0))
        .unwrap_or(0);
    model.load("", &states[best].1.reader())?;
    let turns = k > 1 && model.may_turn();
    let (order, signs) = by_variance(&model);
    model.select(&order, &signs)?;
    let mut reference = stacked(&model);
    let mut out: Vec<State> = states.into_iter().map(|s| s.1).collect();
    let mut journal = Journal::default();
    let mut cx = Context {
        key: StreamKey::new(seed),
        sweep,
        journal: &mut journal,
    };
    for _ in 0..PASSES {
        let mut sum: Mat<f64> = Mat::zeros(reference.nrows(), k);
        for state in &mut out {
            model.load("", &state.reader())?;
            let draw = stacked(&model);
            if turns {
                let turn = rotation_to_reference(reference.as_ref(), draw.as_ref())
                    .map_err(|e| refused(&e))?;
                model.turn(turn.as_ref(), &mut cx)?;
            } else {
                let p = align_to_reference(reference.as_ref(), draw.as_ref())
                    .map_err(|e| refused(&e))?;
                model.select(p.order(), p.signs())?;
            }
            *state = saved_parameters(&model);
            sum += stacked(&model);
        }
        reference = sum;
    }
    if turns {
        let mut moments = vec![(Mat::zeros(k, k), 0.0); model.views.len()];
        for state in &out {
            model.load("", &state.reader())?;
            for ((moment, count), view) in moments.iter_mut().zip(&model.views) {
                let w = view.weights.moments().mean();
                *moment += cross(w, w);
                *count = w.nrows() as f64;
            }
        }
        let turn = separating_rotation(&moments).map_err(|e| refused(&e))?;
        let mean = &reference * &turn;
        // most explained over all views first
        let mut explained: Mat<f64> = Mat::zeros(k, k);
        for (moment, count) in &moments {
            explained += moment * (1.0 / count.max(1.0));
        }
        explained = turn.transpose() * &explained * &turn;
        let mut order: Vec<usize> = (0..k).collect();
        order.sort_by(|&a, &b| explained[(b, b)].total_cmp(&explained[(a, a)]));
        let peak = |j: usize| {
            let column = mean.col(j).iter();
            column.fold(0.0_f64, |m, x| if x.abs() > m.abs() { *x } else { m })
        };
        let sign = |j: usize| if peak(j) < 0.0 { -1.0 } else { 1.0 };
        let turn = Mat::from_fn(k, k, |i, j| turn[(i, order[j])] * sign(order[j]));
        for state in &mut out {
            model.load("", &state.reader())?;
            model.turn(turn.as_ref(), &mut cx)?;
            *state = saved_parameters(&model);
        }
    }
    share(&mut out);
    Ok(out)
}

fn refused(e: &AlignmentError) -> Error {
    ErrorKind::Option {
        option: "alignment",
        value: e.to_string(),
    }
    .into()
}

/// Weights of all views on top of one another, ΣD × K.
fn stacked(model: &Model) -> Mat<f64> {
    let rows: usize = model
        .views
        .iter()
        .map(|v| v.weights.moments().explicit_rows())
        .sum();
    let mut out = Mat::zeros(rows, model.k());
    let mut at = 0;
    for v in &model.views {
        let w = v.weights.moments().mean();
        out.as_mut().subrows_mut(at, w.nrows()).copy_from(w);
        at += w.nrows();
    }
    out
}

//! The common part of both engines: one group of steps of a schedule.

use polyview_core::{
    Context, Coupling, NoiseScope, NormalEquations, NumericError, PatternGrams, Predictor,
    RowBlock, SAMPLE_BLOCK, Schedule, Step, ViewId, column_block, own_column_block,
};
use polyview_linalg::{Mat, PackedRows};
use polyview_random::StreamKey;

use super::Engine;
use crate::model::{Model, ViewPart};

/// The steps of a schedule, with those that can share one pass over a view's
/// data put together: weights, intercepts and noise of one view, in that
/// order, are carried out block of columns by block of columns.
pub fn step_groups(schedule: &Schedule) -> Vec<Vec<Step>> {
    let mut groups: Vec<Vec<Step>> = Vec::new();
    for &step in &schedule.sweep {
        let joins = match (groups.last().map(Vec::as_slice), step) {
            (Some([Step::Weights(a)]), Step::Bias(b) | Step::Noise(b))
            | (Some([Step::Weights(a), Step::Bias(_)]), Step::Noise(b)) => *a == b,
            _ => false,
        };
        match groups.last_mut() {
            Some(group) if joins => group.push(step),
            _ => groups.push(vec![step]),
        }
    }
    groups
}

/// What a group of steps did.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct StepReport {
    /// Name of the block, for messages.
    pub block: String,
}

/// Random stream of one step: block 0 belongs to the factors, eight numbers
/// to each view.
fn key(base: StreamKey, step: Step) -> StreamKey {
    base.block(match step {
        Step::Factors => 0,
        Step::FactorScales => 1,
        Step::Rotate | Step::Prune => 2,
        Step::Assign => 3,
        Step::Weights(v) => 8 * (v as u32 + 1),
        Step::Bias(v) => 8 * (v as u32 + 1) + 1,
        Step::Noise(v) => 8 * (v as u32 + 1) + 2,
        Step::Scales(v) => 8 * (v as u32 + 1) + 3,
        Step::Local(v) => 8 * (v as u32 + 1) + 4,
    })
}

/// Carries out one group of steps. [`Step::Rotate`] and [`Step::Prune`] belong
/// to the driver and are skipped here.
///
/// # Errors
/// [`NumericError`] from the parts.
pub fn run_step_group(
    engine: &dyn Engine,
    group: &[Step],
    model: &mut Model,
    cx: &mut Context<'_>,
) -> Result<StepReport, NumericError> {
    let base = cx.key;
    let block = match group.first() {
        None | Some(Step::Rotate | Step::Prune) => String::new(),
        Some(&Step::Local(v)) => {
            let Model { factors, views, .. } = model;
            let ViewPart {
                name,
                term,
                weights,
                bias,
            } = &mut views[v];
            cx.key = key(base, group[0]);
            let p = Predictor {
                factors: factors.moments(),
                weights: weights.moments(),
                bias,
            };
            engine.locals(term.as_mut(), &p, cx)?;
            format!("local/{name}")
        }
        Some(&(Step::Weights(v) | Step::Bias(v) | Step::Noise(v))) => {
            pass(engine, group, v, model, cx, base)?;
            format!("weights/{}", model.views[v].name)
        }
        Some(&Step::Scales(v)) => {
            cx.key = key(base, group[0]);
            engine.scales(model.views[v].weights.as_mut(), cx);
            format!("scales/{}", model.views[v].name)
        }
        Some(Step::Factors) => {
            cx.key = key(base, Step::Factors);
            update_factors(engine, model, cx)?;
            "factors".to_owned()
        }
        Some(Step::Assign) => {
            cx.key = key(base, Step::Assign);
            assign(engine, model, cx)?;
            "assignment".to_owned()
        }
        Some(Step::FactorScales) => {
            cx.key = key(base, Step::FactorScales);
            engine.scales(model.factors.as_mut(), cx);
            "factor-scales".to_owned()
        }
    };
    cx.key = base;
    Ok(StepReport { block })
}

/// Sweeps before updates go beyond the optimum: first ones come from starts
/// that mean nothing.
const BEFORE_RELAXATION: usize = 3;

/// How far updates of rows go in this sweep.
fn relaxation(model: &Model, cx: &Context<'_>) -> f64 {
    if cx.sweep > BEFORE_RELAXATION {
        model.relaxation
    } else {
        1.0
    }
}

/// One pass over the columns of a view.
fn pass(
    engine: &dyn Engine,
    group: &[Step],
    v: ViewId,
    model: &mut Model,
    cx: &mut Context<'_>,
    base: StreamKey,
) -> Result<(), NumericError> {
    let has = |step: Step| group.contains(&step);
    let relaxation = relaxation(model, cx);
    let Model { factors, views, .. } = model;
    let ViewPart {
        term,
        weights,
        bias,
        ..
    } = &mut views[v];
    let shape = term.shape();
    let columns = shape.predictor_columns;
    let mut eq = NormalEquations::new(factors.moments().k(), 0..0);
    eq.relaxation = relaxation;
    let with_weights = has(Step::Weights(v));
    if with_weights {
        cx.key = key(base, Step::Weights(v));
        let p = Predictor {
            factors: factors.moments(),
            weights: weights.moments(),
            bias,
        };
        term.weight_gram(&p, &mut eq)?;
        weights.prepare(&eq, cx)?;
    }
    let width = if eq.own {
        own_column_block(shape.samples)
    } else {
        column_block(shape.samples)
    };
    let by_column = has(Step::Noise(v)) && term.noise_scope() == NoiseScope::Column;
    let each = bias.per_column();
    let (mut precision, mut rhs) = (vec![0.0; width * each], vec![0.0; width * each]);
    for start in (0..columns).step_by(width) {
        let block = start..(start + width).min(columns);
        if with_weights {
            cx.key = key(base, Step::Weights(v));
            eq.set_rows(block.clone());
            let p = Predictor {
                factors: factors.moments(),
                weights: weights.moments(),
                bias,
            };
            term.weight_equations(&p, &mut eq)?;
            engine.rows(weights.as_mut(), &mut eq, cx)?;
        }
        if has(Step::Bias(v)) && bias.is_present() {
            cx.key = key(base, Step::Bias(v));
            let count = block.len() * each;
            let (precision, rhs) = (&mut precision[..count], &mut rhs[..count]);
            let p = Predictor {
                factors: factors.moments(),
                weights: weights.moments(),
                bias,
            };
            let implicit = term.bias_equations(block.clone(), &p, precision, rhs);
            engine.bias(bias, block.clone(), precision, rhs, cx);
            bias.update_implicit(implicit);
        }
        let p = Predictor {
            factors: factors.moments(),
            weights: weights.moments(),
            bias,
        };
        if by_column {
            cx.key = key(base, Step::Noise(v));
            engine.noise(term.as_mut(), block.clone(), &p, cx)?;
        }
        if with_weights {
            term.absorb(block, &p);
        }
    }
    let p = Predictor {
        factors: factors.moments(),
        weights: weights.moments(),
        bias,
    };
    if with_weights {
        term.seal(&p);
    }
    if has(Step::Noise(v)) && term.noise_scope() == NoiseScope::View {
        cx.key = key(base, Step::Noise(v));
        engine.noise(term.as_mut(), 0..columns, &p, cx)?;
    }
    Ok(())
}

/// All factors from the equations of all views. With weights, intercepts and
/// noise held fixed it is the projection of samples.
///
/// # Errors
/// [`NumericError`] from the parts.
pub fn update_factors(
    engine: &dyn Engine,
    model: &mut Model,
    cx: &mut Context<'_>,
) -> Result<(), NumericError> {
    let own = model.has_cells();
    let relaxation = relaxation(model, cx);
    let patterns = model.patterns().cloned();
    let Model { factors, views, .. } = model;
    let (rows, k) = (factors.moments().explicit_rows(), factors.moments().k());
    let mut eq = NormalEquations::new(k, 0..0);
    eq.own = own;
    eq.relaxation = relaxation;
    eq.patterns = patterns.map(|table| PatternGrams {
        grams: PackedRows::zeros(table.present.len(), k),
        table,
    });
    for (v, view) in views.iter_mut().enumerate() {
        let p = Predictor {
            factors: factors.moments(),
            weights: view.weights.moments(),
            bias: &view.bias,
        };
        view.term.factor_gram(v, &p, &mut eq)?;
    }
    factors.prepare(&eq, cx)?;
    let coupled = views.iter().any(|v| v.term.coupling() == Coupling::Rows);
    let mut one = coupled.then(|| eq.shared());
    // own precisions are large: they are made and used up block by block
    let width = if own { SAMPLE_BLOCK } else { rows.max(1) };
    for start in (0..rows).step_by(width) {
        let block = start..(start + width).min(rows);
        eq.set_rows(block.clone());
        for view in views.iter_mut() {
            let p = Predictor {
                factors: factors.moments(),
                weights: view.weights.moments(),
                bias: &view.bias,
            };
            view.term.factor_equations(&p, &mut eq)?;
        }
        if let Some(one) = &mut one {
            for row in block.clone() {
                eq.single_out(row, one);
                update_coupled(engine, (factors.as_mut(), views), (row, one), cx)?;
            }
        } else {
            engine.rows(factors.as_mut(), &mut eq, cx)?;
        }
        for view in views.iter_mut() {
            let p = Predictor {
                factors: factors.moments(),
                weights: view.weights.moments(),
                bias: &view.bias,
            };
            view.term.absorb_samples(block.clone(), &p);
        }
    }
    for view in views.iter_mut() {
        let p = Predictor {
            factors: factors.moments(),
            weights: view.weights.moments(),
            bias: &view.bias,
        };
        view.term.seal_samples(&p);
    }
    Ok(())
}

/// One sample given the present factors of all others, where a term couples
/// them (spec/maxmargin-rank 5.2: sequential in n). What the equations have in
/// common with those of the block has been made with it.
fn update_coupled(
    engine: &dyn Engine,
    (factors, views): (&mut dyn RowBlock, &mut [ViewPart]),
    (row, one): (usize, &mut NormalEquations),
    cx: &mut Context<'_>,
) -> Result<(), NumericError> {
    let mut rhs: Vec<f64> = one.rhs.row(0).iter().copied().collect();
    for view in views.iter_mut() {
        let p = Predictor {
            factors: factors.moments(),
            weights: view.weights.moments(),
            bias: &view.bias,
        };
        view.term.couple(row, &p, &mut rhs)?;
    }
    for (j, x) in rhs.iter().enumerate() {
        one.rhs[(0, j)] = *x;
    }
    engine.rows(factors, one, cx)?;
    for view in views.iter_mut() {
        let p = Predictor {
            factors: factors.moments(),
            weights: view.weights.moments(),
            bias: &view.bias,
        };
        view.term.settle(row, &p);
    }
    Ok(())
}

/// Components of a mixture prior that the samples belong to, from their
/// factors and from what the terms with columns by component say; tells these
/// terms. Nothing happens under any other prior.
///
/// # Errors
/// [`NumericError`] from the parts.
pub fn assign(
    engine: &dyn Engine,
    model: &mut Model,
    cx: &mut Context<'_>,
) -> Result<(), NumericError> {
    let base = cx.key;
    let Model { factors, views, .. } = &mut *model;
    let Some(shares) = factors.shares() else {
        return Ok(());
    };
    let mut evidence = Mat::zeros(shares.nrows(), shares.ncols());
    for view in views.iter_mut() {
        let p = Predictor {
            factors: factors.moments(),
            weights: view.weights.moments(),
            bias: &view.bias,
        };
        engine.evidence(view.term.as_mut(), &p, &mut evidence)?;
    }
    engine.assign(factors.as_mut(), evidence.as_ref(), cx)?;
    model.share();
    let Model { factors, views, .. } = model;
    for (v, view) in views.iter_mut().enumerate() {
        if view.term.components().is_none() {
            continue;
        }
        cx.key = base.block(8 * (v as u32 + 1) + 5);
        let p = Predictor {
            factors: factors.moments(),
            weights: view.weights.moments(),
            bias: &view.bias,
        };
        engine.reassigned(view.term.as_mut(), &p, cx)?;
    }
    cx.key = base;
    Ok(())
}

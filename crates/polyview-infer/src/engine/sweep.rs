//! The common part of both engines: one group of steps of a schedule.

use polyview_core::{
    Context, NormalEquations, NumericError, PatternGrams, RowBlock, SAMPLE_BLOCK, Schedule, Step,
};
use polyview_linalg::{Mat, PackedRows};
use polyview_random::StreamKey;
use rayon::prelude::*;

use super::Engine;
use super::tangents::{Around, AroundFactors, add_tangents, guarded};
use super::views::{run_views, view_of};
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

/// Random stream of one step: block 0 belongs to the factors, eight numbers
/// to each view.
pub(super) fn key(base: StreamKey, step: Step) -> StreamKey {
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

/// Carries out groups of steps in order. Groups of one view depend on the
/// factors and on that view alone, so views whose groups follow one another
/// are carried out side by side; what they do does not depend on it.
/// [`Step::Rotate`] and [`Step::Prune`] belong to the driver and are skipped
/// here.
///
/// # Errors
/// [`NumericError`] from the parts: that of the first view that has one.
pub fn run_steps(
    engine: &dyn Engine,
    groups: &[Vec<Step>],
    model: &mut Model,
    cx: &mut Context<'_>,
) -> Result<(), NumericError> {
    for stretch in groups.chunk_by(|a, b| view_of(a).is_some() && view_of(b).is_some()) {
        match stretch {
            [group] if view_of(group).is_none() => {
                for &step in group {
                    run_step_of_all(engine, step, model, cx)?;
                }
            }
            of_views => run_views(engine, of_views, model, cx)?,
        }
    }
    Ok(())
}

/// Carries out a step that concerns all views.
fn run_step_of_all(
    engine: &dyn Engine,
    step: Step,
    model: &mut Model,
    cx: &mut Context<'_>,
) -> Result<(), NumericError> {
    let base = cx.key;
    cx.key = key(base, step);
    match step {
        Step::Factors => update_factors(engine, model, cx)?,
        Step::Assign => assign(engine, model, cx)?,
        Step::FactorScales => engine.scales(model.factors.as_mut(), cx)?,
        _ => {}
    }
    cx.key = base;
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
    let patterns = model.patterns().cloned();
    let Model { factors, views, .. } = model;
    let (rows, k) = (factors.seen().explicit_rows(), factors.seen().k());
    let mut eq = NormalEquations::new(k, 0..0);
    eq.own = own;
    eq.patterns = patterns.map(|table| PatternGrams {
        grams: PackedRows::zeros(table.present.len(), k),
        table,
    });
    for (v, view) in views.iter_mut().enumerate() {
        let (term, p) = view.with(factors.seen());
        term.equations().factor_gram(v, &p, &mut eq)?;
    }
    factors.prepare(&eq, cx)?;
    let coupled = views.iter_mut().any(|v| v.term.as_coupled().is_some());
    let mut one = coupled.then(|| eq.shared());
    let tangents = (views.iter_mut()).any(|v| guarded(v.term.as_mut()).is_some());
    // own precisions are large: they are made and used up block by block
    let width = if own { SAMPLE_BLOCK } else { rows.max(1) };
    for start in (0..rows).step_by(width) {
        let block = start..(start + width).min(rows);
        eq.set_rows(block.clone());
        let z = factors.seen();
        views.par_iter_mut().with_max_len(1).for_each(|view| {
            let (term, p) = view.with(z);
            term.equations().prepare_samples(block.clone(), &p);
        });
        for view in views.iter_mut() {
            let (term, p) = view.with(factors.seen());
            if guarded(term).is_none() {
                term.equations().factor_equations(&p, &mut eq)?;
            }
        }
        let exact = tangents.then(|| eq.clone());
        if tangents {
            add_tangents(views, factors.seen(), &mut eq)?;
        }
        if let Some(one) = &mut one {
            for row in block.clone() {
                eq.single_out(row, one);
                let exact = exact.as_ref().map(|exact| {
                    let mut of_row = exact.shared();
                    exact.single_out(row, &mut of_row);
                    of_row
                });
                update_coupled(engine, (factors.as_mut(), views), (row, one, exact), cx)?;
            }
        } else {
            let mut around = exact.as_ref().map(|exact| AroundFactors { views, exact });
            let around = around.as_mut().map(|a| a as &mut dyn Around);
            engine.rows(factors.as_mut(), &mut eq, around, cx)?;
        }
        for view in views.iter_mut() {
            let (term, p) = view.with(factors.seen());
            term.equations().absorb_samples(block.clone(), &p);
        }
    }
    for view in views.iter_mut() {
        let (term, p) = view.with(factors.seen());
        term.equations().seal_samples(&p);
    }
    Ok(())
}

/// One sample given the present factors of all others, where a term couples
/// them (spec/maxmargin-rank 5.2: sequential in n). What the equations have in
/// common with those of the block has been made with it.
fn update_coupled(
    engine: &dyn Engine,
    (factors, views): (&mut dyn RowBlock, &mut [ViewPart]),
    (row, one, mut exact): (usize, &mut NormalEquations, Option<NormalEquations>),
    cx: &mut Context<'_>,
) -> Result<(), NumericError> {
    let mut rhs: Vec<f64> = one.rhs.row(0).iter().copied().collect();
    for view in views.iter_mut() {
        let (term, p) = view.with(factors.seen());
        if let Some(coupled) = term.as_coupled() {
            coupled.couple(row, &p, &mut rhs)?;
        }
    }
    for (j, x) in rhs.iter().enumerate() {
        if let Some(exact) = &mut exact {
            exact.rhs[(0, j)] += x - one.rhs[(0, j)];
        }
        one.rhs[(0, j)] = *x;
    }
    let mut around = exact.as_ref().map(|exact| AroundFactors { views, exact });
    let around = around.as_mut().map(|a| a as &mut dyn Around);
    engine.rows(factors, one, around, cx)?;
    for view in views.iter_mut() {
        let (term, p) = view.with(factors.seen());
        if let Some(coupled) = term.as_coupled() {
            coupled.updated(row, &p);
        }
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
        let (term, p) = view.with(factors.seen());
        engine.evidence(term, &p, &mut evidence)?;
    }
    engine.assign(factors.as_mut(), evidence.as_ref(), cx)?;
    model.share();
    let Model { factors, views, .. } = model;
    for (v, view) in views.iter_mut().enumerate() {
        if view.term.as_by_component().is_none() {
            continue;
        }
        cx.key = base.block(8 * (v as u32 + 1) + 5);
        let (term, p) = view.with(factors.seen());
        engine.reassigned(term, &p, cx)?;
    }
    cx.key = base;
    Ok(())
}

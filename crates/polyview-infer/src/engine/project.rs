//! Factors of given samples under fixed weights, intercepts and noise.

use polyview_core::{Context, Event, NumericError, Predictor, RowCov, RowMoments};
use polyview_linalg::{PackedRows, factor_rows, solve_rows};

use super::extrapolate::{Extrapolation, LongerSteps};
use super::{Engine, Vb, assign, update_factors};
use crate::model::{Model, ViewPart};

/// When the rounds of a projection end (spec/sshiba 4.1).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ProjectionRounds {
    /// Largest change of a factor's mean that counts as none, relative to the
    /// largest mean of that sample or to 1 where that is smaller.
    pub tolerance: f64,
    /// Most rounds; ten times as many of plain ones, where a term wants these
    /// ([`polyview_core::ViewTerm::extrapolates`]).
    pub most: usize,
}

/// Plain rounds in place of one at extrapolated points.
const PLAIN: usize = 10;

impl Default for ProjectionRounds {
    fn default() -> Self {
        Self {
            tolerance: 1e-6,
            most: 200,
        }
    }
}

/// Sets the factors to $q(z\_*)$ given the data of the model's terms, with
/// weights, intercepts and noise held fixed (spec/sshiba P2). Returns the
/// number of rounds.
///
/// Terms without local variables reach it in one round. Others alternate local
/// variables and factors, each round at a point extrapolated from the last few
/// (the image of the last one, where a term wants no more),
/// until the factors of every sample rest; near its optimum a sample takes
/// Newton's steps, where terms know their curvature
/// ([`polyview_core::ViewTerm::slack`]). Factors with a mixture prior and the
/// components that they belong to are found so too. If they do not within `rounds.most`,
/// the journal says how far they still moved.
///
/// # Errors
/// [`NumericError`] from the parts.
pub fn project_factors(
    model: &mut Model,
    rounds: ProjectionRounds,
    cx: &mut Context<'_>,
) -> Result<usize, NumericError> {
    let mixture = model.factors.shares().is_some();
    if !mixture && !model.views.iter().any(|v| v.term.has_locals()) {
        update_factors(&Vb, model, cx)?;
        return Ok(1);
    }
    let samples = model.factors.moments().explicit_rows();
    // components follow the factors one round later
    let enough = if mixture { 2 } else { 1 };
    let mixes = model.views.iter().all(|v| v.term.extrapolates());
    let mut way = Extrapolation::new(samples, rounds.tolerance, enough).mixing(mixes);
    let most = if mixes {
        rounds.most
    } else {
        PLAIN * rounds.most
    };
    let mut at = model.factors.moments().clone();
    for round in 1..=most {
        for ViewPart {
            term,
            weights,
            bias,
            ..
        } in &mut model.views
        {
            if term.has_locals() {
                let p = Predictor {
                    factors: &at,
                    weights: weights.moments(),
                    bias,
                };
                Vb.locals(term.as_mut(), &p, cx)?;
            }
        }
        update_factors(&Vb, model, cx)?;
        assign(&Vb, model, cx)?;
        let now = model.factors.moments();
        let mut means = at.mean().to_owned();
        let longer = longer_steps(&model.views, &at, now)?;
        way.next(&mut means, now.mean(), longer.as_ref());
        if way.settled().iter().all(|s| *s) {
            return Ok(round);
        }
        at = now.clone();
        *at.parts_mut().0 = means;
        for view in &mut model.views {
            view.term.rest(way.settled());
        }
    }
    let moved = way.moved();
    let note = format!("the factors still moved by {moved:.1e} after {most} rounds");
    cx.journal
        .note(cx.sweep, "projection", Event::Note { note });
    Ok(most)
}

/// Newton's steps in place of those from `at` to `now`. With local
/// variables held the bound is a quadratic of precision P, and the step $d$ goes
/// to its top; with local variables that follow it is flatter by R, and the step
/// is $y = (P - R)^{-1}Pd$. It is zero where $d$ is. The curvature is that of the
/// neighbourhood, so that only samples take it which it leaves within their posterior:
/// $y^\top Py \le K$, the mean of its draws. `None` where no term knows of an R.
fn longer_steps(
    views: &[ViewPart],
    at: &RowMoments,
    now: &RowMoments,
) -> Result<Option<LongerSteps>, NumericError> {
    let RowCov::PerRow(covariances) = now.cov() else {
        return Ok(None);
    };
    let (rows, k) = (now.explicit_rows(), now.k());
    let mut slack = PackedRows::zeros(rows, k);
    for view in views {
        let p = Predictor {
            factors: now,
            weights: view.weights.moments(),
            bias: &view.bias,
        };
        view.term.slack(&p, &mut slack);
    }
    if slack.as_slice().iter().all(|x| *x == 0.0) {
        return Ok(None);
    }
    let failed = |source| NumericError::Linalg {
        block: "factors".into(),
        source,
    };
    let mut step = now.mean().to_owned();
    step -= at.mean();
    let mut logs = vec![0.0; rows];
    // covariances in, precisions out
    let mut precision = covariances.clone();
    solve_rows(&mut precision, step.as_mut(), &mut logs).map_err(failed)?;
    let mut flat = precision.clone();
    for (p, r) in flat.as_mut_slice().iter_mut().zip(slack.as_slice()) {
        *p -= r;
    }
    factor_rows(&mut flat, step.as_mut(), &mut logs).map_err(failed)?;
    let fits = (0..rows).map(|n| {
        let y: Vec<f64> = step.row(n).iter().copied().collect();
        let along = precision.sym(n).times_vec(&y);
        y.iter().zip(along).map(|(y, a)| y * a).sum::<f64>() <= k as f64
    });
    Ok(Some(LongerSteps {
        fits: fits.collect(),
        steps: step,
    }))
}

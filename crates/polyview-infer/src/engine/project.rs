//! Factors of given samples under fixed weights, intercepts and noise.

use polyview_core::{Context, NumericError, Predictor, RowCov, RowMoments, Side};
use polyview_linalg::{
    LinalgError, Mat, PackedRows, SpdFactor, SymPacked, factor_rows, solve_rows,
};

use super::extrapolate::{Extrapolation, Image};
use super::{Vb, assign, update_factors};
use crate::model::{Model, ViewPart};

/// When the rounds of a projection end (spec/sshiba 4.1).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ProjectionRounds {
    /// Largest step of a factor's mean that counts as none, relative to the
    /// largest mean of that sample or to 1 where that is smaller.
    pub tolerance: f64,
    /// Most rounds; ten times as many of plain ones, where a term wants these
    /// ([`polyview_core::Rounds::extrapolates`]).
    pub most: usize,
}

/// Rounds at extrapolated points of terms whose equations are tangents, and the plain rounds by half a step and by a quarter of one that follow
/// them. A step to the top of tangents may lead as far beyond the top of the bound as it began before it: it goes to and fro as long as the bound does
/// not fall by more than rounding could. Parts of it end.
const MIXED: usize = 100;
const HALVED: usize = 400;

/// Plain rounds in place of one at extrapolated points.
const PLAIN: usize = 10;

impl Default for ProjectionRounds {
    fn default() -> Self {
        Self {
            tolerance: 1e-6,
            most: 1000,
        }
    }
}

/// How the rounds of a projection ended.
#[derive(Clone, Debug, PartialEq)]
pub struct Projected {
    /// Number of rounds, 1 or more.
    pub rounds: usize,
    /// Samples, from 0, whose factors still moved after the last round: what the model
    /// holds of them is no answer.
    pub moving: Vec<usize>,
    /// Largest step of these samples in the last round, relative to the largest mean
    /// of the sample or to 1; 0 where there are none.
    pub moved: f64,
}

/// Sets the factors to $q(z\_*)$ given the data of the model's terms, with
/// weights, intercepts, noise and other parameters held fixed (spec/sshiba P2).
///
/// Terms without local variables reach it in one round. Others alternate local
/// variables and factors, each round at a point extrapolated from the last few
/// (the image of the last one, where a term wants no more),
/// until the factors of every sample rest. Samples take
/// Newton's steps where terms know their curvature
/// ([`polyview_core::Rounds::slack`]), and a step that went too far is shortened.
/// Factors with a mixture prior and the components that they belong to are found so too.
///
/// Samples do not touch one another, and one that rests stays where it is: whichever
/// samples are beside it, its factors are the same up to the rounding of products
/// of matrices, which can depend on the number of their rows.
///
/// # Errors
/// [`NumericError`] from the parts.
pub fn project_factors(
    model: &mut Model,
    rounds: ProjectionRounds,
    cx: &mut Context<'_>,
) -> Result<Projected, NumericError> {
    let mixture = model.factors.shares().is_some();
    let mut rounds_of = model.views.iter_mut().filter_map(|v| v.term.as_rounds());
    if !mixture && rounds_of.next().is_none() {
        update_factors(&Vb::default(), model, cx)?;
        return Ok(Projected {
            rounds: 1,
            moving: Vec::new(),
            moved: 0.0,
        });
    }
    let samples = model.factors.moments().explicit_rows();
    let mut rounds_of = model.views.iter_mut().filter_map(|v| v.term.as_rounds());
    let mixes = rounds_of.all(polyview_core::Rounds::extrapolates);
    let mut way = Extrapolation::new(samples, rounds.tolerance).mixing(mixes);
    let most = if mixes {
        rounds.most
    } else {
        PLAIN * rounds.most
    };
    let tangents = model
        .views
        .iter_mut()
        .any(|v| v.term.as_tangents().is_some());
    let mut at = model.factors.moments().clone();
    let mut answer: Option<RowMoments> = None;
    let mut round = 0;
    while round < most {
        round += 1;
        if tangents && round == MIXED {
            way.stop_mixing();
        }
        if round > 1 {
            if tangents {
                within(&mut way, model, &mut at);
            }
            // components follow the factors; before the first round these are nowhere
            model.factors.move_to(at.clone());
            assign(&Vb::default(), model, cx)?;
        }
        let Model { factors, views, .. } = &mut *model;
        let seen = factors.seen_as(&at);
        for ViewPart {
            term,
            weights,
            bias,
            ..
        } in views
        {
            if let Some(locals) = term.as_rounds() {
                let p = Predictor {
                    factors: &seen,
                    weights: weights.seen(),
                    bias,
                };
                locals.refresh_locals(&p, cx)?;
            }
        }
        drop(seen);
        let part = match round {
            _ if !tangents || round < MIXED => None,
            MIXED..HALVED => Some(0.5),
            _ => Some(0.25),
        };
        let kept = part.map(|part| (model.factors.keep(0..samples), part));
        update_factors(&Vb::default(), model, cx)?;
        if let Some((kept, part)) = &kept {
            for row in 0..samples {
                model.factors.retreat(kept, row, *part)?;
            }
        }
        let now = model.factors.moments();
        let seen = model.factors.seen_as(&at);
        let step = Mat::from_fn(samples, now.k(), |n, j| {
            now.mean()[(n, j)] - at.mean()[(n, j)]
        });
        let uphill = uphill(now, step)?;
        let image = Image {
            means: now.mean(),
            longer: longer_steps(&mut model.views, &seen, now, &uphill)?,
            gradients: uphill.gradients,
        };
        let mut means = at.mean().to_owned();
        let before = way.settled().to_vec();
        way.next(&mut means, &image);
        // local variables of samples that rested before may have moved a little since
        answer = Some(match answer {
            Some(old) => keeping(&before, &old, now.clone()),
            None => now.clone(),
        });
        if way.settled().iter().all(|s| *s) {
            break;
        }
        let mut next = now.clone();
        *next.parts_mut().0 = means;
        at = keeping(way.settled(), &at, next);
        for view in &mut model.views {
            if let Some(locals) = view.term.as_rounds() {
                locals.rest(way.settled());
            }
        }
    }
    if let Some(mut answer) = answer {
        answer.refresh_log_det("factors")?;
        model.factors.move_to(answer);
    }
    assign(&Vb::default(), model, cx)?;
    Ok(Projected {
        rounds: round,
        moving: (way.settled().iter().enumerate())
            .filter_map(|(n, settled)| (!settled).then_some(n))
            .collect(),
        moved: way.moved(),
    })
}

/// Shortens steps to points where what the tangents stand for is no number: nothing can be told of the bound from there.
fn within(way: &mut Extrapolation, model: &mut Model, at: &mut RowMoments) {
    let Model { factors, views, .. } = model;
    let rows = 0..at.explicit_rows();
    loop {
        let seen = factors.seen_as(at);
        let mut values = vec![0.0; rows.len()];
        for view in &mut *views {
            let p = Predictor {
                factors: &seen,
                weights: view.weights.seen(),
                bias: &view.bias,
            };
            if let Some(tangents) = view.term.as_tangents() {
                tangents.values(Side::Factors, rows.clone(), &p, &mut values);
            }
        }
        drop(seen);
        let mut means = at.mean().to_owned();
        let outside = rows.clone().filter(|n| !values[*n].is_finite());
        if !way.shorten(outside, &mut means) {
            return;
        }
        *at.parts_mut().0 = means;
    }
}

/// The rows of `new`, but those of `old` of the samples that rest.
fn keeping(resting: &[bool], old: &RowMoments, mut new: RowMoments) -> RowMoments {
    let resting = || resting.iter().enumerate().filter(|s| *s.1).map(|s| s.0);
    if resting().next().is_none() {
        return new;
    }
    let (mean, cov, _) = new.parts_mut();
    for n in resting() {
        for j in 0..mean.ncols() {
            mean[(n, j)] = old.mean()[(n, j)];
        }
    }
    match (cov, old.cov()) {
        (RowCov::PerRow(new), _) => {
            for n in resting() {
                new.row_mut(n).copy_from_slice(old.row_cov(n).as_slice());
            }
        }
        (RowCov::Basis { scales: new, .. }, RowCov::Basis { scales: old, .. })
        | (RowCov::Diagonal(new), RowCov::Diagonal(old)) => {
            for n in resting() {
                for j in 0..new.ncols() {
                    new[(n, j)] = old[(n, j)];
                }
            }
        }
        // what samples have in common does not depend on the factors of any
        _ => {}
    }
    new
}

/// Slopes of the bound at the points of a round.
struct Uphill {
    /// $Pd$ with the step d to the image and the precision P of the factors with local
    /// variables held: the bound's gradient in the means once these follow, samples × K.
    gradients: Mat<f64>,
    /// P, where it was made for each sample.
    precisions: Option<PackedRows>,
}

fn failed(source: LinalgError) -> NumericError {
    NumericError::Linalg {
        block: "factors".into(),
        source,
    }
}

/// From the images and the steps to them.
fn uphill(now: &RowMoments, mut step: Mat<f64>) -> Result<Uphill, NumericError> {
    let rows = now.explicit_rows();
    if let RowCov::PerRow(covariances) = now.cov() {
        let mut logs = vec![0.0; rows];
        // covariances in, precisions out
        let mut precisions = covariances.clone();
        solve_rows(&mut precisions, step.as_mut(), &mut logs).map_err(failed)?;
        return Ok(Uphill {
            gradients: step,
            precisions: Some(precisions),
        });
    }
    let factored = |cov: &SymPacked| Ok(SpdFactor::factor(cov).map_err(failed)?.0);
    if let RowCov::Shared(cov) = now.cov() {
        step = factored(cov)?.solve_mat_right(step.as_ref());
    } else {
        for n in 0..rows {
            let of = factored(&now.row_cov(n))?.solve_mat_right(step.as_ref().subrows(n, 1));
            for j in 0..of.ncols() {
                step[(n, j)] = of[(0, j)];
            }
        }
    }
    Ok(Uphill {
        gradients: step,
        precisions: None,
    })
}

/// Newton's steps at the points `at`. With local
/// variables held the bound is a quadratic of precision P, and the step to its top
/// $P^{-1}g$ with the gradient g; with local variables that follow it is flatter by R, and the step
/// is $(P - R)^{-1}g$. `None` where no term knows of an R. `at` are the points as data terms see
/// them.
fn longer_steps(
    views: &mut [ViewPart],
    at: &RowMoments,
    now: &RowMoments,
    uphill: &Uphill,
) -> Result<Option<Mat<f64>>, NumericError> {
    let (rows, k) = (now.explicit_rows(), now.k());
    let mut slack = PackedRows::zeros(rows, at.k());
    for view in views {
        let p = Predictor {
            factors: at,
            weights: view.weights.seen(),
            bias: &view.bias,
        };
        if let Some(locals) = view.term.as_rounds() {
            locals.slack(&p, &mut slack);
        }
    }
    if slack.as_slice().iter().all(|x| *x == 0.0) {
        return Ok(None);
    }
    if at.k() > k {
        // what is known does not step
        slack.select(&(0..k).collect::<Vec<_>>(), &vec![1.0; k]);
    }
    let mut steps = uphill.gradients.clone();
    let mut flat = match &uphill.precisions {
        Some(precisions) => precisions.clone(),
        None => precisions_of(now)?,
    };
    for (p, r) in flat.as_mut_slice().iter_mut().zip(slack.as_slice()) {
        *p -= r;
    }
    let mut logs = vec![0.0; rows];
    let mut whole = flat.clone();
    if factor_rows(&mut whole, steps.as_mut(), &mut logs).is_err() {
        // one by one: a sample where rounding has made it indefinite takes plain steps
        steps.copy_from(&uphill.gradients);
        for n in 0..rows {
            let factor = SpdFactor::factor(&flat.sym(n));
            let step = factor.map(|f| f.0.solve_mat_right(steps.as_ref().subrows(n, 1)));
            for j in 0..k {
                steps[(n, j)] = step.as_ref().map_or(f64::NAN, |s| s[(0, j)]);
            }
        }
    }
    Ok(Some(steps))
}

/// The precision of each row.
fn precisions_of(rows: &RowMoments) -> Result<PackedRows, NumericError> {
    let inverse = |cov: &SymPacked| Ok(SpdFactor::factor(cov).map_err(failed)?.0.inverse());
    let count = rows.explicit_rows();
    if let RowCov::Shared(cov) = rows.cov() {
        return Ok(PackedRows::repeat(count, &inverse(cov)?));
    }
    let mut out = PackedRows::zeros(count, rows.k());
    for n in 0..count {
        let precision = inverse(&rows.row_cov(n))?;
        out.row_mut(n).copy_from_slice(precision.as_slice());
    }
    Ok(out)
}

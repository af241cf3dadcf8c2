//! Factors of samples that may be of any component of a mixture.

use polyview_core::{
    Context, Journal, Of, Predictor, RowBlock, RowContext, RowCov, RowGroups, RowMoments,
};
use polyview_infer::{Model, Projected, ProjectionRounds, Vb, ViewPart, assign, project_factors};
use polyview_linalg::{Mat, PackedRows, packed_index};
use rayon::prelude::*;

use crate::error::Result;

/// How samples are projected, and what makes the model of one of them alone.
pub(super) struct Way<'a> {
    pub(super) rounds: ProjectionRounds,
    pub(super) of_one: &'a (dyn Fn(usize) -> Result<Model> + Sync),
}

/// A share below this is none: a sample that does not settle there does not matter.
const NO_SHARE: f64 = 1e-6;

/// The block of the samples of `model` under $q(z, t) = q(t)\,q(z\mid t)$ (spec/maxmargin-rank
/// 5.5, where factors and component depend on each other): every component by itself has its
/// own optimum $q(z\mid t)$, and $q(t)\propto e^{L\_t}$ with the bounds $L\_t$ of the sample
/// at these, prior weights in them. It has the moments of the whole mixture.
///
/// Factors and components that follow one another end in one of several optima instead, and
/// where little is known of a sample in the one next to where they began.
pub(super) fn project(
    model: &mut Model,
    way: &Way<'_>,
    cx: &mut Context<'_>,
) -> Result<(Box<dyn RowBlock>, Projected)> {
    let start = model.factors.moments().clone();
    let (n, k) = (start.rows(), start.k());
    let Some(mixture) = model.factors.mixture() else {
        let projected = project_factors(model, way.rounds, cx)?;
        let now = model.factors.moments().clone();
        return Ok((under(model.factors.as_ref(), now)?, projected));
    };
    let components = mixture.weights.len();
    let (mut found, mut logs) = (Vec::new(), Mat::zeros(n, components));
    let mut ends = Vec::new();
    for t in 0..components {
        let from = Mat::from_fn(n, k, |_, j| mixture.means[(t, j)]);
        hold(model, RowMoments::isotropic(from, 1e-2, 0), t, cx)?;
        ends.push(project_factors(model, way.rounds, cx)?);
        let moments = model.factors.moments().clone();
        let (key, sweep) = (cx.key, cx.sweep);
        let bound = |r: usize| {
            let mut own = moments.subset(&[r as u32]);
            own.refresh_log_det("factors")?;
            // one sample's remarks are those of all
            let journal = &mut Journal::default();
            let mut cx = Context {
                key,
                sweep,
                journal,
            };
            bound_of_one((way.of_one)(r)?, own, t, &mut cx)
        };
        let bounds: Vec<f64> = (0..n).into_par_iter().map(bound).collect::<Result<_>>()?;
        for (r, bound) in bounds.into_iter().enumerate() {
            logs[(r, t)] = bound;
        }
        found.push(moments);
    }
    normalise(&mut logs);
    let projected = ended(&ends, &logs);
    let moments = mixed(&found, &logs)?;
    let mut out = under(model.factors.as_ref(), moments)?;
    out.hold_shares(logs);
    Ok((out, projected))
}

/// Puts all samples of a model into one component.
fn hold(
    model: &mut Model,
    start: RowMoments,
    component: usize,
    cx: &mut Context<'_>,
) -> Result<()> {
    let n = start.rows();
    let components = model.factors.shares().map_or(0, |s| s.ncols());
    let mut factors = under(model.factors.as_ref(), start)?;
    let one = |_, t| f64::from(u8::from(t == component));
    factors.hold_shares(Mat::from_fn(n, components, one));
    model.factors = factors;
    assign(&Vb::default(), model, cx)?;
    Ok(())
}

/// What the bound of one sample says, with these factors in this component.
fn bound_of_one(
    mut model: Model,
    factors: RowMoments,
    component: usize,
    cx: &mut Context<'_>,
) -> Result<f64> {
    hold(&mut model, factors, component, cx)?;
    let Model { factors, views, .. } = &mut model;
    for ViewPart {
        term,
        weights,
        bias,
        ..
    } in views
    {
        if let Some(locals) = term.as_rounds() {
            let p = Predictor {
                factors: factors.seen(),
                weights: weights.seen(),
                bias,
            };
            locals.refresh_locals(&p, cx)?;
        }
    }
    let terms = model.objective();
    let of_samples = terms.iter().filter(|t| t.of == Of::Samples);
    Ok(of_samples.map(|t| t.value).sum())
}

/// Replaces logarithms of weights by probabilities, each row by itself.
pub(super) fn normalise(logs: &mut Mat<f64>) {
    for n in 0..logs.nrows() {
        let row = |logs: &Mat<f64>| (0..logs.ncols()).map(|t| logs[(n, t)]).collect::<Vec<_>>();
        let top = row(logs).into_iter().fold(f64::NEG_INFINITY, f64::max);
        let weights: Vec<f64> = row(logs).iter().map(|l| (l - top).exp()).collect();
        let total: f64 = weights.iter().sum();
        for (t, w) in weights.into_iter().enumerate() {
            logs[(n, t)] = w / total;
        }
    }
}

/// How the rounds ended in the components that samples may be of.
fn ended(ends: &[Projected], shares: &Mat<f64>) -> Projected {
    let mut out = Projected {
        rounds: 1,
        moving: Vec::new(),
        moved: 0.0,
    };
    for (t, end) in ends.iter().enumerate() {
        out.rounds = out.rounds.max(end.rounds);
        let moving = end.moving.iter().filter(|n| shares[(**n, t)] > NO_SHARE);
        let before = out.moving.len();
        out.moving.extend(moving);
        if out.moving.len() > before {
            out.moved = out.moved.max(end.moved);
        }
    }
    out.moving.sort_unstable();
    out.moving.dedup();
    out
}

/// Moments of the mixture of these rows with these shares.
fn mixed(components: &[RowMoments], shares: &Mat<f64>) -> Result<RowMoments> {
    let (n, k) = (shares.nrows(), components.first().map_or(0, RowMoments::k));
    let parts = || components.iter().enumerate();
    let mean = Mat::from_fn(n, k, |r, j| {
        parts()
            .map(|(t, c)| shares[(r, t)] * c.mean()[(r, j)])
            .sum::<f64>()
    });
    let mut packed = PackedRows::zeros(n, k);
    for r in 0..n {
        let cells = packed.row_mut(r);
        for (t, c) in parts() {
            let (share, own) = (shares[(r, t)], c.row_cov(r));
            for a in 0..k {
                for b in 0..=a {
                    let apart = |j: usize| c.mean()[(r, j)] - mean[(r, j)];
                    let p = packed_index(a, b);
                    cells[p] += share * (own.as_slice()[p] + apart(a) * apart(b));
                }
            }
        }
    }
    let mut out = RowMoments::new(mean, RowCov::PerRow(packed), 0.0, 0);
    out.refresh_log_det("factors")?;
    Ok(out)
}

/// A block of other rows under the prior of `of`.
fn under(of: &dyn RowBlock, start: RowMoments) -> Result<Box<dyn RowBlock>> {
    let groups = RowGroups::one(start.rows());
    Ok(of.for_rows(&RowContext::new(&groups).with_known(of.known()), start)?)
}

//! Factors of given data under one component of the posterior.

use std::sync::Arc;

use polyview_core::{
    Context, Journal, NumericError, Of, Predictor, RowBlock, RowContext, RowGroups, RowMoments,
    Schedule, Terms, View,
};
use polyview_infer::{Model, Projected, ProjectionRounds, ViewPart, project_factors};
use polyview_linalg::Mat;
use polyview_priors::{Fixed, FullRows};
use polyview_random::StreamKey;
use rayon::prelude::*;

use super::components;
use super::project::WeightUncertainty;
use crate::error::{Error, ErrorKind, Result};
use crate::fit::{Component, ComponentView, Fit, ViewInfo};

/// Factors of given data.
pub(crate) struct Located {
    /// $q(z\_*)$, one a row.
    pub(crate) moments: RowMoments,
    /// Probabilities of the components of a mixture prior, rows × components.
    pub(crate) shares: Option<Arc<Mat<f64>>>,
}

impl Fit {
    /// Factors of the training samples as of one observation of each view: what predictions of their cells go by where
    /// a view counts more or less than once (docs/decisions/0093-factors-of-one-observation.md). Those of the fit have
    /// seen that view as often as it counts, and are surer than one observation makes them. `None` where every view
    /// counts once: then they are those of the fit.
    ///
    /// # Errors
    /// [`ErrorKind::NoData`]; as [`factors`].
    pub(crate) fn as_of_one(&self, notes: &mut Vec<String>) -> Result<Option<Located>> {
        let once = |info: &ViewInfo| info.choices.own_weight().is_none();
        if self.views().iter().all(once) {
            return Ok(None);
        }
        // an optimum, whose component is the only one: there are no draws of powers
        let component = self.component(0)?;
        let views: Vec<Option<View>> = self.data()?.iter().cloned().map(Some).collect();
        let mut journal = Journal::default();
        let how = usual(WeightUncertainty::Variational);
        let found = factors(self, &component, &views, self.samples(), how, &mut journal)?;
        notes_of(&journal, notes);
        Ok(Some(found))
    }
}

/// What a projection knows of the weights, and the most rounds that it takes.
pub(super) fn usual(weights: WeightUncertainty) -> (WeightUncertainty, usize) {
    (weights, ProjectionRounds::default().most)
}

/// $q(z\_*)$ of each row of `views` (spec/sshiba P1, P2, partial rows U1m):
/// the factors' equations with weights, intercepts and noise held fixed.
///
/// Under a Gibbs draw the weights are known; without local variables this is
/// then the exact conditional, with them its variational approximation.
///
/// # Errors
/// [`ErrorKind::NotSettled`]; numerical errors.
pub(super) fn factors(
    fit: &Fit,
    component: &Component,
    views: &[Option<View>],
    samples: &[String],
    how: (WeightUncertainty, usize),
    journal: &mut Journal,
) -> Result<Located> {
    let start = (samples, start(component, samples.len()));
    let (block, _) = block(fit, component, views, start, how, journal)?;
    let moments = block.moments().clone();
    let shares = block.shares().cloned();
    Ok(Located { moments, shares })
}

/// Factors of which nothing is known yet.
pub(super) fn start(component: &Component, samples: usize) -> RowMoments {
    RowMoments::isotropic(Mat::zeros(samples, component.factors().k()), 1e-2, 0)
}

/// As [`factors`], as a block under the fit's prior, with the number of rounds;
/// `start` is where these begin, with the IDs of the samples.
///
/// # Errors
/// As [`factors`].
pub(super) fn block(
    fit: &Fit,
    component: &Component,
    views: &[Option<View>],
    (ids, start): (&[String], RowMoments),
    (weights, most): (WeightUncertainty, usize),
    journal: &mut Journal,
) -> Result<(Box<dyn RowBlock>, usize)> {
    let (samples, k) = (start.rows(), start.k());
    let parts = parts_of(fit, component, views, weights)?;
    let schedule = Schedule::standard(parts.len());
    // with its covariances, whatever the fit's: exact in one step
    let groups = component.groups.clone();
    let groups = groups.unwrap_or_else(|| RowGroups::one(samples));
    let known = component.known();
    let rows = RowContext::new(&groups).with_known(known);
    let together = (component.factors).gaussian_for_rows(&rows, start.clone())?;
    let factors = component.factors.for_rows(&rows, start)?;
    let several = factors.shares().is_some_and(|s| s.ncols() > 1);
    let mut model = Model::new(factors, parts, schedule);
    let mut cx = Context {
        key: StreamKey::new(fit.run_options().seed),
        sweep: 0,
        journal,
    };
    let rounds = ProjectionRounds {
        most,
        ..ProjectionRounds::default()
    };
    if several && component.groups.is_none() {
        let of_one = |n: usize| {
            let mine = |v: &View| v.subset(v.name(), &[n as u32]);
            let views: Vec<Option<View>> = views.iter().map(|v| v.as_ref().map(mine)).collect();
            let parts = parts_of(fit, component, &views, weights)?;
            let start = RowMoments::isotropic(Mat::zeros(1, k), 1e-2, 0);
            let groups = RowGroups::one(1);
            let rows = RowContext::new(&groups).with_known(known.map(|k| k.subrows(n, 1)));
            let factors = (component.factors).for_rows(&rows, start)?;
            let schedule = Schedule::standard(parts.len());
            Ok(Model::new(factors, parts, schedule))
        };
        let way = components::Way {
            rounds,
            of_one: &of_one,
        };
        let (found, projected) = components::project(&mut model, &way, &mut cx)?;
        settled(fit, &mut model, &projected, ids)?;
        finite(found.moments())?;
        return Ok((found, projected.rounds));
    }
    if let Some(together) = together {
        let own = std::mem::replace(&mut model.factors, together);
        project_factors(&mut model, rounds, &mut cx)?;
        let start = model.factors.moments().clone();
        model.factors = own;
        model.factors.set_moments(start);
    }
    let projected = project_factors(&mut model, rounds, &mut cx)?;
    settled(fit, &mut model, &projected, ids)?;
    finite(model.factors.moments())?;
    Ok((model.factors, projected.rounds))
}

/// What the bound says of each of some `rows` of `views` at these factors, nats: what their data and their factors add to it
/// (spec/sshiba 3), with local variables at their best. `alone` is the component with one sample in place of them all.
///
/// # Errors
/// As [`factors`].
pub(super) fn bounds(
    fit: &Fit,
    alone: &Component,
    views: &[Option<View>],
    found: &Located,
    weights: WeightUncertainty,
    rows: &[usize],
) -> Result<Vec<f64>> {
    let known: Vec<_> = (alone.views.iter().zip(views))
        .map(|(part, view)| view.is_some().then(|| moments_of(part, weights)))
        .collect();
    let of_row = |&n: &usize| -> Result<f64> {
        let mut own = found.moments.subset(&[n as u32]);
        own.refresh_log_det("factors")?;
        let groups = alone.groups.clone().unwrap_or_else(|| RowGroups::one(1));
        let beside = alone.known().map(|k| k.subrows(n, 1));
        let rows = RowContext::new(&groups).with_known(beside);
        let mut factors = alone.factors.for_rows(&rows, own)?;
        let shares = found
            .shares
            .as_ref()
            .map(|all| all.subrows(n, 1).to_owned());
        if let Some(own) = &shares {
            factors.hold_shares(own.clone());
        }
        // one sample's remarks are those of all
        let journal = &mut Journal::default();
        let mut cx = Context {
            key: StreamKey::new(fit.run_options().seed),
            sweep: 0,
            journal,
        };
        let mut bound = of_samples(&factors.bound());
        for ((part, view), weights) in alone.views.iter().zip(views).zip(&known) {
            let (Some(view), Some(weights)) = (view, weights) else {
                continue;
            };
            let mut term = part.term.rebind(&view.subset(view.name(), &[n as u32]))?;
            if let (Some(components), Some(own)) = (term.as_by_component(), &shares) {
                components.take_shares(&Arc::new(own.clone()));
            }
            let p = Predictor {
                factors: factors.seen(),
                weights,
                bias: &part.bias,
            };
            if let Some(locals) = term.as_rounds() {
                locals.refresh_locals(&p, &mut cx)?;
            }
            bound += of_samples(&term.bound(&p));
        }
        Ok(bound)
    };
    rows.par_iter().map(of_row).collect()
}

fn of_samples(terms: &Terms) -> f64 {
    let of_samples = terms.0.iter().filter(|t| t.of == Of::Samples);
    of_samples.map(|t| t.value).sum()
}

/// The weights of a view, as uncertain as that.
fn moments_of(part: &ComponentView, weights: WeightUncertainty) -> RowMoments {
    match weights {
        WeightUncertainty::Variational => part.seen().clone(),
        WeightUncertainty::PlugIn => RowMoments::point(part.seen().mean().to_owned()),
    }
}

/// The views of `views` with what the component knows of them.
fn parts_of(
    fit: &Fit,
    component: &Component,
    views: &[Option<View>],
    weights: WeightUncertainty,
) -> Result<Vec<ViewPart>> {
    let mut parts = Vec::with_capacity(views.len());
    for ((part, info), view) in component.views.iter().zip(fit.views()).zip(views) {
        let Some(view) = view else { continue };
        let moments = moments_of(part, weights);
        parts.push(ViewPart {
            name: info.name.clone(),
            term: part.term.rebind(view)?,
            weights: Box::new(FullRows::new(
                format!("weights/{}", info.name),
                Fixed::standard_normal(moments.k()),
                moments,
            )),
            bias: part.bias.clone(),
        });
    }
    Ok(parts)
}

fn finite(moments: &RowMoments) -> Result<()> {
    let means = moments.mean();
    if (0..means.ncols()).any(|j| means.col(j).iter().any(|x| !x.is_finite())) {
        return Err(Error::from(NumericError::NotFinite {
            block: "factors".into(),
            what: "a projected factor",
        }));
    }
    Ok(())
}

/// An error where factors of samples did not come to rest.
fn settled(fit: &Fit, model: &mut Model, projected: &Projected, ids: &[String]) -> Result<()> {
    let Some(&first) = projected.moving.first() else {
        return Ok(());
    };
    let mut views: Vec<String> = Vec::new();
    for v in &mut model.views {
        if v.term.as_rounds().is_some() {
            views.push(v.name.clone());
        }
    }
    let steepens = |info: &&ViewInfo| info.choices.likelihood.steepens();
    let steep = fit.views().iter().filter(steepens).map(|info| &info.name);
    Err(ErrorKind::NotSettled {
        steep: steep.filter(|v| views.contains(v)).cloned().collect(),
        views,
        count: projected.moving.len(),
        samples: ids.len(),
        first: ids.get(first).cloned().unwrap_or_default(),
        rounds: projected.rounds,
        moved: projected.moved,
    }
    .into())
}

/// Notes of what a journal holds.
pub(super) fn notes_of(journal: &Journal, notes: &mut Vec<String>) {
    for e in &journal.entries {
        notes.push(format!("{}: {}", e.block, e.event));
    }
}

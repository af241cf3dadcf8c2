//! Factors that no view uses any more (spec/sshiba 5; docs/decisions/0008-empty-factors.md).

use polyview_core::{Context, Event, NumericError, State, Stateful, Step};
use polyview_linalg::MatRef;
use rayon::prelude::*;
use serde::{Deserialize, Serialize};

use crate::engine::{Vb, run_steps, step_groups};
use crate::model::Model;

/// When a factor counts as empty.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields, default)]
pub struct PruneRule {
    /// Largest ratio of the squared posterior means of its weights to their
    /// posterior variances, each summed over a view. Free of scales: a factor
    /// below it says less than its own uncertainty, in every view.
    pub energy_ratio: f64,
    /// Largest absolute weight, in working units: at or below it in all views
    /// the factor is empty whatever the ratio (the papers' rule). 0 turns it
    /// off.
    pub largest_weight: f64,
    /// Whether, once nothing moves any more, factors are taken out on
    /// trial, the smallest first: one without which the bound is higher, at once or after
    /// a few sweeps of the others, goes for good, and the run
    /// goes on. Sparse weights tie two or three features together by chance;
    /// their ratio and size are no smaller than those of a factor that is
    /// there, but they do not pay for what they cost.
    ///
    /// The factor that is out counts as one of which no data speak
    /// ([`Model::idle_factor`]): its scales are in both bounds. Models with fewer of
    /// them have higher bounds whatever the data say, by $-\ln a\_0$ for each of the
    /// shape $a\_0$ (spec/sites 6), and true factors would go.
    pub by_bound: bool,
    /// Smallest share of a view's variance (predictors, link and noise) that a
    /// factor has to explain in some view; below it in all, from the tenth sweep
    /// on, it is removed. MOFA's dropping of factors (spec/mofa B.7), all at
    /// once and none at random. 0 turns it off.
    pub least_explained: f64,
}

/// First sweep in which a factor has to explain something.
const FIRST_DROP: usize = 10;

/// Most sweeps that the other factors get on trial.
pub(crate) const TRIAL: usize = 30;

/// A trial is over once what the bound may still gain, by the ratio of its last gains, is
/// this many times too little.
const HOPE: f64 = 2.0;

impl Default for PruneRule {
    fn default() -> Self {
        Self {
            energy_ratio: 1e-4,
            largest_weight: 1e-6,
            by_bound: false,
            least_explained: 0.0,
        }
    }
}

impl PruneRule {
    /// Whether factors are removed while the run goes on.
    fn is_on(&self) -> bool {
        self.energy_ratio > 0.0 || self.largest_weight > 0.0 || self.least_explained > 0.0
    }
    /// The rule that never removes a factor.
    pub const fn never() -> Self {
        Self {
            energy_ratio: 0.0,
            largest_weight: 0.0,
            by_bound: false,
            least_explained: 0.0,
        }
    }
}

/// An empty factor and how empty it is.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct EmptyFactor {
    /// Place from 0.
    pub factor: usize,
    /// Largest absolute weight in any view, working units.
    pub largest_weight: f64,
    /// Share of the variance of all views' predictors.
    pub explained: f64,
}

/// Factors that are empty in every view by `rule`. Shares of a rank view
/// ([`PruneRule::least_explained`]) ask for [`Model::condition`] first.
fn empty_factors(model: &Model, rule: &PruneRule) -> Vec<EmptyFactor> {
    if !rule.is_on() {
        return Vec::new();
    }
    let (empty, factors) = sizes(model, rule);
    factors
        .into_iter()
        .zip(empty)
        .filter(|(_, e)| *e)
        .map(|(f, _)| f)
        .collect()
}

/// All factors in the order in which they are taken out on trial, the smallest first.
pub(crate) fn smallest_first(model: &Model) -> Vec<EmptyFactor> {
    let (_, mut factors) = sizes(model, &PruneRule::never());
    factors.sort_by(|a, b| a.explained.total_cmp(&b.explained));
    factors
}

/// Size of the weights of one factor in one view.
struct Size {
    /// Sum of squared means.
    means: f64,
    /// The same in the units that columns can be added up in
    /// ([`Link::scale`](polyview_core::Link::scale)).
    scaled: f64,
    /// Largest absolute mean.
    peak: f64,
}

/// Partial sums of a column, which do not wait for each other.
const LANES: usize = 8;

impl Size {
    /// Of the means of a column.
    fn of(means: &[f64], scales: &[f64]) -> Self {
        let (mut sums, mut scaled, mut peak) = ([0.0; LANES], [0.0; LANES], [0.0_f64; LANES]);
        for (w, scale) in means.chunks(LANES).zip(scales.chunks(LANES)) {
            for (lane, (w, scale)) in w.iter().zip(scale).enumerate() {
                sums[lane] += w * w;
                scaled[lane] += (w * scale).powi(2);
                peak[lane] = peak[lane].max(w.abs());
            }
        }
        Self {
            means: sums.iter().sum(),
            scaled: scaled.iter().sum(),
            peak: peak.into_iter().fold(0.0, f64::max),
        }
    }
}

/// Which factors are empty by `rule`, and the size of each.
fn sizes(model: &Model, rule: &PruneRule) -> (Vec<bool>, Vec<EmptyFactor>) {
    let k = model.k();
    let z = model.factors.moments().mean();
    let energy =
        |m: MatRef<'_, f64>, j: usize| (0..m.nrows()).map(|r| m[(r, j)].powi(2)).sum::<f64>();
    let mut total = 0.0;
    let mut own = vec![0.0; k];
    let mut largest = vec![0.0_f64; k];
    let mut empty = vec![true; k];
    let mut unseen = vec![rule.least_explained > 0.0; k];
    let samples = model.factors.moments().rows().max(1) as f64;
    let energies: Vec<f64> = (0..k).map(|j| energy(z, j) / samples).collect();
    for view in &model.views {
        let w = view.weights.moments();
        let spread = w.cov_sum(None);
        let shares = rule.least_explained > 0.0;
        let scales: Vec<f64> = (0..w.mean().nrows())
            .map(|d| {
                if shares {
                    view.term.link(None, d, 0.0).scale
                } else {
                    1.0
                }
            })
            .collect();
        let columns: Vec<Size> = (0..k)
            .into_par_iter()
            .map(|j| match w.mean().col(j).try_as_col_major() {
                Some(column) => Size::of(column.as_slice(), &scales),
                None => Size::of(
                    &w.mean().col(j).iter().copied().collect::<Vec<_>>(),
                    &scales,
                ),
            })
            .collect();
        let signal: f64 = columns
            .iter()
            .zip(&energies)
            .map(|(c, z)| c.scaled * z)
            .sum();
        let noise: f64 = if shares {
            let of = |d: usize| view.term.mean_link_variance(&view.bias, d);
            let explicit: f64 = (0..w.explicit_rows()).map(of).sum();
            // columns that are not spelled out have the noise of all
            let implicit = w.implicit_rows() as f64;
            explicit
                + if implicit > 0.0 {
                    implicit * of(0)
                } else {
                    0.0
                }
        } else {
            0.0
        };
        for (j, size) in columns.into_iter().enumerate() {
            largest[j] = largest[j].max(size.peak);
            empty[j] &= size.means <= rule.energy_ratio * spread.get(j, j)
                || size.peak <= rule.largest_weight;
            let explained = size.means * energies[j];
            unseen[j] &= size.scaled * energies[j] < rule.least_explained * (signal + noise);
            own[j] += explained;
            total += explained;
        }
    }
    let factors = (0..k)
        .map(|j| EmptyFactor {
            factor: j,
            largest_weight: largest[j],
            explained: if total > 0.0 { own[j] / total } else { 0.0 },
        })
        .collect();
    let empty = empty.into_iter().zip(unseen).map(|(e, u)| e || u);
    (empty.collect(), factors)
}

/// Removes the factors that are empty by the rule; which ones stay, if there were any.
///
/// # Errors
/// [`NumericError`] when a covariance is not positive definite.
pub(crate) fn drop_empty(
    model: &mut Model,
    rule: &PruneRule,
    cx: &mut Context<'_>,
) -> Result<Option<Vec<usize>>, NumericError> {
    let mut rule = *rule;
    if cx.sweep < FIRST_DROP {
        rule.least_explained = 0.0;
    }
    if rule.least_explained > 0.0 {
        // shares of rank views are those of the predictors of this sweep
        model.condition();
    }
    let empty = empty_factors(model, &rule);
    let k = model.k();
    if empty.is_empty() || k <= 1 || cx.sweep < 2 {
        return Ok(None);
    }
    let gone: Vec<usize> = empty.iter().map(|e| e.factor).take(k - 1).collect();
    let keep: Vec<usize> = (0..k).filter(|f| !gone.contains(f)).collect();
    model.select(&keep, &vec![1.0; keep.len()])?;
    for (i, e) in empty.iter().take(k - 1).enumerate() {
        let event = Event::Pruned {
            factor: e.factor + 1,
            largest_weight: e.largest_weight,
            explained: e.explained,
            left: k - 1 - i,
        };
        cx.journal.note(cx.sweep, "", event);
    }
    Ok(Some(keep))
}

/// Takes factors out on trial, first as everything stands, then after sweeps of the others;
/// whether any stayed out.
///
/// # Errors
/// [`NumericError`] from the parts.
pub(crate) fn drop_on_trial(
    model: &mut Model,
    bound: f64,
    engine: Vb,
    cx: &mut Context<'_>,
) -> Result<bool, NumericError> {
    Ok(drop_needless(model, bound, cx)? || drop_after_sweeps(model, bound, engine, cx)?)
}

/// Takes factors out on trial, the smallest first; those without
/// which the bound is higher, an idle factor in their place, stay out.
///
/// # Errors
/// [`NumericError`] when a covariance is not positive definite.
fn drop_needless(
    model: &mut Model,
    mut bound: f64,
    cx: &mut Context<'_>,
) -> Result<bool, NumericError> {
    let mut dropped = false;
    // factors keep their order, so places shift down as others go
    let mut gone: Vec<usize> = Vec::new();
    for small in smallest_first(model) {
        let k = model.k();
        if k <= 1 {
            break;
        }
        let place = small.factor - gone.iter().filter(|g| **g < small.factor).count();
        let mut before = State::new();
        model.save_rows(&mut before);
        let keep: Vec<usize> = (0..k).filter(|f| *f != place).collect();
        model.select(&keep, &vec![1.0; k - 1])?;
        let without = model.bound();
        let gain = without + model.idle_factor() - bound;
        if gain > 0.0 {
            let event = Event::Needless {
                factor: place + 1,
                explained: small.explained,
                gain,
                left: k - 1,
            };
            cx.journal.note(cx.sweep, "", event);
            (bound, dropped) = (without, true);
            gone.push(small.factor);
        } else {
            model.load_rows(&before.reader())?;
        }
    }
    Ok(dropped)
}

/// Takes factors out on trial one by one, the smallest first, and sweeps the others
/// until the bound, an idle factor in its place, is higher than with it or cannot become
/// so; in the end the state is what
/// it was, or the one without the first factor of which this was true. Returns whether there
/// was one.
///
/// # Errors
/// [`NumericError`] from the parts.
fn drop_after_sweeps(
    model: &mut Model,
    bound: f64,
    engine: Vb,
    cx: &mut Context<'_>,
) -> Result<bool, NumericError> {
    let k = model.k();
    let groups = step_groups(&model.schedule);
    for small in smallest_first(model) {
        if k <= 1 {
            break;
        }
        let mut before = State::new();
        model.save("", &mut before);
        let keep: Vec<usize> = (0..k).filter(|f| *f != small.factor).collect();
        model.select(&keep, &vec![1.0; k - 1])?;
        let goal = bound - model.idle_factor();
        let without = after_sweeps(model, &groups, goal, engine, cx)?;
        if without > goal {
            let event = Event::Needless {
                factor: small.factor + 1,
                explained: small.explained,
                gain: without - goal,
                left: k - 1,
            };
            cx.journal.note(cx.sweep, "", event);
            return Ok(true);
        }
        model.load("", &before.reader())?;
    }
    Ok(false)
}

/// The bound after sweeps, as many as it takes to be above `goal` or to know that it will
/// not.
fn after_sweeps(
    model: &mut Model,
    groups: &[Vec<Step>],
    goal: f64,
    engine: Vb,
    cx: &mut Context<'_>,
) -> Result<f64, NumericError> {
    let (mut bound, mut gain) = (model.bound(), f64::NAN);
    for _ in 0..TRIAL {
        run_steps(&engine, groups, model, cx)?;
        let now = model.bound();
        let (last, more) = (gain, now - bound);
        (bound, gain) = (now, more);
        if bound > goal || hopeless(bound, (last, more), goal) || !bound.is_finite() {
            break;
        }
    }
    Ok(bound)
}

/// Whether a bound, of which the last two gains are known, will not come to be above `goal`: by
/// a geometric series with their ratio. Without a first gain (NaN) nobody knows.
pub(crate) fn hopeless(bound: f64, (last, more): (f64, f64), goal: f64) -> bool {
    let ratio = (more / last).clamp(0.0, 0.99);
    bound + HOPE * more * ratio / (1.0 - ratio) < goal
}

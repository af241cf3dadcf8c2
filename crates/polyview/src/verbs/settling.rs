//! Views of labels given factors that are known, and whether they tell samples apart.

use std::borrow::Cow;

use polyview_core::{
    GammaPrior, Journal, NoiseScope, ParameterUncertainty, Predictor, RowBlock, RowMoments,
    Schedule, State, Step, View, ViewTerm,
};
use polyview_infer::{Model, Outcome, PruneRule, VbOptions, VbRun, ViewPart};
use polyview_linalg::{Mat, MatRef};
use polyview_priors::{Fixed, FullRows, Ridge};
use polyview_random::StreamKey;

use super::candidate::{Candidate, predicted};
use super::label_loss;
use super::mixing::Mixing;
use super::settle::{SettleProgress, Watch, without_covariances};
use super::settling_features::OnFeatures;
use crate::assemble;
use crate::error::{Error, Result};
use crate::fit::{Component, Fit};
use crate::spec::Settle;

/// Streams of this step are none of the fit's.
const CHAIN: u32 = 0x7365_7474;

/// Most sweeps, and what counts as no change: sweeps without factors cost next
/// to nothing, and the bound includes that of the factors, which stays.
pub(super) const SWEEPS: usize = 1000;
const TOLERANCE: f64 = 1e-9;
const MOVEMENT: f64 = 1e-4;

/// What runs come to.
pub(super) struct Runs {
    /// One a target, in the order of the fit's views.
    pub(super) views: Vec<Candidate>,
    /// How the sweeps ended, and their number.
    pub(super) outcome: Outcome,
    pub(super) sweeps: usize,
}

/// What the data of a target are given of factors that did not see them.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Given {
    /// Means and covariances.
    Laws,
    /// The means, taken to be known.
    Means,
}

/// One run over a target.
pub(super) struct Sweeps {
    pub(super) part: ViewPart,
    pub(super) outcome: Outcome,
    pub(super) count: usize,
    /// What predicts the target beside factors.
    pub(super) features: Option<OnFeatures>,
}

/// How often the variances that factors leave the predictors of a target follow its weights,
/// at most, and the relative change of the weights that ends it.
const ROUNDS: usize = 40;
const STILL: f64 = 1e-3;
/// Prior of the precision of a feature's weights (spec/sites 6).
const OF_WEIGHTS: GammaPrior = GammaPrior::new(1.0, 1.0);
/// Sweeps between two such rounds.
const SWEEPS_OF_A_ROUND: usize = 4;
/// Least variance that a factor explains of other views, beside the mean of all: it counts as
/// so much.
const LEAST_REACH: f64 = 1e-3;
/// Least share of the residual variance about predictions from means that is taken for noise.
const LEAST_NOISE: f64 = 0.02;
const POSTERIOR: ParameterUncertainty = ParameterUncertainty::Posterior;

impl Fit {
    /// Brings weights, intercepts, scales and noise of the views `targets` to what predicts
    /// their data best given the factors, from where the joint fit has them (spec/sites 5).
    ///
    /// What is unknown of the factors of a sample is part of the law of its data,
    /// $p(t\_n\mid W) = \mathrm E\_{q(z\_n)}p(t\_n\mid Wz\_n)$: where a data term knows that
    /// law for given variances $\kappa\_n = w^\top S\_nw$ of its predictors
    /// ([`ViewTerm::widened`](polyview_core::ViewTerm::widened)), weights are fitted to the
    /// means of the factors under it, and $\kappa$ follows until they stand still; each weight is
    /// taken where Anderson's mixing of the last rounds leads. At the truth
    /// the score of each datum has the mean zero whatever $\kappa\_n$, and where all samples are
    /// as uncertain this is the optimum of the predictive density itself. Noise is fitted to
    /// the means as well, where it explains for all samples alike what their factors leave, and
    /// then gives up that part. Every other likelihood is fitted to factors as uncertain as
    /// they are.
    pub(super) fn settle_from(
        &self,
        component: &Component,
        targets: &[usize],
        mut rows: Box<dyn RowBlock>,
        others: &[Option<View>],
        (given, watch): (Given, Watch<'_>),
    ) -> Result<Runs> {
        let data = self.data()?;
        if given == Given::Means {
            let means = without_covariances(rows.moments());
            rows.move_to(means);
        }
        let factors = rows.seen().clone();
        let relative = relative_precisions(component, targets);
        let wants = |v: &usize| self.views[*v].choices.settle == Some(Settle::Features);
        let beside = match targets.iter().find(|v| wants(v)) {
            None => None,
            Some(&v) => Some(self.beside(component, others, &factors, v)?),
        };
        let mut runs = Runs {
            views: Vec::with_capacity(targets.len()),
            outcome: Outcome::Converged,
            sweeps: 0,
        };
        for (&v, part) in targets
            .iter()
            .zip(self.parts_to_settle(component, targets)?)
        {
            let joint_loss = predicted(&part, &part.bias, &factors, &data[v]).map(|p| p.0);
            let part = self.as_settled_before(v, part, &data[v])?;
            let beside = beside.as_ref().filter(|_| wants(&v));
            let run = match (beside, given) {
                (Some(beside), _) => {
                    let of = (v, &data[v], given);
                    self.settle_beside(component, of, part, &factors, (beside, watch))?
                }
                (None, Given::Means) => self.sweeps_over(&mut rows, part, (SWEEPS, 0), watch)?,
                (None, Given::Laws) => {
                    let view = (v, &data[v], &relative[..]);
                    self.settle_to_laws(component, view, part, (&mut rows, watch))?
                }
            };
            if run.outcome == Outcome::Interrupted {
                runs.outcome = run.outcome;
                return Ok(runs);
            }
            // intercepts as predictions of each sample have them
            let added = run.features.as_ref().zip(beside);
            let added = added.map(|(f, b)| f.added(&run.part.bias, b.known.as_ref(), POSTERIOR));
            let added = added.transpose()?;
            let bias = added.as_ref().unwrap_or(&run.part.bias);
            let (loss, constant) = predicted(&run.part, bias, &factors, &data[v]).unzip();
            let share = run.features.as_ref().zip(beside).map(|(f, b)| {
                let weights = run.part.weights.moments();
                f.share(weights, factors.mean(), b.known.as_ref())
            });
            let directions = beside.map_or(0, |b| b.directions.count());
            runs.views.push(Candidate {
                loss,
                joint_loss,
                shares_loss: label_loss::of_shares(&data[v], run.part.term.domain()),
                weights: (run.part.weights.moments().explicit_rows() * (self.k() + directions))
                    as f64,
                constant: constant.unwrap_or(false),
                outcome: run.outcome,
                sweeps: run.count,
                features: share.map(|share| (directions, share)),
                state: {
                    let mut state = State::new();
                    run.part.give_up("", &mut state);
                    state.drop_local();
                    if let Some(features) = &run.features {
                        features.save(self, &self.views[v].name, &mut state);
                    }
                    state
                },
            });
            runs.sweeps = runs.sweeps.max(run.count);
            if run.outcome != Outcome::Converged {
                runs.outcome = run.outcome;
            }
        }
        Ok(runs)
    }

    /// The parts of the targets as the joint fit has them, with their data.
    fn parts_to_settle(&self, component: &Component, targets: &[usize]) -> Result<Vec<ViewPart>> {
        let data = self.data()?;
        let groups = assemble::several(self.groups());
        let prediction = ParameterUncertainty::Posterior;
        let views = self.empty_views()?;
        let mut model = (self.composed).parameters(groups, views, self.k(), prediction)?;
        model.load_views("", &self.components[0].reader())?;
        let mut parts = Vec::with_capacity(targets.len());
        for (v, part) in model.views.into_iter().enumerate() {
            if targets.contains(&v) {
                let own = &component.views[v];
                let (term, bias) = (own.term.rebind(&data[v])?, own.bias.clone());
                parts.push(ViewPart { term, bias, ..part });
            }
        }
        Ok(parts)
    }

    /// The part of a target as it was settled before, if it was: the sweeps begin there.
    fn as_settled_before(&self, v: usize, mut part: ViewPart, view: &View) -> Result<ViewPart> {
        if self.holds_settled(v) {
            let of = ParameterUncertainty::Posterior;
            let own = self.component_for(0, of, Some(v))?.views.swap_remove(v);
            (part.term, part.bias) = (own.term.rebind(view)?, own.bias);
            let name = format!("views/{}/weights", part.name);
            part.weights.load(&name, &self.settled.reader())?;
        }
        Ok(part)
    }

    /// To laws of data that factors leave uncertain.
    fn settle_to_laws(
        &self,
        component: &Component,
        (v, view, relative): (usize, &View, &[f64]),
        mut part: ViewPart,
        (rows, watch): (&mut Box<dyn RowBlock>, Watch<'_>),
    ) -> Result<Sweeps> {
        if rows.known().is_some() {
            // coefficients of covariates are settled with the weights, under their joint prior
            return self.sweeps_over(rows, part, (SWEEPS, 0), watch);
        }
        let factors = rows.moments().clone();
        let own = &component.views[v].term;
        let widened = own.widened(view, &with(&part, &factors)).is_some();
        // noise that groups have of their own is no list of precisions
        let noise = part.term.as_noise().and_then(|n| n.precisions());
        let has_noise = noise.is_some() && part.term.domain().is_real();
        if !(widened || has_noise) {
            return self.sweeps_over(rows, part, (SWEEPS, 0), watch);
        }
        rows.move_to(without_covariances(&factors));
        // the joint fit's prior is of features that make factors, not of what is told by them
        let start = part.weights.moments().clone();
        let ridge = own_ridge(&start, start.k()).with_relative(relative.to_vec());
        let own_rows = Box::new(FullRows::new(
            format!("weights/{}", part.name),
            ridge,
            start,
        ));
        let mut joint: Box<dyn RowBlock> = std::mem::replace(&mut part.weights, own_rows);
        let mut run = if widened {
            self.rounds_over((rows, watch), (own.as_ref(), view), part, &factors)?
        } else {
            let mut run = self.sweeps_over(rows, part, (SWEEPS, 0), watch)?;
            let spread = expected_spread(&run.part, &factors);
            less_noise(&mut run.part, view, &spread);
            run
        };
        rows.move_to(factors);
        joint.set_moments(run.part.weights.moments().clone());
        run.part.weights = joint;
        Ok(run)
    }

    /// Sweeps over the widened term of a view while the variances that factors leave its
    /// predictors follow the weights, of which those of `factors` come first.
    pub(super) fn rounds_over(
        &self,
        (rows, watch): (&mut Box<dyn RowBlock>, Watch<'_>),
        (own, view): (&dyn ViewTerm, &View),
        part: ViewPart,
        factors: &RowMoments,
    ) -> Result<Sweeps> {
        let k = factors.k();
        let mut run = Sweeps {
            part,
            outcome: Outcome::MaxSweeps,
            count: 0,
            features: None,
        };
        let mut mixing = Mixing::default();
        for round in 1..=ROUNDS {
            let before = run.part.weights.moments().mean().to_owned();
            let weights = first_columns(run.part.weights.seen(), k);
            let at = Predictor {
                factors,
                weights: &weights,
                bias: &run.part.bias,
            };
            if let Some(term) = own.widened(view, &at) {
                run.part.term = term?;
            }
            let most = (SWEEPS_OF_A_ROUND, run.count);
            let next = self.sweeps_over(rows, run.part, most, watch)?;
            run = Sweeps {
                count: run.count + next.count,
                ..next
            };
            if run.outcome == Outcome::Interrupted {
                break;
            }
            let after = run.part.weights.moments();
            if relative_change(before.as_ref(), after.mean()) < STILL {
                run.outcome = Outcome::Converged;
                break;
            }
            run.outcome = Outcome::MaxSweeps;
            if round == ROUNDS {
                // what was swept last stays
                break;
            }
            let next = mixing.next(before.as_ref(), after.mean());
            let (cov, log_det) = (after.cov().clone(), after.log_det());
            let next = RowMoments::new(next, cov, log_det, after.implicit_rows());
            run.part.weights.set_moments(next);
        }
        Ok(run)
    }

    /// At `most` so many sweeps over all of a view but the factors, to the optimum of the bound, after
    /// so many `before`.
    pub(super) fn sweeps_over(
        &self,
        rows: &mut Box<dyn RowBlock>,
        part: ViewPart,
        (most, before): (usize, usize),
        watch: Watch<'_>,
    ) -> Result<Sweeps> {
        let mut progress = SettleProgress {
            view: part.name.clone(),
            sweep: before,
            fold: None,
        };
        let none = FullRows::new(
            "factors",
            Fixed::standard_normal(0),
            RowMoments::point(Mat::zeros(0, 0)),
        );
        let factors = std::mem::replace(rows, Box::new(none));
        let mut schedule = Schedule::standard(1);
        schedule.sweep.retain(|s| {
            !matches!(
                s,
                Step::Rotate | Step::Factors | Step::FactorScales | Step::Prune
            )
        });
        let vb = &self.composed.options.vb;
        let options = VbOptions {
            prune: PruneRule::never(),
            max_sweeps: most,
            tolerance: TOLERANCE.min(vb.tolerance),
            movement: MOVEMENT.min(vb.movement),
            ..vb.clone()
        };
        let key = StreamKey::new(self.composed.options.seed).chain(CHAIN);
        let model = Model::new(factors, vec![part], schedule);
        let mut run = VbRun::new(model, options, key, Journal::default());
        let outcome = loop {
            if !watch(&progress) {
                break Outcome::Interrupted;
            }
            progress.sweep += 1;
            let report = run.sweep().map_err(Error::from)?;
            if let Some(outcome) = report.outcome {
                break outcome;
            }
        };
        let (mut model, record) = run.into_parts();
        *rows = model.factors;
        Ok(Sweeps {
            part: model.views.swap_remove(0),
            outcome,
            count: record.sweep,
            features: None,
        })
    }
}

/// The prior of the weights of a view that is settled, on `k` columns: one precision for each
/// feature (spec/sites 6), for the view where rows that nobody keeps have none of their own.
pub(super) fn own_ridge(rows: &RowMoments, k: usize) -> Ridge {
    if rows.implicit_rows() > 0 {
        Ridge::new(OF_WEIGHTS, k)
    } else {
        Ridge::by_feature(OF_WEIGHTS, rows.rows(), k)
    }
}

/// The first columns of rows.
pub(super) fn first_columns(rows: &RowMoments, k: usize) -> Cow<'_, RowMoments> {
    if rows.k() == k {
        return Cow::Borrowed(rows);
    }
    let mut first = rows.clone();
    first.select(&(0..k).collect::<Vec<_>>(), &vec![1.0; k]);
    Cow::Owned(first)
}

/// The predictor of a view with these factors.
pub(super) fn with<'a>(part: &'a ViewPart, factors: &'a RowMoments) -> Predictor<'a> {
    Predictor {
        factors,
        weights: part.weights.seen(),
        bias: &part.bias,
    }
}

/// The variances that factors leave the predictors of a view, samples × predictor columns, under the
/// weights' own uncertainty: $\mathrm E\,w^\top S\_nw$.
pub(super) fn expected_spread(part: &ViewPart, factors: &RowMoments) -> Mat<f64> {
    let p = |factors| Predictor {
        factors,
        weights: part.weights.seen(),
        bias: &part.bias,
    };
    let known = without_covariances(factors);
    let (rows, columns) = (0..factors.rows(), 0..part.term.shape().predictor_columns);
    p(factors).variance(rows.clone(), columns.clone()) - p(&known).variance(rows, columns)
}

/// Precisions of the weights on each factor beside one another, $1/s\_k^2$: $s\_k^2$ is the share of
/// the variance of the predictors of views beside the targets, noise and link counted, that the factor
/// explains, mean over their features, relative to the mean of all factors. What ridge regression
/// on the features themselves would do: directions of which they say little are held back most.
fn relative_precisions(component: &Component, targets: &[usize]) -> Vec<f64> {
    let k = component.factors().k();
    let mut reach = vec![0.0; k];
    let others = component.views.iter().enumerate();
    for (_, view) in others.filter(|(v, _)| !targets.contains(v)) {
        let (w, columns) = (view.weights.mean(), view.term.shape().predicted_columns());
        for d in 0..w.nrows() {
            let squares: Vec<f64> = (0..k).map(|j| w[(d, j)].powi(2)).collect();
            let whole = squares.iter().sum::<f64>() + view.link_variance(d % columns);
            for (reach, square) in reach.iter_mut().zip(squares) {
                *reach += square / whole.max(f64::MIN_POSITIVE);
            }
        }
    }
    let mean = reach.iter().sum::<f64>() / k.max(1) as f64;
    if mean <= 0.0 || !mean.is_finite() {
        return vec![1.0; k];
    }
    let precision = |s: &f64| (s / mean).max(LEAST_REACH).recip();
    reach.iter().map(precision).collect()
}

/// The change of weights, relative to the size of all of them.
fn relative_change(before: MatRef<'_, f64>, after: MatRef<'_, f64>) -> f64 {
    let (mut change, mut size) = (0.0, 0.0f64);
    for j in 0..after.ncols() {
        for (a, b) in after.col(j).iter().zip(before.col(j).iter()) {
            change += (a - b).powi(2);
            size += a * a;
        }
    }
    (change / size.max(f64::MIN_POSITIVE)).sqrt()
}

/// Takes from the noise of residuals about predictions from means what the factors, as far as
/// they are not known, explain of them: $1/\tau = \kappa - \overline{\mathrm E\,w^\top Sw}$ (spec/sites 5).
/// The mean is over the observed cells.
pub(super) fn less_noise(part: &mut ViewPart, view: &View, spread: &Mat<f64>) {
    let of_column = |d: usize| {
        let seen = (0..spread.nrows()).filter(|n| view.is_observed(*n, d));
        let (sum, count) = seen.fold((0.0, 0.0), |(s, c), n| (s + spread[(n, d)], c + 1.0));
        sum / f64::max(count, 1.0)
    };
    let all: Vec<f64> = (0..spread.ncols()).map(of_column).collect();
    let Some(noise) = part.term.as_noise_mut() else {
        return;
    };
    let by_column = noise.scope() == NoiseScope::Column;
    let Some(mut gammas) = noise.precisions().cloned() else {
        return;
    };
    for i in 0..gammas.len() {
        let explained = if by_column {
            all.get(i).copied().unwrap_or(0.0)
        } else {
            all.iter().sum::<f64>() / (all.len().max(1) as f64)
        };
        let (shape, rate) = (gammas.shape()[i], gammas.rate()[i]);
        let residual = rate / shape;
        let left = (residual - explained).max(LEAST_NOISE * residual);
        gammas.set(i, shape, rate * left / residual);
    }
    noise.share(&gammas);
}

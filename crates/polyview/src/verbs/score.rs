//! How well cells are predicted that the fit has not seen.

use std::collections::HashMap;
use std::sync::Arc;

use polyview_core::{Dataset, Domain, RowCov, RowMoments, View};
use polyview_linalg::Mat;
use serde::{Deserialize, Serialize};

use super::laws::{Laws, Part};
use super::own_units::{Squares, training_mean, training_spread};
use super::score_cells::{Cell, LEAST_LN, OUTSIDE, Said, ln_densities, predict_cells, trials_of};
use super::score_counts::counts_scored;
use super::score_labels::{
    HeldOutClass, classes_scored, held_out_classes, labels_scored, predict_classes,
};
use super::score_levels::levels_scored;
use super::score_limits::{Between, held_out_between, limits_scored};
use crate::error::Result;
use crate::fit::Fit;
use crate::metrics::{LevelScore, explained};

/// Probability of the intervals that are scored.
pub(super) const LEVEL: f64 = 0.95;
/// Most pairs that are kept of a view.
pub(super) const PAIRS: usize = 2000;
/// Most probabilities of classes that are kept of a view.
pub(super) const PROBABILITIES: usize = 200_000;

/// Predictions of the held-out cells of one view.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct HeldOut {
    /// The view.
    pub view: String,
    /// What was predicted.
    pub kind: Domain,
    /// Number of held-out cells that are scored. Those of features that were never
    /// observed in training ([`crate::ViewInfo::unobserved`]) are not predicted, hence not
    /// scored.
    pub cells: usize,
    /// Number of held-out cells of which limits are all that is known. Their log probabilities, of what lies
    /// between the limits, are among the log densities; nothing else is of them, as nobody knows how far off a prediction is.
    #[serde(default, skip_serializing_if = "nothing")]
    pub limits: usize,
    /// $1 - \sum(x - \hat x)^2 / \sum(x - \bar x)^2$ over all cells, with $\bar x$
    /// the mean of the feature's training values, in data units: the definition of
    /// [`RealScore::r2`](crate::metrics::RealScore::r2), which knows nothing of how
    /// a model scales its data, so that models can be compared by it. Negative =
    /// worse than those means; `NaN` where the held-out cells do not differ from
    /// them. Of labels the skill of
    /// the Brier score: $x$ is 0 or 1, $\hat x$ the probability; of classes
    /// summed over the classes.
    pub r2: f64,
    /// Root mean squared error, data units; of labels the root of the Brier
    /// score.
    pub rmse: f64,
    /// Mean log predictive density of a cell, nats, density per data unit; of the cells known
    /// by limits ([`HeldOut::limits`]) the log probability of what lies between them. For
    /// Gibbs the density is the mixture over the draws. Of labels the mean log
    /// probability: its negative is the log loss.
    pub log_density: f64,
    /// Probability of the intervals.
    pub level: f64,
    /// Share of the cells inside their interval; `NaN` for labels.
    pub coverage: f64,
    /// Mean width of the intervals, data units; `NaN` for labels.
    pub width: f64,
    /// Mean deviance of a count from its predicted mean
    /// ([`poisson_deviance`](crate::metrics::poisson_deviance); of successes the
    /// binomial one); `NaN` for everything else.
    pub deviance: f64,
    /// Share of the deviance from the means of the features' training counts
    /// (successes: their share of the trials) that is explained; `NaN` where
    /// there is none, and for everything else.
    pub deviance_explained: f64,
    /// Share of the labels that the more (for classes: the most) probable one
    /// gets right; `NaN` for numbers.
    pub accuracy: f64,
    /// Area under the receiver operating characteristic over all labels of a
    /// binary view, by label then averaged by the number of ones; of classes
    /// one against the rest, averaged by the size of the classes (spec/sshiba
    /// 6.1). `NaN` for numbers, and where no label has both kinds.
    pub auc: f64,
    /// Of ordered levels their scores ([`levels`](crate::metrics::levels)); `None` for
    /// everything else, and where a held-out level is none that the model knows.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub levels: Option<LevelScore>,
    /// Some of the cells with their predictions, for pictures: all, or every
    /// so many-th, at most 2000 (fewer where there are more than a hundred
    /// classes).
    pub pairs: HeldOutPairs,
    /// What was not scored.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
    /// Log densities of the cells, in order, that no single one decides:
    /// of numbers under Student's law about their predictive means, of all else the
    /// log probabilities, none below that of one in a million; those of cells of which limits are known behind the others. None of
    /// ranks.
    #[serde(skip)]
    pub(super) robust: Vec<f64>,
    /// Squared errors of the cells, in order, and what they are measured against, both in
    /// the feature's own unit; of labels none.
    #[serde(skip)]
    pub(super) own_units: Squares,
    /// Of counts, of numbers above 0 and where limits are all that is known of some cells, if it was asked for, by how much the robust log density of a cell is larger, on
    /// average, than under the law of a sample of which no factor is known; else `NaN`.
    #[serde(skip)]
    pub(super) gain: f64,
}

/// Whether there is none.
fn nothing(count: &usize) -> bool {
    *count == 0
}

/// True values and their predictions, in data units: of binary labels 0 or 1
/// and the probability of 1, of classes their places among the class names.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct HeldOutPairs {
    /// True values.
    pub truth: Vec<f64>,
    /// Predictive means.
    pub predicted: Vec<f64>,
    /// Lower ends of the intervals.
    pub lower: Vec<f64>,
    /// Upper ends of the intervals; empty for labels, like the lower ones.
    pub upper: Vec<f64>,
    /// The place of each cell's feature among those of the view.
    pub feature: Vec<usize>,
    /// Of classes the probability of each, cell by cell; else empty.
    pub probability: Vec<Vec<f64>>,
}

impl Fit {
    /// Scores the predictions of cells that `truth` has and the training data
    /// lack, by view; views without such cells are left out. Samples are
    /// matched by ID, features by name: those that the fit does not know are
    /// not scored (they were not held out of it), nor are those that it has never
    /// observed: it predicts nothing of them, and a note says how many cells that
    /// are.
    ///
    /// Use with [`hold_out`](crate::hold_out): fit the data with cells
    /// hidden, score with the full data.
    ///
    /// # Errors
    /// [`crate::ErrorKind::NoData`] when the model was saved without data;
    /// [`crate::ErrorKind::UnknownView`] when `truth` has a view that the
    /// model lacks; when a component's state is damaged.
    pub fn held_out_score(&self, truth: &Dataset) -> Result<Vec<HeldOut>> {
        self.held_out_scored(truth, false)
    }

    /// As [`Fit::held_out_score`], with what factors add where that is asked for.
    pub(super) fn held_out_scored(&self, truth: &Dataset, gains: bool) -> Result<Vec<HeldOut>> {
        let training = self.data()?;
        let ids: HashMap<&str, usize> = self
            .samples
            .iter()
            .enumerate()
            .map(|(n, s)| (s.as_str(), n))
            .collect();
        let rows: Vec<Option<usize>> = truth
            .samples()
            .iter()
            .map(|s| ids.get(s.as_str()).copied())
            .collect();
        let mut notes: Vec<Vec<String>> = vec![Vec::new(); self.views.len()];
        let mut cells: Vec<Vec<Cell>> = self.views.iter().map(|_| Vec::new()).collect();
        let mut between: Vec<Vec<Between>> = self.views.iter().map(|_| Vec::new()).collect();
        let mut classes: Vec<Vec<HeldOutClass>> = self.views.iter().map(|_| Vec::new()).collect();
        for view in truth.views() {
            let (at, info) = self.view(view.name())?;
            if info.kernel.is_some() {
                continue;
            }
            if info.levels.is_empty() {
                let view = info.choices.limited(view.clone())?;
                between[at] = held_out_between(info, &view, &rows, &training[at]);
                cells[at] = self.held_out(at, &view.exact(), &rows, &training[at]);
                let all = cells[at].len();
                cells[at].retain(|c| info.knows(c.feature));
                let unknown = all - cells[at].len();
                if let Some(note) = info.unobserved_note().filter(|_| unknown > 0) {
                    notes[at].push(format!("{unknown} held-out cell(s) are not scored: {note}"));
                }
            } else {
                classes[at] = held_out_classes(info, view, &rows, &training[at])?;
            }
        }
        let mut parts: Vec<Vec<Part>> = self.views.iter().map(|_| Vec::new()).collect();
        let of_one = self.as_of_one(&mut Vec::new())?;
        for i in 0..self.n_components() {
            let mut component = self.component(i)?;
            let factors = match &of_one {
                Some(z) => {
                    if let Some(shares) = &z.shares {
                        component.share(shares);
                    }
                    component.seen(&z.moments).into_owned()
                }
                None => component.factors.seen().clone(),
            };
            let factors = Arc::new(factors);
            for (at, mut view) in component.views.into_iter().enumerate() {
                let asked =
                    !cells[at].is_empty() || !between[at].is_empty() || !classes[at].is_empty();
                if asked || !notes[at].is_empty() {
                    if view.term.laws_need_data() {
                        view.term = view.term.rebind(&training[at])?;
                    }
                    parts[at].push(Part::new(Arc::clone(&factors), view));
                }
            }
        }
        let mut out = Vec::new();
        for (at, parts) in parts.into_iter().enumerate() {
            let Some(domain) = parts.first().map(|part| part.term().domain()) else {
                continue;
            };
            let (info, training) = (&self.views[at], &training[at]);
            let shares = vec![1.0 / parts.len() as f64; training.n_samples()];
            let parts = parts.into_iter().map(|part| (part, shares.clone()));
            let mut laws = Laws::new(parts.collect(), info);
            if domain.has_classes() {
                predict_classes(&laws, &mut classes[at]);
                out.push(classes_scored(info, &classes[at], training));
                continue;
            }
            let mut cells = std::mem::take(&mut cells[at]);
            let mut kind = domain;
            if domain.has_trials() {
                match trials_of(&cells, training.n_samples(), info.features.len()) {
                    Some(trials) => laws = laws.out_of(trials),
                    // single trials are zeros and ones
                    None => kind = Domain::Binary,
                }
            }
            predict_cells(&laws, kind, &mut cells);
            let mut score = self.score(at, kind, &cells, training);
            if gains && kind.has_deviance() && !kind.has_trials() {
                let known = score.robust.iter();
                let unknown = ln_densities(&self.of_unknown_factors(at, training)?, &cells);
                let gains = known.zip(unknown).map(|(own, x)| own - x.max(LEAST_LN));
                score.gain = gains.sum::<f64>() / cells.len() as f64;
            }
            let score = match kind {
                kind if kind.has_deviance() => counts_scored(score, &cells, training),
                kind if kind.is_label() => labels_scored(score, &cells),
                kind if kind.is_ordered() => levels_scored(score, &cells),
                _ => limits_scored(score, &laws, &between[at]),
            };
            let gain = if gains && score.limits > 0 {
                let laws = self.of_unknown_factors(at, training)?;
                predict_cells(&laws, kind, &mut cells);
                let unknown = self.score(at, kind, &cells, training);
                let unknown = limits_scored(unknown, &laws, &between[at]);
                let both = score.robust.iter().zip(&unknown.robust);
                both.map(|(own, x)| own - x).sum::<f64>() / score.robust.len() as f64
            } else {
                score.gain
            };
            out.push(HeldOut {
                notes: std::mem::take(&mut notes[at]),
                gain,
                ..score
            });
        }
        Ok(out)
    }

    /// The laws of a view of the training samples if nothing were known of their factors but the prior: what the model says
    /// without them, offsets and covariates being known.
    fn of_unknown_factors(&self, at: usize, training: &View) -> Result<Laws> {
        let mut parts = Vec::new();
        let draws = self.n_components();
        for i in 0..draws {
            let mut component = self.component(i)?;
            let (n, k) = (training.n_samples(), component.factors().k());
            let variances = Mat::from_fn(n, k, |r, j| component.factors.prior_variance(r, j));
            let ln_det = (0..k).map(|j| variances.col(j).iter().map(|v| v.ln()).sum::<f64>());
            let ln_det = ln_det.sum();
            let cov = RowCov::Diagonal(variances);
            let prior = RowMoments::new(Mat::zeros(n, k), cov, ln_det, 0);
            let factors = Arc::new(component.seen(&prior).into_owned());
            let mut view = component.views.swap_remove(at);
            if view.term.laws_need_data() {
                view.term = view.term.rebind(training)?;
            }
            parts.push((Part::new(factors, view), vec![1.0 / draws as f64; n]));
        }
        Ok(Laws::new(parts, &self.views[at]))
    }

    /// The held-out cells of one view, feature by feature.
    fn held_out(
        &self,
        at: usize,
        truth: &View,
        rows: &[Option<usize>],
        training: &View,
    ) -> Vec<Cell> {
        let info = &self.views[at];
        let place: HashMap<&str, usize> = truth
            .features()
            .iter()
            .enumerate()
            .map(|(d, f)| (f.as_str(), d))
            .collect();
        let mut out = Vec::new();
        for (feature, name) in info.features.iter().enumerate() {
            let Some(&d) = place.get(name.as_str()) else {
                continue;
            };
            let first = out.len();
            for (n, sample) in rows.iter().enumerate() {
                let (Some(sample), Some(x)) = (*sample, truth.value(n, d)) else {
                    continue;
                };
                if !training.is_observed(sample, feature) {
                    out.push(Cell {
                        sample,
                        feature,
                        value: info.scaling.forward(feature, x),
                        raw: x,
                        trials: truth.trials().map(|t| t[(n, d)]),
                        said: Said::default(),
                    });
                }
            }
            out[first..].sort_by_key(|c| c.sample);
        }
        out
    }

    fn score(&self, at: usize, kind: Domain, cells: &[Cell], training: &View) -> HeldOut {
        let info = &self.views[at];
        let (mut errors, mut scatter, mut density) = (0.0, 0.0, 0.0);
        let (mut inside, mut width) = (0usize, 0.0);
        let mut own_units = Squares::default();
        let mut pairs = HeldOutPairs::default();
        let mut robust = Vec::with_capacity(cells.len());
        let stride = cells.len().div_ceil(PAIRS);
        // squares of tiny numbers would be 0
        let tiny = info.scaling.scale.iter().all(|s| *s < 1e-140);
        let unit = if tiny { 2f64.powi(600) } else { 1.0 };
        for of_feature in cells.chunk_by(|a, b| a.feature == b.feature) {
            let feature = of_feature[0].feature;
            let centre = training_mean(info, training, feature);
            if kind.is_ranked() {
                own_units.of_ranks(of_feature, training);
            } else {
                let spread = training_spread(info, training, feature, centre);
                let raw: Vec<f64> = of_feature.iter().map(|c| c.raw).collect();
                let predicted: Vec<f64> = of_feature.iter().map(|c| c.said.mean).collect();
                own_units.of_values(&raw, &predicted, (centre, spread));
            }
            for Cell { raw, said, .. } in of_feature {
                errors += (unit * (raw - said.mean)).powi(2);
                scatter += (unit * (raw - centre)).powi(2);
                density += said.ln_density;
                if !kind.is_ranked() {
                    robust.push(said.robust);
                }
                inside += usize::from(if kind.is_ranked() {
                    said.lower <= *raw && *raw <= said.upper
                } else {
                    // no smaller than the one end, and no larger than the other
                    said.most >= OUTSIDE && said.less < 1.0 - OUTSIDE
                });
                width += said.upper - said.lower;
            }
        }
        for c in cells.iter().step_by(stride.max(1)) {
            pairs.feature.push(c.feature);
            pairs.truth.push(c.raw);
            pairs.predicted.push(c.said.mean);
            pairs.lower.push(c.said.lower);
            pairs.upper.push(c.said.upper);
        }
        let count = cells.len() as f64;
        HeldOut {
            view: info.name.clone(),
            kind,
            cells: cells.len(),
            limits: 0,
            r2: explained(errors, scatter).unwrap_or(f64::NAN),
            rmse: (errors / count).sqrt() / unit,
            // training values have shares, not densities
            log_density: if kind.is_ranked() {
                f64::NAN
            } else {
                density / count
            },
            level: LEVEL,
            coverage: inside as f64 / count,
            width: width / count,
            deviance: f64::NAN,
            deviance_explained: f64::NAN,
            accuracy: f64::NAN,
            auc: f64::NAN,
            levels: None,
            pairs,
            notes: Vec::new(),
            robust,
            own_units,
            gain: f64::NAN,
        }
    }
}

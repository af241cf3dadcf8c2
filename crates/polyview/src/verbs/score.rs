//! How well cells are predicted that the fit has not seen.

mod laws;

use std::collections::HashMap;
use std::ops::Range;

use polyview_core::{Affine, Ask, Block, Dataset, Domain, Law, OrderStatistics, Predictor, View};
use polyview_linalg::Mat;
use serde::{Deserialize, Serialize};

use laws::{RobustLaw, ScoredLaw};

use super::mixture::{add, blocks};
use super::own_units::{Squares, training_mean, training_spread};
use super::predict::End;
use super::score_counts::counts_scored;
use super::score_labels::{
    HeldOutClass, classes_scored, held_out_classes, labels_scored, predict_classes,
};
use super::score_levels::levels_scored;
use crate::error::Result;
use crate::fit::Fit;
use crate::metrics::LevelScore;

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
    /// Mean log predictive density of a cell, nats, density per data unit. For
    /// Gibbs the density is the mixture over the draws. Of labels the mean log
    /// probability: its negative is the log loss.
    pub log_density: f64,
    /// Probability of the intervals.
    pub level: f64,
    /// Share of the cells inside their interval; `NaN` for labels.
    pub coverage: f64,
    /// Mean width of the intervals, data units; `NaN` for labels. Of counts that of the law
    /// with the same mean and variance ([`CountLaw`](crate::metrics::CountLaw)).
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
    /// log probabilities, none below that of one in a million. None of ranks.
    #[serde(skip)]
    pub(super) robust: Vec<f64>,
    /// Squared errors of the cells, in order, and what they are measured against, both in
    /// the feature's own unit; of labels none.
    #[serde(skip)]
    pub(super) own_units: Squares,
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

/// One held-out cell, working units.
pub(super) struct Cell {
    sample: usize,
    pub(super) feature: usize,
    pub(super) value: f64,
    /// The same in data units, as it was given.
    pub(super) raw: f64,
    /// Of successes the number of trials.
    pub(super) trials: Option<f64>,
    pub(super) mean: f64,
    spread: f64,
    /// Of ranks mean and spread of the normal score.
    pub(super) rank: (f64, f64),
    /// Running log of the sum of the components' densities.
    ln_density: f64,
    /// Of counts and levels the sums of the components' probabilities of no more, and of less.
    below: (f64, f64),
    /// Of ordered levels the sums of the components' probabilities of each; else empty.
    pub(super) levels: Vec<f64>,
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
        let mut classes: Vec<Vec<HeldOutClass>> = self.views.iter().map(|_| Vec::new()).collect();
        for view in truth.views() {
            let (at, info) = self.view(view.name())?;
            if info.kernel.is_some() {
                continue;
            }
            if info.levels.is_empty() {
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
        let mut kinds = vec![Domain::default(); self.views.len()];
        let mut ranks: Vec<Vec<OrderStatistics>> = vec![Vec::new(); self.views.len()];
        for i in 0..self.n_components() {
            let component = self.component(i)?;
            for (at, part) in component.views.iter().enumerate() {
                let p = Predictor {
                    factors: component.factors.seen(),
                    weights: part.seen(),
                    bias: &part.bias,
                };
                let known = cells[at].iter().any(|c| c.trials.is_some());
                kinds[at] = match part.term.domain() {
                    // single trials are zeros and ones
                    domain if domain.has_trials() && !known => Domain::Binary,
                    domain => domain,
                };
                let term = part.term.as_ref();
                predict_cells(&p, term, (i + 1) as f64, &mut cells[at], &mut ranks[at]);
                predict_classes(&p, term, &mut classes[at]);
            }
        }
        let mut out = Vec::new();
        for (at, (cells, classes)) in cells.into_iter().zip(classes).enumerate() {
            if !cells.is_empty() || !notes[at].is_empty() {
                let score = self.score(at, (kinds[at], &ranks[at]), &cells, &training[at]);
                let score = match kinds[at] {
                    kind if kind.is_count() => counts_scored(score, &cells, &training[at]),
                    kind if kind.is_label() => labels_scored(score, &cells),
                    kind if kind.is_ordered() => {
                        levels_scored(score, &cells, self.n_components().max(1) as f64)
                    }
                    _ => score,
                };
                out.push(HeldOut {
                    notes: std::mem::take(&mut notes[at]),
                    ..score
                });
            } else if !classes.is_empty() {
                let draws = self.n_components().max(1) as f64;
                out.push(classes_scored(
                    &self.views[at],
                    classes,
                    draws,
                    &training[at],
                ));
            }
        }
        Ok(out)
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
                        mean: 0.0,
                        spread: 0.0,
                        rank: (0.0, 0.0),
                        ln_density: f64::NEG_INFINITY,
                        below: (0.0, 0.0),
                        levels: Vec::new(),
                    });
                }
            }
            out[first..].sort_by_key(|c| c.sample);
        }
        out
    }

    fn score(
        &self,
        at: usize,
        (kind, ranks): (Domain, &[OrderStatistics]),
        cells: &[Cell],
        training: &View,
    ) -> HeldOut {
        let info = &self.views[at];
        let components = self.n_components().max(1) as f64;
        let [lower, upper] = End::both(LEVEL);
        let (mut errors, mut scatter, mut density) = (0.0, 0.0, 0.0);
        let (mut inside, mut width) = (0usize, 0.0);
        let mut own_units = Squares::default();
        let mut pairs = HeldOutPairs::default();
        let mut robust = Vec::with_capacity(cells.len());
        let (stride, mut visited) = (cells.len().div_ceil(PAIRS), 0);
        // squares of tiny numbers would be 0
        let tiny = info.scaling.scale.iter().all(|s| *s < 1e-140);
        let unit = if tiny { 2f64.powi(600) } else { 1.0 };
        for of_feature in cells.chunk_by(|a, b| a.feature == b.feature) {
            let (feature, count) = (of_feature[0].feature, of_feature.len());
            let centre = training_mean(info, training, feature);
            let law = ScoredLaw {
                kind,
                cells: of_feature,
                components,
                scale: ranks.get(feature),
            };
            let raw: Vec<f64> = of_feature.iter().map(|c| c.raw).collect();
            let [mut predicted, mut low, mut high, mut ln_density, mut own] =
                [(); 5].map(|()| vec![0.0; count]);
            if kind.is_real() {
                let robustly = Affine::new(RobustLaw(&law), &info.scaling, feature);
                robustly.fill(Ask::LnDensity, 0, &raw, &mut own);
            }
            let law = Affine::new(law, &info.scaling, feature);
            law.fill(Ask::Mean, 0, &[], &mut predicted);
            law.fill(Ask::LnDensity, 0, &raw, &mut ln_density);
            law.quantile(0, lower.p, &mut low);
            law.quantile(0, upper.p, &mut high);
            if kind.is_ranked() {
                own_units.of_ranks(of_feature, training);
            } else {
                let spread = training_spread(info, training, feature, centre);
                own_units.of_values(&raw, &predicted, (centre, spread));
            }
            for i in 0..count {
                errors += (unit * (raw[i] - predicted[i])).powi(2);
                scatter += (unit * (raw[i] - centre)).powi(2);
                density += ln_density[i];
                if kind.is_real() {
                    robust.push(own[i]);
                } else if !kind.is_ranked() {
                    robust.push(ln_density[i].max(LEAST_LN));
                }
                inside += usize::from(if kind.is_whole() {
                    // the ends of the exact law, which is no smaller than at one of them
                    let (most, less) = of_feature[i].below;
                    most >= lower.p * components && less < upper.p * components
                } else {
                    low[i] <= raw[i] && raw[i] <= high[i]
                });
                width += high[i] - low[i];
                if visited % stride == 0 {
                    pairs.feature.push(feature);
                    pairs.truth.push(raw[i]);
                    pairs.predicted.push(predicted[i]);
                    pairs.lower.push(low[i]);
                    pairs.upper.push(high[i]);
                }
                visited += 1;
            }
        }
        let count = cells.len() as f64;
        HeldOut {
            view: info.name.clone(),
            kind,
            cells: cells.len(),
            r2: if scatter > 0.0 {
                1.0 - errors / scatter
            } else {
                f64::NAN
            },
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
        }
    }
}

/// Least logarithm of a probability that counts for a single cell: one in a
/// million.
pub(super) const LEAST_LN: f64 = -13.8;

/// Adds one component's predictions, block by block where there are cells; of ranks what
/// normal scores mean, feature by feature.
fn predict_cells(
    p: &Predictor<'_>,
    term: &dyn polyview_core::ViewTerm,
    component: f64,
    cells: &mut [Cell],
    scales: &mut Vec<OrderStatistics>,
) {
    if cells.is_empty() {
        return;
    }
    let (samples, features) = (p.factors.explicit_rows(), term.shape().observed_columns);
    let whole = term.domain().is_whole();
    for (rows, columns) in blocks(samples, features) {
        let first = cells.partition_point(|c| c.feature < columns.start);
        let end = cells.partition_point(|c| c.feature < columns.end);
        let here = &mut cells[first..end];
        if !here.iter().any(|c| rows.contains(&c.sample)) {
            continue;
        }
        let trials = trials_of(here, &rows, &columns);
        let law = term.law(
            p,
            &Block {
                samples: rows.clone(),
                columns: columns.clone(),
                exposure: trials.as_ref().map(Mat::as_ref),
            },
        );
        let [
            mut mean,
            mut variance,
            mut ln,
            mut score,
            mut score_variance,
            mut most,
            mut less,
            mut of_level,
        ] = [(); 8].map(|()| vec![0.0; rows.len()]);
        for of_feature in here.chunk_by_mut(|a, b| a.feature == b.feature) {
            let feature = of_feature[0].feature;
            let column = feature - columns.start;
            let mut x = vec![f64::NAN; rows.len()];
            for c in of_feature.iter().filter(|c| rows.contains(&c.sample)) {
                x[c.sample - rows.start] = c.value;
            }
            law.fill(Ask::Mean, column, &[], &mut mean);
            law.fill(Ask::Variance, column, &[], &mut variance);
            law.fill(Ask::LnDensity, column, &x, &mut ln);
            if whole {
                law.fill(Ask::Cdf, column, &x, &mut most);
                for x in &mut x {
                    *x -= 1.0;
                }
                law.fill(Ask::Cdf, column, &x, &mut less);
            }
            for level in 0..law.ordered() {
                law.fill(Ask::Level(level), column, &[], &mut of_level);
                for c in of_feature.iter_mut().filter(|c| rows.contains(&c.sample)) {
                    c.levels.resize(law.ordered(), 0.0);
                    c.levels[level] += of_level[c.sample - rows.start];
                }
            }
            if let Some(ranked) = law.as_ranked() {
                ranked.scores(column, &mut score, &mut score_variance);
                scales.resize_with(features, OrderStatistics::default);
                scales[feature] = ranked.order_statistics(column);
            }
            for c in of_feature.iter_mut().filter(|c| rows.contains(&c.sample)) {
                let at = c.sample - rows.start;
                let (m, v) = (mean[at], variance[at]);
                add(component, &mut c.mean, &mut c.spread, m, v);
                let (to, spread) = (&mut c.rank.0, &mut c.rank.1);
                add(component, to, spread, score[at], score_variance[at]);
                let (hi, lo) = (c.ln_density.max(ln[at]), c.ln_density.min(ln[at]));
                c.below.0 += most[at];
                c.below.1 += less[at];
                c.ln_density = if hi == f64::NEG_INFINITY {
                    hi
                } else {
                    hi + (lo - hi).exp().ln_1p()
                };
            }
        }
    }
}

/// The numbers of trials of the cells of a block, where they have any; 1 for all others.
fn trials_of(cells: &[Cell], rows: &Range<usize>, columns: &Range<usize>) -> Option<Mat<f64>> {
    let mut known = cells.iter().filter_map(|c| Some((c, c.trials?))).peekable();
    known.peek()?;
    let mut out: Mat<f64> = Mat::full(rows.len(), columns.len(), 1.0);
    for (c, trials) in known.filter(|(c, _)| rows.contains(&c.sample)) {
        out[(c.sample - rows.start, c.feature - columns.start)] = trials;
    }
    Some(out)
}

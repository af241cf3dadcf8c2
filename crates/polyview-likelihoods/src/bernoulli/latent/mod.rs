//! SSHIBA's binary view: labels on noisy latent scores (spec/sshiba 1.4, 2.2).
//!
//! $x\_{nd}\sim N(\eta\_{nd}, 1/\tau)$, $p(t\_{nd} = 1) = \sigma(x\_{nd})$. Given
//! $q(x)$ the view is a Gaussian one, with $\langle x\rangle$ for data and
//! $\langle x^2\rangle$ in the noise precision; [`Gaussian`] does that part.

mod gibbs;
mod scores;

use std::ops::Range;
use std::sync::Arc;

use polyview_core::{
    Augmented, Block, Context, DataError, Domain, Equations, Event, GammaPrior, Gammas, Intercepts,
    Law, Link, Mask, Noise, NoiseScope, NumericError, Predictor, Rounds, State, StateReader,
    Stateful, Terms, View, ViewShape, ViewTerm,
};
use polyview_linalg::Mat;
use polyview_random::{StreamKey, uniform_open01};

use super::{Bernoulli, LOGISTIC_VARIANCE, NEEDS, is_binary, log_odds, moments, remark};
use crate::ParameterUncertainty;
use crate::cells::{check_domain, check_features, mean_of, predict_cells};
use crate::gaussian::{Gaussian, GaussianOptions};
use crate::laws::Matched;
use crate::{MissingData, NoiseBy};
use scores::{ScoreSums, add, cell_sums, update_score};

/// Where latent scores start, with variance and ξ one.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub enum ScoreStart {
    /// The column's log-odds plus $4(t - \bar t)$, $\bar t$ its share of ones:
    /// $4(t - \tfrac12)$ in a balanced column (spec/sshiba 5). Intercepts then
    /// stay at the log-odds; from uncentred scores they need hundreds of sweeps
    /// to get there where labels are rare.
    #[default]
    LogOdds,
    /// This number, negative for a zero (spec/thesis 15.2 has 1).
    Signed(f64),
}

/// Choices of a [`LatentBernoulli`] view.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LatentBernoulliOptions {
    /// What a noise precision of the scores is shared by.
    pub noise: NoiseBy,
    /// Prior of the noise precisions, per squared unit of log-odds.
    pub prior: GammaPrior,
    /// Noise precision to start from, or to stay at.
    pub start: f64,
    /// Whether the noise precision stays at `start`: it is weakly identified
    /// (spec/sshiba 2.2).
    pub fixed: bool,
    /// Treatment of missing labels.
    pub missing: MissingData,
    /// Scores to start from.
    pub start_scores: ScoreStart,
    /// Rounds of U7 and U8 in a sweep, at least one.
    pub rounds: usize,
    /// How probabilities are predicted.
    pub prediction: ParameterUncertainty,
}

impl Default for LatentBernoulliOptions {
    fn default() -> Self {
        Self {
            noise: NoiseBy::View,
            prior: GammaPrior::new(1e-6, 1e-6),
            start: 1.0,
            fixed: false,
            missing: MissingData::Marginal,
            start_scores: ScoreStart::LogOdds,
            rounds: 2,
            prediction: ParameterUncertainty::Posterior,
        }
    }
}

/// Data term of a binary view with latent scores.
#[derive(Clone, Debug)]
pub struct LatentBernoulli {
    name: String,
    features: Vec<String>,
    options: LatentBernoulliOptions,
    labels: Arc<Mat<f64>>,
    /// Where labels were observed.
    mask: Mask,
    /// The Gaussian layer, with the means of the scores for data.
    scores: Gaussian,
    /// $\xi$, samples × features.
    xi: Mat<f64>,
    /// The part of the bound that the labels add to the Gaussian layer (L8),
    /// one a feature.
    label_bound: Vec<f64>,
}

impl LatentBernoulli {
    /// The term of a view of zeros and ones.
    ///
    /// # Errors
    /// [`DataError::OutOfDomain`] for other values,
    /// [`DataError::NothingObserved`] when every label of a view with samples
    /// is missing.
    pub fn new(view: View, options: LatentBernoulliOptions) -> Result<Self, DataError> {
        if view.n_samples() > 0 && view.n_observed() == 0 {
            return Err(DataError::NothingObserved {
                view: view.name().to_owned(),
            });
        }
        Self::bind(view, options)
    }
    fn bind(view: View, options: LatentBernoulliOptions) -> Result<Self, DataError> {
        check_domain(&view, NEEDS, |_, _, x| is_binary(x))?;
        let imputes = options.missing == MissingData::Impute;
        let shares: Vec<(f64, usize)> = (0..view.n_features())
            .map(|d| mean_of(view.values(), view.mask(), d))
            .collect();
        let start = Mat::from_fn(view.n_samples(), view.n_features(), |n, d| {
            let (mean, count) = shares[d];
            match (options.start_scores, view.value(n, d)) {
                (ScoreStart::LogOdds, Some(t)) => log_odds(mean, count) + 4.0 * (t - mean),
                (ScoreStart::LogOdds, None) if imputes => log_odds(mean, count),
                (ScoreStart::Signed(s), Some(t)) => s * (2.0 * t - 1.0),
                (_, None) => 0.0,
            }
        });
        let layer = if imputes {
            View::from_values(view.name(), view.features().to_vec(), start)?
        } else {
            view.with_values(start)?
        };
        let mut scores = Gaussian::new(
            layer,
            GaussianOptions {
                noise: options.noise,
                prior: options.prior,
                missing: MissingData::Marginal,
                start: options.start,
            },
        );
        if options.fixed {
            let mut noise = scores.noise().clone();
            for i in 0..noise.len() {
                noise.set_value(i, options.start);
            }
            scores.set_noise(noise);
        }
        let (name, features, labels, mask) = view.into_parts();
        let mut out = Self {
            name,
            features,
            options,
            xi: Mat::full(labels.nrows(), labels.ncols(), 1.0),
            label_bound: vec![0.0; labels.ncols()],
            labels,
            mask,
            scores,
        };
        let sums: Vec<ScoreSums> = (0..out.labels.ncols())
            .map(|d| {
                (0..out.labels.nrows())
                    .filter(|&n| imputes || out.mask.is_observed(n, d))
                    .map(|n| cell_sums(out.label(n, d), out.scores.scores()[(n, d)], 1.0, 1.0))
                    .fold(ScoreSums::default(), add)
            })
            .collect();
        out.take_sums(&sums);
        Ok(out)
    }
    /// The Gaussian layer: means of the scores and noise precisions.
    pub fn scores(&self) -> &Gaussian {
        &self.scores
    }
    /// $\xi$ of a cell; `None` where it has no score.
    pub fn xi(&self, sample: usize, column: usize) -> Option<f64> {
        self.has_score(sample, column)
            .then(|| self.xi[(sample, column)])
    }
    /// Sum of the variances of the scores of each feature.
    pub fn score_variance(&self) -> &[f64] {
        self.scores.score_variance()
    }
    /// Predictive means and variances of the labels of a block.
    fn moments(&self, p: &Predictor<'_>, block: &Block<'_>) -> (Mat<f64>, Mat<f64>) {
        let (mean, variance) = self.scores.moments(p, block);
        predict_cells(mean, variance, |_, mean, variance| {
            moments(self.options.prediction, mean, variance)
        })
    }
    fn imputes(&self) -> bool {
        self.options.missing == MissingData::Impute
    }
    fn has_score(&self, sample: usize, column: usize) -> bool {
        self.imputes() || self.mask.is_observed(sample, column)
    }
    fn label(&self, sample: usize, column: usize) -> Option<f64> {
        self.mask
            .is_observed(sample, column)
            .then(|| self.labels[(sample, column)])
    }
    fn take_sums(&mut self, sums: &[ScoreSums]) {
        self.label_bound = sums.iter().map(|s| s.bound).collect();
        self.scores
            .scores_changed(sums.iter().map(|s| s.variance).collect());
    }
    fn not_finite(&self, what: &'static str) -> NumericError {
        NumericError::NotFinite {
            block: format!("likelihood/{}", self.name),
            what,
        }
    }
}

impl ViewTerm for LatentBernoulli {
    fn shape(&self) -> ViewShape {
        self.scores.shape()
    }
    fn mask(&self) -> Option<&Mask> {
        ViewTerm::mask(&self.scores)
    }
    fn intercepts(&self) -> Intercepts {
        let start = |d: usize| {
            let (mean, count) = mean_of(self.labels.as_ref().as_ref(), &self.mask, d);
            log_odds(mean, count)
        };
        Intercepts {
            start: Some((0..self.labels.ncols()).map(start).collect()),
            start_by_group: None,
            precision: Bernoulli::INTERCEPT_PRECISION,
            alike: false,
        }
    }
    fn domain(&self) -> Domain {
        Domain::Binary
    }
    /// That of the logistic function and the scores' noise.
    fn link(&self, _group: Option<usize>, column: usize, _level: f64) -> Link {
        Link::of(LOGISTIC_VARIANCE + 1.0 / self.scores.precision_of(column))
    }
    /// U7, U8, U11. Before there are weights the scores stay where they start
    /// (spec/sshiba 2.7): they would shrink to next to nothing, and the weights
    /// after them.
    fn refresh(&mut self, p: &Predictor<'_>, cx: &mut Context<'_>) -> Result<(), NumericError> {
        if cx.sweep == 1 {
            for d in 0..self.labels.ncols() {
                let (mean, count) = mean_of(self.labels.as_ref().as_ref(), &self.mask, d);
                if let Some(remark) = remark(mean, count) {
                    let note = format!("feature '{}' {remark}", self.features[d]);
                    cx.journal.note(
                        cx.sweep,
                        format!("likelihood/{}", self.name),
                        Event::Data { note },
                    );
                }
            }
        }
        if cx.sweep == 1 && p.has_no_weights() {
            return Ok(());
        }
        let rounds = self.options.rounds;
        let sums = self.visit_scores(p, |_| (), |cell, ()| update_score(cell, rounds));
        self.take_sums(&sums);
        if sums.iter().all(|s| s.finite) {
            Ok(())
        } else {
            Err(self.not_finite("a latent score"))
        }
    }
    fn equations(&mut self) -> &mut dyn Equations {
        &mut self.scores
    }
    /// L7, L8; with drawn scores the log density of scores and labels.
    fn bound(&mut self, p: &Predictor<'_>) -> Terms {
        let mut terms = self.scores.bound(p);
        if self.options.fixed {
            terms.0.retain(|t| t.name != "noise");
        }
        for term in &mut terms.0 {
            if term.name == "likelihood" {
                term.value += self.label_bound.iter().sum::<f64>();
            }
        }
        terms
    }
    fn law(&self, p: &Predictor<'_>, block: &Block<'_>) -> Box<dyn Law + '_> {
        let (mean, variance) = self.moments(p, block);
        Box::new(Matched::new(self.domain(), mean, variance))
    }
    /// One stream of random numbers a column; the scores' noise is integrated
    /// out.
    fn simulate(&self, p: &Predictor<'_>, _parameters: StreamKey, data: StreamKey) -> Mat<f64> {
        let (rows, columns) = (p.factors.explicit_rows(), self.labels.ncols());
        let mut out = self.moments(p, &Block::new(0..rows, 0..columns)).0;
        for d in 0..columns {
            let mut rng = data.chunk(d as u32).rng();
            for p in out.col_as_slice_mut(d) {
                *p = f64::from(u8::from(uniform_open01(&mut rng) < *p));
            }
        }
        out
    }
    /// Missing labels of new samples are integrated out, whatever the fit did
    /// about its own.
    fn rebind(&self, view: &View) -> Result<Box<dyn ViewTerm>, DataError> {
        check_features(view, self.labels.ncols())?;
        let options = LatentBernoulliOptions {
            missing: MissingData::Marginal,
            ..self.options
        };
        let mut term = Self::bind(view.clone(), options)?;
        term.scores.set_noise(self.scores.noise().clone());
        Ok(Box::new(term))
    }
    fn as_augmented(&mut self) -> Option<&mut dyn Augmented> {
        Some(self)
    }
    fn as_noise(&self) -> Option<&dyn Noise> {
        (!self.options.fixed).then_some(self)
    }
    fn as_noise_mut(&mut self) -> Option<&mut dyn Noise> {
        (!self.options.fixed).then_some(self)
    }
    fn as_rounds(&mut self) -> Option<&mut dyn Rounds> {
        Some(self)
    }
}

/// That of the scores.
impl Noise for LatentBernoulli {
    fn scope(&self) -> NoiseScope {
        self.scores.scope()
    }
    fn precisions(&self) -> Option<&Gammas> {
        Some(self.scores.noise())
    }
    fn share(&mut self, noise: &Gammas) {
        self.scores.set_noise(noise.clone());
    }
    fn sums(
        &mut self,
        columns: Range<usize>,
        p: &Predictor<'_>,
    ) -> Result<Vec<(f64, f64)>, NumericError> {
        self.scores.sums(columns, p)
    }
    /// U6 with the scores' variances (E1).
    fn update(&mut self, columns: Range<usize>, p: &Predictor<'_>) -> Result<(), NumericError> {
        self.scores.update(columns, p)
    }
}

impl Rounds for LatentBernoulli {
    fn refresh_locals(
        &mut self,
        p: &Predictor<'_>,
        cx: &mut Context<'_>,
    ) -> Result<(), NumericError> {
        self.refresh(p, cx)
    }
}

impl Stateful for LatentBernoulli {
    fn save(&self, prefix: &str, state: &mut State) {
        self.scores.save(prefix, state);
        let at = |name: &str| format!("{prefix}/local/{name}");
        state.local(|state| {
            state.put_mat(&at("scores"), self.scores.scores());
            state.put_mat(&at("xi"), self.xi.as_ref());
            state.put_vec(&at("score-variance"), self.scores.score_variance());
            state.put_vec(&at("label-bound"), &self.label_bound);
        });
    }
    /// A term without samples takes the noise precisions only.
    fn load(&mut self, prefix: &str, state: &StateReader<'_>) -> Result<(), NumericError> {
        self.scores.load(prefix, state)?;
        if self.labels.nrows() == 0 {
            return Ok(());
        }
        let fitting = |what: &str| -> Result<Mat<f64>, NumericError> {
            let name = format!("{prefix}/local/{what}");
            let m = state.mat(&name)?;
            if m.shape() == self.labels.shape() {
                Ok(m)
            } else {
                Err(NumericError::BadState { name })
            }
        };
        let (scores, xi) = (fitting("scores")?, fitting("xi")?);
        let columns = self.labels.ncols();
        let variance = state.vec_of(&format!("{prefix}/local/score-variance"), columns)?;
        self.label_bound = state.vec_of(&format!("{prefix}/local/label-bound"), columns)?;
        self.xi = xi;
        *self.scores.scores_mut() = scores;
        self.scores.scores_changed(variance);
        Ok(())
    }
}

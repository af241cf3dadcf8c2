//! The ordinary rank likelihood (Hoff 2007; spec/maxmargin-rank 2.1, 8): latent
//! scores of unit noise whose order is that of the data.
//!
//! $$ w\_{in} \sim N(a\_i^\top z\_n, 1),\qquad x\_{in} < x\_{in'} \Rightarrow
//! w\_{in} < w\_{in'} $$
//!
//! * Gibbs is exact: each score is drawn from its normal distribution between
//!   the largest score of smaller values and the smallest of larger ones.
//! * Variational Bayes has the current means of those two in place of the
//!   scores themselves, so that nothing is bounded: the objective is reported
//!   but carries no guarantee. The unit of the scores of a feature, on which their order
//!   says nothing, is set to that in which their noise is 1 after each of these steps.
//!
//! Scores are data of a Gaussian layer of known noise, with everything that it
//! knows about missing cells. There are no intercepts: a shift of all scores of
//! a feature changes nothing.

mod scores;
mod term;

use std::sync::Arc;

use polyview_core::{DataError, GammaPrior, NumericError, View};
use polyview_linalg::Mat;

use super::anchors::Anchors;
use super::levels::Levels;
use super::map::Training;
use super::scores::normal_scores;
use crate::gaussian::{Gaussian, GaussianOptions};
use crate::{MissingData, NoiseBy};

/// Data term of a view under the ordinary rank likelihood.
///
/// **New samples** ([`ViewTerm::rebind`](polyview_core::ViewTerm::rebind)) have
/// scores between those of the nearest training values, which stay where they
/// are; **predictions** are those of [`Rank`](crate::Rank), and ask for an
/// anchor as well.
#[derive(Clone, Debug)]
pub struct OrdinaryRank {
    name: String,
    features: Vec<String>,
    levels: Arc<Levels>,
    /// The layer, with the means of the scores for data.
    layer: Gaussian,
    /// Entropies of the scores and what the layer's bound lacks, one a feature.
    entropy: Vec<f64>,
    drawn: bool,
    anchors: Arc<Anchors>,
    /// Training scores of the anchors.
    anchor_scores: Arc<Vec<f64>>,
    training: Option<Arc<Training>>,
    /// Ends of the scores of new samples, samples × features; the scores of
    /// training samples have one another.
    ends: Option<Arc<(Mat<f64>, Mat<f64>)>>,
}

/// The layer over these scores; missing cells are left out.
fn layer_over(view: &View, scores: Mat<f64>) -> Result<Gaussian, DataError> {
    let mut layer = Gaussian::new(
        view.with_values(scores)?,
        GaussianOptions {
            noise: NoiseBy::View,
            prior: GammaPrior::new(1.0, 1.0),
            missing: MissingData::Marginal,
            start: 1.0,
        },
    );
    let mut noise = layer.noise().clone();
    noise.set_value(0, 1.0);
    layer.set_noise(noise);
    Ok(layer)
}

/// Normal scores, zero where missing.
fn start_scores(view: &View) -> Mat<f64> {
    let mut scores = normal_scores(view);
    for d in 0..scores.ncols() {
        for x in scores.col_as_slice_mut(d) {
            if x.is_nan() {
                *x = 0.0;
            }
        }
    }
    scores
}

impl OrdinaryRank {
    /// The term of a view. Predictions know `anchors` training values of a
    /// feature at most.
    ///
    /// # Errors
    /// [`DataError::NothingObserved`] when every cell of a view with samples is
    /// missing; [`DataError::Option`] for fewer than two anchors.
    pub fn new(view: &View, anchors: usize) -> Result<Self, DataError> {
        if anchors < 2 {
            return Err(DataError::Option {
                view: view.name().to_owned(),
                option: "anchors",
                value: anchors as f64,
            });
        }
        if view.n_samples() > 0 && view.n_observed() == 0 {
            return Err(DataError::NothingObserved {
                view: view.name().to_owned(),
            });
        }
        let levels = Levels::new(view);
        let anchors = Anchors::new(view, &levels, anchors);
        let features = view.n_features();
        let mut term = Self {
            name: view.name().to_owned(),
            features: view.features().to_vec(),
            levels: Arc::new(levels),
            layer: layer_over(view, start_scores(view))?,
            entropy: vec![0.0; features],
            drawn: false,
            anchors: Arc::new(anchors),
            anchor_scores: Arc::default(),
            training: None,
            ends: None,
        };
        term.layer.scores_changed(vec![0.0; features]);
        term.keep_anchor_scores();
        Ok(term)
    }
    /// Means of the scores, samples × features; zero where missing.
    pub fn scores(&self) -> polyview_linalg::MatRef<'_, f64> {
        self.layer.scores()
    }
    /// Takes note of the scores of the training samples that anchor others.
    fn keep_anchor_scores(&mut self) {
        if self.levels.samples() == 0 || self.ends.is_some() {
            return;
        }
        let values = self.layer.scores();
        let scores = (0..self.anchors.features())
            .flat_map(|i| self.anchors.of(i).map(move |at| (i, at)))
            .map(|(i, at)| values[(self.anchors.samples[at] as usize, i)])
            .collect();
        self.anchor_scores = Arc::new(scores);
    }
    /// The term of new samples.
    fn inserted(&self, view: &View) -> Result<Self, DataError> {
        crate::cells::check_features(view, self.features.len())?;
        let training = self
            .training
            .as_ref()
            .ok_or_else(|| DataError::NotAnchored {
                view: self.name.clone(),
            })?;
        let (n, d) = (view.n_samples(), view.n_features());
        let mut lower = Mat::full(n, d, f64::NEG_INFINITY);
        let mut upper = Mat::full(n, d, f64::INFINITY);
        let mut scores = Mat::zeros(n, d);
        for i in 0..d {
            let of = self.anchors.of(i);
            let (values, known) = (&self.anchors.values[of.clone()], &self.anchor_scores[of]);
            for r in 0..n {
                let Some(x) = view.value(r, i) else { continue };
                let below = values.partition_point(|v| *v < x);
                let above = values.partition_point(|v| *v <= x);
                // scores of equal values have no order among themselves
                let low = known[..below]
                    .iter()
                    .copied()
                    .fold(f64::NEG_INFINITY, f64::max);
                let high = known[above..].iter().copied().fold(f64::INFINITY, f64::min);
                (lower[(r, i)], upper[(r, i)]) = (low, high);
                scores[(r, i)] = match (low.is_finite(), high.is_finite()) {
                    (true, true) => 0.5 * (low + high),
                    (true, false) => low,
                    (false, true) => high,
                    (false, false) => 0.0,
                };
            }
        }
        let mut term = Self {
            name: self.name.clone(),
            features: self.features.clone(),
            levels: Arc::new(Levels::new(view)),
            layer: layer_over(view, scores)?,
            entropy: vec![0.0; d],
            drawn: false,
            anchors: Arc::clone(&self.anchors),
            anchor_scores: Arc::clone(&self.anchor_scores),
            training: Some(Arc::clone(training)),
            ends: Some(Arc::new((lower, upper))),
        };
        term.layer.scores_changed(vec![0.0; d]);
        Ok(term)
    }
    fn not_finite(&self, what: &'static str) -> NumericError {
        NumericError::NotFinite {
            block: format!("likelihood/{}", self.name),
            what,
        }
    }
}

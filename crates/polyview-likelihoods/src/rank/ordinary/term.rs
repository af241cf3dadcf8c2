//! The ordinary rank likelihood as a data term.

use std::sync::Arc;

use polyview_core::{
    Augmented, Block, Conditioned, Context, DataError, Domain, Equations, Identified, Law, Link,
    Mask, NumericError, Objective, Predictor, Rounds, RowMoments, State, StateReader, Stateful,
    Terms, View, ViewShape, ViewTerm,
};
use polyview_linalg::{Accum, Mat, PackedRows, weighted_gram_into};
use polyview_random::{StreamKey, standard_normal};

use super::OrdinaryRank;
use crate::rank::anchors::Anchors;
use crate::rank::map::{self, RankLaw, Training};

/// Features whose variances are held at once.
const FEATURES: usize = 256;

impl ViewTerm for OrdinaryRank {
    fn shape(&self) -> ViewShape {
        self.layer.shape()
    }
    /// Bounds of scores are plugged in.
    fn objective(&self) -> Objective {
        Objective::NoGuarantee
    }
    fn mask(&self) -> Option<&Mask> {
        ViewTerm::mask(&self.layer)
    }
    fn by_cells(&self) -> bool {
        self.layer.by_cells()
    }
    /// Predictors have no zero, and features without two different values have no order.
    fn identified(&self, column: usize) -> Identified {
        if self.levels.is_idle(column) {
            Identified::Nothing
        } else {
            Identified::BetweenSamples
        }
    }
    /// Variance of normal scores about their regression on the predictor, as a share
    /// of their variance: features count alike, whatever the unit of
    /// their predictors, and those that do not vary not at all. The scale leads from
    /// predictors to normal scores of unit variance; it is 0 before the training samples
    /// are known.
    fn link(&self, _group: Option<usize>, column: usize, _level: f64) -> Link {
        Training::link_of(self.training.as_deref(), column)
    }
    fn domain(&self) -> Domain {
        Domain::Order
    }
    /// Before there are weights the scores stay where they start: normal
    /// scores.
    fn refresh(&mut self, p: &Predictor<'_>, cx: &mut Context<'_>) -> Result<(), NumericError> {
        if cx.sweep == 1 && p.has_no_weights() {
            return Ok(());
        }
        if self.refresh_scores(p) {
            Ok(())
        } else {
            Err(self.not_finite("a score"))
        }
    }
    fn equations(&mut self) -> &mut dyn Equations {
        &mut self.layer
    }
    /// Layer and entropies; with drawn scores the log density of these.
    fn bound(&mut self, p: &Predictor<'_>) -> Terms {
        let mut terms = self.layer.bound(p);
        terms.0.retain(|t| t.name != "noise");
        for term in &mut terms.0 {
            if term.name == "likelihood" {
                term.value += self.entropy.iter().sum::<f64>();
            }
        }
        terms
    }
    fn law(&self, p: &Predictor<'_>, block: &Block<'_>) -> Box<dyn Law + '_> {
        let training = self.training.as_deref();
        Box::new(RankLaw::new(&self.anchors, training, p, block))
    }
    fn simulate(&self, p: &Predictor<'_>, _parameters: StreamKey, data: StreamKey) -> Mat<f64> {
        map::simulate(&self.anchors, self.training.as_deref(), p, data)
    }
    /// New samples are placed among the training values: the term must have
    /// been anchored.
    fn rebind(&self, view: &View) -> Result<Box<dyn ViewTerm>, DataError> {
        Ok(Box::new(self.inserted(view)?))
    }
    fn as_augmented(&mut self) -> Option<&mut dyn Augmented> {
        Some(self)
    }
    fn as_rounds(&mut self) -> Option<&mut dyn Rounds> {
        Some(self)
    }
    fn as_conditioned(&mut self) -> Option<&mut dyn Conditioned> {
        Some(self)
    }
}

impl Rounds for OrdinaryRank {
    fn refresh_locals(
        &mut self,
        p: &Predictor<'_>,
        cx: &mut Context<'_>,
    ) -> Result<(), NumericError> {
        self.refresh(p, cx)
    }
    /// $\sum\_i a\_ia\_i^\top\mathrm{Var}(w\_{in})$ of new samples: a mean score follows
    /// its predictor by the variance that its ends leave it (in units of its noise, 1).
    fn slack(&mut self, p: &Predictor<'_>, slack: &mut PackedRows) {
        let Some(ends) = self.ends.as_deref() else {
            return;
        };
        let known = RowMoments::point(p.weights.mean().to_owned());
        for start in (0..self.features.len()).step_by(FEATURES) {
            let range = start..(start + FEATURES).min(self.features.len());
            let of = self.freedom(ends, p, range.clone());
            let outer = known.second_moment_rows(range);
            weighted_gram_into(slack, of.as_ref(), &outer, Accum::Add);
        }
    }
}

impl Conditioned for OrdinaryRank {
    fn condition(&mut self, training: &Predictor<'_>) {
        self.training = Training::new(training, &self.anchors, None).map(Arc::new);
    }
}

impl Augmented for OrdinaryRank {
    /// One stream of random numbers a feature.
    fn draw_locals(&mut self, p: &Predictor<'_>, cx: &mut Context<'_>) -> Result<(), NumericError> {
        if self.draw_scores(p, cx.key) {
            Ok(())
        } else {
            Err(self.not_finite("a drawn score"))
        }
    }
    /// Draws scores; **their** order is the new data's. Ties have no chance:
    /// afterwards every observed cell has a level of its own.
    fn draw_data(&mut self, p: &Predictor<'_>, key: StreamKey) {
        let (rows, features) = (self.levels.samples(), self.features.len());
        let levels = Arc::clone(&self.levels);
        let scores = self.layer.scores_mut();
        for i in 0..features {
            let mut rng = key.chunk(i as u32).rng();
            for n in 0..rows {
                if levels.is_observed(n, i) {
                    let eta: f64 = (0..p.weights.k())
                        .map(|k| p.factors.mean()[(n, k)] * p.weights.mean()[(i, k)])
                        .sum();
                    scores[(n, i)] = eta + standard_normal(&mut rng);
                }
            }
        }
        self.levels = Arc::new(levels.reordered(|n, i| scores[(n, i)]));
        self.drawn = true;
        self.entropy.fill(0.0);
        self.layer.scores_changed(vec![0.0; features]);
        self.keep_anchor_scores();
    }
}

impl Stateful for OrdinaryRank {
    fn save(&self, prefix: &str, state: &mut State) {
        self.anchors.save(prefix, state);
        let at = |name: &str| format!("{prefix}/{name}");
        state.shared(|state| state.put_vec(&at("anchors/scores"), &self.anchor_scores));
        state.local(|state| {
            state.put_mat(&at("local/scores"), self.layer.scores());
            state.put_vec(&at("local/score-variance"), self.layer.score_variance());
            state.put_vec(&at("local/entropy"), &self.entropy);
            let drawn = [f64::from(u8::from(self.drawn))];
            state.put_vec(&at("local/drawn"), &drawn);
        });
    }
    /// A term without samples takes the anchors only.
    fn load(&mut self, prefix: &str, state: &StateReader<'_>) -> Result<(), NumericError> {
        let features = self.features.len();
        let anchors = Anchors::load(prefix, state, features)?;
        let name = format!("{prefix}/anchors/scores");
        let scores = state.vec_of(&name, anchors.values.len())?;
        if !scores.iter().all(|s| s.is_finite()) {
            return Err(NumericError::BadState { name });
        }
        (self.anchors, self.anchor_scores) = (Arc::new(anchors), Arc::new(scores));
        self.training = None;
        if self.levels.samples() == 0 {
            return Ok(());
        }
        let name = format!("{prefix}/local/scores");
        let scores = state.mat(&name)?;
        if scores.shape() != self.layer.scores().shape() {
            return Err(NumericError::BadState { name });
        }
        let variance = state.vec_of(&format!("{prefix}/local/score-variance"), features)?;
        self.entropy = state.vec_of(&format!("{prefix}/local/entropy"), features)?;
        self.drawn = state.scalar(&format!("{prefix}/local/drawn"))? != 0.0;
        *self.layer.scores_mut() = scores;
        self.layer.scores_changed(variance);
        Ok(())
    }
}

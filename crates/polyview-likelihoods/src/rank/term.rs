//! The rank view as a data term.

use std::sync::Arc;

use polyview_core::{
    Augmented, Block, Conditioned, Context, CoupledRows, DataError, Domain, Equations, Identified,
    Law, Link, NormalEquations, NumericError, Objective, Predictor, Rounds, State, StateReader,
    Stateful, Terms, View, ViewShape, ViewTerm,
};
use polyview_linalg::Mat;
use polyview_random::StreamKey;

use super::anchors::Anchors;
use super::insertion::Inserted;
use super::leverage::Told;
use super::map::{self, RankLaw, Training};
use super::pairs::Pairs;
use super::{PairPolicy, Rank};

impl ViewTerm for Rank {
    fn shape(&self) -> ViewShape {
        ViewShape::plain(self.levels.samples(), self.features.len())
    }
    /// Partners that are chosen anew change the objective.
    fn objective(&self) -> Objective {
        match self.options.pairs {
            PairPolicy::Extreme => Objective::NoGuarantee,
            PairPolicy::Random | PairPolicy::Adjacent | PairPolicy::All => {
                Objective::PseudoLikelihood
            }
        }
    }
    fn by_cells(&self) -> bool {
        true
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
    fn refresh(&mut self, p: &Predictor<'_>, _cx: &mut Context<'_>) -> Result<(), NumericError> {
        self.refresh_kappa(p)
    }
    fn equations(&mut self) -> &mut dyn Equations {
        self
    }
    fn bound(&mut self, p: &Predictor<'_>) -> Terms {
        Terms::of_samples("likelihood", self.ranks(p))
    }
    fn law(&self, p: &Predictor<'_>, block: &Block<'_>) -> Box<dyn Law + '_> {
        let training = self.training.as_deref();
        Box::new(RankLaw::new(&self.anchors, training, p, block))
    }
    fn simulate(&self, p: &Predictor<'_>, _parameters: StreamKey, data: StreamKey) -> Mat<f64> {
        map::simulate(&self.anchors, self.training.as_deref(), p, data)
    }
    /// New samples are inserted among the training values: the term must have
    /// been anchored.
    fn rebind(&self, view: &View) -> Result<Box<dyn ViewTerm>, DataError> {
        let training = self
            .training
            .as_ref()
            .ok_or_else(|| DataError::NotAnchored {
                view: self.name.clone(),
            })?;
        let law = (self.name.as_str(), self.epsilon, self.options.weight);
        Ok(Box::new(Inserted::new(view, law, &self.anchors, training)?))
    }
    fn as_augmented(&mut self) -> Option<&mut dyn Augmented> {
        Some(self)
    }
    fn as_coupled(&mut self) -> Option<&mut dyn CoupledRows> {
        Some(self)
    }
    fn as_rounds(&mut self) -> Option<&mut dyn Rounds> {
        Some(self)
    }
    fn as_conditioned(&mut self) -> Option<&mut dyn Conditioned> {
        Some(self)
    }
}

impl CoupledRows for Rank {
    fn couple(
        &mut self,
        sample: usize,
        p: &Predictor<'_>,
        rhs: &mut [f64],
    ) -> Result<(), NumericError> {
        self.add_coupling(sample, p, rhs);
        Ok(())
    }
    fn updated(&mut self, sample: usize, p: &Predictor<'_>) {
        self.settled(sample, p.factors);
    }
}

impl Conditioned for Rank {
    fn condition(&mut self, training: &Predictor<'_>) {
        let told = Told {
            epsilon: self.epsilon,
            weight: self.options.weight,
        };
        self.training = Training::new(training, &self.anchors, Some(told)).map(Arc::new);
    }
}

impl Rounds for Rank {
    fn refresh_locals(
        &mut self,
        p: &Predictor<'_>,
        cx: &mut Context<'_>,
    ) -> Result<(), NumericError> {
        self.refresh(p, cx)
    }
}

impl Equations for Rank {
    fn weight_equations(
        &mut self,
        p: &Predictor<'_>,
        eq: &mut NormalEquations,
    ) -> Result<(), NumericError> {
        self.add_weight_equations(p, eq);
        Ok(())
    }
    fn factor_gram(
        &mut self,
        _view: usize,
        p: &Predictor<'_>,
        _eq: &mut NormalEquations,
    ) -> Result<(), NumericError> {
        self.factor_rows.sync(p.factors);
        self.weight_rows.sync(p.weights);
        self.by_sample.fill(&self.pairs, &self.kappa);
        Ok(())
    }
    /// The precisions: they do not depend on the other samples.
    fn factor_equations(
        &mut self,
        p: &Predictor<'_>,
        eq: &mut NormalEquations,
    ) -> Result<(), NumericError> {
        self.add_factor_precisions(p, eq);
        Ok(())
    }
}

fn numbers(list: &[u32]) -> Vec<f64> {
    list.iter().map(|&n| f64::from(n)).collect()
}

impl Stateful for Rank {
    fn save(&self, prefix: &str, state: &mut State) {
        self.anchors.save(prefix, state);
        state.put_vec(&format!("{prefix}/epsilon"), &[self.epsilon]);
        state.local(|state| {
            state.put_vec(&format!("{prefix}/local/kappa"), &self.kappa);
            let drawn = [f64::from(u8::from(self.drawn))];
            state.put_vec(&format!("{prefix}/local/drawn"), &drawn);
            if self.options.pairs == PairPolicy::Extreme {
                state.put_vec(&format!("{prefix}/local/low"), &numbers(&self.pairs.low));
                state.put_vec(&format!("{prefix}/local/high"), &numbers(&self.pairs.high));
            }
        });
    }
    /// A term without samples takes parameters only. One with samples has its
    /// pairs from its key, but for those that are chosen anew.
    fn load(&mut self, prefix: &str, state: &StateReader<'_>) -> Result<(), NumericError> {
        let name = format!("{prefix}/epsilon");
        let epsilon = state.scalar(&name)?;
        if !(epsilon > 0.0 && epsilon.is_finite()) {
            return Err(NumericError::BadState { name });
        }
        let anchors = Anchors::load(prefix, state, self.features.len())?;
        self.epsilon = epsilon;
        self.anchors = Arc::new(anchors);
        self.training = None;
        let samples = self.levels.samples();
        if samples == 0 {
            return Ok(());
        }
        let count = self.pairs.len();
        let name = format!("{prefix}/local/kappa");
        let kappa = state.vec_of(&name, count)?;
        if !kappa.iter().all(|k| *k > 0.0 && k.is_finite()) {
            return Err(NumericError::BadState { name });
        }
        if self.options.pairs == PairPolicy::Extreme {
            let list = |what: &str| -> Result<Vec<u32>, NumericError> {
                let name = format!("{prefix}/local/{what}");
                state
                    .vec_of(&name, count)?
                    .into_iter()
                    .map(|n| {
                        (n >= 0.0 && n < samples as f64 && n.fract() == 0.0).then_some(n as u32)
                    })
                    .collect::<Option<_>>()
                    .ok_or(NumericError::BadState { name })
            };
            let pairs = Pairs {
                start: self.pairs.start.clone(),
                low: list("low")?,
                high: list("high")?,
            };
            self.set_pairs(pairs);
        }
        self.drawn = state.scalar(&format!("{prefix}/local/drawn"))? != 0.0;
        self.kappa = kappa;
        self.changed();
        Ok(())
    }
}

//! Samples that come after a fit: its sums are kept, those of the new samples are added, and
//! everything follows from both (spec/mlfs 8).

use std::ops::Range;

use polyview_core::{NumericError, Rule, State, StateReader, Stateful};
use polyview_linalg::{Mat, MatRef};

use super::run::empty_sums;
use super::sums::{ViewSums, Weighting};
use super::{StochasticError, StochasticRun};
use crate::model::ViewPart;

/// Sums over samples of all views, from which weights, intercepts, noise and scales follow without
/// the samples: second moments of the factors, their products with the data, and numbers of
/// cells. How many numbers these are does not depend on the number of samples.
#[derive(Clone, Debug)]
pub struct Sums {
    names: Vec<String>,
    views: Vec<ViewSums>,
}

impl Sums {
    /// Those of no sample at all.
    pub fn none(views: &[ViewPart]) -> Self {
        let k = views.first().map_or(0, |v| v.weights.moments().k());
        Self {
            names: views.iter().map(|v| v.name.clone()).collect(),
            views: views.iter().map(|v| empty_sums(v, k)).collect(),
        }
    }
    /// Keeps some factors, in that order, each times its sign.
    pub fn select(&mut self, keep: &[usize], signs: &[f64]) {
        let sign = Mat::from_fn(
            keep.len(),
            keep.len(),
            |i, j| {
                if i == j { signs[i] } else { 0.0 }
            },
        );
        for view in &mut self.views {
            view.select(keep);
            view.transform(sign.as_ref());
        }
    }
    /// The sums of factors that were multiplied by `a` from the right.
    pub fn transform(&mut self, a: MatRef<'_, f64>) {
        for view in &mut self.views {
            view.transform(a);
        }
    }
}

impl Stateful for Sums {
    fn save(&self, prefix: &str, state: &mut State) {
        for (name, view) in self.names.iter().zip(&self.views) {
            view.save(&format!("{prefix}{name}"), state);
        }
    }
    fn load(&mut self, prefix: &str, state: &StateReader<'_>) -> Result<(), NumericError> {
        for (name, view) in self.names.iter().zip(&mut self.views) {
            view.load(&format!("{prefix}{name}"), state)?;
        }
        Ok(())
    }
}

impl StochasticRun {
    /// The running sums.
    pub fn sums(&self) -> Sums {
        let (state, strategy) = (&self.state, &self.strategy);
        Sums {
            names: state.model.views.iter().map(|v| v.name.clone()).collect(),
            views: strategy.sums.clone(),
        }
    }
    /// Goes on from other sums, of the same views and factors.
    pub fn set_sums(&mut self, sums: Sums) {
        self.strategy.sums = sums.views;
    }
    /// Multiplies the running sums by `keep` and adds those of some samples of the source, whose
    /// local variables and factors are found under the present parameters.
    ///
    /// # Errors
    /// [`StochasticError`] from reading and from the parts.
    pub fn gather(&mut self, samples: &[Range<usize>], keep: f64) -> Result<(), StochasticError> {
        let Self { state, strategy } = self;
        strategy.load(state, samples)?;
        strategy.locals(state)?;
        strategy.take(state, Weighting { keep, add: 1.0 })
    }
    /// Weights, intercepts, noise and scales from the running sums, each at its optimum given the
    /// others and in the order of a sweep.
    ///
    /// # Errors
    /// [`StochasticError`] from the parts.
    pub fn follow(&mut self) -> Result<(), StochasticError> {
        self.strategy.update(&mut self.state, Rule::Optimum)
    }
    /// The views, without samples.
    ///
    /// # Errors
    /// [`StochasticError`] from the source.
    pub fn into_views(mut self) -> Result<Vec<ViewPart>, StochasticError> {
        let Self { state, strategy } = &mut self;
        strategy.load(state, &[])?;
        Ok(self.into_parts().0.views)
    }
}

//! Laws of successes out of trials.

use polyview_core::{Ask, ChanceLaw, Law};
use polyview_linalg::{Mat, MatRef};

use super::{CellLaw, CountLaw, check, fill_cells};

/// Laws of successes whose numbers of trials are known, or else of single trials.
#[derive(Clone, Debug)]
pub(crate) struct Successes {
    /// Mean and variance of a single trial.
    single: (Mat<f64>, Mat<f64>),
    /// Mean and variance of the predictor.
    predictor: (Mat<f64>, Mat<f64>),
    /// Numbers of trials, where they are known.
    trials: Option<Mat<f64>>,
    /// Mean and variance of the probability, given those of the predictor.
    chance: fn(f64, f64) -> (f64, f64),
}

impl Successes {
    /// Laws with those moments of single trials and of predictors, samples × columns.
    /// `chance` makes mean and variance of the probability of a success of those of a
    /// predictor.
    pub(crate) fn new(
        single: (Mat<f64>, Mat<f64>),
        predictor: (Mat<f64>, Mat<f64>),
        trials: Option<MatRef<'_, f64>>,
        chance: fn(f64, f64) -> (f64, f64),
    ) -> Self {
        Self {
            single,
            predictor,
            trials: trials.map(|t| t.to_owned()),
            chance,
        }
    }
    fn cell(&self, n: usize, column: usize) -> CellLaw {
        let at = (n, column);
        match &self.trials {
            Some(trials) => {
                let (mean, variance) = (self.chance)(self.predictor.0[at], self.predictor.1[at]);
                CellLaw::Count(CountLaw::successes(trials[at], mean, variance))
            }
            None => CellLaw::Label {
                one: self.single.0[at],
                variance: self.single.1[at],
            },
        }
    }
}

impl Law for Successes {
    fn shape(&self) -> (usize, usize) {
        self.single.0.shape()
    }
    fn fill(&self, ask: Ask, column: usize, x: &[f64], out: &mut [f64]) {
        check(self, out);
        fill_cells(|n| self.cell(n, column), ask, x, out);
    }
    fn quantile(&self, column: usize, p: f64, out: &mut [f64]) {
        for (n, o) in out.iter_mut().enumerate() {
            *o = self.cell(n, column).quantile(p);
        }
    }
    fn as_chance(&self) -> Option<&dyn ChanceLaw> {
        Some(self)
    }
}

impl ChanceLaw for Successes {
    fn probability(&self, column: usize, mean: &mut [f64], variance: &mut [f64]) {
        for (n, (m, v)) in mean.iter_mut().zip(variance).enumerate() {
            let at = (n, column);
            (*m, *v) = (self.chance)(self.predictor.0[at], self.predictor.1[at]);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn trials_make_counts_of_probabilities() {
        let one = |x: f64| Mat::full(1, 1, x);
        let chance = |mean: f64, variance: f64| (mean, variance);
        let law = |trials: Option<f64>| {
            let trials = trials.map(one);
            Successes::new(
                (one(0.3), one(0.21)),
                (one(0.4), one(0.02)),
                trials.as_ref().map(Mat::as_ref),
                chance,
            )
        };
        let ask = |law: &Successes, ask, x: &[f64]| {
            let mut out = [0.0];
            law.fill(ask, 0, x, &mut out);
            out[0]
        };
        let single = law(None);
        assert_eq!(ask(&single, Ask::Mean, &[]), 0.3);
        assert_eq!(ask(&single, Ask::LnDensity, &[1.0]), 0.3_f64.ln());
        let many = law(Some(12.0));
        let expected = CountLaw::successes(12.0, 0.4, 0.02);
        assert_eq!(ask(&many, Ask::Mean, &[]), expected.mean());
        assert_eq!(ask(&many, Ask::LnDensity, &[5.0]), expected.ln_density(5.0));
        let (mut m, mut v) = ([0.0], [0.0]);
        many.as_chance().unwrap().probability(0, &mut m, &mut v);
        assert_eq!((m, v), ([0.4], [0.02]));
    }
}

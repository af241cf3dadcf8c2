//! Laws of successes out of trials.

use polyview_core::{Ask, CellCounts, ChanceLaw, Counted, CountedLaw, Counting, Law};
use polyview_linalg::{Mat, MatRef};

use super::mixed::mix;
use super::{CellLaw, MixedCount, check, each, fill_cells};

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
    /// The law of a single trial.
    fn single(&self, n: usize, column: usize) -> CellLaw {
        let at = (n, column);
        CellLaw::Label {
            one: self.single.0[at],
            variance: self.single.1[at],
        }
    }
    /// Numbers of trials and the law of successes out of them, where they are known.
    fn count(&self, n: usize, column: usize) -> Option<(f64, MixedCount)> {
        let at = (n, column);
        let trials = self.trials.as_ref()?[at];
        let predictor = (self.predictor.0[at], self.predictor.1[at]);
        let law = MixedCount::new(Counting::Trials(trials), predictor.0, predictor.1);
        Some((trials, law))
    }
    fn answer(&self, ask: Ask, (n, column): (usize, usize), x: f64) -> Option<f64> {
        let (trials, law) = self.count(n, column)?;
        let at = (n, column);
        let (p, v) = (self.chance)(self.predictor.0[at], self.predictor.1[at]);
        Some(match ask {
            Ask::Mean => trials * p,
            // trials share the probability
            Ask::Variance => trials * (p * (1.0 - p) - v) + trials * trials * v,
            Ask::Cdf => law.cdf(x),
            Ask::LnDensity => law.ln_density(x),
            Ask::Level(_) => f64::NAN,
        })
    }
}

impl Law for Successes {
    fn shape(&self) -> (usize, usize) {
        self.single.0.shape()
    }
    fn fill(&self, ask: Ask, column: usize, x: &[f64], out: &mut [f64]) {
        check(self, out);
        if self.trials.is_none() {
            return fill_cells(|n| self.single(n, column), ask, x, out);
        }
        for (n, o) in out.iter_mut().enumerate() {
            let x = x.get(n).copied().unwrap_or(f64::NAN);
            *o = self.answer(ask, (n, column), x).unwrap_or(f64::NAN);
        }
    }
    fn is_whole(&self) -> bool {
        true
    }
    fn quantile(&self, column: usize, p: &[f64], out: &mut [f64]) {
        each(p, out, |n, p| match self.count(n, column) {
            Some((_, law)) => law.quantile(p),
            None => self.single(n, column).quantile(p),
        });
    }
    fn as_chance(&self) -> Option<&dyn ChanceLaw> {
        Some(self)
    }
    fn as_counted(&self) -> Option<&dyn CountedLaw> {
        self.trials.is_some().then_some(self)
    }
}

impl CountedLaw for Successes {
    fn counted(&self, sample: usize, column: usize) -> Option<Counted> {
        Some(self.count(sample, column)?.1.counted())
    }
    fn mix(&self, parts: &[(f64, Counted)]) -> Option<Box<dyn CellCounts>> {
        mix(parts)
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

    /// Of draws of the probability, each a binomial law.
    #[test]
    fn trials_make_counts_of_probabilities() {
        let one = |x: f64| Mat::full(1, 1, x);
        let chance = |mean: f64, _: f64| {
            let p = polyview_special::sigmoid(mean);
            (p, 0.0)
        };
        let law = |trials: Option<f64>| {
            let trials = trials.map(one);
            Successes::new(
                (one(0.3), one(0.21)),
                (one(0.4), one(0.0)),
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
        let p = polyview_special::sigmoid(0.4);
        assert!((ask(&many, Ask::Mean, &[]) - 12.0 * p).abs() < 1e-12);
        assert!((ask(&many, Ask::Variance, &[]) - 12.0 * p * (1.0 - p)).abs() < 1e-12);
        let five = (792.0_f64).ln() + 5.0 * p.ln() + 7.0 * (1.0 - p).ln();
        assert!((ask(&many, Ask::LnDensity, &[5.0]) - five).abs() < 1e-10);
        let (mut m, mut v) = ([0.0], [0.0]);
        many.as_chance().unwrap().probability(0, &mut m, &mut v);
        assert_eq!((m, v), ([p], [0.0]));
    }
}

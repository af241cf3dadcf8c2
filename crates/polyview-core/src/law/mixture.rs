//! Laws of several parts.

use polyview_special::normal_cdf;

use super::{Ask, CellCounts, ChanceLaw, Law, RankedLaw, quantile_by_search};
use crate::model::OrderStatistics;

/// A mixture of laws of one block, the parts with a share for each sample: draws of a
/// posterior, groups that nobody knows, local experts.
///
/// All parts are held at once, so that quantiles are those of the mixture itself.
pub struct Mixture<'a> {
    parts: Vec<Part<'a>>,
}

/// A part and its shares of the samples.
struct Part<'a> {
    shares: Vec<f64>,
    law: Box<dyn Law + 'a>,
}

impl<'a> Mixture<'a> {
    /// The mixture of at least one part, each with its share of each sample; the shares of a
    /// sample sum to 1.
    ///
    /// # Panics
    /// Without parts, and where shapes, or numbers of samples and shares, differ.
    pub fn new(parts: Vec<(Vec<f64>, Box<dyn Law + 'a>)>) -> Self {
        let shape = parts[0].1.shape();
        let fits =
            |(s, law): &(Vec<f64>, Box<dyn Law + 'a>)| law.shape() == shape && s.len() == shape.0;
        assert!(parts.iter().all(fits), "parts of one shape");
        let part = |(shares, law)| Part { shares, law };
        Self {
            parts: parts.into_iter().map(part).collect(),
        }
    }
    /// The mixture of at least one part, each as likely.
    ///
    /// # Panics
    /// As [`Mixture::new`].
    pub fn equal(parts: Vec<Box<dyn Law + 'a>>) -> Self {
        let share = 1.0 / parts.len() as f64;
        let part = |law: Box<dyn Law + 'a>| (vec![share; law.shape().0], law);
        Self::new(parts.into_iter().map(part).collect())
    }
    /// Sums what the parts answer, times their shares: no more than the largest answer, and no
    /// less than the smallest, whatever rounding says.
    fn sum(&self, out: &mut [f64], mut answer: impl FnMut(&dyn Law, &mut [f64])) {
        let mut own = vec![0.0; out.len()];
        let mut ends = vec![(f64::INFINITY, f64::NEG_INFINITY); out.len()];
        out.fill(0.0);
        for part in &self.parts {
            answer(part.law.as_ref(), &mut own);
            for (i, (own, share)) in own.iter().zip(&part.shares).enumerate() {
                out[i] += share * own;
                if *share > 0.0 {
                    ends[i] = (ends[i].0.min(*own), ends[i].1.max(*own));
                }
            }
        }
        for (o, (least, most)) in out.iter_mut().zip(ends) {
            if *o < least {
                *o = least;
            } else if *o > most {
                *o = most;
            }
        }
    }
    /// The only part, where there is one that has all of every sample: it knows best.
    fn only(&self) -> Option<&dyn Law> {
        match self.parts.as_slice() {
            [only] if only.shares.iter().all(|s| *s == 1.0) => Some(only.law.as_ref()),
            _ => None,
        }
    }
    /// Mean and variance of a mixture of parts with the means and variances that `of` writes.
    fn combine(
        &self,
        mean: &mut [f64],
        variance: &mut [f64],
        of: impl Fn(&dyn Law, &mut [f64], &mut [f64]),
    ) {
        let mut unused = vec![0.0; mean.len()];
        self.sum(mean, |law, own| of(law, own, &mut unused));
        let (all, mut own_mean) = (&*mean, unused);
        self.sum(variance, |law, own| {
            of(law, &mut own_mean, own);
            for ((v, m), all) in own.iter_mut().zip(&own_mean).zip(all) {
                *v += (m - all).powi(2);
            }
        });
    }
}

impl Law for Mixture<'_> {
    fn shape(&self) -> (usize, usize) {
        self.parts[0].law.shape()
    }
    fn fill(&self, ask: Ask, column: usize, x: &[f64], out: &mut [f64]) {
        if let Some(only) = self.only() {
            return only.fill(ask, column, x, out);
        }
        match ask {
            Ask::Cdf if self.is_counted() => {
                self.each_counted(column, &[x], &mut [out], |law, x| law.cdf(x));
            }
            Ask::Mean | Ask::Cdf | Ask::Level(_) => {
                self.sum(out, |law, own| law.fill(ask, column, x, own));
            }
            Ask::Variance => {
                self.combine(&mut vec![0.0; out.len()], out, |law, mean, variance| {
                    law.fill(Ask::Mean, column, x, mean);
                    law.fill(Ask::Variance, column, x, variance);
                });
            }
            Ask::LnDensity => {
                let mut own = vec![0.0; out.len()];
                out.fill(f64::NEG_INFINITY);
                for part in &self.parts {
                    part.law.fill(ask, column, x, &mut own);
                    for ((o, own), share) in out.iter_mut().zip(&own).zip(&part.shares) {
                        *o = ln_sum(*o, own + share.ln());
                    }
                }
            }
        }
    }
    fn levels(&self) -> usize {
        self.parts[0].law.levels()
    }
    fn ordered(&self) -> usize {
        self.parts[0].law.ordered()
    }
    fn has_density(&self) -> bool {
        self.parts.iter().all(|p| p.law.has_density())
    }
    fn moments(&self, column: usize, mean: &mut [f64], deviation: &mut [f64]) {
        if let Some(only) = self.only() {
            return only.moments(column, mean, deviation);
        }
        self.fill(Ask::Mean, column, &[], mean);
        self.fill(Ask::Variance, column, &[], deviation);
        for s in deviation {
            *s = s.sqrt();
        }
    }
    fn is_whole(&self) -> bool {
        self.parts.iter().all(|p| p.law.is_whole())
    }
    /// Of ranks the values at the quantiles of the mixture of the normal scores.
    fn quantile(&self, column: usize, p: &[f64], out: &mut [f64]) {
        if let Some(only) = self.only() {
            return only.quantile(column, p, out);
        }
        if self.is_counted() {
            return self.quantiles(column, &[p], &mut [out]);
        }
        let Some(ranked) = self.as_ranked() else {
            return quantile_by_search(self, column, p, out);
        };
        quantile_by_search(&self.scores_of(column), 0, p, out);
        let scale = ranked.order_statistics(column);
        for score in out.iter_mut().filter(|score| !score.is_nan()) {
            *score = scale.at(*score);
        }
    }
    /// Counts of a cell are mixed once for all of its probabilities.
    fn quantiles(&self, column: usize, p: &[&[f64]], out: &mut [&mut [f64]]) {
        assert_eq!(p.len(), out.len());
        if self.only().is_none() && self.is_counted() {
            return self.each_counted(column, p, out, |law, p| law.quantile(p));
        }
        for (p, out) in p.iter().zip(out) {
            self.quantile(column, p, out);
        }
    }
    fn between(&self, column: usize, ends: [&[f64]; 2], out: &mut [f64]) {
        self.sum(out, |law, own| law.between(column, ends, own));
    }
    fn as_ranked(&self) -> Option<&dyn RankedLaw> {
        let all = self.parts.iter().all(|p| p.law.as_ranked().is_some());
        all.then_some(self)
    }
    fn as_chance(&self) -> Option<&dyn ChanceLaw> {
        let all = self.parts.iter().all(|p| p.law.as_chance().is_some());
        all.then_some(self)
    }
}

impl Mixture<'_> {
    /// Whether all parts are counts with normal predictors: these are mixed at once.
    fn is_counted(&self) -> bool {
        self.parts.iter().all(|p| p.law.as_counted().is_some())
    }
    /// Asks the mixtures of counts of a column for what is at each `x`, cell by cell; `NaN` where it is.
    fn each_counted(
        &self,
        column: usize,
        x: &[&[f64]],
        out: &mut [&mut [f64]],
        ask: impl Fn(&dyn CellCounts, f64) -> f64,
    ) {
        let laws: Vec<_> = (self.parts.iter())
            .filter_map(|part| Some((&part.shares, part.law.as_counted()?)))
            .collect();
        let mut parts = Vec::with_capacity(laws.len());
        for n in 0..self.shape().0 {
            for out in out.iter_mut() {
                out[n] = f64::NAN;
            }
            if x.iter().all(|x| x[n].is_nan()) {
                continue;
            }
            parts.clear();
            for (shares, law) in &laws {
                if let Some(counted) = law.counted(n, column) {
                    parts.push((shares[n], counted));
                }
            }
            let Some(law) = laws[0].1.mix(&parts) else {
                continue;
            };
            for (x, out) in x.iter().zip(out.iter_mut()) {
                if !x[n].is_nan() {
                    out[n] = ask(law.as_ref(), x[n]);
                }
            }
        }
    }
    /// The mixture of the normal scores of a column.
    fn scores_of(&self, column: usize) -> Mixture<'static> {
        let part = |part: &Part<'_>| {
            let n = part.shares.len();
            let mut scores = Scores(vec![0.0; n], vec![0.0; n]);
            if let Some(ranked) = part.law.as_ranked() {
                ranked.scores(column, &mut scores.0, &mut scores.1);
            }
            (part.shares.clone(), Box::new(scores) as Box<dyn Law>)
        };
        Mixture::new(self.parts.iter().map(part).collect())
    }
}

/// Normal laws of one column: their means and variances.
struct Scores(Vec<f64>, Vec<f64>);

impl Law for Scores {
    fn shape(&self) -> (usize, usize) {
        (self.0.len(), 1)
    }
    fn fill(&self, ask: Ask, _column: usize, x: &[f64], out: &mut [f64]) {
        for (i, o) in out.iter_mut().enumerate() {
            *o = match ask {
                Ask::Mean => self.0[i],
                Ask::Variance => self.1[i],
                Ask::Cdf => normal_cdf((x[i] - self.0[i]) / self.1[i].sqrt()),
                Ask::LnDensity | Ask::Level(_) => f64::NAN,
            };
        }
    }
}

impl RankedLaw for Mixture<'_> {
    fn scores(&self, column: usize, mean: &mut [f64], variance: &mut [f64]) {
        self.combine(mean, variance, |law, mean, variance| {
            if let Some(ranked) = law.as_ranked() {
                ranked.scores(column, mean, variance);
            }
        });
    }
    /// Those of the first part: all speak of the same training values.
    fn order_statistics(&self, column: usize) -> OrderStatistics {
        let ranked = self.parts[0].law.as_ranked();
        ranked.map_or_else(OrderStatistics::default, |r| r.order_statistics(column))
    }
}

impl ChanceLaw for Mixture<'_> {
    fn probability(&self, column: usize, mean: &mut [f64], variance: &mut [f64]) {
        self.combine(mean, variance, |law, mean, variance| {
            if let Some(chance) = law.as_chance() {
                chance.probability(column, mean, variance);
            }
        });
    }
}

/// Logarithm of the sum of two exponentials.
fn ln_sum(a: f64, b: f64) -> f64 {
    if a.is_nan() || b.is_nan() {
        return f64::NAN;
    }
    let (high, low) = (a.max(b), a.min(b));
    if high.is_infinite() {
        high
    } else {
        high + (low - high).exp().ln_1p()
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};

    use super::super::tests::{Normal, answers};
    use super::super::{Counted, CountedLaw, Counting};
    use super::*;

    fn parts() -> Mixture<'static> {
        Mixture::new(vec![
            (
                vec![0.25, 1.0],
                Box::new(Normal(vec![(1.0, 4.0), (5.0, 2.0)])),
            ),
            (
                vec![0.75, 0.0],
                Box::new(Normal(vec![(-3.0, 1.0), (f64::MAX, 1.0)])),
            ),
        ])
    }

    #[test]
    fn moments_are_those_of_the_mixture() {
        let law = parts();
        // mean ¼ − 9⁄4; second moment ¼(4 + 1) + ¾(1 + 9)
        let mean = answers(&law, Ask::Mean, &[]);
        assert_eq!(mean[0], -2.0);
        assert_eq!(answers(&law, Ask::Variance, &[])[0], 8.75 - 4.0);
        let (mut mean, mut variance) = ([0.0; 2], [0.0; 2]);
        law.as_chance()
            .unwrap()
            .probability(0, &mut mean, &mut variance);
        assert_eq!((mean[0], variance[0]), (-2.0, 4.75));
    }

    /// Ten tenths add up to less than one, and three shares may add up to more.
    #[test]
    fn answers_lie_between_those_of_the_parts() {
        let sure = || Box::new(Normal(vec![(1.0, 0.5)])) as Box<dyn Law>;
        let law = Mixture::equal((0..10).map(|_| sure()).collect());
        assert_eq!(answers(&law, Ask::Mean, &[]), [1.0]);
        let shares = [0.7, 0.2, 0.1 + 1e-15];
        let law = Mixture::new(shares.map(|s| (vec![s], sure())).into());
        assert_eq!(answers(&law, Ask::Mean, &[]), [1.0]);
    }

    #[test]
    fn densities_and_distribution_functions_are_averages() {
        let law = parts();
        let one = |i: usize, ask, x: &[f64]| answers(law.parts[i].law.as_ref(), ask, x)[0];
        let x = [-1.0, 5.0];
        let cdf = answers(&law, Ask::Cdf, &x);
        let expected = 0.25 * one(0, Ask::Cdf, &x) + 0.75 * one(1, Ask::Cdf, &x);
        assert!((cdf[0] - expected).abs() < 1e-15);
        let most = [2.0, f64::INFINITY];
        let mut between = [0.0; 2];
        law.between(0, [&x, &most], &mut between);
        let expected = answers(&law, Ask::Cdf, &most)[0] - cdf[0];
        assert!((between[0] - expected).abs() < 1e-15);
        let density = answers(&law, Ask::LnDensity, &x);
        let expected =
            0.25 * one(0, Ask::LnDensity, &x).exp() + 0.75 * one(1, Ask::LnDensity, &x).exp();
        assert!((density[0] - expected.ln()).abs() < 1e-14);
        // a part without a share does not count, whatever it says
        assert!((density[1] + 0.5 * (4.0 * std::f64::consts::PI).ln()).abs() < 1e-14);
        let mut median = [0.0; 2];
        law.quantile(0, &[0.5; 2], &mut median);
        assert!((answers(&law, Ask::Cdf, &median)[0] - 0.5).abs() < 1e-12);
    }

    #[test]
    fn equal_parts_have_equal_shares() {
        let one = |m: f64| -> Box<dyn Law> { Box::new(Normal(vec![(m, 1.0)])) };
        let law = Mixture::equal(vec![one(1.0), one(2.0), one(6.0)]);
        assert!((answers(&law, Ask::Mean, &[])[0] - 3.0).abs() < 1e-15);
    }

    /// Counts of one column whose mixtures are told, and counted, as their parts' means.
    struct Counts<'a>(Vec<f64>, &'a AtomicUsize);

    impl Law for Counts<'_> {
        fn shape(&self) -> (usize, usize) {
            (self.0.len(), 1)
        }
        fn fill(&self, _: Ask, _: usize, _: &[f64], out: &mut [f64]) {
            out.copy_from_slice(&self.0);
        }
        fn as_counted(&self) -> Option<&dyn CountedLaw> {
            Some(self)
        }
    }

    impl CountedLaw for Counts<'_> {
        fn counted(&self, sample: usize, _: usize) -> Option<Counted> {
            Some(Counted {
                counting: Counting::Poisson,
                mean: self.0[sample],
                variance: 0.0,
            })
        }
        fn mix(&self, parts: &[(f64, Counted)]) -> Option<Box<dyn CellCounts>> {
            self.1.fetch_add(1, Ordering::Relaxed);
            let mean = parts.iter().map(|(share, part)| share * part.mean).sum();
            Some(Box::new(Told(mean)))
        }
    }

    struct Told(f64);

    impl CellCounts for Told {
        fn cdf(&self, x: f64) -> f64 {
            x - self.0
        }
        fn quantile(&self, p: f64) -> f64 {
            self.0 + p
        }
    }

    /// Draws of a cell are put together once, whatever number of quantiles is asked for.
    #[test]
    fn counts_are_mixed_once_for_all_quantiles() {
        let mixed = AtomicUsize::new(0);
        let part = |a: f64, b: f64| Box::new(Counts(vec![a, b, a], &mixed)) as Box<dyn Law>;
        let law = Mixture::equal(vec![part(1.0, 5.0), part(3.0, 7.0)]);
        let (mut low, mut high) = ([0.0; 3], [0.0; 3]);
        let (p, q) = ([0.25, f64::NAN, f64::NAN], [0.75, 0.5, f64::NAN]);
        law.quantiles(0, &[&p, &q], &mut [&mut low, &mut high]);
        assert_eq!((low[0], high[0], high[1]), (2.25, 2.75, 6.5));
        assert!(low[1].is_nan() && low[2].is_nan() && high[2].is_nan());
        assert_eq!(mixed.load(Ordering::Relaxed), 2);
        let mut alone = [0.0; 3];
        law.quantile(0, &p, &mut alone);
        assert_eq!(alone[0], low[0]);
    }
}

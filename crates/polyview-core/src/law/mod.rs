//! What a model says of data that nobody has seen: laws of the cells of a block.
//!
//! | file | about |
//! |---|---|
//! | `affine` | laws in data units: [`Affine`] |
//! | `mixture` | laws of several parts: [`Mixture`] |
//! | `interleaved` | laws of groups of samples put together: [`Interleaved`] |
//! | `counted` | laws of counts that are mixed at once: [`CountedLaw`] |
//!
//! A data term gives the law of a block ([`ViewTerm::law`](crate::ViewTerm::law)); what is
//! done about draws, unknown groups, components and units is done to laws, whatever the
//! likelihood: `Affine(Mixture(Interleaved(law of a group)))`.

mod affine;
mod counted;
mod interleaved;
mod mixture;
mod quantile;

pub use affine::Affine;
pub use counted::{CellCounts, Counted, CountedLaw, Counting};
pub use interleaved::Interleaved;
pub use mixture::Mixture;
pub use quantile::quantile_by_search;

use std::ops::Range;

use polyview_linalg::{Mat, MatRef};

use crate::model::OrderStatistics;

/// What a law is asked of a column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ask {
    /// The mean.
    Mean,
    /// The variance.
    Variance,
    /// The probability of a value not larger than that given.
    Cdf,
    /// The log density of the value given, nats per unit of the data; of counts and labels
    /// the log probability.
    LnDensity,
    /// The probability of this class, or of this ordered level (0 for the lowest); `NaN` where
    /// there are no such.
    Level(usize),
}

/// The cells that a law is asked for.
#[derive(Clone, Debug)]
pub struct Block<'a> {
    /// Samples, as the predictor has them.
    pub samples: Range<usize>,
    /// Columns of the **data**.
    pub columns: Range<usize>,
    /// What counts are out of, samples × columns of the block, where that is known and
    /// the data have it ([`Exposure`](crate::Exposure)): numbers of trials. Without it
    /// successes are those of a single trial.
    pub exposure: Option<MatRef<'a, f64>>,
}

impl Block<'_> {
    /// A block without exposure.
    pub fn new(samples: Range<usize>, columns: Range<usize>) -> Self {
        Self {
            samples,
            columns,
            exposure: None,
        }
    }
}

/// The predictive laws of the cells of a block, samples × columns of the **data**.
///
/// One call answers for a column; nothing is allocated for single cells. What a law needs
/// of the predictor it has taken when it was made. Where numbers are normal, and counts
/// negative binomial, they have the first two moments of the exact law.
pub trait Law: Send + Sync {
    /// Number of samples and of columns.
    fn shape(&self) -> (usize, usize);
    /// Writes the answers for the samples of a column, counted from the first of the block.
    ///
    /// `x` has the values that [`Ask::Cdf`] and [`Ask::LnDensity`] are asked at, one for
    /// each sample, and is empty for everything else; where it is `NaN`, so is the answer.
    ///
    /// # Panics
    /// If there is no such column, or `out` (or `x` where it is needed) has not one number
    /// for each sample.
    fn fill(&self, ask: Ask, column: usize, x: &[f64], out: &mut [f64]);
    /// Number of classes, of data that are such; their codes are the places of their
    /// probabilities ([`Ask::Level`]). 0 for all other data.
    fn levels(&self) -> usize {
        0
    }
    /// Number of ordered levels of each column, of data that are such: [`Ask::Level`] has the
    /// probability of each of them, and all else is said of their numbers from 1 on. 0 for all
    /// other data.
    fn ordered(&self) -> usize {
        0
    }
    /// Whether densities mean anything: ranks only have shares of training values.
    fn has_density(&self) -> bool {
        true
    }
    /// Mean and **standard deviation** of the samples of a column, at once. Where a
    /// variance is too small a number to be told, the standard deviation still is.
    fn moments(&self, column: usize, mean: &mut [f64], deviation: &mut [f64]) {
        self.fill(Ask::Mean, column, &[], mean);
        self.fill(Ask::Variance, column, &[], deviation);
        for s in deviation {
            *s = s.sqrt();
        }
    }
    /// Whether values are whole numbers, not negative: so are quantiles then.
    fn is_whole(&self) -> bool {
        false
    }
    /// The smallest values at which the distribution functions of a column reach `p`, one
    /// probability for each sample, between 0 and 1; where it is `NaN`, so is the answer. To
    /// rounding, found by search, unless a law knows better.
    fn quantile(&self, column: usize, p: &[f64], out: &mut [f64]) {
        quantile_by_search(self, column, p, out);
    }
    /// As [`Law::quantile`], for several probabilities of each sample at once.
    ///
    /// # Panics
    /// As [`Law::fill`]; if there are not as many columns of answers as of probabilities.
    fn quantiles(&self, column: usize, p: &[&[f64]], out: &mut [&mut [f64]]) {
        assert_eq!(p.len(), out.len());
        for (p, out) in p.iter().zip(out) {
            self.quantile(column, p, out);
        }
    }
    /// Writes the probabilities of values above `ends[0]` and not above `ends[1]`, one for each sample of a column;
    /// `NaN` where an end is. Laws whose upper tail a distribution function near 1 has no digits for do better than
    /// its differences, which are what is told by default.
    fn between(&self, column: usize, ends: [&[f64]; 2], out: &mut [f64]) {
        let mut least = vec![0.0; out.len()];
        self.fill(Ask::Cdf, column, ends[0], &mut least);
        self.fill(Ask::Cdf, column, ends[1], out);
        for (o, least) in out.iter_mut().zip(least) {
            *o -= least;
        }
    }
    /// The law as one of values that are found by where they stand among others.
    fn as_ranked(&self) -> Option<&dyn RankedLaw> {
        None
    }
    /// The law as one of successes, whose probability is uncertain.
    fn as_chance(&self) -> Option<&dyn ChanceLaw> {
        None
    }
    /// The law as one of counts whose predictors are normal.
    fn as_counted(&self) -> Option<&dyn CountedLaw> {
        None
    }
}

/// A law of values that are known only by where they stand among the training values: the
/// predictor gives a normal score ([`Law::as_ranked`]).
pub trait RankedLaw {
    /// Means and variances of the normal scores of a column, one for each sample.
    fn scores(&self, column: usize, mean: &mut [f64], variance: &mut [f64]);
    /// What normal scores of a column mean in the units of the data.
    fn order_statistics(&self, column: usize) -> OrderStatistics;
}

/// A law of successes out of trials ([`Law::as_chance`]).
pub trait ChanceLaw {
    /// Means and variances of the probability of a success in a column, one for each sample:
    /// how uncertain weights, intercepts and factors leave it.
    fn probability(&self, column: usize, mean: &mut [f64], variance: &mut [f64]);
}

impl dyn Law + '_ {
    /// Means of all cells, samples × columns; of classes their probabilities, samples ×
    /// classes.
    pub fn means(&self) -> Mat<f64> {
        self.table(|level| level.map_or(Ask::Mean, Ask::Level))
    }
    /// Variances of all cells, samples × columns; of classes p(1 − p), samples × classes.
    pub fn variances(&self) -> Mat<f64> {
        let mut out = self.table(|level| level.map_or(Ask::Variance, Ask::Level));
        if self.levels() > 0 {
            for c in 0..out.ncols() {
                for p in out.col_as_slice_mut(c) {
                    *p *= 1.0 - *p;
                }
            }
        }
        out
    }
    /// The answers to what is asked of each class of the one column, or of each column.
    fn table(&self, ask: impl Fn(Option<usize>) -> Ask) -> Mat<f64> {
        let (samples, columns) = self.shape();
        let classes = self.levels();
        let mut out = Mat::zeros(samples, if classes > 0 { classes } else { columns });
        for c in 0..out.ncols() {
            let (level, column) = if classes > 0 { (Some(c), 0) } else { (None, c) };
            self.fill(ask(level), column, &[], out.col_as_slice_mut(c));
        }
        out
    }
}

impl<L: Law + ?Sized> Law for Box<L> {
    fn shape(&self) -> (usize, usize) {
        (**self).shape()
    }
    fn fill(&self, ask: Ask, column: usize, x: &[f64], out: &mut [f64]) {
        (**self).fill(ask, column, x, out);
    }
    fn levels(&self) -> usize {
        (**self).levels()
    }
    fn ordered(&self) -> usize {
        (**self).ordered()
    }
    fn has_density(&self) -> bool {
        (**self).has_density()
    }
    fn moments(&self, column: usize, mean: &mut [f64], deviation: &mut [f64]) {
        (**self).moments(column, mean, deviation);
    }
    fn is_whole(&self) -> bool {
        (**self).is_whole()
    }
    fn quantile(&self, column: usize, p: &[f64], out: &mut [f64]) {
        (**self).quantile(column, p, out);
    }
    fn quantiles(&self, column: usize, p: &[&[f64]], out: &mut [&mut [f64]]) {
        (**self).quantiles(column, p, out);
    }
    fn between(&self, column: usize, ends: [&[f64]; 2], out: &mut [f64]) {
        (**self).between(column, ends, out);
    }
    fn as_ranked(&self) -> Option<&dyn RankedLaw> {
        (**self).as_ranked()
    }
    fn as_chance(&self) -> Option<&dyn ChanceLaw> {
        (**self).as_chance()
    }
    fn as_counted(&self) -> Option<&dyn CountedLaw> {
        (**self).as_counted()
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use polyview_special::normal_cdf;

    use super::*;

    /// Normal laws of one column, and the scores and chances that decorators pass on.
    pub(crate) struct Normal(pub(crate) Vec<(f64, f64)>);

    impl Law for Normal {
        fn shape(&self) -> (usize, usize) {
            (self.0.len(), 1)
        }
        fn fill(&self, ask: Ask, _column: usize, x: &[f64], out: &mut [f64]) {
            for (i, (m, v)) in self.0.iter().enumerate() {
                out[i] = match ask {
                    Ask::Mean => *m,
                    Ask::Variance => *v,
                    Ask::Cdf => normal_cdf((x[i] - m) / v.sqrt()),
                    Ask::LnDensity => {
                        let l2p = (2.0 * std::f64::consts::PI).ln();
                        -0.5 * (l2p + v.ln() + (x[i] - m).powi(2) / v)
                    }
                    Ask::Level(_) => f64::NAN,
                };
            }
        }
        fn as_chance(&self) -> Option<&dyn ChanceLaw> {
            Some(self)
        }
    }

    impl ChanceLaw for Normal {
        fn probability(&self, _column: usize, mean: &mut [f64], variance: &mut [f64]) {
            for (i, (m, v)) in self.0.iter().enumerate() {
                (mean[i], variance[i]) = (*m, *v);
            }
        }
    }

    /// The answers of the first column.
    pub(crate) fn answers(law: &dyn Law, ask: Ask, x: &[f64]) -> Vec<f64> {
        let mut out = vec![f64::NAN; law.shape().0];
        law.fill(ask, 0, x, &mut out);
        out
    }

    #[test]
    fn tables_are_of_columns() {
        let law: Box<dyn Law> = Box::new(Normal(vec![(1.0, 2.0), (3.0, 4.0)]));
        assert_eq!(law.means().col_as_slice(0), [1.0, 3.0]);
        assert_eq!(law.variances().col_as_slice(0), [2.0, 4.0]);
    }
}

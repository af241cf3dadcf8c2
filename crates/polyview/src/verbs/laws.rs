//! The predictive laws of a view: mixtures over all that its predictions are made of.

use std::fmt;
use std::ops::Range;
use std::sync::Arc;

use polyview_core::{
    Affine, Ask, Bias, Block, Law, Mixture, OrderStatistics, Predictor, RowMoments, Scaling, View,
    ViewTerm,
};
use polyview_linalg::{Mat, MatRef};
use rayon::prelude::*;

use crate::fit::{ComponentView, ViewInfo};

/// What one component of the posterior says of a view, or one way to place the samples.
pub(super) struct Part {
    factors: Arc<RowMoments>,
    weights: RowMoments,
    bias: Bias,
    term: Box<dyn ViewTerm>,
}

impl Part {
    /// A view under these factors, as data terms see them.
    pub(super) fn new(factors: Arc<RowMoments>, view: ComponentView) -> Self {
        Self {
            factors,
            weights: view.seen().clone(),
            bias: view.bias,
            term: view.term,
        }
    }
    pub(super) fn term(&self) -> &dyn ViewTerm {
        self.term.as_ref()
    }
    pub(super) fn predictor(&self) -> Predictor<'_> {
        Predictor {
            factors: &self.factors,
            weights: &self.weights,
            bias: &self.bias,
        }
    }
}

/// The predictive laws of all cells of a view, samples × features: mixtures of the parts, each
/// with a share of each sample. They hold what the parts need, so that they can be asked at any time.
#[derive(Clone)]
pub(super) struct Laws {
    of: Arc<Of>,
    /// What counts are out of, samples × features, where that is known.
    exposure: Option<Arc<Mat<f64>>>,
}

struct Of {
    parts: Vec<Part>,
    /// Of each part that of each sample; together they are 1.
    shares: Vec<Vec<f64>>,
    scaling: Scaling,
    /// Features that the model knows nothing of.
    unobserved: Vec<usize>,
}

impl fmt::Debug for Laws {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "Laws of {:?} cells, {} part(s)",
            self.shape(),
            self.of.parts.len()
        )
    }
}

/// The laws of a block in data units; those of working units are inside.
pub(super) type BlockLaw<'a> = Affine<'a, Mixture<'a>>;

/// A column of a block.
pub(super) struct Column<'a> {
    /// The laws of the block.
    pub(super) law: &'a BlockLaw<'a>,
    /// The units of the features.
    pub(super) scaling: &'a Scaling,
    /// Its samples.
    pub(super) rows: Range<usize>,
    /// The place of the column in the block.
    pub(super) at: usize,
    /// The feature.
    pub(super) feature: usize,
}

/// Least log density that is told, nats: where exponentials vanish.
pub(super) const VANISHES: f64 = -700.0;

/// Most cells times parts of a block, whose laws are held at once.
const HELD: usize = 1 << 21;

impl Laws {
    /// Those of a view of which at least one part is known, each with its share of each sample.
    pub(super) fn new(parts: Vec<(Part, Vec<f64>)>, info: &ViewInfo) -> Self {
        let (parts, shares) = parts.into_iter().unzip();
        let of = Of {
            parts,
            shares,
            scaling: info.scaling.clone(),
            unobserved: info.unobserved.clone(),
        };
        Self {
            of: Arc::new(of),
            exposure: None,
        }
    }
    /// Those of counts out of so many, samples × features.
    pub(super) fn out_of(&self, exposure: Mat<f64>) -> Self {
        Self {
            of: Arc::clone(&self.of),
            exposure: Some(Arc::new(exposure)),
        }
    }
    /// Numbers of samples and of columns of the data.
    fn shape(&self) -> (usize, usize) {
        let first = &self.of.parts[0];
        (
            first.factors.explicit_rows(),
            first.term.shape().observed_columns,
        )
    }
    /// The laws of the cells of a block.
    pub(super) fn block(&self, rows: Range<usize>, columns: Range<usize>) -> BlockLaw<'_> {
        let exposure = self.exposure.as_ref().map(|all| {
            let (n, d) = (rows.len(), columns.len());
            all.as_ref().submatrix(rows.start, columns.start, n, d)
        });
        let first = columns.start;
        let block = Block {
            samples: rows.clone(),
            columns,
            exposure,
        };
        let parts = self.of.parts.iter().zip(&self.of.shares);
        let laws = parts.map(|(part, shares)| {
            let law = part.term.law(&part.predictor(), &block);
            (shares[rows.clone()].to_vec(), law)
        });
        Affine::new(Mixture::new(laws.collect()), &self.of.scaling, first)
    }
    /// What is said of the columns of all blocks in which something is `wanted`.
    pub(super) fn each<T: Send>(
        &self,
        wanted: impl Fn(&Range<usize>, usize) -> bool + Sync,
        of: impl Fn(&Column<'_>) -> T + Sync,
    ) -> Vec<(Range<usize>, usize, T)> {
        let (n, d) = self.shape();
        let width = HELD / (ROWS * self.of.parts.len());
        let blocks: Vec<_> = blocks_of(n, d, width.clamp(1, COLUMNS)).collect();
        let answers = blocks.into_par_iter().flat_map_iter(|(rows, columns)| {
            let asked: Vec<usize> = columns.clone().filter(|d| wanted(&rows, *d)).collect();
            let law = (!asked.is_empty()).then(|| self.block(rows.clone(), columns.clone()));
            let own = law.iter().flat_map(|law| {
                asked.iter().map(|&feature| {
                    let column = Column {
                        law,
                        scaling: &self.of.scaling,
                        rows: rows.clone(),
                        at: feature - columns.start,
                        feature,
                    };
                    (rows.clone(), feature, of(&column))
                })
            });
            own.collect::<Vec<_>>()
        });
        answers.collect()
    }
    /// Puts answers into tables, samples × columns of the data: `NaN` where nothing is said, and
    /// of features that the model knows nothing of.
    fn placed<T: AsRef<[Vec<f64>]>>(
        &self,
        count: usize,
        answers: Vec<(Range<usize>, usize, T)>,
    ) -> Vec<Mat<f64>> {
        let (n, d) = self.shape();
        let mut out = vec![Mat::full(n, d, f64::NAN); count];
        for (rows, column, answers) in answers {
            if self.of.unobserved.binary_search(&column).is_err() {
                for (out, answers) in out.iter_mut().zip(answers.as_ref()) {
                    out.col_as_slice_mut(column)[rows.clone()].copy_from_slice(answers);
                }
            }
        }
        out
    }
    /// As many tables as `of` answers of each column.
    fn tables<const N: usize>(
        &self,
        wanted: impl Fn(&Range<usize>, usize) -> bool + Sync,
        of: impl Fn(&Column<'_>) -> [Vec<f64>; N] + Sync,
    ) -> [Mat<f64>; N] {
        let mut tables = self.placed(N, self.each(wanted, of)).into_iter();
        std::array::from_fn(|_| tables.next().unwrap_or_else(|| Mat::zeros(0, 0)))
    }
    /// Means and standard deviations, data units.
    pub(super) fn moments(&self) -> [Mat<f64>; 2] {
        self.two(|c, mean, deviation| c.law.moments(c.at, mean, deviation))
    }
    /// Means and standard deviations, working units.
    pub(super) fn working_moments(&self) -> [Mat<f64>; 2] {
        self.two(|c, mean, deviation| c.law.inner().moments(c.at, mean, deviation))
    }
    /// Standard deviations of the probabilities of a success.
    pub(super) fn chances(&self) -> Mat<f64> {
        let [_, sd] = self.two(|c, mean, variance| {
            if let Some(chance) = c.law.as_chance() {
                chance.probability(c.at, mean, variance);
            }
            roots(variance);
        });
        sd
    }
    /// Of ranks means and standard deviations of the normal scores, and what these mean in data
    /// units, one for each feature.
    pub(super) fn ranks(&self) -> (Mat<f64>, Mat<f64>, Vec<OrderStatistics>) {
        let [mean, sd] = self.two(|c, mean, variance| {
            if let Some(ranked) = c.law.as_ranked() {
                ranked.scores(c.at, mean, variance);
            }
            roots(variance);
        });
        let scale = |d: usize| {
            let law = self.block(0..0, d..d + 1);
            let ranked = law.as_ranked();
            ranked.map_or_else(OrderStatistics::default, |r| r.order_statistics(0))
        };
        let scales = (0..self.shape().1).map(scale).collect();
        (mean, sd, scales)
    }
    /// Of ordered levels the probabilities of each.
    pub(super) fn levels(&self) -> Vec<Mat<f64>> {
        let count = self.block(0..0, 0..1.min(self.shape().1)).ordered();
        self.placed(count, self.each(|_, _| true, |c| c.levels(count)))
    }
    /// Of so many classes the probabilities and the standard deviations of their indicators,
    /// samples × classes.
    pub(super) fn classes(&self, count: usize) -> [Mat<f64>; 2] {
        let by_class = self.placed(count, self.each(|_, _| true, |c| c.levels(count)));
        let p = |n: usize, class: usize| by_class[class][(n, 0)];
        let mean = Mat::from_fn(self.shape().0, count, p);
        let sd = Mat::from_fn(mean.nrows(), count, |n, c| {
            (p(n, c) * (1.0 - p(n, c))).max(0.0).sqrt()
        });
        [mean, sd]
    }
    /// Means of the linear predictors of labels.
    pub(super) fn scores(&self) -> Mat<f64> {
        let (n, d) = self.shape();
        let mut out = Mat::zeros(n, d);
        for (part, shares) in self.of.parts.iter().zip(&self.of.shares) {
            for (rows, columns) in blocks(n, d) {
                let own = (part.term).score(&part.predictor(), rows.clone(), columns.clone());
                for (j, column) in columns.enumerate() {
                    let to = &mut out.col_as_slice_mut(column)[rows.clone()];
                    let shares = &shares[rows.clone()];
                    for ((x, s), share) in to.iter_mut().zip(own.col_as_slice(j)).zip(shares) {
                        *x += s * share;
                    }
                }
            }
        }
        for &unknown in &self.of.unobserved {
            out.col_as_slice_mut(unknown).fill(f64::NAN);
        }
        out
    }
    /// Two tables that are filled column by column.
    fn two(&self, fill: impl Fn(&Column<'_>, &mut [f64], &mut [f64]) + Sync) -> [Mat<f64>; 2] {
        self.tables(
            |_, _| true,
            |c| {
                let [mut a, mut b] = [(); 2].map(|()| vec![0.0; c.rows.len()]);
                fill(c, &mut a, &mut b);
                [a, b]
            },
        )
    }
    /// The smallest values at which the distribution functions reach these probabilities, of the
    /// cells that are wanted; `NaN` elsewhere. Data units.
    pub(super) fn quantiles<const N: usize>(
        &self,
        p: [f64; N],
        wanted: impl Fn(usize, usize) -> bool + Sync,
    ) -> [Mat<f64>; N] {
        let any = |rows: &Range<usize>, d: usize| rows.clone().any(|n| wanted(n, d));
        self.tables(any, |c| {
            let p = p.map(|p| -> Vec<f64> {
                let here = |n: usize| if wanted(n, c.feature) { p } else { f64::NAN };
                c.rows.clone().map(here).collect()
            });
            let mut out = [(); N].map(|()| vec![0.0; c.rows.len()]);
            let each = p.each_ref().map(Vec::as_slice);
            (c.law).quantiles(c.at, &each, &mut out.each_mut().map(Vec::as_mut_slice));
            out
        })
    }
    /// Log densities of the observed cells of a view in working units, nats; of a cell of which limits alone
    /// are known the log probability of what is between them. `NaN` where nothing was observed.
    pub(super) fn ln_densities(&self, view: &View) -> Mat<f64> {
        self.ln_densities_of(view, false)
    }
    /// The same of a view in data units, densities per data unit.
    pub(super) fn ln_densities_in_data_units(&self, view: &View) -> Mat<f64> {
        self.ln_densities_of(view, true)
    }
    fn ln_densities_of(&self, view: &View, data_units: bool) -> Mat<f64> {
        let known = |rows: &Range<usize>, d: usize| rows.clone().any(|n| view.is_observed(n, d));
        let [out] = self.tables(known, |c| {
            let law: &dyn Law = if data_units { c.law } else { c.law.inner() };
            let column =
                |of: &dyn Fn(usize) -> f64| -> Vec<f64> { c.rows.clone().map(of).collect() };
            let value = |n: usize| view.value(n, c.feature).unwrap_or(f64::NAN);
            let mut out = vec![0.0; c.rows.len()];
            law.fill(Ask::LnDensity, c.at, &column(&value), &mut out);
            if c.rows.clone().any(|n| view.is_censored(n, c.feature)) {
                let end = |n: usize| view.interval(n, c.feature).unwrap_or((f64::NAN, f64::NAN));
                let (least, most) = (column(&|n| end(n).0), column(&|n| end(n).1));
                let mut p = vec![0.0; c.rows.len()];
                law.between(c.at, [&least, &most], &mut p);
                for ((out, p), n) in out.iter_mut().zip(p).zip(c.rows.clone()) {
                    if view.is_censored(n, c.feature) {
                        *out = p.ln();
                    }
                }
            }
            for (out, n) in out.iter_mut().zip(c.rows.clone()) {
                *out = if view.is_observed(n, c.feature) {
                    out.max(VANISHES)
                } else {
                    f64::NAN
                };
            }
            [out]
        });
        out
    }
    /// The probabilities of values that are not larger than `x`, samples × features in data units.
    pub(super) fn cdf(&self, x: MatRef<'_, f64>) -> Mat<f64> {
        let known = |rows: &Range<usize>, d: usize| rows.clone().any(|n| !x[(n, d)].is_nan());
        let [out] = self.tables(known, |c| {
            let x: Vec<f64> = c.rows.clone().map(|n| x[(n, c.feature)]).collect();
            let mut out = vec![0.0; x.len()];
            c.law.fill(Ask::Cdf, c.at, &x, &mut out);
            for (out, _) in out.iter_mut().zip(x).filter(|(_, x)| x.is_nan()) {
                *out = f64::NAN;
            }
            [out]
        });
        out
    }
}

impl Column<'_> {
    /// The probabilities of each level, or class.
    pub(super) fn levels(&self, count: usize) -> Vec<Vec<f64>> {
        let of = |level| {
            let mut out = vec![0.0; self.rows.len()];
            self.law.fill(Ask::Level(level), self.at, &[], &mut out);
            out
        };
        (0..count).map(of).collect()
    }
}

fn roots(variances: &mut [f64]) {
    for v in variances {
        *v = v.sqrt();
    }
}

/// Samples and columns of a block.
const ROWS: usize = 1024;
const COLUMNS: usize = 256;

/// Samples × columns in blocks of a fixed size.
pub(super) fn blocks(
    samples: usize,
    columns: usize,
) -> impl Iterator<Item = (Range<usize>, Range<usize>)> {
    blocks_of(samples, columns, COLUMNS)
}

/// The same, of so many columns.
fn blocks_of(
    samples: usize,
    columns: usize,
    width: usize,
) -> impl Iterator<Item = (Range<usize>, Range<usize>)> {
    (0..samples).step_by(ROWS).flat_map(move |n| {
        (0..columns)
            .step_by(width)
            .map(move |d| (n..(n + ROWS).min(samples), d..(d + width).min(columns)))
    })
}

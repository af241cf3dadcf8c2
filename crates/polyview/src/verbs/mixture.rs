//! Moments of an equally weighted mixture, one component at a time.

use std::ops::Range;

use polyview_core::{Ask, Law, OrderStatistics};
use polyview_linalg::Mat;

/// Adds component number `count` (from 1), of mean `m` and variance `v`, to a
/// running mean and a running `spread`, the sum of $v\_i + (m\_i - \bar m)^2$
/// (Welford's recursion). After `count` components the mixture's variance is
/// `spread / count`; a single component comes out as it went in.
pub(super) fn add(count: f64, mean: &mut f64, spread: &mut f64, m: f64, v: f64) {
    let step = m - *mean;
    *mean += step / count;
    *spread += v + step * (m - *mean);
}

/// Running moments of a matrix.
struct Running {
    mean: Mat<f64>,
    spread: Mat<f64>,
}

impl Running {
    fn new((rows, columns): (usize, usize)) -> Self {
        Self {
            mean: Mat::zeros(rows, columns),
            spread: Mat::zeros(rows, columns),
        }
    }
    /// Adds some samples of a column.
    fn add(&mut self, count: f64, rows: &Range<usize>, column: usize, of: (&[f64], &[f64])) {
        let means = &mut self.mean.col_as_slice_mut(column)[rows.clone()];
        let spreads = &mut self.spread.col_as_slice_mut(column)[rows.clone()];
        let to = means.iter_mut().zip(spreads);
        for ((mean, spread), (m, v)) in to.zip(of.0.iter().zip(of.1)) {
            add(count, mean, spread, *m, *v);
        }
    }
    /// Mean and variance.
    fn finish(self, count: f64) -> Moments {
        let Self { mean, mut spread } = self;
        for d in 0..spread.ncols() {
            for s in spread.col_as_slice_mut(d) {
                *s /= count.max(1.0);
            }
        }
        Moments {
            mean,
            variance: spread,
        }
    }
}

/// Means and variances of cells.
pub(super) struct Moments {
    pub(super) mean: Mat<f64>,
    pub(super) variance: Mat<f64>,
}

impl Moments {
    /// Mean and standard deviation.
    pub(super) fn with_deviation(self) -> (Mat<f64>, Mat<f64>) {
        let Self { mean, mut variance } = self;
        for d in 0..variance.ncols() {
            for v in variance.col_as_slice_mut(d) {
                *v = v.sqrt();
            }
        }
        (mean, variance)
    }
}

/// What mixtures of laws come to, samples × features (or classes): each law is asked once
/// and not kept.
pub(super) struct Mixed {
    count: f64,
    shape: (usize, usize),
    values: Running,
    scores: Option<Running>,
    chance: Option<Running>,
    /// Of ordered levels the probability of each.
    levels: Vec<Mat<f64>>,
    scales: Vec<OrderStatistics>,
}

/// The moments of a mixture.
pub(super) struct Finished {
    /// Of the values; of classes those of the indicators.
    pub(super) values: Moments,
    /// Of ranks those of the normal scores, and what these mean in data units, one a
    /// feature.
    pub(super) ranks: Option<(Moments, Vec<OrderStatistics>)>,
    /// Of successes those of their probability.
    pub(super) chance: Option<Moments>,
    /// Of ordered levels the probability of each; else empty.
    pub(super) levels: Vec<Mat<f64>>,
}

impl Mixed {
    /// Nothing of so many samples and features, or classes.
    pub(super) fn new(samples: usize, columns: usize) -> Self {
        let shape = (samples, columns);
        Self {
            count: 0.0,
            shape,
            values: Running::new(shape),
            scores: None,
            chance: None,
            levels: Vec::new(),
            scales: Vec::new(),
        }
    }
    /// Begins the next component.
    pub(super) fn next(&mut self) {
        self.count += 1.0;
    }
    /// Adds the law of one block, of the data, of the current component.
    pub(super) fn add(&mut self, rows: &Range<usize>, columns: &Range<usize>, law: &dyn Law) {
        let (mut mean, mut variance) = (vec![0.0; rows.len()], vec![0.0; rows.len()]);
        for class in 0..law.levels() {
            law.fill(Ask::Level(class), 0, &[], &mut mean);
            for (v, p) in variance.iter_mut().zip(&mean) {
                *v = p * (1.0 - p);
            }
            (self.values).add(self.count, rows, class, (&mean, &variance));
        }
        if law.levels() > 0 {
            return;
        }
        for (j, d) in columns.clone().enumerate() {
            law.fill(Ask::Mean, j, &[], &mut mean);
            law.fill(Ask::Variance, j, &[], &mut variance);
            self.values.add(self.count, rows, d, (&mean, &variance));
            (self.levels).resize_with(law.ordered(), || Mat::zeros(self.shape.0, self.shape.1));
            for (level, of) in self.levels.iter_mut().enumerate() {
                law.fill(Ask::Level(level), j, &[], &mut mean);
                let to = &mut of.col_as_slice_mut(d)[rows.clone()];
                for (p, own) in to.iter_mut().zip(&mean) {
                    *p += (own - *p) / self.count;
                }
            }
            if let Some(ranked) = law.as_ranked() {
                ranked.scores(j, &mut mean, &mut variance);
                let scores = self.scores.get_or_insert_with(|| Running::new(self.shape));
                scores.add(self.count, rows, d, (&mean, &variance));
                if self.scales.len() == d {
                    self.scales.push(ranked.order_statistics(j));
                }
            }
            if let Some(chance) = law.as_chance() {
                chance.probability(j, &mut mean, &mut variance);
                let chance = self.chance.get_or_insert_with(|| Running::new(self.shape));
                chance.add(self.count, rows, d, (&mean, &variance));
            }
        }
    }
    /// The moments.
    pub(super) fn finish(self) -> Finished {
        let scales = self.scales;
        Finished {
            values: self.values.finish(self.count),
            ranks: (self.scores).map(|scores| (scores.finish(self.count), scales)),
            chance: self.chance.map(|chance| chance.finish(self.count)),
            levels: self.levels,
        }
    }
}

/// Samples × columns in blocks of a fixed size.
pub(super) fn blocks(
    samples: usize,
    columns: usize,
) -> impl Iterator<Item = (Range<usize>, Range<usize>)> {
    const ROWS: usize = 1024;
    const COLUMNS: usize = 256;
    (0..samples).step_by(ROWS).flat_map(move |n| {
        (0..columns)
            .step_by(COLUMNS)
            .map(move |d| (n..(n + ROWS).min(samples), d..(d + COLUMNS).min(columns)))
    })
}

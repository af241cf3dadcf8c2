//! Moments of an equally weighted mixture, one component at a time.

use std::ops::Range;

use polyview_linalg::{Mat, MatRef};

/// Adds component number `count` (from 1), of mean `m` and variance `v`, to a
/// running mean and a running `spread`, the sum of $v\_i + (m\_i - \bar m)^2$
/// (Welford's recursion). After `count` components the mixture's variance is
/// `spread / count`; a single component comes out as it went in.
pub(super) fn add(count: f64, mean: &mut f64, spread: &mut f64, m: f64, v: f64) {
    let step = m - *mean;
    *mean += step / count;
    *spread += v + step * (m - *mean);
}

/// Mean and variance of a matrix under a mixture.
pub(super) struct Mixture {
    count: f64,
    mean: Mat<f64>,
    spread: Mat<f64>,
}

impl Mixture {
    pub(super) fn new(rows: usize, columns: usize) -> Self {
        Self {
            count: 0.0,
            mean: Mat::zeros(rows, columns),
            spread: Mat::zeros(rows, columns),
        }
    }
    /// Begins the next component.
    pub(super) fn next(&mut self) {
        self.count += 1.0;
    }
    /// Adds one block of the current component.
    pub(super) fn add(
        &mut self,
        rows: &Range<usize>,
        columns: &Range<usize>,
        mean: MatRef<'_, f64>,
        variance: MatRef<'_, f64>,
    ) {
        for (j, d) in columns.clone().enumerate() {
            let means = &mut self.mean.col_as_slice_mut(d)[rows.clone()];
            let spreads = &mut self.spread.col_as_slice_mut(d)[rows.clone()];
            for (i, (m, s)) in means.iter_mut().zip(spreads).enumerate() {
                add(self.count, m, s, mean[(i, j)], variance[(i, j)]);
            }
        }
    }
    /// Mean and standard deviation.
    pub(super) fn finish(self) -> (Mat<f64>, Mat<f64>) {
        let Self {
            count,
            mean,
            mut spread,
        } = self;
        for d in 0..spread.ncols() {
            for s in spread.col_as_slice_mut(d) {
                *s = (*s / count.max(1.0)).sqrt();
            }
        }
        (mean, spread)
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

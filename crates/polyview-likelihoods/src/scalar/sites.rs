//! Expectation sites of a block of cells.

use std::ops::Range;
use std::sync::Arc;

use polyview_core::{Predictor, Stamp};
use polyview_linalg::{Mat, MatRef, each, each_of};
use polyview_special::Expectation;

use super::{Expected, ScalarLikelihood};

/// States of factors, weights, intercepts and of the term itself.
pub(super) type Key = [Stamp; 4];

/// What the sites of a column add up to.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct ColumnSum {
    /// $\sum F$.
    pub(super) value: f64,
    /// $\sum g$.
    pub(super) slope: f64,
    /// $\sum H$.
    pub(super) precision: f64,
}

/// Sites of a block of cells at one state of everything: zero where nothing was observed.
#[derive(Debug)]
pub(super) struct Sites {
    pub(super) key: Key,
    pub(super) samples: Range<usize>,
    pub(super) columns: Range<usize>,
    /// Whether curvatures below zero were left out.
    pub(super) positive: bool,
    /// $H$, samples × columns, column after column.
    precision: Vec<f64>,
    /// $g + H(m - b)$: the linear part, less what the intercept takes.
    linear: Vec<f64>,
    /// $F$.
    values: Vec<f64>,
    pub(super) sums: Vec<ColumnSum>,
}

impl Sites {
    fn matrix<'a>(&self, cells: &'a [f64]) -> MatRef<'a, f64> {
        MatRef::from_column_major_slice(cells, self.samples.len(), self.columns.len())
    }
    /// $H$, samples × columns.
    pub(super) fn precision(&self) -> MatRef<'_, f64> {
        self.matrix(&self.precision)
    }
    /// The linear parts, samples × columns.
    pub(super) fn linear(&self) -> MatRef<'_, f64> {
        self.matrix(&self.linear)
    }
    /// Adds $\sum F$ of each sample.
    pub(super) fn add_by_sample(&self, out: &mut [f64]) {
        for column in self.values.chunks(self.samples.len().max(1)) {
            for (o, f) in out.iter_mut().zip(column) {
                *o += f;
            }
        }
    }
}

/// Predictors of a block of cells without their intercepts.
#[derive(Clone, Debug)]
pub(super) struct Products {
    /// States of factors and weights.
    of: [Stamp; 2],
    samples: Range<usize>,
    columns: Range<usize>,
    mean: Mat<f64>,
    variance: Mat<f64>,
}

impl Products {
    fn key(p: &Predictor<'_>) -> [Stamp; 2] {
        [p.factors.stamp(), p.weights.stamp()]
    }
    fn new(samples: Range<usize>, columns: Range<usize>, p: &Predictor<'_>) -> Self {
        let (mean, variance) = p.products(samples.clone(), columns.clone());
        Self {
            of: Self::key(p),
            samples,
            columns,
            mean,
            variance,
        }
    }
    /// Mean and variance of a column's predictors. Variances that rounding made negative are none.
    fn predictor(&self, j: usize, p: &Predictor<'_>) -> (Vec<f64>, Vec<f64>) {
        let (b, s) = (p.bias.mean(), p.bias.variance());
        let place = |i: usize| {
            p.bias
                .place_of(self.samples.start + i, self.columns.start + j)
        };
        let (mean, variance) = (self.mean.col_as_slice(j), self.variance.col_as_slice(j));
        let mean = mean.iter().enumerate().map(|(i, m)| m + b[place(i)]);
        let variance = variance.iter().enumerate();
        let variance = variance.map(|(i, v)| (v + s[place(i)]).max(0.0));
        (mean.collect(), variance.collect())
    }
}

/// Variances that rounding made negative are none.
pub(super) fn not_below_zero(mut variance: Mat<f64>) -> Mat<f64> {
    for j in 0..variance.ncols() {
        for v in variance.col_as_slice_mut(j) {
            *v = v.max(0.0);
        }
    }
    variance
}

impl<L: ScalarLikelihood> Expected<L> {
    pub(super) fn key(&self, p: &Predictor<'_>) -> Key {
        [
            p.factors.stamp(),
            p.weights.stamp(),
            p.bias.stamp(),
            self.stamp,
        ]
    }
    /// The sites of these cells at the moments of `p`: those that were made last, if they are
    /// the same.
    pub(super) fn sites(
        &mut self,
        samples: Range<usize>,
        columns: Range<usize>,
        p: &Predictor<'_>,
    ) -> Arc<Sites> {
        let key = self.key(p);
        if let Some(last) = &self.last
            && last.key == key
            && last.samples == samples
            && last.columns == columns
            && last.positive == self.positive
        {
            return last.clone();
        }
        // its memory goes first
        self.last = None;
        let of = Products::key(p);
        let kept = self.products.take();
        let products = kept
            .filter(|own| own.of == of && own.samples == samples && own.columns == columns)
            .unwrap_or_else(|| Products::new(samples, columns, p));
        let made = Arc::new(self.make_sites(&products, p));
        self.products = Some(products);
        self.last = Some(made.clone());
        made
    }
    fn make_sites(&self, products: &Products, p: &Predictor<'_>) -> Sites {
        let (samples, columns) = (products.samples.clone(), products.columns.clone());
        let rows = samples.len();
        let [mut precision, mut linear, mut values] =
            [(); 3].map(|()| vec![0.0; rows * columns.len()]);
        let width = rows.max(1);
        let parts = precision
            .chunks_mut(width)
            .zip(linear.chunks_mut(width))
            .zip(values.chunks_mut(width))
            .collect();
        let of_column =
            |j: usize, ((precision, linear), values): ((&mut [f64], &mut [f64]), &mut [f64])| {
                let d = columns.start + j;
                let column = self.data.column(d);
                let (mean, variance) = products.predictor(j, p);
                let made = self.expectations(d, samples.clone(), (&mean, &variance));
                let mut sum = ColumnSum::default();
                for i in 0..rows {
                    let n = samples.start + i;
                    if column.cell(n).is_none() {
                        continue;
                    }
                    let (m, e) = (mean[i], made[i]);
                    let h = if self.positive {
                        e.curvature.max(0.0)
                    } else {
                        e.curvature
                    };
                    let b = p.bias.mean()[p.bias.place_of(n, d)];
                    precision[i] = h;
                    linear[i] = e.slope + h * (m - b);
                    values[i] = e.value;
                    sum.value += e.value;
                    sum.slope += e.slope;
                    sum.precision += h;
                }
                sum
            };
        let sums = each_of(parts, of_column);
        Sites {
            key: self.key(p),
            samples,
            columns,
            positive: self.positive,
            precision,
            linear,
            values,
            sums,
        }
    }
    /// $\sum F$ of each of these samples over all columns.
    pub(super) fn values_by_sample(&self, samples: Range<usize>, p: &Predictor<'_>) -> Vec<f64> {
        let columns: Vec<Range<usize>> = self.blocks().collect();
        let rows = samples.len();
        let mut out = vec![0.0; rows];
        for block in columns {
            let products = Products::new(samples.clone(), block.clone(), p);
            let of: Vec<Vec<f64>> = each(block.len(), |j| {
                let d = block.start + j;
                let column = self.data.column(d);
                let (mean, variance) = products.predictor(j, p);
                let made = self.expectations(d, samples.clone(), (&mean, &variance));
                let value = |(i, e): (usize, &Expectation)| {
                    column.cell(samples.start + i).map_or(0.0, |_| e.value)
                };
                made.iter().enumerate().map(value).collect()
            });
            for column in of {
                for (o, f) in out.iter_mut().zip(column) {
                    *o += f;
                }
            }
        }
        out
    }
}

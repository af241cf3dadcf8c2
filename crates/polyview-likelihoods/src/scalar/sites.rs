//! Expectation sites of a block of cells.

// inlined into the function that selects the instruction set
#![allow(clippy::inline_always)]

use std::ops::Range;
use std::sync::Arc;

use polyview_core::{Predictor, Stamp};
use polyview_linalg::simd::{Kernel, dispatch};
use polyview_linalg::{Accum, Mat, MatRef, cross_into, each, each_of, sum};

use super::{Expectations, Expected, ScalarLikelihood, Scratch};

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
    /// Whether some are at the predictors that data alone would have.
    of_data: bool,
    /// $H$, samples × columns, column after column.
    precision: Vec<f64>,
    /// $g + H(m - b)$: the linear part, less what the intercept takes.
    linear: Vec<f64>,
    /// $F$.
    values: Vec<f64>,
    /// Intercepts of the columns that the linear parts leave out; none where groups have their own.
    intercepts: Vec<f64>,
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
    /// What the equations of the intercepts have on their right, $\sum_n(g+H(m-w^\top z))$, if tangents are kept and weights and factors are those of `p`.
    pub(super) fn rest_of_intercepts(&self, p: &Predictor<'_>) -> Vec<f64> {
        let mut with_factors = Mat::zeros(p.factors.k(), self.columns.len());
        cross_into(
            with_factors.as_mut(),
            p.factors.mean(),
            self.precision(),
            Accum::Replace,
        );
        let rows = self.samples.len();
        let rest = |(j, d): (usize, usize)| {
            let own: f64 = (with_factors.col_as_slice(j).iter().enumerate())
                .map(|(k, hz)| hz * p.weights.mean()[(d, k)])
                .sum();
            let all = sum(&self.linear[j * rows..][..rows]);
            all + self.sums[j].precision * self.intercepts[j] - own
        };
        self.columns.clone().enumerate().map(rest).collect()
    }
    /// Leaves out other intercepts than those at which the sites were made.
    pub(super) fn move_intercepts(&mut self, bias: &[f64]) {
        let rows = self.samples.len().max(1);
        let columns = self
            .linear
            .chunks_mut(rows)
            .zip(self.precision.chunks(rows));
        let moved = self.intercepts.iter_mut().zip(&bias[self.columns.clone()]);
        for ((linear, precision), (from, to)) in columns.zip(moved) {
            let by = *from - to;
            for (x, h) in linear.iter_mut().zip(precision) {
                *x += h * by;
            }
            *from = *to;
        }
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
    /// In the memory of others.
    fn new(
        old: Option<Self>,
        samples: Range<usize>,
        columns: Range<usize>,
        p: &Predictor<'_>,
    ) -> Self {
        let nothing = || (Mat::zeros(0, 0), Mat::zeros(0, 0));
        let memory = old.map_or_else(nothing, |old| (old.mean, old.variance));
        let (mean, variance) = p.products_in(memory, samples.clone(), columns.clone());
        Self {
            of: Self::key(p),
            samples,
            columns,
            mean,
            variance,
        }
    }
    /// Mean and variance of a column's predictors. Variances that rounding made negative are none.
    pub(super) fn write_predictor(
        &self,
        j: usize,
        p: &Predictor<'_>,
        (mean, variance): (&mut [f64], &mut [f64]),
    ) {
        let (b, s) = (p.bias.mean(), p.bias.variance());
        let d = self.columns.start + j;
        let own = (self.mean.col_as_slice(j), self.variance.col_as_slice(j));
        if p.bias.groups().is_none() {
            dispatch(WithIntercept {
                own,
                intercept: (b[d], s[d]),
                mean,
                variance,
            });
            return;
        }
        let place = |i: usize| p.bias.place_of(self.samples.start + i, d);
        for (i, (to, m)) in mean.iter_mut().zip(own.0).enumerate() {
            *to = m + b[place(i)];
        }
        for (i, (to, v)) in variance.iter_mut().zip(own.1).enumerate() {
            *to = (v + s[place(i)]).max(0.0);
        }
    }
}

/// Predictors of a column, whose samples have one intercept.
struct WithIntercept<'a> {
    own: (&'a [f64], &'a [f64]),
    intercept: (f64, f64),
    mean: &'a mut [f64],
    variance: &'a mut [f64],
}

impl Kernel for WithIntercept<'_> {
    #[inline(always)]
    fn run<const FUSED: bool>(self) {
        let (b, s) = self.intercept;
        for (to, m) in self.mean.iter_mut().zip(self.own.0) {
            *to = m + b;
        }
        for (to, v) in self.variance.iter_mut().zip(self.own.1) {
            *to = (v + s).max(0.0);
        }
    }
}

/// Columns that one task carries out, one after the other.
const TASK: usize = 8;

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
            && !last.of_data
        {
            return last.clone();
        }
        let old = self.last.take().and_then(Arc::into_inner);
        let products = self.products_of(samples, columns, p);
        let made = Arc::new(self.make_sites(&products, p, old, |_| false));
        self.products = Some(products);
        self.last = Some(made.clone());
        made
    }
    /// The sites that are kept of these columns, if any are.
    pub(super) fn held_sites(&mut self, columns: &Range<usize>) -> Option<&mut Sites> {
        let rows = self.data.rows();
        let last = self.last.as_mut().filter(|_| self.held)?;
        let own = !last.of_data
            && !last.intercepts.is_empty()
            && last.samples == (0..rows)
            && last.columns == *columns;
        Arc::get_mut(last).filter(|_| own)
    }
    /// The sites that weights of these columns are moved by: of columns whose weights have yet to move those at the predictors that the data
    /// alone would have.
    pub(super) fn sites_of_weights(
        &mut self,
        columns: Range<usize>,
        p: &Predictor<'_>,
    ) -> Arc<Sites> {
        let samples = 0..self.data.rows();
        let fresh: Vec<bool> = columns.clone().map(|d| self.is_fresh(d, p)).collect();
        if !fresh.contains(&true) {
            return self.sites(samples, columns, p);
        }
        let old = self.last.take().and_then(Arc::into_inner);
        let products = self.products_of(samples, columns.clone(), p);
        let mut made = self.make_sites(&products, p, old, |d| fresh[d - columns.start]);
        made.of_data = true;
        let made = Arc::new(made);
        self.products = Some(products);
        self.last = Some(made.clone());
        made
    }
    /// Whether the weights of a column have yet to move from zero, those apart that are known, and its likelihood says where its data alone would have them.
    fn is_fresh(&self, column: usize, p: &Predictor<'_>) -> bool {
        if !self.says_start(column) {
            return false;
        }
        let free = |j: &usize| p.weights.variance(column, *j) > 0.0;
        let free = (0..p.weights.k()).filter(free);
        let mut known = free.map(|j| p.weights.mean()[(column, j)]).peekable();
        known.peek().is_some() && known.all(|w| w == 0.0)
    }
    /// Whether the likelihood says where the data of a column alone would have its predictors.
    pub(super) fn says_start(&self, column: usize) -> bool {
        let data = self.data.column(column);
        let cell = (0..self.data.rows()).find_map(|n| data.cell(n));
        cell.is_some_and(|cell| self.likelihood.start_predictor(cell).is_some())
    }
    /// Those that were made last, if they are the same.
    pub(super) fn products_of(
        &mut self,
        samples: Range<usize>,
        columns: Range<usize>,
        p: &Predictor<'_>,
    ) -> Products {
        let of = Products::key(p);
        match self.products.take() {
            Some(own) if own.of == of && own.samples == samples && own.columns == columns => own,
            old => Products::new(old, samples, columns, p),
        }
    }
    /// `old` lends its memory.
    fn make_sites(
        &self,
        products: &Products,
        p: &Predictor<'_>,
        old: Option<Sites>,
        fresh: impl Fn(usize) -> bool + Sync,
    ) -> Sites {
        let (samples, columns) = (products.samples.clone(), products.columns.clone());
        let rows = samples.len();
        let cells = rows * columns.len();
        let [mut precision, mut linear, mut values] = match old {
            Some(old) if old.values.len() == cells => [old.precision, old.linear, old.values],
            old => {
                // its memory goes first
                drop(old);
                [(); 3].map(|()| vec![0.0; cells])
            }
        };
        let width = rows.max(1);
        let parts = precision
            .chunks_mut(width * TASK)
            .zip(linear.chunks_mut(width * TASK))
            .zip(values.chunks_mut(width * TASK))
            .collect();
        let of_task = |task: usize, ((precision, linear), values): Part<'_>| {
            let (mut mean, mut variance) = (vec![0.0; rows], vec![0.0; rows]);
            let parts = precision
                .chunks_mut(width)
                .zip(linear.chunks_mut(width))
                .zip(values.chunks_mut(width));
            let mut sums = Vec::with_capacity(TASK);
            for (j, ((precision, linear), values)) in (task * TASK..).zip(parts) {
                let d = columns.start + j;
                products.write_predictor(j, p, (&mut mean, &mut variance));
                let own = products.mean.col_as_slice(j);
                let moved = fresh(d).then(|| self.of_data(d, own, (&mut mean, &mut variance)));
                let out = Expectations {
                    value: &mut *values,
                    slope: &mut *linear,
                    curvature: &mut *precision,
                };
                self.expectations(d, samples.clone(), (&mean, &variance), out);
                let column = self.data.column(d);
                for x in [&mut *precision, linear, values] {
                    column.clear_missing_of(&samples, x);
                }
                if self.positive {
                    for h in &mut *precision {
                        *h = h.max(0.0);
                    }
                }
                sums.push(ColumnSum {
                    value: sum(values),
                    slope: sum(linear),
                    precision: sum(precision),
                });
                // g becomes g + H(m - b)
                let own = moved.as_deref().unwrap_or(own);
                for ((x, h), m) in linear.iter_mut().zip(&*precision).zip(own) {
                    *x += h * m;
                }
            }
            sums
        };
        let sums = each_of(parts, of_task).concat();
        Sites {
            key: self.key(p),
            samples,
            positive: self.positive,
            of_data: false,
            precision,
            linear,
            values,
            intercepts: if p.bias.groups().is_none() {
                p.bias.mean()[columns.clone()].to_vec()
            } else {
                Vec::new()
            },
            columns,
            sums,
        }
    }
    /// Turns the predictors of a column, which are `own` without the intercepts, into those that its data alone would have; gives these without the intercepts.
    fn of_data(
        &self,
        column: usize,
        own: &[f64],
        (mean, variance): (&mut [f64], &mut [f64]),
    ) -> Vec<f64> {
        let data = self.data.column(column);
        let at = |(n, m): (usize, &mut f64)| {
            let intercept = *m - own[n];
            *m = (data.cell(n))
                .and_then(|cell| self.likelihood.start_predictor(cell))
                .unwrap_or(*m);
            *m - intercept
        };
        variance.fill(0.0);
        mean.iter_mut().enumerate().map(at).collect()
    }
    /// $\sum F$ of each of these samples over all columns.
    pub(super) fn values_by_sample(
        &mut self,
        samples: &Range<usize>,
        p: &Predictor<'_>,
    ) -> Vec<f64> {
        let blocks: Vec<Range<usize>> = self.blocks().collect();
        let rows = samples.len();
        let mut out = vec![0.0; rows];
        for block in blocks {
            let products = self.products_of(samples.clone(), block.clone(), p);
            let of_task = |task: usize| {
                let (mut mean, mut variance) = (vec![0.0; rows], vec![0.0; rows]);
                let (mut made, mut sums) = (Scratch::new(rows), vec![0.0; rows]);
                for j in task * TASK..((task + 1) * TASK).min(block.len()) {
                    let d = block.start + j;
                    products.write_predictor(j, p, (&mut mean, &mut variance));
                    self.expectations(d, samples.clone(), (&mean, &variance), made.all());
                    let values = made.values();
                    self.data.column(d).clear_missing_of(samples, values);
                    for (o, f) in sums.iter_mut().zip(values) {
                        *o += *f;
                    }
                }
                sums
            };
            for sums in each(block.len().div_ceil(TASK), of_task) {
                for (o, f) in out.iter_mut().zip(sums) {
                    *o += f;
                }
            }
            self.products = Some(products);
        }
        out
    }
}

/// Precisions, linear parts and values of the columns of a task.
type Part<'a> = ((&'a mut [f64], &'a mut [f64]), &'a mut [f64]);

//! Deviance explained: what variance explained is for labels and counts.

use std::ops::Range;

use polyview_core::{Ask, Block, Domain, Predictor, RowMoments, View};
use polyview_linalg::Mat;

use super::super::laws::blocks;
use super::sums::width;
use crate::fit::ComponentView;
use crate::metrics::{binomial_unit, gamma_unit, negative_binomial_unit, poisson_unit};

/// Expected counts above this are none: of data that end at $10^9$ they say that nothing is known.
const BEYOND: f64 = 1e100;

/// What some columns of a view expect at the means of its parameters, and the
/// sizes of its counts, summed over the components of a posterior.
pub(super) struct Expected {
    /// First of the columns.
    first: usize,
    /// Sum of the expected data, samples × columns.
    sum: Mat<f64>,
    /// Sum of the logarithms of the sizes of negative binomial counts, samples
    /// × columns.
    ln_size: Option<Mat<f64>>,
    /// Of ordered levels the sums of the probabilities of each, samples × columns.
    levels: Vec<Mat<f64>>,
    components: f64,
}

/// Columns that are looked at together, of a predictor that has so many: all of a view of
/// classes, whose columns are one feature.
pub(super) fn column_blocks(view: &View, kind: Domain, predictors: usize) -> Vec<Range<usize>> {
    let (width, columns) = if kind.has_classes() {
        (view.levels().len().max(1), view.levels().len())
    } else {
        (width(view.n_samples()), predictors)
    };
    let starts = (0..columns).step_by(width);
    starts.map(|s| s..(s + width).min(columns)).collect()
}

impl Expected {
    /// Expectations of no component yet.
    pub(super) fn new(samples: usize, columns: &Range<usize>) -> Self {
        Self {
            first: columns.start,
            sum: Mat::zeros(samples, columns.len()),
            ln_size: None,
            levels: Vec::new(),
            components: 0.0,
        }
    }
    /// Adds a component with factors of its own or of other samples.
    pub(super) fn add(&mut self, factors: &RowMoments, view: &ComponentView) {
        let w = RowMoments::point(view.seen().mean().to_owned());
        let mut bias = view.bias.clone();
        let mean = bias.mean().to_vec();
        let known = vec![0.0; mean.len()];
        bias.set(mean, known);
        let p = Predictor {
            factors,
            weights: &w,
            bias: &bias,
        };
        let first = self.first;
        // classes are one column of the data
        let of_data = if view.term.domain().has_classes() {
            1
        } else {
            self.sum.ncols()
        };
        for (rows, columns) in blocks(self.sum.nrows(), of_data) {
            let there = first + columns.start..first + columns.end;
            let law = view.term.law(&p, &Block::new(rows.clone(), there));
            let mean = law.means();
            for j in 0..mean.ncols() {
                let to = &mut self.sum.col_as_slice_mut(columns.start + j)[rows.clone()];
                for (x, m) in to.iter_mut().zip(mean.col_as_slice(j)) {
                    *x += m;
                }
            }
            let mut own = vec![0.0; rows.len()];
            let shape = self.sum.shape();
            self.levels
                .resize_with(law.ordered(), || Mat::zeros(shape.0, shape.1));
            for (level, sum) in self.levels.iter_mut().enumerate() {
                for j in 0..mean.ncols() {
                    law.fill(Ask::Level(level), j, &[], &mut own);
                    let to = &mut sum.col_as_slice_mut(columns.start + j)[rows.clone()];
                    for (x, p) in to.iter_mut().zip(&own) {
                        *x += p;
                    }
                }
            }
        }
        let group = |n: usize| view.term.groups().map_or(0, |g| g.of_row()[n] as usize);
        if let Some(sizes) = view.term.as_sizes() {
            let (rows, columns) = self.sum.shape();
            let sum = self
                .ln_size
                .get_or_insert_with(|| Mat::zeros(rows, columns));
            for j in 0..columns {
                for (n, x) in sum.col_as_slice_mut(j).iter_mut().enumerate() {
                    *x += sizes.size(group(n), first + j).ln();
                }
            }
        }
        self.components += 1.0;
    }
    fn at(&self, sample: usize, column: usize) -> f64 {
        self.sum[(sample, column - self.first)] / self.components
    }
    /// The first column of which something is expected of these samples that is [`BEYOND`] all
    /// data, or no number at all.
    pub(super) fn infinite(&self, rows: &[usize]) -> Option<usize> {
        let infinite = |j: &usize| {
            (rows.iter()).any(|&n| self.sum[(n, *j)].is_nan() || self.sum[(n, *j)] > BEYOND)
        };
        (0..self.sum.ncols()).find(infinite).map(|j| self.first + j)
    }
    /// Deviance of these samples from what they are expected to be, and from
    /// what an intercept alone gives them, over these columns; `NaN` for real
    /// numbers.
    pub(super) fn of_samples(&self, view: &View, kind: Domain, rows: &[usize]) -> (f64, f64) {
        let (mut own, mut null) = (0.0, 0.0);
        let end = if kind.has_classes() {
            1
        } else {
            self.first + self.sum.ncols()
        };
        let mut column = vec![0.0; view.n_samples()];
        for d in self.first..end {
            view.write_column(d, &mut column);
            let cells = || {
                let seen = rows.iter().filter(|&&n| view.is_observed(n, d));
                seen.map(|&n| (n, column[n]))
            };
            match kind {
                _ if kind.is_probability() => {
                    let share = mean(cells().map(|(n, y)| (y, view.trials_of(n, d))));
                    for (n, y) in cells() {
                        let trials = view.trials_of(n, d);
                        own += binomial_unit(y, trials, self.at(n, d));
                        null += binomial_unit(y, trials, share);
                    }
                }
                Domain::Counts { .. } => {
                    let level = mean(cells().map(|(_, y)| (y, 1.0)));
                    let unit = |n: usize, y: f64, mean: f64| match &self.ln_size {
                        Some(s) => {
                            let size = s[(n, d - self.first)] / self.components;
                            negative_binomial_unit(y, mean, size.exp())
                        }
                        None => poisson_unit(y, mean),
                    };
                    for (n, y) in cells() {
                        own += unit(n, y, self.at(n, d));
                        null += unit(n, y, level);
                    }
                }
                Domain::Positive => {
                    let level = mean(cells().map(|(_, x)| (x, 1.0)));
                    for (n, x) in cells() {
                        own += gamma_unit(x, self.at(n, d));
                        null += gamma_unit(x, level);
                    }
                }
                Domain::CLASSES => {
                    let mut shares: Vec<f64> = vec![0.0; view.levels().len()];
                    let mut count: f64 = 0.0;
                    for (_, code) in cells() {
                        shares[code as usize] += 1.0;
                        count += 1.0;
                    }
                    for (n, code) in cells() {
                        own -= 2.0 * self.at(n, code as usize).ln();
                        null -= 2.0 * (shares[code as usize] / count).ln();
                    }
                }
                Domain::LEVELS => {
                    let mut shares: Vec<f64> = vec![0.0; self.levels.len()];
                    for (_, level) in cells() {
                        shares[level as usize - 1] += 1.0;
                    }
                    let count: f64 = shares.iter().sum();
                    for (n, level) in cells() {
                        let place = level as usize - 1;
                        let sum = self.levels[place][(n, d - self.first)];
                        own -= 2.0 * (sum / self.components).ln();
                        null -= 2.0 * (shares[place] / count).ln();
                    }
                }
                _ => return (f64::NAN, f64::NAN),
            }
        }
        (own, null)
    }
}

/// Sum of the first numbers over that of the second.
fn mean(pairs: impl Iterator<Item = (f64, f64)>) -> f64 {
    let (sum, of) = pairs.fold((0.0, 0.0), |(s, o), (x, n)| (s + x, o + n));
    sum / of
}

//! Parameters of columns (spec/sites 1.8): steps that never lower the bound, and draws.

use polyview_core::Predictor;
use polyview_linalg::each;
use polyview_random::{ChaCha8Rng, StreamKey};

use super::{Expected, ScalarLikelihood};
use crate::cells::{Cell, Turns, view_parameters};
use crate::counts::Scale;

/// The observed cells of a column with the moments of their predictors.
struct Seen {
    cells: Vec<Cell>,
    mean: Vec<f64>,
    variance: Vec<f64>,
}

impl<L: ScalarLikelihood> Expected<L> {
    /// The parameter of a column, 1 where there is none.
    pub(super) fn parameter(&self, column: usize) -> f64 {
        self.parameters.get(column).copied().unwrap_or(1.0)
    }
    /// Whether anything but weights, intercepts and factors is learnt.
    pub(super) fn has_parameters(&self) -> bool {
        self.likelihood.parameter().is_some() || self.likelihood.view_parameters().is_some()
    }
    pub(super) fn scale(&self) -> Option<Scale> {
        self.likelihood.parameter().map(|p| Scale {
            prior: p.prior,
            range: p.range,
        })
    }
    /// The observed cells of a column and where they stand.
    pub(super) fn column_cells(&self, column: usize) -> (Vec<usize>, Vec<Cell>) {
        view_parameters::observed(&self.data, column)
    }
    /// Each column's starting value, unless there are values already.
    pub(super) fn start_parameters(&mut self) {
        view_parameters::start(self.likelihood.view_parameters_mut(), &self.data);
        let Some(scale) = self.scale() else {
            return;
        };
        if self.parameters.len() != self.data.columns() {
            let start = |d: usize| {
                let x = self.likelihood.start_parameter(&self.column_cells(d).1);
                x.clamp(scale.range.0, scale.range.1)
            };
            self.parameters = (0..self.data.columns()).map(start).collect();
        }
    }
    /// Raises the bound in the parameters whose turn it is, given the moments of predictors. Whether
    /// any have been looked at.
    pub(super) fn update_parameters(&mut self, p: &Predictor<'_>, sweep: usize) -> bool {
        let mut any = false;
        let turn = Turns::OF_VIEW.has(sweep);
        if let Some(of_view) = self.likelihood.view_parameters_mut().filter(|_| turn) {
            of_view.update(&view_parameters::seen(&self.data, p, true));
            any = true;
        }
        if self.likelihood.parameter().is_some() && Turns::OF_COLUMNS.has(sweep) {
            self.change_parameters(p, |likelihood, scale, _, old, seen| {
                let predictors = (&seen.mean[..], &seen.variance[..]);
                scale.ascend(old, |x| likelihood.profile(&seen.cells, x, predictors))
            });
            any = true;
        }
        any
    }
    /// Draws the parameters given predictors, one stream a column.
    pub(super) fn draw_parameters(&mut self, p: &Predictor<'_>, key: StreamKey) {
        if let Some(of_view) = self.likelihood.view_parameters_mut() {
            of_view.draw(&view_parameters::seen(&self.data, p, false), key);
        }
        self.change_parameters(p, |likelihood, scale, d, old, seen| {
            let ln = |x: f64| -> f64 {
                (seen.cells.iter().zip(&seen.mean))
                    .map(|(cell, eta)| likelihood.ln_density(*cell, *eta, x))
                    .sum()
            };
            scale.slice(old, ln, &mut stream(key, d))
        });
    }
    /// Draws the parameters from their prior.
    pub(super) fn draw_prior_parameters(&mut self, key: StreamKey) {
        if let Some(of_view) = self.likelihood.view_parameters_mut() {
            of_view.draw_prior(key);
        }
        if let Some(scale) = self.scale() {
            self.parameters = (0..self.data.columns())
                .map(|d| scale.draw_prior(&mut stream(key, d)))
                .collect();
        }
    }
    fn change_parameters(
        &mut self,
        p: &Predictor<'_>,
        change: impl Fn(&L, &Scale, usize, f64, &Seen) -> f64 + Sync,
    ) {
        let Some(scale) = self.scale() else {
            return;
        };
        let rows = self.data.rows();
        let mut changed = Vec::with_capacity(self.data.columns());
        for block in self.blocks().collect::<Vec<_>>() {
            let products = self.products_of(0..rows, block.clone(), p);
            let one = |j: usize| {
                let d = block.start + j;
                let (at, cells) = self.column_cells(d);
                let (mut mean, mut variance) = (vec![0.0; rows], vec![0.0; rows]);
                products.write_predictor(j, p, (&mut mean, &mut variance));
                if cells.len() < rows {
                    let gather = |m: &[f64]| -> Vec<f64> { at.iter().map(|&n| m[n]).collect() };
                    (mean, variance) = (gather(&mean), gather(&variance));
                }
                let seen = Seen {
                    cells,
                    mean,
                    variance,
                };
                let old = self.parameter(d);
                change(&self.likelihood, &scale, d, old, &seen)
            };
            changed.extend(each(block.len(), one));
            self.products = Some(products);
        }
        self.parameters = changed;
    }
}

fn stream(key: StreamKey, column: usize) -> ChaCha8Rng {
    // the upper half of the chunks: the lower belongs to the cells
    key.chunk((1 << 31) | column as u32).rng()
}

//! Parameters of a likelihood, one a feature: where they start, how they move.

use polyview_core::Predictor;
use polyview_linalg::{Mat, each};
use polyview_random::{ChaCha8Rng, StreamKey};

use super::Cells;
use super::likelihood::{Cell, CellLikelihood, ColumnCells, LearnedParameters};
use super::view_parameters;

/// In which sweeps parameters take their step: in each until this one, then in one of so many. A step costs as
/// much as all else of a sweep, and near the end parameters wait for factors and weights.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Turns {
    early: usize,
    every: usize,
}

impl Turns {
    /// Of parameters that each column has.
    pub(crate) const OF_COLUMNS: Self = Self {
        early: 20,
        every: 4,
    };
    /// Of those that are the whole view's.
    pub(crate) const OF_VIEW: Self = Self {
        early: 12,
        every: 4,
    };
    /// Whether it is their turn in a sweep of this number.
    pub(crate) fn has(self, sweep: usize) -> bool {
        sweep <= self.early || sweep.is_multiple_of(self.every)
    }
}

/// Cells whose predictors are made at one time.
const CELLS: usize = 1 << 20;

impl<L: CellLikelihood> Cells<L> {
    /// The observed cells of a feature and where they stand.
    pub(super) fn column_cells(&self, column: usize) -> (Vec<usize>, Vec<Cell>) {
        view_parameters::observed(&self.data, column)
    }
    /// Gives each feature its starting value, unless there are values already.
    pub(super) fn start_parameters(&mut self) {
        view_parameters::start(self.likelihood.view_parameters_mut(), &self.data);
        let start: Vec<f64> = match self.likelihood.parameters() {
            Some(p) if p.values().is_empty() => (0..self.data.columns())
                .map(|d| p.start(&self.column_cells(d).1))
                .collect(),
            _ => return,
        };
        self.set_parameters(start);
    }
    fn learned(&self) -> Option<&dyn LearnedParameters> {
        self.likelihood.parameters()?.learned()
    }
    pub(super) fn set_parameters(&mut self, values: Vec<f64>) {
        if let Some(p) = self.likelihood.parameters_mut() {
            p.set(values);
        }
    }
    /// Raises the bound in the parameters, given the moments of predictors; those of the columns
    /// where it is their turn.
    pub(super) fn update_parameters(&mut self, p: &Predictor<'_>, sweep: usize) {
        if Turns::OF_COLUMNS.has(sweep) {
            self.change_parameters(p, |parameters, d, cells| parameters.update(d, cells));
        }
        // the best local numbers leave a bound at the mean
        if let Some(of_view) = self.likelihood.view_parameters_mut() {
            of_view.update(&view_parameters::seen(&self.data, p, false));
        }
    }
    /// Draws the parameters given predictors, one stream a feature.
    pub(super) fn draw_parameters(&mut self, p: &Predictor<'_>, key: StreamKey) {
        self.change_parameters(p, |parameters, d, cells| {
            parameters.draw(d, cells, &mut stream(key, d))
        });
        if let Some(of_view) = self.likelihood.view_parameters_mut() {
            of_view.draw(&view_parameters::seen(&self.data, p, false), key);
        }
    }
    /// Draws the parameters from their prior.
    pub(super) fn draw_prior_parameters(&mut self, key: StreamKey) {
        if let Some(of_view) = self.likelihood.view_parameters_mut() {
            of_view.draw_prior(key);
        }
        let Some(parameters) = self.learned() else {
            return;
        };
        let drawn = (0..self.data.columns())
            .map(|d| parameters.draw_prior(&mut stream(key, d)))
            .collect();
        self.set_parameters(drawn);
    }
    fn change_parameters(
        &mut self,
        p: &Predictor<'_>,
        change: impl Fn(&dyn LearnedParameters, usize, ColumnCells<'_>) -> f64 + Sync,
    ) {
        let Some(parameters) = self.learned() else {
            return;
        };
        let (rows, columns) = (self.data.rows(), self.data.columns());
        let width = (CELLS / rows.max(1)).max(1);
        let mut changed = Vec::with_capacity(columns);
        for block in self.blocks() {
            for start in block.clone().step_by(width) {
                let part = start..(start + width).min(block.end);
                let mean = p.mean(0..rows, part.clone());
                let square = p.square(0..rows, part.clone());
                let one = |j: usize| {
                    let (at, cells) = self.column_cells(part.start + j);
                    let gather = |m: &Mat<f64>| -> Vec<f64> {
                        let m = m.col_as_slice(j);
                        at.iter().map(|&n| m[n]).collect()
                    };
                    let (mean, square) = (gather(&mean), gather(&square));
                    let cells = ColumnCells {
                        cells: &cells,
                        mean: &mean,
                        square: &square,
                    };
                    change(parameters, part.start + j, cells)
                };
                changed.extend(each(part.len(), one));
            }
        }
        self.set_parameters(changed);
    }
    /// Log of the prior densities of the parameters.
    pub(super) fn parameter_prior(&self) -> Option<(&'static str, f64)> {
        let p = self.likelihood.parameters()?;
        let prior = |learned: &dyn LearnedParameters| -> f64 {
            p.values().iter().map(|&v| learned.log_prior(v)).sum()
        };
        Some((p.name(), prior(p.learned()?)))
    }
}

fn stream(key: StreamKey, column: usize) -> ChaCha8Rng {
    // the upper half of the chunks: the lower belongs to the cells
    key.chunk((1 << 31) | column as u32).rng()
}

//! Draws of the augmentation and of data.

use polyview_core::{Augmented, Context, NumericError, Predictor, Stamp};
use polyview_random::StreamKey;

use super::locals::{Locals, Made, Seen, write_drawn};
use super::{CellLikelihood, Cells};

impl<L: CellLikelihood> Augmented for Cells<L> {
    /// One stream of random numbers a column.
    fn draw_locals(&mut self, p: &Predictor<'_>, cx: &mut Context<'_>) -> Result<(), NumericError> {
        self.draw_parameters(p, cx.key);
        if self.likelihood.augmentation().is_none() {
            return Err(NumericError::NoDraws);
        }
        let mut finite = true;
        let blocks = self.blocks();
        let Self {
            likelihood,
            data,
            locals,
            ..
        } = self;
        match locals {
            Locals::Stored(local) => {
                for columns in blocks {
                    let out = local.as_mut().subcols_mut(columns.start, columns.len());
                    finite &= write_drawn(likelihood, data, p, cx.key, &columns, out);
                }
            }
            Locals::Made(made) => *made = Made::Drawn(Seen::of(p), cx.key),
        }
        self.drawn = true;
        self.stamp = Stamp::fresh();
        if finite {
            Ok(())
        } else {
            Err(self.not_finite("a drawn local variable"))
        }
    }
    fn draw_noise_prior(&mut self, key: StreamKey) {
        self.draw_prior_parameters(key);
    }
    /// The augmentation is left alone: it is drawn before it is used. Values
    /// stored sparse become dense.
    fn draw_data(&mut self, p: &Predictor<'_>, key: StreamKey) {
        let mut drawn = Vec::with_capacity(self.data.columns());
        for d in 0..self.data.columns() {
            let column = self.data.column(d);
            let mut rng = key.chunk(d as u32).rng();
            let draw = |n: usize| {
                column.cell(n).map_or((0.0, f64::NAN), |cell| {
                    (self.likelihood).draw_cell(cell, p.mean_cell(n, d), &mut rng)
                })
            };
            drawn.push((0..self.data.rows()).map(draw).collect::<Vec<_>>());
        }
        self.data.replace(&drawn);
        self.datum_offsets = (self.data).sums(|cell| self.likelihood.datum_offset(cell));
        self.drawn = true;
        self.stamp = Stamp::fresh();
    }
}

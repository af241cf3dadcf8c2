//! Draws of the augmentation and of data.

use std::ops::Range;
use std::sync::Arc;

use polyview_core::{Augmented, Context, NumericError, Predictor, Stamp};
use polyview_random::StreamKey;
use rayon::prelude::*;

use super::{CellLikelihood, Cells, blocks, cell_of};

impl<L: CellLikelihood> Augmented for Cells<L> {
    /// One stream of random numbers a column.
    fn draw_locals(&mut self, p: &Predictor<'_>, cx: &mut Context<'_>) -> Result<(), NumericError> {
        self.draw_parameters(p, cx.key);
        let rows = self.values.nrows();
        let mut finite = true;
        for columns in blocks(rows, self.values.ncols()) {
            let eta = p.mean(0..rows, columns.clone());
            let Self {
                likelihood,
                values,
                trials,
                mask,
                local,
                ..
            } = self;
            let Some(augmentation) = likelihood.augmentation() else {
                return Err(NumericError::NoDraws);
            };
            let key = cx.key;
            let fine: Vec<bool> = local
                .as_mut()
                .subcols_mut(columns.start, columns.len())
                .par_col_chunks_mut(1)
                .enumerate()
                .map(|(j, mut out)| {
                    let d = columns.start + j;
                    let mut rng = key.chunk(d as u32).rng();
                    let mut fine = true;
                    for n in 0..rows {
                        if mask.is_observed(n, d) {
                            let cell = cell_of(values, trials.as_ref(), n, d);
                            let draw = augmentation.draw_local(cell, eta[(n, j)], &mut rng);
                            fine &= draw.is_finite();
                            out[(n, 0)] = draw;
                        }
                    }
                    fine
                })
                .collect();
            finite &= fine.iter().all(|f| *f);
        }
        self.drawn = true;
        self.stamp = Stamp::fresh();
        if finite {
            Ok(())
        } else {
            Err(self.not_finite("a drawn local variable"))
        }
    }
    fn draw_noise(
        &mut self,
        _columns: Range<usize>,
        _p: &Predictor<'_>,
        _cx: &mut Context<'_>,
    ) -> Result<(), NumericError> {
        Ok(())
    }
    fn draw_noise_prior(&mut self, key: StreamKey) {
        self.draw_prior_parameters(key);
    }
    /// The augmentation is left alone: it is drawn before it is used.
    fn draw_data(&mut self, p: &Predictor<'_>, key: StreamKey) {
        let values = Arc::make_mut(&mut self.values);
        for d in 0..values.ncols() {
            let mut rng = key.chunk(d as u32).rng();
            for n in 0..values.nrows() {
                if self.mask.is_observed(n, d) {
                    let cell = cell_of(values, self.trials.as_ref(), n, d);
                    values[(n, d)] = self
                        .likelihood
                        .draw_datum(cell, p.mean_cell(n, d), &mut rng);
                }
            }
        }
        self.drawn = true;
        self.stamp = Stamp::fresh();
    }
}

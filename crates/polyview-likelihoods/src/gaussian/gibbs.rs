//! Draws of noise precisions, missing cells and data.

use std::ops::Range;

use polyview_core::{Augmented, Context, NumericError, Predictor, Stamp};
use polyview_random::{StreamKey, standard_normal};

use super::{Gaussian, NoiseBy};

impl Augmented for Gaussian {
    fn draw_locals(&mut self, p: &Predictor<'_>, cx: &mut Context<'_>) -> Result<(), NumericError> {
        if self.imputes() {
            let sd: Vec<f64> = (0..self.values.ncols())
                .map(|d| self.tau(d).sqrt().recip())
                .collect();
            let mut column = usize::MAX;
            let mut rng = cx.key.rng();
            let key = cx.key;
            self.fill_missing(
                |_, d| {
                    if d != column {
                        column = d;
                        rng = key.chunk(d as u32).rng();
                    }
                    sd[d] * standard_normal(&mut rng)
                },
                p,
            );
            self.mark_drawn();
        }
        Ok(())
    }
    fn draw_noise(
        &mut self,
        columns: Range<usize>,
        p: &Predictor<'_>,
        cx: &mut Context<'_>,
    ) -> Result<(), NumericError> {
        let posterior = self.noise_posterior(columns.clone(), p)?;
        let first = if self.scope == NoiseBy::View {
            0
        } else {
            columns.start
        };
        for (i, (a, b)) in posterior.into_iter().enumerate() {
            self.noise
                .draw(first + i, a, b, cx.key.chunk((first + i) as u32));
        }
        self.noise_stamp = Stamp::fresh();
        Ok(())
    }
    fn draw_noise_prior(&mut self, key: StreamKey) {
        let prior = self.noise.prior();
        for i in 0..self.noise.len() {
            self.noise
                .draw(i, prior.shape, prior.rate, key.chunk(i as u32));
        }
        self.noise_stamp = Stamp::fresh();
    }
    /// Drawn numbers are not sparse: values stored so become dense.
    fn draw_data(&mut self, p: &Predictor<'_>, key: StreamKey) {
        let sds: Vec<f64> = (0..self.values.ncols())
            .map(|d| self.tau(d).sqrt().recip())
            .collect();
        let values = self.values.cells_mut(&self.mask);
        for (d, sd) in sds.into_iter().enumerate() {
            let mut rng = key.chunk(d as u32).rng();
            for n in 0..values.nrows() {
                let noise = sd * standard_normal(&mut rng);
                if self.mask.is_observed(n, d) {
                    values[(n, d)] = p.mean_cell(n, d) + noise;
                }
            }
        }
        self.sum_columns(0..self.values.ncols());
        self.data_stamp = Stamp::fresh();
    }
}

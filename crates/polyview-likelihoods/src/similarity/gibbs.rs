//! Draws of latent rows, precisions and similarities (spec/mlfs 6).

use std::ops::Range;

use polyview_core::{Augmented, Context, NumericError, Predictor};
use polyview_linalg::Mat;
use polyview_random::{StreamKey, standard_normal};

use super::Similarity;

/// Places of streams among the chunks of a key.
const TAU: u32 = 1;
const ROWS: u32 = 0;

impl Augmented for Similarity {
    /// Rows one after the other, each given the others, then the precision of similarities.
    fn draw_locals(&mut self, p: &Predictor<'_>, cx: &mut Context<'_>) -> Result<(), NumericError> {
        let mut rng = cx.key.chunk(ROWS).rng();
        let k = self.rows.k();
        self.replace_rows(p, |term, i, found| {
            let noise = Mat::from_fn(1, k, |_, _| standard_normal(&mut rng));
            let step = found.factor.draw(noise.as_ref());
            let row: Vec<f64> = (0..k).map(|l| found.mean[(0, l)] + step[(0, l)]).collect();
            term.rows.set_draw(i, &row);
        })?;
        let (a, b) = self.tau_posterior();
        self.tau.draw(0, a, b, cx.key.chunk(TAU));
        Ok(())
    }
    fn draw_noise(
        &mut self,
        columns: Range<usize>,
        p: &Predictor<'_>,
        cx: &mut Context<'_>,
    ) -> Result<(), NumericError> {
        self.layer.draw_noise(columns, p, cx)
    }
    fn draw_noise_prior(&mut self, key: StreamKey) {
        // the layer has the first streams
        self.layer.draw_noise_prior(key);
        let prior = self.tau.prior();
        self.tau.draw(0, prior.shape, prior.rate, key.chunk(TAU));
    }
    /// Draws latent rows and similarities together.
    fn draw_data(&mut self, p: &Predictor<'_>, key: StreamKey) {
        let (samples, k) = (self.data.samples(), self.rows.k());
        let (gamma, tau) = self.precisions();
        let eta = p.mean(0..samples, 0..k);
        let mut rng = key.chunk(ROWS).rng();
        let sd = gamma.sqrt().recip();
        for n in 0..samples {
            let mut row: Vec<f64> = (0..k).map(|l| eta[(n, l)]).collect();
            for x in &mut row {
                *x += sd * standard_normal(&mut rng);
            }
            if self.active[n] {
                self.rows.set_draw(n, &row);
            }
        }
        let mut rng = key.chunk(TAU).rng();
        let sd = tau.sqrt().recip();
        let rows = &self.rows;
        self.data.replace_pairs(|j, i| {
            let dot: f64 = (rows.mean(i).iter().zip(rows.mean(j)))
                .map(|(a, b)| a * b)
                .sum();
            dot + sd * standard_normal(&mut rng)
        });
        self.rows_changed();
        self.measure();
    }
}

impl Similarity {
    /// Similarities of the samples of `p`, of known factors and weights, to those of training, whose
    /// rows come from their posterior.
    pub(super) fn simulated(
        &self,
        p: &Predictor<'_>,
        parameters: StreamKey,
        data: StreamKey,
    ) -> Mat<f64> {
        let mut noise = [self.layer.noise().clone(), self.tau.clone()];
        for (place, of) in noise.iter_mut().enumerate() {
            if !of.is_draw() {
                let (shape, rate) = (of.shape()[0], of.rate()[0]);
                of.draw(0, shape, rate, parameters.chunk(place as u32));
            }
        }
        let [own, between] = noise.map(|of| of.mean()[0].sqrt().recip());
        let mut rng = parameters.chunk(2).rng();
        let rows = self.rows.drawn(|| standard_normal(&mut rng));
        let (samples, k) = (p.factors.explicit_rows(), self.rows.k());
        let eta = p.mean(0..samples, 0..k);
        let mut rng = data.rng();
        let mut latent: Mat<f64> = Mat::zeros(k, samples);
        for n in 0..samples {
            for l in 0..k {
                latent[(l, n)] = eta[(n, l)] + own * standard_normal(&mut rng);
            }
        }
        let mut out = Mat::zeros(samples, rows.ncols());
        for d in 0..rows.ncols() {
            let with = rows.col_as_slice(d);
            for n in 0..samples {
                let of = latent.col_as_slice(n);
                let dot: f64 = of.iter().zip(with).map(|(a, b)| a * b).sum();
                out[(n, d)] = dot + between * standard_normal(&mut rng);
            }
        }
        out
    }
}

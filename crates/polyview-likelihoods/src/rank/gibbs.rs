//! Draws of the augmentation (spec/maxmargin-rank 4.1).

use polyview_core::{Augmented, Context, NumericError, Predictor};
use polyview_random::{InverseGaussian, StreamKey};
use rayon::prelude::*;

use super::{LEAST_SQUARE, Rank};

/// Terms that share a stream of random numbers.
const PART: usize = 1 << 12;

impl Augmented for Rank {
    /// $\lambda\_t^{-1}\mid\cdot \sim \mathrm{IG}(|u\_t|^{-1}, 1)$. A pair of
    /// weight $c$ has the loss of $cu\_t$, so that its precision in $u\_t$ is
    /// $c\cdot c\\,\mathrm{IG}((c|u\_t|)^{-1}, 1)$; what is kept is without the
    /// first $c$.
    fn draw_locals(&mut self, p: &Predictor<'_>, cx: &mut Context<'_>) -> Result<(), NumericError> {
        self.choose_extremes(p);
        self.measure(p);
        let (c, key) = (self.options.weight, cx.key);
        let Some(m) = &self.measured else {
            return Ok(());
        };
        let known = m.known;
        let fine: Vec<bool> = self
            .kappa
            .par_chunks_mut(PART)
            .zip(m.values.par_chunks(PART))
            .enumerate()
            .map(|(part, (kappa, values))| {
                let mut rng = key.chunk(part as u32).rng();
                let mut fine = true;
                for (k, v) in kappa.iter_mut().zip(values) {
                    let size = if known { v.abs() } else { v.sqrt() };
                    let mean = (c * size.max(LEAST_SQUARE.sqrt())).recip();
                    match InverseGaussian::new(mean, 1.0) {
                        Ok(law) => *k = c * law.sample(&mut rng),
                        Err(_) => fine = false,
                    }
                }
                fine
            })
            .collect();
        self.drawn = true;
        self.changed();
        if fine.iter().all(|f| *f) {
            Ok(())
        } else {
            Err(self.not_finite("a linear predictor"))
        }
    }
    /// Nothing: a pseudo-likelihood of pairs is not a law of data, and there is
    /// none to draw from.
    fn draw_data(&mut self, _p: &Predictor<'_>, _key: StreamKey) {}
}

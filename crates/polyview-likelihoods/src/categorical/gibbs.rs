//! Draws of scores and classes.

use polyview_core::{Augmented, Context, NumericError, Predictor};
use polyview_random::{Rng, StreamKey, TruncatedNormal, standard_normal};

use super::CategoricalProbit;
use super::scores::{Block, predictor_rows};
use crate::MissingData;

impl CategoricalProbit {
    /// Log density of a drawn row besides its squared distance.
    fn drawn_offset(&self, present: bool) -> f64 {
        if present {
            -0.5 * self.levels.len() as f64 * (2.0 * std::f64::consts::PI).ln()
        } else {
            0.0
        }
    }
    fn in_layer(&self, sample: usize) -> bool {
        self.classes[sample].is_some() || self.options.missing == MissingData::Impute
    }
    /// One scan of the conditionals of U9: the winning score above all others,
    /// then the others below it, which given it are independent.
    fn scan(
        &self,
        sample: usize,
        m: &mut [f64],
        class: usize,
        rng: &mut impl Rng,
    ) -> Result<(), NumericError> {
        let old = self.layer.scores();
        let runner_up = (0..m.len())
            .filter(|&c| c != class)
            .map(|c| old[(sample, c)])
            .fold(f64::NEG_INFINITY, f64::max);
        let draw = |mean: f64, low: f64, high: f64, rng: &mut dyn Rng| {
            TruncatedNormal::new(mean, 1.0, low, high)
                .map(|law| law.sample(rng))
                .map_err(|_| self.not_finite())
        };
        let top = draw(m[class], runner_up, f64::INFINITY, rng)?;
        for (c, x) in m.iter_mut().enumerate() {
            *x = if c == class {
                top
            } else {
                draw(*x, f64::NEG_INFINITY, top, rng)?
            };
        }
        Ok(())
    }
}

impl Augmented for CategoricalProbit {
    fn draw_locals(&mut self, p: &Predictor<'_>, cx: &mut Context<'_>) -> Result<(), NumericError> {
        let key = cx.key;
        self.drawn = true;
        self.replace_scores(|term, number, samples| {
            let mut rng = key.chunk(number).rng();
            let mut scores = predictor_rows(p, samples.clone());
            let mut offsets = Vec::with_capacity(samples.len());
            for (i, n) in samples.clone().enumerate() {
                let m = scores.col_as_slice_mut(i);
                match term.classes[n] {
                    Some(class) => term.scan(n, m, class, &mut rng)?,
                    None if term.in_layer(n) => {
                        for x in m.iter_mut() {
                            *x += standard_normal(&mut rng);
                        }
                    }
                    None => {}
                }
                if m.iter().any(|x| !x.is_finite()) {
                    return Err(term.not_finite());
                }
                offsets.push(term.drawn_offset(term.in_layer(n)));
            }
            Ok(Block {
                start: samples.start,
                scores,
                offsets,
            })
        })
    }
    /// Draws scores and classes of the observed samples together.
    fn draw_data(&mut self, p: &Predictor<'_>, key: StreamKey) {
        self.drawn = true;
        let mut rng = key.rng();
        let mut rows = Vec::new();
        for n in 0..self.classes.len() {
            if self.classes[n].is_none() {
                continue;
            }
            let mut x = predictor_rows(p, n..n + 1);
            let row = x.col_as_slice_mut(0);
            let mut best = 0;
            for c in 0..row.len() {
                row[c] += standard_normal(&mut rng);
                if row[c] > row[best] {
                    best = c;
                }
            }
            self.classes[n] = Some(best);
            self.offsets[n] = self.drawn_offset(true);
            rows.push((n, x));
        }
        self.layer.write_scores(|values| {
            for (n, x) in &rows {
                for c in 0..x.nrows() {
                    values[(*n, c)] = x[(c, 0)];
                }
            }
        });
        self.layer.scores_written();
    }
}

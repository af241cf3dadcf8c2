//! Draws of scores, noise precisions and labels.

use std::ops::Range;
use std::sync::Arc;

use polyview_core::{Augmented, Context, NumericError, Predictor};
use polyview_random::{StreamKey, standard_normal};

use super::LatentBernoulli;
use super::scores::{ScoreSums, add};
use crate::bernoulli::{draw_label, log_likelihood, polya_gamma};

impl Augmented for LatentBernoulli {
    /// $\omega\sim\mathrm{PG}(1, x)$, then
    /// $x\sim N(v(t - \tfrac12 + \tau\eta), v)$, $v = 1/(\tau + \omega)$; imputed
    /// labels are drawn first.
    fn draw_locals(&mut self, p: &Predictor<'_>, cx: &mut Context<'_>) -> Result<(), NumericError> {
        let key = cx.key;
        let sums = self.visit_scores(
            p,
            |d| key.chunk(d as u32).rng(),
            |cell, rng| {
                let observed = cell.label.is_some();
                let t = cell.label.unwrap_or_else(|| draw_label(cell.score, rng));
                let omega = polya_gamma(cell.score, rng);
                let v = 1.0 / (cell.tau + omega);
                let x = v * (t - 0.5 + cell.tau * cell.eta) + v.sqrt() * standard_normal(rng);
                (x, cell.xi, drawn_sums(observed.then_some(t), x))
            },
        );
        self.take_sums(&sums);
        if sums.iter().all(|s| s.finite) {
            Ok(())
        } else {
            Err(self.not_finite("a drawn score"))
        }
    }
    fn draw_noise(
        &mut self,
        columns: Range<usize>,
        p: &Predictor<'_>,
        cx: &mut Context<'_>,
    ) -> Result<(), NumericError> {
        if self.options.fixed {
            return Ok(());
        }
        self.scores.draw_noise(columns, p, cx)
    }
    fn draw_noise_prior(&mut self, key: StreamKey) {
        if !self.options.fixed {
            self.scores.draw_noise_prior(key);
        }
    }
    /// Draws scores and labels together.
    fn draw_data(&mut self, p: &Predictor<'_>, key: StreamKey) {
        let mut labels = self.labels.as_ref().clone();
        let mut sums = vec![ScoreSums::default(); labels.ncols()];
        for d in 0..labels.ncols() {
            let sd = self.scores.precision_of(d).sqrt().recip();
            let mut rng = key.chunk(d as u32).rng();
            for n in 0..labels.nrows() {
                if self.has_score(n, d) {
                    let x = p.mean_cell(n, d) + sd * standard_normal(&mut rng);
                    let t = draw_label(x, &mut rng);
                    let observed = self.mask.is_observed(n, d);
                    if observed {
                        labels[(n, d)] = t;
                    }
                    self.scores.scores_mut()[(n, d)] = x;
                    sums[d] = add(sums[d], drawn_sums(observed.then_some(t), x));
                }
            }
        }
        self.labels = Arc::new(labels);
        self.take_sums(&sums);
    }
}

/// A drawn score has no variance; its label has its log likelihood, a missing
/// label is summed out.
fn drawn_sums(label: Option<f64>, x: f64) -> ScoreSums {
    ScoreSums {
        variance: 0.0,
        bound: label.map_or(0.0, |t| log_likelihood(t, x)),
        finite: true,
    }
}

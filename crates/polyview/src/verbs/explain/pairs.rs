//! Similarities explained: of the pairs of samples, each once.

use polyview_core::{Bias, Predictor, RowMoments, View};
use polyview_linalg::Mat;

use super::posterior::Posterior;
use crate::fit::ComponentView;

/// Rows that factors give these samples, latent dimensions × samples, at the means of all parameters.
fn rows_of(factors: &RowMoments, view: &ComponentView) -> Mat<f64> {
    let weights = RowMoments::point(view.seen().mean().to_owned());
    let bias: &Bias = &view.bias;
    let predictor = Predictor {
        factors,
        weights: &weights,
        bias,
    };
    let dimensions = view.term.shape().predicted_columns();
    let rows = predictor.mean(0..factors.explicit_rows(), 0..dimensions);
    rows.transpose().to_owned()
}

/// Similarities that factors expect: products of the rows that they give, over the components of a
/// posterior.
pub(super) struct Expected {
    /// Rows of the samples and of those that they are compared with, latent dimensions × samples.
    of: Vec<[Mat<f64>; 2]>,
}

impl Expected {
    /// Those of a view.
    pub(super) fn of(posterior: &Posterior, at: usize) -> Self {
        let both = |c: &super::posterior::Seen| {
            let own = rows_of(&c.factors, &c.views[at]);
            let others = match &c.training {
                Some(training) => rows_of(training, &c.views[at]),
                None => own.clone(),
            };
            [own, others]
        };
        Self {
            of: posterior.components.iter().map(both).collect(),
        }
    }
    /// That of one sample and another one of training.
    fn at(&self, n: usize, m: usize) -> f64 {
        let product = |[own, others]: &[Mat<f64>; 2]| -> f64 {
            let (a, b) = (own.col_as_slice(n), others.col_as_slice(m));
            a.iter().zip(b).map(|(a, b)| a * b).sum()
        };
        let sum: f64 = self.of.iter().map(product).sum();
        sum / self.of.len().max(1) as f64
    }
    /// The share of the squares of the similarities about their mean that goes with what is expected: over the
    /// known pairs of samples, each once, of training over those of `among`, if any are named.
    /// `NaN` where they do not vary.
    pub(super) fn share(&self, view: &View, training: bool, among: Option<&[usize]>) -> f64 {
        let inside = |n: usize| among.is_none_or(|rows| rows.binary_search(&n).is_ok());
        let known = |m: usize| {
            // a table of training is square, and its two halves say the same
            let first = if training { m + 1 } else { 0 };
            let rows = (first..view.n_samples()).filter(move |&n| inside(n));
            rows.filter_map(move |n| Some((n, view.value(n, m)?)))
        };
        let columns = || (0..view.n_features()).filter(|&m| !training || inside(m));
        let (mut count, mut sum) = (0.0, 0.0);
        for m in columns() {
            for (_, s) in known(m) {
                count += 1.0;
                sum += s;
            }
        }
        let mean = sum / count;
        let (mut off, mut all) = (0.0, 0.0);
        for m in columns() {
            for (n, s) in known(m) {
                off += (s - self.at(n, m)).powi(2);
                all += (s - mean).powi(2);
            }
        }
        // of one value that is said many times squares are rounding
        let rounding = count * (f64::EPSILON * mean).powi(2);
        if all > rounding.max(f64::MIN_POSITIVE * count) {
            1.0 - off / all
        } else {
            f64::NAN
        }
    }
}

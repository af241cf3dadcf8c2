//! Normal scores of ranks and the mean predictor of many draws.

use polyview_core::View;
use polyview_likelihoods::normal_scores;

use super::deviance::column_blocks;
use super::posterior::{Draw, Posterior};
use super::sums::linear_predictor;
use crate::error::Result;
use crate::fit::Fit;

/// The regression of a feature's normal scores on the mean predictor.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct MeanLink {
    /// From predictors to normal scores of unit variance.
    scale: f64,
    /// Share of the variance of the normal scores that is left.
    pub(super) variance: f64,
}

impl MeanLink {
    /// Of observed pairs of predictor and normal score.
    fn of(pairs: &[(f64, f64)]) -> Self {
        let count = pairs.len().max(1) as f64;
        let mean = |of: &dyn Fn(&(f64, f64)) -> f64| pairs.iter().map(of).sum::<f64>() / count;
        let (w, g) = (mean(&|p| p.0), mean(&|p| p.1));
        let ww = mean(&|p| (p.0 - w).powi(2));
        let wg = mean(&|p| (p.0 - w) * (p.1 - g));
        let gg = mean(&|p| (p.1 - g).powi(2));
        if gg > 0.0 && ww > 0.0 {
            let slope = (wg / ww).max(0.0);
            Self {
                scale: slope / gg.sqrt(),
                variance: (1.0 - slope * wg / gg).clamp(0.0, 1.0),
            }
        } else {
            Self {
                scale: 0.0,
                variance: if gg > 0.0 { 1.0 } else { 0.0 },
            }
        }
    }
}

impl Fit {
    /// For each view of ranks how the normal scores of its training data depend on the
    /// **mean** predictor of the draws, feature by feature; nothing for all other views and
    /// for fits of one component, whose own regression is that.
    ///
    /// The predictor of a single draw is the mean one and as much noise as the posterior
    /// leaves: normal scores depend on it less, and have more about it. The mean of such
    /// regressions would explain far less than the mean predictor does. Where the fit
    /// has no training data, there is nothing to go by, and nothing is returned.
    pub(super) fn mean_links(&self, of_training: &Posterior) -> Result<Vec<Vec<MeanLink>>> {
        let mut out = vec![Vec::new(); self.views.len()];
        let Ok(data) = self.data() else {
            return Ok(out);
        };
        if of_training.draws.len() < 2 {
            return Ok(out);
        }
        for (at, view) in data.iter().enumerate() {
            let kind = of_training.kinds[at];
            if !kind.is_ranked() {
                continue;
            }
            let scores = normal_scores(view);
            let names = self.views[at].columns();
            for columns in column_blocks(view, kind, view.n_features()) {
                let (latent, _) = linear_predictor(view, &of_training.draws, at, names, &columns)?;
                for (j, d) in columns.enumerate() {
                    let pairs: Vec<(f64, f64)> = (0..view.n_samples())
                        .filter_map(|n| Some((latent.value(n, j)?, scores[(n, d)])))
                        .collect();
                    out[at].push(MeanLink::of(&pairs));
                }
            }
        }
        Ok(out)
    }
}

/// Brings the predictor of some columns, and the draws that it is made of, to the units of
/// normal scores.
pub(super) fn rescaled(
    latent: &View,
    mut draws: Vec<Draw>,
    links: &[MeanLink],
) -> Result<(View, Vec<Draw>)> {
    let mut values = latent.to_values_with_nan();
    for (j, link) in links.iter().enumerate() {
        for x in values.col_as_slice_mut(j) {
            *x *= link.scale;
        }
        for draw in &mut draws {
            let w = &mut draw.weights[0];
            for k in 0..w.ncols() {
                w[(j, k)] *= link.scale;
            }
        }
    }
    let view = View::from_values(latent.name(), latent.features().to_vec(), values)?;
    Ok((view, draws))
}

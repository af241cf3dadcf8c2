//! Squares explained about zero, of views that a fit gives no means.

use polyview_core::{Centring, View};

use super::observed_rows;
use super::posterior::{Draw, Posterior};
use crate::fit::ViewInfo;

/// Whether a fit has no means of a view of numbers: neither centring nor normal scores take them away, and no
/// intercepts hold them.
pub(super) fn has_no_means(info: &ViewInfo, posterior: &Posterior, at: usize) -> bool {
    posterior.kinds[at].is_real()
        && info.choices.centring == Centring::None
        && info.scaling.scores.is_none()
        && info.kernel.is_none()
        && !posterior.has_intercepts[at]
}

/// The share of the squares of the observed cells about zero that goes with the first `k` columns together,
/// of the rows of the strata, or of all where there are none.
pub(super) fn share(
    view: &View,
    draws: &[Draw],
    (at, k): (usize, usize),
    strata: &[Vec<usize>],
) -> f64 {
    let weight = 1.0 / draws.len().max(1) as f64;
    let mut column = vec![0.0; view.n_samples()];
    let (mut off, mut all) = (0.0, 0.0);
    for d in 0..view.n_features() {
        view.write_column(d, &mut column);
        for n in observed_rows(view, d, strata) {
            let of = |draw: &Draw| -> f64 {
                (0..k)
                    .map(|j| draw.factors[(n, j)] * draw.weights[at][(d, j)])
                    .sum()
            };
            let expected = weight * draws.iter().map(of).sum::<f64>();
            off += (column[n] - expected).powi(2);
            all += column[n].powi(2);
        }
    }
    if all >= f64::MIN_POSITIVE * view.n_observed().max(1) as f64 {
        1.0 - off / all
    } else {
        f64::NAN
    }
}

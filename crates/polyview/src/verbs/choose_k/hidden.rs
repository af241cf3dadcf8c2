//! The hidden cells of one fit.

use polyview_core::Dataset;

use super::recommend::mean_and_error;
use crate::error::Result;
use crate::fit::Fit;

/// How well the hidden cells of one fit are predicted.
pub(super) struct HiddenScore {
    /// Mean log density of the cells that have one.
    pub(super) density: f64,
    /// Their number.
    pub(super) dense: f64,
    /// R² over all views.
    pub(super) r2: f64,
    /// What is explained of the hidden cells of all views by their number: R², but of counts and of numbers above 0, whose
    /// squared distances are those of the few largest, and where limits are all that is known of some, $1 - e^{-2g}$ of the gain $g$ in the log density of a cell over the
    /// model without factors.
    pub(super) explained: f64,
    /// Whether such gains are among that, and whether R² are.
    pub(super) by: [bool; 2],
    /// Robust log densities of the cells, the same ones in the same order whatever
    /// the fit.
    pub(super) robust: Vec<f64>,
    /// R² over the views of ranks alone, and what each of their cells adds to it.
    pub(super) ranked_r2: f64,
    pub(super) ranked_cells: Vec<f64>,
    /// The views that they are of.
    pub(super) ranked: Vec<String>,
}

/// Scores the hidden cells of a fit.
pub(super) fn held_out(fit: &Fit, truth: &Dataset) -> Result<HiddenScore> {
    let (mut dense, mut density, mut r2, mut varying) = (0.0, 0.0, 0.0, 0.0);
    let mut robust = Vec::new();
    let (mut explained, mut known, mut by) = (0.0, 0.0, [false; 2]);
    let (mut ranked_cells, mut ranked) = (Vec::new(), Vec::new());
    for h in fit.held_out_scored(truth, true)? {
        let n = h.cells as f64;
        // none of a view may be scored, where the rest was never observed
        if h.kind.is_ranked() {
            ranked_cells.extend(h.own_units.shares());
            ranked.push(h.view.clone());
        } else if h.cells + h.limits > 0 {
            let n = (h.cells + h.limits) as f64;
            dense += n;
            density += n * h.log_density;
            robust.extend_from_slice(&h.robust);
        }
        let own = if h.kind.is_label() {
            h.r2
        } else {
            h.own_units.r2()
        };
        if own.is_finite() {
            varying += n;
            r2 += n * own;
        }
        // the share of a normal variance that would raise log densities by as much (Cox and Snell)
        let by_density = h.gain.is_finite();
        let share = if by_density {
            1.0 - (-2.0 * h.gain).exp()
        } else {
            own
        };
        if share.is_finite() {
            known += n;
            explained += n * share;
            by[usize::from(!by_density)] = true;
        }
    }
    Ok(HiddenScore {
        density: density / dense,
        dense,
        r2: r2 / varying,
        explained: explained / known,
        by,
        robust,
        ranked_r2: mean_and_error(&ranked_cells).0,
        ranked_cells,
        ranked,
    })
}

//! How many factors.

use std::fmt::{self, Write as _};

use polyview_core::{Dataset, PredictedKind, View};
use polyview_infer::alignment::stability;
use polyview_linalg::{Mat, MatRef, thin_qr, times_small};
use polyview_random::{StreamKey, fill_standard_normal};
use serde::{Deserialize, Serialize};

use super::hold_out::hold_out;
use crate::build::carried;
use crate::error::{ErrorKind, Result};
use crate::fit::{Fit, Fitting};
use crate::spec::{EngineKind, ModelSpec};

/// Choices of [`choose_k`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields, default)]
pub struct ChooseKOptions {
    /// Numbers of factors to try; none = [`default_candidates`].
    pub candidates: Vec<usize>,
    /// Times that cells are hidden; the same cells for every number.
    pub repeats: usize,
    /// Share of the cells hidden each time.
    pub share: f64,
    /// Fits of the full data, from different starts, for bound and stability.
    pub restarts: usize,
    /// Seed of hidden cells and starts.
    pub seed: u64,
}

impl Default for ChooseKOptions {
    fn default() -> Self {
        Self {
            candidates: Vec::new(),
            repeats: 5,
            share: 0.1,
            restarts: 3,
            seed: 1,
        }
    }
}

/// What was found for one number of factors.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ChooseKRow {
    /// Number of factors to start with.
    pub factors: usize,
    /// Factors left at the end of the best fit of the full data.
    pub kept: f64,
    /// Mean log predictive density of a hidden cell, nats, mean over the
    /// repeats. Ranks have none: cells of their views do not count here, and it
    /// is `NaN` where there is no other view.
    pub log_density: f64,
    /// Its standard error over the repeats; `NaN` for one.
    pub log_density_se: f64,
    /// $R^2$ of the hidden cells, over all views by their number of cells,
    /// mean over the repeats.
    pub r2: f64,
    /// Its standard error over the repeats; `NaN` for one.
    pub r2_se: f64,
    /// Best bound of the full data, nats; `NaN` for Gibbs.
    pub bound: f64,
    /// Agreement of the restarts: mean absolute cosine of matched weights, 0
    /// to 1; `NaN` for one restart.
    pub stability: f64,
}

/// A comparison of numbers of factors.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ChooseK {
    /// One line a number, ascending.
    pub rows: Vec<ChooseKRow>,
    /// Hidden cells of each repeat.
    pub cells: Vec<usize>,
    /// The number recommended, one of `rows`.
    pub recommended: usize,
    /// Why, in words.
    pub reason: String,
}

/// What a comparison is at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ChooseKStage {
    /// Fits with hidden cells; repeat from 1.
    HeldOut(usize),
    /// Fits the full data; restart from 1.
    Full(usize),
}

/// One step of a comparison, told before it begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ChooseKProgress {
    /// Number of factors.
    pub factors: usize,
    /// What is being fitted.
    pub stage: ChooseKStage,
    /// Fits done.
    pub done: usize,
    /// Fits in all.
    pub fits: usize,
}

impl fmt::Display for ChooseKProgress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "fit {} of {}: {} factors, ",
            self.done + 1,
            self.fits,
            self.factors
        )?;
        match self.stage {
            ChooseKStage::HeldOut(r) => write!(f, "hidden cells {r}"),
            ChooseKStage::Full(r) => write!(f, "all data, start {r}"),
        }
    }
}

/// Numbers of factors worth trying for these data: denser where they are
/// small, up to 25 and to what the data can carry.
pub fn default_candidates(data: &Dataset) -> Vec<usize> {
    let features: usize = data.views().iter().map(View::n_features).sum();
    let most = data.n_samples().min(features).min(25);
    let mut out: Vec<usize> = [1, 2, 3, 4, 5, 6, 8, 10, 12, 15, 20, 25]
        .into_iter()
        .filter(|&k| k < most)
        .collect();
    out.push(most);
    out
}

/// Compares numbers of factors by how well cells are predicted that were
/// hidden from the fit, and reports bound and stability on the full data
/// beside it.
///
/// The recommendation is the smallest number whose held-out log density falls
/// short of the best by no more than one standard error of that difference
/// over the repeats (the hidden cells are the same for every number, so the
/// difference is what counts), or by less than one nat over all hidden cells
/// of a repeat (numbers whose superfluous factors are removed all end at the
/// same answer, to rounding). Ranks have no density: in a model of nothing but
/// ranks the same is done with $R^2$.
///
/// # Errors
/// [`ErrorKind::Option`] for counts of 0 and shares out of range; what a fit
/// of any of the numbers would refuse.
pub fn choose_k(
    data: Dataset,
    spec: &ModelSpec,
    options: &ChooseKOptions,
    progress: &mut dyn FnMut(&ChooseKProgress),
) -> Result<ChooseK> {
    for (option, value) in [("repeats", options.repeats), ("restarts", options.restarts)] {
        if value == 0 {
            return Err(ErrorKind::Option {
                option,
                value: "0".to_owned(),
            }
            .into());
        }
    }
    let mut candidates = options.candidates.clone();
    if candidates.is_empty() {
        candidates = default_candidates(&data);
    }
    candidates.sort_unstable();
    candidates.dedup();
    let specs: Vec<ModelSpec> = candidates
        .iter()
        .map(|&factors| ModelSpec {
            factors,
            restarts: 1,
            seed: options.seed,
            ..spec.clone()
        })
        .collect();
    for s in &specs {
        crate::validate(s, &data)?;
        carried(s, &data)?;
    }
    let fits = specs.len() * (options.repeats + options.restarts);
    let mut done = 0;
    let mut tell = |factors: usize, stage: ChooseKStage| {
        progress(&ChooseKProgress {
            factors,
            stage,
            done,
            fits,
        });
        done += 1;
    };
    // by candidate, by repeat
    let mut densities = vec![Vec::new(); specs.len()];
    let mut r2s = vec![Vec::new(); specs.len()];
    let mut cells = Vec::with_capacity(options.repeats);
    // hidden cells of a repeat that have a density, on average
    let mut dense = 0.0;
    for r in 0..options.repeats {
        let hidden = hold_out(&data, options.share, options.seed.wrapping_add(r as u64))?;
        cells.push(hidden.cells.iter().sum());
        for (i, s) in specs.iter().enumerate() {
            tell(s.factors, ChooseKStage::HeldOut(r + 1));
            let fit = crate::fit(hidden.data.clone(), s.clone())?;
            let score = held_out(&fit, &data)?;
            densities[i].push(score.density);
            r2s[i].push(score.r2);
            dense += score.dense / (specs.len() * options.repeats) as f64;
        }
    }
    let mut rows = Vec::with_capacity(specs.len());
    // copies for all fits but the last, which takes the data themselves
    let mut copies = std::iter::repeat_n(data, specs.len() * options.restarts);
    for (i, s) in specs.iter().enumerate() {
        let mut ends = Vec::with_capacity(options.restarts);
        let mut loadings = Vec::with_capacity(options.restarts);
        for (r, data) in copies.by_ref().take(options.restarts).enumerate() {
            tell(s.factors, ChooseKStage::Full(r + 1));
            let fit = restart(data, s, r)?;
            ends.push((fit.record().bound.unwrap_or(f64::NAN), fit.k()));
            loadings.push(fit.stacked_weights()?);
        }
        let (bound, kept) = best(&ends);
        let (log_density, log_density_se) = mean_and_error(&densities[i]);
        let (r2, r2_se) = mean_and_error(&r2s[i]);
        rows.push(ChooseKRow {
            factors: s.factors,
            kept: kept as f64,
            log_density,
            log_density_se,
            r2,
            r2_se,
            bound,
            stability: agreement(&loadings)?,
        });
    }
    let (recommended, reason) = if dense > 0.0 {
        recommend(&rows, &densities, Measure::Density { cells: dense })
    } else {
        recommend(&rows, &r2s, Measure::R2)
    };
    Ok(ChooseK {
        rows,
        cells,
        recommended,
        reason,
    })
}

/// Bound and factors of the fit of the largest bound; of the first where there
/// are no bounds.
pub(super) fn best(ends: &[(f64, usize)]) -> (f64, usize) {
    let mut out = ends.first().copied().unwrap_or((f64::NAN, 0));
    for end in ends {
        if end.0 > out.0 || (out.0.is_nan() && !end.0.is_nan()) {
            out = *end;
        }
    }
    out
}

/// Agreement of several answers' loadings; `NaN` for fewer than two.
fn agreement(loadings: &[Mat<f64>]) -> Result<f64> {
    if loadings.len() < 2 {
        return Ok(f64::NAN);
    }
    let runs: Vec<MatRef<'_, f64>> = loadings.iter().map(Mat::as_ref).collect();
    let found = stability(&runs).map_err(|e| ErrorKind::Option {
        option: "restarts",
        value: e.to_string(),
    })?;
    Ok(found.mean)
}

/// How well the hidden cells of one fit are predicted.
struct HiddenScore {
    /// Mean log density of the cells that have one.
    density: f64,
    /// Their number.
    dense: f64,
    /// R² over all views.
    r2: f64,
}

fn held_out(fit: &Fit, truth: &Dataset) -> Result<HiddenScore> {
    let (mut dense, mut density, mut r2, mut varying) = (0.0, 0.0, 0.0, 0.0);
    for h in fit.held_out_score(truth)? {
        let n = h.cells as f64;
        // none of a view may be scored, where the rest was never observed
        if h.kind != PredictedKind::Ranked && h.cells > 0 {
            dense += n;
            density += n * h.log_density;
        }
        if h.r2.is_finite() {
            varying += n;
            r2 += n * h.r2;
        }
    }
    Ok(HiddenScore {
        density: density / dense,
        dense,
        r2: r2 / varying,
    })
}

/// One fit of the full data: the first from the start that the choices name,
/// further ones from that start turned at random and shaken.
fn restart(data: Dataset, spec: &ModelSpec, number: usize) -> Result<Fit> {
    let seed = spec.seed.wrapping_add(number as u64);
    let spec = ModelSpec {
        seed,
        ..spec.clone()
    };
    let vb = spec.engine == EngineKind::Vb;
    let mut fitting = Fitting::new(data, spec)?;
    if number > 0 && vb {
        let start = fitting.starting_factors().to_owned();
        let (n, k) = (start.nrows(), start.ncols());
        let key = StreamKey::new(seed).chain(number as u32);
        let (q, _) = thin_qr(normal(k, k, key.block(1)).as_ref())?;
        let mut z = times_small(start.as_ref(), q.as_ref());
        let noise = normal(n, k, key.block(2));
        for j in 0..k {
            for r in 0..n {
                z[(r, j)] += 0.1 * noise[(r, j)];
            }
        }
        fitting.start_from(z)?;
    }
    while !fitting.step()?.done {}
    fitting.finish()
}

fn normal(rows: usize, columns: usize, key: StreamKey) -> Mat<f64> {
    let mut out = Mat::zeros(rows, columns);
    for j in 0..columns {
        fill_standard_normal(&mut key.chunk(j as u32).rng(), out.col_as_slice_mut(j));
    }
    out
}

/// Mean and its standard error; the latter `NaN` for one value.
pub(super) fn mean_and_error(x: &[f64]) -> (f64, f64) {
    let n = x.len() as f64;
    let mean = x.iter().sum::<f64>() / n;
    let squares: f64 = x.iter().map(|v| (v - mean).powi(2)).sum();
    let error = if x.len() > 1 {
        (squares / (n - 1.0) / n).sqrt()
    } else {
        f64::NAN
    };
    (mean, error)
}

/// What numbers of factors are compared by; more is better.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Measure {
    /// Mean log density of a hidden cell.
    Density {
        /// Hidden cells of a repeat that have one.
        cells: f64,
    },
    /// R² of the hidden cells.
    R2,
}

impl Measure {
    /// The measure of one number of factors.
    fn of(self, row: &ChooseKRow) -> f64 {
        match self {
            Self::Density { .. } => row.log_density,
            Self::R2 => row.r2,
        }
    }
    /// Whether a mean shortfall is none whatever its error.
    fn is_rounding(self, shortfall: f64) -> bool {
        match self {
            Self::Density { cells } => shortfall * cells < 1.0,
            Self::R2 => shortfall < 1e-6,
        }
    }
    fn words(self, row: &ChooseKRow) -> String {
        match self {
            Self::Density { .. } => format!("{:.4} nats a cell", row.log_density),
            Self::R2 => format!("R2 {:.4}; ranks have no density", row.r2),
        }
    }
}

/// The one-standard-error rule on paired differences, and its words; `scores`
/// by candidate and repeat.
pub(super) fn recommend(
    rows: &[ChooseKRow],
    scores: &[Vec<f64>],
    measure: Measure,
) -> (usize, String) {
    let (_, best) = best(
        &(rows.iter().enumerate())
            .map(|(i, row)| (measure.of(row), i))
            .collect::<Vec<_>>(),
    );
    let shortfall = |i: usize| -> (f64, f64) {
        let differences: Vec<f64> = scores[best]
            .iter()
            .zip(&scores[i])
            .map(|(b, x)| b - x)
            .collect();
        let (mean, error) = mean_and_error(&differences);
        (mean, if error.is_finite() { error } else { 0.0 })
    };
    let chosen = (0..best)
        .find(|&i| {
            let (mean, error) = shortfall(i);
            mean <= error || measure.is_rounding(mean)
        })
        .unwrap_or(best);
    let (row, top) = (&rows[chosen], &rows[best]);
    let mut reason = format!(
        "hidden cells are predicted best with {} factors ({})",
        top.factors,
        measure.words(top)
    );
    let _ = if chosen == best {
        write!(
            reason,
            ", and every smaller number falls short of it by more than one standard error of the \
             difference between the repeats"
        )
    } else {
        let (mean, error) = shortfall(chosen);
        let margin = match measure {
            _ if mean <= error => {
                format!(
                    "no more than one standard error of the difference between the repeats \
                     ({mean:.4}, standard error {error:.4})"
                )
            }
            Measure::Density { .. } => {
                format!("less than one nat over all hidden cells ({mean:.1e} a cell)")
            }
            Measure::R2 => "nothing but rounding".to_owned(),
        };
        write!(
            reason,
            "; {} is the smallest number that falls short of it by {margin}",
            row.factors
        )
    };
    if row.kept < row.factors as f64 {
        let _ = write!(
            reason,
            "; of its {} factors the fit of all data keeps {}",
            row.factors, row.kept
        );
    }
    if chosen + 1 == rows.len() && rows.len() > 1 && row.kept >= row.factors as f64 {
        reason.push_str(
            "; it is the largest number that was tried and none of its factors was removed: try \
             larger ones",
        );
    }
    if row.stability < 0.8 {
        let _ = write!(
            reason,
            "; starts agree only to {:.2} (1 = the same factors every time): do not read much \
             into single factors",
            row.stability
        );
    }
    reason.push('.');
    (row.factors, reason)
}

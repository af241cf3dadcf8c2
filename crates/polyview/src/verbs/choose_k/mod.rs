//! How many factors.

mod hidden;
mod progress;
mod recommend;

use std::sync::Arc;

use polyview_core::{Dataset, Journal, Level, ParameterUncertainty, View, counted};
use polyview_infer::alignment::stability;
use polyview_infer::normal_columns;
use polyview_linalg::{Mat, MatRef, thin_qr, times_small};
use polyview_random::StreamKey;
use serde::{Deserialize, Serialize};

use hidden::held_out;
use progress::Teller;
pub(super) use progress::stopped;
pub use progress::{ChooseKProgress, ChooseKStage};
pub(in crate::verbs) use recommend::{Judge, Measure, Singles, best, mean_and_error, recommend};

use super::hold_out::hold_out_in;
use crate::assemble::most_with_choices;
use crate::compose::{Composed, Composer};
use crate::error::{ErrorKind, Result};
use crate::fit::{Fit, Fitting};
use crate::spec::{EngineKind, ModelSpec, RunOptions};

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
    /// What decides: as `log_density`, but of numbers under Student's law of four
    /// degrees of freedom about the predictive mean, which a value far away costs
    /// the logarithm of its distance instead of the square, so that no few cells
    /// decide. Its scale is the one that does normal values justice. Labels and
    /// counts have their log probabilities, none below one in a million.
    #[serde(default = "unknown")]
    pub robust_density: f64,
    /// Its standard error over the repeats; `NaN` for one.
    #[serde(default = "unknown")]
    pub robust_density_se: f64,
    /// $R^2$ of the hidden cells, over all views by their number of cells,
    /// mean over the repeats. Features count alike: it is measured in standard
    /// deviations of a feature's training cells, of ranks in their normal scores, which
    /// no bent scale changes.
    pub r2: f64,
    /// Its standard error over the repeats; `NaN` for one.
    pub r2_se: f64,
    /// Best bound of the full data, nats; `NaN` for Gibbs, and where views count more or less than once
    /// ([`ViewChoices::weight`](crate::ViewChoices::weight)): it is no evidence then.
    pub bound: f64,
    /// Agreement of the restarts: mean absolute cosine of matched weights, 0
    /// to 1; `NaN` for one restart.
    pub stability: f64,
}

/// What is not in comparisons that were written by earlier releases.
fn unknown() -> f64 {
    f64::NAN
}

/// A comparison of numbers of factors.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ChooseK {
    /// One line a number, ascending.
    pub rows: Vec<ChooseKRow>,
    /// Hidden cells of each repeat.
    pub cells: Vec<usize>,
    /// Those of them, on average over the repeats, that have a density, and that the two
    /// columns of densities count: all but those of ranks.
    #[serde(default = "unknown")]
    pub dense_cells: f64,
    /// Views whose cells have none.
    #[serde(default)]
    pub ranked: Vec<String>,
    /// The number recommended, one of `rows`.
    pub recommended: usize,
    /// Why, in words.
    pub reason: String,
    /// Which candidates were replaced, and what is remarkable about the data.
    #[serde(default)]
    pub notes: Vec<String>,
    /// What makes the comparison worth little: data without information, fits that
    /// had not ended, numbers none of which predicts.
    #[serde(default)]
    pub warnings: Vec<String>,
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
/// The recommendation is the smallest number whose held-out robust density
/// ([`ChooseKRow::robust_density`]) falls short of the best by no more than one
/// standard error of that difference, or by less than one nat over all hidden
/// cells of a repeat (numbers whose superfluous factors are removed all end at the
/// same answer, to rounding). The hidden cells are the same for every number, so
/// that differences are taken cell by cell; the standard error is the larger of
/// that over the repeats and that over the cells.
///
/// The plain mean log density is reported beside it. More factors leave less
/// noise, and a cell six standard deviations away costs eighteen nats: a few such
/// cells outweigh thousands that are predicted better. Where it, $R^2$ or the bound
/// is best at another number, the reason says so.
///
/// Ranks have no density: in a model of nothing but ranks the same is done with the
/// $R^2$ of their normal scores. Where labels, counts or numbers stand beside ranks, the
/// smallest number is recommended that falls short in neither, or, where there is
/// none, in the one that has more cells; the reason says so.
///
/// Candidates above what the data carry ([`most_factors`](crate::most_factors)) are lowered to
/// that, with a note, as those of a fit are.
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
    choose(data, &spec.clone().into(), options, progress)
}

/// As [`choose_k`], of a model that somebody else than a [`ModelSpec`] puts together, and goes
/// about its work as `run` says. A composer that has one number of factors refuses all others
/// in [`Composer::model`], and this with it.
///
/// # Errors
/// As [`choose_k`]; what the composer refuses.
pub fn choose_k_composed(
    data: Dataset,
    composer: Arc<dyn Composer>,
    run: RunOptions,
    options: &ChooseKOptions,
    progress: &mut dyn FnMut(&ChooseKProgress),
) -> Result<ChooseK> {
    choose(data, &Composed::new(composer, run), options, progress)
}

fn choose(
    data: Dataset,
    composed: &Composed,
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
    // hidden cells may be all that there are of a level
    let composed = &composed.clone().with_data(data.views());
    let mut candidates = options.candidates.clone();
    if candidates.is_empty() {
        candidates = default_candidates(&data);
    }
    let choices = composed.views(data.views(), data.n_samples(), data.groups())?;
    let most = most_with_choices(&data, &choices, composed.is_faithful());
    let mut notes = Vec::from_iter(fit_candidates(&mut candidates, most));
    let kernels: Vec<String> = (data.views().iter().zip(&choices))
        .filter(|(_, c)| c.kernel.is_some())
        .map(|(v, _)| v.name().to_owned())
        .collect();
    if kernels.len() == data.views().len() {
        return Err(ErrorKind::KernelFeatures {
            view: kernels[0].clone(),
            what: "a hidden cell",
        }
        .into());
    }
    let mut warnings = Vec::new();
    let with = |factors: usize, seed: usize| {
        let run = RunOptions {
            factors,
            restarts: 1,
            seed: options.seed.wrapping_add(seed as u64),
            ..composed.options.clone()
        };
        Composed::new(Arc::clone(&composed.composer), run)
    };
    for &factors in &candidates {
        let each = with(factors, 0);
        each.views(data.views(), data.n_samples(), data.groups())?;
        each.parameters(None, Vec::new(), factors, ParameterUncertainty::Posterior)?;
    }
    let fits = candidates.len() * (options.repeats + options.restarts);
    let mut teller = Teller {
        progress,
        at: ChooseKProgress {
            factors: 0,
            stage: ChooseKStage::HeldOut(1),
            done: 0,
            fits,
            work_done: 0,
            work: candidates.iter().sum::<usize>() * (options.repeats + options.restarts),
            sweep: 0,
        },
        limited: 0,
    };
    // by candidate, by repeat
    let mut densities = vec![Vec::new(); candidates.len()];
    let mut robust = vec![Vec::new(); candidates.len()];
    let mut singles = vec![Singles::default(); candidates.len()];
    let mut r2s = vec![Vec::new(); candidates.len()];
    let mut explained = vec![Vec::new(); candidates.len()];
    let mut explained_by = [false; 2];
    let mut ranked_r2s = vec![Vec::new(); candidates.len()];
    let mut ranked_singles = vec![Singles::default(); candidates.len()];
    let mut cells = Vec::with_capacity(options.repeats);
    // hidden cells of a repeat that have a density, and those of ranks, on average
    let (mut dense, mut of_ranks) = (0.0, 0.0);
    let mut ranked = Vec::new();
    for r in 0..options.repeats {
        let seed = options.seed.wrapping_add(r as u64);
        let hidden = hold_out_in(&data, options.share, seed, |v| {
            !kernels.iter().any(|k| k == v.name())
        })?;
        cells.push(hidden.cells.iter().sum());
        for (i, &factors) in candidates.iter().enumerate() {
            teller.begin(factors, ChooseKStage::HeldOut(r + 1));
            let fit = teller.run(Fitting::of(hidden.data.clone(), with(factors, 0))?)?;
            let score = held_out(&fit, &data)?;
            densities[i].push(score.density);
            robust[i].push(score.robust.iter().sum::<f64>() / score.dense);
            singles[i].add(&score.robust);
            r2s[i].push(score.r2);
            explained[i].push(score.explained);
            explained_by = score.by;
            ranked_r2s[i].push(score.ranked_r2);
            ranked_singles[i].add(&score.ranked_cells);
            let fits = (candidates.len() * options.repeats) as f64;
            dense += score.dense / fits;
            of_ranks += score.ranked_cells.len() as f64 / fits;
            ranked = score.ranked;
        }
    }
    let mut rows = Vec::with_capacity(candidates.len());
    let mut of_likelihoods = Vec::new();
    // copies for all fits but the last, which takes the data themselves
    let mut copies = std::iter::repeat_n(data, candidates.len() * options.restarts);
    for (i, &factors) in candidates.iter().enumerate() {
        let mut ends = Vec::with_capacity(options.restarts);
        let mut loadings = Vec::with_capacity(options.restarts);
        for (r, data) in copies.by_ref().take(options.restarts).enumerate() {
            teller.begin(factors, ChooseKStage::Full(r + 1));
            let fitting = restart(data, with(factors, r), r)?;
            if i == 0 && r == 0 {
                take(fitting.journal(), &mut notes, &mut warnings);
            }
            let fit = teller.run(fitting)?;
            // with the most factors, lest those that are missing be taken for what a likelihood lacks
            if i + 1 == candidates.len() && r == 0 {
                of_likelihoods = said_at_the_end(&fit, &warnings);
            }
            ends.push((fit.record().bound.unwrap_or(f64::NAN), fit.k()));
            loadings.push(fit.stacked_weights()?);
        }
        let (bound, kept) = best(&ends);
        let (log_density, log_density_se) = mean_and_error(&densities[i]);
        let (robust_density, robust_density_se) = mean_and_error(&robust[i]);
        let (r2, r2_se) = mean_and_error(&r2s[i]);
        rows.push(ChooseKRow {
            factors,
            kept: kept as f64,
            log_density,
            log_density_se,
            robust_density,
            robust_density_se,
            r2,
            r2_se,
            bound: if composed.counts_once() {
                bound
            } else {
                f64::NAN
            },
            stability: agreement(&loadings)?,
        });
    }
    let mut judges = Vec::new();
    if dense > 0.0 {
        judges.push(Judge {
            measure: Measure::Density { cells: dense },
            scores: &robust,
            singles: &singles,
        });
    }
    if of_ranks > 0.0 || judges.is_empty() {
        judges.push(Judge {
            measure: Measure::R2 { cells: of_ranks },
            scores: &ranked_r2s,
            singles: &ranked_singles,
        });
    }
    let (recommended, reason) = recommend(&rows, &judges);
    warnings.extend(teller.limits(composed.options.engine));
    let lacking = !of_likelihoods.is_empty();
    warnings.extend(of_likelihoods);
    warnings.extend(nothing_predicted(
        &explained,
        explained_by,
        (options.share, lacking),
    ));
    Ok(ChooseK {
        rows,
        cells,
        dense_cells: dense,
        ranked,
        recommended,
        reason,
        notes,
        warnings,
    })
}

/// Brings candidates into order, each once, those that are more than the data carry
/// lowered to the largest number that they do; gives what is to be said of that.
fn fit_candidates(candidates: &mut Vec<usize>, most: usize) -> Option<String> {
    candidates.sort_unstable();
    candidates.dedup();
    let fitting = candidates.iter().take_while(|k| **k <= most).count();
    let large: Vec<String> = candidates[fitting..].iter().map(usize::to_string).collect();
    if large.is_empty() || most == 0 {
        return None;
    }
    candidates.truncate(fitting);
    if candidates.last() != Some(&most) {
        candidates.push(most);
    }
    Some(format!(
        "{}, the most that these data carry, in place of {}",
        counted(most, "factor"),
        large.join(", ")
    ))
}

/// Takes over what the journal of a fit that begins says of its data.
fn take(journal: &Journal, notes: &mut Vec<String>, warnings: &mut Vec<String>) {
    for (level, text) in journal.remarks() {
        match level {
            Level::Note => notes.push(text),
            Level::Warning => warnings.push(text),
        }
    }
}

/// What a fit says of its likelihoods at its end, beside what is known of them.
fn said_at_the_end(fit: &Fit, known: &[String]) -> Vec<String> {
    let all = fit.record().journal.warnings();
    let own = all.filter(|w| w.starts_with("likelihood/") && !known.contains(w));
    own.collect()
}

/// What is to be said where nothing is explained of hidden cells by any number, by one standard error over the repeats: neither their variance about the means
/// of features nor, of counts, of numbers above 0 and where limits are known, more of their log densities than a model without factors says. The
/// squared distances of these are those of the few largest, whose mean nobody knows to the last per cent. `lacking` where fits said so of a
/// likelihood.
pub(super) fn nothing_predicted(
    explained: &[Vec<f64>],
    [gains, r2]: [bool; 2],
    (share, lacking): (f64, bool),
) -> Option<String> {
    let of_numbers = explained.iter().map(|scores| mean_and_error(scores));
    let known: Vec<(f64, f64)> = of_numbers.filter(|(mean, _)| mean.is_finite()).collect();
    // of a single repeat nobody knows the error
    let least = |(mean, error): &(f64, f64)| mean - if error.is_nan() { 0.0 } else { *error };
    if known.iter().any(|found| least(found) > 0.0) {
        return None;
    }
    let (best, error) = known.into_iter().max_by(|a, b| a.0.total_cmp(&b.0))?;
    let error = if error.is_nan() {
        String::new()
    } else {
        format!(" ± {error:.4}")
    };
    let measure = match (gains, r2) {
        (true, true) => "R2, of counts, numbers above 0 and limits that of their log densities,",
        (true, false) => "R2 of log densities",
        (false, _) => "R2",
    };
    let why = if share > 0.5 {
        format!(
            "with {:.0} % of the cells hidden hardly any are left to learn from; hide fewer, a tenth for example",
            100.0 * share
        )
    } else if lacking {
        "laws that are too narrow, as is said of a likelihood, put little on what they do not expect; cross-validation shows \
         what is explained all the same"
            .to_owned()
    } else {
        "the features of these data say nothing of one another that the model sees".to_owned()
    };
    Some(format!(
        "no number of factors predicts hidden cells better than the mean of their feature does ({measure} {best:.4}{error} \
         at best): {why}; the number that is recommended is no finding"
    ))
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

/// One fit of the full data: the first from the start that the choices name,
/// further ones from that start turned at random and shaken; where dense weights come first all start from what
/// these lead to, the further ones shaken.
fn restart(data: Dataset, composed: Composed, number: usize) -> Result<Fitting> {
    let seed = composed.options.seed;
    let vb = composed.options.engine == EngineKind::Vb || composed.starts_at_optimum();
    let mut fitting = Fitting::of(data, composed)?;
    if number > 0 && vb && !fitting.shake(number) {
        let start = fitting.starting_factors().to_owned();
        let (n, k) = (start.nrows(), start.ncols());
        let key = StreamKey::new(seed).chain(number as u32);
        let (q, _) = thin_qr(normal_columns(k, k, key.block(1)).as_ref())?;
        let mut z = times_small(start.as_ref(), q.as_ref());
        let noise = normal_columns(n, k, key.block(2));
        for j in 0..k {
            for r in 0..n {
                z[(r, j)] += 0.1 * noise[(r, j)];
            }
        }
        fitting.start_from(z)?;
    }
    Ok(fitting)
}

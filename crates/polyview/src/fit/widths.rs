//! Widths of kernels, and weights of the features that they compare, by how well kernel ridge
//! regression predicts other views.

use std::collections::HashSet;

use polyview_core::{Dataset, Domain, Event, Journal, View};
use polyview_kernels::{
    Comparison, FeatureWeights, KernelChoice, Width, WidthScore, median_of_view,
};
use polyview_linalg::Mat;
use polyview_random::StreamKey;

use super::kernels::table;
use super::short_fits::{DRAWN, FEWEST, SAMPLES, some_of};
use crate::error::{Error, ErrorKind, Result};
use crate::spec::ViewChoices;
use crate::verbs::regression_columns;

/// Widths that are tried first, as multiples of the median distance of samples.
const COARSE: [f64; 7] = [0.125, 0.25, 0.5, 1.0, 2.0, 4.0, 8.0];
/// How many further ones are tried where the best is the last.
const FURTHER: usize = 3;
/// Then those beside the best one.
const FINE: f64 = std::f64::consts::SQRT_2;
/// Most relevant features that are told.
const TOLD: usize = 5;

/// The kernel with its width as a number.
pub(crate) fn of_width(kernel: KernelChoice, width: f64) -> KernelChoice {
    KernelChoice {
        family: kernel.family.with_width(Width::Is(width)),
        ..kernel
    }
}

/// Finds the width of every kernel that leaves it to the data, and the weights of the features of
/// every one that asks for them (spec/thesis 7.3), by how well kernel ridge regression on this
/// view predicts the views without a kernel in some of the samples that are held out in turn. The choices
/// of the views get the widths that were found.
///
/// # Errors
/// [`ErrorKind::Kernel`].
pub(super) fn find(
    seed: u64,
    data: &Dataset,
    choices: &mut [ViewChoices],
    journal: &mut Journal,
) -> Result<Vec<Option<FeatureWeights>>> {
    let mut weights = vec![None; choices.len()];
    for v in 0..choices.len() {
        let Some(mut kernel) = choices[v].kernel else {
            continue;
        };
        let is_open = kernel.family.width() == Some(Width::Auto);
        if !(is_open || kernel.ard) {
            continue;
        }
        let name = data.views()[v].name();
        let wrong = |source| ErrorKind::Kernel {
            view: name.to_owned(),
            source,
        };
        let own = table(&data.views()[v], data.samples());
        let median = match kernel.family.width() {
            Some(Width::Is(_)) | None => 1.0,
            _ => median_of_view(&own, &kernel, seed)
                .map_err(wrong)?
                .unwrap_or(1.0),
        };
        if matches!(kernel.family.width(), Some(Width::Auto | Width::Median)) {
            kernel = of_width(kernel, median);
        }
        let tell = |journal: &mut Journal, note: String| {
            journal.note(0, format!("data/{name}"), Event::Data { note });
        };
        let compared = Compared::new(data, choices, (v, &kernel), seed).map_err(|e| e.map(wrong));
        match compared {
            Ok(compared) => {
                if is_open {
                    let tried = compared.widths(median).map_err(wrong)?;
                    let best = best_of(&tried);
                    if best.1.predicts() {
                        kernel = of_width(kernel, best.0 * median);
                    }
                    tell(journal, compared.said(&tried, best));
                }
                if kernel.ard {
                    let found = (compared.comparison)
                        .learn_weights(&kernel)
                        .map_err(wrong)?;
                    tell(journal, compared.said_of_weights(&found));
                    (kernel, weights[v]) = (found.kernel, Some(found.weights));
                }
            }
            Err(Without::Wrong(error)) => return Err(Error::from(error)),
            Err(Without::Nothing(why)) => {
                if is_open {
                    tell(
                        journal,
                        format!("the width is the median distance of samples: {why}"),
                    );
                }
                if kernel.ard {
                    tell(journal, format!("all features count alike: {why}"));
                }
            }
        }
        choices[v].kernel = Some(kernel);
    }
    Ok(weights)
}

/// Why nothing can be compared.
enum Without<E> {
    Nothing(String),
    Wrong(E),
}

impl<E> Without<E> {
    fn map<F>(self, to: impl Fn(E) -> F) -> Without<F> {
        match self {
            Self::Nothing(why) => Without::Nothing(why),
            Self::Wrong(error) => Without::Wrong(to(error)),
        }
    }
}

/// A multiple of the median distance and its score.
type Tried = (f64, WidthScore);

/// The best of all; of equal ones the widest.
fn best_of(tried: &[Tried]) -> Tried {
    let better = |a: Tried, b: &Tried| if b.1.share >= a.1.share { *b } else { a };
    let none = WidthScore {
        share: f64::NEG_INFINITY,
        error: 0.0,
    };
    tried.iter().fold((1.0, none), better)
}

/// A view and what is predicted from it.
struct Compared {
    comparison: Comparison,
    targets: Vec<String>,
    samples: usize,
}

impl Compared {
    /// Of samples that have the view and one without a kernel. Every such view counts alike, and in
    /// it every column that is not one of those that the kernel compares: a table that stands beside
    /// its own kernel is no target of this.
    fn new(
        data: &Dataset,
        choices: &[ViewChoices],
        (at, kernel): (usize, &KernelChoice),
        seed: u64,
    ) -> std::result::Result<Self, Without<polyview_kernels::KernelError>> {
        let others = || (data.views().iter().zip(choices)).filter(|(_, c)| c.kernel.is_none());
        if others().next().is_none() {
            return Err(Without::Nothing(
                "there is no other view to predict".to_owned(),
            ));
        }
        let has = |v: &View, n: u32| v.mask().count_sample(n as usize, v.n_features()) > 0;
        let whole = |n: &u32| has(&data.views()[at], *n) && others().any(|(v, _)| has(v, *n));
        let samples: Vec<u32> = (0..data.n_samples() as u32).filter(whole).collect();
        if samples.len() < FEWEST {
            return Err(Without::Nothing(format!(
                "{} samples have this view and another one, too few to compare kernels by",
                samples.len()
            )));
        }
        let samples = some_of(
            samples,
            data.samples(),
            SAMPLES,
            StreamKey::new(seed).block(DRAWN),
        );
        let data = data.subset(&samples);
        let table = table(&data.views()[at], data.samples());
        let own: HashSet<Vec<u64>> = standardised(&table.values)
            .iter()
            .map(|c| bits(c))
            .collect();
        let (mut columns, mut targets, mut copies) = (Vec::new(), Vec::new(), false);
        for (view, c) in data.views().iter().zip(choices) {
            if c.kernel.is_none() {
                let domain = match c.likelihood.domain().unwrap_or_default() {
                    d if d.has_trials() && view.trials().is_none() => Domain::Binary,
                    d => d,
                };
                let mut of_view = standardised(&regression_columns(view, domain));
                let all = of_view.len();
                // what is compared predicts itself, and says nothing of what it is compared for
                of_view.retain(|column| !own.contains(&bits(column)));
                copies |= of_view.len() < all;
                if of_view.is_empty() {
                    continue;
                }
                targets.push(view.name().to_owned());
                let share = (of_view.len() as f64).sqrt().recip();
                columns.extend(of_view.into_iter().map(|c| (c, share)));
            }
        }
        if columns.is_empty() {
            let why = if copies {
                "other views hold no more than the features that are compared"
            } else {
                "other views do not vary"
            };
            return Err(Without::Nothing(why.to_owned()));
        }
        let values = Mat::from_fn(samples.len(), columns.len(), |n, t| {
            columns[t].0[n] * columns[t].1
        });
        let comparison =
            Comparison::new(table, kernel, values.as_ref(), seed).map_err(Without::Wrong)?;
        Ok(Self {
            comparison,
            targets,
            samples: samples.len(),
        })
    }
    /// Widths, as multiples of the median distance, and how well they do.
    fn widths(
        &self,
        median: f64,
    ) -> std::result::Result<Vec<Tried>, polyview_kernels::KernelError> {
        let score = |times: f64| Ok((times, self.comparison.score_of_width(times * median)?));
        let mut tried: Vec<Tried> = COARSE
            .into_iter()
            .map(score)
            .collect::<std::result::Result<_, _>>()?;
        // where the best one is the last, further ones are tried
        for _ in 0..FURTHER {
            let (best, _) = best_of(&tried);
            let (first, last) = (tried[0].0, tried[tried.len() - 1].0);
            let next = if best <= first {
                first / 2.0
            } else if best >= last {
                2.0 * last
            } else {
                break;
            };
            tried.push(score(next)?);
            tried.sort_by(|a, b| a.0.total_cmp(&b.0));
        }
        let (best, _) = best_of(&tried);
        for times in [best / FINE, best * FINE] {
            tried.push(score(times)?);
        }
        tried.sort_by(|a, b| a.0.total_cmp(&b.0));
        Ok(tried)
    }
    fn said(&self, tried: &[Tried], best: Tried) -> String {
        let all = tried
            .iter()
            .map(|(times, score)| format!("{times:.3} {:.3}", score.share));
        let all: Vec<String> = all.collect();
        if !best.1.predicts() {
            return format!(
                "the width is the median distance of samples: at no width does kernel ridge regression predict {} better in {} samples held \
                 out in turn than means do, by two standard errors (multiple of the median and R2: {})",
                self.targets.join(", "),
                self.samples,
                all.join(", ")
            );
        }
        format!(
            "the width is {:.3} times the median distance of samples, at which kernel ridge regression predicts {} best in {} samples held \
             out in turn (multiple and R2: {})",
            best.0,
            self.targets.join(", "),
            self.samples,
            all.join(", ")
        )
    }
    fn said_of_weights(&self, found: &polyview_kernels::LearntWeights) -> String {
        let [before, after] = found.held_out;
        let (targets, samples) = (self.targets.join(", "), self.samples);
        if found.steps == 0 {
            return format!(
                "all features count alike: no weights of theirs predict better (kernel ridge regression predicts {targets} in \
                 {samples} samples held out in turn with R2 {before:.3})"
            );
        }
        let how = format!(
            "kernel ridge regression predicts {targets} in {samples} samples held out in turn with R2 {after:.3}, where all \
             features count alike with {before:.3} (standard error of the difference {:.3})",
            found.error
        );
        if !found.gains() {
            return format!(
                "all features count alike: with weights of their own, of {} steps up the evidence, {how}, which is no gain",
                found.steps
            );
        }
        let top: Vec<String> = (found.weights.ranked().into_iter().take(TOLD))
            .map(|(feature, weight)| format!("{feature} {weight:.2}"))
            .collect();
        format!(
            "features have weights of their own, 1 on average, of {} steps up the evidence: {how}; the largest are {}",
            found.steps,
            top.join(", ")
        )
    }
}

/// A column bit by bit, all that is missing alike.
fn bits(column: &[f64]) -> Vec<u64> {
    let of = |x: &f64| if x.is_nan() { f64::NAN } else { *x }.to_bits();
    column.iter().map(of).collect()
}

/// Columns with mean 0 and standard deviation 1; those that do not vary are left out.
pub(crate) fn standardised(of: &Mat<f64>) -> Vec<Vec<f64>> {
    let column = |d: usize| -> Option<Vec<f64>> {
        let x = of.col_as_slice(d);
        let known = || x.iter().copied().filter(|x| x.is_finite());
        let count = known().count().max(1) as f64;
        let mean = known().sum::<f64>() / count;
        let sd = (known().map(|x| (x - mean).powi(2)).sum::<f64>() / count).sqrt();
        (sd > 1e-12 * mean.abs()).then(|| x.iter().map(|x| (x - mean) / sd).collect())
    };
    (0..of.ncols()).filter_map(column).collect()
}

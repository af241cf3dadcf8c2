//! Predictions of a target against the truth.

use polyview_core::{Domain, View};
use polyview_linalg::Mat;
use polyview_special::normal_cdf;

use super::CrossValidateScore as Score;
use super::limited;
use super::targets::rows;
use super::workers::Scored;
use crate::error::{ErrorKind, Result};
use crate::metrics::{self, EventTime, MetricError, gamma_unit, poisson_unit};

/// A view that is predicted: its training samples, and those of the fold.
#[derive(Clone)]
pub(super) struct Target {
    pub(super) name: String,
    pub(super) kind: Domain,
    /// Of ordered levels their number.
    pub(super) levels: usize,
    pub(super) training: View,
    pub(super) test: View,
    /// What is known to be added to its predictors in the samples of training and of the fold.
    pub(super) offset: Option<[Vec<f64>; 2]>,
}

/// What is said of the samples of the fold, samples × features (or classes), in data units.
pub(super) struct Predicted {
    pub(super) mean: Mat<f64>,
    pub(super) sd: Option<Mat<f64>>,
    /// Lower and upper ends.
    pub(super) interval: Option<(Mat<f64>, Mat<f64>)>,
    /// Of ordered levels the probability of each, where more than a level is said.
    pub(super) levels: Option<Vec<Mat<f64>>>,
    /// Of numbers of which limits may be all that is known the log densities of the cells of the fold, and of limits the log
    /// probabilities of what lies between them, where a law is said.
    pub(super) ln_densities: Option<Mat<f64>>,
}

impl Predicted {
    pub(super) fn means(mean: Mat<f64>) -> Self {
        Self {
            mean,
            sd: None,
            interval: None,
            levels: None,
            ln_densities: None,
        }
    }
    /// Takes a row of another prediction of the same columns; what is unknown there stays.
    pub(super) fn take_row(&mut self, to: usize, other: &Self, from: usize) {
        let take = |own: &mut Mat<f64>, other: &Mat<f64>| {
            for d in 0..own.ncols() {
                let x = other[(from, d)];
                if !x.is_nan() {
                    own[(to, d)] = x;
                }
            }
        };
        take(&mut self.mean, &other.mean);
        if let Some(own) = &mut self.sd {
            // as of densities below
            for d in 0..own.ncols() {
                own[(to, d)] = other.sd.as_ref().map_or(f64::NAN, |sd| sd[(from, d)]);
            }
        }
        if let (Some(own), Some(other)) = (&mut self.ln_densities, &other.ln_densities) {
            // where no law is said of the one, that of the other stands for nothing
            for d in 0..own.ncols() {
                own[(to, d)] = other[(from, d)];
            }
        }
        if let (Some(own), Some(other)) = (&mut self.levels, &other.levels) {
            for (own, other) in own.iter_mut().zip(other) {
                take(own, other);
            }
        }
    }
}

impl Target {
    pub(super) fn new(view: &View, kind: Domain, training: &[u32], test: &[u32]) -> Self {
        Self {
            name: view.name().to_owned(),
            kind,
            levels: if kind.is_ordered() { largest(view) } else { 0 },
            training: rows(view, training),
            test: rows(view, test),
            offset: None,
        }
    }
    /// Whether plain predictors know how an offset acts on it: it is a factor of counts, and something
    /// added to real numbers.
    pub(super) fn takes_offset(&self) -> bool {
        self.kind.is_real() || (self.kind.is_count() && !self.kind.has_trials())
    }
    /// Names of what is predicted: features, or classes.
    pub(super) fn columns(&self) -> &[String] {
        if self.kind.has_classes() {
            self.training.levels()
        } else {
            self.training.features()
        }
    }
    /// Mean training counts, none below half a count in all training samples: what has never been counted is not
    /// impossible.
    pub(super) fn count_means(&self) -> Vec<f64> {
        let floor = 0.5 / self.training.n_samples().max(1) as f64;
        let known = self.training.to_values_with_nan();
        let means = polyview_baselines::means(known.as_ref());
        means.into_iter().map(|m| m.max(floor)).collect()
    }
    /// Whether densities of exact cells, and probabilities of what lies between limits, are what all cells are
    /// scored by.
    pub(super) fn has_limits(&self) -> bool {
        self.kind.is_censored() && !self.kind.is_survival()
    }
    /// True values, `NaN` where there is none or nothing is predicted.
    fn truth(&self, predicted: &Mat<f64>) -> Mat<f64> {
        Mat::from_fn(predicted.nrows(), predicted.ncols(), |n, d| {
            let known = predicted[(n, d)].is_finite();
            let exact = known && !self.test.is_censored(n, d);
            let value = self.test.value(n, d).filter(|_| exact);
            value.unwrap_or(f64::NAN)
        })
    }
}

/// The scores of predictions; what is not defined is `NaN`.
pub(super) fn scores(target: &Target, predicted: &Predicted) -> Result<Vec<Scored>> {
    let found = match target.kind {
        kind if kind.has_classes() => of_classes(target, &predicted.mean),
        kind if kind.is_label() => of_labels(target, &predicted.mean),
        kind if kind.is_count() => of_counts(target, predicted),
        kind if kind.is_positive() => of_positive(target, predicted),
        kind if kind.is_ordered() => of_levels(target, predicted),
        kind if kind.is_survival() => of_times(target, predicted),
        _ => of_numbers(target, predicted),
    };
    found.map_err(|e| {
        ErrorKind::Score {
            view: target.name.clone(),
            source: e,
        }
        .into()
    })
}

fn or_nan(x: Option<f64>) -> f64 {
    x.unwrap_or(f64::NAN)
}

/// Mean of what there is; `NaN` without any.
fn mean_of(x: &[f64]) -> f64 {
    x.iter().sum::<f64>() / x.len() as f64
}

fn of_labels(target: &Target, mean: &Mat<f64>) -> std::result::Result<Vec<Scored>, MetricError> {
    let truth = target.truth(mean);
    let (mut areas, mut all, mut all_p, mut of_areas) = (Vec::new(), Vec::new(), Vec::new(), 0);
    for d in 0..mean.ncols() {
        let (mut own, mut p) = (Vec::new(), Vec::new());
        for n in (0..mean.nrows()).filter(|&n| !truth[(n, d)].is_nan()) {
            own.push(truth[(n, d)] == 1.0);
            p.push(mean[(n, d)].clamp(0.0, 1.0));
        }
        if let Some(area) = metrics::auc(&own, &p)? {
            areas.push(area);
            of_areas += own.len();
        }
        all.append(&mut own);
        all_p.append(&mut p);
    }
    let wrong = all.iter().zip(&all_p).filter(|(t, p)| **t != (**p > 0.5));
    let share = wrong.count() as f64 / all.len() as f64;
    let loss = metrics::log_loss(&all, &all_p)?.mean;
    Ok(vec![
        (Score::Auc, mean_of(&areas), of_areas),
        (Score::LogLoss, or_nan(loss), all.len()),
        (Score::Error, share, all.len()),
    ])
}

fn of_classes(target: &Target, mean: &Mat<f64>) -> std::result::Result<Vec<Scored>, MetricError> {
    let classes = target.test.classes();
    let known: Vec<usize> = (0..mean.nrows())
        .filter(|&n| classes[n].is_some())
        .collect();
    let most_probable = |n: usize| {
        (1..mean.ncols()).fold(0, |best, c| {
            if mean[(n, c)] > mean[(n, best)] {
                c
            } else {
                best
            }
        })
    };
    let wrong = known
        .iter()
        .filter(|&&n| classes[n] != Some(most_probable(n)));
    let share = wrong.count() as f64 / known.len() as f64;
    let mut areas = Vec::new();
    for c in 0..mean.ncols() {
        let own: Vec<bool> = known.iter().map(|&n| classes[n] == Some(c)).collect();
        let p: Vec<f64> = known.iter().map(|&n| mean[(n, c)]).collect();
        areas.extend(metrics::auc(&own, &p)?);
    }
    let loss = metrics::class_log_loss(&classes, mean.as_ref())?.mean;
    Ok(vec![
        (Score::Auc, mean_of(&areas), known.len()),
        (Score::LogLoss, or_nan(loss), known.len()),
        (Score::Error, share, known.len()),
    ])
}

fn of_numbers(
    target: &Target,
    predicted: &Predicted,
) -> std::result::Result<Vec<Scored>, MetricError> {
    let truth = target.truth(&predicted.mean);
    let known = target.training.exact().to_values_with_nan();
    let means = polyview_baselines::means(known.as_ref());
    let all = metrics::real_by_column(truth.as_ref(), predicted.mean.as_ref(), Some(&means))?.all;
    let mut out = vec![
        (Score::R2, or_nan(all.r2), all.count),
        (
            Score::MeanSquaredError,
            or_nan(all.rmse.map(|e| e * e)),
            all.count,
        ),
    ];
    out.extend(coverage(&truth, predicted)?);
    out.extend(limited::ln_density(target, predicted));
    Ok(out)
}

/// Times of a feature, by sample; none where a time is missing, or not known to lie after another.
fn times(view: &View, feature: usize) -> Vec<Option<EventTime>> {
    let of = |n: usize| {
        let (time, end) = view.interval(n, feature)?;
        let event = !view.is_censored(n, feature);
        (event || end == f64::INFINITY).then_some(EventTime { time, event })
    };
    (0..view.n_samples()).map(of).collect()
}

/// Logarithms of times to an event, by their order and, where a spread is said, by the probabilities of
/// later ones; means over the features.
fn of_times(
    target: &Target,
    predicted: &Predicted,
) -> std::result::Result<Vec<Scored>, MetricError> {
    let (mut orders, mut briers, mut count) = (Vec::new(), Vec::new(), 0);
    for d in 0..predicted.mean.ncols() {
        let training: Vec<EventTime> = times(&target.training, d).into_iter().flatten().collect();
        let cells = times(&target.test, d).into_iter().enumerate();
        let (rows, truth): (Vec<usize>, Vec<EventTime>) = cells
            .filter_map(|(n, t)| Some((n, t.filter(|_| predicted.mean[(n, d)].is_finite())?)))
            .unzip();
        let mean: Vec<f64> = rows.iter().map(|&n| predicted.mean[(n, d)]).collect();
        orders.extend(metrics::concordance(&truth, &mean)?);
        count += truth.len();
        let known = |sd: &&Mat<f64>| rows.iter().all(|&n| sd[(n, d)].is_finite());
        let Some(sd) = predicted.sd.as_ref().filter(known) else {
            continue;
        };
        let at = metrics::event_times(&training);
        let curve = |(&n, m): (&usize, &f64)| -> Vec<f64> {
            let later = |t: &f64| normal_cdf((m - t) / sd[(n, d)]);
            at.iter().map(later).collect()
        };
        let curves: Vec<Vec<f64>> = rows.iter().zip(&mean).map(curve).collect();
        // the mean is over times, not over their logarithms
        let plain = |of: &[EventTime]| -> Vec<EventTime> {
            let time = |t: &EventTime| EventTime {
                time: t.time.exp(),
                ..*t
            };
            of.iter().map(time).collect()
        };
        let at: Vec<f64> = at.iter().map(|t| t.exp()).collect();
        let found = metrics::integrated_brier(&plain(&training), &plain(&truth), &at, &curves)?;
        briers.extend(found);
    }
    let mut out = vec![(Score::Concordance, mean_of(&orders), count)];
    if predicted.sd.is_some() {
        out.push((Score::IntegratedBrier, mean_of(&briers), count));
    }
    Ok(out)
}

/// The largest of the levels of a view, at least 2.
pub(super) fn largest(view: &View) -> usize {
    let known = view.to_values_with_nan();
    let of = |d: usize| known.col_as_slice(d).iter().copied().fold(2.0, f64::max);
    (0..known.ncols()).map(of).fold(2.0, f64::max) as usize
}

/// The scores of probabilities of levels; none without a cell.
pub(super) fn level_scores(
    truth: &[f64],
    said: &[Vec<f64>],
) -> std::result::Result<Vec<Scored>, MetricError> {
    let found = metrics::levels(truth, said)?;
    Ok(found.map_or_else(Vec::new, |s| {
        vec![
            (Score::LogLoss, s.log_loss, s.count),
            (Score::AbsoluteError, s.absolute_error, s.count),
            (Score::RankedProbability, s.ranked_probability, s.count),
        ]
    }))
}

/// Levels by their probabilities, or by the level nearest to a mean.
fn of_levels(
    target: &Target,
    predicted: &Predicted,
) -> std::result::Result<Vec<Scored>, MetricError> {
    let truth = target.truth(&predicted.mean);
    let places = (0..truth.ncols()).flat_map(|d| (0..truth.nrows()).map(move |n| (n, d)));
    let known: Vec<(usize, usize)> = places.filter(|at| !truth[*at].is_nan()).collect();
    let values: Vec<f64> = known.iter().map(|at| truth[*at]).collect();
    let Some(levels) = &predicted.levels else {
        let most = target.levels as f64;
        let off =
            |at: &(usize, usize)| (predicted.mean[*at].round().clamp(1.0, most) - truth[*at]).abs();
        let sum: f64 = known.iter().map(off).sum();
        let count = known.len();
        return Ok(vec![(Score::AbsoluteError, sum / count as f64, count)]);
    };
    let said: Vec<Vec<f64>> = (known.iter())
        .map(|at| levels.iter().map(|p| p[*at]).collect())
        .collect();
    let mut out = level_scores(&values, &said)?;
    out.extend(coverage(&truth, predicted)?);
    Ok(out)
}

/// As [`of_numbers`], with the deviance of a gamma law, which looks at ratios.
fn of_positive(
    target: &Target,
    predicted: &Predicted,
) -> std::result::Result<Vec<Scored>, MetricError> {
    let truth = target.truth(&predicted.mean);
    let known = target.training.to_values_with_nan();
    let null = polyview_baselines::means(known.as_ref());
    let mut out = of_numbers(target, predicted)?;
    out.extend(deviances(&truth, &predicted.mean, &null, gamma_unit));
    Ok(out)
}

/// Mean deviance by `unit` of what is said of the known cells, and the share of that about the means that is explained.
fn deviances(
    truth: &Mat<f64>,
    mean: &Mat<f64>,
    null: &[f64],
    unit: fn(f64, f64) -> f64,
) -> [Scored; 2] {
    let (mut own, mut of_means, mut count) = (0.0, 0.0, 0usize);
    for d in 0..mean.ncols() {
        for n in (0..mean.nrows()).filter(|&n| !truth[(n, d)].is_nan()) {
            own += unit(truth[(n, d)], mean[(n, d)]);
            of_means += unit(truth[(n, d)], null[d]);
            count += 1;
        }
    }
    let explained = metrics::explained(own, of_means).unwrap_or(f64::NAN);
    [
        (Score::Deviance, own / count as f64, count),
        (Score::DevianceExplained, explained, count),
    ]
}

fn of_counts(
    target: &Target,
    predicted: &Predicted,
) -> std::result::Result<Vec<Scored>, MetricError> {
    let mean = &predicted.mean;
    let truth = target.truth(mean);
    let mut out = deviances(&truth, mean, &target.count_means(), poisson_unit).to_vec();
    if let Some(sd) = &predicted.sd {
        let flat = |m: &Mat<f64>| -> Vec<f64> {
            (0..m.ncols())
                .flat_map(|d| m.col_as_slice(d).to_vec())
                .collect()
        };
        let (truth, mean, sd) = (flat(&truth), flat(mean), flat(sd));
        let density = metrics::count_log_density(&truth, &mean, &sd)?;
        out.push((Score::LogDensity, or_nan(density), out[0].2));
    }
    out.extend(coverage(&truth, predicted)?);
    Ok(out)
}

fn coverage(
    truth: &Mat<f64>,
    predicted: &Predicted,
) -> std::result::Result<Option<Scored>, MetricError> {
    let Some((lower, upper)) = &predicted.interval else {
        return Ok(None);
    };
    let found = metrics::intervals_by_column(truth.as_ref(), lower.as_ref(), upper.as_ref())?.all;
    Ok(Some((Score::Coverage, or_nan(found.coverage), found.count)))
}

//! Holes filled.

use std::collections::HashMap;

use polyview_core::{Dataset, Domain, View};
use polyview_likelihoods::ParameterUncertainty;
use polyview_linalg::{BitMask, Mat, MatRef};
use polyview_special::{normal_cdf, normal_quantile, truncated_normal_moments};

use super::align::Aligned;
use super::predict::PredictOptions;
use super::prediction::{Prediction, ends};
use crate::error::{ErrorKind, Result};
use crate::fit::Fit;
use crate::fit::remarks::is_seen_once;

/// One view with its holes filled, in data units.
#[derive(Clone, Debug)]
pub struct Imputation {
    /// The view.
    pub view: String,
    /// Sample IDs, one a row.
    pub samples: Vec<String>,
    /// What filled values are.
    pub kind: Domain,
    /// Feature names, one a column; the class names of a categorical view.
    pub features: Vec<String>,
    /// Observed values as they were, predictive means where there were none,
    /// samples × features; medians in features of counts that were observed in one training sample alone. Of cells of which two ends are all that is known the means between these.
    /// Labels are filled with their probabilities; an
    /// observed class is 1 in its column and 0 in the others. Of a view with
    /// numbers of trials these are expected successes, `NaN` where the number
    /// of trials is not known. `NaN`, like the ends and standard deviations, in
    /// features that were never observed ([`crate::ViewInfo::unobserved`]).
    pub values: Mat<f64>,
    /// Lower ends of the intervals; the value itself where it was observed.
    /// `NaN` for labels, whose probabilities say all, and for successes where the
    /// number of trials is not known.
    pub lower: Mat<f64>,
    /// Upper ends of the intervals, likewise.
    pub upper: Mat<f64>,
    /// Predictive standard deviations; 0 where the value was observed. Of
    /// successes those of so many trials at a probability as uncertain as it is.
    pub sd: Mat<f64>,
    /// Which cells were missing, samples × features.
    pub was_missing: BitMask,
    /// Probability of the intervals.
    pub level: f64,
    /// What was ignored, taken as missing or numerically delicate.
    pub notes: Vec<String>,
    /// What is likely to make the filled values wrong, such as data that are far
    /// off those of training.
    pub warnings: Vec<String>,
}

impl Fit {
    /// The training data of a view with the holes filled from each sample's
    /// posterior, and central intervals of probability `level` (see
    /// [`Prediction::interval`]).
    ///
    /// Observed values come back as they were given, bit for bit (see
    /// [`Fit::observed`]).
    ///
    /// # Errors
    /// [`crate::ErrorKind::UnknownView`]; [`crate::ErrorKind::NoData`] when
    /// the model was saved without data; [`crate::ErrorKind::Option`] unless 0
    /// < `level` < 1.
    pub fn impute(&self, view: &str, level: f64) -> Result<Imputation> {
        self.impute_with(view, level, ParameterUncertainty::Posterior)
    }

    /// As [`Fit::impute`], with parameters as sure as that
    /// ([`Fit::fitted_with`]).
    ///
    /// # Errors
    /// As [`Fit::impute`].
    pub fn impute_with(
        &self,
        view: &str,
        level: f64,
        parameters: ParameterUncertainty,
    ) -> Result<Imputation> {
        let (at, info) = self.view(view)?;
        info.tells_features("an imputed value")?;
        let observed = &self.data()?[at];
        ends(level)?;
        let mut fitted = self.fitted_with(view, parameters)?;
        if observed.trials().is_some() {
            successes(&mut fitted, |n, d| observed.trials_of(n, d));
        }
        self.medians_of_seen_once(at, &mut fitted);
        let classes = fitted.kind.has_classes();
        let exact = |n: usize, d: usize| {
            if classes {
                observed.value(n, 0).map(|code| indicator(code, d))
            } else {
                self.observed_at(at, n, d)
                    .filter(|_| !observed.is_censored(n, d))
                    .or_else(|| info.selves.get(n).copied()?.filter(|_| n == d))
            }
        };
        let scaling = &self.views[at].scaling;
        let between = |n: usize, d: usize| {
            let (lower, upper) = observed.interval(n, d)?;
            let own = |x: f64| scaling.backward(d, x);
            Some((own(lower), own(upper))).filter(|_| observed.is_censored(n, d))
        };
        let mut filled = fill(fitted, level, exact, between)?;
        self.note_joint_fit(at, &mut filled)?;
        if let Some(first) = info.left_out.first() {
            filled.notes.push(format!(
                "view '{}': {} feature(s) that do not vary are not in the table, first '{first}': they were left out of \
                 the model",
                info.name,
                info.left_out.len()
            ));
        }
        Ok(if info.choices.likelihood.is_similarity() {
            filled.of_pairs()
        } else {
            filled
        })
    }

    /// Any data with the holes of the view `view` filled: the samples'
    /// factors come from all views given, that one included. Features that
    /// the data lack are filled as well; those that the model does not know
    /// are left out, with a note. Observed values stay as they are, bit for
    /// bit.
    ///
    /// # Errors
    /// As [`Fit::project`]; [`crate::ErrorKind::Option`] unless 0 < `level` <
    /// 1.
    pub fn impute_data(&self, data: &Dataset, view: &str, level: f64) -> Result<Imputation> {
        self.impute_data_with(data, view, level, &PredictOptions::default())
    }

    /// As [`Fit::impute_data`], with choices.
    ///
    /// # Errors
    /// As [`Fit::impute_data`].
    pub fn impute_data_with(
        &self,
        data: &Dataset,
        view: &str,
        level: f64,
        options: &PredictOptions,
    ) -> Result<Imputation> {
        let (at, info) = self.view(view)?;
        info.tells_features("an imputed value")?;
        ends(level)?;
        let aligned = Aligned::new(self, data, None, options.unknown_classes)?;
        let mut predicted = self.predict_aligned(at, aligned, options.parameters)?;
        self.medians_of_seen_once(at, &mut predicted);
        let given = data.view(view).cloned();
        let given = given.map(|v| info.choices.limited(v)).transpose()?;
        let given = given.as_ref();
        if predicted.kind.has_classes() {
            let matched = given
                .map(|v| v.relevel(&info.levels, options.unknown_classes))
                .transpose()?;
            let exact = |n: usize, d: usize| {
                let code = matched.as_ref()?.view.value(n, 0)?;
                Some(indicator(code, d))
            };
            let mut filled = fill(predicted, level, exact, |_, _| None)?;
            self.note_joint_fit(at, &mut filled)?;
            return Ok(filled);
        }
        let known: HashMap<&str, usize> = given
            .map_or(&[][..], View::features)
            .iter()
            .enumerate()
            .map(|(d, f)| (f.as_str(), d))
            .collect();
        let place: Vec<Option<usize>> = info
            .features
            .iter()
            .map(|f| known.get(f.as_str()).copied())
            .collect();
        if let Some(v) = given.filter(|v| v.trials().is_some()) {
            successes(&mut predicted, |n, d| {
                place[d].map_or(f64::NAN, |at| v.trials_of(n, at))
            });
        }
        let exact = |n: usize, d: usize| {
            let (v, at) = (given?, place[d]?);
            v.value(n, at).filter(|_| !v.is_censored(n, at))
        };
        let between = |n: usize, d: usize| {
            let (v, at) = (given?, place[d]?);
            v.interval(n, at).filter(|_| v.is_censored(n, at))
        };
        let mut filled = fill(predicted, level, exact, between)?;
        self.note_joint_fit(at, &mut filled)?;
        Ok(filled)
    }
}

impl Fit {
    /// Says of holes of a view that is predicted by a mixture that they are filled by the joint fit.
    fn note_joint_fit(&self, at: usize, filled: &mut Imputation) -> Result<()> {
        let mixed = self.shares_of(at)?.is_some_and(|shares| shares[1] > 0.0);
        if mixed && filled.was_missing.count() > 0 {
            filled.notes.push(format!(
                "view '{}': holes are filled by the joint fit, from all that is known of a sample; predictions of the view \
                 from others are a mixture of it and a regression, and may say otherwise",
                self.views[at].name
            ));
        }
        Ok(())
    }

    /// Of features of counts that were observed in one training sample alone the medians take the
    /// place of the means: one count does not say how much a feature varies, its logarithm is
    /// known to orders of magnitude at best, and the mean of its exponential is that of
    /// the largest draws, or infinite.
    fn medians_of_seen_once(&self, at: usize, p: &mut Prediction) {
        let likelihood = &self.views[at].choices.likelihood;
        let Some(data) = self.data.as_ref().map(|d| &d[at]) else {
            return;
        };
        if !likelihood.is_count() || likelihood.has_trials() || data.n_samples() < 2 {
            return;
        }
        let once: Vec<bool> = (0..data.n_features())
            .map(|d| is_seen_once(data, d))
            .collect();
        if !once.contains(&true) {
            return;
        }
        let [medians] = p.laws.quantiles([0.5], |_, d| once[d]);
        for d in (0..once.len()).filter(|d| once[*d]) {
            for n in 0..p.mean.nrows() {
                p.mean[(n, d)] = medians[(n, d)];
            }
        }
    }
}

impl Prediction {
    /// Makes predicted probabilities of a success expected successes out of `trials`, samples ×
    /// features, `NaN` where their number is not known: means and standard deviations become those
    /// of such counts, at probabilities as uncertain as they are. Gives lower and upper
    /// ends of central intervals of probability `level`.
    ///
    /// # Errors
    /// [`ErrorKind::Option`] unless 0 < `level` < 1; [`ErrorKind::Incompatible`] when it
    /// predicts anything but successes, or `trials` have another shape.
    pub fn out_of(&mut self, trials: MatRef<'_, f64>, level: f64) -> Result<(Mat<f64>, Mat<f64>)> {
        ends(level)?;
        let fits = (trials.nrows(), trials.ncols()) == self.mean.shape();
        if self.probability_sd.is_none() || !fits {
            let with = if fits {
                "predictions that are no probabilities of a success"
            } else {
                "trials of other samples or features"
            };
            return Err(ErrorKind::Incompatible {
                view: self.view.clone(),
                what: "a number of trials".to_owned(),
                with: with.to_owned(),
            }
            .into());
        }
        successes(self, |n, d| trials[(n, d)]);
        self.interval(level)
    }
}

impl Imputation {
    /// Of a symmetric table of its samples: both cells of a pair have the law that is half way
    /// between theirs, which differ as far as the fit has not come to rest.
    fn of_pairs(mut self) -> Self {
        for m in 0..self.values.ncols() {
            for n in (0..m).filter(|&n| self.was_missing.get(n, m)) {
                let gap = 0.5 * (self.values[(n, m)] - self.values[(m, n)]);
                let (a, b) = (self.sd[(n, m)], self.sd[(m, n)]);
                let sd = (0.5 * (a * a + b * b) + gap * gap).sqrt();
                for table in [&mut self.values, &mut self.lower, &mut self.upper] {
                    let middle = 0.5 * (table[(n, m)] + table[(m, n)]);
                    (table[(n, m)], table[(m, n)]) = (middle, middle);
                }
                (self.sd[(n, m)], self.sd[(m, n)]) = (sd, sd);
            }
        }
        self
    }
}

/// 1 in the column of the class, 0 in the others.
fn indicator(code: f64, column: usize) -> f64 {
    f64::from(u8::from(code as usize == column))
}

/// Makes probabilities expected successes in so many trials, and their laws those of such
/// counts.
fn successes(p: &mut Prediction, trials: impl Fn(usize, usize) -> f64) {
    let (rows, columns) = p.mean.shape();
    let known = |x: f64| if x >= 0.0 { x } else { f64::NAN };
    let trials = Mat::from_fn(rows, columns, |n, d| known(trials(n, d)));
    let cells = || (0..columns).flat_map(|d| (0..rows).map(move |n| (n, d)));
    let unknown = cells().filter(|at| trials[*at].is_nan()).count();
    p.laws = p.laws.out_of(trials);
    [p.mean, p.sd] = p.laws.moments();
    p.kind = Domain::SUCCESSES;
    if unknown > 0 {
        p.notes.push(format!(
            "view '{}': {unknown} cell(s) have no number of trials and stay empty",
            p.view
        ));
    }
}

/// The normal law of that mean and standard deviation between two ends: mean, standard deviation
/// and the quantiles at two probabilities.
fn truncated((mean, sd): (f64, f64), (lower, upper): (f64, f64), p: [f64; 2]) -> Option<[f64; 4]> {
    let part = truncated_normal_moments(mean, sd, lower, upper).ok()?;
    // from the nearer tail, where probabilities keep their digits
    let mirrored = lower > mean;
    let [a, b] = [lower, upper].map(|x| (x - mean) / sd);
    let (a, b) = if mirrored { (-b, -a) } else { (a, b) };
    let (below, all) = (normal_cdf(a), normal_cdf(b) - normal_cdf(a));
    let quantile = |p: f64| {
        let p = if mirrored { 1.0 - p } else { p };
        let z = normal_quantile(below + p * all);
        let z = if mirrored { -z } else { z };
        (mean + sd * z).clamp(lower, upper)
    };
    let [low, high] = p.map(quantile);
    Some([part.mean, part.variance.sqrt(), low, high])
}

/// Puts the observed values into a prediction, and between the ends of cells of which no more is
/// known what is predicted there.
fn fill(
    p: Prediction,
    level: f64,
    observed: impl Fn(usize, usize) -> Option<f64> + Sync,
    between: impl Fn(usize, usize) -> Option<(f64, f64)>,
) -> Result<Imputation> {
    let at = ends(level)?;
    let (mut lower, mut upper) = if p.kind.is_label() {
        let nothing = Mat::full(p.mean.nrows(), p.mean.ncols(), f64::NAN);
        (nothing.clone(), nothing)
    } else {
        p.interval_where(level, |n, d| observed(n, d).is_none())?
    };
    let Prediction {
        view,
        samples,
        kind,
        features,
        mean,
        mut sd,
        levels,
        notes,
        warnings,
        ..
    } = p;
    // a level, as the others of the table
    let mut values = levels.map_or(mean, |levels| levels.median());
    let mut was_missing = BitMask::full(values.nrows(), values.ncols());
    for d in 0..values.ncols() {
        for n in 0..values.nrows() {
            if let Some(x) = observed(n, d) {
                values[(n, d)] = x;
                lower[(n, d)] = x;
                upper[(n, d)] = x;
                sd[(n, d)] = 0.0;
                was_missing.set(n, d, false);
                continue;
            }
            let own = (values[(n, d)], sd[(n, d)]);
            let ends = between(n, d).and_then(|ends| truncated(own, ends, at));
            if let Some([mean, deviation, low, high]) = ends {
                (values[(n, d)], sd[(n, d)]) = (mean, deviation);
                (lower[(n, d)], upper[(n, d)]) = (low, high);
            }
        }
    }
    Ok(Imputation {
        view,
        samples,
        kind,
        features,
        values,
        lower,
        upper,
        sd,
        was_missing,
        level,
        notes,
        warnings,
    })
}

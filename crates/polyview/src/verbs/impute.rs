//! Holes filled.

use std::collections::HashMap;

use polyview_core::{Dataset, PredictedKind, View};
use polyview_likelihoods::ParameterUncertainty;
use polyview_linalg::{BitMask, Mat};

use super::align::Aligned;
use super::predict::{PredictOptions, Prediction, half_width};
use crate::error::Result;
use crate::fit::Fit;

/// One view with its holes filled, in data units.
#[derive(Clone, Debug)]
pub struct Imputation {
    /// The view.
    pub view: String,
    /// Sample IDs, one a row.
    pub samples: Vec<String>,
    /// What filled values are.
    pub kind: PredictedKind,
    /// Feature names, one a column; the class names of a categorical view.
    pub features: Vec<String>,
    /// Observed values as they were, predictive means where there were none,
    /// samples × features. Labels are filled with their probabilities; an
    /// observed class is 1 in its column and 0 in the others. Of a view with
    /// numbers of trials these are expected successes, `NaN` where the number
    /// of trials is not known.
    pub values: Mat<f64>,
    /// Lower ends of the intervals; the value itself where it was observed.
    /// `NaN` for labels, whose probabilities say all.
    pub lower: Mat<f64>,
    /// Upper ends of the intervals, likewise.
    pub upper: Mat<f64>,
    /// Predictive standard deviations; 0 where the value was observed. Of
    /// successes those of the trials at the predicted probability.
    pub sd: Mat<f64>,
    /// Which cells were missing, samples × features.
    pub was_missing: BitMask,
    /// Probability of the intervals.
    pub level: f64,
    /// What was ignored, taken as missing or numerically delicate.
    pub notes: Vec<String>,
}

impl Fit {
    /// The training data of a view with the holes filled from each sample's
    /// posterior, and central intervals of probability `level` (see
    /// [`Prediction::interval`]).
    ///
    /// Observed values come from the stored working data: they equal those
    /// given to rounding (1e-12 of the feature's largest value).
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
        let observed = &self.data()?[at];
        half_width(level)?;
        let mut fitted = self.fitted_with(view, parameters)?;
        if observed.trials().is_some() {
            successes(&mut fitted, |n, d| observed.trials_of(n, d));
        }
        fill(fitted, level, |n, d| {
            if info.levels.is_empty() {
                observed.value(n, d).map(|x| info.scaling.backward(d, x))
            } else {
                observed.value(n, 0).map(|code| indicator(code, d))
            }
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
        half_width(level)?;
        let aligned = Aligned::new(self, data, None, options.unknown_classes)?;
        let mut predicted = self.predict_aligned(at, aligned, options.parameters)?;
        let given: Option<&View> = data.view(view);
        if !info.levels.is_empty() {
            let matched = given
                .map(|v| v.relevel(&info.levels, options.unknown_classes))
                .transpose()?;
            return fill(predicted, level, |n, d| {
                let code = matched.as_ref()?.view.value(n, 0)?;
                Some(indicator(code, d))
            });
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
        fill(predicted, level, |n, d| {
            given.and_then(|v| v.value(n, place[d]?))
        })
    }
}

/// 1 in the column of the class, 0 in the others.
fn indicator(code: f64, column: usize) -> f64 {
    f64::from(u8::from(code as usize == column))
}

/// Makes probabilities expected successes in so many trials.
fn successes(p: &mut Prediction, trials: impl Fn(usize, usize) -> f64) {
    let mut unknown = 0usize;
    for d in 0..p.mean.ncols() {
        for n in 0..p.mean.nrows() {
            let of = trials(n, d);
            unknown += usize::from(of.is_nan());
            p.mean[(n, d)] *= of;
            p.sd[(n, d)] *= of.sqrt();
        }
    }
    if unknown > 0 {
        p.notes.push(format!(
            "view '{}': {unknown} cell(s) have no number of trials and stay empty",
            p.view
        ));
    }
}

/// Puts the observed values into a prediction.
fn fill(
    p: Prediction,
    level: f64,
    observed: impl Fn(usize, usize) -> Option<f64>,
) -> Result<Imputation> {
    let (mut lower, mut upper) = if p.kind.is_label() {
        let nothing = Mat::from_fn(p.mean.nrows(), p.mean.ncols(), |_, _| f64::NAN);
        (nothing.clone(), nothing)
    } else {
        p.interval(level)?
    };
    let Prediction {
        view,
        samples,
        kind,
        features,
        mean: mut values,
        mut sd,
        notes,
        ..
    } = p;
    let mut was_missing = BitMask::full(values.nrows(), values.ncols());
    for d in 0..values.ncols() {
        for n in 0..values.nrows() {
            if let Some(x) = observed(n, d) {
                values[(n, d)] = x;
                lower[(n, d)] = x;
                upper[(n, d)] = x;
                sd[(n, d)] = 0.0;
                was_missing.set(n, d, false);
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
    })
}

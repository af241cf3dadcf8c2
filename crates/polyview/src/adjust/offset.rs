//! Offsets: numbers that are known of samples and added to linear predictors (spec/sites 9).

use std::collections::HashMap;

use polyview_core::{Dataset, Event, Journal, MetadataValues, View};
use serde::{Deserialize, Serialize};

use super::covariate::{middle_distance, single};
use super::{absent, column, complete, moments, refused};
use crate::error::{ErrorKind, Result};
use crate::spec::{Likelihood, ModelSpec};

/// Of a sample that lacks features of more than this share of all counts it is said that its
/// total is an estimate.
const MISSED: f64 = 0.1;
/// So many times the size of those of training half of the new samples may be, or be smaller.
const FAR: f64 = 30.0;
/// So many times the size of those of training a single new sample may have, or one that is as much smaller.
const FAR_ALONE: f64 = 1000.0;

/// A number that is known of each sample and added to the linear predictor of a view: of
/// counts the logarithm of a size, by which their expectations are multiplied.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Offset {
    /// Of counts: the size of a sample is its total count in the view. Totals of new samples may
    /// also be given, in the column [`Offset::column_of`] of the metadata.
    LogTotal,
    /// A column of the metadata: of counts sizes, positive and in any unit, of everything else numbers that
    /// are added to the linear predictor (to real numbers in data units).
    Column(String),
}

impl Offset {
    /// Name of the column of the metadata that holds totals of new samples in a view, which is
    /// looked at before the view is: so a view that is predicted can have any.
    pub fn column_of(view: &str) -> String {
        format!("offset of {view}")
    }
    /// Refuses `numbers`, one for each of `samples` in data units, where one cannot be an offset of the view of that name and
    /// likelihood; `NaN` is that nobody knows it (spec/sites 9).
    ///
    /// # Errors
    /// [`ErrorKind::BadOffset`]: sizes are positive, and all are finite.
    pub fn check(
        (view, likelihood): (&str, &Likelihood),
        samples: &[String],
        numbers: &[f64],
    ) -> Result<()> {
        check((view, is_size(likelihood), false), samples, numbers)
    }
}

impl From<&str> for Offset {
    /// `log-total`, or else the name of a column of the metadata.
    fn from(text: &str) -> Self {
        match text {
            "log-total" => Self::LogTotal,
            column => Self::Column(column.to_owned()),
        }
    }
}

/// Whether what is added to predictors of a view of that likelihood is the logarithm of a size.
fn is_size(likelihood: &Likelihood) -> bool {
    likelihood.is_count() && !likelihood.has_trials()
}

/// As [`Offset::check`], of sizes or of other numbers, which are total counts of the samples in the view itself or not.
fn check(
    (view, is_size, is_total): (&str, bool, bool),
    samples: &[String],
    numbers: &[f64],
) -> Result<()> {
    let is_bad = |x: f64| !x.is_nan() && (!x.is_finite() || (is_size && x <= 0.0));
    match samples.iter().zip(numbers).find(|(_, x)| is_bad(**x)) {
        None => Ok(()),
        Some((sample, x)) => Err(ErrorKind::BadOffset {
            view: view.to_owned(),
            sample: sample.clone(),
            value: x.to_string(),
            is_size,
            is_total,
        }
        .into()),
    }
}

/// An offset as the model knows it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub(super) struct ViewOffset {
    pub(super) view: String,
    from: Offset,
    /// Whether what is added is the logarithm of a size.
    pub(super) is_size: bool,
    /// Mean of what is added over the training samples: that of a sample whose offset
    /// nobody knows.
    pub(super) reference: f64,
    /// Of total counts: the share of each feature in them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    shares: Vec<f64>,
}

/// Total counts of samples in units of the shares of the features that were observed of each,
/// features without a share left out; `NaN` for one of which nothing was. And these shares, added up.
fn totals(view: &View, shares: &[f64]) -> (Vec<f64>, Vec<f64>) {
    let mut total = vec![0.0; view.n_samples()];
    let mut seen = vec![0.0; view.n_samples()];
    let mut values = vec![0.0; view.n_samples()];
    for (d, share) in shares.iter().enumerate().filter(|(_, s)| **s > 0.0) {
        view.write_column(d, &mut values);
        for n in 0..view.n_samples() {
            if view.is_observed(n, d) {
                total[n] += values[n];
                seen[n] += share;
            }
        }
    }
    let all = (total.iter().zip(&seen))
        .map(|(t, s)| if *s > 0.0 { t / s } else { f64::NAN })
        .collect();
    (all, seen)
}

/// The share of each feature in the counts of a view: of its mean in the sum of means; equal ones
/// where nothing was counted.
fn shares(view: &View) -> Vec<f64> {
    let mut values = vec![0.0; view.n_samples()];
    let mut means: Vec<f64> = Vec::with_capacity(view.n_features());
    for d in 0..view.n_features() {
        view.write_column(d, &mut values);
        let seen = (0..view.n_samples()).filter(|n| view.is_observed(*n, d));
        let (sum, count) = seen.fold((0.0, 0.0), |(s, c), n| (s + values[n], c + 1.0));
        means.push(sum / f64::max(count, 1.0));
    }
    let all: f64 = means.iter().sum();
    if all == 0.0 {
        return vec![1.0 / means.len() as f64; means.len()];
    }
    means.iter().map(|m| m / all).collect()
}

/// What is to be said of totals of samples of which these shares of all counts were observed,
/// where some are far from all.
fn estimated(seen: &[f64]) -> Option<String> {
    let lacks = |s: &&f64| **s > 0.0 && **s < 1.0 - MISSED;
    let count = seen.iter().filter(lacks).count();
    let least = (seen.iter().filter(lacks)).fold(1.0, |a: f64, s| a.min(*s));
    (count > 0).then(|| {
        format!(
            "{count} of {} samples lack features that make more than {:.0} % of all counts (up to {:.0} %): \
             their totals are those of the features that they have, over the share of these in the counts \
             of all samples, and what moves that share is taken for size; give sizes that are known as \
             offset, or leave out the features that these samples lack",
            seen.len(),
            100.0 * MISSED,
            100.0 * (1.0 - least)
        )
    })
}

/// The numbers in a column of the metadata, which is an offset; `None` where there is no such column.
fn given(data: &Dataset, name: &str) -> Result<Option<Vec<f64>>> {
    match column(data, name).map(|c| &c.values) {
        None => Ok(None),
        Some(MetadataValues::Numbers(x)) => {
            complete(data, name, x.iter().map(|x| !x.is_nan()))?;
            Ok(Some(x.clone()))
        }
        Some(MetadataValues::Categories(_)) => {
            Err(refused(name, "it holds words, where an offset is a number").into())
        }
    }
}

/// A number in six digits, without zeros at its end.
fn digits(x: f64) -> String {
    let after = (5.0 - x.abs().log10().floor()).clamp(0.0, 12.0);
    let text = format!("{x:.0$}", after as usize);
    match text.split_once('.') {
        Some(_) => text.trim_end_matches('0').trim_end_matches('.').to_owned(),
        None => text,
    }
}

impl ViewOffset {
    /// What is added to the predictors of samples whose numbers these are, where they are good ones; `NaN` stays.
    fn added(&self, numbers: &[f64]) -> Vec<f64> {
        let each = |x: &f64| if self.is_size { x.ln() } else { *x };
        numbers.iter().map(each).collect()
    }
    /// The numbers of the samples of `data`, all of them good ones: `None` where these have none. What is to be said of
    /// totals that are estimates goes to `told`.
    fn numbers(
        &self,
        data: &Dataset,
        features: &[String],
        told: &mut Option<String>,
    ) -> Result<Option<Vec<f64>>> {
        match &self.from {
            Offset::LogTotal => {
                let Some(view) = data.view(&self.view) else {
                    return Ok(None);
                };
                let place: HashMap<&str, usize> = (features.iter().enumerate())
                    .map(|(d, f)| (f.as_str(), d))
                    .collect();
                let share = |f: &String| {
                    let known = place.get(f.as_str());
                    known.map_or(0.0, |d| self.shares.get(*d).copied().unwrap_or(0.0))
                };
                let shares: Vec<f64> = view.features().iter().map(share).collect();
                let (totals, seen) = totals(view, &shares);
                *told = estimated(&seen);
                check((&self.view, self.is_size, true), data.samples(), &totals)?;
                Ok(Some(totals))
            }
            Offset::Column(name) => self.checked(data, name),
        }
    }
    /// The numbers in a column of the metadata, all of them good ones: `None` where there is no such column.
    fn checked(&self, data: &Dataset, name: &str) -> Result<Option<Vec<f64>>> {
        let numbers = given(data, name)?;
        if let Some(numbers) = &numbers {
            check((&self.view, self.is_size, false), data.samples(), numbers)?;
        }
        Ok(numbers)
    }
    /// As [`ViewOffset::numbers`], of new samples: totals that are given come before those of the
    /// data, which nobody is to look at where the view is `hidden`.
    fn numbers_of_new(
        &self,
        (data, features): (&Dataset, &[String]),
        hidden: bool,
        told: &mut Option<String>,
    ) -> Result<Option<Vec<f64>>> {
        if self.from == Offset::LogTotal {
            let totals = self.checked(data, &Offset::column_of(&self.view))?;
            if totals.is_some() || hidden {
                return Ok(totals);
            }
        }
        self.numbers(data, features, told)
    }
    /// What is added to the predictors of samples, less the reference; the reference itself where
    /// nothing is known.
    fn about(&self, added: &[f64]) -> Vec<f64> {
        let about = |x: &f64| {
            if x.is_nan() { 0.0 } else { x - self.reference }
        };
        added.iter().map(about).collect()
    }
    /// What the data say of an offset of `spec`, and what it adds to the predictors of their
    /// samples, about its mean; `None` for totals of a view that is not there.
    ///
    /// # Errors
    /// [`ErrorKind::UnknownMetadata`], [`ErrorKind::NoCovariate`], [`ErrorKind::Covariate`],
    /// [`ErrorKind::BadOffset`].
    pub(super) fn learn(
        (spec, view, from): (&ModelSpec, &str, &Offset),
        data: &Dataset,
        journal: &mut Journal,
    ) -> Result<Option<(Self, Vec<f64>)>> {
        let likelihood = spec.view(view).likelihood;
        let own = data.view(view);
        let mut offset = Self {
            view: view.to_owned(),
            from: from.clone(),
            is_size: is_size(&likelihood),
            reference: 0.0,
            shares: match (from, own) {
                (Offset::LogTotal, Some(own)) => shares(own),
                _ => Vec::new(),
            },
        };
        let features = own.map_or(&[][..], View::features);
        let mut told = None;
        let numbers = match (offset.numbers(data, features, &mut told)?, from) {
            (Some(numbers), _) => numbers,
            (None, Offset::Column(name)) => return Err(absent(data, name).into()),
            (None, Offset::LogTotal) => return Ok(None),
        };
        if let Some(note) = told {
            journal.note(0, format!("offset/{view}"), Event::Warning { note });
        }
        let added = offset.added(&numbers);
        let seen: Vec<f64> = added.iter().copied().filter(|x| !x.is_nan()).collect();
        offset.reference = moments(&seen).0;
        let column = offset.about(&added);
        Ok(Some((offset, column)))
    }
    /// What it adds to the predictors of the samples of `data`, whose view has these `features`,
    /// about its mean in training; `None` where nobody knows, as of a view that is `hidden`.
    ///
    /// # Errors
    /// As [`ViewOffset::learn`].
    pub(super) fn of_new(
        &self,
        of: (&Dataset, &[String]),
        hidden: bool,
        notes: &mut Vec<String>,
    ) -> Result<Option<Vec<f64>>> {
        let mut told = None;
        let Some(numbers) = self.numbers_of_new(of, hidden, &mut told)? else {
            return Ok(None);
        };
        notes.extend(told.map(|note| format!("view '{}': {note}", self.view)));
        let about = self.about(&self.added(&numbers));
        notes.extend(self.far_off(&about, of.0.samples()));
        Ok(Some(about))
    }
    /// What is to be said of the sizes of new `samples`, less the reference, where these are far off those of training: all of
    /// them, or single ones.
    fn far_off(&self, about: &[f64], samples: &[String]) -> Option<String> {
        let distance = middle_distance(about).filter(|_| self.is_size)?;
        let of_training = format!(
            "those of training (geometric mean {})",
            digits(self.reference.exp())
        );
        if distance > FAR.ln() {
            return Some(format!(
                "view '{}': sizes of these samples are about {:.0} times larger or smaller than {of_training}: see whether \
                 they are in the same unit",
                self.view,
                distance.exp()
            ));
        }
        let is_far = |x: f64| x > FAR_ALONE.ln();
        let single = single(about, samples, is_far, |x| {
            format!("{} times", digits(x.exp().round()))
        })?;
        Some(format!(
            "view '{}': the size of {single} is far larger or smaller than {of_training}: see that it is no mistake, or leave \
             the sample out",
            self.view
        ))
    }
    /// What samples get of which nobody knows an offset.
    pub(super) fn unknown(&self) -> String {
        if self.is_size {
            let size = digits(self.reference.exp());
            format!("size {size}, the geometric mean of those of training")
        } else {
            let offset = digits(self.reference);
            format!("offset {offset}, the mean of those of training")
        }
    }
}

//! Offsets: numbers that are added to linear predictors.

use std::collections::HashMap;

use polyview_core::{Dataset, MetadataValues, View};
use serde::{Deserialize, Serialize};

use super::{column, complete, refused};
use crate::error::{ErrorKind, Result};

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

/// An offset as the model knows it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub(super) struct ViewOffset {
    pub(super) view: String,
    pub(super) from: Offset,
    /// Whether what is added is the logarithm of a size.
    pub(super) is_size: bool,
    /// Mean of what is added over the training samples: that of a sample whose offset
    /// nobody knows.
    pub(super) reference: f64,
    /// Of total counts: the share of each feature in them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(super) shares: Vec<f64>,
}

/// Total counts of samples in units of the shares of the features that were observed of each,
/// features without a share left out; `NaN` for one of which nothing was.
fn totals(view: &View, shares: &[f64]) -> Vec<f64> {
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
    (total.iter().zip(&seen))
        .map(|(t, s)| if *s > 0.0 { t / s } else { f64::NAN })
        .collect()
}

/// The share of each feature in the counts of a view: of its mean in the sum of means; equal ones
/// where nothing was counted.
pub(super) fn shares(view: &View) -> Vec<f64> {
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
    /// What is added to the predictors of samples whose numbers these are; `NaN` stays.
    pub(super) fn added(&self, samples: &[String], numbers: &[f64]) -> Result<Vec<f64>> {
        let each = |(sample, &x): (&String, &f64)| {
            if x.is_nan() {
                return Ok(f64::NAN);
            }
            if !x.is_finite() || (self.is_size && x <= 0.0) {
                return Err(ErrorKind::BadOffset {
                    view: self.view.clone(),
                    sample: sample.clone(),
                    value: x.to_string(),
                    is_size: self.is_size,
                    is_total: self.from == Offset::LogTotal,
                });
            }
            Ok(if self.is_size { x.ln() } else { x })
        };
        let all = samples.iter().zip(numbers).map(each);
        Ok(all.collect::<std::result::Result<_, _>>()?)
    }
    /// What is added less what is of a sample whose offset nobody knows: 0 for that one.
    pub(super) fn about(&self, added: &[f64]) -> Vec<f64> {
        let about = |x: &f64| if x.is_nan() { 0.0 } else { x - self.reference };
        added.iter().map(about).collect()
    }
    /// The numbers of the samples of `data`: `None` where these have none.
    pub(super) fn numbers(&self, data: &Dataset, features: &[String]) -> Result<Option<Vec<f64>>> {
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
                Ok(Some(totals(view, &shares)))
            }
            Offset::Column(name) => given(data, name),
        }
    }
    /// As [`ViewOffset::numbers`], of new samples: totals that are given come before those of the
    /// data, which nobody is to look at where the view is `hidden`.
    pub(super) fn numbers_of_new(
        &self,
        data: &Dataset,
        features: &[String],
        hidden: bool,
    ) -> Result<Option<Vec<f64>>> {
        if self.from == Offset::LogTotal {
            let totals = given(data, &Offset::column_of(&self.view))?;
            if totals.is_some() || hidden {
                return Ok(totals);
            }
        }
        self.numbers(data, features)
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

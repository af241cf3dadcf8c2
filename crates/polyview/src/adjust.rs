//! Covariates and offsets: what is known of samples and is not for the factors to explain
//! (spec/sites 9, docs/decisions/0057-covariates-beside-factors.md).

use std::collections::HashMap;

use polyview_core::{
    Dataset, Event, FeatureScaling, GammaPrior, Journal, Metadata, MetadataValues, RowBlock,
    RowMoments, Scaling, View, Way,
};
use polyview_infer::{Model, ViewPart};
use polyview_linalg::Mat;
use polyview_priors::RowsBeside;
use serde::{Deserialize, Serialize};

use crate::error::{ErrorKind, Result};
use crate::fit::ViewInfo;
use crate::spec::{Algorithm, EngineKind, ModelSpec, Path};

/// Hyper-prior of the precision of a view's coefficients.
const COEFFICIENTS: GammaPrior = GammaPrior {
    shape: 1.0,
    rate: 1.0,
};
/// A standard deviation below this share of the mean is rounding.
const ROUNDING: f64 = 1e-13;
/// Columns whose correlation is nearer to 1 say the same.
const SAME: f64 = 1e-10;
/// So few different whole numbers may be names of categories.
const FEW: usize = 6;

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

/// How the values of a covariate become columns.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum Coding {
    /// Less their mean, over their standard deviation.
    Numbers { mean: f64, sd: f64 },
    /// For each category but the first an indicator of it, with the share of the training samples
    /// that have it; less the share, over its standard deviation.
    Categories {
        names: Vec<String>,
        shares: Vec<f64>,
    },
}

/// A covariate as the model knows it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
struct Covariate {
    name: String,
    coding: Coding,
}

/// An offset as the model knows it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
struct ViewOffset {
    view: String,
    from: Offset,
    /// Whether what is added is the logarithm of a size.
    is_size: bool,
    /// Mean of what is added over the training samples: that of a sample whose offset
    /// nobody knows.
    reference: f64,
    /// Of total counts: the share of each feature in them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    shares: Vec<f64>,
}

/// What a fit is adjusted for: which columns stand beside its factors.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub(crate) struct Adjustment {
    covariates: Vec<Covariate>,
    offsets: Vec<ViewOffset>,
    /// The columns of the training samples, while a fit is made.
    #[serde(skip)]
    training: Vec<Vec<f64>>,
    /// What offsets are divided by to be in working units, by offset and feature; while a fit
    /// is made.
    #[serde(skip)]
    scales: Vec<Vec<f64>>,
}

/// Why a covariate cannot be one.
fn refused(column: &str, why: impl Into<String>) -> ErrorKind {
    ErrorKind::Covariate {
        column: column.to_owned(),
        why: why.into(),
    }
}

fn incompatible(view: &str, what: &str, with: impl Into<String>) -> ErrorKind {
    ErrorKind::Incompatible {
        view: view.to_owned(),
        what: what.to_owned(),
        with: with.into(),
    }
}

fn column<'a>(data: &'a Dataset, name: &str) -> Option<&'a Metadata> {
    data.metadata().iter().find(|m| m.name == name)
}

fn absent(data: &Dataset, name: &str) -> ErrorKind {
    ErrorKind::UnknownMetadata {
        column: name.to_owned(),
        known: data.metadata().iter().map(|m| m.name.clone()).collect(),
    }
}

/// Categories of samples: of numbers their shortest digits.
fn categories(values: &MetadataValues) -> Vec<Option<String>> {
    match values {
        MetadataValues::Categories(words) => words.clone(),
        MetadataValues::Numbers(x) => (x.iter())
            .map(|x| (!x.is_nan()).then(|| x.to_string()))
            .collect(),
    }
}

/// Mean and standard deviation.
fn moments(x: &[f64]) -> (f64, f64) {
    let count = x.len().max(1) as f64;
    let mean = x.iter().sum::<f64>() / count;
    let variance = x.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / count;
    (mean, variance.sqrt())
}

impl Covariate {
    /// Learns how to code a column.
    fn learn(data: &Dataset, name: &str, journal: &mut Journal) -> Result<Self> {
        let found = column(data, name).ok_or_else(|| absent(data, name))?;
        let coding = match &found.values {
            MetadataValues::Numbers(x) => {
                complete(data, name, x.iter().map(|x| !x.is_nan()))?;
                if let Some(n) = x.iter().position(|x| !x.is_finite()) {
                    let why = format!("it is not finite in sample '{}'", data.samples()[n]);
                    return Err(refused(name, why).into());
                }
                let (mean, sd) = moments(x);
                if sd.is_nan() || sd <= ROUNDING * mean.abs() {
                    return Err(refused(name, "it is the same in all samples").into());
                }
                let mut different: Vec<u64> = x.iter().map(|x| x.to_bits()).collect();
                different.sort_unstable();
                different.dedup();
                if (3..=FEW).contains(&different.len()) && x.iter().all(|x| x.fract() == 0.0) {
                    let note = format!(
                        "the covariate '{name}' has {} different whole numbers and was taken as a \
                         number; if they are names of categories, write them as words, such as b1",
                        different.len()
                    );
                    journal.note(0, "covariates", Event::Assumed { note });
                }
                Coding::Numbers { mean, sd }
            }
            values @ MetadataValues::Categories(_) => {
                let words = categories(values);
                complete(data, name, words.iter().map(Option::is_some))?;
                let mut names: Vec<String> = words.iter().flatten().cloned().collect();
                names.sort_unstable();
                names.dedup();
                if names.len() < 2 {
                    return Err(refused(name, "it is the same in all samples").into());
                }
                if names.len() == words.len() {
                    let why = "each sample has a value of its own, as IDs have";
                    return Err(refused(name, why).into());
                }
                let share = |name: &String| {
                    words.iter().flatten().filter(|w| *w == name).count() as f64
                        / words.len() as f64
                };
                let shares = names.iter().map(share).collect();
                Coding::Categories { names, shares }
            }
        };
        Ok(Self {
            name: name.to_owned(),
            coding,
        })
    }
    /// Names of its columns.
    fn columns(&self) -> Vec<String> {
        match &self.coding {
            Coding::Numbers { .. } => vec![self.name.clone()],
            Coding::Categories { names, .. } => (names.iter().skip(1))
                .map(|level| format!("{}={level}", self.name))
                .collect(),
        }
    }
    /// Its columns of some samples.
    fn coded(&self, data: &Dataset) -> Result<Vec<Vec<f64>>> {
        let name = &self.name;
        let found = column(data, name).ok_or_else(|| absent(data, name))?;
        match &self.coding {
            Coding::Numbers { mean, sd } => {
                let MetadataValues::Numbers(x) = &found.values else {
                    let why = "it holds words, where the model knows numbers";
                    return Err(refused(name, why).into());
                };
                complete(data, name, x.iter().map(|x| x.is_finite()))?;
                Ok(vec![x.iter().map(|x| (x - mean) / sd).collect()])
            }
            Coding::Categories { names, shares } => {
                let words = categories(&found.values);
                complete(data, name, words.iter().map(Option::is_some))?;
                for (word, sample) in words.iter().flatten().zip(data.samples()) {
                    if !names.contains(word) {
                        return Err(ErrorKind::UnknownCategory {
                            column: name.clone(),
                            category: word.clone(),
                            sample: sample.clone(),
                            known: names.clone(),
                        }
                        .into());
                    }
                }
                let indicator = |(level, share): (&String, &f64)| {
                    let sd = (share * (1.0 - share)).sqrt();
                    let one = |w: &String| (f64::from(u8::from(w == level)) - share) / sd;
                    words.iter().flatten().map(one).collect()
                };
                Ok(names.iter().zip(shares).skip(1).map(indicator).collect())
            }
        }
    }
}

/// An error that names the first sample without a value.
fn complete(data: &Dataset, name: &str, known: impl Iterator<Item = bool>) -> Result<()> {
    match known.zip(data.samples()).find(|(known, _)| !known) {
        None => Ok(()),
        Some((_, sample)) => Err(ErrorKind::NoCovariate {
            column: name.to_owned(),
            sample: sample.clone(),
        }
        .into()),
    }
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
    fn added(&self, samples: &[String], numbers: &[f64]) -> Result<Vec<f64>> {
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
    /// The numbers of the samples of `data`: `None` where these have none.
    fn numbers(&self, data: &Dataset, features: &[String]) -> Result<Option<Vec<f64>>> {
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
    fn numbers_of_new(
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
    fn unknown(&self) -> String {
        if self.is_size {
            let size = digits(self.reference.exp());
            format!("size {size}, the geometric mean of those of training")
        } else {
            let offset = digits(self.reference);
            format!("offset {offset}, the mean of those of training")
        }
    }
}

/// Refuses what cannot be adjusted, whatever the data.
///
/// # Errors
/// [`ErrorKind::Incompatible`], [`ErrorKind::UnknownView`].
pub(crate) fn validate(spec: &ModelSpec, views: &[View]) -> Result<()> {
    if !spec.adjusts() {
        return Ok(());
    }
    let what = "covariates and offsets";
    if spec.algorithm == Algorithm::Faithful {
        return Err(incompatible("", what, "the algorithm of mofapy2").into());
    }
    if spec.engine == EngineKind::Stochastic {
        let with = "the engine stochastic, whose batches do not bring them; take the engine vb";
        return Err(incompatible("", what, with).into());
    }
    if matches!(spec.path, Path::CompressSamples | Path::CompressFeatures) {
        return Err(incompatible("", what, "compression of the data").into());
    }
    for (name, offset) in &spec.offsets {
        let Some(view) = views.iter().find(|v| v.name() == name) else {
            return Err(ErrorKind::UnknownView {
                view: name.clone(),
                known: views.iter().map(|v| v.name().to_owned()).collect(),
            }
            .into());
        };
        let choices = spec.view(view.name());
        let likelihood = &choices.likelihood;
        if let Some(why) = likelihood.refuses(Way::Offset) {
            let with = format!("the likelihood {likelihood}: {why}");
            return Err(incompatible(name, "an offset", with).into());
        }
        if *offset == Offset::LogTotal && (!likelihood.is_count() || likelihood.has_trials()) {
            let with = format!("the likelihood {likelihood}: its data are no counts of one total");
            return Err(incompatible(name, "the offset log-total", with).into());
        }
        if choices.scaling == FeatureScaling::NormalScores {
            let with = "scaling = \"normal-scores\", which have no unit of the data";
            return Err(incompatible(name, "an offset", with).into());
        }
    }
    Ok(())
}

impl Adjustment {
    /// What the data say of the covariates and offsets of `spec`; `None` where there are none.
    ///
    /// # Errors
    /// For what cannot be one: [`ErrorKind::UnknownMetadata`], [`ErrorKind::NoCovariate`],
    /// [`ErrorKind::Covariate`], [`ErrorKind::BadOffset`].
    pub(crate) fn learn(
        spec: &ModelSpec,
        data: &Dataset,
        journal: &mut Journal,
    ) -> Result<Option<Self>> {
        if !spec.adjusts() {
            return Ok(None);
        }
        let mut out = Self::default();
        for name in &spec.covariates {
            out.covariates.push(Covariate::learn(data, name, journal)?);
        }
        let mut columns: Vec<Vec<f64>> = Vec::new();
        for covariate in &out.covariates {
            columns.extend(covariate.coded(data)?);
        }
        same(&out.column_names(), &columns)?;
        for (view, from) in &spec.offsets {
            let likelihood = spec.view(view).likelihood;
            let own = data.view(view);
            let mut offset = ViewOffset {
                view: view.clone(),
                from: from.clone(),
                is_size: likelihood.is_count() && !likelihood.has_trials(),
                reference: 0.0,
                shares: match (from, own) {
                    (Offset::LogTotal, Some(own)) => shares(own),
                    _ => Vec::new(),
                },
            };
            let features = own.map_or(&[][..], View::features);
            let numbers = offset.numbers(data, features)?;
            let numbers = match (numbers, from) {
                (Some(numbers), _) => numbers,
                (None, Offset::Column(name)) => return Err(absent(data, name).into()),
                (None, Offset::LogTotal) => continue,
            };
            let added = offset.added(data.samples(), &numbers)?;
            let seen: Vec<f64> = added.iter().copied().filter(|x| !x.is_nan()).collect();
            offset.reference = moments(&seen).0;
            let about = |x: &f64| {
                if x.is_nan() {
                    0.0
                } else {
                    x - offset.reference
                }
            };
            columns.push(added.iter().map(about).collect());
            out.offsets.push(offset);
        }
        out.training = columns;
        Ok(Some(out))
    }
    /// Takes over in what unit each view's predictors are.
    pub(crate) fn in_working_units(&mut self, infos: &[ViewInfo]) {
        let of = |o: &ViewOffset| {
            let info = infos.iter().find(|i| i.name == o.view)?;
            let Scaling { scale, .. } = &info.scaling;
            Some(scale.iter().map(|s| 1.0 / s).collect())
        };
        self.scales = (self.offsets.iter())
            .map(|o| of(o).unwrap_or_default())
            .collect();
    }
    /// Names of the columns of covariates: of a category `name=category`.
    pub(crate) fn column_names(&self) -> Vec<String> {
        self.covariates
            .iter()
            .flat_map(Covariate::columns)
            .collect()
    }
    /// Number of columns of covariates, and of offsets.
    pub(crate) fn counts(&self) -> (usize, usize) {
        (self.column_names().len(), self.offsets.len())
    }
    /// The columns of the training samples, while a fit is made.
    pub(crate) fn training(&self) -> &[Vec<f64>] {
        &self.training
    }
    /// The columns of the samples of `data` for a model of these views; the counts of the view
    /// `hidden` are nobody's to look at.
    ///
    /// # Errors
    /// As [`Adjustment::learn`]; [`ErrorKind::UnknownCategory`].
    pub(crate) fn of(
        &self,
        data: &Dataset,
        views: &[ViewInfo],
        hidden: Option<&str>,
        notes: &mut Vec<String>,
    ) -> Result<Mat<f64>> {
        let mut columns = Vec::new();
        for covariate in &self.covariates {
            columns.extend(covariate.coded(data)?);
        }
        for offset in &self.offsets {
            let info = views.iter().find(|v| v.name == offset.view);
            let features = info.map_or(&[][..], |v| &v.features);
            let is_hidden = hidden == Some(offset.view.as_str());
            let Some(numbers) = offset.numbers_of_new(data, features, is_hidden)? else {
                // of a view that nobody looks at it does not matter
                if is_hidden || data.view(&offset.view).is_some() {
                    notes.push(format!(
                        "view '{}': no offset is known of these samples; they get {}, as if it were known: \
                         intervals and standard deviations leave out how far samples differ",
                        offset.view,
                        offset.unknown()
                    ));
                }
                columns.push(vec![0.0; data.n_samples()]);
                continue;
            };
            let added = offset.added(data.samples(), &numbers)?;
            let about = |x: &f64| {
                if x.is_nan() {
                    0.0
                } else {
                    x - offset.reference
                }
            };
            columns.push(added.iter().map(about).collect());
        }
        Ok(Mat::from_fn(data.n_samples(), columns.len(), |n, j| {
            columns[j][n]
        }))
    }
    /// Puts the columns beside the factors of a model, and their coefficients beside the
    /// weights of each of its views.
    pub(crate) fn beside(&self, mut model: Model) -> Model {
        let rows = model.factors.moments().explicit_rows();
        let (covariates, offsets) = self.counts();
        // of parameters alone what is known of the samples is read with them
        let known = Mat::from_fn(rows, covariates + offsets, |n, j| {
            let column = self.training.get(j);
            column.and_then(|c| c.get(n)).copied().unwrap_or(0.0)
        });
        let put = |factors: Box<dyn RowBlock>| {
            Box::new(RowsBeside::about(factors, known.clone(), covariates))
        };
        let nothing = || -> Box<dyn RowBlock> {
            let none = RowMoments::point(Mat::zeros(0, 0));
            Box::new(polyview_priors::FullRows::new(
                "",
                polyview_priors::Fixed::standard_normal(0),
                none,
            ))
        };
        model.factors = put(std::mem::replace(&mut model.factors, nothing()));
        for part in &mut model.views {
            let ViewPart { name, weights, .. } = part;
            let columns = weights.moments().explicit_rows();
            let added = Mat::from_fn(columns, offsets, |d, j| {
                let own = self.offsets[j].view == *name;
                let scale = self.scales.get(j).and_then(|s| s.get(d));
                if own {
                    scale.copied().unwrap_or(1.0)
                } else {
                    0.0
                }
            });
            let own = std::mem::replace(weights, nothing());
            let called = format!("coefficients/{name}");
            *weights = Box::new(RowsBeside::with_coefficients(
                own,
                (called, covariates, COEFFICIENTS),
                added,
            ));
        }
        model
    }
}

/// Refuses columns that say the same as another one.
fn same(names: &[String], columns: &[Vec<f64>]) -> Result<()> {
    for (i, a) in columns.iter().enumerate() {
        for (j, b) in columns.iter().enumerate().take(i) {
            let both: f64 = a.iter().zip(b).map(|(a, b)| a * b).sum();
            if 1.0 - both.abs() / a.len().max(1) as f64 <= SAME {
                let why = format!("it says the same as '{}'", names[j]);
                return Err(refused(&names[i], why).into());
            }
        }
    }
    Ok(())
}

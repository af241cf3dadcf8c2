//! Covariates and offsets: what is known of samples and is not for the factors to explain
//! (spec/sites 9, docs/decisions/0057-covariates-beside-factors.md).

mod codes;
mod covariate;
mod offset;

use polyview_core::{
    Dataset, Event, FeatureScaling, GammaPrior, Journal, Metadata, RowBlock, RowMoments, Scaling,
    View, Way,
};
use polyview_infer::{Model, ViewPart};
use polyview_linalg::Mat;
use polyview_priors::RowsBeside;
use serde::{Deserialize, Serialize};

use covariate::{Covariate, same};
pub use offset::Offset;
use offset::ViewOffset;

use crate::error::{ErrorKind, Result};
use crate::fit::ViewInfo;
use crate::spec::{Algorithm, EngineKind, ModelSpec, Path};

/// Hyper-prior of the precision of a view's coefficients.
const COEFFICIENTS: GammaPrior = GammaPrior {
    shape: 1.0,
    rate: 1.0,
};
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

/// Mean and standard deviation.
fn moments(x: &[f64]) -> (f64, f64) {
    let count = x.len().max(1) as f64;
    let mean = x.iter().sum::<f64>() / count;
    let variance = x.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / count;
    (mean, variance.sqrt())
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

/// What is to be said of so many columns of covariates of samples, of which they are more than a third: of values that have
/// nothing to do with them $p$ columns explain $p/(N - 1)$ of the variance on average.
fn by_chance(columns: usize, samples: usize) -> Option<String> {
    let most = samples / 3;
    uses_up(columns, samples).then(|| {
        let share = columns as f64 / (samples as f64 - 1.0).max(1.0);
        format!(
            "{columns} columns of covariates for {samples} samples: of values that have nothing to do with them so many explain \
             up to {:.0} % by chance, and that is taken out too, so that little may be left for factors; adjust for fewer \
             (at most {most} columns here)",
            100.0 * share.min(1.0)
        )
    })
}

/// Whether so many columns of covariates are more than so many samples carry.
pub(crate) fn uses_up(columns: usize, samples: usize) -> bool {
    columns > samples / 3
}

/// What a model knows of samples beside its views.
pub(crate) struct Beside {
    /// Its covariates, samples × columns.
    pub(crate) covariates: Mat<f64>,
    /// What the offset of the view asked for adds to its predictors, about the mean over the
    /// samples of training; none where it has no offset.
    pub(crate) offset: Option<Vec<f64>>,
}

/// What a model of `spec` knows beside its views of the samples of `seen`, of whom it learns it, and
/// of `new`, of whom nobody is to look at `view`: what predictors that are compared with it may know.
///
/// # Errors
/// As [`Adjustment::learn`] and [`Adjustment::of`].
pub(crate) fn known_beside(
    spec: &ModelSpec,
    view: &str,
    [seen, new]: [&Dataset; 2],
) -> Result<[Beside; 2]> {
    let (mut own, mut others) = (Vec::new(), Vec::new());
    let mut said = Journal::default();
    for name in &spec.covariates {
        let covariate = Covariate::learn(seen, name, &mut said)?;
        own.extend(covariate.coded(seen)?);
        others.extend(covariate.coded(new)?);
    }
    let mut offsets = [None, None];
    if let Some(from) = spec.offsets.get(view)
        && let Some((offset, column)) = ViewOffset::learn((spec, view, from), seen, &mut said)?
    {
        let features = seen.view(view).map_or(&[][..], View::features);
        let of_new = offset.of_new((new, features), true, &mut Vec::new())?;
        let of_new = of_new.unwrap_or_else(|| vec![0.0; new.n_samples()]);
        offsets = [Some(column), Some(of_new)];
    }
    let matrix = |of: &[Vec<f64>], rows| Mat::from_fn(rows, of.len(), |n, j| of[j][n]);
    let [seen_offset, new_offset] = offsets;
    Ok([
        Beside {
            covariates: matrix(&own, seen.n_samples()),
            offset: seen_offset,
        },
        Beside {
            covariates: matrix(&others, new.n_samples()),
            offset: new_offset,
        },
    ])
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
        if let Some(note) = by_chance(columns.len(), data.n_samples()) {
            journal.note(0, "covariates", Event::Warning { note });
        }
        for (view, from) in &spec.offsets {
            if let Some((offset, column)) = ViewOffset::learn((spec, view, from), data, journal)? {
                columns.push(column);
                out.offsets.push(offset);
            }
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
    /// The mean of the offset of a view over the training samples, which is taken from it in predictors; `None` without one.
    pub(crate) fn reference(&self, view: &str) -> Option<f64> {
        let own = self.offsets.iter().find(|o| o.view == view);
        own.map(|o| o.reference)
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
    /// As [`Adjustment::learn`]; [`ErrorKind::UnknownCategory`], [`ErrorKind::NoOffset`].
    pub(crate) fn of(
        &self,
        data: &Dataset,
        views: &[ViewInfo],
        hidden: Option<&str>,
        notes: &mut Vec<String>,
    ) -> Result<Mat<f64>> {
        let mut columns = Vec::new();
        for covariate in &self.covariates {
            let coded = covariate.coded(data)?;
            notes.extend(covariate.far_off(&coded, data.samples()));
            columns.extend(coded);
        }
        for offset in &self.offsets {
            let info = views.iter().find(|v| v.name == offset.view);
            let features = info.map_or(&[][..], |v| &v.features);
            let is_hidden = hidden == Some(offset.view.as_str());
            let Some(column) = offset.of_new((data, features), is_hidden, notes)? else {
                // of a view that nobody looks at it does not matter; of one that is predicted those of training will do
                if !is_hidden && data.view(&offset.view).is_some() {
                    return Err(ErrorKind::NoOffset {
                        view: offset.view.clone(),
                        is_size: offset.is_size,
                    }
                    .into());
                }
                if is_hidden {
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
            columns.push(column);
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

//! A fitted model.

mod beside;
mod choices;
mod classes;
mod component;
mod constants;
mod convergence;
mod counted_more;
mod cut;
mod dispersion;
mod draws;
mod endings;
mod expected_counts;
mod far_levels;
mod fitting;
mod group_remarks;
mod heavy_tails;
mod intercepts;
mod kernels;
mod margins;
mod one_frame;
mod order;
mod parts;
mod place;
mod ranks;
mod reading;
mod record;
pub(crate) mod remarks;
pub(crate) mod short_fits;
mod similarities;
mod start;
mod states;
mod stochastic;
mod traced;
mod training;
mod view_info;
pub(crate) mod widths;

use std::borrow::Cow;

use polyview_core::{
    Event, Groups, Metadata, Rounding, RowGroups, RowMoments, State, StateReader, View, ViewTerm,
};
use polyview_infer::ViewPart;
use polyview_likelihoods::ParameterUncertainty;
use polyview_linalg::Mat;

pub use beside::Coefficients;
pub use component::{Component, ComponentView};
pub(crate) use constants::kept_and_left_out;
pub use convergence::{Convergence, Diagnostic, Mixing};
pub use fitting::{Checkpoint, Fitting, Progress};
pub use intercepts::InterceptEstimates;
pub use margins::{Repeated, Repeating};
pub use parts::{FitParts, Noise, ViewParts};
pub use reading::Reading;
pub use record::{FitRecord, Optimum};
pub(crate) use similarities::least_below_zero;
pub(crate) use start::GroupMeans;
pub(crate) use states::{saved_parameters, share};
pub(crate) use stochastic::{check as stochastic_goes, factors_alone};
pub(crate) use training::{Compared, Moments, cells};
pub use training::{GroupScales, TrainingScale};
pub use view_info::ViewInfo;

use crate::assemble;
use crate::compose::Composed;
use crate::error::{ErrorKind, Result};
use crate::spec::EngineKind;

/// A fitted model: the posterior, the choices it was made with, and what
/// happened. It can project new samples, predict views, impute, explain, and
/// be saved.
#[derive(Clone, Debug)]
pub struct Fit {
    pub(crate) composed: Composed,
    pub(crate) samples: Vec<String>,
    pub(crate) views: Vec<ViewInfo>,
    pub(crate) data: Option<Vec<View>>,
    /// What working units took from the data, one a view; none where they are
    /// not at hand or were given in working units.
    pub(crate) rounding: Vec<Rounding>,
    pub(crate) components: Vec<State>,
    /// What views were settled on, under the names that the joint fit's own has in its component.
    pub(crate) settled: State,
    /// Sums over all samples so far, where these cannot be made of the data.
    pub(crate) sums: Option<State>,
    pub(crate) record: FitRecord,
    pub(crate) groups: Option<Groups>,
    pub(crate) metadata: Vec<Metadata>,
    pub(crate) reading: Reading,
}

impl Fit {
    /// Sample IDs in the order of the factors' rows.
    pub fn samples(&self) -> &[String] {
        &self.samples
    }
    /// The views.
    pub fn views(&self) -> &[ViewInfo] {
        &self.views
    }
    /// The view of that name and its place.
    ///
    /// # Errors
    /// [`ErrorKind::UnknownView`].
    pub fn view(&self, name: &str) -> Result<(usize, &ViewInfo)> {
        self.views
            .iter()
            .enumerate()
            .find(|(_, v)| v.name == name)
            .ok_or_else(|| {
                ErrorKind::UnknownView {
                    view: name.to_owned(),
                    known: self.views.iter().map(|v| v.name.clone()).collect(),
                }
                .into()
            })
    }
    /// What happened.
    pub fn record(&self) -> &FitRecord {
        &self.record
    }
    /// Sample groups, if there were any.
    pub fn groups(&self) -> Option<&Groups> {
        self.groups.as_ref()
    }
    /// Metadata of the samples.
    pub fn metadata(&self) -> &[Metadata] {
        &self.metadata
    }
    /// Replaces the metadata: columns with the sample IDs they belong to, as a
    /// reader gives them. Samples without an entry have none.
    ///
    /// # Errors
    /// [`polyview_core::DataError::LengthMismatch`] when a column has not one
    /// value an ID.
    pub fn set_metadata(&mut self, columns: &[(Vec<String>, Metadata)]) -> Result<()> {
        self.metadata = columns
            .iter()
            .map(|(ids, column)| column.aligned(ids, &self.samples))
            .collect::<std::result::Result<_, _>>()?;
        Ok(())
    }
    /// Training data in working units, one view each; missing cells are zero.
    ///
    /// # Errors
    /// [`ErrorKind::NoData`] when the model was saved without them;
    /// [`ErrorKind::DataOnDisk`] of one from the engine stochastic, which may have
    /// read them block by block.
    pub fn data(&self) -> Result<&[View]> {
        self.data.as_deref().ok_or_else(|| {
            match self.run_options().engine {
                EngineKind::Stochastic => ErrorKind::DataOnDisk,
                EngineKind::Vb | EngineKind::Gibbs => ErrorKind::NoData,
            }
            .into()
        })
    }
    /// Forgets the training data: a smaller model file; `impute` and
    /// `explain` then need the data again. Where new samples can be taken into the model
    /// ([`Fit::update`]), the sums that this needs are kept in their place; a warning in the journal
    /// says so where they could not be made.
    pub fn forget_data(&mut self) {
        if self.sums.is_none() {
            match self.own_sums() {
                Ok(sums) => self.sums = sums,
                Err(e) => {
                    let note = format!("new samples cannot be taken in without the data: {e}");
                    self.note_before_the_end("data", Event::Warning { note });
                }
            }
        }
        self.data = None;
        self.rounding.clear();
        for view in &mut self.views {
            view.selves.clear();
        }
    }
    /// A value of the training data in data units, bit for bit as it was given;
    /// `None` where nothing was observed. Models that were saved by earlier
    /// releases, or come from other programs, hold working units alone: there it is
    /// the value to rounding.
    ///
    /// # Errors
    /// [`ErrorKind::UnknownView`]; [`ErrorKind::NoData`] when the model was saved
    /// without them.
    ///
    /// # Panics
    /// If there is no such sample or feature.
    pub fn observed(&self, view: &str, sample: usize, feature: usize) -> Result<Option<f64>> {
        let (at, _) = self.view(view)?;
        self.data()?;
        Ok(self.observed_at(at, sample, feature))
    }
    /// As [`Fit::observed`], of the view of that place.
    pub(crate) fn observed_at(&self, at: usize, sample: usize, feature: usize) -> Option<f64> {
        let (view, scaling) = (&self.data.as_ref()?[at], &self.views[at].scaling);
        match self.rounding.get(at) {
            Some(rounding) => rounding.value(scaling, view, sample, feature),
            None => Some(scaling.backward(feature, view.value(sample, feature)?)),
        }
    }
    /// Number of factors.
    pub fn k(&self) -> usize {
        self.components
            .first()
            .and_then(|c| c.arrays().get("factors/mean"))
            .and_then(|a| a.shape.get(1).copied())
            .unwrap_or(0)
    }
    /// Number of components of the posterior: 1 for variational Bayes, the
    /// stored draws for Gibbs.
    pub fn n_components(&self) -> usize {
        self.components.len()
    }
    /// Whether the posterior is made of draws.
    pub fn is_sampled(&self) -> bool {
        self.run_options().engine == EngineKind::Gibbs
    }
    /// The views without a sample.
    pub(crate) fn empty_views(&self) -> Result<Vec<View>> {
        self.views
            .iter()
            .map(|v| assemble::empty_view(&v.name, &v.features, &v.levels))
            .collect()
    }
    /// Reads one of the components: what all draws have in common is in the first.
    pub(crate) fn reader_of<'a>(&'a self, state: &'a State) -> StateReader<'a> {
        match self.components.first() {
            Some(first) => state.reader_over(first),
            None => state.reader(),
        }
    }
    /// Shows the parameters of a view under each component of the posterior in turn,
    /// in the blocks that they belong to.
    ///
    /// # Errors
    /// What `see` says; when a component's state is damaged.
    pub(crate) fn each_part(
        &self,
        view: usize,
        mut see: impl FnMut(&ViewPart) -> Result<()>,
    ) -> Result<()> {
        let v = &self.views[view];
        let empty = assemble::empty_view(&v.name, &v.features, &v.levels)?;
        let groups = assemble::several(self.groups());
        let posterior = ParameterUncertainty::Posterior;
        let composed = &self.composed;
        let mut model = composed.parameters(groups, vec![empty], self.k(), posterior)?;
        for state in &self.components {
            model.load_views("", &self.reader_of(state))?;
            see(&model.views[0])?;
        }
        Ok(())
    }
    /// Posterior mean and standard deviation of the factors, samples × K.
    ///
    /// # Errors
    /// When a component's state is damaged.
    pub fn factors(&self) -> Result<Estimate> {
        self.summarise(|c| Cow::Borrowed(c.factors()))
    }
    /// Posterior mean and standard deviation of the weights of a view,
    /// features (classes of a categorical view) × K, in **working** units (see [`ViewInfo::scaling`]).
    ///
    /// # Errors
    /// [`ErrorKind::UnknownView`]; when a component's state is damaged.
    pub fn weights(&self, view: &str) -> Result<Estimate> {
        let (at, _) = self.view(view)?;
        self.summarise(|c| Cow::Borrowed(&c.views[at].weights))
    }
    /// Names of the rows of the weights of a view: its features (or classes, or latent dimensions),
    /// those of each component in turn where components have weights of their
    /// own, as `feature (2)` for the second.
    ///
    /// # Errors
    /// [`ErrorKind::UnknownView`]; when a component's state is damaged.
    pub fn weight_rows(&self, view: &str) -> Result<Vec<String>> {
        let (at, info) = self.view(view)?;
        if !info.choices.local {
            return Ok(info.weight_rows().into_owned());
        }
        let components = self.component(0)?.views[at].term.shape().components;
        let of = |t: usize| info.columns().iter().map(move |c| format!("{c} ({t})"));
        Ok((1..=components.unwrap_or(1)).flat_map(of).collect())
    }
    /// Sizes r of the counts of a view whose variance has a parameter of its own, features ×
    /// groups that have sizes of their own (else one column): the variance of a
    /// count of mean μ is $\mu + \mu^2/r$. Over Gibbs draws the geometric mean;
    /// `None` for every other likelihood.
    ///
    /// # Errors
    /// [`ErrorKind::UnknownView`]; when a component's state is damaged.
    pub fn sizes(&self, view: &str) -> Result<Option<Mat<f64>>> {
        self.of_features(view, |term, g, d| Some(term.as_sizes()?.size(g, d)))
    }
    /// Shapes a of the numbers of a view whose variance is a share of their squared mean (gamma), features × groups that have
    /// shapes of their own (else one column): the variance of a number of mean μ is $\mu^2/a$. Over Gibbs draws the geometric
    /// mean; `None` for every other likelihood.
    ///
    /// # Errors
    /// [`ErrorKind::UnknownView`]; when a component's state is damaged.
    pub fn shapes(&self, view: &str) -> Result<Option<Mat<f64>>> {
        self.of_features(view, |term, g, d| term.law_shape(Some(g), d))
    }
    /// Geometric means over the components of a number that each feature has in each group, if it has one.
    fn of_features(
        &self,
        view: &str,
        of: impl Fn(&dyn ViewTerm, usize, usize) -> Option<f64>,
    ) -> Result<Option<Mat<f64>>> {
        let (at, info) = self.view(view)?;
        let mut out: Option<Mat<f64>> = None;
        for i in 0..self.components.len() {
            let component = self.component(i)?;
            let term = &component.views[at].term;
            let groups = term.groups().map_or(1, RowGroups::count);
            let logs = out.get_or_insert_with(|| Mat::zeros(info.features.len(), groups));
            for g in 0..logs.ncols() {
                for (d, sum) in logs.col_as_slice_mut(g).iter_mut().enumerate() {
                    let Some(own) = of(term.as_ref(), g, d) else {
                        return Ok(None);
                    };
                    *sum += own.ln() / self.components.len() as f64;
                }
            }
        }
        Ok(out.map(|logs| Mat::from_fn(logs.nrows(), logs.ncols(), |d, g| logs[(d, g)].exp())))
    }
    fn summarise(&self, block: impl Fn(&Component) -> Cow<'_, RowMoments>) -> Result<Estimate> {
        let mut sum: Option<(Mat<f64>, Mat<f64>)> = None;
        for i in 0..self.components.len() {
            let component = self.component(i)?;
            let m = block(&component);
            let (rows, k) = (m.explicit_rows(), m.k());
            let (mean, square) =
                sum.get_or_insert_with(|| (Mat::zeros(rows, k), Mat::zeros(rows, k)));
            for j in 0..k {
                for r in 0..rows {
                    let x = m.mean()[(r, j)];
                    mean[(r, j)] += x;
                    square[(r, j)] += x * x + m.variance(r, j);
                }
            }
        }
        let count = self.components.len().max(1) as f64;
        let (mut mean, mut sd) = sum.unwrap_or_else(|| (Mat::zeros(0, 0), Mat::zeros(0, 0)));
        for j in 0..mean.ncols() {
            for r in 0..mean.nrows() {
                let m = mean[(r, j)] / count;
                mean[(r, j)] = m;
                sd[(r, j)] = (sd[(r, j)] / count - m * m).max(0.0).sqrt();
            }
        }
        Ok(Estimate { mean, sd })
    }
}

/// Posterior means and standard deviations of the entries of a matrix.
#[derive(Clone, Debug)]
pub struct Estimate {
    /// Means.
    pub mean: Mat<f64>,
    /// Standard deviations.
    pub sd: Mat<f64>,
}

//! What stands beside factors and weights: covariates, offsets, coefficients.

use std::borrow::Cow;
use std::ops::AddAssign;

use polyview_core::{RowCov, RowMoments};
use polyview_linalg::{Mat, MatRef, PackedRows, SymPacked};

use super::{Component, ComponentView, Fit};
use crate::adjust::{Adjustment, Offset};
use crate::error::Result;

/// Coefficients of the covariates that a fit was adjusted for, in one view.
#[derive(Clone, Debug)]
pub struct Coefficients {
    /// What they belong to: covariates that are numbers, and `name=category` for each
    /// category but the first of those that are words.
    pub covariates: Vec<String>,
    /// Posterior means, features × covariates: working units for each standard
    /// deviation of the covariate.
    pub mean: Mat<f64>,
    /// Posterior standard deviations, features × covariates.
    pub sd: Mat<f64>,
}

impl Component {
    /// What is known of the samples beside their factors, samples × columns: of those that were
    /// placed, or of the fit's.
    pub(crate) fn known(&self) -> Option<MatRef<'_, f64>> {
        let of_fit = || self.factors.known();
        (self.known.as_ref()).map_or_else(of_fit, |k| Some(k.as_ref()))
    }
    /// Factors as data terms see them: with what is known of the samples beside them, and where
    /// their means follow covariates ([`RowBlock::slopes`]) with these means.
    ///
    /// [`RowBlock::slopes`]: polyview_core::RowBlock::slopes
    pub(crate) fn seen<'a>(&self, factors: &'a RowMoments) -> Cow<'a, RowMoments> {
        let Some(known) = self.known() else {
            return Cow::Borrowed(factors);
        };
        Cow::Owned(match self.factors.slopes() {
            Some(slopes) => {
                let means = known.subcols(0, slopes.nrows()) * slopes;
                factors.shifted(means.as_ref()).beside_known(known)
            }
            None => factors.beside_known(known),
        })
    }
    /// The means of [`Component::seen`] with all that covariates do in their own columns: factors
    /// without their part, and [`Component::take_apart`] puts it with their coefficients.
    pub(crate) fn apart(&self, factors: &RowMoments) -> Mat<f64> {
        match self.known() {
            Some(known) => factors.beside_known(known).mean().to_owned(),
            None => factors.mean().to_owned(),
        }
    }
    /// Makes the weights of all views, and what stands beside them, those of
    /// [`Component::apart`], as known numbers. Predictors are the same.
    pub(crate) fn take_apart(&mut self) {
        let Some(slopes) = self.factors.slopes() else {
            return;
        };
        for view in &mut self.views {
            let Some(seen) = &view.seen else { continue };
            let (k, covariates) = (view.weights.k(), view.coefficients);
            let mut mean = seen.mean().to_owned();
            let more = seen.mean().subcols(0, k) * slopes.transpose();
            mean.as_mut().subcols_mut(k, covariates).add_assign(&more);
            view.seen = Some(RowMoments::point(mean));
        }
    }
    /// Coefficients of the covariates in a view with what factors that follow them do, rows of the
    /// weights × covariates: $b\_d + Aw\_d$.
    fn of_covariates(&self, view: usize) -> Option<RowMoments> {
        let own = self.views[view].of_covariates()?;
        let Some(slopes) = self.factors.slopes() else {
            return Some(own);
        };
        let weights = &self.views[view].weights;
        let mean = own.mean() + weights.mean() * slopes.transpose();
        let rows = mean.nrows();
        let mut cov = PackedRows::zeros(rows, mean.ncols());
        for d in 0..rows {
            let of_means = slopes * weights.row_cov(d).to_mat() * slopes.transpose();
            let own = own.row_cov(d);
            let both = SymPacked::from_lower(own.k(), |i, j| own.get(i, j) + of_means[(i, j)]);
            cov.row_mut(d).copy_from_slice(both.as_slice());
        }
        Some(RowMoments::new(mean, RowCov::PerRow(cov), 0.0, 0))
    }
}

impl ComponentView {
    /// Weights as data terms see them: with what stands beside them.
    pub(crate) fn seen(&self) -> &RowMoments {
        self.seen.as_ref().unwrap_or(&self.weights)
    }
    /// As [`ComponentView::seen`], of weights and coefficients that were drawn.
    ///
    /// # Errors
    /// What `draw` says.
    pub(crate) fn drawn(
        &self,
        draw: impl FnOnce(&RowMoments) -> Result<RowMoments>,
    ) -> Result<RowMoments> {
        let Some(seen) = &self.seen else {
            return draw(&self.weights);
        };
        let learnt = self.weights.k() + self.coefficients;
        let mut own = seen.clone();
        own.select(&(0..learnt).collect::<Vec<_>>(), &vec![1.0; learnt]);
        let known = seen.mean().subcols(learnt, seen.k() - learnt);
        Ok(draw(&own)?.beside_known(known))
    }
    /// Coefficients of the covariates, rows of the weights × covariates.
    fn of_covariates(&self) -> Option<RowMoments> {
        let (k, more) = (self.weights.k(), self.coefficients);
        let mut own = self.seen.clone()?;
        own.select(&(k..k + more).collect::<Vec<_>>(), &vec![1.0; more]);
        Some(own)
    }
}

impl Fit {
    /// What the fit was adjusted for, in words: columns of the metadata and offsets of views;
    /// `None` of a fit that was not, or whose composer has no specification.
    pub fn adjusted_for(&self) -> Option<String> {
        let spec = self.spec().filter(|spec| spec.adjusts())?;
        let offset = |(view, offset): (&String, &Offset)| match offset {
            Offset::LogTotal => format!("the total counts of {view} (offset)"),
            // a table of its own is called after its view
            Offset::Column(name) if *name == Offset::column_of(view) => {
                format!("the offset of {view}")
            }
            Offset::Column(name) => format!("'{name}' (offset of {view})"),
        };
        let covariates = spec.covariates.iter().map(|name| format!("'{name}'"));
        let all: Vec<String> = covariates.chain(spec.offsets.iter().map(offset)).collect();
        Some(all.join(", "))
    }
    /// The columns of [`Fit::metadata`] that the model has seen: that of the groups, covariates
    /// and offsets.
    pub fn metadata_in_the_fit(&self) -> Vec<&str> {
        let known = |name: &str| self.metadata().iter().find(|m| m.name == name);
        let groups = self.reading().groups.iter().map(String::as_str);
        let covariates = (self.spec().into_iter())
            .flat_map(|s| &s.covariates)
            .map(String::as_str);
        let offsets = (self.spec().into_iter()).flat_map(|s| s.offsets.values());
        let offsets = offsets.filter_map(|o| match o {
            Offset::Column(name) => Some(name.as_str()),
            Offset::LogTotal => None,
        });
        let all = groups.chain(covariates).chain(offsets).filter_map(known);
        all.map(|m| m.name.as_str()).collect()
    }
    /// Names of the covariates that the fit was adjusted for.
    pub fn covariates(&self) -> Vec<String> {
        let adjustment = self.composed.adjustment.as_deref();
        adjustment.map_or_else(Vec::new, Adjustment::column_names)
    }
    /// Coefficients of the covariates in a view; of a fit without covariates none.
    ///
    /// # Errors
    /// [`ErrorKind::UnknownView`](crate::ErrorKind); when a component's state is damaged.
    pub fn coefficients(&self, view: &str) -> Result<Option<Coefficients>> {
        let (at, _) = self.view(view)?;
        let covariates = self.covariates();
        if covariates.is_empty() {
            return Ok(None);
        }
        let found = self.summarise(|c| {
            let own = c.of_covariates(at);
            Cow::Owned(own.unwrap_or_else(|| RowMoments::point(Mat::zeros(0, 0))))
        })?;
        Ok(Some(Coefficients {
            covariates,
            mean: found.mean,
            sd: found.sd,
        }))
    }
}

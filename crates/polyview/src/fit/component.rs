//! Components of a posterior.

use std::sync::Arc;

use polyview_core::{
    Bias, PrecisionView, Predictor, RowBlock, RowGroups, RowMoments, Stateful, ViewTerm,
};
use polyview_infer::Model;
use polyview_likelihoods::ParameterUncertainty;
use polyview_linalg::Mat;

use super::{Fit, place};
use crate::assemble;
use crate::error::{Error, ErrorKind, Result};

/// One component of the posterior: the variational one, or one Gibbs draw
/// (whose covariances are zero).
pub struct Component {
    /// Factors, with their prior.
    pub(crate) factors: Box<dyn RowBlock>,
    /// Views in the order of the fit.
    pub views: Vec<ComponentView>,
    /// Groups of the samples that terms and intercepts speak of, where there
    /// are several.
    pub(crate) groups: Option<RowGroups>,
    /// What is known of other samples than the fit's beside their factors, samples × columns.
    pub(crate) known: Option<Mat<f64>>,
}

/// One view of a [`Component`].
pub struct ComponentView {
    /// Weights, features × K, in working units.
    pub weights: RowMoments,
    /// Weights with the coefficients of covariates and the units of offsets behind them, where
    /// there are any.
    pub(super) seen: Option<RowMoments>,
    /// Number of coefficients beside the weights of a row.
    pub(super) coefficients: usize,
    /// Intercepts, in working units.
    pub bias: Bias,
    /// The likelihood with its parameters, without data.
    pub term: Box<dyn ViewTerm>,
}

impl Component {
    /// Factors, samples × K.
    pub fn factors(&self) -> &RowMoments {
        self.factors.moments()
    }
    /// Expected prior precisions of the factors, in rows the samples.
    pub fn factor_precision(&self) -> PrecisionView<'_> {
        self.factors.precision()
    }
}

impl ComponentView {
    /// Variance that link and noise add to a column; with groups the mean over
    /// the samples.
    pub(crate) fn link_variance(&self, column: usize) -> f64 {
        self.term.mean_link_variance(&self.bias, column)
    }
    /// Weights and intercepts at their means.
    fn known(mut self) -> Self {
        self.weights = RowMoments::point(self.weights.mean().to_owned());
        if let Some(seen) = &mut self.seen {
            *seen = RowMoments::point(seen.mean().to_owned());
        }
        let (mean, columns) = (self.bias.mean().to_vec(), self.bias.mean().len());
        self.bias.set(mean, vec![0.0; columns]);
        self
    }
}

impl Fit {
    /// One component of the posterior.
    ///
    /// # Errors
    /// [`ErrorKind::NoComponent`] when there is none of that number; an error from
    /// [`polyview_core::NumericError::BadState`] when the state is damaged.
    pub fn component(&self, index: usize) -> Result<Component> {
        self.component_as(index, ParameterUncertainty::Posterior)
    }
    /// One component of the posterior for predictions: with
    /// [`ParameterUncertainty::PlugIn`] weights and intercepts are known.
    pub(crate) fn component_as(
        &self,
        index: usize,
        parameters: ParameterUncertainty,
    ) -> Result<Component> {
        self.component_for(index, parameters, None)
    }
    /// As [`Fit::component_as`], where `target` is predicted from other views alone: it has what
    /// it was settled on, if it was.
    pub(crate) fn component_for(
        &self,
        index: usize,
        parameters: ParameterUncertainty,
        target: Option<usize>,
    ) -> Result<Component> {
        let state = self
            .components
            .get(index)
            .ok_or(ErrorKind::NoComponent {
                index,
                count: self.components.len(),
            })
            .map_err(Error::from)?;
        let (k, groups) = (self.k(), assemble::several(self.groups()));
        let views = self.empty_views()?;
        let mut model = self.composed.parameters(groups, views, k, parameters)?;
        let read = self.reader_of(state);
        model.load("", &read)?;
        let Model {
            factors, mut views, ..
        } = model;
        if let Some(at) = target.filter(|at| self.holds_settled(*at)) {
            views[at].load("", &self.settled.reader())?;
        }
        place::borrow_levels(&mut views);
        let mut out = Component {
            factors,
            groups: None,
            known: None,
            views: views
                .into_iter()
                .map(|v| ComponentView {
                    weights: v.weights.moments().clone(),
                    seen: (v.weights.known()).map(|_| v.weights.seen().clone()),
                    coefficients: v.weights.coefficients().map_or(0, RowMoments::k),
                    bias: v.bias,
                    term: v.term,
                })
                .map(|v| match parameters {
                    ParameterUncertainty::Posterior => v,
                    ParameterUncertainty::PlugIn => v.known(),
                })
                .collect(),
        };
        if let Some(groups) = groups {
            out.place(&RowGroups::from(groups));
        }
        if let Some(shares) = out.factors.shares() {
            let shares = Arc::clone(shares);
            out.share(&shares);
        }
        let Component { factors, views, .. } = &mut out;
        for view in views {
            let weights = view.seen().clone();
            if let Some(conditioned) = view.term.as_conditioned() {
                conditioned.condition(&Predictor {
                    factors: factors.seen(),
                    weights: &weights,
                    bias: &view.bias,
                });
            }
        }
        Ok(out)
    }
}

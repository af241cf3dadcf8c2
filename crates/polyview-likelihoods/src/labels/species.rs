//! Other zeros and ones, as species.

use polyview_core::{
    About, DataError, Domain, LikelihoodSpecies, Options, TermContext, View, ViewTerm, Way,
};

use super::{BayesianSvm, Probit};
use crate::cells::cell_term;

/// [`BayesianSvm`] as a species.
#[derive(Clone, Copy, Debug, Default)]
pub struct BayesianSvmSpecies;

impl LikelihoodSpecies for BayesianSvmSpecies {
    fn name(&self) -> &'static str {
        "svm"
    }
    fn about(&self) -> About {
        About {
            line: "zeros and ones by a Bayesian support vector machine, a pseudo-likelihood",
            needs: "0 or 1",
            label: "maxmargin-rank 2.3",
            options: &[],
        }
    }
    fn domain(&self) -> Domain {
        Domain::Binary
    }
    fn refuses(&self, _way: Way, _options: &Options) -> Option<String> {
        None
    }
    fn term(
        &self,
        view: View,
        _options: &Options,
        cx: &TermContext,
    ) -> Result<Box<dyn ViewTerm>, DataError> {
        let prediction = cx.prediction;
        cell_term(view, BayesianSvm { prediction }, cx)
    }
}

/// [`Probit`] as a species.
#[derive(Clone, Copy, Debug, Default)]
pub struct ProbitSpecies;

impl LikelihoodSpecies for ProbitSpecies {
    fn name(&self) -> &'static str {
        "probit"
    }
    fn about(&self) -> About {
        About {
            line: "zeros and ones by the normal distribution function",
            needs: "0 or 1",
            label: "maxmargin-rank 4.4",
            options: &[],
        }
    }
    fn domain(&self) -> Domain {
        Domain::Binary
    }
    fn refuses(&self, _way: Way, _options: &Options) -> Option<String> {
        None
    }
    fn term(
        &self,
        view: View,
        _options: &Options,
        cx: &TermContext,
    ) -> Result<Box<dyn ViewTerm>, DataError> {
        let prediction = cx.prediction;
        cell_term(view, Probit { prediction }, cx)
    }
}

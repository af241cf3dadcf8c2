//! Other zeros and ones, as species.

use polyview_core::{
    About, DataError, Domain, LikelihoodSpecies, OptionError, Options, TermContext, View, ViewTerm,
    Way,
};

use super::{BayesianSvm, Probit};
use crate::cells::cell_term;
use crate::scalar::{FORM, OfForm};

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
            options: &[FORM],
        }
    }
    fn domain(&self) -> Domain {
        Domain::Binary
    }
    fn defaults(&self) -> Options {
        Options::of(&OfForm::default()).unwrap_or_default()
    }
    fn check(&self, options: &Options) -> Result<(), OptionError> {
        options.read::<OfForm>().map(|_| ())
    }
    fn refuses(&self, way: Way, options: &Options) -> Option<String> {
        options.read::<OfForm>().ok()?.form.refuses(way)
    }
    fn term(
        &self,
        view: View,
        options: &Options,
        cx: &TermContext,
    ) -> Result<Box<dyn ViewTerm>, DataError> {
        let (chosen, prediction): (OfForm, _) = (options.read()?, cx.prediction);
        chosen.form.term(view, Probit { prediction }, cx)
    }
}

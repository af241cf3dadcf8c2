//! What polyview is told of it.

use polyview_core::{
    About, DataError, Domain, LikelihoodSpecies, OptionError, Options, TermContext, View, ViewTerm,
};
use polyview_likelihoods::Cells;
use serde::{Deserialize, Serialize};

use crate::StudentT;

/// [`StudentT`] as a species.
#[derive(Clone, Copy, Debug, Default)]
pub struct StudentTSpecies;

/// Options of Student's t noise, however it is fitted.
#[derive(Serialize, Deserialize)]
pub(crate) struct Choices {
    pub(crate) nu: f64,
}

/// What they are, in words.
pub(crate) const OPTIONS: &[(&str, &str)] = &[("nu", "degrees of freedom, above 2")];

impl Choices {
    pub(crate) fn defaults() -> Options {
        Options::of(&Self { nu: 4.0 }).unwrap_or_default()
    }
    pub(crate) fn check(options: &Options) -> Result<(), OptionError> {
        let Self { nu } = options.read()?;
        if nu > 2.0 && nu.is_finite() {
            return Ok(());
        }
        Err(OptionError::Value {
            option: "nu".to_owned(),
            value: nu.to_string(),
            needs: "more than 2, so that there is a variance".to_owned(),
        })
    }
}

impl LikelihoodSpecies for StudentTSpecies {
    fn name(&self) -> &'static str {
        "student-t"
    }
    fn about(&self) -> About {
        About {
            line: "real numbers with Student's t noise: a few may be far off",
            needs: "numbers",
            label: "",
            options: OPTIONS,
        }
    }
    fn domain(&self) -> Domain {
        Domain::Reals
    }
    fn defaults(&self) -> Options {
        Choices::defaults()
    }
    fn check(&self, options: &Options) -> Result<(), OptionError> {
        Choices::check(options)
    }
    fn term(
        &self,
        view: View,
        options: &Options,
        cx: &TermContext,
    ) -> Result<Box<dyn ViewTerm>, DataError> {
        let Choices { nu } = options.read()?;
        let likelihood = StudentT::new(nu, cx.noise_prior);
        Ok(Box::new(Cells::new(view, likelihood)?))
    }
}

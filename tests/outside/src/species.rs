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

/// Its options.
#[derive(Serialize, Deserialize)]
struct Choices {
    nu: f64,
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
            options: &[("nu", "degrees of freedom, above 2")],
        }
    }
    fn domain(&self) -> Domain {
        Domain::Reals
    }
    fn defaults(&self) -> Options {
        Options::of(&Choices { nu: 4.0 }).unwrap_or_default()
    }
    fn check(&self, options: &Options) -> Result<(), OptionError> {
        let Choices { nu } = options.read()?;
        if nu > 2.0 && nu.is_finite() {
            return Ok(());
        }
        Err(OptionError::Value {
            option: "nu".to_owned(),
            value: nu.to_string(),
            needs: "more than 2, so that there is a variance".to_owned(),
        })
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

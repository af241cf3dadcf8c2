//! Student's t noise again, from its log density alone: no bound, no augmentation. The engine
//! makes its sites, draws around them, and finds its predictive laws.

use polyview_core::{
    About, DataError, Domain, GammaPrior, LikelihoodSpecies, OptionError, Options, TermContext,
    View, ViewTerm,
};
use polyview_likelihoods::{Cell, Expected, ScalarLikelihood, ScalarParameter};
use polyview_special::{Real, ln_gamma};

use crate::species::{Choices, OPTIONS};

/// Numbers with Student's t noise of ν degrees of freedom and a scale for each feature.
#[derive(Clone, Debug)]
pub struct HeavyTails {
    nu: f64,
}

impl ScalarLikelihood for HeavyTails {
    fn needs(&self) -> &'static str {
        "numbers"
    }
    fn domain(&self) -> Domain {
        Domain::Reals
    }
    fn ln_density<R: Real>(&self, cell: Cell, eta: R, scale: R) -> R {
        let (nu, u) = (self.nu, (eta - cell.value) / scale);
        let constant = ln_gamma(0.5 * (nu + 1.0)) - ln_gamma(0.5 * nu);
        let constant = constant - 0.5 * (nu * std::f64::consts::PI).ln();
        (u.square() / nu).ln_1p() * (-0.5 * (nu + 1.0)) - scale.ln() + constant
    }
    fn sharpness(&self, scale: f64) -> f64 {
        // its poles are at √ν scales from the real axis
        4.0 / (self.nu.sqrt() * scale)
    }
    fn parameter(&self) -> Option<ScalarParameter> {
        Some(ScalarParameter {
            name: "scale",
            prior: GammaPrior {
                shape: 2.0,
                rate: 2.0,
            },
            range: (1e-3, 1e3),
        })
    }
}

/// [`HeavyTails`] as a species.
#[derive(Clone, Copy, Debug, Default)]
pub struct HeavyTailsSpecies;

impl LikelihoodSpecies for HeavyTailsSpecies {
    fn name(&self) -> &'static str {
        "heavy-tails"
    }
    fn about(&self) -> About {
        About {
            line: "real numbers with Student's t noise, by its density",
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
        _cx: &TermContext,
    ) -> Result<Box<dyn ViewTerm>, DataError> {
        let Choices { nu } = options.read()?;
        Ok(Box::new(Expected::new(view, HeavyTails { nu })?))
    }
}

//! Real numbers with normal noise, as a species.

use polyview_core::{
    About, DataError, Domain, Guess, LikelihoodSpecies, Options, TermContext, View, ViewTable,
    ViewTerm, Way,
};

use super::{Gaussian, GaussianOptions};

/// [`Gaussian`] as a species.
#[derive(Clone, Copy, Debug, Default)]
pub struct GaussianSpecies;

impl LikelihoodSpecies for GaussianSpecies {
    fn name(&self) -> &'static str {
        "gaussian"
    }
    fn about(&self) -> About {
        About {
            line: "real numbers with normal noise",
            needs: "numbers",
            label: "sshiba 1.2",
            options: &[],
        }
    }
    fn domain(&self) -> Domain {
        Domain::Reals
    }
    fn has_plain_regression(&self) -> bool {
        true
    }
    fn refuses(&self, way: Way, _options: &Options) -> Option<String> {
        (way == Way::Components).then(|| "real numbers have one set of weights".to_owned())
    }
    /// Whatever is not anything else.
    fn guess(&self, table: &ViewTable) -> Option<Guess> {
        let whole = table
            .cells()
            .all(|c| c.2.is_nan() || (c.2 >= 0.0 && c.2.fract() == 0.0));
        let counts = whole && table.cells().any(|c| c.2 > 1.0);
        table.levels().is_empty().then(|| Guess {
            strength: 1,
            why: if counts {
                "whole numbers from 0 on"
            } else {
                "numbers"
            }
            .to_owned(),
            when: "they are measurements",
        })
    }
    fn term(
        &self,
        view: View,
        _options: &Options,
        cx: &TermContext,
    ) -> Result<Box<dyn ViewTerm>, DataError> {
        let options = GaussianOptions {
            noise: cx.noise,
            prior: cx.noise_prior,
            missing: cx.missing,
            start: cx.start_noise,
        };
        let term = Gaussian::new(view, options);
        Ok(Box::new(term.with_prediction(cx.prediction)))
    }
}

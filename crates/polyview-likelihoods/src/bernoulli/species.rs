//! Zeros and ones of a logistic function, as species.

use polyview_core::{
    About, DataError, Domain, Guess, LikelihoodSpecies, OptionError, Options, TermContext, View,
    ViewTable, ViewTerm, Way,
};
use serde::{Deserialize, Serialize};

use super::{Bernoulli, LatentBernoulli, LatentBernoulliOptions};
use crate::scalar::{FORM, OfForm};

/// [`Bernoulli`] as a species.
#[derive(Clone, Copy, Debug, Default)]
pub struct BernoulliSpecies;

impl LikelihoodSpecies for BernoulliSpecies {
    fn name(&self) -> &'static str {
        "bernoulli"
    }
    fn aliases(&self) -> &'static [&'static str] {
        &["multilabel"]
    }
    fn about(&self) -> About {
        About {
            line: "zeros and ones, any number of labels for each sample, by the logistic function",
            needs: "0 or 1",
            label: "mofa A.2",
            options: &[FORM],
        }
    }
    fn domain(&self) -> Domain {
        Domain::Binary
    }
    fn has_plain_regression(&self) -> bool {
        true
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
    fn guess(&self, table: &ViewTable) -> Option<Guess> {
        let mut known = table
            .cells()
            .map(|c| c.2)
            .filter(|x| !x.is_nan())
            .peekable();
        let some = known.peek().is_some() && table.levels().is_empty();
        (some && known.all(|x| x == 0.0 || x == 1.0)).then(|| Guess {
            strength: 3,
            why: "all values are 0 or 1".to_owned(),
            when: "they are labels",
        })
    }
    fn term(
        &self,
        view: View,
        options: &Options,
        cx: &TermContext,
    ) -> Result<Box<dyn ViewTerm>, DataError> {
        let (chosen, prediction): (OfForm, _) = (options.read()?, cx.prediction);
        chosen.form.term(view, Bernoulli { prediction }, cx)
    }
}

/// [`LatentBernoulli`] as a species.
#[derive(Clone, Copy, Debug, Default)]
pub struct LatentBernoulliSpecies;

/// What one may choose of it.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Chosen {
    /// Rounds of scores and local numbers in a sweep.
    rounds: usize,
}

impl Default for Chosen {
    fn default() -> Self {
        Self {
            rounds: LatentBernoulliOptions::default().rounds,
        }
    }
}

impl LikelihoodSpecies for LatentBernoulliSpecies {
    fn name(&self) -> &'static str {
        "bernoulli-latent"
    }
    fn about(&self) -> About {
        About {
            line: "zeros and ones of a noisy latent score, SSHIBA's own form",
            needs: "0 or 1",
            label: "sshiba 1.4",
            options: &[("rounds", "rounds of scores and local numbers in a sweep")],
        }
    }
    fn domain(&self) -> Domain {
        Domain::Binary
    }
    fn defaults(&self) -> Options {
        Options::of(&Chosen::default()).unwrap_or_default()
    }
    fn check(&self, options: &Options) -> Result<(), OptionError> {
        let chosen: Chosen = options.read()?;
        if chosen.rounds == 0 {
            return Err(OptionError::Value {
                option: "rounds".to_owned(),
                value: "0".to_owned(),
                needs: "a sweep has one round at least".to_owned(),
            });
        }
        Ok(())
    }
    fn learns_spread(&self, _options: &Options) -> bool {
        true
    }
    fn refuses(&self, way: Way, _options: &Options) -> Option<String> {
        match way {
            Way::Sparse => Some("keeps a number for every cell".to_owned()),
            Way::Components => Some("its scores have one set of weights".to_owned()),
            _ => None,
        }
    }
    fn term(
        &self,
        view: View,
        options: &Options,
        cx: &TermContext,
    ) -> Result<Box<dyn ViewTerm>, DataError> {
        let chosen: Chosen = options.read()?;
        let options = LatentBernoulliOptions {
            prior: cx.noise_prior,
            missing: cx.missing,
            prediction: cx.prediction,
            rounds: chosen.rounds,
            ..LatentBernoulliOptions::default()
        };
        Ok(Box::new(LatentBernoulli::new(view, options)?))
    }
}

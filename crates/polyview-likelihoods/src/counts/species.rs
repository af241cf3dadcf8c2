//! Counts, as species.

use polyview_core::{
    About, DataError, Domain, GammaPrior, Guess, LikelihoodSpecies, Observed, OptionError, Options,
    TermContext, View, ViewTable, ViewTerm, Way,
};
use serde::{Deserialize, Deserializer, Serialize};

use super::{Binomial, Curvature, LogPoisson, NEEDS, NegativeBinomial, Poisson, PoissonLogNormal};
use crate::cells::cell_term;
use crate::learnt::{Learnt, proper};
use crate::scalar::{Expected, FORM, Form, OfForm};

/// Counts above this are large: the bounds of likelihoods with sites as steep as
/// the counts are slow to move there. A round number: it chooses what a hint says.
const LARGE: f64 = 100.0;

/// Mean count above which the bound of [`Poisson`] may lose factors.
///
/// Measured by deviance explained of 15 % hidden counts, 200 samples x 60 features
/// of three factors, six asked for. Counts with a logarithmic link: from means of
/// 2 on the negative binomial explains more (0.62 against 0.54 at a mean of 1.9,
/// 0.77 against 0.60 at 3.7, 0.89 against 0.63 at 9.3, 0.97 against 0 at 37).
/// With a softplus link, `poisson`'s own, and strong factors `poisson` explains
/// more up to means of 10 (0.54 against 0.49 at 5, 0.50 against 0.68 at 20); where
/// factors are weak it loses them from 4 on (0.12 against 0.20; at 7 0.11 against
/// 0.32).
const LOOSE_MEAN: f64 = 4.0;

/// The largest value of a table of whole numbers from zero on, not all of them 0 or 1.
fn largest_count(table: &ViewTable) -> Option<f64> {
    let is_count = |x: f64| x.is_nan() || (x >= 0.0 && x.fract() == 0.0);
    if !table.levels().is_empty() || !table.cells().all(|c| is_count(c.2)) {
        return None;
    }
    let largest = table.cells().fold(0.0_f64, |m, c| m.max(c.2));
    (largest > 1.0).then_some(largest)
}

/// What is said beside the guess of real numbers.
fn if_counts(table: &ViewTable, large: bool) -> Option<Guess> {
    let largest = largest_count(table)?;
    ((largest > LARGE) == large).then(|| Guess {
        strength: 0,
        why: "whole numbers from 0 on".to_owned(),
        when: "they are counts",
    })
}

fn one_set_of_weights(way: Way) -> Option<String> {
    (way == Way::Components).then(|| "counts have one set of weights".to_owned())
}

/// [`LogPoisson`] and [`Poisson`] as a species.
#[derive(Clone, Copy, Debug, Default)]
pub struct PoissonSpecies;

/// How the rate of counts follows from the predictor.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum Rate {
    /// $e^\eta$.
    #[default]
    Exponential,
    /// $\ln(1 + e^\eta)$, MOFA's.
    Softplus,
}

#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct PoissonChoices {
    rate: Rate,
    curvature: Curvature,
}

impl LikelihoodSpecies for PoissonSpecies {
    fn name(&self) -> &'static str {
        "poisson"
    }
    fn about(&self) -> About {
        About {
            line: "counts whose variance is their mean",
            needs: NEEDS,
            label: "sites 1.5",
            options: &[
                (
                    "rate",
                    "how the rate follows from the predictor: exponential, or softplus, MOFA's form \
                     by its bound",
                ),
                (
                    "curvature",
                    "over which counts the bound of rate=softplus takes its curvature: cell or feature",
                ),
            ],
        }
    }
    fn domain(&self) -> Domain {
        Domain::COUNTS
    }
    fn for_more_variance(&self) -> Option<&'static str> {
        Some("negative-binomial (nb) or poisson-log-normal (pln)")
    }
    fn defaults(&self) -> Options {
        Options::of(&PoissonChoices::default()).unwrap_or_default()
    }
    fn check(&self, options: &Options) -> Result<(), OptionError> {
        options.read::<PoissonChoices>().map(|_| ())
    }
    fn refuses(&self, way: Way, options: &Options) -> Option<String> {
        let softplus = options
            .read::<PoissonChoices>()
            .is_ok_and(|c| c.rate == Rate::Softplus);
        match way {
            Way::Gibbs if softplus => Some(
                "its softplus rate has no sampler; take rate=exponential, the likelihood \
                 negative-binomial, or variational Bayes (engine vb)"
                    .to_owned(),
            ),
            Way::Stochastic if !softplus => {
                Some("takes rate=softplus there: expectation sites are of all samples".to_owned())
            }
            Way::Offset if softplus => Some(
                "its rate is no exponential of the predictor: a size that counts are multiplied by \
                 is nothing added there; take rate=exponential"
                    .to_owned(),
            ),
            _ => one_set_of_weights(way),
        }
    }
    fn remarks(&self, data: &Observed<'_>) -> Vec<String> {
        let chosen = data.options.over(&self.defaults());
        let chosen = chosen.and_then(|o| o.read::<PoissonChoices>());
        let softplus = chosen.is_ok_and(|c| c.rate == Rate::Softplus);
        let mean = data.mean;
        if softplus && mean > LOOSE_MEAN {
            vec![format!(
                "the counts are {mean:.1} on average: above {LOOSE_MEAN} the bound of rate=softplus is so \
                 loose that factors may be lost; take rate=exponential, negative-binomial, or \
                 poisson-log-normal where many counts are above a hundred"
            )]
        } else {
            Vec::new()
        }
    }
    fn term(
        &self,
        view: View,
        options: &Options,
        cx: &TermContext,
    ) -> Result<Box<dyn ViewTerm>, DataError> {
        let choices: PoissonChoices = options.read()?;
        let prediction = cx.prediction;
        match choices.rate {
            Rate::Exponential => Ok(Box::new(Expected::new(view, LogPoisson { prediction })?)),
            Rate::Softplus => {
                let law = Poisson::new(choices.curvature).with_prediction(prediction);
                cell_term(view, law, cx)
            }
        }
    }
}

/// [`NegativeBinomial`] as a species.
#[derive(Clone, Copy, Debug, Default)]
pub struct NegativeBinomialSpecies;

#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct NegativeBinomialChoices {
    #[serde(deserialize_with = "size")]
    size: Learnt,
    prior: GammaPrior,
    form: Form,
}

fn size<'de, D: Deserializer<'de>>(d: D) -> Result<Learnt, D::Error> {
    Learnt::read("size", d)
}

impl Default for NegativeBinomialChoices {
    fn default() -> Self {
        Self {
            size: Learnt::FromData,
            prior: NegativeBinomial::default().prior,
            form: Form::default(),
        }
    }
}

impl LikelihoodSpecies for NegativeBinomialSpecies {
    fn name(&self) -> &'static str {
        "negative-binomial"
    }
    fn aliases(&self) -> &'static [&'static str] {
        &["nb"]
    }
    fn about(&self) -> About {
        About {
            line: "counts that vary more than Poisson counts, one size for each feature",
            needs: NEEDS,
            label: "mofa A.2",
            options: &[
                (
                    "size",
                    "size r of the counts of every feature, whose variance is mean + mean^2/r; or learnt",
                ),
                (
                    "prior",
                    "gamma prior of sizes that are learnt: {shape = 1.0, rate = 0.01}",
                ),
                FORM,
            ],
        }
    }
    fn domain(&self) -> Domain {
        Domain::COUNTS
    }
    fn defaults(&self) -> Options {
        Options::of(&NegativeBinomialChoices::default()).unwrap_or_default()
    }
    fn check(&self, options: &Options) -> Result<(), OptionError> {
        let choices: NegativeBinomialChoices = options.read()?;
        proper(choices.prior)?;
        choices.size.check("size")
    }
    fn refuses(&self, way: Way, options: &Options) -> Option<String> {
        let chosen = options.read::<NegativeBinomialChoices>();
        if let Some(why) = chosen.ok().and_then(|c| c.form.refuses(way)) {
            return Some(why);
        }
        match way {
            Way::Stochastic if self.learns_spread(options) => Some(
                "its sizes are learnt from all cells of a feature at once; one that is given \
                     (size=2) goes there"
                    .to_owned(),
            ),
            _ => one_set_of_weights(way),
        }
    }
    fn learns_spread(&self, options: &Options) -> bool {
        let chosen = options.read::<NegativeBinomialChoices>();
        chosen.map_or(true, |c| c.size.is_learnt())
    }
    fn guess(&self, table: &ViewTable) -> Option<Guess> {
        if_counts(table, false)
    }
    fn remarks(&self, data: &Observed<'_>) -> Vec<String> {
        let chosen = data.options.over(&self.defaults());
        let form = chosen.and_then(|o| o.read::<NegativeBinomialChoices>());
        if form.is_ok_and(|c| c.form != Form::Bound) {
            // its sites are as steep as the counts say
            return Vec::new();
        }
        data.view
            .and_then(super::steep::remark)
            .into_iter()
            .collect()
    }
    fn steepens(&self) -> bool {
        true
    }
    fn term(
        &self,
        view: View,
        options: &Options,
        cx: &TermContext,
    ) -> Result<Box<dyn ViewTerm>, DataError> {
        let choices: NegativeBinomialChoices = options.read()?;
        let mut law = NegativeBinomial::new(choices.prior).with_prediction(cx.prediction);
        if let Learnt::Known(size) = choices.size {
            law = law.with_size(size);
        }
        choices.form.term(view, law, cx)
    }
}

/// [`PoissonLogNormal`] as a species.
#[derive(Clone, Copy, Debug, Default)]
pub struct PoissonLogNormalSpecies;

#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct PoissonLogNormalChoices {
    prior: GammaPrior,
    form: Form,
}

impl Default for PoissonLogNormalChoices {
    fn default() -> Self {
        Self {
            prior: PoissonLogNormal::default().prior,
            form: Form::default(),
        }
    }
}

impl LikelihoodSpecies for PoissonLogNormalSpecies {
    fn name(&self) -> &'static str {
        "poisson-log-normal"
    }
    fn aliases(&self) -> &'static [&'static str] {
        &["pln"]
    }
    fn about(&self) -> About {
        About {
            line: "counts of a log rate with normal noise, the choice where many are large",
            needs: NEEDS,
            label: "sites 1.1",
            options: &[
                (
                    "prior",
                    "gamma prior of the noise precisions of log rates: {shape = .., rate = ..}",
                ),
                FORM,
            ],
        }
    }
    fn domain(&self) -> Domain {
        Domain::COUNTS
    }
    fn defaults(&self) -> Options {
        Options::of(&PoissonLogNormalChoices::default()).unwrap_or_default()
    }
    fn check(&self, options: &Options) -> Result<(), OptionError> {
        let choices: PoissonLogNormalChoices = options.read()?;
        proper(choices.prior)
    }
    fn refuses(&self, way: Way, options: &Options) -> Option<String> {
        if way == Way::Stochastic {
            return Some("its noise is learnt from all cells of a feature at once".to_owned());
        }
        let choices = options.read::<PoissonLogNormalChoices>();
        let form = choices.map(|c| c.form).unwrap_or_default();
        form.refuses(way).or_else(|| one_set_of_weights(way))
    }
    fn learns_spread(&self, _options: &Options) -> bool {
        true
    }
    fn guess(&self, table: &ViewTable) -> Option<Guess> {
        if_counts(table, true)
    }
    fn takes_large_counts(&self) -> bool {
        true
    }
    fn term(
        &self,
        view: View,
        options: &Options,
        cx: &TermContext,
    ) -> Result<Box<dyn ViewTerm>, DataError> {
        let choices: PoissonLogNormalChoices = options.read()?;
        let law = PoissonLogNormal::new(choices.prior).with_prediction(cx.prediction);
        choices.form.term(view, law, cx)
    }
}

/// [`Binomial`] as a species.
#[derive(Clone, Copy, Debug, Default)]
pub struct BinomialSpecies;

impl LikelihoodSpecies for BinomialSpecies {
    fn name(&self) -> &'static str {
        "binomial"
    }
    fn about(&self) -> About {
        About {
            line: "successes out of known numbers of trials, by the logistic function",
            needs: NEEDS,
            label: "mofa A.6b",
            options: &[FORM],
        }
    }
    fn domain(&self) -> Domain {
        Domain::SUCCESSES
    }
    fn defaults(&self) -> Options {
        Options::of(&OfForm::default()).unwrap_or_default()
    }
    fn check(&self, options: &Options) -> Result<(), OptionError> {
        options.read::<OfForm>().map(|_| ())
    }
    fn refuses(&self, way: Way, options: &Options) -> Option<String> {
        let form = options.read::<OfForm>().unwrap_or_default().form;
        form.refuses(way).or_else(|| one_set_of_weights(way))
    }
    fn term(
        &self,
        view: View,
        options: &Options,
        cx: &TermContext,
    ) -> Result<Box<dyn ViewTerm>, DataError> {
        let (chosen, prediction): (OfForm, _) = (options.read()?, cx.prediction);
        chosen.form.term(view, Binomial { prediction }, cx)
    }
}

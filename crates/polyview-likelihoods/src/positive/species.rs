//! Numbers above 0, as species.

use polyview_core::{
    About, DataError, Domain, GammaPrior, Guess, LikelihoodSpecies, OptionError, Options,
    TermContext, View, ViewTable, ViewTerm, Way,
};
use serde::{Deserialize, Deserializer, Serialize};

use super::Gamma;
use super::gamma::RANGE;
use crate::learnt::{Learnt, proper};
use crate::scalar::Expected;

/// [`Gamma`] as a species.
#[derive(Clone, Copy, Debug, Default)]
pub struct GammaSpecies;

#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Choices {
    #[serde(deserialize_with = "shape")]
    shape: Learnt,
    prior: GammaPrior,
}

fn shape<'de, D: Deserializer<'de>>(d: D) -> Result<Learnt, D::Error> {
    Learnt::read("shape", d)
}

impl Default for Choices {
    fn default() -> Self {
        Self {
            shape: Learnt::FromData,
            prior: Gamma::default().prior,
        }
    }
}

/// Whether the numbers of a table are above 0, not all of them whole, and skewed: the largest is more
/// than five times the median of all.
fn is_skewed(table: &ViewTable) -> bool {
    /// Largest over median number.
    const SKEWED: f64 = 5.0;
    if !table.levels().is_empty() {
        return false;
    }
    let mut seen: Vec<f64> = table.cells().map(|c| c.2).filter(|x| !x.is_nan()).collect();
    if seen.is_empty() || seen.iter().any(|x| *x <= 0.0) || seen.iter().all(|x| x.fract() == 0.0) {
        return false;
    }
    seen.sort_by(f64::total_cmp);
    seen[seen.len() - 1] > SKEWED * seen[seen.len() / 2]
}

impl LikelihoodSpecies for GammaSpecies {
    fn name(&self) -> &'static str {
        "gamma"
    }
    fn about(&self) -> About {
        About {
            line: "skewed numbers above 0 whose spread is a share of their mean",
            needs: "numbers above 0",
            label: "sites 1.9",
            options: &[
                (
                    "shape",
                    "shape a of the numbers of every feature, whose variance is mean^2/a; or learnt",
                ),
                (
                    "prior",
                    "gamma prior of shapes that are learnt: {shape = 1.0, rate = 0.01}",
                ),
            ],
        }
    }
    fn domain(&self) -> Domain {
        Domain::Positive
    }
    fn defaults(&self) -> Options {
        Options::of(&Choices::default()).unwrap_or_default()
    }
    fn check(&self, options: &Options) -> Result<(), OptionError> {
        let choices: Choices = options.read()?;
        proper(choices.prior)?;
        choices.shape.check("shape")?;
        match choices.shape {
            Learnt::Known(shape) if !(RANGE.0..=RANGE.1).contains(&shape) => {
                Err(OptionError::Value {
                    option: "shape".to_owned(),
                    value: shape.to_string(),
                    needs: format!("it must be from {} to {}", RANGE.0, RANGE.1),
                })
            }
            _ => Ok(()),
        }
    }
    fn refuses(&self, way: Way, _options: &Options) -> Option<String> {
        match way {
            Way::Stochastic => Some(
                "has expectation sites, which are of all samples; take the likelihood gaussian of their logarithms there"
                    .to_owned(),
            ),
            Way::Sparse => Some("has no zeros, which sparse data are made of".to_owned()),
            Way::Components => Some("numbers above 0 have one set of weights".to_owned()),
            _ => None,
        }
    }
    fn learns_spread(&self, options: &Options) -> bool {
        let chosen = options.read::<Choices>();
        chosen.map_or(true, |c| c.shape.is_learnt())
    }
    /// Never guessed, said beside the guess of real numbers.
    fn guess(&self, table: &ViewTable) -> Option<Guess> {
        is_skewed(table).then(|| Guess {
            strength: 0,
            why: "skewed numbers above 0".to_owned(),
            when: "factors multiply them",
        })
    }
    fn term(
        &self,
        view: View,
        options: &Options,
        cx: &TermContext,
    ) -> Result<Box<dyn ViewTerm>, DataError> {
        let choices: Choices = options.read()?;
        let mut law = Gamma::new(choices.prior).with_prediction(cx.prediction);
        if let Learnt::Known(shape) = choices.shape {
            law = law.with_shape(shape);
        }
        Ok(Box::new(Expected::new(view, law)?))
    }
}

//! Similarities, as a species.

use polyview_core::{
    About, DataError, Domain, LikelihoodSpecies, OptionError, Options, TermContext, View, ViewTerm,
    Way,
};
use serde::{Deserialize, Serialize};

use super::{NEEDS, NewSamples, Similarity, SimilarityOptions};

/// [`Similarity`] as a species.
#[derive(Clone, Copy, Debug, Default)]
pub struct SimilaritySpecies;

/// Most latent dimensions.
const MOST: usize = 200;

#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
struct Choices {
    dimensions: usize,
    new_samples: NewSamples,
}

impl Default for Choices {
    fn default() -> Self {
        let options = SimilarityOptions::default();
        Self {
            dimensions: options.dimensions,
            new_samples: options.new_samples,
        }
    }
}

impl LikelihoodSpecies for SimilaritySpecies {
    fn name(&self) -> &'static str {
        "similarity"
    }
    fn about(&self) -> About {
        About {
            line: "how alike samples are, pair by pair, as in a kernel: products of latent rows of the samples",
            needs: NEEDS,
            label: "mlfs 4.3",
            options: &[
                (
                    "dimensions",
                    "number of latent dimensions of the view, whose products are the similarities",
                ),
                (
                    "new-samples",
                    "how factors of new samples come from their similarities: exact, or two-stage, as MLFS has it",
                ),
            ],
        }
    }
    fn domain(&self) -> Domain {
        Domain::Similarities
    }
    fn defaults(&self) -> Options {
        Options::of(&Choices::default()).unwrap_or_default()
    }
    fn check(&self, options: &Options) -> Result<(), OptionError> {
        let choices: Choices = options.read()?;
        if (1..=MOST).contains(&choices.dimensions) {
            return Ok(());
        }
        Err(OptionError::Value {
            option: "dimensions".to_owned(),
            value: choices.dimensions.to_string(),
            needs: format!("it is a number from 1 to {MOST}"),
        })
    }
    fn refuses(&self, way: Way, _options: &Options) -> Option<String> {
        let why = match way {
            Way::Stochastic => {
                "compares all samples with one another, and a batch holds few of the pairs: take the engine vb"
            }
            Way::Sparse => {
                "has no zeros that need not be kept: pairs that nobody compared are missing"
            }
            Way::Groups => "compares samples of all groups with one another",
            Way::Components => "has latent rows with one set of weights",
            Way::Settling => {
                "has latent rows of its own, which follow the factors: there are no weights on data to settle"
            }
            Way::Offset => "has latent dimensions as predictors, which no known number belongs to",
            _ => return None,
        };
        Some(why.to_owned())
    }
    fn latent_dimensions(&self, options: &Options) -> Option<usize> {
        options.read::<Choices>().ok().map(|c| c.dimensions)
    }
    fn term(
        &self,
        view: View,
        options: &Options,
        cx: &TermContext,
    ) -> Result<Box<dyn ViewTerm>, DataError> {
        let choices: Choices = options.read()?;
        let options = SimilarityOptions {
            dimensions: choices.dimensions,
            prior: cx.noise_prior,
            new_samples: choices.new_samples,
            prediction: cx.prediction,
        };
        Ok(Box::new(Similarity::new(&view, options)?))
    }
}

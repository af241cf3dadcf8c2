//! MLFS's own form of ordered levels, as a species.

use polyview_core::{
    About, DataError, Domain, LikelihoodSpecies, OptionError, Options, TermContext, View, ViewTerm,
    Way,
};
use serde::{Deserialize, Serialize};

use super::MidpointOrdinal;
use super::levels::{LEVELS, Levels};
use super::ordinal::NEEDS;

/// [`MidpointOrdinal`] as a species.
#[derive(Clone, Copy, Debug, Default)]
pub struct MidpointOrdinalSpecies;

#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
struct Choices {
    levels: Levels,
}

impl LikelihoodSpecies for MidpointOrdinalSpecies {
    fn name(&self) -> &'static str {
        "ordinal-midpoint"
    }
    fn about(&self) -> About {
        About {
            line: "ordered levels by the bound of MLFS, to compare with its paper: a level is the midpoint of its cell",
            needs: NEEDS,
            label: "mlfs 3",
            options: &[LEVELS],
        }
    }
    fn domain(&self) -> Domain {
        Domain::LEVELS
    }
    fn defaults(&self) -> Options {
        Options::of(&Choices::default()).unwrap_or_default()
    }
    fn check(&self, options: &Options) -> Result<(), OptionError> {
        options.read::<Choices>()?.levels.check(options)
    }
    fn learns_spread(&self, _options: &Options) -> bool {
        true
    }
    fn refuses(&self, way: Way, _options: &Options) -> Option<String> {
        let why = match way {
            Way::Gibbs => {
                "has probabilities of levels that do not add up to one between its fixed ends, so that there is \
                 no law to draw from: take ordinal"
            }
            Way::Stochastic => {
                "learns cut points from all cells of the view at once: take the engine vb"
            }
            Way::Sparse => "numbers its levels from 1: no cell is a zero",
            Way::Groups => "has one noise and one set of cut points for all samples: take ordinal",
            Way::Components => "has one set of weights for its levels",
            Way::Settling => "is the form of the paper, which settles nothing: take ordinal",
            _ => return None,
        };
        Some(why.to_owned())
    }
    fn with_data(&self, options: &Options, view: &View) -> Options {
        let said = options.read::<Choices>().ok().and_then(|choices| {
            let levels = choices.levels.with_data(view)?;
            Options::of(&Choices { levels }).ok()
        });
        said.unwrap_or_else(|| options.clone())
    }
    fn level_words(&self, options: &Options) -> Vec<String> {
        let choices = options.read::<Choices>();
        choices.map_or_else(|_| Vec::new(), |c| c.levels.words())
    }
    fn most_levels(&self, options: &Options) -> Option<usize> {
        Some(options.read::<Choices>().ok()?.levels.most())
    }
    fn term(
        &self,
        view: View,
        options: &Options,
        cx: &TermContext,
    ) -> Result<Box<dyn ViewTerm>, DataError> {
        let choices: Choices = options.read()?;
        let levels = choices.levels.of(&view)?;
        let term = MidpointOrdinal::new(&view, levels, cx.noise_prior, cx.prediction)?;
        Ok(Box::new(term))
    }
}

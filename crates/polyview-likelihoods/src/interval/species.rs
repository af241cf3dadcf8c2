//! Ordered levels, as a species.

use polyview_core::{
    About, DataError, Domain, GammaPrior, Guess, LikelihoodSpecies, OptionError, Options,
    TermContext, View, ViewTable, ViewTerm, Way,
};
use serde::{Deserialize, Serialize};

use super::levels::{LEVELS, Levels};
use super::ordinal::NEEDS;
use super::{CutPoints, CutPointsBy, Ordinal};
use crate::scalar::{FORM, Form};

/// [`Ordinal`] as a species.
#[derive(Clone, Copy, Debug, Default)]
pub struct OrdinalSpecies;

/// Most levels of a table that is taken to be of such.
const FEW: usize = 10;

#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
struct Choices {
    levels: Levels,
    cut_points: CutPointsBy,
    prior: GammaPrior,
    form: Form,
}

impl Default for Choices {
    fn default() -> Self {
        Self {
            levels: Levels::OfData,
            cut_points: CutPointsBy::View,
            prior: Ordinal::PRIOR,
            form: Form::default(),
        }
    }
}

impl LikelihoodSpecies for OrdinalSpecies {
    fn name(&self) -> &'static str {
        "ordinal"
    }
    fn about(&self) -> About {
        About {
            line: "ordered levels, such as answers from 1 to 5: a normal variable between cut points",
            needs: NEEDS,
            label: "sites 2",
            options: &[
                LEVELS,
                (
                    "cut-points",
                    "what shares one set of cut points: view, or feature",
                ),
                (
                    "prior",
                    "gamma prior of the gaps between cut points, in units of the noise: {shape = 2.0, rate = 2.0}",
                ),
                FORM,
            ],
        }
    }
    fn domain(&self) -> Domain {
        Domain::LEVELS
    }
    fn has_plain_regression(&self) -> bool {
        true
    }
    fn defaults(&self) -> Options {
        Options::of(&Choices::default()).unwrap_or_default()
    }
    fn check(&self, options: &Options) -> Result<(), OptionError> {
        let choices: Choices = options.read()?;
        choices.levels.check(options)?;
        let GammaPrior { shape, rate } = choices.prior;
        if choices.prior.is_proper() {
            return Ok(());
        }
        Err(OptionError::Value {
            option: "prior".to_owned(),
            value: format!("(shape {shape}, rate {rate})"),
            needs: "both are positive numbers".to_owned(),
        })
    }
    fn refuses(&self, way: Way, options: &Options) -> Option<String> {
        let form = options
            .read::<Choices>()
            .map(|c| c.form)
            .unwrap_or_default();
        match way {
            Way::Stochastic => Some(
                "its cut points are learnt from all cells of the view at once: take the engine vb"
                    .to_owned(),
            ),
            Way::Sparse => Some("its levels are numbered from 1: no cell is a zero".to_owned()),
            Way::Components => Some("levels have one set of weights".to_owned()),
            _ => form.refuses(way),
        }
    }
    fn guess(&self, table: &ViewTable) -> Option<Guess> {
        let mut seen = [false; FEW];
        for (_, _, x) in table.cells().filter(|c| !c.2.is_nan()) {
            if x.fract() != 0.0 || !(1.0..=FEW as f64).contains(&x) {
                return None;
            }
            seen[x as usize - 1] = true;
        }
        let different = seen.iter().filter(|s| **s).count();
        (table.levels().is_empty() && different > 2).then(|| Guess {
            strength: 0,
            why: format!("whole numbers from 1 to {FEW} at most"),
            when: "they are ordered levels",
        })
    }
    fn with_data(&self, options: &Options, view: &View) -> Options {
        let said = options.read::<Choices>().ok().and_then(|choices| {
            let levels = choices.levels.with_data(view)?;
            Options::of(&Choices { levels, ..choices }).ok()
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
        let cuts = CutPoints::new(levels, choices.cut_points, choices.prior);
        let mut likelihood = Ordinal::with_cut_points(cuts);
        likelihood.prediction = cx.prediction;
        choices.form.term(view, likelihood, cx)
    }
}

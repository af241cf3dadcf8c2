//! Anything that has an order, as species.

use polyview_core::{
    About, DataError, Domain, Guess, LikelihoodSpecies, OptionError, Options, TermContext, View,
    ViewTable, ViewTerm, Way,
};

use super::{OrdinaryRank, RankOptions, rank_term};
use crate::categorical::is_few;

/// [`Rank`](super::Rank), or [`FrozenRank`](super::FrozenRank), as a species.
#[derive(Clone, Copy, Debug, Default)]
pub struct RankSpecies;

/// [`OrdinaryRank`] as a species. Its options are those of ranks, of which it looks at
/// `anchors` alone.
#[derive(Clone, Copy, Debug, Default)]
pub struct OrdinaryRankSpecies;

const OPTIONS: &[(&str, &str)] = &[
    (
        "pairs",
        "which samples are compared: random (by the order of rows), adjacent, extreme or all",
    ),
    ("partners", "partners of each cell"),
    (
        "margin",
        "by how much predictors are to differ: {per-cell = 1.0} in nats, or {fixed = 0.05}",
    ),
    ("weight", "weight of each pair"),
    (
        "updates",
        "how factors and loadings are updated: coherent or frozen",
    ),
    (
        "anchors",
        "most training values of a feature that a new sample is compared with",
    ),
];

fn checked(options: &Options) -> Result<(), OptionError> {
    let options: RankOptions = options.read()?;
    match options.invalid() {
        None => Ok(()),
        Some((option, value)) => Err(OptionError::Value {
            option: option.to_owned(),
            value: value.to_string(),
            needs: match option {
                "partners" => "each cell needs one partner at least",
                "anchors" => "a new sample is compared with two values at least",
                _ => "it must be a positive number",
            }
            .to_owned(),
        }),
    }
}

fn refused(way: Way) -> Option<String> {
    let why = match way {
        Way::Stochastic => {
            "ranks are those among all samples: take the engine vb, or the likelihood gaussian"
        }
        Way::Sparse => "keeps a number for every cell",
        Way::Groups => "ranks have neither noise nor intercepts that a group could have",
        Way::Components => "pairs of samples have one set of weights",
        Way::Settling => "has weights that belong to pairs of training samples",
        Way::Offset => "ranks have no unit in which a number could be added to them",
        _ => return None,
    };
    Some(why.to_owned())
}

impl LikelihoodSpecies for RankSpecies {
    fn name(&self) -> &'static str {
        "rank"
    }
    fn about(&self) -> About {
        About {
            line: "anything that has an order: pairs of samples by a margin, a pseudo-likelihood",
            needs: "values that have an order",
            label: "maxmargin-rank 2.2",
            options: OPTIONS,
        }
    }
    fn domain(&self) -> Domain {
        Domain::Order
    }
    fn defaults(&self) -> Options {
        Options::of(&RankOptions::default()).unwrap_or_default()
    }
    fn check(&self, options: &Options) -> Result<(), OptionError> {
        checked(options)
    }
    fn refuses(&self, way: Way, _options: &Options) -> Option<String> {
        refused(way)
    }
    fn guess(&self, table: &ViewTable) -> Option<Guess> {
        (table.levels().is_empty() && is_few(table)).then(|| Guess {
            strength: 0,
            why: "few whole numbers".to_owned(),
            when: "they have an order but no distances",
        })
    }
    fn term(
        &self,
        view: View,
        options: &Options,
        cx: &TermContext,
    ) -> Result<Box<dyn ViewTerm>, DataError> {
        rank_term(&view, options.read()?, cx.key)
    }
}

impl LikelihoodSpecies for OrdinaryRankSpecies {
    fn name(&self) -> &'static str {
        "ordinary-rank"
    }
    fn about(&self) -> About {
        About {
            line: "anything that has an order: latent scores of unit noise in the order of the data",
            needs: "values that have an order",
            label: "maxmargin-rank 8",
            options: OPTIONS,
        }
    }
    fn domain(&self) -> Domain {
        Domain::Order
    }
    fn defaults(&self) -> Options {
        RankSpecies.defaults()
    }
    fn check(&self, options: &Options) -> Result<(), OptionError> {
        checked(options)
    }
    fn refuses(&self, way: Way, _options: &Options) -> Option<String> {
        refused(way)
    }
    fn term(
        &self,
        view: View,
        options: &Options,
        _cx: &TermContext,
    ) -> Result<Box<dyn ViewTerm>, DataError> {
        let options: RankOptions = options.read()?;
        Ok(Box::new(OrdinaryRank::new(&view, options.anchors)?))
    }
}

//! Classes, as a species.

use polyview_core::{
    About, DataError, Domain, Guess, LikelihoodSpecies, Options, TermContext, View, ViewTable,
    ViewTerm, Way,
};
use std::collections::BTreeSet;

use super::{Categorical, CategoricalOptions};

/// [`Categorical`] as a species.
#[derive(Clone, Copy, Debug, Default)]
pub struct CategoricalSpecies;

/// Most values that a column of codes of classes is thought to have.
const FEW: usize = 10;

/// Whether the table is one column of few whole numbers that occur again and
/// again, as codes of classes do.
pub(crate) fn is_few(table: &ViewTable) -> bool {
    let values: Vec<f64> = table.cells().map(|c| c.2).filter(|x| !x.is_nan()).collect();
    let whole = values.iter().all(|x| x.fract() == 0.0);
    let different: BTreeSet<u64> = values.iter().map(|x| x.to_bits()).collect();
    let few = different.len() <= FEW && different.len() < values.len();
    table.features().len() == 1 && whole && few
}

impl LikelihoodSpecies for CategoricalSpecies {
    fn name(&self) -> &'static str {
        "categorical"
    }
    fn about(&self) -> About {
        About {
            line: "one of several classes for each sample, by a multinomial probit",
            needs: "one column of class names",
            label: "sshiba 1.5",
            options: &[],
        }
    }
    fn domain(&self) -> Domain {
        Domain::Levels { ordered: false }
    }
    fn refuses(&self, way: Way, _options: &Options) -> Option<String> {
        match way {
            Way::Sparse => Some("keeps a number for every cell".to_owned()),
            Way::Components => Some("its scores have one set of weights".to_owned()),
            Way::Offset => {
                Some("what is added to the scores of all classes changes none".to_owned())
            }
            _ => None,
        }
    }
    fn guess(&self, table: &ViewTable) -> Option<Guess> {
        let words = !table.levels().is_empty();
        (words || is_few(table)).then(|| Guess {
            strength: if words { 3 } else { 0 },
            why: format!("one column of words, {} classes", table.levels().len()),
            when: "they are classes",
        })
    }
    fn term(
        &self,
        view: View,
        _options: &Options,
        cx: &TermContext,
    ) -> Result<Box<dyn ViewTerm>, DataError> {
        let options = CategoricalOptions {
            missing: cx.missing,
            prediction: cx.prediction,
        };
        Ok(Box::new(Categorical::new(&view, options)?))
    }
}

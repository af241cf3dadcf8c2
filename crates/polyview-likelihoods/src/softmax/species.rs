//! Classes by softmax, as a species.

use polyview_core::{
    About, DataError, Domain, Guess, LikelihoodSpecies, Options, TermContext, View, ViewTable,
    ViewTerm, Way,
};

use super::Softmax;
use crate::categorical::is_few;

/// [`Softmax`] as a species.
#[derive(Clone, Copy, Debug, Default)]
pub struct SoftmaxSpecies;

impl LikelihoodSpecies for SoftmaxSpecies {
    fn name(&self) -> &'static str {
        "categorical"
    }
    fn about(&self) -> About {
        About {
            line: "one of several classes for each sample, by softmax",
            needs: "one column of class names",
            label: "sites 3",
            options: &[],
        }
    }
    fn domain(&self) -> Domain {
        Domain::Levels { ordered: false }
    }
    fn has_plain_regression(&self) -> bool {
        true
    }
    fn refuses(&self, way: Way, _options: &Options) -> Option<String> {
        match way {
            Way::Sparse => Some("keeps numbers for every sample".to_owned()),
            Way::Components => Some("has one set of weights".to_owned()),
            Way::Stochastic => Some(
                "has sites of all samples, remade for each class: take categorical-probit there"
                    .to_owned(),
            ),
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
        Ok(Box::new(Softmax::new(&view, cx.prediction)?))
    }
}

//! Classes by a multinomial probit, as a species.

use polyview_core::{
    About, DataError, Domain, LikelihoodSpecies, Options, TermContext, View, ViewTable, ViewTerm,
    Way,
};
use std::collections::BTreeSet;

use super::{CategoricalProbit, CategoricalProbitOptions};

/// [`CategoricalProbit`] as a species.
#[derive(Clone, Copy, Debug, Default)]
pub struct CategoricalProbitSpecies;

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

impl LikelihoodSpecies for CategoricalProbitSpecies {
    fn name(&self) -> &'static str {
        "categorical-probit"
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
    fn term(
        &self,
        view: View,
        _options: &Options,
        cx: &TermContext,
    ) -> Result<Box<dyn ViewTerm>, DataError> {
        let options = CategoricalProbitOptions {
            missing: cx.missing,
            prediction: cx.prediction,
        };
        Ok(Box::new(CategoricalProbit::new(&view, options)?))
    }
}

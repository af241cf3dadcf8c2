//! The data term of a likelihood of single cells.

use polyview_core::{DataError, TermContext, View, ViewTerm};

use super::{CellLikelihood, Cells, Experts};

/// [`Cells`], or [`Experts`] where components of the factors' prior have predictor
/// columns of their own.
pub(crate) fn cell_term<L: CellLikelihood>(
    view: View,
    likelihood: L,
    cx: &TermContext,
) -> Result<Box<dyn ViewTerm>, DataError> {
    Ok(match cx.components {
        Some(components) => Box::new(Experts::new(view, likelihood, components)?),
        None => Box::new(Cells::new(view, likelihood)?),
    })
}

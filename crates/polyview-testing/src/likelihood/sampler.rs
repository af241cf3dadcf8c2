//! The Gibbs sampler against the joint distribution.

use polyview_core::{Objective, View, Way};

use super::Finding;
use super::subject::{DataCase, Subject, numeric};
use crate::geweke::try_largest_change;

/// Samples of the models that are sampled: few, so that factors and data move one another.
const SAMPLES: u32 = 6;
/// Sweeps after which the joint distribution is looked at again.
const SWEEPS: usize = 2;
/// Largest score of some dozens of means.
const SCORE: f64 = 4.5;

pub(super) fn findings(s: &Subject<'_>) -> Vec<Finding> {
    let mut out = Vec::new();
    if s.refusal(Way::Gibbs).is_some() {
        return out;
    }
    for case in [DataCase::Complete, DataCase::Cells] {
        out.extend(stays(s, case).err());
    }
    out
}

fn stays(s: &Subject<'_>, case: DataCase) -> Result<(), Finding> {
    let rows: Vec<u32> = (0..SAMPLES.min(s.view.n_samples() as u32)).collect();
    let data: View = s.part(&s.data(case), &rows);
    let mut term = s.term(&data, case)?;
    if term.as_augmented().is_none() {
        return Err(Finding::Way {
            way: Way::Gibbs,
            why: "its term has no draws (ViewTerm::as_augmented)".to_owned(),
        });
    }
    if term.objective() == Objective::PseudoLikelihood || s.species.domain().is_ranked() {
        return Ok(());
    }
    let score = try_largest_change(s.model(term, None), s.draws, SWEEPS, 5);
    let score = score.map_err(numeric(case, "a chain"))?;
    if score < SCORE {
        return Ok(());
    }
    Err(Finding::Sampler { case, score })
}

//! The law, and bounds that never fall.

use polyview_core::{Bias, RowGroups, ViewTerm};

use super::Finding;
use super::subject::{DataCase, Subject, numeric, refresh};
use crate::law;

/// Largest difference between equations and bound, in nats per unit.
const GAP: f64 = 2e-6;
/// Sweeps in which the bound is watched.
const SWEEPS: usize = 12;

pub(super) fn findings(s: &Subject<'_>) -> Vec<Finding> {
    let mut out = Vec::new();
    for case in DataCase::PLAIN {
        if let Err(finding) = s
            .term_of(case)
            .and_then(|mut t| obeys(t.as_mut(), case, None))
        {
            out.push(finding);
        }
        if let Err(finding) = s.term_of(case).and_then(|t| rises(s, t, case, None)) {
            out.push(finding);
        }
    }
    out
}

/// The law, of a term as it starts and of one whose local variables have followed a
/// predictor that has moved on since.
pub(super) fn obeys(
    term: &mut dyn ViewTerm,
    case: DataCase,
    groups: Option<&RowGroups>,
) -> Result<(), Finding> {
    let error = numeric(case, "the law");
    let shape = term.shape();
    for (seed, what) in [
        (0, "as it starts"),
        (3, "refreshed"),
        (7, "refreshed again"),
    ] {
        let bias = match groups {
            Some(groups) => Bias::by_group(shape.predictor_columns, groups.clone(), 1.0),
            None => Bias::gaussian(shape.predictor_columns, 0, 1.0),
        };
        if seed > 0 {
            let factors = law::rows(shape.samples, seed);
            let weights = law::rows(shape.predictor_columns, seed + 1);
            let p = polyview_core::Predictor {
                factors: &factors,
                weights: &weights,
                bias: &bias,
            };
            refresh(term, &p).map_err(error)?;
        }
        let table = law::patterns(term);
        let gap = law::try_gap_with(term, table, bias).map_err(error)?;
        // not a number is no gap that is small
        if !matches!(gap.partial_cmp(&GAP), Some(std::cmp::Ordering::Less)) {
            return Err(Finding::Law { case, what, gap });
        }
    }
    Ok(())
}

/// No update lowers the bound of a model of the term.
pub(super) fn rises(
    s: &Subject<'_>,
    term: Box<dyn ViewTerm>,
    case: DataCase,
    groups: Option<RowGroups>,
) -> Result<(), Finding> {
    // the run knows whether the objective is one that never falls
    let run = s.fitted(s.model(term, groups), SWEEPS);
    run.map(|_| ()).map_err(numeric(case, "a fit"))
}

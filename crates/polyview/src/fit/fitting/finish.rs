//! From a fit in progress to the fit.

use polyview_core::{Event, Journal, State};
use polyview_infer::{Outcome, RunRecord};

use super::Fitting;
use crate::error::Result;
use crate::fit::endings::note_ending;
use crate::fit::{Fit, FitRecord, Reading};
use crate::verbs::Watch;

impl Fitting {
    pub(super) fn into_fit(self, watch: Watch<'_>) -> Result<Option<Fit>> {
        let Self {
            mut given,
            campaign,
            rounding,
            metadata,
            started,
            ..
        } = self;
        let ended = campaign.finish(&mut given)?;
        let mut fit = Fit {
            composed: given.composed,
            samples: given.samples,
            views: given.infos,
            // what was read block by block is not at hand
            data: (!given.views.is_empty()).then_some(given.views),
            rounding,
            components: ended.components,
            settled: State::new(),
            sums: ended.sums,
            record: ended.record,
            groups: given.groups,
            metadata,
            reading: Reading::default(),
        };
        note_ending(&mut fit)?;
        if !fit.settle_as_chosen(watch)? {
            return Ok(None);
        }
        fit.note_collapse()?;
        fit.note_repeating()?;
        fit.note_margins()?;
        fit.note_dispersion()?;
        fit.level_expected_counts()?;
        fit.note_repeated_labels();
        fit.record.seconds = started.elapsed().as_secs_f64();
        Ok(Some(fit))
    }
}

impl FitRecord {
    /// Of the run that is kept; `journal` is what was noted before it.
    pub(in crate::fit) fn of(
        run: RunRecord,
        mut journal: Journal,
        restart_bounds: Vec<f64>,
    ) -> Self {
        let outcome = outcome(&run.journal);
        journal.entries.extend(run.journal.entries);
        Self {
            outcome,
            sweeps: run.sweep,
            bound: run.ledger.last(),
            restart_bounds,
            ledgers: vec![run.ledger],
            journal,
            seconds: 0.0,
            diagnostics: Vec::new(),
            optimum: None,
            moving: run.moving,
        }
    }
}

/// How a run ended, by the last line of its journal.
pub(super) fn outcome(journal: &Journal) -> Outcome {
    match journal.entries.last().map(|e| &e.event) {
        Some(Event::Ended { outcome }) if *outcome == Outcome::Converged.to_string() => {
            Outcome::Converged
        }
        Some(Event::Ended { .. }) => Outcome::MaxSweeps,
        _ => Outcome::Interrupted,
    }
}

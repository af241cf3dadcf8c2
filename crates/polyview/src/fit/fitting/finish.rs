//! From a fit in progress to the fit.

use polyview_core::{Event, Journal, Stateful};
use polyview_infer::Outcome;
use polyview_linalg::Mat;

use super::{Best, Fitting, Stage};
use crate::error::Result;
use crate::fit::draws::finish_chains;
use crate::fit::endings::note_ending;
use crate::fit::order::order_factors;
use crate::fit::states::given_up_parameters;
use crate::fit::stochastic;
use crate::fit::{Fit, FitRecord};

impl Fitting {
    pub(super) fn into_fit(self) -> Result<Fit> {
        let Self {
            spec,
            samples,
            infos,
            views,
            rounding,
            groups,
            metadata,
            mut journal,
            stage,
            done,
            started,
            ..
        } = self;
        let (components, record) = match stage {
            Stage::Vb {
                plan,
                run,
                best,
                bounds,
                ..
            } => {
                let (swept, record) = match best {
                    Best::None | Best::Last => run.into_parts(),
                    Best::Saved(state, best) => {
                        drop(run);
                        let k = state.arrays().get("factors/mean").map_or(0, |a| a.shape[1]);
                        let zeros = Mat::zeros(samples.len(), k);
                        let mut m = plan.model(&spec, groups.as_ref(), views.clone(), zeros)?;
                        m.load("", &state.reader())?;
                        (m, *best)
                    }
                };
                let mut full = plan.expand(&spec, groups.as_ref(), &views, swept)?;
                if record.sweep > 0 {
                    order_factors(&mut full)?;
                }
                let outcome = outcome(&record.journal);
                let state = given_up_parameters(full);
                journal.entries.extend(record.journal.entries);
                let record = FitRecord {
                    outcome,
                    sweeps: record.sweep,
                    bound: record.ledger.last(),
                    restart_bounds: bounds,
                    ledgers: vec![record.ledger],
                    journal,
                    seconds: 0.0,
                    diagnostics: Vec::new(),
                };
                (vec![state], record)
            }
            Stage::Stochastic(run) => {
                let (state, record) = stochastic::end(&spec, *run)?;
                let outcome = outcome(&record.journal);
                journal.entries.extend(record.journal.entries);
                let bound = record.ledger.last();
                let record = FitRecord {
                    outcome,
                    sweeps: record.sweep,
                    bound,
                    restart_bounds: bound.into_iter().collect(),
                    ledgers: vec![record.ledger],
                    journal,
                    seconds: 0.0,
                    diagnostics: Vec::new(),
                };
                (vec![state], record)
            }
            Stage::Gibbs { chains, draws } => finish_chains(
                &spec,
                groups.as_ref(),
                (&views, &samples),
                &chains,
                draws,
                journal,
                done,
            )?,
        };
        let mut fit = Fit {
            spec,
            samples,
            views: infos,
            // what was read block by block is not at hand
            data: (!views.is_empty()).then_some(views),
            rounding,
            components,
            record,
            groups,
            metadata,
        };
        note_ending(&mut fit)?;
        fit.settle_as_chosen()?;
        fit.note_collapse()?;
        fit.note_margins()?;
        fit.note_repeated_labels();
        fit.record.seconds = started.elapsed().as_secs_f64();
        Ok(fit)
    }
}

/// How a run ended, by the last line of its journal.
fn outcome(journal: &Journal) -> Outcome {
    match journal.entries.last().map(|e| &e.event) {
        Some(Event::Ended { outcome }) if *outcome == Outcome::Converged.to_string() => {
            Outcome::Converged
        }
        Some(Event::Ended { .. }) => Outcome::MaxSweeps,
        _ => Outcome::Interrupted,
    }
}

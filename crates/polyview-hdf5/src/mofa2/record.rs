//! The course of a fit by MOFA2, and what its file says about the samples.

use polyview::FitRecord;
use polyview_core::{Event, Journal, Ledger, LedgerRow, Metadata, MetadataValues};
use polyview_infer::Outcome;

use super::OWN;
use super::names::Names;
use super::source::Source;
use crate::error::Result;
use crate::file::Reader;

/// Bound, sweeps and seconds.
pub(super) fn record(file: &Reader) -> Result<FitRecord> {
    let column = |name: &str| file.vector(&format!("training_stats/{name}"), None);
    let elbo = column("elbo")?.unwrap_or_default();
    let factors = column("number_factors")?.unwrap_or_default();
    let seconds = column("time")?.unwrap_or_default();
    let limit = file
        .vector("training_opts", None)?
        .and_then(|o| o.first().copied());
    // theirs begin with the bound before the first sweep, ours say
    let own = file
        .vector(&format!("{OWN}/sweeps"), Some(elbo.len()))?
        .unwrap_or_default();
    let number = |x: Option<&f64>| {
        let whole = x.filter(|x| **x >= 0.0 && x.fract() == 0.0 && **x < 1e9);
        whole.map(|x| *x as usize)
    };
    let sweep = |at: usize| number(own.get(at)).unwrap_or(at);
    let rows: Vec<LedgerRow> = elbo
        .iter()
        .enumerate()
        .filter(|(_, bound)| bound.is_finite())
        .map(|(at, &bound)| LedgerRow {
            sweep: sweep(at),
            factors: number(factors.get(at)).unwrap_or(0),
            values: vec![bound],
            total: bound,
        })
        .collect();
    let sweeps = elbo.len().checked_sub(1).map_or(0, sweep);
    let (outcome, told) = Source::read(file)?;
    let within = limit.is_none_or(|most| (sweeps as f64) < most);
    let guess = if within {
        Outcome::Converged
    } else {
        Outcome::MaxSweeps
    };
    let mut journal = Journal::default();
    for note in told {
        journal.note(0, "", Event::Assumed { note });
    }
    Ok(FitRecord {
        outcome: outcome.unwrap_or(guess),
        sweeps,
        bound: rows.last().map(|r| r.total),
        restart_bounds: Vec::new(),
        ledgers: vec![Ledger {
            names: vec!["bound of MOFA2".to_owned()],
            rows,
        }],
        journal,
        seconds: seconds.iter().filter(|s| s.is_finite()).sum(),
        diagnostics: Vec::new(),
        optimum: None,
        moving: None,
    })
}

/// What is known about the samples: the columns that every group has.
pub(super) fn metadata(file: &Reader, names: &Names) -> Result<Vec<Metadata>> {
    let mut out = Vec::new();
    for name in file.arrays_in(&format!("samples_metadata/{}", names.groups[0]))? {
        let (mut words, mut numbers) = (Vec::new(), Vec::new());
        for (group, samples) in names.groups.iter().zip(&names.samples) {
            let place = format!("samples_metadata/{group}/{name}");
            if let Ok(Some(v)) = file.words(&place)
                && v.len() == samples.len()
            {
                words.extend(v.into_iter().map(|w| Some(w).filter(|w| !w.is_empty())));
            } else if let Ok(Some(v)) = file.vector(&place, Some(samples.len())) {
                numbers.extend(v);
            }
        }
        let count = names.n_samples();
        let values = if words.len() == count {
            MetadataValues::Categories(words)
        } else if numbers.len() == count {
            MetadataValues::Numbers(numbers)
        } else {
            continue;
        };
        out.push(Metadata { name, values });
    }
    Ok(out)
}

//! Sweeps and seconds to the end of fits of real data, with momentum and without.

use std::error::Error;

use polyview_core::{Dataset, Ledger};
use polyview_linalg::Threads;

use super::page::Page;
use super::sets::{CASES, Case};
use super::setting::Setting;
use super::speed::Done;
use super::spread::figure;
use crate::case::cpu;
use crate::sheet::Sheet;
use crate::table::build;

/// How near an end is to the best one that is known, in nats.
const NEAR: f64 = 0.1;

/// Most sweeps; what has no end by then has none in the table.
const MOST: usize = 3000;

/// One fit.
struct Ended {
    ledger: Ledger,
    outcome: String,
    factors: usize,
    seconds: f64,
}

fn fit(case: &Case, data: &Dataset, momentum: bool) -> Result<Ended, Box<dyn Error>> {
    let mut spec = (case.model)();
    for (name, likelihood) in case.views {
        spec = spec.with_likelihood(name, *likelihood);
    }
    spec.vb.max_sweeps = MOST;
    spec.vb.momentum = momentum;
    let (data, before) = (data.clone(), cpu());
    let fit = Threads::new(1)?.install(|| polyview::fit(data, spec))?;
    let record = fit.record();
    Ok(Ended {
        ledger: record.ledgers.first().cloned().unwrap_or_default(),
        outcome: fit.ending(),
        factors: fit.k(),
        seconds: cpu() - before,
    })
}

impl Ended {
    fn end(&self) -> f64 {
        self.ledger.last().unwrap_or(f64::NAN)
    }
    /// Sweeps after which the bound is near the best end, if it ever is.
    fn near(&self, best: f64) -> Option<usize> {
        let near = self.ledger.rows.iter().position(|r| r.total >= best - NEAR);
        near.map(|at| at + 1)
    }
    fn cells(&self, best: f64) -> Vec<String> {
        let sweeps = self.ledger.rows.len().max(1);
        let near = self.near(best);
        let seconds = near.map(|n| self.seconds * n as f64 / sweeps as f64);
        let told = |x: Option<String>| x.unwrap_or_else(|| "not reached".to_owned());
        vec![
            format!("{:.2}", self.end()),
            self.factors.to_string(),
            format!("{sweeps} ({})", self.outcome),
            figure(self.seconds),
            told(near.map(|n| n.to_string())),
            told(seconds.map(figure)),
        ]
    }
}

/// Both ways by turns.
pub fn ends(setting: &Setting, page: &mut Page) -> Done {
    let columns = [
        "set, model",
        "sweeps begin",
        "bound at the end, nats",
        "factors",
        "sweeps",
        "seconds",
        "sweeps to .1 nat below the best end",
        "seconds to there",
    ];
    let mut sheet = Sheet::new("", &columns);
    let cases = setting.choose(&CASES[..3], &CASES[..]);
    for case in cases {
        eprintln!("  {}", case.name);
        let data = build(case.tables(&setting.set(case.folder)?)?)?;
        let ways = [
            ("where the last one ended", false),
            ("beyond it (default)", true),
        ];
        let mut ended = Vec::new();
        for (_, momentum) in ways {
            ended.push(fit(case, &data, momentum)?);
        }
        let best = ended.iter().map(Ended::end).fold(f64::NAN, f64::max);
        for ((way, _), ended) in ways.iter().zip(&ended) {
            let mut row = vec![case.name.to_owned(), (*way).to_owned()];
            row.extend(ended.cells(best));
            sheet.rows.push(row);
        }
    }
    page.sheet(&sheet);
    Ok(())
}

#[cfg(test)]
mod tests {
    use polyview_core::{Of, Term};

    use super::*;

    #[test]
    fn sweeps_are_counted_until_the_end_is_near() {
        let mut ledger = Ledger::default();
        for total in [-9.0, -3.0, -1.05, -1.0] {
            let sweep = ledger.rows.len() + 1;
            let term = Term {
                name: "likelihood".to_owned(),
                of: Of::Samples,
                value: total,
            };
            ledger.push(sweep, 3, vec![term]);
        }
        let run = Ended {
            ledger,
            outcome: "converged".to_owned(),
            factors: 3,
            seconds: 8.0,
        };
        assert_eq!(run.near(-1.0), Some(3));
        assert_eq!(run.near(0.0), None);
        let cells = run.cells(-1.0);
        let cells: Vec<&str> = cells.iter().map(String::as_str).collect();
        assert_eq!(cells, ["-1.00", "3", "4 (converged)", "8.00", "3", "6.00"]);
        assert_eq!(run.cells(0.0)[4], "not reached");
    }
}

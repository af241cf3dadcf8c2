//! From Gibbs chains to a posterior of aligned draws.

use polyview_core::{State, View};
use polyview_infer::diagnostics::summary;
use polyview_infer::{GibbsChain, Model, Outcome};
use serde::{Deserialize, Serialize};

use super::fitting::Given;
use super::one_frame::align;
use super::states::saved_parameters;
use super::traced::{Quantity, quantities, values};
use super::{Diagnostic, FitRecord};
use crate::error::{Error, ErrorKind, Result};

/// Name of the density of data and parameters together, of each draw, among the quantities that are watched.
pub(super) const LOG_JOINT: &str = "log joint density";

/// What is kept of one chain: every sweep's identified scalars, and the
/// stored draws.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(super) struct ChainDraws {
    density: Vec<f64>,
    /// Mean square of the linear predictor of each view, by sweep.
    signal: Vec<Vec<f64>>,
    /// Data term of each view, by sweep.
    likelihood: Vec<Vec<f64>>,
    /// Further identified quantities, by sweep.
    traced: Vec<Vec<f64>>,
    /// Log density of each stored draw.
    stored: Vec<f64>,
    #[serde(skip)]
    states: Vec<State>,
}

impl ChainDraws {
    pub(super) fn states(&self) -> &[State] {
        &self.states
    }
    pub(super) fn set_states(&mut self, states: Vec<State>) {
        self.states = states;
    }
    /// Whether there is one value a sweep and view of this model, or a sweep and
    /// quantity, and `stored` stored draws.
    pub(super) fn fits(&self, model: &Model, stored: usize) -> bool {
        let (sweeps, views) = (self.density.len(), model.views.len());
        let table = |rows: &[Vec<f64>], columns: usize| {
            rows.len() == sweeps && rows.iter().all(|r| r.len() == columns)
        };
        table(&self.signal, views)
            && table(&self.likelihood, views)
            && table(&self.traced, quantities(model).len())
            && self.stored.len() == stored
    }
    /// Takes note of the chain's current draw.
    pub(super) fn record(&mut self, model: &mut Model, density: f64, store: bool) {
        self.density.push(density);
        let zz = model.factors.moments().second_moment(None);
        let n = model.factors.moments().rows().max(1) as f64;
        self.signal.push(
            model
                .views
                .iter()
                .map(|v| {
                    let w = v.weights.moments();
                    w.second_moment(None).dot(&zz) / (n * w.rows().max(1) as f64)
                })
                .collect(),
        );
        self.traced.push(values(model, &quantities(model)));
        let terms = model.objective();
        self.likelihood.push(
            model
                .views
                .iter()
                .map(|v| {
                    let name = format!("likelihood/{}", v.name);
                    terms
                        .iter()
                        .find(|t| t.name == name)
                        .map_or(f64::NAN, |t| t.value)
                })
                .collect(),
        );
        if store {
            self.states.push(saved_parameters(model));
            self.stored.push(density);
        }
    }
}

/// The answer to whoever ends chains that have kept no draw yet, after so many sweeps.
pub(super) fn no_draws(sweeps: usize) -> Error {
    ErrorKind::Option {
        option: "sweeps",
        value: format!("{sweeps}, before the first stored draw"),
    }
    .into()
}

/// Aligns the stored draws of all chains and sums the chains up.
pub(super) fn finish_chains(
    given: &mut Given,
    chains: &[GibbsChain],
    draws: Vec<ChainDraws>,
    done: bool,
) -> Result<(Vec<State>, FitRecord)> {
    let mut journal = std::mem::take(&mut given.journal);
    let (views, samples) = (&given.views, &given.samples);
    let sweeps = chains.first().map_or(0, |c| c.record().sweep);
    let ledgers = chains.iter().map(|c| c.record().ledger.clone()).collect();
    for c in chains {
        (journal.entries).extend(c.record().journal.entries.iter().cloned());
    }
    let names: Vec<[String; 2]> = chains.first().map_or_else(Vec::new, |c| {
        let named = |q: Quantity| q.named(c.model(), views, samples);
        quantities(c.model()).into_iter().map(named).collect()
    });
    let diagnostics = diagnose(views, names, &draws);
    let mut states: Vec<(f64, State)> = Vec::new();
    for d in draws {
        states.extend(d.stored.into_iter().zip(d.states));
    }
    if states.is_empty() {
        return Err(no_draws(sweeps));
    }
    let seed = given.composed.options.seed;
    let components = align(
        &given.composed,
        (given.groups.as_ref(), views),
        states,
        (seed, sweeps),
    )?;
    let outcome = if done {
        Outcome::MaxSweeps
    } else {
        Outcome::Interrupted
    };
    let record = FitRecord {
        outcome,
        sweeps,
        bound: None,
        restart_bounds: Vec::new(),
        ledgers,
        journal,
        seconds: 0.0,
        diagnostics,
        optimum: None,
        moving: None,
    };
    Ok((components, record))
}

fn diagnose(views: &[View], names: Vec<[String; 2]>, draws: &[ChainDraws]) -> Vec<Diagnostic> {
    let mut out = Vec::new();
    let mut add = |[kind, quantity]: [String; 2], of: &dyn Fn(&ChainDraws) -> Vec<f64>| {
        let chains: Vec<Vec<f64>> = draws.iter().map(of).collect();
        let refs: Vec<&[f64]> = chains.iter().map(Vec::as_slice).collect();
        if let Ok(summary) = summary(&refs) {
            out.push(Diagnostic {
                quantity,
                kind,
                summary,
            });
        }
    };
    let alone = |name: String| [name.clone(), name];
    let column = |rows: &[Vec<f64>], i: usize| rows.iter().map(|r| r[i]).collect::<Vec<f64>>();
    add(alone(LOG_JOINT.to_owned()), &|d| d.density.clone());
    for (m, v) in views.iter().enumerate() {
        add(alone(format!("signal/{}", v.name())), &|d| {
            column(&d.signal, m)
        });
        add(alone(format!("log likelihood/{}", v.name())), &|d| {
            column(&d.likelihood, m)
        });
    }
    for (i, name) in names.into_iter().enumerate() {
        add(name, &|d| column(&d.traced, i));
    }
    out
}

//! From Gibbs chains to a posterior of aligned draws.

use polyview_core::{Groups, ParameterUncertainty, State, Stateful, View};
use polyview_infer::alignment::align_to_reference;
use polyview_infer::diagnostics::summary;
use polyview_infer::{GibbsChain, Model, Outcome};
use polyview_linalg::Mat;
use serde::{Deserialize, Serialize};

use super::fitting::Given;
use super::order::by_variance;
use super::states::{saved_parameters, share};
use super::traced::{Quantity, quantities, values};
use super::{Diagnostic, FitRecord};
use crate::assemble::empty_view;
use crate::compose::Composed;
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
    let components = align(&given.composed, given.groups.as_ref(), views, states)?;
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

/// Brings every draw to the signs and order of a common reference: first the
/// draw of the highest density, then the mean of the aligned draws.
fn align(
    composed: &Composed,
    groups: Option<&Groups>,
    views: &[View],
    states: Vec<(f64, State)>,
) -> Result<Vec<State>> {
    let k = states[0]
        .1
        .arrays()
        .get("factors/mean")
        .map_or(0, |a| a.shape[1]);
    let empty = views
        .iter()
        .map(|v| empty_view(v.name(), v.features(), v.levels()))
        .collect::<Result<Vec<View>>>()?;
    let prediction = ParameterUncertainty::Posterior;
    let mut model = composed.parameters(groups, empty, k, prediction)?;
    let best = (0..states.len())
        .max_by(|&a, &b| states[a].0.total_cmp(&states[b].0))
        .unwrap_or(0);
    model.load("", &states[best].1.reader())?;
    let (order, signs) = by_variance(&model);
    model.select(&order, &signs)?;
    let mut reference = stacked(&model);
    let mut out: Vec<State> = states.into_iter().map(|s| s.1).collect();
    for _ in 0..2 {
        let mut sum: Mat<f64> = Mat::zeros(reference.nrows(), k);
        for state in &mut out {
            model.load("", &state.reader())?;
            let p =
                align_to_reference(reference.as_ref(), stacked(&model).as_ref()).map_err(|e| {
                    ErrorKind::Option {
                        option: "alignment",
                        value: e.to_string(),
                    }
                })?;
            model.select(p.order(), p.signs())?;
            *state = saved_parameters(&model);
            sum += stacked(&model);
        }
        reference = sum;
    }
    share(&mut out);
    Ok(out)
}

/// Weights of all views on top of one another, ΣD × K.
fn stacked(model: &Model) -> Mat<f64> {
    let rows: usize = model
        .views
        .iter()
        .map(|v| v.weights.moments().explicit_rows())
        .sum();
    let mut out = Mat::zeros(rows, model.k());
    let mut at = 0;
    for v in &model.views {
        let w = v.weights.moments().mean();
        out.as_mut().subrows_mut(at, w.nrows()).copy_from(w);
        at += w.nrows();
    }
    out
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

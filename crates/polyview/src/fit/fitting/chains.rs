//! Gibbs chains side by side, of which draws are kept.

use polyview_core::{Journal, State};
use polyview_infer::{GibbsChain, Model, PruneRule, RunRecord, VbOptions, VbRun};
use polyview_linalg::Mat;
use polyview_random::StreamKey;
use rayon::prelude::*;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::checkpoint::enough_sweeps;
use super::{Campaign, Ended, Given, Progress, swept};
use crate::error::Result;
use crate::file::{Extents, read_record, record_fits, write_record};
use crate::fit::draws::{ChainDraws, finish_chains};
use crate::fit::states::{copy, part};
use crate::spec::RunOptions;

/// Chains in step.
pub(super) struct Chains {
    chains: Vec<GibbsChain>,
    draws: Vec<ChainDraws>,
}

#[derive(Serialize, Deserialize)]
struct Record {
    chains: Vec<RunRecord>,
    draws: Vec<ChainDraws>,
    journal: Journal,
}

/// Draws of what data terms have of their own, before anything of an optimum moves. Noise and local variables
/// take one; parameters that are drawn by steps, such as sizes of counts, start anywhere and take some.
const TERMS_FIRST: u32 = 10;

/// Most sweeps of variational Bayes before a chain whose rows are drawn around tangents.
const APPROACH: usize = 100;

/// Sweeps of a chain in all.
fn total(options: &RunOptions) -> usize {
    options.gibbs.warm_up + options.gibbs.sweeps
}

impl Chains {
    /// The chains, and the start of the first.
    pub(super) fn new(given: &Given) -> Result<(Self, Mat<f64>)> {
        let mut first = Mat::zeros(0, 0);
        let mut chains = Self::of(given, |c| {
            let z = given.start(c)?;
            if c == 0 {
                first = z.clone();
            }
            Ok(z)
        })?;
        for (c, chain) in chains.chains.iter_mut().enumerate() {
            approach(given, c, chain)?;
        }
        Ok((chains, first))
    }
    /// Chains whose factors `start` gives for each, samples × K.
    pub(super) fn of(
        given: &Given,
        mut start: impl FnMut(usize) -> Result<Mat<f64>>,
    ) -> Result<Self> {
        let (composed, options) = (&given.composed, &given.composed.options);
        let mut chains = Vec::with_capacity(options.gibbs.chains);
        for c in 0..options.gibbs.chains {
            let z = start(c)?;
            let views = given.views.clone();
            let m = composed.model(given.groups.as_ref(), views, z)?;
            let key = StreamKey::new(options.seed).chain(c as u32);
            chains.push(GibbsChain::new(m, key));
        }
        let draws = vec![ChainDraws::default(); chains.len()];
        Ok(Self { chains, draws })
    }
    /// Chains that all start where a model of the same data stands.
    pub(super) fn at(given: &Given, optimum: &Model) -> Result<Self> {
        let factors = optimum.factors.moments().mean();
        let mut out = Self::of(given, |_| Ok(factors.to_owned()))?;
        for chain in &mut out.chains {
            chain.model_mut().take_rows(optimum)?;
            chain.draw_terms(TERMS_FIRST)?;
        }
        Ok(out)
    }
    /// Number of factors.
    pub(super) fn k(&self) -> usize {
        self.chains.first().map_or(0, |c| c.model().k())
    }
    fn sweeps(&self) -> usize {
        self.chains.first().map_or(0, |c| c.record().sweep)
    }
}

/// Brings a chain whose rows are drawn around tangents from its start to where data have it. Where
/// counts are large, factors and weights are known so well given one another that draws of one and
/// then of the other go there by thousands of small steps; those of variational Bayes are long.
fn approach(given: &Given, number: usize, chain: &mut GibbsChain) -> Result<()> {
    let mut views = chain.model_mut().views.iter_mut();
    if !views.any(|v| v.term.as_tangents().is_some()) {
        return Ok(());
    }
    let composed = &given.composed;
    let start = chain.model().factors.moments().mean().to_owned();
    let model = composed.model(given.groups.as_ref(), given.views.clone(), start)?;
    let options = VbOptions {
        max_sweeps: APPROACH,
        prune: PruneRule::never(),
        ..composed.options.vb.clone()
    };
    let key = StreamKey::new(composed.options.seed).chain(number as u32);
    let mut run = VbRun::new(model, options, key, Journal::default());
    while swept(&mut run)?.outcome.is_none() {}
    chain.model_mut().take_rows(run.model())?;
    chain.draw_terms(TERMS_FIRST)?;
    Ok(())
}

impl Campaign for Chains {
    fn step(&mut self, given: &mut Given) -> Result<Progress> {
        let options = &given.composed.options;
        let (gibbs, total) = (options.gibbs, total(options));
        let reports: Vec<_> = (self.chains.par_iter_mut())
            .map(swept)
            .collect::<Result<_>>()?;
        let sweep = self.sweeps();
        if sweep > gibbs.warm_up {
            let store = (sweep - gibbs.warm_up).is_multiple_of(gibbs.thin);
            let chains = self.chains.iter_mut().zip(&mut self.draws);
            for ((chain, draws), report) in chains.zip(&reports) {
                draws.record(chain.model_mut(), report.bound, store);
            }
        }
        let densities = reports.iter().map(|r| r.bound).sum::<f64>();
        Ok(Progress {
            restart: 1,
            restarts: 1,
            before_start: false,
            sweep,
            sweeps: total,
            objective: densities / reports.len().max(1) as f64,
            of_draws: true,
            change: f64::NAN,
            factors: self.chains.first().map_or(0, |c| c.model().k()),
            gain: None,
            sweeps_left: None,
            done: sweep >= total,
        })
    }

    fn finish(self: Box<Self>, given: &mut Given) -> Result<Ended> {
        let done = self.sweeps() >= total(&given.composed.options);
        let (components, record) = finish_chains(given, &self.chains, self.draws, done)?;
        Ok(Ended {
            components,
            record,
            sums: None,
        })
    }

    fn save(&self, given: &Given, state: &mut State) -> Result<Value> {
        let mut chains = Vec::with_capacity(self.chains.len());
        for (i, (chain, draws)) in self.chains.iter().zip(&self.draws).enumerate() {
            chains.push(chain.save(&format!("chain{i}/"), state));
            for (j, d) in draws.states().iter().enumerate() {
                copy(d, &format!("draw{i}.{j}/"), state);
            }
        }
        write_record(&Record {
            chains,
            draws: self.draws.clone(),
            journal: given.journal.clone(),
        })
    }

    fn resume(
        &mut self,
        given: &mut Given,
        own: &State,
        (state, record): (&State, &Value),
    ) -> Result<()> {
        let r: Record = read_record(record)?;
        let count = self.chains.len();
        record_fits("chains", r.chains.len() == count && r.draws.len() == count)?;
        let sweeps = r.chains.first().map_or(0, |c| c.sweep);
        enough_sweeps("warm-up + sweeps", sweeps, total(&given.composed.options))?;
        let gibbs = &given.composed.options.gibbs;
        let k = self.k();
        let stored = sweeps.saturating_sub(gibbs.warm_up) / gibbs.thin;
        for (i, (c, chain)) in self.chains.iter().zip(&r.chains).enumerate() {
            let at = format!("chain{i}/");
            let extents = Extents::of(own, &at, &given.infos);
            extents.check(state, &at, k..=k)?;
            let fits = chain.sweep == sweeps && chain.is_whole();
            record_fits("sweeps of the chains", fits)?;
            record_fits("draws", r.draws[i].fits(c.model(), stored))?;
            for j in 0..stored {
                extents.check(state, &format!("draw{i}.{j}/"), k..=k)?;
            }
        }
        for (i, (c, record)) in self.chains.iter_mut().zip(r.chains).enumerate() {
            c.resume(&format!("chain{i}/"), record, &state.reader())?;
        }
        self.draws = r.draws;
        for (i, draws) in self.draws.iter_mut().enumerate() {
            let states = (0..stored).map(|j| part(state, &format!("draw{i}.{j}/")));
            draws.set_states(states.collect());
        }
        given.journal = r.journal;
        Ok(())
    }

    fn chains(&self) -> &[GibbsChain] {
        &self.chains
    }
}

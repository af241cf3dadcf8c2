//! Views of labels settled on factors that did not see them.

use polyview_core::{Event, Journal, RowMoments, Schedule, Step};
use polyview_infer::{Model, Outcome, PruneRule, Rotate, VbOptions, VbRun, ViewPart};
use polyview_linalg::on_pool;
use polyview_random::StreamKey;

use super::latent;
use super::project::WeightUncertainty;
use crate::build;
use crate::error::{Error, ErrorKind, Result};
use crate::fit::{Component, FactorScales, Fit, is_local};

/// Streams of this step are none of the fit's.
const CHAIN: u32 = 0x7365_7474;

/// Most sweeps, and what counts as no change: sweeps without factors cost next
/// to nothing, and the bound includes that of the factors, which stays.
const SWEEPS: usize = 1000;
const TOLERANCE: f64 = 1e-9;
const MOVEMENT: f64 = 1e-4;

/// How views were settled.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Settled {
    /// Rounds of the projection of the training samples, 1 or more.
    pub rounds: usize,
    /// How the sweeps ended.
    pub outcome: Outcome,
    /// Sweeps over weights, intercepts, scales and noise of the views.
    pub sweeps: usize,
}

/// Where the rounds of the training samples' projection begin: the factors of the
/// fit are near; where the prior allows for several optima they might leave a
/// trace of the labels.
pub(super) fn start(component: &Component, samples: usize) -> RowMoments {
    match &component.scales {
        FactorScales::StandardNormal | FactorScales::Ard(_)
            if component.factors.explicit_rows() == samples =>
        {
            component.factors.clone()
        }
        _ => latent::start(component, samples),
    }
}

impl Fit {
    /// Settles the views `targets` on what a prediction of them will meet.
    ///
    /// Factors of a joint fit have seen the labels: those of a training sample
    /// lie on its label's side, by a margin that a new sample, whose label is not
    /// known, does not have. Here the training samples are projected as new
    /// ones are, from all other views alone; then weights, intercepts, scales and noise of the
    /// targets are brought to their optimum given **these** factors
    /// (variational Bayes with factors held fixed). Nothing else changes:
    /// loadings and factors remain those of the joint fit, and so do
    /// [`Fit::factors`] and [`Fit::project`].
    ///
    /// The bound of the fit is that of the joint model, before this step.
    /// [`Fit::fitted`] combines the fit's factors with the new weights.
    ///
    /// # Errors
    /// [`ErrorKind::NotWithEngine`] for Gibbs draws, which are no optimum;
    /// [`ErrorKind::NoData`]; [`ErrorKind::UnknownView`];
    /// [`ErrorKind::Incompatible`] for a view of ranks, whose weights are
    /// those of pairs of training samples, for the algorithm of mofapy2, and
    /// where no other view is left; [`ErrorKind::NotSettled`]; numerical errors.
    pub fn settle(&mut self, targets: &[&str]) -> Result<Settled> {
        on_pool(|| self.settled(targets))
    }

    fn settled(&mut self, targets: &[&str]) -> Result<Settled> {
        let targets = self.settleable(targets)?;
        let data = self.data()?;
        let mut component = self.component(0)?;
        let others: Vec<_> = data
            .iter()
            .enumerate()
            .map(|(v, view)| (!targets.contains(&v)).then(|| view.clone()))
            .collect();
        let mut journal = Journal::default();
        let (factors, rounds) = latent::block(
            self,
            &component,
            &others,
            (&self.samples, start(&component, self.samples.len())),
            latent::usual(WeightUncertainty::Variational),
            &mut journal,
        )?;
        let groups = build::several(self.groups());
        let mut model = build::parameters(&self.spec, groups, self.empty_views()?, self.k())?;
        model.load_views("", &self.components[0].reader())?;
        let mut views = Vec::with_capacity(targets.len());
        for (v, part) in model.views.into_iter().enumerate() {
            if targets.contains(&v) {
                let own = component.views.remove(v - views.len());
                let term = own.term.rebind(&data[v])?;
                let bias = own.bias;
                views.push(ViewPart { term, bias, ..part });
            }
        }
        let mut schedule = Schedule::standard(views.len());
        schedule.sweep.retain(|s| {
            !matches!(
                s,
                Step::Rotate | Step::Factors | Step::FactorScales | Step::Prune
            )
        });
        let options = VbOptions {
            rotate: Rotate::Off,
            prune: PruneRule {
                by_bound: false,
                ..self.spec.vb.prune
            },
            max_sweeps: SWEEPS,
            tolerance: TOLERANCE.min(self.spec.vb.tolerance),
            movement: MOVEMENT.min(self.spec.vb.movement),
            ..self.spec.vb.clone()
        };
        let key = StreamKey::new(self.spec.seed).chain(CHAIN);
        let mut run = VbRun::new(Model::new(factors, views, schedule), options, key, journal);
        let outcome = loop {
            let report = run.sweep().map_err(Error::from)?;
            if let Some(outcome) = report.outcome {
                break outcome;
            }
        };
        let (model, record) = run.into_parts();
        let names: Vec<String> = model.views.iter().map(|v| v.name.clone()).collect();
        for view in model.views {
            let mut state = polyview_core::State::new();
            view.give_up("", &mut state);
            for (name, array) in state.arrays() {
                if !is_local(name) {
                    self.components[0].put(name, array.clone());
                }
            }
        }
        for name in &names {
            let mut choices = self.spec.view(name);
            choices.settle = Some(true);
            self.spec = self.spec.clone().with_view(name, choices);
            for info in self.views.iter_mut().filter(|i| i.name == *name) {
                info.choices = choices;
            }
            let note = format!(
                "weights settled on factors of the other views alone, {} sweeps ({outcome})",
                record.sweep
            );
            self.note_before_the_end(&format!("weights/{name}"), Event::Note { note });
        }
        Ok(Settled {
            rounds,
            outcome,
            sweeps: record.sweep,
        })
    }

    /// Settles the views whose choices say so, unless no other view is left.
    pub(crate) fn settle_as_chosen(&mut self) -> Result<()> {
        let chosen = self.views.iter().filter(|v| v.choices.settle == Some(true));
        let names: Vec<String> = chosen.map(|v| v.name.clone()).collect();
        if names.is_empty() {
            return Ok(());
        }
        if names.len() == self.views.len() {
            let note = "no view was settled: there is no other that factors could come from";
            let note = Event::Note { note: note.into() };
            self.note_before_the_end("weights", note);
            return Ok(());
        }
        let names: Vec<&str> = names.iter().map(String::as_str).collect();
        match self.settled(&names) {
            // the fit itself is none the worse for it
            Err(e) if matches!(e.kind(), ErrorKind::NotSettled { .. }) => {
                let note = format!("no view was settled: {e}");
                self.note_before_the_end("weights", Event::Warning { note });
                Ok(())
            }
            other => other.map(|_| ()),
        }
    }

    /// How the fit ended stays the last line.
    pub(crate) fn note_before_the_end(&mut self, block: &str, event: Event) {
        let (sweep, journal) = (self.record.sweeps, &mut self.record.journal);
        journal.note(sweep, block, event);
        let entries = &mut journal.entries;
        if let [.., ended, new] = entries.as_mut_slice()
            && matches!(ended.event, Event::Ended { .. })
        {
            std::mem::swap(ended, new);
        }
    }

    /// Places of the views, where they can be settled.
    fn settleable(&self, targets: &[&str]) -> Result<Vec<usize>> {
        if self.is_sampled() {
            return Err(ErrorKind::NotWithEngine {
                what: "settling a view",
                engine: "gibbs",
            }
            .into());
        }
        let mut places = Vec::with_capacity(targets.len());
        for name in targets {
            let (at, info) = self.view(name)?;
            if let Some(with) = build::never_settled(&self.spec, &info.name) {
                return Err(build::not_settled(&info.name, with));
            }
            if !places.contains(&at) {
                places.push(at);
            }
            if places.len() == self.views.len() {
                let with = "a model without another view, which factors could come from";
                return Err(build::not_settled(&info.name, with));
            }
        }
        Ok(places)
    }
}

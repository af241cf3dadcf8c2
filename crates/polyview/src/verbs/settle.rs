//! Views of labels settled on factors that did not see them.

use polyview_core::{Event, Journal, ParameterUncertainty, RowMoments};
use polyview_infer::Outcome;
use polyview_linalg::on_pool;

use super::candidate::Candidate;
use super::latent;
use super::project::WeightUncertainty;
use super::settling::Given;
use super::settling_features;
use crate::assemble;
use crate::error::{ErrorKind, Result};
use crate::faithful;
use crate::fit::{Component, ComponentView, Fit, ViewInfo};
use crate::spec::Settle;

/// Where settling is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SettleProgress {
    /// The view that is being settled.
    pub view: String,
    /// Sweeps over it that are done.
    pub sweep: usize,
    /// Where it is yet to be chosen how the view is predicted ([`Settle::Best`]): the fold, from 1, that is held out, and
    /// the number of folds.
    pub fold: Option<(usize, usize)>,
}

/// What is told before each sweep of settling, and says whether to go on.
pub(crate) type Watch<'a> = &'a (dyn Fn(&SettleProgress) -> bool + Sync);

/// What is said of a view that was settled begins so.
const SETTLED: &str = "weights settled on factors of the other views alone";

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
    let own = component.factors();
    if component.factors.has_one_optimum() && own.explicit_rows() == samples {
        own.clone()
    } else {
        latent::start(component, samples)
    }
}

/// The same rows, taken to be known.
pub(super) fn without_covariances(rows: &RowMoments) -> RowMoments {
    RowMoments::point(rows.mean().to_owned())
}

impl Fit {
    /// Settles the views `targets` on what a prediction of them will meet.
    ///
    /// Factors of a joint fit have seen the labels: those of a training sample
    /// lie on its label's side, by a margin that a new sample, whose label is not
    /// known, does not have. Here the training samples are projected as new
    /// ones are, from all other views alone; then weights, intercepts, scales and noise of the
    /// targets are brought to what predicts their data best given **these** factors, whose
    /// uncertainty is part of the law of the data (spec/sites 5): variational Bayes with factors
    /// held fixed, on the density $\mathrm E\_{q(z\_n)}p(t\_n\mid Wz\_n)$ where the likelihood
    /// knows it ([`ViewTerm::widened`](polyview_core::ViewTerm::widened)) or has normal noise, with one
    /// precision for the weights of each feature. Where max-margin ranks say what the factors
    /// are, their means alone are taken, here and in what is predicted of new samples: a
    /// pair of ranks is no law of data, and the covariances that pairs leave are many times
    /// those of the means about the truth. Every label would pay for them
    /// ($-w^\\top Sw/2$ under `probit`), until weights are too small to ever predict the
    /// rarer label (spec/maxmargin-rank 6). Labels whose settled
    /// weights vanish, though the joint fit's predict them better, keep those of the joint
    /// fit, and a warning in the journal says so.
    ///
    /// Both are kept: what was settled predicts the view where its factors come from other views
    /// alone ([`Fit::predict`], [`Fit::settled_view`]); the joint fit does all else, such as
    /// [`Fit::project`], [`Fit::impute`], [`Fit::fitted`], [`Fit::weights`] and explained
    /// variance, where the view is data like any other. The bound of the fit is that of the joint model.
    ///
    /// # Errors
    /// [`ErrorKind::NotWithEngine`] for Gibbs draws, which are no optimum;
    /// [`ErrorKind::NoData`]; [`ErrorKind::UnknownView`];
    /// [`ErrorKind::Incompatible`] for a view of ranks, whose weights are
    /// those of pairs of training samples, for the algorithm of mofapy2, and
    /// where no other view is left; [`ErrorKind::NotSettled`]; numerical errors.
    pub fn settle(&mut self, targets: &[&str]) -> Result<Settled> {
        on_pool(|| self.settled(targets, &|_| true))
    }

    /// Whether weights of a view that was settled at the end of the fit still moved when settling
    /// stopped at its limit, by the journal.
    pub fn settling_stopped(&self) -> bool {
        let entries = &self.record.journal.entries;
        let restless =
            |e: &Event| matches!(e, Event::Warning { note } if note.starts_with(SETTLED));
        entries.iter().any(|e| restless(&e.event))
    }

    pub(super) fn settled(&mut self, targets: &[&str], watch: Watch<'_>) -> Result<Settled> {
        let mut targets = self.settleable(targets)?;
        targets.sort_unstable();
        let data = self.data()?;
        let component = self.component(0)?;
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
        let given = if self.knows_factors_by_pairs(&targets) {
            Given::Means
        } else {
            Given::Laws
        };
        let runs = self.settle_from(&component, &targets, factors, &others, (given, watch))?;
        let (sweeps, outcome) = (runs.sweeps, runs.outcome);
        if outcome != Outcome::Interrupted {
            for (v, found) in targets.iter().zip(runs.views) {
                self.take_settled(*v, &found);
            }
        }
        Ok(Settled {
            rounds,
            outcome,
            sweeps,
        })
    }

    /// Takes over what a view was settled on, unless the weights of the joint fit
    /// are better.
    fn take_settled(&mut self, v: usize, found: &Candidate) {
        let name = self.views[v].name.clone();
        let kept = found.is_worse_than_joint();
        let event = if kept {
            Event::Warning {
                note: format!(
                    "settled on factors of the other views alone {}: those of the joint fit are kept, which \
                     predict the training labels better (log loss {:.1} against {:.1} nats)",
                    if found.constant {
                        "the weights vanish, and all samples would be predicted alike"
                    } else {
                        "the weights are surer than the shares of the labels allow"
                    },
                    found.joint_loss.unwrap_or(f64::NAN),
                    found.loss.unwrap_or(f64::NAN)
                ),
            }
        } else if found.constant {
            Event::Warning {
                note: "the other views say nothing of these labels: all samples are predicted \
                       alike"
                    .to_owned(),
            }
        } else if found.is_too_sure() {
            Event::Warning {
                note: format!(
                    "settled on factors of the other views alone the probabilities of the training labels are \
                     worse than the shares of these (log loss {:.1} against {:.1} nats): they are no frequencies; \
                     take a likelihood that is one of labels (probit, bernoulli) where probabilities matter",
                    found.loss.unwrap_or(f64::NAN),
                    found.shares_loss.unwrap_or(f64::NAN)
                ),
            }
        } else {
            let (sweeps, outcome) = (found.sweeps, found.outcome);
            let beside = found.features.map_or_else(String::new, |(count, share)| {
                format!(
                    ", beside {count} direction(s) of what these leave of the features, which have {:.0} % of \
                     the variance of what is predicted",
                    100.0 * share
                )
            });
            let note = format!("{SETTLED}{beside}, {sweeps} sweeps ({outcome})");
            if outcome == Outcome::Converged {
                Event::Note { note }
            } else {
                let note = format!("{note}: predictions of this view may still change");
                Event::Warning { note }
            }
        };
        // covariances may be of another kind than before
        let (own, beside) = (format!("views/{name}/"), settling_features::place(&name));
        (self.settled).retain(|n, _| !(n.starts_with(&own) || n.starts_with(&beside)));
        if !kept {
            for (name, array) in found.state.arrays() {
                self.settled.put(name, array.clone());
            }
        }
        self.say_settled(v, !kept);
        self.note_before_the_end(&format!("weights/{name}"), event);
    }

    /// Says of a view whether its weights are settled ones.
    fn say_settled(&mut self, v: usize, settled: bool) {
        let own = self.views[v].choices.settle.filter(|s| s.settles());
        let way = own.filter(|_| settled);
        self.say_way(v, way.unwrap_or(Settle::from(settled)));
    }

    /// Says what a view is settled on.
    pub(super) fn say_way(&mut self, v: usize, way: Settle) {
        let name = self.views[v].name.clone();
        let choices = &mut self.views[v].choices;
        choices.settle = Some(way);
        if let Some(spec) = self.composed.spec() {
            let spec = spec.clone().with_view(&name, choices.clone());
            self.composed = self.composed.with_spec(spec);
        }
    }

    /// Settles the views whose choices say so, unless no other view is left; false where
    /// `watch` ended it.
    pub(crate) fn settle_as_chosen(&mut self, watch: Watch<'_>) -> Result<bool> {
        let chosen = self.views.iter().filter(|v| v.choices.settles());
        let names: Vec<String> = chosen.map(|v| v.name.clone()).collect();
        if names.is_empty() {
            return Ok(true);
        }
        if self.leaves_no_other() {
            let note = "no view was settled: there is no other that factors could come from";
            let note = Event::Data { note: note.into() };
            self.note_before_the_end("weights", note);
            return Ok(true);
        }
        if !self.choose_ways(watch)? {
            return Ok(false);
        }
        if !self.mix_ways(watch)? {
            return Ok(false);
        }
        let is_settled = |v: &&ViewInfo| {
            let own = v.choices.settle;
            own.is_some_and(|s| s.settles() && !s.is_mixture())
        };
        let chosen = self.views.iter().filter(is_settled);
        let names: Vec<String> = chosen.map(|v| v.name.clone()).collect();
        if names.is_empty() {
            return Ok(true);
        }
        let names: Vec<&str> = names.iter().map(String::as_str).collect();
        match self.settled(&names, watch) {
            // the fit itself is none the worse for it
            Err(e) if matches!(e.kind(), ErrorKind::NotSettled { .. }) => {
                let note = format!("no view was settled: {e}");
                let settled = |v: &usize| is_settled(&&self.views[*v]);
                let all: Vec<usize> = (0..self.views.len()).filter(settled).collect();
                for v in all {
                    self.say_settled(v, false);
                }
                self.note_before_the_end("weights", Event::Warning { note });
                Ok(true)
            }
            other => other.map(|settled| settled.outcome != Outcome::Interrupted),
        }
    }

    /// Whether every view was to be settled, so that none could be.
    fn leaves_no_other(&self) -> bool {
        self.views.iter().all(|v| v.choices.settles())
    }

    /// Whether the fit ended with weights of one of its views settled.
    pub(super) fn was_settled(&self, view: &ViewInfo) -> bool {
        view.choices.settles() && !self.leaves_no_other()
    }

    /// Whether factors of new samples come from views beside these of which one is of
    /// max-margin ranks, so that their covariances are those of no law of data.
    pub(super) fn knows_factors_by_pairs(&self, targets: &[usize]) -> bool {
        let mut others = (self.views.iter().enumerate()).filter(|(v, _)| !targets.contains(v));
        others.any(|(_, v)| v.choices.likelihood == "rank")
    }

    /// Whether what a view was settled on is beside the joint fit's own; files of earlier
    /// releases have it in the place of that.
    pub(crate) fn holds_settled(&self, at: usize) -> bool {
        let own = format!("views/{}/", self.views[at].name);
        let mut names = self.settled.arrays().keys();
        names.any(|name| name.starts_with(&own))
    }

    /// What predicts a view from other views, where it was settled: weights, intercepts, and the
    /// likelihood with its parameters. `None` where it was not, and in fits that earlier releases saved,
    /// which have it in the place of the joint fit's own.
    ///
    /// # Errors
    /// [`ErrorKind::UnknownView`]; when the fit's state is damaged.
    pub fn settled_view(&self, view: &str) -> Result<Option<ComponentView>> {
        let (at, _) = self.view(view)?;
        if !self.holds_settled(at) {
            return Ok(None);
        }
        let known = ParameterUncertainty::Posterior;
        let mut component = self.component_for(0, known, Some(at))?;
        Ok(Some(component.views.swap_remove(at)))
    }

    /// Whether predictions of a view take factors of new samples, which have `seen` it or not, to be
    /// known: what predicts it was settled on such.
    pub(super) fn predicts_from_means(&self, at: usize, seen: bool) -> bool {
        if seen && self.holds_settled(at) {
            return false;
        }
        let settled = |v: &ViewInfo| v.choices.settles();
        let all = (0..self.views.len()).filter(|v| settled(&self.views[*v]));
        self.was_settled(&self.views[at]) && self.knows_factors_by_pairs(&all.collect::<Vec<_>>())
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
        let mofapy2 = self.spec().and_then(faithful::refuses);
        let mut places = Vec::with_capacity(targets.len());
        for name in targets {
            let (at, info) = self.view(name)?;
            if let Some(with) = assemble::never_settled(&info.choices, mofapy2) {
                return Err(assemble::not_settled(&info.name, &with));
            }
            if !places.contains(&at) {
                places.push(at);
            }
            if places.len() == self.views.len() {
                let with = "a model without another view, which factors could come from";
                return Err(assemble::not_settled(&info.name, with));
            }
        }
        Ok(places)
    }
}

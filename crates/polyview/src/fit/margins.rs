//! Factors that merely repeat training data, and what else is remarkable about labels of support
//! vector machines.

use polyview_core::Event;

use super::{Fit, ViewInfo};
use crate::error::Result;
use crate::verbs::{ACTIVE_SHARE, Explained};

/// What a view of support vector machines loses beside the shares of its classes before it
/// is said, as a part of the deviance of these.
const LOST: f64 = 0.05;

/// Share of a view from which on factors that repeat its training data are said.
const REPEATED: f64 = 0.05;

/// Most features of a view of numbers of which factors of a single feature are said: of more
/// each is a small share of the view.
const FEW: usize = 3;

/// How many features a factor of a single one has at most ([`Fit::effective_features`]).
const SINGLE: f64 = 1.5;

/// Which training data a factor repeats.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Repeated {
    /// Labels of support vector machines.
    Labels,
    /// A feature of a view of few.
    Feature,
    /// Labels of a column of few whose view counts more than once.
    WeightedLabels,
}

/// What factors of a view may repeat.
fn may_repeat(v: &ViewInfo) -> Option<Repeated> {
    let likelihood = &v.choices.likelihood;
    let few = v.features.len() <= FEW;
    if *likelihood == "svm" {
        Some(Repeated::Labels)
    } else if likelihood.is_real() && few {
        Some(Repeated::Feature)
    } else if likelihood.is_label() && few && v.choices.weight.is_some_and(|w| w > 1.0) {
        Some(Repeated::WeightedLabels)
    } else {
        None
    }
}

/// Factors that merely repeat the training data of a view: what they take of it is not explained.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Repeating {
    /// The view, by place.
    pub view: usize,
    /// The factors, by place.
    pub factors: Vec<usize>,
    /// What they repeat.
    pub what: Repeated,
}

/// What is said of labels that clusters repeat begins so.
const CLUSTERS_REPEAT: &str = "the clusters repeat its training labels";

impl Fit {
    /// Factors that merely repeat training data and **explain nothing**, view by view; none of a fit
    /// of one view.
    ///
    /// *Labels*: factors that act ([`ACTIVE_SHARE`]) in views of support vector machines and in no other
    /// view. The pseudo-likelihood $e^{-2\max(0, 1 - y\eta)}$ (spec/maxmargin-rank 2.3) does not sum to one over
    /// the two labels, but to $2e^{-2}$ at $\eta = 0$ and to more than one beyond the margin. So
    /// each label pays up to two nats for a score that stands clear of the margin, foreseen
    /// or not, which is more than a factor of its own costs its sample. Under a likelihood
    /// that sums to one no label of a single feature pays for a factor of its own.
    ///
    /// *Features*: factors that act in one view alone, a view of at most three real features, and have
    /// one of these for the most part. Nothing tells such a factor from the noise of its feature:
    /// any part of the variance may be the one or the other.
    ///
    /// *Weighted labels*: the same in a view of at most three columns of labels that counts more than
    /// once ([`ViewChoices::weight`](crate::ViewChoices::weight)): to the power of its weight a likelihood
    /// does not sum to one either, and a label pays several times for a factor of its own.
    ///
    /// `explained` is of this fit ([`Fit::explain`]).
    ///
    /// # Errors
    /// When a component's state is damaged.
    pub fn repeating(&self, explained: &Explained) -> Result<Vec<Repeating>> {
        let activity = match explained.activity(ACTIVE_SHARE) {
            Ok(activity) if self.views.len() > 1 => activity,
            _ => return Ok(Vec::new()),
        };
        let place = |v: &ViewInfo| explained.views.iter().position(|name| *name == v.name);
        let of_margins = |v: &ViewInfo| v.choices.likelihood == "svm";
        let acts = |v: &ViewInfo, k: usize| place(v).is_some_and(|m| activity.is_active(m, k));
        let mut out = Vec::new();
        for (view, v) in self.views.iter().enumerate() {
            let Some(what) = may_repeat(v) else {
                continue;
            };
            let effective = match what {
                Repeated::Labels => Vec::new(),
                Repeated::Feature | Repeated::WeightedLabels => self.effective_features(&v.name)?,
            };
            let alike = |other: &ViewInfo| match what {
                Repeated::Labels => of_margins(other),
                Repeated::Feature | Repeated::WeightedLabels => other.name == v.name,
            };
            let elsewhere = |k: usize| self.views.iter().any(|o| !alike(o) && acts(o, k));
            let factors: Vec<usize> = (0..explained.factors)
                .filter(|&k| acts(v, k) && !elsewhere(k))
                .filter(|&k| effective.get(k).is_none_or(|e| *e < SINGLE))
                .collect();
            if !factors.is_empty() {
                out.push(Repeating {
                    view,
                    factors,
                    what,
                });
            }
        }
        Ok(out)
    }

    /// Warns of factors that merely repeat training data ([`Fit::repeating`]).
    pub(super) fn note_repeating(&mut self) -> Result<()> {
        let may = |v: &ViewInfo| may_repeat(v).is_some();
        if self.data.is_none() || !self.views.iter().any(may) {
            return Ok(());
        }
        let explained = self.explain()?;
        for found in self.repeating(&explained)? {
            let share = |k: &usize| explained.marginal[(found.view, *k)];
            let own: Vec<usize> = (found.factors.iter().copied())
                .filter(|k| share(k) >= ACTIVE_SHARE)
                .collect();
            let sum: f64 = own.iter().map(share).sum();
            // a share of nothing is none
            if sum.is_nan() || sum < REPEATED {
                continue;
            }
            let names: Vec<String> = own.iter().map(|k| (k + 1).to_string()).collect();
            let (names, percent) = (names.join(", "), 100.0 * sum);
            let note = match found.what {
                Repeated::Labels => format!(
                    "factor(s) {names} act in no view but those of support vector machines: they repeat its training labels, \
                     as a margin pays for every label that stands clear of it, foreseen or not; the {percent:.0} % of its \
                     variance that they take are not explained; take the likelihood probit or bernoulli where labels have factors of their own"
                ),
                Repeated::Feature => format!(
                    "factor(s) {names} act in no other view, and here on one feature alone: they repeat it, as nothing tells \
                     such a factor from noise; the {percent:.0} % of its variance that they take are not explained; \
                     put the feature into a view of others of its kind, or see how well other views predict it \
                     (cross-validation)"
                ),
                Repeated::WeightedLabels => format!(
                    "factor(s) {names} act in no other view, and here on one column alone: they repeat its training labels, \
                     which pay {} times for a factor of their own as the view counts so often; the {percent:.0} % of its \
                     variance that they take are not explained; take a smaller --weight, or see how well other views predict \
                     the labels (cross-validation)",
                    self.views[found.view].choices.weight.unwrap_or(1.0)
                ),
            };
            let block = match found.what {
                Repeated::Labels | Repeated::WeightedLabels => {
                    format!("likelihood/{}", self.views[found.view].name)
                }
                Repeated::Feature => format!("weights/{}", self.views[found.view].name),
            };
            self.note_before_the_end(&block, Event::Warning { note });
        }
        Ok(())
    }

    /// Whether the fit warned that clusters merely repeat the training labels of a view: nothing is
    /// explained of them then.
    pub(crate) fn has_repeated_labels(&self, view: &str) -> bool {
        let block = format!("likelihood/{view}");
        let says =
            |e: &Event| matches!(e, Event::Warning { note } if note.starts_with(CLUSTERS_REPEAT));
        let entries = &self.record.journal.entries;
        entries.iter().any(|e| e.block == block && says(&e.event))
    }

    /// Warns of labels that clusters of the training samples merely repeat
    /// ([`Fit::repeated_labels`]). Where that cannot be found out nothing is said.
    pub(super) fn note_repeated_labels(&mut self) {
        if self.data.is_none() || self.is_sampled() {
            return;
        }
        for found in self.repeated_labels().unwrap_or_default() {
            let percent = |x: f64| 100.0 * x;
            let note = format!(
                "{CLUSTERS_REPEAT}: they tell {:.0} % of these apart, but only {:.0} % \
                 where a sample's own label is hidden ({:.0} % without clusters); what is explained of \
                 these labels is no finding and not shown: take fewer clusters (--mixture), or none",
                percent(found.with),
                percent(found.without),
                percent(found.at_all)
            );
            let block = format!("likelihood/{}", self.views[found.view].name);
            self.note_before_the_end(&block, Event::Warning { note });
        }
    }

    /// Warns of labels of support vector machines that their own training labels contradict:
    /// a margin is no law of data, and where the factors say nothing of rare labels all of these
    /// are a whole margin away, with a probability of .018.
    pub(super) fn note_margins(&mut self) -> Result<()> {
        let of_margins = |v: &ViewInfo| v.choices.likelihood == "svm";
        if self.data.is_none() || !self.views.iter().any(of_margins) {
            return Ok(());
        }
        let explained = self.explain()?;
        for (m, deviance) in explained.deviance.into_iter().enumerate() {
            if !of_margins(&self.views[m]) || deviance.is_nan() || deviance >= -LOST {
                continue;
            }
            let note = format!(
                "the probabilities fit the training labels worse than the shares of the classes do (deviance {:.0} \
                 %): those of a support vector machine are no frequencies where factors say little of \
                 rare labels; take the likelihood probit or bernoulli where probabilities matter",
                100.0 * deviance
            );
            let block = format!("likelihood/{}", self.views[m].name);
            self.note_before_the_end(&block, Event::Warning { note });
        }
        Ok(())
    }
}

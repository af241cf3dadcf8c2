//! What is remarkable about labels of support vector machines.

use polyview_core::Event;

use super::{Fit, ViewInfo};
use crate::error::Result;
use crate::verbs::{ACTIVE_SHARE, Explained};

/// What a view of support vector machines loses beside the shares of its classes before it
/// is said, as a part of the deviance of these.
const LOST: f64 = 0.05;

/// Share of a view of support vector machines from which on factors that repeat its labels
/// are said.
const REPEATED: f64 = 0.05;

impl Fit {
    /// Factors that act ([`ACTIVE_SHARE`]) in views of support vector machines and in no other
    /// view, by place. They repeat the training labels and **explain nothing**: the
    /// pseudo-likelihood $e^{-2\max(0, 1 - y\eta)}$ (spec/maxmargin-rank 2.3) does not sum to one over
    /// the two labels, but to $2e^{-2}$ at $\eta = 0$ and to more than one beyond the margin. So
    /// each label pays up to two nats for a score that stands clear of the margin, foreseen
    /// or not, which is more than a factor of its own costs its sample. Under a likelihood
    /// that sums to one no label of a single feature pays for a factor of its own.
    ///
    /// `explained` is of this fit ([`Fit::explain`]).
    pub fn factors_of_margins(&self, explained: &Explained) -> Vec<usize> {
        let Ok(activity) = explained.activity(ACTIVE_SHARE) else {
            return Vec::new();
        };
        let of_margins = |m: usize| {
            let name = &explained.views[m];
            let mut views = self.views.iter();
            views.any(|v| v.name == *name && v.choices.likelihood == "svm")
        };
        let (margins, others): (Vec<usize>, Vec<usize>) =
            (0..explained.views.len()).partition(|&m| of_margins(m));
        let acts = |views: &[usize], k: usize| views.iter().any(|&m| activity.is_active(m, k));
        (0..explained.factors)
            .filter(|&k| acts(&margins, k) && !acts(&others, k))
            .collect()
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
                "the clusters repeat its training labels: they tell {:.0} % of these apart, but only {:.0} % \
                 where a sample's own label is hidden ({:.0} % without clusters); what is explained of \
                 these labels is no finding: take fewer clusters (--mixture), or none",
                percent(found.with),
                percent(found.without),
                percent(found.at_all)
            );
            let block = format!("likelihood/{}", self.views[found.view].name);
            self.note_before_the_end(&block, Event::Warning { note });
        }
    }

    /// Warns of factors that merely repeat labels of support vector machines, and of such labels
    /// that their own training labels contradict:
    /// a margin is no law of data, and where the factors say nothing of rare labels all of these
    /// are a whole margin away, with a probability of .018.
    pub(super) fn note_margins(&mut self) -> Result<()> {
        let of_margins = |v: &ViewInfo| v.choices.likelihood == "svm";
        if self.data.is_none() || !self.views.iter().any(of_margins) {
            return Ok(());
        }
        let explained = self.explain()?;
        let repeating = self.factors_of_margins(&explained);
        for m in 0..self.views.len() {
            if !of_margins(&self.views[m]) {
                continue;
            }
            let share = |k: &&usize| explained.marginal[(m, **k)] >= ACTIVE_SHARE;
            let own: Vec<usize> = repeating.iter().filter(share).copied().collect();
            let sum: f64 = own.iter().map(|&k| explained.marginal[(m, k)]).sum();
            if self.views.len() < 2 || sum < REPEATED {
                continue;
            }
            let names: Vec<String> = own.iter().map(|k| (k + 1).to_string()).collect();
            let note = format!(
                "factor(s) {} act in no view but those of support vector machines: they repeat its training labels, \
                 as a margin pays for every label that stands clear of it, foreseen or not; the {:.0} % of its \
                 variance that they take are not explained; take the likelihood probit or bernoulli where labels have factors of their own",
                names.join(", "),
                100.0 * sum
            );
            let block = format!("likelihood/{}", self.views[m].name);
            self.note_before_the_end(&block, Event::Warning { note });
        }
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

//! Factors that merely repeat training data, and what else is remarkable about labels of support
//! vector machines.

use polyview_core::Event;
use polyview_linalg::{Mat, gram};

use super::{Fit, ViewInfo};
use crate::error::Result;
use crate::verbs::{ACTIVE_SHARE, Explained};

/// What a view of support vector machines loses beside the shares of its classes before it
/// is said, as a part of the deviance of these.
const LOST: f64 = 0.05;

/// Share of a view from which on factors that repeat its training data are said.
const REPEATED: f64 = 0.05;

/// Where more of what a factor has is what its features vary by themselves it repeats them: a factor of a single view has
/// less than one and a half features then.
const ALONE: f64 = 2.0 / 3.0;

/// Most features that are named.
const NAMED: usize = 5;

/// Which training data a factor repeats.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Repeated {
    /// Labels of support vector machines.
    Labels,
    /// Features whose spread is learnt.
    Feature,
    /// Labels of a column of a view that counts more than once.
    WeightedLabels,
}

/// What factors of a view may repeat.
fn may_repeat(v: &ViewInfo) -> Option<Repeated> {
    let likelihood = &v.choices.likelihood;
    if *likelihood == "svm" {
        Some(Repeated::Labels)
    } else if likelihood.is_label() && v.choices.weight.is_some_and(|w| w > 1.0) {
        Some(Repeated::WeightedLabels)
    } else if likelihood.learns_spread() {
        Some(Repeated::Feature)
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
    /// The features that they repeat, by place, in the order of the factors; none of labels of support vector machines.
    pub features: Vec<usize>,
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
    /// *Features*: factors that act in one view alone and there on what single features vary by themselves, where the
    /// likelihood learns how much that is ([`LikelihoodSpecies::learns_spread`](polyview_core::LikelihoodSpecies::learns_spread)). Nothing tells such a
    /// factor from the noise of its feature, or its size or shape: any part of the variance may be the one or the other. With
    /// the weights $b\_{dk}$ of such factors in units in which the predictor of each feature has the variance 1, what link or noise add to
    /// it included, $M = BB^\top$ is what they say of the features, and $a\_d = M\_{dd}^2/\sum\_e M\_{de}^2$ how far that is of feature $d$
    /// by itself, however factors are turned. A factor repeats features where $\sum\_d b\_{dk}^2a\_d > \tfrac23\sum\_d b\_{dk}^2$: one that is
    /// alone if it has less than one and a half of them, $(\sum\_d b\_{dk}^2)^2/\sum\_d b\_{dk}^4$.
    ///
    /// *Weighted labels*: the same in a view of labels that counts more than
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
        let acts = |v: &ViewInfo, k: usize| place(v).is_some_and(|m| activity.is_active(m, k));
        let mut out = Vec::new();
        for (view, v) in self.views.iter().enumerate() {
            let Some(what) = may_repeat(v) else {
                continue;
            };
            let alike = |other: &ViewInfo| match what {
                Repeated::Labels => may_repeat(other) == Some(Repeated::Labels),
                Repeated::Feature | Repeated::WeightedLabels => other.name == v.name,
            };
            let elsewhere = |k: usize| self.views.iter().any(|o| !alike(o) && acts(o, k));
            let own = (0..explained.factors).filter(|&k| acts(v, k) && !elsewhere(k));
            let (factors, features) = match what {
                Repeated::Labels => (own.collect(), Vec::new()),
                Repeated::Feature | Repeated::WeightedLabels => {
                    self.of_single_features(view, &own.collect::<Vec<_>>())?
                }
            };
            if !factors.is_empty() {
                out.push(Repeating {
                    view,
                    factors,
                    features,
                    what,
                });
            }
        }
        Ok(out)
    }

    /// Which of the factors `own`, those of one view alone, act on what its features (or classes) vary by themselves, with
    /// the largest such feature of each ([`Fit::repeating`]).
    fn of_single_features(&self, view: usize, own: &[usize]) -> Result<(Vec<usize>, Vec<usize>)> {
        let rows = self.views[view].weight_rows().len();
        let mut b: Mat<f64> = Mat::zeros(rows, own.len());
        for i in (0..self.n_components()).filter(|_| !own.is_empty()) {
            let component = self.component(i)?;
            let (weights, part) = (component.linear_weights(view), &component.views[view]);
            for d in 0..rows.min(weights.nrows()) {
                let squares = weights.row(d).iter().map(|w| w * w).sum::<f64>();
                let sd = (squares + part.link_variance(d)).sqrt();
                for (j, &k) in own.iter().enumerate() {
                    // a link of infinite variance leaves nothing
                    b[(d, j)] += if sd > 0.0 { weights[(d, k)] / sd } else { 0.0 };
                }
            }
        }
        let all = gram(b.as_ref());
        let factors = || 0..own.len();
        let alone = |d: usize| {
            let by_itself: f64 = factors().map(|j| b[(d, j)].powi(2)).sum();
            let pairs = factors().flat_map(|j| factors().map(move |l| (j, l)));
            let with_all: f64 = pairs
                .map(|(j, l)| b[(d, j)] * all.get(j, l) * b[(d, l)])
                .sum();
            // a feature of no factor is none's
            if by_itself > 0.0 {
                by_itself.powi(2) / with_all
            } else {
                0.0
            }
        };
        let alone: Vec<f64> = (0..rows).map(alone).collect();
        let (mut repeating, mut features) = (Vec::new(), Vec::new());
        for (j, &k) in own.iter().enumerate() {
            let of = |d: usize| b[(d, j)].powi(2) * alone[d];
            let largest = (0..rows).max_by(|c, d| of(*c).total_cmp(&of(*d)));
            if let Some(feature) = largest
                && (0..rows).map(of).sum::<f64>() > ALONE * all.get(j, j)
            {
                repeating.push(k);
                if !features.contains(&feature) {
                    features.push(feature);
                }
            }
        }
        Ok((repeating, features))
    }

    /// Warns of factors that merely repeat training data ([`Fit::repeating`]).
    pub(super) fn note_repeating(&mut self) -> Result<()> {
        let may = |v: &ViewInfo| may_repeat(v).is_some();
        if self.data.is_none() || self.views.len() < 2 || !self.views.iter().any(may) {
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
            let features = self.named(found.view, &found.features);
            let one = if own.len() == 1 {
                "one feature alone"
            } else {
                "single features"
            };
            let note = match found.what {
                Repeated::Labels => format!(
                    "factor(s) {names} act in no view but those of support vector machines: they repeat its training labels, \
                     as a margin pays for every label that stands clear of it, foreseen or not; the {percent:.0} % of its \
                     variance that they take are not explained; take the likelihood probit or bernoulli where labels have factors of their own"
                ),
                Repeated::Feature => format!(
                    "factor(s) {names} act in no other view, and here on {one} ({features}): they repeat what these vary by themselves, as \
                     nothing tells such a factor from noise; the {percent:.0} % of the view's variance that they take are not explained; \
                     see how well other views predict it (cross-validation), or put few features into a view of others of their kind"
                ),
                Repeated::WeightedLabels => format!(
                    "factor(s) {names} act in no other view, and here on one column alone ({features}): they repeat its training \
                     labels, which pay {} times for a factor of their own as the view counts so often; the {percent:.0} % of the view's \
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

    /// Names of features: five at most.
    fn named(&self, view: usize, features: &[usize]) -> String {
        let names = self.views[view].weight_rows();
        let known = features.iter().take(NAMED);
        let mut out: Vec<String> = known.map(|d| format!("'{}'", names[*d])).collect();
        if features.len() > NAMED {
            out.push("…".to_owned());
        }
        out.join(", ")
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

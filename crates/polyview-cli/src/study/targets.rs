//! How views are predicted that are there to be predicted, where nothing is said of it.

use polyview::{ChainStart, Dataset, EngineKind, ModelSpec, Settle, View};

use super::{Source, Study};
use crate::args::ModelArgs;

/// Presets whose labels are predicted by a mixture of ways; the others reproduce papers and programs, or settle labels
/// by themselves.
const PRESETS: [&str; 4] = ["sshiba", "mofa", "bibfa", "mlfs"];
/// A view of zeros and ones with more columns than that is a table of features.
const LABELS: usize = 20;

impl Study {
    /// What is predicted where these views are asked for: those, or the targets of the study where none is and no
    /// cells are `hidden` instead.
    pub fn predicted(&self, asked: &[String], hidden: bool) -> Vec<String> {
        if asked.is_empty() && !hidden {
            self.targets.clone()
        } else {
            asked.to_vec()
        }
    }

    /// Of views that are predicted the warning that others of the study's targets are among what they are predicted from.
    pub fn predicted_from_targets(&self, predicted: &[String]) -> Option<String> {
        let others = self.targets.iter().filter(|t| !predicted.contains(t));
        let others: Vec<&str> = others.map(String::as_str).collect();
        let (first, all) = (predicted.first()?, &self.targets);
        (!others.is_empty()).then(|| {
            let options: Vec<String> = all.iter().map(|t| format!("--target {t}")).collect();
            format!(
                "the study has {} as target(s) too, and here '{first}' is predicted from them, which new samples do not \
                 have: predict all of them together ({}, or no --target)",
                others.join(", "),
                options.join(" ")
            )
        })
    }

    /// What is to be said of views among `targets` that were asked to be mixed with a regression, beside whose likelihood none
    /// stands.
    pub fn never_mixed(&self, targets: &[String]) -> Vec<String> {
        let asked = targets.iter().filter_map(|name| {
            let choices = self.model.view(name);
            let asked = choices.settle.filter(|settle| settle.is_mixture())?;
            (!choices.likelihood.has_plain_regression()).then(|| {
                format!(
                    "{name}: predicted by the joint fit alone, though a mixture was asked for (--settle {name}={asked}): no \
                     regression stands beside the likelihood {}",
                    choices.likelihood
                )
            })
        });
        asked.collect()
    }

    /// What is to be said where samples are to be kept together, and the fit holds none out.
    pub fn kept_together_nowhere(&self, args: &ModelArgs) -> Option<String> {
        let column = args.choices.keep_together.as_ref()?;
        let in_folds = |s: &Source| {
            let settle = self.model.view(&s.name).settle;
            settle.is_some_and(|settle| settle.is_mixture() || settle == Settle::Best)
        };
        (!self.data.iter().any(in_folds)).then(|| {
            format!(
                "warning: --keep-together {column} has no effect: samples are held out where a view is predicted by a mixture \
                 or in the best of several ways (--settle VIEW=mixture, VIEW=best), and here none is"
            )
        })
    }

    /// Has the views `targets`, or where there are none all labels, times to an event, single columns of numbers and of ordered levels, and numbers of which all other views have a
    /// kernel, predicted by a mixture of the joint fit and a regression
    /// (`how`: [`Settle::Mixture`] or [`Settle::LinearMixture`]), unless something is said of how; views of zeros and ones with many columns are no labels, and single columns of
    /// numbers and of levels no targets where nothing else is left to predict them from.
    /// Says which those are. Where the model refuses it they are left to the joint fit. Targets beside which no regression
    /// stands are left to it too, and no regression of another target goes by them.
    pub fn mix_targets(
        &mut self,
        (targets, data): (&[String], &Dataset),
        how: Settle,
    ) -> Option<String> {
        let (engine, start) = (self.model.engine, self.model.gibbs.start);
        let polished = engine == EngineKind::Gibbs && start == ChainStart::Optimum;
        if !self.mixes() || engine != EngineKind::Vb && !polished {
            return None;
        }
        let is_open = |name: &str| self.is_open(name);
        // what a fit that is told no targets predicts so
        let by_itself = |name: &str| self.is_outcome(name, data);
        let is_wanted = |name: &str| {
            let regressed = self.model.view(name).likelihood.has_plain_regression();
            let named = || targets.iter().any(|t| t == name);
            is_open(name) && regressed && (named() || targets.is_empty() && by_itself(name))
        };
        let names: Vec<String> = (data.views().iter())
            .map(|v| v.name().to_owned())
            .filter(|name| is_wanted(name))
            .collect();
        let mixed = |names: &[String]| {
            let settled = |model: ModelSpec, name: &String| model.with_settled(name, how);
            names.iter().fold(self.model.clone(), settled)
        };
        if polished && !names.is_empty() && names.len() < data.views().len() {
            return Some(format!(
                "{}: predicted from other views by the draws alone, not by a mixture with a regression as without --polish: \
                 its shares are those of an optimum",
                names.join(", ")
            ));
        }
        let groups = data.groups().is_some_and(|g| g.names.len() > 1);
        if self.model.adjusts() || groups && self.model.knows_groups() {
            let why = if self.model.adjusts() {
                "the fit is adjusted"
            } else {
                "groups of samples have parameters of their own"
            };
            let others = names.len() < data.views().len();
            return (!names.is_empty() && others)
                .then(|| joint_alone(&names.join(", "), FROM_OTHERS, why));
        }
        // what has no regression is still no source of one
        let mut marked = names.clone();
        marked.extend(
            (targets.iter())
                .filter(|t| is_open(t) && !names.contains(t))
                .cloned(),
        );
        let mut model = mixed(&marked);
        if model.validate().is_err() {
            marked.clone_from(&names);
            model = mixed(&marked);
        }
        if names.is_empty() {
            let all: Vec<String> = (data.views().iter())
                .map(|v| v.name().to_owned())
                .filter(|name| is_open(name) && self.is_single(name, data))
                .collect();
            let singles = targets.is_empty() && all.len() == data.views().len();
            return singles.then(|| self.without_sources(&all, data)).flatten();
        }
        // factors come from what is not settled
        let others = data.views().iter().any(|v| !model.view(v.name()).settles());
        if !others {
            return self.without_sources(&names, data);
        }
        if let Err(why) = model.validate() {
            return Some(joint_alone(
                &names.join(", "),
                FROM_OTHERS,
                &why.to_string(),
            ));
        }
        let asked: Vec<String> = (names.iter())
            .filter(|name| !by_itself(name) && !self.targets.contains(name))
            .map(|name| format!("--settle {name}={how}"))
            .collect();
        let asked = if asked.is_empty() {
            String::new()
        } else {
            format!("; 'polyview fit' does so with {}", asked.join(" "))
        };
        self.model = model;
        for name in &marked {
            self.decided(format!("views/{name}/settle"));
        }
        let all = self.targets_of(data);
        let sources = match all.as_slice() {
            [] | [_] => String::new(),
            [.., _] => format!(
                "; {} are hidden together while shares are found, {}",
                all.join(", "),
                if how == Settle::Mixture {
                    "and a new sample that has some of them is predicted by a regression that goes by these too (--settle VIEW=no of one \
                     that new samples always have)"
                } else {
                    "and none is a source of another's regression"
                }
            ),
        };
        Some(format!(
            "{}: predicted from other views by a mixture of the joint fit and a regression on their features, with \
             shares that are found in folds at the end of the fit (--no-settle leaves that out{asked}){sources}",
            names.join(", ")
        ))
    }

    /// Whether the labels of the model are predicted by a mixture of ways where nothing is said of how.
    fn mixes(&self) -> bool {
        PRESETS.contains(&self.model.model.as_str())
    }

    /// Whether a view is there to be predicted, as far as its kind, its width and the other views say.
    fn is_outcome(&self, name: &str, data: &Dataset) -> bool {
        let domain = |name: &str| self.model.view(name).likelihood.domain();
        let is_label = |name: &str| {
            let columns = data.view(name).map_or(0, View::n_features);
            domain(name).is_some_and(|d| {
                d.is_survival() || d.is_label() && (d.has_classes() || columns <= LABELS)
            })
        };
        let names = || data.views().iter().map(View::name);
        let mut others = names().filter(|other| *other != name);
        let has_kernel = |name: &str| self.model.view(name).kernel.is_some();
        let by_kernels = data.views().len() > 1 && others.all(has_kernel);
        let is_number = domain(name).is_some_and(polyview::Domain::is_real);
        let sources = names().any(|other| !is_label(other) && !self.is_single(other, data));
        is_label(name) || self.is_single(name, data) && sources || is_number && by_kernels
    }

    /// Whether a view is one column of numbers or of ordered levels.
    fn is_single(&self, name: &str, data: &Dataset) -> bool {
        let domain = self.model.view(name).likelihood.domain();
        let columns = data.view(name).map_or(0, View::n_features);
        domain.is_some_and(|d| d.is_ordered() || d.is_real()) && columns == 1
    }

    /// Whether nothing is said of how a view is predicted, nor by its other choices.
    fn is_open(&self, name: &str) -> bool {
        let choices = self.model.view(name);
        choices.settle.is_none() && choices.kernel.is_none()
    }

    /// What is to be said of views of zeros and ones with so many columns that they are taken for tables of features and left to
    /// the joint fit, where `how` they would be predicted as labels.
    pub fn taken_for_features(&self, data: &Dataset, how: Settle) -> Option<String> {
        let knows_groups =
            data.groups().is_some_and(|g| g.names.len() > 1) && self.model.knows_groups();
        let alone = data.views().len() == 1 || self.model.adjusts() || knows_groups;
        if !self.mixes() || alone || self.model.engine != EngineKind::Vb || !self.targets.is_empty()
        {
            return None;
        }
        let is_wide = |view: &&View| {
            let likelihood = self.model.view(view.name()).likelihood;
            view.n_features() > LABELS
                && likelihood.is_label()
                && !likelihood.has_classes()
                && likelihood.has_plain_regression()
                && self.is_open(view.name())
        };
        let wide = data.views().iter().filter(is_wide);
        let names: Vec<&str> = wide.map(View::name).collect();
        let options: Vec<String> = (names.iter())
            .map(|name| format!("--settle {name}={how}"))
            .collect();
        (!names.is_empty()).then(|| {
            format!(
                "{}: predicted from other views by the joint fit alone, as more than {LABELS} columns of zeros and ones are taken \
                 for a table of features; {} mixes in a regression on the features of the other views",
                names.join(", "),
                options.join(" ")
            )
        })
    }

    /// Views that something is settled of, in the order of the data: none is a source of another.
    fn targets_of(&self, data: &Dataset) -> Vec<String> {
        let settles = |name: &&str| self.model.view(name).settles();
        let names = data.views().iter().map(View::name);
        names.filter(settles).map(str::to_owned).collect()
    }

    /// What is to be said of views that would be mixed by default, were any view left that a regression could go by.
    fn without_sources(&self, names: &[String], data: &Dataset) -> Option<String> {
        let asked = self.targets_of(data);
        let all = names.join(", ");
        let option = |name: &String| {
            let own = self.model.view(name).settle.unwrap_or(Settle::Mixture);
            format!("--settle {name}={own}")
        };
        if !asked.is_empty() {
            let options: Vec<String> = asked.iter().map(option).collect();
            let why = format!(
                "targets are no sources of each other's regressions, and with {} no other view is left; fit a second model \
                 without, which predicts {all}",
                options.join(" ")
            );
            return Some(joint_alone(&all, "", &why));
        }
        let each: Vec<String> = (names.iter())
            .map(|name| {
                let others: Vec<&str> = (names.iter())
                    .filter(|other| *other != name)
                    .map(String::as_str)
                    .collect();
                format!(
                    "with {} the regression of '{name}' goes by {}",
                    option(name),
                    others.join(", ")
                )
            })
            .collect();
        let why = format!(
            "targets are no sources of each other's regressions, and no other view is left; {}",
            each.join(", ")
        );
        (names.len() > 1).then(|| joint_alone(&all, " from each other", &why))
    }
}

const FROM_OTHERS: &str = " from other views";

/// What is said of views that would be mixed by default, but that no regression stands beside.
fn joint_alone(all: &str, from: &str, why: &str) -> String {
    format!(
        "{all}: predicted{from} by the joint fit alone, not by a mixture of it and a regression as by default: {why}"
    )
}

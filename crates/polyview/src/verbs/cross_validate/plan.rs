//! What is fitted to what: kinds of views, folds, jobs.

use std::collections::BTreeSet;

use polyview_core::{Dataset, Domain, View};
use polyview_linalg::Mat;

use super::super::folds::{folds_by_name, kept_together, numbered_anew};
use super::baselines;
use super::classes::{self, check_classes};
use super::{CrossValidateModel, CrossValidateOptions};
use crate::assemble::several;
use crate::error::{ErrorKind, Result};

/// Folds of the training samples by which plain predictors choose their penalties.
const INNER: usize = 5;
/// Their seed.
const INNER_SEED: u64 = 1;

/// What one job fits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum What {
    /// A model.
    Model(usize),
    /// A model without the targets, and a regression on its factors.
    TwoSteps(usize),
    /// The plain predictors.
    Baselines,
}

/// One fit of one fold.
#[derive(Clone, Debug)]
pub(super) struct Job {
    pub(super) repeat: usize,
    pub(super) fold: usize,
    pub(super) what: What,
}

impl Job {
    /// Whether it is the first of all.
    pub(super) fn is_first(&self) -> bool {
        (self.repeat, self.fold, self.what) == (0, 0, What::Model(0))
    }
}

/// A cross-validation that has been looked at and may begin.
pub(super) struct Plan<'a> {
    pub(super) data: &'a Dataset,
    pub(super) models: &'a [CrossValidateModel],
    pub(super) options: &'a CrossValidateOptions,
    /// What the data of each view are.
    pub(super) kinds: Vec<Domain>,
    /// Names of the views that some model compares by a kernel.
    kernels: Vec<&'a str>,
    /// Names of the views that are no targets.
    pub(super) others: Vec<&'a str>,
    /// The fold of each sample, for each repeat that parts the samples anew; none without targets.
    pub(super) folds: Vec<Vec<usize>>,
    /// The group of each sample that stays together with others.
    groups: Option<Vec<usize>>,
}

impl<'a> Plan<'a> {
    pub(super) fn new(
        data: &'a Dataset,
        models: &'a [CrossValidateModel],
        options: &'a CrossValidateOptions,
    ) -> Result<Self> {
        check_counts(models, options)?;
        let known = |name: &String| -> Result<&'a View> {
            data.view(name).ok_or_else(|| {
                let known = data.views().iter().map(|v| v.name().to_owned()).collect();
                let view = name.clone();
                ErrorKind::UnknownView { view, known }.into()
            })
        };
        let targets = options
            .targets
            .iter()
            .map(known)
            .collect::<Result<Vec<_>>>()?;
        let kinds = kinds(data, models, &options.targets)?;
        let kernels = kernels(data, models)?;
        let refused = |name: &&String| kernels.contains(&name.as_str());
        if let Some(view) = options.targets.iter().find(refused) {
            return Err(ErrorKind::KernelFeatures {
                view: view.clone(),
                what: "a prediction",
            }
            .into());
        }
        if targets.is_empty() && kernels.len() == data.views().len() {
            return Err(ErrorKind::KernelFeatures {
                view: kernels[0].to_owned(),
                what: "a hidden cell",
            }
            .into());
        }
        let is_target = |v: &&View| options.targets.iter().any(|t| t == v.name());
        let others: Vec<&View> = data.views().iter().filter(|v| !is_target(v)).collect();
        if targets.is_empty() {
            let without_effect = [
                ("stratified folds", options.stratify.is_some()),
                ("groups kept together", options.keep_together.is_some()),
            ];
            if let Some((what, _)) = without_effect.iter().find(|(_, given)| *given) {
                return Err(incompatible("", what, "hidden cells: name a target"));
            }
        } else {
            check_others(data, &targets, &others)?;
            for target in &targets {
                check_classes(target)?;
                let at = data.views().iter().position(|v| v.name() == target.name());
                if at.is_some_and(|at| kinds[at].is_similarity()) {
                    let what = "being similarities";
                    let with = "a target of cross-validation: leave --target out, and pairs are hidden and predicted";
                    return Err(incompatible(target.name(), what, with));
                }
            }
        }
        let kind_of = |view: &View| {
            let at = data.views().iter().position(|v| v.name() == view.name());
            at.map_or(Domain::default(), |at| kinds[at])
        };
        let labels = match &options.stratify {
            Some(name) => {
                let view = known(name)?;
                if !kind_of(view).is_label() {
                    return Err(incompatible(
                        name,
                        "stratified folds",
                        "data that are no labels",
                    ));
                }
                vec![view]
            }
            None => (targets.iter().copied())
                .filter(|v| kind_of(v).is_label())
                .collect(),
        };
        let mut plan = Self {
            data,
            models,
            options,
            others: others.iter().map(|v| v.name()).collect(),
            folds: Vec::new(),
            groups: (options.keep_together.as_deref())
                .map(|column| kept_together(data.samples(), data.metadata(), column))
                .transpose()?,
            kinds,
            kernels,
        };
        if !targets.is_empty() {
            let alone = |view: &&&View| plan.kind(view.name()).is_label() && !has_two(view);
            if let Some(view) = labels.iter().chain(&targets).find(alone) {
                let view = view.name().to_owned();
                return Err(ErrorKind::OneClass { view }.into());
            }
            plan.part(&labels)?;
            plan.check_groups()?;
        }
        Ok(plan)
    }

    /// Parts the samples for every repeat.
    fn part(&mut self, labels: &[&View]) -> Result<()> {
        let labels = side_by_side(labels, self.data.n_samples());
        let folds = self.options.folds;
        let of = match &self.groups {
            None => self.data.n_samples(),
            Some(groups) => groups.iter().max().map_or(0, |g| g + 1),
        };
        if folds > of {
            let what = if self.groups.is_some() {
                "groups"
            } else {
                "samples"
            };
            return Err(ErrorKind::TooManyFolds { folds, what, of }.into());
        }
        for repeat in 0..self.options.repeats {
            let seed = self.options.seed.wrapping_add(repeat as u64);
            let groups = self.groups.as_deref();
            let found = folds_by_name(self.data.samples(), groups, &labels, (folds, seed))?;
            let parted = numbered_anew(&found);
            if !self.folds.iter().any(|of| numbered_anew(of) == parted) {
                self.folds.push(found);
            }
        }
        Ok(())
    }

    /// Refuses folds that leave too few samples of a group, where a model looks at groups: none at all,
    /// or one where groups have noise or intercepts of their own.
    fn check_groups(&self) -> Result<()> {
        let needs = |m: &CrossValidateModel| match m.composed.spec() {
            Some(spec) if spec.groups.noise || spec.groups.intercepts => 2,
            _ => usize::from(m.composed.knows_groups()),
        };
        let least = self.models.iter().map(needs).max().unwrap_or(0);
        let Some(groups) = several(self.data.groups()).filter(|_| least > 0) else {
            return Ok(());
        };
        for fold in &self.folds {
            let folds = fold.iter().max().map_or(0, |f| f + 1);
            for (g, group) in groups.names.iter().enumerate() {
                let mut inside = vec![0; folds];
                for (_, &f) in
                    (groups.of_sample.iter().zip(fold)).filter(|(of, _)| **of as usize == g)
                {
                    inside[f] += 1;
                }
                let all: usize = inside.iter().sum();
                let left = all - inside.iter().max().unwrap_or(&0);
                if all > 0 && left < least {
                    return Err(ErrorKind::GroupInOneFold {
                        group: group.clone(),
                        left,
                        together: self.options.keep_together.is_some(),
                    }
                    .into());
                }
            }
        }
        Ok(())
    }

    /// What is to be said of repeats that part the samples as earlier ones do: they are left out.
    pub(super) fn repeated(&self) -> Option<String> {
        let (asked, parted) = (self.options.repeats, self.folds.len());
        (parted > 0 && parted < asked).then(|| {
            format!(
                "{} of {asked} repeats part the samples as an earlier one does, and are left out: there are few ways to part \
                 them into {} folds",
                asked - parted,
                self.options.folds
            )
        })
    }

    /// What is to be said of classes of targets that no training samples of a fold have.
    pub(super) fn unseen_classes(&self) -> Vec<String> {
        let targets = self.options.targets.iter();
        let views = targets.filter_map(|name| self.data.view(name));
        let together = self.options.keep_together.is_some();
        views
            .filter_map(|view| classes::unseen(view, &self.folds, together))
            .collect()
    }

    /// All that is to be fitted, fold by fold.
    pub(super) fn jobs(&self) -> Vec<Job> {
        let with_targets = !self.options.targets.is_empty();
        let mut out = Vec::new();
        let repeats = if with_targets {
            self.folds.len()
        } else {
            self.options.repeats
        };
        for repeat in 0..repeats {
            for fold in 0..self.options.folds {
                let mut add = |what| out.push(Job { repeat, fold, what });
                (0..self.models.len()).for_each(|m| add(What::Model(m)));
                if self.options.two_steps && with_targets {
                    (0..self.models.len()).for_each(|m| add(What::TwoSteps(m)));
                }
                if self.options.baselines {
                    add(What::Baselines);
                }
            }
        }
        out
    }
    /// What a job fits, in words.
    pub(super) fn name(&self, job: &Job) -> String {
        match job.what {
            What::Model(m) => self.models[m].name.clone(),
            What::TwoSteps(m) => two_steps(&self.models[m].name),
            What::Baselines => "plain predictors".to_owned(),
        }
    }
    /// The samples inside and outside the fold of a job.
    pub(super) fn samples(&self, job: &Job) -> (Vec<u32>, Vec<u32>) {
        let fold = &self.folds[job.repeat];
        (0..fold.len() as u32).partition(|&n| fold[n as usize] == job.fold)
    }
    /// Whether cells of a view may be hidden: those of a kernel are not predicted by all models.
    pub(super) fn hides(&self, view: &str) -> bool {
        !self.kernels.contains(&view)
    }
    /// What the data of a view are.
    pub(super) fn kind(&self, name: &str) -> Domain {
        let at = self.data.views().iter().position(|v| v.name() == name);
        at.map_or(Domain::default(), |at| self.kinds[at])
    }
    /// Folds of training samples, with the labels of their target (samples × labels), by which plain predictors choose
    /// a penalty. Groups are kept together there too, unless there is but one.
    pub(super) fn inner(&self, training: &[u32], labels: &Mat<f64>) -> Result<Vec<usize>> {
        let name = |n: &u32| self.data.samples()[*n as usize].clone();
        let names: Vec<String> = training.iter().map(name).collect();
        let own = |groups: &Vec<usize>| -> Vec<usize> {
            training.iter().map(|&n| groups[n as usize]).collect()
        };
        let different = |own: &[usize]| own.iter().collect::<BTreeSet<_>>().len();
        let own = self
            .groups
            .as_ref()
            .map(own)
            .filter(|own| different(own) > 1);
        let units = own.as_deref().map_or(training.len(), different);
        let folds = (INNER.min(units), INNER_SEED);
        folds_by_name(&names, own.as_deref(), labels, folds)
    }
}

/// The name of the two steps of a model.
pub(super) fn two_steps(model: &str) -> String {
    format!("{model}, two steps")
}

fn incompatible(view: &str, what: &str, with: &str) -> crate::Error {
    ErrorKind::Incompatible {
        view: view.to_owned(),
        what: what.to_owned(),
        with: with.to_owned(),
    }
    .into()
}

fn check_counts(models: &[CrossValidateModel], options: &CrossValidateOptions) -> Result<()> {
    let bad = |option, value: String| Err(ErrorKind::Option { option, value }.into());
    if options.folds < 2 {
        return bad("folds", options.folds.to_string());
    }
    if options.repeats == 0 {
        return bad("repeats", "0".to_owned());
    }
    if !(options.share > 0.0 && options.share < 1.0) {
        return bad("share", options.share.to_string());
    }
    if models.is_empty() {
        return bad("models", "none".to_owned());
    }
    for (i, model) in models.iter().enumerate() {
        if models[..i].iter().any(|m| m.name == model.name) {
            return bad("models", format!("'{}' twice", model.name));
        }
        // figures go by names
        if baselines::ALL.contains(&model.name.as_str()) {
            return bad("models", format!("'{}', a baseline", model.name));
        }
    }
    for (i, target) in options.targets.iter().enumerate() {
        if options.targets[..i].contains(target) {
            return bad("targets", format!("'{target}' twice"));
        }
    }
    Ok(())
}

/// What the data of each view are to the first model; the others have to take targets for the same.
fn kinds(data: &Dataset, models: &[CrossValidateModel], targets: &[String]) -> Result<Vec<Domain>> {
    let mut all: Vec<Vec<Domain>> = Vec::new();
    for model in models {
        let choices = model
            .composed
            .views(data.views(), data.n_samples(), data.groups())?;
        let kinds = data.views().iter().zip(&choices).map(|(view, c)| {
            let domain = c.likelihood.domain().unwrap_or_default();
            match domain {
                // single trials are zeros and ones
                d if d.has_trials() && view.trials().is_none() => Domain::Binary,
                Domain::Order => Domain::Reals,
                other => other,
            }
        });
        all.push(kinds.collect());
    }
    let first = all.swap_remove(0);
    for (at, view) in data.views().iter().enumerate() {
        if !targets.iter().any(|t| t == view.name()) {
            continue;
        }
        if first[at].has_trials() {
            let with = "a target of cross-validation; predict other views, or hide cells";
            return Err(incompatible(view.name(), "successes out of trials", with));
        }
        if all.iter().any(|kinds| kinds[at] != first[at]) {
            let with = "another one: their predictions have no score in common";
            return Err(incompatible(
                view.name(),
                "what one model takes it for",
                with,
            ));
        }
    }
    Ok(first)
}

/// The views that some model compares by a kernel.
fn kernels<'a>(data: &'a Dataset, models: &[CrossValidateModel]) -> Result<Vec<&'a str>> {
    let mut out = Vec::new();
    for model in models {
        let views = data.views();
        let choices = model
            .composed
            .views(views, data.n_samples(), data.groups())?;
        for (view, _) in views
            .iter()
            .zip(&choices)
            .filter(|(_, c)| c.kernel.is_some())
        {
            if !out.contains(&view.name()) {
                out.push(view.name());
            }
        }
    }
    Ok(out)
}

/// Targets need other views, and every sample something in one of these.
fn check_others(data: &Dataset, targets: &[&View], others: &[&View]) -> Result<()> {
    if others.is_empty() {
        let with =
            "data that hold no view but targets: there is nothing to predict it from; add a view";
        return Err(incompatible(targets[0].name(), "its prediction", with));
    }
    let seen = |n: usize| {
        let of = |v: &&View| v.mask().count_sample(n, v.n_features()) > 0;
        others.iter().any(of)
    };
    let mut without = (0..data.n_samples()).filter(|&n| !seen(n));
    let Some(first) = without.next() else {
        return Ok(());
    };
    Err(ErrorKind::OnlyTargets {
        sample: data.samples()[first].clone(),
        count: 1 + without.count(),
        samples: data.n_samples(),
    }
    .into())
}

/// Whether labels have zeros and ones somewhere, or two classes.
fn has_two(view: &View) -> bool {
    let first_and_other = |mut values: Vec<f64>| {
        values.dedup();
        values.len() > 1
    };
    (0..view.n_features()).any(|d| {
        let known = (0..view.n_samples()).filter_map(|n| view.value(n, d));
        first_and_other(known.collect())
    })
}

/// The labels of views, samples × labels, classes one column each.
fn side_by_side(views: &[&View], samples: usize) -> Mat<f64> {
    let columns: Vec<(&View, usize)> = (views.iter())
        .flat_map(|v| (0..v.n_features().max(v.levels().len())).map(move |c| (*v, c)))
        .collect();
    Mat::from_fn(samples, columns.len(), |n, c| {
        let (view, c) = columns[c];
        if view.levels().is_empty() {
            view.value(n, c).unwrap_or(f64::NAN)
        } else {
            f64::from(u8::from(view.value(n, 0) == Some(c as f64)))
        }
    })
}

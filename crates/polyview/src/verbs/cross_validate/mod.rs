//! How well models predict samples, or cells, that they have not seen, beside plain predictors.

mod baselines;
mod classes;
mod hidden;
mod inputs;
mod kernels;
mod limited;
mod no_better;
mod plan;
mod scored;
mod summary;
mod targets;
mod workers;

use std::fmt;
use std::sync::Arc;

use polyview_core::{Dataset, Level};
use serde::{Deserialize, Serialize};

pub(crate) use inputs::columns;
pub(super) use inputs::{limits, side_by_side};
use plan::{Job, Plan, What};
use summary::summed_up;
pub(super) use workers::in_parallel;
use workers::{Done, Teller};

use super::choose_k::stopped;
use crate::compose::{Composed, Composer};
use crate::error::{Error, ErrorKind, Result};
use crate::spec::{ModelSpec, RunOptions, limited};

/// Choices of [`cross_validate`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields, default)]
pub struct CrossValidateOptions {
    /// Views to predict, each from all views that are not among them; the samples of a fold have
    /// nothing of any of them. None: cells are hidden at random in all views.
    pub targets: Vec<String>,
    /// Folds, two at least; without targets the number of times that cells are hidden in each repeat.
    pub folds: usize,
    /// Times that the samples are parted anew.
    pub repeats: usize,
    /// Seed of the folds and of the hidden cells. The fits have that of their model.
    pub seed: u64,
    /// The view of labels or classes whose shares the folds keep; none = those of the targets that
    /// are such.
    pub stratify: Option<String>,
    /// Column of the metadata: samples of one value are in one fold, here and wherever a fit of a fold holds samples out
    /// ([`RunOptions::keep_together`](crate::RunOptions::keep_together)).
    pub keep_together: Option<String>,
    /// Share of the cells that is hidden where there are no targets.
    pub share: f64,
    /// Whether plain predictors are fitted too.
    pub baselines: bool,
    /// Whether a regression on the factors of a fit without the targets is fitted too.
    pub two_steps: bool,
}

impl Default for CrossValidateOptions {
    fn default() -> Self {
        Self {
            targets: Vec::new(),
            folds: 5,
            repeats: 1,
            seed: 1,
            stratify: None,
            keep_together: None,
            share: 0.1,
            baselines: true,
            two_steps: true,
        }
    }
}

/// A model to compare, with the name that its results have.
#[derive(Clone, Debug)]
pub struct CrossValidateModel {
    name: String,
    composed: Composed,
}

impl CrossValidateModel {
    /// The model of a specification.
    pub fn new(name: impl Into<String>, spec: ModelSpec) -> Self {
        Self {
            name: name.into(),
            composed: spec.into(),
        }
    }
    /// One whose fits find a choice of another.
    pub(crate) fn of_search(name: impl Into<String>, composed: Composed) -> Self {
        Self {
            name: name.into(),
            composed: Composed {
                searches: true,
                ..composed
            },
        }
    }
    /// A model that somebody else than a [`ModelSpec`] puts together, and goes about its work as `run`
    /// says. For [`CrossValidateOptions::two_steps`] it has to do without the targets.
    pub fn composed(name: impl Into<String>, composer: Arc<dyn Composer>, run: RunOptions) -> Self {
        Self {
            name: name.into(),
            composed: Composed::new(composer, run),
        }
    }
    /// The same, with samples kept together in the fits themselves where a column says so.
    fn keeping_together(&self, column: Option<&String>) -> Self {
        let Some(column) = column else {
            return self.clone();
        };
        let options = RunOptions {
            keep_together: Some(column.clone()),
            ..self.composed.options.clone()
        };
        let composed = match self.composed.spec() {
            Some(spec) => (self.composed).with_spec(spec.clone().with_run_options(options)),
            None => Composed {
                options,
                ..self.composed.clone()
            },
        };
        Self {
            composed,
            ..self.clone()
        }
    }
    /// Its name.
    pub fn name(&self) -> &str {
        &self.name
    }
}

/// What is measured of predictions.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum CrossValidateScore {
    /// Area under the receiver operating characteristic, mean over the labels (classes: each against the rest)
    /// that have both kinds in the fold.
    Auc,
    /// Mean of minus the log probability of a label or class, nats.
    LogLoss,
    /// Share of the labels or classes that the more (the most) probable one gets wrong.
    Error,
    /// $1 - \sum(x - \hat x)^2 / \sum(x - \bar x)^2$ over all cells, with the means of the features' training
    /// cells, in data units, as [`RealScore::r2`](crate::metrics::RealScore::r2). Of hidden labels the skill of the Brier
    /// score ([`HeldOut::r2`](crate::HeldOut::r2)).
    R2,
    /// Mean distance of the median level from the true one, of ordered levels.
    AbsoluteError,
    /// Mean ranked probability score of ordered levels ([`levels`](crate::metrics::levels)).
    RankedProbability,
    /// C-index of times to an event ([`concordance`](crate::metrics::concordance)).
    Concordance,
    /// Brier score of the probabilities that the event comes later, integrated over the times of the training
    /// events up to which a tenth of the samples is still watched
    /// ([`event_times`](crate::metrics::event_times)), and divided by their span
    /// ([`integrated_brier`](crate::metrics::integrated_brier)).
    IntegratedBrier,
    /// Mean squared error, in squares of data units.
    MeanSquaredError,
    /// Share of the values inside their central intervals of probability 0.9.
    Coverage,
    /// Mean log density of a cell, nats; of a cell of which limits are all that is known the log probability of what
    /// lies between them. Of numbers all cells are scored by it, and everything else is of exact cells alone.
    LogDensity,
    /// Mean Poisson deviance of counts, or gamma deviance of numbers above 0.
    Deviance,
    /// Share of the deviance from the features' training means that is explained.
    DevianceExplained,
}

impl CrossValidateScore {
    /// Whether it is the share that is explained of what means leave: one less a ratio of sums, which mean over all folds together.
    pub fn is_share_explained(self) -> bool {
        matches!(self, Self::R2 | Self::DevianceExplained)
    }
    /// Its name in files, in kebab case.
    pub fn name(self) -> &'static str {
        match self {
            Self::Auc => "auc",
            Self::LogLoss => "log-loss",
            Self::Error => "error",
            Self::R2 => "r2",
            Self::AbsoluteError => "absolute-error",
            Self::RankedProbability => "ranked-probability",
            Self::Concordance => "c-index",
            Self::IntegratedBrier => "integrated-brier",
            Self::MeanSquaredError => "mean-squared-error",
            Self::Coverage => "coverage",
            Self::LogDensity => "log-density",
            Self::Deviance => "deviance",
            Self::DevianceExplained => "deviance-explained",
        }
    }
}

/// One score of one method on one fold.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct CrossValidateRow {
    /// Repeat, from 1.
    pub repeat: usize,
    /// Fold, from 1.
    pub fold: usize,
    /// The view that was predicted.
    pub target: String,
    /// Name of the model or of the plain predictor.
    pub method: String,
    /// What was measured.
    pub score: CrossValidateScore,
    /// What was found; infinite where something that came had probability zero.
    pub value: f64,
    /// Cells that it is of.
    pub cells: usize,
}

/// One score of one method over all folds and repeats.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct CrossValidateSummary {
    /// The view that was predicted.
    pub target: String,
    /// Name of the model or of the plain predictor.
    pub method: String,
    /// What was measured.
    pub score: CrossValidateScore,
    /// Mean over folds and repeats. Of shares explained of targets folds weigh as much as there was to explain in
    /// them: one less all errors over all that means leave.
    pub mean: f64,
    /// Standard error of the mean over the folds: the standard deviation of all values, divided by the root of
    /// the number of folds. Repeats use the same samples again and divide it no further. `NaN` for one value.
    pub standard_error: f64,
    /// Mean difference from the first model on the same folds; zero for that itself, `NaN` where it lacks the
    /// score.
    pub difference: f64,
    /// Standard error of that difference, as that of the mean.
    pub difference_error: f64,
    /// Folds, of all repeats, that have the score.
    pub values: usize,
}

/// What a cross-validation found.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct CrossValidate {
    /// Every score, by repeat and fold.
    pub rows: Vec<CrossValidateRow>,
    /// The same over folds and repeats, by target and method.
    pub summary: Vec<CrossValidateSummary>,
    /// The fold of each sample from 1, in the order of the data, for each repeat; empty where cells were hidden.
    pub folds: Vec<Vec<usize>>,
    /// What is remarkable about the data.
    pub notes: Vec<String>,
    /// What makes the comparison worth little, and which targets a model predicts no better than means do, or worse than
    /// regressions.
    pub warnings: Vec<String>,
}

/// Where a cross-validation is, told when a fit begins, after each of its sweeps and when it is done. Fits
/// run side by side, so that what is told is of any of them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CrossValidateProgress {
    /// Repeat, from 1.
    pub repeat: usize,
    /// Fold, from 1.
    pub fold: usize,
    /// What is fitted.
    pub method: String,
    /// Sweeps of this fit that are done; 0 before it begins and for plain predictors.
    pub sweep: usize,
    /// Fits done.
    pub done: usize,
    /// Fits in all; the plain predictors of a fold count as one.
    pub fits: usize,
}

impl fmt::Display for CrossValidateProgress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            repeat,
            fold,
            method,
            ..
        } = self;
        write!(f, "{} of {} fits done, ", self.done, self.fits)?;
        write!(f, "repeat {repeat}, fold {fold}, {method}")?;
        match self.sweep {
            0 => Ok(()),
            sweep => write!(f, ", sweep {sweep}"),
        }
    }
}

/// Compares models, and plain predictors beside them, by what they say of samples or cells that they have
/// not seen.
///
/// **With targets** the samples are parted into folds. Each model is fitted to all views of the samples outside a
/// fold; those inside are projected from the views that are no targets, and each target is predicted
/// ([`Fit::predict`](crate::Fit::predict)). What they have of the targets is used for nothing but the score. Beside the
/// models stand
///
/// * *mean*: means of the training samples, of labels and classes their shares;
/// * *ridge*, *logistic* or *multinomial regression* on all features of the other views at once
///   ([`polyview_baselines`]): missing cells at their means, labels as 0 and 1, classes one column each, counts as
///   $\ln(1 + x)$, penalties chosen by folds of the training samples. Counts are predicted by ridge regression of $\ln(1 + x)$,
///   brought back by the mean of the exponentials of the training residuals;
/// * *ordered regression* of ordered levels ([`ordered_probit`](polyview_baselines::ordered_probit)), likewise, cut points of each
///   feature its own;
/// * *regression on limits* of numbers of which limits may be all that is known, and of times to an event
///   ([`limited_ridge`](polyview_baselines::limited_ridge)), likewise; its law of a cell is normal, with the noise that it has
///   about what its own folds say. The means of such numbers are those of the normal laws under which the training cells are most
///   likely ([`View::most_likely_normal`](polyview_core::View::most_likely_normal));
/// * *kernel ridge regression* of numbers, where a model compares a view by a kernel
///   ([`kernel_ridge`](polyview_baselines::kernel_ridge)): that kernel, with the width and the penalty of least error on folds of the
///   training samples;
/// * *two steps* of each model: the same regression on the factors of a fit of the other views alone, training and new
///   samples projected alike.
///
/// What the first model knows of samples beside their views, plain predictors know too, and two steps what their own model
/// does: groups and covariates are columns for regressions; offsets are sizes of counts (means and regressions are of rates),
/// are taken from real numbers and added again, and to labels and levels one column more. Hidden cells are predicted
/// without them, which [`CrossValidate::warnings`] says.
///
/// **Without targets** cells are hidden at random in all views ([`hold_out`](crate::hold_out)), and
/// predicted by the model, the means, and a softly thresholded singular value decomposition of all features
/// side by side ([`soft_impute`](polyview_baselines::soft_impute)).
///
/// ```
/// use polyview::{CrossValidateModel, CrossValidateOptions, cross_validate, models};
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let data = polyview_datasets::nutrimouse();
/// let options = CrossValidateOptions {
///     targets: vec!["lipid".to_owned()],
///     folds: 4,
///     ..CrossValidateOptions::default()
/// };
/// let model = CrossValidateModel::new("bibfa", models::bibfa(4));
/// let found = cross_validate(&data, &[model], &options, &|_| {})?;
/// for s in &found.summary {
///     println!("{} {} {:.3} ± {:.3}", s.method, s.score.name(), s.mean, s.standard_error);
/// }
/// assert_eq!(found.folds[0].len(), 40);
/// # Ok(())
/// # }
/// ```
///
/// Fits run side by side on the threads that there are; results have the same bits for any number of them.
///
/// # Errors
/// [`ErrorKind::Option`] for fewer than two folds, no repeat, no model, two models of one name;
/// [`ErrorKind::TooManyFolds`]; [`ErrorKind::UnknownView`], [`ErrorKind::UnknownMetadata`];
/// [`ErrorKind::GroupInOneFold`] for folds that hold all samples of a group, where a model looks at groups;
/// [`ErrorKind::OneClass`] for labels that all samples share; [`ErrorKind::OnlyTargets`] for samples with nothing
/// to predict them from; [`ErrorKind::Incompatible`] for targets without another view, successes out of trials as
/// targets, and models that take a target for different things; what a fit refuses, in [`ErrorKind::Fold`].
pub fn cross_validate(
    data: &Dataset,
    models: &[CrossValidateModel],
    options: &CrossValidateOptions,
    progress: &(dyn Fn(&CrossValidateProgress) + Sync),
) -> Result<CrossValidate> {
    let mut data = data.clone();
    for model in models {
        // a cell beyond a limit is no exact value to any of them
        let choices = model.composed.composer.views(data.views())?;
        data = limited(data, &choices)?;
    }
    let data = &data;
    let models: Vec<CrossValidateModel> = (models.iter())
        .map(|model| model.keeping_together(options.keep_together.as_ref()))
        .collect();
    let models = models.as_slice();
    let plan = Plan::new(data, models, options)?;
    let jobs = plan.jobs();
    let teller = Teller::new(progress, jobs.len());
    let work = |at: usize| -> Result<Done> {
        let job = &jobs[at];
        let done = if options.targets.is_empty() {
            hidden::run(&plan, job, &teller)
        } else {
            targets::run(&plan, job, &teller)
        };
        teller.finished(&plan, job);
        done.map_err(|source| of_fold(source, job, &plan))
    };
    let done = workers::in_parallel(jobs.len(), &work)?;
    let mut warnings = cross_validate_warnings(data, options);
    warnings.extend(plan.unseen_classes());
    warnings.extend(plan.repeated());
    let adjusts = |m: &CrossValidateModel| m.composed.spec().is_some_and(ModelSpec::adjusts);
    if options.targets.is_empty() && options.baselines && models.iter().any(adjusts) {
        warnings.push(
            "the plain predictors of hidden cells know neither covariates nor offsets, which the model is told: name a \
             target (--target) to compare with predictors that know them"
                .to_owned(),
        );
    }
    let (mut rows, mut notes) = (Vec::new(), Vec::new());
    let (mut limited, mut fits) = (0, 0);
    let mut spare = vec![true; models.len()];
    for (job, done) in jobs.iter().zip(done) {
        for (target, method, (score, value, cells)) in done.scores {
            rows.push(CrossValidateRow {
                repeat: job.repeat + 1,
                fold: job.fold + 1,
                target,
                method,
                score,
                value,
                cells,
            });
        }
        for (level, text) in done.remarks {
            let list = match level {
                Level::Note => &mut notes,
                Level::Warning => &mut warnings,
            };
            if !list.contains(&text) {
                list.push(text);
            }
        }
        if let What::Model(m) = job.what {
            spare[m] &= done.spare;
        }
        fits += usize::from(done.limited.is_some());
        limited += usize::from(done.limited == Some(true));
    }
    warnings.extend(stopped(
        limited,
        fits,
        "sweeps or epochs (max-sweeps, epochs)",
    ));
    let first = models.first().map_or("", CrossValidateModel::name);
    let summary = summed_up(&rows, first, options.folds);
    let setting = no_better::Setting {
        data,
        options,
        models,
        spare: &spare,
    };
    warnings.extend(setting.unscored(&summary));
    warnings.extend(setting.no_better(&summary));
    warnings.extend(no_better::too_narrow(&summary, models));
    warnings.extend(setting.beaten(&rows));
    let folds = plan.folds.iter();
    Ok(CrossValidate {
        rows,
        summary,
        folds: folds.map(|f| f.iter().map(|f| f + 1).collect()).collect(),
        notes,
        warnings,
    })
}

/// What is known to make a comparison worth little before any of it is carried out, and is among the
/// warnings of [`cross_validate`]: classes of one sample in targets.
pub fn cross_validate_warnings(data: &Dataset, options: &CrossValidateOptions) -> Vec<String> {
    let targets = options.targets.iter().filter_map(|t| data.view(t));
    targets.filter_map(classes::rare).collect()
}

/// An error with the fold that it happened in.
fn of_fold(source: Error, job: &Job, plan: &Plan<'_>) -> Error {
    ErrorKind::Fold {
        repeat: job.repeat + 1,
        fold: job.fold + 1,
        method: plan.name(job),
        source: Box::new(source),
    }
    .into()
}

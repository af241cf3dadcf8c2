//! `polyview cross-validate`.

use std::path::Path;
use std::sync::{Mutex, Once};

use polyview::{
    CrossValidate, CrossValidateModel, CrossValidateOptions, CrossValidateRow, CrossValidateScore,
    CrossValidateSummary, Settle, cross_validate, cross_validate_warnings,
};
use polyview_core::{Dataset, ensure_writable};

use clap::ValueEnum;

use crate::args::{Cli, CrossValidateArgs, ModelArgs, ModelName};
use crate::failure::{Failure, Outcome};
use crate::inputs::dataset;
use crate::output::{json, line, number, prose, significant, table};
use crate::preset::KNOWN;
use crate::progress::Bar;
use crate::remarks::{Said, say, warning};
use crate::study::{Study, set};
use crate::written::{called, is_stdout, overwrite, shortest, write_rows};

/// The plain predictor that knows means alone.
const MEAN: &str = "mean";

/// Refuses what no comparison can be made with.
fn check(cli: &Cli, args: &CrossValidateArgs) -> Outcome<()> {
    if let Some(share) = args.hide.filter(|p| !(*p > 0.0 && *p < 1.0)) {
        return Err(Failure::Usage(format!(
            "--hide: {share} is not allowed; give a share above 0 and below 1"
        )));
    }
    let Some(out) = &args.out else {
        return Ok(());
    };
    if is_stdout(out) && cli.json {
        return Err(Failure::Usage(
            "--out -: standard output holds the JSON of --json; leave one of them out".into(),
        ));
    }
    if !is_stdout(out) {
        ensure_writable(out, overwrite(args.force)).map_err(polyview::Error::from)?;
    }
    Ok(())
}

/// Refuses choices of folds of samples where cells are hidden instead.
fn check_folds(args: &CrossValidateArgs, targets: &[String]) -> Outcome<()> {
    let choices = [
        ("--stratify", args.stratify.is_some()),
        (
            "--keep-together",
            args.model.choices.keep_together.is_some(),
        ),
    ];
    let given = choices.iter().find(|(_, given)| *given);
    if let (Some((option, _)), true) = (given, targets.is_empty()) {
        return Err(Failure::Usage(format!(
            "{option}: without a target cells are hidden, and samples are in no folds; add --target VIEW, or targets = \
             [\"VIEW\"] in the study"
        )));
    }
    Ok(())
}

/// Compares a model with plain predictors on samples or cells that neither has seen.
pub fn run(cli: &Cli, args: &CrossValidateArgs) -> Outcome<()> {
    check(cli, args)?;
    let mut study = Study::new(args.spec.as_deref(), &args.data, &args.model)?;
    for idle in study.idle_options(&args.model)? {
        say(cli, idle);
    }
    let data = dataset(cli, &mut study)?;
    if let Some(batch) = study.fit_factors_of_parts(data.n_samples()) {
        say(cli, batch);
    }
    let targets = study.predicted(&args.target, args.hide.is_some());
    check_folds(args, &targets)?;
    if let Some(text) = study.predicted_from_targets(&targets) {
        warning(cli, text);
    }
    let mut mixed = mix(&mut study, (&targets, &data));
    for idle in study.idle_on_views(&args.model)? {
        say(cli, idle);
    }
    let mut said = Said::default();
    said.journal(cli, data.journal());
    let mut options = CrossValidateOptions {
        targets: targets.clone(),
        folds: args.folds,
        repeats: args.repeats,
        seed: study.model.seed,
        stratify: args.stratify.clone(),
        keep_together: (!targets.is_empty())
            .then(|| study.model.keep_together.clone())
            .flatten(),
        baselines: !args.no_baselines,
        two_steps: !args.no_two_steps,
        ..CrossValidateOptions::default()
    };
    set(&mut options.share, args.hide);
    let mut models = vec![CrossValidateModel::new(
        study.model.model.clone(),
        study.model.clone(),
    )];
    for other in &args.against {
        let (other, notes) = further(other, (args, &targets), (&study, &data))?;
        models.push(other);
        let fresh = notes.into_iter().filter(|note| !mixed.contains(note));
        mixed.extend(fresh.collect::<Vec<_>>());
    }
    said.answer(cli, &[], &cross_validate_warnings(&data, &options));
    // once nothing is left to be refused
    let begun = Once::new();
    let bar = Mutex::new(Bar::new(cli.quiet));
    let found = cross_validate(&data, &models, &options, &|p| {
        begun.call_once(|| mixed.iter().for_each(|note| say(cli, note)));
        if let Ok(bar) = bar.lock() {
            bar.cross_validate(p);
        }
    })?;
    if let Ok(bar) = bar.lock() {
        bar.clear();
    }
    said.answer(cli, &found.notes, &found.warnings);
    if let Some(out) = &args.out {
        write(out, &found, args.force)?;
    }
    if cli.json {
        return json(&serde_json::to_value(&found).unwrap_or_default());
    }
    if args.out.as_deref().is_some_and(is_stdout) {
        return Ok(());
    }
    print(&found, &options, &data)?;
    match &args.out {
        Some(out) => prose(format!("every fold is in {}", called(out))),
        None => Ok(()),
    }
}

/// Has targets predicted as a fit by default does, and what is to be said of that.
fn mix(study: &mut Study, (targets, data): (&[String], &Dataset)) -> Vec<String> {
    let mut notes = study.never_mixed(targets);
    if !targets.is_empty() {
        notes.extend(study.mix_targets((targets, data), Settle::Mixture));
    }
    notes
}

/// A further model for the data of a study: a preset with the same options, or the choices of a study file; and what is to
/// be said of it.
fn further(
    text: &str,
    (args, targets): (&CrossValidateArgs, &[String]),
    (study, data): (&Study, &Dataset),
) -> Outcome<(CrossValidateModel, Vec<String>)> {
    let mut other = if let Ok(name) = ModelName::from_str(text, false) {
        let mut model = args.model.clone();
        model.choices.model = Some(name);
        Study::new(args.spec.as_deref(), &args.data, &model)?
    } else if Path::new(text).extension().is_some_and(|end| end == "toml") {
        let mut other = Study::new(Some(Path::new(text)), &args.data, &ModelArgs::default())?;
        // the data are those of the first model
        other
            .data
            .retain(|s| study.data.iter().any(|known| known.name == s.name));
        other
    } else {
        return Err(Failure::Usage(format!(
            "--against: '{text}' is no model; name one ({}), or a study file (FILE.toml)",
            KNOWN.join(", ")
        )));
    };
    for source in &study.data {
        // guessed or given for the first model, unless this one is told otherwise
        if other.likelihood(&source.name).is_none() {
            other.guess(&source.name, study.model.view(&source.name).likelihood);
        }
        if let Some(labels) = study.model.labels(&source.name) {
            other.model = other.model.with_labels(&source.name, labels.clone());
        }
    }
    let batch = other.fit_factors_of_parts(data.n_samples());
    let name = Path::new(text).file_stem().and_then(|s| s.to_str());
    let mut notes = mix(&mut other, (targets, data));
    notes.extend(batch);
    let model = CrossValidateModel::new(name.unwrap_or(text), other.model);
    Ok((model, notes))
}

/// Writes the scores of every fold.
fn write(path: &Path, found: &CrossValidate, force: bool) -> Outcome<()> {
    let header = [
        "repeat", "fold", "target", "method", "score", "value", "cells",
    ];
    let row = |r: &CrossValidateRow| {
        vec![
            r.repeat.to_string(),
            r.fold.to_string(),
            r.target.clone(),
            r.method.clone(),
            r.score.name().to_owned(),
            shortest(r.value),
            r.cells.to_string(),
        ]
    };
    let rows: Vec<Vec<String>> = found.rows.iter().map(row).collect();
    write_rows(path, &header, &rows, force)
}

/// What a column of the table holds, in words.
fn words(score: CrossValidateScore) -> (&'static str, &'static str) {
    match score {
        CrossValidateScore::Auc => (
            "AUC",
            "area under the ROC curve, mean over labels or classes that have both kinds in a fold; larger is better",
        ),
        CrossValidateScore::LogLoss => (
            "log loss",
            "mean of -ln(probability of what came), nats; smaller is better",
        ),
        CrossValidateScore::Error => (
            "error",
            "share of labels or classes that the most probable one gets wrong; smaller is better",
        ),
        CrossValidateScore::R2 => (
            "R2",
            "share of the squared distances from the means of all training samples that is explained; larger is better",
        ),
        CrossValidateScore::AbsoluteError => (
            "levels off",
            "mean distance of the median level from the true one; smaller is better",
        ),
        CrossValidateScore::RankedProbability => (
            "RPS",
            "mean ranked probability score, 0 to 1; smaller is better",
        ),
        CrossValidateScore::Concordance => (
            "C-index",
            "share of pairs whose events come in the predicted order; larger is better, 0.5 is chance",
        ),
        CrossValidateScore::IntegratedBrier => (
            "integrated Brier",
            "integral of the Brier score of the event coming later, over the times of the training events up to which a tenth of the samples is still watched, divided by their span; smaller is better",
        ),
        CrossValidateScore::MeanSquaredError => (
            "squared error",
            "mean squared error in the data's own units; smaller is better",
        ),
        CrossValidateScore::Coverage => (
            "coverage",
            "share of values inside their 90 % intervals; 0.9 is right, and more of counts and levels, whose intervals end at whole numbers",
        ),
        CrossValidateScore::LogDensity => (
            "log density",
            "mean log density of a cell, nats; larger is better",
        ),
        CrossValidateScore::Deviance => (
            "deviance",
            "mean deviance of a count (Poisson) or of a number above 0 (gamma); smaller is better",
        ),
        CrossValidateScore::DevianceExplained => (
            "explained",
            "share of the deviance from the training means that is explained; larger is better",
        ),
    }
}

/// Whether the samples are of more than one group.
fn several(data: &Dataset) -> bool {
    data.groups().is_some_and(|groups| groups.names.len() > 1)
}

/// A table for each target, and what its columns are.
fn print(found: &CrossValidate, options: &CrossValidateOptions, data: &Dataset) -> Outcome<()> {
    let mut scores: Vec<CrossValidateScore> = Vec::new();
    let of_target = found.summary.chunk_by(|a, b| a.target == b.target);
    for (i, of_target) in of_target.enumerate() {
        if i > 0 {
            line("")?;
        }
        let mut own: Vec<CrossValidateScore> = of_target.iter().map(|s| s.score).collect();
        own.sort_unstable();
        own.dedup();
        let header: Vec<String> = std::iter::once(of_target[0].target.clone())
            .chain(own.iter().map(|s| words(*s).0.to_owned()))
            .collect();
        let rows: Vec<Vec<String>> = of_target
            .chunk_by(|a, b| a.method == b.method)
            .map(|of_method| {
                let cell = |score: &CrossValidateScore| {
                    let found = of_method.iter().find(|s| s.score == *score);
                    found.map_or_else(|| "-".to_owned(), with_error)
                };
                std::iter::once(of_method[0].method.clone())
                    .chain(own.iter().map(cell))
                    .collect()
            })
            .collect();
        table(&header, &rows)?;
        scores.extend(own);
    }
    scores.sort_unstable();
    scores.dedup();
    line("")?;
    let times = options.folds * options.repeats;
    prose(if options.targets.is_empty() {
        format!(
            "mean ± standard error over {times} times that {:.0} % of the cells were hidden",
            100.0 * options.share
        )
    } else {
        format!(
            "mean ± standard error over {} folds of {} samples{}, each predicted by fits of all others{}",
            options.folds,
            data.n_samples(),
            match found.folds.len() {
                1 => String::new(),
                n => format!(", parted {n} times"),
            },
            if scores.iter().any(|s| s.is_share_explained()) {
                "; shares explained are of all folds together"
            } else {
                ""
            }
        )
    })?;
    for score in scores {
        let (name, what) = words(score);
        prose(format!("{name}: {what}"))?;
    }
    if several(data) && found.rows.iter().any(|r| r.method == MEAN) {
        prose(format!(
            "{MEAN}: {}",
            if options.targets.is_empty() {
                "of the feature over all samples left, whatever the groups"
            } else {
                "of the training samples of the same group"
            }
        ))?;
    }
    let censored = scored_where_exact(found, data);
    if !censored.is_empty() {
        prose(format!(
            "of {} {} of exact cells alone, as beyond a limit nobody knows how far off a prediction is, and R2 are \
             against the mean of the exact training cells. Exact cells do not reach as far as all do: less can be \
             explained of them than of all. Log densities are of all cells: of a limit the log of the probability that \
             is predicted beyond it, or between two. The row mean is the normal law under which all training cells are \
             most likely{}",
            censored.join(", "),
            if options.targets.is_empty() {
                "R2 are"
            } else {
                "R2, squared errors and coverage are"
            },
            if options.targets.is_empty() {
                "; the softly thresholded SVD takes limits for values, and has no law"
            } else {
                ""
            }
        ))?;
    }
    let mut of_targets = found.summary.chunk_by(|a, b| a.target == b.target);
    let both = of_targets.any(|of_target| {
        let density = |s: &CrossValidateSummary| {
            s.method == MEAN && s.score == CrossValidateScore::LogDensity
        };
        let deviance = |s: &CrossValidateSummary| s.score == CrossValidateScore::DevianceExplained;
        of_target.iter().any(density) && of_target.iter().any(deviance)
    });
    if both {
        prose(
            "log density of mean: of counts by the negative binomial law of the mean and the variance of each feature, of numbers \
             above 0 by the gamma law under which its cells are most likely",
        )?;
    }
    let (limited, flat): (Vec<&str>, Vec<&str>) = without_density(found, data)
        .into_iter()
        .partition(|view| data.view(view).is_some_and(|v| v.ends().is_some()));
    for (views, has) in [
        (flat, "one value alone among those that are not hidden"),
        (
            limited,
            "no two exact values that differ in some training data",
        ),
    ] {
        if !views.is_empty() {
            prose(format!(
                "log density of mean, -: a feature of {} has {has}, and a law without spread has no density",
                views.join(", ")
            ))?;
        }
    }
    Ok(())
}

/// Views with censored cells of which numbers are scored.
fn scored_where_exact<'a>(found: &'a CrossValidate, data: &Dataset) -> Vec<&'a str> {
    let of_target = found.summary.chunk_by(|a, b| a.target == b.target);
    let limited = of_target.filter(|of_target| {
        let view = data.view(&of_target[0].target);
        let squares = |s: &CrossValidateSummary| s.score == CrossValidateScore::R2;
        view.is_some_and(|v| v.ends().is_some()) && of_target.iter().any(squares)
    });
    limited.map(|t| t[0].target.as_str()).collect()
}

/// Views of which other methods have densities and means have none, for want of spread.
fn without_density<'a>(found: &'a CrossValidate, data: &Dataset) -> Vec<&'a str> {
    let of_target = found.summary.chunk_by(|a, b| a.target == b.target);
    let flat = of_target.filter(|of_target| {
        let density = |s: &&CrossValidateSummary| s.score == CrossValidateScore::LogDensity;
        let (mut of_mean, mut known) = (of_target.iter(), of_target.iter().filter(density));
        // successes out of trials have no law here
        let trials = data
            .view(&of_target[0].target)
            .is_some_and(|v| v.trials().is_some());
        let lacks = known.clone().all(|s| s.method != MEAN) && known.next().is_some();
        lacks && !trials && of_mean.any(|s| s.method == MEAN)
    });
    flat.map(|of_target| of_target[0].target.as_str()).collect()
}

/// A mean and its standard error.
fn with_error(s: &CrossValidateSummary) -> String {
    if !s.standard_error.is_finite() {
        return number(s.mean);
    }
    // what differs by rounding alone does not differ
    let differs = s.standard_error > 1e-12 * s.mean.abs();
    let error = if differs { s.standard_error } else { 0.0 };
    format!("{} ± {}", number(s.mean), significant(error, 2))
}

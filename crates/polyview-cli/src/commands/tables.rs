//! `polyview project`, `predict`, `impute`: tables in, tables out.

use std::path::{Path, PathBuf};

use polyview::{
    ErrorKind, Fit, Imputation, ParameterUncertainty, PredictOptions, ProjectOptions, ViewInfo,
    WeightUncertainty,
};
use polyview_core::{Dataset, Domain};
use polyview_linalg::{Mat, MatRef};
use serde_json::json;

use super::columns::{
    SD_LOG, class_columns, label_columns, level_columns, of_logarithms, survival_columns, worded,
};
use super::kernel::load_model;
use super::{factor_names, in_training};
use crate::args::{Cli, DataArgs, ImputeArgs, IntervalArgs, PredictArgs, ProjectArgs};
use crate::choice::parsed;
use crate::failure::{Failure, Outcome};
use crate::files::Files;
use crate::inputs::{
    Trials, file_of, files, new_data, new_data_for, read_as, read_options, trials_of,
};
use crate::output::counted;
use crate::remarks::{answer, note};
use crate::written::{called, overwrite, write, write_columns};

/// Refuses a file that holds no words.
fn text_file(path: &Path) -> Outcome<()> {
    let array = |e: &str| e.eq_ignore_ascii_case("npy") || e.eq_ignore_ascii_case("npz");
    match path.extension().and_then(|e| e.to_str()) {
        Some(e) if array(e) => Err(Failure::Usage(format!(
            "'{}': class names do not go into a NumPy file; choose .csv or .tsv",
            path.display()
        ))),
        _ => Ok(()),
    }
}

/// Refuses what labels do not have.
fn no_spread(option: &str, view: &ViewInfo) -> Outcome<()> {
    let likelihood = &view.choices.likelihood;
    if likelihood.is_label() {
        return Err(Failure::Usage(format!(
            "{option}: '{}' is {likelihood}, and the probability of a label says how uncertain it is; leave {option} out",
            view.name
        )));
    }
    Ok(())
}

/// Refuses a probability that is none, and intervals of what has none.
fn check_intervals(args: &IntervalArgs, view: &ViewInfo) -> Outcome<()> {
    for (option, path) in [("--lower", &args.lower), ("--upper", &args.upper)] {
        if path.is_some() {
            no_spread(option, view)?;
        }
    }
    Ok(())
}

/// Refuses a probability of intervals that is none, and one without intervals.
fn check_level(args: &IntervalArgs) -> Outcome<()> {
    let level = args.level();
    if !(level > 0.0 && level < 1.0) {
        return Err(Failure::Usage(format!(
            "--level: {level} is not allowed; give a probability above 0 and below 1, such as 0.9"
        )));
    }
    if args.level.is_some() && !args.any() {
        return Err(Failure::Usage(
            "--level: it is the probability of intervals, and none are asked for; say where their ends go with \
             --lower FILE and --upper FILE, or leave it out"
                .into(),
        ));
    }
    Ok(())
}

/// Refuses to predict a view from nothing but its own values.
fn check_target(args: &PredictArgs, fit: &Fit, data: &Dataset) -> Outcome<()> {
    let target = &args.target;
    let own = data.views().iter().any(|v| v.name() == target);
    if !own || data.views().len() > 1 {
        return Ok(());
    }
    let others = fit.views().iter().map(|v| v.name.as_str());
    let others: Vec<&str> = others.filter(|name| name != target).collect();
    let mend = if others.is_empty() {
        "the model has no other".to_owned()
    } else {
        format!("add --view NAME=FILE of another ({})", others.join(", "))
    };
    Err(Failure::Usage(format!(
        "--target: '{target}' is predicted from other views, never from its own values, and they alone are given; {mend}; \
         to fill the holes of its training data: polyview impute {} --view {target}",
        args.model.display()
    )))
}

/// Says where a class is that the model has not seen, and what to do about it.
fn unknown_class(args: &DataArgs) -> impl Fn(polyview::Error) -> Failure {
    |source| match source.kind() {
        ErrorKind::UnknownClass { view, .. } => Failure::UnknownClass {
            file: file_of(args, view).map_or_else(String::new, |path| path.display().to_string()),
            source,
        },
        _ => source.into(),
    }
}

/// The most probable class of each row of probabilities; of equal ones the
/// first.
fn most_probable(p: MatRef<'_, f64>) -> Vec<usize> {
    (0..p.nrows())
        .map(|n| (1..p.ncols()).fold(0, |b, c| if p[(n, c)] > p[(n, b)] { c } else { b }))
        .collect()
}

/// How sure of the parameters `--plug-in` makes predictions.
fn sureness(plug_in: bool) -> ParameterUncertainty {
    if plug_in {
        ParameterUncertainty::PlugIn
    } else {
        ParameterUncertainty::Posterior
    }
}

/// Refuses `--plug-in` of a fit by draws, each of which is without uncertainty.
fn check_plug_in(plug_in: bool, fit: &Fit) -> Outcome<()> {
    if plug_in && fit.is_sampled() {
        return Err(Failure::Usage(
            "--plug-in: the model was fitted by Gibbs sampling, and answers are means over its draws, \
             whose parameters are certain one by one; leave it out"
                .into(),
        ));
    }
    Ok(())
}

/// Refuses files of estimates, their spread and their ends that cannot be
/// written or are read.
fn check_files(
    model: &Path,
    data: &DataArgs,
    (out, sd): (&PathBuf, &Option<PathBuf>),
    intervals: Option<&IntervalArgs>,
    (cli, force): (&Cli, bool),
) -> Outcome<Files> {
    let files = Files::default()
        .for_json(cli)
        .reading([model])
        .reading(files(data))
        .printing("--out", [out])
        .printing("--sd", sd)
        .printing("--lower", intervals.and_then(|i| i.lower.as_ref()))
        .printing("--upper", intervals.and_then(|i| i.upper.as_ref()));
    files.check(overwrite(force))?;
    Ok(files)
}

/// A table about samples; nothing without a file.
fn write_samples(
    path: Option<&PathBuf>,
    samples: &[String],
    columns: &[String],
    values: &Mat<f64>,
    force: bool,
) -> Outcome<()> {
    match path {
        Some(path) => write(path, "sample", samples, columns, values.as_ref(), force),
        None => Ok(()),
    }
}

/// Factors of new samples.
pub fn project(cli: &Cli, args: &ProjectArgs) -> Outcome<()> {
    let places = (&args.out, &args.sd);
    let files = check_files(&args.model, &args.data, places, None, (cli, args.force))?;
    let fit = load_model(&args.model)?;
    check_plug_in(args.plug_in, &fit)?;
    let data = new_data(cli, &args.data, &fit)?;
    let options = ProjectOptions {
        weights: if args.plug_in {
            WeightUncertainty::PlugIn
        } else {
            WeightUncertainty::Variational
        },
        unknown_classes: parsed("--unknown-class", &args.unknown_class)?,
        ..ProjectOptions::default()
    };
    let z = fit
        .project(&data, &options)
        .map_err(unknown_class(&args.data))?;
    answer(cli, &z.notes, &z.warnings);
    if let Some(text) = in_training::of_projection(&fit, &args.data, &data)? {
        note(cli, text);
    }
    let names = factor_names(z.mean.ncols());
    let put = |path, values| write_samples(path, &z.samples, &names, values, args.force);
    put(Some(&args.out), &z.mean)?;
    put(args.sd.as_ref(), &z.sd)?;
    files.done(
        cli,
        &format!(
            "{} projected to {}",
            counted(z.samples.len(), "sample"),
            called(&args.out)
        ),
        json!({ "samples": z.samples.len(), "factors": names.len() }),
    )
}

/// One view from others.
pub fn predict(cli: &Cli, args: &PredictArgs) -> Outcome<()> {
    check_level(&args.intervals)?;
    let files = check_files(
        &args.model,
        &args.data,
        (&args.out, &args.sd),
        Some(&args.intervals),
        (cli, args.force),
    )?;
    let fit = load_model(&args.model)?;
    check_plug_in(args.plug_in, &fit)?;
    let (_, target) = fit.view(&args.target)?;
    if args.sd.is_some() {
        no_spread("--sd", target)?;
    }
    let times = times(args, &fit)?;
    check_intervals(&args.intervals, target)?;
    let of_trials = target.choices.likelihood.has_trials();
    let with_ends = args.intervals.any();
    let trials = target_trials(args, &fit)?;
    if with_ends && of_trials && trials.is_none() {
        return Err(Failure::Usage(format!(
            "--lower and --upper: '{}' is binomial, and its predictions are probabilities of a success, which have no interval without numbers of trials; add those of the new samples with --trials {}=FILE, or leave the two out and take --sd",
            target.name, target.name
        )));
    }
    let categorical = target.choices.likelihood.has_classes();
    let labels = fit.labels(&args.target);
    let levels = target.choices.likelihood.level_words();
    if categorical || labels.is_some() || !levels.is_empty() {
        text_file(&args.out)?;
    }
    if !levels.is_empty() {
        let ends = [&args.intervals.lower, &args.intervals.upper];
        ends.into_iter()
            .flatten()
            .try_for_each(|path| text_file(path))?;
    }
    let data = new_data_for(cli, &args.data, &fit, Some(&args.target))?;
    check_target(args, &fit, &data)?;
    let options = PredictOptions {
        parameters: sureness(args.plug_in),
        unknown_classes: parsed("--unknown-class", &args.unknown_class)?,
    };
    let mut p = fit
        .predict_with(&data, &args.target, &options)
        .map_err(unknown_class(&args.data))?;
    let out_of = match &trials {
        Some(trials) => {
            let trials = trials.matched(&p.samples, &p.features)?;
            Some(p.out_of(trials.as_ref(), args.intervals.level())?)
        }
        None => None,
    };
    answer(cli, &p.notes, &p.warnings);
    if let Some(text) = in_training::of_prediction(&fit, &args.data, (&data, &args.target))? {
        note(cli, text);
    }
    let survival = p.kind.is_survival();
    let put = |path, values| write_samples(path, &p.samples, &p.features, values, args.force);
    if survival {
        let columns = survival_columns(&p, &times)?;
        write_columns(&args.out, &p.samples, columns, args.force)?;
    } else if categorical {
        let columns = class_columns(&target.features[0], &p);
        write_columns(&args.out, &p.samples, columns, args.force)?;
    } else if let Some(labels) = labels {
        let columns = label_columns(&target.features[0], labels, &p);
        write_columns(&args.out, &p.samples, columns, args.force)?;
    } else if let Some(of) = &p.levels {
        let columns = level_columns(&p.features, of, &levels);
        write_columns(&args.out, &p.samples, columns, args.force)?;
    } else {
        put(Some(&args.out), &p.mean)?;
    }
    // of a probability that stands alone its own uncertainty, not the spread of a single trial
    let of_probability = p.probability_sd.as_ref().filter(|_| out_of.is_none());
    let sd = of_probability.unwrap_or(&p.sd);
    if survival {
        let of_logarithms: Vec<String> = (p.features.iter())
            .map(|feature| format!("{feature}{SD_LOG}"))
            .collect();
        write_samples(args.sd.as_ref(), &p.samples, &of_logarithms, sd, args.force)?;
    } else {
        put(args.sd.as_ref(), sd)?;
    }
    if with_ends {
        let (lower, upper) = match out_of {
            Some(ends) => ends,
            None => p.interval(args.intervals.level())?,
        };
        let [lower, upper] = [lower, upper].map(|m| if survival { of_logarithms(&m) } else { m });
        let ends = [
            (&args.intervals.lower, &lower),
            (&args.intervals.upper, &upper),
        ];
        for (path, values) in ends {
            match path {
                Some(path) if !levels.is_empty() => {
                    let columns = worded(&p.features, values, &levels);
                    write_columns(path, &p.samples, columns, args.force)?;
                }
                path => put(path.as_ref(), values)?,
            }
        }
    }
    files.done(
        cli,
        &format!(
            "'{}' of {} predicted to {}{}",
            args.target,
            counted(p.samples.len(), "sample"),
            called(&args.out),
            match labels {
                Some([_, one]) => format!(" (probabilities are of '{one}')"),
                None if trials.is_some() => " (expected successes)".to_owned(),
                None if of_trials => " (probabilities are of a success)".to_owned(),
                None if p.levels.is_some() =>
                    " (median levels, and the probability of each)".to_owned(),
                None if survival =>
                    " (median times, means of their logarithms, and probabilities of later events)"
                        .to_owned(),
                None if p.kind == Domain::Binary => " (probabilities are of a 1)".to_owned(),
                None => String::new(),
            }
        ),
        json!({ "target": args.target, "samples": p.samples.len() }),
    )
}

/// The numbers of trials of the samples whose successes are predicted, where they are given.
fn target_trials(args: &PredictArgs, fit: &Fit) -> Outcome<Option<Trials>> {
    let Some(path) = trials_of(&args.data, fit)?.remove(&args.target) else {
        return Ok(None);
    };
    let format = read_as(&args.data.format, fit);
    let options = read_options(&args.target, args.data.transposed, format);
    Trials::read(&path, &options).map(Some)
}

/// Times at which probabilities of later events are said: those that are asked for, or else the quartiles of
/// the training times, if the model has them. None of a target that is no such time.
fn times(args: &PredictArgs, fit: &Fit) -> Outcome<Vec<f64>> {
    let (_, target) = fit.view(&args.target)?;
    let likelihood = &target.choices.likelihood;
    if !likelihood.is_survival() {
        if args.times.is_empty() {
            return Ok(Vec::new());
        }
        return Err(Failure::Usage(format!(
            "--times: '{}' is {likelihood}, and its predictions are of no times; leave it out",
            target.name
        )));
    }
    text_file(&args.out)?;
    if !args.times.is_empty() || fit.data().is_err() {
        // one that is given twice is one column
        let mut times: Vec<f64> = Vec::new();
        for time in &args.times {
            if !times.contains(time) {
                times.push(*time);
            }
        }
        return Ok(times);
    }
    let known = fit.event_times(&args.target)?;
    let mut times: Vec<f64> = known.iter().map(|t| t.time).collect();
    times.sort_by(f64::total_cmp);
    let quartile = |i: usize| {
        let at = times.get(i * times.len().saturating_sub(1) / 4);
        // as the data have it, but for rounding
        at.map(|t| format!("{t:.5e}").parse().unwrap_or(*t))
    };
    Ok((1..4).filter_map(quartile).collect())
}

/// Times, and 1 where the event came then, 0 where the time is the model's.
fn with_events(f: &Imputation) -> Mat<f64> {
    Mat::from_fn(f.samples.len(), 2, |n, c| match c {
        0 => f.values[(n, 0)],
        _ => f64::from(u8::from(f.sd[(n, 0)] == 0.0)),
    })
}

/// Training data with the holes filled.
pub fn impute(cli: &Cli, args: &ImputeArgs) -> Outcome<()> {
    check_level(&args.intervals)?;
    let files = Files::default()
        .for_json(cli)
        .reading([&args.model])
        .printing("--out", [&args.out])
        .printing("--lower", &args.intervals.lower)
        .printing("--upper", &args.intervals.upper)
        .printing("--probabilities", &args.probabilities);
    files.check(overwrite(args.force))?;
    let fit = load_model(&args.model)?;
    let (_, view) = fit.view(&args.view)?;
    check_plug_in(args.plug_in, &fit)?;
    check_intervals(&args.intervals, view)?;
    let labels = fit.labels(&args.view);
    let levels = view.choices.likelihood.level_words();
    if !levels.is_empty() {
        text_file(&args.out)?;
    }
    let words = view.choices.likelihood.has_classes() || labels.is_some();
    if words {
        text_file(&args.out)?;
    } else if args.probabilities.is_some() {
        return Err(Failure::Usage(format!(
            "--probabilities: '{}' is {}; classes have them here, and labels of two words; leave it out, or predict the view from \
             others ('polyview predict'), which says those of levels",
            view.name, view.choices.likelihood
        )));
    }
    let mut f = fit.impute_with(&args.view, args.intervals.level(), sureness(args.plug_in))?;
    answer(cli, &f.notes, &f.warnings);
    if f.kind.is_survival() {
        for numbers in [&mut f.values, &mut f.lower, &mut f.upper] {
            *numbers = of_logarithms(numbers);
        }
    }
    if let Some(labels) = labels {
        let p = f.values;
        let of = |n: usize, c: usize| if c == 1 { p[(n, 0)] } else { 1.0 - p[(n, 0)] };
        f.values = Mat::from_fn(p.nrows(), 2, of);
        f.features = labels.to_vec();
    }
    let put = |path, values| write_samples(path, &f.samples, &f.features, values, args.force);
    let by_words = |path: Option<&PathBuf>, values: &Mat<f64>| match path {
        Some(path) if !levels.is_empty() => {
            let columns = worded(&f.features, values, &levels);
            write_columns(path, &f.samples, columns, args.force)
        }
        path => write_samples(path, &f.samples, &f.features, values, args.force),
    };
    if words {
        let chosen = most_probable(f.values.as_ref()).into_iter();
        let names = chosen.map(|c| Some(f.features[c].clone())).collect();
        let columns = vec![(view.features[0].clone(), names)];
        write_columns(&args.out, &f.samples, columns, args.force)?;
    } else if f.kind.is_survival() {
        let event = view.choices.likelihood.options().text("event");
        let names = [f.features[0].clone(), event.unwrap_or_default()];
        let values = with_events(&f);
        write_samples(Some(&args.out), &f.samples, &names, &values, args.force)?;
    } else {
        by_words(Some(&args.out), &f.values)?;
    }
    put(args.probabilities.as_ref(), &f.values)?;
    by_words(args.intervals.lower.as_ref(), &f.lower)?;
    by_words(args.intervals.upper.as_ref(), &f.upper)?;
    files.done(
        cli,
        &format!("'{}' filled to {}", args.view, called(&args.out)),
        json!({ "view": args.view, "samples": f.samples.len() }),
    )
}

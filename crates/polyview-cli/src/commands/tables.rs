//! `polyview project`, `predict`, `impute`: tables in, tables out.

use std::path::{Path, PathBuf};

use polyview::{
    ErrorKind, Fit, ParameterUncertainty, PredictOptions, Prediction, ProjectOptions, ViewInfo,
    WeightUncertainty,
};
use polyview_core::{DataError, PredictedKind};
use polyview_io::{NamedMatrix, StringTable, WriteOptions, write_matrix, write_string_table};
use polyview_linalg::{Mat, MatRef};

use super::{factor_names, overwrite, say};
use crate::args::{Cli, DataArgs, ImputeArgs, PredictArgs, ProjectArgs};
use crate::failure::{Failure, Outcome};
use crate::files::Files;
use crate::inputs::{files, new_data};
use crate::study::parsed;

/// What is added to the name of the column of chosen classes where a class has
/// that name.
pub const CHOSEN: &str = " (class)";
/// The column of scores of a label.
pub const SCORE: &str = "score";
/// How the name of the column of a label's probabilities begins; the word that
/// they are of follows.
pub const PROBABILITY_OF: &str = "probability_of_";

/// Writes a matrix with names; `corner` heads the first column.
pub fn write(
    path: &Path,
    corner: &str,
    rows: &[String],
    columns: &[String],
    values: MatRef<'_, f64>,
    force: bool,
) -> Outcome<()> {
    let options = WriteOptions {
        overwrite: overwrite(force),
        corner: corner.to_owned(),
        ..WriteOptions::default()
    };
    write_matrix(
        path,
        &NamedMatrix {
            rows,
            columns,
            values,
        },
        &options,
    )?;
    Ok(())
}

/// Writes columns of words, each with its name.
pub fn write_columns(
    path: &Path,
    samples: &[String],
    columns: Vec<(String, Vec<Option<String>>)>,
    force: bool,
) -> Outcome<()> {
    let options = WriteOptions {
        overwrite: overwrite(force),
        ..WriteOptions::default()
    };
    let (columns, values) = columns.into_iter().unzip();
    let table = StringTable {
        name: String::new(),
        samples: samples.to_vec(),
        columns,
        values,
    };
    write_string_table(path, &table, &options)?;
    Ok(())
}

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
    let likelihood = view.choices.likelihood;
    if likelihood.is_label() {
        return Err(Failure::Usage(format!(
            "{option}: '{}' is {likelihood}, and the probability of a label says how uncertain it is; leave {option} out",
            view.name
        )));
    }
    Ok(())
}

/// Says what to do about a class that the model has not seen.
fn unknown_class(error: polyview::Error) -> Failure {
    match error.kind() {
        ErrorKind::Data(DataError::UnknownClass { .. }) => Failure::UnknownClass(error),
        _ => error.into(),
    }
}

/// A number as it reads back.
fn shortest(x: f64) -> String {
    // exponents where zeros would be many
    format!("{x:?}")
}

/// The most probable class of each row of probabilities; of equal ones the
/// first.
fn most_probable(p: MatRef<'_, f64>) -> Vec<usize> {
    (0..p.nrows())
        .map(|n| (1..p.ncols()).fold(0, |b, c| if p[(n, c)] > p[(n, b)] { c } else { b }))
        .collect()
}

fn notes(cli: &Cli, notes: &[String]) {
    for n in notes {
        say(cli, format!("note: {n}"));
    }
}

/// How sure of the parameters `--plug-in` makes predictions.
fn sureness(plug_in: bool) -> ParameterUncertainty {
    if plug_in {
        ParameterUncertainty::PlugIn
    } else {
        ParameterUncertainty::Posterior
    }
}

/// Refuses files of estimates and their spread that cannot be written or are
/// read.
fn check_files(
    model: &Path,
    data: &DataArgs,
    (out, sd): (&PathBuf, &Option<PathBuf>),
    force: bool,
) -> Outcome<()> {
    Files::default()
        .reading([model])
        .reading(files(data))
        .writing("--out", [out])
        .writing("--sd", sd)
        .check(overwrite(force))
}

/// Factors of new samples.
pub fn project(cli: &Cli, args: &ProjectArgs) -> Outcome<()> {
    check_files(&args.model, &args.data, (&args.out, &args.sd), args.force)?;
    let fit = Fit::load(&args.model)?;
    let data = new_data(cli, &args.data, &fit)?;
    let options = ProjectOptions {
        weights: if args.plug_in {
            WeightUncertainty::PlugIn
        } else {
            WeightUncertainty::Variational
        },
        unknown_classes: parsed("unknown-class", &args.unknown_class)?,
        ..ProjectOptions::default()
    };
    let z = fit.project(&data, &options).map_err(unknown_class)?;
    notes(cli, &z.notes);
    let names = factor_names(z.mean.ncols());
    write(
        &args.out,
        "sample",
        &z.samples,
        &names,
        z.mean.as_ref(),
        args.force,
    )?;
    if let Some(path) = &args.sd {
        write(
            path,
            "sample",
            &z.samples,
            &names,
            z.sd.as_ref(),
            args.force,
        )?;
    }
    say(
        cli,
        format!(
            "{} samples projected to {}",
            z.samples.len(),
            args.out.display()
        ),
    );
    Ok(())
}

/// One view from others.
pub fn predict(cli: &Cli, args: &PredictArgs) -> Outcome<()> {
    check_files(&args.model, &args.data, (&args.out, &args.sd), args.force)?;
    let fit = Fit::load(&args.model)?;
    let (_, target) = fit.view(&args.target)?;
    if args.sd.is_some() {
        no_spread("--sd", target)?;
    }
    let categorical = target.choices.likelihood.has_classes();
    let labels = fit.spec().labels(&args.target);
    if categorical || labels.is_some() {
        text_file(&args.out)?;
    }
    let data = new_data(cli, &args.data, &fit)?;
    let options = PredictOptions {
        parameters: sureness(args.plug_in),
        unknown_classes: parsed("unknown-class", &args.unknown_class)?,
    };
    let p = fit
        .predict_with(&data, &args.target, &options)
        .map_err(unknown_class)?;
    notes(cli, &p.notes);
    if categorical {
        let columns = class_columns(&target.features[0], &p);
        write_columns(&args.out, &p.samples, columns, args.force)?;
    } else if let Some(labels) = labels {
        let columns = label_columns(&target.features[0], labels, &p);
        write_columns(&args.out, &p.samples, columns, args.force)?;
    } else {
        write(
            &args.out,
            "sample",
            &p.samples,
            &p.features,
            p.mean.as_ref(),
            args.force,
        )?;
    }
    if let Some(path) = &args.sd {
        write(
            path,
            "sample",
            &p.samples,
            &p.features,
            p.sd.as_ref(),
            args.force,
        )?;
    }
    say(
        cli,
        format!(
            "'{}' of {} samples predicted to {}{}",
            args.target,
            p.samples.len(),
            args.out.display(),
            match labels {
                Some([_, one]) => format!(" (probabilities are of '{one}')"),
                None if p.kind == PredictedKind::Probability =>
                    " (probabilities are of a 1)".to_owned(),
                None => String::new(),
            }
        ),
    );
    Ok(())
}

/// The most probable class, then the probability of each.
fn class_columns(feature: &str, p: &Prediction) -> Vec<(String, Vec<Option<String>>)> {
    let mut name = feature.to_owned();
    while p.features.contains(&name) {
        name.push_str(CHOSEN);
    }
    let chosen = p.classes().into_iter();
    let mut columns = vec![(name, chosen.map(|c| Some(p.features[c].clone())).collect())];
    for (c, class) in p.features.iter().enumerate() {
        let cells = p.mean.col(c).iter().map(|x| Some(shortest(*x))).collect();
        columns.push((class.clone(), cells));
    }
    columns
}

/// The more probable of two labels, the score, and the probability of the second
/// label, which a positive score stands for.
fn label_columns(
    feature: &str,
    labels: &[String; 2],
    p: &Prediction,
) -> Vec<(String, Vec<Option<String>>)> {
    let probability = p.mean.col(0);
    let chosen = |p: &f64| Some(labels[usize::from(*p > 0.5)].clone());
    let numbers = |m: MatRef<'_, f64>| m.col(0).iter().map(|x| Some(shortest(*x))).collect();
    let mut columns = vec![(feature.to_owned(), probability.iter().map(chosen).collect())];
    if let Some(score) = &p.score {
        columns.push((SCORE.to_owned(), numbers(score.as_ref())));
    }
    let name = format!("{PROBABILITY_OF}{}", labels[1]);
    columns.push((name, numbers(p.mean.as_ref())));
    for j in 1..columns.len() {
        while columns[j].0 == columns[0].0 {
            columns[0].0.push_str(CHOSEN);
        }
    }
    columns
}

/// Training data with the holes filled.
pub fn impute(cli: &Cli, args: &ImputeArgs) -> Outcome<()> {
    if !(args.level > 0.0 && args.level < 1.0) {
        return Err(Failure::Usage(format!(
            "--level {} is not between 0 and 1",
            args.level
        )));
    }
    Files::default()
        .reading([&args.model])
        .writing("--out", [&args.out])
        .writing("--lower", &args.lower)
        .writing("--upper", &args.upper)
        .writing("--probabilities", &args.probabilities)
        .check(overwrite(args.force))?;
    let fit = Fit::load(&args.model)?;
    let (_, view) = fit.view(&args.view)?;
    for (option, path) in [("--lower", &args.lower), ("--upper", &args.upper)] {
        if path.is_some() {
            no_spread(option, view)?;
        }
    }
    let labels = fit.spec().labels(&args.view);
    let words = view.choices.likelihood.has_classes() || labels.is_some();
    if words {
        text_file(&args.out)?;
    } else if args.probabilities.is_some() {
        return Err(Failure::Usage(format!(
            "--probabilities: '{}' is {}, not categorical, and its labels are no words; leave it out",
            view.name, view.choices.likelihood
        )));
    }
    let mut f = fit.impute_with(&args.view, args.level, sureness(args.plug_in))?;
    notes(cli, &f.notes);
    if let Some(labels) = labels {
        let p = f.values;
        let of = |n: usize, c: usize| if c == 1 { p[(n, 0)] } else { 1.0 - p[(n, 0)] };
        f.values = Mat::from_fn(p.nrows(), 2, of);
        f.features = labels.to_vec();
    }
    let table = |path: &Path| {
        write(
            path,
            "sample",
            &f.samples,
            &f.features,
            f.values.as_ref(),
            args.force,
        )
    };
    if words {
        let chosen = most_probable(f.values.as_ref()).into_iter();
        let names = chosen.map(|c| Some(f.features[c].clone())).collect();
        let columns = vec![(view.features[0].clone(), names)];
        write_columns(&args.out, &f.samples, columns, args.force)?;
    } else {
        table(&args.out)?;
    }
    if let Some(path) = &args.probabilities {
        table(path)?;
    }
    if let Some(path) = &args.lower {
        write(
            path,
            "sample",
            &f.samples,
            &f.features,
            f.lower.as_ref(),
            args.force,
        )?;
    }
    if let Some(path) = &args.upper {
        write(
            path,
            "sample",
            &f.samples,
            &f.features,
            f.upper.as_ref(),
            args.force,
        )?;
    }
    say(
        cli,
        format!("'{}' filled to {}", args.view, args.out.display()),
    );
    Ok(())
}

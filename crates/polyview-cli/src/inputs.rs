//! Reading data sets.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use polyview::{Algorithm, Fit, Likelihood};
use polyview_core::{Dataset, DatasetBuilder, Join, Metadata, MetadataValues, ViewTable};
use polyview_io::{
    Content, IoError, NumberHint, Orientation, ReadOptions, read_metadata, read_table, read_view,
};

use crate::args::{Cli, DataArgs};
use crate::commands::say;
use crate::counts::{self, Trials, likelihood_of_counts};
use crate::failure::{Failure, Outcome};
use crate::hdf5;
use crate::labels::{self, labels_option};
use crate::study::{Study, parsed, view_option};

/// The data of a study. Likelihoods that were not given are guessed and said;
/// the study then has them.
pub fn dataset(cli: &Cli, study: &mut Study) -> Outcome<Dataset> {
    let mut builder = Dataset::builder().join(study.model.join);
    for s in study.data.clone() {
        if let Some(column) = &s.column {
            let known = study.model.labels(&s.name).cloned();
            let words = labels::read(&s.path)?;
            let (mut table, names) = labels::task(&s.path, &words, column, known.as_ref())?;
            table.name.clone_from(&s.name);
            study.model = study.model.clone().with_labels(&s.name, names);
            builder = builder.view(table);
            continue;
        }
        let options = read_options(&s.name, study.transposed);
        let trials = s.trials.as_deref();
        let trials = trials.map(|t| Trials::read(t, &options)).transpose()?;
        let told = study.likelihood(&s.name);
        if let Some(l) = told.or(trials.as_ref().map(|_| Likelihood::Binomial)) {
            let table = view(cli, &s.path, &options, l, trials.as_ref())?;
            builder = builder.view(stored(cli, study, table, l, trials.is_some()));
            study.guess(&s.name, l);
        } else {
            let (table, guess, mut why) = guessed(&s.path, &options)?;
            let mut otherwise = "if not";
            let mut likelihood = "LIKELIHOOD".to_owned();
            if guess == Likelihood::Gaussian
                && let Some(counts) = likelihood_of_counts(&table)
            {
                why = "whole numbers from 0 on".into();
                (otherwise, likelihood) = ("if they are counts", counts.to_string());
            }
            say(
                cli,
                format!(
                    "guess: view '{}' is {guess} ({why}); {otherwise}, say --view {}={}:{likelihood}",
                    s.name,
                    s.name,
                    s.path.display()
                ),
            );
            study.guess(&s.name, guess);
            builder = builder.view(stored(cli, study, table, guess, trials.is_some()));
        }
        if let Some(t) = trials {
            builder = builder.trials(t.table);
        }
    }
    Ok(with_metadata(builder, study.metadata.as_deref(), study.groups.as_deref())?.build()?)
}

/// New data given on the command line, for the views of a model.
pub fn new_data(cli: &Cli, args: &DataArgs, fit: &Fit) -> Outcome<Dataset> {
    if args.views.is_empty() && args.labels.is_empty() {
        return Err(Failure::Usage(
            "no view was given; add --view NAME=FILE".into(),
        ));
    }
    let mut builder = Dataset::builder();
    if args.join.as_deref() == Some("intersection") {
        builder = builder.join(Join::Intersection);
    }
    let mut trials = trials_of(args, fit)?;
    for text in &args.views {
        let (name, path, likelihood) = view_option(text)?;
        let known = fit.view(&name)?.1.choices.likelihood;
        if let Some(l) = likelihood {
            let l: Likelihood = parsed("likelihood", &l)?;
            if l != known {
                return Err(Failure::Usage(format!(
                    "view '{name}' is {known} in this model, not {l}; leave ':{l}' out"
                )));
            }
        }
        let options = read_options(&name, args.transposed);
        let trials = trials.remove(&name);
        let trials = trials.map(|t| Trials::read(&t, &options)).transpose()?;
        let table = view(cli, &path, &options, known, trials.as_ref());
        let table = table.map_err(|e| match e {
            // what a view holds was settled when fitting
            Failure::Words { source, .. } => (*source).into(),
            other => other,
        })?;
        builder = builder.view(match table {
            ViewTable::Sparse(t) if !known.stays_sparse() || trials.is_some() => {
                t.to_dense().into()
            }
            table => table,
        });
        if let Some(t) = trials {
            builder = builder.trials(t.table);
        }
    }
    for text in &args.labels {
        let (path, _) = labels_option(text);
        let words = labels::read(&path)?;
        for column in &words.columns {
            let (_, view) = fit.view(column)?;
            let known = fit.spec().labels(&view.name);
            builder = builder.view(labels::task(&path, &words, column, known)?.0);
        }
    }
    if let Some(name) = trials.keys().next() {
        return Err(Failure::Usage(format!(
            "--trials: there is no --view {name}=FILE; add it, or leave the trials out"
        )));
    }
    Ok(with_metadata(builder, args.metadata.as_deref(), args.groups.as_deref())?.build()?)
}

/// Files of trials by view, for the binomial views of a model.
fn trials_of(args: &DataArgs, fit: &Fit) -> Outcome<BTreeMap<String, PathBuf>> {
    let mut out = BTreeMap::new();
    for text in &args.trials {
        let (name, path) = named_file("--trials", text)?;
        let likelihood = fit.view(&name)?.1.choices.likelihood;
        if likelihood != Likelihood::Binomial {
            return Err(Failure::Usage(format!(
                "--trials: view '{name}' is {likelihood} in this model, not binomial; leave them out"
            )));
        }
        out.insert(name, path);
    }
    Ok(out)
}

/// The table as the model wants it: sparse where it is and may be.
fn stored(
    cli: &Cli,
    study: &Study,
    table: ViewTable,
    likelihood: Likelihood,
    trials: bool,
) -> ViewTable {
    let faithful = study.model.algorithm == Algorithm::Faithful;
    let ViewTable::Sparse(sparse) = &table else {
        return table;
    };
    if likelihood.stays_sparse() && !trials && !faithful {
        return table;
    }
    let why = if trials {
        "numbers of trials are one a cell".to_owned()
    } else if faithful {
        "mofapy2's algorithm keeps numbers for every cell".to_owned()
    } else {
        format!("the likelihood {likelihood} keeps a number for every cell")
    };
    let name = table.name();
    say(cli, format!("note: view '{name}' is made dense: {why}"));
    sparse.to_dense().into()
}

/// The table of a view of that likelihood.
fn view(
    cli: &Cli,
    path: &Path,
    options: &ReadOptions,
    likelihood: Likelihood,
    trials: Option<&Trials>,
) -> Outcome<ViewTable> {
    let name = options.name.clone().unwrap_or_default();
    let classes = likelihood == Likelihood::Categorical;
    let inside = hdf5::table(path, &name, classes)?;
    if classes {
        return match inside {
            Some(table) => Ok(table),
            None => Ok(read_table(path, &as_classes(options))?.into()),
        };
    }
    let table = match inside {
        Some(table) => table,
        None => read_view(path, options).map_err(|e| words(name, e))?,
    };
    if likelihood.is_label() {
        let mend = "fit the view as gaussian (numbers) or categorical (one column of classes)";
        zeros_and_ones(path, &table, mend)?;
    }
    if likelihood.is_count() {
        counts::check(cli, path, &table, likelihood, trials)?;
    }
    Ok(table)
}

/// The table of a view and what it looks like.
fn guessed(path: &Path, options: &ReadOptions) -> Outcome<(ViewTable, Likelihood, String)> {
    let name = options.name.clone().unwrap_or_default();
    if let Some(table) = hdf5::table(path, &name, false)? {
        return Ok(of_numbers(table));
    }
    let error = match read_view(path, options) {
        Ok(table) => return Ok(of_numbers(table)),
        Err(e) => e,
    };
    let is_words = matches!(
        error,
        IoError::NotNumber {
            hint: NumberHint::Words,
            ..
        }
    );
    if !is_words {
        return Err(error.into());
    }
    match read_table(path, &as_classes(options)) {
        Ok(table) => {
            let why = format!("one column of words, {} classes", table.levels.len());
            Ok((table.into(), Likelihood::Categorical, why))
        }
        Err(IoError::ManyClassColumns { .. }) => Err(error.into()),
        Err(other) => Err(other.into()),
    }
}

/// What a table of numbers looks like.
fn of_numbers(table: ViewTable) -> (ViewTable, Likelihood, String) {
    let binary =
        table.cells().all(|c| c.2.is_nan() || is_bit(c.2)) && table.cells().any(|c| is_bit(c.2));
    if binary {
        (table, Likelihood::Bernoulli, "all values are 0 or 1".into())
    } else {
        (table, Likelihood::Gaussian, "numbers".into())
    }
}

fn as_classes(options: &ReadOptions) -> ReadOptions {
    ReadOptions {
        content: Content::Classes,
        ..options.clone()
    }
}

/// Says what to do where words stand in a table of numbers.
fn words(view: String, error: IoError) -> Failure {
    match error {
        IoError::NotNumber {
            hint: NumberHint::Words,
            ..
        } => Failure::Words {
            view,
            source: Box::new(error),
        },
        other => other.into(),
    }
}

fn is_bit(x: f64) -> bool {
    x == 0.0 || x == 1.0
}

/// Refuses a value that is neither 0 nor 1; `mend` ends "correct it, leave the
/// cell empty, or".
pub fn zeros_and_ones(path: &Path, table: &ViewTable, mend: &str) -> Outcome<()> {
    match table.cells().find(|c| !c.2.is_nan() && !is_bit(c.2)) {
        Some((n, d, x)) => Err(Failure::Cell {
            path: path.to_owned(),
            sample: table.samples()[n].clone(),
            column: table.features()[d].clone(),
            found: format!("{x} is neither 0 nor 1; correct it, leave the cell empty, or {mend}"),
        }),
        None => Ok(()),
    }
}

/// How a view's file is read.
pub fn read_options(name: &str, transposed: bool) -> ReadOptions {
    ReadOptions {
        orientation: if transposed {
            Orientation::FeaturesInRows
        } else {
            Orientation::SamplesInRows
        },
        ..ReadOptions::named(name)
    }
}

fn with_metadata(
    mut builder: DatasetBuilder,
    path: Option<&Path>,
    groups: Option<&str>,
) -> Outcome<DatasetBuilder> {
    let Some(path) = path else { return Ok(builder) };
    let columns = about_samples(path)?;
    if let Some(wanted) = groups {
        let (ids, column) = columns
            .iter()
            .find(|(_, c)| c.name == wanted)
            .ok_or_else(|| {
                Failure::Usage(format!(
                    "'{}' has no column '{wanted}'; it has {}",
                    path.display(),
                    columns
                        .iter()
                        .map(|c| c.1.name.clone())
                        .collect::<Vec<_>>()
                        .join(", ")
                ))
            })?;
        let names: Vec<Option<String>> = match &column.values {
            MetadataValues::Categories(v) => v.clone(),
            MetadataValues::Numbers(v) => v
                .iter()
                .map(|x| x.is_finite().then(|| x.to_string()))
                .collect(),
        };
        let pairs = ids
            .iter()
            .cloned()
            .zip(names)
            .filter_map(|(s, g)| Some((s, g?)))
            .collect();
        builder = builder.groups(pairs);
    }
    for (ids, column) in columns {
        builder = builder.metadata(ids, column);
    }
    Ok(builder)
}

/// Columns about the samples, of a table or of an HDF5 file.
pub fn about_samples(path: &Path) -> Outcome<Vec<(Vec<String>, Metadata)>> {
    match hdf5::metadata(path)? {
        Some((columns, notes)) => {
            for note in notes {
                eprintln!("note: {}: {note}", path.display());
            }
            Ok(columns)
        }
        None => Ok(read_metadata(path)?),
    }
}

/// Parses `VIEW=FILE`.
pub fn named_file(option: &str, text: &str) -> Outcome<(String, PathBuf)> {
    text.split_once('=')
        .filter(|(n, p)| !n.is_empty() && !p.is_empty())
        .map(|(n, p)| (n.to_owned(), p.into()))
        .ok_or_else(|| {
            Failure::Usage(format!(
                "{option}: '{text}' is not VIEW=FILE, such as genes=table.csv"
            ))
        })
}

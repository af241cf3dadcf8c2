//! Reading data sets. Modules here know the choices of a study, and no study knows them.

mod about;
mod adjust;
mod archive;
mod codes;
mod copies;
mod counts;
mod group_names;
mod guess;
mod joined;
mod levels;
mod view_table;

pub use about::{about_samples, warn_strangers};
pub use archive::archive;
pub use counts::Trials;
pub use group_names::group_names;
pub use joined::{has_ids, same_or_named};
pub use view_table::zeros_and_ones;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use polyview::{Algorithm, Fit, Likelihood, Offset};
use polyview_core::{Dataset, DatasetBuilder, FeatureScaling, Join, View, ViewTable};
use polyview_io::{Orientation, ReadOptions};

use crate::args::{Cli, DataArgs};
use crate::choice;
use crate::failure::{Failure, Outcome};
use crate::labels::{self, labels_option};
use crate::remarks::{note, say, warning};
use crate::study::{Study, named_file, of_view, offset_option, trials_twice, view_option};
use about::Column;
use adjust::{Adjusted, complete};
use codes::codes;
use copies::copies;
use group_names::Present;
use guess::Guess;
use joined::{built, ids_or_places};
use view_table::{Likely, view, words};

/// The data of a study. Likelihoods that were not given are guessed and said;
/// the study then has them.
pub fn dataset(cli: &Cli, study: &mut Study) -> Outcome<Dataset> {
    let mut builder = Dataset::builder().join(study.model.join);
    let mut present = Present::of(study.groups.is_some(), study.model.join);
    for s in study.data.clone() {
        if let Some(column) = &s.column {
            let known = study.model.labels(&s.name).cloned();
            let words = labels::read(&s.path, &study.format())?;
            let (mut table, names) = labels::task(&s.path, &words, column, known.as_ref())?;
            table.name.clone_from(&s.name);
            study.model = study.model.clone().with_labels(&s.name, names);
            present.add(&table.samples);
            builder = builder.view(table);
            continue;
        }
        let options = read_options(&s.name, study.transposed, study.format());
        let trials = s.trials.as_deref();
        let trials = trials.map(|t| Trials::read(t, &options)).transpose()?;
        let told = study.likelihood(&s.name);
        if let Some(l) = told.or_else(|| trials.as_ref().map(|_| "binomial".into())) {
            let table = view(&s.path, &options, Likely::Asked(&l), trials.as_ref());
            let table = table.map_err(|e| words(study, &s, &l, e))?;
            note_names(cli, &s.path, &options, (table.samples(), table.features()));
            present.add(table.samples());
            builder = ids_or_places(builder, &s.name, &s.path)?;
            builder = builder.view(stored(cli, study, table, &l, trials.is_some()));
            study.take(&s.name, l);
        } else {
            let Guess {
                table,
                likelihood: guess,
                why,
                advice,
            } = Guess::of(&s.path, &options)
                .map_err(|e| words(study, &s, &"gaussian".into(), e))?;
            let file = format!("{}={}", s.name, s.path.display());
            let advice = advice.replace("FILE", &file);
            say(
                cli,
                format!("guess: view '{}' is {guess} ({why}); {advice}", s.name),
            );
            note_names(cli, &s.path, &options, (table.samples(), table.features()));
            present.add(table.samples());
            study.guess(&s.name, guess.clone());
            builder = ids_or_places(builder, &s.name, &s.path)?;
            builder = builder.view(stored(cli, study, table, &guess, trials.is_some()));
        }
        if let Some(t) = trials {
            builder = builder.trials(t.table);
        }
    }
    let metadata = study.metadata.as_deref();
    let (builder, about) = with_metadata(
        cli,
        builder,
        metadata,
        study.groups.as_deref(),
        &study.format(),
    )?;
    let adjusted = Adjusted {
        covariates: study.covariates.as_deref(),
        names: &study.model.covariates,
        offsets: &study.offsets,
    };
    let builder = adjusted.add(cli, builder, &about, &study.format())?;
    let files = study.data.iter();
    let files = files.map(|s| (s.name.as_str(), s.path.as_path()));
    let data = built(builder, &files.collect::<Vec<_>>(), metadata);
    let data = data.map_err(|e| present.cause(e, metadata, study.groups.as_deref(), &about))?;
    warn_strangers(cli, metadata, &about, data.samples(), features(&data));
    complete(&data, &adjusted)?;
    for text in copies(&data, study).into_iter().chain(codes(&data, study)) {
        warning(cli, text);
    }
    Ok(data)
}

/// Says where the header or the first column of a table look like data; `names`
/// are its samples and features.
pub fn note_names(
    cli: &Cli,
    path: &Path,
    options: &ReadOptions,
    (samples, features): (&[String], &[String]),
) {
    let numbers = |names: &[String]| -> Option<Vec<f64>> {
        names.iter().map(|name| name.parse().ok()).collect()
    };
    let (lines, line) = match options.orientation {
        Orientation::SamplesInRows => (samples, "sample IDs"),
        Orientation::FeaturesInRows => (features, "names of the features"),
    };
    if options.orientation == Orientation::SamplesInRows && numbers(features).is_some() {
        let first = features.first().map_or("", String::as_str);
        note(
            cli,
            format!(
                "{}: the first row holds numbers alone (first '{first}') and was taken as the names of the features; if it holds data, \
                 put a row of names before it",
                path.display()
            ),
        );
    }
    let broken = numbers(lines).and_then(|x| x.iter().position(|x| x.fract() != 0.0));
    if let Some(at) = broken {
        note(
            cli,
            format!(
                "{}: the first column holds numbers alone, such as {}, and was taken as the {line}; if \
                 it holds data, put a column of names before it",
                path.display(),
                lines[at]
            ),
        );
    }
}

/// The features of all views.
fn features(data: &Dataset) -> impl Iterator<Item = &String> {
    data.views().iter().flat_map(View::features)
}

/// New data given on the command line, for the views of a model.
pub fn new_data(cli: &Cli, args: &DataArgs, fit: &Fit) -> Outcome<Dataset> {
    new_data_for(cli, args, fit, None)
}

/// As [`new_data`], to predict a view: its own numbers of trials may stand alone, as they say
/// nothing of other views.
pub fn new_data_for(
    cli: &Cli,
    args: &DataArgs,
    fit: &Fit,
    target: Option<&str>,
) -> Outcome<Dataset> {
    if args.views.is_empty() && args.labels.is_empty() {
        return Err(Failure::Usage(
            "no view was given; add --view NAME=FILE".into(),
        ));
    }
    let join = match args.join.as_deref() {
        Some("intersection") => Join::Intersection,
        _ => Join::default(),
    };
    let mut builder = Dataset::builder().new_samples().join(join);
    let mut present = Present::of(args.groups.is_some(), join);
    let mut trials = trials_of(args, fit)?;
    let of_target = |text: &String| view_option(text).is_ok_and(|v| Some(v.0.as_str()) == target);
    if let Some(target) = target.filter(|_| !args.views.iter().any(of_target)) {
        trials.remove(target);
    }
    let mut read = Vec::new();
    for text in &args.views {
        let (name, path, likelihood) = view_option(text)?;
        let known = &fit.view(&name)?.1.choices.likelihood;
        if let Some(l) = likelihood {
            let l: Likelihood = choice::species(&of_view(&name), &l)?;
            if l.name() != known.name() {
                return Err(Failure::Usage(format!(
                    "view '{name}' is {known} in this model, not {l}; leave ':{l}' out"
                )));
            }
        }
        let options = read_options(&name, args.transposed, args.format.options());
        let trials = trials.remove(&name);
        let trials = trials.map(|t| Trials::read(&t, &options)).transpose()?;
        let labels = fit.labels(&name).is_some();
        let kind = Likely::OfModel {
            likelihood: known,
            labels,
        };
        let table = view(&path, &options, kind, trials.as_ref())?;
        note_names(cli, &path, &options, (table.samples(), table.features()));
        present.add(table.samples());
        builder = ids_or_places(builder, &name, &path)?;
        read.push((name, path));
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
        let words = labels::read(&path, &args.format.options())?;
        for column in &words.columns {
            let (_, view) = fit.view(column)?;
            let known = fit.labels(&view.name);
            let table = labels::task(&path, &words, column, known)?.0;
            present.add(&table.samples);
            builder = builder.view(table);
        }
    }
    if let Some(name) = trials.keys().next() {
        return Err(Failure::Usage(format!(
            "--trials: there is no --view {name}=FILE; add it, or leave the trials out"
        )));
    }
    let (metadata, format) = (args.metadata.as_deref(), args.format.options());
    let (builder, about) = with_metadata(cli, builder, metadata, args.groups.as_deref(), &format)?;
    let mut offsets = BTreeMap::new();
    for text in &args.offsets {
        let (view, path) = offset_option(text)?;
        fit.view(&view)?;
        let known = fit.spec().and_then(|s| s.offsets.get(&view));
        match (known, path) {
            (Some(Offset::LogTotal), None) => {}
            (Some(Offset::Column(_)), Some(path)) => {
                offsets.insert(view, path);
            }
            (None, _) => {
                return Err(Failure::Usage(format!(
                    "--offset {text}: view '{view}' has no offset in this model; leave it out"
                )));
            }
            (Some(_), path) => {
                let [own, mend] = match path {
                    Some(_) => ["total counts", "leave it out"],
                    None => ["a column of numbers", "give --offset VIEW=FILE"],
                };
                return Err(Failure::Usage(format!(
                    "--offset {text}: the offset of view '{view}' is {own} in this model; {mend}"
                )));
            }
        }
    }
    let covariates = fit.spec().map_or(&[][..], |s| &s.covariates);
    let adjusted = Adjusted {
        covariates: args.covariates.as_deref(),
        names: covariates,
        offsets: &offsets,
    };
    let builder = adjusted.add(cli, builder, &about, &format)?;
    let files = read.iter().map(|(n, p)| (n.as_str(), p.as_path()));
    let data = built(builder, &files.collect::<Vec<_>>(), metadata);
    let groups = args.groups.as_deref();
    let data = data.map_err(|e| present.cause(e, metadata, groups, &about))?;
    warn_strangers(cli, metadata, &about, data.samples(), features(&data));
    complete(&data, &adjusted)?;
    Ok(data)
}

/// Files of trials by view, for the binomial views of a model.
pub fn trials_of(args: &DataArgs, fit: &Fit) -> Outcome<BTreeMap<String, PathBuf>> {
    let mut out = BTreeMap::new();
    for text in &args.trials {
        let (name, path) = named_file("--trials", text)?;
        let likelihood = &fit.view(&name)?.1.choices.likelihood;
        if !likelihood.has_trials() {
            return Err(Failure::Usage(format!(
                "--trials: view '{name}' is {likelihood} in this model, not binomial; leave them out"
            )));
        }
        if out.insert(name.clone(), path).is_some() {
            return Err(trials_twice(&name));
        }
    }
    Ok(out)
}

/// The files of options for data, as far as these can be read.
pub fn files(args: &DataArgs) -> Vec<PathBuf> {
    let views = args
        .views
        .iter()
        .filter_map(|v| Some(view_option(v).ok()?.1));
    let labels = args.labels.iter().map(|l| labels_option(l).0);
    let trials = args
        .trials
        .iter()
        .filter_map(|t| Some(named_file("--trials", t).ok()?.1));
    views
        .chain(labels)
        .chain(trials)
        .chain(args.metadata.clone())
        .chain(args.covariates.clone())
        .chain((args.offsets.iter()).filter_map(|o| offset_option(o).ok()?.1))
        .collect()
}

/// The table as the model wants it: sparse where it is and may be.
fn stored(
    cli: &Cli,
    study: &Study,
    table: ViewTable,
    likelihood: &Likelihood,
    trials: bool,
) -> ViewTable {
    let faithful = study.model.algorithm == Algorithm::Faithful;
    let ViewTable::Sparse(sparse) = &table else {
        return table;
    };
    let choices = study.model.view(table.name());
    let bent = likelihood.is_real() && choices.scaling == FeatureScaling::NormalScores;
    if likelihood.stays_sparse() && !trials && !faithful && !bent {
        return table;
    }
    let why = if bent {
        "normal scores are one a cell (--scaling normal-scores)".to_owned()
    } else if trials {
        "numbers of trials are one a cell".to_owned()
    } else if faithful {
        "mofapy2's algorithm keeps numbers for every cell".to_owned()
    } else {
        format!("the likelihood {likelihood} keeps a number for every cell")
    };
    let name = table.name();
    note(cli, format!("view '{name}' is made dense: {why}"));
    sparse.to_dense().into()
}

/// How a view's file is read.
pub fn read_options(name: &str, transposed: bool, format: ReadOptions) -> ReadOptions {
    ReadOptions {
        orientation: if transposed {
            Orientation::FeaturesInRows
        } else {
            Orientation::SamplesInRows
        },
        name: Some(name.to_owned()),
        ..format
    }
}

fn with_metadata(
    cli: &Cli,
    mut builder: DatasetBuilder,
    path: Option<&Path>,
    groups: Option<&str>,
    format: &ReadOptions,
) -> Outcome<(DatasetBuilder, Vec<Column>)> {
    let Some(path) = path else {
        return Ok((builder, Vec::new()));
    };
    let columns = about_samples(cli, path, format)?;
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
        let pairs = ids
            .iter()
            .cloned()
            .zip(group_names(column))
            .filter_map(|(s, g)| Some((s, g?)))
            .collect();
        builder = builder.groups(pairs);
    }
    for (ids, column) in columns.clone() {
        builder = builder.metadata(ids, column);
    }
    Ok((builder, columns))
}

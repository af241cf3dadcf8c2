//! Reading data sets. Modules here know the choices of a study, and no study knows them.

mod about;
mod across;
mod adjust;
mod archive;
mod codes;
mod copies;
mod counts;
mod far_pairs;
mod group_names;
mod guess;
mod joined;
mod levels;
mod limits;
mod new_data;
mod scaled;
mod unnamed;
mod view_table;

pub use about::{about_samples, warn_strangers};
pub use archive::archive;
pub use counts::Trials;
pub use group_names::group_names;
pub use joined::{has_ids, same_or_named};
pub use limits::{event_came, event_time, is_censored};
pub use new_data::{kept_data, new_data, new_data_for, read_as, trials_of};
pub use view_table::{Likely, view as view_cells, zeros_and_ones};

use std::path::{Path, PathBuf};

use polyview::{Algorithm, Likelihood};
use polyview_core::{Dataset, DatasetBuilder, FeatureScaling, View, ViewTable};
use polyview_io::{Orientation, ReadOptions};

use crate::args::{Cli, DataArgs};
use crate::detection::check_features;
use crate::failure::Outcome;
use crate::hdf5;
use crate::labels::{self, labels_option};
use crate::remarks::{note, say, warning};
use crate::study::{Study, named_file, offset_option, view_option};
use about::Column;
use across::copied_across;
use adjust::{Adjusted, complete};
use codes::{codes, missing_words};
use copies::{copied_features, copies};
use far_pairs::far_pairs;
use group_names::{Present, groups_of};
use guess::Guess;
use joined::{built, ids_or_places};
use limits::ViewCells;
use scaled::scaled_features;
use view_table::{view, words};

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
            let ViewCells {
                table,
                ends,
                warnings,
            } = table.map_err(|e| words(study, &s, &l, e))?;
            for text in warnings {
                warning(cli, text);
            }
            if let (Some(path), Some(limits)) =
                (study.limits.get(&s.name), study.model.view(&s.name).limits)
            {
                check_features(&limits, path, (&s.path, table.features()))?;
            }
            note_names(cli, &s.path, &options, (table.samples(), table.features()));
            present.add(table.samples());
            builder = ids_or_places(builder, &s.name, &s.path)?;
            if l.is_similarity() {
                builder = builder.similarities(&s.name);
            }
            builder = builder.view(stored(cli, study, table, &l, trials.is_some()));
            if let Some(ends) = ends {
                builder = builder.ends(ends);
            }
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
    let about = about(cli, metadata, &study.format())?;
    if let (Some(path), Some(column)) = (metadata, study.groups.as_deref()) {
        builder = builder.groups(groups_of(&about, path, column)?);
    }
    let builder = with_metadata(builder, &about);
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
    complete(&data, &adjusted, |view| {
        Some(study.model.view(view).likelihood)
    })?;
    for text in suspicious(data.views(), data.samples(), study) {
        warning(cli, text);
    }
    Ok(data)
}

/// What is to be said of values that are hardly what they seem: samples that are copies of one
/// another, and codes of missing values.
pub fn suspicious(views: &[View], samples: &[String], study: &Study) -> Vec<String> {
    let of_samples = copies(views, samples, study).into_iter();
    let of_features = views.iter().filter_map(copied_features);
    // of ranks units are nothing
    let is_real = |v: &&View| study.model.view(v.name()).likelihood.is_real();
    let in_units = views.iter().filter(is_real).filter_map(scaled_features);
    let across = copied_across(views, study);
    let copies = of_samples.chain(of_features).chain(in_units).chain(across);
    let codes = codes(views, samples, study)
        .into_iter()
        .chain(far_pairs(views, samples, study))
        .chain(missing_words(views));
    copies.chain(codes).collect()
}

/// Says where the header or the first column of a table look like data, and where a table is not turned
/// that was to be; `names` are its samples and features.
pub fn note_names(
    cli: &Cli,
    path: &Path,
    options: &ReadOptions,
    (samples, features): (&[String], &[String]),
) {
    if options.orientation == Orientation::FeaturesInRows && hdf5::is_inside(path) {
        note(
            cli,
            format!(
                "{}: --transposed does not turn it: its samples are the rows of obs wherever they stand",
                path.display()
            ),
        );
        return;
    }
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

/// The file of a view, as it was given.
pub fn file_of(args: &DataArgs, view: &str) -> Option<PathBuf> {
    let given = args.views.iter().filter_map(|v| view_option(v).ok());
    let mut of_view = given.filter(|(name, ..)| name == view);
    of_view.next().map(|(_, path, _)| path)
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
    let compared = choices.kernel.is_some();
    if likelihood.stays_sparse() && !trials && !faithful && !bent && !compared {
        return table;
    }
    let why = if compared {
        "a kernel compares samples".to_owned()
    } else if bent {
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

/// Columns of the table about the samples, if there is one.
fn about(cli: &Cli, path: Option<&Path>, format: &ReadOptions) -> Outcome<Vec<Column>> {
    path.map_or_else(|| Ok(Vec::new()), |path| about_samples(cli, path, format))
}

/// Adds columns about the samples.
fn with_metadata(builder: DatasetBuilder, about: &[Column]) -> DatasetBuilder {
    let columns = about.iter().cloned();
    columns.fold(builder, |builder, (ids, column)| {
        builder.metadata(ids, column)
    })
}

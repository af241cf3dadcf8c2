//! New data for the views of a model, read as those of its fit were.

use std::collections::BTreeMap;
use std::path::PathBuf;

use polyview::{Fit, Likelihood, Offset};
use polyview_core::{Dataset, Join, ViewTable};
use polyview_io::ReadOptions;

use super::about::{Column, warn_strangers};
use super::adjust::{Adjusted, complete};
use super::counts::Trials;
use super::group_names::{Present, groups_of};
use super::joined::{built, ids_or_places};
use super::limits::ViewCells;
use super::unnamed::named_as;
use super::view_table::{Likely, view};
use super::{about, features, note_names, read_options, with_metadata};
use crate::args::{Cli, DataArgs, FormatArgs};
use crate::choice;
use crate::failure::{Failure, Outcome};
use crate::labels::{self, labels_option};
use crate::remarks::{note, warning};
use crate::study::{Once, named_file, of_view, offset_option, view_option};

/// New data given on the command line, for the views of a model.
pub fn new_data(cli: &Cli, args: &DataArgs, fit: &Fit) -> Outcome<Dataset> {
    read(cli, args, fit, (None, false))
}

/// As [`new_data`], of samples that the model keeps with their groups, whether anything depends on these or not.
pub fn kept_data(cli: &Cli, args: &DataArgs, fit: &Fit) -> Outcome<Dataset> {
    read(cli, args, fit, (None, true))
}

/// As [`new_data`], to predict a view: its own numbers of trials may stand alone, as they say
/// nothing of other views.
pub fn new_data_for(
    cli: &Cli,
    args: &DataArgs,
    fit: &Fit,
    target: Option<&str>,
) -> Outcome<Dataset> {
    read(cli, args, fit, (target, false))
}

/// New data to predict a view, or that the model keeps.
fn read(
    cli: &Cli,
    args: &DataArgs,
    fit: &Fit,
    (target, kept): (Option<&str>, bool),
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
    let (metadata, format) = (args.metadata.as_deref(), read_as(&args.format, fit));
    if args.format.na.is_empty() && !format.missing.is_empty() {
        let codes = format.missing.join(", ");
        note(
            cli,
            format!("missing values are {codes}, as in the fit (--na takes others)"),
        );
    }
    let about = about(cli, metadata, &format)?;
    let groups = groups(cli, args, (fit, kept), &about);
    let mut builder = Dataset::builder().new_samples().join(join);
    let mut present = Present::of(groups.is_some(), join);
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
            as_in_model(&name, &l, known)?;
        }
        let options = read_options(&name, args.transposed, format.clone());
        let trials = trials.remove(&name);
        let trials = trials.map(|t| Trials::read(&t, &options)).transpose()?;
        let labels = fit.labels(&name).is_some();
        let kind = Likely::OfModel {
            likelihood: known,
            labels,
        };
        let ViewCells {
            table,
            ends,
            warnings,
        } = view(&path, &options, kind, trials.as_ref())?;
        for text in warnings {
            warning(cli, text);
        }
        let table = named_as(cli, table, &path, fit.view(&name)?.1)?;
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
        if let Some(ends) = ends {
            builder = builder.ends(ends);
        }
        if let Some(t) = trials {
            builder = builder.trials(t.table);
        }
    }
    for text in &args.labels {
        let (path, likelihood) = labels_option(text);
        let words = labels::read(&path, &format)?;
        for column in &words.columns {
            let (_, view) = fit.view(column)?;
            if let Some(l) = likelihood {
                as_in_model(&view.name, l, &view.choices.likelihood)?;
            }
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
    if let (Some(path), Some(column)) = (metadata, groups.as_deref()) {
        let known = groups_of(&about, path, column)?;
        builder = builder.groups(present.any_without(known, &about, column));
    }
    let builder = with_metadata(builder, &about);
    let mut offsets = BTreeMap::new();
    let mut once = Once::of("--offset");
    for text in &args.offsets {
        let (view, path) = offset_option(text)?;
        once.view(&view)?;
        fit.view(&view)?;
        let known = fit.spec().and_then(|s| s.offsets.get(&view));
        match (known, path) {
            (Some(Offset::LogTotal), None) => {}
            // of total counts a table of totals, such as those of a view that is predicted
            (Some(_), Some(path)) => {
                offsets.insert(view, path);
            }
            (None, _) => {
                return Err(Failure::Usage(format!(
                    "--offset {text}: view '{view}' has no offset in this model; leave it out"
                )));
            }
            (Some(Offset::Column(_)), None) => {
                return Err(Failure::Usage(format!(
                    "--offset {text}: the offset of view '{view}' is a column of numbers in this model; \
                     give --offset {view}=FILE"
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
    let data = data.map_err(|e| present.cause(e, metadata, groups.as_deref(), &about))?;
    warn_strangers(cli, metadata, &about, data.samples(), features(&data));
    complete(&data, &adjusted, |view| {
        Some(fit.view(view).ok()?.1.choices.likelihood.clone())
    })?;
    Ok(data)
}

/// Refuses a likelihood of new data of a view that is not the model's.
fn as_in_model(view: &str, given: &str, known: &Likelihood) -> Outcome<()> {
    let given: Likelihood = choice::species(&of_view(view), given)?;
    if given.name() == known.name() {
        return Ok(());
    }
    Err(Failure::Usage(format!(
        "view '{view}' is {known} in this model, not {given}; leave ':{given}' out"
    )))
}

/// Files of trials by view, for the binomial views of a model.
pub fn trials_of(args: &DataArgs, fit: &Fit) -> Outcome<BTreeMap<String, PathBuf>> {
    let mut out = BTreeMap::new();
    let mut once = Once::of("--trials");
    for text in &args.trials {
        let (name, path) = named_file("--trials", text)?;
        once.view(&name)?;
        let likelihood = &fit.view(&name)?.1.choices.likelihood;
        if !likelihood.has_trials() {
            return Err(Failure::Usage(format!(
                "--trials: view '{name}' is {likelihood} in this model, not binomial; leave them out"
            )));
        }
        out.insert(name, path);
    }
    Ok(out)
}

/// How text files are read for a model: as options say, and with the codes for missing values of
/// its fit unless there are others.
pub fn read_as(args: &FormatArgs, fit: &Fit) -> ReadOptions {
    let mut options = args.options();
    if args.na.is_empty() {
        options.missing.clone_from(&fit.reading().missing);
    }
    options
}

/// The column with the groups of the samples: the one that is named, or that of the fit where
/// the metadata have it. Says what metadata and groups are good for where they change nothing.
fn groups(
    cli: &Cli,
    args: &DataArgs,
    (fit, kept): (&Fit, bool),
    about: &[Column],
) -> Option<String> {
    let path = args.metadata.as_ref()?;
    let adjusts = args.covariates.is_none() && fit.spec().is_some_and(|s| !s.covariates.is_empty());
    let matters = fit.looks_at_groups() || (kept && fit.reading().groups.is_some());
    if !matters {
        let option = match &args.groups {
            Some(column) => format!("--groups {column}"),
            None if adjusts => return None,
            None => format!("--metadata {}", path.display()),
        };
        note(
            cli,
            format!(
                "{option} changes nothing: this model has nothing that depends on it; leave it out"
            ),
        );
        return args.groups.clone();
    }
    if args.groups.is_some() {
        return args.groups.clone();
    }
    let names: Vec<&str> = about.iter().map(|(_, c)| c.name.as_str()).collect();
    match &fit.reading().groups {
        Some(column) if names.contains(&column.as_str()) => {
            note(
                cli,
                format!("groups of the samples are those of the column '{column}', as in the fit"),
            );
            return Some(column.clone());
        }
        _ if adjusts || names.is_empty() => {}
        known => {
            let lacks = known.as_ref().map_or_else(String::new, |column| {
                format!(" lacks the column '{column}', which had the groups in the fit, and")
            });
            note(
                cli,
                format!(
                    "--metadata {}{lacks} changes nothing without --groups COLUMN, one of {}",
                    path.display(),
                    names.join(", ")
                ),
            );
        }
    }
    None
}

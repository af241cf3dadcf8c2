//! Tables about samples: their columns, and what is to be said where their samples are not those of
//! the data.

use std::collections::{BTreeMap, HashSet};
use std::path::Path;

use polyview_core::{Metadata, other_form, plain_name};
use polyview_io::{ReadOptions, read_metadata_with};

use crate::args::Cli;
use crate::failure::{Failure, Outcome};
use crate::hdf5;
use crate::remarks::{note, warning};

/// A column about samples, and their IDs.
pub type Column = (Vec<String>, Metadata);

/// Columns about the samples, of a table or of an HDF5 file.
pub fn about_samples(cli: &Cli, path: &Path, format: &ReadOptions) -> Outcome<Vec<Column>> {
    match hdf5::metadata(path)? {
        Some((columns, notes)) => {
            for text in notes {
                note(cli, format!("{}: {text}", path.display()));
            }
            Ok(columns)
        }
        None => Ok(read_metadata_with(path, format)?),
    }
}

/// The answer to a column that a table about samples does not have.
pub fn no_column(path: &Path, column: &str, about: &[Column]) -> Failure {
    let known: Vec<&str> = about.iter().map(|(_, c)| c.name.as_str()).collect();
    let path_shown = path.display();
    let has = if known.is_empty() {
        "it has none beside the sample IDs".to_owned()
    } else {
        format!("it has {}", known.join(", "))
    };
    let of_modality = (hdf5::modalities(path).first()).map_or_else(String::new, |m| {
        format!("; a modality of it has columns of its own: name one after a '#', such as {path_shown}#{m}")
    });
    Failure::Usage(format!(
        "'{path_shown}' has no column '{column}'; {has}{of_modality}"
    ))
}

/// What is to be said of a table about samples that knows none of these; where
/// it knows the `features` of the views instead, samples stand in columns.
pub fn strangers<'a>(
    about: &[Column],
    samples: &[String],
    mut features: impl Iterator<Item = &'a String>,
) -> Option<String> {
    let known: HashSet<&String> = samples.iter().collect();
    let ids = &about.first()?.0;
    let none = ids.iter().all(|id| !known.contains(id));
    let first = |ids: &[String]| ids.first().cloned().unwrap_or_default();
    none.then(|| {
        let about: HashSet<&String> = ids.iter().collect();
        let mend = match features.find(|f| about.contains(f)) {
            Some(f) => format!(
                "'{f}' is the name of a feature there: say --transposed where samples stand in columns, and leave it out where \
                 they stand in rows"
            ),
            None => match other_spelling(ids, samples) {
                Some((a, b)) => match other_form(a, b) {
                    Some(how) => format!("'{a}' and '{b}': {how}"),
                    None if a.to_lowercase() == b.to_lowercase() => format!(
                        "'{a}' and '{b}' differ in upper and lower case alone: write the IDs alike"
                    ),
                    None => {
                        format!("'{a}' and '{b}' differ in their spelling alone: write the IDs alike")
                    }
                },
                None => "give the same IDs to both".to_owned(),
            },
        };
        format!(
            "none of its samples is one of the data (first ones: '{}' and '{}'); {mend}",
            first(ids),
            first(samples)
        )
    })
}

/// Two IDs that differ in their spelling alone, such as in upper and lower case.
fn other_spelling<'a>(
    ids: &'a [String],
    samples: &'a [String],
) -> Option<(&'a String, &'a String)> {
    let plain: BTreeMap<String, &String> = samples.iter().map(|s| (plain_name(s), s)).collect();
    ids.iter()
        .find_map(|id| Some((id, *plain.get(&plain_name(id))?)))
}

/// Warns of a table about samples that knows none of these, and says where it knows some.
pub fn warn_strangers<'a>(
    cli: &Cli,
    path: Option<&Path>,
    about: &[Column],
    samples: &[String],
    features: impl Iterator<Item = &'a String>,
) {
    if let (Some(path), Some(what)) = (path, strangers(about, samples, features)) {
        warning(cli, format!("{}: {what}", path.display()));
    } else if let Some(path) = path {
        let known: HashSet<&String> = about.iter().flat_map(|(ids, _)| ids).collect();
        let lacking: Vec<&String> = samples.iter().filter(|s| !known.contains(s)).collect();
        if let Some(first) = lacking.first() {
            let (few, all) = (lacking.len(), samples.len());
            let what = format!("{few} of the {all} samples are not in it, first '{first}'");
            note(
                cli,
                format!("{}: {what}: nothing is known about them", path.display()),
            );
        }
    }
}

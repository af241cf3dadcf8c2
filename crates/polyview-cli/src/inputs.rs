//! Reading data sets.

use std::path::{Path, PathBuf};

use polyview_core::{Dataset, DatasetBuilder, Join, MetadataValues};
use polyview_io::{Orientation, ReadOptions, read_metadata, read_table};

use crate::args::DataArgs;
use crate::failure::{Failure, Outcome};
use crate::study::{Study, view_option};

/// The data of a study.
pub fn dataset(study: &Study) -> Outcome<Dataset> {
    let mut builder = Dataset::builder().join(study.model.join);
    for s in &study.data {
        builder = builder.view(read_table(&s.path, &options(&s.name, study.transposed))?);
    }
    Ok(with_metadata(builder, study.metadata.as_deref(), study.groups.as_deref())?.build()?)
}

/// New data given on the command line.
pub fn new_data(args: &DataArgs) -> Outcome<Dataset> {
    if args.views.is_empty() {
        return Err(Failure::Usage(
            "no view was given; add --view NAME=FILE".into(),
        ));
    }
    let mut builder = Dataset::builder();
    if args.join.as_deref() == Some("intersection") {
        builder = builder.join(Join::Intersection);
    }
    for text in &args.views {
        let (name, path, _) = view_option(text)?;
        builder = builder.view(read_table(&path, &options(&name, args.transposed))?);
    }
    Ok(builder.build()?)
}

fn options(name: &str, transposed: bool) -> ReadOptions {
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
    let columns = read_metadata(path)?;
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

/// Parses `VIEW=FILE`.
pub fn named_file(text: &str) -> Outcome<(String, PathBuf)> {
    text.split_once('=')
        .filter(|(n, p)| !n.is_empty() && !p.is_empty())
        .map(|(n, p)| (n.to_owned(), p.into()))
        .ok_or_else(|| {
            Failure::Usage(format!(
                "'{text}' is not VIEW=FILE, such as genes=weights.csv"
            ))
        })
}

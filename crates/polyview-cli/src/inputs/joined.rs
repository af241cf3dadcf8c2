//! Joining the tables of several files by the IDs of their samples.

use std::path::Path;

use polyview_core::{DataError, Dataset, DatasetBuilder};
use polyview_io::{ReadOptions, has_sample_ids};

use super::archive::archive;
use crate::failure::{Failure, Outcome};
use crate::hdf5;

/// Whether the samples of a file have IDs, rather than numbers that its reader gave them.
pub fn has_ids(path: &Path) -> Outcome<bool> {
    if hdf5::is_inside(path) {
        return Ok(true);
    }
    Ok(has_sample_ids(archive(path, ReadOptions::default()).0)?)
}

/// Tells the builder where the rows of a view's file have no IDs.
pub fn ids_or_places(builder: DatasetBuilder, view: &str, path: &Path) -> Outcome<DatasetBuilder> {
    Ok(if has_ids(path)? {
        builder
    } else {
        builder.numbered(view)
    })
}

/// The data of a builder. Where a value is too large, or rows have no IDs to be joined by,
/// the files of the views are named.
pub fn built(
    builder: DatasetBuilder,
    files: &[(&str, &Path)],
    metadata: Option<&Path>,
) -> Outcome<Dataset> {
    let of = |view: &str| {
        let mut files = files.iter();
        files.find(|f| f.0 == view).map(|f| f.1.to_owned())
    };
    builder.build().map_err(|e| match e {
        DataError::NoSampleIds {
            ref numbered,
            ref view,
            ..
        } => {
            let other = match view {
                Some(view) => of(view),
                None => metadata.map(Path::to_owned),
            };
            match (of(numbered), other) {
                (Some(first), Some(second)) => Failure::Tables {
                    first,
                    second,
                    what: e.to_string(),
                },
                _ => e.into(),
            }
        }
        DataError::TooLarge {
            ref view,
            ref sample,
            ref feature,
            value,
        } => match of(view) {
            Some(path) => Failure::Cell {
                path,
                sample: sample.clone(),
                column: feature.clone(),
                found: format!(
                    "{value:e} is too large to be computed with; correct it, leave the cell \
                     empty, or divide the table by a power of ten"
                ),
            },
            None => e.into(),
        },
        e => e.into(),
    })
}

/// Refuses two tables that are matched by the IDs of their samples, where the rows of one
/// have none and the other has other ones.
pub fn same_or_named(
    (first, a): (&Path, &[String]),
    (second, b): (&Path, &[String]),
) -> Outcome<()> {
    let (left, right) = (has_ids(first)?, has_ids(second)?);
    let same = || a.len() == b.len() && a.iter().all(|s| b.contains(s));
    if left && right || same() {
        return Ok(());
    }
    let lacking = if left { second } else { first };
    Err(Failure::Tables {
        first: first.to_owned(),
        second: second.to_owned(),
        what: format!(
            "{} has no sample IDs, so that its rows can be matched by place alone, and the other has {}; {}",
            lacking.display(),
            if left == right {
                "another number of rows"
            } else {
                "IDs of its own"
            },
            DataError::GIVE_IDS
        ),
    })
}

//! Tables of covariates and offsets.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use polyview::{Likelihood, Offset};
use polyview_core::{Dataset, DatasetBuilder, Metadata, MetadataValues, counted};
use polyview_io::ReadOptions;

use super::about::{Column, about_samples, no_column};
use crate::args::Cli;
use crate::failure::{Failure, Outcome};

/// What a fit is adjusted for, and the files that say it of the samples.
pub struct Adjusted<'a> {
    /// A table about the samples; without one covariates are columns of the metadata.
    pub covariates: Option<&'a Path>,
    /// Names of the covariates.
    pub names: &'a [String],
    /// Files with offsets, by view.
    pub offsets: &'a BTreeMap<String, PathBuf>,
}

impl Adjusted<'_> {
    /// Adds the columns to the data; `about` are those that these have already.
    pub fn add(
        &self,
        cli: &Cli,
        mut builder: DatasetBuilder,
        about: &[Column],
        format: &ReadOptions,
    ) -> Outcome<DatasetBuilder> {
        if let (Some(path), []) = (self.covariates, self.names) {
            return Err(Failure::Usage(format!(
                "--covariates {}: nothing is adjusted for; name columns with --adjust, or leave it \
                 out (a model that was not adjusted takes none)",
                path.display()
            )));
        }
        let columns = match self.covariates {
            Some(path) => about_samples(cli, path, format)?,
            None => Vec::new(),
        };
        for name in self.names {
            let known = about.iter().any(|(_, c)| c.name == *name);
            // one file may be both
            if known
                && let Some(other) = columns.iter().find(|(_, c)| c.name == *name)
                && about.iter().any(|own| same(own, other))
            {
                continue;
            }
            match (
                columns.iter().find(|(_, c)| c.name == *name),
                self.covariates,
            ) {
                (Some(_), _) if known => {
                    return Err(Failure::Usage(format!(
                        "--covariates and --metadata both have a column '{name}'; leave one out"
                    )));
                }
                (Some((ids, column)), _) => {
                    builder = builder.metadata(ids.clone(), column.clone());
                }
                (None, Some(path)) if !known => {
                    let lacks = no_column(path, name, &columns);
                    return Err(Failure::Usage(format!("--adjust: {lacks}")));
                }
                (None, None) if !known => {
                    return Err(Failure::Usage(format!(
                        "no table has the covariate '{name}'; give one with --covariates FILE"
                    )));
                }
                (None, _) => {}
            }
        }
        for (view, path) in self.offsets {
            let columns = about_samples(cli, path, format)?;
            let [(ids, column)] = &columns[..] else {
                return Err(Failure::Usage(format!(
                    "--offset {view}={}: the table has {} beside the IDs; it should have one, of \
                     numbers",
                    path.display(),
                    counted(columns.len(), "column")
                )));
            };
            if !matches!(column.values, MetadataValues::Numbers(_)) {
                return Err(Failure::Usage(format!(
                    "--offset {view}={}: the column '{}' holds words; an offset is a number",
                    path.display(),
                    column.name
                )));
            }
            let column = Metadata {
                name: Offset::column_of(view),
                values: column.values.clone(),
            };
            builder = builder.metadata(ids.clone(), column);
        }
        Ok(builder)
    }
}

/// Whether two columns say the same of the same samples, and nothing of the same ones.
fn same((ids, own): &Column, (others, other): &Column) -> bool {
    let values = match (&own.values, &other.values) {
        (MetadataValues::Numbers(a), MetadataValues::Numbers(b)) => {
            let both = a.iter().zip(b);
            // what is missing is not a number, and no such equals another
            a.len() == b.len()
                && both
                    .into_iter()
                    .all(|(a, b)| a == b || a.is_nan() && b.is_nan())
        }
        (a, b) => a == b,
    };
    values && own.name == other.name && ids == others
}

/// An error that names file, sample and column of the first value that is missing, or of the first offset that is none to a
/// view of that likelihood.
pub fn complete(
    data: &Dataset,
    adjusted: &Adjusted<'_>,
    likelihood: impl Fn(&str) -> Option<Likelihood>,
) -> Outcome<()> {
    let missing = |m: &Metadata| match &m.values {
        MetadataValues::Numbers(x) => x.iter().position(|x| x.is_nan()),
        MetadataValues::Categories(x) => x.iter().position(Option::is_none),
    };
    let covariates = (adjusted.names.iter()).map(|name| {
        let lacks = format!("no value in the column '{name}'");
        (name.clone(), adjusted.covariates, lacks)
    });
    let offsets = (adjusted.offsets.iter()).map(|(view, path)| {
        let lacks = format!("no offset of view '{view}'");
        (Offset::column_of(view), Some(path.as_path()), lacks)
    });
    for (name, path, lacks) in covariates.chain(offsets) {
        let Some(column) = data.metadata().iter().find(|m| m.name == name) else {
            continue;
        };
        if let Some(n) = missing(column) {
            let place = path.map_or_else(String::new, |p| format!("{}: ", p.display()));
            return Err(Failure::Usage(format!(
                "{place}sample '{}' has {lacks}; give it a row with one, or leave the sample out of the \
                 data",
                data.samples()[n]
            )));
        }
    }
    for (view, path) in adjusted.offsets {
        let column = Offset::column_of(view);
        let own = data.metadata().iter().find(|m| m.name == column);
        if let Some(MetadataValues::Numbers(numbers)) = own.map(|m| &m.values)
            && let Some(likelihood) = likelihood(view)
        {
            let checked = Offset::check((view, &likelihood), data.samples(), numbers);
            checked.map_err(|source| Failure::Offset {
                path: path.clone(),
                source,
            })?;
        }
    }
    Ok(())
}

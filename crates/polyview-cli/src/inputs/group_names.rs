//! Groups of samples from a table about these, and what to say where a sample has
//! none.

use std::collections::{HashMap, HashSet};
use std::path::Path;

use polyview_core::{DataError, Groups, Join, Metadata, MetadataValues};

use super::about::{Column, no_column, strangers};
use crate::failure::{Failure, Outcome};

/// The group of each row of a column.
pub fn group_names(column: &Metadata) -> Vec<Option<String>> {
    match &column.values {
        MetadataValues::Categories(v) => v.clone(),
        MetadataValues::Numbers(v) => v
            .iter()
            .map(|x| x.is_finite().then(|| x.to_string()))
            .collect(),
    }
}

/// The group of each sample that has one in a column of a table about samples.
pub fn groups_of(about: &[Column], path: &Path, column: &str) -> Outcome<Vec<(String, String)>> {
    let Some((ids, found)) = about.iter().find(|(_, c)| c.name == column) else {
        return Err(no_column(path, column, about));
    };
    let pairs = ids.iter().cloned().zip(group_names(found));
    Ok(pairs.filter_map(|(s, g)| Some((s, g?))).collect())
}

/// The samples of the views, as they are read; none where there are no groups.
pub struct Present {
    wanted: bool,
    join: Join,
    samples: Option<Vec<String>>,
}

impl Present {
    /// Of no view yet.
    pub fn of(wanted: bool, join: Join) -> Self {
        Self {
            wanted,
            join,
            samples: None,
        }
    }
    /// Adds the samples of a view.
    pub fn add(&mut self, more: &[String]) {
        if !self.wanted {
            return;
        }
        let Some(samples) = &mut self.samples else {
            self.samples = Some(more.to_vec());
            return;
        };
        if self.join == Join::Intersection {
            let more: HashSet<&String> = more.iter().collect();
            samples.retain(|s| more.contains(s));
        } else {
            let known: HashSet<String> = samples.iter().cloned().collect();
            samples.extend(more.iter().filter(|s| !known.contains(*s)).cloned());
        }
    }
    /// Groups of new samples where those without one are of any, as an empty cell of the `column` of
    /// their table says; as they are where no sample has a row in it, which is a mistake in the IDs.
    pub fn any_without(
        &self,
        mut pairs: Vec<(String, String)>,
        about: &[Column],
        column: &str,
    ) -> Vec<(String, String)> {
        let rows = about.iter().filter(|(_, c)| c.name == column);
        let rows: HashSet<&String> = rows.flat_map(|(ids, _)| ids).collect();
        let known: HashSet<String> = pairs.iter().map(|(s, _)| s.clone()).collect();
        let samples = self.samples.iter().flatten();
        let has_row = samples.clone().any(|s| rows.contains(s));
        let without = samples.filter(|s| !known.contains(*s));
        if has_row {
            let any = |s: &String| (s.clone(), Groups::ANY.to_owned());
            pairs.extend(without.map(any));
        }
        pairs
    }
    /// Where samples have no group, the cause: no ID of the table is one of the
    /// data, some are not in it, or their cells are empty. Any other failure as it is.
    pub fn cause(
        &self,
        failure: Failure,
        path: Option<&Path>,
        groups: Option<&str>,
        about: &[Column],
    ) -> Failure {
        let without_group = matches!(
            &failure,
            Failure::Model(e) if matches!(e.kind(), polyview::ErrorKind::Data(DataError::NoGroup { .. }))
        );
        let (Some(path), Some(groups), Some(samples)) = (path, groups, &self.samples) else {
            return failure;
        };
        let of_groups = about.iter().find(|(_, c)| c.name == groups);
        match of_groups {
            Some((ids, column)) if without_group => Failure::Groups {
                path: path.to_owned(),
                what: strangers(about, samples, std::iter::empty())
                    .unwrap_or_else(|| lacking(samples, ids, column)),
            },
            _ => failure,
        }
    }
}

/// Which samples have no group, and why.
fn lacking(samples: &[String], ids: &[String], column: &Metadata) -> String {
    let rows: HashMap<&String, Option<String>> = ids.iter().zip(group_names(column)).collect();
    let absent: Vec<&String> = samples.iter().filter(|s| !rows.contains_key(s)).collect();
    let blank = |s: &&String| rows.get(s).is_some_and(Option::is_none);
    let empty: Vec<&String> = samples.iter().filter(blank).collect();
    let mut out = Vec::new();
    if let Some(first) = empty.first() {
        out.push(format!(
            "column '{}' is empty for {} of the {} samples, first '{first}'; fill these cells",
            column.name,
            empty.len(),
            samples.len()
        ));
    }
    if let Some(first) = absent.first() {
        out.push(format!(
            "{} of the {} samples of the data are not in it, first '{first}'; add a row for each",
            absent.len(),
            samples.len()
        ));
    }
    out.join(", and ")
}

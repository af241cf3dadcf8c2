//! Joining tables into a data set by sample ID.

use std::collections::{HashMap, HashSet};

use serde::{Deserialize, Serialize};

use super::align::{align, align_sparse, group, places, without_empty};
use super::names::{self, Names};
use super::numbered;
use super::{Dataset, Metadata, Table, View, ViewTable};
use crate::error::DataError;
use crate::journal::{Event, Journal};

/// Which samples a data set keeps when its views do not have the same ones.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Join {
    /// Every sample that any view has; a view it lacks is missing for it.
    #[default]
    Union,
    /// Only samples that every view has.
    Intersection,
}

/// Builds a [`Dataset`] from tables, checking every name on the way.
///
/// Samples are ordered by first appearance (first table first); nothing is
/// sorted.
#[derive(Clone, Debug, Default)]
pub struct DatasetBuilder {
    tables: Vec<ViewTable>,
    trials: Vec<Table>,
    ends: Vec<Table>,
    join: Join,
    new_samples: bool,
    numbered: HashSet<String>,
    similarities: HashSet<String>,
    groups: Option<Vec<(String, String)>>,
    metadata: Vec<(Vec<String>, Metadata)>,
}

impl DatasetBuilder {
    /// An empty builder.
    pub fn new() -> Self {
        Self::default()
    }
    /// Adds a view, dense ([`Table`]) or sparse ([`SparseTable`](super::SparseTable)).
    #[must_use]
    pub fn view(mut self, table: impl Into<ViewTable>) -> Self {
        self.tables.push(table.into());
        self
    }
    /// Gives the view of the same name as the table its numbers of trials: the
    /// view then holds counts of successes. Samples and features are matched by
    /// name.
    #[must_use]
    pub fn trials(mut self, table: Table) -> Self {
        self.trials.push(table);
        self
    }
    /// Gives cells of the view of the same name as the table their other ends, `NaN` where the
    /// value is exact ([`View::with_ends`]). Samples and features are matched by name.
    #[must_use]
    pub fn ends(mut self, table: Table) -> Self {
        self.ends.push(table);
        self
    }
    /// Chooses which samples are kept.
    #[must_use]
    pub fn join(mut self, join: Join) -> Self {
        self.join = join;
        self
    }
    /// Says that these are new samples for a fitted model, which sees each of them
    /// alone: views need not share samples, and samples and views without an
    /// observed value are kept. Such a data set is for projections and
    /// predictions; fits refuse what has nothing observed.
    #[must_use]
    pub fn new_samples(mut self) -> Self {
        self.new_samples = true;
        self
    }
    /// Says that the samples of the view of that name have no IDs: what its table has
    /// are the numbers of its rows ([`Table::samples`] of a reader that made them up).
    /// Such a view is joined by place alone, with views of the same number of rows
    /// that have no IDs either or whose IDs are those very numbers; the journal says
    /// so.
    #[must_use]
    pub fn numbered(mut self, view: impl Into<String>) -> Self {
        self.numbered.insert(view.into());
        self
    }
    /// Says that the view of that name holds similarities: its features are samples themselves. What is said of names
    /// that do not meet follows that, and nothing else.
    #[must_use]
    pub fn similarities(mut self, view: impl Into<String>) -> Self {
        self.similarities.insert(view.into());
        self
    }
    /// Gives each sample a group: pairs of sample ID and group name.
    #[must_use]
    pub fn groups(mut self, of_sample: Vec<(String, String)>) -> Self {
        self.groups = Some(of_sample);
        self
    }
    /// Adds a metadata column: sample IDs and one value each.
    #[must_use]
    pub fn metadata(mut self, samples: Vec<String>, column: Metadata) -> Self {
        self.metadata.push((samples, column));
        self
    }

    /// Joins the tables. Unless they are [new samples](Self::new_samples), samples
    /// without an observed value in any view are left out;
    /// [`Dataset::journal`] names them.
    ///
    /// # Errors
    /// [`DataError`]: no view, an empty view, names that do not match the
    /// matrix, a duplicate view, sample or feature, an infinite value or one too
    /// large to be squared, no sample left after the join, a sample without a
    /// group, class codes that do not fit their class names, trials of an unknown
    /// view or fewer than successes, [numbered](Self::numbered) rows that would be
    /// joined with IDs or with another number of rows; and unless they are
    /// [new samples](Self::new_samples) views that share no sample, and a view
    /// with nothing observed.
    pub fn build(self) -> Result<Dataset, DataError> {
        if self.tables.is_empty() {
            return Err(DataError::NoViews);
        }
        let mut names = HashSet::new();
        for table in &self.tables {
            check(table)?;
            if !names.insert(table.name().to_owned()) {
                return Err(DataError::DuplicateView {
                    view: table.name().to_owned(),
                });
            }
        }
        let by_place = numbered::check(&self.tables, &self.numbered, self.about())?;
        let samples = self.joined_samples()?;
        let mut journal = Journal::default();
        if let Some(note) = by_place {
            journal.note(0, "data", Event::Data { note });
        }
        if let Some(note) = names::advice(&self.names()) {
            journal.note(0, "data", Event::Warning { note });
        }
        // new samples need not be those of another view
        for note in names::strangers(&self.names()).filter(|_| !self.new_samples) {
            journal.note(0, "data", Event::Warning { note });
        }
        let index = places(&samples);
        let mut views = Vec::with_capacity(self.tables.len());
        for table in self.tables {
            views.push(match table {
                ViewTable::Dense(table) => align(table, &samples, &index)?,
                ViewTable::Sparse(table) => align_sparse(table, &samples, &index),
            });
        }
        for table in self.trials {
            let (at, table) = beside(table, &views)?;
            views[at] = super::trials::align(views[at].clone(), &table, &index)?;
        }
        for table in self.ends {
            let (at, table) = beside(table, &views)?;
            views[at] = super::ends::align(views[at].clone(), &table, &index)?;
        }
        drop(index);
        for view in &views {
            view.check_magnitude(|n| samples[n].clone())?;
            if !self.new_samples {
                view.check_any_observed()?;
            }
        }
        let samples = if self.new_samples {
            samples
        } else {
            without_empty(samples, &mut views, &mut journal)
        };
        let groups = self.groups.as_ref();
        let groups = groups.map(|g| group(g, &samples)).transpose()?;
        let metadata = self
            .metadata
            .iter()
            .map(|(ids, column)| column.aligned(ids, &samples))
            .collect::<Result<Vec<_>, _>>()?;
        Ok(Dataset::assemble(samples, views, groups, metadata, journal))
    }

    /// The IDs of groups and of columns of metadata.
    fn about(&self) -> impl Iterator<Item = Vec<&String>> {
        let groups = self.groups.iter();
        let groups = groups.map(|g| g.iter().map(|(s, _)| s).collect());
        groups.chain(self.metadata.iter().map(|(ids, _)| ids.iter().collect()))
    }

    /// The names in the tables.
    fn names(&self) -> Vec<Names<'_>> {
        let of = |t| {
            let t: &ViewTable = t;
            Names {
                view: t.name(),
                samples: t.samples(),
                features: t.features(),
                of_samples: self.similarities.contains(t.name()),
            }
        };
        self.tables.iter().map(of).collect()
    }

    fn joined_samples(&self) -> Result<Vec<String>, DataError> {
        let mut count: HashMap<&str, usize> = HashMap::new();
        let mut order = Vec::new();
        for table in &self.tables {
            for s in table.samples() {
                let seen = count.entry(s).or_default();
                if *seen == 0 {
                    order.push(s.clone());
                }
                *seen += 1;
            }
        }
        let apart = self.tables.len() > 1 && count.values().all(|&c| c == 1);
        if apart && !self.new_samples {
            return Err(DataError::NoSharedSamples {
                views: self.tables.iter().map(|t| t.name().to_owned()).collect(),
                examples: self.tables.iter().map(|t| t.samples()[0].clone()).collect(),
                advice: names::advice(&self.names()),
            });
        }
        if self.join == Join::Intersection {
            order.retain(|s| count[s.as_str()] == self.tables.len());
            if order.is_empty() {
                return Err(DataError::EmptyIntersection {
                    views: self.tables.iter().map(|t| t.name().to_owned()).collect(),
                });
            }
        }
        Ok(order)
    }
}

/// A table of what stands beside the values of a view, and the place of that view.
fn beside(table: Table, views: &[View]) -> Result<(usize, Table), DataError> {
    let table = ViewTable::Dense(table);
    check(&table)?;
    let at = views.iter().position(|v| v.name() == table.name());
    match (at, table) {
        (Some(at), ViewTable::Dense(table)) => Ok((at, table)),
        (_, table) => Err(DataError::UnknownView {
            view: table.name().to_owned(),
        }),
    }
}

fn check(table: &ViewTable) -> Result<(), DataError> {
    let view = || table.name().to_owned();
    let (samples, features) = (table.samples(), table.features());
    let (rows, columns) = table.shape();
    for (what, expected, found) in [
        ("sample IDs", rows, samples.len()),
        ("feature names", columns, features.len()),
    ] {
        if expected != found {
            return Err(DataError::LengthMismatch {
                view: view(),
                what,
                expected,
                found,
            });
        }
    }
    if samples.is_empty() || features.is_empty() {
        return Err(DataError::EmptyView { view: view() });
    }
    let mut seen = HashMap::new();
    for (row, s) in samples.iter().enumerate() {
        if let Some(first) = seen.insert(s.as_str(), row) {
            return Err(DataError::DuplicateSample {
                view: view(),
                sample: s.clone(),
                first,
                second: row,
            });
        }
    }
    seen.clear();
    for (column, f) in features.iter().enumerate() {
        if let Some(first) = seen.insert(f.as_str(), column) {
            return Err(DataError::DuplicateFeature {
                view: view(),
                feature: f.clone(),
                first,
                second: column,
            });
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use polyview_linalg::Mat;

    use super::super::{MetadataValues, SparseTable};
    use super::*;

    fn table(name: &str, samples: &[&str], cell: impl Fn(usize, usize) -> f64) -> Table {
        Table {
            name: name.to_owned(),
            samples: samples.iter().map(|s| (*s).to_owned()).collect(),
            features: vec!["f".to_owned(), "g".to_owned()],
            values: Mat::from_fn(samples.len(), 2, cell),
            levels: Vec::new(),
        }
    }

    #[test]
    fn samples_without_a_value_are_left_out_and_named() {
        let holes = |n: usize, d: usize| {
            if n.is_multiple_of(2) {
                f64::NAN
            } else {
                (n + d) as f64
            }
        };
        let a = table("a", &["s0", "s1", "s2", "s3", "s4"], holes);
        let b = table("b", &["s4", "s1"], |n, _| n as f64);
        let groups = [("s1", "x"), ("s3", "y"), ("s4", "x"), ("s0", "z")];
        let groups = groups.map(|(s, g)| (s.to_owned(), g.to_owned())).to_vec();
        let column = Metadata {
            name: "age".to_owned(),
            values: MetadataValues::Numbers(vec![1.0, 2.0, 3.0]),
        };
        let ids = ["s0", "s1", "s4"].map(str::to_owned).to_vec();
        let whole = Dataset::builder()
            .view(a)
            .view(b)
            .groups(groups)
            .metadata(ids, column);
        let data = whole.clone().build().expect("data");
        assert_eq!(data.samples(), ["s1", "s3", "s4"]);
        let said: Vec<_> = data.journal().remarks().map(|(_, text)| text).collect();
        assert_eq!(
            said,
            [
                "data: view 'a' shares 2 of its 5 samples with any other view: hardly anything can be \
                 learnt of what it has in common with them from so few; check that its first column \
                 holds the same IDs, or fit it alone",
                "data: 2 sample(s) have no observed value in any view and take no part: 's0', 's2'"
            ]
        );
        assert_eq!(data.views()[0].value(1, 1), Some(4.0));
        assert_eq!(data.views()[0].value(2, 1), None);
        assert_eq!(data.views()[1].value(2, 0), Some(0.0));
        let groups = data.groups().expect("groups");
        assert_eq!(groups.of_sample, [0, 1, 0]);
        assert_eq!(groups.names, ["x", "y"]);
        let MetadataValues::Numbers(ages) = &data.metadata()[0].values else {
            panic!("numbers");
        };
        assert!(ages[0] == 2.0 && ages[1].is_nan() && ages[2] == 3.0);
        // new samples are all kept; s2 has no group
        assert_eq!(
            whole.new_samples().build(),
            Err(DataError::NoGroup {
                sample: "s2".to_owned()
            })
        );
    }

    #[test]
    fn the_cell_that_is_too_large_is_named() {
        let large = |n: usize, d: usize| if (n, d) == (1, 1) { -1e200 } else { 1.0 };
        let a = table("a", &["s0", "s1"], large);
        let sparse = SparseTable {
            name: "a".to_owned(),
            samples: a.samples.clone(),
            features: a.features.clone(),
            values: polyview_linalg::SparseColumns::from_dense(a.values.as_ref()).expect("finite"),
        };
        let error = DataError::TooLarge {
            view: "a".to_owned(),
            sample: "s1".to_owned(),
            feature: "g".to_owned(),
            value: -1e200,
        };
        assert_eq!(Dataset::builder().view(a).build(), Err(error.clone()));
        let new = Dataset::builder().view(sparse).new_samples();
        assert_eq!(new.build(), Err(error));
    }
}

//! Looking at tables of counts and at numbers of trials.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use polyview::Likelihood;
use polyview_core::{Table, ViewTable};
use polyview_io::{ReadOptions, read_table};
use polyview_linalg::Mat;

use super::archive::archive;
use crate::failure::{Failure, Outcome};

/// Counts above this are refused.
const LARGEST: f64 = 1e9;

/// Numbers of trials and their file.
pub struct Trials {
    /// The file.
    pub path: PathBuf,
    /// What stands in it, named after the view.
    pub table: Table,
}

impl Trials {
    /// Reads the numbers of trials of a view.
    pub fn read(path: &Path, options: &ReadOptions) -> Outcome<Self> {
        let (file, options) = archive(path, options.clone());
        Ok(Self {
            path: path.to_owned(),
            table: read_table(file, &options)?,
        })
    }
    /// Those of these samples and features; `NaN` where there is none.
    ///
    /// # Errors
    /// A number of trials that is none.
    pub fn matched(&self, samples: &[String], features: &[String]) -> Outcome<Mat<f64>> {
        let place = |own: &[String]| -> HashMap<String, usize> {
            let names = own.iter().cloned();
            names.enumerate().map(|(i, name)| (name, i)).collect()
        };
        let (rows, columns) = (place(&self.table.samples), place(&self.table.features));
        let mut out = Mat::full(samples.len(), features.len(), f64::NAN);
        for (d, feature) in features.iter().enumerate() {
            for (n, sample) in samples.iter().enumerate() {
                let (Some(&row), Some(&column)) = (rows.get(sample), columns.get(feature)) else {
                    continue;
                };
                let x = self.table.values[(row, column)];
                if !x.is_nan() && (x < 0.0 || x.fract() != 0.0 || x > LARGEST) {
                    return Err(Failure::Cell {
                        path: self.path.clone(),
                        sample: sample.clone(),
                        column: feature.clone(),
                        found: format!("{x} is no number of trials; give a whole number from 0 on"),
                    });
                }
                out[(n, d)] = x;
            }
        }
        Ok(out)
    }
}

/// A table of counts: whether every value may be one.
struct Counts<'a> {
    path: &'a Path,
    table: &'a ViewTable,
    /// What to do about a value that is none.
    mend: &'a str,
}

impl Counts<'_> {
    fn refuse<T>(&self, n: usize, d: usize, found: String) -> Outcome<T> {
        refuse(self.path, self.table, n, d, found)
    }
    fn check(&self, n: usize, d: usize, x: f64) -> Outcome<()> {
        let mend = self.mend;
        if x < 0.0 {
            return self.refuse(n, d, format!("{x} is negative, which no count is; {mend}"));
        }
        if x.fract() != 0.0 {
            let found = format!("{x} is not a whole number, as counts are; {mend}");
            return self.refuse(n, d, found);
        }
        if x > LARGEST {
            let found = format!("{x} is above 1000000000, the largest count taken; {mend}");
            return self.refuse(n, d, found);
        }
        Ok(())
    }
}

fn refuse<T>(path: &Path, table: &ViewTable, n: usize, d: usize, found: String) -> Outcome<T> {
    Err(Failure::Cell {
        path: path.to_owned(),
        sample: table.samples()[n].clone(),
        column: table.features()[d].clone(),
        found,
    })
}

/// Refuses what is no count, of which `mend` says what to do about it, and successes
/// without as many trials.
pub fn check(
    path: &Path,
    table: &ViewTable,
    (likelihood, mend): (&Likelihood, &str),
    trials: Option<&Trials>,
) -> Outcome<()> {
    let counts = Counts { path, table, mend };
    let trials_of = trials.map(|t| (t, places(t, table)));
    let apart = trials_of.as_ref().and_then(|(t, (rows, columns))| {
        apart(
            [&t.table.samples, &t.table.features],
            [(rows, table.samples()), (columns, table.features())],
        )
    });
    for (n, d, x) in table.cells().filter(|c| !c.2.is_nan()) {
        counts.check(n, d, x)?;
        match &trials_of {
            Some((t, (rows, columns))) => {
                if let Some(what) = &apart {
                    return Err(Failure::Tables {
                        first: t.path.clone(),
                        second: path.to_owned(),
                        what: what.clone(),
                    });
                }
                enough(&counts, t, x, (n, rows[n]), (d, columns[d]))?;
            }
            None if likelihood.has_trials() && x > 1.0 => {
                let found = format!(
                    "{x} successes, but each is out of one trial where no numbers of trials are given; \
                     add --trials {}=FILE, or choose negative-binomial",
                    table.name()
                );
                return counts.refuse(n, d, found);
            }
            None => {}
        }
    }
    Ok(())
}

/// What is wrong with numbers of trials none of whose samples, or none of whose features, is one of the counts.
fn apart(trials: [&[String]; 2], counts: [(&Vec<Option<usize>>, &[String]); 2]) -> Option<String> {
    let first = |names: &[String]| names.first().cloned().unwrap_or_default();
    let mut all = ["sample", "feature"].into_iter().zip(trials).zip(counts);
    let ((what, own), (_, theirs)) =
        all.find(|(_, (places, _))| places.iter().all(Option::is_none))?;
    Some(format!(
        "no {what} of the trials is one of the counts (first ones: '{}' and '{}'); numbers of trials are a table like that of \
         the counts, with samples in rows, or, with --transposed, in columns of both",
        first(own),
        first(theirs)
    ))
}

/// Rows and columns of the trials for those of the counts.
fn places(trials: &Trials, counts: &ViewTable) -> (Vec<Option<usize>>, Vec<Option<usize>>) {
    let of = |own: &[String], wanted: &[String]| {
        let place: std::collections::HashMap<&str, usize> = own
            .iter()
            .enumerate()
            .map(|(i, s)| (s.as_str(), i))
            .collect();
        wanted
            .iter()
            .map(|s| place.get(s.as_str()).copied())
            .collect()
    };
    (
        of(&trials.table.samples, counts.samples()),
        of(&trials.table.features, counts.features()),
    )
}

/// Refuses fewer trials than successes, and none.
fn enough(
    counts: &Counts<'_>,
    trials: &Trials,
    y: f64,
    (n, row): (usize, Option<usize>),
    (d, column): (usize, Option<usize>),
) -> Outcome<()> {
    let of = match (row, column) {
        (Some(r), Some(c)) => trials.table.values[(r, c)],
        _ => f64::NAN,
    };
    if of >= y && of > 0.0 && of.fract() == 0.0 && of <= LARGEST {
        return Ok(());
    }
    let mend = "correct one of them, or leave both cells empty";
    let found = if of.is_nan() {
        format!("no number of trials for {y} success(es); give one, or leave both cells empty")
    } else if of < y {
        format!("{of} trial(s) are below {y} success(es); {mend}")
    } else {
        format!("{of} is no number of trials (a whole number from 1 to 1000000000); {mend}")
    };
    refuse(&trials.path, counts.table, n, d, found)
}

//! Truth and predictions, matched by sample ID and column name.

use std::collections::{HashMap, HashSet};
use std::path::{Path, PathBuf};

use polyview::Limit;
use polyview_core::Table;
use polyview_io::{IoError, ReadOptions, read_table};
use polyview_linalg::Mat;

use crate::args::Cli;
use crate::commands::columns::MEAN_LOG;
use crate::detection::{Given, check_features};
use crate::failure::{Failure, Outcome};
use crate::inputs::{archive, is_censored, same_or_named};
use crate::remarks::say;

/// A table and its file.
pub struct Read {
    /// The file.
    pub path: PathBuf,
    /// What stands in it.
    pub table: Table,
}

/// Why the table of truth or predictions has no limits and intervals, and the mend.
const SCORED: &str = "no prediction of it can be scored; empty all such cells to score the exact ones, or have 'polyview \
                      cross-validate --target' leave them out";
/// Why that of training has none, and the mend.
const AVERAGED: &str = "it has no place in the means of the training values, against which R2 is; empty all such cells to have the \
                        means of the exact ones, or leave --training out";

impl Read {
    /// Reads numbers that are scored. Where a cell is a limit or an interval the error says so: nobody knows how far
    /// off a prediction is there.
    pub fn numbers(path: &Path, options: &ReadOptions) -> Outcome<Self> {
        Self::exact(path, options, SCORED)
    }
    /// Reads the training values.
    pub fn training(path: &Path, options: &ReadOptions) -> Outcome<Self> {
        Self::exact(path, options, AVERAGED)
    }
    /// Reads numbers; `why` nothing else can be there.
    fn exact(path: &Path, options: &ReadOptions, why: &str) -> Outcome<Self> {
        let (file, options) = archive(path, options.clone());
        let table = read_table(file, &options).map_err(|e| match e {
            IoError::NotNumber { cell, .. } if is_censored(&cell.text, options.decimal) => {
                Failure::Cell {
                    path: path.to_owned(),
                    sample: cell.line_name,
                    column: cell.column_name,
                    found: format!(
                        "'{}' is censored: it says where the value lies, not what it is, so that {why}",
                        cell.text
                    ),
                }
            }
            other => other.into(),
        })?;
        Ok(Self {
            path: path.to_owned(),
            table,
        })
    }
}

impl Read {
    /// Empties the cells at limits of detection or beyond them, of which nobody knows how far off a
    /// prediction is; says how many there are of those that are predicted.
    pub fn hide_beyond(&mut self, cli: &Cli, given: &Given, predicted: &Self) -> Outcome<()> {
        if let Some(path) = &given.path {
            check_features(&given.limits, path, (&self.path, &self.table.features))?;
        }
        let mut hidden = 0;
        let Table {
            samples, features, ..
        } = &predicted.table;
        let samples: HashSet<&String> = samples.iter().collect();
        let features: HashSet<&String> = features.iter().collect();
        for (d, feature) in self.table.features.iter().enumerate() {
            let Limit { lower, upper } = given.limits.of(feature);
            let rows = self.table.samples.iter();
            for (x, sample) in self.table.values.col_as_slice_mut(d).iter_mut().zip(rows) {
                if lower.is_some_and(|l| *x <= l) || upper.is_some_and(|u| *x >= u) {
                    *x = f64::NAN;
                    let counts = samples.contains(sample) && features.contains(feature);
                    hidden += usize::from(counts);
                }
            }
        }
        if hidden > 0 {
            say(
                cli,
                format!(
                    "note: {hidden} value(s) of {} are at their limits or beyond and were not scored",
                    self.path.display()
                ),
            );
        }
        Ok(())
    }
}

/// Names that two files share, with their places in each.
pub struct Shared {
    /// The names, in the order of the first file.
    pub names: Vec<String>,
    /// Places in the first file.
    pub first: Vec<usize>,
    /// Places in the second file.
    pub second: Vec<usize>,
}

/// Matches names; says which were left out.
///
/// # Errors
/// When no name is in both files.
pub fn shared(
    cli: &Cli,
    what: &str,
    (first, a): (&Path, &[String]),
    (second, b): (&Path, &[String]),
) -> Outcome<Shared> {
    let place: HashMap<&str, usize> = b.iter().enumerate().map(|(i, n)| (n.as_str(), i)).collect();
    let mut out = Shared {
        names: Vec::new(),
        first: Vec::new(),
        second: Vec::new(),
    };
    let mut lacking = Vec::new();
    for (i, name) in a.iter().enumerate() {
        if let Some(&j) = place.get(name.as_str()) {
            out.names.push(name.clone());
            out.first.push(i);
            out.second.push(j);
        } else {
            lacking.push(name);
        }
    }
    if out.names.is_empty() {
        return Err(Failure::Tables {
            first: first.to_owned(),
            second: second.to_owned(),
            what: format!(
                "no {what} is in both (first ones: '{}' and '{}'); give the same names to both",
                a.first().map_or("", String::as_str),
                b.first().map_or("", String::as_str)
            ),
        });
    }
    if let Some(name) = lacking.first() {
        say(
            cli,
            format!(
                "note: {} {what}(s) of {} are not in {} and were not scored, first '{name}'",
                lacking.len(),
                first.display(),
                second.display()
            ),
        );
    }
    let extra = b.len() - out.names.len();
    if extra > 0 {
        say(
            cli,
            format!(
                "note: {extra} {what}(s) of {} are not in {} and were not scored",
                second.display(),
                first.display()
            ),
        );
    }
    Ok(out)
}

/// Cells of the truth and the predictions for them.
pub struct Cells {
    /// Sample IDs, one a row.
    pub samples: Vec<String>,
    /// Column names.
    pub columns: Vec<String>,
    /// Truth, samples × columns; `NaN` where unknown.
    pub truth: Mat<f64>,
    /// Predictions, one matrix a file.
    pub predicted: Vec<Mat<f64>>,
}

/// Refuses predictions of times to an event: where the event was not seen, the truth's time is only the end
/// of watching.
fn no_times(truth: &Read, predicted: &Read) -> Outcome<()> {
    let columns = &predicted.table.features;
    let is_time = |f: &&String| columns.contains(&format!("{f}{MEAN_LOG}"));
    let Some(feature) = columns.iter().find(is_time) else {
        return Ok(());
    };
    Err(Failure::Tables {
        first: truth.path.clone(),
        second: predicted.path.clone(),
        what: format!(
            "'{feature}' is a predicted time to an event, and a known time may be no more than the end of watching; score such views with --kind survival, or 'polyview cross-validate --target' (C-index and Brier score)"
        ),
    })
}

/// Matches the truth with several files of predictions.
///
/// # Errors
/// When nothing is shared, or a prediction is lacking where the truth is known.
pub fn cells(cli: &Cli, truth: &Read, predictions: &[&Read]) -> Outcome<Cells> {
    let mut samples: Vec<usize> = (0..truth.table.samples.len()).collect();
    let mut columns: Vec<usize> = (0..truth.table.features.len()).collect();
    let pick = |names: &[String], places: &[usize]| -> Vec<String> {
        places.iter().map(|&i| names[i].clone()).collect()
    };
    for p in predictions {
        no_times(truth, p)?;
        let [a, b] = [truth, *p].map(|t| (t.path.as_path(), t.table.samples.as_slice()));
        same_or_named(a, b)?;
        for (what, kept, own, others) in [
            (
                "sample",
                &mut samples,
                &truth.table.samples,
                &p.table.samples,
            ),
            (
                "column",
                &mut columns,
                &truth.table.features,
                &p.table.features,
            ),
        ] {
            let names = pick(own, kept);
            let s = shared(cli, what, (&truth.path, &names), (&p.path, others))?;
            *kept = s.first.iter().map(|&i| kept[i]).collect();
        }
    }
    let blank = unpredicted(predictions, &pick(&truth.table.features, &columns));
    if blank.len() < columns.len() {
        if let Some(first) = blank.first() {
            say(
                cli,
                format!(
                    "note: {} column(s) have no prediction at all and were not scored, first '{first}': features without a training value have none",
                    blank.len()
                ),
            );
        }
        columns.retain(|&d| !blank.contains(&truth.table.features[d]));
    }
    let samples_kept = pick(&truth.table.samples, &samples);
    let columns_kept = pick(&truth.table.features, &columns);
    let known = Mat::from_fn(samples.len(), columns.len(), |n, d| {
        truth.table.values[(samples[n], columns[d])]
    });
    let mut predicted = Vec::with_capacity(predictions.len());
    for p in predictions {
        predicted.push(matched(p, &samples_kept, &columns_kept, &known)?);
    }
    Ok(Cells {
        samples: samples_kept,
        columns: columns_kept,
        truth: known,
        predicted,
    })
}

/// The columns that have no value in any of the files.
fn unpredicted(predictions: &[&Read], columns: &[String]) -> Vec<String> {
    let blank = |p: &&Read| -> HashSet<String> {
        let names = p.table.features.iter().enumerate();
        let empty = names.filter(|(d, _)| p.table.values.col(*d).iter().all(|x| x.is_nan()));
        empty.map(|(_, name)| name.clone()).collect()
    };
    let blank: Vec<HashSet<String>> = predictions.iter().map(blank).collect();
    let everywhere = |name: &&String| blank.iter().all(|b| b.contains(*name));
    columns.iter().filter(everywhere).cloned().collect()
}

/// The values of a file for these samples and columns.
fn matched(
    p: &Read,
    samples: &[String],
    columns: &[String],
    truth: &Mat<f64>,
) -> Outcome<Mat<f64>> {
    let places = |own: &[String], wanted: &[String]| -> Vec<Option<usize>> {
        let place: HashMap<&str, usize> = own
            .iter()
            .enumerate()
            .map(|(i, n)| (n.as_str(), i))
            .collect();
        wanted
            .iter()
            .map(|n| place.get(n.as_str()).copied())
            .collect()
    };
    let rows = places(&p.table.samples, samples);
    let of = places(&p.table.features, columns);
    let values = Mat::from_fn(samples.len(), columns.len(), |n, d| {
        match (rows[n], of[d]) {
            (Some(n), Some(d)) => p.table.values[(n, d)],
            _ => f64::NAN,
        }
    });
    for (d, column) in columns.iter().enumerate() {
        for (n, sample) in samples.iter().enumerate() {
            if values[(n, d)].is_nan() && !truth[(n, d)].is_nan() {
                return Err(Failure::Cell {
                    path: p.path.clone(),
                    sample: sample.clone(),
                    column: column.clone(),
                    found: "the cell is empty; predict it, or empty it in the truth".into(),
                });
            }
        }
    }
    Ok(values)
}

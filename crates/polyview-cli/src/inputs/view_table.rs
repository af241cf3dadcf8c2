//! The table of one view, and what is said of cells that its likelihood does not take.

use std::path::Path;

use polyview::Likelihood;
use polyview_core::ViewTable;
use polyview_io::{IoError, NumberHint, ReadOptions, read_table, read_view};

use super::archive::archive;
use super::counts::{self, Trials};
use super::guess::{as_classes, is_bit};
use super::levels;
use super::limits::{self, ViewCells};
use crate::failure::{Failure, Outcome};
use crate::hdf5;
use crate::study::{Source, Study};

/// How the data of a view arise, and who said so.
#[derive(Clone, Copy, Debug)]
pub enum Likely<'a> {
    /// Asked for: a fit may have another.
    Asked(&'a Likelihood),
    /// That of a model, which stands.
    OfModel {
        /// The likelihood.
        likelihood: &'a Likelihood,
        /// Whether the model knows its zeros and ones by words.
        labels: bool,
    },
}

impl<'a> Likely<'a> {
    fn likelihood(self) -> &'a Likelihood {
        match self {
            Self::Asked(likelihood) | Self::OfModel { likelihood, .. } => likelihood,
        }
    }
    /// What to do about a cell that a view does not take.
    fn mend(self, view: &str) -> String {
        let (likelihood, labels) = match self {
            Self::Asked(likelihood) => {
                let other = if likelihood.is_positive() {
                    "give limits of detection as such and fit the view as censored (<0.05), or fit it as gaussian"
                } else if likelihood.is_ordered() {
                    "say the words of the levels in their order (ordinal{levels=low;mid;high})"
                } else if likelihood.is_label() {
                    "fit the view as gaussian (numbers) or categorical (one column of classes)"
                } else {
                    "fit the view as gaussian"
                };
                return format!("correct it, leave the cell empty, or {other}");
            }
            Self::OfModel { likelihood, labels } => (likelihood, labels),
        };
        let takes = if likelihood.is_ordered() {
            "whole numbers from 1 on, or its words"
        } else if likelihood.is_label() {
            "0 and 1"
        } else if likelihood.is_count() {
            "whole numbers from 0 on"
        } else if likelihood.is_positive() {
            "numbers above 0"
        } else {
            "numbers"
        };
        let words = if labels {
            "; its words are given with --labels FILE"
        } else {
            ""
        };
        format!(
            "view '{view}' is {likelihood} in this model and takes {takes}: correct it, or leave the cell empty{words}"
        )
    }
}

/// The cells of a view of that likelihood.
pub fn view(
    path: &Path,
    options: &ReadOptions,
    likely: Likely<'_>,
    trials: Option<&Trials>,
) -> Outcome<ViewCells> {
    let (name, likelihood) = (
        options.name.clone().unwrap_or_default(),
        likely.likelihood(),
    );
    let classes = likelihood.has_classes();
    let inside = hdf5::table(path, &name, options, classes)?;
    let (file, options) = &archive(path, options.clone());
    if classes {
        return match inside {
            Some(table) => Ok(table.into()),
            None => Ok(ViewTable::from(read_table(file, &as_classes(options))?).into()),
        };
    }
    let mend = likely.mend(&name);
    let words = likelihood.level_words();
    if inside.is_none() && !words.is_empty() {
        return Ok(levels::of_words(path, file, options, &words)?.into());
    }
    if inside.is_none() && likelihood.is_censored() {
        return limits::read(path, file, options, likelihood);
    }
    let table = match (inside, likely) {
        (Some(table), _) => table,
        (None, Likely::Asked(_)) => read_view(file, options)?,
        (None, Likely::OfModel { .. }) => {
            let read = read_view(file, options);
            read.map_err(|e| {
                if !are_words(&e) {
                    return e.into();
                }
                let (source, mend) = (Box::new(e), mend.clone());
                Failure::Words { source, mend }
            })?
        }
    };
    if likelihood.is_label() {
        zeros_and_ones(path, &table, &mend)?;
    }
    if likelihood.is_ordered() {
        levels::whole(path, &table, likelihood, &mend)?;
    }
    if likelihood.is_count() {
        counts::check(path, &table, (likelihood, &mend), trials)?;
    }
    if likelihood.is_positive() {
        above_zero(path, &table, &mend)?;
    }
    let odd = matches!(likely, Likely::Asked(_)).then(|| levels::gap(path, &table, likelihood));
    let mut cells = ViewCells::from(table);
    cells.warnings.extend(odd.flatten());
    Ok(cells)
}

/// Whether a table of numbers was refused for its words.
fn are_words(error: &IoError) -> bool {
    matches!(
        error,
        IoError::NotNumber {
            hint: NumberHint::Words,
            ..
        }
    )
}

/// Says how the model of a study takes words, where they stand in a table of numbers.
pub fn words(study: &Study, source: &Source, likelihood: &Likelihood, error: Failure) -> Failure {
    let Failure::Io(error) = error else {
        return error;
    };
    if !are_words(&error) {
        return error.into();
    }
    let (name, path) = (&source.name, source.path.display());
    let label = likelihood.is_label() && !likelihood.has_classes();
    let of_labels = if label {
        likelihood.name()
    } else {
        "bernoulli"
    };
    let model = match study.model.model.as_str() {
        "bibfa" | "mofapy2" if !label => "with --model sshiba ",
        _ => "",
    };
    if let IoError::NotNumber { cell, .. } = &error
        && cell.text.trim_start().starts_with(['<', '>', '['])
    {
        let mend = format!(
            "limits such as <0.05, >1300 and [2,5] are read with --view '{name}={path}:censored'"
        );
        let source = Box::new(error);
        return Failure::Words { source, mend };
    }
    if likelihood.is_ordered() {
        let mend = format!(
            "say the words of the levels in their order: --view '{name}={path}:{}{{levels=low;mid;high}}'",
            likelihood.name()
        );
        let source = Box::new(error);
        return Failure::Words { source, mend };
    }
    let classes = format!("one column of class names is {model}--view {name}={path}:categorical");
    let labels = format!("labels of two words, a view a column, are --labels {path}:{of_labels}");
    let mend = if label {
        format!("{labels}; {classes}")
    } else {
        format!("{classes}; {labels}")
    };
    Failure::Words {
        source: Box::new(error),
        mend,
    }
}

/// Refuses a value that is not above 0; `mend` says what to do about it.
fn above_zero(path: &Path, table: &ViewTable, mend: &str) -> Outcome<()> {
    match table.cells().find(|c| c.2 <= 0.0) {
        Some((n, d, x)) => Err(Failure::Cell {
            path: path.to_owned(),
            sample: table.samples()[n].clone(),
            column: table.features()[d].clone(),
            found: format!("{x} is not above 0; {mend}"),
        }),
        None => Ok(()),
    }
}

/// Refuses a value that is neither 0 nor 1; `mend` says what to do about it.
pub fn zeros_and_ones(path: &Path, table: &ViewTable, mend: &str) -> Outcome<()> {
    match table.cells().find(|c| !c.2.is_nan() && !is_bit(c.2)) {
        Some((n, d, x)) => Err(Failure::Cell {
            path: path.to_owned(),
            sample: table.samples()[n].clone(),
            column: table.features()[d].clone(),
            found: format!("{x} is neither 0 nor 1; {mend}"),
        }),
        None => Ok(()),
    }
}

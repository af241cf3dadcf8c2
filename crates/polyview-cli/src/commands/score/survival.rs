//! Times to an event.

use std::path::Path;

use polyview::metrics::{EventTime, concordance, event_times, integrated_brier};
use polyview_io::{ReadOptions, StringTable, read_string_table};
use serde_json::json;

use super::join::shared;
use super::{figures, print_json, undefined};
use crate::args::{Cli, ScoreArgs};
use crate::commands::columns::{MEAN_LOG, SURVIVAL};
use crate::failure::{Failure, Outcome};
use crate::inputs::{event_came, event_time};
use crate::output::{line, number};

/// The two columns of a table of times.
struct Columns<'a> {
    path: &'a Path,
    table: &'a StringTable,
    time: &'a str,
    of_time: &'a [Option<String>],
    event: &'a str,
    of_event: &'a [Option<String>],
}

impl<'a> Columns<'a> {
    fn of(args: &'a ScoreArgs, path: &'a Path, table: &'a StringTable) -> Outcome<Self> {
        let column = |name: &str, option: &str| {
            table.column(name).ok_or_else(|| {
                Failure::Usage(format!(
                    "'{}' has no column '{name}'; it has {}: say which it is with {option} COLUMN",
                    path.display(),
                    table.columns.join(", ")
                ))
            })
        };
        let time = args.time.as_deref().unwrap_or("time");
        let event = args.event.as_deref().unwrap_or("event");
        Ok(Self {
            of_time: column(time, "--time")?,
            of_event: column(event, "--event")?,
            path,
            table,
            time,
            event,
        })
    }
    /// What a row says; none where a cell is empty.
    fn at(&self, args: &ScoreArgs, row: usize) -> Outcome<Option<EventTime>> {
        let (Some(time), Some(event)) = (&self.of_time[row], &self.of_event[row]) else {
            return Ok(None);
        };
        let wrong = |column: &str, found: String| Failure::Cell {
            path: self.path.to_owned(),
            sample: self.table.samples[row].clone(),
            column: column.to_owned(),
            found,
        };
        let decimal = args.format.options().decimal;
        let time = event_time(time, decimal).map_err(|found| wrong(self.time, found))?;
        let came = event_came(event).map_err(|found| wrong(self.event, found))?;
        Ok(Some(EventTime { time, event: came }))
    }
    fn all(&self, args: &ScoreArgs) -> Outcome<Vec<EventTime>> {
        let rows = 0..self.table.samples.len();
        let all: Outcome<Vec<Option<EventTime>>> = rows.map(|row| self.at(args, row)).collect();
        Ok(all?.into_iter().flatten().collect())
    }
}

/// The numbers of a column of predictions in some rows.
fn numbers(args: &ScoreArgs, table: &StringTable, name: &str, rows: &[usize]) -> Outcome<Vec<f64>> {
    let cells = table.column(name).ok_or_else(|| Failure::Usage(format!(
        "'{}' has no column '{name}', the predicted times; predict a survival view, or say which column of the truth it is of: --time COLUMN",
        args.predicted.display()
    )))?;
    let number = |row: &usize| {
        let text = cells[*row].as_deref().unwrap_or("");
        let x: Option<f64> = text.parse().ok();
        x.filter(|x| x.is_finite()).ok_or_else(|| Failure::Cell {
            path: args.predicted.clone(),
            sample: table.samples[*row].clone(),
            column: name.to_owned(),
            found: format!("'{text}' is no number; predict the view again"),
        })
    };
    rows.iter().map(number).collect()
}

/// The times of columns of probabilities, in order, with their names.
fn curves(table: &StringTable, time: &str) -> Vec<(f64, String)> {
    let start = format!("{time}{SURVIVAL}");
    let named = table.columns.iter();
    let mut out: Vec<(f64, String)> = named
        .filter_map(|name| Some((name.strip_prefix(&start)?.parse().ok()?, name.clone())))
        .collect();
    out.sort_by(|a, b| a.0.total_cmp(&b.0));
    out
}

/// Scores predicted times, and the probabilities that the event comes later.
pub fn run(cli: &Cli, args: &ScoreArgs) -> Outcome<()> {
    let options = args.format.options();
    let truth = read_string_table(&args.truth, &options)?;
    let predicted = read_string_table(&args.predicted, &ReadOptions::default())?;
    let own = Columns::of(args, &args.truth, &truth)?;
    let both = shared(
        cli,
        "sample",
        (&args.truth, &truth.samples),
        (&args.predicted, &predicted.samples),
    )?;
    let (mut known, mut rows) = (Vec::new(), Vec::new());
    for (&first, &second) in both.first.iter().zip(&both.second) {
        if let Some(t) = own.at(args, first)? {
            known.push(t);
            rows.push(second);
        }
    }
    // logarithms, which order as times do, tell very long ones apart
    let logarithm = format!("{}{MEAN_LOG}", own.time);
    let name = match predicted.column(&logarithm) {
        Some(_) => logarithm.as_str(),
        None => own.time,
    };
    let times = numbers(args, &predicted, name, &rows)?;
    let index = concordance(&known, &times)?;

    let training = match &args.training {
        Some(path) => {
            let table = read_string_table(path, &options)?;
            Columns::of(args, path, &table)?.all(args)?
        }
        None => known.clone(),
    };
    let columns = curves(&predicted, own.time);
    let mut survival = vec![Vec::with_capacity(columns.len()); rows.len()];
    for (_, name) in &columns {
        for (curve, p) in survival
            .iter_mut()
            .zip(numbers(args, &predicted, name, &rows)?)
        {
            curve.push(p);
        }
    }
    let at: Vec<f64> = columns.iter().map(|c| c.0).collect();
    let brier = integrated_brier(&training, &known, &at, &survival)?;
    let events = known.iter().filter(|t| t.event).count();
    if cli.json {
        return print_json(&json!({
            "kind": "survival", "samples": known.len(), "events": events, "c_index": index,
            "integrated_brier": brier, "times": at,
        }));
    }
    line(format!("{} samples, {events} events", known.len()))?;
    figures(&[
        ("C-index", number(index)),
        ("integrated Brier score", number(brier)),
    ])?;
    if let (Some(_), [first, .., last]) = (brier, &at[..]) {
        line(format!(
            "integrated Brier score: over {} times from {first} to {last}, those of the predictions (predict --times); over others it is \
             another number",
            at.len()
        ))?;
    }
    let mut lines = Vec::new();
    if index.is_none() {
        lines.push("C-index: of no two samples it is known whose event came first".to_owned());
    }
    if brier.is_none() {
        let most = event_times(&training);
        let span = most.first().zip(most.last());
        let span = span.map_or(String::new(), |(a, b)| format!(", such as {a} to {b}"));
        lines.push(format!(
            "integrated Brier score: the predictions have probabilities at {} times, and two are needed; predict with --times{span}",
            at.len()
        ));
    }
    undefined(&lines)
}

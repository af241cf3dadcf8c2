//! Numbers of which limits may be all that is known, and times to an event.

use std::path::Path;

use polyview::Likelihood;
use polyview_core::{Table, View, ViewTable};
use polyview_io::{
    DecimalMark, IoError, MISSING_NUMBER, NumberHint, Orientation, ReadOptions, StringTable,
    read_string_table, read_view,
};
use polyview_linalg::Mat;

use crate::failure::{Failure, Outcome};

/// The table of a view and, of numbers between ends, the other end of each cell.
pub struct ViewCells {
    /// The table.
    pub table: ViewTable,
    /// Other ends, where there are any.
    pub ends: Option<Table>,
    /// What is to be said of cells that are hardly what they seem, and of those that are not read.
    pub warnings: Vec<String>,
}

impl From<ViewTable> for ViewCells {
    fn from(table: ViewTable) -> Self {
        Self {
            table,
            ends: None,
            warnings: Vec::new(),
        }
    }
}

/// What a cell says: its value and its other end, not a number where it is exact.
type Said = (f64, f64);

/// The cells of a view of that likelihood, which is censored or survival.
pub fn read(
    path: &Path,
    file: &Path,
    options: &ReadOptions,
    likelihood: &Likelihood,
) -> Outcome<ViewCells> {
    if likelihood.is_survival() {
        return times(path, &words(path, file, options)?, options, likelihood);
    }
    match read_view(file, options) {
        // no cell of it is anything but a number
        Ok(table) => Ok(table.into()),
        Err(IoError::NotNumber {
            hint: NumberHint::Words,
            ..
        }) => limits(path, &words(path, file, options)?, options),
        Err(other) => Err(other.into()),
    }
}

fn words(path: &Path, file: &Path, options: &ReadOptions) -> Outcome<StringTable> {
    if options.orientation != Orientation::SamplesInRows {
        return Err(Failure::Usage(format!(
            "'{}': limits and times are read with samples in rows; turn the table",
            path.display()
        )));
    }
    Ok(read_string_table(file, options)?)
}

/// A table of what is said of cells.
fn cells(read: &StringTable, features: &[String], of: &[Vec<Said>]) -> ViewCells {
    let table = |of: &dyn Fn(usize, usize) -> f64| Table {
        name: read.name.clone(),
        samples: read.samples.clone(),
        values: Mat::from_fn(read.samples.len(), features.len(), of),
        features: features.to_vec(),
        levels: Vec::new(),
    };
    ViewCells {
        warnings: Vec::new(),
        ends: Some(table(&|n, d| of[d][n].1)),
        table: table(&|n, d| of[d][n].0).into(),
    }
}

const MISSING: Said = (f64::NAN, f64::NAN);

/// Numbers, limits and intervals.
fn limits(path: &Path, read: &StringTable, options: &ReadOptions) -> Outcome<ViewCells> {
    let mut all = Vec::with_capacity(read.columns.len());
    for (d, column) in read.values.iter().enumerate() {
        let mut of = Vec::with_capacity(column.len());
        for (n, cell) in column.iter().enumerate() {
            let said = cell
                .as_ref()
                .map_or(Ok(MISSING), |c| said(c, options.decimal));
            of.push(said.map_err(|found| Failure::Cell {
                path: path.to_owned(),
                sample: read.samples[n].clone(),
                column: read.columns[d].clone(),
                found,
            })?);
        }
        all.push(of);
    }
    Ok(cells(read, &read.columns, &all))
}

fn number(text: &str, decimal: DecimalMark) -> Option<f64> {
    let text = text.trim();
    let x: f64 = match decimal {
        DecimalMark::Point => text.parse().ok()?,
        DecimalMark::Comma if text.contains('.') => return None,
        DecimalMark::Comma => text.replace(',', ".").parse().ok()?,
    };
    (!x.is_nan()).then_some(x)
}

/// What a cell says; else what is wrong with it, and the mend.
fn said(cell: &str, decimal: DecimalMark) -> Result<Said, String> {
    let text = cell.trim();
    let missing = |m: &&[u8]| text.as_bytes().eq_ignore_ascii_case(m);
    if MISSING_NUMBER.iter().any(|m| missing(&m.as_bytes())) {
        return Ok(MISSING);
    }
    let known = || {
        for (sign, end) in [('<', f64::NEG_INFINITY), ('>', f64::INFINITY)] {
            if let Some(rest) = text.strip_prefix(sign) {
                let limit = number(rest.strip_prefix('=').unwrap_or(rest), decimal)?;
                return Some((limit, end));
            }
        }
        let Some(inside) = text.strip_prefix('[').and_then(|t| t.strip_suffix(']')) else {
            return number(text, decimal).map(|x| (x, f64::NAN));
        };
        let between = if decimal == DecimalMark::Comma || inside.contains(';') {
            ';'
        } else {
            ','
        };
        let (lower, upper) = inside.split_once(between)?;
        Some((number(lower, decimal)?, number(upper, decimal)?))
    };
    let Some((value, end)) = known() else {
        return Err(format!(
            "'{cell}' is neither a number nor a limit (<0.05, >1300) nor an interval ([2,5] in quotation marks, or [2;5]); \
             correct it, or leave the cell empty"
        ));
    };
    let is_interval = text.starts_with('[');
    if is_interval && value > end {
        return Err(format!(
            "the interval {text} ends before it begins; write the lower end first: [{end}{}{value}]",
            if text.contains(';') { ';' } else { ',' }
        ));
    }
    match (value.is_finite(), end.is_finite()) {
        (true, _) => Ok((value, end)),
        (false, true) if is_interval => Ok((end, value)),
        _ => Err(format!(
            "'{cell}' says nothing of a number; leave the cell empty"
        )),
    }
}

/// Whether a cell says of a value no more than that it lies beyond a limit or between two.
pub fn is_censored(cell: &str, decimal: DecimalMark) -> bool {
    said(cell, decimal).is_ok_and(|(_, end)| !end.is_nan())
}

/// The time of a cell, above zero; else what is wrong with it, and the mend.
pub fn event_time(cell: &str, decimal: DecimalMark) -> Result<f64, String> {
    let (x, end) = said(cell, decimal)?;
    if x > View::LARGEST {
        return Err(format!(
            "'{cell}' is beyond every time; correct it, or leave the cell empty"
        ));
    }
    match (end == f64::INFINITY, end.is_nan()) {
        (true, _) => {
            return Err(format!(
                "'{cell}' is a limit, and a time of which no more is known than that the event had not come by then is \
                 the time alone, with a 0 in the column of the event: write {x} and 0"
            ));
        }
        (_, false) => {
            return Err(format!(
                "'{cell}' does not say when the event came: a time is a number, and a limit from below one with a 0 in \
                 the column of the event; correct it, leave the cell empty, or fit logarithms of the times as censored"
            ));
        }
        _ if x > 0.0 => return Ok(x),
        _ => {}
    }
    Err(format!(
        "'{cell}' is no time above zero: times count from when a sample was first watched, and one that was not \
         watched at all says nothing; correct it, or leave the cell empty"
    ))
}

/// Whether an event came, as a cell says it; else what is wrong with it, and the mend.
pub fn event_came(cell: &str) -> Result<bool, String> {
    match cell.trim().to_ascii_lowercase().as_str() {
        "1" | "1.0" | "true" => Ok(true),
        "0" | "0.0" | "false" => Ok(false),
        _ => Err(format!(
            "'{cell}' does not say whether the event came; give 1 where it came at the time, 0 where it had not come by \
             then, or leave the cell empty"
        )),
    }
}

/// Logarithms of times, those without an event being limits.
fn times(
    path: &Path,
    read: &StringTable,
    options: &ReadOptions,
    likelihood: &Likelihood,
) -> Outcome<ViewCells> {
    let [time, event] = ["time", "event"].map(|o| likelihood.options().text(o).unwrap_or_default());
    let column = |name: &str, option: &str| {
        read.column(name).ok_or_else(|| {
            Failure::Usage(format!(
                "'{}': there is no column '{name}' for the {option} of view '{}'; its columns are {}; say which it is: \
                 survival{{time=COLUMN,event=COLUMN}}",
                path.display(),
                read.name,
                read.columns.join(", ")
            ))
        })
    };
    let (of_time, of_event) = (column(&time, "time")?, column(&event, "event")?);
    let mut all = Vec::with_capacity(read.samples.len());
    let mut halves = [Half::default(), Half::default()];
    for (n, (t, e)) in of_time.iter().zip(of_event).enumerate() {
        let wrong = |column: &str, found: String| Failure::Cell {
            path: path.to_owned(),
            sample: read.samples[n].clone(),
            column: column.to_owned(),
            found,
        };
        let is_known = |t: &&String| !said(t, options.decimal).is_ok_and(|(x, _)| x.is_nan());
        let (t, e) = match (t.as_ref().filter(is_known), e) {
            (Some(t), Some(e)) => (t, e),
            (t, e) => {
                halves[0].add(t.is_none() && e.is_some(), n);
                halves[1].add(t.is_some() && e.is_none(), n);
                all.push(MISSING);
                continue;
            }
        };
        let x = event_time(t, options.decimal).map_err(|found| wrong(&time, found))?;
        let came = event_came(e).map_err(|found| wrong(&event, found))?;
        all.push((x.ln(), if came { f64::NAN } else { f64::INFINITY }));
    }
    let mut out = cells(read, std::slice::from_ref(&time), &[all]);
    let mends = [
        (&time, &event, "fill the time in"),
        (
            &event,
            &time,
            "write 1 where the event came at the time, 0 where it had not come by then",
        ),
    ];
    for (half, (empty, full, mend)) in halves.iter().zip(mends) {
        let Some(first) = half.first else { continue };
        out.warnings.push(format!(
            "{}: {} sample(s) have a value in column '{full}' and none in column '{empty}', first '{}': nothing is taken \
             to be known of them; {mend}, or leave both cells empty",
            path.display(),
            half.count,
            read.samples[first]
        ));
    }
    let others: Vec<&str> = (read.columns.iter())
        .filter(|c| **c != time && **c != event)
        .map(String::as_str)
        .collect();
    if let [first, rest @ ..] = &others[..] {
        let more = match rest.len() {
            0 => String::new(),
            more => format!(" and {more} more"),
        };
        out.warnings.push(format!(
            "{}: column '{first}'{more} is not read: times to an event have the columns '{time}' and '{event}' alone; give \
             other columns as a view of their own, in a table of their own, or take them out",
            path.display()
        ));
    }
    Ok(out)
}

/// Samples of which one of two cells is known.
#[derive(Default)]
struct Half {
    count: usize,
    first: Option<usize>,
}

impl Half {
    fn add(&mut self, is: bool, sample: usize) {
        if is {
            self.count += 1;
            self.first.get_or_insert(sample);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const INF: f64 = f64::INFINITY;

    fn bits(x: Result<Said, String>) -> (u64, u64) {
        let (a, b) = x.expect("a cell");
        (a.to_bits(), b.to_bits())
    }

    #[test]
    fn cells_say_numbers_limits_and_intervals() {
        let point = |text: &str| said(text, DecimalMark::Point);
        for (text, value, end) in [
            ("3.5", 3.5, f64::NAN),
            ("<0.05", 0.05, -INF),
            ("<= -2", -2.0, -INF),
            (">1300", 1300.0, INF),
            (">=1e3", 1e3, INF),
            ("[2,5]", 2.0, 5.0),
            ("[2; 5]", 2.0, 5.0),
            ("[-inf,5]", 5.0, -INF),
            ("[2,inf]", 2.0, INF),
            ("NA", f64::NAN, f64::NAN),
        ] {
            assert_eq!(bits(point(text)), bits(Ok((value, end))), "{text}");
        }
        let comma = said("[0,5;1,5]", DecimalMark::Comma);
        assert_eq!(comma, Ok((0.5, 1.5)));
        let said = point("[5,2]").expect_err("refused");
        assert!(said.ends_with("write the lower end first: [2,5]"), "{said}");
        for text in [
            "low",
            "<",
            "[2]",
            "[2,5",
            "inf",
            "[-inf,inf]",
            "<inf",
            ">low",
        ] {
            assert!(point(text).is_err(), "{text}");
        }
    }
}

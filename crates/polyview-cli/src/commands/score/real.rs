//! Numbers and their intervals.

use std::collections::HashMap;

use polyview::metrics::{IntervalTable, intervals_by_column, real_by_column};
use polyview_io::ReadOptions;
use polyview_linalg::Mat;
use serde_json::{Value, json};

use super::groups;
use super::join::{Cells, Read, cells};
use super::{figures, print_json, undefined};
use crate::args::{Cli, ScoreArgs};
use crate::detection::given;
use crate::failure::{Failure, Outcome};
use crate::output::{counted, line, number, prose, table};

/// What the table of columns says of the intervals.
pub(super) const INTERVALS: [&str; 2] = ["inside", "mean width"];

/// The same of one column.
pub(super) fn of_column(found: &IntervalTable, column: usize) -> [String; 2] {
    let i = found.columns[column];
    [number(i.coverage), number(i.mean_width)]
}

/// The same of all values.
pub(super) fn of_all(found: &IntervalTable) -> [(&'static str, String); 2] {
    [
        ("share inside the intervals", number(found.all.coverage)),
        ("mean width of the intervals", number(found.all.mean_width)),
    ]
}

/// The intervals' scores, after a look for one that ends before it begins.
pub(super) fn scored(c: &Cells, upper: &Read) -> Outcome<IntervalTable> {
    let (low, high) = (&c.predicted[1], &c.predicted[2]);
    for (d, name) in c.columns.iter().enumerate() {
        let wrong = |n: &usize| !c.truth[(*n, d)].is_nan() && high[(*n, d)] < low[(*n, d)];
        if let Some(n) = (0..c.samples.len()).find(wrong) {
            return Err(Failure::Cell {
                path: upper.path.clone(),
                sample: c.samples[n].clone(),
                column: name.clone(),
                found: format!(
                    "the upper end {} is below the lower one, {}; are the files interchanged?",
                    high[(n, d)],
                    low[(n, d)]
                ),
            });
        }
    }
    Ok(intervals_by_column(
        c.truth.as_ref(),
        low.as_ref(),
        high.as_ref(),
    )?)
}

/// The mean of each column over the training values; `NaN` where there is none.
fn training_means(training: &Read, c: &Cells) -> Outcome<Vec<f64>> {
    let features = training.table.features.iter().enumerate();
    let place: HashMap<&str, usize> = features.map(|(d, f)| (f.as_str(), d)).collect();
    let mean = |d: usize| {
        let known = training.table.values.col(d).iter().filter(|x| !x.is_nan());
        let (count, sum) = known.fold((0.0, 0.0), |(n, s), x| (n + 1.0, s + x));
        if count > 0.0 { sum / count } else { f64::NAN }
    };
    let of = |name: &String| match place.get(name.as_str()) {
        Some(&d) => Ok(mean(d)),
        None => Err(Failure::Usage(format!(
            "--training {}: it has no column '{name}', which was predicted; name the table that \
             the model was fitted to",
            training.path.display()
        ))),
    };
    c.columns.iter().map(of).collect()
}

/// What the R2 are against, in words.
fn reference(training: Option<&Read>, groups: Option<&str>) -> String {
    match training {
        Some(t) if groups.is_some() => format!(
            "squared error against each column's mean over the samples of the same {} in {}: the R2 of fits with \
             intercepts by group",
            groups.unwrap_or_default(),
            t.path.display()
        ),
        Some(t) => format!(
            "squared error against each column's mean over {} (fits with intercepts by group take the mean \
             over each group: --groups)",
            t.path.display()
        ),
        None => "squared error against each column's mean over the true values themselves: not \
                 quite the R2 of fits, reports and choose-k, whose means are those of the training \
                 values; name their table with --training FILE"
            .to_owned(),
    }
}

/// Scores numbers.
pub fn run(cli: &Cli, args: &ScoreArgs) -> Outcome<()> {
    let mut truth = Read::numbers(&args.truth, &args.format.options())?;
    let own = ReadOptions::default();
    let mut files = vec![Read::numbers(&args.predicted, &own)?];
    if let Some(said) = &args.limit {
        let given = given(said, &args.format.options())?;
        truth.hide_beyond(cli, &given, &files[0])?;
    }
    for path in [&args.lower, &args.upper].into_iter().flatten() {
        files.push(Read::numbers(path, &own)?);
    }
    let c = cells(cli, &truth, &files.iter().collect::<Vec<_>>())?;
    let training = (args.training.as_ref())
        .map(|path| Read::training(path, &args.format.options()))
        .transpose()?;
    let means = (training.as_ref())
        .map(|t| training_means(t, &c))
        .transpose()?;
    let found = match (&training, &args.groups) {
        (Some(training), Some(column)) => {
            let levels = groups::levels(cli, args, column, training, &c)?;
            let about = |m: &Mat<f64>| {
                Mat::from_fn(m.nrows(), m.ncols(), |n, d| m[(n, d)] - levels[(n, d)])
            };
            let (truth, predicted) = (about(&c.truth), about(&c.predicted[0]));
            let none = vec![0.0; c.columns.len()];
            real_by_column(truth.as_ref(), predicted.as_ref(), Some(&none))?
        }
        _ => real_by_column(c.truth.as_ref(), c.predicted[0].as_ref(), means.as_deref())?,
    };
    let scores = &found.columns;
    let ranges = match files.as_slice() {
        [_, _, upper] => Some(scored(&c, upper)?),
        _ => None,
    };
    if cli.json {
        let columns: Vec<Value> = (0..scores.len())
            .map(|d| {
                let s = scores[d];
                let i = ranges.as_ref().map(|r| r.columns[d]);
                json!({
                    "name": c.columns[d], "values": s.count, "r2": s.r2, "rmse": s.rmse,
                    "coverage": i.and_then(|i| i.coverage),
                    "mean_width": i.and_then(|i| i.mean_width),
                })
            })
            .collect();
        return print_json(&json!({
            "kind": "real",
            "samples": c.samples.len(),
            "columns": columns,
            "r2": found.all.r2,
            "r2_against": match (&means, &args.groups) {
                (Some(_), Some(_)) => "training groups",
                (Some(_), None) => "training",
                (None, _) => "truth",
            },
            "rmse": found.all.rmse,
            "coverage": ranges.as_ref().and_then(|r| r.all.coverage),
            "mean_width": ranges.as_ref().and_then(|r| r.all.mean_width),
        }));
    }
    line(format!(
        "{}, {}",
        counted(c.samples.len(), "sample"),
        counted(c.columns.len(), "column")
    ))?;
    let mut all = vec![
        ("R2, all values", number(found.all.r2)),
        ("RMSE, all values", number(found.all.rmse)),
    ];
    all.extend(ranges.iter().flat_map(of_all));
    figures(&all)?;
    prose(format!(
        "R2: {}",
        reference(training.as_ref(), args.groups.as_deref())
    ))?;
    line("")?;
    let mut header = vec!["column", "values", "R2", "RMSE"];
    if ranges.is_some() {
        header.extend(INTERVALS);
    }
    let header: Vec<String> = header.into_iter().map(str::to_owned).collect();
    let rows: Vec<Vec<String>> = (0..scores.len())
        .map(|d| {
            let s = scores[d];
            let mut row = vec![
                c.columns[d].clone(),
                s.count.to_string(),
                number(s.r2),
                number(s.rmse),
            ];
            row.extend(ranges.iter().flat_map(|r| of_column(r, d)));
            row
        })
        .collect();
    table(&header, &rows)?;
    let mut lines = Vec::new();
    for (d, (name, s)) in c.columns.iter().zip(scores).enumerate() {
        if s.count == 0 {
            lines.push(format!("every score of '{name}': no true value is known"));
        } else if means.as_ref().is_some_and(|m| m[d].is_nan()) {
            lines.push(format!(
                "R2 of '{name}': it has no training value; it is not among all values"
            ));
        } else if s.r2.is_none() {
            lines.push(format!("R2 of '{name}': its true values are all the same"));
        }
    }
    undefined(&lines)
}

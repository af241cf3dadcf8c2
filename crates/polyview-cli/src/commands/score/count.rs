//! Expected counts and their intervals.

use polyview::metrics::{Average, CountTable, IntervalTable, binomial_table, count_table};
use polyview_io::ReadOptions;
use polyview_linalg::Mat;
use serde_json::{Value, json};

use super::join::{Cells, Read, cells};
use super::real::{INTERVALS, of_all, of_column, scored};
use super::{average, average_text, figures, print_json, undefined};
use crate::args::{Cli, ScoreArgs};
use crate::failure::{Failure, Outcome};
use crate::output::{counted, line, number, table};

/// What deviances and log densities are of.
#[derive(Clone, Copy, PartialEq)]
enum Law {
    /// Of counts whose standard deviations are known.
    NegativeBinomial,
    /// Of other counts.
    Poisson,
    /// Of successes out of numbers of trials.
    Binomial,
}

impl Law {
    fn of(args: &ScoreArgs) -> Self {
        match (&args.trials, &args.sd) {
            (Some(_), _) => Self::Binomial,
            (None, Some(_)) => Self::NegativeBinomial,
            (None, None) => Self::Poisson,
        }
    }
    fn name(self) -> &'static str {
        match self {
            Self::NegativeBinomial => "negative binomial",
            Self::Poisson => "Poisson",
            Self::Binomial => "binomial",
        }
    }
}

/// Refuses probabilities where expected counts are wanted: numbers of at most 1 throughout, not
/// all whole, of counts that are more than that on average.
fn no_probabilities(c: &Cells, predicted: &Read) -> Outcome<()> {
    let places = || (0..c.columns.len()).flat_map(|d| (0..c.samples.len()).map(move |n| (n, d)));
    let known = || places().filter(|at| !c.truth[*at].is_nan());
    let (count, sum) = known().fold((0.0, 0.0), |(n, s), at| (n + 1.0, s + c.truth[at]));
    let fraction = |x: f64| x > 0.0 && x < 1.0;
    let small = known().all(|at| c.predicted[0][at] <= 1.0)
        && known().any(|at| fraction(c.predicted[0][at]));
    if !(small && sum > count) {
        return Ok(());
    }
    Err(Failure::Usage(format!(
        "{}: no prediction is above 1, and the true counts are {:.1} on average: these are probabilities of a success, \
         as predictions of binomial views are; give the numbers of trials with --trials FILE",
        predicted.path.display(),
        sum / count
    )))
}

/// Refuses cells that cannot be successes out of trials, or their probability.
fn check_trials(c: &Cells, files: [&Read; 2]) -> Outcome<()> {
    for (d, column) in c.columns.iter().enumerate() {
        for (n, sample) in c.samples.iter().enumerate() {
            let (x, p, all) = (
                c.truth[(n, d)],
                c.predicted[0][(n, d)],
                c.predicted[1][(n, d)],
            );
            let (file, found) = if p > 1.0 {
                let found = format!("{p} is no probability of a success; leave --trials out");
                (files[0], found)
            } else if x > all {
                let found = format!("{all} trial(s) are fewer than the {x} successes; correct one");
                (files[1], found)
            } else {
                continue;
            };
            return Err(Failure::Cell {
                path: file.path.clone(),
                sample: sample.clone(),
                column: column.clone(),
                found,
            });
        }
    }
    Ok(())
}

/// Refuses a truth that is no count, and a prediction below zero.
fn check(c: &Cells, truth: &Read, predicted: &Read) -> Outcome<()> {
    for (d, column) in c.columns.iter().enumerate() {
        for (n, sample) in c.samples.iter().enumerate() {
            let (x, p) = (c.truth[(n, d)], c.predicted[0][(n, d)]);
            let (file, found) = if x < 0.0 || x.fract() > 0.0 {
                let found = format!("{x} is no count; correct it, or choose --kind real");
                (truth, found)
            } else if p < 0.0 {
                let found = format!("{p} is no expected count; choose --kind real");
                (predicted, found)
            } else {
                continue;
            };
            return Err(Failure::Cell {
                path: file.path.clone(),
                sample: sample.clone(),
                column: column.clone(),
                found,
            });
        }
    }
    Ok(())
}

/// Scores counts.
pub fn run(cli: &Cli, args: &ScoreArgs) -> Outcome<()> {
    let truth = Read::numbers(&args.truth, &args.format.options())?;
    let own = ReadOptions::default();
    let mut files = vec![Read::numbers(&args.predicted, &own)?];
    for path in [&args.lower, &args.upper, &args.sd].into_iter().flatten() {
        files.push(Read::numbers(path, &own)?);
    }
    if let Some(path) = &args.trials {
        files.push(Read::numbers(path, &args.format.options())?);
    }
    let law = Law::of(args);
    let c = cells(cli, &truth, &files.iter().collect::<Vec<_>>())?;
    check(&c, &truth, &files[0])?;
    let ranges = match args.upper {
        Some(_) => Some(scored(&c, &files[2])?),
        None => None,
    };
    let sd = args.sd.as_ref().and_then(|_| c.predicted.last());
    let (known, expected) = (c.truth.as_ref(), c.predicted[0].as_ref());
    let found = if law == Law::Binomial {
        check_trials(&c, [&files[0], &files[1]])?;
        binomial_table(known, expected, c.predicted[1].as_ref())?
    } else {
        no_probabilities(&c, &files[0])?;
        count_table(known, expected, sd.map(Mat::as_ref))?
    };
    if cli.json {
        let columns: Vec<Value> = (0..found.columns.len())
            .map(|d| {
                let s = found.columns[d];
                let i = ranges.as_ref().map(|r| r.columns[d]);
                json!({
                    "name": c.columns[d], "values": s.count,
                    "deviance": s.deviance.filter(|x| x.is_finite()),
                    "deviance_explained": s.explained.filter(|x| x.is_finite()),
                    "rmse": s.rmse,
                    "log_density": found.densities[d].filter(|x| x.is_finite()),
                    "coverage": i.and_then(|i| i.coverage),
                    "mean_width": i.and_then(|i| i.mean_width),
                })
            })
            .collect();
        let rmse = Average::of(found.columns.iter().map(|s| (s.rmse, 1.0)));
        return print_json(&json!({
            "kind": "count",
            "samples": c.samples.len(),
            "columns": columns,
            "deviance": found.all.deviance.filter(|x| x.is_finite()),
            "deviance_explained": found.all.explained.filter(|x| x.is_finite()),
            "rmse": average(&rmse, &c.columns),
            "log_density": found.density.filter(|x| x.is_finite()),
            "density": law.name(),
            "coverage": ranges.as_ref().and_then(|r| r.all.coverage),
            "mean_width": ranges.as_ref().and_then(|r| r.all.mean_width),
        }));
    }
    show(&c, &found, ranges.as_ref(), law)
}

fn show(c: &Cells, found: &CountTable, ranges: Option<&IntervalTable>, law: Law) -> Outcome<()> {
    let (scores, all) = (&found.columns, found.all);
    line(format!(
        "{}, {}",
        counted(c.samples.len(), "sample"),
        counted(c.columns.len(), "column")
    ))?;
    let rmse = Average::of(scores.iter().map(|s| (s.rmse, 1.0)));
    let density = format!("log density ({}), mean over values", law.name());
    let (deviance, explained) = match law {
        Law::Binomial => (
            "binomial deviance, mean over values",
            "deviance explained, against columns' rates",
        ),
        _ => (
            "Poisson deviance, mean over values",
            "deviance explained, against column means",
        ),
    };
    let mut figures_of_all = vec![
        (deviance, number(all.deviance)),
        (explained, number(all.explained)),
        (
            "RMSE, mean over columns",
            average_text(&rmse, c.columns.len()),
        ),
        (density.as_str(), number(found.density)),
    ];
    figures_of_all.extend(ranges.iter().flat_map(|r| of_all(r)));
    figures(&figures_of_all)?;
    line("")?;
    let mut header = vec![
        "column",
        "values",
        "deviance",
        "explained",
        "RMSE",
        "log density",
    ];
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
                number(s.deviance),
                number(s.explained),
                number(s.rmse),
                number(found.densities[d]),
            ];
            row.extend(ranges.iter().flat_map(|r| of_column(r, d)));
            row
        })
        .collect();
    table(&header, &rows)?;
    let mut lines = Vec::new();
    for (name, s) in c.columns.iter().zip(scores) {
        if s.count == 0 {
            lines.push(format!("every score of '{name}': no true value is known"));
            continue;
        }
        if s.explained.is_none() {
            lines.push(format!(
                "deviance explained of '{name}': its true counts are all the same"
            ));
        }
        if s.deviance.is_some_and(f64::is_infinite) {
            lines.push(format!(
                "a finite deviance of '{name}': a count above 0 was expected to be 0"
            ));
        }
    }
    undefined(&lines)
}

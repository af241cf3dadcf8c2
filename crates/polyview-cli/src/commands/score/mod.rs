//! `polyview score`: predictions against the truth.

mod binary;
mod categorical;
mod count;
mod groups;
mod join;
mod labels;
mod ordinal;
mod real;
mod survival;

use polyview::metrics::{Average, CalibrationBin};
use serde_json::{Value, json};

use crate::args::{Cli, ScoreArgs, ScoreKind};
use crate::failure::{Failure, Outcome};
use crate::output::{self, line, number, prose, table};

/// Bins of a calibration table.
const BINS: usize = 10;

/// Scores the file of predictions.
pub fn run(cli: &Cli, args: &ScoreArgs) -> Outcome<()> {
    if args.lower.is_some() && !matches!(args.kind, ScoreKind::Real | ScoreKind::Count) {
        return Err(Failure::Usage(
            "--lower and --upper belong to --kind real and count; leave them out".into(),
        ));
    }
    if args.limit.is_some() && args.kind != ScoreKind::Real {
        return Err(Failure::Usage(
            "--limit belongs to --kind real; leave it out".into(),
        ));
    }
    if args.sd.is_some() && args.kind != ScoreKind::Count {
        return Err(Failure::Usage(
            "--sd belongs to --kind count; leave it out".into(),
        ));
    }
    if args.training.is_some() && !matches!(args.kind, ScoreKind::Real | ScoreKind::Survival) {
        return Err(Failure::Usage(
            "--training belongs to --kind real and survival; leave it out".into(),
        ));
    }
    let of_times = [("--time", &args.time), ("--event", &args.event)];
    if let Some((option, _)) = of_times.iter().find(|(_, given)| given.is_some())
        && args.kind != ScoreKind::Survival
    {
        return Err(Failure::Usage(format!(
            "{option} belongs to --kind survival; leave it out"
        )));
    }
    if args.groups.is_some() && args.kind == ScoreKind::Survival {
        return Err(Failure::Usage(
            "--groups belongs to --kind real; leave it out".into(),
        ));
    }
    if args.trials.is_some() && args.kind != ScoreKind::Count {
        return Err(Failure::Usage(
            "--trials belongs to --kind count; leave it out".into(),
        ));
    }
    if args.positive.is_some() && args.kind != ScoreKind::Binary {
        return Err(Failure::Usage(
            "--positive belongs to --kind binary; leave it out".into(),
        ));
    }
    match args.kind {
        ScoreKind::Binary => binary::run(cli, args),
        ScoreKind::Categorical => categorical::run(cli, args),
        ScoreKind::Count => count::run(cli, args),
        ScoreKind::Ordinal => ordinal::run(cli, args),
        ScoreKind::Real => real::run(cli, args),
        ScoreKind::Survival => survival::run(cli, args),
    }
}

/// An average with the names of those that have no score.
fn average(a: &Average, names: &[String]) -> Value {
    let undefined: Vec<&String> = a.undefined.iter().map(|&i| &names[i]).collect();
    json!({ "value": a.value(), "over_defined": a.over_defined, "undefined": undefined })
}

/// An average in words: over how many it was taken, if not over all.
fn average_text(a: &Average, of: usize) -> String {
    let left = of - a.undefined.len();
    if left == of {
        number(a.over_defined)
    } else {
        format!("{} (over {left} of {of})", number(a.over_defined))
    }
}

/// Name and value of a few numbers.
fn figures(rows: &[(&str, String)]) -> Outcome<()> {
    let width = rows.iter().map(|r| r.0.len()).max().unwrap_or(0);
    for (name, value) in rows {
        line(format!("{name:width$}  {value}"))?;
    }
    Ok(())
}

/// A calibration curve as a table, the share that is observed under that header;
/// empty bins are left out.
fn calibration_table(title: &str, observed: &str, bins: &[CalibrationBin]) -> Outcome<()> {
    line("")?;
    line(title)?;
    let header = ["probability", "number", "mean probability", observed].map(str::to_owned);
    let rows: Vec<Vec<String>> = bins
        .iter()
        .filter(|b| b.count > 0)
        .map(|b| {
            vec![
                format!("{:.1} to {:.1}", b.lower, b.upper),
                b.count.to_string(),
                number(b.predicted),
                number(b.observed),
            ]
        })
        .collect();
    table(&header, &rows)
}

fn calibration_json(bins: &[CalibrationBin]) -> Value {
    bins.iter()
        .map(|b| {
            json!({
                "lower": b.lower, "upper": b.upper, "count": b.count,
                "predicted": b.predicted, "observed": b.observed,
            })
        })
        .collect()
}

/// What could not be computed, one line each.
fn undefined(lines: &[String]) -> Outcome<()> {
    if lines.is_empty() {
        return Ok(());
    }
    line("")?;
    line("not defined:")?;
    lines.iter().try_for_each(|l| prose(format!("  {l}")))
}

fn print_json(value: &Value) -> Outcome<()> {
    output::json(value)
}

//! Probabilities of ordered levels.

use polyview::metrics::{LevelScore, levels};
use polyview_core::ClassPlaces;
use polyview_io::{ReadOptions, StringTable, read_string_table};
use serde_json::{Value, json};

use super::join::shared;
use super::{figures, print_json};
use crate::args::{Cli, ScoreArgs};
use crate::commands::columns::LEVEL;
use crate::failure::{Failure, Outcome};
use crate::output::{counted, line, number, table};

/// A feature: the true levels of the samples, and their probabilities.
struct Feature {
    name: String,
    truth: Vec<f64>,
    probabilities: Vec<Vec<f64>>,
}

/// The levels of a feature in the file of predictions, in the order of its columns, with the
/// places of these.
fn levels_of<'a>(predicted: &'a StringTable, feature: &str) -> Vec<(&'a str, usize)> {
    let start = format!("{feature}{LEVEL}");
    let named = predicted.columns.iter().enumerate();
    named
        .filter_map(|(at, name)| Some((name.strip_prefix(&start)?, at)))
        .collect()
}

fn bad(args: &ScoreArgs, truth: bool, sample: &str, column: &str, found: String) -> Failure {
    let path = if truth { &args.truth } else { &args.predicted };
    Failure::Cell {
        path: path.clone(),
        sample: sample.to_owned(),
        column: column.to_owned(),
        found,
    }
}

fn features(cli: &Cli, args: &ScoreArgs) -> Outcome<(usize, Vec<Feature>)> {
    let truth = read_string_table(&args.truth, &args.format.options())?;
    let predicted = read_string_table(&args.predicted, &ReadOptions::default())?;
    let both = shared(
        cli,
        "sample",
        (&args.truth, &truth.samples),
        (&args.predicted, &predicted.samples),
    )?;
    let mut out = Vec::new();
    for (name, cells) in truth.columns.iter().zip(&truth.values) {
        let known = levels_of(&predicted, name);
        if known.is_empty() {
            continue;
        }
        let places = ClassPlaces::of(known.iter().map(|(level, _)| *level));
        let mut feature = Feature {
            name: name.clone(),
            truth: Vec::new(),
            probabilities: Vec::new(),
        };
        for ((sample, &own), &there) in both.names.iter().zip(&both.first).zip(&both.second) {
            let Some(word) = &cells[own] else {
                continue;
            };
            let level = places.at(word).ok_or_else(|| {
                let all: Vec<&str> = known.iter().map(|k| k.0).collect();
                let found = format!(
                    "'{word}' is none of the predicted levels {}; correct it, or leave the cell empty",
                    all.join(", ")
                );
                bad(args, true, sample, name, found)
            })?;
            let mut probabilities = Vec::with_capacity(known.len());
            for (_, at) in &known {
                let cell = predicted.values[*at][there].as_deref().unwrap_or("");
                let p: f64 = cell.parse().unwrap_or(f64::NAN);
                if !(0.0..=1.0 + 1e-9).contains(&p) {
                    let found = format!("'{cell}' is no probability; predict the view again");
                    return Err(bad(args, false, sample, &predicted.columns[*at], found));
                }
                probabilities.push(p);
            }
            feature.truth.push((level + 1) as f64);
            feature.probabilities.push(probabilities);
        }
        out.push(feature);
    }
    if out.is_empty() {
        let first = truth.columns.first().map_or("", String::as_str);
        return Err(Failure::Tables {
            first: args.truth.clone(),
            second: args.predicted.clone(),
            what: format!(
                "no column of the first has probabilities of levels in the second, such as \
                 '{first}{LEVEL}1'; predict an ordinal view, or choose another --kind"
            ),
        });
    }
    Ok((both.names.len(), out))
}

/// Scores levels.
pub fn run(cli: &Cli, args: &ScoreArgs) -> Outcome<()> {
    let (samples, features) = features(cli, args)?;
    let each = features
        .iter()
        .map(|f| Ok(levels(&f.truth, &f.probabilities)?));
    let each: Vec<Option<LevelScore>> = each.collect::<Outcome<_>>()?;
    let truth: Vec<f64> = features.iter().flat_map(|f| f.truth.clone()).collect();
    let said: Vec<Vec<f64>> = features
        .iter()
        .flat_map(|f| f.probabilities.clone())
        .collect();
    let all = levels(&truth, &said)?;
    let of = |s: Option<LevelScore>, score: fn(LevelScore) -> f64| s.map(score);
    if cli.json {
        let one = |s: Option<LevelScore>| {
            [
                of(s, |s| s.absolute_error),
                of(s, |s| s.ranked_probability),
                of(s, |s| s.log_loss).filter(|x| x.is_finite()),
            ]
        };
        let columns: Vec<Value> = (features.iter().zip(&each))
            .map(|(f, s)| {
                let [error, ranked, loss] = one(*s);
                json!({
                    "name": f.name, "values": f.truth.len(), "absolute_error": error,
                    "ranked_probability": ranked, "log_loss": loss,
                })
            })
            .collect();
        let [error, ranked, loss] = one(all);
        return print_json(&json!({
            "kind": "ordinal", "samples": samples, "columns": columns,
            "absolute_error": error, "ranked_probability": ranked, "log_loss": loss,
        }));
    }
    line(format!(
        "{}, {}",
        counted(samples, "sample"),
        counted(features.len(), "column")
    ))?;
    figures(&[
        (
            "levels off, mean over values",
            number(of(all, |s| s.absolute_error)),
        ),
        (
            "ranked probability score",
            number(of(all, |s| s.ranked_probability)),
        ),
        ("log loss, nats", number(of(all, |s| s.log_loss))),
    ])?;
    line("")?;
    let header = ["column", "values", "levels off", "RPS", "log loss"].map(str::to_owned);
    let rows: Vec<Vec<String>> = (features.iter().zip(&each))
        .map(|(f, s)| {
            vec![
                f.name.clone(),
                f.truth.len().to_string(),
                number(of(*s, |s| s.absolute_error)),
                number(of(*s, |s| s.ranked_probability)),
                number(of(*s, |s| s.log_loss)),
            ]
        })
        .collect();
    table(&header, &rows)
}

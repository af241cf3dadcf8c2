//! One class a sample.

use std::collections::{BTreeSet, HashSet};
use std::path::Path;

use polyview::metrics::{
    AucTable, CalibrationBin, Confusion, LogLoss, auc_by_class, calibration, class_brier,
    class_log_loss,
};
use polyview_core::{ClassPlaces, whole_number};
use polyview_io::{ReadOptions, StringTable, read_string_table, read_table};
use polyview_linalg::Mat;
use serde_json::{Value, json};

use super::join::shared;
use super::labels::is_of_words;
use super::{
    BINS, average, average_text, calibration_json, calibration_table, figures, print_json,
    undefined,
};
use crate::args::{Cli, ScoreArgs};
use crate::commands::columns::CHOSEN;
use crate::failure::{Failure, Outcome};
use crate::output::{counted, line, number, table};

/// Matched truths and predictions.
struct Cells {
    samples: Vec<String>,
    classes: Vec<String>,
    truth: Vec<Option<usize>>,
    chosen: Vec<usize>,
    /// Samples × classes, where the file has them.
    probabilities: Option<Mat<f64>>,
}

/// What probabilities allow to score.
struct Probable {
    areas: AucTable,
    loss: LogLoss,
    brier: Option<f64>,
    bins: Vec<CalibrationBin>,
}

/// How the truth is read.
fn classes(args: &ScoreArgs) -> ReadOptions {
    let mut options = ReadOptions::classes("truth");
    args.format.set(&mut options);
    options
}

/// The places of classes by their names.
fn places(classes: &[String]) -> ClassPlaces<'_> {
    ClassPlaces::of(classes.iter().map(String::as_str))
}

/// Words as classes: where all are whole numbers, one for each of these.
fn as_classes(words: BTreeSet<&str>) -> Vec<String> {
    let numbers: Option<Vec<i64>> = words.iter().map(|w| whole_number(w)).collect();
    let mut seen = HashSet::new();
    let place = |n: usize| numbers.as_ref().map_or(n as i64, |numbers| numbers[n]);
    let first = words.into_iter().enumerate();
    let first = first.filter(|(n, _)| seen.insert(place(*n)));
    first.map(|(_, word)| word.to_owned()).collect()
}

/// The column of chosen classes.
fn chosen_column(predicted: &StringTable, feature: &str) -> Option<usize> {
    let at = |name: &str| predicted.columns.iter().position(|c| c == name);
    at(&format!("{feature}{CHOSEN}")).or_else(|| at(feature))
}

/// Adds the most probable classes to a file that has probabilities alone, as
/// `impute --probabilities` writes it.
fn with_choices(mut predicted: StringTable, feature: &str, levels: &[String]) -> StringTable {
    let number = |cell: &Option<String>| cell.as_deref().and_then(|c| c.parse::<f64>().ok());
    let known = places(levels);
    let is_class = |c: &String| known.at(c).is_some();
    if chosen_column(&predicted, feature).is_some() || !predicted.columns.iter().any(is_class) {
        return predicted;
    }
    let mut best: Vec<(usize, f64)> = vec![(0, f64::NEG_INFINITY); predicted.samples.len()];
    for (c, cells) in predicted.values.iter().enumerate() {
        for (best, cell) in best.iter_mut().zip(cells) {
            match number(cell) {
                None => return predicted,
                Some(p) if p > best.1 => *best = (c, p),
                Some(_) => {}
            }
        }
    }
    let chosen = best
        .into_iter()
        .map(|(c, _)| Some(predicted.columns[c].clone()));
    let chosen = chosen.collect();
    predicted.columns.push(feature.to_owned());
    predicted.values.push(chosen);
    predicted
}

/// Refuses predictions that are numbers, none of which is a class of the truth, or of which
/// some are neither classes nor whole: probabilities or means, of which every other one would
/// be a class.
fn numbers_for_classes<'a>(
    args: &ScoreArgs,
    levels: &[String],
    mut chosen: impl Iterator<Item = &'a str> + Clone,
) -> Outcome<()> {
    let known = places(levels);
    let no_class = |word: &str| known.at(word).is_none();
    let is_none = |word: &str| word.parse::<f64>().is_ok() && no_class(word);
    let is_broken = |word: &&str| {
        let number = word.parse::<f64>();
        number.is_ok_and(|x| x.fract() != 0.0) && no_class(word)
    };
    let broken = chosen.clone().find(is_broken);
    let what = match (broken, chosen.clone().next()) {
        (Some(number), _) => {
            format!("the second file holds numbers such as {number}, which is no class")
        }
        (None, Some(first)) if chosen.all(is_none) => format!(
            "the second file holds numbers, the first of them {first}, and none is a class of the first"
        ),
        _ => return Ok(()),
    };
    Err(Failure::Tables {
        first: args.truth.clone(),
        second: args.predicted.clone(),
        what: format!(
            "{what}; score probabilities of a 1 with --kind binary, numbers with --kind real; for \
             classes fit the view as categorical"
        ),
    })
}

fn matched(cli: &Cli, args: &ScoreArgs) -> Outcome<Cells> {
    let truth = read_table(&args.truth, &classes(args))?;
    let feature = &truth.features[0];
    let predicted = read_string_table(&args.predicted, &ReadOptions::default())?;
    let predicted = with_choices(predicted, feature, &truth.levels);
    let at = chosen_column(&predicted, feature).ok_or_else(|| Failure::Tables {
        first: args.truth.clone(),
        second: args.predicted.clone(),
        what: format!(
            "the second file has no column '{feature}', which holds the classes of the first; it has '{}'; give both the same name",
            predicted.columns.join("', '")
        ),
    })?;
    let both = shared(
        cli,
        "sample",
        (&args.truth, &truth.samples),
        (&args.predicted, &predicted.samples),
    )?;
    let of_class: Vec<usize> = if is_of_words(&predicted.columns) {
        // the probability of one of two labels, which --kind binary scores
        Vec::new()
    } else {
        (0..predicted.columns.len()).filter(|&c| c != at).collect()
    };
    let words = |n: usize| predicted.values[at][both.second[n]].as_deref();
    let codes = truth.values.col(0);
    let true_word = |n: usize| {
        let code = codes[both.first[n]];
        (!code.is_nan()).then(|| truth.levels[code as usize].as_str())
    };
    if of_class.is_empty() {
        let rows = 0..both.names.len();
        numbers_for_classes(args, &truth.levels, rows.filter_map(words))?;
    }
    let classes: Vec<String> = if of_class.is_empty() {
        let all = (0..both.names.len()).flat_map(|n| [true_word(n), words(n)]);
        as_classes(all.flatten().collect())
    } else {
        of_class
            .iter()
            .map(|&c| predicted.columns[c].clone())
            .collect()
    };
    let of_name = places(&classes);
    let place = |word: &str| of_name.at(word);
    let bad = |path: &Path, n: usize, column: &str, found: String| Failure::Cell {
        path: path.to_owned(),
        sample: both.names[n].clone(),
        column: column.to_owned(),
        found,
    };
    let (mut known, mut chosen) = (Vec::new(), Vec::new());
    for n in 0..both.names.len() {
        known.push(match true_word(n) {
            None => None,
            Some(w) => Some(place(w).ok_or_else(|| {
                let found = format!(
                    "the predictions have no column for the class '{w}'; empty the cell, or train the model on that class"
                );
                bad(&args.truth, n, feature, found)
            })?),
        });
        let said = words(n).and_then(place).ok_or_else(|| {
            let found = match words(n) {
                Some(w) => format!("'{w}' is none of the classes {classes:?}; correct it"),
                None => "the cell is empty; predict it, or remove the sample".into(),
            };
            bad(&args.predicted, n, &predicted.columns[at], found)
        })?;
        chosen.push(said);
    }
    let mut probabilities = Mat::zeros(both.names.len(), of_class.len());
    for (j, &c) in of_class.iter().enumerate() {
        for n in 0..both.names.len() {
            let cell = predicted.values[c][both.second[n]].as_deref().unwrap_or("");
            let p = cell.parse::<f64>().ok().filter(|p| (0.0..=1.0).contains(p));
            probabilities[(n, j)] = p.ok_or_else(|| {
                let found = format!("'{cell}' is no probability; give a number from 0 to 1");
                bad(&args.predicted, n, &classes[j], found)
            })?;
        }
    }
    for n in 0..both.names.len() {
        let sum: f64 = (0..of_class.len()).map(|c| probabilities[(n, c)]).sum();
        if !of_class.is_empty() && (sum - 1.0).abs() > 1e-6 {
            let found = format!(
                "the probabilities of this sample add up to {sum}, not to 1; write all digits"
            );
            return Err(bad(&args.predicted, n, &classes[0], found));
        }
    }
    Ok(Cells {
        samples: both.names,
        truth: known,
        chosen,
        probabilities: (!of_class.is_empty()).then_some(probabilities),
        classes,
    })
}

fn probable(c: &Cells) -> Outcome<Option<Probable>> {
    let Some(p) = &c.probabilities else {
        return Ok(None);
    };
    let (mut right, mut sure) = (Vec::new(), Vec::new());
    for (n, t) in c.truth.iter().enumerate() {
        if let Some(t) = *t {
            right.push(t == c.chosen[n]);
            sure.push(p[(n, c.chosen[n])]);
        }
    }
    Ok(Some(Probable {
        areas: auc_by_class(&c.truth, p.as_ref())?,
        loss: class_log_loss(&c.truth, p.as_ref())?,
        brier: class_brier(&c.truth, p.as_ref())?,
        bins: calibration(&right, &sure, BINS)?,
    }))
}

/// Scores classes.
pub fn run(cli: &Cli, args: &ScoreArgs) -> Outcome<()> {
    let c = matched(cli, args)?;
    let confusion = Confusion::new(&c.truth, &c.chosen, c.classes.len())?;
    let p = probable(&c)?;
    if cli.json {
        return print_json(&as_json(&c, &confusion, p.as_ref()));
    }
    let of = c.classes.len();
    let scored = c.samples.len() - confusion.left_out;
    line(format!(
        "{} with a true class, {}",
        counted(scored, "sample"),
        counted(of, "class")
    ))?;
    let balanced = confusion.balanced_accuracy();
    let mut rows = vec![
        ("share right", number(confusion.accuracy())),
        ("balanced share right", average_text(&balanced, of)),
    ];
    if let Some(p) = &p {
        let (weighted, plain) = (p.areas.weighted_average(), p.areas.macro_average());
        rows.push(("AUC, classes by their size", average_text(&weighted, of)));
        rows.push(("AUC, plain mean", average_text(&plain, of)));
        rows.push(("log loss", number(p.loss.mean)));
        rows.push(("Brier score (0 to 2)", number(p.brier)));
    }
    figures(&rows)?;
    line("")?;
    line("true class (down) and predicted class (across)")?;
    let mut header = vec!["class".to_owned()];
    header.extend(c.classes.iter().cloned());
    header.push("right".into());
    if p.is_some() {
        header.push("AUC".into());
    }
    let recalls = confusion.recalls();
    let rows: Vec<Vec<String>> = (0..of)
        .map(|t| {
            let mut row = vec![c.classes[t].clone()];
            row.extend(confusion.counts[t].iter().map(usize::to_string));
            row.push(number(recalls[t]));
            row.extend(p.iter().map(|p| number(p.areas.labels[t].auc)));
            row
        })
        .collect();
    table(&header, &rows)?;
    if let Some(p) = &p {
        calibration_table("calibration of the chosen class", "share right", &p.bins)?;
    }
    undefined(&what_is_undefined(&c, &recalls, p.as_ref()))
}

fn what_is_undefined(c: &Cells, recalls: &[Option<f64>], p: Option<&Probable>) -> Vec<String> {
    let mut out = Vec::new();
    for (t, name) in c.classes.iter().enumerate() {
        if recalls[t].is_none() {
            out.push(format!("scores of the class '{name}': no sample has it"));
        } else if p.is_some_and(|p| p.areas.labels[t].auc.is_none()) {
            out.push(format!("AUC of the class '{name}': every sample has it"));
        }
    }
    if let Some(p) = p
        && !p.loss.impossible.is_empty()
    {
        let first = &c.samples[p.loss.impossible[0]];
        out.push(format!(
            "a finite log loss: the true class of {} sample(s) had probability 0, first '{first}'",
            p.loss.impossible.len()
        ));
    }
    out
}

fn as_json(c: &Cells, confusion: &Confusion, p: Option<&Probable>) -> Value {
    let mut out = json!({
        "kind": "categorical",
        "samples": c.samples.len() - confusion.left_out,
        "left_out": confusion.left_out,
        "classes": c.classes,
        "accuracy": confusion.accuracy(),
        "balanced_accuracy": average(&confusion.balanced_accuracy(), &c.classes),
        "recalls": confusion.recalls(),
        "confusion": confusion.counts,
    });
    if let Some(p) = p {
        out["auc"] = p.areas.labels.iter().map(|l| json!(l.auc)).collect();
        out["auc_weighted"] = average(&p.areas.weighted_average(), &c.classes);
        out["auc_macro"] = average(&p.areas.macro_average(), &c.classes);
        out["log_loss"] = json!(p.loss.mean.filter(|l| l.is_finite()));
        let impossible = p.loss.impossible.iter().map(|&n| json!(c.samples[n]));
        out["impossible"] = impossible.collect();
        out["brier"] = json!(p.brier);
        out["calibration"] = calibration_json(&p.bins);
    }
    out
}

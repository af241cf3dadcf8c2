//! Probabilities of zeros and ones.

use polyview::metrics::{LabelScore, auc_by_label, calibration};
use serde_json::{Value, json};

use super::join::{Cells, Read, cells};
use super::labels::{self, Labels};
use super::{
    BINS, average, average_text, calibration_json, calibration_table, figures, print_json,
    undefined,
};
use crate::args::{Cli, ScoreArgs};
use crate::failure::{Failure, Outcome};
use crate::output::{counted, line, number, prose, table};
use crate::remarks::say;

/// The scores of one label, or of all of them.
fn as_json(s: &LabelScore) -> Value {
    json!({
        "values": s.values,
        "ones": s.ones,
        "log_loss": s.log_loss.mean.filter(|l| l.is_finite()),
        "impossible": s.log_loss.impossible.len(),
        "brier": s.brier,
        "accuracy": s.confusion.accuracy(),
        "balanced_accuracy": s.balanced_accuracy(),
        "confusion": s.confusion.counts,
    })
}

/// Truths and probabilities of one column, where the truth is known.
fn column(c: &Cells, d: usize) -> (Vec<bool>, Vec<f64>) {
    (0..c.samples.len())
        .filter(|&n| !c.truth[(n, d)].is_nan())
        .map(|n| (c.truth[(n, d)] > 0.5, c.predicted[0][(n, d)]))
        .unzip()
}

fn check_probabilities(c: &Cells, file: &Read) -> Outcome<()> {
    for (d, column) in c.columns.iter().enumerate() {
        for (n, sample) in c.samples.iter().enumerate() {
            let p = c.predicted[0][(n, d)];
            if !(p.is_nan() || (0.0..=1.0).contains(&p)) {
                return Err(Failure::Cell {
                    path: file.path.clone(),
                    sample: sample.clone(),
                    column: column.clone(),
                    found: format!(
                        "{p} is no probability; give numbers from 0 to 1, or choose --kind real"
                    ),
                });
            }
        }
    }
    Ok(())
}

/// Says where predictions are choices: scores of probabilities make little of
/// them.
fn note_choices(cli: &Cli, c: &Cells, file: &Read) {
    let p = &c.predicted[0];
    let is_choice = |d: &usize| p.col(*d).iter().all(|p| *p == 0.0 || *p == 1.0);
    for column in (0..c.columns.len())
        .filter(is_choice)
        .map(|d| &c.columns[d])
    {
        say(
            cli,
            format!(
                "note: {}: column '{column}' holds no probabilities, each prediction is 0 or 1; log loss, Brier score, AUC and \
                 calibration take it for certain",
                file.path.display()
            ),
        );
    }
}

/// Scores labels.
pub fn run(cli: &Cli, args: &ScoreArgs) -> Outcome<()> {
    let Labels {
        truth,
        predicted,
        positive,
    } = labels::read(cli, args, &args.format.options())?;
    let c = cells(cli, &truth, &[&predicted])?;
    check_probabilities(&c, &predicted)?;
    note_choices(cli, &c, &predicted);
    let areas = auc_by_label(c.truth.as_ref(), c.predicted[0].as_ref())?;
    let mut each = Vec::with_capacity(c.columns.len());
    let (mut truths, mut probabilities) = (Vec::new(), Vec::new());
    for d in 0..c.columns.len() {
        let (t, p) = column(&c, d);
        each.push(LabelScore::new(&t, &p)?);
        truths.extend(t);
        probabilities.extend(p);
    }
    let all = LabelScore::new(&truths, &probabilities)?;
    let bins = calibration(&truths, &probabilities, BINS)?;
    let (weighted, plain) = (areas.weighted_average(), areas.macro_average());
    if cli.json {
        let labels: Vec<Value> = (0..each.len())
            .map(|d| {
                let mut v = as_json(&each[d]);
                v["name"] = json!(c.columns[d]);
                v["auc"] = json!(areas.labels[d].auc);
                v
            })
            .collect();
        return print_json(&json!({
            "kind": "binary",
            "positive": positive,
            "samples": c.samples.len(),
            "labels": labels,
            "auc_weighted": average(&weighted, &c.columns),
            "auc_macro": average(&plain, &c.columns),
            "all": as_json(&all),
            "calibration": calibration_json(&bins),
        }));
    }
    prose(format!(
        "{}, {}; TP and FN: ones taken for 1 and 0, FP and TN: zeros, cut at 1/2",
        counted(c.samples.len(), "sample"),
        counted(c.columns.len(), "label")
    ))?;
    if let Some(word) = &positive {
        line(format!("a one stands for '{word}'"))?;
    }
    let of = c.columns.len();
    figures(&[
        ("AUC, labels by their ones", average_text(&weighted, of)),
        ("AUC, plain mean", average_text(&plain, of)),
        ("log loss of all values", number(all.log_loss.mean)),
        ("Brier score of all values", number(all.brier)),
    ])?;
    line("")?;
    let header = [
        "label", "values", "ones", "AUC", "log loss", "Brier", "right", "balanced", "TP", "FN",
        "FP", "TN",
    ]
    .map(str::to_owned);
    let rows: Vec<Vec<String>> = each
        .iter()
        .enumerate()
        .map(|(d, s)| {
            let count = |t: usize, p: usize| s.confusion.counts[t][p].to_string();
            let cells = [
                c.columns[d].clone(),
                s.values.to_string(),
                s.ones.to_string(),
                number(areas.labels[d].auc),
                number(s.log_loss.mean),
                number(s.brier),
                number(s.confusion.accuracy()),
                number(s.balanced_accuracy()),
            ];
            let counts = [count(1, 1), count(1, 0), count(0, 1), count(0, 0)];
            cells.into_iter().chain(counts).collect()
        })
        .collect();
    table(&header, &rows)?;
    calibration_table("calibration of all values", "share of ones", &bins)?;
    undefined(&what_is_undefined(&c, &each))
}

fn what_is_undefined(c: &Cells, each: &[LabelScore]) -> Vec<String> {
    let mut out = Vec::new();
    for (name, s) in c.columns.iter().zip(each) {
        if s.values == 0 {
            out.push(format!("every score of '{name}': no true value is known"));
        } else if s.ones == 0 || s.ones == s.values {
            let one = u8::from(s.ones > 0);
            out.push(format!(
                "AUC and balanced accuracy of '{name}': all true values are {one}"
            ));
        }
        if !s.log_loss.impossible.is_empty() {
            out.push(format!(
                "a finite log loss of '{name}': {} true value(s) had probability 0",
                s.log_loss.impossible.len()
            ));
        }
    }
    out
}

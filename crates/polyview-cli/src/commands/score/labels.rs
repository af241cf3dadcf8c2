//! Zeros and ones, or labels that are words: which word the probabilities are
//! of is found in the file of predictions.

use std::path::Path;

use polyview_core::Table;
use polyview_io::{IoError, NumberHint, ReadOptions, StringTable, read_string_table};
use polyview_linalg::Mat;

use super::join::{Read, shared};
use crate::args::{Cli, ScoreArgs};
use crate::commands::columns::{CHOSEN, PROBABILITY_OF, SCORE};
use crate::failure::{Failure, Outcome};
use crate::inputs::zeros_and_ones;

/// The column of probabilities as older files have it.
const PROBABILITY: &str = "probability";

/// Truth of zeros and ones, and probabilities of the ones.
pub struct Labels {
    /// The truth.
    pub truth: Read,
    /// The probabilities.
    pub predicted: Read,
    /// The word that a one stands for, where labels are words.
    pub positive: Option<String>,
}

/// Whether these are the columns that `predict` writes of a view of `--labels`:
/// chosen words, perhaps scores, and the probabilities of one word.
pub fn is_of_words(columns: &[String]) -> bool {
    let is_probability = |c: &String| c == PROBABILITY || c.starts_with(PROBABILITY_OF);
    match columns {
        [_, p] => is_probability(p),
        [_, score, p] => score == SCORE && is_probability(p),
        _ => false,
    }
}

/// Reads both files.
pub fn read(cli: &Cli, args: &ScoreArgs, options: &ReadOptions) -> Outcome<Labels> {
    let own = ReadOptions::default();
    let predicted = match Read::numbers(&args.predicted, &own) {
        Ok(table) if is_of_words(&table.table.features) => None,
        Ok(table) => Some(table),
        Err(e) if is_words(&e) => None,
        Err(e) => return Err(e),
    };
    if let Some(predicted) = predicted {
        if let Some(found) = of_two_words(args, options, &predicted)? {
            return Ok(found);
        }
        return Ok(Labels {
            truth: plain_truth(cli, args, options, &predicted)?,
            predicted,
            positive: args.positive.clone(),
        });
    }
    let words = read_string_table(&args.predicted, &own)?;
    if !is_of_words(&words.columns) {
        return Err(Failure::Usage(format!(
            "{}: there are words and no column '{PROBABILITY_OF}WORD'; give the file of 'polyview predict' or of 'polyview impute --probabilities', or score the words with --kind categorical",
            args.predicted.display()
        )));
    }
    of_words(args, options, &words)
}

/// Whether words stood where numbers belong.
fn is_words(e: &Failure) -> bool {
    let Failure::Io(IoError::NotNumber { hint, .. }) = e else {
        return false;
    };
    *hint == NumberHint::Words
}

/// The truth beside a table of probabilities.
fn plain_truth(
    cli: &Cli,
    args: &ScoreArgs,
    options: &ReadOptions,
    predicted: &Read,
) -> Outcome<Read> {
    let path = &args.truth;
    let Some(positive) = &args.positive else {
        let truth = Read::numbers(path, options).map_err(|e| match e {
            e if is_words(&e) => Failure::Usage(format!(
                "{e}; where the truth is words, say with --positive WORD which one the probabilities are of"
            )),
            e => e,
        })?;
        let mend = "correct it, leave the cell empty, or choose another --kind, or say with --positive which value the probabilities are of";
        zeros_and_ones(path, &truth.table.clone().into(), mend)?;
        return Ok(truth);
    };
    let words = read_string_table(path, options)?;
    let columns = shared(
        cli,
        "column",
        (path, &words.columns),
        (&predicted.path, &predicted.table.features),
    )?;
    let mut known = columns
        .first
        .iter()
        .flat_map(|&c| &words.values[c])
        .flatten();
    if !known.any(|w| same(w, positive)) {
        return Err(Failure::Usage(format!(
            "--positive: '{positive}' does not stand in {}; give one of its words",
            path.display()
        )));
    }
    let mut values = Mat::zeros(words.samples.len(), columns.names.len());
    for (d, column) in columns.names.iter().enumerate() {
        let codes = codes(path, &words, column, positive, None)?;
        values.col_as_slice_mut(d).copy_from_slice(&codes);
    }
    Ok(Read::made(path, words.samples, columns.names, values))
}

/// Truth and predictions of one label, where the predictions are the probabilities of
/// its two words, a column each, as `impute --probabilities` writes them.
fn of_two_words(
    args: &ScoreArgs,
    options: &ReadOptions,
    predicted: &Read,
) -> Outcome<Option<Labels>> {
    let [zero, one] = predicted.table.features.as_slice() else {
        return Ok(None);
    };
    let Ok(truth) = read_string_table(&args.truth, options) else {
        // a truth of numbers in another form is read as such
        return Ok(None);
    };
    let is_one_of = |w: &String| same(w, zero) || same(w, one);
    let of_words = |cells: &Vec<Option<String>>| {
        cells.iter().flatten().all(is_one_of) && cells.iter().flatten().next().is_some()
    };
    let columns = truth.columns.iter().zip(&truth.values);
    let found: Vec<&String> = (columns.filter(|(_, cells)| of_words(cells)))
        .map(|(name, _)| name)
        .collect();
    let name = match found[..] {
        [] => return Ok(None),
        [name] => name,
        // nothing in a file of probabilities says which of them it is of
        [first, second, ..] => {
            return Err(Failure::Tables {
                first: args.truth.clone(),
                second: args.predicted.clone(),
                what: format!(
                    "the columns '{first}' and '{second}' of the first file both hold '{zero}' and '{one}', whose \
                     probabilities are in the second; keep the column of the truth that was predicted alone"
                ),
            });
        }
    };
    let asked = args.positive.as_ref();
    if let Some(asked) = asked.filter(|w| !is_one_of(w)) {
        return Err(Failure::Usage(format!(
            "--positive: the probabilities of {} are of '{zero}' and '{one}', not of '{asked}'; give one of these, or leave it out",
            args.predicted.display()
        )));
    }
    let at = usize::from(!asked.is_some_and(|w| same(w, zero)));
    let [positive, negative] = if at == 1 { [one, zero] } else { [zero, one] };
    let codes = codes(&args.truth, &truth, name, positive, Some(negative.as_str()))?;
    let values = predicted.table.values.col(at);
    let (positive, name) = (Some(positive.clone()), vec![name.clone()]);
    let p = Mat::from_fn(values.nrows(), 1, |n, _| values[n]);
    let samples = predicted.table.samples.clone();
    let truths = Mat::from_fn(codes.len(), 1, |n, _| codes[n]);
    Ok(Some(Labels {
        predicted: Read::made(&args.predicted, samples, name.clone(), p),
        truth: Read::made(&args.truth, truth.samples, name, truths),
        positive,
    }))
}

/// Truth and predictions of one label whose values are words.
fn of_words(args: &ScoreArgs, options: &ReadOptions, found: &StringTable) -> Outcome<Labels> {
    let truth = read_string_table(&args.truth, options)?;
    let chosen = &found.columns[0];
    let plain = chosen.strip_suffix(CHOSEN).unwrap_or(chosen);
    let name = [chosen.as_str(), plain]
        .into_iter()
        .find(|name| truth.column(name).is_some())
        .ok_or_else(|| Failure::Tables {
            first: args.truth.clone(),
            second: args.predicted.clone(),
            what: format!(
                "the first file has no column '{plain}', which the second predicts; it has '{}'; give both the same name",
                truth.columns.join("', '")
            ),
        })?;
    let at = found.columns.len() - 1;
    let mut p = Vec::with_capacity(found.samples.len());
    for (sample, cell) in found.samples.iter().zip(&found.values[at]) {
        let number = cell.as_deref().map_or(Ok(f64::NAN), str::parse);
        p.push(number.map_err(|_| Failure::Cell {
            path: args.predicted.clone(),
            sample: sample.clone(),
            column: found.columns[at].clone(),
            found: "this is no probability; give a number from 0 to 1".into(),
        })?);
    }
    let word = |likely: bool| {
        let mut all = p.iter().zip(&found.values[0]);
        all.find(|(p, w)| w.is_some() && if likely { **p > 0.5 } else { **p < 0.5 })
            .and_then(|(_, w)| w.clone())
    };
    let negative = word(false);
    let said = found.columns[at].strip_prefix(PROBABILITY_OF);
    let positive = match (said, &args.positive) {
        (Some(said), Some(asked)) if said != asked => {
            return Err(Failure::Usage(format!(
                "--positive: the probabilities of {} are of '{said}', not of '{asked}'; leave it out",
                args.predicted.display()
            )));
        }
        (Some(said), _) => said.to_owned(),
        (None, Some(asked)) => asked.clone(),
        (None, None) => word(true)
            .or_else(|| other(truth.column(name)?, negative.as_deref()?))
            .ok_or_else(|| {
                Failure::Usage(format!(
                    "{}: it does not say which word its probabilities are of; say it with --positive WORD",
                    args.predicted.display()
                ))
            })?,
    };
    let negative = negative.as_deref().filter(|w| !same(w, &positive));
    let codes = codes(&args.truth, &truth, name, &positive, negative)?;
    let column = |values: &[f64]| Mat::from_fn(values.len(), 1, |n, _| values[n]);
    let (samples, name) = (found.samples.clone(), vec![name.to_owned()]);
    Ok(Labels {
        predicted: Read::made(&args.predicted, samples, name.clone(), column(&p)),
        truth: Read::made(&args.truth, truth.samples, name, column(&codes)),
        positive: Some(positive),
    })
}

/// The one word of a column that is not this one.
fn other(cells: &[Option<String>], word: &str) -> Option<String> {
    let mut others = cells.iter().flatten().filter(|w| !same(w, word));
    let found = others.next()?;
    others.all(|w| w == found).then(|| found.clone())
}

/// Whether two words are one, or one number.
fn same(a: &str, b: &str) -> bool {
    let number = |w: &str| w.parse::<f64>().ok();
    a == b || number(a).is_some_and(|x| number(b) == Some(x))
}

/// A column as 1 where that word stands, 0 where another one does, `NaN` where
/// none does.
fn codes(
    path: &Path,
    table: &StringTable,
    column: &str,
    positive: &str,
    negative: Option<&str>,
) -> Outcome<Vec<f64>> {
    let cells = table.column(column).unwrap_or_default();
    let mut negative = negative;
    let mut out = Vec::with_capacity(cells.len());
    for (n, cell) in cells.iter().enumerate() {
        out.push(match cell.as_deref() {
            None => f64::NAN,
            Some(w) if same(w, positive) => 1.0,
            Some(w) if same(w, negative.unwrap_or(w)) => {
                negative = Some(w);
                0.0
            }
            Some(w) => {
                let other = negative.unwrap_or_default();
                return Err(Failure::Cell {
                    path: path.to_owned(),
                    sample: table.samples[n].clone(),
                    column: column.to_owned(),
                    found: format!(
                        "'{w}' is neither '{other}' nor '{positive}'; a label has two values, correct it or empty the cell"
                    ),
                });
            }
        });
    }
    Ok(out)
}

impl Read {
    /// Numbers that were made of what stands in a file.
    fn made(path: &Path, samples: Vec<String>, features: Vec<String>, values: Mat<f64>) -> Self {
        Self {
            path: path.to_owned(),
            table: Table {
                name: String::new(),
                samples,
                features,
                values,
                levels: Vec::new(),
            },
        }
    }
}

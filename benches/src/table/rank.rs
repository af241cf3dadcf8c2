//! Tables 2 to 5 of the max-margin rank-likelihood paper (spec/maxmargin-rank
//! 10), each model beside its two-step version and logistic regression.

use std::error::Error;
use std::path::Path;
use std::time::Instant;

use polyview::models::Table1;
use polyview::{Fit, ModelSpec, ProjectOptions, ViewChoices, metrics};
use polyview_baselines::{BaselineError, parts, stratified};
use polyview_core::Table;
use polyview_io::{ReadOptions, StringTable, read_string_table, read_table};
use polyview_linalg::Mat;

use super::data::{build, rows};
use super::linear::{self, Linear};
use super::options::Options;
use crate::sheet::{NOTHING, Printed};

/// What the paper has: error in % of the seven models of its Table 1, where
/// it gives them.
type Paper = [Option<f64>; 7];

const USPS: Paper = [
    Some(5.95),
    Some(5.86),
    Some(5.05),
    Some(4.92),
    Some(4.53),
    Some(3.88),
    Some(3.23),
];
const MNIST: Paper = [
    None,
    Some(5.05),
    None,
    None,
    Some(4.84),
    Some(4.21),
    Some(2.10),
];

/// One label of one split.
struct Task {
    x: [Table; 2],
    y: [Vec<bool>; 2],
}

/// Scores of one way on one task.
struct Score {
    error: f64,
    area: f64,
    seconds: f64,
}

/// Digits 3 against 5: `pixels.csv` (or `pix.csv`) and `digit.csv`, of
/// which each repeat trains on a random half; or both with `train_` and `test_`
/// before their names, which are then the halves; folds of the training halves
/// where something is to be chosen.
///
/// # Errors
/// What files, data and fits refuse.
pub fn digits(o: &Options, out: &mut Printed) -> Result<(), Box<dyn Error>> {
    let paper = match o.table.as_str() {
        "rank-2" => USPS,
        "rank-3" => MNIST,
        _ => [None; 7],
    };
    let mut tasks = Vec::new();
    if o.data.join("train_digit.csv").exists() {
        let [a, b] = ["train_", "test_"].map(|half| three_and_five(&o.data, half));
        let ((xa, ya), (xb, yb)) = (a?, b?);
        tasks.push(Task {
            x: [xa, xb],
            y: [ya, yb],
        });
    } else {
        let (x, y) = three_and_five(&o.data, "")?;
        for r in 0..o.repeats {
            tasks.push(split(&x, &y, 2, 0, o.seed + r as u64)?);
        }
    }
    if let Some(folds) = o.validate {
        let of = |t: &Task| {
            let of_fold = |f| split(&t.x[0], &t.y[0], folds, f, o.seed);
            (0..folds).map(of_fold).collect::<Vec<_>>()
        };
        tasks = tasks.iter().flat_map(of).collect::<Result<_, _>>()?;
    }
    let [a, b] = [0, 1].map(|h| tasks.first().map_or(0, |t| t.y[h].len()));
    head(
        out,
        &format!(
            "{}: 3 against 5, {a} to train, {b} to test, {} repeats",
            o.table,
            tasks.len()
        ),
    )?;
    block(o, out, &tasks, &paper)
}

/// Expression: `expression.csv` (or `counts.csv`) and `labels.csv` (or
/// `group.csv`), a task a column, each by ten-fold cross-validation.
///
/// # Errors
/// What files, data and fits refuse.
pub fn expression(o: &Options, out: &mut Printed) -> Result<(), Box<dyn Error>> {
    let file = |names: [&str; 2]| {
        let all = names.map(|n| o.data.join(format!("{n}.csv")));
        all.iter()
            .find(|p| p.exists())
            .cloned()
            .ok_or_else(|| format!("no {} in {}", names.join(".csv or "), o.data.display()))
    };
    let x = read_table(file(["expression", "counts"])?, &ReadOptions::named("x"))?;
    let labels = read_string_table(file(["labels", "group"])?, &ReadOptions::default())?;
    for (c, column) in labels.columns.iter().enumerate() {
        let (x, y) = labelled(&x, &labels, c)?;
        let folds = o.validate.unwrap_or(10).min(y.len());
        let tasks: Vec<Task> = (0..folds)
            .map(|f| split(&x, &y, folds, f, o.seed))
            .collect::<Result<_, _>>()?;
        head(out, &format!("{}: {column}, {folds} folds", o.table))?;
        block(o, out, &tasks, &[None; 7])?;
    }
    Ok(())
}

/// Samples with a label, which is whether the value is the last of two.
fn labelled(
    x: &Table,
    labels: &StringTable,
    column: usize,
) -> Result<(Table, Vec<bool>), Box<dyn Error>> {
    let mut values: Vec<&String> = labels.values[column].iter().flatten().collect();
    values.sort_unstable();
    values.dedup();
    let [_, one] = values[..] else {
        return Err(format!("'{}' has not two values", labels.columns[column]).into());
    };
    let (mut kept, mut y) = (Vec::new(), Vec::new());
    for (n, sample) in x.samples.iter().enumerate() {
        let at = labels.samples.iter().position(|s| s == sample);
        if let Some(value) = at.and_then(|at| labels.values[column][at].as_ref()) {
            kept.push(n);
            y.push(value == one);
        }
    }
    Ok((rows(x, &kept), y))
}

fn three_and_five(folder: &Path, half: &str) -> Result<(Table, Vec<bool>), Box<dyn Error>> {
    let mut path = folder.join(format!("{half}pixels.csv"));
    if !path.exists() {
        path = folder.join(format!("{half}pix.csv"));
    }
    let x = read_table(path, &ReadOptions::named("x"))?;
    let digit = read_table(
        folder.join(format!("{half}digit.csv")),
        &ReadOptions::named("y"),
    )?;
    let (mut kept, mut y) = (Vec::new(), Vec::new());
    for (n, sample) in x.samples.iter().enumerate() {
        let at = digit.samples.iter().position(|s| s == sample);
        let digit = at.map(|at| digit.values[(at, 0)]);
        if digit == Some(3.0) || digit == Some(5.0) {
            kept.push(n);
            y.push(digit == Some(5.0));
        }
    }
    Ok((rows(&x, &kept), y))
}

/// One fold to test, the others to train.
fn split(
    x: &Table,
    y: &[bool],
    folds: usize,
    fold: usize,
    seed: u64,
) -> Result<Task, BaselineError> {
    let one = Mat::from_fn(y.len(), 1, |n, _| f64::from(u8::from(y[n])));
    let (test, train) = parts(&stratified(one.as_ref(), folds, seed)?, fold);
    let of = |part: &[usize]| part.iter().map(|&n| y[n]).collect();
    Ok(Task {
        x: [rows(x, &train), rows(x, &test)],
        y: [of(&train), of(&test)],
    })
}

fn head(out: &mut Printed, title: &str) -> std::io::Result<()> {
    out.head(
        title,
        &["model", "K", "paper", "error, %", "AUC", "seconds"],
    )
}

/// All models on all tasks, for each number of factors.
fn block(
    o: &Options,
    out: &mut Printed,
    tasks: &[Task],
    paper: &Paper,
) -> Result<(), Box<dyn Error>> {
    for (i, &factors) in o.factor_counts.iter().enumerate() {
        let o = Options {
            factors,
            ..o.clone()
        };
        of_size(&o, out, tasks, paper, i == 0)?;
    }
    Ok(())
}

/// All models of one number of factors; what has none only `once`.
fn of_size(
    o: &Options,
    out: &mut Printed,
    tasks: &[Task],
    paper: &Paper,
    once: bool,
) -> Result<(), Box<dyn Error>> {
    let k = Some(o.factors);
    let wanted = |name: &str| o.only.as_ref().is_none_or(|t| name.starts_with(t.as_str()));
    for (model, paper) in Table1::ALL.into_iter().zip(paper) {
        if wanted(model.name()) {
            let both = tasks.iter().map(|task| joint(o, model, task));
            let (settled, seen): (Vec<Score>, Vec<Score>) =
                both.collect::<Result<Vec<_>, _>>()?.into_iter().unzip();
            line(out, model.name(), k, *paper, &settled)?;
            if o.baselines {
                line(out, "  weights as of the joint fit", k, None, &seen)?;
            }
        }
    }
    if o.baselines {
        for data in ["rank", "ordinary-rank", "gaussian"] {
            let name = format!("{data} factors, then logistic");
            if wanted(&name) {
                line(
                    out,
                    &name,
                    k,
                    None,
                    &each(tasks, |task| two_step(o, data, task))?,
                )?;
            }
        }
        let name = "logistic regression of the data";
        if once && wanted(name) {
            let plain = |task: &Task| logistic(&task.x[0], &task.x[1], task);
            line(out, name, None, None, &each(tasks, plain)?)?;
        }
    }
    Ok(())
}

fn each(
    tasks: &[Task],
    way: impl Fn(&Task) -> Result<(Vec<f64>, f64), Box<dyn Error>>,
) -> Result<Vec<Score>, Box<dyn Error>> {
    tasks
        .iter()
        .map(|task| {
            let clock = Instant::now();
            // scores, and the score above which a sample is a 1
            let (score, cut) = way(task)?;
            Score::new(task, &score, cut, clock)
        })
        .collect()
}

impl Score {
    fn new(task: &Task, score: &[f64], cut: f64, clock: Instant) -> Result<Self, Box<dyn Error>> {
        let seconds = clock.elapsed().as_secs_f64();
        let wrong = score
            .iter()
            .zip(&task.y[1])
            .filter(|(s, y)| (**s > cut) != **y);
        Ok(Self {
            error: 100.0 * wrong.count() as f64 / score.len().max(1) as f64,
            area: metrics::auc(&task.y[1], score)?.unwrap_or(f64::NAN),
            seconds,
        })
    }
}

fn line(
    out: &mut Printed,
    name: &str,
    factors: Option<usize>,
    paper: Option<f64>,
    scores: &[Score],
) -> std::io::Result<()> {
    let with_error = |of: fn(&Score) -> f64, digits: usize| {
        let n = scores.len() as f64;
        let mean = scores.iter().map(of).sum::<f64>() / n;
        let square = scores.iter().map(|s| (of(s) - mean).powi(2)).sum::<f64>();
        let error = (square / (n - 1.0) / n).sqrt();
        if scores.len() > 1 {
            format!("{mean:.digits$} ± {error:.digits$}")
        } else {
            format!("{mean:.digits$}")
        }
    };
    out.row(vec![
        name.to_owned(),
        factors.map_or_else(|| NOTHING.to_owned(), |k| k.to_string()),
        paper.map_or_else(|| NOTHING.to_owned(), |p| format!("{p:.2}")),
        with_error(|s| s.error, 2),
        with_error(|s| s.area, 4),
        with_error(|s| s.seconds, 2),
    ])
}

fn sized(o: &Options, spec: ModelSpec, task: &Task) -> ModelSpec {
    let mut spec = spec;
    spec.factors = o.factors.min(task.y[0].len());
    spec.seed = o.seed;
    spec.restarts = o.restarts;
    spec.vb.max_sweeps = o.max_sweeps;
    spec.vb.tolerance = o.tolerance;
    spec
}

/// Data and labels in one model: with weights of the labels settled on factors
/// that did not see them, and as of the joint fit.
fn joint(o: &Options, model: Table1, task: &Task) -> Result<(Score, Score), Box<dyn Error>> {
    let [x, new] = &task.x;
    let y = Table {
        name: "y".into(),
        features: vec!["y".into()],
        values: Mat::from_fn(x.samples.len(), 1, |n, _| f64::from(u8::from(task.y[0][n]))),
        ..x.clone()
    };
    let spec = sized(
        o,
        model.spec(o.factors, &["y"]).with_settled("y", false),
        task,
    );
    let clock = Instant::now();
    let mut fit = polyview::fit(build([x.clone(), y])?, spec)?;
    let new = build([new.clone()])?;
    let score = |fit: &Fit| -> Result<Score, Box<dyn Error>> {
        let score = fit.predict(&new, "y")?.score.ok_or("labels have scores")?;
        Score::new(task, score.col_as_slice(0), 0.0, clock)
    };
    let seen = score(&fit)?;
    fit.settle(&["y"])?;
    Ok((score(&fit)?, seen))
}

/// Factors first, without labels; then a classifier of the factors.
fn two_step(
    o: &Options,
    data: &'static str,
    task: &Task,
) -> Result<(Vec<f64>, f64), Box<dyn Error>> {
    let mut spec = Table1::RankLinearSvm.spec(o.factors, &[]);
    let choices = ViewChoices {
        likelihood: data.into(),
        ..spec.defaults.clone()
    };
    spec = sized(o, spec.with_view("x", choices), task);
    let [x, new] = &task.x;
    let fit: Fit = polyview::fit(build([x.clone()])?, spec)?;
    // both halves the way of new samples
    let [a, b] = [x, new].map(|t| -> Result<Table, Box<dyn Error>> {
        let z = fit.project(&build([t.clone()])?, &ProjectOptions::default())?;
        Ok(Table {
            features: (0..z.mean.ncols()).map(|k| k.to_string()).collect(),
            values: z.mean,
            ..t.clone()
        })
    });
    logistic(&a?, &b?, task)
}

fn logistic(x: &Table, new: &Table, task: &Task) -> Result<(Vec<f64>, f64), Box<dyn Error>> {
    let y = Mat::from_fn(x.samples.len(), 1, |n, _| f64::from(u8::from(task.y[0][n])));
    let (x, new) = linear::design(&[x], &[new])?;
    let p = linear::fit_and_score(Linear::Logistic, x.as_ref(), y.as_ref(), new.as_ref())?;
    Ok((p.col_as_slice(0).to_vec(), 0.5))
}

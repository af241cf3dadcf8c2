//! The ways to predict the labels of a test half.

use std::collections::HashMap;
use std::error::Error;
use std::time::Instant;

use polyview_core::Table;
use polyview_kernels::{KernelKind, KernelMap, KernelOptions};
use polyview_linalg::Mat;

use super::data::{Half, build, stacked};
use super::linear::{self, Inputs, Linear};
use super::options::Options;
use super::score::Score;

/// A way to predict.
#[derive(Clone, Copy)]
pub enum Way {
    /// Fit the training half, predict from the inputs of the test half
    /// (spec/sshiba 2.3).
    Predictive,
    /// Fit both halves, the labels of the test half missing.
    SemiSupervised,
    /// As [`Way::Predictive`], missing inputs of the training half filled with
    /// the mean of their feature first (spec/sshiba 6.6).
    MeanImputed,
    /// A linear model of the inputs that both halves have, or of components of
    /// them.
    Linear(Linear, Inputs),
    /// Canonical correlation of these inputs and the labels.
    Cca,
    /// The share of each label in the training half.
    Prevalence,
}

/// Trains on `train` and scores on `test`.
///
/// # Errors
/// What a fit or the data refuse.
pub fn score_of(way: Way, train: &Half, test: &Half, o: &Options) -> Result<Score, Box<dyn Error>> {
    let clock = Instant::now();
    let mapped;
    let (train, test) = match (o.gamma, way) {
        (Some(gamma), Way::Predictive | Way::SemiSupervised) => {
            mapped = kernelised(train, test, gamma, o)?;
            (&mapped.0, &mapped.1)
        }
        _ => (train, test),
    };
    let mut score = match way {
        Way::Predictive => {
            let fit = polyview::fit(train.dataset()?, o.spec(train))?;
            let p = fit.predict(&test.input_dataset()?, "labels")?;
            with_fit(Score::of(test, &p.mean, true)?, &fit)
        }
        Way::MeanImputed => {
            return score_of(Way::Predictive, &train.clone().mean_filled(), test, o);
        }
        Way::SemiSupervised => {
            let mut tables = joined(&train.inputs, &test.inputs);
            tables.push(train.target.clone());
            let fit = polyview::fit(build(tables)?, o.spec(train))?;
            let p = fit.fitted("labels")?;
            let place: HashMap<&str, usize> = p
                .samples
                .iter()
                .enumerate()
                .map(|(n, s)| (s.as_str(), n))
                .collect();
            let rows: Vec<usize> = test
                .target
                .samples
                .iter()
                .map(|s| place.get(s.as_str()).copied().ok_or("a sample was lost"))
                .collect::<Result<_, _>>()?;
            let mean = Mat::from_fn(rows.len(), p.mean.ncols(), |n, c| p.mean[(rows[n], c)]);
            with_fit(Score::of(test, &mean, true)?, &fit)
        }
        Way::Linear(..) | Way::Cca => {
            let common: Vec<(&Table, &Table)> = train
                .inputs
                .iter()
                .filter_map(|a| {
                    let b = test.inputs.iter().find(|b| b.name == a.name)?;
                    Some((a, b))
                })
                .collect();
            let (a, b): (Vec<&Table>, Vec<&Table>) = common.into_iter().unzip();
            let (x, new) = linear::design(&a, &b)?;
            let y = train.indicators();
            if let Way::Linear(kind, inputs) = way {
                let (x, new) = linear::reduced(inputs, x, y.as_ref(), new)?;
                let mut p = linear::fit_and_score(kind, x.as_ref(), y.as_ref(), new.as_ref())?;
                if kind == Linear::Logistic && train.is_classes() {
                    normalise(&mut p);
                }
                let components = if inputs == Inputs::All {
                    f64::NAN
                } else {
                    x.ncols() as f64
                };
                Score {
                    factors: components,
                    ..Score::of(test, &p, kind == Linear::Logistic)?
                }
            } else {
                let p = linear::canonical(x.as_ref(), y.as_ref(), new.as_ref())?;
                Score::of(test, &p, false)?
            }
        }
        Way::Prevalence => {
            let y = train.indicators();
            let p = Mat::from_fn(test.len(), y.ncols(), |_, c| {
                y.col_as_slice(c).iter().sum::<f64>() / y.nrows() as f64
            });
            Score::of(test, &p, true)?
        }
    };
    score.seconds = clock.elapsed().as_secs_f64();
    Ok(score)
}

fn with_fit(score: Score, fit: &polyview::Fit) -> Score {
    Score {
        factors: fit.k() as f64,
        sweeps: fit.record().sweeps as f64,
        ..score
    }
}

/// The halves with the similarities of their samples to training samples in
/// place of their inputs (spec/thesis 7.1).
fn kernelised(
    train: &Half,
    test: &Half,
    gamma: f64,
    o: &Options,
) -> Result<(Half, Half), Box<dyn Error>> {
    let options = KernelOptions {
        kernel: KernelKind::Rbf { gamma: Some(gamma) },
        references: o.references,
        seed: o.seed,
        standardise: true,
    };
    let (mut train, mut test) = (train.clone(), test.clone());
    for input in &mut train.inputs {
        let map = KernelMap::learn(input, &options)?;
        *input = map.apply(input)?;
        for new in test.inputs.iter_mut().filter(|t| t.name == input.name) {
            *new = map.apply(new)?;
        }
    }
    Ok((train, test))
}

/// Inputs of both halves; a view that only one has stays as it is.
fn joined(train: &[Table], test: &[Table]) -> Vec<Table> {
    train
        .iter()
        .map(|a| match test.iter().find(|b| b.name == a.name) {
            Some(b) => stacked(a, b),
            None => a.clone(),
        })
        .collect()
}

/// Makes the scores of the classes of a sample add up to 1.
fn normalise(p: &mut Mat<f64>) {
    for n in 0..p.nrows() {
        let sum: f64 = (0..p.ncols()).map(|c| p[(n, c)]).sum();
        for c in 0..p.ncols() {
            p[(n, c)] /= sum;
        }
    }
}

//! The ways that are judged.

use std::error::Error;

use polyview::{EngineKind, GibbsOptions, ModelSpec, ProjectOptions, Settle, models};
use polyview_baselines::{Design, Tuning, logistic, multinomial, stratified};
use polyview_core::Table;
use polyview_linalg::Mat;

use super::sets::Judged;
use crate::table::data::{Half, build};
use crate::table::options::Options;
use crate::table::python::{self, Peer};

/// A way to predict labels or classes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Way {
    /// What the command does by itself with the preset `sshiba`: a mixture of the joint fit and a regression on the
    /// features.
    Default,
    /// The same model by a Gibbs chain from its optimum, as `--polish` has it.
    Polished,
    /// Logistic or multinomial regression on the features.
    Regression,
    /// The same regression on the factors of a fit that has not seen the target.
    TwoSteps,
    /// A random forest of scikit-learn.
    Forest,
    /// The shares of the training samples.
    Shares,
}

/// All of them, in the order of the table.
pub const WAYS: [Way; 6] = [
    Way::Default,
    Way::Polished,
    Way::Regression,
    Way::TwoSteps,
    Way::Forest,
    Way::Shares,
];

const FOLDS: usize = 5;
/// Sweeps that a polished chain keeps.
const SWEEPS: usize = 300;

impl Way {
    /// Its name in the table.
    pub fn name(self) -> &'static str {
        match self {
            Self::Default => "`sshiba`",
            Self::Polished => "`sshiba --polish`",
            Self::Regression => "regression on the features",
            Self::TwoSteps => "regression on factors",
            Self::Forest => "random forest",
            Self::Shares => "shares",
        }
    }
    /// Whether it is a plain linear predictor, by which the default is judged.
    pub fn is_linear(self) -> bool {
        matches!(self, Self::Regression | Self::TwoSteps)
    }
}

/// What a way says of a test half.
pub struct Said {
    /// Probabilities, samples × labels or classes.
    pub probability: Mat<f64>,
    /// Factors kept; `NaN` where there are none.
    pub factors: f64,
}

/// Trains on `train`, and says the probabilities of `test`.
///
/// # Errors
/// What a fit, a regression, the data or Python refuse.
pub fn said(
    way: Way,
    set: &Judged,
    (train, test): (&Half, &Half),
    o: &Options,
) -> Result<Said, Box<dyn Error>> {
    let plain = |probability| Said {
        probability,
        factors: f64::NAN,
    };
    Ok(match way {
        Way::Default | Way::Polished => {
            let spec = with_target(spec(set, train, o)?, train);
            let spec = if way == Way::Default {
                spec.with_settled(TARGET, Settle::Mixture)
            } else {
                polished(spec)
            };
            let fit = polyview::fit(train.dataset()?, spec)?;
            Said {
                probability: fit.predict(&test.input_dataset()?, TARGET)?.mean,
                factors: fit.k() as f64,
            }
        }
        Way::Regression => {
            let [x, new] = features(set, train, test);
            plain(regression(train, &x, &new, o.seed)?)
        }
        Way::TwoSteps => {
            let fit = polyview::fit(train.input_dataset()?, spec(set, train, o)?)?;
            let factors = |half: &Half| -> Result<Mat<f64>, Box<dyn Error>> {
                // from the views that both halves have
                let inputs = half.inputs.iter().filter(|t| has(train, t) && has(test, t));
                let data = build(inputs.cloned())?;
                Ok(fit.project(&data, &ProjectOptions::default())?.mean)
            };
            Said {
                probability: regression(train, &factors(train)?, &factors(test)?, o.seed)?,
                factors: fit.k() as f64,
            }
        }
        Way::Forest => {
            let python = o
                .python
                .as_deref()
                .ok_or("a random forest needs --python")?;
            let [x, new] = features(set, train, test);
            plain(python::said(
                (python, Peer::Forest),
                train,
                [&x, &new],
                o.seed,
            )?)
        }
        Way::Shares => {
            let y = train.indicators();
            plain(Mat::from_fn(test.len(), y.ncols(), |_, c| {
                y.col_as_slice(c).iter().sum::<f64>() / y.nrows() as f64
            }))
        }
    })
}

/// The view that is predicted.
const TARGET: &str = "labels";

/// The preset for the inputs alone, with as many factors as the command offers the model with the target.
fn spec(set: &Judged, train: &Half, o: &Options) -> Result<ModelSpec, Box<dyn Error>> {
    let mut spec = models::preset("sshiba").unwrap_or_default();
    spec.seed = o.seed;
    if let Some(sweeps) = o.sweeps_given {
        spec.vb.max_sweeps = sweeps;
    }
    for t in &train.inputs {
        spec = spec.with_likelihood(&t.name, likelihood(set, &t.name));
    }
    spec.factors = if let Some(factors) = o.factors_given {
        factors
    } else {
        let whole = with_target(spec.clone(), train);
        let offered = whole.offered_factors(train.len());
        offered.min(whole.most_factors(&train.dataset()?))
    };
    Ok(spec)
}

fn likelihood(set: &Judged, view: &str) -> &'static str {
    let own = set.likelihoods.iter().find(|(name, _)| *name == view);
    own.map_or("gaussian", |(_, likelihood)| likelihood)
}

fn with_target(spec: ModelSpec, train: &Half) -> ModelSpec {
    let likelihood = if train.is_classes() {
        "categorical"
    } else {
        "bernoulli"
    };
    spec.with_likelihood(TARGET, likelihood)
}

fn polished(mut spec: ModelSpec) -> ModelSpec {
    spec.engine = EngineKind::Gibbs;
    spec.gibbs = GibbsOptions::from_optimum(SWEEPS);
    spec
}

fn has(half: &Half, view: &Table) -> bool {
    half.inputs.iter().any(|t| t.name == view.name)
}

/// The features of the views that both halves have, side by side, counts as ln(1 + x); `NaN` where a cell is missing.
fn features(set: &Judged, train: &Half, test: &Half) -> [Mat<f64>; 2] {
    let names: Vec<&str> = (train.inputs.iter())
        .filter(|t| has(test, t))
        .map(|t| t.name.as_str())
        .collect();
    [train, test].map(|half| {
        let tables = names
            .iter()
            .filter_map(|name| half.inputs.iter().find(|t| t.name == *name));
        let columns: Vec<(&Table, usize)> = tables
            .flat_map(|t| (0..t.values.ncols()).map(move |d| (t, d)))
            .collect();
        Mat::from_fn(half.len(), columns.len(), |n, i| {
            let (table, d) = columns[i];
            let x = table.values[(n, d)];
            if likelihood(set, &table.name) == "poisson-log-normal" {
                x.ln_1p()
            } else {
                x
            }
        })
    })
}

/// Logistic regression of labels, multinomial of classes, on standardised features; penalties by folds of the training samples.
fn regression(
    train: &Half,
    x: &Mat<f64>,
    new: &Mat<f64>,
    seed: u64,
) -> Result<Mat<f64>, Box<dyn Error>> {
    let design = Design::learn(x.as_ref())?;
    let (x, new) = (design.apply(x.as_ref())?, design.apply(new.as_ref())?);
    let y = train.indicators();
    let tuning = Tuning::new(stratified(y.as_ref(), FOLDS.min(x.nrows()), seed)?);
    let fit = if train.is_classes() {
        multinomial(x.as_ref(), &train.classes(), y.ncols(), &tuning)?
    } else {
        logistic(x.as_ref(), y.as_ref(), &tuning)?
    };
    Ok(fit.predict(new.as_ref())?)
}

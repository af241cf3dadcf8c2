//! Calibration of every likelihood by every engine that it goes with: data from the model, cells
//! hidden, and the share of these that intervals of several levels hold.
//!
//! Of numbers a cell is in the central interval of level L where its distribution function at the
//! true value u (the probability integral transform) is within L/2 of one half. Laws with steps
//! (counts, levels, labels) would hold more than L in any interval that ends at values, so that of
//! them u is drawn between the distribution function just below the value and at it, which is
//! uniform where the law is right (the randomised transform; Czado, Gneiting and Held 2009). Ranks
//! are training values, and a hidden value lies between two of them: u is drawn between the middles
//! of their steps. Classes have no order: a cell is in the set of level L where the probability of all
//! classes that are more probable than the true one, and a random part of its own, is not more than L.

mod data;

use polyview::{
    EngineKind, Fit, GibbsOptions, Likelihood, ModelSpec, Prediction, Registry, models,
};
use polyview_core::{Domain, LikelihoodSpecies, Way};
use polyview_linalg::Mat;
use polyview_random::{Rng, StreamKey, uniform_open01};
use rayon::prelude::*;

use data::Study;

/// Levels of the intervals.
pub const LEVELS: [f64; 4] = [0.5, 0.8, 0.9, 0.95];
/// The engines that are measured.
pub const ENGINES: [EngineKind; 2] = [EngineKind::Vb, EngineKind::Gibbs];

/// How many data sets there are, and how large they are.
#[derive(Clone, Copy, Debug)]
pub struct Size {
    /// Data sets.
    pub sets: u64,
    /// Samples of each.
    pub samples: usize,
    /// Features of the view whose cells are hidden.
    pub features: usize,
    /// Sweeps of a chain that are kept; a third of that is thrown away before.
    pub sweeps: usize,
}

impl Size {
    /// Of the table.
    pub const USUAL: Self = Self {
        sets: 16,
        samples: 200,
        features: 20,
        sweeps: 60,
    };
    /// Of a test: fewer data sets, for its time.
    pub const TESTED: Self = Self {
        sets: 5,
        ..Self::USUAL
    };
    /// To see whether it runs.
    pub const QUICK: Self = Self {
        sets: 2,
        samples: 60,
        features: 8,
        sweeps: 60,
    };
}

/// How far a share may be off its level.
pub const NEAR: f64 = 0.02;

/// Where shares are further off, and why.
const OFF: [(&str, EngineKind, &str); 5] = [
    ("svm", EngineKind::Vb, PSEUDO),
    ("svm", EngineKind::Gibbs, PSEUDO),
    (
        "ordinal-midpoint",
        EngineKind::Vb,
        "its paper's form, kept to compare: probabilities of its levels do not add up to one between its fixed ends",
    ),
    (
        "categorical-probit",
        EngineKind::Vb,
        "latent scores and factors that are independent pull weights towards zero, on the side of doubt; draws hold",
    ),
    (
        "ordinary-rank",
        EngineKind::Vb,
        "noise is counted twice beside a view that knows the factors (docs/decisions/0079-noise-of-ranks.md)",
    ),
];
const PSEUDO: &str = "a pseudo-likelihood: nothing in it says how sure it is";

/// Why the shares of a likelihood by an engine are further than [`NEAR`] off their levels; nothing
/// where they are not.
pub fn off(likelihood: &str, engine: EngineKind) -> Option<&'static str> {
    let known = OFF.iter().find(|o| o.0 == likelihood && o.1 == engine);
    known.map(|o| o.2)
}

/// A line of the table.
#[derive(Clone, Debug)]
pub struct Line {
    /// The likelihood.
    pub likelihood: &'static str,
    /// The engine.
    pub engine: EngineKind,
    /// Hidden cells.
    pub cells: usize,
    /// Shares of them in the intervals of [`LEVELS`].
    pub shares: [f64; 4],
    /// Standard errors of the shares, by how much data sets differ.
    pub errors: [f64; 4],
}

impl Line {
    /// Whether no share is further than [`NEAR`] off its level, as far as its standard error tells.
    pub fn holds(&self) -> bool {
        let gaps = self.shares.iter().zip(LEVELS).map(|(s, l)| (s - l).abs());
        gaps.zip(self.errors).all(|(gap, error)| gap < NEAR + error)
    }
}

/// What was measured of a likelihood and an engine: nothing of those that do not go together,
/// and why.
pub type Measured = Result<Line, String>;

/// The whole table, in the order of the registry.
///
/// # Panics
/// Where a model of data from that model cannot be fitted.
pub fn table(size: Size) -> Vec<(&'static str, EngineKind, Measured)> {
    let species: Vec<&'static dyn LikelihoodSpecies> = Registry::standard().likelihoods().collect();
    let pairs: Vec<_> = (species.iter())
        .flat_map(|s| ENGINES.map(|engine| (*s, engine)))
        .collect();
    (pairs.into_par_iter())
        .map(|(species, engine)| (species.name(), engine, measured(species, engine, size)))
        .collect()
}

/// One line of it.
///
/// # Errors
/// Why the likelihood does not go with the engine.
///
/// # Panics
/// Where the model cannot be fitted.
pub fn measured(
    species: &'static dyn LikelihoodSpecies,
    engine: EngineKind,
    size: Size,
) -> Measured {
    if engine == EngineKind::Gibbs
        && let Some(why) = species.refuses(Way::Gibbs, &species.defaults())
    {
        return Err(why);
    }
    let of_sets: Vec<Vec<f64>> = (0..size.sets)
        .into_par_iter()
        .map(|seed| least_levels(species, engine, size, seed))
        .collect();
    let cells: usize = of_sets.iter().map(Vec::len).sum();
    let inside = |of: &[f64], level: f64| of.iter().filter(|l| **l <= level).count() as f64;
    let shares = LEVELS.map(|level| {
        let all: f64 = of_sets.iter().map(|of| inside(of, level)).sum();
        all / cells as f64
    });
    let errors = std::array::from_fn(|l| {
        let apart = |of: &Vec<f64>| inside(of, LEVELS[l]) - shares[l] * of.len() as f64;
        let squares: f64 = of_sets.iter().map(|of| apart(of).powi(2)).sum();
        let sets = size.sets as f64;
        (squares * sets / (sets - 1.0)).sqrt() / cells as f64
    });
    Ok(Line {
        likelihood: species.name(),
        engine,
        cells,
        shares,
        errors,
    })
}

/// The model that the data are from.
fn spec(likelihood: &str, engine: EngineKind, study: &Study, size: Size) -> ModelSpec {
    let mut spec = models::sshiba(data::FACTORS);
    let options = match likelihood {
        "similarity" => format!("{{dimensions={}}}", data::DIMENSIONS),
        _ => String::new(),
    };
    let likelihood: Likelihood = (likelihood.to_owned() + &options).parse().expect("options");
    for view in &study.hidden {
        spec = spec.with_likelihood(&view.name, likelihood.clone());
    }
    spec.engine = engine;
    spec.gibbs = GibbsOptions::from_optimum(size.sweeps);
    spec
}

/// Of each hidden cell of a data set the least level whose interval holds it.
fn least_levels(
    species: &dyn LikelihoodSpecies,
    engine: EngineKind,
    size: Size,
    seed: u64,
) -> Vec<f64> {
    let what = || format!("{} {engine:?} {seed}", species.name());
    let study = Study::of(species, size, seed);
    let mut spec = spec(species.name(), engine, &study, size);
    spec.seed = seed;
    let fit = polyview::fit(study.data.clone(), spec).unwrap_or_else(|e| panic!("{}: {e}", what()));
    let mut rng = StreamKey::new(seed).block(91).rng();
    (study.hidden.iter())
        .flat_map(|view| {
            let mut predicted = predicted(&fit, view).unwrap_or_else(|e| panic!("{}: {e}", what()));
            if species.domain().has_classes() {
                sets_of_classes(&predicted, &view.truth, &mut rng)
            } else {
                central(&mut predicted, species.domain(), &view.truth, &mut rng)
            }
        })
        .collect()
}

/// What is predicted of the cells of a view.
fn predicted(fit: &Fit, view: &data::Hidden) -> polyview::Result<Prediction> {
    let mut out = fit.fitted(&view.name)?;
    if let Some(trials) = &view.trials {
        out.out_of(trials.as_ref(), LEVELS[0])?;
    }
    Ok(out)
}

/// The places of the hidden cells.
fn cells(truth: &Mat<f64>) -> impl Iterator<Item = (usize, usize)> {
    let all = (0..truth.ncols()).flat_map(|d| (0..truth.nrows()).map(move |n| (n, d)));
    all.filter(|at| !truth[*at].is_nan())
}

fn central(
    predicted: &mut Prediction,
    domain: Domain,
    truth: &Mat<f64>,
    rng: &mut impl Rng,
) -> Vec<f64> {
    let cdf = |of: &dyn Fn(usize, usize) -> f64| {
        let values = Mat::from_fn(truth.nrows(), truth.ncols(), |n, d| {
            if truth[(n, d)].is_nan() {
                f64::NAN
            } else {
                of(n, d)
            }
        });
        predicted
            .cdf(values.as_ref())
            .expect("a distribution function")
    };
    let at = cdf(&|n, d| truth[(n, d)]);
    let [low, high] = if domain.is_ranked() {
        // the training values next to it
        let scales = &predicted.ranks.as_ref().expect("ranks").scale;
        let next = |n: usize, d: usize, up: usize| {
            let values = &scales[d].values;
            let above = values.partition_point(|v| *v <= truth[(n, d)]);
            match (above + up).checked_sub(2) {
                None => f64::NEG_INFINITY,
                Some(at) => values.get(at).copied().unwrap_or(f64::INFINITY),
            }
        };
        let (below, above) = (cdf(&|n, d| next(n, d, 0)), cdf(&|n, d| next(n, d, 2)));
        let half = |a: &Mat<f64>| {
            Mat::from_fn(a.nrows(), a.ncols(), |n, d| 0.5 * (a[(n, d)] + at[(n, d)]))
        };
        [half(&below), half(&above)]
    } else if domain.is_whole() || domain.is_label() {
        [cdf(&|n, d| truth[(n, d)] - 1.0), at]
    } else {
        [at.clone(), at]
    };
    cells(truth)
        .map(|at| {
            let u = low[at] + uniform_open01(rng) * (high[at] - low[at]);
            (2.0 * u - 1.0).abs()
        })
        .collect()
}

fn sets_of_classes(predicted: &Prediction, truth: &Mat<f64>, rng: &mut impl Rng) -> Vec<f64> {
    let p = &predicted.mean;
    cells(truth)
        .map(|(n, d)| {
            let own = p[(n, truth[(n, d)] as usize)];
            let more: f64 = (0..p.ncols()).map(|c| p[(n, c)]).filter(|p| *p > own).sum();
            more + uniform_open01(rng) * own
        })
        .collect()
}

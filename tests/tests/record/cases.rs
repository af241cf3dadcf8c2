//! The fits on record: every species, prior, preset, engine and path, on small data.

use polyview::{EngineKind, ModelSpec, Path, Posterior, ViewChoices, models};
use polyview_core::{Dataset, Table};
use polyview_likelihoods::NoiseBy;
use polyview_linalg::Mat;
use polyview_random::{ChaCha8Rng, StreamKey, poisson, standard_normal, uniform_open01};
use polyview_special::sigmoid;
use polyview_tests::normal;

/// Samples to fit, and new ones that are projected.
pub const TRAINING: usize = 36;
const NEW: usize = 5;
const SWEEPS: usize = 12;
/// Sweeps of those that begin beyond where the last one ended, as the first twenty do not.
const LONG: usize = 32;

/// Every likelihood.
pub const LIKELIHOODS: [&str; 19] = [
    "gaussian",
    "bernoulli",
    "bernoulli-latent",
    "svm",
    "probit",
    "categorical",
    "categorical-probit",
    "poisson",
    "negative-binomial",
    "poisson-log-normal",
    "binomial",
    "rank",
    "ordinary-rank",
    "ordinal",
    "censored",
    "survival",
    "similarity",
    "ordinal-midpoint",
    "gamma",
];

/// What a case is called, and the name of the prior.
const SELECTIONS: [(&str, &str); 4] = [
    ("None", "none"),
    ("Relevance", "relevance"),
    ("SpikeAndSlab", "spike-and-slab"),
    ("Horseshoe", "horseshoe"),
];

/// What a case is called, and the name of the prior.
const FACTORS: [(&str, &str); 4] = [
    ("StandardNormal", "standard-normal"),
    ("Ard", "ard"),
    ("SpikeAndSlab", "spike-and-slab"),
    ("Mixture", "mixture"),
];

const ENGINES: [EngineKind; 3] = [EngineKind::Vb, EngineKind::Gibbs, EngineKind::Stochastic];

/// What the data lack, or have besides.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Kind {
    /// Every cell.
    Complete,
    /// Cells and whole rows are missing.
    Missing,
    /// Every cell, in two groups of samples.
    Grouped,
}

/// One fit.
pub struct Case {
    /// What it is known by.
    pub name: String,
    /// What is fitted.
    pub training: Dataset,
    /// New samples without the view that is predicted.
    pub new: Dataset,
    /// The choices.
    pub spec: ModelSpec,
}

fn has_classes(likelihood: &str) -> bool {
    likelihood.starts_with("categorical")
}

/// Values of a view of so many columns.
fn values(likelihood: &'static str, eta: &Mat<f64>, rng: &mut ChaCha8Rng) -> Mat<f64> {
    let (rows, columns) = (eta.nrows(), eta.ncols());
    if likelihood == "similarity" {
        // of the samples of training to one another: eta has their factors
        let noise = normal(TRAINING, TRAINING, rng);
        let of = |n: usize, m: usize| (0..columns).map(|k| eta[(n, k)] * eta[(m, k)]).sum::<f64>();
        return Mat::from_fn(rows, TRAINING, |n, m| {
            of(n, m) + 0.5 * noise[(n.min(m).min(TRAINING - 1), n.max(m).min(TRAINING - 1))]
        });
    }
    if has_classes(likelihood) {
        // the class of the largest noisy score
        return Mat::from_fn(rows, 1, |n, _| {
            let mut best = (0, f64::NEG_INFINITY);
            for c in 0..columns {
                let score = eta[(n, c)] + 0.5 * standard_normal(rng);
                if score > best.1 {
                    best = (c, score);
                }
            }
            best.0 as f64
        });
    }
    Mat::from_fn(rows, columns, |n, d| {
        let eta = eta[(n, d)];
        match likelihood {
            "gaussian" | "censored" | "survival" => 3.0 + eta + 0.5 * standard_normal(rng),
            "gamma" => (1.0 + 0.6 * eta + 0.3 * standard_normal(rng)).exp(),
            "rank" | "ordinary-rank" => (eta + 0.5 * standard_normal(rng)).exp(),
            "poisson" | "negative-binomial" | "poisson-log-normal" => {
                let log = 1.0 + 0.6 * eta + 0.3 * standard_normal(rng);
                poisson(rng, log.exp()).expect("a rate")
            }
            "ordinal" | "ordinal-midpoint" => (2.5 + 1.2 * eta + standard_normal(rng))
                .floor()
                .clamp(1.0, 4.0),
            "binomial" => {
                let successes = (0..12).filter(|_| uniform_open01(rng) < sigmoid(eta));
                successes.count() as f64
            }
            _ => f64::from(u8::from(uniform_open01(rng) < sigmoid(2.0 * eta))),
        }
    })
}

fn table(name: &str, rows: std::ops::Range<usize>, values: &Mat<f64>, classes: usize) -> Table {
    Table {
        name: name.into(),
        samples: rows.clone().map(|n| format!("s{n}")).collect(),
        features: (0..values.ncols()).map(|d| format!("{name}{d}")).collect(),
        levels: (0..classes).map(|c| format!("class {c}")).collect(),
        values: values.subrows(rows.start, rows.len()).to_owned(),
    }
}

/// A view of numbers and one of the likelihood, of three factors; `features` of numbers, each number
/// off by up to `nudge` of itself.
fn data(
    likelihood: &'static str,
    kind: Kind,
    features: [usize; 2],
    nudge: f64,
) -> (Dataset, Dataset) {
    let all = TRAINING + NEW;
    let mut rng = StreamKey::new(17).rng();
    let z = normal(all, 3, &mut rng);
    let [_, columns] = features;
    let (a, b) = (
        normal(features[0], 3, &mut rng),
        normal(columns, 3, &mut rng),
    );
    let mut x = values("gaussian", &(&z * a.transpose()), &mut rng);
    for d in 0..x.ncols() {
        for (n, x) in x.col_as_slice_mut(d).iter_mut().enumerate() {
            *x *= 1.0 + nudge * (1.0 + (3 * n + 7 * d) as f64).cos();
        }
    }
    let mut y = values(likelihood, &(&z * b.transpose()), &mut rng);
    if kind == Kind::Missing {
        for m in [&mut x, &mut y] {
            let whole_rows = m.ncols() == 1;
            for n in 0..TRAINING {
                let row = uniform_open01(&mut rng) < 0.1;
                for d in 0..m.ncols() {
                    if (n, d) != (0, 0) && (row || (!whole_rows && uniform_open01(&mut rng) < 0.1))
                    {
                        m[(n, d)] = f64::NAN;
                    }
                }
            }
        }
    }
    let classes = if has_classes(likelihood) { 3 } else { 0 };
    let (old, later) = (0..TRAINING, TRAINING..all);
    let mut of_likelihood = table("y", old.clone(), &y, classes);
    if likelihood == "similarity" {
        of_likelihood.features.clone_from(&of_likelihood.samples);
    }
    let mut training = Dataset::builder()
        .view(table("x", old.clone(), &x, 0))
        .view(of_likelihood);
    let mut new = Dataset::builder()
        .new_samples()
        .view(table("x", later.clone(), &x, 0));
    if likelihood == "binomial" {
        let trials = Mat::from_fn(TRAINING, columns, |_, _| 12.0);
        training = training.trials(table("y", old.clone(), &trials, 0));
    }
    if matches!(likelihood, "censored" | "survival") {
        // every third number is known to lie above its value, some between two
        let ends = Mat::from_fn(TRAINING, columns, |n, d| match (n + d) % 6 {
            0 | 3 => f64::INFINITY,
            1 => y[(n, d)] + 0.7,
            _ => f64::NAN,
        });
        training = training.ends(table("y", old.clone(), &ends, 0));
    }
    if kind == Kind::Grouped {
        let of = |n: usize| (format!("s{n}"), ["a", "b"][n % 2].to_owned());
        training = training.groups(old.map(of).collect());
        new = new.groups(later.map(of).collect());
    }
    (
        training.build().expect("training data"),
        new.build().expect("new data"),
    )
}

/// Few sweeps, whatever the engine; no factor goes. They begin where the last one ended, so that the
/// record is one of what sweeps do; [`by_momentum`] has those that begin beyond.
fn short(mut spec: ModelSpec) -> ModelSpec {
    spec.vb.max_sweeps = SWEEPS;
    spec.vb.momentum = false;
    (spec.gibbs.chains, spec.gibbs.warm_up, spec.gibbs.sweeps) = (1, 4, SWEEPS);
    spec.gibbs.thin = 3;
    spec.stochastic.batch = 12.0;
    (spec.stochastic.epochs, spec.stochastic.exact_sweeps) = (4, 3);
    spec
}

fn case(
    name: String,
    (likelihood, kind): (&'static str, Kind),
    (spec, nudge): (ModelSpec, f64),
) -> Case {
    let features = match (likelihood, spec.path) {
        _ if has_classes(likelihood) => [7, 3],
        // more features than samples
        (_, Path::CompressFeatures) => [60, 45],
        _ => [7, 6],
    };
    let (training, new) = data(likelihood, kind, features, nudge);
    Case {
        name,
        training,
        new,
        spec: short(spec).with_likelihood("y", likelihood),
    }
}

/// Every likelihood by every engine, with holes and in groups.
fn by_likelihood(out: &mut Vec<Case>, nudge: f64) {
    for likelihood in LIKELIHOODS {
        for engine in ENGINES {
            for kind in [Kind::Complete, Kind::Missing, Kind::Grouped] {
                let mut spec = models::bibfa(3);
                spec.engine = engine;
                let name = format!("{likelihood} {engine:?} {kind:?}");
                out.push(case(name, (likelihood, kind), (spec, nudge)));
            }
        }
    }
}

/// Priors of weights and of factors, full and factorised.
fn by_prior(out: &mut Vec<Case>, nudge: f64) {
    for (weights, selection) in SELECTIONS {
        for (factors, prior) in FACTORS {
            for posterior in [Posterior::Full, Posterior::Factorised] {
                for engine in [EngineKind::Vb, EngineKind::Gibbs] {
                    let mut spec = models::bibfa(3);
                    spec.defaults.selection = selection.into();
                    spec.factor_prior = prior.into();
                    spec.mixture.components = 2;
                    (spec.posterior, spec.engine) = (posterior, engine);
                    let name = format!("{weights} {factors} {posterior:?} {engine:?}");
                    let what = ("gaussian", Kind::Missing);
                    out.push(case(name.clone(), what, (spec.clone(), nudge)));
                    if engine == EngineKind::Vb && posterior == Posterior::Full {
                        let what = ("bernoulli", Kind::Grouped);
                        out.push(case(name + " labels", what, (spec, nudge)));
                    }
                }
            }
        }
    }
}

/// The presets, with labels and in groups; local classifiers.
fn by_preset(out: &mut Vec<Case>, nudge: f64) {
    for model in ["bibfa", "sshiba", "mofa", "mofapy2", "rank", "mlfs"] {
        for likelihood in ["gaussian", "probit", "svm"] {
            for kind in [Kind::Complete, Kind::Missing, Kind::Grouped] {
                let mut spec = models::preset(model).expect("a preset");
                spec.factors = 4;
                out.push(case(
                    format!("{model} {likelihood} {kind:?}"),
                    (likelihood, kind),
                    (spec, nudge),
                ));
            }
        }
    }
    for engine in [EngineKind::Vb, EngineKind::Gibbs] {
        let mut spec = models::rank(3).with_mixture(2);
        spec.engine = engine;
        let choices = ViewChoices {
            likelihood: "svm".into(),
            local: true,
            ..spec.defaults.clone()
        };
        let spec = spec.with_view("y", choices);
        let what = ("svm", Kind::Complete);
        let name = format!("local classifiers {engine:?}");
        out.push(case(name, what, (spec, nudge)));
    }
}

/// Ways of sweeping complete data, and what noise is shared by.
fn by_path(out: &mut Vec<Case>, nudge: f64) {
    for path in [
        Path::Streaming,
        Path::CompressSamples,
        Path::CompressFeatures,
    ] {
        for noise in [NoiseBy::View, NoiseBy::Feature] {
            for kind in [Kind::Complete, Kind::Grouped] {
                let mut spec = models::bibfa(3);
                spec.path = path;
                spec.defaults.noise = noise;
                let name = format!("{path:?} {noise:?} {kind:?}");
                out.push(case(name, ("gaussian", kind), (spec, nudge)));
            }
        }
    }
}

/// Sweeps that begin beyond where the last one ended: of full, sparse and grouped rows.
fn by_momentum(out: &mut Vec<Case>, nudge: f64) {
    for (model, likelihood) in [
        ("bibfa", "gaussian"),
        ("sshiba", "bernoulli"),
        ("mofa", "gaussian"),
        ("mofa", "poisson-log-normal"),
        ("mlfs", "ordinal"),
    ] {
        for kind in [Kind::Complete, Kind::Missing, Kind::Grouped] {
            let mut spec = models::preset(model).expect("a preset");
            spec.factors = 4;
            let name = format!("momentum {model} {likelihood} {kind:?}");
            let mut case = case(name, (likelihood, kind), (spec, nudge));
            (case.spec.vb.momentum, case.spec.vb.max_sweeps) = (true, LONG);
            out.push(case);
        }
    }
}

/// All of them, the numbers of the first view off by up to `nudge` of themselves.
pub fn all(nudge: f64) -> Vec<Case> {
    let mut out = Vec::new();
    by_likelihood(&mut out, nudge);
    by_prior(&mut out, nudge);
    by_preset(&mut out, nudge);
    by_path(&mut out, nudge);
    by_momentum(&mut out, nudge);
    out
}

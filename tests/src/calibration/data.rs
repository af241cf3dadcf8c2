//! Data from the model of a likelihood, by its formula and not by its code.

use polyview_core::{Dataset, Domain, LikelihoodSpecies, Table};
use polyview_linalg::Mat;
use polyview_random::{
    ChaCha8Rng, StreamKey, binomial, gamma, poisson, standard_normal, uniform_open01,
};
use polyview_special::sigmoid;

use super::Size;
use crate::normal;

/// Factors of data and model.
pub(super) const FACTORS: usize = 3;
/// Features of a view of numbers beside, and the standard deviation of its noise.
const NUMBERS: usize = 15;
const NOISE: f64 = 1.0;
/// Share of the cells that are hidden.
const HIDDEN: f64 = 0.5;
const CLASSES: usize = 3;
/// Features of other kinds for each view of classes, which have one column.
const FOR_A_VIEW: usize = 4;
/// Times more samples that they have.
const MORE_SAMPLES: usize = 3;
const TRIALS: f64 = 8.0;
/// Standard deviation of the noise of numbers: a fifth of the variance, where the priors of noise
/// precisions have their mean (spec/sites 10).
const OF_NUMBERS: f64 = 0.65;
/// Cut points of ordered levels.
const CUTS: [f64; 3] = [-1.2, 0.1, 1.3];
/// Size of negative binomial counts and shape of numbers above 0, and standard deviation of what log rates have besides.
const SIZE: f64 = 3.0;
const SPREAD: f64 = 0.5;
/// Standard deviation of the noise of latent scores.
const SCORES: f64 = 0.7;
/// Latent dimensions of similarities.
pub(super) const DIMENSIONS: usize = 3;

/// A view of which cells are hidden.
pub(super) struct Hidden {
    pub(super) name: String,
    /// What they are, `NaN` of those that are not hidden.
    pub(super) truth: Mat<f64>,
    /// What counts are out of.
    pub(super) trials: Option<Mat<f64>>,
}

/// Data with hidden cells.
pub(super) struct Study {
    pub(super) data: Dataset,
    pub(super) hidden: Vec<Hidden>,
}

/// Predictors of some columns: weights of this size, and intercepts.
fn predictors(z: &Mat<f64>, columns: usize, size: f64, rng: &mut ChaCha8Rng) -> Mat<f64> {
    let w = normal(columns, FACTORS, rng);
    let b: Vec<f64> = (0..columns).map(|_| 0.5 * standard_normal(rng)).collect();
    let linear = z * w.transpose();
    Mat::from_fn(z.nrows(), columns, |n, d| size * linear[(n, d)] + b[d])
}

fn table(name: &str, values: Mat<f64>, classes: usize) -> Table {
    Table {
        name: name.into(),
        samples: (0..values.nrows()).map(|n| format!("s{n}")).collect(),
        features: (0..values.ncols()).map(|d| format!("{name}{d}")).collect(),
        levels: (0..classes).map(|c| format!("class {c}")).collect(),
        values,
    }
}

/// Puts part of the cells of a table aside.
fn hide(name: &str, whole: &Mat<f64>, rng: &mut ChaCha8Rng) -> (Mat<f64>, Hidden) {
    let gone = Mat::from_fn(whole.nrows(), whole.ncols(), |_, _| {
        uniform_open01(rng) < HIDDEN
    });
    let part = |hidden: bool| {
        Mat::from_fn(whole.nrows(), whole.ncols(), |n, d| {
            if gone[(n, d)] == hidden {
                whole[(n, d)]
            } else {
                f64::NAN
            }
        })
    };
    let hidden = Hidden {
        name: name.into(),
        truth: part(true),
        trials: None,
    };
    (part(false), hidden)
}

impl Study {
    pub(super) fn of(species: &dyn LikelihoodSpecies, size: Size, seed: u64) -> Self {
        let mut rng = StreamKey::new(seed).block(90).rng();
        let (samples, views) = if species.domain().has_classes() {
            let views = size.features.div_ceil(FOR_A_VIEW);
            (MORE_SAMPLES * size.samples, views)
        } else {
            (size.samples, 1)
        };
        let z = normal(samples, FACTORS, &mut rng);
        let x = predictors(&z, NUMBERS, 1.0, &mut rng);
        let x = Mat::from_fn(samples, NUMBERS, |n, d| {
            x[(n, d)] + NOISE * standard_normal(&mut rng)
        });
        let mut data = Dataset::builder().view(table("x", x, 0));
        let mut hidden = Vec::new();
        match species.domain() {
            Domain::CLASSES => {
                for v in 0..views {
                    let name = format!("y{v}");
                    let scores = predictors(&z, CLASSES, 1.0, &mut rng);
                    let whole = Mat::from_fn(samples, 1, |n, _| {
                        let of: Vec<f64> = (0..CLASSES).map(|c| scores[(n, c)]).collect();
                        class(species.name(), &of, &mut rng)
                    });
                    let (seen, aside) = hide(&name, &whole, &mut rng);
                    data = data.view(table(&name, seen, CLASSES));
                    hidden.push(aside);
                }
            }
            Domain::Similarities => {
                let (seen, aside) = similarities(&z, &mut rng);
                let mut table = table("y", seen, 0);
                table.features.clone_from(&table.samples);
                data = data.view(table);
                hidden.push(aside);
            }
            domain => {
                let eta = predictors(&z, size.features, scale(domain), &mut rng);
                let whole = Mat::from_fn(samples, size.features, |n, d| {
                    datum(species.name(), eta[(n, d)], &mut rng)
                });
                let (mut seen, mut aside) = hide("y", &whole, &mut rng);
                if domain.is_censored() {
                    let (known, ends) = limited(&seen);
                    seen = known;
                    data = data.view(table("y", seen, 0)).ends(table("y", ends, 0));
                } else {
                    data = data.view(table("y", seen, 0));
                }
                if domain.has_trials() {
                    let trials = Mat::full(samples, size.features, TRIALS);
                    data = data.trials(table("y", trials.clone(), 0));
                    aside.trials = Some(trials);
                }
                hidden.push(aside);
            }
        }
        Self {
            data: data.build().expect("data"),
            hidden,
        }
    }
}

/// How far factors move a predictor.
fn scale(domain: Domain) -> f64 {
    if domain.is_count() || domain.is_positive() {
        0.4
    } else {
        0.7
    }
}

/// A datum of a likelihood given its predictor.
fn datum(likelihood: &str, eta: f64, rng: &mut ChaCha8Rng) -> f64 {
    let noisy = |sd: f64, rng: &mut ChaCha8Rng| eta + sd * standard_normal(rng);
    let label = |p: f64, rng: &mut ChaCha8Rng| f64::from(u8::from(uniform_open01(rng) < p));
    let count = |rate: f64, rng: &mut ChaCha8Rng| poisson(rng, rate).expect("a rate");
    match likelihood {
        "gaussian" | "censored" | "survival" => noisy(OF_NUMBERS, rng),
        "bernoulli" => label(sigmoid(eta), rng),
        "bernoulli-latent" => {
            let score = noisy(SCORES, rng);
            label(sigmoid(score), rng)
        }
        // the share of a label in the sum of the pseudo-likelihoods of both
        "svm" => {
            let loss = |y: f64| -2.0 * (1.0 - y * eta).max(0.0);
            label(sigmoid(loss(1.0) - loss(-1.0)), rng)
        }
        "probit" => f64::from(u8::from(noisy(1.0, rng) > 0.0)),
        "ordinal" | "ordinal-midpoint" => {
            let score = noisy(1.0, rng);
            1.0 + CUTS.iter().filter(|cut| **cut < score).count() as f64
        }
        "poisson" => count((1.0 + eta).exp(), rng),
        "negative-binomial" => {
            let factor = gamma(rng, SIZE, SIZE).expect("a size");
            count((1.5 + eta).exp() * factor, rng)
        }
        "gamma" => {
            let factor = gamma(rng, SIZE, SIZE).expect("a shape");
            (1.5 + eta).exp() * factor
        }
        "poisson-log-normal" => {
            let log_rate = noisy(SPREAD, rng);
            count((1.5 + log_rate).exp(), rng)
        }
        "binomial" => binomial(rng, TRIALS as u64, sigmoid(eta)).expect("a probability") as f64,
        // of any scale
        "rank" | "ordinary-rank" => noisy(1.0, rng).exp(),
        other => panic!("no data of the likelihood '{other}' are known"),
    }
}

fn class(likelihood: &str, scores: &[f64], rng: &mut ChaCha8Rng) -> f64 {
    // the largest of scores with Gumbel noise is a class by softmax
    let noise = |rng: &mut ChaCha8Rng| match likelihood {
        "categorical" => -(-uniform_open01(rng).ln()).ln(),
        "categorical-probit" => standard_normal(rng),
        other => panic!("no data of the likelihood '{other}' are known"),
    };
    let noisy: Vec<f64> = scores.iter().map(|s| s + noise(rng)).collect();
    (0..noisy.len()).fold(0, |best, c| if noisy[c] > noisy[best] { c } else { best }) as f64
}

/// Numbers of which the large ones are known to lie above a limit.
fn limited(values: &Mat<f64>) -> (Mat<f64>, Mat<f64>) {
    const LIMIT: f64 = 0.8;
    let known = Mat::from_fn(values.nrows(), values.ncols(), |n, d| {
        let x = values[(n, d)];
        if x > LIMIT { LIMIT } else { x }
    });
    let ends = Mat::from_fn(values.nrows(), values.ncols(), |n, d| {
        if values[(n, d)] > LIMIT {
            f64::INFINITY
        } else {
            f64::NAN
        }
    });
    (known, ends)
}

/// Similarities of all pairs of samples; both cells of a hidden pair are hidden, and it counts once.
fn similarities(z: &Mat<f64>, rng: &mut ChaCha8Rng) -> (Mat<f64>, Hidden) {
    let n = z.nrows();
    let u = predictors(z, DIMENSIONS, 0.7, rng);
    let u = Mat::from_fn(n, DIMENSIONS, |i, l| u[(i, l)] + 0.5 * standard_normal(rng));
    let mut seen = Mat::full(n, n, f64::NAN);
    let mut truth = Mat::full(n, n, f64::NAN);
    for j in 0..n {
        for i in 0..j {
            let product: f64 = (0..DIMENSIONS).map(|l| u[(i, l)] * u[(j, l)]).sum();
            let alike = product + standard_normal(rng);
            if uniform_open01(rng) < HIDDEN {
                truth[(i, j)] = alike;
            } else {
                (seen[(i, j)], seen[(j, i)]) = (alike, alike);
            }
        }
    }
    let hidden = Hidden {
        name: "y".into(),
        truth,
        trials: None,
    };
    (seen, hidden)
}

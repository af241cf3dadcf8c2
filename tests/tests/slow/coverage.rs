//! Calibration of variational Bayes: data from the model with missing cells,
//! cells hidden beyond those, and what is promised about them against what
//! they are.
//!
//! Intervals of real cells are close to what they promise even where the data
//! say little about the factors. Probabilities of labels err on the side of
//! doubt: mean-field factors and the bounds of the logistic function and the
//! probit pull weights towards zero, latent scores more than the bound on the
//! predictor itself, and the predictor's variance comes on top of that. The
//! limits below are what was found, and a third to a half more.

use polyview::{Fit, hold_out, metrics, models};
use polyview_core::{Dataset, FeatureScaling, State, Table};
use polyview_likelihoods::NoiseBy;
use polyview_linalg::Mat;
use polyview_random::{Rng, StreamKey, standard_normal, uniform_open01};
use polyview_special::{normal_cdf, normal_pdf, sigmoid};
use polyview_tests::normal;

const SAMPLES: usize = 300;
const FACTORS: usize = 3;
const LABELS: usize = 12;
const CLASSES: usize = 4;
const SEEDS: u64 = 20;
const LEVELS: [f64; 3] = [0.5, 0.9, 0.95];
/// Cells missing from the beginning, and cells hidden after that.
const MISSING: f64 = 0.1;
const HIDDEN: f64 = 0.2;

/// Data from the model, and their linear predictors.
struct Study {
    data: Dataset,
    labels: Mat<f64>,
    classes: Mat<f64>,
}

fn table(name: &str, columns: usize, levels: usize, values: Mat<f64>) -> Table {
    Table {
        name: name.into(),
        samples: (0..values.nrows()).map(|n| format!("s{n}")).collect(),
        features: (0..columns).map(|d| format!("{name}{d}")).collect(),
        values,
        levels: (0..levels).map(|c| format!("level{c}")).collect(),
    }
}

fn holes(mut values: Mat<f64>, rng: &mut impl Rng) -> Mat<f64> {
    for d in 0..values.ncols() {
        for x in values.col_as_slice_mut(d) {
            if uniform_open01(rng) < MISSING {
                *x = f64::NAN;
            }
        }
    }
    values
}

/// How much the real view says about the factors.
#[derive(Clone, Copy, Debug)]
struct Regime {
    features: usize,
    noise: f64,
}

fn study(regime: Regime, seed: u64) -> Study {
    let mut rng = StreamKey::new(seed).block(40).rng();
    let z = normal(SAMPLES, FACTORS, &mut rng);
    let predictor = |columns: usize, scale: f64, rng: &mut _| {
        let w = normal(columns, FACTORS, rng);
        let b: Vec<f64> = (0..columns).map(|_| 0.7 * standard_normal(rng)).collect();
        let linear = &z * w.transpose();
        Mat::from_fn(SAMPLES, columns, |n, d| scale * linear[(n, d)] + b[d])
    };
    let real = predictor(regime.features, 1.0, &mut rng);
    let labels = predictor(LABELS, 1.5, &mut rng);
    let classes = predictor(CLASSES, 1.0, &mut rng);
    let x = Mat::from_fn(SAMPLES, regime.features, |n, d| {
        real[(n, d)] + regime.noise * standard_normal(&mut rng)
    });
    let t = Mat::from_fn(SAMPLES, LABELS, |n, d| {
        f64::from(u8::from(uniform_open01(&mut rng) < sigmoid(labels[(n, d)])))
    });
    let codes = Mat::from_fn(SAMPLES, 1, |n, _| {
        let scores: Vec<f64> = (0..CLASSES)
            .map(|c| classes[(n, c)] + standard_normal(&mut rng))
            .collect();
        (0..CLASSES).fold(0, |b, c| if scores[c] > scores[b] { c } else { b }) as f64
    });
    let data = Dataset::builder()
        .view(table("real", regime.features, 0, holes(x, &mut rng)))
        .view(table("labels", LABELS, 0, holes(t, &mut rng)))
        .view(table("class", 1, CLASSES, holes(codes, &mut rng)))
        .build()
        .expect("a data set");
    Study {
        data,
        labels,
        classes,
    }
}

fn fit(data: Dataset, labels: &'static str) -> Fit {
    let mut spec = models::sshiba(6);
    // one noise precision for the view, as in the simulation
    spec.defaults.noise = NoiseBy::View;
    spec.defaults.scaling = FeatureScaling::View;
    let spec = spec
        .with_likelihood("labels", labels)
        .with_likelihood("class", "categorical-probit");
    polyview::fit(data, spec).expect("a fit")
}

/// Probability of each class given the scores' means (spec/sshiba G13).
fn class_probabilities(scores: &[f64]) -> Vec<f64> {
    let step = 0.1;
    (0..scores.len())
        .map(|class| {
            (-80..=80)
                .map(|i| {
                    let u = step * f64::from(i);
                    let others = (0..scores.len()).filter(|&c| c != class);
                    step * normal_pdf(u)
                        * others
                            .map(|c| normal_cdf(u + scores[class] - scores[c]))
                            .product::<f64>()
                })
                .sum()
        })
        .collect()
}

/// Hidden real cells: truth, predictive mean, standard deviation of the noise,
/// and intervals of the three levels.
#[derive(Default)]
struct Cells {
    truth: Vec<f64>,
    mean: Vec<f64>,
    noise: Vec<f64>,
    sd: Vec<f64>,
    lower: [Vec<f64>; 3],
    upper: [Vec<f64>; 3],
}

impl Cells {
    /// Distance of the coverage from the level, intervals widened about their
    /// means by a factor that depends on the standard deviations of prediction
    /// and noise.
    fn gap(&self, level: usize, factor: impl Fn(f64, f64) -> f64) -> f64 {
        let end = |of: &[f64]| -> Vec<f64> {
            (0..of.len())
                .map(|i| self.mean[i] + factor(self.sd[i], self.noise[i]) * (of[i] - self.mean[i]))
                .collect()
        };
        let score = metrics::intervals(
            &self.truth,
            &end(&self.lower[level]),
            &end(&self.upper[level]),
        );
        let coverage = score.expect("intervals").coverage.expect("cells");
        (coverage - LEVELS[level]).abs()
    }
}

/// Hidden labels (or each class against the rest): truth, predicted
/// probability, that of the simulation.
#[derive(Default)]
struct Labels {
    truth: Vec<bool>,
    predicted: Vec<f64>,
    best: Vec<f64>,
}

impl Labels {
    /// Nats a label that the prediction costs more than the simulation's own
    /// probabilities, which know the factors.
    fn excess(&self) -> f64 {
        let of = |p: &[f64]| {
            let loss = metrics::log_loss(&self.truth, p).expect("probabilities");
            loss.mean.expect("labels")
        };
        of(&self.predicted) - of(&self.best)
    }
    /// Expected calibration error over ten bins, log-odds times `factor`.
    fn error(&self, factor: f64) -> f64 {
        let moved: Vec<f64> = self
            .predicted
            .iter()
            .map(|p| sigmoid(factor * (p.ln() - (1.0 - p).ln())))
            .collect();
        let bins = metrics::calibration(&self.truth, &moved, 10).expect("probabilities");
        bins.iter()
            .filter_map(|b| Some(b.count as f64 * (b.predicted? - b.observed?).abs()))
            .sum::<f64>()
            / self.truth.len() as f64
    }
}

/// What was hidden in all studies.
#[derive(Default)]
struct Hidden {
    real: Cells,
    labels: Labels,
    classes: Labels,
}

/// Standard deviation of the noise of each feature of a real view.
fn noise(fit: &Fit, view: &str) -> Vec<f64> {
    let (at, info) = fit.view(view).expect("the view");
    let mut state = State::new();
    let component = fit.component(0).expect("one component");
    component.views[at].term.save("t", &mut state);
    let tau = state.reader().vec("t/noise/mean").expect("one precision")[0];
    info.scaling.scale.iter().map(|s| s / tau.sqrt()).collect()
}

fn add(out: &mut Hidden, regime: Regime, likelihood: &'static str, seed: u64) {
    let study = study(regime, seed);
    let hidden = hold_out(&study.data, HIDDEN, seed).expect("cells").data;
    let fit = fit(hidden.clone(), likelihood);
    let is_hidden = |view: &str, n: usize, d: usize| {
        let of = |data: &Dataset| data.view(view).and_then(|v| v.value(n, d));
        of(&study.data).filter(|_| of(&hidden).is_none())
    };
    let real = fit.fitted("real").expect("a fit");
    let intervals = LEVELS.map(|level| real.interval(level).expect("intervals"));
    let noise = noise(&fit, "real");
    let labels = fit.fitted("labels").expect("a fit");
    let classes = fit.fitted("class").expect("a fit");
    for n in 0..SAMPLES {
        for (d, noise) in noise.iter().enumerate() {
            if let Some(x) = is_hidden("real", n, d) {
                out.real.truth.push(x);
                out.real.mean.push(real.mean[(n, d)]);
                out.real.sd.push(real.sd[(n, d)]);
                out.real.noise.push(*noise);
                for (l, (lower, upper)) in intervals.iter().enumerate() {
                    out.real.lower[l].push(lower[(n, d)]);
                    out.real.upper[l].push(upper[(n, d)]);
                }
            }
        }
        for d in 0..LABELS {
            if let Some(t) = is_hidden("labels", n, d) {
                out.labels.truth.push(t > 0.5);
                out.labels.predicted.push(labels.mean[(n, d)]);
                out.labels.best.push(sigmoid(study.labels[(n, d)]));
            }
        }
        if let Some(code) = is_hidden("class", n, 0) {
            let scores: Vec<f64> = (0..CLASSES).map(|c| study.classes[(n, c)]).collect();
            for (c, best) in class_probabilities(&scores).into_iter().enumerate() {
                out.classes.truth.push(c == code as usize);
                out.classes.predicted.push(classes.mean[(n, c)]);
                out.classes.best.push(best);
            }
        }
    }
}

/// What may be found of one kind of labels.
#[derive(Clone, Copy, Debug)]
struct Limits {
    /// Calibration error.
    error: f64,
    /// Excess of the log loss, nats.
    excess: f64,
    /// Log-odds times this are beyond the limit.
    too_sure: f64,
}

fn check(regime: Regime, likelihood: &'static str, labels: Limits, classes: Limits) {
    let mut hidden = Hidden::default();
    for seed in 0..SEEDS {
        add(&mut hidden, regime, likelihood, seed);
    }
    let at = format!("{regime:?} {likelihood:?}");
    for (l, limit) in [0.02, 0.015, 0.01].into_iter().enumerate() {
        let gap = hidden.real.gap(l, |_, _| 1.0);
        assert!(gap < limit, "{at}: {} off by {gap}", LEVELS[l]);
        // the limits see half the variance, and noise alone
        assert!(hidden.real.gap(l, |_, _| 0.5f64.sqrt()) > 5.0 * limit);
        assert!(hidden.real.gap(l, |sd, noise| noise / sd) > limit, "{at}");
    }
    for (name, found, limits) in [
        ("labels", &hidden.labels, labels),
        ("classes", &hidden.classes, classes),
    ] {
        let (error, excess) = (found.error(1.0), found.excess());
        assert!(error < limits.error, "{at}, {name}: calibration {error}");
        assert!(excess < limits.excess, "{at}, {name}: log loss {excess}");
        // they see log-odds too small, and too large by more than the doubt
        for factor in [0.5, limits.too_sure] {
            let error = found.error(factor);
            assert!(error > limits.error, "{at}, {name} times {factor}: {error}");
        }
    }
}

const SURE: Regime = Regime {
    features: 40,
    noise: 1.0,
};
const UNSURE: Regime = Regime {
    features: 12,
    noise: 1.5,
};

#[test]
fn held_out_cells_are_as_uncertain_as_they_are_said_to_be() {
    let limits = |error, excess, too_sure| Limits {
        error,
        excess,
        too_sure,
    };
    check(
        SURE,
        "bernoulli",
        limits(0.02, 0.03, 2.0),
        limits(0.03, 0.035, 2.0),
    );
    check(
        UNSURE,
        "bernoulli",
        limits(0.035, 0.09, 2.0),
        limits(0.06, 0.12, 2.0),
    );
}

#[test]
fn so_they_are_with_latent_scores() {
    let limits = |error, excess, too_sure| Limits {
        error,
        excess,
        too_sure,
    };
    check(
        SURE,
        "bernoulli-latent",
        limits(0.08, 0.055, 4.0),
        limits(0.03, 0.035, 2.0),
    );
}

//! Simulation-based calibration of the Gibbs sampler: parameters from the
//! prior, data from the parameters, and the rank of each true quantity among
//! draws of its posterior, which must be uniform. The simulator is written
//! here and knows nothing of the sampler.

use polyview_core::{Bias, GammaPrior, PrecisionView, RowMoments, Schedule, State, View};
use polyview_infer::{GibbsChain, Model, ViewPart};
use polyview_likelihoods::{
    Bernoulli, CategoricalProbit, CategoricalProbitOptions, Cells, Gaussian, GaussianOptions,
    LatentBernoulli, LatentBernoulliOptions, MissingData, NoiseBy,
};
use polyview_linalg::{Mat, Threads};
use polyview_priors::{Fixed, FullRows};
use polyview_random::{Rng, StreamKey, gamma, standard_normal, uniform_open01};
use polyview_special::{log_sigmoid, normal_cdf, normal_pdf, sigmoid};
use polyview_tests::categorical::view_of_codes;
use polyview_tests::{normal, weights};

use crate::ranks::{DRAWS, Ranks};

const SAMPLES: usize = 12;
const K: usize = 2;
/// Predictor columns of the three views: features, labels, classes.
const COLUMNS: [usize; 3] = [3, 3, 3];
const ALPHA: GammaPrior = GammaPrior::new(4.0, 4.0);
const GAMMA: GammaPrior = GammaPrior::new(5.0, 3.0);
const NOISE: GammaPrior = GammaPrior::new(4.0, 3.0);
const BIAS_PRECISION: f64 = 2.0;
/// Data sets of a histogram.
const REPLICATES: u64 = 640;
const WARM_UP: usize = 150;
const THIN: usize = 8;

/// A real view, a binary one and one of classes, all with holes.
#[derive(Clone, Copy, Debug)]
struct Composition {
    /// Labels on latent scores with a noise precision to learn, or the
    /// logistic function of the predictor.
    latent: bool,
    /// Whether the features of the real view have precisions of their own.
    relevance: bool,
    noise: NoiseBy,
    missing: MissingData,
}

/// Parameters of one view.
#[derive(Clone, Debug)]
struct Part {
    weights: Mat<f64>,
    bias: Vec<f64>,
    /// Precisions by factor and by column.
    alpha: Vec<f64>,
    gamma: Vec<f64>,
    /// Noise precisions; empty without.
    tau: Vec<f64>,
}

/// One point of the parameter space.
#[derive(Clone, Debug)]
struct Parameters {
    factors: Mat<f64>,
    parts: Vec<Part>,
}

/// Data of the three views, `NaN` = missing.
struct Data {
    real: Mat<f64>,
    labels: Mat<f64>,
    codes: Vec<f64>,
}

/// Which cells of a view are missing.
fn hole(view: usize, n: usize, d: usize) -> bool {
    match view {
        0 => (3 * n + 5 * d).is_multiple_of(4),
        1 => (3 * n + 5 * d + 1).is_multiple_of(4),
        _ => n == 2 || n == 7,
    }
}

fn precision(rng: &mut impl Rng, prior: GammaPrior) -> f64 {
    gamma(rng, prior.shape, prior.rate).expect("a proper prior")
}

impl Composition {
    /// How many noise precisions a view has.
    fn noises(self, view: usize) -> usize {
        match (view, self.noise) {
            (0, NoiseBy::View) => 1,
            (0, NoiseBy::Feature) => COLUMNS[0],
            (1, _) => usize::from(self.latent),
            _ => 0,
        }
    }
    fn draw_prior(self, key: StreamKey) -> Parameters {
        let mut rng = key.block(1).rng();
        let factors = normal(SAMPLES, K, &mut rng);
        let parts = (0..3)
            .map(|m| {
                let d = COLUMNS[m];
                let alpha: Vec<f64> = (0..K).map(|_| precision(&mut rng, ALPHA)).collect();
                let relevance = self.relevance && m == 0;
                let gamma: Vec<f64> = (0..d)
                    .map(|_| {
                        if relevance {
                            precision(&mut rng, GAMMA)
                        } else {
                            1.0
                        }
                    })
                    .collect();
                let weights = Mat::from_fn(d, K, |i, k| {
                    standard_normal(&mut rng) / (gamma[i] * alpha[k]).sqrt()
                });
                let bias = (0..d)
                    .map(|_| standard_normal(&mut rng) / BIAS_PRECISION.sqrt())
                    .collect();
                let tau = (0..self.noises(m))
                    .map(|_| precision(&mut rng, NOISE))
                    .collect();
                Part {
                    weights,
                    bias,
                    alpha,
                    gamma,
                    tau,
                }
            })
            .collect();
        Parameters { factors, parts }
    }
    /// Data of these parameters, and whether there is more than one class.
    fn draw_data(self, p: &Parameters, key: StreamKey) -> Option<Data> {
        let mut rng = key.block(2).rng();
        let real = Mat::from_fn(SAMPLES, COLUMNS[0], |n, d| {
            let tau = &p.parts[0].tau;
            let x = p.eta(0, n, d) + standard_normal(&mut rng) / tau[d.min(tau.len() - 1)].sqrt();
            if hole(0, n, d) { f64::NAN } else { x }
        });
        let labels = Mat::from_fn(SAMPLES, COLUMNS[1], |n, d| {
            let mut score = p.eta(1, n, d);
            if self.latent {
                score += standard_normal(&mut rng) / p.parts[1].tau[0].sqrt();
            }
            let t = f64::from(u8::from(uniform_open01(&mut rng) < sigmoid(score)));
            if hole(1, n, d) { f64::NAN } else { t }
        });
        let codes: Vec<f64> = (0..SAMPLES)
            .map(|n| {
                let scores: Vec<f64> = (0..COLUMNS[2])
                    .map(|c| p.eta(2, n, c) + standard_normal(&mut rng))
                    .collect();
                let best =
                    (0..scores.len()).fold(0, |b, c| if scores[c] > scores[b] { c } else { b });
                if hole(2, n, 0) { f64::NAN } else { best as f64 }
            })
            .collect();
        let seen: Vec<f64> = codes.iter().copied().filter(|c| !c.is_nan()).collect();
        seen.iter().any(|c| *c != seen[0]).then_some(Data {
            real,
            labels,
            codes,
        })
    }
    /// The model of these data, started from `start`.
    fn model(self, data: &Data, start: &Parameters) -> Model {
        let view = |name: &str, values: &Mat<f64>| {
            let names = (0..values.ncols()).map(|d| d.to_string()).collect();
            View::from_values(name, names, values.clone()).expect("finite")
        };
        let real = GaussianOptions {
            noise: self.noise,
            prior: NOISE,
            missing: self.missing,
            start: 1.0,
        };
        let latent = LatentBernoulliOptions {
            prior: NOISE,
            missing: self.missing,
            ..LatentBernoulliOptions::default()
        };
        let classes = CategoricalProbitOptions {
            missing: self.missing,
            ..CategoricalProbitOptions::default()
        };
        let terms: [Box<dyn polyview_core::ViewTerm>; 3] = [
            Box::new(Gaussian::new(view("real", &data.real), real)),
            if self.latent {
                Box::new(
                    LatentBernoulli::new(view("labels", &data.labels), latent).expect("labels"),
                )
            } else {
                Box::new(
                    Cells::new(view("labels", &data.labels), Bernoulli::default()).expect("labels"),
                )
            },
            Box::new(
                CategoricalProbit::new(&view_of_codes("class", &data.codes, COLUMNS[2]), classes)
                    .expect("two classes"),
            ),
        ];
        let parts = terms
            .into_iter()
            .zip(["real", "labels", "class"])
            .enumerate()
            .map(|(m, (term, name))| {
                let mut bias = Bias::gaussian(COLUMNS[m], 0, BIAS_PRECISION);
                bias.set(start.parts[m].bias.clone(), vec![0.0; COLUMNS[m]]);
                ViewPart {
                    name: name.into(),
                    term,
                    weights: weights(
                        format!("weights/{name}"),
                        ALPHA,
                        (self.relevance && m == 0).then_some(GAMMA),
                        RowMoments::point(start.parts[m].weights.clone()),
                    ),
                    bias,
                }
            })
            .collect();
        let factors = FullRows::new(
            "factors",
            Fixed::standard_normal(K),
            RowMoments::point(start.factors.clone()),
        );
        Model::new(Box::new(factors), parts, Schedule::standard(3))
    }
}

impl Parameters {
    /// The current draw of a chain.
    fn of(model: &Model) -> Self {
        let parts = model
            .views
            .iter()
            .enumerate()
            .map(|(m, v)| {
                let weights = v.weights.moments().mean().to_owned();
                let (alpha, gamma) = match v.weights.precision() {
                    PrecisionView::Outer { rows, columns } => (columns.to_vec(), rows.to_vec()),
                    PrecisionView::Columns(c) => (c.to_vec(), vec![1.0; COLUMNS[m]]),
                    PrecisionView::Groups { .. } | PrecisionView::Cells(_) => {
                        unreachable!("no such prior here")
                    }
                };
                let mut state = State::new();
                v.term.save("t", &mut state);
                let tau = state.reader().vec("t/noise/mean").unwrap_or_default();
                let bias = v.bias.mean().to_vec();
                Part {
                    weights,
                    bias,
                    alpha,
                    gamma,
                    tau,
                }
            })
            .collect();
        Self {
            factors: model.factors.moments().mean().to_owned(),
            parts,
        }
    }
    fn eta(&self, view: usize, n: usize, d: usize) -> f64 {
        let part = &self.parts[view];
        (0..K)
            .map(|k| self.factors[(n, k)] * part.weights[(d, k)])
            .sum::<f64>()
            + part.bias[d]
    }
    fn ln_prior(&self, relevance: bool) -> f64 {
        let ln_gamma = |prior: GammaPrior, x: &f64| (prior.shape - 1.0) * x.ln() - prior.rate * x;
        let mut sum = -0.5 * squares(&self.factors);
        for (m, p) in self.parts.iter().enumerate() {
            for k in 0..K {
                for d in 0..COLUMNS[m] {
                    let precision = p.alpha[k] * p.gamma[d];
                    sum += 0.5 * (precision.ln() - precision * p.weights[(d, k)].powi(2));
                }
            }
            sum -= 0.5 * BIAS_PRECISION * p.bias.iter().map(|b| b * b).sum::<f64>();
            sum += p.alpha.iter().map(|x| ln_gamma(ALPHA, x)).sum::<f64>();
            sum += p.tau.iter().map(|x| ln_gamma(NOISE, x)).sum::<f64>();
            if relevance && m == 0 {
                sum += p.gamma.iter().map(|x| ln_gamma(GAMMA, x)).sum::<f64>();
            }
        }
        sum
    }
    /// Log likelihood of the observed data of each view. That of labels on
    /// latent scores is approximate, which is as good for a rank.
    fn ln_likelihood(&self, data: &Data) -> [f64; 3] {
        let mut sums = [0.0; 3];
        for n in 0..SAMPLES {
            for d in 0..COLUMNS[0] {
                let x = data.real[(n, d)];
                if !x.is_nan() {
                    let tau = self.parts[0].tau[d.min(self.parts[0].tau.len() - 1)];
                    sums[0] += 0.5 * (tau.ln() - tau * (x - self.eta(0, n, d)).powi(2));
                }
            }
            for d in 0..COLUMNS[1] {
                let t = data.labels[(n, d)];
                if !t.is_nan() {
                    let v = self.parts[1].tau.first().map_or(0.0, |tau| 1.0 / tau);
                    let shrink = (1.0 + std::f64::consts::PI * v / 8.0).sqrt();
                    sums[1] += log_sigmoid((2.0 * t - 1.0) * self.eta(1, n, d) / shrink);
                }
            }
            let class = data.codes[n];
            if !class.is_nan() {
                let scores: Vec<f64> = (0..COLUMNS[2]).map(|c| self.eta(2, n, c)).collect();
                sums[2] += class_probability(&scores, class as usize).ln();
            }
        }
        sums
    }
    /// What is ranked: nothing that depends on signs or on the order of
    /// factors.
    fn quantities(&self, data: &Data, relevance: bool) -> Vec<(&'static str, f64)> {
        let likelihood = self.ln_likelihood(data);
        let prior = self.ln_prior(relevance);
        let logs = |v: &[f64]| v.iter().map(|x| x.ln()).sum::<f64>();
        let mut out = vec![
            ("eta, real, missing", self.eta(0, 0, 0)),
            ("eta, real, observed", self.eta(0, 1, 0)),
            ("eta, label, missing", self.eta(1, 1, 0)),
            ("eta, label, observed", self.eta(1, 0, 0)),
            ("eta, class, missing", self.eta(2, 2, 0) - self.eta(2, 2, 1)),
            (
                "eta, class, observed",
                self.eta(2, 3, 0) - self.eta(2, 3, 1),
            ),
            ("noise, real", self.parts[0].tau[0]),
            ("likelihood, real", likelihood[0]),
            ("likelihood, labels", likelihood[1]),
            ("likelihood, classes", likelihood[2]),
            ("prior", prior),
            ("joint", prior + likelihood.iter().sum::<f64>()),
            ("factors", squares(&self.factors)),
            ("weights, real", squares(&self.parts[0].weights)),
            ("weights, labels", squares(&self.parts[1].weights)),
            ("weights, classes", squares(&self.parts[2].weights)),
            ("precisions, real", logs(&self.parts[0].alpha)),
            ("precisions, classes", logs(&self.parts[2].alpha)),
            ("intercept, label", self.parts[1].bias[0]),
        ];
        if relevance {
            out.push(("relevance", self.parts[0].gamma[0]));
        }
        if let Some(tau) = self.parts[1].tau.first() {
            out.push(("noise, labels", *tau));
        }
        out
    }
}

fn squares(m: &Mat<f64>) -> f64 {
    (0..m.ncols())
        .map(|j| m.col_as_slice(j).iter().map(|x| x * x).sum::<f64>())
        .sum()
}

/// Probability that this score is the largest after unit normal noise
/// (spec/sshiba G13), by the trapezoidal rule.
fn class_probability(scores: &[f64], class: usize) -> f64 {
    let step = 0.25;
    (-32..=32)
        .map(|i| {
            let u = step * f64::from(i);
            let others = (0..scores.len()).filter(|&c| c != class);
            step * normal_pdf(u)
                * others
                    .map(|c| normal_cdf(u + scores[class] - scores[c]))
                    .product::<f64>()
        })
        .sum()
}

/// Ranks of each quantity among the draws, and among draws of half their
/// variance.
fn ranks(composition: Composition, seed: u64) -> Vec<(&'static str, Ranks, Ranks)> {
    let mut out: Vec<(&'static str, Ranks, Ranks)> = Vec::new();
    for r in 0..REPLICATES {
        // a chain numbers its sweeps itself: a seed for each data set
        let key = StreamKey::new((seed << 32) + r);
        let truth = composition.draw_prior(key);
        // a choice among data sets by the data alone leaves ranks uniform
        let Some(data) = composition.draw_data(&truth, key) else {
            continue;
        };
        let start = composition.draw_prior(key.chain(1));
        let mut chain = GibbsChain::new(composition.model(&data, &start), key.chain(2));
        let mut draws = Vec::with_capacity(DRAWS);
        for sweep in 1..=WARM_UP + DRAWS * THIN {
            chain.advance().expect("a sweep");
            if sweep > WARM_UP && (sweep - WARM_UP).is_multiple_of(THIN) {
                let now = Parameters::of(chain.model());
                draws.push(now.quantities(&data, composition.relevance));
            }
        }
        for (q, (name, value)) in truth
            .quantities(&data, composition.relevance)
            .into_iter()
            .enumerate()
        {
            if out.len() <= q {
                out.push((name, Ranks::default(), Ranks::default()));
            }
            let of = |d: &Vec<(&'static str, f64)>| d[q].1;
            let mean = draws.iter().map(of).sum::<f64>() / DRAWS as f64;
            out[q].1.push(value, draws.iter().map(of));
            let narrow = |x: f64| mean + (x - mean) / std::f64::consts::SQRT_2;
            out[q].2.push(value, draws.iter().map(of).map(narrow));
        }
    }
    out
}

fn check(composition: Composition, seed: u64) {
    let found = Threads::new(1)
        .expect("a pool")
        .install(|| ranks(composition, seed));
    let uneven: Vec<String> = found
        .iter()
        .filter(|(_, r, _)| !r.uniform())
        .map(|(name, r, _)| format!("{name}: {:.1}, {:.1}", r.chi_square(), r.spread()))
        .collect();
    assert!(uneven.is_empty(), "{composition:?}: {uneven:?}");
    // the test sees half a posterior variance
    for (name, _, narrow) in &found {
        assert!(
            !narrow.uniform(),
            "{name}: {:.1} {:.1}",
            narrow.chi_square(),
            narrow.spread()
        );
    }
}

#[test]
fn gibbs_is_calibrated() {
    let composition = Composition {
        latent: false,
        relevance: false,
        noise: NoiseBy::View,
        missing: MissingData::Marginal,
    };
    check(composition, 1);
}

#[test]
fn gibbs_is_calibrated_with_relevance_latent_scores_and_imputed_cells() {
    let composition = Composition {
        latent: true,
        relevance: true,
        noise: NoiseBy::Feature,
        missing: MissingData::Impute,
    };
    check(composition, 2);
}

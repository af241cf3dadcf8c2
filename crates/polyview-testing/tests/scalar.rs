//! Likelihoods that are known by their log density alone pass what every likelihood has to.

use polyview_core::{
    About, Bias, DataError, Domain, GammaPrior, LikelihoodSpecies, NormalEquations, Options,
    Predictor, RowMoments, TermContext, View, ViewTerm,
};
use polyview_infer::{GibbsChain, ViewPart};
use polyview_likelihoods::{Cell, Expected, ScalarLikelihood, ScalarParameter};
use polyview_linalg::Mat;
use polyview_random::StreamKey;
use polyview_special::{Expectation, Real, ln_gamma};
use polyview_testing::law::{K, rows};
use polyview_testing::{LikelihoodCheck, assemble, normal, weights};

/// Labels by the logistic function.
#[derive(Clone, Debug)]
struct Logistic;

impl ScalarLikelihood for Logistic {
    fn needs(&self) -> &'static str {
        "0 or 1"
    }
    fn domain(&self) -> Domain {
        Domain::Binary
    }
    fn ln_density<R: Real>(&self, cell: Cell, eta: R, _parameter: R) -> R {
        eta * cell.value - eta.softplus()
    }
}

/// Counts that vary more than chance, by nodes.
#[derive(Clone, Debug)]
struct Varied;

impl ScalarLikelihood for Varied {
    fn needs(&self) -> &'static str {
        "counts"
    }
    fn domain(&self) -> Domain {
        Domain::COUNTS
    }
    fn ln_density<R: Real>(&self, cell: Cell, eta: R, size: R) -> R {
        let x = cell.value;
        let shifted = eta - size.ln();
        let constant = (size + x).ln_gamma() - size.ln_gamma() - ln_gamma(x + 1.0);
        shifted * x - shifted.softplus() * (size + x) + constant
    }
    fn parameter(&self) -> Option<ScalarParameter> {
        Some(ScalarParameter {
            name: "size",
            prior: GammaPrior {
                shape: 2.0,
                rate: 1.0,
            },
            range: (1e-2, 1e3),
        })
    }
}

/// Counts with the exponential link, in closed form.
#[derive(Clone, Debug)]
struct Counts;

impl ScalarLikelihood for Counts {
    fn needs(&self) -> &'static str {
        "counts"
    }
    fn domain(&self) -> Domain {
        Domain::COUNTS
    }
    fn ln_density<R: Real>(&self, cell: Cell, eta: R, _parameter: R) -> R {
        eta * cell.value - eta.exp() - ln_gamma(cell.value + 1.0)
    }
    fn expectation(&self, cell: Cell, _parameter: f64, mean: f64, variance: f64) -> Expectation {
        let rate = (mean + 0.5 * variance).exp();
        Expectation {
            value: cell.value * mean - rate - ln_gamma(cell.value + 1.0),
            slope: cell.value - rate,
            curvature: rate,
        }
    }
}

/// Numbers with a few that are far off: not log-concave, and with a scale to learn.
#[derive(Clone, Debug)]
struct StudentT;

const NU: f64 = 4.0;

impl ScalarLikelihood for StudentT {
    fn needs(&self) -> &'static str {
        "numbers"
    }
    fn domain(&self) -> Domain {
        Domain::Reals
    }
    fn ln_density<R: Real>(&self, cell: Cell, eta: R, scale: R) -> R {
        let u = (eta - cell.value) / scale;
        let constant = ln_gamma(0.5 * (NU + 1.0)) - ln_gamma(0.5 * NU);
        let constant = constant - 0.5 * (NU * std::f64::consts::PI).ln();
        (u.square() / NU).ln_1p() * (-0.5 * (NU + 1.0)) - scale.ln() + constant
    }
    fn sharpness(&self, scale: f64) -> f64 {
        2.0 / scale
    }
    fn parameter(&self) -> Option<ScalarParameter> {
        Some(ScalarParameter {
            name: "scale",
            prior: GammaPrior {
                shape: 3.0,
                rate: 3.0,
            },
            range: (1e-3, 1e3),
        })
    }
}

struct Species<L> {
    name: &'static str,
    likelihood: L,
}

impl<L: ScalarLikelihood> LikelihoodSpecies for Species<L> {
    fn name(&self) -> &'static str {
        self.name
    }
    fn about(&self) -> About {
        About {
            line: "known by its log density",
            needs: self.likelihood.needs(),
            label: "",
            options: &[],
        }
    }
    fn domain(&self) -> Domain {
        self.likelihood.domain()
    }
    fn defaults(&self) -> Options {
        Options::new()
    }
    fn term(
        &self,
        view: View,
        _options: &Options,
        _cx: &TermContext,
    ) -> Result<Box<dyn ViewTerm>, DataError> {
        Ok(Box::new(Expected::new(view, self.likelihood.clone())?))
    }
}

fn passes<L: ScalarLikelihood>(name: &'static str, likelihood: L) {
    let species = Species { name, likelihood };
    if let Err(failure) = LikelihoodCheck::new(&species).draws(400).run() {
        panic!("{failure}");
    }
}

#[test]
fn labels_pass() {
    passes("logistic", Logistic);
}

#[test]
fn counts_pass() {
    passes("log-counts", Counts);
}

#[test]
fn varied_counts_pass() {
    passes("varied-counts", Varied);
}

/// As [`Logistic`], which says that it has a singularity everywhere.
#[derive(Clone, Debug)]
struct Boundless;

impl ScalarLikelihood for Boundless {
    fn needs(&self) -> &'static str {
        Logistic.needs()
    }
    fn domain(&self) -> Domain {
        Logistic.domain()
    }
    fn ln_density<R: Real>(&self, cell: Cell, eta: R, parameter: R) -> R {
        Logistic.ln_density(cell, eta, parameter)
    }
    fn sharpness(&self, _: f64) -> f64 {
        f64::INFINITY
    }
}

#[test]
fn a_sharpness_that_is_no_number_is_refused() {
    let view = View::from_values(
        "v",
        vec!["a".into()],
        Mat::from_fn(3, 1, |n, _| (n % 2) as f64),
    );
    let refused = Expected::new(view.expect("a view"), Boundless)
        .map(|_| ())
        .unwrap_err();
    assert!(
        refused.to_string().contains("sharpness of inf"),
        "{refused}"
    );
}

#[test]
fn heavy_tails_pass() {
    passes("student", StudentT);
}

/// What a term says of a state is of that state, and not of one that was proposed.
/// Precisions and right-hand sides of the samples, one after the other.
fn of_samples(term: &mut dyn ViewTerm, p: &Predictor<'_>, k: usize) -> (Vec<Vec<f64>>, Mat<f64>) {
    let samples = term.shape().samples;
    let mut eq = NormalEquations::new(k, 0..samples);
    (term.equations().factor_gram(0, p, &mut eq)).expect("sums");
    (term.equations().factor_equations(p, &mut eq)).expect("sums");
    let precision = |n: usize| eq.row_precision(n).as_slice().to_vec();
    let rhs = Mat::from_fn(samples, k, |n, j| eq.rhs[(n, j)]);
    ((0..samples).map(precision).collect(), rhs)
}

/// Tangents that are kept are those of where the weights were, whatever moves afterwards: one column, whose site of each sample follows
/// from what it says of the sample's factors.
#[test]
fn tangents_that_are_kept_stay_where_weights_were() {
    let (n, d) = (9, 1);
    let x = Mat::from_fn(n, d, |i, _| if i == 4 { f64::NAN } else { (i % 3) as f64 });
    let view = View::from_values("x", vec!["a".to_owned()], x).unwrap();
    let mut term = Expected::new(view, Counts).unwrap();
    let (z, w, moved) = (rows(n, 1), rows(d, 2), rows(d, 3));
    let bias = |b: f64| {
        let mut bias = Bias::gaussian(d, 0, 1.0);
        bias.set(vec![b], vec![0.05]);
        bias
    };
    let (b, to) = (0.3, -0.4);
    let (here, there) = (bias(b), bias(to));
    let at = |weights, bias| Predictor {
        factors: &z,
        weights,
        bias,
    };
    let weights_of = |term: &mut Expected<Counts>, p: &Predictor<'_>| {
        let mut eq = NormalEquations::new(K, 0..0);
        term.equations().weight_gram(p, &mut eq).unwrap();
        eq.set_rows(0..d);
        term.equations().weight_equations(p, &mut eq).unwrap();
    };
    // sites: precision H and linear part g + Hm
    let (precision, rhs) = of_samples(&mut term, &at(&w, &here), K);
    let second = |w: &RowMoments| w.mean()[(0, 0)].powi(2) + w.variance(0, 0);
    let sites: Vec<(f64, f64)> = (0..n)
        .map(|i| {
            let h = precision[i][0] / second(&w);
            (h, rhs[(i, 0)] / w.mean()[(0, 0)] + h * b)
        })
        .collect();
    assert_eq!(sites[4], (0.0, 0.0));
    let tangents = |term: &mut Expected<Counts>, held| term.as_tangents().unwrap().hold(held);
    tangents(&mut term, true);
    assert!(term.as_tangents().unwrap().is_held());
    weights_of(&mut term, &at(&w, &here));
    // intercepts, of other weights
    let (mut precision, mut rhs) = ([0.0], [0.0]);
    let p = at(&moved, &here);
    (term.equations()).bias_equations(0..d, &p, &mut precision, &mut rhs);
    let own = |i: usize| -> f64 {
        (0..K)
            .map(|k| moved.mean()[(0, k)] * z.mean()[(i, k)])
            .sum()
    };
    let sum = |of: &dyn Fn(usize) -> f64| (0..n).map(of).sum::<f64>();
    let near = |a: f64, b: f64| (a - b).abs() < 1e-10 * (1.0 + b.abs());
    assert!(near(precision[0], sum(&|i| sites[i].0)));
    assert!(near(rhs[0], sum(&|i| sites[i].1 - sites[i].0 * own(i))));
    // factors, of other weights and intercepts
    let p = at(&moved, &there);
    term.equations().absorb(0..d, &p);
    term.equations().seal(&p);
    let (precision, rhs) = of_samples(&mut term, &p, K);
    for i in 0..n {
        let (h, t) = sites[i];
        assert!(near(precision[i][0], h * second(&moved)));
        for k in 0..K {
            assert!(near(rhs[(i, k)], (t - h * to) * moved.mean()[(0, k)]));
        }
    }
    // let go, they are those of where everything is
    tangents(&mut term, false);
    let (precision, _) = of_samples(&mut term, &p, K);
    assert!((0..n).any(|i| !near(precision[i][0], sites[i].0 * second(&moved))));
}

#[test]
fn the_density_of_a_chain_is_that_of_its_state() {
    let (n, d, k) = (20, 4, 2);
    let values = Mat::from_fn(n, d, |n, d| f64::from(u8::from((3 * n + 5 * d) % 7 > 2)));
    let names = (0..d).map(|d| format!("f{d}")).collect();
    let view = View::from_values("view", names, values).expect("labels");
    let part = ViewPart {
        name: "view".into(),
        term: Box::new(Expected::new(view, Logistic).expect("a term")),
        weights: weights(
            "weights/view".into(),
            GammaPrior::new(5.0, 4.0),
            None,
            RowMoments::point(Mat::zeros(d, k)),
        ),
        bias: Bias::gaussian(d, 0, 0.5),
    };
    let start = normal(n, k, &mut StreamKey::new(4).rng());
    let mut chain = GibbsChain::new(assemble(vec![part], start), StreamKey::new(9));
    for _ in 0..6 {
        chain.advance().expect("a sweep");
        let model = chain.model_mut();
        // the same numbers as another state
        let factors = RowMoments::point(model.factors.moments().mean().to_owned());
        let (term, p) = model.views[0].with(model.factors.moments());
        let held = term.bound(&p).sum();
        let fresh = term.bound(&Predictor {
            factors: &factors,
            ..p
        });
        assert!((held - fresh.sum()).abs() < 1e-9, "{held} {}", fresh.sum());
    }
}

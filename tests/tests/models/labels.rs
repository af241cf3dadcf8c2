//! Classifiers on factors: the Bayesian support vector machine and the probit
//! model in whole models (spec/maxmargin-rank 2.3, 2.6, 4.3, 5.1, 5.2).

use polyview_core::{Bias, Block, Journal, Mask, Predictor, RowMoments, Schedule, View, ViewTerm};
use polyview_infer::{Audit, GibbsChain, Model, PruneRule, VbOptions, VbRun, ViewPart};
use polyview_likelihoods::{BayesianSvm, Cells, Gaussian, GaussianOptions, Probit};
use polyview_linalg::Mat;
use polyview_priors::{
    Ard, Fixed, FullRows, GlobalScale, ThreeParameterBeta, ThreeParameterBetaOptions,
};
use polyview_random::StreamKey;
use polyview_tests::law::gap;
use polyview_tests::{geweke, normal};

#[derive(Clone, Copy, Debug, PartialEq)]
enum Kind {
    Svm,
    Probit,
}

const KINDS: [Kind; 2] = [Kind::Svm, Kind::Probit];

fn term(kind: Kind, view: View) -> Box<dyn ViewTerm> {
    match kind {
        Kind::Svm => Box::new(Cells::new(view, BayesianSvm::default()).expect("labels")),
        Kind::Probit => Box::new(Cells::new(view, Probit::default()).expect("labels")),
    }
}

fn view(name: &str, values: Mat<f64>) -> View {
    let names = (0..values.ncols()).map(|d| format!("f{d}")).collect();
    View::from_values(name, names, values).expect("finite values")
}

/// A classifier with a hierarchy for each task.
fn labels(kind: Kind, labels: Mat<f64>, k: usize) -> ViewPart {
    let tasks = labels.ncols();
    let term = term(kind, view("y", labels));
    let mut bias = Bias::gaussian(tasks, 0, term.intercepts().precision);
    bias.set(term.intercepts().start.expect("a start"), vec![0.01; tasks]);
    let prior = ThreeParameterBetaOptions::horseshoe(GlobalScale::Row);
    ViewPart {
        name: "y".into(),
        weights: Box::new(FullRows::new(
            "weights/y",
            ThreeParameterBeta::new(prior, tasks, k),
            RowMoments::isotropic(Mat::zeros(tasks, k), 0.1, 0),
        )),
        term,
        bias,
    }
}

/// Two real factors, one of which decides on the class; ten per cent of labels
/// turned and some missing.
struct Simulated {
    z: Mat<f64>,
    x: Mat<f64>,
    y: Mat<f64>,
    complete: Vec<f64>,
}

fn simulate(samples: usize, seed: u64) -> Simulated {
    let mut rng = StreamKey::new(seed).rng();
    let z = normal(samples, 2, &mut rng);
    let w = normal(12, 2, &mut rng);
    let x = &z * w.transpose() + normal(samples, 12, &mut rng);
    let complete: Vec<f64> = (0..samples)
        .map(|n| f64::from(u8::from((z[(n, 0)] > 0.4) != (n % 10 == 3))))
        .collect();
    let y = Mat::from_fn(
        samples,
        1,
        |n, _| if n % 7 == 5 { f64::NAN } else { complete[n] },
    );
    Simulated { z, x, y, complete }
}

fn model(kind: Kind, x: &Mat<f64>, y: &Mat<f64>, k: usize) -> Model {
    let d = x.ncols();
    let real = ViewPart {
        name: "x".into(),
        term: Box::new(Gaussian::new(
            view("x", x.clone()),
            GaussianOptions::default(),
        )),
        weights: Box::new(FullRows::new(
            "weights/x",
            ThreeParameterBeta::new(ThreeParameterBetaOptions::default(), d, k),
            RowMoments::isotropic(Mat::zeros(d, k), 1.0, 0),
        )),
        bias: Bias::gaussian(d, 0, 1.0),
    };
    let start = normal(x.nrows(), k, &mut StreamKey::new(8).rng());
    let factors = FullRows::new(
        "factors",
        Fixed::standard_normal(k),
        RowMoments::isotropic(start, 0.1, 0),
    );
    let parts = vec![real, labels(kind, y.clone(), k)];
    Model::new(Box::new(factors), parts, Schedule::standard(2))
}

/// A fit that is checked after every block.
fn fit(model: Model, sweeps: usize) -> VbRun {
    let options = VbOptions {
        max_sweeps: sweeps,
        audit: Audit::Blocks,
        prune: PruneRule::never(),
        ..VbOptions::default()
    };
    let mut run = VbRun::new(model, options, StreamKey::new(1), Journal::default());
    let mut last = f64::NEG_INFINITY;
    loop {
        let report = run.sweep().expect("no block lowers the bound");
        assert!(report.bound >= last - 1e-9 * last.abs());
        last = report.bound;
        if report.outcome.is_some() {
            return run;
        }
    }
}

fn predictor(m: &Model, v: usize) -> Predictor<'_> {
    Predictor {
        factors: m.factors.moments(),
        weights: m.views[v].weights.moments(),
        bias: &m.views[v].bias,
    }
}

/// At fresh local numbers and at ones whose predictor has moved on.
#[test]
fn terms_obey_the_law() {
    for kind in KINDS {
        let y = Mat::from_fn(9, 3, |n, d| {
            if (n + 2 * d) % 5 == 1 {
                f64::NAN
            } else {
                f64::from(u8::from((n * d) % 3 == 0))
            }
        });
        let mut t = term(kind, view("y", y));
        let worst = gap(t.as_mut(), None);
        assert!(worst < 1e-6, "{kind:?}: {worst:e}");
        let (z, w, b) = (
            polyview_tests::law::rows(9, 6),
            polyview_tests::law::rows(3, 7),
            Bias::gaussian(3, 0, 1.0),
        );
        let mut journal = Journal::default();
        let mut cx = polyview_core::Context {
            key: StreamKey::new(1),
            sweep: 2,
            journal: &mut journal,
        };
        let p = Predictor {
            factors: &z,
            weights: &w,
            bias: &b,
        };
        t.refresh(&p, &mut cx).expect("finite");
        let worst = gap(t.as_mut(), None);
        assert!(worst < 1e-6, "{kind:?}: {worst:e}");
    }
}

#[test]
fn classes_of_hidden_labels_are_found() {
    let s = simulate(300, 3);
    for kind in KINDS {
        let run = fit(model(kind, &s.x, &s.y, 4), 200);
        let m = run.model();
        let p = predictor(m, 1);
        let (score, found) = (
            p.mean(0..300, 0..1),
            m.views[1].term.law(&p, &Block::new(0..300, 0..1)).means(),
        );
        let (mut wrong, mut hidden) = (0, 0);
        for n in (0..300).filter(|n| n % 7 == 5) {
            // the truth but for the turned labels
            wrong += usize::from((score[(n, 0)] > 0.0) != (s.z[(n, 0)] > 0.4));
            hidden += 1;
            assert_eq!(score[(n, 0)] > 0.0, found[(n, 0)] > 0.5);
        }
        assert!(wrong * 8 < hidden, "{kind:?}: {wrong} of {hidden}");
        // probabilities are worth more than the share of ones
        let loss = |p: &dyn Fn(usize) -> f64| -> f64 {
            (0..300)
                .filter(|n| n % 7 == 5)
                .map(|n| (p(n) - s.complete[n]).powi(2))
                .sum()
        };
        assert!(loss(&|n| found[(n, 0)]) < 0.7 * loss(&|_| 0.4), "{kind:?}");
    }
}

/// spec/maxmargin-rank section 12, test (g).
#[test]
fn tasks_with_the_same_labels_have_the_same_coefficients() {
    let s = simulate(120, 4);
    let y = Mat::from_fn(120, 3, |n, _| s.y[(n, 0)]);
    for kind in KINDS {
        let run = fit(model(kind, &s.x, &y, 3), 60);
        let v = &run.model().views[1];
        let w = v.weights.moments().mean();
        for c in 1..3 {
            for k in 0..3 {
                assert_eq!(w[(c, k)], w[(0, k)], "{kind:?}");
                assert_eq!(
                    v.weights.precision().at(c, k),
                    v.weights.precision().at(0, k)
                );
            }
            assert_eq!(v.bias.mean()[c], v.bias.mean()[0]);
        }
        assert!(w[(0, 0)].abs() + w[(0, 1)].abs() + w[(0, 2)].abs() > 0.1);
    }
}

#[test]
fn chains_and_bounds_agree() {
    let s = simulate(120, 6);
    for kind in KINDS {
        let vb = fit(model(kind, &s.x, &s.y, 2), 300);
        let mut chain = GibbsChain::new(model(kind, &s.x, &s.y, 2), StreamKey::new(8));
        let mut mean: Mat<f64> = Mat::zeros(120, 1);
        for i in 0..700 {
            chain.sweep().expect("a sweep");
            if i >= 300 {
                let scale = polyview_linalg::faer::Scale(1.0 / 400.0);
                mean += predictor(chain.model_mut(), 1).mean(0..120, 0..1) * scale;
            }
        }
        let score = predictor(vb.model(), 1).mean(0..120, 0..1);
        let n = 120.0;
        let centre = |m: &Mat<f64>| m.col(0).iter().sum::<f64>() / n;
        let (a, b) = (centre(&score), centre(&mean));
        let (mut ab, mut aa, mut bb) = (0.0, 0.0, 0.0);
        for i in 0..120 {
            let (x, y) = (score[(i, 0)] - a, mean[(i, 0)] - b);
            ab += x * y;
            aa += x * x;
            bb += y * y;
        }
        let correlation = ab / (aa * bb).sqrt();
        assert!(correlation > 0.97, "{kind:?}: {correlation}");
    }
}

/// $\sum\ln\\{L(+1) + L(-1)\\}$ over the observed cells of a view.
fn ln_sum(m: &Model, v: usize, mask: &Mask) -> f64 {
    let p = predictor(m, v);
    let shape = m.views[v].term.shape();
    let eta = p.mean(0..shape.samples, 0..shape.predictor_columns);
    let mut sum = 0.0;
    for d in 0..eta.ncols() {
        for n in (0..eta.nrows()).filter(|&n| mask.is_observed(n, d)) {
            let l = |y: f64| (-2.0 * (1.0 - y * eta[(n, d)]).max(0.0)).exp();
            sum += (l(1.0) + l(-1.0)).ln();
        }
    }
    sum
}

#[test]
fn gibbs_leaves_the_joint_distribution_alone() {
    let (samples, k) = (5, 2);
    for kind in KINDS {
        let data = |d: usize, m: usize| {
            Mat::from_fn(samples, d, |n, j| {
                if (n * 3 + j * 5 + m).is_multiple_of(4) {
                    f64::NAN
                } else {
                    1.0
                }
            })
        };
        let y = view("y", data(3, 0));
        let mask = y.mask().clone();
        let part = |name: &str, term: Box<dyn ViewTerm>, d: usize| ViewPart {
            weights: Box::new(FullRows::new(
                format!("weights/{name}"),
                Ard::new(polyview_core::GammaPrior::new(5.0, 4.0), k),
                RowMoments::point(Mat::zeros(d, k)),
            )),
            term,
            bias: Bias::gaussian(d, 0, 2.0),
            name: name.into(),
        };
        let noise = GaussianOptions {
            prior: polyview_core::GammaPrior::new(5.0, 4.0),
            ..GaussianOptions::default()
        };
        let parts = vec![
            part("y", term(kind, y), 3),
            part(
                "x",
                Box::new(Gaussian::new(view("x", data(2, 1)), noise)),
                2,
            ),
        ];
        let factors = FullRows::new(
            "factors",
            Fixed::standard_normal(k),
            RowMoments::point(Mat::zeros(samples, k)),
        );
        let model = Model::new(Box::new(factors), parts, Schedule::standard(2));
        let score = geweke::largest_weighted_score(model, 8000, 3, |m| match kind {
            Kind::Svm => ln_sum(m, 0, &mask),
            Kind::Probit => 0.0,
        });
        assert!(score < 4.5, "{kind:?}: {score}");
    }
}

#[test]
fn what_is_no_label_is_refused() {
    for value in [2.0, -1.0, 0.5] {
        let y = view("y", Mat::full(3, 1, value));
        assert!(Cells::new(y.clone(), BayesianSvm::default()).is_err());
        assert!(Cells::new(y, Probit::default()).is_err());
    }
    // one class alone is a fit like any other
    let s = simulate(60, 2);
    let ones = Mat::full(60, 1, 1.0);
    for kind in KINDS {
        let run = fit(model(kind, &s.x, &ones, 2), 20);
        let p = predictor(run.model(), 1);
        let found = run.model().views[1].term.law(&p, &Block::new(0..60, 0..1));
        let found = found.means();
        assert!((0..60).all(|n| found[(n, 0)] > 0.8));
    }
}

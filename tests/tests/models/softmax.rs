//! Classes by softmax in whole models (spec/sites 3, 5, 8).

use polyview::{ModelSpec, models};
use polyview_core::{
    Bias, Block, Dataset, GammaPrior, Journal, Predictor, RowMoments, Table, View, ViewTerm,
};
use polyview_infer::{Audit, GibbsChain, Model, PruneRule, Rotate, VbOptions, VbRun, ViewPart};
use polyview_likelihoods::{Gaussian, GaussianOptions, NoiseBy, ParameterUncertainty, Softmax};
use polyview_linalg::Mat;
use polyview_priors::{Ard, FullRows};
use polyview_random::{StreamKey, uniform_open01};
use polyview_special::log_sum_exp;
use polyview_tests::categorical::{random_view, softmax_part, view_of_codes};
use polyview_tests::law::gap;
use polyview_tests::{Case, Holes, ViewCase, assemble, gaussian_parts, normal, views};
use proptest::prelude::*;

const K: usize = 2;

/// With covariances on both sides, and predictors of classes that share factors.
#[test]
fn softmax_terms_obey_the_law() {
    for (classes, share) in [(2, 0.0), (3, 0.4), (7, 0.3)] {
        let view = random_view(9, classes, share, 5);
        let mut term = Softmax::new(&view, ParameterUncertainty::Posterior).expect("classes");
        let gap = gap(&mut term, None);
        assert!(gap < 1e-6, "{classes}: {gap:e}");
    }
}

/// The widened law of classes obeys it as well (spec/sites 5).
#[test]
fn widened_softmax_terms_obey_the_law() {
    let (samples, classes) = (7, 4);
    let view = random_view(samples, classes, 0.2, 6);
    let term = Softmax::new(&view, ParameterUncertainty::Posterior).expect("classes");
    let (factors, weights) = (
        polyview_tests::law::rows(samples, 11),
        polyview_tests::law::rows(classes, 12),
    );
    let bias = Bias::gaussian(classes, 0, 1.0);
    let at = Predictor {
        factors: &factors,
        weights: &weights,
        bias: &bias,
    };
    let mut widened = term.widened(&view, &at).expect("a form").expect("a term");
    let gap = gap(widened.as_mut(), None);
    assert!(gap < 1e-6, "{gap:e}");
}

/// At known parameters it is the log of the mean of the probability over what is uncertain.
#[test]
fn a_widened_law_is_a_mixture() {
    let classes = 3;
    let view = view_of_codes("c", &[0.0, 1.0, 2.0, 1.0], classes);
    let term = Softmax::new(&view, ParameterUncertainty::Posterior).expect("classes");
    let uncertain = polyview_tests::law::rows(4, 3);
    let known = RowMoments::point(uncertain.mean().to_owned());
    let mean = polyview_tests::law::rows(classes, 4).mean().to_owned();
    let weights = RowMoments::point(mean);
    let bias = Bias::gaussian(classes, 0, 1.0);
    let at = |factors| Predictor {
        factors,
        weights: &weights,
        bias: &bias,
    };
    let mut widened = (term.widened(&view, &at(&uncertain)))
        .expect("a form")
        .expect("a term");
    let found = widened.bound(&at(&known)).sum();
    // what is predicted of the same samples
    let law = term.law(&at(&uncertain), &Block::new(0..4, 0..1)).means();
    let expected: f64 = [0, 1, 2, 1]
        .iter()
        .enumerate()
        .map(|(n, c)| law[(n, *c)].ln())
        .sum();
    assert!((found - expected).abs() < 0.05, "{found} {expected}");
}

fn audited() -> VbOptions {
    VbOptions {
        max_sweeps: 10,
        audit: Audit::Blocks,
        prune: PruneRule::never(),
        ..VbOptions::default()
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, ..ProptestConfig::default() })]
    #[test]
    fn no_block_lowers_the_bound(
        seed in any::<u64>(),
        samples in 2usize..40,
        k in 1usize..5,
        classes in 2usize..8,
        share in prop_oneof![Just(0.0), 0.1f64..0.8],
        bias in prop_oneof![Just(None), Just(Some(1.0)), Just(Some(0.01))],
        beside in any::<bool>(),
    ) {
        let view = random_view(samples, classes, share, seed);
        let mut parts = Vec::new();
        if beside {
            let own = ViewCase {
                features: 6,
                holes: Holes::Cells(0.2),
                noise: NoiseBy::Feature,
                missing: polyview_likelihoods::MissingData::Marginal,
                bias: Some(1.0),
                relevance: false,
            };
            let case = Case { seed, samples, k, views: vec![own] };
            parts = gaussian_parts(&case, views(&case, 2));
        }
        parts.push(softmax_part(&view, k, bias));
        let key = StreamKey::new(seed);
        let start = normal(samples, k, &mut key.block(78).rng());
        let mut run = VbRun::new(assemble(parts, start), audited(), key, Journal::default());
        let mut last = f64::NEG_INFINITY;
        loop {
            let report = run.sweep().map_err(|e| TestCaseError::fail(e.to_string()))?;
            prop_assert!(report.bound >= last - 1e-9 * last.abs().max(1.0), "{} {last}", report.bound);
            last = report.bound;
            if report.outcome.is_some() {
                break;
            }
        }
    }
}

/// Classes of a softmax of two factors, which a view of numbers shows.
fn study(samples: usize, features: usize, classes: usize, seed: u64) -> (View, Vec<f64>) {
    let mut rng = StreamKey::new(seed).rng();
    let z = normal(samples, K, &mut rng);
    let w = normal(features, K, &mut rng);
    let x = &z * w.transpose() + 0.5 * normal(samples, features, &mut rng);
    let names = (0..features).map(|d| format!("f{d}")).collect();
    let v = 2.0 * normal(classes, K, &mut rng);
    let codes = drawn(&(&z * v.transpose()), seed);
    (View::from_values("real", names, x).expect("finite"), codes)
}

/// Classes of these predictors, samples × classes.
fn drawn(eta: &Mat<f64>, seed: u64) -> Vec<f64> {
    let mut rng = StreamKey::new(seed).block(3).rng();
    let code = |n: usize| {
        let row: Vec<f64> = eta.row(n).iter().copied().collect();
        let (all, u) = (log_sum_exp(&row), uniform_open01(&mut rng));
        let mut sum = 0.0;
        let reached = row.iter().position(|x| {
            sum += (x - all).exp();
            sum > u
        });
        reached.unwrap_or(row.len() - 1) as f64
    };
    (0..eta.nrows()).map(code).collect()
}

fn model(real: &View, codes: &[f64], classes: usize) -> Model {
    let d = real.n_features();
    let gaussian = GaussianOptions {
        noise: NoiseBy::View,
        prior: GammaPrior::new(1.0, 1.0),
        ..GaussianOptions::default()
    };
    let parts = vec![
        ViewPart {
            name: "real".into(),
            term: Box::new(Gaussian::new(real.clone(), gaussian)),
            weights: Box::new(FullRows::new(
                "weights/real",
                Ard::new(GammaPrior::new(1.0, 1.0), K),
                RowMoments::isotropic(Mat::zeros(d, K), 1.0, 0),
            )),
            bias: Bias::gaussian(d, 0, 1.0),
        },
        softmax_part(&view_of_codes("classes", codes, classes), K, Some(0.1)),
    ];
    assemble(parts, normal(codes.len(), K, &mut StreamKey::new(9).rng()))
}

fn probabilities(model: &Model) -> Mat<f64> {
    let v = &model.views[1];
    let p = Predictor {
        factors: model.factors.moments(),
        weights: v.weights.moments(),
        bias: &v.bias,
    };
    let shape = v.term.shape();
    v.term.law(&p, &Block::new(0..shape.samples, 0..1)).means()
}

#[test]
fn variational_bayes_agrees_with_gibbs() {
    let (samples, seen, classes) = (150, 120, 3);
    let (real, mut codes) = study(samples, 8, classes, 5);
    codes[seen..].fill(f64::NAN);
    let options = VbOptions {
        max_sweeps: 60,
        tolerance: 1e-300,
        prune: PruneRule::never(),
        rotate: Rotate::InLoop,
        ..VbOptions::default()
    };
    let model = model(&real, &codes, classes);
    let mut run = VbRun::new(model, options, StreamKey::new(1), Journal::default());
    for _ in 0..60 {
        run.sweep().expect("a sweep");
    }
    let vb = probabilities(run.model());
    let (model, _) = run.into_parts();
    let mut chain = GibbsChain::new(model, StreamKey::new(2));
    let mut mean: Mat<f64> = Mat::zeros(samples, classes);
    let (burn, draws) = (60, 300);
    for i in 0..burn + draws {
        chain.advance().expect("a sweep");
        if i >= burn {
            mean += probabilities(chain.model());
        }
    }
    let (mut worst, mut total) = (0.0f64, 0.0);
    for c in 0..classes {
        for n in 0..samples {
            let d = (vb[(n, c)] - mean[(n, c)] / f64::from(draws)).abs();
            worst = worst.max(d);
            total += d / (samples * classes) as f64;
        }
    }
    assert!(total < 0.02 && worst < 0.12, "{total} {worst}");
}

/// Numbers of three factors, and one of four classes by softmax.
fn tables(samples: usize, noise: f64, seed: u64) -> [Table; 2] {
    let (features, classes) = (15, 4);
    let mut rng = StreamKey::new(seed).rng();
    let z = normal(samples, 3, &mut rng);
    let w = normal(features, 3, &mut rng);
    let x = &z * w.transpose() + noise * normal(samples, features, &mut rng);
    let v = 1.5 * normal(classes, 3, &mut rng);
    let codes = drawn(&(&z * v.transpose()), seed);
    let table = |name: &str, values: Mat<f64>, classes: usize| Table {
        name: name.into(),
        samples: (0..samples).map(|n| format!("s{n:05}")).collect(),
        features: (0..values.ncols()).map(|d| format!("{name}{d}")).collect(),
        levels: (0..classes).map(|c| format!("class{c}")).collect(),
        values,
    };
    let codes = Mat::from_fn(samples, 1, |n, _| codes[n]);
    [table("x", x, 0), table("class", codes, classes)]
}

fn part_of(table: &Table, rows: std::ops::Range<usize>) -> Table {
    Table {
        samples: table.samples[rows.clone()].to_vec(),
        values: table.values.subrows(rows.start, rows.len()).to_owned(),
        ..table.clone()
    }
}

/// Log loss of the classes of new samples, nats each, and the temperature that would make it
/// smallest: logarithms of probabilities are divided by it.
fn judged(tables: &[Table; 2], train: usize, spec: ModelSpec) -> (f64, f64) {
    let [x, class] = tables;
    let data = Dataset::builder()
        .view(part_of(x, 0..train))
        .view(part_of(class, 0..train));
    let fit = polyview::fit(data.build().expect("data"), spec).expect("a fit");
    let all = x.samples.len();
    let new = Dataset::builder()
        .new_samples()
        .view(part_of(x, train..all));
    let p = fit
        .predict(&new.build().expect("data"), "class")
        .expect("classes")
        .mean;
    let loss = |temperature: f64| {
        let of = |n: usize| {
            let logs: Vec<f64> = (0..p.ncols())
                .map(|c| p[(n, c)].ln() / temperature)
                .collect();
            log_sum_exp(&logs) - logs[class.values[(train + n, 0)] as usize]
        };
        (0..p.nrows()).map(of).sum::<f64>() / p.nrows() as f64
    };
    let grid = (0..=120).map(|i| 0.5 * 1.012f64.powi(i));
    let best = grid.fold((f64::INFINITY, 0.0), |best, t| {
        let l = loss(t);
        if l < best.0 { (l, t) } else { best }
    });
    (loss(1.0), best.1)
}

/// The probit, whose scores pay for what is unknown of factors at their full precision, would
/// have to be sharpened nearly twofold. Settled on laws of the classes, given factors that did
/// not see them, nothing is paid.
#[test]
fn probabilities_have_the_temperature_of_the_classes() {
    let spec = |name: &str| models::sshiba(5).with_likelihood("class", name);
    let (mut means, mut said) = ([[0.0; 2]; 2], Vec::new());
    let studies = [(1.0, 1), (1.0, 3), (2.0, 4), (2.0, 2)];
    for (noise, seed) in studies {
        let tables = tables(2300, noise, seed);
        let fits = [spec("categorical-probit"), spec("categorical")];
        for (mean, spec) in means.iter_mut().zip(fits) {
            let (loss, temperature) = judged(&tables, 300, spec);
            said.push((noise, seed, loss, temperature));
            mean[0] += loss / studies.len() as f64;
            mean[1] += temperature / studies.len() as f64;
        }
    }
    let [probit, joint] = means;
    let said = format!("{said:?} {means:?}");
    assert!((0.9..1.1).contains(&joint[1]), "{said}");
    assert!(joint[0] < probit[0], "{said}");

    // the study whose factors are least known
    let tables = tables(2300, 2.0, 2);
    let joint = judged(&tables, 300, spec("categorical"));
    let settled = spec("categorical").with_settled("class", true);
    let settled = judged(&tables, 300, settled);
    assert!(
        settled.0 < joint.0 && joint.1 < settled.1,
        "{joint:?} {settled:?}"
    );
    assert!((0.9..1.1).contains(&settled.1), "{settled:?}");
}

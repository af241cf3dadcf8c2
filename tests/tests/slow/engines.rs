//! Variational Bayes against Gibbs sampling where data are ranks and labels: the
//! same predictions, and where the first is too sure.

use polyview::{EngineKind, Fit, ModelSpec, models};
use polyview_core::{Dataset, Options, Table};
use polyview_likelihoods::{Margin, RankOptions};
use polyview_linalg::Mat;
use polyview_random::{StreamKey, standard_normal};
use polyview_tests::normal;

/// Training samples, and held-out ones.
const SAMPLES: [usize; 2] = [150, 200];

/// Skewed features of three factors, and a label that follows two of them; the
/// label of the second part is left out of the data and given beside them.
fn simulated(features: usize, seed: u64) -> ([Dataset; 2], Vec<f64>) {
    let mut rng = StreamKey::new(seed).rng();
    let all = SAMPLES[0] + SAMPLES[1];
    let (z, w) = (normal(all, 3, &mut rng), normal(features, 3, &mut rng));
    let x = Mat::from_fn(all, features, |n, d| {
        let eta: f64 = (0..3).map(|k| z[(n, k)] * w[(d, k)]).sum();
        let y = eta + standard_normal(&mut rng);
        if d % 2 == 0 { y.exp() } else { y.powi(3) }
    });
    let y: Vec<f64> = (0..all)
        .map(|n| 1.2 * z[(n, 0)] - z[(n, 1)] + 0.5 * standard_normal(&mut rng))
        .map(|score| f64::from(u8::from(score > 0.0)))
        .collect();
    let part = |from: usize, count: usize, labels: bool| {
        let table = |name: &str, values: Mat<f64>| Table {
            name: name.into(),
            samples: (from..from + count).map(|n| format!("s{n}")).collect(),
            features: (0..values.ncols()).map(|d| format!("{name}{d}")).collect(),
            levels: Vec::new(),
            values,
        };
        let values = Mat::from_fn(count, features, |n, d| x[(from + n, d)]);
        let mut builder = Dataset::builder().view(table("x", values));
        if labels {
            builder = builder.view(table("y", Mat::from_fn(count, 1, |n, _| y[from + n])));
        }
        builder.build().expect("a data set")
    };
    (
        [
            part(0, SAMPLES[0], true),
            part(SAMPLES[0], SAMPLES[1], false),
        ],
        y[SAMPLES[0]..].to_vec(),
    )
}

fn fit(data: &Dataset, engine: EngineKind, margin: Margin) -> Fit {
    let mut spec: ModelSpec = models::rank(3);
    spec.defaults.ranks = Options::of(&RankOptions {
        margin,
        ..RankOptions::default()
    })
    .expect("a table");
    let mut spec = spec.with_likelihood("y", "svm");
    spec.engine = engine;
    (spec.gibbs.chains, spec.gibbs.warm_up) = (2, 500);
    // five partners a cell mix more slowly than fewer
    (spec.gibbs.sweeps, spec.gibbs.thin) = (2500, 10);
    polyview::fit(data.clone(), spec).expect("a fit")
}

fn scores(fit: &Fit, new: &Dataset) -> Vec<f64> {
    let p = fit.predict(new, "y").expect("a prediction");
    let score = p.score.expect("labels have scores");
    score.col_as_slice(0).to_vec()
}

/// Samples on the right side.
fn right(scores: &[f64], truth: &[f64]) -> usize {
    let same = |(s, y): &(&f64, &f64)| (**s > 0.0) == (**y > 0.5);
    scores.iter().zip(truth).filter(same).count()
}

fn correlation(a: &[f64], b: &[f64]) -> f64 {
    let mean = |v: &[f64]| v.iter().sum::<f64>() / v.len() as f64;
    let (x, y) = (mean(a), mean(b));
    let sum = |f: &dyn Fn(f64, f64) -> f64| a.iter().zip(b).map(|(a, b)| f(*a, *b)).sum::<f64>();
    sum(&|a, b| (a - x) * (b - y))
        / (sum(&|a, _| (a - x).powi(2)) * sum(&|_, b| (b - y).powi(2))).sqrt()
}

/// At the weight that ranks have by default. How far the label's weights go is not looked
/// at: where factors are loose enough to part the labels, nothing but the tails of a horseshoe
/// holds them.
#[test]
fn engines_agree_on_ranks_and_on_the_labels_of_new_samples() {
    let ([old, new], truth) = simulated(30, 1);
    let margin = RankOptions::default().margin;
    let of = |engine| fit(&old, engine, margin);
    let (vb, gibbs) = (of(EngineKind::Vb), of(EngineKind::Gibbs));
    let (a, b) = (scores(&vb, &new), scores(&gibbs, &new));
    let r = correlation(&a, &b);
    assert!(r > 0.95, "{r}");
    assert!(right(&a, &truth) > 160 && right(&b, &truth) > 160);
    let kinds = gibbs.record().convergence();
    for kind in ["length of the weights/x", "predictor/x", "log likelihood/x"] {
        let c = kinds.iter().find(|c| c.kind == kind).expect(kind);
        assert!(c.rhat < 1.1 && c.ess_bulk > 50.0, "{c:?}");
    }
    let found = vb.compare(&gibbs).expect("the same data");
    let x = found.views.iter().find(|v| v.view == "x").expect("a view");
    assert!(x.correlation > 0.95, "{}", x.correlation);
    // 0.69; nearer to the sampler's than where pairs count for more
    let s = x.predictor_spread;
    assert!((0.5..0.9).contains(&s.median), "{s:?}");
}

/// Where ranks weigh twenty times as much, so that factors are known but for their scale.
#[test]
fn engines_agree_on_the_labels_of_new_samples_and_differ_in_spread() {
    let ([old, new], truth) = simulated(30, 1);
    let of = |engine| fit(&old, engine, Margin::Fixed(1.0));
    let (vb, gibbs) = (of(EngineKind::Vb), of(EngineKind::Gibbs));
    let (a, b) = (scores(&vb, &new), scores(&gibbs, &new));
    let r = correlation(&a, &b);
    assert!(r > 0.95, "{r}");
    assert!(right(&a, &truth) > 160 && right(&b, &truth) > 160);
    // the chains have met in every kind of quantity; the common scale of weights and
    // factors, which only priors and margin hold, moves slowly
    let kinds = gibbs.record().convergence();
    for (kind, rhat, ess) in [
        ("length of the weights/x", 1.3, 5.0),
        ("length of the weights/y", 1.3, 5.0),
        ("predictor/x", 1.1, 30.0),
        ("score/y", 1.1, 20.0),
        ("log likelihood/x", 1.05, 100.0),
    ] {
        let c = kinds.iter().find(|c| c.kind == kind).expect(kind);
        assert!(c.rhat < rhat && c.ess_bulk > ess, "{c:?}");
    }
    // means agree; the spread of variational Bayes is about half of the sampler's
    // (0.50 of predictors and 0.43 of scores), of lengths of weights a quarter
    let found = vb.compare(&gibbs).expect("the same data");
    for v in &found.views {
        assert!(v.correlation > 0.95, "{}: {}", v.view, v.correlation);
        let s = v.predictor_spread;
        let fits = s.quantities > 100 && (0.2..0.8).contains(&s.median);
        assert!(fits, "{}: {s:?}", v.view);
        assert!(v.weight_spread.median < 0.6, "{}", v.weight_spread.median);
    }
}

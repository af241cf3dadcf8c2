//! Targets of factors of which little is known: what settling is for (spec/sites 5).

use polyview_core::{Dataset, Table};
use polyview_linalg::Mat;
use polyview_random::{StreamKey, standard_normal, uniform_open01};

use super::discriminative::{data, some};
use crate::{Likelihood, models};

const N: usize = 1300;
const TRAIN: usize = 300;

/// Twelve features of four factors, whose noise has a standard deviation of 2; a number and
/// three labels that hang on the factors.
fn tables(seed: u64) -> [Table; 3] {
    let mut rng = StreamKey::new(seed).rng();
    let mut normal =
        |rows: usize, columns: usize| Mat::from_fn(rows, columns, |_, _| standard_normal(&mut rng));
    let (z, w, slopes) = (normal(N, 4), normal(12, 4), normal(4, 4));
    let x = &z * w.transpose() + 2.0 * normal(N, 12);
    let eta = &z * slopes.transpose();
    let y = Mat::from_fn(N, 1, |n, _| eta[(n, 0)]) + normal(N, 1);
    let mut rng = StreamKey::new(seed).chain(1).rng();
    let labels = Mat::from_fn(N, 3, |n, d| {
        let p = 1.0 / (1.0 + (-1.5 * eta[(n, d + 1)]).exp());
        f64::from(u8::from(uniform_open01(&mut rng) < p))
    });
    let of = |name: &str, values: Mat<f64>| Table {
        name: name.into(),
        samples: (0..N).map(|n| format!("s{n:04}")).collect(),
        features: (0..values.ncols()).map(|d| format!("{name}{d}")).collect(),
        levels: Vec::new(),
        values,
    };
    [of("x", x), of("y", y), of("l", labels)]
}

/// $R^2$ and slope of the number, its share within 90 % intervals, and log loss of the labels.
fn judged(tables: &[Table; 3], settle: bool, likelihood: &str) -> [f64; 4] {
    let [x, y, l] = tables;
    let likelihood: Likelihood = likelihood.parse().unwrap();
    let mut spec = models::sshiba(6).with_likelihood("l", likelihood);
    if settle {
        spec = spec.with_settled("y", true).with_settled("l", true);
    }
    let train = [x, y, l].map(|t| some(t, 0..TRAIN));
    let fit = crate::fit(data(train), spec).unwrap();
    let new: Dataset = data([some(x, TRAIN..N)]);
    let p = fit.predict(&new, "y").unwrap();
    let (lower, upper) = p.interval(0.9).unwrap();
    let truth = |n: usize| y.values[(TRAIN + n, 0)];
    let rows = N - TRAIN;
    let mean = (0..rows).map(truth).sum::<f64>() / rows as f64;
    let own = (0..rows).map(|n| p.mean[(n, 0)]).sum::<f64>() / rows as f64;
    let [mut error, mut spread, mut both, mut square, mut inside] = [0.0; 5];
    for n in 0..rows {
        error += (truth(n) - p.mean[(n, 0)]).powi(2);
        spread += (truth(n) - mean).powi(2);
        both += (p.mean[(n, 0)] - own) * (truth(n) - mean);
        square += (p.mean[(n, 0)] - own).powi(2);
        let within = lower[(n, 0)] <= truth(n) && truth(n) <= upper[(n, 0)];
        inside += f64::from(u8::from(within)) / rows as f64;
    }
    let p = fit.predict(&new, "l").unwrap();
    let mut loss = 0.0;
    for n in 0..rows {
        for d in 0..3 {
            let one = l.values[(TRAIN + n, d)] > 0.5;
            let p = if one {
                p.mean[(n, d)]
            } else {
                1.0 - p.mean[(n, d)]
            };
            loss -= p.ln() / (3 * rows) as f64;
        }
    }
    [1.0 - error / spread, both / square, inside, loss]
}

#[test]
fn what_is_settled_is_predicted_by_what_is_known_of_new_samples() {
    // by expectations the joint fit's own weights are as good as settled ones
    for (likelihood, least) in [
        ("bernoulli{form=bound}", 0.0),
        ("probit{form=bound}", 0.0),
        ("bernoulli", -0.01),
        ("probit", -0.01),
    ] {
        let mut gained = 0.0;
        for seed in [1, 2] {
            let tables = tables(seed);
            let joint = judged(&tables, false, likelihood);
            let [r2, slope, inside, loss] = judged(&tables, true, likelihood);
            // uncertain factors are no reason to shrink what they are said to do
            assert!(r2 > joint[0] - 0.01, "{likelihood}: {r2} {}", joint[0]);
            assert!((0.9..1.12).contains(&slope), "{likelihood}: {slope}");
            assert!((0.86..0.94).contains(&inside), "{likelihood}: {inside}");
            gained += joint[3] - loss;
        }
        assert!(gained > least, "{likelihood}: {gained}");
    }
}

/// Groups of samples with intercepts of their own: their terms are widened one by one.
#[test]
fn groups_are_settled_too() {
    let [x, _, l] = tables(3);
    let groups = |from: usize, to: usize| {
        let of = |n: usize| {
            (
                x.samples[n].clone(),
                if n.is_multiple_of(3) { "a" } else { "b" }.to_owned(),
            )
        };
        (from..to).map(of).collect()
    };
    // another level in one of the groups
    let raised = Table {
        values: Mat::from_fn(N, 3, |n, d| {
            if n.is_multiple_of(6) {
                1.0
            } else {
                l.values[(n, d)]
            }
        }),
        ..l
    };
    let data = Dataset::builder()
        .view(some(&x, 0..TRAIN))
        .view(some(&raised, 0..TRAIN))
        .groups(groups(0, TRAIN))
        .build()
        .unwrap();
    let loss = |settle: bool| {
        let spec = models::sshiba(6)
            .with_likelihood("l", "bernoulli")
            .with_settled("l", settle);
        let fit = crate::fit(data.clone(), spec).unwrap();
        let new = Dataset::builder()
            .view(some(&x, TRAIN..N))
            .groups(groups(TRAIN, N))
            .build()
            .unwrap();
        let p = fit.predict(&new, "l").unwrap();
        let mut loss = 0.0;
        for n in 0..N - TRAIN {
            for d in 0..3 {
                let one = raised.values[(TRAIN + n, d)] > 0.5;
                let p = p.mean[(n, d)];
                assert!((0.0..=1.0).contains(&p), "{n} {d} {p} {one}");
                loss -= if one { p } else { 1.0 - p }.ln() / (3 * (N - TRAIN)) as f64;
            }
        }
        loss
    };
    let (joint, settled) = (loss(false), loss(true));
    assert!(settled < joint + 0.002, "{settled} {joint}");
    assert!(settled < 0.65, "{settled}");
}

/// Features that do not vary, or that nobody saw, are no obstacle.
#[test]
fn views_with_silent_features_are_settled() {
    let [x, y, _] = tables(4);
    let more = Table {
        features: ["y0", "constant", "unseen"].map(str::to_owned).to_vec(),
        values: Mat::from_fn(N, 3, |n, d| [y.values[(n, 0)], 2.5, f64::NAN][d]),
        ..y
    };
    let train = [&x, &more].map(|t| some(t, 0..TRAIN));
    let fit = crate::fit(data(train), models::sshiba(4).with_settled("y", true)).unwrap();
    let p = fit.predict(&data([some(&x, TRAIN..N)]), "y").unwrap();
    assert!(p.mean[(0, 0)].is_finite() && p.sd[(0, 0)] > 0.0);
}

/// Variances follow weights to a point in a few rounds, whatever they leave of each other.
#[test]
fn settling_comes_to_rest() {
    let [x, _, l] = tables(5);
    for likelihood in ["bernoulli", "probit"] {
        let train = [&x, &l].map(|t| some(t, 0..TRAIN));
        let spec = models::sshiba(6).with_likelihood("l", likelihood);
        let mut fit = crate::fit(data(train), spec).unwrap();
        let end = fit.settle(&["l"]).unwrap();
        assert_eq!(end.outcome, polyview_infer::Outcome::Converged);
        assert!(end.sweeps <= 60, "{likelihood}: {}", end.sweeps);
        assert!(!fit.settling_stopped());
    }
}

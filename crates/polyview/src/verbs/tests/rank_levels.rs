//! Ordinary ranks of values that few levels share.

use polyview_core::{Dataset, Table};
use polyview_linalg::Mat;
use polyview_random::{StreamKey, standard_normal, uniform_open01};

use crate::models;

const N: usize = 200;
const D: usize = 12;

/// Answers on six levels of three factors: all, and the same with holes.
fn answers(seed: u64) -> (Mat<f64>, Dataset) {
    let mut rng = StreamKey::new(seed).rng();
    let mut normal = |r, c| Mat::from_fn(r, c, |_, _| standard_normal(&mut rng));
    let (z, w, e) = (normal(N, 3), normal(D, 3), normal(N, D));
    let whole = Mat::from_fn(N, D, |n, d| {
        let signal: f64 = (0..3).map(|k| z[(n, k)] * w[(d, k)]).sum();
        (signal + 0.7 * e[(n, d)] + 3.5).round().clamp(1.0, 6.0)
    });
    let values = Mat::from_fn(N, D, |n, d| {
        if uniform_open01(&mut rng) < 0.1 {
            f64::NAN
        } else {
            whole[(n, d)]
        }
    });
    let table = Table {
        name: "x".into(),
        samples: (0..N).map(|n| format!("s{n}")).collect(),
        features: (0..D).map(|d| format!("q{d}")).collect(),
        levels: Vec::new(),
        values,
    };
    (whole, Dataset::builder().view(table).build().unwrap())
}

#[test]
fn levels_that_many_share_do_not_run_away() {
    for seed in 1..4 {
        let (whole, data) = answers(seed);
        let mut spec = models::rank(5);
        spec.defaults.likelihood = "ordinary-rank".into();
        let fit = crate::fit(data.clone(), spec).unwrap();
        let size = fit.weights("x").unwrap().mean.norm_max();
        let explained = fit.explain().unwrap().total[0];
        let predicted = fit.fitted("x").unwrap().mean;
        let (mut left, mut total) = (0.0, 0.0);
        for d in 0..D {
            let seen: Vec<f64> = (0..N)
                .filter_map(|n| data.view("x").unwrap().value(n, d))
                .collect();
            let mean = seen.iter().sum::<f64>() / seen.len() as f64;
            for n in 0..N {
                if data.view("x").unwrap().value(n, d).is_none() {
                    left += (whole[(n, d)] - predicted[(n, d)]).powi(2);
                    total += (whole[(n, d)] - mean).powi(2);
                }
            }
        }
        let hidden = 1.0 - left / total;
        assert!(size < 10.0, "{seed}: weights of {size}");
        assert!((0.4..0.95).contains(&explained), "{seed}: {explained}");
        assert!(hidden > 0.45, "{seed}: {hidden}");
    }
}

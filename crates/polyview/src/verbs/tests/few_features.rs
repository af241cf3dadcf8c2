//! Targets of few features among many go by these alone (docs/decisions/0113-few-features-and-wide-kernels.md).

use polyview_core::{Dataset, Table};
use polyview_linalg::Mat;
use polyview_random::{StreamKey, standard_normal};

use super::counts::table;
use crate::{Fit, Settle, models};

const N: usize = 100;
const P: usize = 120;

/// Features, a number of three of them, and whether it is above 0.
fn tables(seed: u64) -> [Table; 3] {
    let mut rng = StreamKey::new(seed).rng();
    let x = Mat::from_fn(N, P, |_, _| standard_normal(&mut rng));
    let y = Mat::from_fn(N, 1, |n, _| {
        2.0 * x[(n, 0)] - 1.5 * x[(n, 7)] + x[(n, 90)] + 0.5 * standard_normal(&mut rng)
    });
    let label = Mat::from_fn(N, 1, |n, _| f64::from(u8::from(y[(n, 0)] > 0.0)));
    [table("x", x), table("y", y), table("t", label)]
}

fn data(tables: &[&Table]) -> Dataset {
    let add = |builder: polyview_core::DatasetBuilder, t: &&Table| builder.view((*t).clone());
    let built = tables.iter().fold(Dataset::builder(), add).build();
    built.expect("data")
}

fn fitted(tables: &[Table; 3], target: usize) -> Fit {
    let name = tables[target].name.as_str();
    let mut spec = models::sshiba(3).with_settled(name, Settle::Mixture);
    if target == 2 {
        spec = spec.with_likelihood(name, "bernoulli");
    }
    spec.vb.max_sweeps = 60;
    crate::fit(data(&[&tables[0], &tables[target]]), spec).expect("a fit")
}

/// Features that have a coefficient.
fn counted(fit: &Fit) -> Vec<usize> {
    let found = fit.regressed(1).unwrap().expect("a regression");
    let own = found.of_view[0].as_ref().expect("coefficients");
    let has = |d: &usize| own.coefficients[(*d, 0)] != 0.0;
    (0..P).filter(has).collect()
}

#[test]
fn numbers_and_labels_go_by_the_features_that_count() {
    let [train, new] = [1, 2].map(tables);
    for target in [1, 2] {
        let fit = fitted(&train, target);
        let of = counted(&fit);
        assert!([0, 7, 90].iter().all(|d| of.contains(d)), "{of:?}");
        assert!(of.len() < P / 2, "{of:?}");
        let name = &new[target].name;
        let found = fit.predict(&data(&[&new[0]]), name).unwrap();
        let truth = new[target].values.col_as_slice(0);
        if target == 1 {
            let mean = truth.iter().sum::<f64>() / N as f64;
            let all: f64 = truth.iter().map(|y| (y - mean).powi(2)).sum();
            let off = (0..N).map(|n| (truth[n] - found.mean[(n, 0)]).powi(2));
            let left = off.sum::<f64>() / all;
            assert!(left < 0.12, "{left}");
            continue;
        }
        let right = (0..N).filter(|&n| (found.mean[(n, 0)] > 0.5) == (truth[n] > 0.5));
        assert!(right.count() > 80);
        // scores are the log odds of what is said
        let score = found.score.unwrap();
        for n in 0..N {
            let p = found.mean[(n, 0)];
            assert!((score[(n, 0)] - (p / (1.0 - p)).ln()).abs() < 1e-9);
        }
    }
}

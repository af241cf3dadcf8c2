//! Regressions predict together what each sees a part of (docs/decisions/0118-shares-of-regressions.md).

use polyview_core::{Dataset, DatasetBuilder, Table};
use polyview_linalg::Mat;
use polyview_random::{StreamKey, standard_normal};

use super::counts::table;
use crate::verbs::curved::Curved;
use crate::{Fit, Settle, models};

const N: usize = 300;
const P: usize = 6;
const NOISE: f64 = 0.3;

/// Features, and a target that is in part in proportion to all of them and in part bends with two, so much.
fn tables(seed: u64, bends: f64) -> [Table; 2] {
    let mut rng = StreamKey::new(seed).rng();
    let x = Mat::from_fn(N, P, |_, _| standard_normal(&mut rng));
    let y = Mat::from_fn(N, 1, |n, _| {
        let straight: f64 = (0..P).map(|d| x[(n, d)]).sum::<f64>() / 2.0;
        let bent = 1.5 * (2.0 * x[(n, 0)]).sin() + 0.7 * x[(n, 1)].powi(2);
        straight + bends * bent + NOISE * standard_normal(&mut rng)
    });
    [table("x", x), table("y", y)]
}

/// The same with the target in ordered levels, or as zeros and ones, above these limits.
fn cut([x, mut y]: [Table; 2], limits: &[f64], first: f64) -> [Table; 2] {
    for value in y.values.col_as_slice_mut(0) {
        *value = first + limits.iter().filter(|limit| *value > **limit).count() as f64;
    }
    [x, y]
}

fn data(tables: &[Table]) -> Dataset {
    let built = (tables.iter().cloned())
        .fold(Dataset::builder(), DatasetBuilder::view)
        .build();
    built.expect("data")
}

fn fitted(tables: &[Table], likelihood: &str, how: Settle) -> Fit {
    let mut spec = models::sshiba(3)
        .with_settled("y", how)
        .with_likelihood("y", likelihood);
    spec.vb.max_sweeps = 60;
    crate::fit(data(tables), spec).expect("a fit")
}

/// Mean squares that predictions are off by.
fn off(fit: &Fit, new: &[Table; 2]) -> f64 {
    let found = fit.predict(&data(&new[..1]), "y").expect("predictions");
    let truth = new[1].values.col_as_slice(0);
    let square = |n: usize| (truth[n] - found.mean[(n, 0)]).powi(2);
    (0..N).map(square).sum::<f64>() / N as f64
}

/// Mean squares by both and by the regression in proportion alone; a part of both is in what is said.
fn compared(likelihood: &str, bends: f64, cut: impl Fn([Table; 2]) -> [Table; 2]) -> [f64; 2] {
    let [train, new] = [1, 2].map(|seed| cut(tables(seed, bends)));
    let fit = fitted(&train, likelihood, Settle::Mixture);
    let found = fit.regressed(1).unwrap().expect("a regression");
    let straight = found.of_view[0].as_ref().expect("coefficients");
    assert!(
        straight
            .coefficients
            .col_as_slice(0)
            .iter()
            .any(|b| *b != 0.0)
    );
    assert_eq!(found.curved.as_ref().map(Curved::predictors), Some(1));
    let again = Fit::from_bytes(&fit.to_bytes().unwrap()).unwrap();
    assert_eq!(again.regressed(1).unwrap().as_ref(), Some(&found));
    for cuts in &found.parameters.cuts {
        assert!(
            cuts.is_sorted() && cuts.iter().sum::<f64>().abs() < 1e-9,
            "{cuts:?}"
        );
    }
    let linear = fitted(&train, likelihood, Settle::LinearMixture);
    [off(&fit, &new), off(&linear, &new)]
}

#[test]
fn numbers_levels_and_labels_go_by_what_is_straight_and_what_bends() {
    let [both, straight] = compared("gaussian", 1.0, |tables| tables);
    assert!(both < 0.7 * straight, "{both} {straight}");
    let [both, straight] = compared("ordinal", 1.0, |t| cut(t, &[-1.0, 0.5, 2.0], 1.0));
    assert!(both < 0.9 * straight, "{both} {straight}");
    let [both, straight] = compared("bernoulli", 0.5, |t| cut(t, &[0.7], 0.0));
    assert!(both < 0.9 * straight, "{both} {straight}");
}

/// A kernel that was chosen too narrow: what is in proportion to the features behind it is found all the same, of few and of all of them.
#[test]
fn features_behind_kernels_count_in_proportion_too() {
    let of = |seed: u64| {
        let mut rng = StreamKey::new(seed).rng();
        let x = Mat::from_fn(150, 30, |_, _| standard_normal(&mut rng));
        let y = Mat::from_fn(150, 2, |n, c| {
            let all: f64 = (0..30).map(|d| x[(n, d)] * (d as f64 - 14.5) / 9.0).sum();
            let few = 2.0 * x[(n, 3)] - x[(n, 20)];
            [all, few][c] + NOISE * standard_normal(&mut rng)
        });
        [table("x", x), table("y", y)]
    };
    let [train, new] = [3, 4].map(of);
    let mut spec = models::sshiba(3)
        .with_settled("y", Settle::Mixture)
        .with_kernel("x", "rbf{width=2}".parse().unwrap());
    spec.vb.max_sweeps = 60;
    let fit = crate::fit(data(&train), spec).expect("a fit");
    let found = fit.regressed(1).unwrap().expect("a regression");
    assert_eq!(found.of_view.len(), 4);
    let behind = found.of_view[2].as_ref().expect("features behind x");
    let count = |c: usize| {
        let own = behind.coefficients.col_as_slice(c);
        own.iter().filter(|b| **b != 0.0).count()
    };
    assert_eq!(count(0), 30);
    assert!(count(1) < 15, "{}", count(1));
    let said = fit.predict(&data(&new[..1]), "y").unwrap();
    for c in 0..2 {
        let truth = new[1].values.col_as_slice(c);
        let off = (0..150).map(|n| (truth[n] - said.mean[(n, c)]).powi(2));
        let left = off.sum::<f64>() / truth.iter().map(|y| y * y).sum::<f64>();
        assert!(left < 0.1, "{left}");
    }
    let again = Fit::from_bytes(&fit.to_bytes().unwrap()).unwrap();
    assert_eq!(again.regressed(1).unwrap(), Some(found));
    let other = again.predict(&data(&new[..1]), "y").unwrap();
    assert_eq!((other.mean, other.sd), (said.mean, said.sd));
}

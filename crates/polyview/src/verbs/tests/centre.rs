//! Means of the factors go to the intercepts, and Poisson counts begin where their logarithms are
//! (docs/decisions/0104-means-go-to-the-intercepts.md).

use polyview_core::Dataset;
use polyview_linalg::Mat;
use polyview_random::{StreamKey, gamma, poisson, standard_normal};

use super::counts::table;
use crate::{Fit, Fitting, models};

/// Factors of the counts.
const FACTORS: usize = 5;

/// Counts of 120 samples and 30 features with loadings of this size; overdispersed where a shape is given.
fn counts(seed: u64, size: f64, shape: Option<f64>) -> Dataset {
    let mut rng = StreamKey::new(seed).rng();
    let mut normal = |rows, columns| Mat::from_fn(rows, columns, |_, _| standard_normal(&mut rng));
    let (z, w) = (normal(120, FACTORS), normal(30, FACTORS));
    let eta = &z * w.transpose();
    let counts = Mat::from_fn(120, 30, |n, d| {
        let own = shape.map_or(1.0, |a| gamma(&mut rng, a, a).unwrap());
        poisson(&mut rng, own * (2.0 + size * eta[(n, d)]).exp()).unwrap()
    });
    Dataset::builder().view(table("y", counts)).build().unwrap()
}

/// Means of the factors over the samples.
fn means(fit: &Fit) -> Vec<f64> {
    let z = fit.factors().unwrap().mean;
    let rows = z.nrows() as f64;
    (0..z.ncols())
        .map(|j| z.col(j).iter().sum::<f64>() / rows)
        .collect()
}

/// Rates that differ by factors of a thousand: no factor is what is wrong with the intercepts. Without the steps of the means, and from the
/// logarithms of mean counts, two thousand sweeps of such counts left six or seven factors, and a mean of .9 in one.
#[test]
fn no_factor_is_an_intercept() {
    for seed in 1..5 {
        let data = counts(seed, 1.0, None);
        let fit = crate::fit(data, models::sshiba(20).with_likelihood("y", "poisson")).unwrap();
        assert_eq!(fit.k(), FACTORS, "seed {seed}");
        assert!(
            fit.record().sweeps < 600,
            "seed {seed}: {}",
            fit.record().sweeps
        );
        let means = means(&fit);
        assert!(
            means.iter().all(|m| m.abs() < 0.2),
            "seed {seed}: {means:?}"
        );
    }
}

/// Sweeps until rest of overdispersed counts, whose start knows nothing of their logarithms' means: about 40 each without the
/// steps, about 22 with them.
#[test]
fn means_need_not_creep() {
    let sweeps = (1..5).map(|seed| {
        let data = counts(seed, 1.0, Some(2.0));
        let spec = models::sshiba(20).with_likelihood("y", "nb");
        crate::fit(data, spec).unwrap().record().sweeps
    });
    let sweeps: Vec<usize> = sweeps.collect();
    assert!(sweeps.iter().sum::<usize>() < 130, "{sweeps:?}");
}

/// Sparse weights keep as many factors as there are, of forty.
#[test]
fn sparse_weights_of_rates_far_apart_keep_no_further_factors() {
    for seed in 1..4 {
        let data = counts(seed, 1.0, None);
        let mut spec = models::mofa(30).with_likelihood("y", "poisson");
        spec.vb.max_sweeps = 300;
        let fit = crate::fit(data, spec).unwrap();
        assert_eq!(fit.k(), FACTORS, "seed {seed}");
    }
}

/// Stopped among the dense sweeps there is an answer all the same: one sweep from where these were.
#[test]
fn a_fit_that_is_stopped_before_its_sparse_sweeps_has_weights() {
    let spec = models::mofa(8).with_likelihood("y", "poisson");
    let mut fitting = Fitting::new(counts(1, 1.0, None), spec).unwrap();
    for _ in 0..5 {
        assert!(!fitting.step().unwrap().done);
    }
    let fit = fitting.finish().unwrap();
    assert_eq!(fit.record().sweeps, 1);
    let weights = fit.weights("y").unwrap().mean;
    assert!(weights.norm_max() > 0.1);
    let journal = format!("{:?}", fit.record().journal);
    assert!(
        journal.contains("after 5 sweeps of dense ones"),
        "{journal}"
    );
}

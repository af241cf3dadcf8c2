//! Projections of numbers above 0, whose bound falls without limit on one side of a sample: no step that goes too far is an answer.

use polyview_core::{Dataset, Table};
use polyview_linalg::Mat;
use polyview_random::{StreamKey, gamma, standard_normal};

use super::counts::table;
use crate::{Fit, ProjectOptions, models};

const D: usize = 10;

/// Numbers above 0 of two factors and something of their own, with the shape 5.
fn numbers(samples: usize, seed: u64) -> Table {
    let mut fixed = StreamKey::new(3).rng();
    let w = Mat::from_fn(D, 2, |_, _| 0.8 * standard_normal(&mut fixed));
    let mut rng = StreamKey::new(seed).rng();
    let z = Mat::from_fn(samples, 2, |_, _| standard_normal(&mut rng));
    let eta = &z * w.transpose();
    let x = Mat::from_fn(samples, D, |n, d| {
        let own = 0.5 * standard_normal(&mut rng);
        (eta[(n, d)] + own).exp() * gamma(&mut rng, 5.0, 5.0).unwrap()
    });
    table("x", x)
}

fn data(x: Table) -> Dataset {
    Dataset::builder().view(x).build().expect("data")
}

fn fitted() -> Fit {
    let mut spec = models::mofa(3).with_likelihood("x", "gamma");
    spec.vb.max_sweeps = 150;
    crate::fit(data(numbers(150, 1)), spec).expect("a fit")
}

fn factors(fit: &Fit, x: Table) -> Mat<f64> {
    let found = fit.project(&data(x), &ProjectOptions::default());
    found.expect("factors").mean
}

/// Ordinary samples have ordinary factors.
#[test]
fn ordinary_samples_are_not_far_off() {
    let fit = fitted();
    for seed in 2..5 {
        let z = factors(&fit, numbers(3000, seed));
        for n in 0..z.nrows() {
            for k in 0..z.ncols() {
                assert!(z[(n, k)].abs() < 8.0, "{seed} {n}: {:?}", z.row(n));
            }
        }
    }
}

/// Copies of a sample have its factors, in whichever block of a large table they are.
#[test]
fn samples_of_later_blocks_start_where_those_of_the_first_do() {
    let fit = fitted();
    let some = numbers(40, 7);
    let mut one = numbers(600, 8);
    for row in 0..40 {
        one.values = Mat::from_fn(600, D, |_, d| some.values[(row, d)]);
        let z = factors(&fit, one.clone());
        for n in 1..600 {
            for k in 0..z.ncols() {
                assert_eq!(z[(n, k)].to_bits(), z[(0, k)].to_bits(), "{row}: {n}");
            }
        }
    }
}

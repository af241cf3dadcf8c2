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

fn fitted(likelihood: &'static str) -> Fit {
    let mut spec = models::mofa(3).with_likelihood("x", likelihood);
    spec.vb.max_sweeps = 150;
    crate::fit(data(as_data(likelihood, numbers(150, 1))), spec).expect("a fit")
}

/// Numbers as what a likelihood is of.
fn as_data(likelihood: &str, mut x: Table) -> Table {
    let of = |x: f64| match likelihood {
        "gamma" => x,
        "bernoulli" => f64::from(u8::from(x > 1.0)),
        _ => (3.0 * x).round().min(60.0),
    };
    x.values = Mat::from_fn(x.values.nrows(), D, |n, d| of(x.values[(n, d)]));
    x
}

fn factors(fit: &Fit, x: Table) -> Mat<f64> {
    let found = fit.project(&data(x), &ProjectOptions::default());
    found.expect("factors").mean
}

/// Ordinary samples have ordinary factors.
#[test]
fn ordinary_samples_are_not_far_off() {
    let fit = fitted("gamma");
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
    for likelihood in ["gamma", "bernoulli", "poisson", "negative-binomial"] {
        let fit = fitted(likelihood);
        let some = as_data(likelihood, numbers(20, 7));
        let mut one = numbers(600, 8);
        for row in 0..20 {
            one.values = Mat::from_fn(600, D, |_, d| some.values[(row, d)]);
            let z = factors(&fit, one.clone());
            for n in 1..600 {
                for k in 0..z.ncols() {
                    let (own, first) = (z[(n, k)].to_bits(), z[(0, k)].to_bits());
                    assert_eq!(own, first, "{likelihood} {row}: {n}");
                }
            }
        }
    }
}

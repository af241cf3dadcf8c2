//! How much a rank view is to weigh: what one of its cells is worth, in nats.
//!
//! ```text
//! cargo run --release -p polyview-examples --example rank_margin [-- REPEATS]
//! ```
//!
//! Three factors and noise of several strengths (the last has no factors at all), a tenth
//! of the cells hidden, ten factors offered: how many factors are kept, how much of the
//! training cells they are said to explain, and $R^2$ of the hidden cells, by
//! [`Margin::PerCell`]; beside them the same of Gaussian factors of normal scores.
#![allow(clippy::print_stdout)]

use std::error::Error;

use polyview::{ModelSpec, models};
use polyview_core::{FeatureScaling, Options, Table};
use polyview_examples::{World, dataset, r2, rows};
use polyview_likelihoods::{Margin, RankOptions};
use polyview_linalg::Mat;
use polyview_random::{StreamKey, uniform_open01};

/// What a cell is worth, in nats.
const NATS: [f64; 6] = [0.6, 0.8, 1.0, 2.0, 5.0, 20.0];

/// The table with a tenth of its cells hidden, and the hidden ones alone.
fn hide(table: &Table, seed: u64) -> (Table, Table) {
    let mut rng = StreamKey::new(seed).block(77).rng();
    let shape = (table.values.nrows(), table.values.ncols());
    let hidden = Mat::from_fn(shape.0, shape.1, |_, _| uniform_open01(&mut rng) < 0.1);
    let keep = |which: bool| Table {
        values: Mat::from_fn(shape.0, shape.1, |n, d| {
            if hidden[(n, d)] == which {
                table.values[(n, d)]
            } else {
                f64::NAN
            }
        }),
        ..table.clone()
    };
    (keep(false), keep(true))
}

/// Factors kept, share explained and $R^2$ of hidden cells, means over data sets.
fn tried(
    shape: (usize, usize),
    noise: f64,
    spec: &dyn Fn() -> ModelSpec,
    repeats: u64,
) -> Result<[f64; 3], Box<dyn Error>> {
    let mut sums = [0.0; 3];
    for seed in 0..repeats {
        let world = World::new(shape.0, 3, 300 + seed);
        let mut x = world.real(0, "x", shape.1, if noise.is_finite() { noise } else { 0.0 });
        if noise.is_infinite() {
            let mut rng = StreamKey::new(900 + seed).rng();
            for d in 0..shape.1 {
                for v in x.values.col_as_slice_mut(d) {
                    *v = polyview_random::standard_normal(&mut rng);
                }
            }
        }
        let (seen, hidden) = hide(&x, seed);
        let means: Vec<f64> = (0..shape.1)
            .map(|d| {
                let known: Vec<f64> = (seen.values.col_as_slice(d).iter().copied())
                    .filter(|v| !v.is_nan())
                    .collect();
                known.iter().sum::<f64>() / known.len() as f64
            })
            .collect();
        let fit = polyview::fit(dataset([seen])?, spec())?;
        let predicted = fit.fitted("x")?;
        let explained = fit.explain()?.total[0];
        let kept = fit.k() as f64;
        let score = r2(hidden.values.as_ref(), predicted.mean.as_ref(), &means)?;
        for (sum, value) in sums.iter_mut().zip([kept, explained, score]) {
            *sum += value / repeats as f64;
        }
    }
    Ok(sums)
}

fn ranks(nats: Option<f64>) -> ModelSpec {
    let mut spec = models::rank(10);
    let mut ranks = RankOptions::default();
    if let Some(nats) = nats {
        ranks.margin = Margin::PerCell(nats);
    }
    spec.defaults.ranks = Options::of(&ranks).expect("a table");
    spec
}

fn gaussian() -> ModelSpec {
    let mut spec = models::rank(10);
    spec.defaults.likelihood = "gaussian".into();
    spec.defaults.scaling = FeatureScaling::NormalScores;
    spec
}

/// Error of a label of 1000 new samples, 200 to train, in %.
fn label_error(
    (features, noise): (usize, f64),
    spec: &dyn Fn() -> ModelSpec,
    repeats: u64,
) -> Result<f64, Box<dyn Error>> {
    let (train, test): (Vec<usize>, Vec<usize>) = (0..1200).partition(|n| *n < 200);
    let mut sum = 0.0;
    for seed in 0..repeats {
        let world = World::new(1200, 3, 500 + seed);
        let (x, y) = (world.real(0, "x", features, noise), world.labels(1, "y", 1));
        let spec = spec().with_likelihood("y", "svm");
        let fit = polyview::fit(dataset([rows(&x, &train), rows(&y, &train)])?, spec)?;
        let p = fit.predict(&dataset([rows(&x, &test)])?, "y")?;
        let wrong = (test.iter().enumerate())
            .filter(|(i, n)| (p.mean[(*i, 0)] > 0.5) != (y.values[(**n, 0)] > 0.5))
            .count();
        sum += wrong as f64 / 10.0 / repeats as f64;
    }
    Ok(sum)
}

fn main() -> Result<(), Box<dyn Error>> {
    let repeats = std::env::args().nth(1).map_or(Ok(4), |a| a.parse())?;
    println!(
        "factors kept of 10 (3 are there; none where noise is inf), % explained, R2 of hidden cells:"
    );
    for shape in [(50, 40), (300, 60), (100, 300)] {
        for noise in [0.3, 1.0, 2.0, f64::INFINITY] {
            print!("{:>3} x {:<3} noise {noise:>3}:", shape.0, shape.1);
            for nats in NATS {
                let [k, explained, r2] = tried(shape, noise, &|| ranks(Some(nats)), repeats)?;
                print!("  {nats}: {k:.1} {:.0} {r2:.2}", 100.0 * explained);
            }
            let [k, explained, r2] = tried(shape, noise, &gaussian, repeats)?;
            println!("  normal scores: {k:.1} {:.0} {r2:.2}", 100.0 * explained);
        }
    }
    println!("\nerror of a label of new samples, %:");
    for case in [(50, 2.0), (200, 4.0), (200, 1.0), (1000, 6.0)] {
        print!("{:>4} features, noise {}:", case.0, case.1);
        for nats in NATS {
            print!(
                "  {nats}: {:.1}",
                label_error(case, &|| ranks(Some(nats)), repeats)?
            );
        }
        println!(
            "  normal scores: {:.1}",
            label_error(case, &gaussian, repeats)?
        );
    }
    Ok(())
}

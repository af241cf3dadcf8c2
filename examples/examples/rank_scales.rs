//! What ranks are worth, and how many partners they need.
//!
//! ```text
//! cargo run --release -p polyview-examples --example rank_scales [-- REPEATS]
//! ```
//!
//! The first table has the error of a label of 1000 new samples, 200 to train, when 60
//! features of three factors are as they are, bent by exponentials of their own sign
//! and strength, or heavy-tailed: by Gaussian factors of the numbers, by Gaussian
//! factors of their normal scores (each value's place among the training values of
//! its feature, as a normal quantile), and by ranks. Ranks beat Gaussian factors of
//! numbers whose scale is strange, and do no better than Gaussian factors of
//! normal scores.
//!
//! The second table has the error by the number of partners that each cell is compared
//! with, and the seconds of the fits.
#![allow(clippy::print_stdout)]

use std::error::Error;
use std::time::Instant;

use polyview::models::Table1;
use polyview::{ModelSpec, ViewChoices};
use polyview_core::{Options, Table};
use polyview_examples::{World, dataset, rows};
use polyview_likelihoods::RankOptions;
use polyview_linalg::Mat;
use polyview_special::normal_quantile;

const TRAIN: usize = 200;
const TEST: usize = 1000;

/// Features of three factors and a label, and which rows train.
fn data(features: usize, noise: f64, seed: u64) -> (Table, Table) {
    let world = World::new(TRAIN + TEST, 3, seed);
    (world.real(0, "x", features, noise), world.labels(1, "y", 1))
}

/// Error of the labels of new samples, in %, and the seconds of the fit.
fn error(x: &Table, y: &Table, spec: ModelSpec) -> Result<(f64, f64), Box<dyn Error>> {
    let (train, test): (Vec<usize>, Vec<usize>) = (0..TRAIN + TEST).partition(|n| *n < TRAIN);
    let started = Instant::now();
    let fit = polyview::fit(dataset([rows(x, &train), rows(y, &train)])?, spec)?;
    let seconds = started.elapsed().as_secs_f64();
    let p = fit.predict(&dataset([rows(x, &test)])?, "y 1")?;
    let wrong = (test.iter().enumerate())
        .filter(|(i, n)| (p.mean[(*i, 0)] > 0.5) != (y.values[(**n, 0)] > 0.5))
        .count();
    Ok((100.0 * wrong as f64 / TEST as f64, seconds))
}

/// Each value's place among the training values, as a normal quantile.
fn normal_scores(table: &Table) -> Table {
    let mut out = table.clone();
    for d in 0..table.values.ncols() {
        let mut known: Vec<f64> = table.values.col_as_slice(d)[..TRAIN].to_vec();
        known.sort_by(f64::total_cmp);
        for x in out.values.col_as_slice_mut(d) {
            let below = known.partition_point(|v| *v < *x);
            let equal = known.partition_point(|v| *v <= *x) - below;
            let place = below as f64 + 0.5 * equal as f64 + 0.5;
            *x = normal_quantile((place / (TRAIN + 1) as f64).min(1.0 - 0.5 / TRAIN as f64));
        }
    }
    out
}

/// Exponentials of changing sign and strength.
fn bent(x: f64, feature: usize) -> f64 {
    let strength = 0.5 + (feature % 4) as f64;
    let sign = if feature.is_multiple_of(2) { 1.0 } else { -1.0 };
    sign * (sign * strength * x).exp()
}

fn with(table: &Table, change: impl Fn(f64, usize) -> f64) -> Table {
    Table {
        values: Mat::from_fn(table.values.nrows(), table.values.ncols(), |n, d| {
            change(table.values[(n, d)], d)
        }),
        ..table.clone()
    }
}

fn scales(repeats: u64) -> Result<(), Box<dyn Error>> {
    println!("error of a label, %, mean of {repeats} data sets:");
    println!(
        "{:<14}{:>10}{:>16}{:>8}",
        "features", "gaussian", "normal scores", "ranks"
    );
    for (name, change) in [
        ("as they are", (|x, _| x) as fn(f64, usize) -> f64),
        ("bent", bent),
        ("heavy-tailed", |x, _| x.powi(5)),
    ] {
        let mut sums = [0.0; 3];
        for seed in 0..repeats {
            let (x, y) = data(60, 1.0, seed);
            let y = Table {
                name: "y 1".into(),
                ..y
            };
            let x = with(&x, change);
            let gaussian = || Table1::GaussianLinearSvm.spec(5, &["y 1"]);
            let ranks = Table1::RankLinearSvm.spec(5, &["y 1"]);
            for (sum, (table, spec)) in sums.iter_mut().zip([
                (x.clone(), gaussian()),
                (normal_scores(&x), gaussian()),
                (x.clone(), ranks),
            ]) {
                *sum += error(&table, &y, spec)?.0 / repeats as f64;
            }
        }
        println!(
            "{name:<14}{:>10.1}{:>16.1}{:>8.1}",
            sums[0], sums[1], sums[2]
        );
    }
    Ok(())
}

fn partners(repeats: u64) -> Result<(), Box<dyn Error>> {
    println!("\nerror of a label, %, and seconds of a fit, by the partners of a cell:");
    for (features, noise) in [(50, 2.0), (200, 4.0), (200, 1.0), (1000, 6.0)] {
        print!("{features:>5} features, noise {noise}:");
        for partners in [3, 5, 10] {
            let (mut wrong, mut seconds) = (0.0, 0.0);
            for seed in 0..repeats {
                let (x, y) = data(features, noise, 100 + seed);
                let y = Table {
                    name: "y 1".into(),
                    ..y
                };
                let mut spec = Table1::RankLinearSvm.spec(5, &["y 1"]);
                let choices = ViewChoices {
                    ranks: Options::of(&RankOptions {
                        partners,
                        ..RankOptions::default()
                    })?,
                    ..spec.view("x")
                };
                spec = spec.with_view("x", choices);
                let found = error(&x, &y, spec)?;
                wrong += found.0 / repeats as f64;
                seconds += found.1 / repeats as f64;
            }
            print!("   {partners:>2}: {wrong:.1} {seconds:.2} s");
        }
        println!();
    }
    Ok(())
}

fn main() -> Result<(), Box<dyn Error>> {
    let repeats = std::env::args().nth(1).map_or(Ok(8), |a| a.parse())?;
    scales(repeats)?;
    partners(repeats)
}

//! Digits that come one by one (spec/mlfs 8 and 9, Fig. 1 of its supplement): a fit of the first few handwritten digits takes in
//! the others one after the other, each seen once, up to five hundred. What share of fifteen hundred unseen digits is read right
//! by then stands beside a fit of all five hundred at once. Six views of pixels and their summaries; ten random orders.
//!
//! On the command line a number says how many orders, and `ard` has the labels' weights of each factor a precision of their own,
//! as those of all other views have. That is the default of a fit, and no good where samples are few and come in later: of the
//! first fifty digits it leaves the labels two factors of ten, and one that is shut does not open again for samples that come
//! one by one. Here labels have one precision for all their weights (`ridge`) unless it is asked for.
#![allow(clippy::print_stdout)]

use std::error::Error;

use polyview::{Fit, ModelSpec, UpdateOptions, models};
use polyview_core::{Dataset, Table};
use polyview_datasets::{digits_labels, digits_tables};
use polyview_examples::{dataset, rows};
use polyview_random::{StreamKey, uniform_open01};

const FACTORS: usize = 10;
const TRAIN: usize = 500;
const POOLS: [usize; 3] = [50, 100, 200];
const STEP: usize = 50;

/// Shares of digits that are read right, one per order.
#[derive(Clone, Default)]
struct Shares(Vec<f64>);

impl Shares {
    fn said(&self) -> String {
        let n = self.0.len() as f64;
        if self.0.is_empty() {
            return "      -     ".to_owned();
        }
        let mean = self.0.iter().sum::<f64>() / n;
        let squares = self.0.iter().map(|x| (x - mean).powi(2)).sum::<f64>();
        let error = (squares / (n - 1.0).max(1.0) / n).sqrt();
        format!("{:5.1} ± {:3.1} ", 100.0 * mean, 100.0 * error)
    }
}

/// Two thousand digits.
struct Digits {
    views: Vec<Table>,
    labels: Table,
}

impl Digits {
    fn of(&self, keep: &[usize]) -> Result<Dataset, Box<dyn Error>> {
        let labels = std::iter::once(&self.labels);
        Ok(dataset(
            self.views.iter().chain(labels).map(|t| rows(t, keep)),
        )?)
    }
    /// The share of these digits that is read right.
    fn read(&self, fit: &Fit, test: &[usize]) -> Result<f64, Box<dyn Error>> {
        let seen = dataset(self.views.iter().map(|t| rows(t, test)))?;
        let said = fit.predict(&seen, "digit")?;
        let truth = rows(&self.labels, test);
        let classes = said.classes();
        let pairs = classes.iter().zip(truth.values.col_as_slice(0));
        let right = pairs.filter(|(c, t)| **c as f64 == **t).count();
        Ok(right as f64 / test.len() as f64)
    }
}

/// A random order of all digits, in which each stretch of ten has every digit once.
fn order(labels: &Table, seed: u64) -> Vec<usize> {
    let mut rng = StreamKey::new(seed).rng();
    let mut keyed: Vec<(f64, usize)> = (0..labels.samples.len())
        .map(|n| (uniform_open01(&mut rng), n))
        .collect();
    keyed.sort_by(|a, b| a.0.total_cmp(&b.0));
    let mut seen = [0; 10];
    let mut placed: Vec<(usize, usize)> = (keyed.into_iter().enumerate())
        .map(|(at, (_, n))| {
            let rank = &mut seen[labels.values[(n, 0)] as usize];
            *rank += 1;
            (*rank * labels.samples.len() + at, n)
        })
        .collect();
    placed.sort_unstable();
    placed.into_iter().map(|(_, n)| n).collect()
}

fn spec(prior: &str, seed: u64) -> ModelSpec {
    let mut spec = models::mlfs(FACTORS).with_likelihood("digit", "categorical-probit");
    spec.seed = seed;
    let mut choices = spec.view("digit");
    choices.selection = prior.into();
    spec.with_view("digit", choices)
}

fn main() -> Result<(), Box<dyn Error>> {
    let (mut prior, mut orders) = ("ridge".to_owned(), 10);
    for argument in std::env::args().skip(1) {
        match argument.parse() {
            Ok(number) => orders = number,
            Err(_) => prior = argument,
        }
    }
    let digits = Digits {
        views: digits_tables(),
        labels: digits_labels().remove(0).to_codes(),
    };
    let steps = TRAIN / STEP;
    let mut streamed = vec![vec![Shares::default(); steps]; POOLS.len()];
    let mut at_once = vec![Shares::default(); steps];
    for seed in 0..orders {
        let order = order(&digits.labels, seed);
        let test = &order[TRAIN..];
        for (pool, shares) in POOLS.iter().zip(&mut streamed) {
            let mut fit = polyview::fit(digits.of(&order[..*pool])?, spec(&prior, seed))?;
            shares[pool / STEP - 1].0.push(digits.read(&fit, test)?);
            let one_by_one = UpdateOptions {
                batch: 1,
                ..UpdateOptions::default()
            };
            for end in (*pool + STEP..=TRAIN).step_by(STEP) {
                let new = digits.of(&order[end - STEP..end])?;
                fit = fit.update(&new, &one_by_one)?.fit;
                shares[end / STEP - 1].0.push(digits.read(&fit, test)?);
            }
        }
        for (step, shares) in at_once.iter_mut().enumerate() {
            let fit = polyview::fit(digits.of(&order[..(step + 1) * STEP])?, spec(&prior, seed))?;
            shares.0.push(digits.read(&fit, test)?);
        }
    }
    println!("labels by {prior}: digits read right, %, mean ± standard error of {orders} orders\n");
    print!("{:>8}", "visited");
    for pool in POOLS {
        print!(" | first {pool:<5}");
    }
    println!(" | all at once");
    for step in 0..steps {
        print!("{:>8}", (step + 1) * STEP);
        for shares in &streamed {
            print!(" | {}", shares[step].said());
        }
        println!(" | {}", at_once[step].said());
    }
    Ok(())
}

//! Where the sites of the negative binomial are too steep for it: the figures behind the
//! warning of a fit.
//!
//! ```text
//! cargo run --release -p polyview-examples --example steep_sites
//! ```
//!
//! Counts of four factors, 100 samples of 40 genes, with that size and that mean in a typical
//! cell; eight factors are asked for. True ones are found where the fit has more than .6 of
//! their variance.
#![allow(clippy::print_stdout)]

use std::error::Error;

use polyview::{Fit, models};
use polyview_core::{Dataset, Table};
use polyview_linalg::Mat;
use polyview_random::{StreamKey, gamma, poisson, standard_normal};

fn main() -> Result<(), Box<dyn Error>> {
    println!("size mean likelihood seed: factors kept, true ones found, outcome, warned");
    for size in [1.0, 5.0, 30.0] {
        for mean in [3.0, 30.0, 300.0, 2000.0, 20_000.0] {
            for l in ["negative-binomial", "poisson-log-normal"] {
                for seed in 1..3 {
                    let (data, z) = counts(mean, size, seed)?;
                    let mut spec = models::mofa(8).with_likelihood("y", l);
                    spec.vb.max_sweeps = 500;
                    let fit = polyview::fit(data, spec)?;
                    let mut found = 0;
                    for k in 0..z.ncols() {
                        found += usize::from(recovered(z.col_as_slice(k), &fit)? > 0.6);
                    }
                    let record = fit.record();
                    let warned = record.journal.warnings().any(|w| w.contains("as steep"));
                    let (kept, outcome) = (fit.k(), record.outcome);
                    println!("{size} {mean} {l} {seed}: {kept} {found} {outcome} {warned}");
                }
            }
        }
    }
    Ok(())
}

/// The counts and their factors.
fn counts(mean: f64, size: f64, seed: u64) -> Result<(Dataset, Mat<f64>), Box<dyn Error>> {
    let mut rng = StreamKey::new(seed).rng();
    let z = Mat::from_fn(100, 4, |_, _| standard_normal(&mut rng));
    let w = Mat::from_fn(40, 4, |_, _| 0.4 * standard_normal(&mut rng));
    let eta = &z * w.transpose();
    let mut values = Mat::zeros(100, 40);
    for d in 0..40 {
        for n in 0..100 {
            let rate = mean * (eta[(n, d)] - 0.3).exp() * gamma(&mut rng, size, size)?;
            values[(n, d)] = poisson(&mut rng, rate.min(9e8))?;
        }
    }
    let table = Table {
        name: "y".into(),
        samples: (0..100).map(|n| format!("s{n}")).collect(),
        features: (0..40).map(|d| format!("y{d}")).collect(),
        levels: Vec::new(),
        values,
    };
    Ok((Dataset::builder().view(table).build()?, z))
}

/// Share of a true factor's variance that the factors of a fit have.
fn recovered(truth: &[f64], fit: &Fit) -> Result<f64, Box<dyn Error>> {
    let z = fit.component(0)?.factors().mean().to_owned();
    let columns: Vec<Vec<f64>> = (0..z.ncols())
        .map(|k| z.col_as_slice(k).to_vec())
        .chain([vec![1.0; truth.len()]])
        .collect();
    let dot = |a: &[f64], b: &[f64]| -> f64 { a.iter().zip(b).map(|(a, b)| a * b).sum() };
    let mean = truth.iter().sum::<f64>() / truth.len() as f64;
    let mut rest: Vec<f64> = truth.iter().map(|x| x - mean).collect();
    let total = dot(&rest, &rest);
    let mut basis: Vec<Vec<f64>> = Vec::new();
    for mut c in columns {
        for _ in 0..2 {
            for b in &basis {
                let x = dot(&c, b);
                for (c, b) in c.iter_mut().zip(b) {
                    *c -= x * b;
                }
            }
        }
        let length = dot(&c, &c).sqrt();
        if length > 1e-9 {
            for x in &mut c {
                *x /= length;
            }
            let x = dot(&rest, &c);
            for (r, c) in rest.iter_mut().zip(&c) {
                *r -= x * c;
            }
            basis.push(c);
        }
    }
    Ok(1.0 - dot(&rest, &rest) / total)
}

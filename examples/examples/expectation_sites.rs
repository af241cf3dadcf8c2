//! The bound of a paper and the expectation of the log density itself, for labels and counts.
//!
//! ```text
//! cargo run --release -p polyview-examples --example expectation_sites
//! ```
//!
//! Counts: negative binomial of size 3, 200 samples x 25 features of four factors, eight asked for,
//! a tenth of the cells hidden; factors kept, and the correlation of hidden predictors with
//! the truth. Labels: 200 samples x 20 of four factors, eight asked for, 15 % hidden; area under the
//! curve and log loss of the hidden ones, beside those of a Gibbs sampler.
#![allow(clippy::print_stdout)]

use std::error::Error;
use std::time::Instant;

use polyview::metrics::auc;
use polyview::{EngineKind, Likelihood, ModelSpec, models};
use polyview_core::{Dataset, Options, Table};
use polyview_linalg::Mat;
use polyview_random::{ChaCha8Rng, StreamKey, gamma, poisson, standard_normal, uniform_open01};

type Outcome<T> = Result<T, Box<dyn Error>>;

fn main() -> Outcome<()> {
    println!("negative binomial, mean: form, factors, correlation, seconds");
    for mean in [3.0, 30.0, 100.0, 3000.0] {
        for form in ["bound", "expectation"] {
            counts(mean, form)?;
        }
    }
    println!("labels, seed: how, area, log loss, seconds");
    for seed in 0..4 {
        for how in ["bound", "expectation", "gibbs"] {
            labels(seed, how)?;
        }
    }
    Ok(())
}

fn with_form(mut spec: ModelSpec, likelihood: &str, form: &str) -> Outcome<ModelSpec> {
    let options = Options::parse(&format!("form={form}"))?;
    spec.defaults.likelihood = Likelihood::from(likelihood).with(options);
    Ok(spec)
}

/// Predictors of four factors, weights of this size.
fn predictors(rng: &mut ChaCha8Rng, columns: usize, size: f64) -> Mat<f64> {
    let z = Mat::from_fn(200, 4, |_, _| standard_normal(rng));
    let w = Mat::from_fn(columns, 4, |_, _| size * standard_normal(rng));
    &z * w.transpose()
}

fn data(values: Mat<f64>) -> Outcome<Dataset> {
    let table = Table {
        name: "y".into(),
        samples: (0..values.nrows()).map(|n| format!("s{n}")).collect(),
        features: (0..values.ncols()).map(|d| format!("y{d}")).collect(),
        levels: Vec::new(),
        values,
    };
    Ok(Dataset::builder().view(table).build()?)
}

/// The data with a share of the cells hidden, and these.
fn hide(
    values: &Mat<f64>,
    share: f64,
    rng: &mut ChaCha8Rng,
) -> Outcome<(Dataset, Vec<(usize, usize)>)> {
    let (mut seen, mut hidden) = (values.clone(), Vec::new());
    for d in 0..values.ncols() {
        for n in 0..values.nrows() {
            if uniform_open01(rng) < share {
                seen[(n, d)] = f64::NAN;
                hidden.push((n, d));
            }
        }
    }
    Ok((data(seen)?, hidden))
}

fn counts(mean: f64, form: &str) -> Outcome<()> {
    let mut rng = StreamKey::new(7).rng();
    let eta = predictors(&mut rng, 25, 0.5);
    let mut values = Mat::zeros(200, 25);
    for d in 0..25 {
        for n in 0..200 {
            let rate = mean * (eta[(n, d)] - 0.5).exp() * gamma(&mut rng, 3.0, 3.0)?;
            values[(n, d)] = poisson(&mut rng, rate)?;
        }
    }
    let (data, hidden) = hide(&values, 0.1, &mut rng)?;
    let spec = with_form(models::mofa(8), "negative-binomial", form)?;
    let begun = Instant::now();
    let fit = polyview::fit(data, spec)?;
    let seconds = begun.elapsed().as_secs_f64();
    let predicted = fit.impute("y", 0.9)?.values;
    let pairs: Vec<(f64, f64)> = (hidden.iter())
        .map(|&at| (predicted[at].max(1e-9).ln(), eta[at]))
        .collect();
    println!(
        "{mean}: {form}, {}, {:.3}, {seconds:.1}",
        fit.k(),
        correlation(&pairs)
    );
    Ok(())
}

fn labels(seed: u64, how: &str) -> Outcome<()> {
    let mut rng = StreamKey::new(seed).rng();
    let eta = predictors(&mut rng, 20, 1.2);
    let values = Mat::from_fn(200, 20, |n, d| {
        let p = 1.0 / (1.0 + (-eta[(n, d)]).exp());
        f64::from(u8::from(uniform_open01(&mut rng) < p))
    });
    let (data, hidden) = hide(&values, 0.15, &mut rng)?;
    let form = if how == "expectation" { how } else { "bound" };
    let mut spec = with_form(models::sshiba(8), "bernoulli", form)?;
    if how == "gibbs" {
        spec.engine = EngineKind::Gibbs;
    }
    let begun = Instant::now();
    let fit = polyview::fit(data, spec)?;
    let seconds = begun.elapsed().as_secs_f64();
    let predicted = fit.fitted("y")?.mean;
    let truth: Vec<bool> = hidden.iter().map(|&at| values[at] > 0.5).collect();
    let p: Vec<f64> = hidden
        .iter()
        .map(|&at| predicted[at].clamp(1e-6, 1.0 - 1e-6))
        .collect();
    let loss = |(p, y): (&f64, &bool)| if *y { -p.ln() } else { -(-p).ln_1p() };
    let losses: f64 = p.iter().zip(&truth).map(loss).sum();
    println!(
        "{seed}: {how}, {:.3}, {:.3}, {seconds:.1}",
        auc(&truth, &p)?.unwrap_or(f64::NAN),
        losses / p.len() as f64
    );
    Ok(())
}

fn correlation(pairs: &[(f64, f64)]) -> f64 {
    let n = pairs.len() as f64;
    let (a, b): (f64, f64) = pairs.iter().fold((0.0, 0.0), |s, p| (s.0 + p.0, s.1 + p.1));
    let (a, b) = (a / n, b / n);
    let (mut ab, mut aa, mut bb) = (0.0, 0.0, 0.0);
    for (x, y) in pairs {
        ab += (x - a) * (y - b);
        aa += (x - a).powi(2);
        bb += (y - b).powi(2);
    }
    ab / (aa * bb).sqrt()
}

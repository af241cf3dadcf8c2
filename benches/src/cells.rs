//! What a sweep costs for each cell of views that go cell by cell, on one thread.
//!
//! ```text
//! cargo run --release -p polyview-benches -- cells nb|pln|bernoulli|ordinal|gaussian|wide
//!     [--samples 500] [--features 200] [--factors 10] [--sweeps 20] [--missing 0]
//!     [--model sshiba|mofa]
//! ```
//!
//! `wide` is 87 samples and 20,000 features of numbers, four fifths missing, unless others are given.

use std::error::Error;
use std::io::Write as _;

use polyview::{Fitting, models};
use polyview_core::{Dataset, Table};
use polyview_infer::PruneRule;
use polyview_linalg::{Mat, Threads};
use polyview_random::{Rng, StreamKey, poisson, standard_normal, uniform_open01};

use crate::case::cpu;

struct Options {
    kind: String,
    samples: usize,
    features: usize,
    factors: usize,
    sweeps: usize,
    missing: f64,
    model: String,
}

fn options(args: impl IntoIterator<Item = String>) -> Result<Options, Box<dyn Error>> {
    let mut args = args.into_iter();
    let kind = args.next().ok_or("name a kind of data")?;
    let (samples, features, missing) = match kind.as_str() {
        "wide" => (87, 20_000, 0.8),
        "ordinal" => (1500, 135, 0.0),
        _ => (500, 200, 0.0),
    };
    let mut o = Options {
        kind,
        samples,
        features,
        factors: 10,
        sweeps: 20,
        missing,
        model: "sshiba".to_owned(),
    };
    while let Some(a) = args.next() {
        let value = args.next().ok_or(format!("{a} needs a value"))?;
        match a.as_str() {
            "--samples" => o.samples = value.parse()?,
            "--features" => o.features = value.parse()?,
            "--factors" => o.factors = value.parse()?,
            "--sweeps" => o.sweeps = value.parse()?,
            "--missing" => o.missing = value.parse()?,
            "--model" => o.model = value,
            other => return Err(format!("unknown option {other}").into()),
        }
    }
    Ok(o)
}

/// A datum of this kind whose predictor is `eta`.
fn datum(kind: &str, eta: f64, rng: &mut impl Rng) -> Result<f64, Box<dyn Error>> {
    Ok(match kind {
        // about a gamma mean, of size 2 or so
        "nb" | "pln" => {
            let noise: f64 = standard_normal(rng);
            poisson(rng, (1.5 + 0.8 * eta + 0.6 * noise).exp())?
        }
        "bernoulli" => f64::from(u8::from(uniform_open01(rng) < 1.0 / (1.0 + (-eta).exp()))),
        "ordinal" => (eta + standard_normal(rng) + 3.5).round().clamp(1.0, 6.0),
        _ => eta + standard_normal(rng),
    })
}

fn data(o: &Options) -> Result<Dataset, Box<dyn Error>> {
    let mut rng = StreamKey::new(1).rng();
    let mut normal = |rows| Mat::from_fn(rows, o.factors, |_, _| standard_normal(&mut rng));
    let (z, w) = (normal(o.samples), normal(o.features));
    let scale = (o.factors as f64).sqrt().recip();
    let mut values = Mat::zeros(o.samples, o.features);
    let mut rng = StreamKey::new(2).rng();
    for d in 0..o.features {
        for n in 0..o.samples {
            let eta: f64 = (0..o.factors).map(|k| z[(n, k)] * w[(d, k)]).sum();
            let x = datum(&o.kind, scale * eta, &mut rng)?;
            let hidden = uniform_open01(&mut rng) < o.missing;
            values[(n, d)] = if hidden { f64::NAN } else { x };
        }
    }
    Ok(Dataset::builder()
        .view(Table {
            name: "cells".to_owned(),
            samples: (0..o.samples).map(|n| n.to_string()).collect(),
            features: (0..o.features).map(|d| d.to_string()).collect(),
            levels: Vec::new(),
            values,
        })
        .build()?)
}

/// Makes the data that the arguments name, sweeps over them and prints what that cost.
///
/// # Errors
/// Arguments that do not exist; what data and fits refuse.
pub fn run(args: impl IntoIterator<Item = String>) -> Result<(), Box<dyn Error>> {
    let o = options(args)?;
    Threads::new(1)?.install(|| measure(&o).map_err(|e| e.to_string()))?;
    Ok(())
}

fn measure(o: &Options) -> Result<(), Box<dyn Error>> {
    let data = data(o)?;
    let likelihood = match o.kind.as_str() {
        "nb" => "negative-binomial",
        "pln" => "poisson-log-normal",
        "wide" => "gaussian",
        other => other,
    };
    let spec = match o.model.as_str() {
        "sshiba" => models::sshiba(o.factors),
        "mofa" => models::mofa(o.factors),
        other => return Err(format!("no model '{other}' here: sshiba or mofa").into()),
    };
    let mut spec = spec.with_likelihood("cells", likelihood);
    spec.vb.max_sweeps = usize::MAX;
    spec.vb.tolerance = 1e-300;
    spec.vb.prune = PruneRule::never();
    let cells = data.views()[0].n_observed() as f64;
    let mut fitting = Fitting::new(data, spec)?;
    for _ in 0..5 {
        fitting.step()?;
    }
    let start = cpu();
    for _ in 0..o.sweeps {
        fitting.step()?;
    }
    let seconds = (cpu() - start) / o.sweeps as f64;
    let bound = fitting.bound();
    writeln!(
        std::io::stdout().lock(),
        "{}: {:.3} ms a sweep, {:.1} ns for each cell, bound {bound:?}",
        o.kind,
        1e3 * seconds,
        1e9 * seconds / cells
    )?;
    Ok(())
}

//! Counts by four likelihoods: Poisson, negative binomial, Poisson log-normal,
//! and normal noise around their logarithms.
//!
//! With a folder that holds `counts.csv` (samples in rows, genes in columns) on
//! the command line: those data; else simulated ones. A tenth of the cells is
//! hidden. For each likelihood one sees the mean Poisson deviance of the hidden
//! counts from their predicted means (the share of it that the features' means
//! leave and the factors explain), how many counts their 95 % intervals hold,
//! and the mean log probability of a hidden count. Real counts vary more than
//! Poisson counts: the negative binomial says so, and it knows how sure it is.
//! Where counts are far above their sizes its bound is loose and moves slowly:
//! of counts by the ten thousand the log-normal rates say more.
#![allow(clippy::print_stdout)]

use std::error::Error;
use std::path::Path;

use polyview::{Fit, ModelSpec, hold_out, metrics, models};
use polyview_core::{Dataset, Table};
use polyview_examples::{World, dataset};
use polyview_io::{ReadOptions, read_table};
use polyview_linalg::Mat;

/// Hidden counts, with what a fit makes of them.
struct Hidden {
    truth: Vec<f64>,
    /// Training means of their features.
    level: Vec<f64>,
    places: Vec<(usize, usize)>,
}

fn hidden(full: &Dataset, part: &Dataset) -> Result<Hidden, Box<dyn Error>> {
    let (all, seen) = (&full.views()[0], &part.views()[0]);
    let mut out = Hidden {
        truth: Vec::new(),
        level: Vec::new(),
        places: Vec::new(),
    };
    for d in 0..all.n_features() {
        let known: Vec<f64> = (0..all.n_samples())
            .filter_map(|n| seen.value(n, d))
            .collect();
        let level = known.iter().sum::<f64>() / known.len() as f64;
        for n in 0..all.n_samples() {
            if !seen.is_observed(n, d) {
                out.truth.push(all.value(n, d).ok_or("complete counts")?);
                out.level.push(level);
                out.places.push((n, d));
            }
        }
    }
    Ok(out)
}

/// The same data as $\ln(1 + y)$.
fn logarithms(data: &Dataset) -> Result<Dataset, Box<dyn Error>> {
    let view = &data.views()[0];
    let values = view.to_values_with_nan();
    Ok(dataset([Table {
        name: view.name().to_owned(),
        samples: data.samples().to_vec(),
        features: view.features().to_vec(),
        levels: Vec::new(),
        values: Mat::from_fn(values.nrows(), values.ncols(), |n, d| {
            values[(n, d)].ln_1p()
        }),
    }])?)
}

fn show(
    name: &str,
    h: &Hidden,
    mean: &[f64],
    coverage: f64,
    density: f64,
) -> Result<(), Box<dyn Error>> {
    let deviance = metrics::poisson_deviance(&h.truth, mean)?.ok_or("no hidden count")?;
    let null = metrics::poisson_deviance(&h.truth, &h.level)?.ok_or("no hidden count")?;
    println!(
        "{name:24} {deviance:9.3} ({:5.1} %)   {:5.1} %   {density:8.3}",
        100.0 * (1.0 - deviance / null),
        100.0 * coverage
    );
    Ok(())
}

/// Predicted means of the hidden counts.
fn means(fit: &Fit, h: &Hidden) -> Result<Vec<f64>, Box<dyn Error>> {
    let p = fit.fitted("counts")?;
    Ok(h.places.iter().map(|&at| p.mean[at]).collect())
}

/// A fit of logarithms, read as counts.
fn gaussian(fit: &Fit, h: &Hidden) -> Result<(), Box<dyn Error>> {
    let p = fit.fitted("counts")?;
    let (low, high) = p.interval(0.95)?;
    let (mut mean, mut inside, mut density) = (Vec::new(), 0.0, 0.0);
    for (&at, &y) in h.places.iter().zip(&h.truth) {
        let (m, s) = (p.mean[at], p.sd[at]);
        // the mean of a log-normal variable, less the one that was added
        mean.push(((m + 0.5 * s * s).exp() - 1.0).max(1e-3));
        let x = y.ln_1p();
        inside += f64::from(u8::from(low[at] <= x && x <= high[at]));
        let z = (x - m) / s;
        // per unit of a count
        density += -0.5 * (z * z + (std::f64::consts::TAU * s * s).ln()) - x;
    }
    let count = h.truth.len() as f64;
    show(
        "gaussian on logarithms",
        h,
        &mean,
        inside / count,
        density / count,
    )
}

fn main() -> Result<(), Box<dyn Error>> {
    let counts = match std::env::args().nth(1) {
        Some(folder) => read_table(
            Path::new(&folder).join("counts.csv"),
            &ReadOptions::named("counts"),
        )?,
        None => World::new(120, 3, 4).counts(0, "counts", 60, 4.0)?,
    };
    let full = dataset([counts])?;
    let part = hold_out(&full, 0.1, 1)?.data;
    let h = hidden(&full, &part)?;
    println!(
        "{} samples, {} features, {} counts hidden\n",
        full.n_samples(),
        full.views()[0].n_features(),
        h.truth.len()
    );
    println!("likelihood               deviance (explained)  in 95 %  log density");
    show("feature means", &h, &h.level, f64::NAN, f64::NAN)?;
    let model = |likelihood| -> ModelSpec {
        let mut spec = models::mofa(10).with_likelihood("counts", likelihood);
        spec.vb.max_sweeps = 500;
        spec
    };
    for likelihood in ["poisson", "negative-binomial", "poisson-log-normal"] {
        let fit = polyview::fit(part.clone(), model(likelihood))?;
        let score = fit.held_out_score(&full)?.remove(0);
        let name = likelihood.to_string();
        show(
            &name,
            &h,
            &means(&fit, &h)?,
            score.coverage,
            score.log_density,
        )?;
        if let Some(sizes) = fit.sizes("counts")? {
            let sizes = sizes.col_as_slice(0);
            let middle = sizes.iter().map(|r| r.ln()).sum::<f64>() / sizes.len() as f64;
            println!("    {} factors; mean size {:.2}", fit.k(), middle.exp());
        }
    }
    let fit = polyview::fit(logarithms(&part)?, model("gaussian"))?;
    gaussian(&fit, &h)
}

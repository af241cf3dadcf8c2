//! Drugs, mutations and two labels of the same patients, full of holes.
//!
//! The layout of the leukaemia (CLL) study that multi-omics factor analysis
//! became known by: responses to drugs (real), mutations (0 and 1, many of
//! them not looked for in every patient), the status of the IGHV gene (0 and 1)
//! and a cluster by methylation (three classes). With a folder of
//! `{drugs,mutations,ighv,methylation_cluster}.csv` on the command line: those
//! data; else simulated ones of that layout.
//!
//! First sparse factors of drugs and mutations alone: what they explain, and
//! which of them is the status that they never saw. Then all four views at
//! once, a fifth of the patients without their labels: how well these are
//! predicted.
#![allow(clippy::print_stdout)]

use std::error::Error;
use std::path::Path;

use polyview::{Fit, metrics, models};
use polyview_core::{Dataset, Table, View};
use polyview_examples::{World, dataset, rows};
use polyview_io::{Content, ReadOptions, read_table};

/// Every how many patients one has no labels in the second fit.
const HIDDEN: usize = 5;

struct Study {
    drugs: Table,
    mutations: Table,
    status: Table,
    cluster: Table,
}

fn read(folder: &Path) -> Result<Study, Box<dyn Error>> {
    let numbers = |file: &str, name: &str| {
        read_table(
            folder.join(format!("{file}.csv")),
            &ReadOptions::named(name),
        )
    };
    let classes = ReadOptions {
        content: Content::Classes,
        ..ReadOptions::named("cluster")
    };
    Ok(Study {
        drugs: numbers("drugs", "drugs")?,
        mutations: numbers("mutations", "mutations")?,
        status: numbers("ighv", "status")?,
        cluster: read_table(folder.join("methylation_cluster.csv"), &classes)?,
    })
}

fn simulated() -> Study {
    let world = World::new(180, 3, 7);
    let mut mutations = world.labels(1, "mutations", 40);
    for d in 0..40 {
        for n in 0..180 {
            if (7 * n + 3 * d) % 5 < 2 {
                mutations.values[(n, d)] = f64::NAN;
            }
        }
    }
    Study {
        drugs: world.real(0, "drugs", 120, 1.0),
        mutations,
        status: world.labels(2, "status", 1),
        cluster: world.classes(3, "cluster", &["early", "middle", "late"]),
    }
}

/// The value of a one-column table for each of these samples.
fn aligned(table: &Table, samples: &[String]) -> Vec<Option<f64>> {
    let of = |s: &String| {
        let n = table.samples.iter().position(|t| t == s)?;
        Some(table.values[(n, 0)]).filter(|x| !x.is_nan())
    };
    samples.iter().map(of).collect()
}

/// Absolute correlation with the status, and area under the curve, of each
/// factor.
fn against_status(fit: &Fit, status: &[Option<f64>]) -> Result<Vec<(f64, f64)>, Box<dyn Error>> {
    let z = fit.factors()?.mean;
    let known: Vec<(usize, f64)> = (status.iter().enumerate())
        .filter_map(|(n, s)| Some((n, (*s)?)))
        .collect();
    let truth: Vec<f64> = known.iter().map(|k| k.1).collect();
    let mean = |x: &[f64]| x.iter().sum::<f64>() / x.len().max(1) as f64;
    let each = |k: usize| {
        let scores: Vec<f64> = known.iter().map(|&(n, _)| z[(n, k)]).collect();
        let (a, b) = (mean(&scores), mean(&truth));
        let sum = |f: &dyn Fn(f64, f64) -> f64| -> f64 {
            let pairs = scores.iter().zip(&truth);
            pairs.map(|(x, y)| f(x - a, y - b)).sum()
        };
        let r = sum(&|x, y| x * y) / (sum(&|x, _| x * x) * sum(&|_, y| y * y)).sqrt();
        let ones: Vec<bool> = truth.iter().map(|y| *y > 0.5).collect();
        let area = metrics::auc(&ones, &scores)?.unwrap_or(0.5);
        Ok((r.abs(), area.max(1.0 - area)))
    };
    (0..z.ncols()).map(each).collect()
}

fn unsupervised(study: &Study) -> Result<(), Box<dyn Error>> {
    let data = dataset([study.drugs.clone(), study.mutations.clone()])?;
    let seen = data.view("mutations").map_or(0, View::n_observed);
    let all = data.n_samples() * study.mutations.features.len();
    println!(
        "{} patients, {} drugs, {} mutations ({:.0} % of them unknown)",
        data.n_samples(),
        study.drugs.features.len(),
        study.mutations.features.len(),
        100.0 * (1.0 - seen as f64 / all as f64)
    );
    let spec = models::mofa(15).with_likelihood("mutations", "bernoulli");
    let fit = polyview::fit(data, spec)?;
    let explained = fit.explain()?;
    println!(
        "{} factors; they explain {:.1} % of the drugs, {:.1} % of the scores of the mutations",
        fit.k(),
        100.0 * explained.total[0],
        100.0 * explained.total[1]
    );
    let status = aligned(&study.status, fit.samples());
    let found = against_status(&fit, &status)?;
    for (k, (r, area)) in found.iter().enumerate() {
        println!(
            "  factor {}: {:4.1} % of the drugs; with the status |r| {r:.3}, AUC {area:.3}",
            k + 1,
            100.0 * explained.marginal[(0, k)]
        );
    }
    Ok(())
}

fn supervised(study: &Study) -> Result<(), Box<dyn Error>> {
    let shown = |table: &Table| -> Table {
        let keep: Vec<usize> = (0..table.samples.len())
            .filter(|n| n % HIDDEN != 0)
            .collect();
        rows(table, &keep)
    };
    let data = dataset([
        study.drugs.clone(),
        study.mutations.clone(),
        shown(&study.status),
        shown(&study.cluster),
    ])?;
    let spec = models::mofa(15)
        .with_likelihood("mutations", "bernoulli")
        .with_likelihood("status", "bernoulli")
        .with_likelihood("cluster", "categorical");
    let inputs: Dataset = dataset([study.drugs.clone(), study.mutations.clone()])?;
    let fit = polyview::fit(data, spec)?;
    let hidden = |table: &Table, samples: &[String]| -> Vec<(usize, f64)> {
        let is_hidden = |s: &String| {
            let n = table.samples.iter().position(|t| t == s);
            n.is_some_and(|n| n % HIDDEN == 0)
        };
        let known = aligned(table, samples);
        let cells = samples.iter().zip(known).enumerate();
        cells
            .filter_map(|(i, (s, x))| Some((i, x.filter(|_| is_hidden(s))?)))
            .collect()
    };
    let p = fit.predict(&inputs, "status")?;
    let cells = hidden(&study.status, &p.samples);
    let truth: Vec<bool> = cells.iter().map(|c| c.1 > 0.5).collect();
    let score: Vec<f64> = cells.iter().map(|c| p.mean[(c.0, 0)]).collect();
    let area = metrics::auc(&truth, &score)?.unwrap_or(f64::NAN);
    println!("hidden status: {} patients, AUC {area:.3}", cells.len());
    let p = fit.predict(&inputs, "cluster")?;
    let cells = hidden(&study.cluster, &p.samples);
    let best = |n: usize| {
        let larger = |b: usize, c: usize| {
            if p.mean[(n, c)] > p.mean[(n, b)] {
                c
            } else {
                b
            }
        };
        (1..p.mean.ncols()).fold(0, larger)
    };
    let right = cells.iter().filter(|c| best(c.0) as f64 == c.1).count();
    println!(
        "hidden cluster: {} patients, {right} in the right one",
        cells.len()
    );
    Ok(())
}

fn main() -> Result<(), Box<dyn Error>> {
    let study = match std::env::args().nth(1) {
        Some(folder) => read(Path::new(&folder))?,
        None => simulated(),
    };
    unsupervised(&study)?;
    supervised(&study)
}

//! What it is worth to take factors out on trial, and what it costs.
//!
//! 15 factors offered, a tenth of the cells hidden, three times: the fit with trials and the fit without, by the factors that are left,
//! R² and mean log density of the hidden cells (of all views of numbers together, each
//! feature standardised), and the time with trials over the time without. Nutrimouse, every tenth digit and
//! half of simulated data; with folders of CSV files on the command line, every second sample of
//! those as well.
#![allow(clippy::print_stdout)]

use std::error::Error;
use std::path::Path;
use std::time::Instant;

use polyview::{Fit, ModelSpec, hold_out, models};
use polyview_core::{Dataset, Table};
use polyview_datasets::{digits_tables, nutrimouse_tables};
use polyview_examples::{World, dataset, rows};
use polyview_io::{ReadOptions, read_table};

/// Factors that a fit starts with.
const FACTORS: usize = 15;

/// Some of the samples, each feature brought to mean 0 and variance 1.
fn some(table: &Table, keep: &[usize]) -> Table {
    let mut out = rows(table, keep);
    for d in 0..out.values.ncols() {
        let column = out.values.col_as_slice_mut(d);
        let known: Vec<f64> = column.iter().copied().filter(|x| !x.is_nan()).collect();
        let n = known.len().max(1) as f64;
        let mean = known.iter().sum::<f64>() / n;
        let spread = (known.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / n).sqrt();
        for x in column {
            *x = (*x - mean) / if spread > 0.0 { spread } else { 1.0 };
        }
    }
    out
}

fn every(step: usize, tables: &[Table]) -> Result<Dataset, Box<dyn Error>> {
    let keep: Vec<usize> = (0..tables[0].samples.len()).step_by(step).collect();
    Ok(dataset(tables.iter().map(|t| some(t, &keep)))?)
}

/// The tables of a folder that hold numbers and nothing else.
fn folder(path: &Path) -> Result<Vec<Table>, Box<dyn Error>> {
    let mut files: Vec<_> = std::fs::read_dir(path)?
        .map(|entry| Ok(entry?.path()))
        .collect::<Result<_, std::io::Error>>()?;
    files.retain(|p| p.extension().is_some_and(|e| e == "csv"));
    files.sort();
    let name = |p: &Path| p.file_stem().map(|s| s.to_string_lossy().into_owned());
    Ok(files
        .iter()
        .filter(|p| name(p).is_some_and(|n| !n.starts_with("test")))
        .filter_map(|p| read_table(p, &ReadOptions::named(name(p)?)).ok())
        .filter(|t| t.levels.is_empty() && t.features.len() > 5)
        .collect())
}

struct Row {
    factors: usize,
    sweeps: usize,
    seconds: f64,
    /// R² and mean log density of all hidden cells.
    score: [f64; 2],
}

fn row(data: &Dataset, full: &Dataset, spec: &ModelSpec) -> Result<Row, Box<dyn Error>> {
    let clock = Instant::now();
    let fit: Fit = polyview::fit(data.clone(), spec.clone())?;
    let seconds = clock.elapsed().as_secs_f64();
    let (mut cells, mut score) = (0.0, [0.0; 2]);
    for view in fit.held_out_score(full)? {
        let n = view.cells as f64;
        cells += n;
        score[0] += n * view.r2;
        score[1] += n * view.log_density;
    }
    Ok(Row {
        factors: fit.k(),
        sweeps: fit.record().sweeps,
        seconds,
        score: score.map(|s| s / cells),
    })
}

fn main() -> Result<(), Box<dyn Error>> {
    let digits: Vec<Table> = digits_tables()
        .into_iter()
        .filter(|t| ["fou", "kar", "zer"].contains(&t.name.as_str()))
        .collect();
    let world = World::new(120, 4, 3);
    let simulated = [world.real(0, "a", 40, 1.0), world.real(1, "b", 15, 1.0)];
    let mut sets = vec![
        ("nutrimouse".to_owned(), every(1, &nutrimouse_tables())?),
        ("digits".to_owned(), every(10, &digits)?),
        ("simulated".to_owned(), every(2, &simulated)?),
    ];
    for path in std::env::args().skip(1) {
        let tables = folder(Path::new(&path))?;
        sets.push((path, every(2, &tables)?));
    }
    println!("factors, sweeps, R², log density: with trials | without; time with over without");
    for (name, full) in &sets {
        println!("{name}: {} samples", full.samples().len());
        for make in [models::bibfa, models::sshiba, models::mofa] {
            for seed in 11..=13 {
                let data = hold_out(full, 0.1, seed)?.data;
                let mut spec = make(FACTORS);
                if spec.model == "sshiba" {
                    spec.defaults.selection = "relevance".into();
                }
                let with = row(&data, full, &spec)?;
                spec.vb.prune.by_bound = false;
                let without = row(&data, full, &spec)?;
                let text = |r: &Row| {
                    format!(
                        "{:2} {:5} {:7.3} {:7.3}",
                        r.factors, r.sweeps, r.score[0], r.score[1]
                    )
                };
                println!(
                    "  {:6} {seed:2}: {} | {}; {:.2}",
                    spec.model,
                    text(&with),
                    text(&without),
                    with.seconds / without.seconds
                );
            }
        }
    }
    Ok(())
}

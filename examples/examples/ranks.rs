//! Features that nobody knows the scale of.
//!
//! Each feature of some factors is bent by a monotone function of its own, most
//! of them heavily skewed. A Gaussian model of the numbers, or of their
//! logarithms, loses the factors; the order of the values has them still. Only
//! ranks enter a rank view, so that no transform of a feature changes a bit.
//!
//! With a folder of `counts.csv` (samples × genes, not normalised) and
//! `group.csv` (two groups) on the command line: the groups of these samples by
//! five-fold cross-validation, ranks of raw counts with a support vector
//! machine.
#![allow(clippy::print_stdout)]

use std::error::Error;
use std::path::Path;

use polyview::{ModelSpec, metrics, models};
use polyview_core::Table;
use polyview_examples::{World, dataset, means, r2, rows};
use polyview_io::{ReadOptions, read_string_table, read_table};
use polyview_linalg::{Mat, MatRef, solve_spd};

const FEATURES: usize = 60;

/// Monotone functions: skewed to the right, to the left, heavy at both ends.
fn bent(kind: usize, x: f64) -> f64 {
    match kind % 4 {
        0 => (4.0 * x).exp(),
        1 => -(-4.0 * x).exp(),
        2 => x.powi(9),
        _ => 1e6 * (5.0 * x).exp(),
    }
}

/// Share of the true factors' variance that the found ones hold, on average.
fn recovered(truth: MatRef<'_, f64>, found: MatRef<'_, f64>) -> Result<f64, Box<dyn Error>> {
    let n = found.nrows();
    let wide = Mat::from_fn(n, found.ncols() + 1, |i, k| {
        if k == 0 { 1.0 } else { found[(i, k - 1)] }
    });
    let mut gram = wide.transpose() * &wide;
    for k in 0..wide.ncols() {
        gram[(k, k)] += 1e-9;
    }
    let right = wide.transpose() * truth;
    let fitted = &wide * solve_spd(gram.as_ref(), right.as_ref())?;
    Ok(r2(truth, fitted.as_ref(), &means(truth))?)
}

fn logarithms(table: &Table) -> Table {
    let least = (0..table.values.ncols())
        .flat_map(|d| table.values.col(d).iter())
        .fold(0.0_f64, |m, x| m.min(*x));
    Table {
        values: Mat::from_fn(table.values.nrows(), table.values.ncols(), |n, d| {
            (table.values[(n, d)] - least).ln_1p()
        }),
        ..table.clone()
    }
}

fn simulated() -> Result<(), Box<dyn Error>> {
    let world = World::new(150, 3, 11);
    let mut table = world.real(0, "x", FEATURES, 0.3);
    for d in 0..FEATURES {
        for x in table.values.col_as_slice_mut(d) {
            *x = bent(d, 1.5 * *x);
        }
    }
    let gaussian = || -> ModelSpec { models::bibfa(5) };
    println!("150 samples, {FEATURES} bent features of 3 factors; R2 of the factors:");
    for (name, table, spec) in [
        ("gaussian, numbers", table.clone(), gaussian()),
        ("gaussian, logarithms", logarithms(&table), gaussian()),
        ("ranks", table.clone(), models::rank(5)),
    ] {
        let fit = polyview::fit(dataset([table])?, spec)?;
        let found = recovered(world.factors.as_ref(), fit.factors()?.mean.as_ref())?;
        println!("  {name:<22} {found:.3}");
    }
    Ok(())
}

fn groups(folder: &Path) -> Result<(), Box<dyn Error>> {
    const FOLDS: usize = 5;
    let counts = read_table(folder.join("counts.csv"), &ReadOptions::named("rna"))?;
    let words = read_string_table(folder.join("group.csv"), &ReadOptions::named("group"))?;
    let column = words.values.first().ok_or("group.csv has no column")?;
    let mut names: Vec<&String> = column.iter().flatten().collect();
    names.sort_unstable();
    names.dedup();
    let is_last = |s: &String| {
        let at = words.samples.iter().position(|t| t == s)?;
        Some(f64::from(u8::from(
            column[at].as_ref() == names.last().copied(),
        )))
    };
    let group = Table {
        name: "group".to_owned(),
        samples: counts.samples.clone(),
        features: vec!["group".to_owned()],
        levels: Vec::new(),
        values: Mat::from_fn(counts.samples.len(), 1, |n, _| {
            is_last(&counts.samples[n]).unwrap_or(f64::NAN)
        }),
    };
    let (mut truth, mut score) = (Vec::new(), Vec::new());
    for fold in 0..FOLDS {
        let (test, train): (Vec<usize>, Vec<usize>) =
            (0..counts.samples.len()).partition(|n| n % FOLDS == fold);
        let spec = models::rank(5).with_likelihood("group", "svm");
        let fit = polyview::fit(
            dataset([rows(&counts, &train), rows(&group, &train)])?,
            spec,
        )?;
        let p = fit.predict(&dataset([rows(&counts, &test)])?, "group")?;
        let found = p.score.ok_or("labels have scores")?;
        for (i, &n) in test.iter().enumerate() {
            truth.push(group.values[(n, 0)] > 0.5);
            score.push(found[(i, 0)]);
        }
    }
    let right = truth
        .iter()
        .zip(&score)
        .filter(|(t, s)| **t == (**s > 0.0))
        .count();
    println!(
        "{} samples, {} genes, {FOLDS} folds: AUC {:.3}, {right} right",
        truth.len(),
        counts.features.len(),
        metrics::auc(&truth, &score)?.unwrap_or(f64::NAN)
    );
    Ok(())
}

fn main() -> Result<(), Box<dyn Error>> {
    match std::env::args().nth(1) {
        Some(folder) => groups(Path::new(&folder)),
        None => simulated(),
    }
}

//! A million samples on disk: stochastic variational Bayes without ever holding
//! the data in memory.
//!
//! `million FILE [SAMPLES] [FEATURES] [FACTORS] [BATCH] [EPOCHS] [EXACT]`: where
//! there is no such file, data of FACTORS sparse factors are generated block by
//! block and written to it as an NPY array of 4-byte floats (a million samples of
//! 2,000 features are 8 GB); then they are fitted. One sees the seconds that each
//! pass took, how well the true loadings were found, and the largest memory that the
//! process had. Without arguments: a small file that goes again.
#![allow(clippy::print_stdout)]

use std::error::Error;
use std::path::{Path, PathBuf};
use std::time::Instant;

use polyview::{EngineKind, Fitting, models};
use polyview_io::{OnDisk, Overwrite, ReadOptions, write_atomic};
use polyview_linalg::{Mat, thin_qr, times_small};
use polyview_random::{StreamKey, fill_standard_normal, uniform_open01};

/// Samples that are generated together.
const BLOCK: usize = 1000;

fn normal(rows: usize, columns: usize, key: StreamKey) -> Mat<f64> {
    let mut out = Mat::zeros(rows, columns);
    for j in 0..columns {
        fill_standard_normal(&mut key.chunk(j as u32).rng(), out.col_as_slice_mut(j));
    }
    out
}

/// True loadings, features × factors: three in ten are not zero.
fn loadings(features: usize, factors: usize) -> Mat<f64> {
    let key = StreamKey::new(7);
    let mut w = normal(features, factors, key.block(1));
    let mut rng = key.block(2).rng();
    for j in 0..factors {
        for x in w.col_as_slice_mut(j) {
            *x *= f64::from(u8::from(uniform_open01(&mut rng) < 0.3));
        }
    }
    w
}

/// Writes x = z w' + noise, block by block, row by row.
fn generate(
    path: &Path,
    samples: usize,
    features: usize,
    w: &Mat<f64>,
) -> Result<(), Box<dyn Error>> {
    let mut header =
        format!("{{'descr': '<f4', 'fortran_order': False, 'shape': ({samples}, {features}), }}");
    while !(10 + header.len() + 1).is_multiple_of(64) {
        header.push(' ');
    }
    header.push('\n');
    let turned = w.transpose().to_owned();
    write_atomic(path, Overwrite::Refuse, |out| {
        out.write_all(b"\x93NUMPY\x01\x00")?;
        out.write_all(&(header.len() as u16).to_le_bytes())?;
        out.write_all(header.as_bytes())?;
        let mut bytes = Vec::with_capacity(4 * BLOCK * features);
        for (b, start) in (0..samples).step_by(BLOCK).enumerate() {
            let rows = BLOCK.min(samples - start);
            let key = StreamKey::new(8).sweep(b as u64);
            let z = normal(rows, w.ncols(), key.block(0));
            let mut x = normal(rows, features, key.block(1));
            x += &times_small(z.as_ref(), turned.as_ref());
            bytes.clear();
            for n in 0..rows {
                for d in 0..features {
                    bytes.extend_from_slice(&(x[(n, d)] as f32).to_le_bytes());
                }
            }
            out.write_all(&bytes)?;
        }
        Ok(())
    })?;
    Ok(())
}

/// Share of the true loadings' energy in the span of those found.
fn found(truth: &Mat<f64>, weights: &Mat<f64>) -> Result<f64, Box<dyn Error>> {
    let (q, _) = thin_qr(weights.as_ref())?;
    let inside = times_small(q.transpose().to_owned().as_ref(), truth.as_ref());
    Ok((inside.norm_l2() / truth.norm_l2()).powi(2))
}

/// Largest memory of the process so far, MiB, where the system says it.
fn peak() -> Option<f64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|l| l.strip_prefix("VmHWM:"))?;
    let kib: f64 = line.split_whitespace().next()?.parse().ok()?;
    Some(kib / 1024.0)
}

fn say_peak() {
    if let Some(mib) = peak() {
        println!("peak memory so far: {mib:.0} MiB");
    }
}

fn main() -> Result<(), Box<dyn Error>> {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let number = |i: usize, default: f64| -> Result<f64, Box<dyn Error>> {
        Ok(args.get(i).map_or(Ok(default), |a| a.parse())?)
    };
    let small = args.is_empty();
    let path = args.first().map_or_else(
        || std::env::temp_dir().join(format!("million-{}.npy", std::process::id())),
        PathBuf::from,
    );
    let size = |i: usize, default: usize| -> Result<usize, Box<dyn Error>> {
        Ok(args.get(i).map_or(Ok(default), |a| a.parse())?)
    };
    let (samples, features) = if small {
        (20_000, 100)
    } else {
        (size(1, 1_000_000)?, size(2, 2000)?)
    };
    let k = size(3, if small { 5 } else { 15 })?;
    let mut spec = models::bibfa(k);
    spec.engine = EngineKind::Stochastic;
    spec.stochastic.batch = number(4, 0.05)?;
    spec.stochastic.epochs = size(5, 2)?;
    spec.stochastic.exact_sweeps = size(6, 1)?;
    let truth = loadings(features, k);
    if !path.exists() {
        let clock = Instant::now();
        generate(&path, samples, features, &truth)?;
        println!(
            "{samples} x {features} written in {:.1} s",
            clock.elapsed().as_secs_f64()
        );
    }
    say_peak();
    let source = OnDisk::open(
        &[(path.clone(), ReadOptions::named("x"))],
        &std::env::temp_dir(),
    )?;
    let names = source.sample_names().to_vec();
    let clock = Instant::now();
    let mut fitting = Fitting::from_blocks(Box::new(source), names, spec)?;
    println!(
        "scales learnt and started in {:.1} s",
        clock.elapsed().as_secs_f64()
    );
    say_peak();
    loop {
        let clock = Instant::now();
        let p = fitting.step()?;
        println!(
            "pass {}: {:.1} s, bound {:.4e}, {} factors",
            p.sweep,
            clock.elapsed().as_secs_f64(),
            p.objective,
            p.factors
        );
        if p.done {
            break;
        }
    }
    let clock = Instant::now();
    let fit = fitting.finish()?;
    println!(
        "factors of all samples in {:.1} s",
        clock.elapsed().as_secs_f64()
    );
    // weights back in data units
    let scale = &fit.views()[0].scaling.scale;
    let mut w = fit.weights("x")?.mean;
    for j in 0..w.ncols() {
        for (x, s) in w.col_as_slice_mut(j).iter_mut().zip(scale) {
            *x *= s;
        }
    }
    println!(
        "{:.3} % of the true loadings are in the span of those found",
        100.0 * found(&truth, &w)?
    );
    say_peak();
    if small {
        std::fs::remove_file(&path)?;
    }
    Ok(())
}

//! Fits one synthetic case (`cases`) and prints one line
//! of JSON with the same measures as `run_peer.py` takes of the peers.
//!
//! ```text
//! cargo run --release -p polyview-benches -- case DATA_DIR [--missing 20]
//!     [--threads 1] [--path streaming] [--noise view]
//!     [--max-sweeps 3000] [--factors K] [--no-rotation] [--no-scores]
//!     [--model bibfa|sshiba|mofa|mofapy2] [--counts poisson|negative-binomial|poisson-log-normal]
//! ```
//!
//! Memory: `data_mb` is what the fit is given (values and masks),
//! `rss_data_mb` the process with them when the fit begins; the peak counts from
//! there, so that what reading took is not part of it.

use std::error::Error;
use std::io::Write;
use std::path::{Path as FilePath, PathBuf};
use std::time::Instant;

use polyview::{Fitting, models};
use polyview_core::{Dataset, FeatureScaling, Mask, Table};
use polyview_infer::Rotate;
use polyview_io::{ReadOptions, read_table};
use polyview_linalg::{Mat, Threads};
use rustix::time::{ClockId, clock_gettime};

struct Options {
    data: PathBuf,
    missing: bool,
    threads: usize,
    path: String,
    noise: String,
    max_sweeps: usize,
    rotate: Rotate,
    factors: Option<usize>,
    model: String,
    counts: String,
    scores: bool,
}

/// Fits the case that the arguments name and prints its measures.
///
/// # Errors
/// Arguments that do not exist; what files, data and fits refuse.
pub fn run(args: impl IntoIterator<Item = String>) -> Result<(), Box<dyn Error>> {
    let options = options(args)?;
    Threads::new(options.threads)?.install(|| measure(&options).map_err(|e| e.to_string()))?;
    Ok(())
}

fn options(args: impl IntoIterator<Item = String>) -> Result<Options, Box<dyn Error>> {
    let mut args = args.into_iter();
    let mut o = Options {
        data: args.next().ok_or("give the folder of a case")?.into(),
        missing: false,
        threads: 1,
        path: "streaming".into(),
        noise: "view".into(),
        max_sweeps: 3000,
        rotate: Rotate::InLoop,
        factors: None,
        model: "bibfa".into(),
        counts: "poisson".to_owned(),
        scores: true,
    };
    while let Some(a) = args.next() {
        let mut value = || args.next().ok_or(format!("{a} needs a value"));
        match a.as_str() {
            "--missing" => o.missing = value()? != "0",
            "--threads" => o.threads = value()?.parse()?,
            "--path" => o.path = value()?,
            "--noise" => o.noise = value()?,
            "--max-sweeps" => o.max_sweeps = value()?.parse()?,
            "--factors" => o.factors = Some(value()?.parse()?),
            "--model" => o.model = value()?,
            "--counts" => o.counts = value()?,
            "--no-rotation" => o.rotate = Rotate::Off,
            "--no-scores" => o.scores = false,
            other => return Err(format!("unknown option {other}").into()),
        }
    }
    Ok(o)
}

/// Processor seconds of this process so far.
pub fn cpu() -> f64 {
    let t = clock_gettime(ClockId::ProcessCPUTime);
    t.tv_sec as f64 + 1e-9 * t.tv_nsec as f64
}

/// A line of the process's status, in megabytes.
fn status(field: &str) -> f64 {
    let text = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = text.lines().find(|l| l.starts_with(field)).unwrap_or("");
    line.split_whitespace()
        .nth(1)
        .and_then(|x| x.parse::<f64>().ok())
        .unwrap_or(f64::NAN)
        / 1024.0
}

/// Peak resident memory in megabytes, since the start or [`reset_peak`].
fn peak() -> f64 {
    status("VmHWM")
}

/// Lets the peak begin anew at what is resident now. Where the system cannot,
/// the peak still counts from the start.
fn reset_peak() {
    drop(std::fs::write("/proc/self/clear_refs", "5"));
}

/// Megabytes of values and masks: what was read.
fn data_megabytes(data: &Dataset) -> f64 {
    let bytes: usize = data
        .views()
        .iter()
        .map(|v| {
            let mask = match v.mask() {
                Mask::Complete => 0,
                Mask::Rows(rows) => rows.len(),
                Mask::Cells {
                    by_feature,
                    by_sample,
                } => by_feature.as_bytes().len() + by_sample.as_bytes().len(),
            };
            8 * v.n_samples() * v.n_features() + mask
        })
        .sum();
    bytes as f64 / f64::from(1 << 20)
}

fn matrix(folder: &FilePath, name: &str) -> Result<Table, Box<dyn Error>> {
    Ok(read_table(folder.join(name), &ReadOptions::default())?)
}

fn measure(o: &Options) -> Result<(), Box<dyn Error>> {
    let meta: serde_json::Value =
        serde_json::from_str(&std::fs::read_to_string(o.data.join("meta.json"))?)?;
    let views = meta["dims"].as_array().map_or(0, Vec::len);
    let mut builder = Dataset::builder();
    for m in 0..views {
        let mut t = matrix(&o.data, &format!("x{m}.npy"))?;
        t.name = format!("x{m}");
        if o.missing {
            let (rows, columns) = t.values.shape();
            let bytes = std::fs::read(o.data.join(format!("mask{m}.npy")))?;
            // bytes in C order behind the header
            let first = bytes.len() - rows * columns;
            for d in 0..columns {
                for n in 0..rows {
                    if bytes[first + n * columns + d] == 0 {
                        t.values[(n, d)] = f64::NAN;
                    }
                }
            }
        }
        builder = builder.view(t);
    }
    let data = builder.build()?;
    let megabytes = data_megabytes(&data);
    reset_peak();
    let memory_data = status("VmRSS");
    let factors = o
        .factors
        .unwrap_or(meta["k_fit"].as_u64().unwrap_or(10) as usize);
    let mut spec = match o.model.as_str() {
        "bibfa" => models::bibfa(factors),
        "sshiba" => models::sshiba(factors),
        "mofa" => models::mofa(factors),
        "mofapy2" => models::mofapy2(factors),
        other => return Err(format!("unknown model {other}").into()),
    };
    spec.path = serde_json::from_value(serde_json::Value::String(o.path.clone()))?;
    if o.model != "mofapy2" {
        spec.defaults.scaling = FeatureScaling::View;
    }
    spec.defaults.noise = serde_json::from_value(serde_json::Value::String(o.noise.clone()))?;
    spec.vb.max_sweeps = o.max_sweeps;
    if o.model != "mofapy2" {
        spec.vb.rotate = o.rotate;
    }
    let likelihoods: Vec<&str> = (0..views)
        .map(|m| match meta["likelihoods"][m].as_str() {
            Some("bernoulli") => "bernoulli",
            Some("poisson") => o.counts.as_str(),
            _ => "gaussian",
        })
        .collect();
    for (m, likelihood) in likelihoods.iter().enumerate() {
        spec = spec.with_likelihood(&format!("x{m}"), *likelihood);
    }
    let (start, start_cpu) = (Instant::now(), cpu());
    let mut fitting = Fitting::new(data, spec)?;
    let setup = start.elapsed().as_secs_f64();
    let memory_setup = peak();
    let (mut wall, mut processor, mut kept, mut bounds) =
        (Vec::new(), Vec::new(), Vec::new(), Vec::new());
    loop {
        let (t, c) = (Instant::now(), cpu());
        let p = fitting.step()?;
        wall.push(t.elapsed().as_secs_f64());
        processor.push(cpu() - c);
        kept.push(p.factors);
        bounds.push(p.objective);
        if p.done {
            break;
        }
    }
    let memory_sweeps = peak();
    let total = start.elapsed().as_secs_f64();
    let total_cpu = cpu() - start_cpu;
    let fit = fitting.finish()?;
    let memory = peak();
    // the first sweeps still have every factor: the figure to compare at equal K
    let full: Vec<f64> = processor
        .iter()
        .zip(&kept)
        .skip(1)
        .filter(|(_, k)| **k == factors)
        .map(|(c, _)| *c)
        .collect();
    let mut scores = Vec::new();
    for m in (0..views).filter(|_| o.scores) {
        let fitted = fit.fitted(&format!("x{m}"))?;
        scores.push(match likelihoods[m] {
            "gaussian" => score(o, m, &fitted.mean)?,
            other => score_labels(o, m, other, &fitted.mean)?,
        });
    }
    let median = |v: &[f64]| {
        let mut v = v.to_vec();
        v.sort_by(f64::total_cmp);
        v.get(v.len() / 2).copied().unwrap_or(f64::NAN)
    };
    let line = serde_json::json!({
        "peer": format!("polyview-{}-{}", o.model, o.path),
        "case": meta["case"],
        "missing": if o.missing { 20 } else { 0 },
        "threads": o.threads,
        "k_fit": factors,
        "stop": fit.record().outcome.to_string(),
        "n_iter": wall.len(),
        "setup_s": setup,
        "wall_s": total,
        "cpu_s": total_cpu,
        "iter_wall_median": median(&wall),
        "iter_cpu_median": median(&processor),
        "iter_cpu_at_full_k": median(&full),
        "sweeps_at_full_k": full.len(),
        "peak_rss_mb": memory,
        "data_mb": megabytes,
        "rss_data_mb": memory_data,
        "rss_setup_mb": memory_setup,
        "rss_sweeps_mb": memory_sweeps,
        "factors_kept": fit.k(),
        "bound_last": fit.record().bound,
        "views": scores,
    });
    writeln!(std::io::stdout(), "{line}")?;
    Ok(())
}

/// Explained signal, and explained held-out values, of one view.
fn score(o: &Options, m: usize, predicted: &Mat<f64>) -> Result<serde_json::Value, Box<dyn Error>> {
    let name = format!("eta{m}.npy");
    // nobody knows it of real data
    let eta = if o.data.join(&name).exists() {
        Some(matrix(&o.data, &name)?.values)
    } else {
        None
    };
    let x = matrix(&o.data, &format!("x{m}.npy"))?.values;
    let mask = matrix(&o.data, &format!("mask{m}.npy"))?.values;
    let (mut off, mut all, mut off_held, mut all_held) = (0.0, 0.0, 0.0, 0.0);
    for d in 0..x.ncols() {
        if let Some(eta) = &eta {
            let n = x.nrows() as f64;
            let mean: f64 = (0..x.nrows()).map(|i| eta[(i, d)]).sum::<f64>() / n;
            for i in 0..x.nrows() {
                off += (predicted[(i, d)] - eta[(i, d)]).powi(2);
                all += (eta[(i, d)] - mean).powi(2);
            }
        }
        let (mut sum, mut count) = (0.0, 0.0);
        for i in 0..x.nrows() {
            if mask[(i, d)] != 0.0 && x[(i, d)].is_finite() {
                sum += x[(i, d)];
                count += 1.0;
            }
        }
        for i in 0..x.nrows() {
            if mask[(i, d)] == 0.0 {
                off_held += (x[(i, d)] - predicted[(i, d)]).powi(2);
                all_held += (x[(i, d)] - sum / count).powi(2);
            }
        }
    }
    let mut out = serde_json::json!({"view": m});
    if eta.is_some() {
        out["r2_signal"] = serde_json::json!(1.0 - off / all);
    }
    if o.missing {
        out["r2_held"] = serde_json::json!(1.0 - off_held / all_held);
    }
    Ok(out)
}

/// Log loss of labels or mean deviance of counts: of hidden cells where there
/// are any, else of all.
fn score_labels(
    o: &Options,
    m: usize,
    likelihood: &str,
    predicted: &Mat<f64>,
) -> Result<serde_json::Value, Box<dyn Error>> {
    let x = matrix(&o.data, &format!("x{m}.npy"))?.values;
    let mask = matrix(&o.data, &format!("mask{m}.npy"))?.values;
    let (mut sum, mut base, mut count) = (0.0, 0.0, 0.0);
    let loss = |x: f64, p: f64| {
        if likelihood == "bernoulli" {
            let p = p.clamp(1e-6, 1.0 - 1e-6);
            -(x * p.ln() + (1.0 - x) * (-p).ln_1p())
        } else {
            let p = p.max(1e-3);
            let log = if x > 0.0 { x * (x / p).ln() } else { 0.0 };
            2.0 * (log - (x - p))
        }
    };
    for d in 0..x.ncols() {
        let seen = |n: usize| !o.missing || mask[(n, d)] != 0.0;
        let there = |n: &usize| x[(*n, d)].is_finite();
        let rows: Vec<usize> = (0..x.nrows()).filter(|&n| seen(n)).filter(there).collect();
        let mean = rows.iter().map(|&n| x[(n, d)]).sum::<f64>() / rows.len() as f64;
        let scored = (0..x.nrows()).filter(|&n| !o.missing || !seen(n));
        for n in scored.filter(there) {
            sum += loss(x[(n, d)], predicted[(n, d)]);
            base += loss(x[(n, d)], mean);
            count += 1.0;
        }
    }
    let name = if likelihood == "bernoulli" {
        "logloss"
    } else {
        "deviance"
    };
    let tag = if o.missing { "held" } else { "in" };
    Ok(serde_json::json!({
        "view": m,
        format!("{name}_{tag}"): sum / count,
        format!("{name}_{tag}_colmean"): base / count,
    }))
}

//! Whether factors come out unmixed: five sparse factors in three views, fitted
//! from ten, and how well each true factor agrees with one found
//! (spec/mofa; the problem on which the peers' factors stay blended).
//!
//! ```text
//! cargo run --release -p polyview-benches -- axes [--seeds 20] [--model mofa|bibfa]
//!     [--samples 500] [--features 200,200,200] [--share 0.3] [--missing 0]
//!     [--dense 0] [--factors 10] [--max-sweeps 2000] [--tolerance 1e-6] [--show true]
//! ```
//!
//! `--share` is the share of weights that are not zero, `--dense` the number of
//! factors without zeros; `--show` prints the
//! weights of each factor.

use std::error::Error;
use std::io::Write;
use std::time::Instant;

use polyview::{Fit, models};
use polyview_core::{Dataset, Table};
use polyview_linalg::Mat;
use polyview_random::{Rng, StreamKey, standard_normal, uniform_open01};

const TRUE: usize = 5;

struct Options {
    seeds: u64,
    model: String,
    samples: usize,
    features: Vec<usize>,
    share: f64,
    missing: f64,
    dense: usize,
    factors: usize,
    max_sweeps: usize,
    tolerance: Option<f64>,
    show: bool,
}

fn options(args: impl IntoIterator<Item = String>) -> Result<Options, Box<dyn Error>> {
    let mut o = Options {
        seeds: 20,
        model: "mofa".into(),
        samples: 500,
        features: vec![200; 3],
        share: 0.3,
        missing: 0.0,
        dense: 0,
        factors: 10,
        max_sweeps: 2000,
        tolerance: None,
        show: false,
    };
    let mut args = args.into_iter();
    while let Some(a) = args.next() {
        let value = args.next().ok_or(format!("{a} needs a value"))?;
        match a.as_str() {
            "--seeds" => o.seeds = value.parse()?,
            "--model" => o.model = value,
            "--samples" => o.samples = value.parse()?,
            "--features" => {
                o.features = value.split(',').map(str::parse).collect::<Result<_, _>>()?;
            }
            "--share" => o.share = value.parse()?,
            "--missing" => o.missing = value.parse()?,
            "--dense" => o.dense = value.parse()?,
            "--factors" => o.factors = value.parse()?,
            "--max-sweeps" => o.max_sweeps = value.parse()?,
            "--show" => o.show = value.parse()?,
            "--tolerance" => o.tolerance = Some(value.parse()?),
            other => return Err(format!("unknown option {other}").into()),
        }
    }
    Ok(o)
}

fn normal(rows: usize, columns: usize, rng: &mut impl Rng) -> Mat<f64> {
    Mat::from_fn(rows, columns, |_, _| standard_normal(rng))
}

/// Factors and the views made of them.
fn data(o: &Options, seed: u64) -> Result<(Mat<f64>, Dataset), Box<dyn Error>> {
    let mut rng = StreamKey::new(seed).rng();
    let z = normal(o.samples, TRUE, &mut rng);
    let samples: Vec<String> = (0..o.samples).map(|n| format!("s{n}")).collect();
    let mut builder = Dataset::builder();
    for (m, &d) in o.features.iter().enumerate() {
        let mut w = normal(d, TRUE, &mut rng);
        for k in o.dense..TRUE {
            for x in w.col_as_slice_mut(k) {
                if uniform_open01(&mut rng) > o.share {
                    *x = 0.0;
                }
            }
        }
        let mut values = &z * w.transpose() + normal(o.samples, d, &mut rng);
        for j in 0..d {
            for x in values.col_as_slice_mut(j) {
                if uniform_open01(&mut rng) < o.missing {
                    *x = f64::NAN;
                }
            }
        }
        builder = builder.view(Table {
            name: format!("view{m}"),
            samples: samples.clone(),
            features: (0..d).map(|j| format!("f{j}")).collect(),
            values,
            levels: Vec::new(),
        });
    }
    Ok((z, builder.build()?))
}

/// The best absolute correlation of each true factor with one found.
fn agreement(truth: &Mat<f64>, found: &Mat<f64>) -> Vec<f64> {
    let n = truth.nrows() as f64;
    let standard = |x: &[f64]| -> Vec<f64> {
        let mean = x.iter().sum::<f64>() / n;
        let sd = (x.iter().map(|x| (x - mean).powi(2)).sum::<f64>()).sqrt();
        x.iter().map(|x| (x - mean) / sd).collect()
    };
    (0..TRUE)
        .map(|t| {
            let t = standard(truth.col_as_slice(t));
            (0..found.ncols())
                .map(|k| {
                    let f = standard(found.col_as_slice(k));
                    t.iter().zip(f).map(|(a, b)| a * b).sum::<f64>().abs()
                })
                .fold(0.0, f64::max)
        })
        .collect()
}

/// What a fit of one data set found.
#[derive(Clone, Debug)]
pub struct Found {
    /// Best absolute correlation of each true factor with one found.
    pub each: Vec<f64>,
    /// Factors kept.
    pub kept: usize,
    /// Sweeps.
    pub sweeps: usize,
    /// Wall seconds of the fit.
    pub seconds: f64,
    /// The bound at the end.
    pub bound: f64,
}

impl Found {
    /// The true factor that was found worst.
    pub fn worst(&self) -> f64 {
        self.each.iter().copied().fold(1.0, f64::min)
    }
}

/// Fits what the arguments ask for, one data set after the other, and prints a line for each.
///
/// # Errors
/// Arguments that do not exist; what data and fits refuse.
pub fn run(args: impl IntoIterator<Item = String>) -> Result<Vec<Found>, Box<dyn Error>> {
    let o = options(args)?;
    let mut out = std::io::stdout().lock();
    writeln!(
        out,
        "seed  worst  each true factor                 K sweeps seconds  bound"
    )?;
    let mut all = Vec::new();
    for seed in 0..o.seeds {
        let found = fitted(&o, seed, &mut out)?;
        let list: Vec<String> = found.each.iter().map(|c| format!("{c:.4}")).collect();
        writeln!(
            out,
            "{seed:>4} {:.4}  {}  {:>2} {:>6} {:>7.2}  {:.1}",
            found.worst(),
            list.join(" "),
            found.kept,
            found.sweeps,
            found.seconds,
            found.bound,
        )?;
        out.flush()?;
        all.push(found);
    }
    let mut worst: Vec<f64> = all.iter().map(Found::worst).collect();
    worst.sort_by(f64::total_cmp);
    if let (Some(least), Some(middle)) = (worst.first(), worst.get(worst.len() / 2)) {
        writeln!(
            out,
            "worst {least:.4}, median {middle:.4}, at least 0.99: {} of {}",
            worst.iter().filter(|w| **w >= 0.99).count(),
            worst.len()
        )?;
    }
    Ok(all)
}

fn fitted(o: &Options, seed: u64, out: &mut impl Write) -> Result<Found, Box<dyn Error>> {
    let (truth, data) = data(o, seed)?;
    let mut spec = match o.model.as_str() {
        "mofa" => models::mofa(o.factors),
        "bibfa" => models::bibfa(o.factors),
        other => return Err(format!("unknown model {other}").into()),
    };
    spec.vb.max_sweeps = o.max_sweeps;
    if let Some(t) = o.tolerance {
        spec.vb.tolerance = t;
    }
    let clock = Instant::now();
    let fit = polyview::fit(data, spec)?;
    let seconds = clock.elapsed().as_secs_f64();
    if o.show {
        show(o, &fit, out)?;
    }
    Ok(Found {
        each: agreement(&truth, &fit.factors()?.mean),
        kept: fit.k(),
        sweeps: fit.record().sweeps,
        seconds,
        bound: fit.record().bound.unwrap_or(f64::NAN),
    })
}

/// The weights of each factor.
fn show(o: &Options, fit: &Fit, out: &mut impl Write) -> Result<(), Box<dyn Error>> {
    let mean = fit.factors()?.mean;
    for k in 0..fit.k() {
        let energy: f64 = mean.col_as_slice(k).iter().map(|z| z * z).sum();
        write!(out, "      factor {k}: sum z² {energy:>8.3}")?;
        for m in 0..o.features.len() {
            let name = format!("view{m}");
            let (w, gamma) = (fit.weights(&name)?, fit.inclusion(&name)?);
            let w2: f64 = w.mean.col_as_slice(k).iter().map(|w| w * w).sum();
            let gamma = gamma.col_as_slice(k);
            let (sum, largest) = gamma
                .iter()
                .fold((0.0, 0.0), |(s, l): (f64, f64), &g| (s + g, l.max(g)));
            write!(
                out,
                "  {name}: w² {w2:.2e} included {sum:.2} (largest {largest:.2})"
            )?;
        }
        writeln!(out)?;
    }
    Ok(())
}

//! Data whose truth is known.

mod bibfa;
mod error;
mod factor;
mod missing;

use polyview_core::{Dataset, Table};
use polyview_linalg::Mat;
use polyview_random::{ChaCha8Rng, StreamKey, fill_standard_normal, standard_normal};

pub use bibfa::{BibfaOptions, Latent, SimulatedBibfa, simulate_bibfa};
pub use error::SimulationError;
pub use factor::{Activity, Noise, SimulationOptions, simulate_factor_data};
pub use missing::Missing;

/// A simulated data set and everything it was made from.
#[derive(Clone, Debug, PartialEq)]
pub struct Simulated {
    /// The data: views `view1`, `view2`, … over samples `s1`, `s2`, … with
    /// features `v1f1`, `v1f2`, …, with cells missing as asked for.
    pub dataset: Dataset,
    /// Every view before cells were hidden, N × D_m.
    pub complete: Vec<Mat<f64>>,
    /// Factors Z, N × K.
    pub factors: Mat<f64>,
    /// Weights W of every view, D_m × K; zero where a factor is not active.
    pub weights: Vec<Mat<f64>>,
    /// Intercepts b of every view, one a feature.
    pub intercepts: Vec<Vec<f64>>,
    /// Noise precision of every view.
    pub noise_precision: Vec<f64>,
    /// Which factors act in which view: `activity[view][factor]`.
    pub activity: Vec<Vec<bool>>,
}

/// The quantities of a simulation. Each, in each view, has a stream of its
/// own, so that another view or another option leaves the rest as it was.
#[derive(Clone, Copy)]
enum Quantity {
    Factors,
    Weights,
    Intercepts,
    Noise,
    Activity,
    Missing,
    WeightPrecision,
    NoisePrecision,
}

fn stream(seed: u64, quantity: Quantity, view: usize) -> ChaCha8Rng {
    StreamKey::new(seed)
        .block(quantity as u32)
        .chunk(view as u32)
        .rng()
}

/// A matrix of standard normal draws, column by column.
fn normal_matrix(rows: usize, columns: usize, rng: &mut ChaCha8Rng) -> Mat<f64> {
    let mut values = Mat::zeros(rows, columns);
    for k in 0..columns {
        fill_standard_normal(rng, values.col_as_slice_mut(k));
    }
    values
}

/// One view: $x\_{nd} = \sum\_k z\_{nk} w\_{dk} + b\_d + \varepsilon / \sqrt\tau$.
fn observe(
    factors: &Mat<f64>,
    weights: &Mat<f64>,
    intercepts: &[f64],
    precision: f64,
    rng: &mut ChaCha8Rng,
) -> Mat<f64> {
    let sd = precision.sqrt().recip();
    let mut values = Mat::zeros(factors.nrows(), weights.nrows());
    for (d, &intercept) in intercepts.iter().enumerate() {
        let column = values.col_as_slice_mut(d);
        column.fill(intercept);
        for k in 0..factors.ncols() {
            let w = weights[(d, k)];
            if w != 0.0 {
                for (x, z) in column.iter_mut().zip(factors.col_as_slice(k)) {
                    *x += w * z;
                }
            }
        }
        for x in column {
            *x += sd * standard_normal(rng);
        }
    }
    values
}

/// Refuses values that are not finite: an overflow must not pass for a missing
/// value.
fn finite(views: &[Mat<f64>]) -> Result<(), SimulationError> {
    for (m, view) in views.iter().enumerate() {
        for d in 0..view.ncols() {
            if let Some(n) = view.col_as_slice(d).iter().position(|x| !x.is_finite()) {
                return Err(SimulationError::Overflow {
                    view: m,
                    sample: n,
                    feature: d,
                });
            }
        }
    }
    Ok(())
}

fn assemble(views: Vec<Mat<f64>>, samples: usize) -> Result<Dataset, SimulationError> {
    let ids: Vec<String> = (1..=samples).map(|n| format!("s{n}")).collect();
    let mut builder = Dataset::builder();
    for (m, values) in views.into_iter().enumerate() {
        let features = (1..=values.ncols())
            .map(|d| format!("v{}f{d}", m + 1))
            .collect();
        let name = format!("view{}", m + 1);
        builder = builder.view(Table {
            name,
            samples: ids.clone(),
            features,
            values,
            levels: Vec::new(),
        });
    }
    Ok(builder.build()?)
}

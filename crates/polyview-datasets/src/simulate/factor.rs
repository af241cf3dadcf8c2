//! Gaussian factor data with a chosen pattern of shared and private factors.

use polyview_linalg::Mat;
use polyview_random::{standard_normal, uniform_open01};

use super::error::{SimulationError, populated, shaped, within};
use super::missing::below;
use super::{Missing, Quantity, Simulated, assemble, finite, normal_matrix, observe, stream};

/// Which factors act in which view.
#[derive(Clone, Debug, Default, PartialEq)]
pub enum Activity {
    /// Every factor in every view.
    #[default]
    All,
    /// Each with this probability in (0, 1]; a factor that would act nowhere
    /// gets a view at random, a view without a factor a factor.
    Random(f64),
    /// As given: `[view][factor]`.
    Given(Vec<Vec<bool>>),
}

/// How much noise there is.
#[derive(Clone, Debug, PartialEq)]
pub enum Noise {
    /// Noise as a share, in (0, 1), of the variance of each view, averaged
    /// over its features. A view without active factors has noise of variance
    /// one.
    Share(f64),
    /// Noise precision of each view, positive.
    Precision(Vec<f64>),
}

/// What [`simulate_factor_data`] makes. [`SimulationOptions::new`] fills in:
/// dense weights, all factors active, half of the variance noise, no
/// intercepts, nothing missing.
#[derive(Clone, Debug, PartialEq)]
pub struct SimulationOptions {
    /// Number of samples N.
    pub samples: usize,
    /// Number of features D_m of each view.
    pub features: Vec<usize>,
    /// Number of factors K.
    pub factors: usize,
    /// The same seed gives the same bits.
    pub seed: u64,
    /// Probability, in (0, 1], that a weight of an active factor is not zero.
    pub density: f64,
    /// Which factors act in which view.
    pub activity: Activity,
    /// How much noise there is.
    pub noise: Noise,
    /// Standard deviation of the intercepts about zero; 0 for none.
    pub intercept_sd: f64,
    /// What is hidden.
    pub missing: Missing,
}

impl SimulationOptions {
    /// The simplest data of these sizes.
    pub fn new(samples: usize, features: &[usize], factors: usize, seed: u64) -> Self {
        Self {
            samples,
            features: features.to_vec(),
            factors,
            seed,
            density: 1.0,
            activity: Activity::All,
            noise: Noise::Share(0.5),
            intercept_sd: 0.0,
            missing: Missing::default(),
        }
    }
}

/// Simulates Gaussian views of common factors:
///
/// $$ z\_{nk} \sim N(0, 1), \quad w\_{dk} = a\_{mk} s\_{dk} u\_{dk}, \quad s\_{dk} \sim
/// \mathrm{Bernoulli}(\text{density}), \quad u\_{dk} \sim N(0, 1), \quad
/// x\_{nd} \sim N(z\_n w\_d^\top + b\_d, \tau\_m^{-1}) $$
///
/// with $a\_{mk}$ the activity. Every quantity of every view has a stream of
/// its own: further views or missing cells leave the rest as it was.
///
/// ```
/// use polyview_datasets::{Activity, Missing, SimulationOptions, simulate_factor_data};
///
/// let truth = simulate_factor_data(&SimulationOptions {
///     activity: Activity::Given(vec![vec![true, true, false], vec![true, false, true]]),
///     missing: Missing { cells: 0.1, ..Missing::default() },
///     ..SimulationOptions::new(100, &[20, 30], 3, 42)
/// })?;
/// assert_eq!(truth.dataset.n_samples(), 100);
/// assert_eq!(truth.weights[1][(7, 1)], 0.0);
/// # Ok::<(), polyview_datasets::SimulationError>(())
/// ```
///
/// # Errors
/// [`SimulationError`]: nothing to simulate, a share or precision out of range,
/// an activity or precisions of the wrong shape.
pub fn simulate_factor_data(options: &SimulationOptions) -> Result<Simulated, SimulationError> {
    let (samples, factors, seed) = (options.samples, options.factors, options.seed);
    populated(samples, &options.features, factors)?;
    let views = options.features.len();
    let density = options.density;
    within(
        "density",
        density,
        "in (0, 1]",
        density > 0.0 && density <= 1.0,
    )?;
    let sd = options.intercept_sd;
    within(
        "standard deviation of intercepts",
        sd,
        "in [0, ∞)",
        sd >= 0.0 && sd.is_finite(),
    )?;
    options.missing.check(views)?;
    let activity = activity(options)?;

    let z = normal_matrix(samples, factors, &mut stream(seed, Quantity::Factors, 0));
    let weights: Vec<Mat<f64>> = (0..views)
        .map(|m| weights(options, &activity[m], m))
        .collect();
    let noise_precision = noise_precision(options, &weights)?;
    let mut intercepts = Vec::with_capacity(views);
    let mut complete = Vec::with_capacity(views);
    for m in 0..views {
        let mut rng = stream(seed, Quantity::Intercepts, m);
        let b: Vec<f64> = (0..options.features[m])
            .map(|_| sd * standard_normal(&mut rng))
            .collect();
        let mut rng = stream(seed, Quantity::Noise, m);
        complete.push(observe(&z, &weights[m], &b, noise_precision[m], &mut rng));
        intercepts.push(b);
    }
    finite(&complete)?;
    let mut observed = complete.clone();
    options.missing.hide(&mut observed, seed);
    Ok(Simulated {
        dataset: assemble(observed, samples)?,
        complete,
        factors: z,
        weights,
        intercepts,
        noise_precision,
        activity,
    })
}

fn activity(options: &SimulationOptions) -> Result<Vec<Vec<bool>>, SimulationError> {
    let (views, factors) = (options.features.len(), options.factors);
    match &options.activity {
        Activity::All => Ok(vec![vec![true; factors]; views]),
        Activity::Given(given) => {
            shaped("views of the activity", &[views], &[given.len()])?;
            for view in given {
                shaped("factors of the activity", &[factors], &[view.len()])?;
            }
            Ok(given.clone())
        }
        Activity::Random(probability) => {
            let p = *probability;
            within(
                "probability of activity",
                p,
                "in (0, 1]",
                p > 0.0 && p <= 1.0,
            )?;
            let mut active: Vec<Vec<bool>> = (0..views)
                .map(|m| {
                    let mut rng = stream(options.seed, Quantity::Activity, m);
                    (0..factors).map(|_| uniform_open01(&mut rng) < p).collect()
                })
                .collect();
            // one stream more than there are views mends what is empty
            let mut rng = stream(options.seed, Quantity::Activity, views);
            for k in 0..factors {
                if active.iter().all(|view| !view[k]) {
                    active[below(views, &mut rng)][k] = true;
                }
            }
            for view in &mut active {
                if view.iter().all(|a| !a) {
                    view[below(factors, &mut rng)] = true;
                }
            }
            Ok(active)
        }
    }
}

fn weights(options: &SimulationOptions, active: &[bool], m: usize) -> Mat<f64> {
    let mut rng = stream(options.seed, Quantity::Weights, m);
    let mut weights = Mat::zeros(options.features[m], options.factors);
    for (k, &active) in active.iter().enumerate() {
        for out in weights.col_as_slice_mut(k) {
            // both are drawn always, so that the pattern changes nothing else
            let (w, u) = (standard_normal(&mut rng), uniform_open01(&mut rng));
            *out = if active && u < options.density {
                w
            } else {
                0.0
            };
        }
    }
    weights
}

fn noise_precision(
    options: &SimulationOptions,
    weights: &[Mat<f64>],
) -> Result<Vec<f64>, SimulationError> {
    match &options.noise {
        Noise::Precision(given) => {
            shaped("noise precisions", &[weights.len()], &[given.len()])?;
            for &tau in given {
                within(
                    "noise precision",
                    tau,
                    "in (0, ∞)",
                    tau > 0.0 && tau.is_finite(),
                )?;
            }
            Ok(given.clone())
        }
        Noise::Share(share) => {
            let share = *share;
            within(
                "share of noise",
                share,
                "in (0, 1)",
                share > 0.0 && share < 1.0,
            )?;
            Ok(weights
                .iter()
                .map(|w| {
                    // factors have variance one: a feature's signal is its row's square sum
                    let squares: f64 = (0..w.ncols())
                        .flat_map(|k| w.col_as_slice(k))
                        .map(|x| x * x)
                        .sum();
                    let signal = squares / w.nrows() as f64;
                    if signal > 0.0 {
                        (1.0 - share) / (share * signal)
                    } else {
                        1.0
                    }
                })
                .collect())
        }
    }
}
